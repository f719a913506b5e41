"""Documents: how files become pieces of text with a prompt, an id, a group and a source.

Plain text is cut by the document mode: ``line`` (one document a line, empty ones included),
``blank-line`` (stretches of lines between blank ones), ``file`` and ``stream`` (a file is one
document). In the other formats a record is a document in every mode but ``stream``, which joins
them. See :mod:`textassay.corpus.records` for the formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from textassay.corpus.decoding import decode, normalize
from textassay.corpus.files import InputFile, byte_chunks, byte_lines
from textassay.errors import InputError, UsageError

DocumentMode = Literal["line", "blank-line", "file", "stream"]
MODES: tuple[str, ...] = get_args(DocumentMode)
WHITE_SPACE = " \t\r\v\f\n"
_BLANK_LINES = re.compile(r"\n[ \t\r\v\f]*(?:\n[ \t\r\v\f]*)+")


@dataclass(slots=True)
class Document:
    """One piece of text.

    Attributes
    ----------
    text : str
        What is judged.
    prompt : str
        What came before it: context that is never judged.
    id : str or None
        The document's name; systems are paired by it.
    group : str or None
        Documents that share a prompt; None stands for the digest of the prompt.
    source : str or None
        Where it is taken from (a book, a page): documents of one source are not independent.
    references : tuple of str
        Texts that it is to be compared with.
    place : str
        File and line, for messages.
    """

    text: str
    prompt: str = ""
    id: str | None = None
    group: str | None = None
    source: str | None = None
    references: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Reading:
    """How files are read: the same for every side but for the document mode.

    Attributes
    ----------
    documents : {'line', 'blank-line', 'file', 'stream'}
    text_field, prompt_field : str
        Names of the fields in records.
    errors : {'strict', 'replace'}
    normalize : {None, 'nfc', 'nfkc', 'casefold'}
    split_on : str or None
        A string that separates samples inside one text, as ``<|endoftext|>`` does.
    id_type : str
        NumPy type of raw ``.bin`` token ids.
    document_end : int or None
        The id that ends a document, in ready ids.
    """

    documents: str = "line"
    text_field: str = "text"
    prompt_field: str = "prompt"
    errors: str = "strict"
    normalize: str | None = None
    split_on: str | None = None
    id_type: str = "uint16"
    document_end: int | None = None

    def with_documents(self, documents: str) -> Reading:
        """The same, with another document mode."""
        return replace(self, documents=documents)


def read_documents(files: Sequence[InputFile], reading: Reading) -> list[Document]:
    """All documents of the files, in order, held in memory.

    Raises
    ------
    InputError
        If a file cannot be read as what its name says, or holds no document.
    """
    documents: list[Document] = []
    for file in files:
        before = len(documents)
        found = iterate_samples(file, reading)
        documents.extend(_joined(found, file) if reading.documents == "stream" else found)
        if len(documents) == before:
            raise InputError("holds no document", file=file.name)
    if reading.normalize:
        for document in documents:
            document.text = normalize(document.text, reading.normalize)
            document.prompt = normalize(document.prompt, reading.normalize)
            document.references = tuple(
                normalize(reference, reading.normalize) for reference in document.references
            )
    return documents


def iterate_documents(file: InputFile, reading: Reading) -> Iterator[Document]:
    """The documents of one file of text or records, before ``split_on`` and ``normalize``."""
    if file.format in ("npy", "bin"):
        from textassay.corpus.token_ids import id_documents

        for text in id_documents(file, reading.id_type, reading.document_end, reading.documents):
            yield Document(text, place=file.name)
    elif file.format == "text":
        yield from _plain_documents(file, reading)
    else:
        from textassay.corpus.records import iterate_records

        yield from iterate_records(file, reading)


def _plain_documents(file: InputFile, reading: Reading) -> Iterator[Document]:
    if reading.documents == "line" and reading.split_on is None:
        for number, (byte, line) in enumerate(byte_lines(file), 1):
            text = decode(line, errors=reading.errors, file=file.name, line=number, byte=byte)
            yield Document(text, place=f"{file.name}, line {number}")
        return
    raw = b"".join(byte_chunks(file))
    text = decode(raw, errors=reading.errors, file=file.name, byte=0).removeprefix("\ufeff")
    if reading.documents == "blank-line" and reading.split_on is None:
        for stretch in blank_line_documents(text):
            yield Document(stretch, place=file.name)
    elif text:
        # samples cut at a string keep their line ends, in whatever mode
        yield Document(text, place=file.name)


def iterate_samples(file: InputFile, reading: Reading) -> Iterator[Document]:
    """The documents of one file, cut at ``split_on``, not normalised."""
    return _split(iterate_documents(file, reading), reading)


def last_blank_line(text: bytes) -> int:
    """Where the last blank line of `text` ends, 0 if there is none behind a line."""
    end = len(text)
    while (end := text.rfind(b"\n", 0, end)) > 0:
        line = text.rfind(b"\n", 0, end)
        if line >= 0 and not text[line:end].strip(WHITE_SPACE.encode()):
            return end + 1
    return 0


def blank_line_documents(text: str) -> Iterator[str]:
    """Stretches of lines between blank ones, none of them empty.

    Examples
    --------
    >>> list(blank_line_documents("one\\ntwo\\n \\n\\nthree\\n"))
    ['one\\ntwo', 'three']
    """
    for stretch in _BLANK_LINES.split("\n\n" + text):
        if stretch := stretch.strip(WHITE_SPACE):
            yield stretch


def _split(documents: Iterable[Document], reading: Reading) -> Iterator[Document]:
    if reading.split_on is None:
        yield from documents
        return
    if not reading.split_on:
        raise UsageError("--split-on needs a string that is not empty")
    for document in documents:
        parts = document.text.split(reading.split_on)
        # a separator before the first or behind the last sample makes no empty sample
        if len(parts) > 1 and not parts[0].strip():
            parts = parts[1:]
        if len(parts) > 1 and not parts[-1].strip():
            parts = parts[:-1]
        for number, part in enumerate(parts):
            name = (
                document.id if document.id is None or len(parts) == 1 else f"{document.id}.{number}"
            )
            yield replace(document, text=part.strip("\n"), id=name)


def _joined(documents: Iterable[Document], file: InputFile) -> Iterator[Document]:
    found = list(documents)
    if any(document.prompt for document in found):
        raise UsageError(
            f"{file.name}: --documents stream joins all text, so its documents can have no prompts"
        )
    if file.format == "text":
        yield from found
    elif found:
        yield Document("".join(d.text + "\n" for d in found), place=file.name)


def attach_prompts(
    documents: list[Document], files: Sequence[InputFile], reading: Reading, *, name: str
) -> None:
    """Give each document its prompt from plain text, one a line, or from records.

    Raises
    ------
    InputError
        If there are more or fewer prompts than documents, or a document has a prompt already.
    """
    prompts = read_documents(files, replace(reading, documents="line", split_on=None))
    listed = ", ".join(file.name for file in files)
    if len(prompts) != len(documents):
        raise InputError(
            f"holds {len(prompts):,} prompts for the {len(documents):,} documents of {name}: "
            "one is needed for each, in the same order",
            file=listed,
        )
    for document, prompt in zip(documents, prompts, strict=True):
        if document.prompt:
            raise InputError(
                f"{name} has prompts of its own ({document.place}): drop --prompts", file=listed
            )
        document.prompt = prompt.text
