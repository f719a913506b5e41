"""Compiled BLEU: matches of documents with references, of one set of documents or of many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from textassay.compiled import kernel

_EPSILON = 0.1  # Chen and Cherry's method 1
_K = 5.0  # and method 4


@kernel
def hold_most(begins: Any, ngrams: Any, counts: Any, first: int, last: int, most: Any) -> None:
    """Raise `most` (int32[U]) to the largest count that one of these documents has of an n-gram."""
    for i in range(begins[first], begins[last]):
        ngram = np.uint64(ngrams[np.uint64(i)])
        if counts[np.uint64(i)] > most[ngram]:
            most[ngram] = counts[np.uint64(i)]


@kernel
def clip_matches(
    begins: Any, ngrams: Any, counts: Any, first: int, last: int, most: Any, matched: Any
) -> None:
    """N-grams of documents first .. last - 1 that match, into `matched` (int64[last - first])."""
    for d in range(first, last):
        total = 0
        for i in range(begins[d], begins[d + 1]):
            total += min(counts[np.uint64(i)], most[np.uint64(ngrams[np.uint64(i)])])
        matched[d - first] = total


@kernel
def set_matches(
    members: Any,
    begins: Any,
    ngrams: Any,
    counts: Any,
    largest: Any,
    second: Any,
    holder: Any,
    matched: Any,
) -> None:
    """Matches of each member with all other members, into `matched` (int64[members]).

    `largest`, `second` (int32[U], 0) and `holder` (int32[U]) are left as they were.
    """
    for m in range(members.size):
        d = members[m]
        for i in range(begins[d], begins[d + 1]):
            ngram = np.uint64(ngrams[np.uint64(i)])
            count = counts[np.uint64(i)]
            most = largest[ngram]
            if count > most:
                second[ngram] = most
                largest[ngram] = count
                holder[ngram] = d
            elif count > second[ngram]:
                second[ngram] = count
    for m in range(members.size):
        d = members[m]
        total = 0
        for i in range(begins[d], begins[d + 1]):
            ngram = np.uint64(ngrams[np.uint64(i)])
            most = second[ngram] if holder[ngram] == d else largest[ngram]
            total += min(counts[np.uint64(i)], most)
        matched[m] = total
    for m in range(members.size):
        d = members[m]
        for i in range(begins[d], begins[d + 1]):
            ngram = np.uint64(ngrams[np.uint64(i)])
            largest[ngram] = 0
            second[ngram] = 0


@kernel
def distinct_ngrams(members: Any, begins: Any, ngrams: Any, seen: Any) -> int:
    """How many different n-grams the members hold; `seen` is bool[U], all False."""
    distinct = 0
    for m in range(members.size):
        d = members[m]
        for i in range(begins[d], begins[d + 1]):
            ngram = np.uint64(ngrams[np.uint64(i)])
            if not seen[ngram]:
                seen[ngram] = True
                distinct += 1
    return distinct


@kernel
def closest_others(lengths: Any, order: Any, closest: Any) -> None:
    """The closest length of any other sentence; the shorter of two as close.

    `order` sorts the lengths; to sort them here would take seconds to compile.
    """
    last = order.size - 1
    for k in range(order.size):
        mine = lengths[order[k]]
        if k == 0:
            closest[order[k]] = lengths[order[1]]
        elif k == last or mine - lengths[order[k - 1]] <= lengths[order[k + 1]] - mine:
            closest[order[k]] = lengths[order[k - 1]]
        else:
            closest[order[k]] = lengths[order[k + 1]]


@kernel
def score_sentences(
    matched: Any, lengths: Any, closest: Any, smoothing: int, effective: bool, scores: Any
) -> None:
    """BLEU of each sentence at all orders.

    `matched` is int64[order, S], `scores` float64[S, order]; smoothing by Chen and Cherry's
    methods, 0 to 4, as nltk computes them.
    """
    order = matched.shape[0]
    for s in range(lengths.size):
        length = lengths[s]
        if length == 0 or matched[0, s] == 0:
            scores[s, :] = 0.0
            continue
        penalty = math.exp(min(0.0, 1 - closest[s] / length))
        log_sum = 0.0
        zeros = 0
        for n in range(order):
            if effective and n >= length:
                scores[s, n] = scores[s, n - 1]
                continue
            hits = matched[n, s]
            total = max(1, length - n)
            if hits == 0:
                zeros += 1
            if smoothing == 2 and n > 0:
                precision = (hits + 1) / (total + 1)
            elif hits > 0:
                precision = hits / total
            elif smoothing == 1:
                precision = _EPSILON / total
            elif smoothing >= 3:
                precision = 0.5**zeros / total
                if smoothing == 4:
                    # nltk leaves out what is 0 in a sentence of one token
                    precision = precision * math.log(length) / _K if length > 1 else 1.0
            else:
                precision = 0.0
            log_sum += math.log(precision) if precision > 0 else -np.inf
            scores[s, n] = penalty * math.exp(log_sum / (n + 1))


@kernel
def score_sums(matched: Any, totals: Any, length: int, closest: int, scores: Any) -> None:
    """BLEU of summed counts at all orders, unsmoothed, into `scores` (float64[order])."""
    log_sum = 0.0
    for n in range(scores.size):
        scores[n] = 0.0
        if length == 0 or matched[n] == 0:
            log_sum = -np.inf
            continue
        log_sum += math.log(matched[n] / totals[n])
        scores[n] = math.exp(min(0.0, 1 - closest / length)) * math.exp(log_sum / (n + 1))
