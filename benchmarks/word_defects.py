"""Defects that all documents of a text share a little of: a share of their words is changed.

A share of documents that are wholly spoilt (`planted_defects.py`) makes a text more uneven than
human text is; these leave it about as even. Each word has a random number of its own, so that a
smaller share of words is a part of a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from human_texts import NEWS
from numpy.typing import NDArray

from textassay.corpus.documents import Document
from textassay.corpus.stopwords import stopwords_of

Chosen = NDArray[np.bool_]
WordDefect = Callable[[list[str], Chosen, np.random.Generator], list[str]]
BEGINNING = 6  # words of a text that later ones may repeat
_STOPWORDS = stopwords_of("en").words


@cache
def _news_words() -> list[str]:
    return NEWS.read_text(encoding="utf-8").split()


def _dropped(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    return [word for word, is_chosen in zip(words, chosen, strict=True) if not is_chosen]


def _stopwords_dropped(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    are_stopwords = np.array([word.casefold() in _STOPWORDS for word in words])
    return _dropped(words, chosen & are_stopwords, rng)


def _symbols_dropped(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    bare = ["".join(filter(str.isalnum, word)) for word in words]
    return [b if c else word for word, b, c in zip(words, bare, chosen, strict=True) if b or not c]


def _from_news(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    places = rng.integers(len(_news_words()), size=len(words)).tolist()
    others = [_news_words()[place] for place in places]
    return [o if c else word for word, o, c in zip(words, others, chosen, strict=True)]


def _long_to_one(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    return ["man" if c and len(w) > 6 else w for w, c in zip(words, chosen, strict=True)]


def _swapped(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    found = list(words)
    for place in 2 * np.flatnonzero(chosen[: len(words) - 1 : 2]):
        found[place], found[place + 1] = found[place + 1], found[place]
    return found


def _said_twice(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    return [
        w for word, c in zip(words, chosen, strict=True) for w in ([word, word] if c else [word])
    ]


def _later_repeat(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    places = rng.integers(BEGINNING, size=len(words)).tolist()
    return [
        words[place] if c and k >= BEGINNING else word
        for k, (word, c, place) in enumerate(zip(words, chosen, places, strict=True))
    ]


def _typing_errors(words: list[str], chosen: Chosen, rng: np.random.Generator) -> list[str]:
    drawn = zip(rng.random(len(words)), rng.integers(26, size=len(words)), strict=True)
    found = []
    for word, is_chosen, (share, letter) in zip(words, chosen, drawn, strict=True):
        place = int(share * (len(word) + 1))
        found.append(word[:place] + chr(97 + letter) + word[place:] if is_chosen else word)
    return found


WORD_DEFECTS: dict[str, WordDefect] = {
    "words dropped": _dropped,
    "stopwords dropped": _stopwords_dropped,
    "symbols dropped": _symbols_dropped,
    "words from news": _from_news,
    "long words become one": _long_to_one,
    "neighbours swapped": _swapped,
    "words said twice": _said_twice,
    "later words repeat earlier ones": _later_repeat,
    "typing errors": _typing_errors,
}


def touched(
    documents: Sequence[Document], defect: WordDefect, share: float, rng: np.random.Generator
) -> list[Document]:
    """The documents, a share of the words of each changed."""
    found = []
    for document in documents:
        words = document.text.split()
        if words:
            changed = defect(words, rng.random(len(words)) < share, rng)
            document = replace(document, text=" ".join(changed or words[:1]))
        found.append(document)
    return found
