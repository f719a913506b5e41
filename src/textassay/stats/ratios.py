"""Ratios of sums over documents: their intervals, differences and tests.

A mean over documents, a share of tokens, a rate of n-grams are all a sum of one number over
documents divided by a sum of another. Many such measures of one text are handled at once, so that
curves get a joint band.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError
from textassay.stats.multiplicity import max_t
from textassay.stats.resampling import bootstrap_sums, signed_sums, subset_sums, sums_by_unit

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
        return _ratio(self.numerators.sum(axis=0), self.denominators.sum(axis=0))

    def select(self, keys: list[str]) -> RatioSums:
        """The units of these names, in this order."""
        number = {key: position for position, key in enumerate(self.keys)}
        index = [number[key] for key in keys]
        return RatioSums(self.numerators[index], self.denominators[index], list(keys))


def _ratio(numerators: Array, denominators: Array) -> Array:
    out = np.full(np.broadcast_shapes(numerators.shape, denominators.shape), np.nan)
    np.divide(numerators, denominators, out=out, where=denominators > 0)
    return out


def bootstrap_ratios(sums: RatioSums, n_resamples: int, rng: np.random.Generator) -> Array:
    """The measures of resampled units, float64[n_resamples, K]."""
    k = sums.numerators.shape[1]
    both = bootstrap_sums(np.hstack([sums.numerators, sums.denominators]), n_resamples, rng)
    return _ratio(both[:, :k], both[:, k:])


def interval(resampled: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Percentile interval of each column; NaN where no resample gave a number."""
    tail = (1 - level) / 2
    if np.isnan(resampled).any():
        defined = ~np.isnan(resampled)
        low, high = np.full(resampled.shape[1], np.nan), np.full(resampled.shape[1], np.nan)
        for column in np.flatnonzero(defined.any(axis=0)):
            numbers = resampled[defined[:, column], column]
            low[column], high[column] = np.quantile(numbers, [tail, 1 - tail])
        return low, high
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high


@dataclass(frozen=True, eq=False)
class RatioComparison:
    """K measures of a system compared with those of human text; float64[K] each.

    Attributes
    ----------
    distance : system less human
    low, high : its 95 % interval, by bootstrap over units
    standard_error : of the distance, by the same bootstrap
    floor : mean absolute distance under permutation
    pvalue : two-sided, of the studentized permutation test (sign-flip test if paired)
    pvalue_joint : the same adjusted over all K measures by step-down max-T
    band : half-width of a simultaneous 95 % band around the distances
    paired : whether units were paired
    """

    distance: Array
    low: Array
    high: Array
    standard_error: Array
    floor: Array
    pvalue: Array
    pvalue_joint: Array
    band: Array
    paired: bool


def compare_ratios(
    system: RatioSums,
    human: RatioSums,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    paired: bool = False,
    joint: slice = slice(None),
) -> RatioComparison:
    """Compare measures of two texts.

    Parameters
    ----------
    system, human : RatioSums
        With ``paired=True`` over the same units in the same order.
    n_resamples : int
        Bootstrap resamples, and permutations.
    rng : Generator
    paired : bool
        Whether unit i of one side belongs to unit i of the other (a shared prompt): then signs of
        the pair's difference are flipped, else units are dealt anew to the two sides.
    joint : slice
        The columns that form a curve, over which joint p-values and the band are taken; others
        get NaN.

    Notes
    -----
    The unpaired statistic is the difference over its standard error (delta method), computed anew
    in every permutation: the plain difference would test whether the two *distributions* are
    equal, not the ratios (Janssen 1997).
    """
    if paired:
        if system.keys != human.keys:
            raise UsageError("paired units must have the same names in the same order")
        boot, t, null_t, null = _paired(system, human, n_resamples, rng)
    else:
        boot, t, null_t, null = _unpaired(system, human, n_resamples, rng)
    distance = system.values - human.values
    low, high = interval(boot)
    defined = ~np.isnan(distance)
    error = np.full(distance.shape, np.nan)
    error[defined] = np.nanstd(boot[:, defined], axis=0, ddof=1)
    larger = (np.abs(null_t) >= np.abs(t) * (1 - 1e-12)).sum(axis=0)
    pvalue = np.where(defined, (1 + larger) / (1 + len(null_t)), np.nan)
    pvalue_joint = np.full(distance.shape, np.nan)
    band = np.full(distance.shape, np.nan)
    columns = np.arange(distance.size)[joint]
    columns = columns[defined[columns]]
    if columns.size:
        pvalue_joint[columns] = max_t(t[columns], null_t[:, columns])
        critical = np.quantile(np.abs(null_t[:, columns]).max(axis=1), 0.95)
        band[columns] = critical * error[columns]
    floor = np.full(distance.shape, np.nan)
    floor[defined] = np.nanmean(np.abs(null[:, defined]), axis=0)
    return RatioComparison(distance, low, high, error, floor, pvalue, pvalue_joint, band, paired)


def _unpaired(
    system: RatioSums, human: RatioSums, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    boot = bootstrap_ratios(system, n_resamples, rng) - bootstrap_ratios(human, n_resamples, rng)
    x = np.vstack([system.numerators, human.numerators])
    y = np.vstack([system.denominators, human.denominators])
    moments = np.hstack([x, y, x * x, x * y, y * y])
    total = moments.sum(axis=0)
    n_system, n_human = len(system), len(human)
    t, _ = _studentized(moments[:n_system].sum(axis=0)[None], total, n_system, n_human)
    dealt = subset_sums(moments, n_system, n_resamples, rng)
    null_t, null = _studentized(dealt, total, n_system, n_human)
    return boot, t[0], null_t, null


def _studentized(first: Array, total: Array, n_first: int, n_second: int) -> tuple[Array, Array]:
    """Differences of ratios over their standard errors, and the differences."""
    ratios, variances = [], []
    for moments, n in ((first, n_first), (total - first, n_second)):
        x, y, xx, xy, yy = np.split(moments, 5, axis=1)
        r = _ratio(x, y)
        squares = np.maximum(0.0, xx - 2 * r * xy + r * r * yy)
        ratios.append(r)
        variances.append(_ratio(squares, y * y) * n / max(1, n - 1))
    difference = np.nan_to_num(ratios[0] - ratios[1])
    error = np.sqrt(np.nan_to_num(variances[0] + variances[1]))
    return _over(difference, error), difference


def _over(difference: Array, error: Array) -> Array:
    """difference / error; 0 / 0 is 0, and a difference without any error is beyond all others."""
    tiny = error <= 1e-9 * np.abs(difference)
    out = np.zeros(difference.shape)
    np.divide(difference, error, out=out, where=~tiny)
    out[tiny & (np.abs(difference) > 1e-15)] = np.inf
    return out


def _paired(
    system: RatioSums, human: RatioSums, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Array, Array, Array]:
    k = system.numerators.shape[1]
    sums = np.hstack([system.numerators, system.denominators, human.numerators, human.denominators])
    drawn = bootstrap_sums(sums, n_resamples, rng)
    boot = _ratio(drawn[:, :k], drawn[:, k : 2 * k]) - _ratio(
        drawn[:, 2 * k : 3 * k], drawn[:, 3 * k :]
    )
    # each unit's share in the difference of the ratios (delta method)
    common = _ratio(
        system.numerators.sum(axis=0) + human.numerators.sum(axis=0),
        system.denominators.sum(axis=0) + human.denominators.sum(axis=0),
    )
    share = _shares(system, common) - _shares(human, common)
    size = np.sqrt((share * share).sum(axis=0))
    flipped = signed_sums(share, n_resamples, rng)
    return boot, _over(share.sum(axis=0), size), _over(flipped, size[None]), flipped


def _shares(sums: RatioSums, common: Array) -> Array:
    residuals = sums.numerators - common * sums.denominators
    total = np.broadcast_to(sums.denominators.sum(axis=0), residuals.shape)
    return np.nan_to_num(_ratio(residuals, total))


def human_margin(human: RatioSums, size: int, n_resamples: int, rng: np.random.Generator) -> Array:
    """95th percentile of distances between two disjoint sets of `size` human units, float64[K].

    NaN where there are fewer than two units.
    """
    k = human.numerators.shape[1]
    size = min(size, len(human) // 2)
    if size < 1:
        return np.full(k, np.nan)
    sums = np.hstack([human.numerators, human.denominators])
    two = _two_subsets(sums, size, n_resamples, rng)
    difference = _ratio(two[0][:, :k], two[0][:, k:]) - _ratio(two[1][:, :k], two[1][:, k:])
    out = np.full(k, np.nan)
    defined = ~np.isnan(difference).all(axis=0)
    out[defined] = np.nanquantile(np.abs(difference[:, defined]), 0.95, axis=0)
    return out


def _two_subsets(
    sums: Array, size: int, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    from textassay.stats.draw_kernels import two_subset_rows
    from textassay.stats.resampling import weighted_sums

    state = rng.bit_generator.state
    parts = []
    for sign in (1.0, -1.0):
        rng.bit_generator.state = state  # the same draws, once for each of the two sets

        def draw(key: np.uint64, first: int, weights: Array, sign: float = sign) -> None:
            two_subset_rows(key, first, size, weights)
            np.equal(weights, sign, out=weights, casting="unsafe")

        parts.append(weighted_sums(sums, n_resamples, rng, draw))
    return parts[0], parts[1]
