"""One text collection as the tendencies look at it: judged tokens and sums, unit by unit."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus, judged_tokens
from textassay.corpus.ngrams import count_ngrams
from textassay.corpus.token_kinds import TokenKinds
from textassay.corpus.units import unit_keys
from textassay.stats.grouped import Grouped

WINDOWS = (50, 20, 10, 5)


@dataclass(frozen=True, eq=False)
class Sample:
    """The judged text of one or several corpora, documents ordered by resampling unit.

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
    sums : int64[D, 5]
        Types, stopwords, symbols, words, characters of words, of each document.
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
    sums: NDArray[np.int64]
    vocabulary_size: int
    content: int

    @classmethod
    def of(cls, name: str, corpora: Sequence[Corpus], unit: str, kinds: TokenKinds) -> Sample:
        """From corpora that share a vocabulary. Cost: some 20 ns a token."""
        from textassay.tendencies.document_kernels import document_sums

        several = len(corpora) > 1
        names = [
            f"{number}\0{key}" if several else key
            for number, corpus in enumerate(corpora)
            for key in unit_keys(corpus, unit)
        ]
        keys = list(dict.fromkeys(names))
        places = {key: place for place, key in enumerate(keys)}
        units = np.array([places[key] for key in names], np.int64)
        order = np.argsort(units, kind="stable")
        tokens = np.concatenate([judged_tokens(corpus) for corpus in corpora])
        lengths = np.concatenate([corpus.text_lengths for corpus in corpora])
        begins = np.concatenate([[0], np.cumsum(lengths)])
        if not np.array_equal(order, np.arange(order.size)):
            tokens = np.concatenate(
                [tokens[begins[d] : begins[d + 1]] for d in order] or [tokens[:0]]
            )
        offsets = np.concatenate([[0], np.cumsum(lengths[order])]).astype(np.int64)
        size = len(corpora[0].vocabulary)
        sums = np.zeros((lengths.size, 5), np.int64)
        document_sums(
            tokens,
            offsets,
            kinds.stopword,
            kinds.symbol,
            kinds.word,
            kinds.characters,
            np.full(size, -1, np.int64),
            sums,
        )
        sizes = np.bincount(units, minlength=len(keys))
        unit_documents = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        content = 0
        for corpus in corpora:
            for text in corpus.texts:
                content = zlib.crc32(text.encode("utf-8", "surrogatepass") + b"\n", content)
        return cls(name, tokens, offsets, unit_documents, keys, order, sums, size, content)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each document, int64[D]."""
        return np.diff(self.offsets)

    @property
    def types(self) -> NDArray[np.int64]:
        """Distinct tokens of each document, int64[D]."""
        return self.sums[:, 0]

    def shares(self, column: int) -> NDArray[np.float64]:
        """A column of `sums` by the document's length; NaN for empty documents."""
        lengths = self.lengths
        out = np.full(lengths.size, np.nan)
        np.divide(self.sums[:, column], lengths, out=out, where=lengths > 0)
        return out

    @property
    def document_units(self) -> NDArray[np.int64]:
        """The unit of each document."""
        return np.repeat(np.arange(len(self.keys)), np.diff(self.unit_documents))

    @cached_property
    def by_type(self) -> Grouped:
        """All tokens by type."""
        return Grouped(
            self.tokens,
            self.offsets[self.unit_documents],
            self.vocabulary_size,
            content=self.content,
        )

    def windows(self, window: int) -> NDArray[np.float64]:
        """Sum of type-token ratios over all windows of each document, and their number."""
        from textassay.tendencies.document_kernels import window_sums

        out = np.zeros((self.documents, 2))
        counts = np.zeros(self.vocabulary_size, np.int32)
        window_sums(self.tokens, self.offsets, window, counts, out)
        return out


def grouped_ngrams(samples: Sequence[Sample], order: int) -> list[Grouped]:
    """The n-grams inside documents of several samples, over common categories."""
    tokens = np.concatenate([sample.tokens for sample in samples])
    ends = np.concatenate([[0], np.cumsum([sample.tokens.size for sample in samples])])
    offsets = np.concatenate(
        [[0], *(sample.offsets[1:] + end for sample, end in zip(samples, ends[:-1], strict=True))]
    )
    *_, counted = count_ngrams(tokens, offsets, order)
    found = []
    first = 0
    for sample in samples:
        last = first + sample.documents
        begins = np.searchsorted(counted.documents, first + sample.unit_documents)
        found.append(
            Grouped(
                counted.ids[begins[0] : begins[-1]].astype(np.int32),
                (begins - begins[0]).astype(np.int64),
                max(1, counted.distinct),
                content=sample.content,
            )
        )
        first = last
    return found


def grouped_values(
    samples: Sequence[Sample], values: Sequence[NDArray[np.float64]]
) -> tuple[list[Grouped], NDArray[np.float64]]:
    """One number a document as ordered categories; NaN is left out. Also the distinct numbers."""
    known = [~np.isnan(numbers) for numbers in values]
    distinct = np.unique(
        np.concatenate([numbers[keep] for numbers, keep in zip(values, known, strict=True)])
    )
    found = []
    for sample, numbers, keep in zip(samples, values, known, strict=True):
        before = np.concatenate([[0], np.cumsum(keep)])
        found.append(
            Grouped(
                np.searchsorted(distinct, numbers[keep]).astype(np.int32),
                before[sample.unit_documents].astype(np.int64),
                max(1, distinct.size),
                content=sample.content,
            )
        )
    return found, distinct


def common_window(samples: Sequence[Sample]) -> int:
    """The largest of the windows 50, 20, 10 and 5 that half of the documents hold, on all sides."""
    for window in WINDOWS:
        if all(np.mean(sample.lengths >= window) >= 0.5 for sample in samples):
            return window
    return WINDOWS[-1]
