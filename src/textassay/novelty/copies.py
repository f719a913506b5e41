"""Copied passages: which they are, how often the training text holds them, and where."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.pieces import EncodedPiece, RawPiece
from textassay.corpus.stream import TokenStream
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.automaton import Automaton
from textassay.novelty.scores import COPIED_CHARACTERS, SUPERCOPY, TokenScores, is_judged
from textassay.novelty.training_pass import Settled, TrainingPass
from textassay.parallel import map_around

_AROUND = 120  # characters, or bytes of source, shown on either side


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of judged text that occurs in the training text and cannot be made longer.

    ``document`` is the document's row, ``token`` its first token in the judged text, ``tokens``
    its length; ``begin`` and ``end`` are characters of the text; ``count`` is how often the
    training text holds it, ``byte`` and ``place`` say where first (see ``Settled``).
    """

    document: int
    token: int
    tokens: int
    begin: int
    end: int
    count: int
    byte: int
    place: int

    @property
    def characters(self) -> int:
        """Length in characters, spaces inside included."""
        return self.end - self.begin


@dataclass(frozen=True)
class SourcePassage:
    """The passage as it stands in the training text."""

    file: str
    document: int
    token: int
    byte: int | None
    text: str | None
    before: str | None
    after: str | None


def copied_passages(
    corpus: Corpus,
    scores: TokenScores,
    automaton: Automaton,
    prefixes: NDArray[np.int32],
    settled: Settled,
) -> list[Passage]:
    """Passages of at least 50 characters or 100 tokens, longest first.

    Passages that overlap but come from different places stay separate (McCoy et al. 2021,
    section 5.2; published reports count each token once, which `novelty.supercopied` does).
    """
    copied = scores.copied
    if not copied.size:
        return []
    judged = is_judged(corpus)
    begins, ends = corpus.begins[judged], corpus.ends[judged]
    goes_on = np.zeros(copied.size, np.bool_)
    goes_on[:-1] = (copied[1:] == copied[:-1] + 1) & (scores.positions[1:] > 0)
    last = np.flatnonzero((copied > 0) & ~goes_on)
    first = last - copied[last] + 1
    long = (ends[last] - begins[first] >= COPIED_CHARACTERS) | (copied[last] >= SUPERCOPY)
    last, first = last[long], first[long]
    documents = np.searchsorted(scores.offsets, first, side="right") - 1
    state = _states_of(automaton, prefixes[judged][last], scores.training[last], copied[last])
    order = np.lexsort((first, -copied[last]))
    return [
        Passage(
            document=int(documents[k]),
            token=int(scores.positions[first[k]]),
            tokens=int(copied[last[k]]),
            begin=int(begins[first[k]]),
            end=int(ends[last[k]]),
            count=int(settled.counts[state[k]]),
            byte=int(settled.byte[state[k]]),
            place=int(settled.place[state[k]]),
        )
        for k in order
    ]


def _states_of(
    automaton: Automaton,
    prefixes: NDArray[np.int32],
    training: NDArray[np.int32],
    copied: NDArray[np.int32],
) -> NDArray[np.int32]:
    """The states of passages: those of their prefixes, or of shorter strings if they were cut."""
    states = prefixes.copy()
    for k in np.flatnonzero(copied < training):
        state = int(states[k])
        while automaton.lengths[automaton.links[state]] >= copied[k]:
            state = int(automaton.links[state])
        states[k] = state
    return states


def find_sources(
    passages: list[Passage],
    stream: TokenStream,
    training: TrainingPass,
    vocabulary: Vocabulary,
) -> list[SourcePassage]:
    """Where passages stand first in the training text, with the text itself.

    Reads the training text once more, up to the last piece needed; on standard input the text is
    left out.
    """
    places = [training.place(passage.byte, passage.place) for passage in passages]
    found: list[SourcePassage] = []
    for passage, (file, document, token, _) in zip(passages, places, strict=True):
        first = token - passage.tokens + 1
        found.append(
            SourcePassage(stream.files[file].name, document, first, None, None, None, None)
        )
    if not passages or not stream.can_be_read_again or stream.tokenizer.reads_ids:
        return found
    wanted: dict[int, list[int]] = defaultdict(list)
    reach = 1
    for number, (*_, last_piece) in enumerate(places):
        wanted[last_piece].append(number)
        reach = max(reach, _pieces_spanned(training, last_piece, passages[number].tokens))
    window: deque[_OpenedPiece] = deque(maxlen=reach)
    ends_passages = frozenset(wanted)

    def open_piece(piece: RawPiece) -> _OpenedPiece:
        opened = _OpenedPiece(piece, stream, vocabulary)
        if piece.number in ends_passages:
            opened.look_at()
        return opened

    for opened in map_around(open_piece, _pieces_again(stream, training, set(wanted), reach)):
        before, piece = window[-1].piece if window else None, opened.piece
        if before and (before.file != piece.file or before.number + 1 != piece.number):
            window.clear()
        window.append(opened)
        for number in wanted.pop(piece.number, ()):
            found[number] = _source_in_window(passages[number], found[number], list(window))
        if not wanted:
            break
    return found


def _pieces_again(
    stream: TokenStream, training: TrainingPass, wanted: set[int], reach: int
) -> Iterator[RawPiece]:
    """At least the wanted pieces and those before each that a passage may reach into."""
    if not stream.has_random_access:
        yield from stream.pieces()
        return
    needed = sorted({p for last in wanted for p in range(max(0, last - reach + 1), last + 1)})
    for number in needed:
        facts = training.pieces[number]
        yield stream.piece_at(
            number, facts.file, facts.base, facts.file_byte, facts.size, facts.flags
        )


def _pieces_spanned(training: TrainingPass, piece: int, tokens: int) -> int:
    spanned = 2  # one more, for the text before it
    while tokens > 0 and piece >= 0:
        tokens -= training.pieces[piece].tokens
        piece -= 1
        spanned += 1
    return spanned


@dataclass
class _OpenedPiece:
    """A piece whose tokens and text are looked at again, if at all."""

    piece: RawPiece
    stream: TokenStream
    vocabulary: Vocabulary

    @cached_property
    def encoded(self) -> EncodedPiece:
        return self.stream.encode(self.piece, self.vocabulary)

    @property
    def is_unchanged(self) -> bool:
        """Whether its text is that of the file, so that bytes can be counted."""
        content = self.piece.content
        if isinstance(content, bytes):
            return content == self.text
        return self.stream.reading.normalize is None

    @cached_property
    def text(self) -> bytes:
        return self.stream.text_of(self.piece)

    def look_at(self) -> None:
        """Make ready what will surely be asked for."""
        _ = self.encoded, self.text


def _source_in_window(
    passage: Passage, source: SourcePassage, window: list[_OpenedPiece]
) -> SourcePassage:
    parts: list[_OpenedPiece] = []
    for opened in reversed(window):
        parts.insert(0, opened)
        shifts = np.cumsum([0, *(len(part.text) for part in parts[:-1])])
        ends = np.concatenate(
            [part.encoded.byte_ends + shift for part, shift in zip(parts, shifts, strict=True)]
        )
        # the last piece of the window holds the passage's last token
        target = passage.byte - parts[-1].piece.base + int(shifts[-1])
        last = int(np.searchsorted(ends, target))
        first = last - passage.tokens + 1
        # enough, if the passage and the text before it lie inside
        if first > 0 and ends[first - 1] > _AROUND and isinstance(opened.piece.content, bytes):
            break
    text = b"".join(opened.text for opened in parts)
    ids = np.concatenate([opened.encoded.ids for opened in parts])
    begin = int(ends[first - 1]) if first > 0 else 0
    begin += len(text[begin:]) - len(text[begin:].lstrip(b" \t\r\n\v\f"))
    end = int(ends[last])
    bounds = np.flatnonzero(ids == -2)
    left = bounds[bounds < first]
    right = bounds[bounds > last]
    document_begin = int(ends[left[-1]]) if left.size else 0
    document_end = int(ends[right[0]]) if right.size else len(text)
    byte: int | None = None
    unchanged = all(opened.is_unchanged for opened in parts)
    if parts[0].stream.tokenizer.compiled is not None and unchanged:
        plain = isinstance(parts[0].piece.content, bytes)
        byte = parts[0].piece.file_byte + begin if plain else begin - document_begin
    return SourcePassage(
        source.file,
        source.document,
        source.token,
        byte,
        text[begin:end].decode("utf-8", "replace"),
        text[max(document_begin, begin - _AROUND) : begin]
        .decode("utf-8", "ignore")
        .lstrip("\ufeff"),
        text[end : min(document_end, end + _AROUND)].decode("utf-8", "ignore").rstrip("\n"),
    )
