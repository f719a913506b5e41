"""Intervals of few events and of variances: against textbook limits, and how often they hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from textassay.stats.events import FewEvents, sum_limits
from textassay.stats.ratio_sums import RatioSums
from textassay.stats.ratios import compare_ratios
from textassay.stats.spreads import spread_interval


def squares(numbers: np.ndarray) -> RatioSums:
    """Squared deviations, of which the variance is the mean."""
    column = ((numbers - numbers.mean()) ** 2)[:, None]
    return RatioSums(column, np.ones_like(column), [str(i) for i in range(numbers.size)])


@given(st.integers(0, 30), st.floats(0.01, 100))
def test_limits_of_events_alike_are_those_of_a_poisson_count(count: int, size: float) -> None:
    low, high = sum_limits(np.full(count, size), size)
    assert np.isclose(low, size * scipy.stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0)
    assert np.isclose(high, size * scipy.stats.chi2.ppf(0.975, 2 * count + 2) / 2)


def test_limits_of_unlike_events_are_held() -> None:
    """Few events, one in ten of them ten times as large: Garwood's limits are too narrow."""
    rng = np.random.default_rng(20)
    sizes, mean = np.array([1.0, 10.0]), 6.0
    truth = mean * (0.9 * sizes[0] + 0.1 * sizes[1])
    held = by_count = 0
    runs = 2000
    for _ in range(runs):
        events = rng.choice(sizes, rng.poisson(mean), p=[0.9, 0.1])
        low, high = sum_limits(events, np.sqrt(0.9 + 0.1 * 100))
        held += low <= truth <= high
        low, high = sum_limits(np.ones(events.size), 1.0)
        scale = events.mean() if events.size else 1.0
        by_count += low * scale <= truth <= high * scale
    assert 0.94 <= held / runs <= 0.995
    assert by_count / runs < 0.9


@pytest.mark.parametrize(("n", "paired"), [(100, False), (100, True), (40, False)])
def test_intervals_of_variances_of_skewed_numbers_are_held(n: int, paired: bool) -> None:
    rng = np.random.default_rng([21, n, paired])
    truth = (np.exp(0.36) - 1) * np.exp(0.36)
    held = apart = 0
    runs = 400
    for run in range(runs):
        common = rng.lognormal(0, 0.6, n) if paired else 0.0
        sides = [squares(rng.lognormal(0, 0.6, n) + common) for _ in range(2)]
        low, high = spread_interval(sides[0])
        held += low[0] <= truth * (1 + paired) <= high[0]
        found = compare_ratios(
            *sides,
            n_resamples=99,
            rng=np.random.default_rng(run),
            paired=paired,
            least=np.zeros(1),
            spreads=np.ones(1, bool),
        )
        apart += found.low[0] <= 0 <= found.high[0]
    assert 0.88 <= held / runs <= 0.98
    assert 0.93 <= apart / runs <= 0.995


def test_variances_that_cannot_be_known_or_do_not_vary() -> None:
    assert np.isnan(np.array(spread_interval(squares(np.array([1.0, 3.0]))))).all()
    assert np.array_equal(np.ravel(spread_interval(squares(np.ones(10)))), [0.0, 0.0])
    # every number deviates alike: the interval still holds the value
    low, high = spread_interval(squares(np.tile([-1.0, 1.0], 20)))
    assert low[0] == 1.0
    assert 1.0 <= high[0] < 1.2


@pytest.mark.parametrize(
    ("n", "m", "share"), [(30, 400, 0.03), (200, 200, 0.01), (100, 1000, 0.01)]
)
def test_variances_of_what_hardly_any_unit_shows(n: int, m: int, share: float) -> None:
    """A side without any event has no spread: that is no evidence that it differs."""
    rng = np.random.default_rng([22, n])
    held = rejected = 0
    runs = 100
    for run in range(runs):
        sides = [squares(0.1 * rng.binomial(1, share, size)) for size in (n, m)]
        found = compare_ratios(
            *sides,
            n_resamples=99,
            rng=np.random.default_rng(run),
            bounds=np.array([[0.0], [0.25]]),
            least=np.array([0.01]),
            spreads=np.ones(1, bool),
        )
        held += found.low[0] <= 0 <= found.high[0]
        rejected += found.pvalue[0] <= 0.05
    assert held / runs >= 0.93
    assert rejected / runs <= 0.1


def test_limits_of_numbers_of_any_size() -> None:
    assert sum_limits(np.empty(0), 0.0) == (0.0, 0.0)
    for size in (1e-200, 1e200):
        low, high = sum_limits(np.full(5, size), size)
        assert np.allclose([low / size, high / size], [1.6235, 11.6683], atol=1e-4)


def _few(events: int, units: int, typical: float = 1.0) -> FewEvents:
    sizes = np.full(events, typical)
    return FewEvents(0.0, sizes, typical, float(units), units)


def test_margin_of_few_events_is_that_of_sets_whose_rate_is_uncertain() -> None:
    """Against the exact law: counts of two sets, given a gamma distributed rate."""
    events, units, size = 3, 500, 250
    found = _few(events, units).margin(size, 40_000, np.random.default_rng(3)) * size
    # (count of the two sets together is negative binomial, each falls to either with 1/2)
    total = np.arange(60)
    together = scipy.stats.nbinom.pmf(total, events + 0.5, 1 / (1 + 2 * size / units))
    distances = np.zeros(60)
    for n, mass in zip(total, together, strict=True):
        for first in range(n + 1):
            distances[abs(n - 2 * first)] += mass * scipy.stats.binom.pmf(first, n, 0.5)
    exact = int(np.searchsorted(np.cumsum(distances), 0.95))
    assert found == pytest.approx(exact)
    none = FewEvents(1.0, np.empty(0), 2.0, 500.0, units)
    assert none.margin(500, 9999, np.random.default_rng(4)) == pytest.approx(2 * 2.0 / 500)


@pytest.mark.parametrize(("seen", "typical"), [(0, 1.0), (4, 1.0), (4, 3.0)])
def test_detectable_events_are_found_four_times_in_five(seen: int, typical: float) -> None:
    human = _few(seen, 1000, typical)
    margin = 2 * typical / 1000
    distance = human.detectable(500.0, (0.0, 1000.0), margin)
    expected = (distance + seen * typical / 1000) * 500.0 / typical
    rng = np.random.default_rng(5)
    y_most = sum_limits(human.sizes, typical)[1]
    found = 0
    for count in rng.poisson(expected, 4000):
        total = typical * count
        low = sum_limits(np.full(count, typical), typical)[0]
        apart = total / 500 - human.sizes.sum() / 1000
        reach = np.hypot((total - low) / 500, (y_most - human.sizes.sum()) / 1000)
        found += apart - reach > margin
    assert found / 4000 == pytest.approx(0.8, abs=0.03)


def test_no_distance_is_detectable_where_none_is_large_enough() -> None:
    human = FewEvents(1.0, np.empty(0), 1.0, 10.0, 10)
    assert np.isnan(human.detectable(10.0, (0.0, 1.0), 0.5))
    assert human.detectable(1e5, (0.0, 1.0), 0.5) > 0.5
