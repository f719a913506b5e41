"""Resampling, tests and verdicts: laws, exact small cases, and agreement with SciPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.errors import UsageError
from textassay.parallel import Workers, map_around
from textassay.results import Measurement
from textassay.stats.estimates import bootstrap, subsample
from textassay.stats.events import value_interval
from textassay.stats.multiplicity import benjamini_hochberg, holm, max_t
from textassay.stats.permutation import permutation_test
from textassay.stats.ratio_records import widen
from textassay.stats.ratio_sums import RatioSums, bootstrap_ratios
from textassay.stats.ratios import compare_ratios, human_margin
from textassay.stats.resampling import (
    bootstrap_sums,
    signed_sums,
    subset_sums,
    sums_by_unit,
)
from textassay.stats.verdicts import Z95, detectable_difference, verdict

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def means(values: np.ndarray) -> RatioSums:
    """Means of documents, each a unit of its own."""
    column = np.asarray(values, float).reshape(len(values), -1)
    return RatioSums(column, np.ones_like(column), [str(i) for i in range(len(values))])


@given(p_values)
def test_holm_is_the_textbook_rule(pvalues: list[float]) -> None:
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    expected = [0.0] * len(pvalues)
    worst = 0.0
    for rank, k in enumerate(order):
        worst = max(worst, (len(pvalues) - rank) * pvalues[k])
        expected[k] = min(1.0, worst)
    assert np.allclose(holm(pvalues), expected)


@given(p_values)
def test_false_discovery_rate_as_in_scipy(pvalues: list[float]) -> None:
    assert np.allclose(benjamini_hochberg(pvalues), scipy.stats.false_discovery_control(pvalues))


def test_tests_that_were_not_made_stay_out() -> None:
    assert np.array_equal(holm([0.02, np.nan, 0.5]), [0.04, np.nan, 0.5], equal_nan=True)
    assert np.array_equal(
        benjamini_hochberg([0.02, np.nan, 0.5]), [0.04, np.nan, 0.5], equal_nan=True
    )


def test_max_t_is_between_single_and_holm() -> None:
    rng = np.random.default_rng(1)
    null = rng.normal(size=(999, 6)) + rng.normal(size=(999, 1))
    observed = np.array([3.5, 2.5, 2.0, 1.0, 0.1, 3.0])
    single = (1 + (np.abs(null) >= observed).sum(axis=0)) / 1000
    joint = max_t(observed, null)
    assert (joint >= single - 1e-12).all()
    assert (joint <= holm(single) + 0.02).all()
    assert (np.diff(joint[np.argsort(-observed)]) >= 0).all()


def test_rows_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.arange(30.0).reshape(10, 3)
    whole = [f(sums, 50, np.random.default_rng(5)) for f in (bootstrap_sums, signed_sums)]
    whole.append(subset_sums(sums, 4, 50, np.random.default_rng(5)))
    monkeypatch.setattr("textassay.stats.resampling._BATCH", 30)
    parts = [f(sums, 50, np.random.default_rng(5)) for f in (bootstrap_sums, signed_sums)]
    parts.append(subset_sums(sums, 4, 50, np.random.default_rng(5)))
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other)


def test_draws_are_uniform() -> None:
    units = np.eye(6)
    drawn = subset_sums(units, 2, 60_000, np.random.default_rng(2))
    assert (drawn.sum(axis=1) == 2).all()
    pairs = [tuple(np.flatnonzero(row)) for row in drawn]
    counts = [pairs.count(pair) for pair in combinations(range(6), 2)]
    assert scipy.stats.chisquare(counts).pvalue > 1e-3
    booted = bootstrap_sums(units, 60_000, np.random.default_rng(3))
    assert (booted.sum(axis=1) == 6).all()
    assert scipy.stats.chisquare(booted.sum(axis=0)).pvalue > 1e-3
    assert abs(booted.var() - 6 * (1 / 6) * (5 / 6)) < 0.01
    signs = signed_sums(units, 60_000, np.random.default_rng(4))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.01


def test_bootstrap_error_is_that_of_the_mean() -> None:
    values = np.random.default_rng(6).exponential(size=400)
    drawn = bootstrap_ratios(means(values), 4000, np.random.default_rng(7))
    assert np.isclose(drawn.std(), values.std() / 20, rtol=0.05)


def test_permutation_p_value_as_in_scipy() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(0.4, 1, 40), rng.normal(0, 2, 60)

    def welch(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return scipy.stats.ttest_ind(a, b, equal_var=False, axis=axis).statistic

    expected = scipy.stats.permutation_test(
        (x, y), welch, vectorized=True, n_resamples=20_000, rng=1
    ).pvalue
    found = compare_ratios(means(x), means(y), n_resamples=20_000, rng=np.random.default_rng(9))
    assert np.isclose(found.pvalue[0], expected, atol=0.015)
    assert np.isclose(found.distance[0], x.mean() - y.mean())


def test_paired_p_value_as_in_scipy() -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(0, 1, 30)
    y = x + rng.normal(0.25, 0.5, 30)
    expected = scipy.stats.permutation_test(
        (x - y,),
        lambda d, axis: d.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=1,
    ).pvalue
    found = compare_ratios(
        means(x), means(y), n_resamples=20_000, rng=np.random.default_rng(11), paired=True
    )
    assert np.isclose(found.pvalue[0], expected, atol=0.01)


def test_an_exact_small_case() -> None:
    """All partitions of 3 + 3 numbers, counted by hand."""
    x, y = np.array([5.0, 6.0, 9.0]), np.array([1.0, 2.0, 4.0])
    pooled = np.concatenate([x, y])

    def t(chosen: tuple[int, ...]) -> float:
        a = pooled[list(chosen)]
        b = np.delete(pooled, list(chosen))
        return (a.mean() - b.mean()) / np.sqrt(a.var(ddof=1) / 3 + b.var(ddof=1) / 3)

    strengths = [abs(t(chosen)) for chosen in combinations(range(6), 3)]
    share = np.mean([s >= strengths[0] - 1e-9 for s in strengths])
    found = compare_ratios(means(x), means(y), n_resamples=40_000, rng=np.random.default_rng(12))
    assert np.isclose(found.pvalue[0], share, atol=0.01)


def test_constant_samples_have_p_one() -> None:
    for n, m in ((1, 1), (5, 7), (1, 9)):
        found = compare_ratios(
            means(np.full(n, 2.0)),
            means(np.full(m, 2.0)),
            n_resamples=99,
            rng=np.random.default_rng(0),
        )
        assert found.pvalue[0] == 1.0
        assert found.distance[0] == 0.0
        if n > 1:
            assert found.low[0] == found.high[0] == 0.0
        else:  # one unit tells nothing of how others differ
            assert np.isnan(found.low[0])


def test_measures_without_a_denominator_are_undefined() -> None:
    sums = RatioSums(np.zeros((3, 1)), np.zeros((3, 1)), list("abc"))
    found = compare_ratios(sums, sums, n_resamples=99, rng=np.random.default_rng(0))
    assert np.isnan(found.distance[0])
    assert np.isnan(found.pvalue[0])
    assert np.isnan(human_margin(sums, 1, 99, np.random.default_rng(0))[0])


def test_paired_sides_must_agree() -> None:
    one = means(np.arange(3.0))
    other = RatioSums(one.numerators, one.denominators, ["2", "1", "0"])
    with pytest.raises(UsageError, match="paired units must have the same names"):
        compare_ratios(one, other, n_resamples=99, rng=np.random.default_rng(0), paired=True)
    assert other.select(one.keys).numerators.ravel().tolist() == [2.0, 1.0, 0.0]


@settings(max_examples=30 * EXAMPLES)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_units_add_up(groups: list[int]) -> None:
    values = np.arange(len(groups), dtype=float)[:, None]
    sums = RatioSums.from_documents(values, values + 1, [str(g) for g in groups])
    for key, row in zip(sums.keys, sums.numerators, strict=True):
        assert row[0] == sum(v for v, g in zip(values[:, 0], groups, strict=True) if str(g) == key)
    assert np.isclose(sums.values[0], values.sum() / (values + 1).sum())
    assert sums_by_unit(values, np.zeros(len(groups), np.int64))[0, 0] == values.sum()


def test_the_margin_is_what_halves_show() -> None:
    values = np.random.default_rng(13).normal(size=1000)
    margin = human_margin(means(values), 500, 4000, np.random.default_rng(14))[0]
    # the difference of two halves of a sample has twice the variance of that of two samples
    assert np.isclose(margin, 1.96 * np.sqrt(2 / 500), rtol=0.06)


def test_coverage_and_false_differs_of_a_ratio() -> None:
    """Small part of the calibration: documents of unlike length, 80 comparisons of equals."""
    rng = np.random.default_rng(15)
    covered = differs = rejected = 0
    runs = 200
    for run in range(runs):
        sides = []
        for _ in range(2):
            lengths = rng.integers(5, 60, 120)
            sides.append(
                RatioSums(
                    rng.binomial(lengths, rng.beta(6, 14, 120))[:, None].astype(float),
                    lengths[:, None].astype(float),
                    [str(i) for i in range(120)],
                )
            )
        found = compare_ratios(*sides, n_resamples=399, rng=np.random.default_rng(run))
        margin = human_margin(sides[1], 60, 399, np.random.default_rng(run))
        covered += bool(found.low[0] <= 0 <= found.high[0])
        differs += verdict(found.low[0], found.high[0], margin[0]) == "differs"
        rejected += bool(found.pvalue[0] <= 0.05)
    # binomial noise of 200 runs: 95 % of them within 3 points
    assert 0.90 <= covered / runs <= 0.98
    assert rejected / runs <= 0.09
    assert differs / runs <= 0.01


def test_subsampling_does_not_repeat_units() -> None:
    seen = []
    subsample(lambda units: seen.append(units) or 0.0, 10, n_resamples=20, rng=1)
    assert all(len(set(units.tolist())) == len(units) for units in seen)
    assert [len(units) for units in seen] == [10] + [5] * 20


def test_subsampling_error_of_a_mean() -> None:
    values = np.random.default_rng(16).normal(size=300)
    found = subsample(lambda units: values[units].mean(), 300, n_resamples=2000, rng=2)
    assert np.isclose(found.standard_error, 1 / np.sqrt(300), rtol=0.12)
    clipped = subsample(lambda units: 0.99, 10, rng=3, bounds=(0.0, 1.0))
    assert clipped.confidence_interval == (0.99, 0.99)
    with pytest.raises(UsageError, match="n_units is 3: at least 4"):
        subsample(lambda units: 0.0, 3)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.1, 0.1, "within human variation"),
        (-0.1, 0.2, "undecided"),
        (0.11, 0.2, "differs"),
        (-0.2, -0.11, "differs"),
        (-0.2, 0.2, "undecided"),
    ],
)
def test_verdicts(low: float, high: float, expected: str) -> None:
    assert verdict(low, high, 0.1) == expected


def test_detectable_differences_are_found_four_times_in_five() -> None:
    rng = np.random.default_rng(17)
    margin, error = 0.1, 0.04
    true = detectable_difference(Z95 * error, error, margin)
    estimates = rng.normal(true, error, 20_000)
    found = np.mean(
        [verdict(e - 1.96 * error, e + 1.96 * error, margin) == "differs" for e in estimates]
    )
    assert abs(found - 0.8) < 0.01


def test_few_events_differ_only_if_they_must() -> None:
    """5 copied documents of 1,000 against none of 200: no evidence, whatever the bootstrap says."""
    system = means((np.arange(1000) < 5).astype(float))
    human = means(np.zeros(200))
    bounds = np.array([[0.0], [1.0]])
    found = compare_ratios(
        system, human, n_resamples=999, rng=np.random.default_rng(1), bounds=bounds
    )
    assert found.sparse[0]
    assert found.low[0] < 0 < found.high[0]
    assert found.pvalue[0] > 0.2
    # the upper limit of none in 200, and of 5 in 1,000 (Garwood 1936)
    drawn = bootstrap_ratios(human, 99, np.random.default_rng(2))
    low, high, sparse = value_interval(human, drawn, bounds, np.ones(1))
    assert sparse[0]
    assert (low[0], high[0]) == (0.0, pytest.approx(3.689 / 200, abs=1e-5))
    drawn = bootstrap_ratios(system, 99, np.random.default_rng(2))
    low, high, _ = value_interval(system, drawn, bounds, np.ones(1))
    assert (low[0], high[0]) == pytest.approx((1.623 / 1000, 11.668 / 1000), abs=1e-5)
    many = means((np.arange(1000) < 300).astype(float))
    rng = np.random.default_rng(1)
    found = compare_ratios(many, human, n_resamples=999, rng=rng, bounds=bounds)
    assert found.low[0] > 0.2


def test_coverage_where_events_are_few() -> None:
    """3 copied documents of 300 on either side, on average: intervals hold the true difference."""
    rng = np.random.default_rng(20)
    bounds = np.array([[0.0], [1.0]])
    covered = value_covered = 0
    for run in range(150):
        sides = [means((rng.random(300) < 0.01).astype(float)) for _ in range(2)]
        found = compare_ratios(
            *sides, n_resamples=199, rng=np.random.default_rng(run), bounds=bounds
        )
        covered += bool(found.low[0] <= 0 <= found.high[0])
        drawn = bootstrap_ratios(sides[0], 199, np.random.default_rng(run))
        low, high, _ = value_interval(sides[0], drawn, bounds, np.ones(1))
        value_covered += bool(low[0] <= 0.01 <= high[0])
    assert covered >= 0.92 * 150
    assert value_covered >= 0.92 * 150


def test_one_event_is_no_evidence_whatever_the_lengths() -> None:
    """Documents of 13 words against 12; one human document repeats one bigram."""
    rng = np.random.default_rng(30)
    for seed in range(5):
        sides = []
        for events, low in ((0, 12), (1, 11)):
            lengths = rng.integers(low, low + 3, 150).astype(float)
            numerators = lengths.copy()
            numerators[:events] -= 1
            sides.append(
                RatioSums(
                    numerators[:, None], lengths[:, None], [str(i) for i in range(lengths.size)]
                )
            )
        found = compare_ratios(
            *sides,
            n_resamples=499,
            rng=np.random.default_rng(seed),
            bounds=np.array([[0.0], [1.0]]),
        )
        assert found.sparse[0]
        assert found.pvalue[0] > 0.4
        assert found.pvalue_joint[0] > 0.4
        assert found.low[0] < 0 < found.high[0]


def test_none_against_many_differ_clearly() -> None:
    """No new word in 300 documents against 1 in 30 words: the interval is that of such words."""
    rng = np.random.default_rng(31)
    tokens = np.full(300, 90.0)
    none = RatioSums(np.zeros((300, 1)), tokens[:, None], [str(i) for i in range(300)])
    new = rng.binomial(90, 1 / 30, 300).astype(float)
    many = RatioSums(new[:, None], tokens[:, None], none.keys)
    found = compare_ratios(none, many, n_resamples=499, rng=rng, bounds=np.array([[0.0], [1.0]]))
    assert found.sparse[0]
    assert found.high[0] < -0.02
    assert found.pvalue[0] < 1e-6


def test_bootstrap_of_a_mean_and_of_units() -> None:
    rng = np.random.default_rng(21)
    values = rng.normal(5, 2, 400)
    found = bootstrap(values, rng=1)
    expected = scipy.stats.bootstrap((values,), np.mean, method="percentile", rng=2)
    assert np.isclose(found.statistic, values.mean())
    assert np.allclose(found.confidence_interval, expected.confidence_interval, atol=0.03)
    assert np.isclose(found.standard_error, values.std(ddof=1) / 20, rtol=0.1)
    # ten equal numbers a unit are worth one
    units = np.repeat(np.arange(40), 10)
    clustered = bootstrap(values[units], units=units, rng=1)
    alone = bootstrap(values[:40], rng=1)
    assert np.isclose(clustered.standard_error, alone.standard_error, rtol=0.1)
    assert bootstrap([3.0] * 5, np.median, rng=1).confidence_interval == (3.0, 3.0)
    with pytest.raises(UsageError, match="units has the shape"):
        bootstrap([1.0, 2.0], units=[1])
    with pytest.raises(UsageError, match="n_resamples is 9"):
        bootstrap([1.0, 2.0], n_resamples=9)


def test_confidence_interval_of_a_permutation_test() -> None:
    rng = np.random.default_rng(22)
    covered = 0
    for run in range(60):
        x, y = rng.normal(1, 1, 60), rng.normal(0, 2, 80)
        low, high = permutation_test(x, y, n_resamples=99, rng=run).confidence_interval(
            n_resamples=299, rng=run
        )
        covered += low <= 1 <= high
    assert 51 <= covered <= 60
    ks = permutation_test(x, y, "ks", n_resamples=99, rng=1)
    low, high = ks.confidence_interval(rng=1)
    assert 0 <= low <= ks.statistic <= high <= 1


def test_an_error_from_elsewhere_widens_and_judges_anew() -> None:
    record = Measurement(
        measure="m",
        system="s",
        value=0.5,
        value_low=0.47,
        value_high=0.54,
        distance=0.2,
        distance_low=0.16,
        distance_high=0.24,
        reference=0.155,
        detectable=0.155 + 2.8 * 0.02,
        verdict="differs",
        signature="m",
    )
    widen(record, 0.04 / Z95, 0.03 / Z95)
    assert np.isclose(record.value_low, 0.45)
    assert np.isclose(record.value_high, 0.5 + np.hypot(0.04, 0.04))
    assert np.isclose(record.distance_low, 0.15)
    assert record.verdict == "undecided"
    assert record.detectable > 0.155 + 2.8 * 0.02
    before = (record.value_low, record.distance_high, record.detectable)
    widen(record, float("nan"), float("nan"))
    assert before == (record.value_low, record.distance_high, record.detectable)


def test_threads_of_a_pool_wait_for_no_pool() -> None:
    with Workers(1) as workers:
        assert list(workers.map(lambda n: sum(map_around(abs, [-n, n])), [1, 2])) == [2, 4]
        assert list(map_around(abs, [-3])) == [3]
    assert list(map_around(abs, [-3])) == [3]
