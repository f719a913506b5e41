"""Distances, permutation tests of numbers and fits: against SciPy, published values and laws."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.errors import UsageError
from textassay.stats import permutation
from textassay.stats.distances import chi_square, ks_distance, total_variation
from textassay.stats.fits import heaps_fit, power_law_fit, rank_fit, zipf_fit
from textassay.stats.multiplicity import holm
from textassay.stats.permutation import permutation_test
from textassay.stats.verdicts import verdict

samples = st.lists(st.integers(0, 6) | st.floats(-3, 3), min_size=1, max_size=12)


@given(samples, samples)
def test_ks_distance_as_in_scipy(x: list[float], y: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SciPy's p-value, which is not asked for
        expected = scipy.stats.ks_2samp(x, y, method="asymp").statistic
    assert np.isclose(ks_distance(x, y), expected, atol=1e-12)
    assert ks_distance(x, x) == 0.0


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=12))
def test_one_sample_ks_distance_as_in_scipy(x: list[float]) -> None:
    expected = scipy.stats.ks_1samp(x, scipy.stats.norm.cdf, method="asymp").statistic
    assert np.isclose(ks_distance(x, scipy.stats.norm.cdf), expected, atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=9))
def test_total_variation_is_a_distance(pairs: list[tuple[int, int]]) -> None:
    p, q = (np.array(side, float) for side in zip(*pairs, strict=True))
    if not p.sum() or not q.sum():
        with pytest.raises(UsageError, match="sums to 0"):
            total_variation(p, q)
        return
    found = total_variation(p, q)
    assert 0 <= found <= 1 + 1e-12
    assert np.isclose(found, total_variation(q, p))
    assert np.isclose(found, np.maximum(p / p.sum() - q / q.sum(), 0).sum())


@given(st.lists(st.integers(0, 30), min_size=2, max_size=8).filter(any))
def test_chi_square_as_in_scipy(counts: list[int]) -> None:
    shares = np.arange(1, len(counts) + 1)
    expected = scipy.stats.chisquare(counts, shares * sum(counts) / shares.sum())
    found = chi_square(counts, shares)
    assert np.isclose(found.statistic, expected.statistic)
    assert np.isclose(found.pvalue, expected.pvalue)


def difference(x: np.ndarray, y: np.ndarray, statistic: str) -> float:
    if statistic == "mean":
        return float(x.mean() - y.mean())
    return float(x.var() - y.var())


@settings(max_examples=30 * EXAMPLES)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=4),
    st.lists(st.integers(0, 5), min_size=2, max_size=4),
    st.sampled_from(["mean", "variance"]),
)
def test_exact_permutation_tests_as_in_scipy(x: list[int], y: list[int], statistic: str) -> None:
    found = permutation_test(x, y, statistic)
    assert found.exact
    expected = scipy.stats.permutation_test(
        (np.array(x, float), np.array(y, float)),
        lambda a, b: abs(difference(a, b, statistic)),
        n_resamples=9999,
        alternative="greater",
        vectorized=False,
    )
    assert np.isclose(found.pvalue, expected.pvalue)


def test_a_distance_has_a_one_sided_p_value() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, 12).astype(float), rng.integers(0, 6, 12).astype(float)
    found = permutation_test(x, y, "ks", n_resamples=20_000, rng=1)
    expected = scipy.stats.permutation_test(
        (x, y),
        lambda a, b: scipy.stats.ks_2samp(a, b, method="asymp").statistic,
        n_resamples=3000,
        alternative="greater",
        vectorized=False,
        rng=1,
    )
    assert np.isclose(found.pvalue, expected.pvalue, atol=0.03)


@pytest.mark.parametrize("statistic", ["mean", "variance", "ks"])
def test_counts_and_shuffles_give_one_distribution(
    statistic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.poisson(4, 300).astype(float), rng.poisson(4.3, 500).astype(float)
    counts = permutation_test(x, y, statistic, n_resamples=4000, rng=3)
    monkeypatch.setattr(permutation, "FEW_VALUES", 0)
    shuffles = permutation_test(x, y, statistic, n_resamples=4000, rng=3)
    assert counts.statistic == shuffles.statistic
    assert scipy.stats.ks_2samp(counts.null_distribution, shuffles.null_distribution).pvalue > 1e-3
    assert np.isclose(counts.pvalue, shuffles.pvalue, atol=0.03)
    # the smaller and the larger side drawn
    other = permutation_test(y, x, statistic, n_resamples=4000, rng=4)
    sign = 1 if statistic == "ks" else -1
    assert np.isclose(other.statistic, sign * counts.statistic)
    assert np.isclose(other.pvalue, counts.pvalue, atol=0.03)


def test_any_function_can_be_tested() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=30), rng.normal(1.5, 1, size=40)
    found = permutation_test(
        x, y, lambda a, b: float(np.median(a) - np.median(b)), n_resamples=499, rng=1
    )
    assert found.pvalue == 1 / 500
    assert found.null_distribution.size == 499


def test_p_values_are_uniform_under_the_null() -> None:
    rng = np.random.default_rng(6)
    p = [
        permutation_test(rng.normal(size=20), rng.normal(size=25), n_resamples=199, rng=k).pvalue
        for k in range(300)
    ]
    assert scipy.stats.ks_1samp(p, scipy.stats.uniform.cdf).pvalue > 1e-3


def test_constant_and_single_samples() -> None:
    assert permutation_test([2.0] * 50, [2.0] * 70, n_resamples=199).pvalue == 1.0
    assert permutation_test([1.0], [2.0]).pvalue == 1.0
    for statistic in ("mean", "variance", "ks"):
        for constant in (0.1, 1e9, 1e9 + 0.1):
            x, y = [constant] * 33, [constant] * 47
            assert permutation_test(x, y, statistic, n_resamples=199).pvalue == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permutation_test([], [1.0]), "x is empty"),
        (lambda: permutation_test([1.0], [float("nan")]), "y holds NaN"),
        (lambda: permutation_test([[1.0]], [1.0]), "x has 2 dimensions"),
        (lambda: permutation_test([1.0], [1.0], "median"), "statistic is 'median'"),
        (lambda: permutation_test([1.0], [1.0], n_resamples=9), "n_resamples is 9"),
        (lambda: permutation_test([1, 2], [3], lambda x, y: float("nan")), "gives NaN"),
        (lambda: power_law_fit([2, 2], xmin=2), "would be infinite"),
        (lambda: holm([0.5, 1.5]), "above 1"),
        (lambda: holm([[0.5]]), "2 dimensions"),
        (lambda: verdict(2.0, 1.0, 1.0), "low 2.0, high 1.0"),
        (lambda: verdict(1.0, 2.0, -1.0), "margin -1.0"),
        (lambda: total_variation([1], [1, 2]), "p holds 1 outcomes and q 2"),
        (lambda: total_variation([-1, 2], [1, 2]), "p holds the negative number -1"),
        (lambda: chi_square([1, 2], [0, 1]), "expected holds a 0"),
        (lambda: chi_square([1, 2], [1]), "observed holds 2 outcomes and expected 1"),
        (lambda: zipf_fit([1.5]), "counts must be whole numbers"),
        (lambda: zipf_fit([0, 0]), "counts_by_rank is empty"),
        (lambda: zipf_fit([1], ranks=0), "ranks is 0"),
        (lambda: power_law_fit([1, 2], xmin=0), "xmin is 0"),
        (lambda: power_law_fit([1, 2], xmin=5), "no value is at least xmin"),
        (lambda: heaps_fit([1, 2], [1]), "2 lengths for 1 numbers"),
        (lambda: heaps_fit([1, 2], [1, 3]), "more types than tokens"),
    ],
)
def test_impossible_input(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.parametrize("s", [0.7, 1.0, 1.2])
def test_zipf_fit_recovers_a_known_exponent(s: float) -> None:
    """Ranks fixed beforehand, as the law has them; log-likelihood as SciPy's."""
    rng = np.random.default_rng(7)
    weights = np.arange(1, 2001) ** -s
    counts = rng.multinomial(200_000, weights / weights.sum())
    fit = rank_fit(counts, ranks=2000)
    assert np.isclose(fit.exponent, s, atol=0.01)
    assert fit.ks < 0.005
    law = scipy.stats.zipfian(fit.exponent, 2000)
    assert np.isclose(fit.log_likelihood, counts @ law.logpmf(np.arange(1, 2001)), rtol=1e-9)
    for other in (fit.exponent - 0.01, fit.exponent + 0.01):
        law = scipy.stats.zipfian(other, 2000)
        assert counts @ law.logpmf(np.arange(1, 2001)) < fit.log_likelihood


def test_zipf_fit_over_all_ranks() -> None:
    rng = np.random.default_rng(8)
    ranks = rng.zipf(1.5, 100_000)
    fit = rank_fit(np.bincount(ranks[ranks < 10**7])[1:], ranks=None)
    assert np.isclose(fit.exponent, 1.5, atol=0.02)
    assert fit.ranks is None


def test_degenerate_zipf_fits() -> None:
    assert (zipf_fit([7]).exponent, zipf_fit([7]).ks) == (None, None)  # any law fits one type
    assert zipf_fit([5, 3, 1], ranks=1).exponent is None
    assert abs(zipf_fit([5, 5, 5]).exponent) < 1e-6  # all alike: no slope


@pytest.mark.parametrize(
    ("counts", "exponent"),
    [
        # as the powerlaw package fits them, at xmin 1
        ({1: 1000, 10: 100, 100: 10, 1000: 1}, 2.605),
        (
            {1: 233, 2: 33, 3: 13, 4: 10, 5: 2, 6: 3, 7: 2, 8: 2, 9: 1, 11: 1, 15: 1, 18: 1},
            2.595,
        ),
    ],
)
def test_power_laws_of_published_counts(counts: dict[int, int], exponent: float) -> None:
    values = np.repeat(list(counts), list(counts.values()))
    assert round(power_law_fit(values).exponent, 3) == exponent


def test_power_law_with_a_cut_off() -> None:
    rng = np.random.default_rng(9)
    values = rng.zipf(2.5, 400_000)
    for xmin in (1, 3, 10):
        fit = power_law_fit(values, xmin)
        assert abs(fit.exponent - 2.5) < 4 * fit.standard_error
        assert fit.size == (values >= xmin).sum()


def test_heaps_fit_recovers_known_parameters() -> None:
    rng = np.random.default_rng(10)
    lengths = rng.integers(20, 2000, 3000)
    types = np.minimum(lengths, np.maximum(1, rng.poisson(3.0 * lengths**0.7)))
    fit = heaps_fit(lengths, types)
    assert np.isclose(fit.beta, 0.7, atol=0.01)
    assert np.isclose(fit.alpha, 3.0, rtol=0.05)
    assert np.isclose(fit.dispersion, 1.0, atol=0.15)
    equal = heaps_fit([5, 5, 0], [3, 4, 0])
    assert (equal.alpha, equal.beta, equal.dispersion, equal.size) == (None, None, None, 2)


@pytest.mark.parametrize(("exponent", "xmin"), [(2.3, 1), (2.3, 3), (2.8, 1), (1.8, 2)])
def test_power_laws_equal_those_of_the_powerlaw_package(exponent: float, xmin: int) -> None:
    import powerlaw

    values = np.random.default_rng(xmin).zipf(exponent, 3000)
    values = values[values < 10**9]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its own first guesses
        theirs = powerlaw.Fit(
            values, discrete=True, xmin=xmin, estimate_discrete=False, verbose=False
        ).power_law.alpha
    # it searches to within some 1e-4, below an exponent of 3
    assert np.isclose(power_law_fit(values, xmin).exponent, theirs, atol=3e-4)
