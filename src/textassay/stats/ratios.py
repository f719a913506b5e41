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
from textassay.stats.resampling import (
    bootstrap_sums,
    signed_sums,
    subset_sums,
    sums_by_unit,
)

Array = NDArray[np.float64]
FEW_UNITS = 20


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


def unusual_units(sums: RatioSums) -> tuple[Array, Array]:
    """For each measure, the ratio that units usually have, and how many units have another.

    Where nearly all units are alike (no copy at all; every n-gram new), a sample says little of
    how often the others come, and resampling it says less: a sample without any has no spread.
    """
    ratios = _ratio(sums.numerators, sums.denominators)
    usual = np.full(ratios.shape[1], np.nan)
    for column in range(ratios.shape[1]):
        defined = np.sort(ratios[:, column][~np.isnan(ratios[:, column])])
        if defined.size:
            usual[column] = defined[defined.size // 2]
    deviation = np.abs(sums.numerators - usual * sums.denominators)
    return usual, (deviation > 1e-9 * np.maximum(1.0, sums.denominators)).sum(axis=0)


def value_interval(
    sums: RatioSums, resampled: Array, bounds: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """95 % intervals of the measures, and which rest on few unusual units.

    Parameters
    ----------
    sums : RatioSums
    resampled : float64[B, K]
        From :func:`bootstrap_ratios`.
    bounds : float64[2, K]
        Smallest and largest possible values; infinite where there are none.

    Notes
    -----
    The percentile interval of the bootstrap; but where fewer than 20 units, and fewer than one in
    four, differ from the usual value, exact Poisson limits of their number (Garwood 1936), each
    with their mean deviation. Where there is none, 3.7 units deviating wholly are the limit: the
    rule of three.
    """
    from scipy.special import chdtri

    low, high = interval(resampled)
    usual, number = unusual_units(sums)
    sparse = (number < FEW_UNITS) & (4 * number < len(sums))
    total = sums.denominators.sum(axis=0)
    for k in np.flatnonzero(sparse & (total > 0)):
        deviation = sums.numerators[:, k] - usual[k] * sums.denominators[:, k]
        count = int(number[k])
        fewest = chdtri(2 * count, 0.975) / 2 if count else 0.0
        most = chdtri(2 * (count + 1), 0.025) / 2
        if count:
            size = deviation.sum() / count
            ends = usual[k] + np.array([fewest, most]) * size / total[k]
        elif np.isinf(bounds[:, k]).all():
            continue  # nothing tells how far a unit could deviate
        else:
            width = bounds[1, k] - bounds[0, k]
            whole = total[k] / len(sums) * (width if np.isfinite(width) else 1.0)
            ends = usual[k] + np.array([-most, most]) * whole / total[k]
        ends = np.clip(ends, bounds[0, k], bounds[1, k])
        low[k], high[k] = ends.min(), ends.max()
    return low, high, sparse


@dataclass(frozen=True, eq=False)
class RatioComparison:
    """K measures of a system compared with those of human text; float64[K] each.

    Attributes
    ----------
    distance : system less human
    low, high : its 95 % interval
    standard_error : of the distance; a quarter of the interval where it rests on few units
    floor : mean absolute distance under permutation
    usual_most : 95th percentile of the absolute distance under permutation
    pvalue : two-sided, of the studentized permutation test (sign-flip test if paired)
    pvalue_joint : the same adjusted over all K measures by step-down max-T
    band : half-width of a simultaneous 95 % band around the distances
    sparse : whether fewer than 20 units of a side have another value than the usual one
    paired : whether units were paired
    """

    distance: Array
    low: Array
    high: Array
    standard_error: Array
    floor: Array
    usual_most: Array
    pvalue: Array
    pvalue_joint: Array
    band: Array
    sparse: NDArray[np.bool_]
    paired: bool


def compare_ratios(
    system: RatioSums,
    human: RatioSums,
    *,
    n_resamples: int,
    rng: np.random.Generator,
    paired: bool = False,
    joint: slice = slice(None),
    bounds: Array | None = None,
    resampled: tuple[Array, Array] | None = None,
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
    bounds : float64[2, K], optional
        Smallest and largest possible values of the measures.
    resampled : two of float64[B, K], optional
        Bootstrapped measures of the two sides, if they are at hand.

    Notes
    -----
    Unpaired, the statistic is the difference over its standard error (delta method), computed anew
    in every permutation: the plain difference would test whether the two *distributions* are
    equal, not the ratios (Janssen 1997). Paired, it is the sum of the pairs' shares in the
    difference, whose standard error does not change under sign flips.

    The interval is that of the bootstrapped difference. Where a side rests on few unusual units it
    joins the two sides' own intervals instead (MOVER, Zou and Donner 2008).

    Examples
    --------
    >>> def means(x):
    ...     return RatioSums(np.array(x)[:, None], np.ones((len(x), 1)), [str(i) for i in x])
    >>> rng = np.random.default_rng(1)
    >>> found = compare_ratios(
    ...     means([3.0, 4.0, 5.0]), means([1.0, 2.0, 2.5]), n_resamples=999, rng=rng
    ... )
    >>> round(float(found.distance[0]), 3)
    2.167
    """
    if bounds is None:
        bounds = np.array([[-np.inf], [np.inf]]).repeat(system.numerators.shape[1], axis=1)
    if resampled is None:
        resampled = (
            bootstrap_ratios(system, n_resamples, rng),
            bootstrap_ratios(human, n_resamples, rng),
        )
    if paired:
        if system.keys != human.keys:
            raise UsageError("paired units must have the same names in the same order")
        boot, t, null_t, null = _paired(system, human, n_resamples, rng)
    else:
        boot = resampled[0] - resampled[1]
        t, null_t, null = _unpaired(system, human, n_resamples, rng)
    distance = system.values - human.values
    defined = ~np.isnan(distance)
    low, high = interval(boot)
    error = np.full(distance.shape, np.nan)
    error[defined] = np.nanstd(boot[:, defined], axis=0, ddof=1)
    own = [
        (side.values, *value_interval(side, drawn, bounds))
        for side, drawn in zip((system, human), resampled, strict=True)
    ]
    sparse = own[0][3] | own[1][3]
    (x, x_low, x_high, _), (y, y_low, y_high, _) = own
    mover_low = distance - np.hypot(x - x_low, y_high - y)
    mover_high = distance + np.hypot(x_high - x, y - y_low)
    low, high = np.where(sparse, mover_low, low), np.where(sparse, mover_high, high)
    error = np.where(sparse, (high - low) / (2 * 1.959964), error)
    larger = (np.abs(null_t) >= np.abs(t) * (1 - 1e-12)).sum(axis=0)
    pvalue = np.where(defined, (1 + larger) / (1 + len(null_t)), np.nan)
    pvalue_joint = np.full(distance.shape, np.nan)
    band = np.full(distance.shape, np.nan)
    columns = np.arange(distance.size)[joint]
    columns = columns[defined[columns]]
    if columns.size:
        pvalue_joint[columns] = max_t(t[columns], null_t[:, columns])
        strongest = np.abs(null_t[:, columns]).max(axis=1)
        critical = np.quantile(strongest, 0.95, method="higher")
        if np.isfinite(critical):  # else there are too few units for a band
            band[columns] = critical * error[columns]
    floor, most = np.full(distance.shape, np.nan), np.full(distance.shape, np.nan)
    floor[defined] = np.abs(null[:, defined]).mean(axis=0)
    most[defined] = np.quantile(np.abs(null[:, defined]), 0.95, axis=0)
    return RatioComparison(
        distance, low, high, error, floor, most, pvalue, pvalue_joint, band, sparse, paired
    )


def _unpaired(
    system: RatioSums, human: RatioSums, n_resamples: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    x = np.vstack([system.numerators, human.numerators])
    y = np.vstack([system.denominators, human.denominators])
    moments = np.hstack([x, y, x * x, x * y, y * y])
    total = moments.sum(axis=0)
    n_system, n_human = len(system), len(human)
    t, _ = _studentized(moments[:n_system].sum(axis=0)[None], total, n_system, n_human)
    dealt = subset_sums(moments, n_system, n_resamples, rng)
    null_t, null = _studentized(dealt, total, n_system, n_human)
    return t[0], null_t, null


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
    """95th percentile of distances between two disjoint sets of human units, float64[K].

    The sets hold `size` units each, or half of all if that is less; NaN where there are fewer than
    two units.
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
