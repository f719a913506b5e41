"""Records with named fields: JSON lines, logged samples of lm-evaluation-harness, tables.

Fields: ``text`` (the generated text alone), and if there ``prompt``, ``id``, ``group``, ``source``
and ``references``. Other fields are ignored.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from textassay.corpus.decoding import REPLACEMENT, decode, without_surrogates
from textassay.corpus.files import InputFile, byte_lines
from textassay.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from textassay.corpus.documents import Document, Reading

_NAMES = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def iterate_records(file: InputFile, reading: Reading) -> Iterator[Document]:
    """The documents of one file of records."""
    if file.format == "jsonl":
        yield from _json_lines(file, reading)
    elif file.format in ("csv", "tsv"):
        yield from _table(file, reading)
    else:
        yield from _parquet(file, reading)


def _json_lines(file: InputFile, reading: Reading) -> Iterator[Document]:
    harness: bool | None = None
    first_filters: dict[Any, Any] = {}
    decoder = msgspec.json.Decoder()
    for number, (byte, line) in enumerate(byte_lines(file), 1):
        if not line.strip():
            continue
        record = _parse_json(decoder, line, file, (number, byte), reading.errors)
        if not isinstance(record, dict):
            raise InputError(
                f"is {_NAMES.get(type(record), 'a string')}, not an object with fields",
                file=file.name,
                line=number,
            )
        if harness is None:
            harness = "resps" in record and reading.text_field not in record
        if harness:
            # every filter of a task logs the same responses again: take the first filter's
            key, label = record.get("doc_id"), record.get("filter")
            if first_filters.setdefault(_hashable(key), label) != label:
                continue
            yield from _harness_documents(record, file, number, reading)
        else:
            yield _document(record, file, number, reading)


def _parse_json(
    decoder: msgspec.json.Decoder[Any],
    line: bytes,
    file: InputFile,
    place: tuple[int, int],
    errors: str,
) -> Any:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        # the second parser knows lone surrogates; the first tells better where a line is broken
        number, byte = place
        text = decode(line, errors=errors, file=file.name, line=number, byte=byte)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"is not JSON: {problem}", file=file.name, line=number) from None


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else json.dumps(value)


def _string(
    record: Mapping[str, Any], name: str, file: InputFile, number: int, reading: Reading
) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        if name not in record:
            others = ", ".join(sorted(key for key, v in record.items() if isinstance(v, str))[:8])
            option = "--prompt-field" if name == reading.prompt_field else "--text-field"
            raise InputError(
                f"field {name!r} is missing (fields with text: {others or 'none'}); "
                f"{option} names another",
                file=file.name,
                line=number,
            )
        raise InputError(
            f"field {name!r} is {_NAMES.get(type(value), type(value).__name__)}, not a string",
            file=file.name,
            line=number,
        )
    return _clean(value, file, number, reading)


def _clean(value: str, file: InputFile, number: int, reading: Reading) -> str:
    value = without_surrogates(value, errors=reading.errors, file=file.name, line=number)
    # a NUL that JSON spells out is part of the text, but no token can hold it
    return value.replace("\0", REPLACEMENT) if "\0" in value else value


def _document(
    record: Mapping[str, Any], file: InputFile, number: int, reading: Reading
) -> Document:
    from textassay.corpus.documents import Document

    text = _string(record, reading.text_field, file, number, reading)
    prompt = ""
    if record.get(reading.prompt_field) is not None or reading.prompt_field != "prompt":
        prompt = _string(record, reading.prompt_field, file, number, reading)
    references = record.get("references")
    references = () if references is None else references
    if isinstance(references, str):
        references = (references,)
    if not isinstance(references, list | tuple) or not all(
        isinstance(reference, str) for reference in references
    ):
        raise InputError(
            "field 'references' must be a list of strings", file=file.name, line=number
        )
    names = {
        name: str(record[name])
        for name in ("id", "group", "source")
        if isinstance(record.get(name), str | int) and record[name] != ""
    }
    names = {name: _clean(value, file, number, reading) for name, value in names.items()}
    return Document(
        text,
        prompt,
        references=tuple(_clean(one, file, number, reading) for one in references),
        place=f"{file.name}, line {number}",
        **names,
    )


def _harness_documents(
    record: Mapping[str, Any], file: InputFile, number: int, reading: Reading
) -> Iterator[Document]:
    from textassay.corpus.documents import Document

    if "resps" not in record:
        raise InputError(
            "has no 'resps', unlike the logged samples before it", file=file.name, line=number
        )
    responses = record["resps"]
    if isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        responses = responses[0]
    if not isinstance(responses, list) or not all(isinstance(r, str) for r in responses):
        raise InputError(
            "the logged responses are no generated text (a task that scores answers?)",
            file=file.name,
            line=number,
        )
    prompt: Any = record.get("arguments")
    while isinstance(prompt, dict | list) and prompt:
        prompt = next(iter(prompt.values())) if isinstance(prompt, dict) else prompt[0]
    prompt = _clean(prompt, file, number, reading) if isinstance(prompt, str) else ""
    name = str(record.get("doc_id", number))
    for repeat, response in enumerate(responses):
        yield Document(
            _clean(response, file, number, reading),
            prompt,
            id=name if len(responses) == 1 else f"{name}.{repeat}",
            group=name if len(responses) > 1 else None,
            place=f"{file.name}, line {number}",
        )


def _table(file: InputFile, reading: Reading) -> Iterator[Document]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))

    def lines() -> Iterator[str]:
        for number, (byte, line) in enumerate(byte_lines(file), 1):
            text = decode(line, errors=reading.errors, file=file.name, line=number, byte=byte)
            yield text + "\n"

    rows = csv.reader(lines(), delimiter="\t" if file.format == "tsv" else ",", strict=True)
    try:
        header = next(rows, None)
        if header is None:
            return
        if len(set(header)) < len(header):
            raise InputError("has two columns of one name", file=file.name, line=1)
        if reading.text_field not in header:
            raise InputError(
                f"has no column {reading.text_field!r} (columns: {', '.join(header[:12])}); "
                "--text-field names another",
                file=file.name,
                line=1,
            )
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise InputError(
                    f"has {len(row)} cells where the header has {len(header)}",
                    file=file.name,
                    line=rows.line_num,
                )
            yield _document(dict(zip(header, row, strict=True)), file, rows.line_num, reading)
    except csv.Error as error:
        raise InputError(
            f"is not a sound table: {error}", file=file.name, line=rows.line_num
        ) from None


def _parquet(file: InputFile, reading: Reading) -> Iterator[Document]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Reading .parquet files", "pyarrow", "data") from None
    from textassay.corpus.files import byte_chunks

    for _ in byte_chunks(file):
        pass  # for the digest
    try:
        table = pyarrow.parquet.ParquetFile(file.name)
        names = table.schema_arrow.names
        if reading.text_field not in names:
            raise InputError(
                f"has no column {reading.text_field!r} (columns: {', '.join(names[:12])}); "
                "--text-field names another",
                file=file.name,
            )
        wanted = [reading.text_field, reading.prompt_field, "id", "group", "source", "references"]
        row = 0
        for batch in table.iter_batches(1024, columns=[n for n in wanted if n in names]):
            for record in batch.to_pylist():
                row += 1
                yield _document(record, file, row, reading)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"is not a sound Parquet file: {error}", file=file.name) from None
