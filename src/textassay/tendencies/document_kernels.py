"""Compiled sums over the tokens of each document."""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel


@kernel
def document_sums(
    tokens: Any,
    offsets: Any,
    stopword: Any,
    symbol: Any,
    word: Any,
    characters: Any,
    seen: Any,
    out: Any,
) -> None:
    """Fill out[d] (int64[D, 5]): types, stopwords, symbols, words, characters of words.

    `seen` is int64[V], filled with -1.
    """
    for d in range(offsets.size - 1):
        for i in range(offsets[d], offsets[d + 1]):
            token = tokens[i]
            if seen[token] != d:
                seen[token] = d
                out[d, 0] += 1
            if stopword[token]:
                out[d, 1] += 1
            if symbol[token]:
                out[d, 2] += 1
            if word[token]:
                out[d, 3] += 1
                out[d, 4] += characters[token]


@kernel
def window_sums(tokens: Any, offsets: Any, window: int, counts: Any, out: Any) -> None:
    """Fill out[d] (float64[D, 2]): type-token ratios of all windows inside it, and their number.

    `counts` is int32[V], filled with 0, and is so again at the end.
    """
    for d in range(offsets.size - 1):
        begin, end = offsets[d], offsets[d + 1]
        if end - begin < window:
            continue
        types = 0
        total = 0
        for i in range(begin, end):
            counts[tokens[i]] += 1
            if counts[tokens[i]] == 1:
                types += 1
            if i - begin >= window:
                old = tokens[i - window]
                counts[old] -= 1
                if counts[old] == 0:
                    types -= 1
            if i - begin >= window - 1:
                total += types
        for i in range(end - window, end):
            counts[tokens[i]] = 0
        out[d, 0] = np.float64(total) / window
        out[d, 1] = end - begin - window + 1
