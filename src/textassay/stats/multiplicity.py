"""Many comparisons at once: Holm's step-down, and step-down max-T from one joint permutation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError


def _as_pvalues(pvalues: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(pvalues, np.float64)
    if p.ndim != 1:
        raise UsageError(f"pvalues has {p.ndim} dimensions: one is needed")
    if ((p < 0) | (p > 1)).any():
        raise UsageError("pvalues holds a number below 0 or above 1")
    return p


def holm(pvalues: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted for the chance of any false rejection (Holm 1979).

    Parameters
    ----------
    pvalues : array_like of float
        NaN stands for a test that was not made and stays NaN.

    Returns
    -------
    float64 array
        Adjusted p-values, in the order of the input.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _as_pvalues(pvalues)
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    steps = p[order] * np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def benjamini_hochberg(pvalues: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted for the expected share of false rejections (Benjamini, Hochberg 1995).

    NaN stands for a test that was not made and stays NaN.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = _as_pvalues(pvalues)
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")][::-1]
    steps = p[order] * order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(steps))
    return adjusted


def max_t(observed: ArrayLike, null: ArrayLike) -> NDArray[np.float64]:
    """p-values adjusted by the joint distribution of the largest statistic, stepping down.

    Westfall and Young 1993, algorithm 2.8: the k-th largest statistic is compared with the largest
    of those not larger than it, in each resample.

    Parameters
    ----------
    observed : float[K]
        Statistics; the larger in absolute value, the stronger.
    null : float[B, K]
        The same under joint resamples.

    Returns
    -------
    float64[K]
        (1 + number of resamples as large) / (1 + B), made monotone.

    Examples
    --------
    >>> max_t([3.0, 1.0], [[1.0, 2.0], [0.5, 0.1], [2.0, 0.2]]).tolist()
    [0.25, 0.5]
    """
    strength = np.abs(np.asarray(observed, np.float64))
    resampled = np.abs(np.asarray(null, np.float64))
    order = np.argsort(-strength, kind="stable")
    rest = np.maximum.accumulate(resampled[:, order][:, ::-1], axis=1)[:, ::-1]
    larger = (rest >= strength[order] * (1 - 1e-12)).sum(axis=0)
    adjusted = np.empty_like(strength)
    adjusted[order] = np.maximum.accumulate((1 + larger) / (1 + len(resampled)))
    return adjusted
