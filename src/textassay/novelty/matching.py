"""One pass of training text past the automaton of what was generated."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.corpus import pieces as cutting
from textassay.corpus.pieces import EncodedPiece, RawPiece
from textassay.corpus.stream import TokenStream
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.automaton import Automaton
from textassay.novelty.training_pass import PieceFacts, Snapshot, TrainingPass, new_visits
from textassay.parallel import Workers
from textassay.resume import Interruption, Store, deferred_interrupt

LANES = 12
_GROUP = 256  # pieces between points where the work can be saved
_SAVE_EVERY = 20.0  # seconds
_FOLD_EVERY = 1 << 31  # bytes, no fewer than tokens: a worker's counts have 32 bits

Progress = Callable[[int], None]


def match_training(
    automaton: Automaton,
    stream: TokenStream,
    vocabulary: Vocabulary,
    workers: Workers,
    *,
    snapshot: Snapshot | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    key: str = "",
) -> TrainingPass:
    """Stream training text past the automaton once. Memory does not grow with the text.

    Parameters
    ----------
    automaton : Automaton
    stream : TokenStream
    vocabulary : Vocabulary
        Of the generated documents; nothing is added to it.
    workers : Workers
    snapshot : callable, optional
        Called with the settled lengths and the tokens read, whenever the text read has doubled, and
        at the end; its numbers are kept.
    progress : callable, optional
        Called with the bytes of text read so far.
    store, key : Store, str, optional
        Where unfinished work is kept, so that a later call goes on after an interruption.

    Notes
    -----
    Every state's longest match, its number of occurrences and its earliest place are exact,
    wherever pieces are cut and however many workers there are; see
    :mod:`textassay.novelty.matching_kernels`.
    """
    training = TrainingPass(automaton)
    if not stream.can_be_read_again:
        store = None
    if store is not None and (saved := store.load(key)):
        training.restore(saved)
    walk = _Walk(training, stream, vocabulary, workers)
    pieces = stream.pieces()
    for _ in islice(pieces, len(training.pieces)):
        pass  # read before; once more only for the digests
    last_save = time.monotonic()
    with deferred_interrupt() if store else contextlib.nullcontext(Interruption()) as interruption:
        while not training.finished and not interruption.requested:
            doubled = _next_doubling(training.last_bytes)
            walk.read(_Group(pieces, doubled, interruption, progress))
            if training.last_bytes - training.last_fold > _FOLD_EVERY:
                training.fold()
            doubled_now = training.finished or training.last_bytes >= _NEARLY * doubled
            if snapshot and doubled_now and training.tokens > training.last_snapshot:
                training.begin_snapshot(snapshot, workers)
            late = time.monotonic() - last_save > _SAVE_EVERY
            if store and not training.finished and (interruption.requested or late):
                store.save(key, training.saved())
                last_save = time.monotonic()
        training.end_snapshot()
    if store:
        store.discard(key)
    return training


_NEARLY = 0.9  # pieces end a little before their nominal size


def _next_doubling(read: int) -> int:
    doubling = cutting.FIRST_PIECE
    while _NEARLY * doubling <= read:
        doubling *= 2
    return doubling


@dataclass
class _Group:
    """The next pieces, up to a point where nothing else is under way."""

    pieces: Iterator[RawPiece]
    until: int
    interruption: Interruption
    progress: Progress | None
    exhausted: bool = False

    def __iter__(self) -> Iterator[RawPiece]:
        for number, piece in enumerate(self.pieces, 1):
            yield piece
            end = piece.base + piece.size
            if self.progress:
                self.progress(end)
            if number == _GROUP or end >= _NEARLY * self.until or self.interruption.requested:
                return
        self.exhausted = True


class _Matched(NamedTuple):
    piece: RawPiece
    encoded: EncodedPiece
    ends: NDArray[np.int64]
    final: tuple[int, int]


class _Walk:
    """Walks pieces past the automaton, each by one of the workers.

    Every thread counts its own visits: its pieces follow one another in the text, by which the
    kernels know the earliest of several places.
    """

    def __init__(
        self,
        training: TrainingPass,
        stream: TokenStream,
        vocabulary: Vocabulary,
        workers: Workers,
    ) -> None:
        self.training, self.stream = training, stream
        self.vocabulary, self.workers = vocabulary, workers
        self.matcher = training.automaton.matcher
        self.of_thread: dict[int, Any] = {}

    def read(self, group: _Group) -> None:
        pieces: Iterable[RawPiece] = group
        if self.stream.tokenizer.in_processes:
            pieces = self.workers.map_in_processes(partial(_with_splits, self.stream), group)
        for matched in self.workers.map(self._match, pieces):
            self._join(matched)
        self.training.finished = group.exhausted

    def _visits(self) -> Any:
        thread = threading.get_ident()
        if thread not in self.of_thread:
            visits = new_visits(self.training.automaton)
            self.of_thread[thread] = visits
            self.training.visits.append(visits)
        return self.of_thread[thread]

    def _match(self, piece: RawPiece) -> _Matched:
        from textassay.novelty.matching_kernels import document_ends, match_piece

        encoded = self.stream.encode(piece, self.vocabulary)
        size = encoded.ids.size
        ends = document_ends(encoded.ids)
        final = (0, 0)
        if size:
            final = match_piece(
                self.matcher,
                self._visits(),
                encoded.ids,
                encoded.byte_ends,
                ends,
                piece.base,
                piece.anchored,
                lane_count(size, self.training.automaton.longest_document),
            )
        return _Matched(piece, encoded, ends, final)

    def _join(self, matched: _Matched) -> None:
        from textassay.novelty.matching_kernels import read_on

        piece, encoded, ends, final = matched
        training = self.training
        if not piece.anchored:
            state, length = read_on(
                self.matcher,
                training.totals,
                encoded.ids,
                encoded.byte_ends,
                piece.base,
                *training.carried,
            )
            if length >= 0:
                final = (state, length)
        training.carried = (0, 0) if piece.ends_file else final
        size = encoded.ids.size
        tail = size - (int(ends[-1]) + 1) if ends.size else size
        training.pieces.append(
            PieceFacts(
                piece.base,
                piece.file,
                ends.size,
                size - ends.size,
                tail,
                piece.file_byte,
                piece.size,
                piece.flags,
            )
        )
        training.last_bytes = piece.base + piece.size


def lane_count(size: int, longest: int) -> int:
    """Lanes for a piece of `size` tokens: one reads on for as long as the longest match."""
    return max(1, min(LANES, size // (4 * longest + 1)))


def _with_splits(stream: TokenStream, piece: RawPiece) -> RawPiece:
    piece.splits = stream.split(piece)
    return piece
