"""Texts of any size to measure speed with.

Real words in a made-up order: a walk over a real text that jumps, at one word in two, to another
place where the same word stands. Frequencies, bigrams and word lengths stay those of the text, and
training and generated text share passages as real ones do. The real text is the published data
where it is there, else the documentation that every Python carries.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

PUBLISHED = Path(
    os.environ.get("TEXTASSAY_PUBLISHED") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


def real_words() -> list[str]:
    """Some million words of real text, or 65,000."""
    if not PUBLISHED.is_dir():
        import pydoc_data.topics

        return " ".join(pydoc_data.topics.topics.values()).split()
    words: list[str] = []
    with gzip.open(PUBLISHED / "movie-reviews.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            words += json.loads(line)["text"].split()
    for name in ("wikitext-2/valid.txt", "wikitext-2/test.txt", "war-and-peace/wap.train.txt"):
        words += (PUBLISHED / name).read_text(encoding="utf-8").split()
    return words


@numba.njit
def _walk(ids, places, starts, size, rng):
    out = np.empty(size, np.int32)
    at = rng.integers(0, ids.size)
    for i in range(size):
        word = ids[at]
        out[i] = word
        if rng.random() < 0.5:
            at = places[rng.integers(starts[word], starts[word + 1])]
        at = (at + 1) % ids.size
    return out


class Words:
    """The word types of the real text, and walks over it."""

    def __init__(self) -> None:
        words = real_words()
        number: dict[str, int] = {}
        self.ids = np.array([number.setdefault(word, len(number)) for word in words], np.int32)
        self.types = np.array(list(number), dtype=object)
        self.places = np.argsort(self.ids, kind="stable")
        self.starts = np.zeros(len(number) + 1, np.int64)
        np.cumsum(np.bincount(self.ids, minlength=len(number)), out=self.starts[1:])

    def walk(self, size: int, seed: int) -> NDArray[np.int32]:
        """`size` word ids."""
        return _walk(self.ids, self.places, self.starts, size, np.random.default_rng(seed))

    def write(self, path: Path, ids: NDArray[np.int32], line: int) -> None:
        """Write words, `line` of them a line."""
        with path.open("w", encoding="utf-8") as file:
            for first in range(0, ids.size, 1000 * line):
                words = self.types[ids[first : first + 1000 * line]]
                file.writelines(
                    " ".join(words[i : i + line]) + "\n" for i in range(0, words.size, line)
                )
