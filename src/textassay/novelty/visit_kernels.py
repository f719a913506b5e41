"""Compiled visits: what training text was seen to hold of each state, and what follows from it.

Every worker counts in rows of its own (columns of transition_kernels): `VISITS`; `SEEN`, the
length of the longest match; `SHORTER`, how many visits were shorter than that. Where the longest
and the earliest match ended stands in `places`. A visit with a match no longer than `BOUND` brings
nothing new but itself. While the piece is under way in which a state was first seen, or last seen
longer, its `BOUND` is 0, since lanes do not come by in the order of the text; behind the piece it
is what `SEEN` is, since a worker's pieces follow one another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textassay.compiled import kernel
from textassay.novelty.transition_kernels import BOUND, ROW, SEEN, SHORTER, VISITS

FAR = (1 << 63) - 1


class Visits(NamedTuple):
    """What one worker has seen."""

    rows: Any  # int32[8 x states]; counts are to be read as uint32, and folded before they run over
    places: Any  # int64[4 x states]: byte, place of the longest; byte, place of the earliest


class Totals(NamedTuple):
    """What several workers have seen together; places are ``document << 32 | token``."""

    seen: Any  # int32[states]: length of the longest match
    visits: Any  # int64: how many
    longest: Any  # int64: how many as long as that
    byte: Any  # int64: where the earliest of these ended, FAR where there is none
    place: Any  # int64
    first_byte: Any  # int64: where the earliest of all ended
    first_place: Any  # int64


@kernel
def note(visits: Any, state: int, length: int, byte: int, place: int) -> bool:
    """Note a visit, counted already, that may be the longest or the earliest.

    Returns whether it opens a state that was not open before.
    """
    rows, places = visits.rows, visits.places
    row = ROW * state
    seen = rows[row + SEEN]
    if length > seen:
        rows[row + SEEN] = length
        rows[row + SHORTER] = rows[row + VISITS] - 1
        places[4 * state] = byte
        places[4 * state + 1] = place
    elif length < seen:
        rows[row + SHORTER] += 1
    elif byte < places[4 * state]:
        places[4 * state] = byte
        places[4 * state + 1] = place
    if seen == 0 or byte < places[4 * state + 2]:
        places[4 * state + 2] = byte
        places[4 * state + 3] = place
    opens = seen == 0 or rows[row + BOUND] > 0
    rows[row + BOUND] = 0
    return opens


@kernel
def close(visits: Any, opened: Any) -> None:
    """A piece ends: from here on no place comes before those of the states it opened."""
    for k in range(opened.size):
        row = ROW * opened[k]
        visits.rows[row + BOUND] = visits.rows[row + SEEN]


@kernel
def add(
    totals: Any,
    state: int,
    seen: int,
    visits: int,
    longest: int,
    byte: int,
    place: int,
    first_byte: int,
    first_place: int,
) -> None:
    """Add visits of a state: the longer, then the earlier match; sums of counts."""
    totals.visits[state] += visits
    if seen > totals.seen[state]:
        totals.seen[state] = seen
        totals.longest[state] = longest
        totals.byte[state] = byte
        totals.place[state] = place
    elif seen == totals.seen[state]:
        totals.longest[state] += longest
        if byte < totals.byte[state]:
            totals.byte[state] = byte
            totals.place[state] = place
    if first_byte < totals.first_byte[state]:
        totals.first_byte[state] = first_byte
        totals.first_place[state] = first_place


@kernel
def add_all(totals: Any, visits: Any) -> None:
    """Add what one worker has seen."""
    rows, places = visits.rows, visits.places
    for state in range(totals.seen.size):
        row = ROW * state
        if rows[row + SEEN] == 0:
            continue
        many = np.int64(np.uint32(rows[row + VISITS]))
        longest = many - np.int64(np.uint32(rows[row + SHORTER]))
        here = 4 * state
        add(
            totals,
            state,
            rows[row + SEEN],
            many,
            longest,
            places[here],
            places[here + 1],
            places[here + 2],
            places[here + 3],
        )


@kernel
def longest_seen(longest: Any, visits: Any) -> None:
    """Raise `longest` (int32[states]) to what one worker has seen."""
    for state in range(longest.size):
        longest[state] = max(longest[state], visits.rows[ROW * state + SEEN])


@kernel
def settle_lengths(by_length: Any, lengths: Any, links: Any, longest: Any) -> None:
    """For each state, the length of its longest string that occurs in training text.

    `longest` (int32): in, the longest match seen in the state itself; out, also what follows from
    matches in others: an occurrence of a string is one of all its suffixes. 0: it has none.
    `by_length` lists states by growing length.
    """
    for k in range(by_length.size - 1, 0, -1):
        state = by_length[k]
        if longest[state] > 0 and links[state] > 0:
            longest[links[state]] = lengths[links[state]]
    # what no longer string was seen of, a shorter one may have been
    for k in range(1, by_length.size):
        state = by_length[k]
        if longest[state] == 0 and links[state] > 0:
            longest[state] = longest[links[state]]


@kernel
def settle_counts(
    by_length: Any,
    lengths: Any,
    links: Any,
    totals: Any,
    longest: Any,
    counts: Any,
    byte: Any,
    place: Any,
) -> None:
    """For each state, how often and where first its longest string stands in training text.

    `longest`: from `settle_lengths`. Out: `counts` int64; `byte` int64, the end of the earliest
    occurrence; `place` int64, document << 32 | token within its piece.
    """
    for state in range(by_length.size):
        counts[state] = 0
        byte[state] = FAR
        place[state] = 0
    # upwards; while below, they hold what was seen in longer strings
    for k in range(by_length.size - 1, 0, -1):
        state = by_length[k]
        link = links[state]
        seen = totals.seen[state]
        total = counts[state]
        first_byte, first_place = byte[state], place[state]
        if seen > 0:
            total += totals.visits[state]
            if totals.first_byte[state] < first_byte:
                first_byte = totals.first_byte[state]
                first_place = totals.first_place[state]
            if seen == longest[state]:
                counts[state] += totals.longest[state]
                if totals.byte[state] < byte[state]:
                    byte[state] = totals.byte[state]
                    place[state] = totals.place[state]
        if total > 0 and link >= 0:
            counts[link] += total
            if first_byte < byte[link]:
                byte[link] = first_byte
                place[link] = first_place
    for k in range(1, by_length.size):
        state = by_length[k]
        if counts[state] == 0 and links[state] > 0:
            link = links[state]
            counts[state] = counts[link]
            byte[state] = byte[link]
            place[state] = place[link]
