"""Decoding: which of a model's next tokens may be drawn, and how likely each is then.

A decoding first sharpens or flattens the distribution by a temperature, then keeps the `top_k` most
probable tokens, then the smallest set of most probable tokens whose share reaches `top_p`, then the
smallest set of most typical tokens whose share reaches `typical`, and renormalises after each. Ties
go to the token with the smaller number. Beam search draws nothing: it looks for the most probable
text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError

_SETTINGS = ("temperature", "top_k", "top_p", "typical", "beams")
_WHOLE = ("top_k", "beams")
_MOST = 2**31 - 1


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
    typical : float
        Meister et al. 2023: tokens whose surprisal is closest to the entropy; 1 keeps all.
    beams : int
        Of beam search; 1: none.

    Examples
    --------
    >>> Decoding.parse("top_k=40,temperature=0.7")
    Decoding(temperature=0.7, top_k=40, top_p=1.0, typical=1.0, beams=1)
    >>> str(Decoding.parse("greedy")), str(Decoding())
    ('greedy', 'ancestral')
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    typical: float = 1.0
    beams: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < np.inf:
            raise UsageError(f"temperature={self.temperature}: a number from 0 on is needed")
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k={self.top_k}: at least 1 is needed")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p={self.top_p}: a number above 0, at most 1, is needed")
        if not 0 < self.typical <= 1:
            raise UsageError(f"typical={self.typical}: a number above 0, at most 1, is needed")
        if self.beams < 1:
            raise UsageError(f"beams={self.beams}: at least 1 is needed")
        for name in _WHOLE:
            if (getattr(self, name) or 0) > _MOST:
                raise UsageError(f"{name}={getattr(self, name)}: at most {_MOST:,} is needed")
        others = (self.temperature, self.top_k, self.top_p, self.typical)
        if self.beams > 1 and others != (1.0, None, 1.0, 1.0):
            raise UsageError("beams: beam search draws nothing, so it takes no other setting")

    @property
    def is_greedy(self) -> bool:
        """Whether the most probable token is always taken."""
        return self.temperature == 0 or self.top_k == 1

    @property
    def is_ancestral(self) -> bool:
        """Whether tokens are drawn from the model's own distribution."""
        return self == Decoding()

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
            if name not in _SETTINGS or name in chosen:
                raise UsageError(
                    f"decoding {text!r}: write ancestral, greedy, beams=, or temperature=, top_k=, "
                    "top_p= and typical= with commas between"
                )
            try:
                chosen[name] = int(value) if name in _WHOLE else float(value)
            except ValueError:
                raise UsageError(f"decoding {text!r}: {value!r} is no number") from None
        if chosen.get("beams") == 1:
            raise UsageError(f"decoding {text!r}: a search with one beam is greedy: write greedy")
        top_k = chosen.get("top_k")
        return cls(
            temperature=chosen.get("temperature", 1.0),
            top_k=None if top_k is None else int(top_k),
            top_p=chosen.get("top_p", 1.0),
            typical=chosen.get("typical", 1.0),
            beams=int(chosen.get("beams", 1)),
        )

    def __str__(self) -> str:
        if self.is_greedy:
            return "greedy"
        parts = [] if self.temperature == 1 else [f"temperature={_short(self.temperature)}"]
        parts += [] if self.top_k is None else [f"top_k={self.top_k}"]
        parts += [] if self.top_p == 1 else [f"top_p={_short(self.top_p)}"]
        parts += [] if self.typical == 1 else [f"typical={_short(self.typical)}"]
        parts += [] if self.beams == 1 else [f"beams={self.beams}"]
        return ",".join(parts) or "ancestral"


def _short(number: float) -> str:
    """A number as it is written, no digit lost."""
    return repr(float(number)).removesuffix(".0")


def decoded(probabilities: NDArray[np.float64], decoding: Decoding) -> NDArray[np.float64]:
    """The distribution that a decoding draws from, float64[V], given the model's own.

    Cost: one sort.

    Examples
    --------
    >>> decoded(np.array([0.5, 0.3, 0.2]), Decoding(top_k=2)).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    row: NDArray[np.float64] = decoded_rows(probabilities[None], decoding)[0]
    return row


def decoded_rows(probabilities: NDArray[np.float64], decoding: Decoding) -> NDArray[np.float64]:
    """The same of several distributions, float64[B, V]."""
    if decoding.beams > 1:
        raise UsageError("beam search draws from no distribution")
    if decoding.is_greedy:
        kept = np.zeros_like(probabilities)
        kept[np.arange(len(kept)), probabilities.argmax(axis=1)] = 1.0
        return kept
    weights = probabilities
    if decoding.temperature != 1:
        with np.errstate(divide="ignore", over="ignore"):
            logs = np.log(probabilities)
            weights = np.exp((logs - logs.max(axis=1, keepdims=True)) / decoding.temperature)
    if decoding.top_k is not None and decoding.top_k < weights.shape[1]:
        weights = _kept(weights, -weights, top_k=decoding.top_k)
    if decoding.top_p < 1:
        weights = _kept(weights, -weights, share=decoding.top_p)
    if decoding.typical < 1:
        shares = weights / weights.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            surprisals = -np.log(shares)
            entropies = np.nansum(shares * surprisals, axis=1, keepdims=True)
            weights = _kept(weights, np.abs(surprisals - entropies), share=decoding.typical)
    if weights is probabilities:
        return probabilities
    found: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return found


def _kept(
    weights: NDArray[np.float64],
    keys: NDArray[np.float64],
    *,
    top_k: int | None = None,
    share: float = 1.0,
) -> NDArray[np.float64]:
    """The weights of the first tokens by their keys, so many or until they reach a share."""
    order = np.argsort(keys, axis=1, kind="stable")
    ordered = np.take_along_axis(weights, order, axis=1)
    if top_k is not None:
        ordered[:, top_k:] = 0.0
    else:
        shares = ordered / ordered.sum(axis=1, keepdims=True)
        ordered[np.cumsum(shares, axis=1) - shares >= share] = 0.0
    out = np.zeros_like(weights)
    np.put_along_axis(out, order, ordered, axis=1)
    return out
