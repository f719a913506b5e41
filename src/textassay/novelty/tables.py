"""Per-document sums of every novelty measure that is a ratio of sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.novelty.scores import (
    COPIED_CHARACTERS,
    CREATIVITY_LENGTHS,
    SOURCES,
    SUPERCOPY,
    TRUNCATED_AT,
    Source,
    TokenScores,
    is_judged,
    ngram_sums,
    sum_documents,
)
from textassay.stats import ratio_records


@dataclass(frozen=True)
class Column(ratio_records.Column):
    """One measure, and which duplication it counts."""

    source: Source = "both"

    @property
    def key(self) -> str:
        """Name in per-document sums: ``ngram4``, or ``ngram4.training``."""
        short = self.measure.removeprefix("novelty.")
        return short if self.source == "both" else f"{short}.{self.source}"


@dataclass(frozen=True, eq=False)
class Table:
    """Numerators and denominators of the columns for each document, float64[D, K]."""

    columns: list[Column]
    numerators: NDArray[np.float64]
    denominators: NDArray[np.float64]


def document_table(
    scores: TokenScores, ngrams: Sequence[int], corpus: Corpus | None = None
) -> Table:
    """Sums of all ratio measures for each document. Cost: linear in tokens x measures.

    Parameters
    ----------
    scores : TokenScores
    ngrams : sequence of int
        The sizes n of ``novelty.ngram<n>``.
    corpus : Corpus, optional
        Where the scores come from, uncut: gives ``novelty.copied50``, which counts characters, and
        ``novelty.copied_documents``.
    """
    columns: list[Column] = []
    numerators: list[NDArray[np.generic]] = []
    denominators: list[NDArray[np.generic]] = []
    tokens = np.diff(scores.offsets)

    def add(
        column: Column, numerator: NDArray[np.generic], denominator: NDArray[np.generic]
    ) -> None:
        columns.append(column)
        numerators.append(numerator)
        denominators.append(denominator)

    for source in SOURCES if scores.has_training else ("context",):
        for n in ngrams:
            add(
                Column(f"novelty.ngram{n}", f"share of {n}-grams that are novel", source=source),
                *ngram_sums(scores, n, source),
            )
        score = scores.pointwise(source)
        add(
            Column(
                "novelty.pointwise",
                f"tokens, truncated at {TRUNCATED_AT}",
                bounds=(1.0, TRUNCATED_AT),
                source=source,
            ),
            sum_documents(np.minimum(score, TRUNCATED_AT), scores.offsets),
            tokens,
        )
        add(
            Column("novelty.pointwise_untruncated", "tokens", bounds=(1.0, np.inf), source=source),
            sum_documents(score, scores.offsets),
            tokens,
        )
    if scores.has_training:
        cover = scores.cover()
        add(
            Column(
                "novelty.supercopied",
                "share of tokens",
                "lower",
                event=SUPERCOPY,
                source="training",
            ),
            sum_documents(cover >= SUPERCOPY, scores.offsets),
            tokens,
        )
        if corpus is not None:
            add(
                Column(
                    "novelty.copied50",
                    "share of characters",
                    "lower",
                    event=COPIED_CHARACTERS,
                    source="training",
                ),
                *_copied_characters(scores, corpus),
            )
            add(
                Column(
                    "novelty.copied_documents", "share of documents", "lower", source="training"
                ),
                *_copied_documents(scores),
            )
        lengths = np.array(CREATIVITY_LENGTHS)
        unique = len(lengths) - np.searchsorted(lengths, cover, side="right")
        add(
            Column("novelty.creativity", "mean share of tokens, L = 5 to 12", source="training"),
            sum_documents(unique, scores.offsets) / len(lengths),
            tokens,
        )
        add(
            Column("novelty.mean_suffix", "tokens", bounds=(0.0, np.inf), source="training"),
            sum_documents(scores.copied, scores.offsets),
            tokens,
        )
    return Table(
        columns,
        np.stack(numerators, axis=1).astype(np.float64),
        np.stack(denominators, axis=1).astype(np.float64),
    )


def _copied_characters(
    scores: TokenScores, corpus: Corpus
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from textassay.novelty.score_kernels import covered_characters

    judged = is_judged(corpus)
    covered = np.zeros(len(corpus), np.int64)
    covered_characters(
        scores.copied,
        scores.offsets,
        corpus.begins[judged],
        corpus.ends[judged],
        COPIED_CHARACTERS,
        covered,
    )
    return covered, np.array([len(text) for text in corpus.texts], np.int64)


def _copied_documents(scores: TokenScores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which documents stand whole in the training text, of those that hold a token."""
    tokens = np.diff(scores.offsets)
    held = tokens > 0
    whole = np.zeros(tokens.size, np.int64)
    whole[held] = scores.copied[scores.offsets[1:][held] - 1] == tokens[held]
    return whole, held.astype(np.int64)


def matched_length(lengths: Sequence[NDArray[np.int64]]) -> int | None:
    """A common length to compare sides at, or None if their lengths are alike.

    Lengths are unlike when means differ by more than a tenth. The common length is the one at
    which the side that keeps the fewest tokens keeps the most, when shorter documents are dropped
    and longer ones cut.

    Examples
    --------
    >>> matched_length([np.array([10, 10]), np.array([30, 40])])
    10
    """
    if len(lengths) < 2 or not all(side.any() for side in lengths):
        return None
    means = [side.mean() for side in lengths]
    if max(means) <= 1.1 * min(means):
        return None
    candidates = np.unique(np.concatenate(lengths))
    candidates = candidates[candidates > 0]
    kept = np.min(
        [candidates * (side.size - np.searchsorted(np.sort(side), candidates)) for side in lengths],
        axis=0,
    )
    return int(candidates[kept.argmax()]) if kept.max() > 0 else None
