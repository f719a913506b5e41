"""The networks: LSTM, gated convolutions, Transformer. Each reads ids and carries a state on.

All are functions of a stretch of ids and the state behind the stretch before, so that training on
contiguous text, scoring of long texts and sampling token by token are one and the same call. This
file needs torch; others import it where they need it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from textassay.errors import UsageError

State = Any
NETWORKS = ("lstm", "cnn", "transformer")


@dataclass(frozen=True)
class Shape:
    """Of a network.

    Attributes
    ----------
    network : {'lstm', 'cnn', 'transformer'}
    vocabulary : int
    width : int
        Of embeddings and hidden layers.
    layers : int
    heads : int
        Of a Transformer.
    window : int
        Tokens of context: of a Transformer's segments; ignored by an LSTM.
    kernel : int
        Of convolutions.
    dropout : float
    memory : bool
        Whether a Transformer sees the segment before, too (segment recurrence, Dai et al. 2019).
    cutoffs : tuple of int
        Of an adaptive softmax (Grave et al. 2017); none: a full softmax, whose weights are those of
        the embeddings.
    """

    network: str
    vocabulary: int
    width: int = 256
    layers: int = 2
    heads: int = 4
    window: int = 256
    kernel: int = 4
    dropout: float = 0.2
    memory: bool = False
    cutoffs: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.network not in NETWORKS:
            raise UsageError(f"network {self.network!r}: choose one of {', '.join(NETWORKS)}")
        for name in ("vocabulary", "width", "layers", "heads", "window", "kernel"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: at least 1 is needed")
        ends = (0, *self.cutoffs, self.vocabulary)
        if any(one >= other for one, other in pairwise(ends)):
            raise UsageError(
                f"cutoffs {', '.join(map(str, self.cutoffs))}: they must grow, from 1 to below the "
                f"{self.vocabulary:,} tokens of the vocabulary"
            )
        if self.network == "transformer" and self.width % (2 * self.heads):
            raise UsageError(f"width {self.width}: a multiple of {2 * self.heads} is needed")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"dropout {self.dropout}: a number from 0 on, below 1, is needed")

    def described(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


class Network(nn.Module):
    """An embedding, a body with a state, and a softmax over the vocabulary."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        bodies: dict[str, type[nn.Module]] = {
            "lstm": LstmBody,
            "cnn": ConvolutionBody,
            "transformer": TransformerBody,
        }
        self.body = bodies[shape.network](shape)
        self.dropout = nn.Dropout(shape.dropout)
        self.adaptive: nn.AdaptiveLogSoftmaxWithLoss | None = None
        self.bias: nn.Parameter | None = None
        if shape.cutoffs:
            self.adaptive = nn.AdaptiveLogSoftmaxWithLoss(
                shape.width, shape.vocabulary, list(shape.cutoffs)
            )
        else:
            self.bias = nn.Parameter(torch.zeros(shape.vocabulary))
        nn.init.normal_(self.embedding.weight, std=1 / math.sqrt(shape.width))

    def hidden(self, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """Hidden layer behind each id, float[B, T, width], and the state behind the last."""
        out, state = self.body(self.dropout(self.embedding(ids)), state)
        return self.dropout(out), state

    def loss(self, hidden: Tensor, targets: Tensor, known: Tensor) -> Tensor:
        """Mean negative log-probability of the targets that are known, nats a token."""
        # the softmax is most of the work: nothing of it for what is not learnt
        logs = self.target_logs(hidden[known][None], targets[known][None])
        return -logs.sum() / max(1, logs.numel())

    def target_logs(self, hidden: Tensor, targets: Tensor) -> Tensor:
        """Log-probabilities of the targets, float[B, T]."""
        if self.adaptive is not None:
            flat = self.adaptive(hidden.flatten(0, 1), targets.flatten()).output
            return flat.view_as(targets)
        logits = functional.linear(hidden, self.embedding.weight, self.bias)
        return -functional.cross_entropy(
            logits.flatten(0, 1).float(), targets.flatten(), reduction="none"
        ).view_as(targets)

    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """Log-probabilities of all tokens, float[B, V], behind hidden layers float[B, width]."""
        if self.adaptive is not None:
            return self.adaptive.log_prob(hidden)
        logits = functional.linear(hidden, self.embedding.weight, self.bias)
        return functional.log_softmax(logits.float(), dim=-1)


def with_tensors(state: State, function: Callable[[Tensor], Tensor]) -> State:
    """The state with each tensor replaced by what a function makes of it."""
    if state is None or isinstance(state, int):
        return state
    if isinstance(state, Tensor):
        return function(state)
    return tuple(with_tensors(part, function) for part in state)


class LstmBody(nn.Module):
    """Layers of an LSTM with dropout between them (Zaremba et al. 2014).

    State: h and c, float[B, layers, width]; rows of a batch come first, as in all states.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        between = shape.dropout if shape.layers > 1 else 0.0
        self.lstm = nn.LSTM(
            shape.width, shape.width, shape.layers, batch_first=True, dropout=between
        )

    def forward(self, vectors: Tensor, state: State) -> tuple[Tensor, State]:
        """float[B, T, width] and a state."""
        if state is not None:
            state = tuple(part.transpose(0, 1).contiguous() for part in state)
        out, state = self.lstm(vectors, state)
        return out, tuple(part.transpose(0, 1) for part in state)


class ConvolutionBody(nn.Module):
    """Causal convolutions with gates and residuals (Dauphin et al. 2017).

    State: the last kernel - 1 inputs of each layer.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.before = shape.kernel - 1
        self.layers = nn.ModuleList(
            nn.Conv1d(shape.width, 2 * shape.width, shape.kernel) for _ in range(shape.layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(shape.layers))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, vectors: Tensor, state: State) -> tuple[Tensor, State]:
        """float[B, T, width] and a state."""
        kept = []
        for number, (convolution, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            inputs = norm(vectors).transpose(1, 2)
            if state is None:
                inputs = functional.pad(inputs, (self.before, 0))
            else:
                inputs = torch.cat([state[number], inputs], dim=2)
            kept.append(inputs[:, :, inputs.shape[2] - self.before :])
            gated = functional.glu(convolution(inputs), dim=1).transpose(1, 2)
            vectors = vectors + self.dropout(gated)
        return vectors, tuple(kept)


class TransformerBody(nn.Module):
    """Decoder layers, normalised first, with rotary positions (Su et al. 2021).

    State: keys and values of what was read. Rotary positions are relative, so that the same state
    serves as cache in sampling and as the segment before in training with memory.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.window = shape.window
        self.layers = nn.ModuleList(_TransformerLayer(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)

    def forward(self, vectors: Tensor, state: State) -> tuple[Tensor, State]:
        """float[B, T, width] and a state."""
        begin = 0 if state is None else int(state[0])
        kept = []
        for number, layer in enumerate(self.layers):
            before = None if state is None else state[1][number]
            vectors, read = layer(vectors, before, begin)
            kept.append(tuple(part[:, :, -self.window :] for part in read))
        return self.norm(vectors), (begin + vectors.shape[1], tuple(kept))


class _TransformerLayer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.window = shape.heads, shape.window
        self.dropout = shape.dropout
        self.norms = nn.ModuleList(nn.LayerNorm(shape.width) for _ in range(2))
        self.project = nn.Linear(shape.width, 3 * shape.width)
        self.output = nn.Linear(shape.width, shape.width)
        self.inner = nn.Linear(shape.width, 4 * shape.width)
        self.outer = nn.Linear(4 * shape.width, shape.width)

    def forward(
        self, vectors: Tensor, before: tuple[Tensor, Tensor] | None, begin: int
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        batch, length, width = vectors.shape
        parts = self.project(self.norms[0](vectors)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        query, key = (rotated(part, begin) for part in (query, key))
        if before is not None:
            key = torch.cat([before[0], key], dim=2)
            value = torch.cat([before[1], value], dim=2)
        at = torch.arange(length, device=vectors.device)[:, None] + key.shape[2] - length
        there = torch.arange(key.shape[2], device=vectors.device)[None]
        seen = (there <= at) & (there > at - self.window)
        mixed = functional.scaled_dot_product_attention(
            query, key, value, seen, dropout_p=self.dropout if self.training else 0.0
        )
        joined = mixed.transpose(1, 2).reshape(batch, length, width)
        vectors = vectors + self._drop(self.output(joined))
        grown = functional.gelu(self.inner(self.norms[1](vectors)))
        return vectors + self._drop(self.outer(grown)), (key, value)

    def _drop(self, vectors: Tensor) -> Tensor:
        return functional.dropout(vectors, self.dropout, self.training)


def rotated(vectors: Tensor, begin: int) -> Tensor:
    """Queries or keys, float[B, heads, T, d], turned by angles that grow with their positions."""
    half = vectors.shape[-1] // 2
    # in double precision: far into a text a single angle has no digits left
    exponents = torch.arange(half, device=vectors.device, dtype=torch.float64) / half
    places = torch.arange(begin, begin + vectors.shape[2], device=vectors.device)
    angles = places[:, None] * 10_000.0**-exponents
    cosine, sine = angles.cos().to(vectors.dtype), angles.sin().to(vectors.dtype)
    one, other = vectors[..., :half], vectors[..., half:]
    return torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1)
