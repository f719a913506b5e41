"""A model from a folder, whatever kind it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from textassay.errors import InputError


def load_model(folder: str | Path) -> Any:
    """A Kneser-Ney model, a neural one, or a pretrained one in the format of transformers.

    Raises
    ------
    InputError
        If the folder holds none.
    """
    path = Path(folder)
    if not path.is_dir():
        raise InputError("is no folder of a model", file=str(path))
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
    if (path / "config.json").is_file():
        from textassay.models.pretrained import PretrainedModel

        return PretrainedModel(path)
    raise InputError(
        "holds no model: neither model.json (from textassay train) nor config.json (transformers)",
        file=str(path),
    )
