"""One pass of training text past the automaton of what was generated."""

from __future__ import annotations

import contextlib
import queue
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
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
from textassay.parallel import Workers
from textassay.resume import Interruption, Store, deferred_interrupt

LANES = 16
_GROUP = 256  # pieces between points where the work can be saved
_SAVE_EVERY = 20.0  # seconds

Progress = Callable[[int], None]


class PieceFacts(NamedTuple):
    """What is remembered of a piece of training text, to name places in it later."""

    base: int
    file: int
    documents: int
    tokens: int
    tail: int  # tokens behind the last document end
    file_byte: int
    size: int  # these three say where to read it again
    flags: int


class Settled(NamedTuple):
    """For each state, what training text holds of it.

    ``longest`` int32 tokens; ``counts`` int64 occurrences; ``byte`` int64, the stream byte at which
    the earliest ends; ``place`` uint64, document << 32 | token, within its piece.
    """

    longest: NDArray[np.int32]
    counts: NDArray[np.int64]
    byte: NDArray[np.int64]
    place: NDArray[np.uint64]


Snapshot = Callable[[Settled, int], NDArray[np.float64]]


@dataclass
class TrainingPass:
    """The state of the pass over training text; complete when `finished`.

    Attributes
    ----------
    pieces : list of PieceFacts
    last_bytes : int
        Bytes of text (for ready ids: tokens) read so far.
    """

    automaton: Automaton
    visits: list[Any] = field(default_factory=list)
    pieces: list[PieceFacts] = field(default_factory=list)
    last_bytes: int = 0
    carried: tuple[int, int] = (0, 0)
    snapshots: list[NDArray[np.float64]] = field(default_factory=list)
    finished: bool = False
    last_snapshot: int = -1
    _snapshot_under_way: Future[NDArray[np.float64]] | None = None

    @property
    def tokens(self) -> int:
        """Training tokens read so far."""
        return sum(piece.tokens for piece in self.pieces)

    def _total(self) -> Any:
        from textassay.novelty.matching_kernels import merge_visits

        total = _new_visits(self.automaton.size)
        for visits in self.visits:
            merge_visits(total, visits)
        return total

    def settled(self) -> Settled:
        """What the text read so far holds of each state. Cost: linear in the states."""
        return self._settle(self._total())

    def begin_snapshot(self, snapshot: Snapshot, workers: Workers) -> None:
        """Take a snapshot of the text read so far, beside what is read from here on."""
        self.end_snapshot()  # one at a time: each holds a copy of the visits
        total, tokens = self._total(), self.tokens
        self._snapshot_under_way = workers.start(lambda: snapshot(self._settle(total), tokens))
        self.last_snapshot = tokens

    def end_snapshot(self) -> None:
        """Wait for the snapshot under way, if there is one."""
        if self._snapshot_under_way is not None:
            self.snapshots.append(self._snapshot_under_way.result())
            self._snapshot_under_way = None

    def _settle(self, visits: Any) -> Settled:
        from textassay.novelty.matching_kernels import settle

        automaton = self.automaton
        size = automaton.size
        out = Settled(
            np.empty(size, np.int32),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.uint64),
        )
        by_length = np.argsort(automaton.lengths, kind="stable").astype(np.int32)
        settle(by_length, automaton.lengths, automaton.links, visits, *out)
        return out

    def saved(self) -> dict[str, NDArray[Any]]:
        """Arrays to go on from."""
        self.end_snapshot()
        total = self._total()
        return {
            "best": total.best,
            "places": total.places,
            "pieces": np.array(self.pieces, np.int64).reshape(-1, len(PieceFacts._fields)),
            "carried": np.array(self.carried, np.int64),
            "last_bytes": np.array(self.last_bytes),
            "snapshots": np.array(self.snapshots, np.float64),
        }

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`saved` gave."""
        from textassay.novelty.matching_kernels import Visits

        self.visits = [Visits(saved["best"], saved["places"])]
        self.pieces = [PieceFacts(*row) for row in saved["pieces"].tolist()]
        self.carried = (int(saved["carried"][0]), int(saved["carried"][1]))
        self.last_bytes = int(saved["last_bytes"])
        self.snapshots = list(saved["snapshots"])
        self.last_snapshot = int(self.snapshots[-1][0]) if self.snapshots else -1

    def documents_of(self, file: int) -> int:
        """Documents of one training file."""
        return sum(p.documents for p in self.pieces if p.file == file)

    def tokens_of(self, file: int) -> int:
        """Tokens of one training file."""
        return sum(p.tokens for p in self.pieces if p.file == file)

    def place(self, byte: int, place: int) -> tuple[int, int, int, int]:
        """File, document in it, token in the document, piece, of an occurrence's last token."""
        index = bisect_right(self.pieces, byte, key=lambda piece: piece.base) - 1
        piece = self.pieces[index]
        document, token = place >> 32, place & 0xFFFFFFFF
        if document == 0:
            token += self._tokens_before(index)
        before = sum(p.documents for p in self.pieces[:index] if p.file == piece.file)
        return piece.file, before + document, token, index

    def _tokens_before(self, index: int) -> int:
        """Tokens of the document under way where a piece begins."""
        tokens = 0
        file = self.pieces[index].file
        while index > 0 and self.pieces[index - 1].file == file:
            index -= 1
            tokens += self.pieces[index].tail
            if self.pieces[index].documents:
                break
        return tokens


def _new_visits(states: int) -> Any:
    from textassay.novelty.matching_kernels import Visits

    return Visits(np.zeros(2 * states, np.uint64), np.zeros(3 * states, np.uint64))


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
        Called with what is settled and the tokens read, whenever the text read has doubled, and
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
    final: tuple[int, int]


class _Walk:
    """Walks pieces past the automaton, each by one of the workers."""

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
        while len(training.visits) < workers.jobs + 1:
            training.visits.append(_new_visits(training.automaton.size))
        self.own = training.visits[0]
        self.free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for visits in training.visits[1:]:
            self.free.put(visits)

    def read(self, group: _Group) -> None:
        pieces: Iterable[RawPiece] = group
        if self.stream.tokenizer.in_processes:
            pieces = self.workers.map_in_processes(partial(_with_splits, self.stream), group)
        for matched in self.workers.map(self._match, pieces):
            self._join(matched)
        self.training.finished = group.exhausted

    def _match(self, piece: RawPiece) -> _Matched:
        from textassay.novelty.matching_kernels import match_piece

        encoded = self.stream.encode(piece, self.vocabulary)
        size = encoded.ids.size
        final = (0, 0)
        if size:
            lanes = lane_count(size, self.training.automaton.longest_document)
            visits = self.free.get()
            final = match_piece(
                self.matcher,
                visits,
                encoded.ids,
                encoded.byte_ends,
                piece.base,
                piece.anchored,
                lanes,
            )
            self.free.put(visits)
        return _Matched(piece, encoded, final)

    def _join(self, matched: _Matched) -> None:
        from textassay.novelty.matching_kernels import read_on

        piece, encoded, final = matched
        training = self.training
        if not piece.anchored:
            state, length = read_on(
                self.matcher,
                self.own,
                encoded.ids,
                encoded.byte_ends,
                piece.base,
                *training.carried,
            )
            if length >= 0:
                final = (state, length)
        training.carried = (0, 0) if piece.ends_file else final
        ends = np.flatnonzero(encoded.ids == -2)
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
