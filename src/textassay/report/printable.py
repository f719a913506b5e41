"""Text that others wrote, made harmless to look at."""

from __future__ import annotations

import re

# Control codes, and marks that turn the direction of text: shown, not obeyed.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)


def printable(text: str) -> str:
    """`text` with control codes and direction marks shown as escapes, line ends as spaces.

    Examples
    --------
    >>> print(printable("a\\x1b[31mred"))
    a\\x1b[31mred
    """
    return _UNPRINTABLE.sub(
        lambda found: found.group().encode("unicode_escape").decode("ascii"),
        text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "),
    )
