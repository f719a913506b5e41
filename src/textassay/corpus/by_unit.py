"""The judged text of one side of an assay, documents ordered by resampling unit."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus, judged_tokens
from textassay.corpus.units import unit_keys

TRAINING = "training text"  # the name of a sample of it


@dataclass(frozen=True, eq=False)
class Text:
    """A named text of one or several corpora, which share a vocabulary."""

    name: str
    corpora: Sequence[Corpus]


@dataclass(frozen=True, eq=False)
class TextByUnit:
    """The judged tokens of a text, unit by unit.

    Attributes
    ----------
    name : str
    tokens : int32[N]
    offsets : int64[D + 1]
        Where documents begin in `tokens`.
    unit_documents : int64[U + 1]
        Where units begin among the documents.
    keys : list of str
        Names of the units.
    order : int64[D]
        The place of each document in the corpora, one behind the other.
    vocabulary_size : int
    content : int
        A checksum of the texts, which names their random streams.
    """

    name: str
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    unit_documents: NDArray[np.int64]
    keys: list[str]
    order: NDArray[np.int64]
    vocabulary_size: int
    content: int

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each document, int64[D]."""
        return np.diff(self.offsets)

    @property
    def document_units(self) -> NDArray[np.int64]:
        """The unit of each document."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.unit_documents))


def by_unit(text: Text, unit: str) -> TextByUnit:
    """Order a text's documents by their units. Cost: linear in the text."""
    several = len(text.corpora) > 1
    names = [
        f"{number}\0{key}" if several else key
        for number, corpus in enumerate(text.corpora)
        for key in unit_keys(corpus, unit)
    ]
    keys = list(dict.fromkeys(names))
    places = {key: place for place, key in enumerate(keys)}
    units = np.array([places[key] for key in names], np.int64)
    order = np.argsort(units, kind="stable")
    tokens = np.concatenate([judged_tokens(corpus) for corpus in text.corpora])
    lengths = np.concatenate([corpus.text_lengths for corpus in text.corpora])
    begins = np.concatenate([[0], np.cumsum(lengths)])
    if not np.array_equal(order, np.arange(order.size)):
        tokens = np.concatenate([tokens[begins[d] : begins[d + 1]] for d in order] or [tokens[:0]])
    offsets = np.concatenate([[0], np.cumsum(lengths[order])]).astype(np.int64)
    sizes = np.bincount(units, minlength=len(keys))
    unit_documents = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    content = 0
    for corpus in text.corpora:
        for document in corpus.texts:
            content = zlib.crc32(document.encode("utf-8", "surrogatepass") + b"\n", content)
    size = len(text.corpora[0].vocabulary)
    return TextByUnit(text.name, tokens, offsets, unit_documents, keys, order, size, content)


def select_documents(text: TextByUnit, chosen: NDArray[np.bool_]) -> TextByUnit:
    """Some of a text's documents, bool[D]; units without any are gone."""
    lengths = text.lengths
    units = text.document_units[chosen]
    kept, units = np.unique(units, return_inverse=True)
    sizes = np.bincount(units, minlength=kept.size)
    return TextByUnit(
        text.name,
        text.tokens[np.repeat(chosen, lengths)],
        np.concatenate([[0], np.cumsum(lengths[chosen])]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        [text.keys[unit] for unit in kept],
        text.order[chosen],
        text.vocabulary_size,
        zlib.crc32(np.packbits(chosen).tobytes(), text.content),
    )
