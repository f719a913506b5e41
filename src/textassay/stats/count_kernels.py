"""Compiled statistics of counts by category: ranks, entropies, distances, fits; a row a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel

_SMALL = 4096  # counts below it are sorted by counting


@kernel
def _sort_falling(numbers: Any, size: int) -> None:
    """Sort the first numbers, the largest first (Shell 1959): NumPy's sort takes 3 s to compile."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            number = numbers[i]
            k = i
            while k >= gap and numbers[k - gap] < number:
                numbers[k] = numbers[k - gap]
                k -= gap
            numbers[k] = number
        gap //= 3


@kernel
def by_rank(counts: Any, small: Any, ranked: Any) -> int:
    """Counts above 0 in falling order into `ranked`; returns how many. `small`: int64[4096]."""
    small[:] = 0
    large = 0
    for w in range(counts.size):
        c = counts[w]
        if c >= _SMALL:
            ranked[large] = c
            large += 1
        elif c > 0:
            small[c] += 1
    _sort_falling(ranked, large)
    at = large
    for c in range(_SMALL - 1, 0, -1):
        for _ in range(small[c]):
            ranked[at] = c
            at += 1
    return at


@kernel
def exponent_of(ranked: Any, types: int, logs: Any) -> float:
    """Zipf's exponent of counts by rank, by maximum likelihood; `logs` are those of the ranks.

    Newton's method, kept inside a bracket: the mean logarithm that is expected falls with s, at
    the rate of its variance.
    """
    total, weighted = 0.0, 0.0
    for r in range(types):
        total += ranked[r]
        weighted += ranked[r] * logs[r]
    target = weighted / total
    s, low, high = 1.0, -50.0, 50.0
    for _ in range(100):
        zero, one, two = 0.0, 0.0, 0.0
        for r in range(types):
            weight = np.exp(-s * logs[r])
            zero += weight
            one += weight * logs[r]
            two += weight * logs[r] * logs[r]
        mean = one / zero
        if mean > target:
            low = s
        else:
            high = s
        spread = two / zero - mean * mean
        better = s + (mean - target) / spread if spread > 0.0 else high + 1.0
        if not low < better < high:
            better = (low + high) / 2  # Newton's step would leave what is known
        done = abs(better - s) < 1e-10
        s = better
        if done:
            break
    return s


@kernel
def type_values(counts: Any, logs: Any, out: Any) -> None:
    """For each row of counts by type: Zipf's exponent, KS distance to it, hapax share, entropy.

    `out` float64[R, 4]; entropy in bits. NaN where there is no item, or one type for the exponent.
    """
    small = np.empty(_SMALL, np.int64)
    ranked = np.empty(counts.shape[1], np.int64)
    for r in range(counts.shape[0]):
        types = by_rank(counts[r], small, ranked)
        out[r, :] = np.nan
        if types == 0:
            continue
        total = 0.0
        hapax = 0
        entropy = 0.0
        for k in range(types):
            c = ranked[k]
            total += c
            if c == 1:
                hapax += 1
            else:
                entropy += c * np.log2(c)
        out[r, 2] = hapax / types
        out[r, 3] = max(0.0, np.log2(total) - entropy / total)
        kept = min(types, logs.size)
        if kept < 2:
            continue
        s = exponent_of(ranked, kept, logs)
        out[r, 0] = s
        within, norm = 0.0, 0.0
        for k in range(kept):
            within += ranked[k]
            norm += np.exp(-s * logs[k])
        mine, law, largest = 0.0, 0.0, 0.0
        for k in range(kept):
            mine += ranked[k] / within
            law += np.exp(-s * logs[k]) / norm
            largest = max(largest, abs(mine - law))
        out[r, 1] = largest


@kernel
def entropies(counts: Any, out: Any) -> None:
    """Entropy of each row of counts, in bits; `out` float64[R, 1]."""
    for r in range(counts.shape[0]):
        total, entropy = 0.0, 0.0
        for k in range(counts.shape[1]):
            c = counts[r, k]
            if c > 0:
                total += c
                if c > 1:
                    entropy += c * np.log2(c)
        out[r, 0] = max(0.0, np.log2(total) - entropy / total) if total > 0 else np.nan


@kernel
def type_distances(counts: Any, others: Any, places: Any, out: Any) -> None:
    """For each pair of rows: TVD of types, KS of ranks, difference of shares within ranks.

    `places` are the ranks, from 1, at which the differences of cumulative shares are told; `out`
    float64[R, 2 + places].
    """
    small = np.empty(_SMALL, np.int64)
    ranked = np.empty(counts.shape[1], np.int64)
    other_ranked = np.empty(counts.shape[1], np.int64)
    for r in range(counts.shape[0]):
        mine, theirs = 0.0, 0.0
        for w in range(counts.shape[1]):
            mine += counts[r, w]
            theirs += others[r, w]
        if mine == 0 or theirs == 0:
            out[r, :] = np.nan
            continue
        variation = 0.0
        for w in range(counts.shape[1]):
            variation += abs(counts[r, w] / mine - others[r, w] / theirs)
        out[r, 0] = min(1.0, variation / 2)  # sums of shares may exceed 1 by a last digit
        types = by_rank(counts[r], small, ranked)
        other_types = by_rank(others[r], small, other_ranked)
        difference, largest, at = 0.0, 0.0, 0
        for k in range(max(types, other_types)):
            if k < types:
                difference += ranked[k] / mine
            if k < other_types:
                difference -= other_ranked[k] / theirs
            largest = max(largest, abs(difference))
            if at < places.size and places[at] == k + 1:
                out[r, 2 + at] = difference
                at += 1
        out[r, 2 + at :] = 0.0
        out[r, 1] = min(1.0, largest)


@kernel
def ordered_distances(counts: Any, others: Any, out: Any) -> None:
    """KS distance of each pair of rows of counts of ordered categories; `out` float64[R, 1]."""
    for r in range(counts.shape[0]):
        mine, theirs = 0.0, 0.0
        for k in range(counts.shape[1]):
            mine += counts[r, k]
            theirs += others[r, k]
        if mine == 0 or theirs == 0:
            out[r, 0] = np.nan
            continue
        # sums of whole numbers are exact: equal samples have distance 0
        seen, other_seen, largest = 0.0, 0.0, 0.0
        for k in range(counts.shape[1]):
            seen += counts[r, k]
            other_seen += others[r, k]
            largest = max(largest, abs(seen / mine - other_seen / theirs))
        out[r, 0] = largest


@kernel
def heaps_values(documents: Any, types: Any, logs: Any, out: Any) -> None:
    """Heaps' law for each row of documents and types by length; `out` float64[R, 2]: alpha, beta.

    Newton's method, kept inside a bracket: the mean logarithm of lengths under the weights
    l ** beta grows with beta, at the rate of its variance. NaN where there are fewer than two
    lengths.
    """
    for r in range(documents.shape[0]):
        total, target, lengths = 0.0, 0.0, 0
        for k in range(logs.size):
            if documents[r, k] > 0:
                lengths += 1
                total += types[r, k]
                target += types[r, k] * logs[k]
        out[r, :] = np.nan
        if lengths < 2:
            continue
        target /= total
        beta, low, high = 0.8, -50.0, 50.0
        zero = 0.0
        for _ in range(100):
            zero, one, two = 0.0, 0.0, 0.0
            for k in range(logs.size):
                if documents[r, k] > 0:
                    weight = documents[r, k] * np.exp(beta * logs[k])
                    zero += weight
                    one += weight * logs[k]
                    two += weight * logs[k] * logs[k]
            mean = one / zero
            if mean < target:
                low = beta
            else:
                high = beta
            spread = two / zero - mean * mean
            better = beta + (target - mean) / spread if spread > 0.0 else high + 1.0
            if not low < better < high:
                better = (low + high) / 2
            if abs(better - beta) < 1e-11:
                break
            beta = better
        out[r, 0] = total / zero
        out[r, 1] = beta
