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
    joins : bool
        Whether a prompt and a text are encoded as one string, so that what stands between them
        belongs to the prompt; else each is tokenized by itself.
    """

    closed: bool
    window: int | None
    joins: bool

    def log_probabilities(
        self,
        texts: Sequence[str],
        prompts: Sequence[str] | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[NDArray[np.float64]]:
        """For each text, natural-log probabilities of the model's own tokens, end included.

        They sum to ln p(text | prompt); prompts are context alone.
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
        """`n` texts, or one for each prompt, of at most `max_length` tokens."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model to a folder."""
        ...
