"""Counting n-grams as sorted integer keys.

An n-gram is numbered by the pair of its first n - 1 tokens' number and its last token, so that the
numbers of order n follow from those of order n - 1 by one sort, whatever n is and however many
types there are: no key outgrows 64 bits, and no n-gram is ever a Python object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError


@dataclass(frozen=True, eq=False)
class NgramCounts:
    """All n-grams of one order that lie inside documents.

    Attributes
    ----------
    order : int
        n.
    ids : int64[P]
        Number of the n-gram at each place, from 0; equal n-grams have equal numbers.
    starts : int64[P]
        The token at which it begins.
    documents : int64[P]
        The document it lies in; does not decrease.
    counts : int64[U]
        How often each distinct n-gram occurs.
    """

    order: int
    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    documents: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def distinct(self) -> int:
        """Number of distinct n-grams, U."""
        return self.counts.size

    def by_document(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Documents, n-grams and counts of all pairs that occur, sorted by document, then n-gram.

        Cost: one sort of P keys.
        """
        keys, counts = np.unique(
            self.documents * max(1, self.distinct) + self.ids, return_counts=True
        )
        return (*np.divmod(keys, max(1, self.distinct)), counts.astype(np.int64))

    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each distinct n-gram occurs, int64[U]."""
        _, ngrams, _ = self.by_document()
        return np.bincount(ngrams, minlength=self.distinct)


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
        One an order. Cost: a sort of at most N 64-bit keys each; 32 bytes a token.

    Examples
    --------
    >>> tokens, offsets = np.array([5, 6, 5, 6, 7]), np.array([0, 3, 5])
    >>> [(c.order, c.distinct, c.counts.tolist()) for c in count_ngrams(tokens, offsets, 2)]
    [(1, 3, [2, 2, 1]), (2, 3, [1, 1, 1])]
    """
    if largest < 1:
        raise UsageError(f"n-grams of order {largest}: at least 1 is needed")
    tokens = np.asarray(tokens, np.int64)
    offsets = np.asarray(offsets, np.int64)
    sizes = np.diff(offsets)
    documents = np.repeat(np.arange(sizes.size, dtype=np.int64), sizes)
    left = np.repeat(offsets[1:], sizes) - np.arange(tokens.size)  # tokens to the document's end
    starts = np.arange(tokens.size, dtype=np.int64)
    types = int(tokens.max(initial=-1)) + 1
    ids = np.zeros(tokens.size, np.int64)
    for order in range(1, largest + 1):
        inside = left[starts] >= order
        starts, ids = starts[inside], ids[inside]
        keys = ids * max(1, types) + tokens[starts + order - 1]
        _, ids, counts = np.unique(keys, return_inverse=True, return_counts=True)
        ids = ids.astype(np.int64)
        yield NgramCounts(order, ids, starts, documents[starts], counts.astype(np.int64))
