"""BLEU against references, and Self-BLEU: each sentence against all others. Exact and linear.

How often an n-gram may match is the largest count that one reference sentence has of it. For
Self-BLEU the references of a sentence are all sentences but itself; the largest count among others
is the largest of all, or the second largest where the sentence itself holds the largest. Two
numbers an n-gram thus stand for all pairs of sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.ngrams import NgramCounts, count_ngrams
from textassay.errors import UsageError
from textassay.overlap.sentences import (
    Texts,
    as_sentences,
    joined,
    vocabulary_of,
)

Array = NDArray[np.float64]
_EPSILON, _K = 0.1, 5.0  # of Chen and Cherry's methods 1 and 4


@dataclass(frozen=True, eq=False)
class Bleu:
    """What BLEU finds, for all orders up to the one asked for.

    Attributes
    ----------
    score : float
        Mean of the sentences' scores at the order asked for.
    scores : float64[order]
        The same at orders 1, 2, and so on.
    corpus : float64[order]
        BLEU of all sentences together, from summed counts and lengths, unsmoothed.
    by_sentence : float64[S, order]
    order, smoothing : int
    """

    score: float
    scores: Array
    corpus: Array
    by_sentence: Array
    order: int
    smoothing: int


def bleu(
    hypotheses: Texts,
    references: Texts,
    order: int = 4,
    *,
    smoothing: int = 1,
    effective_order: bool = False,
    tokenizer: str = "words",
) -> Bleu:
    """Sentence and corpus BLEU against all references at once (Papineni et al. 2002).

    Uniform weights, the closest reference length (the shorter one of two as close), smoothing of
    Chen and Cherry 2014; as nltk computes it, to the last digits. Zhu et al. 2018 report the mean
    over sentences with smoothing 1.

    Parameters
    ----------
    hypotheses, references : Corpus, list of str, or list of lists of tokens
        Each hypothesis is compared with all references.
    order : int
        Largest n.
    smoothing : {0, 1, 2, 3, 4}
        0: none; 1: a count of 0 becomes .1; 2: counts above unigrams are one larger; 3: the k-th
        precision of 0 becomes 1 / (2^k x n-grams); 4: that times ln(length) / 5.
    effective_order : bool
        Whether a sentence shorter than `order` is scored at its own length; else its missing
        n-grams count as 0 of 1, as in nltk: two equal tokens at order 4 score .316.
    tokenizer : str
        For strings.

    Raises
    ------
    UsageError
        If there is no hypothesis or no reference, or an option is not allowed.

    Notes
    -----
    Cost: a few sorts of all tokens an order; some 40 bytes a token.

    Examples
    --------
    >>> bleu(["the cat sat"], ["the cat sat", "a dog ran"], order=3).score
    1.0
    """
    _check(order, smoothing)
    vocabulary = vocabulary_of(hypotheses, references)
    mine = as_sentences(hypotheses, vocabulary, tokenizer, "hypotheses")
    theirs = as_sentences(references, vocabulary, tokenizer, "references")
    for name, sentences in (("hypotheses", mine), ("references", theirs)):
        if not sentences.lengths.size:
            raise UsageError(f"{name} is empty: at least one sentence is needed")
    size = mine.lengths.size
    both = joined(mine, theirs)
    matched = np.zeros((size, order))
    for counted in count_ngrams(both.tokens, both.offsets, order):
        documents, ngrams, counts = counted.by_document()
        is_mine = documents < size
        most = np.zeros(counted.distinct, np.int64)
        np.maximum.at(most, ngrams[~is_mine], counts[~is_mine])
        clipped = np.minimum(counts[is_mine], most[ngrams[is_mine]])
        matched[:, counted.order - 1] = np.bincount(documents[is_mine], clipped, size)
    closest = _closest(mine.lengths, np.unique(theirs.lengths))
    return _scored(matched, mine.lengths, closest, order, smoothing, effective_order)


def bleu_by_document(
    hypotheses: Texts,
    references: Sequence[Sequence[str] | Sequence[Sequence[str]]],
    order: int = 4,
    *,
    smoothing: int = 1,
    effective_order: bool = False,
    tokenizer: str = "words",
) -> Bleu:
    """BLEU of each hypothesis against references of its own.

    Parameters
    ----------
    hypotheses : Corpus, list of str, or list of lists of tokens
    references : sequence
        For each hypothesis its references, strings or lists of tokens.
    order, smoothing, effective_order, tokenizer
        See :func:`bleu`.

    Raises
    ------
    UsageError
        If there are not as many sets of references as hypotheses, or one is empty.

    Examples
    --------
    >>> bleu_by_document(["a cat", "a dog"], [["a cat"], ["a cow", "the dog"]], order=1).score
    1.0
    """
    _check(order, smoothing)
    vocabulary = vocabulary_of(hypotheses)
    mine = as_sentences(hypotheses, vocabulary, tokenizer, "hypotheses")
    size = mine.lengths.size
    if len(references) != size:
        raise UsageError(f"{len(references):,} sets of references for {size:,} hypotheses")
    if not size or not all(references):
        raise UsageError("a hypothesis has no reference: at least one is needed for each")
    flat: list[str | Sequence[str]] = [reference for group in references for reference in group]
    theirs = as_sentences(flat, vocabulary, tokenizer, "references")
    owner = np.repeat(np.arange(size), [len(group) for group in references])
    both = joined(mine, theirs)
    matched = np.zeros((size, order))
    for counted in count_ngrams(both.tokens, both.offsets, order):
        documents, ngrams, counts = counted.by_document()
        is_mine = documents < size
        keys = documents[is_mine] * counted.distinct + ngrams[is_mine]  # sorted
        theirs_of = owner[documents[~is_mine] - size] * counted.distinct + ngrams[~is_mine]
        place = np.minimum(np.searchsorted(keys, theirs_of), max(0, keys.size - 1))
        known = keys[place] == theirs_of if keys.size else np.zeros(theirs_of.size, np.bool_)
        most = np.zeros(keys.size, np.int64)
        np.maximum.at(most, place[known], counts[~is_mine][known])
        clipped = np.minimum(counts[is_mine], most)
        matched[:, counted.order - 1] = np.bincount(documents[is_mine], clipped, size)
    ends = np.cumsum([len(group) for group in references])
    closest = np.array(
        [
            _closest(mine.lengths[[d]], np.unique(part))[0]
            for d, part in enumerate(np.split(theirs.lengths, ends[:-1]))
        ]
    )
    return _scored(matched, mine.lengths, closest, order, smoothing, effective_order)


def self_bleu(
    sentences: Texts,
    order: int = 4,
    *,
    smoothing: int = 1,
    effective_order: bool = False,
    tokenizer: str = "words",
) -> Bleu:
    """Mean BLEU of each sentence against all others (Zhu et al. 2018): the higher, the less varied.

    Exact: the sentence itself is never a reference, an equal one is.

    Parameters
    ----------
    sentences : Corpus, list of str, or list of lists of tokens
    order, smoothing, effective_order, tokenizer
        See :func:`bleu`.

    Raises
    ------
    UsageError
        If there are fewer than two sentences.

    Notes
    -----
    Cost: as that of :func:`bleu`, linear in the text. It depends on the number of sentences, so
    compare equal numbers.

    Examples
    --------
    >>> found = self_bleu(["a cat sat", "a cat sat", "dogs run"], order=2)
    >>> found.by_sentence[:, 1].tolist()
    [1.0, 1.0, 0.0]
    """
    _check(order, smoothing)
    mine = as_sentences(sentences, vocabulary_of(sentences), tokenizer, "sentences")
    size = mine.lengths.size
    if size < 2:
        raise UsageError(f"{size} sentences: Self-BLEU needs at least two")
    matched = np.zeros((size, order))
    for counted in count_ngrams(mine.tokens, mine.offsets, order):
        documents, _, counts, most = _most_of_others(counted)
        clipped = np.minimum(counts, most)
        matched[:, counted.order - 1] = np.bincount(documents, clipped, size)
    closest = _closest_other(mine.lengths)
    return _scored(matched, mine.lengths, closest, order, smoothing, effective_order)


def _most_of_others(
    counted: NgramCounts,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Documents, n-grams, counts, and the largest count in any other document, of all pairs."""
    documents, ngrams, counts = counted.by_document()
    order = np.lexsort((-counts, ngrams))
    begins = np.searchsorted(ngrams[order], np.arange(counted.distinct))
    holder = order[begins]
    largest = counts[holder]
    second = np.zeros(counted.distinct, np.int64)
    ends = np.append(begins[1:], order.size)
    several = ends - begins > 1
    second[several] = counts[order[begins[several] + 1]]
    most = largest[ngrams]
    most[holder] = second
    return documents, ngrams, counts, most


def _closest(lengths: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """The closest of the sorted known lengths to each; the shorter of two as close."""
    above = np.minimum(np.searchsorted(known, lengths), known.size - 1)
    below = np.maximum(above - 1, 0)
    take_below = np.abs(lengths - known[below]) <= np.abs(known[above] - lengths)
    nearest: NDArray[np.int64] = np.where(take_below, known[below], known[above])
    return nearest


def _closest_other(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same among the lengths of all other sentences."""
    known, inverse, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    nearest = known.copy()  # where another sentence has the same length
    for place in np.flatnonzero(counts == 1):
        others = np.delete(known, place)
        nearest[place] = _closest(known[[place]], others)[0]
    found: NDArray[np.int64] = nearest[inverse]
    return found


def _check(order: int, smoothing: int) -> None:
    if order < 1:
        raise UsageError(f"order is {order}: at least 1 is needed")
    if smoothing not in range(5):
        raise UsageError(f"smoothing is {smoothing}: 0, 1, 2, 3 or 4 is needed")


def _scored(
    matched: Array,
    lengths: NDArray[np.int64],
    closest: NDArray[np.int64],
    order: int,
    smoothing: int,
    effective_order: bool,
) -> Bleu:
    totals = np.maximum(1, lengths[:, None] - np.arange(order)).astype(float)
    own = np.clip(lengths, 1, order) if effective_order else np.full(lengths.size, order)
    by_sentence = _combined(matched, totals, lengths, closest, own, smoothing)
    corpus = _combined(
        matched.sum(axis=0)[None],
        totals.sum(axis=0)[None],
        lengths.sum()[None],
        closest.sum()[None],
        np.full(1, order),
        0,
    )[0]
    scores = by_sentence.mean(axis=0)
    return Bleu(float(scores[order - 1]), scores, corpus, by_sentence, order, smoothing)


def _combined(
    matched: Array,
    totals: Array,
    lengths: NDArray[np.int64],
    closest: NDArray[np.int64],
    own_order: NDArray[np.int64],
    smoothing: int,
) -> Array:
    """Brevity penalty times geometric means of precisions."""
    order = matched.shape[1]
    precisions = _smoothed(matched, totals, lengths, smoothing)
    with np.errstate(divide="ignore"):
        logs = np.log(precisions)
    orders = np.minimum(np.arange(1, order + 1), own_order[:, None])
    inside = np.arange(order) < own_order[:, None]
    sums = np.cumsum(np.where(inside, logs, 0.0), axis=1)
    penalty = np.zeros(lengths.size)
    some = lengths > 0
    penalty[some] = np.exp(np.minimum(0.0, 1 - closest[some] / lengths[some]))
    scores = penalty[:, None] * np.exp(sums / orders)
    scores[matched[:, 0] == 0] = 0.0  # no unigram matches
    return scores


def _smoothed(matched: Array, totals: Array, lengths: NDArray[np.int64], method: int) -> Array:
    precisions = matched / totals
    zero = matched == 0
    if method == 1:
        precisions = np.where(zero, _EPSILON / totals, precisions)
    elif method == 2:
        precisions[:, 1:] = ((matched + 1) / (totals + 1))[:, 1:]
    elif method >= 3:
        # the k-th precision of a sentence that is 0
        halvings = 0.5 ** np.cumsum(zero, axis=1)
        smoothed = halvings / totals
        if method == 4:
            logs = np.log(np.maximum(lengths, 1))[:, None]
            # nltk leaves out what is 0 in a sentence of one token
            smoothed = np.where(lengths[:, None] > 1, smoothed * logs / _K, 1.0)
        precisions = np.where(zero, smoothed, precisions)
    return precisions
