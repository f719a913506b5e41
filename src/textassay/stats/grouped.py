"""Units that hold items of many categories, and random subsets of them as counts.

Statistics that count types, or compare whole distributions, change when units are repeated; they
are never bootstrapped. Subsets are drawn without replacement instead, at equal numbers of items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textassay.parallel import Workers
from textassay.stats.verdicts import UNSEEN

Array = NDArray[np.float64]
Counts = NDArray[np.int32]
EVERYTHING = 1 << 60
_BATCH = 1 << 22  # counts at a time, for each thread: 16 MB
_WORTH = 200  # items that are dealt in the time that one kind is drawn
_ROWS = 32  # draws at a time: enough pieces for all workers


@dataclass(frozen=True, eq=False)
class Grouped:
    """Items by unit: unit u holds ``categories[offsets[u]:offsets[u + 1]]``.

    Attributes
    ----------
    categories : int32[N]
        From 0 to `size` - 1.
    offsets : int64[U + 1]
    size : int
        How many categories there are.
    weights : int32[N]
        A second number of each item, which is added up beside; or empty.
    content : int
        A checksum of what was counted, which names its random streams.
    """

    categories: NDArray[np.int32]
    offsets: NDArray[np.int64]
    size: int
    weights: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    content: int = 0

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.offsets.size - 1

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.offsets[-1])

    @property
    def is_urn(self) -> bool:
        """Whether units are single items of few kinds: then counts are drawn, not items."""
        single = self.units == self.items and not self.weights.size
        return single and _WORTH * self.size < self.items

    def counts(self) -> Counts:
        """Counts of all items by category, int32[size]."""
        return np.bincount(self.categories, None, self.size).astype(np.int32)

    def weighed(self) -> Counts:
        """Sums of the weights of all items by category, int32[size]."""
        return np.bincount(self.categories, self.weights, self.size).astype(np.int32)


def pooled(first: Grouped, second: Grouped) -> Grouped:
    """The units of both, behind one another."""
    return Grouped(
        np.concatenate([first.categories, second.categories]),
        np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]),
        max(first.size, second.size),
        np.concatenate([first.weights, second.weights]),
    )


def key_of(rng: np.random.Generator) -> np.uint64:
    """A key that names a set of draws."""
    return np.uint64(rng.integers(0, 2**64, dtype=np.uint64))


def in_batches(work: Callable[[int, int], Array], rows: int, width: int, workers: Workers) -> Array:
    """``work(first, number)`` over rows in batches, by threads; the parts joined.

    Batches depend on the width of a row alone, and rows on their number, so that the result is
    the same for any number of workers.
    """
    step = max(1, min(rows, _ROWS, _BATCH // max(1, width)))
    parts = workers.map(lambda first: work(first, min(step, rows - first)), range(0, rows, step))
    return np.concatenate(list(parts))


def _room(sample: Grouped, *shape: int) -> tuple[Counts, Counts]:
    """Arrays for counts, and for sums of weights: one row that stays empty if there are none."""
    weighed = shape if sample.weights.size else (*shape[:-1], 1)
    return (
        np.empty((*shape, sample.size), np.int32),
        np.empty((*weighed, sample.size), np.int32),
    )


def _from_urn(
    sample: Grouped, sizes: Sequence[int], key: np.uint64, first: int, rows: int
) -> Counts:
    """Counts of disjoint sets of so many items each, int32[sets, rows, size].

    Multivariate hypergeometric: what dealing single items gives, without dealing them.
    """
    colours = sample.counts().astype(np.int64)
    out = np.empty((len(sizes), rows, sample.size), np.int32)
    for row in range(rows):
        stream = np.random.Philox(key=int(key), counter=[0, 0, 0, first + row])
        rng = np.random.Generator(stream)
        left = colours
        for number, size in enumerate(sizes):
            out[number, row] = rng.multivariate_hypergeometric(left, size, method="marginals")
            left = left - out[number, row]
    return out


def weighed_subsets(
    sample: Grouped, items: int, key: np.uint64, first: int, rows: int, units: int = EVERYTHING
) -> tuple[Counts, Counts]:
    """Counts of so many items of units in random order, int32[rows, size]; sums of weights."""
    from textassay.stats.group_kernels import subset_counts

    counts, weighed = _room(sample, rows)
    subset_counts(
        sample.categories, sample.weights, sample.offsets, units, items, key, first, counts, weighed
    )
    return counts, weighed


def subsets(
    sample: Grouped, items: int, key: np.uint64, first: int, rows: int, units: int = EVERYTHING
) -> Counts:
    """The counts alone."""
    if sample.is_urn:
        counts: Counts = _from_urn(sample, [min(items, units, sample.items)], key, first, rows)[0]
        return counts
    return weighed_subsets(sample, items, key, first, rows, units)[0]


def two_weighed_subsets(
    sample: Grouped, items: int, key: np.uint64, first: int, rows: int, units: tuple[int, int]
) -> tuple[Counts, Counts]:
    """The same for two disjoint sets, of at most so many units and items, int32[2, rows, size]."""
    from textassay.stats.group_kernels import two_subset_counts

    counts, weighed = _room(sample, 2, rows)
    two_subset_counts(
        sample.categories,
        sample.weights,
        sample.offsets,
        *units,
        items,
        key,
        first,
        counts,
        weighed,
    )
    return counts, weighed


def two_subsets(
    sample: Grouped, items: int, key: np.uint64, first: int, rows: int, units: tuple[int, int]
) -> Counts:
    """The counts alone, int32[2, rows, size]."""
    if sample.is_urn:
        one = min(items, units[0], sample.items)
        other = min(items, units[1], sample.items - one)
        return _from_urn(sample, [one, other], key, first, rows)
    return two_weighed_subsets(sample, items, key, first, rows, units)[0]


def deals(sample: Grouped, units: int, key: np.uint64, first: int, rows: int) -> Counts:
    """All units dealt to two sides, so many to the first; the larger cut to the smaller one's size.

    int32[2, rows, size].
    """
    from textassay.stats.group_kernels import dealt_counts

    if sample.is_urn:
        smaller = min(units, sample.items - units)
        return _from_urn(sample, [smaller, smaller], key, first, rows)
    counts = np.empty((2, rows, sample.size), np.int32)
    dealt_counts(sample.categories, sample.offsets, units, key, first, counts)
    return counts


def bootstraps(
    sample: Grouped, key: np.uint64, rows: int, workers: Workers
) -> tuple[Counts, Counts]:
    """Counts of items, and sums of their weights, of as many units drawn with replacement."""
    from textassay.stats.group_kernels import bootstrap_counts

    counts, weighed = _room(sample, rows)

    def fill(first: int) -> None:
        last = first + _ROWS
        part = weighed[first:last] if sample.weights.size else weighed
        bootstrap_counts(
            sample.categories, sample.weights, sample.offsets, key, first, counts[first:last], part
        )

    list(workers.map(fill, range(0, rows, _ROWS)))
    return counts, weighed


@dataclass(frozen=True)
class Draws:
    """How many random sets of units are looked at: fewer where each takes long.

    Attributes
    ----------
    averaged : int
        Subsamples that a value or a distance at a common size is averaged over.
    parts : int
        Parts of a text that tell a standard error.
    pairs : int
        Pairs of disjoint human samples that tell the margin.
    permutations : int
        At most; 0 for no test.
    """

    averaged: int = 40
    parts: int = 200
    pairs: int = 400
    permutations: int = 999


class Statistics(Protocol):
    """What is asked of counts: `values` numbers of one text, `distances` of two, and a curve."""

    values: int
    distances: int

    def draws(self, *samples: Grouped) -> Draws:
        """How many sets of these samples are looked at."""

    def expected(self, sample: Grouped, items: int) -> Array | None:
        """The values expected of a random subset of so many items, where a formula tells."""

    def least_errors(self, sample: Grouped) -> Array:
        """Standard errors of the values that parts of the sample may not show, float64[values]."""

    def describe(self, counts: Counts) -> Array:
        """float64[R, values]."""

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, distances + points of a curve]."""


class Drawn:
    """Statistics whose expectation no formula tells: subsets are drawn, always as many."""

    values = 0
    fixed_draws = Draws()

    def draws(self, *samples: Grouped) -> Draws:
        """The same for all samples."""
        return self.fixed_draws

    def expected(self, sample: Grouped, items: int) -> Array | None:
        """None."""
        return None

    def least_errors(self, sample: Grouped) -> Array:
        """0."""
        return np.zeros(self.values)


class TypeStatistics(Drawn):
    """Statistics of counts by type.

    Values: Zipf's exponent over the first `ranks` ranks, KS distance to that law, hapax share,
    entropy (bits an item). Distances: total variation of types, KS of ranks, and the differences
    of cumulative shares at `places` ranks.
    """

    values = 4
    distances = 2

    def __init__(self, ranks: int | None, size: int) -> None:
        self.logs = np.log(np.arange(1.0, min(size, ranks or size) + 1))
        self.places = np.unique(np.geomspace(1, max(1, size), 60).astype(np.int64))

    def describe(self, counts: Counts) -> Array:
        """float64[R, values]."""
        from textassay.stats.count_kernels import type_values

        out = np.empty((len(counts), self.values))
        type_values(counts, self.logs, out)
        return out

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, distances + places]."""
        from textassay.stats.count_kernels import type_distances

        out = np.empty((len(counts), self.distances + self.places.size))
        type_distances(counts, others, self.places, out)
        return out


class EntropyStatistics(Drawn):
    """The entropy of counts by category, bits an item; no distance."""

    values = 1
    distances = 0
    # there are many times more n-grams than types
    fixed_draws = Draws(parts=100, pairs=100, permutations=99)

    def least_errors(self, sample: Grouped) -> Array:
        """Where no item stands twice, as no part of such a text varies.

        The next unit may be a repeated one: the limit of 3.7 units of all, each item of which takes
        away 2 / items bits, as a share in half as many.
        """
        is_new = sample.units > 0 and sample.counts().max(initial=0) < 2
        return np.array([UNSEEN / sample.units if is_new else 0.0])

    def describe(self, counts: Counts) -> Array:
        """float64[R, 1]."""
        from textassay.stats.count_kernels import entropies

        out = np.empty((len(counts), 1))
        entropies(counts, out)
        return out

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))


class OrderedStatistics(Drawn):
    """KS distance of counts of ordered categories; no value of its own."""

    values = 0
    distances = 1

    def describe(self, counts: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 1]."""
        from textassay.stats.count_kernels import ordered_distances

        out = np.empty((len(counts), 1))
        ordered_distances(counts, others, out)
        return out
