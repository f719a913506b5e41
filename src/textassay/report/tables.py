"""Tables as data: for the terminal and the page alike."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class TableData:
    """A table; the first cell of each row is its heading.

    ``classes`` gives a class to each cell, or is None.
    """

    caption: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    classes: list[list[str]] | None = None

    def class_of(self, row: int, column: int) -> str:
        """The class of a cell, or nothing."""
        return self.classes[row][column] if self.classes else ""


def number(value: float | None, digits: int = 3) -> str:
    """A number, or nothing.

    Examples
    --------
    >>> number(1234.5678), number(None)
    ('1,234.568', '')
    """
    return "" if value is None else f"{value:,.{digits}f}"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """An interval in words, or nothing.

    Examples
    --------
    >>> interval(0.1, 0.25)
    '0.100 to 0.250'
    """
    return "" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"
