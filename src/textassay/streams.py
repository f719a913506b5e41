"""Standard streams that may be closed, full, or of an encoding that cannot say everything."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any


def open_streams() -> None:
    """Give closed standard streams a place, and let no encoding stop a message."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # no `with`: it stays open as long as the process, as the stream it stands for would
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def silence(stream: Any) -> None:
    """Let the flush at exit not complain once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def fail(message: str, code: int) -> int:
    """Say what went wrong; returns the exit code."""
    try:
        for line in message.split("\n"):
            print(
                line if line.startswith("textassay:") else f"textassay: {safe(line)}",
                file=sys.stderr,
            )
    except OSError:
        silence(sys.stderr)
    return code


def safe(message: str) -> str:
    """A message without control codes."""
    from textassay.report.printable import printable

    return printable(message)
