"""Texts as the ids that a neural model reads: words, characters, or byte pairs learnt on the spot.

Ids 0, 1 and 2 are the begin of a text, its end, and what is not in the vocabulary.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from textassay.errors import MissingExtraError, UsageError
from textassay.models.prompts import at_word, spaced

BEGIN, END, UNKNOWN = 0, 1, 2
SPECIAL = 3
KINDS = ("words", "characters", "bpe")


class TextTokens(Protocol):
    """Encodes texts as ids from 3 on (or 2 for what is unknown), and decodes them.

    Attributes
    ----------
    kind : {'words', 'characters', 'bpe'}
    size : int
        How many ids there are, the three special ones included.
    closed : bool
        Whether what is not in the vocabulary has one id for all.
    """

    kind: str
    size: int
    closed: bool

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, without begin and end."""

    def encode_behind(
        self, prompts: Sequence[str], texts: Sequence[str]
    ) -> list[tuple[list[int], int]]:
        """Ids of each prompt and text as one string, and how many of them are the prompt's."""

    def decode(self, ids: Sequence[int], prompt: str = "") -> str:
        """The text of ids behind a prompt; special ones are left out, but unknown is ``<unk>``."""

    def described(self) -> dict[str, Any]:
        """What :func:`tokens_from` needs."""


class ListedTokens:
    """Words between white space, or characters, from a list; all others are ``<unk>``.

    Parameters
    ----------
    kind : {'words', 'characters'}
    listed : list of str
        Tokens by id, from 3 on.
    """

    closed = True

    def __init__(self, kind: str, listed: Sequence[str]) -> None:
        self.kind, self.listed = kind, list(listed)
        self.size = SPECIAL + len(self.listed)
        self._ids = {token: SPECIAL + k for k, token in enumerate(self.listed)}

    @classmethod
    def learn(cls, kind: str, texts: Sequence[str], size: int | None) -> ListedTokens:
        """The most frequent tokens, at most `size`; equal counts by first appearance."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_split(kind, text))
        counts.pop("<unk>", None)  # a text that was cut to a vocabulary holds it already
        return cls(kind, [token for token, _ in counts.most_common(size)])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, without begin and end."""
        find = self._ids.get
        return [[find(token, UNKNOWN) for token in _split(self.kind, text)] for text in texts]

    def encode_behind(
        self, prompts: Sequence[str], texts: Sequence[str]
    ) -> list[tuple[list[int], int]]:
        """Ids of each prompt and text as one string, and how many of them are the prompt's."""
        pairs = list(zip(prompts, texts, strict=True))
        if self.kind == "words":
            pairs = [at_word(prompt, text) for prompt, text in pairs]
        before = self.encode([prompt for prompt, _ in pairs])
        behind = self.encode([text for _, text in pairs])
        return [(one + other, len(one)) for one, other in zip(before, behind, strict=True)]

    def decode(self, ids: Sequence[int], prompt: str = "") -> str:
        """The text of ids behind a prompt."""
        found = ["<unk>" if i == UNKNOWN else self.listed[i - SPECIAL] for i in ids if i > END]
        return spaced(prompt, " ".join(found)) if self.kind == "words" else "".join(found)

    def described(self) -> dict[str, Any]:
        """What :func:`tokens_from` needs."""
        return {"kind": self.kind, "listed": self.listed}


class BytePairTokens:
    """Byte pairs (Sennrich et al. 2016, on bytes): no text is unknown."""

    kind = "bpe"
    closed = False

    def __init__(self, serialised: str) -> None:
        self._tokenizer: Any = _tokenizers().Tokenizer.from_str(serialised)
        self.size = SPECIAL + int(self._tokenizer.get_vocab_size())

    @classmethod
    def learn(cls, texts: Sequence[str], size: int) -> BytePairTokens:
        """Merge the most frequent pairs until there are `size` tokens."""
        library = _tokenizers()
        if size < 256:
            raise UsageError(f"vocabulary of {size} byte pairs: at least 256 are needed")
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = library.decoders.ByteLevel()
        trainer = library.trainers.BpeTrainer(
            vocab_size=size,
            show_progress=False,
            initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(texts, trainer)
        return cls(tokenizer.to_str())

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, without begin and end."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [[SPECIAL + i for i in one.ids] for one in encoded]

    def encode_behind(
        self, prompts: Sequence[str], texts: Sequence[str]
    ) -> list[tuple[list[int], int]]:
        """Ids of each prompt and text as one string, and how many of them are the prompt's."""
        joined = [prompt + text for prompt, text in zip(prompts, texts, strict=True)]
        encoded = self._tokenizer.encode_batch(joined, add_special_tokens=False)
        return [
            (
                [SPECIAL + i for i in one.ids],
                sum(end <= len(prompt) for _, end in one.offsets) if prompt else 0,
            )
            for one, prompt in zip(encoded, prompts, strict=True)
        ]

    def decode(self, ids: Sequence[int], prompt: str = "") -> str:
        """The text of ids; bytes that are no character become U+FFFD."""
        text: str = self._tokenizer.decode([i - SPECIAL for i in ids if i >= SPECIAL])
        return text

    def described(self) -> dict[str, Any]:
        """What :func:`tokens_from` needs."""
        return {"kind": self.kind, "tokenizer": json.loads(self._tokenizer.to_str())}


def learn_tokens(kind: str, texts: Sequence[str], size: int | None) -> TextTokens:
    """Tokens of a kind from training text.

    Raises
    ------
    UsageError
        If there is no such kind, or the texts hold nothing.
    """
    if kind not in KINDS:
        raise UsageError(f"tokens {kind!r}: choose one of {', '.join(KINDS)}")
    if size is not None and size < 1:
        raise UsageError(f"a vocabulary of {size}: at least 1 token is needed")
    if not any(text.strip() for text in texts):
        raise UsageError("the training text holds nothing to learn tokens from")
    if kind == "bpe":
        return BytePairTokens.learn(texts, size or 8192)
    return ListedTokens.learn(kind, texts, size)


def tokens_from(described: dict[str, Any]) -> TextTokens:
    """The tokens that ``described()`` told of."""
    if described["kind"] == "bpe":
        return BytePairTokens(json.dumps(described["tokenizer"]))
    return ListedTokens(described["kind"], described["listed"])


def _split(kind: str, text: str) -> Sequence[str]:
    return text.split() if kind == "words" else text


def _tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError:
        raise MissingExtraError("Byte-pair tokens", "tokenizers", "neural") from None
    return tokenizers
