"""Folders in the format of transformers, and GGUF files: one way to read them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from textassay.errors import InputError, MissingExtraError


@contextlib.contextmanager
def without_bars() -> Iterator[None]:
    """No progress bars and no advice from transformers; both as before afterwards."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()


def read_folder(path: Path, kind: str, feature: str, model: str) -> tuple[Any, Any]:
    """The tokenizer and the network of a folder or a GGUF file, without network access.

    Parameters
    ----------
    path : Path
        What a GGUF file holds in fewer bits is turned into single precision.
    kind : str
        The class of transformers that reads it, such as ``AutoModel``.
    feature, model : str
        What needs it and what is looked for, for messages.

    Raises
    ------
    InputError
        If the folder holds no such model that can be read.
    MissingExtraError
        If torch or transformers are not installed.
    """
    try:
        importlib.import_module("torch")
        transformers: Any = importlib.import_module("transformers")
    except ImportError:
        raise MissingExtraError(feature, "torch and transformers", "neural") from None
    place = str(path)
    # safetensors alone: other weights are pickles, which can run code
    more: dict[str, Any] = {"use_safetensors": True}
    named: dict[str, Any] = {}
    if path.suffix == ".gguf":
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError("GGUF files", "gguf and accelerate", "gguf")
        place, named = str(path.parent), {"gguf_file": path.name}
        more = named
    try:
        with without_bars():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                place, local_files_only=True, **named
            )
            network, told = getattr(transformers, kind).from_pretrained(
                place, local_files_only=True, output_loading_info=True, **more
            )
    except Exception as error:  # whatever is wrong with the files
        first = str(error).strip().partition("\n")[0]
        raise InputError(f"holds no {model} that can be read: {first}", file=str(path)) from None
    # a head that is there and not asked for is no harm, nor a pooler that is not there: nothing
    # reads it; a layer that is left out, or drawn at random, is another model
    missing = [key for key in told["missing_keys"] if "pooler" not in key]
    wrong = sorted(missing) + sorted(map(str, told["mismatched_keys"]))
    if kind.endswith("LM"):
        wrong += sorted(told["unexpected_keys"])
    if wrong:
        raise InputError(
            f"holds no {model} that can be read: its weights are not those that its configuration "
            f"describes ({wrong[0]}{' and more' if len(wrong) > 1 else ''})",
            file=str(path),
        )
    return tokenizer, network
