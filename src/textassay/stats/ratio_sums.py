"""Sums over documents whose ratio is a measure, for many measures of one text at once.

A mean over documents, a share of tokens, a rate of n-grams are all a sum of one number over
documents divided by a sum of another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError
from textassay.stats.resampling import bootstrap_sums, sums_by_unit

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RatioSums:
    """Numerators and denominators of K measures for U independent units.

    Attributes
    ----------
    numerators, denominators : float64[U, K]
    keys : list of str
        Names of the units; units of two sides are paired where the names agree.
    """

    numerators: Array
    denominators: Array
    keys: list[str]

    @classmethod
    def from_documents(cls, numerators: Array, denominators: Array, units: list[str]) -> RatioSums:
        """Add documents up over their units, in order of first appearance."""
        keys = list(dict.fromkeys(units))
        number = {key: position for position, key in enumerate(keys)}
        index = np.array([number[unit] for unit in units], np.int64)
        if not keys:
            raise UsageError("there are no documents to measure")
        return cls(sums_by_unit(numerators, index), sums_by_unit(denominators, index), keys)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def values(self) -> Array:
        """The K measures; NaN where the denominator is 0."""
        return ratio(self.numerators.sum(axis=0), self.denominators.sum(axis=0))

    def select(self, keys: list[str]) -> RatioSums:
        """The units of these names, in this order."""
        number = {key: position for position, key in enumerate(self.keys)}
        index = [number[key] for key in keys]
        return RatioSums(self.numerators[index], self.denominators[index], list(keys))


def make_ready() -> None:
    """Import and load what comparisons need: beside other work in a thread it costs little."""
    import importlib

    importlib.import_module("scipy.special")
    one = np.ones((2, 1))
    bootstrap_ratios(RatioSums(one, one, ["a", "b"]), 1, np.random.default_rng(0))


def ratio(numerators: Array, denominators: Array) -> Array:
    """Quotients; NaN where the denominator is 0."""
    out = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    np.divide(numerators, denominators, out=out, where=denominators > 0)
    return out


def bootstrap_ratios(sums: RatioSums, n_resamples: int, rng: np.random.Generator) -> Array:
    """The measures of resampled units, float64[n_resamples, K]."""
    k = sums.numerators.shape[1]
    both = bootstrap_sums(np.hstack([sums.numerators, sums.denominators]), n_resamples, rng)
    return ratio(both[:, :k], both[:, k:])


def effective_units(sums: RatioSums) -> Array:
    """How many units of normal spread the error of each measure is known from, float64[K].

    Where a few units outweigh all others, the spread itself is known badly. The degrees of freedom
    of an estimated variance are 2 n / (kurtosis - 1) (Satterthwaite 1946); kurtosis is that of the
    units' residuals from the common ratio, which make up its error. At most the number of units.
    """
    n = len(sums)
    residuals = np.nan_to_num(sums.numerators - sums.values * sums.denominators)
    largest = np.abs(residuals).max(axis=0, initial=0.0)
    residuals = residuals / np.where(largest > 0, largest, 1.0)  # fourth powers of any number
    squares = residuals * residuals
    total = squares.sum(axis=0)
    kurtosis = np.full(total.shape, 3.0)
    np.divide(n * (squares * squares).sum(axis=0), total * total, out=kurtosis, where=total > 0)
    units: Array = np.clip(2 * n / np.maximum(1e-9, kurtosis - 1), min(n, 3), n)
    return units


def joint_units(variances: tuple[Array, Array], units: tuple[Array, Array]) -> Array:
    """The same of a difference of two measures, by Satterthwaite's rule."""
    one, two = variances
    parts = one * one / np.maximum(1.0, units[0] - 1) + two * two / np.maximum(1.0, units[1] - 1)
    fewest = np.minimum(*units)
    out = fewest.copy()
    np.divide((one + two) ** 2, parts, out=out, where=parts > 0)
    return np.where((parts > 0) & (fewest > 1), out + 1, fewest)


def interval(resampled: Array, n_units: Array | float) -> tuple[Array, Array]:
    """95 % interval of each column from its bootstrap; NaN where no resample gave a number.

    NaN also where there is a single unit, which tells nothing of how others differ.

    The percentile interval, expanded for few units: the quantiles are those that a normal
    distribution has at sqrt(n / (n - 1)) times Student's (Hesterberg 2015, section 5.3).
    Percentiles alone are too narrow, as n bootstrapped units vary less than n new ones do.

    Parameters
    ----------
    resampled : float64[B, K]
    n_units : float64[K] or float
        Units that were resampled, or as how many they count (:func:`effective_units`).
    """
    from scipy.special import ndtr, stdtrit

    units = np.broadcast_to(np.asarray(n_units, np.float64), resampled.shape[1:])
    low, high = np.full(units.shape, np.nan), np.full(units.shape, np.nan)
    several = units > 1
    n = units[several]
    tails = np.zeros(units.shape)
    tails[several] = ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.975))
    for column in np.flatnonzero(several):
        numbers = resampled[:, column]
        numbers = numbers[~np.isnan(numbers)]
        if numbers.size:
            low[column], high[column] = np.quantile(numbers, [tails[column], 1 - tails[column]])
    return low, high
