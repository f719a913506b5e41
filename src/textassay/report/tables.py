"""Tables as data: for the terminal and the page alike."""

from __future__ import annotations

import math
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


def number(value: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """A number with so many digits behind the point; fewer if it is large, more if it is small.

    Examples
    --------
    >>> number(1234.5678), number(0.00012345), number(None), number(0.5, signed=True)
    ('1,235', '0.00012', '', '+0.500')
    """
    if value is None:
        return ""
    sign = "+" if signed else ""
    if abs(value) >= 100:
        digits = min(digits, 1 if abs(value) < 1000 else 0)
    if digits and 1e-12 < abs(value) < 10.0 ** (1 - digits):
        # as many digits as show two that count, and never an exponent
        digits = min(12, 1 - math.floor(math.log10(abs(value))))
    return f"{value:{sign},.{digits}f}"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """An interval in words, or nothing.

    Examples
    --------
    >>> interval(0.1, 0.25)
    '0.100 to 0.250'
    """
    return "" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"
