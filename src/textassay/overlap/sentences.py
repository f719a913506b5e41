"""Sentences as arrays of token ids, from whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus, judged_tokens
from textassay.corpus.tokenizers import encode_documents, make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import UsageError

Texts = Corpus | Sequence[str] | Sequence[Sequence[str]]


class Sentences(NamedTuple):
    """Token ids of all sentences end to end (int32[N]), and where each begins (int64[S + 1])."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each sentence."""
        return np.diff(self.offsets)


def as_sentences(
    texts: Texts,
    vocabulary: Vocabulary,
    tokenizer: str,
    name: str,
    newline: str | None = None,
) -> Sentences:
    """From a corpus of this vocabulary, from strings, or from lists of tokens.

    `newline` is the token that a line end in a string stands for; None: it is white space.

    Raises
    ------
    UsageError
        If `texts` is one string, mixes strings and lists, or has another vocabulary.
    """
    if isinstance(texts, Corpus):
        if texts.vocabulary is not vocabulary:
            raise UsageError(f"{name} has another vocabulary: make corpora with one")
        lengths = texts.text_lengths
        return Sentences(judged_tokens(texts), np.concatenate([[0], np.cumsum(lengths)]))
    if isinstance(texts, str):
        raise UsageError(f"{name} is one string: a list of sentences is needed")
    strings = [text for text in texts if isinstance(text, str)]
    if len(strings) == len(texts):
        encoded = encode_documents(strings, make_tokenizer(tokenizer), vocabulary, newline)
        return Sentences(encoded.ids, encoded.offsets)
    if strings:
        raise UsageError(f"{name} holds strings and lists of tokens: one kind is needed")
    ids = vocabulary.add(token for sentence in texts for token in sentence)
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in texts])])
    return Sentences(ids, offsets.astype(np.int64))


def vocabulary_of(*texts: object) -> Vocabulary:
    """The vocabulary of the first corpus, or a new one."""
    for text in texts:
        if isinstance(text, Corpus):
            return text.vocabulary
    return Vocabulary()


def joined(first: Sentences, second: Sentences) -> Sentences:
    """Sentences of both, behind one another."""
    return Sentences(
        np.concatenate([first.tokens, second.tokens]),
        np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]),
    )
