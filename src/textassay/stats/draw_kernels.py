"""Compiled draws: rows of resampling weights from counter-based random streams.

A row depends on the key and its number alone, so that rows can be drawn in any order, in batches of
any size, by any number of workers, with the same result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mix(value: Any) -> Any:
    """SplitMix64 (Steele, Lea and Flood 2014): a counter to a random uint64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def stream_of(key: Any, row: int) -> Any:
    """The state from which the stream of a row begins."""
    return mix(key + mix((np.uint64(row) + np.uint64(1)) * _STEP))


@kernel
def below(stream: Any, counter: int, limit: int) -> int:
    """A whole number from 0 to limit - 1 (limit below 2**32; bias below 2**-32)."""
    random = mix(stream + (np.uint64(counter) + np.uint64(1)) * _STEP)
    return np.int64(((random >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@kernel
def bootstrap_rows(key: Any, first: int, weights: Any) -> None:
    """How often each unit is drawn, with replacement, as many times as there are units."""
    rows, units = weights.shape
    for r in range(rows):
        stream = stream_of(key, first + r)
        for u in range(units):
            weights[r, u] = 0
        for u in range(units):
            weights[r, below(stream, u, units)] += 1


@kernel
def subset_rows(key: Any, first: int, chosen: int, weights: Any) -> None:
    """1 for `chosen` units drawn without replacement, else 0."""
    rows, units = weights.shape
    order = np.empty(units, np.int64)
    for r in range(rows):
        stream = stream_of(key, first + r)
        for u in range(units):
            order[u] = u
            weights[r, u] = 0
        for u in range(chosen):
            other = u + below(stream, u, units - u)
            order[u], order[other] = order[other], order[u]
            weights[r, order[u]] = 1


@kernel
def sign_rows(key: Any, first: int, weights: Any) -> None:
    """1 or -1 for each unit."""
    rows, units = weights.shape
    for r in range(rows):
        stream = stream_of(key, first + r)
        for u in range(units):
            weights[r, u] = 1 - 2 * below(stream, u, 2)


@kernel
def two_subset_rows(key: Any, first: int, chosen: int, weights: Any) -> None:
    """1 for `chosen` units, -1 for as many others, 0 for the rest."""
    rows, units = weights.shape
    order = np.empty(units, np.int64)
    for r in range(rows):
        stream = stream_of(key, first + r)
        for u in range(units):
            order[u] = u
            weights[r, u] = 0
        for u in range(2 * chosen):
            other = u + below(stream, u, units - u)
            order[u], order[other] = order[other], order[u]
            weights[r, order[u]] = 1 if u < chosen else -1


@kernel
def partition_sums(values: Any, chosen: int, key: Any, first: int, sums: Any) -> None:
    """Sums of values, and of their squares, over `chosen` of them, for each row of `sums`."""
    order = values.copy()
    size = values.size
    for r in range(sums.shape[0]):
        stream = stream_of(key, first + r)
        total, squares = 0.0, 0.0
        for i in range(chosen):
            # the order that the row before left is as good as any to draw from
            other = i + below(stream, i, size - i)
            value = order[other]
            order[other] = order[i]
            order[i] = value
            total += value
            squares += value * value
        sums[r, 0] = total
        sums[r, 1] = squares


@kernel
def partition_distances(last_of_value: Any, chosen: int, key: Any, first: int, out: Any) -> None:
    """KS distances of random partitions of sorted values.

    `last_of_value` says at which places the next value is another; steps are only compared there.
    """
    size = last_of_value.size
    order = np.arange(size)
    mine = np.zeros(size, np.bool_)
    up, down = 1.0 / chosen, 1.0 / (size - chosen)
    for r in range(out.size):
        stream = stream_of(key, first + r)
        for i in range(chosen):
            other = i + below(stream, i, size - i)
            place = order[other]
            order[other] = order[i]
            order[i] = place
            mine[place] = True
        difference, largest = 0.0, 0.0
        for place in range(size):
            difference += up if mine[place] else -down
            mine[place] = False
            if last_of_value[place]:
                largest = max(largest, abs(difference))
        out[r] = largest
