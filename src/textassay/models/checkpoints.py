"""A network's state as JSON and named tensors, for checkpoints."""

from __future__ import annotations

from typing import Any

State = Any


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
