"""Any causal language model in the format of transformers, from a folder, without network."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, UsageError
from textassay.models.decoding import Decoding
from textassay.models.drawing import draw_ids
from textassay.models.folders import read_folder
from textassay.models.memory import enough_memory
from textassay.models.neural import require_torch
from textassay.models.prompts import paired
from textassay.stats.resampling import as_generator

CONTEXT, SCORED = 512, 1024  # tokens: McCoy et al. 2021, appendix G.2
_BATCH = 8
_STRANGE = "\u2603\u9f98\U0001f9ff\u0e5b"  # characters that hardly any vocabulary lists


class PretrainedModel:
    """A causal language model behind the protocol.

    Parameters
    ----------
    folder : path
        With ``config.json``, safetensors and a tokenizer.
    device : str, optional
        Default: a GPU where there is one.
    context, scored : int
        A text that does not fit the window is scored in stretches of `scored` tokens that see
        `context` tokens before them. Where the window does not hold both, at most a third of it is
        context, and the rest is scored.

    Raises
    ------
    InputError
        If the folder holds no causal language model that can be read.
    MissingExtraError
        If torch or transformers are not installed.

    Attributes
    ----------
    closed : bool
        Whether its tokens spell not every text, so that some have one token for all unknown ones.
    window : int
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        device: str | None = None,
        context: int = CONTEXT,
        scored: int = SCORED,
    ) -> None:
        for name, value in (("context", context), ("scored", scored)):
            if value < 1:
                raise UsageError(f"{name} is {value}: at least 1 is needed")
        self.context, self.scored = context, scored
        path = Path(folder)
        self._tokenizer, self._model = read_folder(
            path, "AutoModelForCausalLM", "A pretrained language model", "causal language model"
        )
        torch = require_torch()
        self._torch = torch
        # renamed in transformers 5
        parameters = inspect.signature(type(self._model).forward).parameters
        self._cache = "cache" if "cache" in parameters else "past_key_values"
        place = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._model = self._model.to(place).eval()
        self._device = place
        self._check_order(path)
        self._end: int | None = self._tokenizer.eos_token_id
        begin = self._tokenizer.bos_token_id
        begin = self._end if begin is None else begin
        if begin is None:
            raise InputError(
                "its tokenizer names neither a begin nor an end of text: the first token of a text "
                "would have no probability",
                file=str(path),
            )
        self._begin = int(begin)
        unknown = self._tokenizer.unk_token_id
        probed = self._tokenizer(_STRANGE, add_special_tokens=False)["input_ids"]
        self.closed = unknown is not None and unknown != self._end and unknown in probed
        never = {self._begin, unknown} - {self._end, None}
        self._never = sorted(int(token) for token in never)
        sizes = [
            getattr(self._model.config, "max_position_embeddings", None),
            getattr(self._model.config, "n_positions", None),
            self._tokenizer.model_max_length,
        ]
        self.window: int = min(int(size) for size in sizes if size)

    def _check_order(self, path: Path) -> None:
        """Refuse models that see what follows, as those that fill in masks do."""
        torch = self._torch
        ids = torch.tensor([[0, 1], [0, 2]], device=self._device)
        with torch.inference_mode():
            first = self._model(input_ids=ids).logits[:, 0]
        near = 1e-4 if first.dtype == torch.float32 else 3e-2
        if not torch.allclose(*first.float(), rtol=near, atol=near):
            raise InputError(
                "what it says of a token depends on the tokens behind it, so it is no causal "
                "language model: a model that fills in masks gives no likelihood of a text",
                file=str(path),
            )

    def log_probabilities(
        self,
        texts: Sequence[str],
        prompts: Sequence[str] | None = None,
        *,
        batch_size: int = _BATCH,
        progress: Callable[[int], None] | None = None,
    ) -> list[NDArray[np.float64]]:
        """Natural-log probabilities of the tokens of each text, and of its end if there is one.

        Prompt and text are joined as they are and encoded together; a token that lies across the
        boundary is scored. A text that fits the window, prompt included, is scored in one.
        """
        before = paired(len(texts), prompts)
        rows = [self._encoded(p, t) for p, t in zip(before, texts, strict=True)]
        pieces = [
            (d, begin, scored, end)
            for d, (ids, first) in enumerate(rows)
            for begin, scored, end in self._stretches(len(ids), first)
        ]
        pieces.sort(key=lambda piece: piece[3] - piece[1])
        found: dict[tuple[int, int], NDArray[np.float64]] = {}
        with self._torch.inference_mode(), enough_memory("shorter texts need less"):
            for at in range(0, len(pieces), batch_size):
                batch = pieces[at : at + batch_size]
                logs = self._score([rows[d][0][begin:end] for d, begin, _, end in batch])
                for (d, begin, scored, end), numbers in zip(batch, logs, strict=True):
                    found[d, scored] = numbers[scored - begin - 1 : end - begin - 1]
                if progress:
                    progress(min(len(texts), at + len(batch)))
        parts: list[list[NDArray[np.float64]]] = [[] for _ in texts]
        for d, scored in sorted(found):
            parts[d].append(found[d, scored])
        return [np.concatenate(row) if row else np.empty(0) for row in parts]

    def _encoded(self, prompt: str, text: str) -> tuple[list[int], int]:
        """Ids with begin and end, and the place of the first that belongs to the text."""
        joined = self._tokenizer(
            prompt + text,
            add_special_tokens=False,
            split_special_tokens=True,  # what looks like markup is text
            return_offsets_mapping=bool(prompt),
            verbose=False,
        )
        first = 0
        if prompt:
            ends = [end for _, end in joined["offset_mapping"]]
            first = sum(end <= len(prompt) for end in ends)
        end = [] if self._end is None else [self._end]
        return [self._begin, *joined["input_ids"], *end], first + 1

    def _stretches(self, size: int, first: int) -> list[tuple[int, int, int]]:
        """Begin, first scored and end of stretches of `size` ids; those from `first` on count."""
        if size <= self.window:
            return [(0, first, size)] if first < size else []
        context, scored = self.context, self.scored
        if context + scored > self.window:
            context = min(context, self.window // 3)
            scored = min(scored, self.window - context)
        found: list[tuple[int, int, int]] = []
        at = first
        while at < size:
            # at the begin of a text there is less to see, and room for more to score
            begin = max(0, at - context)
            end = min(size, begin + context + scored)
            found.append((begin, at, end))
            at = end
        return found

    def _score(self, rows: list[list[int]]) -> list[NDArray[np.float64]]:
        torch = self._torch
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self._begin, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for r, row in enumerate(rows):
            ids[r, : len(row)] = torch.tensor(row)
            mask[r, : len(row)] = 1
        ids, mask = ids.to(self._device), mask.to(self._device)
        logits = self._model(input_ids=ids, attention_mask=mask).logits[:, :-1].float()
        logs = -torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1:], reduction="none"
        )
        numbers = logs.double().cpu().numpy()
        return [row[: len(given) - 1] for row, given in zip(numbers, rows, strict=True)]

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

        Decoding is this project's own, on the model's probabilities, so that it means the same for
        all models; row r draws from a stream of its own. A text ends with the window at the latest.
        """
        before_text = paired(n, prompts)
        before = [
            self._tokenizer(
                text, add_special_tokens=False, split_special_tokens=True, verbose=False
            )["input_ids"]
            if text
            else []
            for text in before_text
        ]
        limits = [min(max_length, self.window - 1 - len(ids)) for ids in before]
        if limits and min(limits) < 1:
            longest = max(map(len, before))
            raise UsageError(
                f"a prompt of {longest:,} tokens leaves no room in the model's window of "
                f"{self.window:,}: shorten it (--prompt-length)"
            )
        with self._torch.inference_mode():
            found = draw_ids(
                lambda: _Reader(self),
                [[self._begin, *ids] for ids in before],
                decoding or Decoding(),
                limits,
                as_generator(rng).integers(0, 2**63, max(1, n)).tolist(),
                progress,
            )
        decode = self._tokenizer.decode
        # decoded behind the prompt: a first token may begin with a space of its own
        return [
            decode([*ids, *drawn])[len(decode(ids)) if ids else 0 :]
            for ids, drawn in zip(before, found, strict=True)
        ]

    def save(self, folder: Path) -> None:
        """Write the model in the format of transformers."""
        self._model.save_pretrained(folder, safe_serialization=True)
        self._tokenizer.save_pretrained(folder)


class _Reader:
    """Rows of a pretrained model's cache."""

    def __init__(self, model: PretrainedModel) -> None:
        self._model = model
        self._cache: Any = None
        self.end: int | None = model._end

    def begin(self, rows: Sequence[list[int]]) -> NDArray[np.float64]:
        """Read rows of one length."""
        self._cache = None
        return self._read(rows)

    def step(self, ids: Sequence[int]) -> NDArray[np.float64]:
        """Read one more id of each row."""
        return self._read([[i] for i in ids])

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows."""
        model = self._model
        self._cache.batch_select_indices(model._torch.tensor(rows, device=model._device))

    def _read(self, rows: Sequence[list[int]]) -> NDArray[np.float64]:
        model = self._model
        ids = model._torch.tensor(rows, device=model._device)
        out = model._model(input_ids=ids, use_cache=True, **{model._cache: self._cache})
        if model._cache not in out:
            raise UsageError("this model reads no text step by step: it can score, not sample")
        self._cache = out[model._cache]
        logits = out.logits[:, -1].double()
        logits[:, model._never] = -math.inf  # begin and <unk> are no text
        found: NDArray[np.float64] = logits.softmax(dim=-1).cpu().numpy()
        return found
