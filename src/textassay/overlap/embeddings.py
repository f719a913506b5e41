"""Texts as vectors: a model on disk, or vectors that somebody else made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textassay.errors import InputError, UsageError
from textassay.models.folders import read_folder
from textassay.models.neural import require_torch

Vectors = NDArray[np.float32]
_BATCH = 64


class Embedder(Protocol):
    """Anything that turns D texts into float32[D, E]."""

    def __call__(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> Vectors:
        """One row a text; `progress` is told how many are done."""


class ModelEmbedder:
    """A model directory in the format of transformers or sentence-transformers, without network.

    Token vectors of the last layer are pooled as ``1_Pooling/config.json`` says (mean, first token,
    largest, last token; mean where there is no such file) and normalised where ``modules.json``
    names a Normalize module.

    Parameters
    ----------
    folder : path
    batch_size : int
        Texts at a time; padding does not change a text's vector.

    Raises
    ------
    InputError
        If the folder holds no model that can be read.
    MissingExtraError
        If torch or transformers are not installed.
    """

    def __init__(self, folder: str | Path, *, batch_size: int = _BATCH) -> None:
        path = Path(folder)
        if not (path / "config.json").is_file():
            raise InputError(
                "holds no config.json: a model directory of transformers or sentence-transformers "
                "is needed",
                file=str(path),
            )
        self._tokenizer, self._model = read_folder(path, "AutoModel", "Embedding texts", "model")
        torch = require_torch()
        self._torch = torch
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        self._tokenizer.padding_side = "right"
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = self._model.to(self._device).eval()
        self._pooling, self._normalized = _pooling(path)
        self._batch_size = batch_size
        self._longest = _longest(path, self._model.config, self._tokenizer)

    def __call__(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> Vectors:
        """float32[D, E]; texts longer than the model's window are cut to it."""
        torch = self._torch
        order = sorted(range(len(texts)), key=lambda d: len(texts[d]))  # like lengths together
        out: Vectors | None = None
        with torch.inference_mode():
            for first in range(0, len(order), self._batch_size):
                chosen = order[first : first + self._batch_size]
                batch = self._tokenizer(
                    [texts[d] or " " for d in chosen],
                    padding=True,
                    truncation=True,
                    max_length=self._longest,
                    return_tensors="pt",
                ).to(self._device)
                batch.pop("token_type_ids", None)
                states = self._model(**batch).last_hidden_state
                rows = self._pooled(states, batch["attention_mask"])
                if self._normalized:
                    rows = torch.nn.functional.normalize(rows, dim=1)
                if out is None:
                    out = np.empty((len(texts), rows.shape[1]), np.float32)
                out[chosen] = rows.float().cpu().numpy()
                if progress:
                    progress(min(first + self._batch_size, len(order)))
        return np.empty((0, 0), np.float32) if out is None else out

    def _pooled(self, states: Any, mask: Any) -> Any:
        if self._pooling == "cls":
            return states[:, 0]
        weights = mask.unsqueeze(-1).to(states.dtype)
        if self._pooling == "max":
            return states.masked_fill(weights == 0, float("-inf")).max(dim=1).values
        if self._pooling == "lasttoken":
            last = mask.sum(dim=1) - 1
            return states[self._torch.arange(len(states), device=states.device), last]
        return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def _pooling(path: Path) -> tuple[str, bool]:
    """How token vectors are pooled, and whether the result is normalised."""
    mode = "mean"
    place = path / "1_Pooling" / "config.json"
    if place.is_file():
        chosen = _read_json(place, dict)
        names = {
            "pooling_mode_cls_token": "cls",
            "pooling_mode_mean_tokens": "mean",
            "pooling_mode_max_tokens": "max",
            "pooling_mode_lasttoken": "lasttoken",
        }
        modes = [names.get(key, key) for key, value in chosen.items() if value is True]
        modes = [name for name in modes if name in names.values() or "pooling_mode" in name]
        if len(modes) != 1 or modes[0] not in names.values():
            raise InputError(
                f"asks for pooling {', '.join(modes) or 'of no kind'}: one of cls, mean, max, "
                "lasttoken is known",
                file=str(place),
            )
        mode = modes[0]
    modules = path / "modules.json"
    normalized = False
    if modules.is_file():
        listed = _read_json(modules, list)
        types = [module.get("type", "") if isinstance(module, dict) else "" for module in listed]
        kinds = [str(name).rpartition(".")[2] for name in types]
        unknown = [kind for kind in kinds if kind not in ("Transformer", "Pooling", "Normalize")]
        if unknown:
            raise InputError(f"has modules {', '.join(unknown)}, which are unknown", file=str(path))
        normalized = "Normalize" in kinds
    return mode, normalized


def _longest(path: Path, config: Any, tokenizer: Any) -> int:
    """Tokens that a text is cut to."""
    place = path / "sentence_bert_config.json"
    if place.is_file():
        size = _read_json(place, dict).get("max_seq_length") or 512
        if not isinstance(size, int) or size < 1:
            problem = f"max_seq_length is {size!r}: a whole number is needed"
            raise InputError(problem, file=str(place))
        return size
    sizes = [getattr(config, "max_position_embeddings", None), tokenizer.model_max_length]
    return min(int(size) for size in (*sizes, 8192) if size)


def _read_json(path: Path, kind: type) -> Any:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, kind):
            raise ValueError(f"a {kind.__name__} is needed")
        return found
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from None


def read_vectors(path: str | Path, documents: int, name: str) -> Vectors:
    """Vectors from a .npy file, one row for each of `documents` of the text `name`.

    Raises
    ------
    InputError
        If the file cannot be read, has another number of rows, or holds NaN or infinity.
    """
    place = str(path)
    try:
        found = np.load(place, allow_pickle=False)
    except FileNotFoundError:
        raise InputError("does not exist", file=place) from None
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise InputError(f"is no .npy file of numbers: {error}", file=place) from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        raise InputError("must hold one array of numbers, documents x dimensions", file=place)
    if len(found) != documents:
        raise InputError(
            f"holds {len(found):,} vectors, but {name} has {documents:,} documents", file=place
        )
    if not found.shape[1]:
        raise InputError("holds vectors of no dimension", file=place)
    with np.errstate(over="ignore"):
        vectors = found.astype(np.float32)
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(f"row {row} holds NaN, or a number beyond single precision", file=place)
    return vectors


def embed_all(
    given: Sequence[str],
    texts: dict[str, list[str]],
    progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[str, Vectors]:
    """Vectors of all texts, from one model directory or from a file for each: NAME=FILE.

    Raises
    ------
    UsageError
        If a text has no file, or a name belongs to no text.
    InputError
        If a model or file cannot be used, or dimensions are unlike.
    """
    if len(given) == 1 and "=" not in given[0]:
        if not Path(given[0]).is_dir():
            raise InputError(
                "is no model directory; files of vectors are named NAME=FILE.npy", file=given[0]
            )
        embedder = ModelEmbedder(given[0])
        found = {}
        for name, documents in texts.items():
            show = None
            if progress is not None:

                def show(done: int, name: str = name, size: int = len(documents)) -> None:
                    progress(f"embedding {name}", done, size)

            found[name] = embedder(documents, show)
        return found
    named = dict(item.partition("=")[::2] for item in given)
    if len(named) < len(given):
        raise UsageError("--embeddings: a text is named twice")
    missing = [name for name in texts if not named.get(name)]
    unknown = [name for name in named if name not in texts]
    if missing or unknown:
        what = f"no file for {', '.join(missing)}" if missing else f"no text {', '.join(unknown)}"
        raise UsageError(
            f"--embeddings: {what}; name a model directory, or NAME=FILE.npy for each of "
            f"{', '.join(texts)}"
        )
    found = {name: read_vectors(named[name], len(texts[name]), name) for name in texts}
    sizes = {vectors.shape[1] for vectors in found.values()}
    if len(sizes) > 1:
        raise UsageError(f"--embeddings: files have {sorted(sizes)} dimensions: one size is needed")
    return found
