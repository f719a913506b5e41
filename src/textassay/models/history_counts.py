"""Counts of symbols behind histories, as sorted integer arrays, for Kneser-Ney models of any kind.

A training position is a *history* (its most recent symbol first), a *kind* of history and the
symbol that follows. Histories of a kind form a tree: the empty one is the root, the children of a
history are those with one more, earlier symbol. So a symbol's probability behind a history is found
on one path down the tree, and backing off is going up.

Words have one kind of history. A model of words and characters has two, word-boundary and
word-internal, and nothing else changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError

_FALLBACK_DISCOUNT = 0.5


@dataclass(frozen=True, eq=False)
class HistoryCounts:
    """The tree of histories with the symbols behind each.

    Contexts (histories) are numbered level by level, roots first, children of a context one behind
    the other and sorted by their symbol; so are the symbols behind a context.

    Attributes
    ----------
    order : int
        Longest history plus one.
    n_symbols, n_kinds : int
    levels : int64[order + 1]
        Contexts of length k are levels[k] .. levels[k + 1] - 1.
    context_symbols : int32[C]
        The earliest symbol of each context; -1 for roots.
    first_child : int64[C + 1]
        Children of context c are first_child[c] .. first_child[c + 1] - 1.
    first_pair : int64[C + 1]
        The same for the symbols behind it.
    pair_symbols : int32[P]
    pair_counts : int64[P]
        How often (longest histories), or behind how many different longer histories (all others),
        the symbol stands: the counts of Kneser and Ney 1995.
    """

    order: int
    n_symbols: int
    n_kinds: int
    levels: NDArray[np.int64]
    context_symbols: NDArray[np.int32]
    first_child: NDArray[np.int64]
    first_pair: NDArray[np.int64]
    pair_symbols: NDArray[np.int32]
    pair_counts: NDArray[np.int64]


def count_histories(
    histories: NDArray[np.integer],
    symbols: NDArray[np.integer],
    n_symbols: int,
    kinds: NDArray[np.integer] | None = None,
) -> HistoryCounts:
    """Count. Cost: two sorts of N 64-bit keys for each order; some 100 bytes a position.

    Parameters
    ----------
    histories : int[order - 1, N]
        Row k - 1 holds the symbol k places before each position.
    symbols : int[N]
        What follows.
    n_symbols : int
        All symbols are below it.
    kinds : int[N], optional
        The kind of each history, from 0.

    Raises
    ------
    UsageError
        If there is no position.
    """
    if not symbols.size:
        raise UsageError("the training text holds no token")
    order = len(histories) + 1
    n_kinds = 1 if kinds is None else int(kinds.max()) + 1
    follows = symbols.astype(np.int64)
    context = np.zeros(symbols.size, np.int64) if kinds is None else kinds.astype(np.int64)
    context_symbols = [np.full(n_kinds, -1, np.int32)]
    child_counts: list[NDArray[np.int64]] = []
    pair_counts: list[NDArray[np.int64]] = []
    pairs_of_context: list[NDArray[np.int64]] = []
    pair_symbols: list[NDArray[np.int32]] = []
    size = n_kinds
    shorter: NDArray[np.int64] | None = None
    for k in range(order):
        keys, first, pair, raw = np.unique(
            context * n_symbols + follows,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        pair_symbols.append((keys % n_symbols).astype(np.int32))
        pairs_of_context.append(np.bincount(keys // n_symbols, minlength=size))
        pair_counts.append(raw)
        if shorter is not None:
            # behind how many longer histories the shorter history's symbol stands
            pair_counts[k - 1] = np.bincount(shorter[first], minlength=pair_counts[k - 1].size)
        shorter = pair
        if k + 1 < order:
            children, context = np.unique(context * n_symbols + histories[k], return_inverse=True)
            context_symbols.append((children % n_symbols).astype(np.int32))
            child_counts.append(np.bincount(children // n_symbols, minlength=size))
            size = children.size
    child_counts.append(np.zeros(size, np.int64))
    levels = np.concatenate([[0], np.cumsum([part.size for part in context_symbols])])
    first_child = levels[1] + np.concatenate([[0], np.cumsum(np.concatenate(child_counts))])
    return HistoryCounts(
        order=order,
        n_symbols=n_symbols,
        n_kinds=n_kinds,
        levels=levels.astype(np.int64),
        context_symbols=np.concatenate(context_symbols),
        first_child=first_child.astype(np.int64),
        first_pair=np.concatenate([[0], np.cumsum(np.concatenate(pairs_of_context))]).astype(
            np.int64
        ),
        pair_symbols=np.concatenate(pair_symbols),
        pair_counts=np.concatenate(pair_counts).astype(np.int64),
    )


def estimate_discounts(counts: HistoryCounts) -> NDArray[np.float64]:
    """n1 / (n1 + 2 n2) for each length of history (Ney, Essen and Kneser 1994), float64[order]."""
    ends = counts.first_pair[counts.levels[1:]]
    discounts = np.full(counts.order, _FALLBACK_DISCOUNT)
    begin = 0
    for k, end in enumerate(ends.tolist()):
        once, twice = (int((counts.pair_counts[begin:end] == c).sum()) for c in (1, 2))
        if once and twice:
            discounts[k] = once / (once + 2 * twice)
        begin = end
    return discounts
