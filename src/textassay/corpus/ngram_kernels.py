"""Compiled numbering of n-grams, and their counts by document.

All functions work on documents first .. last - 1 and go on where the call before ended, so that
each call is short.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel
from textassay.memory_kernels import prefetch

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_AHEAD = 12  # n-grams whose place in the table is asked for before they are looked up


@kernel
def number_types(
    tokens: Any, first: int, last: int, number_of: Any, ids: Any, counts: Any, known: int
) -> int:
    """Number tokens first .. last - 1 by first appearance; returns how many types there are."""
    for i in range(first, last):
        token = np.uint64(tokens[np.uint64(i)])
        number = number_of[token]
        if number < 0:
            number = known
            number_of[token] = number
            known += 1
        ids[np.uint64(i)] = number
        counts[np.uint64(number)] += np.int32(1)
    return known


@kernel
def _place(key: Any, shift: Any) -> Any:
    return (key * _MULTIPLIER) >> shift


@kernel
def number_ngrams(
    tokens: Any,
    offsets: Any,
    order: int,
    n_tokens: int,
    first: int,
    last: int,
    shorter: Any,
    shorter_counts: Any,
    shorter_offsets: Any,
    keys: Any,
    numbers: Any,
    shift: Any,
    ids: Any,
    counts: Any,
    ngram_offsets: Any,
    known: int,
) -> int:
    """Number the n-grams of documents first .. last - 1; returns how many are known then.

    The key of an n-gram is the number of its first n - 1 tokens and its last token. Where either
    (n - 1)-gram in it occurs once in all text, so does the n-gram, and no table is asked.
    """
    mask = np.uint64(keys.size - 1)
    for d in range(first, last):
        at = ngram_offsets[d]
        before = shorter_offsets[d]
        behind = offsets[d] + order - 1
        size = ngram_offsets[d + 1] - at
        for j in range(size + _AHEAD):
            # ask for a place, and look one up that was asked for earlier
            if j < size:
                one = np.uint64(shorter[np.uint64(before + j)])
                other = np.uint64(shorter[np.uint64(before + j + 1)])
                if shorter_counts[one] > 1 and shorter_counts[other] > 1:
                    key = one * np.uint64(n_tokens) + np.uint64(tokens[np.uint64(behind + j)])
                    prefetch(keys, _place(key, shift))
            k = j - _AHEAD
            if k < 0:
                continue
            one = np.uint64(shorter[np.uint64(before + k)])
            other = np.uint64(shorter[np.uint64(before + k + 1)])
            number = known
            if shorter_counts[one] > 1 and shorter_counts[other] > 1:
                key = one * np.uint64(n_tokens) + np.uint64(tokens[np.uint64(behind + k)])
                place = _place(key, shift)
                while True:
                    there = keys[place]
                    if there == key:
                        number = numbers[place]
                        break
                    if there == np.uint64(0xFFFFFFFFFFFFFFFF):
                        keys[place] = key
                        numbers[place] = known
                        break
                    place = (place + np.uint64(1)) & mask
            if number == known:
                known += 1
            ids[np.uint64(at + k)] = number
            counts[np.uint64(number)] += np.int32(1)
    return known


@kernel
def count_pairs(
    ids: Any,
    offsets: Any,
    first: int,
    last: int,
    held_at: Any,
    begins: Any,
    ngrams: Any,
    counts: Any,
) -> None:
    """The distinct n-grams of documents first .. last - 1 with their counts, one behind the other.

    `begins` (int64[D + 1]) is filled behind `first`; `held_at` (int64[U], from -1) is where an
    n-gram was written last.
    """
    at = begins[first]
    for d in range(first, last):
        begin = at
        for i in range(offsets[d], offsets[d + 1]):
            ngram = np.uint64(ids[np.uint64(i)])
            place = held_at[ngram]
            if place >= begin:
                counts[np.uint64(place)] += np.int32(1)
            else:
                held_at[ngram] = at
                ngrams[np.uint64(at)] = ngram
                counts[np.uint64(at)] = 1
                at += 1
        begins[d + 1] = at
