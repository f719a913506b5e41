"""Scores of tokens and sums over documents, from the lengths that the matcher and context give.

McCoy et al. 2021, sections 5.1 to 5.3 and appendices E, J and K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus

Source = Literal["training", "context", "both"]
SOURCES: tuple[Source, ...] = ("both", "training", "context")
TRUNCATED_AT = 5
POSITION_TRUNCATED_AT = 10
POSITION_BIN = 100
SUPERCOPY = 100
COPIED_CHARACTERS = 50
CREATIVITY_LENGTHS = range(5, 13)


@dataclass(frozen=True, eq=False)
class TokenScores:
    """What each judged token repeats; arrays over the judged tokens of one corpus.

    Attributes
    ----------
    training, context : int32[M]
        Length of the longest suffix (prompt included) that occurs in the training text, or ended
        earlier in the document; not capped.
    offsets : int64[D + 1]
        Where each document's judged tokens begin.
    positions : int32[M]
        Position in the judged text, from 0.
    has_training : bool
        Whether there was training text.
    """

    training: NDArray[np.int32]
    context: NDArray[np.int32]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int32]
    has_training: bool

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        training: NDArray[np.int32] | None,
        context: NDArray[np.int32],
    ) -> TokenScores:
        """From lengths for all tokens of a corpus, prompts included; without training text None."""
        judged = is_judged(corpus)
        sizes = corpus.text_lengths
        offsets = np.zeros(len(corpus) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        context = context[judged]
        return cls(
            training=training[judged] if training is not None else np.zeros_like(context),
            context=context,
            offsets=offsets,
            positions=positions.astype(np.int32),
            has_training=training is not None,
        )

    def duplicated(self, source: Source) -> NDArray[np.int32]:
        """Length of the longest suffix that is not new, int32[M]."""
        if source == "training":
            return self.training
        if source == "context":
            return self.context
        return np.maximum(self.training, self.context)

    def pointwise(self, source: Source) -> NDArray[np.int32]:
        """Pointwise duplication score: size of the smallest novel n-gram that ends here, int32[M].

        Capped at position + 2, so that only n-grams wholly inside the judged text count
        (McCoy et al. 2021, section 5.3).

        Examples
        --------
        A token at position 0 scores 1 if it is novel and 2 if not.
        """
        return np.minimum(self.duplicated(source) + 1, self.positions + 2)

    @property
    def copied(self) -> NDArray[np.int32]:
        """Length of the training passage that ends at each token, cut at the text's begin."""
        return np.minimum(self.training, self.positions + 1)

    def cover(self) -> NDArray[np.int32]:
        """Length of the longest training passage that covers each token, int32[M]. Linear."""
        from textassay.novelty.score_kernels import longest_cover

        out = np.zeros(self.training.size, np.int32)
        step = max(1, 200_000 // max(1, int(self.offsets[-1]) // max(1, self.offsets.size - 1)))
        documents = self.offsets.size - 1
        copied = self.copied
        for begin in range(0, documents, step):
            longest_cover(copied, self.offsets, begin, min(documents, begin + step), out)
        return out

    def cut(self, longest: int) -> TokenScores:
        """Only documents of at least `longest` judged tokens, cut to that length."""
        sizes = np.diff(self.offsets)
        kept = np.flatnonzero(sizes >= longest)
        index = (self.offsets[kept][:, None] + np.arange(longest)).reshape(-1)
        return TokenScores(
            training=self.training[index],
            context=self.context[index],
            offsets=np.arange(kept.size + 1, dtype=np.int64) * longest,
            positions=self.positions[index],
            has_training=self.has_training,
        )

    def without(self, documents: NDArray[np.bool_]) -> TokenScores:
        """The other documents' scores."""
        sizes = np.diff(self.offsets)
        kept = ~np.repeat(documents, sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes[~documents])])
        return TokenScores(
            self.training[kept],
            self.context[kept],
            offsets,
            self.positions[kept],
            self.has_training,
        )

    @classmethod
    def joined(cls, parts: Sequence[TokenScores]) -> TokenScores:
        """Several corpora's scores as one."""
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        return cls(
            np.concatenate([part.training for part in parts]),
            np.concatenate([part.context for part in parts]),
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.positions for part in parts]),
            parts[0].has_training,
        )


def is_judged(corpus: Corpus) -> NDArray[np.bool_]:
    """Which tokens of a corpus are judged: all but those of prompts, bool[N]."""
    sizes = np.diff(corpus.offsets)
    position = np.arange(corpus.tokens.size) - np.repeat(corpus.offsets[:-1], sizes)
    return position >= np.repeat(corpus.prompt_lengths, sizes)


def sum_documents(values: NDArray[np.generic], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of whole numbers or truths over each document, int64[D]; empty documents give 0."""
    total = np.zeros(values.size + 1, np.int64)
    np.cumsum(values, out=total[1:])
    return total[offsets[1:]] - total[offsets[:-1]]


def ngram_sums(
    scores: TokenScores, n: int, source: Source
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Novel n-grams, and all n-grams, wholly inside each document's judged text; int64[D] each."""
    inside = scores.positions >= n - 1
    novel = inside & (scores.duplicated(source) < n)
    sizes = np.diff(scores.offsets)
    return sum_documents(novel, scores.offsets), np.maximum(0, sizes - n + 1)


def position_means(
    scores: TokenScores, source: Source = "training"
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Mean pointwise score, truncated at 10, by position: bins of 100 tokens but for the first.

    McCoy et al. 2021, appendix J. Returns the first positions of the bins and the means.
    """
    score = np.minimum(scores.pointwise(source), POSITION_TRUNCATED_AT)
    bins = scores.positions // POSITION_BIN
    counts = np.bincount(bins)
    sums = np.bincount(bins, weights=score)
    used = np.flatnonzero(counts)
    used = used[used > 0]
    return used * POSITION_BIN, sums[used] / counts[used]
