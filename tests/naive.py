"""Slow twins of the compiled code, written from the definitions alone."""

from __future__ import annotations

import re
import unicodedata

WHITE = " \t\r\v\f\n"


def words(text: str) -> list[str]:
    """The `words` tokenizer, one character at a time."""

    def kind(character: str) -> str:
        code = ord(character)
        if character in "'\u2019":
            return "apostrophe"
        if code in (0xAD, 0x200C, 0x200D, 0x2060) or 0x1F3FB <= code <= 0x1F3FF:
            return "mark"
        category = unicodedata.category(character)
        if category[0] == "M":
            return "mark"
        if category in ("Co", "Cn"):
            return "single"
        if category[0] in "ZC":
            return "separator"
        if category[0] not in "LN":
            return "single"
        name = unicodedata.name(character, "")
        by_character = (
            "CJK UNIFIED" in name
            or "CJK COMPATIBILITY IDEOGRAPH" in name
            or (0x0E00 <= code <= 0x0E7F)
            or (0x3040 <= code <= 0x30FF)
            or (0x31F0 <= code <= 0x31FF)
            or (0xFF66 <= code <= 0xFF9F)
            or (0x1AFF0 <= code <= 0x1B16F)
            or code in (0x3005, 0x3006, 0x3007)
            or 0x3021 <= code <= 0x3029
        )
        return "single" if by_character else "word"

    tokens: list[str] = []
    i = 0
    while i < len(text):
        first = kind(text[i])
        if first == "separator":
            i += 1
            continue
        j = i + 1
        if first in ("word", "mark"):
            while j < len(text):
                if kind(text[j]) in ("word", "mark"):
                    j += 1
                elif (
                    kind(text[j]) == "apostrophe"
                    and j + 1 < len(text)
                    and kind(text[j + 1]) == "word"
                ):
                    j += 2
                else:
                    break
        else:
            # a mark stays with what it follows
            while j < len(text) and ord(text[j]) >= 0x80 and kind(text[j]) == "mark":
                j += 1
        tokens.append(text[i:j])
        i = j
    return tokens


def tokenize(text: str, tokenizer: str, newline: str | None) -> list[str]:
    """Tokens of one document."""
    if newline is not None:
        tokens: list[str] = []
        for number, line in enumerate(text.split("\n")):
            if number:
                tokens.append(newline)
            tokens.extend(tokenize(line, tokenizer, None))
        return tokens
    if tokenizer == "whitespace":
        return re.findall(rf"[^{WHITE}]+", text)
    if tokenizer == "characters":
        return list(re.sub(rf"[{WHITE}]+", " ", text.strip(WHITE)))
    return words(text)


def documents(text: str, mode: str) -> list[str]:
    """The documents of a plain text file."""
    if mode == "line":
        lines = text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines
    if mode == "blank-line":
        found: list[list[str]] = []
        fresh = True
        for line in text.split("\n"):
            if not line.strip(WHITE):
                fresh = True
            elif fresh:
                found.append([line])
                fresh = False
            else:
                found[-1].append(line)
        return ["\n".join(lines) for lines in found]
    return [text]


def occurrences(needle: list[str], hay: list[list[str]]) -> list[tuple[int, int]]:
    """Document and last token of every occurrence."""
    n = len(needle)
    return [
        (d, i + n - 1)
        for d, document in enumerate(hay)
        for i in range(len(document) - n + 1)
        if document[i : i + n] == needle
    ]


def training_length(tokens: list[str], i: int, training: list[list[str]]) -> int:
    """Longest suffix of tokens[..i] that occurs in a training document."""
    length = 0
    while length <= i and occurrences(tokens[i - length : i + 1], training):
        length += 1
    return length


def context_length(tokens: list[str], i: int) -> int:
    """Longest suffix of tokens[..i] that also ends at an earlier token."""
    best = 0
    for j in range(i):
        length = 0
        while length <= j and tokens[j - length] == tokens[i - length]:
            length += 1
        best = max(best, length)
    return best


def novelty(documents: list[tuple[list[int], int]], n: int) -> tuple[int, int]:
    """Novel and all n-grams wholly inside the judged text; documents: duplicated, prompt length."""
    novel = total = 0
    for duplicated, prompt in documents:
        for i in range(prompt + n - 1, len(duplicated)):
            total += 1
            novel += duplicated[i] < n
    return novel, total


def pointwise(duplicated: list[int], prompt: int) -> list[int]:
    """Pointwise duplication score of each judged token."""
    return [min(duplicated[i] + 1, (i - prompt) + 2) for i in range(prompt, len(duplicated))]


def cover(copied: list[int]) -> list[int]:
    """Longest copied passage over each token; copied[i]: length of the one that ends at i."""
    out = [0] * len(copied)
    for i, length in enumerate(copied):
        for t in range(i - length + 1, i + 1):
            out[t] = max(out[t], length)
    return out
