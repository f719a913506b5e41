"""Any causal language model in the format of transformers, from a folder, without network."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, UsageError
from textassay.models.decoding import Decoding, decoded_rows
from textassay.models.folders import read_folder
from textassay.models.neural import require_torch
from textassay.stats.resampling import as_generator

_CONTEXT = 512  # tokens that a scored stretch of a long text sees at least, where the window allows
_BATCH = 8


class PretrainedModel:
    """A causal language model behind the protocol.

    Parameters
    ----------
    folder : path
        With ``config.json``, safetensors and a tokenizer.
    device : str, optional
        Default: a GPU where there is one.

    Raises
    ------
    InputError
        If the folder holds no causal language model that can be read.
    MissingExtraError
        If torch or transformers are not installed.

    Attributes
    ----------
    closed : bool
        False: its tokens spell every text.
    window : int
    """

    closed = False
    joins = True

    def __init__(self, folder: str | Path, *, device: str | None = None) -> None:
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
        self._end: int | None = self._tokenizer.eos_token_id
        begin = self._tokenizer.bos_token_id
        self._begin: int | None = self._end if begin is None else begin
        if self._begin is None:
            raise InputError(
                "its tokenizer names neither a begin nor an end of text: the first token of a text "
                "would have no probability",
                file=str(path),
            )
        sizes = [
            getattr(self._model.config, "max_position_embeddings", None),
            getattr(self._model.config, "n_positions", None),
            self._tokenizer.model_max_length,
        ]
        self.window: int = min(int(size) for size in sizes if size)

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
        boundary is scored. Where both do not fit the window, the text is scored in stretches that
        see 512 tokens before them (a third of the window, if that is less); a shorter text is
        scored in one.
        """
        before = [""] * len(texts) if prompts is None else list(prompts)
        if len(before) < len(texts):
            raise UsageError(
                f"{len(before)} prompts for {len(texts)} texts: one is needed for each"
            )
        rows = [self._encoded(p, t) for p, t in zip(before, texts, strict=False)]
        out: list[NDArray[np.float64]] = [np.empty(0)] * len(texts)
        pieces = [
            (d, begin, scored, end)
            for d, (ids, first) in enumerate(rows)
            for begin, scored, end in _stretches(len(ids), first, self.window)
        ]
        pieces.sort(key=lambda piece: piece[3] - piece[1])
        found: dict[tuple[int, int], NDArray[np.float64]] = {}
        with self._torch.inference_mode():
            for at in range(0, len(pieces), batch_size):
                batch = pieces[at : at + batch_size]
                logs = self._score([rows[d][0][begin:end] for d, begin, _, end in batch])
                for (d, begin, scored, end), numbers in zip(batch, logs, strict=True):
                    found[d, scored] = numbers[scored - begin - 1 : end - begin - 1]
                if progress:
                    progress(min(len(texts), at + len(batch)))
        for d in range(len(texts)):
            parts = [found[key] for key in sorted(key for key in found if key[0] == d)]
            out[d] = np.concatenate(parts) if parts else np.empty(0)
        return out

    def _encoded(self, prompt: str, text: str) -> tuple[list[int], int]:
        """Ids with begin and end, and the place of the first that belongs to the text."""
        joined = self._tokenizer(
            prompt + text,
            add_special_tokens=False,
            return_offsets_mapping=bool(prompt),
            verbose=False,
        )
        first = 0
        if prompt:
            ends = [end for _, end in joined["offset_mapping"]]
            first = sum(end <= len(prompt) for end in ends)
        end = [] if self._end is None else [self._end]
        return [self._begin, *joined["input_ids"], *end], first + 1

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
        all models; row r draws from a stream of its own.
        """
        decoding = decoding or Decoding()
        if decoding.beams > 1:
            raise UsageError("beam search is for models that were trained here")
        if prompts is not None and len(prompts) < n:
            raise UsageError(f"{len(prompts)} prompts for {n} texts: one is needed for each")
        seeds = as_generator(rng).integers(0, 2**63, max(1, n)).tolist()
        texts = []
        with self._torch.inference_mode():
            for r in range(n):
                prompt = prompts[r] if prompts is not None else ""
                stream = np.random.default_rng(seeds[r])
                texts.append(self._draw(prompt, decoding, max_length, stream))
                if progress:
                    progress(r + 1)
        return texts

    def _draw(
        self, prompt: str, decoding: Decoding, max_length: int, stream: np.random.Generator
    ) -> str:
        torch = self._torch
        before = self._tokenizer(prompt, add_special_tokens=False)["input_ids"] if prompt else []
        room = self.window - 1 - len(before)
        if room < 1:
            raise UsageError(
                f"a prompt of {len(before):,} tokens leaves no room in a window of {self.window:,}"
            )
        read = torch.tensor([[self._begin, *before]], device=self._device)
        cache = None
        drawn: list[int] = []
        while len(drawn) < min(max_length, room):
            out = self._model(input_ids=read, use_cache=True, **{self._cache: cache})
            cache = out[self._cache]
            logits = out.logits[0, -1].double().cpu().numpy()
            weights = np.exp(logits - logits.max())
            p = decoded_rows((weights / weights.sum())[None], decoding)[0]
            running = np.cumsum(p)
            token = int(np.searchsorted(running, stream.random() * running[-1], side="right"))
            if token == self._end:
                break
            drawn.append(token)
            read = torch.tensor([[token]], device=self._device)
        # decoded behind the prompt: a first token may begin with a space of its own
        whole: str = self._tokenizer.decode([*before, *drawn])
        start: str = self._tokenizer.decode(before) if before else ""
        return whole[len(start) :]

    def save(self, folder: Path) -> None:
        """Write the model in the format of transformers."""
        self._model.save_pretrained(folder, safe_serialization=True)
        self._tokenizer.save_pretrained(folder)


def _stretches(size: int, first: int, window: int) -> list[tuple[int, int, int]]:
    """Begin, first scored and end of each stretch of `size` ids; those from `first` on count.

    Examples
    --------
    >>> _stretches(10, 1, 12), _stretches(10, 4, 6)
    ([(0, 1, 10)], [(0, 4, 6), (4, 6, 10)])
    """
    context = min(_CONTEXT, window // 3)
    found: list[tuple[int, int, int]] = []
    at = first
    while at < size:
        begin = 0 if size <= window else max(0, at - (context if found else at))
        begin = max(begin, at - (window - 1))
        end = min(size, begin + window)
        found.append((begin, at, end))
        at = end
    return found
