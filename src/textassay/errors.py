"""What can go wrong, in words a user can act on.

Every error that bad input can cause derives from :class:`TextassayError`. The command line prints
its message alone and exits with its ``exit_code``; anything else is a fault of ours (exit code 1).
"""

from __future__ import annotations


class TextassayError(Exception):
    """Base of all errors that a user can mend. ``exit_code`` is 2: misuse or bad input."""

    exit_code = 2


class InputError(TextassayError):
    """An input that cannot be read or used.

    Parameters
    ----------
    problem : str
        What is wrong, and what to do about it.
    file : str, optional
        The file as the user named it (``-`` for standard input).
    line : int, optional
        Line in the file, from 1.
    byte : int, optional
        Byte offset in the (decompressed) file, from 0.

    Examples
    --------
    >>> from textassay.errors import InputError
    >>> print(InputError("field 'text' is missing", file="a.jsonl", line=3))
    a.jsonl, line 3: field 'text' is missing
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        byte: int | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.byte = problem, file, line, byte
        where = [] if file is None else [file]
        if line is not None:
            where.append(f"line {line}")
        if byte is not None:
            where.append(f"byte {byte}")
        super().__init__(f"{', '.join(where)}: {problem}" if where else problem)


class UsageError(TextassayError):
    """Options that contradict each other or a value that is not allowed."""


class OutputError(TextassayError):
    """A result that could not be written; nothing half-written is left behind."""


class MissingExtraError(TextassayError):
    """A feature that needs an optional package.

    Examples
    --------
    >>> from textassay.errors import MissingExtraError
    >>> print(MissingExtraError("Reading .parquet files", "pyarrow", "data"))
    Reading .parquet files needs pyarrow: pip install 'textassay[data]'
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f"{feature} needs {package}: pip install 'textassay[{extra}]'")


class TextassayWarning(UserWarning):
    """A condition that does not stop the work, such as an unwritable kernel cache."""
