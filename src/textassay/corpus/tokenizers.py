"""Tokenizers: the same for every side of an assay.

==================  ============================================================================
``words``           runs of letters, marks and digits with inner apostrophes; every other visible
                    character by itself; Han, kana and Thai by character (compiled; the default)
``bare-words``      the same without punctuation, symbols and apostrophes: for near-verbatim copies
``whitespace``      runs of visible characters, for text that was tokenized before (compiled)
``characters``      every character; runs of white space are one space (compiled)
``treebank``        Penn Treebank words (nltk, which needs no data for it)
``moses:LANG``      Moses tokens (sacremoses), as the paper on RAVEN used for WebText
``hf:PATH``         a ``tokenizer.json`` of Hugging Face tokenizers, or a folder that holds one
``ids``             ready token ids: .npy, or raw .bin as nanoGPT and Megatron write them
==================  ============================================================================
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, MissingExtraError, UsageError

# Numbers that corpus/scan_kernels.py knows; written here so that naming a tokenizer needs no numba.
_COMPILED = {"whitespace": 0, "words": 1, "characters": 2, "bare-words": 1}
NAMES = (
    "words",
    "bare-words",
    "whitespace",
    "characters",
    "treebank",
    "moses:LANG",
    "hf:PATH",
    "ids",
)


class Split(NamedTuple):
    """Tokens of one text, and where they stand in it (None where the tokenizer does not tell)."""

    tokens: list[str]
    spans: list[tuple[int, int]] | None


@dataclass(frozen=True)
class Tokenizer:
    """A named tokenizer.

    Attributes
    ----------
    name : str
        As on the command line; part of every signature.
    compiled : int or None
        The kernel's number for compiled tokenizers.
    split_many : callable or None
        For the others: texts to :class:`Split` values.
    in_processes : bool
        Whether it is bound by the interpreter, so that processes run it faster than threads.
    """

    name: str
    compiled: int | None = None
    split_many: Callable[[Sequence[str]], list[Split]] | None = None
    in_processes: bool = False

    @property
    def reads_ids(self) -> bool:
        """Whether inputs are ready token ids."""
        return self.name == "ids"

    @property
    def classes(self) -> NDArray[np.uint8]:
        """The table of character classes, which only words are made by."""
        if self.name in ("whitespace", "characters", "ids"):
            return np.zeros(0, np.uint8)
        from textassay.corpus.characters import bare_class_table, class_table

        return bare_class_table() if self.name == "bare-words" else class_table()

    def identity(self) -> str:
        """Its name, and for a tokenizer from a file the digest of the file."""
        if not self.name.startswith("hf:"):
            return self.name
        digest = hashlib.sha256(_tokenizer_file(self.name[3:]).read_bytes())
        return f"{self.name} {digest.hexdigest()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return make_tokenizer, (self.name,)


def make_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name.

    Raises
    ------
    UsageError
        If there is none, or its language or file is unknown.
    MissingExtraError
        If its package is not installed.

    Examples
    --------
    >>> from textassay.corpus.tokenizers import make_tokenizer, split
    >>> split(make_tokenizer("words"), "Don't stop: 漢字!")
    ["Don't", 'stop', ':', '漢', '字', '!']
    """
    if name in _COMPILED:
        return Tokenizer(name, compiled=_COMPILED[name])
    if name == "ids":
        return Tokenizer(name)
    if name == "treebank":
        return Tokenizer(name, split_many=_treebank(), in_processes=True)
    kind, _, argument = name.partition(":")
    if kind == "moses" and argument:
        return Tokenizer(name, split_many=_moses(argument), in_processes=True)
    if kind == "hf" and argument:
        return Tokenizer(name, split_many=_hugging_face(argument))
    raise UsageError(f"there is no tokenizer {name!r}: choose one of {', '.join(NAMES)}")


def split(tokenizer: Tokenizer, text: str) -> list[str]:
    """Tokens of one text as strings: for looking, not for speed."""
    from textassay.corpus.corpus import Corpus
    from textassay.corpus.documents import Document
    from textassay.corpus.vocabulary import Vocabulary

    vocabulary = Vocabulary()
    corpus = Corpus.from_documents([Document(text)], tokenizer, vocabulary)
    return [vocabulary[token] for token in corpus.tokens]


class Encoded(NamedTuple):
    """Documents as token ids.

    ``ids`` int32[N]; ``offsets`` int64[D + 1]; ``begins`` and ``ends`` int32[N]: characters in the
    document's own text.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]


def encode_documents(
    texts: Sequence[str], tokenizer: Tokenizer, vocabulary: Any, newline: str | None = None
) -> Encoded:
    """Tokenize texts, adding new tokens to the vocabulary. Cost: linear in the text.

    Parameters
    ----------
    texts : sequence of str
    tokenizer : Tokenizer
    vocabulary : Vocabulary
    newline : str, optional
        The token that a line end stands for; None: line ends are white space.
    """
    if tokenizer.reads_ids:  # written out in decimal, with spaces between
        return _encode_compiled(texts, make_tokenizer("whitespace"), vocabulary, None)
    if tokenizer.compiled is not None:
        return _encode_compiled(texts, tokenizer, vocabulary, newline)
    return _encode_split(split_texts(texts, tokenizer, newline), texts, vocabulary)


def split_texts(texts: Sequence[str], tokenizer: Tokenizer, newline: str | None) -> list[Split]:
    """Tokens of texts by a tokenizer that is not compiled; line ends become `newline` tokens."""
    if tokenizer.split_many is None:
        raise UsageError(f"--tokenizer {tokenizer.name} does not split strings")
    if newline is None:
        return tokenizer.split_many(texts)
    splits = iter(tokenizer.split_many([line for text in texts for line in text.split("\n")]))
    joined = []
    for text in texts:
        tokens: list[str] = []
        spans: list[tuple[int, int]] | None = []
        at = 0
        for number, line in enumerate(text.split("\n")):
            part = next(splits)
            if number:
                tokens.append(newline)
                if spans is not None:
                    spans.append((at - 1, at))
            tokens.extend(part.tokens)
            if part.spans is None:
                spans = None
            elif spans is not None:
                spans.extend((at + begin, at + end) for begin, end in part.spans)
            at += len(line) + 1
        joined.append(Split(tokens, spans))
    return joined


def _encode_split(splits: list[Split], texts: Sequence[str], vocabulary: Any) -> Encoded:
    counts = [len(part.tokens) for part in splits]
    offsets = np.zeros(len(splits) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    ids = vocabulary.add([token for part in splits for token in part.tokens])
    begins = np.zeros(offsets[-1], np.int32)
    ends = np.zeros(offsets[-1], np.int32)
    for d, part in enumerate(splits):
        if counts[d]:
            spans = part.spans if part.spans is not None else find_spans(part.tokens, texts[d])
            pairs = np.array(spans, np.int32)
            begins[offsets[d] : offsets[d + 1]] = pairs[:, 0]
            ends[offsets[d] : offsets[d + 1]] = pairs[:, 1]
    return Encoded(ids, offsets, begins, ends)


def find_spans(tokens: Sequence[str], text: str) -> list[tuple[int, int]]:
    """Where tokens stand in a text, for tokenizers that rewrite some of them.

    A token that is not found literally is given the place where the one before it ended.
    """
    spans = []
    at = 0
    for token in tokens:
        found = text.find(token, at, at + len(token) + 200)
        if found < 0:
            spans.append((at, at))
        else:
            at = found + len(token)
            spans.append((found, at))
    return spans


def join_utf8(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Texts end to end as UTF-8 with 8 bytes of padding, and where each begins."""
    pieces = [text.encode("utf-8") for text in texts]
    limits = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=limits[1:])
    return np.frombuffer(b"".join(pieces) + bytes(8), np.uint8), limits


_STRETCH = 1 << 24  # bytes tokenized at a time


def _encode_compiled(
    texts: Sequence[str], tokenizer: Tokenizer, vocabulary: Any, newline: str | None
) -> Encoded:
    parts: list[Encoded] = []
    first = 0
    while first < len(texts) or not parts:
        last, size = first, 0
        while last < len(texts) and (last == first or size < _STRETCH):
            size += 4 * len(texts[last])
            last += 1
        parts.append(_encode_stretch(texts[first:last], tokenizer, vocabulary, newline))
        first = last
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    ids, begins, ends = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("ids", "begins", "ends")
    )
    return Encoded(ids, offsets, begins, ends)


def _encode_stretch(
    texts: Sequence[str], tokenizer: Tokenizer, vocabulary: Any, newline: str | None
) -> Encoded:
    from textassay.corpus import scan_kernels as scan

    kind = tokenizer.compiled or 0
    buffer, limits = join_utf8(texts)
    if buffer.size > 2**31 - 1:
        raise InputError("one document is larger than 2 GiB: split it")
    starts = np.empty(buffer.size + len(texts), np.int32)
    ends = np.empty(buffer.size + len(texts), np.int32)
    newlines = scan.AS_SPACE if newline is None else scan.AS_TOKEN
    count = scan.scan_documents(kind, buffer, limits, tokenizer.classes, newlines, starts, ends)
    starts, ends = starts[:count], ends[:count]
    ids = vocabulary.add_spans(buffer, starts, ends, *special_ids(vocabulary, kind, newline, True))
    last = np.flatnonzero(ids == -2)
    real = ids != -2
    offsets = np.zeros(len(texts) + 1, np.int64)
    offsets[1:] = last - np.arange(last.size)
    # events are given the byte before their end
    begins = np.where(starts < 0, ends - 1, starts)[real]
    ends = ends[real]
    document_begins = np.repeat(limits[:-1], np.diff(offsets))
    if buffer.size - 8 == sum(map(len, texts)):  # all ASCII: bytes are characters
        begins, ends = begins - document_begins, ends - document_begins
    else:
        characters = np.zeros(buffer.size + 1, np.int32)
        np.cumsum((buffer & 0xC0) != 0x80, out=characters[1:])
        first = characters[document_begins]
        begins, ends = characters[begins] - first, characters[ends] - first
    return Encoded(ids[real], offsets, begins.astype(np.int32), ends.astype(np.int32))


def special_ids(vocabulary: Any, kind: int, newline: str | None, add: bool) -> tuple[int, int]:
    """Ids of the tokens for a line end and for a space (-1 where there is none)."""
    find = vocabulary.add if add else vocabulary.find
    newline_id = -1 if newline is None else int(find([newline])[0])
    space_id = int(find([" "])[0]) if kind == _COMPILED["characters"] else -1
    return newline_id, space_id


def _treebank() -> Callable[[Sequence[str]], list[Split]]:
    try:
        from nltk.tokenize.treebank import TreebankWordTokenizer
    except ImportError:
        raise MissingExtraError("--tokenizer treebank", "nltk", "tokenize") from None
    tokenize = TreebankWordTokenizer().tokenize
    return lambda texts: [Split(tokenize(text), None) for text in texts]


def _moses(language: str) -> Callable[[Sequence[str]], list[Split]]:
    if not re.fullmatch(r"[a-z]{2,3}", language):
        raise UsageError(f"moses:{language}: a language code such as moses:en is needed")
    try:
        from sacremoses import MosesTokenizer
    except ImportError:
        raise MissingExtraError("--tokenizer moses", "sacremoses", "tokenize") from None
    tokenize = MosesTokenizer(lang=language).tokenize
    return lambda texts: [Split(tokenize(text, escape=False), None) for text in texts]


def _tokenizer_file(path: str) -> Path:
    return Path(path) / "tokenizer.json" if os.path.isdir(path) else Path(path)


def _hugging_face(path: str) -> Callable[[Sequence[str]], list[Split]]:
    try:
        from tokenizers import Tokenizer as HuggingFaceTokenizer
    except ImportError:
        raise MissingExtraError("--tokenizer hf", "tokenizers", "neural") from None
    place = _tokenizer_file(path)
    if not os.path.isfile(place):
        raise InputError("no such file: a tokenizer.json is needed", file=str(place))
    try:
        tokenizer = HuggingFaceTokenizer.from_file(str(place))
    except Exception as error:  # the package raises plain Exception
        raise InputError(f"is no tokenizer.json: {error}", file=str(place)) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def split_many(texts: Sequence[str]) -> list[Split]:
        try:
            encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        except Exception as error:  # the package raises plain Exception
            raise InputError(f"cannot tokenize this text: {error}", file=str(place)) from None
        return [Split(e.tokens, e.offsets) for e in encodings]

    return split_many
