"""Compiled tokenizers: UTF-8 bytes in, spans of tokens out.

A scanner walks over bytes that are known to be valid UTF-8 and writes for each token where it
starts and ends. Negative starts are events that are no spans of text; their meaning is fixed here:

========  ===  ==========================================================
NEWLINE   -1   a line end that counts as a token
BOUNDARY  -2   a document ends here
SPACE     -3   a run of white space that counts as a token (`characters`)
========  ===  ==========================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel
from textassay.memory_kernels import load_eight_bytes, trailing_zeros

_ONES = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)

NEWLINE, BOUNDARY, SPACE = -1, -2, -3

# What a line end does.
AS_SPACE, AS_TOKEN, ENDS_DOCUMENT, BLANK_ENDS_DOCUMENT, BLANK_ENDS_ELSE_TOKEN = 0, 1, 2, 3, 4

# Classes of characters; corpus/characters.py makes the table.
SEPARATOR, LINE_END, WORD, APOSTROPHE, SINGLE, MARK = 0, 1, 2, 3, 4, 5

# Tokenizers that are compiled.
WHITESPACE, WORDS, CHARACTERS = 0, 1, 2


@kernel
def _between(bytes_below_128: Any, first: int, last: int) -> Any:
    """The high bit of each of eight bytes that lies in first..last, among other bits."""
    above = bytes_below_128 + np.uint64(0x80 - first) * _ONES
    return above & ~(bytes_below_128 + np.uint64(0x7F - last) * _ONES)


@kernel
def behind_visible(buffer: Any, i: int, end: int) -> int:
    """The first place from i on, below end, that holds ASCII white space; else end."""
    while i < end:
        word = load_eight_bytes(buffer, i)
        low = word & ~_HIGH_BITS
        white = (_between(low, 32, 32) | _between(low, 9, 13)) & ~word & _HIGH_BITS
        if white != 0:
            return min(end, i + (trailing_zeros(white) >> 3))
        i += 8
    return end


@kernel
def behind_ascii_word(buffer: Any, i: int, end: int) -> int:
    """The first place from i on, below end, that is no ASCII letter or digit; else end."""
    while i < end:
        word = load_eight_bytes(buffer, i)
        low = word & ~_HIGH_BITS
        # a letter and its capital differ in one bit
        letters = _between(low | (np.uint64(0x20) * _ONES), 0x61, 0x7A)
        other = ~((letters | _between(low, 0x30, 0x39)) & ~word) & _HIGH_BITS
        if other != 0:
            return min(end, i + (trailing_zeros(other) >> 3))
        i += 8
    return end


@kernel
def first_invalid(buffer: Any, begin: int, end: int) -> int:
    """Offset of the first byte that is not valid UTF-8 or is NUL, or -1. Cost: linear."""
    i = begin
    while i < end:
        # eight bytes of ASCII at a time: no high bit, and none that is zero
        while i + 8 <= end:
            word = load_eight_bytes(buffer, i)
            if (word | ((word - _ONES) & ~word)) & _HIGH_BITS != 0:
                break
            i += 8
        if i >= end:
            break
        b = buffer[np.uint64(i)]
        if b < 0x80:
            if b == 0:
                return i
            i += 1
            continue
        if b < 0xC2 or b > 0xF4:
            return i
        more = 1 if b < 0xE0 else (2 if b < 0xF0 else 3)
        if i + more >= end:
            return i
        second = buffer[i + 1]
        low, high = 0x80, 0xBF
        if b == 0xE0:
            low = 0xA0
        elif b == 0xED:
            high = 0x9F
        elif b == 0xF0:
            low = 0x90
        elif b == 0xF4:
            high = 0x8F
        if second < low or second > high:
            return i
        for k in range(2, more + 1):
            if buffer[i + k] & 0xC0 != 0x80:
                return i
        i += more + 1
    return -1


@kernel
def character_at(buffer: Any, i: int) -> tuple[int, int]:
    """Code point at byte `i` of valid UTF-8, and how many bytes it takes."""
    b = int(buffer[np.uint64(i)])
    if b < 0x80:
        return b, 1
    if b < 0xE0:
        return ((b & 0x1F) << 6) | (int(buffer[i + 1]) & 0x3F), 2
    if b < 0xF0:
        return (
            ((b & 0x0F) << 12) | ((int(buffer[i + 1]) & 0x3F) << 6) | (int(buffer[i + 2]) & 0x3F)
        ), 3
    return (
        ((b & 0x07) << 18)
        | ((int(buffer[i + 1]) & 0x3F) << 12)
        | ((int(buffer[i + 2]) & 0x3F) << 6)
        | (int(buffer[i + 3]) & 0x3F)
    ), 4


@kernel
def _scan(
    tokenizer: int,
    buffer: Any,
    begin: int,
    end: int,
    classes: Any,
    newlines: int,
    inside: bool,
    mid_line: bool,
    starts: Any,
    ends: Any,
    count: int,
) -> int:
    """Append the spans of buffer[begin:end] behind the first `count`; return the new count.

    `inside` says that the document began before `begin`; it matters only where blank lines end
    documents. `mid_line` says that the line did, with a visible token.
    """
    i = begin
    line_is_blank = not mid_line
    while i < end:
        b = buffer[np.uint64(i)]
        if b == 32 or (9 <= b <= 13):
            if b != 10 and tokenizer != CHARACTERS:
                i += 1
                continue
            if b != 10:
                at = i
                i += 1
                while i < end:
                    b = buffer[np.uint64(i)]
                    if b == 32 or b == 9 or (11 <= b <= 13) or (b == 10 and newlines == AS_SPACE):
                        i += 1
                    else:
                        break
                # white space at either end of a document or line is no token
                if i < end and b != 10 and not line_is_blank:
                    starts[count] = SPACE
                    ends[count] = at + 1
                    count += 1
                continue
            i += 1
            if newlines == AS_SPACE:
                if tokenizer == CHARACTERS and not line_is_blank:
                    at = i - 1
                    while i < end and (
                        buffer[np.uint64(i)] == 32 or (9 <= buffer[np.uint64(i)] <= 13)
                    ):
                        i += 1
                    if i < end:
                        starts[count] = SPACE
                        ends[count] = at + 1
                        count += 1
                continue
            if newlines == AS_TOKEN:
                starts[count] = NEWLINE
                ends[count] = i
                count += 1
            elif newlines == ENDS_DOCUMENT:
                starts[count] = BOUNDARY
                ends[count] = i
                count += 1
            elif line_is_blank:
                if inside:
                    starts[count] = BOUNDARY
                    ends[count] = i
                    count += 1
                    inside = False
            else:
                inside = True
            line_is_blank = True
            continue

        start = i
        # something else than white space: first settle the line end before it
        if line_is_blank:
            line_is_blank = False
            if inside and newlines >= BLANK_ENDS_DOCUMENT:
                if newlines == BLANK_ENDS_ELSE_TOKEN:
                    starts[count] = NEWLINE
                    ends[count] = start
                    count += 1
                elif tokenizer == CHARACTERS:
                    starts[count] = SPACE
                    ends[count] = start
                    count += 1
            inside = True
        if tokenizer == WHITESPACE:
            i = behind_visible(buffer, i + 1, end)
        elif tokenizer == CHARACTERS:
            code, width = character_at(buffer, i)
            i += width
        else:
            if b < 0x80:
                kind = classes[b]
                i += 1
            else:
                code, width = character_at(buffer, i)
                kind = classes[np.uint64(code)]
                i += width
            if kind == SEPARATOR:
                continue
            if kind == WORD or kind == MARK:
                while i < end:
                    i = behind_ascii_word(buffer, i, end)
                    if i == end:
                        break
                    b = buffer[np.uint64(i)]
                    if b < 0x80:
                        kind = classes[b]
                        width = 1
                    else:
                        code, width = character_at(buffer, i)
                        kind = classes[np.uint64(code)]
                    if kind == WORD or kind == MARK:
                        i += width
                        continue
                    if kind != APOSTROPHE or i + width >= end:
                        break
                    code, more = character_at(buffer, i + width)
                    if classes[np.uint64(code)] != WORD:
                        break
                    i += width + more
            else:
                while i < end and buffer[np.uint64(i)] >= 0x80:
                    code, width = character_at(buffer, i)
                    if classes[np.uint64(code)] != MARK:
                        break
                    i += width
        starts[count] = start
        ends[count] = i
        count += 1
    return count


@kernel
def scan_stretch(
    tokenizer: int,
    buffer: Any,
    begin: int,
    end: int,
    classes: Any,
    newlines: int,
    inside: bool,
    mid_line: bool,
    starts: Any,
    ends: Any,
) -> int:
    """Spans of one stretch of text; returns how many. `starts`, `ends`: int32, 2 x bytes + 2."""
    return _scan(
        tokenizer, buffer, begin, end, classes, newlines, inside, mid_line, starts, ends, 0
    )


@kernel
def scan_documents(
    tokenizer: int, buffer: Any, limits: Any, classes: Any, newlines: int, starts: Any, ends: Any
) -> int:
    """Spans of the documents buffer[limits[d]:limits[d + 1]], each followed by a BOUNDARY."""
    count = 0
    for d in range(limits.size - 1):
        count = _scan(
            tokenizer,
            buffer,
            limits[d],
            limits[d + 1],
            classes,
            newlines,
            False,
            False,
            starts,
            ends,
            count,
        )
        starts[count] = BOUNDARY
        ends[count] = limits[d + 1]
        count += 1
    return count
