"""Draws of units and statistics of their counts, against slow twins."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.parallel import Workers
from textassay.stats import heaps_fit, ks_distance, total_variation, zipf_fit
from textassay.stats.count_comparison import (
    common_size,
    compare_counts,
    distance_errors,
    distances_at,
    human_pairs,
    value_at,
    value_errors,
)
from textassay.stats.count_kernels import heaps_values
from textassay.stats.grouped import (
    EVERYTHING,
    EntropyStatistics,
    Grouped,
    OrderedStatistics,
    TypeStatistics,
    bootstraps,
    deals,
    pooled,
    subsets,
    two_subsets,
    two_weighed_subsets,
    weighed_subsets,
)

KEY = np.uint64(7)


def grouped(units: list[list[int]], size: int, weights: bool = False) -> Grouped:
    items = [item for unit in units for item in unit]
    offsets = np.concatenate([[0], np.cumsum([len(unit) for unit in units])]).astype(np.int64)
    numbers = np.arange(1, len(items) + 1, dtype=np.int32) if weights else np.empty(0, np.int32)
    return Grouped(np.array(items, np.int32), offsets, size, numbers)


def text(rng: np.random.Generator, units: int, types: int, power: float = 1.0) -> Grouped:
    shares = 1 / np.arange(1, types + 1) ** power
    lengths = rng.poisson(8, units) + 1
    items = rng.choice(types, lengths.sum(), p=shares / shares.sum())
    return Grouped(
        items.astype(np.int32), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), types
    )


units_of = st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=12)


@settings(max_examples=60 * EXAMPLES)
@given(units_of, st.integers(0, 30), st.integers(1, 14))
def test_subsets_are_whole_units_but_for_the_last(
    units: list[list[int]], items: int, most: int
) -> None:
    sample = grouped(units, 6, weights=True)
    counts, weighed = weighed_subsets(sample, items, KEY, 0, 4, most)
    total = sum(map(len, units))
    all_units = most >= len(units)
    if not total:
        assert not counts.any()
        return
    for row, sums in zip(counts, weighed, strict=True):
        assert (row <= sample.counts()).all()
        assert (sums <= sample.weighed()).all()
        assert row.sum() <= min(items, total)
        if all_units:
            assert row.sum() == min(items, total)
        if all_units and items >= total:
            assert (row == sample.counts()).all()
            assert (sums == sample.weighed()).all()


@settings(max_examples=60 * EXAMPLES)
@given(units_of, st.integers(0, 30), st.integers(1, 14), st.integers(1, 14))
def test_two_subsets_are_disjoint(
    units: list[list[int]], items: int, first: int, second: int
) -> None:
    # every item is a category of its own, so that one drawn twice would be seen
    names = np.arange(sum(map(len, units)), dtype=np.int32)
    plain = grouped(units, 6)
    sample = Grouped(names, plain.offsets, max(1, names.size), names + 1)
    (mine, theirs), (sums, _) = two_weighed_subsets(sample, items, KEY, 3, 5, (first, second))
    assert ((mine + theirs) <= 1).all()
    assert (mine.sum(axis=1) <= items).all()
    assert (theirs.sum(axis=1) <= items).all()
    assert (sums[:, : names.size] == mine[:, : names.size] * (names + 1)).all()
    if first + second == len(units) and items >= names.size:
        assert (mine[:, : names.size] + theirs[:, : names.size] == 1).all()


@settings(max_examples=60 * EXAMPLES)
@given(units_of.filter(lambda units: len(units) > 1), st.data())
def test_deals_are_of_equal_size(units: list[list[int]], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(units) - 1))
    names = np.arange(sum(map(len, units)), dtype=np.int32)
    offsets = grouped(units, 6).offsets
    mine, theirs = deals(Grouped(names, offsets, max(1, names.size)), first, KEY, 0, 6)
    assert (mine.sum(axis=1) == theirs.sum(axis=1)).all()
    assert ((mine + theirs) <= 1).all()
    for row in range(6):
        # one of the two sides is whole: units that are there are there with all items
        whole = [
            all(len(set(side[row][begin:end].tolist())) <= 1 for begin, end in pairwise(offsets))
            for side in (mine, theirs)
        ]
        assert any(whole)


def test_every_unit_is_as_likely() -> None:
    units = [[number] for number in range(10)]
    sample = grouped(units, 10)
    drawn = subsets(sample, EVERYTHING, KEY, 0, 20_000, 3).sum(axis=0)
    assert scipy.stats.chisquare(drawn).pvalue > 1e-3
    first, second = two_subsets(sample, EVERYTHING, KEY, 0, 20_000, (3, 4))
    assert scipy.stats.chisquare(first.sum(axis=0)).pvalue > 1e-3
    assert scipy.stats.chisquare(second.sum(axis=0)).pvalue > 1e-3
    # pairs of units, too
    both = subsets(sample, EVERYTHING, KEY, 0, 20_000, 2)
    pairs = Counter(tuple(np.flatnonzero(row)) for row in both)
    assert len(pairs) == 45
    assert scipy.stats.chisquare(list(pairs.values())).pvalue > 1e-3


def test_bootstraps_draw_with_replacement() -> None:
    sample = grouped([[0], [1], [2], [3]], 4, weights=True)
    with Workers(2) as workers:
        counts, weighed = bootstraps(sample, KEY, 1000, workers)
    assert (counts.sum(axis=1) == 4).all()
    assert (weighed == counts * np.array([1, 2, 3, 4])).all()
    assert counts.max() >= 3
    assert scipy.stats.chisquare(counts.sum(axis=0)).pvalue > 1e-3


@settings(max_examples=80 * EXAMPLES)
@given(
    st.lists(st.integers(0, 9000), min_size=2, max_size=30).filter(lambda c: sum(map(bool, c)) > 1),
    st.sampled_from([2, 5, 10_000]),
)
def test_values_of_types(counts: list[int], ranks: int) -> None:
    row = np.array(counts, np.int32)
    exponent, ks, hapax, entropy = TypeStatistics(ranks, row.size).describe(row[None])[0]
    law = zipf_fit(row, ranks)
    assert np.isclose(exponent, law.exponent, atol=1e-7)
    assert np.isclose(ks, law.ks, atol=1e-7)
    assert np.isclose(hapax, sum(c == 1 for c in counts) / sum(c > 0 for c in counts))
    assert np.isclose(entropy, scipy.stats.entropy(row[row > 0], base=2), atol=1e-9)
    assert np.isclose(EntropyStatistics().describe(row[None])[0, 0], entropy, atol=1e-9)


@settings(max_examples=80 * EXAMPLES)
@given(
    st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 6000)), min_size=1, max_size=30).filter(
        lambda pairs: any(a for a, _ in pairs) and any(b for _, b in pairs)
    )
)
def test_distances_of_types(pairs: list[tuple[int, int]]) -> None:
    mine, theirs = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    statistics = TypeStatistics(None, mine.size)
    variation, ks, *curve = statistics.compare(mine[None], theirs[None])[0]
    assert np.isclose(variation, total_variation(mine, theirs), atol=1e-12)
    cumulative = [np.cumsum(np.sort(side)[::-1]) / side.sum() for side in (mine, theirs)]
    assert np.isclose(ks, np.abs(cumulative[0] - cumulative[1]).max(), atol=1e-12)
    at = statistics.places - 1
    assert np.allclose(curve, (cumulative[0] - cumulative[1])[at], atol=1e-12)


@settings(max_examples=60 * EXAMPLES)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
)
def test_ordered_distances_equal_those_of_scipy(x: list[int], y: list[int]) -> None:
    counts = [np.bincount(side, minlength=10).astype(np.int32)[None] for side in (x, y)]
    found = OrderedStatistics().compare(*counts)[0, 0]
    steps = [scipy.stats.ecdf(side).cdf.evaluate(np.arange(10)) for side in (x, y)]
    assert np.isclose(found, np.abs(steps[0] - steps[1]).max(), atol=1e-12)
    assert np.isclose(found, ks_distance(x, y), atol=1e-12)


@settings(max_examples=60 * EXAMPLES)
@given(
    st.lists(st.tuples(st.integers(1, 300), st.floats(0, 1)), min_size=2, max_size=30).filter(
        lambda rows: len({length for length, _ in rows}) > 1
    )
)
def test_heaps_by_length_equals_heaps_by_document(rows: list[tuple[int, float]]) -> None:
    lengths = np.array([length for length, _ in rows])
    types = np.array([1 + int(share * (length - 1)) for length, share in rows])
    distinct, place = np.unique(lengths, return_inverse=True)
    documents = np.bincount(place).astype(np.int32)
    sums = np.bincount(place, types).astype(np.int32)
    out = np.empty((1, 2))
    heaps_values(documents[None], sums[None], np.log(distinct), out)
    law = heaps_fit(lengths, types)
    assert np.isclose(out[0, 1], law.beta, atol=1e-6)
    assert np.isclose(np.log(out[0, 0]), np.log(law.alpha), atol=1e-5)


def rng_of(*names: object) -> np.random.Generator:
    return np.random.default_rng([ord(c) for c in repr(names)])


def test_the_same_for_any_number_of_workers() -> None:
    rng = np.random.default_rng(1)
    mine, theirs = text(rng, 60, 50), text(rng, 90, 50, 1.2)
    found = []
    for jobs in (1, 3):
        with Workers(jobs) as workers:
            found.append(
                compare_counts(
                    mine,
                    theirs,
                    TypeStatistics(None, 50),
                    rng=rng_of,
                    workers=workers,
                    n_resamples=99,
                )
            )
    for name in ("value", "distance", "standard_error", "floor", "margin", "pvalue", "null"):
        assert (getattr(found[0], name) == getattr(found[1], name)).all(), name


def test_standard_errors_are_those_of_new_samples() -> None:
    """The spread of an estimate over fresh samples, beside the one each sample states."""
    rng = np.random.default_rng(2)
    statistics = TypeStatistics(None, 300)
    stated, spread = [], []
    with Workers(1) as workers:
        for _ in range(60):
            mine, theirs = text(rng, 150, 300), text(rng, 300, 300, 1.3)
            size = common_size(mine, theirs)
            value = value_at(mine, statistics, size, rng, workers).mean(axis=0)
            apart = distances_at(mine, theirs, statistics, size, rng, workers).mean(axis=0)[:2]
            errors = value_errors(mine, statistics, size, rng, workers)
            pairs = distance_errors(mine, theirs, statistics, rng, workers)
            stated.append([*errors, *pairs])
            spread.append([*value, *apart])
    ratios = np.mean(stated, axis=0) / np.std(spread, axis=0, ddof=1)
    # 60 samples tell a standard deviation to within a tenth or so
    assert (ratios > 0.72).all(), ratios
    # the text follows Zipf's law, so that its distance to it is noise alone: halves have more
    zipf_ks = 1
    assert ratios[zipf_ks] < 2
    assert (np.delete(ratios, zipf_ks) < 1.45).all(), ratios


def test_permutation_pvalues_are_uniform_if_texts_are_alike() -> None:
    rng = np.random.default_rng(3)
    statistics = TypeStatistics(None, 60)
    found = []
    with Workers(1) as workers:
        for number in range(80):
            mine, theirs = text(rng, 40, 60), text(rng, 60, 60)

            def named(*names: object, number: int = number) -> np.random.Generator:
                return rng_of(number, *names)

            found.append(
                compare_counts(
                    mine, theirs, statistics, rng=named, workers=workers, n_resamples=99
                ).pvalue
            )
    for column in np.array(found).T:
        # p-values of hundredths are never below what a uniform number is, but for chance
        assert scipy.stats.kstest(column, "uniform").pvalue > 1e-3


def test_permutation_pvalues_are_uniform_if_units_differ_in_size() -> None:
    """Long and short units of unlike content: what is cut must depend on the deal."""
    rng = np.random.default_rng(6)
    statistics = TypeStatistics(None, 400)
    found = []
    with Workers(1) as workers:
        for number in range(120):
            units = [
                rng.zipf(1.4 + 0.4 * (size > 60), size) % 400 for size in rng.choice([15, 150], 24)
            ]
            items = np.concatenate(units).astype(np.int32)
            ends = np.concatenate([[0], np.cumsum([unit.size for unit in units])])
            half = int(ends[12])
            mine = Grouped(items[:half], ends[:13].astype(np.int64), 400)
            theirs = Grouped(items[half:], (ends[12:] - half).astype(np.int64), 400)

            def named(*names: object, number: int = number) -> np.random.Generator:
                return rng_of(number, *names)

            found.append(
                compare_counts(
                    mine, theirs, statistics, rng=named, workers=workers, n_resamples=99
                ).pvalue
            )
    for column in np.array(found).T:
        assert scipy.stats.kstest(column, "uniform").pvalue > 1e-3
        assert (column <= 0.05).mean() <= 0.11  # 120 of .05: .11 is beyond three deviations


def test_texts_that_differ_are_told_apart() -> None:
    rng = np.random.default_rng(4)
    mine, theirs = text(rng, 200, 60, 0.6), text(rng, 200, 60, 1.3)
    with Workers(1) as workers:
        found = compare_counts(
            mine, theirs, TypeStatistics(None, 60), rng=rng_of, workers=workers, n_resamples=199
        )
    zipf, variation = 0, 4
    for column in (zipf, variation):
        assert found.pvalue[column] == 1 / 200
        assert abs(found.distance[column]) > found.margin[column]
    assert found.distance[zipf] < 0


def test_few_units_have_no_error() -> None:
    mine = grouped([[0, 1], [2]], 3)
    statistics = TypeStatistics(None, 3)
    with Workers(1) as workers:
        assert np.isnan(value_errors(mine, statistics, mine.items, rng_of(), workers)).all()
        assert np.isnan(distance_errors(mine, mine, statistics, rng_of(), workers)).all()
        assert np.isnan(human_pairs(mine, statistics, 1, rng_of(), workers)).all()


@pytest.mark.parametrize("power", [0.8, 1.1])
def test_full_size_is_the_whole_text(power: float) -> None:
    rng = np.random.default_rng(5)
    mine, theirs = text(rng, 30, 40), text(rng, 50, 40, power)
    statistics = TypeStatistics(None, 40)
    with Workers(1) as workers:
        found = compare_counts(
            mine, theirs, statistics, rng=rng_of, workers=workers, n_resamples=99, full_size=True
        )
    exact = statistics.compare(mine.counts()[None], theirs.counts()[None])[0]
    assert np.allclose(found.distance[4:], exact[:2])
    assert np.allclose(found.value, statistics.describe(mine.counts()[None])[0])
    assert pooled(mine, theirs).items == mine.items + theirs.items


def test_single_items_of_few_kinds_are_drawn_as_counts() -> None:
    kinds = np.repeat(np.arange(3, dtype=np.int32), [900, 500, 100])
    urn = Grouped(kinds, np.arange(1501), 3)
    assert urn.is_urn
    dealt = Grouped(kinds, np.arange(1501), 3, weights=np.ones(1500, np.int32))
    assert not dealt.is_urn
    rows = 3000
    drawn = subsets(urn, 600, KEY, 0, rows), weighed_subsets(dealt, 600, KEY, 0, rows)[0]
    for counts in drawn:
        assert (counts.sum(axis=1) == 600).all()
        assert np.allclose(counts.mean(axis=0), [360, 200, 40], atol=1.0)
    expected = [n * 600 / 1500 * (1 - n / 1500) * 900 / 1499 for n in (900, 500, 100)]
    assert np.allclose(drawn[0].var(axis=0), expected, rtol=0.15)
    # the same in any batches, disjoint, and of equal sizes
    assert np.array_equal(drawn[0][10:13], subsets(urn, 600, KEY, 10, 3))
    one, other = two_subsets(urn, EVERYTHING, KEY, 0, 500, (900, 600))
    assert np.array_equal(one + other, np.tile(urn.counts(), (500, 1)))
    one, other = deals(urn, 400, KEY, 0, 500)
    assert (one.sum(axis=1) == 400).all()
    assert (other.sum(axis=1) == 400).all()
    assert (one + other <= urn.counts()).all()
    assert np.cov(one[:, 0], other[:, 0])[0, 1] < 0
