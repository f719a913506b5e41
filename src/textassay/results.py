"""Records: what an assay finds, one JSON object a line, and how they reach a disk.

``results.jsonl`` begins with a ``header`` and holds ``measurement``, ``series``, ``example`` and
``warning`` records; ``documents.jsonl.zst`` holds a ``document`` record for each document. Absent
values are null, never a stand-in number; NaN and infinity never leave the program. Readers ignore
fields they do not know and refuse a newer major version of the schema.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from textassay.errors import InputError
from textassay.writing import atomic_files

if TYPE_CHECKING:
    from textassay.corpus.corpus import Corpus

SCHEMA_VERSION = "1.1"


class Header(msgspec.Struct, tag="header", tag_field="kind", kw_only=True):
    """What was compared, and how: enough to do it again.

    ``inputs`` lists for each file its role, system, name, SHA-256, documents and tokens.
    """

    schema_version: str
    package_version: str
    command: str
    created: str
    tokenizer: str
    seed: int
    threads: int
    settings: dict[str, Any]
    inputs: list[dict[str, Any]]
    versions: dict[str, str]


class Measurement(msgspec.Struct, tag="measurement", tag_field="kind", kw_only=True):
    """One measure of one system, and its distance from human text.

    Attributes
    ----------
    measure, system : str
    value, value_low, value_high : float or None
        The measure and its 95 % interval, in `unit`.
    human : float or None
        The same of the human text.
    distance, distance_low, distance_high : float or None
        System minus human (for distances between distributions: the distance), with interval.
    floor : float or None
        Mean distance if system and human documents were drawn from one population.
    reference : float or None
        The margin: distances up to it are seen between human texts.
    detectable : float or None
        The smallest true distance that is found to differ four times in five.
    verdict : str or None
        ``within human variation``, ``differs`` or ``undecided``.
    p_value, p_adjusted : float or None
    family : str or None
        The measures among which `p_adjusted` is adjusted, and how.
    test : str or None
    unit : str
    direction : str
        ``higher``, ``lower``, ``human`` or ``none``: which way is better.
    size : int or None
        Units a side at which distances are compared; of tendencies, tokens or documents.
    n_documents, n_tokens, n_units : int
        Units are what is resampled: documents, prompts or sources.
    resampling_unit : str
    warnings : list of str
    signature : str
    """

    measure: str
    system: str
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None
    human: float | None = None
    distance: float | None = None
    distance_low: float | None = None
    distance_high: float | None = None
    floor: float | None = None
    reference: float | None = None
    detectable: float | None = None
    verdict: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    family: str | None = None
    test: str | None = None
    unit: str = ""
    direction: str = "none"
    size: int | None = None
    n_documents: int = 0
    n_tokens: int = 0
    n_units: int = 0
    resampling_unit: str = "document"
    warnings: list[str] = []
    signature: str = ""


class Series(msgspec.Struct, tag="series", tag_field="kind", kw_only=True):
    """A curve or a histogram: all that a figure needs. The lists are of one length.

    ``observed`` is the number that a histogram of permutations is to be compared with.
    """

    measure: str
    system: str
    x_label: str
    y_label: str
    x: list[float]
    y: list[float | None]
    y_low: list[float | None] | None = None
    y_high: list[float | None] | None = None
    band: str | None = None
    observed: float | None = None
    signature: str = ""


class Example(msgspec.Struct, tag="example", tag_field="kind", kw_only=True):
    """A passage with its source, a repeated sentence, a novel word.

    ``spans`` are stretches of ``before + text + after`` as (begin, end, length), characters from 0
    and the length in tokens of the longest copied passage that covers them.
    """

    measure: str
    system: str
    document: str
    text: str
    before: str = ""
    after: str = ""
    n_tokens: int = 0
    n_characters: int = 0
    token: int | None = None
    count: int | None = None
    source_file: str | None = None
    source_document: int | None = None
    source_token: int | None = None
    source_byte: int | None = None
    source_text: str | None = None
    source_before: str | None = None
    source_after: str | None = None
    note: str | None = None
    spans: list[tuple[int, int, int]] = []


class Warn(msgspec.Struct, tag="warning", tag_field="kind", kw_only=True):
    """A condition that a reader of the numbers must know."""

    code: str
    message: str
    system: str | None = None
    measure: str | None = None


class DocumentSums(msgspec.Struct, tag="document", tag_field="kind", kw_only=True):
    """One document's share in the sums from which measures are made."""

    system: str
    id: str
    group: str
    source: str | None = None
    n_tokens: int = 0
    n_prompt_tokens: int = 0
    sums: dict[str, float] = {}


Record = Header | Measurement | Series | Example | Warn | DocumentSums

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Record)
_loose = msgspec.json.Decoder(dict[str, Any])


def finite(value: float | None) -> float | None:
    """`value`, or None if it is None, NaN or infinite: what a record may hold.

    Examples
    --------
    >>> finite(0.5), finite(float("nan"))
    (0.5, None)
    """
    return None if value is None or not math.isfinite(value) else float(value)


def make_signature(measure: str, **parts: object) -> str:
    """A measure's name and all that its number depends on, as one line.

    Examples
    --------
    >>> make_signature("novelty.ngram4", tok="words", source="both")
    'novelty.ngram4|tok:words|source:both'
    """
    cleaned = (f"{key}:{str(value).replace('|', '/')}" for key, value in parts.items())
    return "|".join([measure, *cleaned])


def parse_signature(signature: str) -> dict[str, str]:
    """The parts of a signature, the measure's name under ``measure``.

    Examples
    --------
    >>> parse_signature("novelty.ngram4|tok:words")
    {'measure': 'novelty.ngram4', 'tok': 'words'}
    """
    measure, *parts = signature.split("|")
    return {"measure": measure, **dict(part.split(":", 1) for part in parts)}


def encode(record: Record | dict[str, Any]) -> bytes:
    """One line of JSON, with its line end; half characters (in names of files) become U+FFFD."""
    try:
        return _encoder.encode(record) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_whole_characters(msgspec.to_builtins(record))) + b"\n"


def _whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape" if _is_escaped(value) else "replace").decode(
            "utf-8", "replace"
        )
    if isinstance(value, dict):
        return {_whole_characters(k): _whole_characters(v) for k, v in value.items()}
    return [_whole_characters(v) for v in value] if isinstance(value, list) else value


def _is_escaped(text: str) -> bool:
    """Whether its half characters are bytes of a name that is not UTF-8."""
    return all(not 0xD800 <= ord(c) <= 0xDFFF or 0xDC80 <= ord(c) <= 0xDCFF for c in text)


def read_results(path: str | os.PathLike[str]) -> list[Record]:
    """All records of a file, checked.

    Parameters
    ----------
    path : path
        ``results.jsonl``, or ``documents.jsonl.zst``, or a folder that holds the first.

    Raises
    ------
    InputError
        If a line is no record, the header is missing or its version is newer, or a number is
        impossible; the message names file and line.
    """
    from textassay.corpus.files import byte_lines, find_files

    place = Path(path)
    if place.is_dir():
        place = place / "results.jsonl"
    file, *more = find_files(str(place))
    if more:
        raise InputError("matches several files: name one", file=str(path))
    records: list[Record] = []
    for number, (_, line) in enumerate(byte_lines(file), 1):
        records.append(_read_record(line, file.name, number))
    if not records:
        raise InputError("holds no record", file=file.name)
    if not all(isinstance(r, DocumentSums) for r in records):
        if not isinstance(records[0], Header):
            raise InputError("the first record must be a header", file=file.name, line=1)
        if sum(isinstance(record, Header) for record in records) > 1:
            raise InputError("holds more than one header", file=file.name)
    return records


def _read_record(line: bytes, name: str, number: int) -> Record:
    try:
        record: Record = _decoder.decode(line)
    except msgspec.ValidationError as error:
        kind = None
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            kind = _loose.decode(line).get("kind")
        raise InputError(f"is no {kind or 'record'}: {error}", file=name, line=number) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", file=name, line=number) from None
    problem = _problem(record)
    if problem:
        raise InputError(problem, file=name, line=number)
    return record


def _problem(record: Record) -> str | None:
    if isinstance(record, Header):
        major = record.schema_version.partition(".")[0]
        if not (major.isascii() and major.isdecimal()):
            return f"has no schema version that could be read ({record.schema_version!r})"
        if int(major) > int(SCHEMA_VERSION.partition(".")[0]):
            return (
                f"has schema version {record.schema_version}, newer than {SCHEMA_VERSION}: "
                "install a newer textassay"
            )
    elif isinstance(record, Measurement):
        if not record.signature.startswith(record.measure):
            return f"the signature {record.signature!r} does not begin with {record.measure!r}"
        if record.verdict not in (None, "within human variation", "differs", "undecided"):
            return f"there is no verdict {record.verdict!r}"
        for low, high in (
            (record.value_low, record.value_high),
            (record.distance_low, record.distance_high),
        ):
            if low is not None and high is not None and low > high:
                return f"the interval [{low}, {high}] of {record.measure} is upside down"
        for name in ("p_value", "p_adjusted"):
            p = getattr(record, name)
            if p is not None and not 0 <= p <= 1:
                return f"{name} of {record.measure} is {p}, not between 0 and 1"
    elif isinstance(record, Series):
        sizes = {len(record.x), len(record.y)}
        sizes.update(len(values) for values in (record.y_low, record.y_high) if values is not None)
        if len(sizes) > 1:
            return f"the lists of series {record.measure} are of different lengths"
    return None


def documents_of(
    system: str, corpus: Corpus, sums: Iterable[dict[str, float]]
) -> list[DocumentSums]:
    """A record for each document of a corpus, with its sums."""
    lengths = corpus.text_lengths.tolist()
    prompts = corpus.prompt_lengths.tolist()
    return [
        DocumentSums(
            system=system,
            id=corpus.ids[d],
            group=corpus.groups[d],
            source=corpus.sources[d] if corpus.sources else None,
            n_tokens=lengths[d],
            n_prompt_tokens=prompts[d],
            sums=found,
        )
        for d, found in enumerate(sums)
    ]


def write_records(files: Mapping[Path, Iterable[Record]]) -> None:
    """Write records, one a line; compressed if the name ends in ``.zst``. All files, or none.

    Raises
    ------
    OutputError
        If one cannot be written; whatever was there before is still there, and nothing else.
    """
    with atomic_files(list(files)) as opened:
        for (path, records), file in zip(files.items(), opened, strict=True):
            if path.suffix == ".zst":
                import zstandard

                with zstandard.ZstdCompressor(level=9).stream_writer(file, closefd=False) as packed:
                    for record in records:
                        packed.write(encode(record))
            else:
                for record in records:
                    file.write(encode(record))
