"""The table of character classes that the `words` tokenizer reads.

Letters, digits and other numbers are word characters; combining marks and joiners stay with what
they follow; Han, kana and Thai letters stand alone; an apostrophe between word characters belongs
to the word; every other visible character stands alone; what is invisible separates.
The Unicode version is that of the running Python (``unicodedata.unidata_version``).
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

SEPARATOR, LINE_END, WORD, APOSTROPHE, SINGLE, MARK = 0, 1, 2, 3, 4, 5

CODE_POINTS = 0x110000
APOSTROPHES = (0x27, 0x2019)
# Soft hyphen, zero-width non-joiner and joiner, word joiner (invisible, but inside words), and the
# skin tones of emoji.
JOINERS = (0xAD, 0x200C, 0x200D, 0x2060, *range(0x1F3FB, 0x1F400))
# Stretches whose letters are tokens by themselves: no spaces are written between words there.
BY_CHARACTER = (
    (0x0E00, 0x0E7F),  # Thai
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1AFF0, 0x1B16F),  # Kana supplements
    (0x20000, 0x323AF),  # Han, extensions B to H
)
_WORD, _MARK = ("L", "N"), ("M",)
_INVISIBLE = ("Z", "C")
# Long stretches of one category: not looked up one by one.
_UNIFORM = (
    (0x3400, 0x4DBF, WORD),
    (0x4E00, 0x9FFF, WORD),
    (0xAC00, 0xD7A3, WORD),
    (0xE000, 0xF8FF, SINGLE),  # private use: a font may show it
    (0x17000, 0x18CD5, WORD),  # Tangut
    (0x20000, 0x323AF, WORD),
)


def character_class(code: int) -> int:
    """Class of one code point: SEPARATOR, LINE_END, WORD, APOSTROPHE, SINGLE or MARK.

    Examples
    --------
    >>> character_class(ord("x")) == WORD, character_class(ord("漢")) == SINGLE
    (True, True)
    """
    if code == 0x0A:
        return LINE_END
    if code in APOSTROPHES:
        return APOSTROPHE
    if code in JOINERS:
        return MARK
    category = unicodedata.category(chr(code))
    if category.startswith(_MARK):
        return MARK
    if category == "Co" or category == "Cn":
        return SINGLE
    if category.startswith(_INVISIBLE):
        return SEPARATOR
    if not category.startswith(_WORD):
        return SINGLE
    if any(first <= code <= last for first, last in BY_CHARACTER):
        return SINGLE
    return WORD


@cache
def bare_class_table() -> NDArray[np.uint8]:
    """The table of `bare-words`: punctuation, symbols and apostrophes separate, uint8[0x110000]."""
    table = class_table().copy()
    stays = np.zeros(CODE_POINTS, np.bool_)
    for first, last in BY_CHARACTER:
        for code in range(first, last + 1):
            stays[code] = unicodedata.category(chr(code)).startswith(_WORD)
    table[((table == SINGLE) & ~stays) | (table == APOSTROPHE)] = SEPARATOR
    table.flags.writeable = False
    return table


@cache
def class_table() -> NDArray[np.uint8]:
    """Class of every code point, uint8[0x110000]. Cost: some 30 ms, once."""
    table = np.full(CODE_POINTS, SINGLE, np.uint8)
    uniform = [*_UNIFORM, (0x323B0, 0xE0000, SINGLE), (0xE01F0, CODE_POINTS - 1, SINGLE)]
    code = 0
    for first, last, kind in sorted(uniform):
        for at in range(code, first):
            table[at] = character_class(at)
        table[first : last + 1] = kind
        code = last + 1
    for first, last in BY_CHARACTER:
        stretch = table[first : last + 1]
        stretch[stretch == WORD] = SINGLE
    table.flags.writeable = False
    return table
