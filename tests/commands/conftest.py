"""A command runner and texts to run on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from textassay.cli import main

Run = Callable[..., tuple[int, str, str]]
# Options of train for a network that is made in a moment.
SMALL = ["--width", 16, "--epochs", 1, "--batch", 4, "--stretch", 16, "--window", 16, "--quiet"]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def sentences(seed: int, count: int, words: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        " ".join(f"w{w}" for w in rng.zipf(1.4, rng.integers(5, 20)) % words) for _ in range(count)
    ]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A training text, a model that copies some of it, and people who do not."""
    train = sentences(1, 3000)
    model = [*sentences(2, 100), *train[:100]]
    for name, lines in (("train", train), ("model", model), ("human", sentences(3, 200))):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path
