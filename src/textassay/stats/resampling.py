"""Resampling of units as sums under random weights: bootstrap, subsets, sign flips.

A *unit* is what can be taken to be independent: a document, all documents of a prompt, or all of a
source. Sums over units under resampling are products of a matrix of weights with the units' sums,
which is how everything here is computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.parallel import map_around

_BATCH = 1 << 23  # weights at a time, for each thread: 64 MB
Draw = Callable[[np.uint64, int, NDArray[np.float64]], None]


def as_generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """A generator from a generator or a seed.

    Examples
    --------
    >>> int(as_generator(7).integers(100)) == int(as_generator(7).integers(100))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(rng)


def weighted_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator, draw: Draw
) -> NDArray[np.float64]:
    """Sums over units under random weights, float64[n_resamples, columns].

    Parameters
    ----------
    sums : float64[units, columns]
    n_resamples : int
    rng : Generator
        One key is drawn from it.
    draw : callable
        Fills a batch of weights, given the key and the number of its first row.
    """
    units = len(sums)
    key = np.uint64(rng.integers(0, 2**64, dtype=np.uint64))
    out = np.empty((n_resamples, sums.shape[1]))
    rows = max(1, min(n_resamples, _BATCH // max(1, units)))

    def fill(first: int) -> None:
        batch = np.empty((min(rows, n_resamples - first), units))
        draw(key, first, batch)
        out[first : first + len(batch)] = batch @ sums

    list(map_around(fill, range(0, n_resamples, rows)))
    return out


def bootstrap_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over as many units drawn with replacement, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import bootstrap_rows

    return weighted_sums(sums, n_resamples, rng, bootstrap_rows)


def subset_sums(
    sums: NDArray[np.float64], chosen: int, n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over `chosen` units drawn without replacement, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import subset_rows

    def draw(key: np.uint64, first: int, weights: NDArray[np.float64]) -> None:
        subset_rows(key, first, chosen, weights)

    return weighted_sums(sums, n_resamples, rng, draw)


def signed_sums(
    sums: NDArray[np.float64], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Sums over units with random signs, float64[n_resamples, columns]."""
    from textassay.stats.draw_kernels import sign_rows

    return weighted_sums(sums, n_resamples, rng, sign_rows)


def sums_by_unit(values: ArrayLike, units: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows of documents added up over their units, float64[units, columns].

    Examples
    --------
    >>> sums_by_unit([[1.0], [2.0], [4.0]], np.array([0, 1, 0])).tolist()
    [[5.0], [2.0]]
    """
    array = np.asarray(values, np.float64)
    n_units = int(units.max()) + 1 if units.size else 0
    out = np.zeros((n_units, array.shape[1]))
    np.add.at(out, units, array)
    return out
