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
def distribution(tree: Any, path: Any, depth: int, out: Any) -> None:
    """p of every symbol behind a history, interpolated from the root down the path."""
    out[:] = 0.0
    out[tree.unknown] = tree.shared
    for k in range(depth):
        context = path[k]
        total = tree.totals[context]
        if total == 0:
            continue
        if k > 0:
            out *= back_off(tree, context, k)
        for pair in range(tree.first_pair[context], tree.first_pair[context + 1]):
            out[tree.pair_symbols[pair]] += (tree.pair_counts[pair] - tree.discounts[k]) / total


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
    """A decoding other than ancestral, with lists of each context's symbols, made when needed.

    The symbols behind a history also stand behind every shorter one. So a distribution is a merge
    of one sorted list for each length of history, each without the symbols of the next longer one.
    """

    exponent: float  # 1 / temperature
    top_k: int  # 0: no limit
    top_p: float
    ready: Any  # uint8[C]
    probabilities: Any  # float64[P]: interpolated, at the pair's own history
    order: Any  # int32[P]: pairs of each context by falling probability
    running: Any  # float64[P]: sums of probability ** exponent in this order, within the context
    own: Any  # float64[C]: sum over the context's symbols
    shorter: Any  # float64[C]: the same with the probabilities of the next shorter history
    first_other: Any  # int64[C]: first of the next shorter history's list that is not in this one


@kernel
def _stands_behind(tree: Any, context: int, symbol: int) -> bool:
    begin, end = tree.first_pair[context], tree.first_pair[context + 1]
    return _find(tree.pair_symbols, begin, end, symbol) >= 0


@kernel
def _prepare(tree: Any, cut: Any, path: Any, depth: int) -> None:
    for k in range(depth):
        context = path[k]
        if cut.ready[context]:
            continue
        begin, end = tree.first_pair[context], tree.first_pair[context + 1]
        total = tree.totals[context]
        share = back_off(tree, context, k) if k > 0 else 0.0
        negative = np.empty(end - begin, np.float64)
        shorter = 0.0
        for pair in range(begin, end):
            p = (tree.pair_counts[pair] - tree.discounts[k]) / total
            if k > 0:
                parent = path[k - 1]
                below = _find(
                    tree.pair_symbols,
                    tree.first_pair[parent],
                    tree.first_pair[parent + 1],
                    tree.pair_symbols[pair],
                )
                p += share * cut.probabilities[below]
                shorter += cut.probabilities[below] ** cut.exponent
            cut.probabilities[pair] = p
            negative[pair - begin] = -p
        # stable: ties go to the smaller symbol
        order = np.argsort(negative, kind="mergesort")
        running = 0.0
        for j in range(end - begin):
            pair = begin + order[j]
            cut.order[begin + j] = pair
            running += cut.probabilities[pair] ** cut.exponent
            cut.running[begin + j] = running
        cut.own[context] = running
        cut.shorter[context] = shorter
        if k > 0:
            parent = path[k - 1]
            other, last = tree.first_pair[parent], tree.first_pair[parent + 1]
            if last - other == end - begin:  # the same symbols
                other = last
            while other < last and _stands_behind(
                tree, context, tree.pair_symbols[cut.order[other]]
            ):
                other += 1
            cut.first_other[context] = other
        cut.ready[context] = 1


@kernel
def _draw_cut(
    tree: Any, cut: Any, path: Any, depth: int, scales: Any, chosen: Any, weights: Any, state: Any
) -> int:
    """A symbol from the sharpened, cut and renormalised distribution of known words."""
    _prepare(tree, cut, path, depth)
    scales[depth - 1] = 1.0
    for k in range(depth - 1, 0, -1):
        scales[k - 1] = scales[k] * back_off(tree, path[k], k)
    total = 0.0
    for k in range(depth):
        mine = cut.own[path[k]]
        if k + 1 < depth:
            mine -= cut.shorter[path[k + 1]]
        total += scales[k] ** cut.exponent * max(0.0, mine)
    if cut.top_k == 0 and cut.top_p >= 1.0 and total > 0.0:
        return _draw_tempered(tree, cut, path, depth, scales, total, state)
    limit = cut.top_p * total if cut.top_k == 0 else np.inf
    taken, mass = _list_best(tree, cut, path, depth, scales, limit, chosen, weights)
    if cut.top_k > 0 and cut.top_p < 1.0:
        limit = cut.top_p * mass
        mass = 0.0
        kept = 0
        while kept < taken and mass < limit:
            mass += weights[kept]
            kept += 1
        taken = kept
    u = _uniform(state) * mass
    for j in range(taken):
        u -= weights[j]
        if u < 0.0:
            return chosen[j]
    return chosen[max(taken - 1, 0)]


@kernel
def _draw_tempered(
    tree: Any, cut: Any, path: Any, depth: int, scales: Any, total: float, state: Any
) -> int:
    """First a length of history, then one of its symbols that no longer history has."""
    while True:
        u = _uniform(state) * total
        k = depth - 1
        while k > 0:
            mine = cut.own[path[k]]
            if k + 1 < depth:
                mine -= cut.shorter[path[k + 1]]
            u -= scales[k] ** cut.exponent * max(0.0, mine)
            if u < 0.0:
                break
            k -= 1
        begin, end = tree.first_pair[path[k]], tree.first_pair[path[k] + 1]
        for _ in range(1000):
            u = _uniform(state) * cut.own[path[k]]
            place = begin + np.searchsorted(cut.running[begin:end], u, side="right")
            symbol = tree.pair_symbols[cut.order[min(place, end - 1)]]
            if k + 1 == depth or not _stands_behind(tree, path[k + 1], symbol):
                return symbol


@kernel
def _list_best(
    tree: Any,
    cut: Any,
    path: Any,
    depth: int,
    scales: Any,
    limit: float,
    chosen: Any,
    weights: Any,
) -> tuple[int, float]:
    """The most probable symbols, up to `top_k` of them or until their mass reaches `limit`."""
    at = np.empty(depth, np.int64)
    for k in range(depth):
        at[k] = tree.first_pair[path[k]] if k + 1 == depth else cut.first_other[path[k + 1]]
    most = cut.top_k if cut.top_k > 0 else chosen.size
    taken = 0
    mass = 0.0
    while taken < most and (mass < limit or taken == 0):
        best, best_symbol, best_k = -1.0, -1, -1
        for k in range(depth):
            end = tree.first_pair[path[k] + 1]
            if k + 1 < depth:
                while at[k] < end and _stands_behind(
                    tree, path[k + 1], tree.pair_symbols[cut.order[at[k]]]
                ):
                    at[k] += 1
            if at[k] == end:
                continue
            p = scales[k] * cut.probabilities[cut.order[at[k]]]
            symbol = tree.pair_symbols[cut.order[at[k]]]
            if p > best or (p == best and symbol < best_symbol):
                best, best_symbol, best_k = p, symbol, k
        if best_k < 0:
            break
        at[best_k] += 1
        chosen[taken] = best_symbol
        weights[taken] = best**cut.exponent
        mass += weights[taken]
        taken += 1
    return taken, mass


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
    chosen: Any,
    weights: Any,
    out: Any,
    sizes: Any,
) -> None:
    """Texts number first..last into the rows of `out`, each by its own random stream.

    `chosen` (int32) and `weights` (float64) hold one number for each symbol.
    """
    history = np.empty(order - 1, np.int64)
    path = np.empty(order, np.int64)
    scales = np.empty(order, np.float64)
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
                symbol = _draw_cut(tree, cut, path, depth, scales, chosen, weights, state)
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
