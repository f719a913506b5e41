"""Statistics of sets of documents: Self-BLEU, distinct n-grams and documents, corpus BLEU.

A set is a row of counts whose categories are documents (0 or 1 each), so that sets are drawn,
compared and permuted as counts of words are (`stats/count_comparison.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.overlap.document_ngrams import DocumentNgrams, OrderNgrams
from textassay.stats.grouped import Array, Counts, Drawn, Draws, Grouped
from textassay.stats.verdicts import UNSEEN

ORDERS = (2, 3, 4, 5)  # of BLEU and Self-BLEU
DISTINCT = (1, 2, 3, 4)
_FEW = 20  # repeated documents below which they are counted
_LARGE, _LARGEST = 100_000, 1_000_000  # tokens above which fewer sets are drawn


def draws_of(ngrams: DocumentNgrams, samples: Sequence[Grouped]) -> Draws:
    """As many sets as take some seconds, by the tokens of the documents."""
    tokens = sum(int(ngrams.lengths[sample.categories].sum()) for sample in samples)
    if tokens < _LARGE:
        return Draws(averaged=20, parts=200, pairs=400, permutations=999)
    if tokens < _LARGEST:
        return Draws(averaged=20, parts=200, pairs=400, permutations=499)
    return Draws(averaged=10, parts=50, pairs=100, permutations=199)


class SelfBleuStatistics(Drawn):
    """Self-BLEU-2 to -5 of each set; NaN for fewer than two documents."""

    values = len(ORDERS)
    distances = 0

    def __init__(self, ngrams: DocumentNgrams, smoothing: int, effective_order: bool) -> None:
        self.ngrams, self.smoothing, self.effective_order = ngrams, smoothing, effective_order

    def draws(self, *samples: Grouped) -> Draws:
        """By the size of the samples."""
        return draws_of(self.ngrams, samples)

    def describe(self, counts: Counts) -> Array:
        """float64[R, 4]."""
        from textassay.overlap.bleu_kernels import closest_others, score_sentences, set_matches

        orders = self.ngrams.orders[: max(ORDERS)]
        out = np.full((len(counts), self.values), np.nan)
        rooms = [np.zeros((3, order.shared), np.int32) for order in orders]
        for r, row in enumerate(counts):
            members = np.flatnonzero(row)
            if members.size < 2:
                continue
            matched = np.empty((len(orders), members.size), np.int64)
            for n, order in enumerate(orders):
                pairs, room = order.pairs, rooms[n]
                set_matches(
                    members,
                    pairs.begins,
                    pairs.ngrams,
                    pairs.counts,
                    room[0],
                    room[1],
                    room[2],
                    matched[n],
                )
            lengths = self.ngrams.lengths[members]
            closest = np.empty(members.size, np.int64)
            closest_others(lengths, np.argsort(lengths), closest)
            scores = np.zeros((members.size, len(orders)))
            score_sentences(matched, lengths, closest, self.smoothing, self.effective_order, scores)
            out[r] = scores.mean(axis=0)[np.array(ORDERS) - 1]
        return out

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))


class DistinctStatistics(Drawn):
    """Distinct n-grams over n-grams for n = 1 to 4, and the share of distinct documents.

    Where each unit is one document, expectations are exact: the expected number of distinct n-grams
    of m of D documents, sum over w of 1 - C(D - d, m) / C(D, m) for the d documents that hold w
    (Hurlbert 1971), over the expected number of n-grams.
    """

    values = len(DISTINCT) + 1
    distances = 0

    def __init__(self, ngrams: DocumentNgrams, texts: NDArray[np.int64]) -> None:
        self.ngrams, self.texts = ngrams, texts

    def draws(self, *samples: Grouped) -> Draws:
        """By the size of the samples."""
        return draws_of(self.ngrams, samples)

    def expected(self, sample: Grouped, items: int) -> Array | None:
        """float64[5], or None where units hold several documents."""
        if sample.units != sample.items or not sample.items:
            return None
        m, first, last = (
            min(items, sample.items),
            int(sample.categories[0]),
            int(sample.categories[-1]) + 1,
        )
        out = np.full(self.values, np.nan)
        for k, n in enumerate(DISTINCT):
            order = self.ngrams.orders[n - 1]
            total = order.totals[first:last].sum()
            if total:
                held = _holders(order, first, last)
                kinds = np.bincount(held[held > 0], minlength=2)
                kinds[1] += order.singles[first:last].sum()
                found = rarefied(kinds, sample.items, m)
                out[k] = min(1.0, found * sample.items / (total * m))
        held = np.bincount(self.texts[first:last])
        out[-1] = min(1.0, rarefied(np.bincount(held[held > 0]), sample.items, m) / m)
        return out

    def least_errors(self, sample: Grouped) -> Array:
        """Where few documents are repeated, those of a Poisson count of them, for the last value.

        Parts of a text whose documents all differ do not vary, but the next text may hold a
        repeated one: with no repeat, 1.96 of these errors are the exact limit of 3.7 repeats in
        all documents, as a share in half as many: texts are compared at half of the human size.
        The same for n-grams of which none is repeated, as a repeated document repeats all of its.
        """
        texts = self.texts[sample.categories]
        repeated = texts.size - np.unique(texts).size
        unseen = UNSEEN / (2 * texts.size)
        out = np.where(self.describe(sample.counts()[None])[0] == 1, unseen, 0.0)
        if repeated < _FEW:
            out[-1] = math.sqrt(repeated + UNSEEN**2) / (2 * texts.size)
        return out

    def describe(self, counts: Counts) -> Array:
        """float64[R, 5]."""
        out = np.full((len(counts), self.values), np.nan)
        for r, row in enumerate(counts):
            members = np.flatnonzero(row)
            for k, n in enumerate(DISTINCT):
                order = self.ngrams.orders[n - 1]
                total = order.totals[members].sum()
                if total:
                    found = _distinct_shared(order, members) + order.singles[members].sum()
                    out[r, k] = found / total
            if members.size:
                out[r, -1] = np.unique(self.texts[members]).size / members.size
        return out

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))


class CorpusBleuStatistics(Drawn):
    """BLEU-2 to -5 of all documents of a set together, against fixed references.

    Parameters
    ----------
    matched : int64[5, D]
    lengths, closest : int64[D]
        Of the documents and of the references closest in length.
    """

    values = len(ORDERS)
    distances = 0
    fixed_draws = Draws(averaged=20)

    def __init__(
        self, matched: NDArray[np.int64], lengths: NDArray[np.int64], closest: NDArray[np.int64]
    ) -> None:
        totals = np.maximum(0, lengths - np.arange(len(matched))[:, None])
        self.sums = np.concatenate([matched, totals, lengths[None], closest[None]]).T.astype(float)

    def describe(self, counts: Counts) -> Array:
        """float64[R, 4]."""
        from textassay.overlap.bleu_kernels import score_sums

        sums = counts @ self.sums
        n = max(ORDERS)
        out = np.empty((len(counts), n))
        for row, scores in zip(sums, out, strict=True):
            score_sums(row[:n], row[n : 2 * n], row[-2], row[-1], scores)
        return out[:, np.array(ORDERS) - 1]

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))


def rarefied(kinds: NDArray[np.int64], size: int, m: int) -> float:
    """Expected number of kinds in m of `size` documents; kinds[d] of them are in d documents."""
    from scipy.special import gammaln

    held = np.flatnonzero(kinds)
    left = size - held
    missed = np.zeros(held.size)
    some = left >= m
    rest = left[some]
    missed[some] = np.exp(
        gammaln(rest + 1) - gammaln(rest - m + 1) - gammaln(size + 1) + gammaln(size - m + 1)
    )
    # differences of logarithms of factorials of large numbers lose some digits
    return min(float(np.sum(kinds[held] * (1 - missed))), float(np.sum(kinds[held])))


def _holders(order: OrderNgrams, first: int, last: int) -> NDArray[np.int64]:
    begins = order.pairs.begins
    return np.bincount(order.pairs.ngrams[begins[first] : begins[last]], minlength=1)


def _distinct_shared(order: OrderNgrams, members: NDArray[np.int64]) -> int:
    from textassay.overlap.bleu_kernels import distinct_ngrams

    seen = np.zeros(order.shared, np.bool_)
    return distinct_ngrams(members, order.pairs.begins, order.pairs.ngrams, seen)
