"""Compiled transitions of the finished automaton: where a state and a token lead.

Most states have one edge. It stands in the state's *row*, beside the state to fall back to. The
edges of all other states stand in one table of 8-byte entries, four to a group, two groups to a
cache line. An entry holds the target and what tells its key from others.

Keys are ``state << token_bits | token``, numbers of `width` bits. They are mixed by steps that can
be undone, so that no two become equal: the upper bits of the mixed key name its home group, the
lower ones, the *check*, stand in the entry. Where the home group is full the entry stands in one of
the next groups, and its distance from home stands in the upper bits of the check. Group, distance
and check together say exactly which key it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textassay.compiled import kernel

# Columns of a row. The last four belong to the visits (see visit_kernels); every worker has its
# own copy of the rows, so that one cache line holds all that is asked of a state.
ROW = 8
TOKEN, TARGET, BACK, BACK_LENGTH, BOUND, VISITS, SHORTER, SEEN = range(ROW)

NO_EDGE_HERE = -3  # in the place of the token: no edge, or several
GROUP = 4
CHECK_BITS = 29
FARTHEST = 6  # groups from home; 7 with a check of ones would look like an empty entry
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW_HALF = np.uint64(0xFFFFFFFF)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Matcher(NamedTuple):
    """The automaton as the matcher reads it; shared by all workers."""

    rows: Any  # int32[8 x states], those of visits 0
    root_targets: Any  # int32[vocabulary], 0 where a token was not generated
    table: Any  # uint64[4 x power of two]: target << 32 | distance << 29 | check
    token_bits: Any  # uint64, like all that follow
    half: Any  # half the width of a key
    key_mask: Any  # as many ones as a key has bits
    check_bits: Any  # how many of them are the check
    check_mask: Any


@kernel
def mixed_key(matcher: Any, state: Any, token: Any) -> Any:
    """The key of an edge, both uint64, mixed: home group above, check below."""
    key = (state << matcher.token_bits) | token
    return ((key ^ (key >> matcher.half)) * MULTIPLIER) & matcher.key_mask


@kernel
def find_from(matcher: Any, mixed: Any, nearest: int) -> int:
    """Target of the edge with this mixed key at `nearest` groups from home or farther, or -1."""
    table = matcher.table
    check = mixed & matcher.check_mask
    last = np.uint64(table.size // GROUP - 1)
    for distance in range(nearest, FARTHEST + 1):
        group = ((mixed >> matcher.check_bits) + np.uint64(distance)) & last
        begin = group * np.uint64(GROUP)
        wanted = check | (np.uint64(distance) << np.uint64(CHECK_BITS))
        for k in range(GROUP):
            entry = table[begin + np.uint64(k)]
            if entry & LOW_HALF == wanted:
                return np.int64(entry >> np.uint64(32))
        if table[begin + np.uint64(GROUP - 1)] == EMPTY:
            break
    return -1


@kernel
def _enter(matcher: Any, state: int, token: int, target: int) -> bool:
    """Enter an edge; False where all groups near its home are full."""
    mixed = mixed_key(matcher, np.uint64(state), np.uint64(token))
    last = np.uint64(matcher.table.size // GROUP - 1)
    for distance in range(FARTHEST + 1):
        group = ((mixed >> matcher.check_bits) + np.uint64(distance)) & last
        for k in range(GROUP):
            at = group * np.uint64(GROUP) + np.uint64(k)
            if matcher.table[at] == EMPTY:
                mark = np.uint64(distance) << np.uint64(CHECK_BITS)
                check = (mixed & matcher.check_mask) | mark
                matcher.table[at] = (np.uint64(target) << np.uint64(32)) | check
                return True
    return False


@kernel
def follow(matcher: Any, state: int, length: int, token: int) -> tuple[int, int]:
    """The state and length of the longest match after one more known token."""
    rows = matcher.rows
    while state != 0:
        row = ROW * state
        if rows[row + TOKEN] == token:
            return np.int64(rows[row + TARGET]), length + 1
        target = find_from(matcher, mixed_key(matcher, np.uint64(state), np.uint64(token)), 0)
        if target >= 0:
            return target, length + 1
        length = np.int64(rows[row + BACK_LENGTH])
        state = np.int64(rows[row + BACK])
    state = np.int64(matcher.root_targets[token])
    return state, 1 if state > 0 else 0


@kernel
def fill_rows(graph: Any, order: Any, rank: Any, rows: Any, root_targets: Any) -> None:
    """Rewrite states for matching, renumbered by `order` (new -> old); rows are zeros before.

    A suffix link's state has all the edges that the state itself has. Where it has no others, it
    cannot help when the state could not: the matcher falls back to the first one that has more.
    Links lead to shorter strings, which `order` lists before, among states with several edges as
    among all others.
    """
    edges = np.zeros(order.size, np.int32)
    for new in range(order.size):
        old = order[new]
        number = graph.first_edge[old]
        while number >= 0:
            edges[new] += 1
            number = graph.edges[number, 2]
        link = graph.links[old]
        back, length = 0, 0
        if link >= 0:
            back, length = rank[link], graph.lengths[link]
            if back > 0 and edges[back] == edges[new]:
                length = rows[ROW * back + BACK_LENGTH]
                back = rows[ROW * back + BACK]
        row = ROW * new
        rows[row + BACK] = back
        rows[row + BACK_LENGTH] = length
        rows[row + TOKEN] = NO_EDGE_HERE
        number = graph.first_edge[old]
        if new == 0:
            while number >= 0:
                root_targets[graph.edges[number, 0]] = rank[graph.edges[number, 1]]
                number = graph.edges[number, 2]
        elif edges[new] == 1:
            rows[row + TOKEN] = graph.edges[number, 0]
            rows[row + TARGET] = rank[graph.edges[number, 1]]


@kernel
def fill_table(graph: Any, order: Any, rank: Any, several: int, matcher: Any) -> bool:
    """Enter the edges of the states 1 to `several` into an empty table; False: it is too small."""
    for new in range(1, several):
        number = graph.first_edge[order[new]]
        while number >= 0:
            target = rank[graph.edges[number, 1]]
            if not _enter(matcher, new, graph.edges[number, 0], target):
                return False
            number = graph.edges[number, 2]
    return True
