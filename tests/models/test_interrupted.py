"""Training that is killed, runs out of memory, or finds a damaged checkpoint."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.conftest import sentences
from textassay.cli import main


def arguments(text: Path, folder: Path, reading: str) -> list[str]:
    listed = ["train", text, "--dev", text, "--out", folder, "--model", "transformer", "--memory"]
    listed += ["--width", 16, "--epochs", 3, "--batch", 4, "--stretch", 8, "--reading", reading]
    return [str(part) for part in [*listed, "--checkpoint-every", 7, "--quiet"]]


@pytest.mark.parametrize("reading", ["contiguous", "documents"])
def test_a_killed_run_ends_with_the_same_bits(tmp_path: Path, reading: str) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences(1, 150)) + "\n")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(arguments(text, whole, reading)) == 0
    program = [sys.executable, "-m", "textassay", *arguments(text, killed, reading)]
    seen: set[str] = set()
    for wait in (0.0, 0.15, 0.4):
        process = subprocess.Popen(program)
        # at an unlike moment behind a new checkpoint each time
        while process.poll() is None and not (now(killed) - seen):
            time.sleep(0.01)
        time.sleep(wait)
        seen |= now(killed)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert (killed / "checkpoint.json").exists()
    assert main(arguments(text, killed, reading)) == 0
    for name in ("model.safetensors", "metrics.jsonl", "model.json"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes()
    assert len(list(killed.glob("checkpoint-*.safetensors"))) == 1


def now(folder: Path) -> set[str]:
    """The checkpoint that is there."""
    try:
        return {json.loads((folder / "checkpoint.json").read_text())["tensors"]}
    except OSError:
        return set()


def test_a_damaged_checkpoint_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, folder = tmp_path / "text.txt", tmp_path / "model"
    text.write_text("\n".join(sentences(1, 40)) + "\n")
    given = arguments(text, folder, "documents")
    assert main(given) == 0
    (weights,) = folder.glob("checkpoint-*.safetensors")
    weights.write_bytes(weights.read_bytes()[:100])
    assert main(given) == 2
    err = capsys.readouterr().err
    assert "holds no checkpoint that can be read" in err
    assert "delete checkpoint.json to begin anew" in err
    (folder / "checkpoint.json").write_text('{"tensors": 5}')
    assert main(given) == 2
    (folder / "checkpoint.json").unlink()
    assert main(given) == 0


def test_a_network_that_is_too_large_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(sentences(1, 40)) + "\n")
    more = ["--model", "lstm", "--width", str(2**20), "--quiet"]
    assert main(["train", str(text), "--out", str(tmp_path / "model"), *more]) == 2
    assert "does not fit into memory: a smaller --width" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


def test_an_empty_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n \n")
    assert main(["train", str(text), "--out", str(tmp_path / "model")]) == 2
    assert "text.txt: holds no text" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
