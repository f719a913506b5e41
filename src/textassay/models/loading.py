"""A model from a folder, whatever kind it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from textassay.errors import InputError
from textassay.models.pretrained import CONTEXT, SCORED, PretrainedModel

_OF_TRAINING = ("checkpoint", "metrics")  # begins of names of files that no model is read from
_READ = 1 << 20


def is_model(place: str | Path) -> bool:
    """Whether a place looks like a model: a folder with a description and weights, or GGUF."""
    path = Path(place)
    if path.suffix == ".gguf":
        return path.is_file()
    if not path.is_dir():
        return False
    weights = [*path.glob("*.safetensors"), *path.glob("counts.npz")]
    return bool(weights) and any((path / name).is_file() for name in ("model.json", "config.json"))


def digest_of_model(place: str | Path) -> str:
    """SHA-256 of a model's files with their names, hexadecimal. Cost: reads them all."""
    path = Path(place)
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
    trained_here = (path / "model.json").is_file()
    for file in files:
        if trained_here and file.name.startswith(_OF_TRAINING):
            continue
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as opened:
            while block := opened.read(_READ):
                digest.update(block)
    return digest.hexdigest()


def check_model(place: str | Path) -> None:
    """Refuse what holds no model, at little cost: weights are not read.

    Raises
    ------
    InputError
        If nothing there looks like a model.
    """
    path = Path(place)
    if is_model(path):
        return
    if not path.is_dir():
        raise InputError("is no folder of a model", file=str(path))
    raise InputError(
        "holds no model: neither model.json (from textassay train) nor config.json (transformers) "
        "with weights beside it",
        file=str(path),
    )


def load_model(folder: str | Path, *, context: int = CONTEXT, scored: int = SCORED) -> Any:
    """A Kneser-Ney model, a neural one, or a pretrained one in the format of transformers.

    Parameters
    ----------
    folder : path
        A folder, or a GGUF file.
    context, scored : int
        Of a pretrained model: tokens that a scored stretch of a long text sees before it, and
        tokens that are scored in it. The others carry all context on.

    Raises
    ------
    InputError
        If there is none.
    """
    path = Path(folder)
    check_model(path)
    if (path / "model.json").is_file():
        try:
            kind = json.loads((path / "model.json").read_text(encoding="utf-8")).get("model")
        except (OSError, ValueError, AttributeError) as error:
            raise InputError(f"is no description of a model: {error}", file=str(path)) from None
        if kind == "kneser-ney":
            from textassay.models.kneser_ney import KneserNey

            return KneserNey.load(path)
        from textassay.models.neural import NeuralModel

        return NeuralModel.load(path)
    return PretrainedModel(path, context=context, scored=scored)
