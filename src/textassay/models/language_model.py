"""The one protocol of language models: texts in, log-probabilities and texts out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from textassay.models.decoding import Decoding


@runtime_checkable
class LanguageModel(Protocol):
    """A model of texts, whatever its tokens are, so that models with different tokens compare.

    Attributes
    ----------
    closed : bool
        Whether words outside its vocabulary share one token ``<unk>``: such a model gives no
        probability of the text itself, and enters no comparison of bits with other models.
    window : int or None
        How many tokens of context it sees; None: all.
    """

    closed: bool
    window: int | None

    def log_probabilities(
        self,
        texts: Sequence[str],
        prompts: Sequence[str] | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[NDArray[np.float64]]:
        """For each text, natural-log probabilities of the model's own tokens, end included.

        They sum to ln p(text | prompt); prompts are context alone. Prompt and text are one string,
        joined by nothing: the space between them is the text's first character.
        """
        ...

    def sample(
        self,
        n: int,
        decoding: Decoding,
        *,
        prompts: Sequence[str] | None = None,
        max_length: int = 1000,
        rng: np.random.Generator | int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """`n` texts of at most `max_length` tokens, with prompts one behind each of the first `n`.

        A text behind a prompt begins with the space that separates them.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the model to a folder."""
        ...
