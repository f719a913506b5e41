"""Unfinished work on disk: saved whole or not at all, keyed by a digest of all it depends on.

A later run that asks for the same key goes on where the earlier one stopped; any change of inputs
or of the package's version is another key.
"""

from __future__ import annotations

import contextlib
import hashlib
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.writing import atomic_file


def digest_of(*parts: object) -> str:
    """Hexadecimal digest of arrays and of the `repr` of anything else.

    Examples
    --------
    >>> digest_of("a", 1) == digest_of("a", 1), digest_of("a", 1) == digest_of("a", 2)
    (True, False)
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            digest.update(repr(part).encode("utf-8", "backslashreplace"))
        digest.update(b"\0")
    return digest.hexdigest()


class Store:
    """A folder of unfinished pieces of work.

    Parameters
    ----------
    folder : Path
        Made when something is first saved, removed when nothing is left in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, key: str) -> Path:
        return self.folder / f"{key[:32]}.npz"

    def load(self, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays saved under a key, or None; a damaged file counts as none."""
        try:
            with np.load(self._path(key), allow_pickle=False) as saved:
                return {name: saved[name] for name in saved.files}
        except Exception:  # whatever is wrong with it, the work can be done anew
            return None

    def save(self, key: str, arrays: dict[str, NDArray[Any]]) -> None:
        """Save arrays under a key, atomically.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        with atomic_file(self._path(key)) as file:
            np.savez(file, allow_pickle=False, **arrays)

    def discard(self, key: str) -> None:
        """Forget a key, and the folder if it is empty then."""
        with contextlib.suppress(OSError):
            self._path(key).unlink(missing_ok=True)
            self.folder.rmdir()

    def clear(self) -> None:
        """Forget all keys."""
        # a save that was killed leaves its part behind
        for path in [*self.folder.glob("*.npz"), *self.folder.glob(".*.npz.*")]:
            with contextlib.suppress(OSError):
                path.unlink()
        with contextlib.suppress(OSError):
            self.folder.rmdir()


class Interruption:
    """Whether Ctrl-C was pressed while :func:`deferred_interrupt` held it back."""

    requested = False


@contextlib.contextmanager
def deferred_interrupt() -> Iterator[Interruption]:
    """Turn the first Ctrl-C into a flag, so that work stops where it can be resumed.

    The second one interrupts at once. Outside the main thread nothing changes. Raises
    KeyboardInterrupt at the end, if it was requested.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def note(number: int, frame: FrameType | None) -> None:
        interruption.requested = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
    if interruption.requested:
        raise KeyboardInterrupt
