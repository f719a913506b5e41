"""Curves of the tendencies: ranks, types by length, distributions, everything by corpus size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.results import Record, Series, finite
from textassay.stats.count_comparison import CountComparison, human_pairs, value_at
from textassay.stats.count_records import CountBench, CountMeasure, Side
from textassay.stats.distances import as_sample
from textassay.stats.fits import zipf_fit
from textassay.stats.grouped import (
    Array,
    Grouped,
    OrderedStatistics,
    Statistics,
    in_batches,
    key_of,
    subsets,
)
from textassay.stats.ratio_sums import ratio
from textassay.stats.resampling import subset_sums
from textassay.tendencies.family import Family
from textassay.tendencies.measures import HEAPS, OF_TYPES
from textassay.tendencies.sample import Sample, grouped_values
from textassay.tendencies.types_by_length import TypeTokenComparison, fit

_POINTS = 80  # of a curve over ranks or values
_SMALLEST = 500  # tokens of the smallest corpus on curves over size
_FEWEST = 10  # documents of it
_FEWEST_OF_A_LENGTH = 3  # documents that make a point of the type-token curve
_MOST_SIZES = 7
_DRAWS = 40
_BY_SIZE = "by_size"


def all_series(family: Family) -> Iterator[Record]:
    """Every curve but those that come with a test."""
    for sample in family.all:
        if sample.tokens.size:
            yield from _rank_frequency(family, sample)
    for which, sample in enumerate(family.all):
        if family.type_token.curves.grouped[which].items:
            yield _type_token(family, which, sample)
    for measure, values in family.distributions():
        for sample, numbers in zip(family.all, values, strict=True):
            if not np.isnan(numbers).all():
                yield _distribution(family, measure, sample, numbers)
    yield from _by_size(family)


def _rank_frequency(family: Family, sample: Sample) -> Iterator[Record]:
    counts = np.sort(sample.by_type.counts())[::-1]
    counts = counts[counts > 0]
    shares = counts / counts.sum()
    at = _spread(counts.size)
    measure = "tendencies.rank_frequency"
    yield Series(
        measure=measure,
        system=sample.name,
        x=(at + 1.0).tolist(),
        y=shares[at].tolist(),
        x_label="rank",
        y_label="share of tokens",
        signature=family.tests.sign(measure),
    )
    law = zipf_fit(counts, family.options.ranks)
    if law.exponent is None:
        return
    kept = at[at < (law.ranks or counts.size)]
    ranks = np.arange(1, (law.ranks or counts.size) + 1)
    weights = ranks**-law.exponent
    share = counts[: ranks.size].sum() / counts.sum()
    yield Series(
        measure=f"{measure}.fit",
        system=sample.name,
        x=(kept + 1.0).tolist(),
        y=(share * weights[kept] / weights.sum()).tolist(),
        x_label="rank",
        y_label="share of tokens",
        signature=family.tests.sign(f"{measure}.fit", **family.parts(".zipf.")),
    )


def _spread(size: int) -> NDArray[np.int64]:
    """Places 0 to size - 1, evenly on a log scale."""
    return np.unique(np.geomspace(1, size, _POINTS).astype(np.int64)) - 1


def _type_token(family: Family, which: int, sample: Sample) -> Record:
    centres, mean, low, high, documents = family.type_token.curve(which)
    there = documents >= _FEWEST_OF_A_LENGTH
    measure = "tendencies.type_token"
    return Series(
        measure=measure,
        system=sample.name,
        x_label="length of a document in tokens",
        y_label="mean number of types",
        x=centres[there].tolist(),
        y=mean[there].tolist(),
        y_low=[finite(y) for y in low[there]],
        y_high=[finite(y) for y in high[there]],
        band="95 % for each length",
        signature=family.tests.sign(measure),
    )


def type_token_band(tests: CountBench, side: Side, found: TypeTokenComparison) -> Record:
    """Difference from the human curve, with a band for all lengths at once."""
    there = ~np.isnan(found.curve) & ~np.isnan(found.band) & ~np.isnan(found.lengths)
    measure = "tendencies.type_token.by_length"
    curve, band = found.curve[there], found.band[there]
    return Series(
        measure=measure,
        system=side.name,
        x_label="length of a document in tokens",
        y_label="types minus those of human text",
        x=found.lengths[there].tolist(),
        y=curve.tolist(),
        y_low=(curve - band).tolist(),
        y_high=(curve + band).tolist(),
        band="95 % for all lengths at once, max-T",
        signature=tests.sign(measure),
    )


def rank_band(
    tests: CountBench, side: Side, places: NDArray[np.int64], found: CountComparison
) -> Record:
    """Difference of cumulative shares by rank, with a band for all ranks at once."""
    errors = found.curve_null.std(axis=0)
    t = np.zeros_like(found.curve_null)
    np.divide(np.abs(found.curve_null), errors, out=t, where=errors > 0)
    band = np.quantile(t.max(axis=1), 0.95, method="higher") * errors
    measure = "tendencies.rank_frequency.by_rank"
    return Series(
        measure=measure,
        system=side.name,
        x_label="rank",
        y_label="cumulative share of tokens minus that of human text",
        x=places.astype(float).tolist(),
        y=[finite(y) for y in found.curve],
        y_low=[finite(y) for y in found.curve - band],
        y_high=[finite(y) for y in found.curve + band],
        band="95 % for all ranks at once, max-T",
        signature=tests.sign(measure),
    )


def _distribution(family: Family, measure: CountMeasure, sample: Sample, numbers: Array) -> Record:
    values, counts = np.unique(as_sample(numbers[~np.isnan(numbers)], "x"), return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    if values.size > 4 * _POINTS:
        at = np.unique(np.searchsorted(shares, np.linspace(0, 1, 4 * _POINTS)))
        at = np.minimum(at, values.size - 1)
        values, shares = values[at], shares[at]
    name = measure.measure.replace(".ks", ".distribution")
    what = name.split(".")[1]
    return Series(
        measure=name,
        system=sample.name,
        x_label="tokens" if what == "length" else f"share of {what} in a document",
        y_label="share of documents up to it",
        x=values.tolist(),
        y=shares.tolist(),
        signature=family.tests.sign(name, **family.parts(measure.measure)),
    )


# by corpus size


def sizes_up_to(most: int, least: int) -> list[int]:
    """`most`, half of it and so on, down to `least`; rising.

    Examples
    --------
    >>> sizes_up_to(4000, 500)
    [500, 1000, 2000, 4000]
    """
    found: list[int] = []
    while most >= least and len(found) < _MOST_SIZES:
        found.append(most)
        most //= 2
    return found[::-1]


def _by_size(family: Family) -> Iterator[Record]:
    for sample in family.compared:
        yield from _types_by_size(family, sample)
        yield from _ratios_by_size(family, sample)
        yield from _heaps_by_size(family, sample)
    for measure, values in family.distributions():
        number = len(family.compared)
        grouped, _ = grouped_values(family.compared, values[:number])
        statistics = OrderedStatistics()
        yield from _distances_by_size(
            family, grouped, statistics, (measure,), _FEWEST, "documents a side"
        )
    grouped = [sample.by_type for sample in family.compared]
    yield from _distances_by_size(
        family, grouped, family.types, OF_TYPES, _SMALLEST, "tokens a side"
    )


def _types_by_size(family: Family, sample: Sample) -> Iterator[Record]:
    grouped = sample.by_type
    sizes = sizes_up_to(grouped.items, _SMALLEST)
    rows = [
        value_at(
            grouped,
            family.types,
            size,
            family.setting.rng("by size", size, sample.content),
            family.workers,
        )
        for size in sizes
    ]
    for measure in OF_TYPES:
        if sizes and not measure.is_distance:
            columns = [part[:, measure.column] for part in rows]
            yield _size_series(
                family, measure.measure, measure.unit, sample.name, "tokens", sizes, columns
            )


def _ratios_by_size(family: Family, sample: Sample) -> Iterator[Record]:
    measured = family.measured(sample)
    sums = measured.sums
    sizes = sizes_up_to(len(sums), _FEWEST)
    k = sums.numerators.shape[1]
    both = np.hstack([sums.numerators, sums.denominators])
    rows = []
    for size in sizes:
        rng = family.setting.rng("by size", size, measured.content)
        drawn = subset_sums(both, size, _DRAWS if size < len(sums) else 1, rng)
        rows.append(ratio(drawn[:, :k], drawn[:, k:]))
    for column, ratios in enumerate(measured.columns):
        if sizes:
            yield _size_series(
                family,
                ratios.measure,
                ratios.unit,
                sample.name,
                f"{family.setting.unit}s",
                sizes,
                [part[:, column] for part in rows],
            )


def _heaps_by_size(family: Family, sample: Sample) -> Iterator[Record]:
    sizes = sizes_up_to(len(sample.keys), _FEWEST)
    rng = family.setting.rng("heaps by size", sample.content)
    units = sample.document_units
    rows: list[Array] = []
    for size in sizes:
        found = []
        for _ in range(10 if size < len(sample.keys) else 1):
            chosen = np.zeros(len(sample.keys), np.bool_)
            chosen[rng.permutation(len(sample.keys))[:size]] = True
            law = fit(sample, chosen[units])
            found.append([np.nan if x is None else x for x in (law.alpha, law.beta)])
        rows.append(np.array(found))
    for k in range(2):
        if sizes:
            yield _size_series(
                family,
                HEAPS[k][0],
                HEAPS[k][1],
                sample.name,
                f"{family.setting.unit}s",
                sizes,
                [part[:, k] for part in rows],
            )


def _distances_by_size(
    family: Family,
    grouped: Sequence[Grouped],
    statistics: Statistics,
    measures: Sequence[CountMeasure],
    least: int,
    x_label: str,
) -> Iterator[Record]:
    if family.human is None:
        return
    human = grouped[family.compared.index(family.human)]
    v = statistics.values
    for sample, mine in zip(family.compared, grouped, strict=True):
        is_human = sample is family.human
        most = human.items // 2 if is_human else min(mine.items, human.items)
        sizes = sizes_up_to(most, least)
        rows = []
        for size in sizes:
            rng = family.setting.rng("by size", measures[0].measure, size, mine.content)
            if is_human:
                pairs = human_pairs(human, statistics, size, rng, family.workers, _DRAWS)
                rows.append(pairs[:, v:])
            else:
                rows.append(_drawn_distances(mine, human, statistics, size, rng, family))
        for measure in measures:
            if sizes and measure.is_distance:
                columns = [part[:, measure.column - v] for part in rows]
                yield _size_series(
                    family, measure.measure, measure.unit, sample.name, x_label, sizes, columns
                )


def _drawn_distances(
    mine: Grouped,
    human: Grouped,
    statistics: Statistics,
    size: int,
    rng: np.random.Generator,
    family: Family,
) -> Array:
    one, two = key_of(rng), key_of(rng)
    return in_batches(
        lambda first, n: statistics.compare(
            subsets(mine, size, one, first, n), subsets(human, size, two, first, n)
        ),
        _DRAWS,
        2 * mine.size,
        family.workers,
    )


def _size_series(
    family: Family,
    measure: str,
    unit: str,
    name: str,
    x_label: str,
    sizes: Sequence[int],
    columns: Sequence[Array],
) -> Record:
    """Means over random subsamples of each size, and where 95 in 100 of them lie."""
    ends = [
        np.nanquantile(part, [0.025, 0.975])
        if part.size > 1 and not np.isnan(part).all()
        else (np.nan, np.nan)
        for part in columns
    ]
    name_of = f"{measure}.{_BY_SIZE}"
    return Series(
        measure=name_of,
        system=name,
        x_label=x_label,
        y_label=unit,
        x=[float(size) for size in sizes],
        y=[finite(float(np.mean(part))) for part in columns],
        y_low=[finite(float(low)) for low, _ in ends],
        y_high=[finite(float(high)) for _, high in ends],
        band="where 95 of 100 random subsamples lie",
        signature=family.tests.sign(name_of, **family.parts(measure)),
    )
