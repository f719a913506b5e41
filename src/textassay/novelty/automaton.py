"""The suffix automaton of all generated documents, ready to be matched against training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus

_STEP = 1 << 18  # tokens entered by one kernel call


@dataclass(frozen=True, eq=False)
class Automaton:
    """States of the substrings of the documents of several corpora.

    Attributes
    ----------
    matcher : novelty.transition_kernels.Matcher
        The arrays that the matching kernels read.
    lengths, links : int32[states]
        Longest string of each state; suffix link (-1 at the root, state 0).
    prefix_states : list of int32[N]
        For each corpus, the state of the prefix that ends at each token.
    longest_document : int
        Tokens of the longest document: no match is longer.
    """

    matcher: Any
    lengths: NDArray[np.int32]
    links: NDArray[np.int32]
    prefix_states: list[NDArray[np.int32]]
    longest_document: int

    @property
    def size(self) -> int:
        """Number of states."""
        return self.lengths.size

    @cached_property
    def by_length(self) -> NDArray[np.int32]:
        """States by growing length, int32[states]: every state stands behind its link."""
        return np.argsort(self.lengths, kind="stable").astype(np.int32)


def build_automaton(corpora: Sequence[Corpus]) -> Automaton:
    """Automaton of all documents, prompts included. Cost: some 0.4 us and 150 bytes a token.

    Texts that follow a prompt are entered once more by themselves, so that a copy that is cut at
    the beginning of the text is a state of its own, with its own count and place.
    """
    from textassay.novelty import automaton_kernels as kernels

    longest = max((int(np.diff(c.offsets).max(initial=0)) for c in corpora), default=0)
    types = max((len(c.vocabulary) for c in corpora), default=0)
    tokens = sum(c.tokens.size for c in corpora)
    margin = types + longest + 2
    graph = _new_graph(states=tokens + tokens // 2 + 16, edges=2 * tokens + margin)
    kernels.start_over(graph)
    prefix_states = []
    for corpus in corpora:
        states = np.empty(corpus.tokens.size, np.int32)
        begins, ends = corpus.offsets[:-1], corpus.offsets[1:]
        graph = _enter(graph, corpus.tokens, begins, ends, states, margin)
        prompted = corpus.prompt_lengths > 0
        if prompted.any():
            inner = (begins + corpus.prompt_lengths)[prompted]
            scratch = np.empty_like(states)
            graph = _enter(graph, corpus.tokens, inner, ends[prompted], scratch, margin)
        prefix_states.append(states)
    return _compact(graph, types, prefix_states, longest)


def context_lengths(corpus: Corpus) -> NDArray[np.int32]:
    """For each token, the longest suffix that also ends earlier in its document, int32[N].

    Overlap is allowed: "a a a a" gives 0 1 2 3. Cost: linear, some 0.3 us a token.
    """
    from textassay.novelty import automaton_kernels as kernels

    longest = int(np.diff(corpus.offsets).max(initial=0))
    graph = _new_graph(states=2 * longest + 2, edges=3 * longest + 4)
    lengths = np.zeros(corpus.tokens.size, np.int32)
    document, token, state = 0, -1, 0
    while document < len(corpus):
        document, token, state = kernels.context_lengths(
            graph, corpus.tokens, corpus.offsets, document, token, state, lengths, _STEP
        )
    return lengths


def _new_graph(states: int, edges: int) -> Any:
    from textassay.novelty import automaton_kernels as kernels

    keys, shift = _new_table(2 * edges)
    return kernels.Graph(
        keys=keys,
        numbers=np.empty(keys.size, np.int32),
        shift=shift,
        edges=np.empty((edges, 4), np.int32),
        first_edge=np.empty(states, np.int32),
        lengths=np.empty(states, np.int32),
        links=np.empty(states, np.int32),
        used=np.zeros(2, np.int64),
    )


def _new_table(slots: int) -> tuple[NDArray[np.uint64], np.uint64]:
    from textassay.novelty.automaton_kernels import NO_EDGE

    bits = max(3, int(slots - 1).bit_length())
    return np.full(1 << bits, NO_EDGE, np.uint64), np.uint64(64 - bits)


def _enter(
    graph: Any,
    tokens: NDArray[np.int32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    prefix_states: NDArray[np.int32],
    margin: int,
) -> Any:
    from textassay.novelty import automaton_kernels as kernels

    document, token, state = 0, -1, 0
    while document < begins.size:
        if graph.used[0] + 2 > graph.lengths.size or graph.used[1] + margin > len(graph.edges):
            graph = _grown(graph, margin)
        document, token, state = kernels.enter_documents(
            graph, tokens, begins, ends, document, token, state, prefix_states, margin, _STEP
        )
    return graph


def _grown(graph: Any, margin: int) -> Any:
    from textassay.novelty import automaton_kernels as kernels

    states, edges = (int(number) for number in graph.used)
    bigger = _new_graph(2 * states + 16, edges + edges // 2 + 2 * margin)
    bigger.edges[:edges] = graph.edges[:edges]
    for name in ("first_edge", "lengths", "links"):
        getattr(bigger, name)[:states] = getattr(graph, name)[:states]
    bigger.used[:] = graph.used
    for begin in range(0, states, _STEP):
        kernels.reenter_edges(bigger, begin, min(begin + _STEP, states))
    return bigger


def _compact(
    graph: Any, types: int, prefix_states: list[NDArray[np.int32]], longest: int
) -> Automaton:
    from textassay.novelty import transition_kernels as kernels

    states = int(graph.used[0])
    first = graph.first_edge[:states]
    several = np.zeros(states, np.bool_)
    several[first >= 0] = graph.edges[first[first >= 0], 2] >= 0
    several[0] = True
    # states with several edges first, short strings (the busy ones) before long ones
    order = np.lexsort((graph.lengths[:states], ~several)).astype(np.int32)
    rank = np.empty(states, np.int32)
    rank[order] = np.arange(states, dtype=np.int32)
    rows = aligned(kernels.ROW * states, np.int32)
    rows[:] = 0
    root_targets = np.zeros(types, np.int32)
    kernels.fill_rows(graph, order, rank, rows, root_targets)
    in_table = int(graph.used[1]) - int((first >= 0).sum() - several.sum())
    groups = max(1, int(in_table / _LOAD) - 1).bit_length()
    while True:
        matcher = _new_matcher(rows, root_targets, groups)
        if kernels.fill_table(graph, order, rank, int(several.sum()), matcher):
            break
        groups += 1
    links = graph.links[order]
    return Automaton(
        matcher=matcher,
        lengths=graph.lengths[order],
        links=np.where(links >= 0, rank[links], -1).astype(np.int32),
        prefix_states=[rank[part] for part in prefix_states],
        longest_document=longest,
    )


_LOAD = 1.6  # entries in a group of four: one group in twelve is full then


def _new_matcher(rows: NDArray[np.int32], root_targets: NDArray[np.int32], group_bits: int) -> Any:
    """A matcher with an empty table of 2 ** group_bits groups, or more where a check asks it."""
    from textassay.novelty import transition_kernels as kernels

    token_bits = max(1, root_targets.size - 1).bit_length()
    width = token_bits + max(1, rows.size // kernels.ROW - 1).bit_length()
    group_bits = min(width, max(group_bits, width - kernels.CHECK_BITS))
    table = aligned(kernels.GROUP << group_bits, np.uint64)
    table[:] = kernels.EMPTY
    check_bits = width - group_bits
    return kernels.Matcher(
        rows,
        root_targets,
        table,
        np.uint64(token_bits),
        np.uint64(width // 2),
        np.uint64((1 << width) - 1),
        np.uint64(check_bits),
        np.uint64((1 << check_bits) - 1),
    )


_LINE = 64  # bytes of a cache line


def aligned(size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """An array, not filled, that begins where a cache line begins."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(size * item + _LINE, np.uint8)
    begin = -raw.ctypes.data % _LINE
    return raw[begin : begin + size * item].view(dtype)
