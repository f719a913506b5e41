"""Laws fitted to counts: Zipf's of ranks, Heaps' of types, and power laws with a cut-off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError
from textassay.stats.distances import as_sample

_STEEPEST = 50.0


@dataclass(frozen=True)
class ZipfFit:
    """What :func:`zipf_fit` finds.

    Attributes
    ----------
    exponent : float or None
        s of p(rank) proportional to rank ** -s; None of a single rank, which any s fits.
    ks : float or None
        Largest difference between the counts' and the law's cumulative distribution over ranks.
    ranks : int or None
        Ranks of the law; None: infinitely many.
    size : int
        Tokens that were counted.
    log_likelihood : float
        In nats.
    """

    exponent: float | None
    ks: float | None
    ranks: int | None
    size: int
    log_likelihood: float


def zipf_fit(counts: ArrayLike, ranks: int | None = 10_000) -> ZipfFit:
    """Zipf's law of ranks by maximum likelihood (Meister and Cotterell 2021, section 3.1).

    p(r) = r ** -s / H(K, s) over the K most frequent types, or r ** -s / zeta(s) over all ranks
    (s > 1 then). The exponent solves E_s[ln r] = mean of ln r over tokens.

    Parameters
    ----------
    counts : array_like of int
        How often each type occurs; zeros are left out. Ranks are by falling count.
    ranks : int or None
        K; if there are fewer types, their number. None: infinitely many ranks.

    Raises
    ------
    UsageError
        If there is no count, or one is negative or no whole number.

    Notes
    -----
    Ranks are taken from the sample that is fitted, which biases s; counts of another half of the
    text, in the order of the first half's ranks, can be fitted by :func:`rank_fit`.

    Examples
    --------
    >>> fit = zipf_fit([1000, 500, 333, 250, 200])
    >>> round(fit.exponent, 2), fit.ranks
    (1.0, 5)
    """
    array = _as_counts(counts, "counts")
    return rank_fit(np.sort(array[array > 0])[::-1], ranks)


def rank_fit(counts_by_rank: ArrayLike, ranks: int | None = 10_000) -> ZipfFit:
    """The same for counts whose ranks are known: the first is that of rank 1; zeros may stand."""
    array = _as_counts(counts_by_rank, "counts_by_rank")
    if ranks is not None:
        if ranks < 1:
            raise UsageError(f"ranks is {ranks}: at least 1 is needed")
        array = array[:ranks]
    size = array.sum()
    if not size:
        raise UsageError("all counts are 0: there is nothing to fit")
    if (array.size if ranks is None else min(array.size, ranks)) < 2:
        return ZipfFit(None, None, None if ranks is None else array.size, int(size), 0.0)
    logs = np.log(np.arange(1, array.size + 1))
    mean = float(array @ logs / size)
    if ranks is None:
        from scipy.special import zeta

        step = 1e-6

        def expected(s: float) -> float:
            # -d/ds ln zeta(s)
            return float((np.log(zeta(s - step)) - np.log(zeta(s + step))) / (2 * step))

        exponent = _solve(expected, mean, 1.0 + 1e-4, _STEEPEST)
        normalizer = float(np.log(zeta(exponent)))
    else:

        def expected(s: float) -> float:
            weights = np.exp(-s * logs)
            return float(weights @ logs / weights.sum())

        exponent = _solve(expected, mean, -_STEEPEST, _STEEPEST)
        normalizer = float(np.log(np.exp(-exponent * logs).sum()))
    law = np.cumsum(np.exp(-exponent * logs - normalizer))
    ks = float(np.abs(np.cumsum(array) / size - law).max())
    log_likelihood = float(-exponent * mean * size - normalizer * size)
    return ZipfFit(exponent, ks, None if ranks is None else array.size, int(size), log_likelihood)


def _solve(falling: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Where a falling function meets a target; the nearer end where it does not."""
    from scipy.optimize import brentq

    if falling(low) <= target:
        return low
    if falling(high) >= target:
        return high
    return float(brentq(lambda s: falling(s) - target, low, high, xtol=1e-10))


def _as_counts(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = as_sample(values, name)
    if array.min() < 0 or (array != np.floor(array)).any():
        raise UsageError(f"{name} must be whole numbers from 0 on")
    return array


@dataclass(frozen=True)
class PowerLawFit:
    """What :func:`power_law_fit` finds.

    Attributes
    ----------
    exponent : float
    xmin : int
    size : int
        Values of at least xmin.
    standard_error : float
        Of the exponent, if values are independent: from the curvature of the likelihood.
    """

    exponent: float
    xmin: int
    size: int
    standard_error: float


def power_law_fit(values: ArrayLike, xmin: int = 1) -> PowerLawFit:
    """Discrete power law with a lower cut-off by maximum likelihood.

    p(x) = x ** -a / zeta(a, xmin) for x >= xmin (Clauset, Shalizi and Newman 2009, appendix B).

    Parameters
    ----------
    values : array_like of int
    xmin : int
        At least 1.

    Raises
    ------
    UsageError
        If no value is at least xmin, or none is larger.

    Examples
    --------
    >>> values = np.repeat([1, 10, 100, 1000], [1000, 100, 10, 1])
    >>> round(power_law_fit(values).exponent, 3)
    2.605
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    if xmin < 1:
        raise UsageError(f"xmin is {xmin}: at least 1 is needed")
    array = _as_counts(values, "values")
    array = array[array >= xmin]
    if not array.size:
        raise UsageError(f"no value is at least xmin, {xmin}")
    if (array == xmin).all():
        raise UsageError(f"all values are {xmin}, xmin: the exponent would be infinite")
    logs = float(np.log(array).mean())

    def cost(a: float) -> float:
        return float(a * logs + np.log(zeta(a, xmin)))

    found = minimize_scalar(
        cost, bounds=(1.0001, _STEEPEST), method="bounded", options={"xatol": 1e-9}
    )
    a, step = float(found.x), 1e-4
    curvature = (cost(a + step) - 2 * cost(a) + cost(a - step)) / step**2
    error = float(1 / np.sqrt(max(curvature, 1e-300) * array.size))
    return PowerLawFit(a, xmin, array.size, error)


@dataclass(frozen=True)
class HeapsFit:
    """What :func:`heaps_fit` finds.

    Attributes
    ----------
    alpha, beta : float or None
        Of the expected number of types alpha * length ** beta; None where all lengths are equal,
        which tell nothing of growth.
    dispersion : float or None
        Variance of the Pearson residuals. Below 1, documents vary less than Poisson counts, and
        errors from the likelihood would be too large; intervals come from documents instead.
    size : int
        Documents with a token.
    """

    alpha: float | None
    beta: float | None
    dispersion: float | None
    size: int


def heaps_fit(lengths: ArrayLike, types: ArrayLike) -> HeapsFit:
    """Heaps' law of types by length, u ~ Poisson(alpha * l ** beta), by maximum likelihood.

    Meister and Cotterell 2021, section 3.2: alpha = sum u / sum l ** beta, and beta solves
    sum u ln l / sum u = sum l ** beta ln l / sum l ** beta.

    Parameters
    ----------
    lengths, types : array_like of int
        Tokens and distinct tokens of each document; empty documents are left out.

    Raises
    ------
    UsageError
        If they are of different sizes, or a document has more types than tokens.

    Examples
    --------
    >>> fit = heaps_fit([10, 100, 1000], [10, 50, 250])
    >>> round(fit.alpha, 2), round(fit.beta, 2)
    (2.0, 0.7)
    """
    length, distinct = _as_counts(lengths, "lengths"), _as_counts(types, "types")
    if length.size != distinct.size:
        raise UsageError(f"{length.size} lengths for {distinct.size} numbers of types")
    length, distinct = length[length > 0], distinct[length > 0]
    if (distinct > length).any() or (distinct < 1).any():
        raise UsageError("a document has more types than tokens, or none")
    if np.unique(length).size < 2:
        return HeapsFit(None, None, None, length.size)
    logs = np.log(length)
    target = float(distinct @ logs / distinct.sum())
    centred = logs - logs.max()

    def expected(negative_beta: float) -> float:
        weights = np.exp(-negative_beta * centred)
        return float(weights @ logs / weights.sum())

    beta = -_solve(expected, target, -_STEEPEST, _STEEPEST)
    alpha = float(distinct.sum() / np.exp(beta * logs).sum())
    predicted = alpha * np.exp(beta * logs)
    residuals = (distinct - predicted) / np.sqrt(predicted)
    return HeapsFit(alpha, beta, float(residuals.var()), length.size)
