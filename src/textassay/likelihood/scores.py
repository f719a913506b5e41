"""Negative log-likelihood of texts per token, document, character and byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textassay.errors import UsageError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Likelihood:
    """What a model makes of texts: sums of every document, and their ratios.

    Ends of texts are scored where the model has such a token, begins never; prompts are in neither
    numerator nor denominator.

    Attributes
    ----------
    nll : float64[D]
        Negative log-likelihood of each document, nats.
    tokens, characters, bytes : int64[D]
        The model's own tokens (ends included), code points, bytes of UTF-8.
    """

    nll: Array
    tokens: NDArray[np.int64]
    characters: NDArray[np.int64]
    bytes: NDArray[np.int64]

    @classmethod
    def from_logs(cls, logs: Sequence[ArrayLike], texts: Sequence[str]) -> Likelihood:
        """From natural-log probabilities of the tokens of each text.

        Raises
        ------
        UsageError
            If there are not as many of both, or none.
        """
        if len(logs) != len(texts) or not texts:
            raise UsageError(f"{len(logs)} rows of log-probabilities for {len(texts)} texts")
        rows = [np.asarray(row, np.float64) for row in logs]
        nll = np.array([-row.sum() for row in rows])
        return cls.from_sums(nll, np.array([row.size for row in rows], np.int64), texts)

    @classmethod
    def from_sums(cls, nll: Array, tokens: NDArray[np.int64], texts: Sequence[str]) -> Likelihood:
        """From sums of each text."""
        return cls(
            nll,
            tokens,
            np.array([len(text) for text in texts], np.int64),
            np.array([len(text.encode("utf-8", "surrogatepass")) for text in texts], np.int64),
        )

    @property
    def nll_token(self) -> float:
        """Nats a token of the model's own: compares only models with the same tokens."""
        return float(self.nll.sum() / self.tokens.sum())

    @property
    def nll_document(self) -> float:
        """Nats a document, as Zhu et al. 2018 sum over a sentence."""
        return float(self.nll.mean())

    @property
    def perplexity(self) -> float:
        """exp of the nats a token."""
        nll = self.nll_token
        return math.exp(min(700.0, nll)) if math.isfinite(nll) else nll

    @property
    def bits_per_character(self) -> float:
        """Bits a code point: compares all models."""
        return float(self.nll.sum() / (math.log(2) * self.characters.sum()))

    @property
    def bits_per_byte(self) -> float:
        """Bits a byte of UTF-8: compares all models."""
        return float(self.nll.sum() / (math.log(2) * self.bytes.sum()))
