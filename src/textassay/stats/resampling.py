"""Resampling of units: bootstrap, subsets without replacement, sign flips, delete-half.

A *unit* is what can be taken to be independent: a document, all documents of a prompt, or all of a
source. Sums over units under resampling are products of a matrix of weights with the units' sums,
which is how everything here is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError

_BATCH = 1 << 22  # weights at a time: 32 MB
Draw = Callable[[np.uint64, int, NDArray[np.float64]], None]


def as_generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """A generator from a generator or a seed.

    Examples
    --------
    >>> int(as_generator(7).integers(100)) == int(as_generator(7).integers(100))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


def weighted_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator, draw: Draw
) -> NDArray[np.float64]:
    """Sums over units under random weights, float64[n_resamples, columns].

    Parameters
    ----------
    sums : float64[units, columns]
    n_resamples : int
    rng : Generator
        One key is drawn from it.
    draw : callable
        Fills a batch of weights, given the key and the number of its first row.
    """
    units = len(sums)
    key = np.uint64(rng.integers(0, 2**64, dtype=np.uint64))
    out = np.empty((n_resamples, sums.shape[1]))
    rows = max(1, min(n_resamples, _BATCH // max(1, units)))
    weights = np.empty((rows, units))
    for first in range(0, n_resamples, rows):
        batch = weights[: min(rows, n_resamples - first)]
        draw(key, first, batch)
        out[first : first + len(batch)] = batch @ sums
    return out


def bootstrap_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over as many units drawn with replacement, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import bootstrap_rows

    return weighted_sums(sums, n_resamples, rng, bootstrap_rows)


def subset_sums(
    sums: NDArray[np.float64], chosen: int, n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over `chosen` units drawn without replacement, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import subset_rows

    def draw(key: np.uint64, first: int, weights: NDArray[np.float64]) -> None:
        subset_rows(key, first, chosen, weights)

    return weighted_sums(sums, n_resamples, rng, draw)


def signed_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over units with random signs, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import sign_rows

    return weighted_sums(sums, n_resamples, rng, sign_rows)


@dataclass(frozen=True)
class Subsampling:
    """What :func:`subsample` finds.

    Attributes
    ----------
    value : float
        The statistic of all units.
    low, high : float
        95 % interval.
    standard_error : float
    """

    value: float
    low: float
    high: float
    standard_error: float


def subsample(
    statistic: Callable[[NDArray[np.int64]], float],
    n_units: int,
    *,
    n_resamples: int = 200,
    rng: np.random.Generator | int | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Subsampling:
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
    >>> found.value, found.low < 49.5 < found.high
    (49.5, True)
    """
    if n_units < 4:
        raise UsageError(f"n_units is {n_units}: at least 4 are needed for delete-half subsampling")
    generator = as_generator(rng)
    value = float(statistic(np.arange(n_units)))
    halves = [
        statistic(np.sort(generator.permutation(n_units)[: n_units // 2]))
        for _ in range(n_resamples)
    ]
    error = float(np.std(halves, ddof=1))
    low, high = (min(max(value + z * error, bounds[0]), bounds[1]) for z in (-1.96, 1.96))
    return Subsampling(value, low, high, error)


def sums_by_unit(values: ArrayLike, units: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows of documents added up over their units, float64[units, columns].

    Examples
    --------
    >>> sums_by_unit([[1.0], [2.0], [4.0]], np.array([0, 1, 0])).tolist()
    [[5.0], [2.0]]
    """
    array = np.asarray(values, np.float64)
    n_units = int(units.max()) + 1 if units.size else 0
    out = np.zeros((n_units, array.shape[1]))
    np.add.at(out, units, array)
    return out
