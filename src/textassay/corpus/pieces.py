"""Pieces of training text: where a file is cut, by its text alone.

Pieces end behind a line end where line ends matter, else before white space, so that no token is
cut in two. The first pieces are small and double in size, up to a megabyte, so that a curve over
the amount of text has points for short texts too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.documents import last_blank_line
from textassay.corpus.files import InputFile, byte_chunks
from textassay.corpus.tokenizers import Split

FIRST_PIECE = 1 << 16
LARGEST_PIECE = 1 << 20
_WHITE = b" \n\t\r\v\f"
_WHITE_BYTES = tuple(bytes([white]) for white in _WHITE)


@dataclass
class RawPiece:
    """A stretch of one file, cut but not tokenized.

    Attributes
    ----------
    number, file : int
        Which piece of the stream, which of its files.
    base : int
        Where its bytes are counted from in the stream: a place that tokens of no other piece have.
    file_byte : int
        Bytes of text before it in its file (for ready ids: tokens and document ends).
    anchored : bool
        Whether a document begins here.
    content : bytes, list of str or int array
        Plain text, whole documents, or token ids with -2 behind each document.
    inside, mid_line : bool
        For plain text: whether the document, and the line, began before.
    ends_file : bool
    """

    number: int
    file: int
    base: int
    file_byte: int
    anchored: bool
    content: Any
    inside: bool = False
    mid_line: bool = False
    ends_file: bool = False
    splits: list[Split] | None = field(default=None, repr=False)

    @property
    def flags(self) -> int:
        """The four truths about it as bits."""
        truths = (self.anchored, self.inside, self.mid_line, self.ends_file)
        return sum(truth << bit for bit, truth in enumerate(truths))

    @property
    def size(self) -> int:
        """Bytes of text (for ready ids: tokens and document ends)."""
        return size_of(self.content)


class EncodedPiece(NamedTuple):
    """Token ids of one piece.

    ``ids`` int32: -1 for tokens that the vocabulary lacks, -2 behind each document;
    ``byte_ends`` int32: where each token ends, from the piece's first byte.
    """

    ids: NDArray[np.int32]
    byte_ends: NDArray[np.int32]


@dataclass(frozen=True)
class Cutter:
    """Cuts plain text into stretches.

    Attributes
    ----------
    documents : str
        The document mode.
    by_lines : bool
        Whether a line end is more than white space.
    whole_documents : bool
        Whether a line, or lines up to a blank one, must stay together whatever their size.
    """

    documents: str
    by_lines: bool
    whole_documents: bool

    def stretches(self, file: InputFile, base: int) -> Iterator[tuple[bytes, bool, bool, bool]]:
        """Content, anchored, inside, mid_line of each (see `RawPiece`)."""
        anchored, inside, mid_line = True, False, False
        read: list[bytes] = []
        have, wanted = 0, piece_size(base)
        for chunk in byte_chunks(file):
            read.append(chunk)
            have += len(chunk)
            if have < wanted:
                continue
            rest = b"".join(read) if len(read) > 1 else chunk
            while len(rest) >= wanted:
                cut = self._cut(rest, piece_size(base))
                if cut == 0:
                    wanted = 2 * len(rest)
                    break
                content, rest = rest[:cut], rest[cut:]
                yield content, anchored, inside, mid_line
                base += cut
                wanted = piece_size(base)
                if self.by_lines and content.endswith(b"\n"):
                    _, line_end, last_line = content[:-1].rpartition(b"\n")
                    inside = bool(last_line.strip(_WHITE)) or (mid_line and not line_end)
                    anchored = self.documents == "line" or (
                        self.documents == "blank-line" and not inside
                    )
                    mid_line = False
                else:
                    # cut within a line, or where line ends are white space like any other
                    anchored = False
                    mid_line = inside = mid_line or bool(content.strip(_WHITE))
            read, have = [rest], len(rest)
        if have:
            yield b"".join(read), anchored, inside, mid_line

    def _cut(self, text: bytes, target: int) -> int:
        """Where to end a piece of about `target` bytes; 0: read more."""
        if self.whole_documents:
            if self.documents == "blank-line":
                return last_blank_line(text)
            return text.rfind(b"\n", 0, target) + 1 or text.find(b"\n", target) + 1
        if self.by_lines and (cut := text.rfind(b"\n", 0, target) + 1):
            return cut
        before = max(text.rfind(white, 1, target) for white in _WHITE_BYTES)
        if before > 0:
            return before
        found = [at for white in _WHITE_BYTES if (at := text.find(white, target)) > 0]
        behind = min(found, default=0)
        return behind + 1 if self.by_lines and behind and text[behind] == 10 else behind


def piece_size(base: int) -> int:
    """Bytes of the piece that begins at byte `base`: the stream doubles, up to a megabyte."""
    return min(max(FIRST_PIECE, base), LARGEST_PIECE)


def size_of(content: Any) -> int:
    """Bytes of a piece's content (for ready ids: tokens and document ends)."""
    if isinstance(content, list):
        return sum(len(text.encode("utf-8")) + 1 for text in content)
    return len(content)


_local = threading.local()


def scratch(size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Two arrays for the spans of a piece, kept by each thread: new memory costs more than them."""
    arrays: NDArray[np.int32] | None = getattr(_local, "arrays", None)
    if arrays is None or arrays.shape[1] < size:
        arrays = np.empty((2, size + size // 8), np.int32)
        if size <= 4 * LARGEST_PIECE:
            _local.arrays = arrays
    return arrays[0], arrays[1]
