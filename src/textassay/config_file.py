"""Options from a TOML file: found before parsing, and checked, since parsers misread some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textassay.errors import UsageError


def config_path(arguments: Sequence[str]) -> str | None:
    """The file that ``--config`` names."""
    for position, argument in enumerate(arguments):
        if argument == "--":
            return None
        if argument == "--config":
            if position + 1 == len(arguments):
                raise UsageError("--config: a file is missing")
            return arguments[position + 1]
        if argument.startswith("--config="):
            return argument.partition("=")[2]
    return None


def read_config(path: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    """The options of a file; fail if it is no TOML, or holds one that is not there or misfits.

    Parameters
    ----------
    path : str
    kinds : mapping of str to str
        Options and their types as they are written in code.
    """
    import tomllib

    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from None
    for key, value in found.items():
        kind = kinds.get(key.replace("-", "_"))
        if kind is None:
            raise UsageError(f"{path}: there is no option {key!r}")
        wanted = next(name for name in _CONFIG_TYPES if name in kind)
        values = value if wanted == "list" and isinstance(value, list) else [value]
        if not all(type(v) in _CONFIG_TYPES[wanted] for v in values):
            raise UsageError(f"{path}: {key} = {value!r}: {_CONFIG_WORDS[wanted]} is needed")
    return found


_CONFIG_TYPES: dict[str, tuple[type, ...]] = {
    "list": (str,),
    "bool": (bool,),
    "float": (float, int),
    "int": (int,),
    "str": (str,),
}
_CONFIG_WORDS = {
    "list": "a list of strings",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "str": "a string",
}
