"""How varied the samples of one prompt are: all pairs of them, so that their number matters not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import TextByUnit
from textassay.corpus.ngrams import count_ngrams
from textassay.overlap.bleu import own_matches, scored
from textassay.overlap.sentences import Sentences
from textassay.stats.ratio_sums import RatioSums

Array = NDArray[np.float64]
MOST = 32  # samples of a prompt that are looked at
PAIRS = MOST * (MOST - 1) // 2  # of a prompt at most
_AT_A_TIME = 1 << 15  # pairs


def prompt_sums(
    text: TextByUnit,
    prompts: Sequence[str],
    texts: NDArray[np.int64],
    smoothing: int,
    effective_order: bool,
    rng: np.random.Generator,
) -> RatioSums | None:
    """BLEU-4, distinct-2 and distinct documents of pairs of samples, for each prompt.

    Parameters
    ----------
    text : TextByUnit
    prompts : sequence of str
        Of each document; empty for none.
    texts : int64[D]
        Equal for equal documents.
    smoothing, effective_order
        See :func:`textassay.overlap.bleu`.
    rng : Generator
        Draws 32 samples where a prompt has more.

    Returns
    -------
    RatioSums or None
        None where no prompt has two samples. BLEU is the mean over ordered pairs, distinct-2 the
        expected number of distinct bigrams of two samples (rarefaction) over that of bigrams; each
        prompt weighs the same.
    """
    members = _members(prompts, rng)
    if not members:
        return None
    sizes = np.array([group.size for group in members])
    chosen = np.concatenate(members)
    owner = np.repeat(np.arange(sizes.size), sizes)
    bleu = _pair_bleu(text, members, smoothing, effective_order)
    found, total = _pair_distinct(_sentences(text, chosen), owner, sizes)
    equal = np.unique(owner * (texts.max() + 1) + texts[chosen], return_counts=True)
    same = np.zeros(sizes.size)
    np.add.at(same, equal[0] // (texts.max() + 1), equal[1] * (equal[1] - 1))
    some = total > 0
    shares = np.minimum(1.0, np.divide(found, total, out=np.zeros(sizes.size), where=some))
    ones = np.ones(sizes.size)
    return RatioSums(
        np.stack([bleu, shares, 1 - same / (sizes * (sizes - 1))], axis=1),
        np.stack([ones, some.astype(float), ones], axis=1),
        [prompts[group[0]] for group in members],
    )


def _members(prompts: Sequence[str], rng: np.random.Generator) -> list[NDArray[np.int64]]:
    by_prompt: dict[str, list[int]] = {}
    for document, prompt in enumerate(prompts):
        if prompt:
            by_prompt.setdefault(prompt, []).append(document)
    groups = [np.array(group) for group in by_prompt.values() if len(group) > 1]
    return [
        group if group.size <= MOST else np.sort(rng.permutation(group)[:MOST]) for group in groups
    ]


def _sentences(text: TextByUnit, documents: NDArray[np.int64]) -> Sentences:
    lengths = text.lengths[documents]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(text.offsets[documents] - offsets[:-1], lengths)
    return Sentences(text.tokens[places], offsets)


def _pair_bleu(
    text: TextByUnit, members: Sequence[NDArray[np.int64]], smoothing: int, effective_order: bool
) -> Array:
    """Mean BLEU-4 over ordered pairs of samples of each prompt."""
    means = np.empty(len(members))
    at = 0
    while at < len(members):
        end, pairs = at, 0
        while end < len(members) and (end == at or pairs < _AT_A_TIME):
            pairs += members[end].size * (members[end].size - 1)
            end += 1
        one, two, prompt = [], [], []
        for k in range(at, end):
            group = members[k]
            first, second = np.nonzero(~np.eye(group.size, dtype=np.bool_))
            one.append(group[first])
            two.append(group[second])
            prompt.append(np.full(first.size, k - at))
        mine = _sentences(text, np.concatenate(one))
        theirs = _sentences(text, np.concatenate(two))
        matched, closest = own_matches(mine, theirs, np.arange(mine.lengths.size), 4)
        scores = scored(matched, mine.lengths, closest, smoothing, effective_order)
        of = np.concatenate(prompt)
        means[at:end] = np.bincount(of, scores.by_sentence[:, 3]) / np.bincount(of)
        at = end
    return means


def _pair_distinct(
    samples: Sentences, owner: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Expected distinct bigrams, and bigrams, of two samples of each prompt."""
    *_, counted = count_ngrams(samples.tokens, samples.offsets, 2)
    pairs = counted.by_document()
    keys = owner[pairs.documents] * max(1, counted.distinct) + pairs.ngrams
    kinds, held = np.unique(keys, return_counts=True)
    prompt = kinds // max(1, counted.distinct)
    k = sizes[prompt]
    missed = (k - held) * (k - held - 1) / (k * (k - 1))
    found: Array = np.bincount(prompt, 1 - missed, sizes.size).astype(float)
    totals = np.bincount(owner, np.diff(counted.offsets), sizes.size)
    return found, totals * 2 / sizes
