"""Intervals of values between two bounds: laws, and how often they hold."""

from __future__ import annotations

import numpy as np
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from textassay.stats.bounded import (
    bounded_difference,
    bounded_interval,
    clipped,
    difference_interval,
)
from textassay.stats.count_records import EntropyMeasure
from textassay.stats.grouped import EntropyStatistics, Grouped

SHARES = st.floats(0.001, 0.999)
REACHES = st.floats(0.0, 2.0)
UNIT = (0.0, 1.0)


def ends(value: float, reach: float, bounds: tuple[float, float] = UNIT) -> np.ndarray:
    found = np.array(bounded_interval(value, reach, bounds), float)
    assert not np.isnan(found).any()
    return found


@given(SHARES | st.floats(0.0, 1.0), REACHES)
@example(2.220446049250313e-16, 0.0)
def test_the_ends_lie_around_the_value_within_the_bounds(value: float, reach: float) -> None:
    low, high = ends(value, reach)
    assert 0 <= low <= value <= high <= 1
    # no farther than limits of few events
    assert max(value - low, high - value) <= 1.7 * reach + 1e-12


@given(SHARES, REACHES)
def test_what_is_left_to_the_bound_has_the_mirrored_interval(value: float, reach: float) -> None:
    np.testing.assert_allclose(ends(1 - value, reach), 1 - ends(value, reach)[::-1], atol=1e-9)


@given(SHARES, REACHES, st.floats(-5, 5), st.floats(0.1, 10))
def test_other_bounds_scale_it(value: float, reach: float, least: float, room: float) -> None:
    found = ends(least + room * value, room * reach, (least, least + room))
    np.testing.assert_allclose(found, least + room * ends(value, reach), atol=1e-7)


@given(SHARES, REACHES, REACHES)
def test_a_side_on_a_bound_hides_no_difference_of_none(
    value: float, reach: float, other: float
) -> None:
    """Parts of a text that lies on a bound never leave it; the other text may be like it still."""
    for bound in (0.0, 1.0, 1.0 - 1e-16, 1e-16):
        apart = value - bound
        low, high = bounded_difference((value, bound), (reach, other), UNIT)
        assert low is not None
        assert high is not None
        assert np.isclose(high - apart, np.hypot(reach, other))
        assert np.isclose(apart - low, np.hypot(reach, other))


def test_a_share_that_rounds_to_one() -> None:
    assert bounded_interval(1 - 2**-53, 0.1, (-1.0, 1.0)) == (1 - 2**-53 - 0.1, 1.0)


@given(SHARES)
def test_a_small_reach_makes_it_symmetric(value: float) -> None:
    reach = 1e-4 * min(value, 1 - value)
    np.testing.assert_allclose(ends(value, reach), [value - reach, value + reach], rtol=1e-6)


def test_at_a_bound_and_without_one_it_is_symmetric_and_cut() -> None:
    assert bounded_interval(0.0, 0.2, UNIT) == (0.0, 0.2)
    assert bounded_interval(3.0, 4.0, (0.0, float("inf"))) == (0.0, 7.0)
    assert bounded_interval(float("nan"), 0.1, UNIT) == (None, None)
    assert bounded_interval(0.5, float("nan"), UNIT) == (None, None)
    assert clipped(0.5, float("inf"), (-float("inf"), float("inf"))) == (None, None)


def test_it_is_near_to_poisson_limits_of_few_events() -> None:
    """Garwood's limits of 2 to 10 events, with the root of the number as their error."""
    for events in range(2, 11):
        value, reach = 1e-4 * events, 1e-4 * 1.96 * np.sqrt(events)
        low, high = ends(value, reach)
        upper = 1e-4 * scipy.stats.chi2.ppf(0.975, 2 * events + 2) / 2
        lower = 1e-4 * scipy.stats.chi2.ppf(0.025, 2 * events) / 2
        assert 0.92 * upper < high < 1.05 * upper
        assert abs(low - lower) < 0.04 * value


def test_shares_near_one_are_held_where_symmetric_intervals_miss_them_on_one_side() -> None:
    """Of 300 things 97 in a hundred are of a kind."""
    rng, truth, runs = np.random.default_rng(31), 0.97, 4000
    shares = rng.binomial(300, truth, runs) / 300
    shares = shares[shares < 1]
    reaches = 1.96 * np.sqrt(shares * (1 - shares) / 300)
    plain = np.array([clipped(v, r, UNIT) for v, r in zip(shares, reaches, strict=True)])
    found = np.array([ends(v, r) for v, r in zip(shares, reaches, strict=True)])
    missed = {name: (rows > truth)[:, 0].mean() for name, rows in (("plain", plain), ("", found))}
    assert missed["plain"] > 0.045
    assert missed[""] < 0.035
    assert 0.94 < np.mean((found[:, 0] <= truth) & (truth <= found[:, 1])) < 0.97


@given(st.lists(st.floats(0, 10), min_size=4, max_size=4), st.floats(-1, 1))
def test_a_difference_turns_round_with_its_sides(parts: list[float], correlation: float) -> None:
    one = np.array([[5.0], [5.0 - parts[0]], [5.0 + parts[1]]])
    other = np.array([[4.0], [4.0 - parts[2]], [4.0 + parts[3]]])
    low, high = difference_interval(one, other, correlation)
    back_low, back_high = difference_interval(other, one, correlation)
    np.testing.assert_allclose([-high, -low], [back_low, back_high])
    assert low <= 1.0 <= high
    if correlation == 0:  # as far as the farther part alone, at least
        assert high - 1.0 >= max(parts[1], parts[2]) - 1e-9


def test_entropy_lies_below_the_logarithm_of_the_items() -> None:
    measure = EntropyMeasure("entropy", "bits", 0, False, (0.0, np.inf))
    assert measure.bounds_at(1024) == (0.0, 10.0)
    assert measure.bounds_at(None) == (0.0, np.inf)
    # more of it may be new, but not much more
    low, high = ends(9.9, 0.06, measure.bounds_at(1024))
    assert 9.9 - low > 1.2 * (high - 9.9)


def test_items_of_which_none_stands_twice_are_not_known_to_be_all_new() -> None:
    def text(*numbers: int) -> Grouped:
        return Grouped(np.array(numbers, np.int32), np.arange(len(numbers) + 1), 10)

    statistics = EntropyStatistics()
    # 3.69 of 5 units repeated, each of which takes 2 / 5 bits away; as a share in half as many
    (error,) = statistics.least_errors(text(0, 1, 2, 3, 4))
    assert np.isclose(1.96 * error, 3.69 / 5, rtol=1e-4)
    assert statistics.least_errors(text(0, 1, 2, 3, 3)) == 0
    assert statistics.least_errors(text()) == 0
