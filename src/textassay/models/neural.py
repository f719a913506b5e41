"""Neural language models: probabilities of texts and samples, saved as safetensors and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, MissingExtraError, UsageError
from textassay.models.decoding import Decoding, decoded_rows
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

    joins = False

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
            Context of each text, tokenized by itself; never scored.
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
        before = [[BEGIN, *ids] for ids in self._prompt_ids(len(texts), prompts)]
        ids = [[*found, END] for found in self.tokens.encode(texts)]
        out: list[NDArray[np.float64]] = [np.empty(0)] * len(texts)
        order = sorted(range(len(texts)), key=lambda d: len(before[d]) + len(ids[d]))
        done = 0
        with torch.inference_mode():
            for first in range(0, len(order), batch_size):
                chosen = order[first : first + batch_size]
                rows = [before[d] + ids[d] for d in chosen]
                logs = self._score([row[:-1] for row in rows], [row[1:] for row in rows])
                for d, numbers in zip(chosen, logs, strict=True):
                    out[d] = numbers[len(before[d]) - 1 :]
                done += len(chosen)
                if progress:
                    progress(done)
        return out

    def _prompt_ids(self, n: int, prompts: Sequence[str] | None) -> list[list[int]]:
        if prompts is None:
            return [[] for _ in range(n)]
        if len(prompts) < n:
            raise UsageError(f"{len(prompts)} prompts for {n} texts: one is needed for each")
        return self.tokens.encode(prompts[:n])

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
            found: NDArray[np.float64] = np.exp([self._read([row])[0][0] for row in rows])
        return found

    def _read(self, rows: Sequence[list[int]]) -> tuple[NDArray[np.float64], Any]:
        """Log-probabilities behind rows of one length, float64[B, V], and the state there."""
        torch = require_torch()
        ids = torch.tensor(rows, device=self.device)
        state = None
        for begin in range(0, ids.shape[1], _STRETCH):
            hidden, state = self.network.hidden(ids[:, begin : begin + _STRETCH], state)
        return self._logs(hidden), state

    def _logs(self, hidden: Any) -> NDArray[np.float64]:
        logs: NDArray[np.float64] = (
            self.network.log_probabilities(hidden[:, -1]).double().cpu().numpy()
        )
        return logs

    def _step(self, ids: Sequence[int], state: Any) -> tuple[NDArray[np.float64], Any]:
        """The same behind one more id for each row."""
        torch = require_torch()
        read = torch.tensor([[i] for i in ids], device=self.device)
        hidden, state = self.network.hidden(read, state)
        return self._logs(hidden), state

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
        torch = require_torch()
        decoding = decoding or Decoding()
        before = [[BEGIN, *ids] for ids in self._prompt_ids(n, prompts)]
        seeds = as_generator(rng).integers(0, 2**63, max(1, n)).tolist()
        found: list[list[int]] = [[]] * n
        done = 0
        with torch.inference_mode():
            for rows in _of_one_length(before, n):
                if decoding.beams > 1:
                    drawn = [self._beam(before[r], decoding.beams, max_length) for r in rows]
                else:
                    streams = [np.random.default_rng(seeds[r]) for r in rows]
                    drawn = self._draw([before[r] for r in rows], decoding, max_length, streams)
                for r, ids in zip(rows, drawn, strict=True):
                    found[r] = ids
                done += len(rows)
                if progress:
                    progress(done)
        return [self.tokens.decode(ids) for ids in found]

    def _draw(
        self,
        rows: list[list[int]],
        decoding: Decoding,
        max_length: int,
        streams: list[np.random.Generator],
    ) -> list[list[int]]:
        logs, state = self._read(rows)
        out: list[list[int]] = [[] for _ in rows]
        alive = list(range(len(rows)))
        for _ in range(max_length):
            probabilities = decoded_rows(_drawable(logs), decoding)
            ids = [
                _pick(row, streams[r].random()) for r, row in zip(alive, probabilities, strict=True)
            ]
            going = [k for k, i in enumerate(ids) if i != END]
            for k in going:
                out[alive[k]].append(ids[k])
            if not going:
                break
            if len(going) < len(alive):
                state = self._selected(state, going)
                alive = [alive[k] for k in going]
            logs, state = self._step([ids[k] for k in going], state)
        return out

    def _beam(self, row: list[int], beams: int, max_length: int) -> list[int]:
        """The most probable text that a search with so many beams finds, its end included.

        A text of the greatest length has no end and competes as it is.
        """
        logs, state = self._read([row])
        kept: list[tuple[float, list[int]]] = [(0.0, [])]
        ended: list[tuple[float, list[int]]] = []
        for _ in range(max_length):
            with np.errstate(divide="ignore"):
                steps = np.log(_drawable(logs))
            scores = steps + np.array([score for score, _ in kept])[:, None]
            ended += [(float(scores[b, END]), kept[b][1]) for b in range(len(kept))]
            scores[:, END] = -np.inf
            best = np.argsort(-scores, axis=None, kind="stable")[:beams]
            places = [divmod(place, scores.shape[1]) for place in best.tolist()]
            places = [(b, i) for b, i in places if np.isfinite(scores[b, i])]
            # what goes on can only become less probable
            reached = max(score for score, _ in ended)
            if not places or reached >= scores[places[0]]:
                return max(ended, key=lambda found: found[0])[1]
            kept = [(float(scores[b, i]), [*kept[b][1], i]) for b, i in places]
            logs, state = self._step(
                [i for _, i in places], self._selected(state, [b for b, _ in places])
            )
        return max([*ended, *kept], key=lambda found: found[0])[1]

    def _selected(self, state: Any, rows: list[int]) -> Any:
        """Some rows of a state."""
        torch = require_torch()
        from textassay.models.networks import with_tensors

        places = torch.tensor(rows, device=self.device)
        return with_tensors(state, lambda part: part.index_select(0, places))

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
        from safetensors import SafetensorError
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
            network.load_state_dict(load_file(folder / "model.safetensors"))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            first = str(error).strip().partition("\n")[0]
            raise InputError(f"holds no neural model: {first}", file=str(folder)) from None
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        return cls(network.to(place), tokens)


def _drawable(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of what may be drawn: neither begin nor unknown; renormalised."""
    found = np.exp(logs)
    found[:, [BEGIN, UNKNOWN]] = 0.0
    kept: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
    return kept


def _pick(probabilities: NDArray[np.float64], number: float) -> int:
    """The token at a place of the cumulative distribution."""
    running = np.cumsum(probabilities)
    return int(np.searchsorted(running, number * running[-1], side="right"))


def _of_one_length(rows: Sequence[list[int]], n: int) -> Iterator[list[int]]:
    """Numbers of rows of one length, some at a time."""
    by_length: dict[int, list[int]] = {}
    for r in range(n):
        by_length.setdefault(len(rows[r]), []).append(r)
    for group in by_length.values():
        for first in range(0, len(group), _BATCH):
            yield group[first : first + _BATCH]
