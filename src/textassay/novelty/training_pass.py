"""The state of the pass over training text: what has been seen so far, and where."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textassay.novelty.automaton import Automaton, aligned
from textassay.parallel import Workers


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
    the earliest ends; ``place`` int64, document << 32 | token, within its piece.
    """

    longest: NDArray[np.int32]
    counts: NDArray[np.int64]
    byte: NDArray[np.int64]
    place: NDArray[np.int64]


Snapshot = Callable[[NDArray[np.int32], int], NDArray[np.float64]]


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
    # of matches that went on from one piece to the next, and of earlier calls
    totals: Any = field(init=False)
    visits: list[Any] = field(default_factory=list)  # one for each worker
    pieces: list[PieceFacts] = field(default_factory=list)
    last_bytes: int = 0
    carried: tuple[int, int] = (0, 0)
    snapshots: list[NDArray[np.float64]] = field(default_factory=list)
    finished: bool = False
    last_snapshot: int = -1
    last_fold: int = 0
    _snapshot_under_way: Future[NDArray[np.float64]] | None = None

    def __post_init__(self) -> None:
        """Nothing is seen yet."""
        self.totals = _new_totals(self.automaton.size)

    @property
    def tokens(self) -> int:
        """Training tokens read so far."""
        return sum(piece.tokens for piece in self.pieces)

    def _total(self) -> Any:
        from textassay.novelty.visit_kernels import add_all

        total = type(self.totals)(*(part.copy() for part in self.totals))
        for visits in self.visits:
            add_all(total, visits)
        return total

    def fold(self) -> None:
        """Add what workers have seen to the totals, whose counts have 64 bits, and begin anew."""
        from textassay.novelty.transition_kernels import BOUND, ROW
        from textassay.novelty.visit_kernels import add_all

        for visits in self.visits:
            add_all(self.totals, visits)
            visits.rows.reshape(-1, ROW)[:, BOUND:] = 0
        self.last_fold = self.last_bytes

    def settled(self) -> Settled:
        """What the text read so far holds of each state. Cost: linear in the states."""
        from textassay.novelty.visit_kernels import settle_counts

        size = self.automaton.size
        totals = self._total()
        out = Settled(
            self._settled_lengths(totals.seen.copy()),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.int64),
        )
        automaton = self.automaton
        settle_counts(automaton.by_length, automaton.lengths, automaton.links, totals, *out)
        return out

    def _settled_lengths(self, seen: NDArray[np.int32]) -> NDArray[np.int32]:
        from textassay.novelty.visit_kernels import settle_lengths

        automaton = self.automaton
        settle_lengths(automaton.by_length, automaton.lengths, automaton.links, seen)
        return seen

    def begin_snapshot(self, snapshot: Snapshot, workers: Workers) -> None:
        """Take a snapshot of the text read so far, beside what is read from here on."""
        from textassay.novelty.visit_kernels import longest_seen

        self.end_snapshot()  # one at a time: each holds a number for every state
        seen = self.totals.seen.copy()
        for visits in self.visits:
            longest_seen(seen, visits)
        tokens = self.tokens
        self._snapshot_under_way = workers.start(
            lambda: snapshot(self._settled_lengths(seen), tokens)
        )
        self.last_snapshot = tokens

    def end_snapshot(self) -> None:
        """Wait for the snapshot under way, if there is one."""
        if self._snapshot_under_way is not None:
            self.snapshots.append(self._snapshot_under_way.result())
            self._snapshot_under_way = None

    def saved(self) -> dict[str, NDArray[Any]]:
        """Arrays to go on from."""
        self.end_snapshot()
        return {
            **self._total()._asdict(),
            "pieces": np.array(self.pieces, np.int64).reshape(-1, len(PieceFacts._fields)),
            "carried": np.array(self.carried, np.int64),
            "last_bytes": np.array(self.last_bytes),
            "snapshots": np.array(self.snapshots, np.float64),
        }

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what :meth:`saved` gave."""
        self.totals = type(self.totals)(*(saved[name] for name in self.totals._fields))
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


def _new_totals(states: int) -> Any:
    from textassay.novelty.visit_kernels import FAR, Totals

    seen, nothing, far = (
        np.zeros(states, np.int32),
        np.zeros(states, np.int64),
        np.full(states, FAR),
    )
    return Totals(seen, nothing, nothing.copy(), far, nothing.copy(), far.copy(), nothing.copy())


def new_visits(automaton: Automaton) -> Any:
    """Rows and places for one worker. Memory: 64 bytes a state."""
    from textassay.novelty.visit_kernels import Visits

    rows = automaton.matcher.rows
    own = aligned(rows.size, np.int32)
    own[:] = rows
    return Visits(own, np.zeros(4 * automaton.size, np.int64))
