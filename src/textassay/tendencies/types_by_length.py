"""Types against length, document by document: Heaps' law and the empirical curve.

Both are made of documents and their types by length, and repeated documents do not bias them: their
intervals are bootstraps over resampling units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textassay.parallel import Workers
from textassay.stats.fits import HeapsFit, heaps_fit
from textassay.stats.grouped import (
    EVERYTHING,
    Array,
    Counts,
    Grouped,
    bootstraps,
    in_batches,
    key_of,
    pooled,
    two_weighed_subsets,
)
from textassay.stats.multiplicity import max_t
from textassay.stats.ratio_sums import interval
from textassay.stats.setting import Setting
from textassay.tendencies.sample import Sample, grouped_values

EXACT = 50  # lengths up to it are not binned
_WIDTH = 1.05  # longer ones are, in bins whose ends have this ratio
_MOST = 999  # resamples: each is a fit
_CELLS = 1 << 23  # counts by length of all resamples of a sample: 64 MB


@dataclass(frozen=True, eq=False)
class Curves:
    """Documents of several samples by length, over common lengths.

    Attributes
    ----------
    lengths : float64[K]
        Distinct lengths above 0.
    bins : int64[B]
        Where each bin of lengths begins among them.
    grouped : list of Grouped
        For each sample its documents by length; their types are the weights.
    """

    lengths: Array
    bins: NDArray[np.int64]
    grouped: list[Grouped]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Curves:
        """Count documents by length; empty ones are left out."""
        numbers = [np.where(s.lengths > 0, s.lengths, np.nan).astype(float) for s in samples]
        grouped, lengths = grouped_values(samples, numbers)
        weighed = [
            replace(documents, weights=s.types[s.lengths > 0].astype(np.int32))
            for documents, s in zip(grouped, samples, strict=True)
        ]
        return cls(lengths, length_bins(lengths), weighed)

    def sums(self, which: int) -> tuple[Counts, Counts]:
        """Documents and types by length, int32[K] each."""
        return self.grouped[which].counts(), self.grouped[which].weighed()

    def by_bin(self, counts: Counts | Array) -> Array:
        """Rows of counts by length, added up by bin."""
        return np.add.reduceat(counts, self.bins, axis=-1).astype(float)

    def centres(self, which: int) -> Array:
        """Mean length of a sample's documents in each bin; NaN where there are none."""
        documents, _ = self.sums(which)
        total = self.by_bin(documents)
        return _divided(self.by_bin(documents * self.lengths), total)


def length_bins(lengths: Array) -> NDArray[np.int64]:
    """Where bins begin: exact up to 50 tokens, then 5 % wide.

    Examples
    --------
    >>> length_bins(np.array([1.0, 49.0, 50.0, 51.0, 52.0, 60.0])).tolist()
    [0, 1, 2, 3, 5]
    """
    if not lengths.size:
        return np.zeros(0, np.int64)
    number = np.where(
        lengths <= EXACT,
        lengths,
        EXACT + 1 + np.floor(np.log(np.maximum(lengths, 1.0) / (EXACT + 1)) / np.log(_WIDTH)),
    )
    return np.flatnonzero(np.append(True, np.diff(number) > 0)).astype(np.int64)


def fit(sample: Sample, documents: NDArray[np.bool_] | None = None) -> HeapsFit:
    """Heaps' law of a sample, or of some of its documents, with its dispersion."""
    kept = sample.lengths > 0
    if documents is not None:
        kept &= documents
    if not kept.any():
        return HeapsFit(None, None, None, 0)
    return heaps_fit(sample.lengths[kept], sample.types[kept])


def _deviations(rows: Array) -> Array:
    """Standard deviation of the numbers in each column; NaN where there are fewer than two."""
    out = np.full(rows.shape[1], np.nan)
    several = (~np.isnan(rows)).sum(axis=0) > 1
    out[several] = np.nanstd(rows[:, several], axis=0, ddof=1)
    return out


def _divided(numerators: Array, denominators: Array) -> Array:
    out = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    np.divide(numerators, denominators, out=out, where=denominators > 0)
    return out


def _fits(curves: Curves, documents: Counts, types: Counts) -> Array:
    """alpha, beta of each row."""
    from textassay.stats.count_kernels import heaps_values

    out = np.empty((len(documents), 2))
    heaps_values(documents, types, np.log(curves.lengths), out)
    return out


def _differences(
    curves: Curves, mine: tuple[Counts, Counts], theirs: tuple[Counts, Counts]
) -> tuple[Array, Array]:
    """Mean difference of types at shared lengths, float64[R]; by bin, float64[R, B].

    Bins weigh n m / (n + m) for n and m documents: the weights of least variance.
    """
    n, m = curves.by_bin(mine[0]), curves.by_bin(theirs[0])
    by_bin = _divided(curves.by_bin(mine[1]), n) - _divided(curves.by_bin(theirs[1]), m)
    weights = np.nan_to_num(_divided(n * m, n + m))
    total = weights.sum(axis=1)
    return _divided((weights * np.nan_to_num(by_bin)).sum(axis=1), total), by_bin


@dataclass(frozen=True, eq=False)
class TypeTokenComparison:
    """alpha, beta and the mean difference of types (float64[3] each) of a system and human text.

    Attributes
    ----------
    value, value_low, value_high : of alpha, beta; the third is the difference
    human : of alpha, beta; NaN for the difference
    distance, low, high, standard_error : system less human
    floor, margin, pvalue : as elsewhere
    null : float64[B, 3]
    lengths, curve, band, curve_pvalue : float64[B]
        Difference of mean types in each bin, half-width of the band for all bins at once, and
        p-values by step-down max-T.
    """

    value: Array
    value_low: Array
    value_high: Array
    human: Array
    distance: Array
    low: Array
    high: Array
    standard_error: Array
    floor: Array
    margin: Array
    pvalue: Array
    null: Array
    lengths: Array
    curve: Array
    band: Array
    curve_pvalue: Array


class TypeToken:
    """Fits of several samples and their comparison with a human one; each bootstrap made once."""

    def __init__(self, samples: Sequence[Sample], setting: Setting, workers: Workers) -> None:
        self.samples, self.setting, self.workers = list(samples), setting, workers
        self.curves = Curves.of(samples)
        # many distinct lengths: fewer resamples, so that memory stays bounded
        most = max(199, _CELLS // max(1, self.curves.lengths.size))
        self.resamples = min(setting.n_resamples, _MOST, most)
        self._boots: dict[int, tuple[Counts, Counts]] = {}

    def bootstrap(self, which: int) -> tuple[Counts, Counts]:
        """Documents and types by length of resampled units, int32[R, K] each."""
        if which not in self._boots:
            grouped = self.curves.grouped[which]
            key = key_of(self.setting.rng("heaps", grouped.content))
            self._boots[which] = bootstraps(grouped, key, self.resamples, self.workers)
        return self._boots[which]

    def intervals(self, which: int) -> tuple[Array, Array, Array]:
        """alpha and beta of one sample with their 95 % intervals, float64[2] each."""
        documents, types = self.curves.sums(which)
        value = _fits(self.curves, documents[None], types[None])[0]
        units = self.curves.grouped[which].units
        low, high = interval(_fits(self.curves, *self.bootstrap(which)), units)
        return value, low, high

    def curve(self, which: int) -> tuple[Array, Array, Array, Array, Array]:
        """Mean length and types of each bin with 95 % intervals, and its documents (Figure 1)."""
        curves = self.curves
        documents, types = curves.sums(which)
        mean = _divided(curves.by_bin(types), curves.by_bin(documents))
        boot = self.bootstrap(which)
        resampled = _divided(curves.by_bin(boot[1]), curves.by_bin(boot[0]))
        low, high = interval(resampled, curves.grouped[which].units)
        return curves.centres(which), mean, low, high, curves.by_bin(documents)

    def compare(self, system: int, human: int) -> TypeTokenComparison:
        """A system with human text, by their places among the samples."""
        curves = self.curves
        value, value_low, value_high = self.intervals(system)
        their_value, _, _ = self.intervals(human)
        (n, types), (m, other_types) = curves.sums(system), curves.sums(human)
        mine, theirs = (n[None], types[None]), (m[None], other_types[None])
        difference, by_bin = _differences(curves, mine, theirs)
        boots = self.bootstrap(system), self.bootstrap(human)
        drawn = np.column_stack(
            [
                _fits(curves, *boots[0]) - _fits(curves, *boots[1]),
                _differences(curves, *boots)[0],
            ]
        )
        units = min(curves.grouped[side].units for side in (system, human))
        low, high = interval(drawn, units)
        null, null_bins = self._permuted(system, human)
        distance = np.append(value - their_value, difference)
        extreme = np.abs(null) >= np.abs(distance) * (1 - 1e-12)
        pvalue = (1 + extreme.sum(axis=0)) / (1 + len(null))
        pvalue[np.isnan(distance)] = np.nan
        floor = np.full(3, np.nan)
        defined = ~np.isnan(null).all(axis=0)
        floor[defined] = np.nanmean(np.abs(null[:, defined]), axis=0)
        band, curve_pvalue = _band(by_bin[0], null_bins)
        return TypeTokenComparison(
            np.append(value, difference),
            np.append(value_low, low[2]),
            np.append(value_high, high[2]),
            np.append(their_value, np.nan),
            distance,
            low,
            high,
            _deviations(drawn),
            floor,
            self._margin(system, human),
            pvalue,
            null,
            curves.centres(human),
            by_bin[0],
            band,
            curve_pvalue,
        )

    def _pairs(self, grouped: Grouped, units: tuple[int, int], *names: object) -> Array:
        """alpha, beta, difference, difference by bin of two disjoint sets of units, by rows."""
        curves = self.curves
        key = key_of(self.setting.rng(*names))

        def work(first: int, n: int) -> Array:
            documents, types = two_weighed_subsets(grouped, EVERYTHING, key, first, n, units)
            one, other = ((documents[side], types[side]) for side in (0, 1))
            mean, by_bin = _differences(curves, one, other)
            return np.column_stack([_fits(curves, *one) - _fits(curves, *other), mean, by_bin])

        return in_batches(work, self.resamples, 8 * max(1, grouped.size), self.workers)

    def _permuted(self, system: int, human: int) -> tuple[Array, Array]:
        mine, theirs = (self.curves.grouped[side] for side in (system, human))
        names = ("heaps permutation", mine.content, theirs.content)
        rows = self._pairs(pooled(mine, theirs), (mine.units, theirs.units), *names)
        return rows[:, :3], rows[:, 3:]

    def _margin(self, system: int, human: int) -> Array:
        theirs = self.curves.grouped[human]
        size = min(self.curves.grouped[system].units, theirs.units // 2)
        if size < 1:
            return np.full(3, np.nan)
        names = ("heaps margin", size, theirs.content)
        rows = np.abs(self._pairs(theirs, (size, size), *names)[:, :3])
        out = np.full(3, np.nan)
        defined = ~np.isnan(rows).all(axis=0)
        out[defined] = np.nanquantile(rows[:, defined], 0.95, axis=0)
        return out


def _band(curve: Array, null: Array) -> tuple[Array, Array]:
    """Half-width of a simultaneous 95 % band, and adjusted p-values, from permuted curves."""
    band, pvalue = np.full(curve.size, np.nan), np.full(curve.size, np.nan)
    defined = ~np.isnan(curve) & (np.isnan(null).mean(axis=0) < 0.05)
    if not defined.any():
        return band, pvalue
    errors = np.nanstd(null[:, defined], axis=0)
    t = np.nan_to_num(_divided(np.abs(curve[defined]), errors))
    null_t = np.nan_to_num(_divided(np.abs(null[:, defined]), errors[None]))
    band[defined] = np.quantile(null_t.max(axis=1), 0.95, method="higher") * errors
    pvalue[defined] = max_t(t, null_t)
    return band, pvalue
