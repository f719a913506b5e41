"""Compiled matcher: training tokens walk through the automaton of the generated documents.

At every training token the matcher stands in the state of the longest suffix read so far that also
occurs in a generated document. What it leaves behind, for every state, is a *visit record*:

- ``best[2 * state]``: the longest match seen in this state and its earliest place, packed as
  ``length << 40 | (2**40 - 1 - byte)``, so that a larger number is a longer, then an earlier match;
- ``best[2 * state + 1]``: number of visits ``<< 32 |`` number of visits with the longest length;
- ``places[state]``: earliest byte of any visit, its ``document << 32 | token``, and the same for
  the longest match.

Positions are split into lanes that walk in turn, so that the memory look-ups of one lane overlap
those of the others. A lane begins without knowing what came before it. It therefore records only
matches that begin after its own first token; the lane before it reads on past its end until its
match begins there too. Every training position is so recorded exactly once, with its true length,
wherever the text is cut: lanes, pieces and workers all join by this rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textassay.compiled import kernel
from textassay.memory_kernels import prefetch
from textassay.novelty.automaton_kernels import MULTIPLIER, NO_EDGE, edge_key, edge_slot

BYTE_BITS = 40
LAST_BYTE = (1 << BYTE_BITS) - 1
LONGEST_MATCH = (1 << (64 - BYTE_BITS)) - 1
FAR_BEFORE = -(1 << 40)


class Matcher(NamedTuple):
    """The automaton as the matcher reads it; shared by all workers."""

    records: Any  # int32[states, 4]
    root_targets: Any  # int32[vocabulary], 0 where a token was not generated
    table: Any  # uint64[2 x power of two]: key of an edge, its target, behind one another
    shift: Any  # uint64
    several: int  # states below this number have several edges, all others one or none


class Visits(NamedTuple):
    """What one worker has seen."""

    best: Any  # uint64[states, 2]
    places: Any  # uint64[states, 3]


@kernel
def _record(visits: Any, state: int, length: int, byte: int, document: int, token: int) -> None:
    best, places = visits.best, visits.places
    mine = (np.uint64(length) << np.uint64(BYTE_BITS)) | np.uint64(LAST_BYTE - byte)
    seen = best[2 * state]
    counts = best[2 * state + 1] + np.uint64(1 << 32)
    if mine > seen:
        if (mine >> np.uint64(BYTE_BITS)) != (seen >> np.uint64(BYTE_BITS)):
            counts &= np.uint64(0xFFFFFFFF00000000)
        counts += np.uint64(1)
        best[2 * state] = mine
        place = (np.uint64(document) << np.uint64(32)) | np.uint64(token)
        places[3 * state + 2] = place
        if seen == 0 or np.uint64(byte) < places[3 * state]:
            places[3 * state] = np.uint64(byte)
            places[3 * state + 1] = place
    else:
        if (mine >> np.uint64(BYTE_BITS)) == (seen >> np.uint64(BYTE_BITS)):
            counts += np.uint64(1)
        # later lanes may have been here before: only then can this place be the earlier one
        elif np.int64(LAST_BYTE) - np.int64(seen & np.uint64(LAST_BYTE)) > byte:
            if np.uint64(byte) < places[3 * state]:
                places[3 * state] = np.uint64(byte)
                places[3 * state + 1] = (np.uint64(document) << np.uint64(32)) | np.uint64(token)
    best[2 * state + 1] = counts


@kernel
def _follow(matcher: Any, state: int, length: int, token: int) -> tuple[int, int]:
    """The state and length of the longest match after one more known token."""
    records = matcher.records
    while state != 0:
        if state < matcher.several:
            key = edge_key(state, token)
            slot = edge_slot(key, matcher.shift)
            last = matcher.table.size // 2 - 1
            here = matcher.table[2 * slot]
            while here != key and here != NO_EDGE:
                slot = (slot + 1) & last
                here = matcher.table[2 * slot]
            if here == key:
                return np.int64(matcher.table[2 * slot + 1]), length + 1
        elif records[4 * state] == token:
            return np.int64(records[4 * state + 1]), length + 1
        length = np.int64(records[4 * state + 3])
        state = np.int64(records[4 * state + 2])
    state = np.int64(matcher.root_targets[token])
    return state, 1 if state > 0 else 0


@kernel
def read_on(
    matcher: Any,
    visits: Any,
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
        state, length = _follow(matcher, state, length, ids[i])
        if length <= i:  # it begins behind the first token, or there is none
            return 0, -1
        _record(visits, state, length, base + byte_ends[i], 0, i)
    return state, length


@kernel
def match_piece(
    matcher: Any,
    visits: Any,
    ids: Any,
    byte_ends: Any,
    base: int,
    anchored: bool,
    lane_count: int,
) -> tuple[int, int]:
    """Walk one piece of training text, in lanes.

    `ids` (int32): token ids, -1 for tokens that were not generated, -2 for ends of documents;
    `byte_ends` (int32): where each ends, counted from byte `base`; `anchored`: the piece begins a
    document. Documents and tokens are numbered within the piece. Returns the state and length of
    the match at the end of the piece (length 0: none).

    This is the innermost loop of all, so it says again what `_follow` and `_record` say, on
    unsigned indices, which need no check for negative ones: a third less time.
    """
    size = ids.size
    records = matcher.records
    table = matcher.table
    root_targets = matcher.root_targets
    several = np.uint64(matcher.several)
    shift = matcher.shift
    best = visits.best
    last = np.uint64(table.size // 2 - 1)
    at = np.empty(lane_count, np.int64)
    first = np.empty(lane_count, np.int64)
    stop = np.empty(lane_count, np.int64)
    state = np.zeros(lane_count, np.uint64)
    length = np.zeros(lane_count, np.int64)
    document = np.zeros(lane_count, np.int64)
    document_begin = np.zeros(lane_count, np.int64)
    waiting = np.zeros(lane_count, np.bool_)
    for k in range(lane_count):
        at[k] = k * size // lane_count
        stop[k] = (k + 1) * size // lane_count
        known = ids[at[k] - 1] < 0 if at[k] > 0 else anchored
        first[k] = FAR_BEFORE if known else at[k]
        if k > 0:
            document[k] = document[k - 1]
            document_begin[k] = document_begin[k - 1]
            for i in range(at[k - 1], at[k]):
                if ids[i] == -2:
                    document[k] += 1
                    document_begin[k] = i + 1
    final_state, final_length, final_lane = 0, 0, lane_count
    open_lanes = lane_count
    one = np.uint64(1)
    while open_lanes > 0:
        for kk in range(lane_count):
            k = np.uint64(kk)
            i = at[k]
            if i < 0:
                continue
            here = state[k]
            long = length[k]
            if waiting[k]:
                # the visit record was asked for one round ago
                j = np.uint64(i - 1)
                byte = base + byte_ends[j]
                mine = (np.uint64(long) << np.uint64(BYTE_BITS)) | np.uint64(LAST_BYTE - byte)
                seen = best[here + here]
                seen_byte = np.int64(LAST_BYTE) - np.int64(seen & np.uint64(LAST_BYTE))
                if mine < seen and seen_byte <= byte:  # nothing new but one more visit
                    counts = best[here + here + one] + np.uint64(1 << 32)
                    if (mine ^ seen) >> np.uint64(BYTE_BITS) == 0:
                        counts += one
                    best[here + here + one] = counts
                else:
                    _record(
                        visits, np.int64(here), long, byte, document[k], i - 1 - document_begin[k]
                    )
                waiting[k] = False
            if i == size:
                if kk < final_lane:
                    final_state, final_length, final_lane = np.int64(here), long, kk
                at[k] = -1
                open_lanes -= 1
                continue
            id = ids[np.uint64(i)]
            # past its end a lane follows matches that begin no later than the next lane
            if i >= stop[k] and (id < 0 or ids[np.uint64(i - 1)] < 0):
                at[k] = -1
                open_lanes -= 1
                continue
            if id < 0:
                state[k] = 0
                length[k] = 0
                first[k] = FAR_BEFORE
                if id == -2:
                    document[k] += 1
                    document_begin[k] = i + 1
                at[k] = i + 1
                continue
            token = np.uint64(id)
            found = False
            if here != 0:
                row = here << np.uint64(2)
                if here < several:
                    key = (here << np.uint64(32)) | token
                    slot = ((key ^ (key >> np.uint64(29))) * MULTIPLIER) >> shift
                    there = table[slot + slot]
                    while there != key and there != NO_EDGE:
                        slot = (slot + one) & last
                        there = table[slot + slot]
                    if there == key:
                        here = table[slot + slot + one]
                        long += 1
                        found = True
                elif records[row] == id:
                    here = np.uint64(records[row + one])
                    long += 1
                    found = True
                if not found:
                    long = np.int64(records[row + np.uint64(3)])
                    here = np.uint64(records[row + np.uint64(2)])
                    if here != 0:
                        # the same token once more in the next round, from a shorter string
                        state[k] = here
                        length[k] = long
                        prefetch(records, np.int64(here << np.uint64(2)))
                        key = (here << np.uint64(32)) | token
                        slot = ((key ^ (key >> np.uint64(29))) * MULTIPLIER) >> shift
                        prefetch(table, np.int64(slot + slot))
                        continue
            if not found:
                here = np.uint64(root_targets[token])
                long = 1 if here > 0 else 0
            if i >= stop[k] and long <= i - stop[k]:
                at[k] = -1
                open_lanes -= 1
                continue
            state[k] = here
            length[k] = long
            at[k] = i + 1
            if here == 0:
                first[k] = FAR_BEFORE
                continue
            waiting[k] = long <= i - first[k]
            prefetch(best, np.int64(here + here))
            prefetch(records, np.int64(here << np.uint64(2)))
            if here < several and i + 1 < size:
                key = (here << np.uint64(32)) | np.uint64(np.uint32(ids[np.uint64(i + 1)]))
                slot = ((key ^ (key >> np.uint64(29))) * MULTIPLIER) >> shift
                prefetch(table, np.int64(slot + slot))
    return final_state, final_length


@kernel
def merge_visits(into: Any, other: Any) -> None:
    """Add what another worker has seen: the longer, then the earlier match; sums of counts."""
    for state in range(into.best.size // 2):
        theirs = other.best[2 * state]
        if theirs == 0:
            continue
        mine = into.best[2 * state]
        my_length, their_length = mine >> np.uint64(BYTE_BITS), theirs >> np.uint64(BYTE_BITS)
        counts = into.best[2 * state + 1]
        their_counts = other.best[2 * state + 1]
        total = (counts >> np.uint64(32)) + (their_counts >> np.uint64(32))
        longest = counts & np.uint64(0xFFFFFFFF)
        if their_length > my_length:
            longest = their_counts & np.uint64(0xFFFFFFFF)
        elif their_length == my_length:
            longest += their_counts & np.uint64(0xFFFFFFFF)
        into.best[2 * state + 1] = (total << np.uint64(32)) | longest
        if mine == 0 or other.places[3 * state] < into.places[3 * state]:
            into.places[3 * state] = other.places[3 * state]
            into.places[3 * state + 1] = other.places[3 * state + 1]
        if theirs > mine:
            into.best[2 * state] = theirs
            into.places[3 * state + 2] = other.places[3 * state + 2]


@kernel
def settle(
    by_length: Any,
    lengths: Any,
    links: Any,
    visits: Any,
    longest: Any,
    counts: Any,
    byte: Any,
    place: Any,
) -> None:
    """For each state, its longest string that occurs in training text, how often, where first.

    Every visit of a state is also an occurrence of all shorter suffixes: of the longest string of
    its link, and so on to the root. `by_length` lists states by growing length. Out: `longest`
    int32 (0 where nothing was seen), `counts` int64, `byte` int64 (end of the earliest
    occurrence), `place` uint64 (document << 32 | token within its piece).
    """
    states = by_length.size
    for state in range(states):
        longest[state] = 0
        counts[state] = 0
        byte[state] = LAST_BYTE
        place[state] = 0
    # upwards; while below, counts and byte hold what was seen in longer strings
    for k in range(states - 1, 0, -1):
        state = by_length[k]
        best = visits.best[2 * state]
        link = links[state]
        total = counts[state]
        first_byte, first_place = byte[state], place[state]
        if best != 0:
            own = visits.best[2 * state + 1]
            seen = np.int64(best >> np.uint64(BYTE_BITS))
            seen_byte = np.int64(LAST_BYTE) - np.int64(best & np.uint64(LAST_BYTE))
            of_longest = np.int64(own & np.uint64(0xFFFFFFFF))
            total += np.int64(own >> np.uint64(32))
            if np.int64(visits.places[3 * state]) < first_byte:
                first_byte = np.int64(visits.places[3 * state])
                first_place = visits.places[3 * state + 1]
            if counts[state] == 0:
                longest[state] = seen
                counts[state] = of_longest
                byte[state] = seen_byte
                place[state] = visits.places[3 * state + 2]
            else:
                longest[state] = lengths[state]
                if seen == lengths[state]:
                    counts[state] += of_longest
                    if seen_byte < byte[state]:
                        byte[state] = seen_byte
                        place[state] = visits.places[3 * state + 2]
        elif counts[state] > 0:
            longest[state] = lengths[state]
        if total > 0 and link >= 0:
            counts[link] += total
            if first_byte < byte[link]:
                byte[link] = first_byte
                place[link] = first_place
    # downwards: what no longer string was seen of, a shorter one may have been
    for k in range(1, states):
        state = by_length[k]
        if longest[state] == 0 and links[state] > 0:
            link = links[state]
            longest[state] = longest[link]
            counts[state] = counts[link]
            byte[state] = byte[link]
            place[state] = place[link]
