"""Checkpoints: named tensors as safetensors, all else as JSON, and a network's state as both.

The JSON file names its file of tensors and takes the place of its forerunner last, in one step, so
that a run that dies at any moment leaves one whole checkpoint: the new one or the old one.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from textassay.errors import InputError
from textassay.writing import atomic_file

State = Any
_NAME = "checkpoint.json"


def write_checkpoint(folder: Path, step: int, tensors: dict[str, Any], rest: Any) -> None:
    """Put a checkpoint in the place of the one before.

    Raises
    ------
    OutputError
        If it cannot be written; the one before is still there.
    """
    from safetensors.torch import save

    weights = folder / f"checkpoint-{step}.safetensors"
    whole = {name: part.detach().cpu().contiguous() for name, part in tensors.items()}
    with atomic_file(weights) as file:
        file.write(save(whole))
    with atomic_file(folder / _NAME) as file:
        file.write(json.dumps({"tensors": weights.name, "rest": rest}).encode())
    for old in folder.glob("checkpoint-*.safetensors"):
        if old != weights:
            with contextlib.suppress(OSError):
                old.unlink()


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], Any] | None:
    """Tensors and the rest of a folder's checkpoint; None if there is none.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not (folder / _NAME).exists():
        return None
    try:
        described = json.loads((folder / _NAME).read_text(encoding="utf-8"))
        return load_file(folder / Path(described["tensors"]).name), described["rest"]
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        first = str(error).strip().partition("\n")[0]
        raise InputError(
            f"holds no checkpoint that can be read ({first}): delete {_NAME} to begin anew",
            file=str(folder),
        ) from None


def part_of(tensors: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The tensors whose names begin so, without that begin."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def taken_apart(state: State) -> tuple[Any, dict[str, Any]]:
    """A state's form as JSON, with names of tensors, and the tensors."""
    tensors: dict[str, Any] = {}

    def form(part: State) -> Any:
        if part is None or isinstance(part, int):
            return part
        if isinstance(part, tuple):
            return [form(inner) for inner in part]
        name = str(len(tensors))
        tensors[name] = part.clone()
        return {"tensor": name}

    return form(state), tensors


def rebuilt(form: Any, tensors: dict[str, Any]) -> State:
    """The state of a form and its tensors."""
    if isinstance(form, list):
        return tuple(rebuilt(part, tensors) for part in form)
    return tensors[form["tensor"]] if isinstance(form, dict) else form
