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
from textassay.stats.verdicts import Z95


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


def shares(deviating: np.ndarray, of: float, usual: float = 0.0) -> RatioSums:
    """Units of `of` items each, of which so many deviate from what is usual."""
    numerators = usual * of + np.asarray(deviating, float)[:, None]
    keys = [str(i) for i in range(numerators.size)]
    return RatioSums(numerators, np.full(numerators.shape, of), keys)


def few_events(human: RatioSums, system: RatioSums) -> FewEvents:
    found = FewEvents.of(human, system, 0, np.array([0.0, 1.0]))
    assert found is not None
    return found


def with_events(units: int, sizes: list[float]) -> np.ndarray:
    return np.concatenate([sizes, np.zeros(units - len(sizes))])


@pytest.mark.parametrize("events", [0, 1, 3, 8, 19])
@pytest.mark.parametrize("size", [100, 250])
def test_margin_of_few_events_is_that_of_sets_whose_rate_is_uncertain(
    events: int, size: int
) -> None:
    """By the exact law of two counts whose rate is gamma distributed (half an event more)."""
    human = shares(with_events(500, [1.0] * events), 1.0)
    found = few_events(human, shares(with_events(500, [1.0]), 1.0)).margin(size) * size
    total = np.arange(120)  # of both counts: negative binomial; either is half of it by chance
    together = scipy.stats.nbinom.pmf(total, events + 0.5, 1 / (1 + 2 * size / 500))
    apart = np.zeros(120)
    for n, mass in zip(total, together, strict=True):
        first = np.arange(n + 1)
        np.add.at(apart, abs(n - 2 * first), mass * scipy.stats.binom.pmf(first, n, 0.5))
    spread = np.sqrt((apart * np.arange(120) ** 2).sum())
    assert found == pytest.approx(Z95 * spread, rel=1e-4)


def test_margins_of_few_events_depend_little_on_how_long_a_system_s_documents_are() -> None:
    human = shares(np.zeros(300), 10.0)
    margins = []
    for length in (10.0, 100.0, 3000.0):
        system = shares(with_events(300, [0.9 * length] * 30), length)
        margins.append(few_events(human, system).margin(150))
        found = compare_ratios(
            system,
            human,
            n_resamples=499,
            rng=np.random.default_rng(1),
            bounds=np.array([[0.0], [1.0]]),
        )
        assert found.low[0] > margins[-1]
    assert max(margins) < 1.2 * min(margins)


@pytest.mark.parametrize(("seen", "size"), [(0, 1.0), (4, 1.0), (4, 3.0)])
def test_detectable_events_are_found_four_times_in_five(seen: int, size: float) -> None:
    human = shares(with_events(1000, [size] * seen), 5.0)
    few = few_events(human, shares(with_events(500, [size] * 3), 5.0))
    margin = few.margin(500)
    distance = few.detectable(margin)
    rng = np.random.default_rng(5)
    found = 0
    counts = rng.poisson((distance + seen * size / 5000) * 2500 / size, 300)
    for count in counts:
        found += (
            compare_ratios(
                shares(with_events(500, [size] * count), 5.0),
                human,
                n_resamples=199,
                rng=rng,
                bounds=np.array([[0.0], [1.0]]),
            ).low[0]
            > margin
        )
    assert found / counts.size == pytest.approx(0.8, abs=0.08)


def test_no_distance_is_detectable_where_none_is_large_enough() -> None:
    few = few_events(shares(np.zeros(10), 1.0, 1.0), shares(np.zeros(10), 1.0, 1.0))
    assert np.isnan(few.detectable(0.5))
    assert np.isnan(few.detectable(1e9))
    long = few_events(shares(np.zeros(10), 1.0, 1.0), shares(np.zeros(100_000), 1.0, 1.0))
    assert long.detectable(0.5) > 0.5


def test_without_any_event_a_unit_may_have_deviated_as_far_as_it_can() -> None:
    none = shares(np.zeros(500), 20.0)
    found = compare_ratios(
        none, none, n_resamples=99, rng=np.random.default_rng(1), bounds=np.array([[0.0], [1.0]])
    )
    assert found.high[0] == pytest.approx(3.689 / 500, rel=1e-3)
    assert FewEvents.of(none, none, 0, np.array([-np.inf, np.inf])) is None
