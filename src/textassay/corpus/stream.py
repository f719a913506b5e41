"""Token streams: text too large to hold, read once, as pieces of token ids.

Reading and cutting is done by one thread (see :mod:`textassay.corpus.pieces`); a piece turns into
token ids in any other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.decoding import decode, normalize
from textassay.corpus.documents import (
    Reading,
    blank_line_documents,
    iterate_samples,
)
from textassay.corpus.files import BYTE_ORDER_MARK, InputFile
from textassay.corpus.pieces import Cutter, EncodedPiece, RawPiece, piece_size, scratch
from textassay.corpus.tokenizers import (
    Split,
    Tokenizer,
    find_spans,
    join_utf8,
    special_ids,
    split_texts,
)
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError


@dataclass(frozen=True)
class TokenStream:
    """Text of one or many files as pieces of token ids.

    Parameters
    ----------
    files : sequence of InputFile
    tokenizer : Tokenizer
    reading : Reading
    newline : str, optional
        The token that a line end stands for; None: line ends are white space.
    """

    files: Sequence[InputFile]
    tokenizer: Tokenizer
    reading: Reading
    newline: str | None = None

    @property
    def can_be_read_again(self) -> bool:
        """Whether no part of it comes from standard input."""
        return not any(file.is_standard_input for file in self.files)

    def pieces(self) -> Iterator[RawPiece]:
        """Read and cut; sets the digests of the files."""
        base = number = 0
        for index, file in enumerate(self.files):
            file_byte = 0
            previous: RawPiece | None = None
            for content, anchored, inside, mid_line in self._parts_of(file, base):
                if previous is not None:
                    yield previous
                previous = RawPiece(
                    number, index, base, file_byte, anchored, content, inside, mid_line
                )
                file_byte += previous.size
                # one more, so that no token of a piece ends where one of the piece before does
                base += self._stretch * previous.size + 1
                number += 1
            if previous is None:
                raise InputError("holds no text", file=file.name)
            previous.ends_file = True
            yield previous

    @property
    def has_random_access(self) -> bool:
        """Whether pieces can be read by their place: files of plain text that are not packed."""
        return (
            self.reading.split_on is None
            and not self.tokenizer.reads_ids
            and all(
                file.format == "text" and file.compression is None and os.path.isfile(file.name)
                for file in self.files
            )
        )

    def piece_at(
        self, number: int, file: int, base: int, file_byte: int, size: int, flags: int
    ) -> RawPiece:
        """One piece again, of a stream with random access.

        Raises
        ------
        InputError
            If the file can no longer be read.
        """
        try:
            with open(self.files[file].name, "rb") as text:
                text.seek(file_byte)
                content = text.read(size)
        except OSError as error:
            raise InputError(
                f"cannot be read again: {error.strerror}", file=self.files[file].name
            ) from None
        anchored, inside, mid_line, ends_file = (bool(flags >> bit & 1) for bit in range(4))
        return RawPiece(
            number, file, base, file_byte, anchored, content, inside, mid_line, ends_file
        )

    @property
    def _stretch(self) -> int:
        """How many bytes one byte can become: 11 by NFKC (U+FDFA), 3 where it is replaced."""
        return 12 if self.reading.normalize or self.reading.errors == "replace" else 1

    def _parts_of(self, file: InputFile, base: int) -> Iterator[tuple[Any, bool, bool, bool]]:
        """Content, anchored, inside, mid_line of each piece of a file."""
        if self.tokenizer.reads_ids:
            return self._id_stretches(file)
        if file.format == "text" and self.reading.split_on is None:
            mode, split_text = self.reading.documents, self.tokenizer.compiled is None
            cutter = Cutter(
                documents=mode,
                by_lines=mode in ("line", "blank-line") or self.newline is not None,
                whole_documents=split_text and mode in ("line", "blank-line"),
            )
            return cutter.stretches(file, base)
        return self._record_batches(file, base)

    def _record_batches(
        self, file: InputFile, base: int
    ) -> Iterator[tuple[list[str], bool, bool, bool]]:
        batch: list[str] = []
        size = 0
        anchored = True
        for document in iterate_samples(file, self.reading):
            text = normalize(document.text, self.reading.normalize)
            batch.append(text)
            size += len(text) + 1
            if size >= piece_size(base):
                yield batch, anchored, False, False
                base += size
                batch, size = [], 0
                anchored = self.reading.documents != "stream"
        if batch:
            yield batch, anchored, False, False

    def _id_stretches(
        self, file: InputFile
    ) -> Iterator[tuple[NDArray[np.int64], bool, bool, bool]]:
        from textassay.corpus.token_ids import id_stretches

        anchored = True
        reading = self.reading
        for stretch in id_stretches(file, reading.id_type, reading.document_end, reading.documents):
            yield stretch, anchored, False, False
            anchored = bool(stretch[-1] == -2)

    def encode(self, piece: RawPiece, vocabulary: Vocabulary) -> EncodedPiece:
        """Token ids of a piece. Safe in several threads while nothing is added.

        Raises
        ------
        InputError
            If plain text is not valid UTF-8 or holds a NUL byte, and errors are strict.
        """
        encoded = self._encode(piece, vocabulary)
        if piece.ends_file and self._leaves_open(piece, encoded.ids):
            end = max(piece.size, int(encoded.byte_ends.max(initial=0)))
            return EncodedPiece(
                np.append(encoded.ids, np.int32(-2)), np.append(encoded.byte_ends, np.int32(end))
            )
        return encoded

    def _leaves_open(self, piece: RawPiece, ids: NDArray[np.int32]) -> bool:
        """Whether the last document of a file ends with the file alone."""
        mode = self.reading.documents
        if isinstance(piece.content, list):
            return mode == "stream"
        if self.tokenizer.reads_ids:
            return not ids.size or bool(ids[-1] != -2)
        if mode in ("file", "stream"):
            return True
        if self.tokenizer.compiled is None:
            return False
        if mode == "line":
            return not piece.content.endswith(b"\n")
        ends = np.flatnonzero(ids == -2)
        return bool(ends[-1] + 1 < ids.size) if ends.size else piece.inside or ids.size > 0

    def _encode(self, piece: RawPiece, vocabulary: Vocabulary) -> EncodedPiece:
        if self.tokenizer.reads_ids:
            return _encode_ids(piece.content, vocabulary)
        if self.tokenizer.compiled is None:
            return self._encode_split(piece, vocabulary)
        from textassay.corpus import scan_kernels as scan

        kind = self.tokenizer.compiled
        newline_id, space_id = special_ids(vocabulary, kind, self.newline, add=False)
        if isinstance(piece.content, list):
            buffer, limits = join_utf8(piece.content)
            starts, ends = scratch(buffer.size + len(piece.content))
            newlines = scan.AS_SPACE if self.newline is None else scan.AS_TOKEN
            count = scan.scan_documents(
                kind, buffer, limits, self.tokenizer.classes, newlines, starts, ends
            )
            if self.reading.documents == "stream":
                starts[:count][starts[:count] == scan.BOUNDARY] = scan.NEWLINE
        else:
            buffer = np.frombuffer(self._sound_bytes(piece) + bytes(8), np.uint8)
            starts, ends = scratch(buffer.size + 2)
            count = scan.scan_stretch(
                kind,
                buffer,
                _mark_size(piece),
                buffer.size - 8,
                self.tokenizer.classes,
                _newline_rule(self.reading.documents, self.newline),
                piece.inside,
                piece.mid_line,
                starts,
                ends,
            )
        starts, ends = starts[:count], ends[:count].copy()
        return EncodedPiece(vocabulary.find_spans(buffer, starts, ends, newline_id, space_id), ends)

    def _sound_bytes(self, piece: RawPiece) -> bytes:
        from textassay.corpus.scan_kernels import first_invalid

        content: bytes = piece.content
        invalid = first_invalid(np.frombuffer(content, np.uint8), 0, len(content))
        if invalid < 0 and self.reading.normalize is None:
            return content
        text = decode(
            content,
            errors=self.reading.errors,
            file=self.files[piece.file].name,
            byte=piece.file_byte,
        )
        return normalize(text, self.reading.normalize).encode("utf-8")

    def text_of(self, piece: RawPiece) -> bytes:
        """The UTF-8 text that the byte ends of an encoded piece count in."""
        if self.tokenizer.compiled is None:
            return "\n".join([*self._whole_texts(piece), ""]).encode("utf-8")
        if isinstance(piece.content, list):
            return "".join(piece.content).encode("utf-8")
        return self._sound_bytes(piece)

    def split(self, piece: RawPiece) -> list[Split]:
        """Tokens of a piece as strings, for tokenizers that are not compiled."""
        return split_texts(self._whole_texts(piece), self.tokenizer, self.newline)

    def _whole_texts(self, piece: RawPiece) -> list[str]:
        if isinstance(piece.content, list):
            return piece.content
        text = self._sound_bytes(piece)[_mark_size(piece) :].decode("utf-8")
        if self.reading.documents == "line":
            return text.removesuffix("\n").split("\n")
        if self.reading.documents == "blank-line":
            return list(blank_line_documents(text))
        return [text]

    def _encode_split(self, piece: RawPiece, vocabulary: Vocabulary) -> EncodedPiece:
        texts = self._whole_texts(piece)
        splits = piece.splits if piece.splits is not None else self.split(piece)
        ids: list[NDArray[np.int32]] = []
        byte_ends: list[NDArray[np.int64]] = []
        boundary = np.array([-2], np.int32)
        at = 0
        found = vocabulary.find([token for part in splits for token in part.tokens])
        first = 0
        ends_documents = self.reading.documents not in ("file", "stream")
        for text, part in zip(texts, splits, strict=True):
            ids.append(found[first : first + len(part.tokens)])
            first += len(part.tokens)
            spans = part.spans if part.spans is not None else find_spans(part.tokens, text)
            ends = np.array([end for _, end in spans], np.int64)
            if not text.isascii():
                widths = np.array([len(c.encode("utf-8")) for c in text], np.int64)
                ends = np.concatenate([[0], np.cumsum(widths)])[ends]
            byte_ends.append(at + ends)
            at += len(text.encode("utf-8")) + 1
            if ends_documents:
                ids.append(boundary)
                byte_ends.append(np.array([at], np.int64))
        return EncodedPiece(
            np.concatenate(ids) if ids else np.empty(0, np.int32),
            (np.concatenate(byte_ends) if byte_ends else np.empty(0)).astype(np.int32),
        )


def _mark_size(piece: RawPiece) -> int:
    """Bytes of a byte-order mark at the begin of a file, which are no text."""
    marked = piece.file_byte == 0 and piece.content.startswith(BYTE_ORDER_MARK)
    return len(BYTE_ORDER_MARK) if marked else 0


def _newline_rule(documents: str, newline: str | None) -> int:
    from textassay.corpus import scan_kernels as scan

    if documents == "line":
        return scan.ENDS_DOCUMENT
    if documents == "blank-line":
        return scan.BLANK_ENDS_DOCUMENT if newline is None else scan.BLANK_ENDS_ELSE_TOKEN
    return scan.AS_SPACE if newline is None else scan.AS_TOKEN


def _encode_ids(stretch: NDArray[np.int64], vocabulary: Vocabulary) -> EncodedPiece:
    known, inverse = np.unique(stretch, return_inverse=True)
    found = vocabulary.find([str(token) for token in known.tolist()])
    found[known == -2] = -2
    return EncodedPiece(found[inverse], np.arange(1, stretch.size + 1, dtype=np.int32))
