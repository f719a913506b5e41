"""EmbSim: do words stand in the same relations in two texts (Zhu et al. 2018, section 2.2.1)?

Skip-gram vectors are trained on each text by gensim, which is maintained, compiled, and repeatable
with one worker; a network of our own would be slower and one more thing to trust.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textassay.errors import MissingExtraError, UsageError
from textassay.overlap.sentences import Sentences, Texts, as_sentences, vocabulary_of

Array = NDArray[np.float64]
SEEDS = 5
_LONGEST = 10_000  # tokens of a sentence beyond which gensim reads no further
# gensim's own 5 epochs at a rate of .025 leave the vectors of 50,000 tokens almost where they began
DIMENSIONS, WINDOW, NEGATIVE, EPOCHS, RATE = 32, 5, 5, 10, 0.1


@dataclass(frozen=True, eq=False)
class EmbSim:
    """What EmbSim finds.

    Attributes
    ----------
    score : float
        Logarithm of the mean cosine, averaged over seeds; 0 for equal relations, else below.
        NaN where the mean cosine is not positive.
    cosine : float
        The mean cosine itself, averaged over seeds.
    by_seed : float64[seeds]
        The score for each seed.
    words : int
        N: shared words that were compared.
    base : float
        Of the logarithm.
    """

    score: float
    cosine: float
    by_seed: Array
    words: int
    base: float


def embsim(
    texts: Texts,
    references: Texts,
    *,
    seeds: int = SEEDS,
    base: float = math.e,
    most_frequent: int | None = None,
    tokenizer: str = "words",
) -> EmbSim:
    """Similarity of the embeddings of two texts' words (Zhu et al. 2018, section 2.2.1).

    For each shared word i the cosine of two columns: W_i of the cosines of its vector with those of
    all shared words in the references, W'_i the same in the texts; then the logarithm of the mean
    over words. The paper names no base; its code takes 10, and 500 words in no order.

    Parameters
    ----------
    texts, references : Corpus, list of str, or list of lists of tokens
    seeds : int
        Trainings that are averaged over; seeds 0, 1, ...
    base : float
        Of the logarithm; e by default.
    most_frequent : int, optional
        Words, the most frequent of the references first; default: all shared ones.
    tokenizer : str
        For strings.

    Raises
    ------
    MissingExtraError
        If gensim is not installed.
    UsageError
        If the texts share fewer than two words.

    Notes
    -----
    Skip-gram with negative sampling: 32 dimensions, windows of 5, 5 negative samples, 10 epochs at
    a rate of .1, all words. Cost: some 20 microseconds a token and training; the N x N matrices are
    never made, since the cosines follow from products of the vectors.

    Examples
    --------
    >>> lines = ["a cat sat on a mat", "a dog sat on a rug"] * 50
    >>> embsim(lines, lines, seeds=1).score
    0.0
    """
    if seeds < 1:
        raise UsageError(f"seeds is {seeds}: at least 1 is needed")
    if not (base > 0 and base != 1):
        raise UsageError(f"base is {base}: a number above 0 but 1 is needed")
    vocabulary = vocabulary_of(texts, references)
    mine = as_sentences(texts, vocabulary, tokenizer, "texts")
    theirs = as_sentences(references, vocabulary, tokenizer, "references")
    words = shared_words(mine, theirs, most_frequent)
    if words.size < 2:
        raise UsageError(f"texts and references share {words.size} words: 2 are needed")
    cosines = np.array(
        [
            mean_cosine(word_vectors(mine, seed), word_vectors(theirs, seed), words)
            for seed in range(seeds)
        ]
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        by_seed = np.where(cosines > 0, np.log(cosines), np.nan) / math.log(base)
    by_seed = np.round(by_seed, 12) + 0.0  # equal texts give 0, not the last digit of a sum
    return EmbSim(float(by_seed.mean()), float(cosines.mean()), by_seed, words.size, base)


def shared_words(
    mine: Sentences, theirs: Sentences, most_frequent: int | None = None
) -> NDArray[np.int64]:
    """Types of both texts, the most frequent of `theirs` first."""
    size = max(int(part.tokens.max(initial=-1)) + 1 for part in (mine, theirs))
    counts = [np.bincount(part.tokens, minlength=size) for part in (mine, theirs)]
    shared = np.flatnonzero((counts[0] > 0) & (counts[1] > 0))
    order = np.argsort(-counts[1][shared], kind="stable")
    return shared[order][:most_frequent]


def word_vectors(sentences: Sentences, seed: int) -> dict[int, NDArray[np.float32]]:
    """Skip-gram vectors of all types. The same for the same sentences and seed, on one machine."""
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise MissingExtraError("EmbSim", "gensim", "embeddings") from None
    # as strings: gensim takes a whole number for a place in its own list of words
    ids = [str(token) for token in sentences.tokens.tolist()]
    lists: Sequence[list[str]] = [
        ids[at : min(at + _LONGEST, end)]
        for begin, end in pairwise(sentences.offsets.tolist())
        for at in range(begin, end, _LONGEST)
    ]
    if not lists:
        return {}
    model = Word2Vec(
        lists,
        vector_size=DIMENSIONS,
        window=WINDOW,
        negative=NEGATIVE,
        epochs=EPOCHS,
        alpha=RATE,
        sample=0,  # or frequent words that a text repeats were left out
        min_count=1,
        sg=1,
        seed=seed,
        workers=1,  # several would race and differ
    )
    return dict(zip(map(int, model.wv.index_to_key), model.wv.vectors, strict=True))


def mean_cosine(
    mine: dict[int, NDArray[np.float32]],
    theirs: dict[int, NDArray[np.float32]],
    words: NDArray[np.int64],
) -> float:
    """Mean over words of the cosine of their columns of similarities in both texts.

    With unit vectors as rows of A and B the columns' product is a M b for M = A' B, and a column's
    norm is sqrt(a A'A a): three small matrices stand for the large ones.
    """
    one, other = (_unit_rows(vectors, words) for vectors in (mine, theirs))
    products = np.einsum("nd,de,ne->n", one, one.T @ other, other)
    norms = [np.einsum("nd,de,ne->n", rows, rows.T @ rows, rows) for rows in (one, other)]
    return float(np.mean(products / np.sqrt(norms[0] * norms[1])))


def _unit_rows(vectors: dict[int, NDArray[np.float32]], words: NDArray[np.int64]) -> Array:
    rows = np.stack([vectors[word] for word in words.tolist()]).astype(np.float64)
    unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
