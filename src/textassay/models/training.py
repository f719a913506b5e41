"""Training a neural language model: one loop for all networks.

Each step reads the next stretch of every row of a block (:mod:`textassay.models.batches`) with the
state carried on: truncated backpropagation through time. An epoch reads everything once.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from textassay.errors import InputError, UsageError
from textassay.models.batches import Batches
from textassay.models.checkpoints import (
    part_of,
    read_checkpoint,
    rebuilt,
    taken_apart,
    write_checkpoint,
)
from textassay.models.memory import enough_memory
from textassay.models.networks import Network, Shape, State, with_tensors
from textassay.models.neural import NeuralModel, require_torch
from textassay.models.text_tokens import BEGIN, TextTokens
from textassay.models.training_options import Logger, Progress, TrainingOptions
from textassay.resume import digest_of
from textassay.writing import atomic_files

# What a checkpoint holds of where a run stands.
_PLACE = ("epoch", "step", "block", "position", "factor", "waited", "losses", "weights")


def train(
    texts: Sequence[str],
    tokens: TextTokens,
    shape: Shape,
    options: TrainingOptions,
    *,
    folder: Path,
    development: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    logger: Logger | None = None,
) -> NeuralModel:
    """Train, or go on where a run with the same settings in the same folder was stopped.

    Parameters
    ----------
    texts, development : sequence of str
        With development text the best epoch's weights are kept, and training stops when they do
        not improve.
    tokens : TextTokens
    shape : Shape
    options : TrainingOptions
    folder : Path
        For the model, checkpoints and ``metrics.jsonl``.
    progress : callable, optional
    logger : callable, optional
        Given each line of ``metrics.jsonl`` as a dict: ``run.log`` of Weights & Biases, or
        ``to_tensorboard(writer)``.

    Raises
    ------
    UsageError
        If there is too little text for a batch, or a Transformer without memory is to have a window
        beyond a stretch: it would never have seen such distances when it is asked for them.
        Also if memory does not suffice; the last checkpoint is still there then.
    InputError
        If the folder's checkpoint is of another run.

    Notes
    -----
    A checkpoint holds weights, the optimiser's sums, the carried state, the generator's state and
    the position in the text, so that a stopped run ends with the same bits as one that was not, on
    one machine. It is written whole or not at all.
    """
    if shape.network == "transformer" and not shape.memory and options.stretch < shape.window:
        raise UsageError(
            f"a Transformer without memory sees no further than a stretch of {options.stretch} "
            f"tokens: a window of {shape.window} needs --stretch {shape.window}, or --memory"
        )
    documents = tokens.encode([text for text in texts if text.strip()])
    batches = Batches(documents, options.reading, options.batch, options.stretch, options.seed)
    with enough_memory("a smaller --width, --batch, --stretch or vocabulary needs less"):
        run = _Run(tokens, shape, options, folder, batches, development, logger)
        run.begin()
        while run.epoch < options.epochs and not run.is_done:
            run.read_epoch(progress)
        return run.finish()


class _Run:
    """A training run and where it stands."""

    def __init__(
        self,
        tokens: TextTokens,
        shape: Shape,
        options: TrainingOptions,
        folder: Path,
        batches: Batches,
        development: Sequence[str],
        logger: Logger | None,
    ) -> None:
        torch = require_torch()
        self.tokens, self.options, self.folder, self.logger = tokens, options, folder, logger
        self.development = list(development)
        torch.manual_seed(options.seed)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.network = Network(shape).to(self.device)
        self.batches = batches
        parameters = self.network.parameters()
        if options.optimiser == "adamw":
            self.optimiser: Any = torch.optim.AdamW(
                parameters, lr=options.rate, weight_decay=options.weight_decay
            )
        else:
            self.optimiser = torch.optim.SGD(
                parameters, lr=options.rate, weight_decay=options.weight_decay
            )
        self.carries = shape.network != "transformer" or shape.memory
        self.steps = batches.steps
        self.epoch, self.step, self.block, self.position = 0, 0, 0, 0
        self.factor = 1.0
        self.best, self.waited = math.inf, 0
        self.state: State = None
        self.losses: list[float] = []
        self.weights: list[int] = []
        self.described = {
            "shape": shape.described(),
            "options": asdict(options),
            "tokens": tokens.described(),
            "text": batches.digest,
            "development": digest_of(self.development),
        }

    @property
    def is_done(self) -> bool:
        """Whether waiting for an improvement was in vain."""
        return self.waited >= self.options.patience

    def begin(self) -> None:
        """Go on from a checkpoint, if there is one."""
        torch = require_torch()
        found = read_checkpoint(self.folder)
        if found is None:
            (self.folder / "metrics.jsonl").unlink(missing_ok=True)
            return
        tensors, at = found
        try:
            if at["described"] != json.loads(json.dumps(self.described)):
                raise InputError(
                    "holds a checkpoint of other text or settings: choose another folder, or "
                    "delete checkpoint.json to begin anew",
                    file=str(self.folder),
                )
            self.network.load_state_dict(part_of(tensors, "network."))
            self._load_optimiser(part_of(tensors, "optimiser."), at["optimiser"])
            torch.set_rng_state(tensors["generator"])
            if "cuda" in tensors:
                torch.cuda.set_rng_state(tensors["cuda"])
            state = part_of(tensors, "state.")
            self.state = rebuilt(at["state"], {k: v.to(self.device) for k, v in state.items()})
            for name in (*_PLACE, "best"):
                setattr(self, name, at[name])
            lines = int(at["lines"])
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            raise InputError(
                f"holds a checkpoint of another version ({first}): delete checkpoint.json to "
                "begin anew",
                file=str(self.folder),
            ) from None
        self.best = math.inf if self.best is None else self.best
        self._cut_metrics(lines)

    def read_epoch(self, progress: Callable[[Progress], None] | None) -> None:
        """Read the rest of the text once, then look at the development text."""
        torch = require_torch()
        self.network.train()
        begin, done = time.perf_counter(), 0
        blocks = self.batches.blocks(self.epoch)
        while self.block < len(blocks):
            block = torch.from_numpy(blocks[self.block]).to(self.device)
            size = block.shape[1] - 1
            while self.position < size:
                end = min(size, self.position + self.options.stretch)
                self._step(block, self.position, end)
                done += (end - self.position) * block.shape[0]
                self.position, self.step = end, self.step + 1
                if self.step % self.options.log_every == 0:
                    self._write_metrics(self._line(self._mean_loss(self.options.log_every)))
                if self.step % self.options.checkpoint_every == 0:
                    self.save_checkpoint()
                if progress and self.step % 20 == 0:
                    speed = done / max(1e-9, time.perf_counter() - begin)
                    mean = self._mean_loss(100)
                    steps = self.steps * self.options.epochs
                    progress(Progress(self.epoch, self.step, steps, mean, speed))
            self.block, self.position, self.state = self.block + 1, 0, None
        mean = self._mean_loss(len(self.losses))
        self.epoch, self.block, self.losses, self.weights = self.epoch + 1, 0, [], []
        line = self._line(mean)
        if self.development:
            self.network.eval()
            with torch.inference_mode():
                line["development"] = self._development_loss()
            self._judge(line["development"])
        self._write_metrics(line)
        self.save_checkpoint()

    def _line(self, loss: float) -> dict[str, float]:
        return {"epoch": self.epoch, "step": self.step, "loss": loss, "rate": self._rate()}

    def _mean_loss(self, steps: int) -> float:
        """Of the last steps, nats a token."""
        return float(np.average(self.losses[-steps:], weights=self.weights[-steps:]))

    def _step(self, block: Any, begin: int, end: int) -> None:
        """One update."""
        torch = require_torch()
        inputs, targets = block[:, begin:end], block[:, begin + 1 : end + 1]
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        self.optimiser.zero_grad(set_to_none=True)
        mixed = self.options.mixed_precision
        mixed = self.device == "cuda" if mixed is None else mixed
        with torch.autocast(self.device, torch.bfloat16, enabled=mixed):
            hidden, state = self.network.hidden(inputs, self.state)
            # a begin follows an end always, and stands for padding: nothing is to be learnt of it
            known = targets != BEGIN
            loss = self.network.loss(hidden, targets, known)
        found = float(loss.detach())
        if not math.isfinite(found):
            raise UsageError(
                f"the loss is {found} at step {self.step + 1}: give a smaller --rate, or clip "
                "gradients; the last checkpoint is as it was"
            )
        backward: Any = loss.backward
        backward()
        parameters = list(self.network.parameters())
        if self.options.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(parameters, self.options.clip_norm)
        if self.options.clip_value is not None:
            torch.nn.utils.clip_grad_value_(parameters, self.options.clip_value)
        self.optimiser.step()
        self.state = with_tensors(state, lambda part: part.detach()) if self.carries else None
        self.losses.append(found)
        self.weights.append(max(1, int(known.sum())))

    def _rate(self) -> float:
        options = self.options
        rate = options.rate * self.factor * min(1.0, (self.step + 1) / max(1, options.warmup))
        if options.schedule == "cosine":
            done = min(1.0, self.step / max(1, self.steps * options.epochs))
            rate *= 0.5 * (1 + math.cos(math.pi * done)) * 0.99 + 0.01
        return rate

    def _development_loss(self) -> float:
        """Nats a token of the development text, its ends included."""
        logs = NeuralModel(self.network, self.tokens).log_probabilities(self.development)
        return -float(np.concatenate(logs).mean())

    def _judge(self, loss: float) -> None:
        if loss < self.best - 1e-4:
            self.best, self.waited = loss, 0
            NeuralModel(self.network, self.tokens).save(self.folder)
            return
        self.waited += 1
        if self.options.schedule == "halving":
            self.factor /= 2

    def finish(self) -> NeuralModel:
        """The model of the best epoch, or the last one without development text."""
        if self.development and math.isfinite(self.best):
            return NeuralModel.load(self.folder)
        model = NeuralModel(self.network, self.tokens)
        model.save(self.folder)
        return model

    def _write_metrics(self, line: dict[str, float]) -> None:
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if self.logger:
            self.logger(line)

    def _lines(self) -> int:
        path = self.folder / "metrics.jsonl"
        return len(path.read_bytes().splitlines()) if path.exists() else 0

    def _cut_metrics(self, lines: int) -> None:
        """Leave out what was written behind the checkpoint."""
        path = self.folder / "metrics.jsonl"
        kept = path.read_bytes().splitlines(keepends=True)[:lines] if path.exists() else []
        with atomic_files([path]) as (file,):
            file.write(b"".join(kept))

    def save_checkpoint(self) -> None:
        """Write where the run stands."""
        torch = require_torch()
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        described = self.optimiser.state_dict()
        for number, sums in described["state"].items():
            for name, value in sums.items():
                tensors[f"optimiser.{number}.{name}"] = torch.as_tensor(value)
        tensors["generator"] = torch.get_rng_state()
        if self.device == "cuda":
            tensors["cuda"] = torch.cuda.get_rng_state()
        form, parts = taken_apart(self.state)
        tensors.update({f"state.{k}": v for k, v in parts.items()})
        at = {
            "described": self.described,
            "optimiser": described["param_groups"],
            "state": form,
            "lines": self._lines(),
            "best": self.best if math.isfinite(self.best) else None,
        }
        for name in _PLACE:
            at[name] = getattr(self, name)
        write_checkpoint(self.folder, self.step, tensors, at)

    def _load_optimiser(self, tensors: dict[str, Any], groups: list[dict[str, Any]]) -> None:
        state: dict[int, dict[str, Any]] = {}
        for key, value in tensors.items():
            number, _, name = key.partition(".")
            state.setdefault(int(number), {})[name] = value
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
