"""An n-gram model as a reader of ids: for beam search and typical decoding.

Other decodings have a compiled path of their own (:meth:`KneserNey.sample`), which lists no whole
distribution for a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.models.kneser_ney_kernels import distribution, find_path

Array = NDArray[np.float64]


class HistoryReader:
    """Histories of an n-gram model, row by row; ``<unk>`` is never drawn.

    Parameters
    ----------
    tree : Tree
    order : int
    end, unknown, begin : int
        Symbols; `begin` is also how many symbols can be drawn.

    Notes
    -----
    Cost: some passes over the vocabulary for a word.
    """

    def __init__(self, tree: Any, order: int, end: int, unknown: int, begin: int) -> None:
        self.end: int | None = end
        self._tree, self._order, self._unknown, self._begin = tree, order, unknown, begin
        self._recent = np.empty((0, order - 1), np.int64)

    def begin(self, rows: Sequence[list[int]]) -> Array:
        """Read rows of symbols from the begin of a text."""
        self._recent = np.full((len(rows), self._order - 1), self._begin, np.int64)
        for r, row in enumerate(rows):
            for k, symbol in enumerate(row[::-1][: self._order - 1]):
                self._recent[r, k] = symbol
        return self._probabilities()

    def step(self, ids: Sequence[int]) -> Array:
        """Read one more symbol of each row."""
        if self._order > 1:
            self._recent = np.column_stack([ids, self._recent[:, :-1]]).astype(np.int64)
        return self._probabilities()

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows."""
        self._recent = self._recent[list(rows)]

    def _probabilities(self) -> Array:
        out = np.empty((len(self._recent), self._begin))
        path = np.empty(self._order, np.int64)
        for r, history in enumerate(self._recent):
            distribution(self._tree, path, find_path(self._tree, 0, history, path), out[r])
        out[:, self._unknown] = 0.0
        drawable: Array = out / out.sum(axis=1, keepdims=True)
        return drawable
