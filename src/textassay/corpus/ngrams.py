"""Counting n-grams as integers.

An n-gram is numbered by the pair of its first n - 1 tokens' number and its last token, so that the
numbers of order n follow from those of order n - 1 by one pass with a hash table, whatever n is and
however many types there are: no key outgrows 64 bits, and no n-gram is ever a Python object. Keys
are compared whole, so that numbers are exact. A table does in one pass what sorting the keys did in
several times the time (docs/results/overlap.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError

_STRETCH = 1 << 20  # tokens a call of a kernel: a tenth of a second


class NgramPairs(NamedTuple):
    """Which document holds which n-grams, and how often.

    Attributes
    ----------
    begins : int64[D + 1]
        The pairs of document d are begins[d] .. begins[d + 1] - 1.
    ngrams, counts : int32[pairs]
    """

    begins: NDArray[np.int64]
    ngrams: NDArray[np.int32]
    counts: NDArray[np.int32]

    @property
    def documents(self) -> NDArray[np.int64]:
        """The document of each pair."""
        sizes = np.diff(self.begins)
        return np.repeat(np.arange(sizes.size), sizes)


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """All n-grams of one order that lie inside documents.

    Attributes
    ----------
    order : int
        n.
    ids : int32[P]
        Number of the n-gram at each place, by first appearance; equal n-grams have equal numbers.
    offsets : int64[D + 1]
        Where the n-grams of each document begin among the places.
    counts : int32[U]
        How often each distinct n-gram occurs.
    """

    order: int
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int32]

    @property
    def distinct(self) -> int:
        """Number of distinct n-grams, U."""
        return self.counts.size

    def by_document(self) -> NgramPairs:
        """The distinct n-grams of each document. Cost: one pass; some 16 bytes a place."""
        from textassay.corpus.ngram_kernels import count_pairs

        begins = np.zeros(self.offsets.size, np.int64)
        ngrams = np.empty(self.ids.size, np.int32)
        counts = np.empty(self.ids.size, np.int32)
        held_at = np.full(self.distinct, -1, np.int64)
        for first, last in _stretches(self.offsets):
            count_pairs(self.ids, self.offsets, first, last, held_at, begins, ngrams, counts)
        size = begins[-1]
        return NgramPairs(begins, ngrams[:size], counts[:size])

    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each distinct n-gram occurs, int64[U]."""
        return np.bincount(self.by_document().ngrams, minlength=self.distinct)


def count_ngrams(
    tokens: NDArray[np.integer], offsets: NDArray[np.integer], largest: int
) -> Iterator[NgramCounts]:
    """Counts of all orders from 1 to `largest`.

    Parameters
    ----------
    tokens : int[N]
        Token ids, from 0.
    offsets : int[D + 1]
        Where documents begin. Documents of several corpora, one behind the other, are numbered
        alike.
    largest : int
        At least 1.

    Yields
    ------
    NgramCounts
        One an order. Cost: a look-up a token and order, some 20 to 100 ns; 40 bytes a token.

    Examples
    --------
    >>> tokens, offsets = np.array([5, 6, 5, 6, 7]), np.array([0, 3, 5])
    >>> [(c.order, c.distinct, c.counts.tolist()) for c in count_ngrams(tokens, offsets, 2)]
    [(1, 3, [2, 2, 1]), (2, 3, [1, 1, 1])]
    """
    if largest < 1:
        raise UsageError(f"n-grams of order {largest}: at least 1 is needed")
    yield from _count(
        np.ascontiguousarray(tokens, np.int32), np.ascontiguousarray(offsets, np.int64), largest
    )


def _count(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], largest: int
) -> Iterator[NgramCounts]:
    from textassay.corpus.ngram_kernels import number_ngrams

    types = int(tokens.max(initial=-1)) + 1
    counted = _count_types(tokens, offsets, types)
    yield counted
    lengths = np.diff(offsets)
    for order in range(2, largest + 1):
        ngram_offsets = np.zeros(offsets.size, np.int64)
        np.cumsum(np.maximum(0, lengths - order + 1), out=ngram_offsets[1:])
        size = int(ngram_offsets[-1])
        ids, counts = np.empty(size, np.int32), np.zeros(size, np.int32)
        bits = max(4, (size + size // 2).bit_length())
        keys = np.full(1 << bits, 0xFFFFFFFFFFFFFFFF, np.uint64)
        numbers = np.empty(keys.size, np.int32)
        known = 0
        for first, last in _stretches(offsets):
            known = number_ngrams(
                tokens,
                offsets,
                order,
                max(1, types),
                first,
                last,
                counted.ids,
                counted.counts,
                counted.offsets,
                keys,
                numbers,
                np.uint64(64 - bits),
                ids,
                counts,
                ngram_offsets,
                known,
            )
        counted = NgramCounts(order, ids, ngram_offsets, counts[:known].copy())
        yield counted


def _count_types(tokens: NDArray[np.int32], offsets: NDArray[np.int64], types: int) -> NgramCounts:
    from textassay.corpus.ngram_kernels import number_types

    first, last = int(offsets[0]), int(offsets[-1])
    ids = np.empty(last - first, np.int32)
    counts = np.zeros(types, np.int32)
    number_of = np.full(types, -1, np.int32)
    known = number_types(tokens[first:last], 0, last - first, number_of, ids, counts, 0)
    return NgramCounts(1, ids, offsets - first, counts[:known].copy())


def _stretches(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Documents first .. last - 1 of some million tokens each."""
    first, documents = 0, offsets.size - 1
    while first < documents:
        last = int(np.searchsorted(offsets, offsets[first] + _STRETCH, "right")) - 1
        last = min(documents, max(first + 1, last))
        yield first, last
        first = last
