"""How a model is trained, checked; what is told of it, and to whom."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textassay.errors import UsageError
from textassay.models.batches import READINGS

OPTIMISERS = ("adamw", "sgd")
SCHEDULES = ("constant", "cosine", "halving")
Logger = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained.

    Attributes
    ----------
    epochs : int
    reading : {'contiguous', 'documents'}
        Text end to end, or documents by themselves.
    batch : int
        Rows that are read side by side.
    stretch : int
        Tokens of a row that a step reads.
    optimiser : {'adamw', 'sgd'}
    rate : float
        Learning rate, at its highest.
    schedule : {'constant', 'cosine', 'halving'}
        Halving: by two after each epoch that does not improve on the development text.
    warmup : int
        Steps over which the rate grows from 0.
    weight_decay : float
    clip_norm, clip_value : float or None
        Gradients are scaled to a norm, or each component cut.
    patience : int
        Epochs without improvement on the development text before training stops.
    seed : int
    checkpoint_every : int
        Steps between checkpoints; one is written after each epoch, too.
    mixed_precision : bool or None
        Whether products are made in bfloat16, sums and weights kept in float32; None: on a GPU.
    log_every : int
        Steps between lines of ``metrics.jsonl``; one is written after each epoch, too.
    """

    epochs: int = 10
    reading: str = "contiguous"
    batch: int = 20
    stretch: int = 64
    optimiser: str = "adamw"
    rate: float = 2e-3
    schedule: str = "cosine"
    warmup: int = 100
    weight_decay: float = 0.01
    clip_norm: float | None = 1.0
    clip_value: float | None = None
    patience: int = 2
    seed: int = 0
    checkpoint_every: int = 500
    mixed_precision: bool | None = None
    log_every: int = 100

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("reading", self.reading, READINGS),
            ("optimiser", self.optimiser, OPTIMISERS),
            ("schedule", self.schedule, SCHEDULES),
        ):
            if value not in allowed:
                raise UsageError(f"{name} {value!r}: choose one of {', '.join(allowed)}")
        for name in ("epochs", "batch", "stretch", "patience", "checkpoint_every", "log_every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}: at least 1 is needed")
        for name in ("rate", "clip_norm", "clip_value"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"{name} is {value}: a number above 0 is needed")
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"seed is {self.seed}: a whole number from 0 on is needed")


@dataclass(frozen=True)
class Progress:
    """What is told after some steps."""

    epoch: int
    step: int
    steps: int
    loss: float
    tokens_per_second: float


def to_tensorboard(writer: Any) -> Logger:
    """A logger for a ``torch.utils.tensorboard.SummaryWriter``."""

    def log(line: dict[str, float]) -> None:
        for name, value in line.items():
            if name not in ("step", "epoch"):
                writer.add_scalar(name, value, int(line["step"]))

    return log
