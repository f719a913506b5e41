"""Statistics of counts of two texts compared: equal sizes, errors, floor, margin and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from textassay.parallel import Workers
from textassay.stats.grouped import (
    EVERYTHING,
    Array,
    Counts,
    Grouped,
    Statistics,
    deals,
    in_batches,
    key_of,
    pooled,
    subsets,
    two_subsets,
)
from textassay.stats.verdicts import FEWEST_UNITS

LARGE = 10_000_000  # items above which fewer permutations are made
Rng = Callable[..., np.random.Generator]


@dataclass(frozen=True, eq=False)
class CountComparison:
    """V values and D distances of a system's text and human text, at one size.

    Attributes
    ----------
    items : int
        The common size.
    value, human : float64[V]
        Means over subsamples of that size.
    value_error, human_error : float64[V]
        Standard errors of the values.
    distance, standard_error : float64[V + D]
        Differences of the values (system less human), then distances.
    floor, margin : float64[V + D]
        Mean absolute distance of two samples drawn from both texts pooled; 95th percentile of that
        of two samples of the human text.
    pvalue : float64[V + D]
        Of a permutation of units: two-sided for differences, one-sided for distances.
    observed : float64[V + D]
        What is tested: both texts cut to the smaller one's size, in one random order.
    null : float64[B, V + D]
    curve, curve_null : float64[P], float64[B, P]
        Whatever else the statistics tell of two texts, observed and permuted.
    """

    items: int
    value: Array
    human: Array
    value_error: Array
    human_error: Array
    distance: Array
    standard_error: Array
    floor: Array
    margin: Array
    pvalue: Array
    observed: Array
    null: Array
    curve: Array
    curve_null: Array


def common_size(system: Grouped, human: Grouped) -> int:
    """Items at which two texts are compared: the system's, or half of the human ones if fewer."""
    return max(1, min(system.items, human.items // 2))


def value_at(
    sample: Grouped, statistics: Statistics, items: int, rng: np.random.Generator, workers: Workers
) -> Array:
    """Values of random subsamples of so many items, float64[rows, V]; one row if of all."""
    known = statistics.expected(sample, items)
    if known is not None:
        return known[None]
    rows = 1 if items >= sample.items else statistics.draws(sample).averaged
    key = key_of(rng)
    return in_batches(
        lambda first, n: statistics.describe(subsets(sample, items, key, first, n)),
        rows,
        sample.size,
        workers,
    )


def value_errors(
    sample: Grouped, statistics: Statistics, items: int, rng: np.random.Generator, workers: Workers
) -> Array:
    """Standard errors of values at a size, float64[V], by subsampling; NaN for few units.

    The standard deviation over parts drawn without replacement, times the root of what they hold
    over what they leave out (Politis and Romano 1994). Parts have the size of the values, since
    many of these vary with it: where nearly every n-gram is new, nothing varies. But they hold
    three quarters of the text at most, for values of all of it; halves would be too far from it
    (docs/results/calibration.md).
    """
    if sample.units < FEWEST_UNITS or sample.items < 2:
        return np.full(statistics.values, np.nan)
    key = key_of(rng)
    part = min(items, sample.items - max(1, sample.items // 4))
    rows = in_batches(
        lambda first, n: statistics.describe(subsets(sample, part, key, first, n)),
        statistics.draws(sample).parts,
        sample.size,
        workers,
    )
    scale = np.sqrt(part / (sample.items - part))
    error: Array = np.maximum(scale * rows.std(axis=0, ddof=1), statistics.least_errors(sample))
    return error


def averaging_errors(rows: Array) -> Array:
    """Standard errors of means over random subsamples, [rows, V], that come from the draw alone."""
    if len(rows) < 2:
        return np.zeros(rows.shape[1])
    error: Array = rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
    return error


def distances_at(
    system: Grouped,
    human: Grouped,
    statistics: Statistics,
    items: int,
    rng: np.random.Generator,
    workers: Workers,
) -> Array:
    """Distances of random subsamples of so many items, float64[rows, D + P]."""
    if not statistics.distances:
        return np.empty((1, 0))
    averaged = statistics.draws(system, human).averaged
    rows = 1 if items >= max(system.items, human.items) else averaged
    one, two = key_of(rng), key_of(rng)
    return in_batches(
        lambda first, n: statistics.compare(
            subsets(system, items, one, first, n), subsets(human, items, two, first, n)
        ),
        rows,
        2 * system.size,
        workers,
    )


def distance_errors(
    system: Grouped,
    human: Grouped,
    statistics: Statistics,
    rng: np.random.Generator,
    workers: Workers,
) -> Array:
    """Standard errors of the distances, float64[D], by half-samples of both sides.

    The parts of the two sides are told apart by pairs of half-samples that share one side (as in
    a two-way analysis of variance), and each is scaled from the half-sample's size to its side's.
    What belongs to neither side alone averages out over the pairs that a distance is a mean of.
    """
    few = min(system.units, human.units) < FEWEST_UNITS or min(system.items, human.items) < 2
    if few or not statistics.distances:
        return np.full(statistics.distances, np.nan)
    half = min(system.items, human.items) // 2
    one, two = key_of(rng), key_of(rng)

    def pairs(first: int, n: int) -> Array:
        mine = subsets(system, half, one, first, n + 1)
        theirs = subsets(human, half, two, first, n + 1)
        compare: Callable[[Counts, Counts], Array] = statistics.compare
        return np.stack([compare(mine[:-1], theirs[:-1]), compare(mine[:-1], theirs[1:])], axis=1)

    draws = statistics.draws(system, human)
    rows = in_batches(pairs, draws.parts, 4 * system.size, workers)
    found = rows[:, :, : statistics.distances]
    same, next_human = found[:, 0], found[:, 1]
    variance: Array = found.reshape(-1, statistics.distances).var(axis=0, ddof=1)
    of_system = _covariance(same, next_human)
    of_human = _covariance(next_human[:-1], same[1:])
    scale = [half / (side.items - half) for side in (system, human)]
    rest = np.maximum(0.0, variance - of_system - of_human)
    error: Array = np.sqrt(scale[0] * of_system + scale[1] * of_human + rest / draws.averaged)
    return error


def _covariance(first: Array, second: Array) -> Array:
    centred = (first - first.mean(axis=0)) * (second - second.mean(axis=0))
    covariance: Array = np.maximum(0.0, centred.sum(axis=0) / (len(first) - 1))
    return covariance


def _both(statistics: Statistics, counts: Counts, others: Counts) -> Array:
    """Differences of values, then distances and curves, float64[R, V + D + P]."""
    difference = statistics.describe(counts) - statistics.describe(others)
    return np.hstack([difference, statistics.compare(counts, others)])


def human_pairs(
    human: Grouped,
    statistics: Statistics,
    items: int,
    rng: np.random.Generator,
    workers: Workers,
    rows: int | None = None,
) -> Array:
    """Differences and distances of disjoint samples of one text, float64[rows, V + D]."""
    kept = statistics.values + statistics.distances
    if human.units < FEWEST_UNITS:
        return np.full((1, kept), np.nan)
    key = key_of(rng)
    half = human.units // 2
    return in_batches(
        lambda first, n: _both(
            statistics, *two_subsets(human, items, key, first, n, (half, human.units - half))
        ),
        rows or statistics.draws(human).pairs,
        4 * human.size,
        workers,
    )[:, :kept]


def compare_counts(
    system: Grouped,
    human: Grouped,
    statistics: Statistics,
    *,
    rng: Rng,
    workers: Workers,
    n_resamples: int = 999,
    errors: tuple[Array, Array] | None = None,
    human_values: Array | None = None,
    margin: Array | None = None,
    full_size: bool = False,
) -> CountComparison:
    """Compare two texts by statistics of their counts.

    Parameters
    ----------
    system, human : Grouped
        Over the same categories.
    statistics : Statistics
    rng : callable
        From words to a generator: each set of draws has its own.
    workers : Workers
    n_resamples : int
        Permutations at most; at most 199 above ten million items.
    errors : two of float64[V], optional
        From :func:`value_errors` at this size, if they are at hand.
    human_values : float64[rows, V], optional
        From :func:`value_at` at this size, if they are at hand.
    margin : float64[V + D], optional
        From :func:`human_pairs` at this size, if it is at hand.
    full_size : bool
        Values and distances of all items of both sides, whatever their numbers, as older tables
        give them.

    Notes
    -----
    Cost: some 1,500 passes over `items` items, and as many over the categories; more where sides
    are large, for permutations. Memory: 16 MB a thread, but for the null distribution.
    """
    v, d = statistics.values, statistics.distances
    items = common_size(system, human)
    size = EVERYTHING if full_size else items
    system_values = value_at(system, statistics, size, rng("value"), workers)
    if human_values is None:
        human_values = value_at(human, statistics, size, rng("human"), workers)
    mine, theirs = system_values.mean(axis=0), human_values.mean(axis=0)
    apart = distances_at(system, human, statistics, size, rng("distance"), workers)
    distance = np.concatenate([mine - theirs, apart[:, :d].mean(axis=0)])
    if errors is None:
        errors = (
            value_errors(system, statistics, size, rng("error"), workers),
            value_errors(human, statistics, size, rng("human error"), workers),
        )
    own = np.hypot(errors[0], averaging_errors(system_values))
    other = np.hypot(errors[1], averaging_errors(human_values))
    standard_error = np.concatenate(
        [np.hypot(own, other), distance_errors(system, human, statistics, rng("pairs"), workers)]
    )
    if margin is None:
        margin = margin_of(human_pairs(human, statistics, items, rng("margin"), workers))
    everything = pooled(system, human)
    observed, null, floor = _permutations(
        system, human, everything, statistics, items, n_resamples, rng, workers
    )
    kept = v + d
    extreme = np.abs(null[:, :kept]) >= np.abs(observed[:kept]) * (1 - 1e-12)
    pvalue = (1 + extreme.sum(axis=0)) / (1 + len(null))
    pvalue[np.isnan(observed[:kept])] = np.nan
    return CountComparison(
        items,
        mine,
        theirs,
        own,
        other,
        distance,
        standard_error,
        floor,
        margin,
        pvalue,
        observed[:kept],
        null[:, :kept],
        observed[kept:],
        null[:, kept:],
    )


def margin_of(pairs: Array) -> Array:
    """95th percentile of absolute distances, float64[V + D]; NaN where there are none."""
    out = np.full(pairs.shape[1], np.nan)
    known = ~np.isnan(pairs).all(axis=0)
    out[known] = np.nanquantile(np.abs(pairs[:, known]), 0.95, axis=0)
    return out


def _permutations(
    system: Grouped,
    human: Grouped,
    everything: Grouped,
    statistics: Statistics,
    items: int,
    n_resamples: int,
    rng: Rng,
    workers: Workers,
) -> tuple[Array, Array, Array]:
    """Observed and permuted statistics at the smaller side's size; floor at the common size.

    Each deal has its own smaller side, or the true deal would not be one of them.
    """
    smaller = min(system.items, human.items)
    draws = statistics.draws(system, human)
    n_resamples = min(n_resamples, draws.permutations)
    if everything.items > LARGE:
        n_resamples = min(n_resamples, 199)
    generator = rng("observed")
    observed = _both(
        statistics,
        subsets(system, smaller, key_of(generator), 0, 1),
        subsets(human, smaller, key_of(generator), 0, 1),
    )[0]
    key = key_of(rng("permutation"))
    null = in_batches(
        lambda first, n: _both(statistics, *deals(everything, system.units, key, first, n)),
        n_resamples,
        4 * everything.size,
        workers,
    )
    floor_key = key_of(rng("floor"))
    at_size = in_batches(
        lambda first, n: _both(
            statistics,
            *two_subsets(everything, items, floor_key, first, n, (EVERYTHING, EVERYTHING)),
        ),
        draws.averaged,
        4 * everything.size,
        workers,
    )
    kept = statistics.values + statistics.distances
    return observed, null, np.abs(at_size[:, :kept]).mean(axis=0)
