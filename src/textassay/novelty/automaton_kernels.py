"""Compiled suffix automaton: built over the generated documents, one state a set of suffixes.

Blumer et al. 1985, "The smallest automaton recognizing the subwords of a text". Every state holds
the strings that end at the same places of the documents: lengths from one more than its link's to
its own, all suffixes of one another; its suffix link leads to the next shorter such set. Several
documents are entered one after the other, each from the root, so that no string runs across two of
them (the *generalised* automaton).

Edges live in one open-addressing table from ``state << 32 | token`` to the edge's number, and in a
list per state, which is needed to copy a state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textassay.compiled import kernel

NO_EDGE = np.uint64(0xFFFFFFFFFFFFFFFF)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Graph(NamedTuple):
    """The arrays of an automaton under construction."""

    keys: Any  # uint64[power of two]: table of edges, NO_EDGE where empty
    numbers: Any  # int32[same]: the edge's number
    shift: Any  # uint64: 64 - log2(size of the table)
    edges: Any  # int32[edges, 4]: token, target, next edge of the same state or -1, its slot
    first_edge: Any  # int32[states]
    lengths: Any  # int32[states]: of the longest string
    links: Any  # int32[states]: suffix link, -1 at the root
    used: Any  # int64[2]: states, edges


@kernel
def edge_key(state: int, token: int) -> Any:
    """The key of an edge in the table."""
    return (np.uint64(state) << np.uint64(32)) | np.uint64(np.uint32(token))


@kernel
def edge_slot(key: Any, shift: Any) -> int:
    """Where the search for an edge begins."""
    return np.int64(((key ^ (key >> np.uint64(29))) * MULTIPLIER) >> shift)


@kernel
def _find_edge(graph: Any, state: int, token: int) -> int:
    key = edge_key(state, token)
    slot = edge_slot(key, graph.shift)
    last = graph.keys.size - 1
    while True:
        here = graph.keys[slot]
        if here == key:
            return graph.numbers[slot]
        if here == NO_EDGE:
            return -1
        slot = (slot + 1) & last


@kernel
def _enter_edge(graph: Any, state: int, number: int) -> None:
    key = edge_key(state, graph.edges[number, 0])
    slot = edge_slot(key, graph.shift)
    last = graph.keys.size - 1
    while graph.keys[slot] != NO_EDGE:
        slot = (slot + 1) & last
    graph.keys[slot] = key
    graph.numbers[slot] = number
    graph.edges[number, 3] = slot


@kernel
def _add_edge(graph: Any, state: int, token: int, target: int) -> None:
    number = graph.used[1]
    graph.used[1] += 1
    graph.edges[number, 0] = token
    graph.edges[number, 1] = target
    graph.edges[number, 2] = graph.first_edge[state]
    graph.first_edge[state] = number
    _enter_edge(graph, state, number)


@kernel
def reenter_edges(graph: Any, begin: int, end: int) -> None:
    """Enter the edges of the states begin..end into an empty, larger table."""
    for state in range(begin, end):
        number = graph.first_edge[state]
        while number >= 0:
            _enter_edge(graph, state, number)
            number = graph.edges[number, 2]


@kernel
def _new_state(graph: Any, length: int) -> int:
    state = graph.used[0]
    graph.used[0] += 1
    graph.lengths[state] = length
    graph.first_edge[state] = -1
    return state


@kernel
def _split(graph: Any, original: int, parent: int, token: int) -> int:
    """Take the strings of `original` that are parent's longest plus one token into their own."""
    clone = _new_state(graph, graph.lengths[parent] + 1)
    graph.links[clone] = graph.links[original]
    number = graph.first_edge[original]
    while number >= 0:
        _add_edge(graph, clone, graph.edges[number, 0], graph.edges[number, 1])
        number = graph.edges[number, 2]
    graph.links[original] = clone
    state = parent
    while state >= 0:
        number = _find_edge(graph, state, token)
        if number < 0 or graph.edges[number, 1] != original:
            break
        graph.edges[number, 1] = clone
        state = graph.links[state]
    return clone


@kernel
def _enter_token(graph: Any, last_state: int, token: int) -> int:
    """Enter one more token behind the string of `last_state`; the state of the longer string."""
    number = _find_edge(graph, last_state, token)
    if number >= 0:
        target = graph.edges[number, 1]
        if graph.lengths[target] == graph.lengths[last_state] + 1:
            return target
        return _split(graph, target, last_state, token)
    new = _new_state(graph, graph.lengths[last_state] + 1)
    state = last_state
    while state >= 0:
        number = _find_edge(graph, state, token)
        if number >= 0:
            break
        _add_edge(graph, state, token, new)
        state = graph.links[state]
    if state < 0:
        graph.links[new] = 0
        return new
    target = graph.edges[number, 1]
    if graph.lengths[target] != graph.lengths[state] + 1:
        target = _split(graph, target, state, token)
    graph.links[new] = target
    return new


@kernel
def start_over(graph: Any) -> None:
    """Leave the root alone in an automaton whose table holds no other edges than its own."""
    for number in range(graph.used[1]):
        graph.keys[graph.edges[number, 3]] = NO_EDGE
    graph.used[0] = 0
    graph.used[1] = 0
    _new_state(graph, 0)
    graph.links[0] = -1


@kernel
def enter_documents(
    graph: Any,
    tokens: Any,
    begins: Any,
    ends: Any,
    document: int,
    token: int,
    state: int,
    prefix_states: Any,
    margin: int,
    most: int,
) -> tuple[int, int, int]:
    """Enter tokens[begins[d]:ends[d]] of each document, up to `most` tokens or a full array.

    `margin` bounds the edges that one token can add: the number of different tokens plus the
    length of the longest document. Returns document, token and state to go on with.
    """
    done = 0
    while document < begins.size:
        if token < 0:
            token = begins[document]
            state = 0
        while token < ends[document]:
            if (
                done >= most
                or graph.used[0] + 2 > graph.lengths.size
                or graph.used[1] + margin > graph.edges.shape[0]
            ):
                return document, token, state
            state = _enter_token(graph, state, tokens[token])
            prefix_states[token] = state
            token += 1
            done += 1
        document += 1
        token = -1
    return document, token, state


@kernel
def context_lengths(
    graph: Any,
    tokens: Any,
    offsets: Any,
    document: int,
    token: int,
    state: int,
    lengths: Any,
    most: int,
) -> tuple[int, int, int]:
    """For each token, the longest suffix that also ends earlier in its document.

    While the automaton of one document grows, it is the length of the suffix link of the newest
    prefix. `graph` must hold the longest document (2 states, 3 edges a token). Returns document,
    token and state to go on with after about `most` tokens.
    """
    done = 0
    while document < offsets.size - 1 and done < most:
        if token < 0:
            start_over(graph)
            token = offsets[document]
            state = 0
        while token < offsets[document + 1]:
            if done >= most:
                return document, token, state
            state = _enter_token(graph, state, tokens[token])
            lengths[token] = graph.lengths[graph.links[state]]
            token += 1
            done += 1
        document += 1
        token = -1
    return document, token, state
