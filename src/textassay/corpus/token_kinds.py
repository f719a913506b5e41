"""What kind of token each type of a vocabulary is: stopword, symbol, word; and how long."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class TokenKinds:
    """For each token id of a vocabulary.

    Attributes
    ----------
    stopword : bool[V]
        Whether it is in the list, without regard to case.
    symbol : bool[V]
        Whether it consists of digits, punctuation and other symbols alone.
    word : bool[V]
        Whether it holds a letter.
    characters : int32[V]
        Its length in code points.
    """

    stopword: NDArray[np.bool_]
    symbol: NDArray[np.bool_]
    word: NDArray[np.bool_]
    characters: NDArray[np.int32]


def token_kinds(vocabulary: Vocabulary, stopwords: frozenset[str]) -> TokenKinds:
    """Kinds of all types. Cost: some 1 us a type.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> ids = vocabulary.add(["The", "cat", "1.5", "!"])
    >>> kinds = token_kinds(vocabulary, frozenset({"the"}))
    >>> kinds.stopword.tolist(), kinds.symbol.tolist(), kinds.characters.tolist()
    ([True, False, False, False], [False, False, True, True], [3, 3, 3, 1])
    """
    strings = vocabulary.strings
    size = len(strings)
    kinds = TokenKinds(
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        np.zeros(size, np.int32),
    )
    for number, token in enumerate(strings):
        kinds.characters[number] = len(token)
        kinds.stopword[number] = plain_word(token) in stopwords
        kinds.word[number] = any(map(str.isalpha, token))
        kinds.symbol[number] = bool(token) and is_symbol(token)
    return kinds


def plain_word(token: str) -> str:
    """A token as lists of stopwords hold it: case folded, with a straight apostrophe.

    Examples
    --------
    >>> plain_word("Don’t")
    "don't"
    """
    return token.casefold().replace("’", "'")


def is_symbol(token: str) -> bool:
    """Whether a token consists of digits, punctuation and other symbols alone.

    Examples
    --------
    >>> is_symbol("1.5"), is_symbol("%"), is_symbol("B2"), is_symbol("5th")
    (True, True, False, False)
    """
    return all(unicodedata.category(character)[0] in "NPS" for character in token)
