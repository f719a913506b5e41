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


def interval(resampled: Array, n_units: int) -> tuple[Array, Array]:
    """95 % interval of each column from its bootstrap; NaN where no resample gave a number.

    NaN also where there is a single unit, which tells nothing of how others differ.

    The percentile interval, expanded for few units: the quantiles are those that a normal
    distribution has at sqrt(n / (n - 1)) times Student's (Hesterberg 2015, section 5.3).
    Percentiles alone are too narrow, as n bootstrapped units vary less than n new ones do.

    Parameters
    ----------
    resampled : float64[B, K]
    n_units : int
        Units that were resampled; of two sides the smaller number.
    """
    from scipy.special import ndtr, stdtrit

    if n_units < 2:
        nothing = np.full(resampled.shape[1], np.nan)
        return nothing, nothing.copy()
    tail = float(ndtr(-np.sqrt(n_units / (n_units - 1)) * stdtrit(n_units - 1, 0.975)))
    if np.isnan(resampled).any():
        defined = ~np.isnan(resampled)
        low, high = np.full(resampled.shape[1], np.nan), np.full(resampled.shape[1], np.nan)
        for column in np.flatnonzero(defined.any(axis=0)):
            numbers = resampled[defined[:, column], column]
            low[column], high[column] = np.quantile(numbers, [tail, 1 - tail])
        return low, high
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high
