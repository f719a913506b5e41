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

from textassay.corpus.ngrams import count_ngrams
from textassay.errors import UsageError
from textassay.overlap.sentences import (
    Sentences,
    Texts,
    as_sentences,
    joined,
    vocabulary_of,
)

Array = NDArray[np.float64]
Lengths = NDArray[np.int64]
_STRETCH = 1 << 17  # sentences that a call of a kernel looks at


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
        BLEU of all sentences together, from summed counts and lengths, unsmoothed, as sacreBLEU
        has it: a sentence shorter than n adds no n-gram.
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
        precision of 0 becomes 1 / (2^k x n-grams); 4: that times ln(length) / 5, as nltk has it
        (the paper takes the halves out; a sentence of one token is not smoothed).
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
    Cost: two passes over all tokens an order, some 0.1 microseconds a token; 60 bytes a token.

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
    matched, closest = matches(mine, theirs, order)
    return scored(matched, mine.lengths, closest, smoothing, effective_order)


def matches(mine: Sentences, theirs: Sentences, order: int) -> tuple[Lengths, Lengths]:
    """N-grams of each sentence that match, int64[order, S], and the closest length of all others.

    `theirs` are the references of every sentence.
    """
    from textassay.overlap.bleu_kernels import clip_matches, hold_most

    size = mine.lengths.size
    both = joined(mine, theirs)
    matched = np.zeros((order, size), np.int64)
    for counted in count_ngrams(both.tokens, both.offsets, order):
        pairs = counted.by_document()
        most = np.zeros(counted.distinct, np.int32)
        for first in range(size, pairs.begins.size - 1, _STRETCH):
            hold_most(*pairs, first, min(first + _STRETCH, pairs.begins.size - 1), most)
        for first in range(0, size, _STRETCH):
            last = min(first + _STRETCH, size)
            clip_matches(*pairs, first, last, most, matched[counted.order - 1, first:last])
    return matched, _closest_lengths(mine.lengths, np.unique(theirs.lengths))


def _closest_lengths(lengths: Lengths, known: Lengths) -> Lengths:
    """The closest of the sorted `known` lengths to each; the shorter of two as close."""
    above = np.minimum(np.searchsorted(known, lengths), known.size - 1)
    below = np.maximum(above - 1, 0)
    is_nearer = known[above] - lengths < lengths - known[below]
    return np.where(is_nearer, known[above], known[below])


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
    matched, closest = own_matches(mine, theirs, owner, order)
    return scored(matched, mine.lengths, closest, smoothing, effective_order)


def own_matches(
    mine: Sentences, theirs: Sentences, owner: NDArray[np.int64], order: int
) -> tuple[Lengths, Lengths]:
    """The same where reference r belongs to sentence ``owner[r]`` alone."""
    size = mine.lengths.size
    both = joined(mine, theirs)
    matched = np.zeros((order, size), np.int64)
    for counted in count_ngrams(both.tokens, both.offsets, order):
        pairs = counted.by_document()
        split = pairs.begins[size]
        documents = pairs.documents
        keys = documents[:split] * counted.distinct + pairs.ngrams[:split]
        by_key = np.argsort(keys)
        theirs_of = owner[documents[split:] - size] * counted.distinct + pairs.ngrams[split:]
        place = np.minimum(np.searchsorted(keys[by_key], theirs_of), max(0, keys.size - 1))
        place = by_key[place] if keys.size else place
        known = keys[place] == theirs_of if keys.size else np.zeros(theirs_of.size, np.bool_)
        most = np.zeros(keys.size, np.int32)
        np.maximum.at(most, place[known], pairs.counts[split:][known])
        clipped = np.minimum(pairs.counts[:split], most)
        matched[counted.order - 1] = np.bincount(documents[:split], clipped, size)
    lengths = theirs.lengths
    nearest = np.lexsort((lengths, np.abs(lengths - mine.lengths[owner]), owner))
    return matched, lengths[nearest[np.searchsorted(owner[nearest], np.arange(size))]]


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
    from textassay.overlap.bleu_kernels import closest_others, set_matches

    _check(order, smoothing)
    mine = as_sentences(sentences, vocabulary_of(sentences), tokenizer, "sentences")
    size = mine.lengths.size
    if size < 2:
        raise UsageError(f"{size} sentences: Self-BLEU needs at least two")
    matched = np.zeros((order, size), np.int64)
    everyone = np.arange(size, dtype=np.int64)
    for counted in count_ngrams(mine.tokens, mine.offsets, order):
        pairs = counted.by_document()
        room = [np.zeros(counted.distinct, np.int32) for _ in range(3)]
        set_matches(everyone, *pairs, room[0], room[1], room[2], matched[counted.order - 1])
    closest = np.empty(size, np.int64)
    closest_others(mine.lengths, np.argsort(mine.lengths), closest)
    return scored(matched, mine.lengths, closest, smoothing, effective_order)


def _check(order: int, smoothing: int) -> None:
    if order < 1:
        raise UsageError(f"order is {order}: at least 1 is needed")
    if smoothing not in range(5):
        raise UsageError(f"smoothing is {smoothing}: 0, 1, 2, 3 or 4 is needed")


def scored(
    matched: Lengths, lengths: Lengths, closest: Lengths, smoothing: int, effective_order: bool
) -> Bleu:
    """Scores of sentences from their matches, int64[order, S], and lengths."""
    from textassay.overlap.bleu_kernels import score_sentences, score_sums

    order = len(matched)
    by_sentence = np.zeros((lengths.size, order))
    score_sentences(matched, lengths, closest, smoothing, effective_order, by_sentence)
    totals = np.maximum(0, lengths[:, None] - np.arange(order)).sum(axis=0)
    corpus = np.empty(order)
    score_sums(matched.sum(axis=1), totals, lengths.sum(), closest.sum(), corpus)
    scores = by_sentence.mean(axis=0)
    return Bleu(float(scores[order - 1]), scores, corpus, by_sentence, order, smoothing)
