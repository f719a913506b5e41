"""Differences of ratios: their intervals, tests and margins.

Many measures of two texts are compared at once, so that curves get a joint band.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError
from textassay.stats.bounded import difference_interval
from textassay.stats.events import (
    FewEvents,
    event_pvalue,
    spread_pvalue,
    typical_deviations,
    value_interval,
)
from textassay.stats.multiplicity import max_t
from textassay.stats.ratio_sums import (
    Array,
    RatioSums,
    bootstrap_ratios,
    effective_units,
    interval,
    joint_units,
    ratio,
)
from textassay.stats.resampling import bootstrap_sums, signed_sums, subset_sums
from textassay.stats.verdicts import Z95


@dataclass(frozen=True, eq=False)
class RatioComparison:
    """K measures of a system compared with those of human text; float64[K] each.

    Attributes
    ----------
    distance : system less human
    low, high : its 95 % interval
    standard_error : of the distance; a quarter of the interval where it rests on few units, half of
        its part towards no difference for variances
    floor : mean absolute distance under permutation
    pvalue : two-sided, of the studentized permutation test (sign-flip test if paired)
    pvalue_joint : the same adjusted over all K measures by step-down max-T
    band : half-width of a simultaneous 95 % band around the distances
    sparse : whether fewer than 20 units of a side have another value than the usual one
    few_events : where that is so of the human side, its events, by column
    paired : whether units were paired
    null : float64[B, K], distances under permutation
    """

    distance: Array
    low: Array
    high: Array
    standard_error: Array
    floor: Array
    pvalue: Array
    pvalue_joint: Array
    band: Array
    sparse: NDArray[np.bool_]
    few_events: dict[int, FewEvents]
    paired: bool
    null: Array


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
    least: Array | None = None,
    spreads: NDArray[np.bool_] | None = None,
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
    least : float64[K], optional
        The smallest deviation of a unit that can be; default 1; 0: measures without events.
    spreads : bool[K], optional
        Which measures are variances; default: none.

    Notes
    -----
    Unpaired, the statistic is the difference over its standard error (delta method), computed anew
    in every permutation: the plain difference would test whether the two *distributions* are
    equal, not the ratios (Janssen 1997). Paired, it is the sum of the pairs' shares in the
    difference, whose standard error does not change under sign flips.

    The interval is that of the bootstrapped difference. For variances, and where a side rests on
    few unusual units, it joins the two sides' own intervals instead (MOVER, Zou and Donner 2008).
    With few unusual units the p-value is that of an exact binomial test: given how many units of
    both sides are unusual, whether they fall to the sides as their tokens do. With so few, permuted
    statistics differ by the sizes of the sides alone. These p-values are adjusted by Bonferroni,
    apart from max-T.

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
    units = (effective_units(system), effective_units(human))
    variances = (_variances(resampled[0]), _variances(resampled[1]))
    low, high = interval(boot, joint_units(variances, units))
    error = np.full(distance.shape, np.nan)
    error[defined] = np.nanstd(boot[:, defined], axis=0, ddof=1)
    if least is None:
        least = np.ones(distance.size)
    typical = typical_deviations([system, human], least)
    if spreads is None:
        spreads = np.zeros(distance.size, np.bool_)
    own = [
        (side.values, *value_interval(side, drawn, bounds, typical, least > 0, spreads))
        for side, drawn in zip((system, human), resampled, strict=True)
    ]
    sparse = own[0][3] | own[1][3]
    common = np.where(spreads & ~sparse, _correlation(system, human), 0.0) if paired else 0.0
    mover_low, mover_high = difference_interval(own[0][:3], own[1][:3], common)
    joined = sparse | spreads
    low, high = np.where(joined, mover_low, low), np.where(joined, mover_high, high)
    error = np.where(sparse, (high - low) / (2 * Z95), error)
    nearer = np.where(distance >= 0, distance - low, high - distance)
    error = np.where(spreads & ~sparse, nearer / Z95, error)  # its interval is not symmetric
    larger = (np.abs(null_t) >= np.abs(t) * (1 - 1e-12)).sum(axis=0)
    pvalue = np.where(defined, (1 + larger) / (1 + len(null_t)), np.nan)
    pvalue_joint = np.full(distance.shape, np.nan)
    band = np.full(distance.shape, np.nan)
    for k in np.flatnonzero(sparse & defined):
        pvalue_of = spread_pvalue if spreads[k] else event_pvalue
        pvalue[k] = pvalue_of(system, human, int(k))
    curve = np.arange(distance.size)[joint]
    few = curve[sparse[curve] & defined[curve]]
    pvalue_joint[few] = np.minimum(1.0, pvalue[few] * curve.size)
    columns = curve[defined[curve] & ~sparse[curve]]
    if columns.size:
        pvalue_joint[columns] = max_t(t[columns], null_t[:, columns])
        strongest = np.abs(null_t[:, columns]).max(axis=1)
        critical = np.quantile(strongest, 0.95, method="higher")
        if np.isfinite(critical):  # else there are too few units for a band
            band[columns] = critical * error[columns]
    floor = np.full(distance.shape, np.nan)
    floor[defined] = np.abs(null[:, defined]).mean(axis=0)
    few_events: dict[int, FewEvents] = {}
    for column in np.flatnonzero(own[1][3]).tolist():
        found = FewEvents.of(human, system, column, bounds[:, column])
        if found is not None:
            few_events[column] = found
    return RatioComparison(
        distance,
        low,
        high,
        error,
        floor,
        pvalue,
        pvalue_joint,
        band,
        sparse,
        few_events,
        paired,
        null,
    )


def _correlation(system: RatioSums, human: RatioSums) -> Array:
    """Correlation of the two measures' errors, where unit i belongs to unit i."""
    one, other = (_shares(side, side.values) for side in (system, human))
    size = np.sqrt((one * one).sum(axis=0) * (other * other).sum(axis=0))
    out: Array = np.zeros(size.shape)
    np.divide((one * other).sum(axis=0), size, out=out, where=size > 0)
    return out


def _variances(rows: Array) -> Array:
    """Variance of each column; 0 where there is none."""
    out = np.zeros(rows.shape[1])
    known = ~np.isnan(rows).any(axis=0)
    out[known] = rows[:, known].var(axis=0)
    return out


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
        r = ratio(x, y)
        squares = np.maximum(0.0, xx - 2 * r * xy + r * r * yy)
        ratios.append(r)
        variances.append(ratio(squares, y * y) * n / max(1, n - 1))
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
    boot = ratio(drawn[:, :k], drawn[:, k : 2 * k]) - ratio(
        drawn[:, 2 * k : 3 * k], drawn[:, 3 * k :]
    )
    # each unit's share in the difference of the ratios (delta method)
    common = ratio(
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
    return np.nan_to_num(ratio(residuals, total))


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
    difference = ratio(two[0][:, :k], two[0][:, k:]) - ratio(two[1][:, :k], two[1][:, k:])
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
