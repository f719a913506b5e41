"""One text collection as the tendencies look at it: judged tokens and sums, unit by unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import Text, TextByUnit, by_unit
from textassay.corpus.ngrams import count_ngrams
from textassay.corpus.token_kinds import TokenKinds
from textassay.stats.grouped import Grouped

WINDOWS = (50, 20, 10, 5)


@dataclass(frozen=True, eq=False)
class Sample(TextByUnit):
    """A text with the sums of its documents.

    Attributes
    ----------
    sums : int64[D, 5]
        Types, stopwords, symbols, words, characters of words, of each document.
    """

    sums: NDArray[np.int64]

    @classmethod
    def of(cls, text: Text, unit: str, kinds: TokenKinds) -> Sample:
        """From a text. Cost: some 20 ns a token."""
        from textassay.tendencies.document_kernels import document_sums

        found = by_unit(text, unit)
        sums = np.zeros((found.documents, 5), np.int64)
        document_sums(
            found.tokens,
            found.offsets,
            kinds.stopword,
            kinds.symbol,
            kinds.word,
            kinds.characters,
            np.full(found.vocabulary_size, -1, np.int64),
            sums,
        )
        return cls(**vars(found), sums=sums)

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
        begins = counted.offsets[first + sample.unit_documents]
        found.append(
            Grouped(
                counted.ids[begins[0] : begins[-1]],
                begins - begins[0],
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
