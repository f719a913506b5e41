"""Permutation tests of two samples of numbers.

Pool, deal anew, compare: p = (1 + number of resamples at least as extreme) / (1 + resamples), or
exact over all partitions where there are few. Samples with few distinct values are dealt as counts
of each value (a multivariate hypergeometric draw), which is the same distribution at a cost that
does not grow with the samples; others by compiled partial shuffles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError
from textassay.stats.distances import as_sample, ks_distance
from textassay.stats.estimates import ConfidenceInterval
from textassay.stats.ratio_sums import interval
from textassay.stats.resampling import as_generator

Statistic = Literal["mean", "variance", "ks"]
Array = NDArray[np.float64]
FEW_VALUES = 200
_ROWS = 256  # resamples drawn at a time


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """What :func:`permutation_test` finds.

    Attributes
    ----------
    statistic : float
        Observed: mean or variance of x less that of y, KS distance, or the callable's value.
    pvalue : float
        Two-sided; one-sided for distances, which are never negative.
    n_resamples : int
        Partitions that were looked at.
    exact : bool
        Whether these were all there are.
    null_distribution : float64[n_resamples]
    """

    statistic: float
    pvalue: float
    n_resamples: int
    exact: bool
    null_distribution: Array = field(repr=False)
    _samples: tuple[Array, Array] = field(repr=False)
    _name: Statistic | Callable[[Array, Array], float] = field(repr=False)

    def confidence_interval(
        self, *, n_resamples: int = 1999, rng: np.random.Generator | int | None = None
    ) -> ConfidenceInterval:
        """95 % interval of the statistic, by resampling each sample by itself.

        Percentiles of the bootstrap, expanded for few numbers; for the KS distance, which repeated
        numbers change, delete-half subsampling (the value -+ 1.96 standard deviations).

        Examples
        --------
        >>> found = permutation_test([1, 2, 3, 4], [7, 8, 9, 10])
        >>> low, high = found.confidence_interval(rng=1)
        >>> low < -6 < high < 0
        True
        """
        generator = as_generator(rng)
        halves = self._name == "ks"
        drawn = np.empty(n_resamples)
        for r in range(n_resamples):
            parts = [_resampled(sample, generator, halves) for sample in self._samples]
            drawn[r] = _value(parts[0], parts[1], self._name)
        if halves:
            reach = 1.96 * float(np.std(drawn, ddof=1))
            low, high = max(0.0, self.statistic - reach), min(1.0, self.statistic + reach)
            return ConfidenceInterval(low, high)
        ends = interval(drawn[:, None], min(sample.size for sample in self._samples))
        return ConfidenceInterval(float(ends[0][0]), float(ends[1][0]))


def _resampled(sample: Array, rng: np.random.Generator, halves: bool) -> Array:
    if halves:
        return rng.permutation(sample)[: max(1, sample.size // 2)]
    return sample[rng.integers(0, sample.size, sample.size)]


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    statistic: Statistic | Callable[[Array, Array], float] = "mean",
    *,
    n_resamples: int = 9999,
    rng: np.random.Generator | int | None = None,
) -> PermutationTest:
    """Whether two samples are draws from one distribution.

    Parameters
    ----------
    x, y : array_like of float
    statistic : {'mean', 'variance', 'ks'} or callable
        Difference of means, of variances (with n in the denominator), the KS distance, or any
        function of two samples, which is taken to be a difference (two-sided).
    n_resamples : int
        At least 99. If there are no more partitions than that, all are looked at.
    rng : Generator or int, optional

    Raises
    ------
    UsageError
        If a sample is empty or holds NaN, or the statistic is unknown or gives NaN.

    Notes
    -----
    The null hypothesis is that the samples are exchangeable. For means of documents of unlike
    variance see :func:`textassay.stats.ratios.compare_ratios`, which studentizes.

    Examples
    --------
    >>> found = permutation_test([1, 2, 3], [7, 8, 9])
    >>> found.statistic, found.pvalue, found.exact
    (-6.0, 0.1, True)
    """
    first, second = as_sample(x, "x"), as_sample(y, "y")
    if n_resamples < 99:
        raise UsageError(f"n_resamples is {n_resamples}: at least 99 are needed")
    if not callable(statistic) and statistic not in ("mean", "variance", "ks"):
        raise UsageError(f"statistic is {statistic!r}: 'mean', 'variance', 'ks' or a function")
    pooled = np.concatenate([first, second])
    observed = _value(first, second, statistic)
    partitions = math.comb(pooled.size, first.size)
    exact = partitions <= n_resamples
    if exact:
        null = _all_partitions(pooled, first.size, statistic)
    elif callable(statistic):
        generator = as_generator(rng)
        null = np.empty(n_resamples)
        for r in range(n_resamples):
            dealt = generator.permutation(pooled)
            null[r] = statistic(dealt[: first.size], dealt[first.size :])
    else:
        null = _draw(pooled, first.size, statistic, n_resamples, as_generator(rng))
    if np.isnan(observed) or np.isnan(null).any():
        raise UsageError("the statistic gives NaN for these samples: it must be a number for all")
    # differences of sums in another order are not the same to the last bit
    magnitude = float(np.abs(pooled).max()) ** (2 if statistic == "variance" else 1)
    digits = 64 * np.finfo(float).eps * (1.0 if callable(statistic) else magnitude)
    tolerance = max(1e-9 * max(abs(observed), float(np.abs(null).max(initial=0.0))), digits)
    extreme = int((np.abs(null) >= abs(observed) - tolerance).sum())
    pvalue = extreme / null.size if exact else (1 + extreme) / (1 + null.size)
    return PermutationTest(observed, pvalue, null.size, exact, null, (first, second), statistic)


def _value(x: Array, y: Array, statistic: Statistic | Callable[[Array, Array], float]) -> float:
    if callable(statistic):
        return float(statistic(x, y))
    if statistic == "mean":
        return float(x.mean() - y.mean())
    if statistic == "variance":
        return float(x.var() - y.var())
    return ks_distance(x, y)


def _all_partitions(
    pooled: Array, size: int, statistic: Statistic | Callable[[Array, Array], float]
) -> Array:
    everything = np.arange(pooled.size)
    found = []
    for chosen in combinations(range(pooled.size), size):
        mask = np.zeros(pooled.size, np.bool_)
        mask[list(chosen)] = True
        found.append(_value(pooled[everything[mask]], pooled[everything[~mask]], statistic))
    return np.array(found)


def _draw(
    pooled: Array, size: int, statistic: Statistic, n_resamples: int, rng: np.random.Generator
) -> Array:
    """The statistic under random partitions, from sums or counts alone."""
    values, counts = np.unique(pooled, return_counts=True)
    other = pooled.size - size
    # squares about the mean: no digits are lost where values are large and alike
    centred = values - np.average(values, weights=counts)
    if values.size <= FEW_VALUES:
        out = np.empty(n_resamples)
        for begin in range(0, n_resamples, _ROWS):
            rows = min(_ROWS, n_resamples - begin)
            dealt = rng.multivariate_hypergeometric(counts, size, rows, method="marginals")
            if statistic == "ks":
                mine = np.cumsum(dealt, axis=1) / size
                theirs = np.cumsum(counts - dealt, axis=1) / other
                out[begin : begin + rows] = np.abs(mine - theirs).max(axis=1)
            else:
                moments = np.stack([centred, centred**2], axis=1)
                out[begin : begin + rows] = _from_sums(
                    dealt @ moments, counts @ moments, size, other, statistic
                )
        return out
    from textassay.stats.draw_kernels import partition_distances, partition_sums

    key = np.uint64(rng.integers(0, 2**64, dtype=np.uint64))
    ordered = np.sort(pooled)
    if statistic == "ks":
        out = np.empty(n_resamples)
        last_of_value = np.append(ordered[1:] != ordered[:-1], True)
        for begin in range(0, n_resamples, _ROWS):
            partition_distances(last_of_value, size, key, begin, out[begin : begin + _ROWS])
        return out
    sums = np.empty((n_resamples, 2))
    ordered = ordered - ordered.mean()
    # the smaller side is drawn, the other is what is left
    drawn = min(size, other)
    for begin in range(0, n_resamples, _ROWS):
        partition_sums(ordered, drawn, key, begin, sums[begin : begin + _ROWS])
    total = np.array([ordered.sum(), (ordered**2).sum()])
    if drawn != size:
        sums = total - sums
    return _from_sums(sums, total, size, other, statistic)


def _from_sums(sums: Array, total: Array, size: int, other: int, statistic: Statistic) -> Array:
    mine, theirs = sums / size, (total - sums) / other
    if statistic == "mean":
        return mine[:, 0] - theirs[:, 0]
    return (mine[:, 1] - mine[:, 0] ** 2) - (theirs[:, 1] - theirs[:, 0] ** 2)
