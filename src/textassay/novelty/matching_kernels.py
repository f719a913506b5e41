"""Compiled matcher: training tokens walk through the automaton of the generated documents.

At every training token the matcher stands in the state of the longest suffix read so far that also
occurs in a generated document, and leaves a visit there (see visit_kernels).

Positions are split into lanes that walk in turn, so that the memory look-ups of one lane overlap
those of the others. A lane begins without knowing what came before it. It therefore records only
matches that begin after its own first token; the lane before it reads on past its end until its
match begins there too. Every training position is so recorded exactly once, with its true length,
wherever the text is cut: lanes, pieces and workers all join by this rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel
from textassay.memory_kernels import prefetch
from textassay.novelty.transition_kernels import (
    BACK,
    BACK_LENGTH,
    BOUND,
    EMPTY,
    GROUP,
    LOW_HALF,
    ROW,
    SHORTER,
    TARGET,
    TOKEN,
    VISITS,
    find_from,
    follow,
    mixed_key,
)
from textassay.novelty.visit_kernels import add, close, note

FAR_BEFORE = -(1 << 40)


@kernel
def document_ends(ids: Any) -> Any:
    """Where the ends of documents stand, int64."""
    count = 0
    for i in range(ids.size):
        count += ids[i] == -2
    ends = np.empty(count, np.int64)
    count = 0
    for i in range(ids.size):
        if ids[i] == -2:
            ends[count] = i
            count += 1
    return ends


@kernel
def _place(ends: Any, i: int) -> int:
    """``document << 32 | token`` within the piece, of the token at `i`."""
    low, high = 0, ends.size
    while low < high:
        middle = (low + high) // 2
        if ends[middle] < i:
            low = middle + 1
        else:
            high = middle
    begin = ends[low - 1] + 1 if low > 0 else 0
    return (np.int64(low) << 32) | (i - begin)


@kernel
def read_on(
    matcher: Any,
    totals: Any,
    ids: Any,
    byte_ends: Any,
    base: int,
    state: int,
    length: int,
) -> tuple[int, int]:
    """Go on with a match from the piece before, until it begins inside this piece.

    Returns the state and length at the end of the piece, or (0, -1) if the match ended before.
    """
    for i in range(ids.size):
        if ids[i] < 0:
            return 0, -1
        state, length = follow(matcher, state, length, ids[i])
        if length <= i:  # it begins behind the first token, or there is none
            return 0, -1
        byte = base + byte_ends[i]
        add(totals, state, length, 1, 1, byte, i, byte, i)
    return state, length


@kernel
def _visit(
    visits: Any,
    opened: Any,
    count: int,
    state: int,
    length: int,
    byte: int,
    place: int,
) -> int:
    """Count a visit whatever it brings; how many states this piece has opened."""
    row = ROW * state
    visits.rows[row + VISITS] += 1
    bound = visits.rows[row + BOUND]
    if length > bound:
        if note(visits, state, length, byte, place):
            opened[count] = state
            count += 1
    elif length < bound:
        visits.rows[row + SHORTER] += 1
    return count


@kernel
def match_piece(
    matcher: Any,
    visits: Any,
    ids: Any,
    byte_ends: Any,
    ends: Any,
    base: int,
    anchored: bool,
    lane_count: int,
) -> tuple[int, int]:
    """Walk one piece of training text, in lanes.

    `ids` (int32): token ids, -1 for tokens that were not generated, -2 for ends of documents;
    `byte_ends` (int32): where each ends, counted from byte `base`; `ends`: where -2 stands;
    `anchored`: the piece begins a document. Documents and tokens are numbered within the piece.
    Returns the state and length of the match at the end of the piece (length 0: none).

    The rounds of `_walk_lanes` are nearly all of the time; what comes before them, until a match
    begins inside the lane, and behind them, until it begins inside the next, is done for each lane
    by itself.
    """
    size = ids.size
    at = np.empty(lane_count, np.int64)
    stop = np.empty(lane_count, np.int64)
    first = np.empty(lane_count, np.int64)
    state = np.zeros(lane_count, np.int64)
    length = np.zeros(lane_count, np.int64)
    opened = np.empty(size, np.int32)
    count = 0
    for k in range(lane_count):
        i = k * size // lane_count
        stop[k] = (k + 1) * size // lane_count
        known = ids[i - 1] < 0 if i > 0 else anchored
        first[k] = FAR_BEFORE if known else i
        while first[k] >= 0 and i < stop[k]:
            if ids[i] < 0:
                state[k], length[k] = 0, 0
                first[k] = FAR_BEFORE
            else:
                state[k], length[k] = follow(matcher, state[k], length[k], ids[i])
                if length[k] <= i - first[k]:
                    first[k] = FAR_BEFORE
                    if length[k] > 0:
                        byte = base + byte_ends[i]
                        count = _visit(
                            visits, opened, count, state[k], length[k], byte, _place(ends, i)
                        )
            i += 1
        at[k] = i
    count = _walk_lanes(
        matcher, visits, ids, byte_ends, ends, base, at, stop, state, length, opened, count
    )
    final_state, final_length = 0, 0
    for k in range(lane_count - 1, -1, -1):
        i = stop[k]
        here, long = state[k], length[k]
        goes_on = i > 0 and ids[i - 1] >= 0
        while goes_on and i < size:
            goes_on = ids[i] >= 0
            if goes_on:
                here, long = follow(matcher, here, long, ids[i])
                goes_on = long > i - stop[k]
            if goes_on:
                if long <= i - first[k]:
                    byte = base + byte_ends[i]
                    count = _visit(visits, opened, count, here, long, byte, _place(ends, i))
                i += 1
        if i == size:
            final_state, final_length = here, long
    close(visits, opened[:count])
    return final_state, final_length


@kernel
def _walk_lanes(
    matcher: Any,
    visits: Any,
    ids: Any,
    byte_ends: Any,
    ends: Any,
    base: int,
    at: Any,
    stop: Any,
    states: Any,
    lengths: Any,
    opened: Any,
    count: int,
) -> int:
    """Walk each lane k from `at[k]` to `stop[k]`, all in turn.

    In: state and length of each lane's match; out: those at its end. Returns how many states the
    piece has opened. This is the innermost loop of all: it says again what `follow` and `_visit`
    say, with choices in the place of branches that nobody could foretell, and on unsigned
    indices, which need no check for negative ones.
    """
    rows = visits.rows
    table = matcher.table
    root_targets = matcher.root_targets
    one, eight, four = np.uint64(1), np.uint64(ROW), np.uint64(GROUP)
    size = np.uint64(ids.size)
    lanes = at.size
    lane = np.arange(lanes)
    index = at.astype(np.uint64)
    end = stop.astype(np.uint64)
    state = states.astype(np.uint64)
    length = lengths.copy()
    advanced = np.zeros(lanes, np.uint64)  # 1: the visit to the state is still to be counted
    while lanes > 0:
        turn = 0
        while turn < lanes:
            k = np.uint64(turn)
            i = index[k]
            here = state[k]
            long = length[k]
            counted = advanced[k]
            row = here * eight
            bound = np.int64(rows[row + np.uint64(BOUND)])
            rows[row + np.uint64(VISITS)] += np.int32(counted)
            rows[row + np.uint64(SHORTER)] += np.int32(counted & np.uint64(long < bound))
            if long * np.int64(counted) > bound:
                before = i - one
                byte = base + byte_ends[before]
                place = _place(ends, np.int64(before))
                if note(visits, np.int64(here), long, byte, place):
                    opened[count] = here
                    count += 1
            if i == end[k]:
                states[lane[k]] = here
                lengths[lane[k]] = long
                lanes -= 1
                last = np.uint64(lanes)
                lane[k], index[k], end[k] = lane[last], index[last], end[last]
                state[k], length[k], advanced[k] = state[last], length[last], advanced[last]
                continue
            turn += 1
            id = ids[i]
            if id < 0:
                state[k] = 0
                length[k] = 0
                advanced[k] = 0
                index[k] = i + one
                continue
            token = np.uint64(id)
            mixed = mixed_key(matcher, here, token)
            check = mixed & matcher.check_mask
            group = (mixed >> matcher.check_bits) * four
            entry_0 = table[group]
            entry_1 = table[group + one]
            entry_2 = table[group + np.uint64(2)]
            entry_3 = table[group + np.uint64(3)]
            is_0 = entry_0 & LOW_HALF == check
            is_1 = entry_1 & LOW_HALF == check
            is_2 = entry_2 & LOW_HALF == check
            is_3 = entry_3 & LOW_HALF == check
            entry = (
                entry_0 * np.uint64(is_0)
                | entry_1 * np.uint64(is_1)
                | entry_2 * np.uint64(is_2)
                | entry_3 * np.uint64(is_3)
            )
            in_table = is_0 | is_1 | is_2 | is_3
            target = np.int64(entry >> np.uint64(32))
            is_only = rows[row + np.uint64(TOKEN)] == id
            if entry_3 != EMPTY and not in_table:
                farther = find_from(matcher, mixed, 1)
                in_table = farther >= 0
                target = farther
            back = np.int64(rows[row + np.uint64(BACK)])
            back_length = np.int64(rows[row + np.uint64(BACK_LENGTH)])
            only = np.int64(rows[row + np.uint64(TARGET)])
            root_target = np.int64(root_targets[token])
            # along an edge; else the same token once more from a shorter string, or from none
            found = in_table | is_only
            from_root = back == 0
            shorter = root_target if from_root else back
            shorter_length = np.int64(root_target > 0) if from_root else back_length
            to = (target if in_table else only) if found else shorter
            i += np.uint64(found | from_root)
            index[k] = i
            state[k] = np.uint64(to)
            length[k] = long + 1 if found else shorter_length
            advanced[k] = np.uint64((found | from_root) & (to > 0))
            prefetch(rows, to * ROW)
            following = np.uint64(np.uint32(ids[i if i < size else i - one]))
            mixed = mixed_key(matcher, np.uint64(to), following & LOW_HALF)
            prefetch(table, np.int64((mixed >> matcher.check_bits) * four))
    return count
