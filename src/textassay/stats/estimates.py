"""Estimates with intervals: the bootstrap, and delete-half subsampling where it would mislead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError
from textassay.stats.distances import as_sample
from textassay.stats.ratio_sums import interval
from textassay.stats.resampling import as_generator

Array = NDArray[np.float64]


class ConfidenceInterval(NamedTuple):
    """Ends of a 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """A statistic with its error.

    Attributes
    ----------
    statistic : float
        Of all units.
    confidence_interval : ConfidenceInterval
        95 %.
    standard_error : float
    distribution : float64[n_resamples]
        The statistic of each resample.
    """

    statistic: float
    confidence_interval: ConfidenceInterval
    standard_error: float
    distribution: Array = field(repr=False)


def bootstrap(
    sample: ArrayLike,
    statistic: Callable[[Array], float] | None = None,
    *,
    units: ArrayLike | None = None,
    n_resamples: int = 1999,
    rng: np.random.Generator | int | None = None,
) -> Estimate:
    """Interval of a statistic by resampling units with replacement.

    Percentiles, expanded for few units (Hesterberg 2015, section 5.3). Not for what counts types
    or compares whole distributions, which repeated units change: see :func:`subsample`.

    Parameters
    ----------
    sample : array_like of float
        One number a document.
    statistic : callable, optional
        From a sample to a number; default: the mean.
    units : array_like, optional
        What each number belongs to (a prompt, a source): numbers of one unit are drawn together.
    n_resamples : int
        At least 99.
    rng : Generator or int, optional

    Raises
    ------
    UsageError
        If the sample is empty or holds NaN, or `units` are not as many as numbers.

    Notes
    -----
    Cost: `n_resamples` calls of the statistic.

    Examples
    --------
    >>> found = bootstrap([1.0, 2.0, 3.0, 4.0, 5.0], rng=1)
    >>> found.statistic, found.confidence_interval.low < 3 < found.confidence_interval.high
    (3.0, True)
    """
    values = as_sample(sample, "sample")
    if n_resamples < 99:
        raise UsageError(f"n_resamples is {n_resamples}: at least 99 are needed")
    groups = _groups(values.size, units)
    generator = as_generator(rng)
    measure = np.mean if statistic is None else statistic
    drawn = np.empty(n_resamples)
    for r in range(n_resamples):
        chosen = generator.integers(0, len(groups), len(groups))
        if units is None:
            drawn[r] = measure(values[chosen])
        else:
            drawn[r] = measure(values[np.concatenate([groups[unit] for unit in chosen])])
    low, high = interval(drawn[:, None], len(groups))
    ends = ConfidenceInterval(float(low[0]), float(high[0]))
    return Estimate(float(measure(values)), ends, float(np.std(drawn, ddof=1)), drawn)


def _groups(size: int, units: ArrayLike | None) -> list[NDArray[np.int64]]:
    if units is None:
        return list(np.arange(size)[:, None])
    names = np.asarray(units)
    if names.shape != (size,):
        raise UsageError(f"units has the shape {names.shape}: one for each of {size} is needed")
    _, numbers = np.unique(names, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def subsample(
    statistic: Callable[[NDArray[np.int64]], float],
    n_units: int,
    *,
    n_resamples: int = 200,
    rng: np.random.Generator | int | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Estimate:
    """Interval of a statistic that repeated units would change, by delete-half subsampling.

    Half of the units are drawn without replacement; the standard deviation of the statistic over
    such halves estimates its standard error on all units (Politis and Romano 1994 with half of the
    sample, where the finite-population factor is one). The interval is the value -+ 1.96 of them,
    clipped to `bounds`.

    Parameters
    ----------
    statistic : callable
        From an int64 array of unit numbers to a number.
    n_units : int
        At least 4.
    n_resamples : int
    rng : Generator or int, optional
    bounds : tuple of float
        The statistic's range.

    Raises
    ------
    UsageError
        If there are fewer than 4 units.

    Examples
    --------
    >>> numbers = np.arange(100.0)
    >>> found = subsample(lambda units: numbers[units].mean(), 100, rng=1)
    >>> low, high = found.confidence_interval
    >>> found.statistic, low < 49.5 < high
    (49.5, True)
    """
    if n_units < 4:
        raise UsageError(f"n_units is {n_units}: at least 4 are needed for delete-half subsampling")
    generator = as_generator(rng)
    value = float(statistic(np.arange(n_units)))
    halves = np.array(
        [
            statistic(np.sort(generator.permutation(n_units)[: n_units // 2]))
            for _ in range(n_resamples)
        ]
    )
    error = float(np.std(halves, ddof=1))
    low, high = (min(max(value + z * error, bounds[0]), bounds[1]) for z in (-1.96, 1.96))
    return Estimate(value, ConfidenceInterval(low, high), error, halves)
