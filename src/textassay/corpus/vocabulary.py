"""The one table of token types of an assay: token bytes to ids and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_EMPTY = np.uint64(0xFFFFFFFF_00000000)


class Vocabulary:
    """Append-only table of token types, shared by all corpora of an assay.

    Ids are int32, in order of first appearance. Tokens are kept as UTF-8 bytes; a look-up hashes
    them and verifies the hit by comparing bytes.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.add(["the", "cat", "the"]).tolist()
    [0, 1, 0]
    >>> vocabulary.find(["cat", "dog"]).tolist(), vocabulary[1]
    ([1, -1], 'cat')
    """

    def __init__(self) -> None:
        self._allocate(slots=1 << 12)
        self._pool = np.zeros(1 << 14, np.uint8)
        self._starts = np.zeros(1 << 11, np.int64)
        self._size = 0
        self._strings: list[str] = []

    def _allocate(self, slots: int) -> None:
        self._table = np.zeros(2 * slots, np.uint64)
        self._table[1::2] = _EMPTY
        self._shift = np.uint64(64 - (slots.bit_length() - 1))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, token: int) -> str:
        """The token's text."""
        return self.strings[token]

    @property
    def strings(self) -> list[str]:
        """Texts of all tokens, by id."""
        have = len(self._strings)
        if have < self._size:
            pool, starts = self._pool, self._starts
            # a token may hold half of what the text holds, if a tokenizer cuts inside a character
            self._strings.extend(
                pool[starts[i] : starts[i + 1]].tobytes().decode("utf-8", "replace")
                for i in range(have, self._size)
            )
        return self._strings

    def find_spans(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        newline: int = -1,
        space: int = -1,
    ) -> NDArray[np.int32]:
        """Ids of spans of `buffer` (8 bytes of padding behind it): -1 unknown, -2 a boundary.

        Safe to call from several threads while nothing is added.
        """
        from textassay.corpus.vocabulary_kernels import look_up

        ids = np.empty(starts.size, np.int32)
        look_up(
            buffer,
            starts,
            ends,
            starts.size,
            self._table,
            self._shift,
            self._pool,
            self._starts,
            newline,
            space,
            ids,
        )
        return ids

    def add_spans(
        self,
        buffer: NDArray[np.uint8],
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        newline: int = -1,
        space: int = -1,
    ) -> NDArray[np.int32]:
        """Like :meth:`find_spans`, adding what is missing."""
        from textassay.corpus.vocabulary_kernels import insert

        ids = np.empty(starts.size, np.int32)
        at = 0
        while True:
            at, self._size = insert(
                buffer,
                starts,
                ends,
                at,
                starts.size,
                self._table,
                self._shift,
                self._pool,
                self._starts,
                self._size,
                newline,
                space,
                ids,
            )
            if at == starts.size:
                return ids
            self._grow(int(ends[at] - starts[at]))

    def _grow(self, needed: int) -> None:
        from textassay.corpus.vocabulary_kernels import rebuild

        if 4 * (self._size + 1) > self._table.size:
            self._allocate(self._table.size)
            rebuild(self._table, self._shift, self._pool, self._starts, self._size)
        if self._size + 2 > self._starts.size:
            self._starts = np.concatenate([self._starts, np.zeros_like(self._starts)])
        used = int(self._starts[self._size])
        if used + needed + 8 > self._pool.size:
            more = max(self._pool.size, needed + 8)
            self._pool = np.concatenate([self._pool, np.zeros(more, np.uint8)])

    def add(self, tokens: Iterable[str]) -> NDArray[np.int32]:
        """Ids of the tokens (strings), adding what is missing."""
        return self.add_spans(*_as_spans(list(tokens)))

    def find(self, tokens: Iterable[str]) -> NDArray[np.int32]:
        """Ids of the tokens (strings), -1 for unknown ones."""
        return self.find_spans(*_as_spans(list(tokens)))


def _as_spans(
    tokens: Sequence[str],
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]:
    pieces = [token.encode("utf-8", "surrogatepass") for token in tokens]
    limits = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=limits[1:])
    buffer = np.frombuffer(b"".join(pieces) + bytes(8), np.uint8)
    return buffer, limits[:-1].astype(np.int32), limits[1:].astype(np.int32)
