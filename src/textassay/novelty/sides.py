"""Sides of a comparison: a system, a human file, or all human files together, with their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.units import unit_keys
from textassay.novelty.measure import NoveltyOptions
from textassay.novelty.scores import TokenScores
from textassay.novelty.tables import Table, document_table

NEAR_DUPLICATE = 0.8
_FEWEST_TOKENS = 5


@dataclass(frozen=True, eq=False)
class Side:
    """One text collection: a system's, one human file's, or all human files' together."""

    name: str
    is_human: bool
    corpora: list[Corpus]
    scores: list[TokenScores]

    @property
    def documents(self) -> int:
        """How many documents it holds."""
        return sum(len(corpus) for corpus in self.corpora)

    @property
    def tokens(self) -> int:
        """How many tokens are judged."""
        return sum(int(corpus.text_lengths.sum()) for corpus in self.corpora)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Judged tokens of each document."""
        return np.concatenate([corpus.text_lengths for corpus in self.corpora])

    def units(self, unit: str) -> list[str]:
        """The unit of each document; files are kept apart where names do not come from inputs."""
        if len(self.corpora) == 1:
            return unit_keys(self.corpora[0], unit)
        return [
            f"{number}\0{key}"
            for number, corpus in enumerate(self.corpora)
            for key in unit_keys(corpus, unit)
        ]

    def table(self, options: NoveltyOptions, cut: int | None = None) -> Table:
        """Sums of all documents; cut to `cut` tokens, without measures that count characters."""
        tables = [
            document_table(
                scores if cut is None else scores.cut(cut),
                options.ngrams,
                corpus if cut is None else None,
            )
            for corpus, scores in zip(self.corpora, self.scores, strict=True)
        ]
        return Table(
            tables[0].columns,
            np.vstack([table.numerators for table in tables]),
            np.vstack([table.denominators for table in tables]),
        )


def near_duplicates(side: Side) -> NDArray[np.bool_]:
    """Documents of 5 tokens or more of which one training passage covers 80 % or more."""
    out = []
    for scores in side.scores:
        sizes = np.diff(scores.offsets)
        longest = np.zeros(sizes.size, np.int64)
        documents = np.repeat(np.arange(sizes.size), sizes)
        np.maximum.at(longest, documents, scores.copied)
        out.append((sizes >= _FEWEST_TOKENS) & (longest >= NEAR_DUPLICATE * sizes))
    return np.concatenate(out)
