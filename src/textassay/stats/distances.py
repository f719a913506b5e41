"""Distances between distributions: Kolmogorov and Smirnov's, total variation, chi-square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError


def as_sample(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """A one-dimensional sample of finite numbers.

    Raises
    ------
    UsageError
        If it is empty, of another shape, or holds NaN or infinity.
    """
    array = np.asarray(values, np.float64)
    if array.ndim != 1:
        raise UsageError(f"{name} has {array.ndim} dimensions: one is needed")
    if not array.size:
        raise UsageError(f"{name} is empty: at least one number is needed")
    if not np.isfinite(array).all():
        raise UsageError(f"{name} holds NaN or infinity: leave such values out")
    return array


def ks_distance(
    x: ArrayLike, y: ArrayLike | Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> float:
    """Largest difference of two cumulative distributions, 0 to 1. Cost: a sort of each sample.

    Parameters
    ----------
    x : array_like of float
    y : array_like of float, or callable
        Another sample, or a cumulative distribution function. Only the distance is given: a
        p-value against a law that was fitted to the same sample would be wrong.

    Raises
    ------
    UsageError
        If a sample is empty or holds NaN.

    Examples
    --------
    >>> ks_distance([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    >>> round(ks_distance([0.1, 0.2], lambda t: np.clip(t, 0, 1)), 2)
    0.8
    """
    first = np.sort(as_sample(x, "x"))
    if callable(y):
        # a sample's distribution jumps: the law is compared below and above each jump
        values, counts = np.unique(first, return_counts=True)
        above = np.cumsum(counts) / first.size
        law = np.asarray(y(values), np.float64)
        before = np.nextafter(values, -np.inf)
        law_before = np.asarray(y(before), np.float64)
        below = np.concatenate([[0.0], above[:-1]])
        return float(max(np.abs(above - law).max(), np.abs(below - law_before).max()))
    second = np.sort(as_sample(y, "y"))
    places = np.concatenate([first, second])
    steps = [
        np.searchsorted(sample, places, side="right") / sample.size for sample in (first, second)
    ]
    return float(np.abs(steps[0] - steps[1]).max())


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """Half the sum of absolute differences of two distributions over the same outcomes, 0 to 1.

    Parameters
    ----------
    p, q : array_like of float
        Counts or probabilities, not negative; each is divided by its sum.

    Raises
    ------
    UsageError
        If they are of different lengths, negative, or sum to 0.

    Examples
    --------
    >>> total_variation([2, 2], [3, 1])
    0.25
    """
    first, second = _as_weights(p, "p"), _as_weights(q, "q")
    if first.size != second.size:
        raise UsageError(
            f"p holds {first.size} outcomes and q {second.size}: the same ones are needed"
        )
    return float(0.5 * np.abs(first / first.sum() - second / second.sum()).sum())


def _as_weights(values: ArrayLike, name: str) -> NDArray[np.float64]:
    weights = as_sample(values, name)
    if weights.min() < 0:
        raise UsageError(f"{name} holds the negative number {weights.min()}")
    if not weights.sum():
        raise UsageError(f"{name} sums to 0: there is no distribution in it")
    return weights


@dataclass(frozen=True)
class ChiSquare:
    """What :func:`chi_square` finds.

    Attributes
    ----------
    statistic : float
    degrees_of_freedom : int
    pvalue : float
        Of the limiting distribution; above some 500 observations every difference is significant.
    """

    statistic: float
    degrees_of_freedom: int
    pvalue: float


def chi_square(observed: ArrayLike, expected: ArrayLike) -> ChiSquare:
    """Pearson's test of counts against expected shares.

    Parameters
    ----------
    observed : array_like of int
        Counts by outcome.
    expected : array_like of float
        Shares or counts of the same outcomes, all above 0; scaled to the observed total.

    Raises
    ------
    UsageError
        If an outcome is expected never, or lengths differ.

    Examples
    --------
    >>> found = chi_square([30, 70], [1, 1])
    >>> found.statistic, found.degrees_of_freedom, round(found.pvalue, 6)
    (16.0, 1, 6.3e-05)
    """
    from scipy.special import chdtrc

    counts, shares = _as_weights(observed, "observed"), _as_weights(expected, "expected")
    if counts.size != shares.size:
        raise UsageError(
            f"observed holds {counts.size} outcomes and expected {shares.size}: the same are needed"
        )
    if shares.min() <= 0:
        raise UsageError("expected holds a 0: join outcomes that never happen with others")
    wanted = shares * (counts.sum() / shares.sum())
    statistic = float(((counts - wanted) ** 2 / wanted).sum())
    freedom = counts.size - 1
    pvalue = float(chdtrc(freedom, statistic)) if freedom else 1.0
    return ChiSquare(statistic, freedom, pvalue)
