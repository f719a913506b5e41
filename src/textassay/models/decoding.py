"""Decoding: which of a model's next tokens may be drawn, and how likely each is then.

A decoding first sharpens or flattens the distribution by a temperature, then keeps the `top_k` most
probable tokens, then the smallest set of most probable tokens whose share reaches `top_p`, and
renormalises. Ties go to the token with the smaller number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError


@dataclass(frozen=True)
class Decoding:
    """A way to decode.

    Attributes
    ----------
    temperature : float
        Probabilities are raised to 1 / temperature; 0 is greedy.
    top_k : int or None
    top_p : float
        Holtzman et al. 2020; 1 keeps all.

    Examples
    --------
    >>> Decoding.parse("top_k=40,temperature=0.7")
    Decoding(temperature=0.7, top_k=40, top_p=1.0)
    >>> str(Decoding.parse("greedy")), str(Decoding())
    ('greedy', 'ancestral')
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < np.inf:
            raise UsageError(f"temperature={self.temperature}: a number from 0 on is needed")
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k={self.top_k}: at least 1 is needed")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p={self.top_p}: a number above 0, at most 1, is needed")

    @property
    def is_greedy(self) -> bool:
        """Whether the most probable token is always taken."""
        return self.temperature == 0 or self.top_k == 1

    @property
    def is_ancestral(self) -> bool:
        """Whether tokens are drawn from the model's own distribution."""
        return self.temperature == 1 and self.top_k is None and self.top_p == 1

    @classmethod
    def parse(cls, text: str) -> Decoding:
        """From ``ancestral``, ``greedy``, or settings such as ``top_k=40,temperature=0.7``."""
        if text == "ancestral":
            return cls()
        if text == "greedy":
            return cls(temperature=0.0)
        chosen: dict[str, float] = {}
        for part in text.split(","):
            name, _, value = part.strip().partition("=")
            if name not in ("temperature", "top_k", "top_p") or name in chosen:
                raise UsageError(
                    f"decoding {text!r}: write ancestral, greedy, or temperature=, top_k= and "
                    "top_p= with commas between"
                )
            try:
                chosen[name] = int(value) if name == "top_k" else float(value)
            except ValueError:
                raise UsageError(f"decoding {text!r}: {value!r} is no number") from None
        top_k = chosen.pop("top_k", None)
        return cls(top_k=None if top_k is None else int(top_k), **chosen)

    def __str__(self) -> str:
        if self.is_greedy:
            return "greedy"
        parts = [] if self.temperature == 1 else [f"temperature={self.temperature:g}"]
        parts += [] if self.top_k is None else [f"top_k={self.top_k}"]
        parts += [] if self.top_p == 1 else [f"top_p={self.top_p:g}"]
        return ",".join(parts) or "ancestral"


def decoded(probabilities: NDArray[np.float64], decoding: Decoding) -> NDArray[np.float64]:
    """The distribution that a decoding draws from, float64[V], given the model's own.

    Cost: one sort.

    Examples
    --------
    >>> decoded(np.array([0.5, 0.3, 0.2]), Decoding(top_k=2)).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    order = np.argsort(-probabilities, kind="stable")
    if decoding.is_greedy:
        kept = np.zeros_like(probabilities)
        kept[order[0]] = 1.0
        return kept
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities[order]) / decoding.temperature
    weights = np.exp(logs - logs[0])
    if decoding.top_k is not None:
        weights[decoding.top_k :] = 0.0
    weights /= weights.sum()
    if decoding.top_p < 1:
        before = np.cumsum(weights) - weights
        weights[before >= decoding.top_p] = 0.0
        weights /= weights.sum()
    out = np.zeros_like(probabilities)
    out[order] = weights
    return out
