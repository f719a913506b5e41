"""What is said when a network does not fit into memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from textassay.errors import UsageError

_SIGNS = ("out of memory", "can't allocate", "not enough memory")


@contextlib.contextmanager
def enough_memory(remedy: str) -> Iterator[None]:
    """Turn a shortage of memory, on a GPU or not, into an error with a remedy.

    Raises
    ------
    UsageError
        In place of a MemoryError, or of the RuntimeError that torch raises.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        told = str(error)
        if not isinstance(error, MemoryError) and not any(s in told.lower() for s in _SIGNS):
            raise
        raise UsageError(f"the model does not fit into memory: {remedy}") from None
