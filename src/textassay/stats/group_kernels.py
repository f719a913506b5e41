"""Compiled draws of units that hold items of many categories.

Units (documents, prompts, sources) are drawn whole, in random order, until so many units or items
are there; the last unit may be cut. As in `draw_kernels`, a row depends on the key and its number
alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel
from textassay.memory_kernels import prefetch
from textassay.stats.draw_kernels import below, stream_of

_AHEAD = 32  # units that are drawn before they are looked at


@kernel
def _add_unit(
    categories: Any, weights: Any, begin: int, end: int, left: int, counts: Any, weighed: Any
) -> int:
    """Add the items of a unit, at most `left`; returns how many are left then."""
    end = min(end, begin + left)
    # unsigned numbers need no check for places counted from the end
    for i in range(begin, end):
        counts[np.uint64(categories[np.uint64(i)])] += np.int32(1)
    if weights.size > 0:
        for i in range(begin, end):
            weighed[np.uint64(categories[np.uint64(i)])] += weights[np.uint64(i)]
    return left - (end - begin)


@kernel
def _draw_ahead(order: Any, offsets: Any, categories: Any, stream: Any, drawn: int, to: int) -> int:
    """Shuffle on to place `to`, and ask for the items of the units that come there."""
    units = order.size
    to = min(to, units)
    for i in range(drawn, to):
        other = np.uint64(i + below(stream, i, units - i))
        unit = order[other]
        order[other] = order[np.uint64(i)]
        order[np.uint64(i)] = unit
        prefetch(categories, offsets[np.uint64(unit)])
    return max(drawn, to)


@kernel
def subset_counts(
    categories: Any,
    weights: Any,
    offsets: Any,
    most_units: int,
    most_items: int,
    key: Any,
    first: int,
    counts: Any,
    weighed: Any,
) -> None:
    """For each row of `counts` (int32[R, K]) the items of units drawn without replacement.

    `weighed` holds the sums of the items' weights, if they have any (else no row is looked at).
    """
    units = offsets.size - 1
    order = np.empty(units, np.int32)
    for r in range(counts.shape[0]):
        stream = stream_of(key, first + r)
        counts[r, :] = 0
        into = weighed[min(r, weighed.shape[0] - 1)]
        into[:] = 0
        for u in range(units):
            order[u] = u
        left = most_items
        drawn = 0
        for i in range(min(most_units, units)):
            if left <= 0:
                break
            if i == drawn:
                drawn = _draw_ahead(order, offsets, categories, stream, drawn, i + _AHEAD)
            unit = np.uint64(order[i])
            begin, end = offsets[unit], offsets[unit + np.uint64(1)]
            left = _add_unit(categories, weights, begin, end, left, counts[r], into)


@kernel
def two_subset_counts(
    categories: Any,
    weights: Any,
    offsets: Any,
    first_units: int,
    second_units: int,
    most_items: int,
    key: Any,
    first: int,
    counts: Any,
    weighed: Any,
) -> None:
    """The same for two disjoint sets of units, of at most `most_items` items each.

    `counts` and `weighed` are int32[2, R, K].
    """
    units = offsets.size - 1
    order = np.empty(units, np.int32)
    for r in range(counts.shape[1]):
        stream = stream_of(key, first + r)
        for u in range(units):
            order[u] = u
        i = 0
        drawn = 0
        for side in range(2):
            counts[side, r, :] = 0
            into = weighed[side, min(r, weighed.shape[1] - 1)]
            into[:] = 0
            left = most_items
            stop = min(units, i + (first_units if side == 0 else second_units))
            while i < stop and left > 0:
                if i == drawn:
                    drawn = _draw_ahead(order, offsets, categories, stream, drawn, i + _AHEAD)
                unit = np.uint64(order[i])
                begin, end = offsets[unit], offsets[unit + np.uint64(1)]
                left = _add_unit(categories, weights, begin, end, left, counts[side, r], into)
                i += 1


@kernel
def dealt_counts(
    categories: Any, offsets: Any, first_units: int, key: Any, first: int, counts: Any
) -> None:
    """Deal all units to two sides, `first_units` to the first; the larger is cut to the smaller.

    `counts` is int32[2, R, K]. What is cut depends on the deal, as it does on the true one, so that
    the true one is a deal like any other.
    """
    units = offsets.size - 1
    order = np.empty(units, np.int32)
    nothing = np.empty(0, np.int32)
    for r in range(counts.shape[1]):
        stream = stream_of(key, first + r)
        for u in range(units):
            order[u] = u
        for i in range(units - 1):
            other = np.uint64(i + below(stream, i, units - i))
            unit = order[other]
            order[other] = order[np.uint64(i)]
            order[np.uint64(i)] = unit
        mine = 0
        for i in range(first_units):
            unit = np.uint64(order[i])
            mine += offsets[unit + np.uint64(1)] - offsets[unit]
        smaller = min(mine, offsets[units] - mine)
        for side in range(2):
            counts[side, r, :] = 0
            left = smaller
            i = 0 if side == 0 else first_units
            while left > 0:
                if i + _AHEAD < units:
                    prefetch(categories, offsets[np.uint64(order[i + _AHEAD])])
                unit = np.uint64(order[i])
                begin, end = offsets[unit], offsets[unit + np.uint64(1)]
                left = _add_unit(categories, nothing, begin, end, left, counts[side, r], nothing)
                i += 1


@kernel
def bootstrap_counts(
    categories: Any,
    weights: Any,
    offsets: Any,
    key: Any,
    first: int,
    counts: Any,
    weighed: Any,
) -> None:
    """The same for as many units as there are, drawn with replacement."""
    units = offsets.size - 1
    for r in range(counts.shape[0]):
        stream = stream_of(key, first + r)
        counts[r, :] = 0
        into = weighed[min(r, weighed.shape[0] - 1)]
        into[:] = 0
        for i in range(units):
            unit = np.uint64(below(stream, i, units))
            begin, end = offsets[unit], offsets[unit + np.uint64(1)]
            _add_unit(categories, weights, begin, end, end - begin, counts[r], into)
