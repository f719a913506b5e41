"""Compiled scoring and sampling of interpolated Kneser-Ney models on a tree of histories."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from textassay.compiled import kernel
from textassay.stats.draw_kernels import mix, stream_of


class Tree(NamedTuple):
    """The arrays of a model; see `HistoryCounts` for the first five."""

    context_symbols: Any
    first_child: Any
    first_pair: Any
    pair_symbols: Any
    pair_counts: Any
    cumulated: Any  # int64[P]: counts up to and with this one, within its context
    totals: Any  # int64[C]: sum of counts
    discounts: Any  # float64[order]: by length of the history
    unknown: Any  # int64: the symbol of unknown words
    shared: Any  # float64: what the root leaves for them


@kernel
def _find(symbols: Any, begin: int, end: int, symbol: int) -> int:
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if symbols[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < end and symbols[low] == symbol else -1


@kernel
def find_path(tree: Any, kind: int, history: Any, path: Any) -> int:
    """Contexts from the root to the longest known history; returns how many.

    `history`: most recent symbol first.
    """
    path[0] = kind
    depth = 1
    while depth <= history.size and depth < path.size:
        parent = path[depth - 1]
        child = _find(
            tree.context_symbols,
            tree.first_child[parent],
            tree.first_child[parent + 1],
            history[depth - 1],
        )
        if child < 0:
            break
        path[depth] = child
        depth += 1
    return depth


@kernel
def back_off(tree: Any, context: int, length: int) -> float:
    """Share of probability that a context leaves to the next shorter one."""
    if tree.totals[context] == 0:
        return 1.0
    followers = tree.first_pair[context + 1] - tree.first_pair[context]
    return tree.discounts[length] * followers / tree.totals[context]


@kernel
def probability(tree: Any, path: Any, depth: int, symbol: int) -> float:
    """p(symbol | history), interpolated from the root down the path."""
    p = tree.shared if symbol == tree.unknown else 0.0
    for k in range(depth):
        context = path[k]
        total = tree.totals[context]
        if total == 0:
            continue
        if k > 0:
            p *= back_off(tree, context, k)
        found = _find(
            tree.pair_symbols, tree.first_pair[context], tree.first_pair[context + 1], symbol
        )
        if found >= 0:
            p += (tree.pair_counts[found] - tree.discounts[k]) / total
    return p


@kernel
def score(
    tree: Any, order: int, begin_symbol: int, symbols: Any, offsets: Any, prompts: Any, out: Any
) -> None:
    """Natural-log probabilities of symbols[offsets[d] + prompts[d] : offsets[d + 1]].

    `out` holds one number for each symbol, prompts' ones stay untouched.
    """
    history = np.empty(order - 1, np.int64)
    path = np.empty(order, np.int64)
    for d in range(offsets.size - 1):
        history[:] = begin_symbol
        for i in range(offsets[d], offsets[d + 1]):
            if i >= offsets[d] + prompts[d]:
                depth = find_path(tree, 0, history, path)
                out[i] = np.log(probability(tree, path, depth, symbols[i]))
            for k in range(order - 2, 0, -1):
                history[k] = history[k - 1]
            if order > 1:
                history[0] = symbols[i]


@kernel
def _uniform(state: Any) -> float:
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    return (mix(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def _draw(tree: Any, path: Any, depth: int, state: Any) -> int:
    """A symbol from the model's own distribution, unknown words left out.

    Descends from the longest history: its own share is drawn from its counts less the discount,
    the rest is drawn from the next shorter one.
    """
    while True:
        for k in range(depth - 1, -1, -1):
            context = path[k]
            total = tree.totals[context]
            if total == 0:
                continue
            begin, end = tree.first_pair[context], tree.first_pair[context + 1]
            discount = tree.discounts[k]
            u = _uniform(state) * total
            if u < total - discount * (end - begin):
                low, high = begin, end - 1
                while low < high:
                    middle = (low + high) >> 1
                    if tree.cumulated[middle] - discount * (middle - begin + 1) <= u:
                        low = middle + 1
                    else:
                        high = middle
                return tree.pair_symbols[low]
        # what the root leaves is for unknown words: draw anew


class Cut(NamedTuple):
    """A decoding other than ancestral, and what it needs of the root's distribution."""

    root: Any  # float64[symbols]: root probabilities, 0 for unknown words
    root_order: Any  # int32[known symbols]: by falling root probability
    powers: Any  # float64[known symbols + 1]: sums of (root / largest) ** exponent before a place
    exponent: float  # 1 / temperature
    top_k: int  # 0: no limit
    top_p: float


class Scratch(NamedTuple):
    """Memory that draws share; `weights` is all zero between them."""

    weights: Any  # float64[symbols]
    seen: Any  # int32[symbols]
    chosen: Any  # int32[symbols]
    chosen_weights: Any  # float64[symbols]


@kernel
def _gather(tree: Any, path: Any, depth: int, scratch: Any) -> tuple[int, float]:
    """Symbols that stand behind any context but the root, with what these contexts give them.

    Fills `weights` and `seen`. Returns how many there are, and the share of its root probability
    that every symbol gets beside.
    """
    weights, seen = scratch.weights, scratch.seen
    count = 0
    scale = 1.0
    for k in range(1, depth):
        context = path[k]
        total = tree.totals[context]
        if total == 0:
            continue
        share = back_off(tree, context, k)
        for j in range(count):
            weights[seen[j]] *= share
        for pair in range(tree.first_pair[context], tree.first_pair[context + 1]):
            symbol = tree.pair_symbols[pair]
            if weights[symbol] == 0.0:
                seen[count] = symbol
                count += 1
                # the smallest part, so that a part of zero is still known to have been seen
                weights[symbol] = 1e-300
            weights[symbol] += (tree.pair_counts[pair] - tree.discounts[k]) / total
        scale *= share
    return count, scale


@kernel
def _draw_cut(tree: Any, path: Any, depth: int, cut: Any, scratch: Any, state: Any) -> int:
    """A symbol from the sharpened, cut and renormalised distribution.

    Only symbols seen behind longer histories are looked at one by one; all others keep the order
    of the root, which is known beforehand.
    """
    weights, seen = scratch.weights, scratch.seen
    count, scale = _gather(tree, path, depth, scratch)
    root, root_order = cut.root, cut.root_order
    largest = scale * root[root_order[0]]
    for j in range(count):
        weights[seen[j]] += scale * root[seen[j]]
        largest = max(largest, weights[seen[j]])
    total = 0.0
    of_root = cut.powers[root_order.size]
    unit = root[root_order[0]]
    for j in range(count):
        total += (weights[seen[j]] / largest) ** cut.exponent
        of_root -= (root[seen[j]] / unit) ** cut.exponent
    rest = (scale * unit / largest) ** cut.exponent
    total += rest * max(0.0, of_root)
    if cut.top_k == 0 and cut.top_p >= 1.0:
        result = _draw_tempered(cut, scratch, count, largest, total, rest, state)
    else:
        result = _draw_listed(cut, scratch, count, scale, largest, total, state)
    for j in range(count):
        weights[seen[j]] = 0.0
    return result


@kernel
def _draw_tempered(
    cut: Any, scratch: Any, count: int, largest: float, total: float, rest: float, state: Any
) -> int:
    weights, seen = scratch.weights, scratch.seen
    u = _uniform(state) * total
    for j in range(count):
        u -= (weights[seen[j]] / largest) ** cut.exponent
        if u < 0.0:
            return seen[j]
    if rest * cut.powers[cut.root_order.size] <= 0.0:
        return seen[count - 1]
    # one of the others, by the root's order, until it is none of those seen
    while True:
        u = _uniform(state) * cut.powers[cut.root_order.size]
        place = np.searchsorted(cut.powers, u, side="right") - 1
        symbol = cut.root_order[min(place, cut.root_order.size - 1)]
        if weights[symbol] == 0.0:
            return symbol
        if count >= cut.root_order.size:
            return seen[count - 1]


@kernel
def _draw_listed(
    cut: Any, scratch: Any, count: int, scale: float, largest: float, total: float, state: Any
) -> int:
    weights, seen = scratch.weights, scratch.seen
    chosen, chosen_weights = scratch.chosen, scratch.chosen_weights
    root, root_order = cut.root, cut.root_order
    mine = np.empty(count, np.float64)
    for j in range(count):
        mine[j] = -weights[seen[j]]
    order = np.argsort(mine)
    taken = 0
    mass = 0.0
    limit = cut.top_p * total if cut.top_k == 0 else np.inf
    a, b = 0, 0
    most = cut.top_k if cut.top_k > 0 else chosen.size
    while taken < most and mass < limit:
        while b < root_order.size and weights[root_order[b]] > 0.0:
            b += 1
        first = weights[seen[order[a]]] if a < count else -1.0
        second = scale * root[root_order[b]] if b < root_order.size else -1.0
        if first < 0.0 and second < 0.0:
            break
        if first > second or (first == second and seen[order[a]] < root_order[b]):
            chosen[taken] = seen[order[a]]
            chosen_weights[taken] = (first / largest) ** cut.exponent
            a += 1
        else:
            chosen[taken] = root_order[b]
            chosen_weights[taken] = (second / largest) ** cut.exponent
            b += 1
        mass += chosen_weights[taken]
        taken += 1
    if cut.top_k > 0 and cut.top_p < 1.0:
        limit = cut.top_p * mass
        mass = 0.0
        kept = 0
        while kept < taken and mass < limit:
            mass += chosen_weights[kept]
            kept += 1
        taken = kept
    u = _uniform(state) * mass
    for j in range(taken):
        u -= chosen_weights[j]
        if u < 0.0:
            return chosen[j]
    return chosen[taken - 1]


@kernel
def sample(
    tree: Any,
    order: int,
    begin_symbol: int,
    end_symbol: int,
    prompts: Any,
    prompt_offsets: Any,
    first: int,
    last: int,
    most: int,
    key: Any,
    is_cut: bool,
    cut: Any,
    scratch: Any,
    out: Any,
    sizes: Any,
) -> None:
    """Texts number first..last into the rows of `out`, each by its own random stream."""
    history = np.empty(order - 1, np.int64)
    path = np.empty(order, np.int64)
    state = np.empty(1, np.uint64)
    for d in range(first, last):
        state[0] = stream_of(key, d)
        history[:] = begin_symbol
        for i in range(prompt_offsets[d], prompt_offsets[d + 1]):
            for k in range(order - 2, 0, -1):
                history[k] = history[k - 1]
            if order > 1:
                history[0] = prompts[i]
        size = 0
        while size < most:
            depth = find_path(tree, 0, history, path)
            if is_cut:
                symbol = _draw_cut(tree, path, depth, cut, scratch, state)
            else:
                symbol = _draw(tree, path, depth, state)
            if symbol == end_symbol:
                break
            out[d - first, size] = symbol
            size += 1
            for k in range(order - 2, 0, -1):
                history[k] = history[k - 1]
            if order > 1:
                history[0] = symbol
        sizes[d - first] = size
