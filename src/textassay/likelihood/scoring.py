"""Scores of many texts by a language model, piece by piece, so that a stopped run goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from textassay.likelihood.scores import Likelihood
from textassay.resume import Store, digest_of

if TYPE_CHECKING:
    from textassay.models.language_model import LanguageModel

_PIECE = 256  # texts


def score_texts(
    model: LanguageModel,
    texts: Sequence[str],
    prompts: Sequence[str] | None = None,
    *,
    store: Store | None = None,
    key: str = "",
    progress: Callable[[int], None] | None = None,
) -> Likelihood:
    """How probable a model finds each text behind its prompt.

    Parameters
    ----------
    model : LanguageModel
    texts : sequence of str
    prompts : sequence of str, optional
        Joined with their texts by nothing; neither their probabilities nor their tokens count.
    store : Store, optional
        Where finished pieces are kept.
    key : str
        Names the model and its settings in the store.
    progress : callable, optional
        Told how many texts are scored.
    """
    found = []
    for first in range(0, len(texts), _PIECE):
        piece = list(texts[first : first + _PIECE])
        before = None if prompts is None else list(prompts[first : first + _PIECE])
        name = digest_of("score", key, piece, before)
        saved = store.load(name) if store else None
        if saved is not None and saved.keys() == {"nll", "tokens"}:
            part = Likelihood.from_sums(saved["nll"], saved["tokens"], piece)
        else:
            told = None if progress is None else _behind(progress, first)
            logs = model.log_probabilities(piece, before, progress=told)
            part = Likelihood.from_logs(logs, piece)
            if store:
                store.save(name, {"nll": part.nll, "tokens": part.tokens})
        found.append(part)
        if progress:
            progress(first + len(piece))
    return Likelihood(
        *(
            np.concatenate([getattr(part, name) for part in found])
            for name in ("nll", "tokens", "characters", "bytes")
        )
    )


def _behind(progress: Callable[[int], None], first: int) -> Callable[[int], None]:
    return lambda done: progress(first + done)
