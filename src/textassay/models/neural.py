"""Neural language models: probabilities of texts and samples, saved as safetensors and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, MissingExtraError
from textassay.models.decoding import Decoding
from textassay.models.drawing import draw_ids
from textassay.models.memory import enough_memory
from textassay.models.prompts import paired
from textassay.models.text_tokens import BEGIN, END, UNKNOWN, TextTokens, tokens_from
from textassay.stats.resampling import as_generator
from textassay.writing import atomic_files

if TYPE_CHECKING:
    from textassay.models.networks import Network

_FORMAT = 1
_STRETCH = 256  # tokens of a text at a time; the state is carried on
_BATCH = 32  # texts at a time


def require_torch() -> Any:
    """torch, or an error that says how to get it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Neural language models", "torch", "neural") from None
    return torch


class NeuralModel:
    """A network with its tokens, behind the protocol of language models.

    Parameters
    ----------
    network : Network
    tokens : TextTokens

    Attributes
    ----------
    closed : bool
        Whether unknown words share a token.
    window : int or None
    """

    def __init__(self, network: Network, tokens: TextTokens) -> None:
        self.network, self.tokens = network.eval(), tokens
        self.closed = tokens.closed
        shape = network.shape
        fields = {
            "lstm": None,
            "cnn": shape.layers * (shape.kernel - 1) + 1,
            "transformer": shape.layers * (shape.window - 1) + 1,
        }
        self.window: int | None = fields[shape.network]

    @property
    def device(self) -> Any:
        """Where the network's weights are."""
        return self.network.embedding.weight.device

    def log_probabilities(
        self,
        texts: Sequence[str],
        prompts: Sequence[str] | None = None,
        *,
        batch_size: int = _BATCH,
        progress: Callable[[int], None] | None = None,
    ) -> list[NDArray[np.float64]]:
        """Natural-log probabilities of the tokens of each text and of its end.

        Parameters
        ----------
        texts : sequence of str
        prompts : sequence of str, optional
            Context of each text, never scored. Both are encoded as one string; a token across the
            boundary is the text's.
        batch_size : int
            Texts at a time; the numbers do not depend on it but for the last digits.
        progress : callable, optional
            Told how many texts are done.

        Returns
        -------
        list of float64[T + 1]
            The last is that of the end. They sum to ln p(text | prompt).

        Notes
        -----
        A word that is not in the vocabulary has the probability of ``<unk>``. Texts of any length
        are read with the state carried on, so that nothing is cut.
        """
        torch = require_torch()
        encoded = self.tokens.encode_behind(paired(len(texts), prompts), texts)
        out: list[NDArray[np.float64]] = [np.empty(0)] * len(texts)
        order = sorted(range(len(texts)), key=lambda d: len(encoded[d][0]))
        done = 0
        with torch.inference_mode(), enough_memory("shorter texts need less"):
            for first in range(0, len(order), batch_size):
                chosen = order[first : first + batch_size]
                rows = [[BEGIN, *encoded[d][0], END] for d in chosen]
                logs = self._score([row[:-1] for row in rows], [row[1:] for row in rows])
                for d, numbers in zip(chosen, logs, strict=True):
                    out[d] = numbers[encoded[d][1] :]
                done += len(chosen)
                if progress:
                    progress(done)
        return out

    def _score(
        self, inputs: list[list[int]], targets: list[list[int]]
    ) -> list[NDArray[np.float64]]:
        """Log-probabilities of all targets of a batch, padded on the right."""
        torch = require_torch()
        longest = max(map(len, inputs))
        padded = torch.full((2, len(inputs), longest), END, dtype=torch.long)
        for row, pair in enumerate(zip(inputs, targets, strict=True)):
            for side, ids in enumerate(pair):
                padded[side, row, : len(ids)] = torch.tensor(ids, dtype=torch.long)
        padded = padded.to(self.device)
        state = None
        parts = []
        for begin in range(0, longest, _STRETCH):
            stretch = padded[:, :, begin : begin + _STRETCH]
            hidden, state = self.network.hidden(stretch[0], state)
            parts.append(self.network.target_logs(hidden, stretch[1]).double().cpu().numpy())
        logs = np.concatenate(parts, axis=1)
        return [row[: len(ids)] for row, ids in zip(logs, inputs, strict=True)]

    def next_probabilities(self, histories: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities of every id behind each text, float64[B, V]; they sum to 1."""
        torch = require_torch()
        with torch.inference_mode():
            rows = [[BEGIN, *ids] for ids in self.tokens.encode(histories)]
            found: NDArray[np.float64] = np.exp([self._read([row], None)[0][0] for row in rows])
        return found

    def _read(self, rows: Sequence[list[int]], state: Any) -> tuple[NDArray[np.float64], Any]:
        """Log-probabilities behind rows of one length, float64[B, V], and the state there."""
        torch = require_torch()
        ids = torch.tensor(rows, device=self.device)
        for begin in range(0, ids.shape[1], _STRETCH):
            hidden, state = self.network.hidden(ids[:, begin : begin + _STRETCH], state)
        logs = self.network.log_probabilities(hidden[:, -1]).double().cpu().numpy()
        return logs, state

    def sample(
        self,
        n: int,
        decoding: Decoding | None = None,
        *,
        prompts: Sequence[str] | None = None,
        max_length: int = 1000,
        rng: np.random.Generator | int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """`n` texts of at most `max_length` tokens; behind the first `n` prompts if there are any.

        Row r of a run draws from a stream of its own, one number a token, so that a text does not
        depend on how many others are drawn beside it. Neither the begin nor ``<unk>`` is drawn.
        """
        before_text = paired(n, prompts)
        with require_torch().inference_mode():
            found = draw_ids(
                lambda: _Reader(self),
                [[BEGIN, *ids] for ids in self.tokens.encode(before_text)],
                decoding or Decoding(),
                [max_length] * n,
                as_generator(rng).integers(0, 2**63, max(1, n)).tolist(),
                progress,
            )
        return [
            self.tokens.decode(ids, prompt) for ids, prompt in zip(found, before_text, strict=True)
        ]

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors`` and ``model.json``: both, or neither.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        from safetensors.torch import save

        folder = Path(folder)
        tensors = {k: v.detach().cpu().contiguous() for k, v in self.network.state_dict().items()}
        described = {
            "model": "neural",
            "format": _FORMAT,
            "shape": self.network.shape.described(),
            "tokens": self.tokens.described(),
        }
        paths = [folder / "model.safetensors", folder / "model.json"]
        with atomic_files(paths) as (weights, text):
            weights.write(save(tensors))
            text.write(json.dumps(described, ensure_ascii=False).encode())

    @classmethod
    def load(cls, folder: Path, *, device: str | None = None) -> NeuralModel:
        """Read what :meth:`save` wrote; onto a GPU where there is one.

        Raises
        ------
        InputError
            If the folder holds no such model, or its weights do not fit its description.
        """
        torch = require_torch()
        from safetensors.torch import load_file

        from textassay.models.networks import Network, Shape

        folder = Path(folder)
        try:
            described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
            if described.get("model") != "neural" or described.get("format") != _FORMAT:
                raise ValueError("model.json names another model or format")
            shape = described["shape"]
            network = Network(Shape(**{**shape, "cutoffs": tuple(shape["cutoffs"])}))
            tokens = tokens_from(described["tokens"])
            if tokens.size != network.shape.vocabulary:
                raise ValueError(
                    f"the vocabulary holds {tokens.size:,} tokens, the network "
                    f"{network.shape.vocabulary:,}"
                )
            weights = load_file(folder / "model.safetensors")
            if not all(bool(torch.isfinite(part).all()) for part in weights.values()):
                raise ValueError("its weights hold numbers that are not finite: train it anew")
            network.load_state_dict(weights)
        except Exception as error:  # whatever is wrong with the files
            said = " ".join(str(error).split())[:300]
            raise InputError(
                f"holds no neural model: {said}; train it anew", file=str(folder)
            ) from None
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        return cls(network.to(place), tokens)


class _Reader:
    """Rows of a network's state; neither the begin nor ``<unk>`` is drawn."""

    end: int | None = END

    def __init__(self, model: NeuralModel) -> None:
        self._model = model
        self._state: Any = None

    def begin(self, rows: Sequence[list[int]]) -> NDArray[np.float64]:
        """Read rows of one length."""
        logs, self._state = self._model._read(rows, None)
        return self._drawable(logs)

    def step(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Read one more id of each row."""
        logs, self._state = self._model._read([[i] for i in ids], self._state)
        return self._drawable(logs)

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows."""
        from textassay.models.networks import with_tensors

        places = require_torch().tensor(rows, device=self._model.device)
        self._state = with_tensors(self._state, lambda part: part.index_select(0, places))

    def _drawable(self, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.exp(logs)
        found[:, [BEGIN, UNKNOWN]] = 0.0
        kept: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
        return kept
