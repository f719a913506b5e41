"""How often copied 100-grams stand in the training text, beside random ones of the text itself.

McCoy et al. 2021, section 5.2 and figure 9: what models copy is what the training text repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.pieces import RawPiece
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import encode_documents
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.automaton import build_automaton
from textassay.novelty.matching import match_training
from textassay.novelty.scores import SUPERCOPY, is_judged
from textassay.novelty.sides import Side
from textassay.novelty.training_pass import TrainingPass
from textassay.parallel import Workers
from textassay.results import Record, Series, make_signature
from textassay.stats.setting import Setting

_MOST = 1000  # copied 100-grams of a system that are counted


def count_records(
    sides: Sequence[Side],
    stream: TokenStream,
    training: TrainingPass,
    number: int,
    setting: Setting,
    workers: Workers,
    rng: np.random.Generator,
) -> list[Record]:
    """Histograms: how many 100-grams occur how often. Cost: one more pass over the text.

    Parameters
    ----------
    sides : sequence of Side
    stream : TokenStream
        That can be read again.
    training : TrainingPass
        The finished pass over it.
    number : int
        Random 100-grams of the training text; fewer if its documents are shorter than that.
    """
    vocabulary = Vocabulary()
    groups: list[tuple[str, NDArray[np.int32]]] = [
        (side.name, _copied_grams(side, vocabulary, rng)) for side in sides
    ]
    groups.append(("training text", _random_grams(stream, training, number, vocabulary, rng)))
    grams = np.concatenate([part for _, part in groups])
    if not grams.size:
        return []
    corpus = _corpus_of(grams, vocabulary)
    automaton = build_automaton([corpus])
    settled = match_training(automaton, stream, vocabulary, workers).settled()
    counts = settled.counts[automaton.prefix_states[0][SUPERCOPY - 1 :: SUPERCOPY]]
    parts = dict(setting.signature)
    version = parts.pop("v")
    found: list[Record] = []
    first = 0
    for name, part in groups:
        of_group = counts[first : first + len(part)]
        first += len(part)
        if not len(part):
            continue
        times, how_many = np.unique(of_group, return_counts=True)
        found.append(
            Series(
                measure="novelty.supercopied.counts",
                system=name,
                x_label=f"occurrences of a {SUPERCOPY}-gram in the training text",
                y_label=f"number of {SUPERCOPY}-grams",
                x=times.astype(float).tolist(),
                y=how_many.astype(float).tolist(),
                signature=make_signature("novelty.supercopied", **parts, v=version),
            )
        )
    return found


def _copied_grams(
    side: Side, vocabulary: Vocabulary, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Distinct copied 100-grams of a side, at most so many, int32[M, 100]."""
    found = []
    for corpus, scores in zip(side.corpora, side.scores, strict=True):
        last = np.flatnonzero(scores.copied >= SUPERCOPY)
        tokens = corpus.tokens[is_judged(corpus)]
        grams = np.unique(tokens[last[:, None] + np.arange(1 - SUPERCOPY, 1)], axis=0)
        if len(grams) > _MOST:
            grams = grams[np.sort(rng.choice(len(grams), _MOST, replace=False))]
        strings = corpus.vocabulary.strings
        ids = vocabulary.add([strings[token] for token in grams.reshape(-1).tolist()])
        found.append(ids.reshape(-1, SUPERCOPY))
    return np.concatenate(found)


def _random_grams(
    stream: TokenStream,
    training: TrainingPass,
    number: int,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """100-grams that begin at random tokens, inside documents and pieces, int32[M, 100]."""
    sizes = np.array([piece.tokens + piece.documents for piece in training.pieces])
    ends = np.cumsum(sizes)
    starts = np.sort(rng.integers(0, max(1, int(ends[-1])), number))
    pieces = np.searchsorted(ends, starts, side="right")
    wanted = set(pieces.tolist())
    found = []
    for piece in stream.pieces():
        if piece.number not in wanted:
            continue
        _add_tokens(stream, piece, vocabulary)
        ids = stream.encode(piece, vocabulary).ids
        inside = _begins_inside(ids)
        local = starts[pieces == piece.number] - (ends[piece.number] - sizes[piece.number])
        for start in local.tolist():
            # the next begin that has 100 tokens of one document before it
            at = int(np.searchsorted(inside, start))
            if at < inside.size:
                found.append(ids[inside[at] : inside[at] + SUPERCOPY])
    return np.array(found, np.int32).reshape(-1, SUPERCOPY)


def _begins_inside(ids: NDArray[np.int32]) -> NDArray[np.int64]:
    ends = np.concatenate([np.flatnonzero(ids == -2), [ids.size]])
    next_end = ends[np.searchsorted(ends, np.arange(ids.size))]
    return np.flatnonzero(next_end - np.arange(ids.size) >= SUPERCOPY)


def _add_tokens(stream: TokenStream, piece: RawPiece, vocabulary: Vocabulary) -> None:
    if stream.tokenizer.reads_ids:
        vocabulary.add(str(token) for token in np.unique(piece.content).tolist() if token >= 0)
    else:
        text = stream.text_of(piece).decode("utf-8")
        encode_documents([text], stream.tokenizer, vocabulary, stream.newline)


def _corpus_of(grams: NDArray[np.int32], vocabulary: Vocabulary) -> Corpus:
    count = len(grams)
    nothing = np.zeros(grams.size, np.int32)
    return Corpus(
        name="100-grams",
        tokens=grams.reshape(-1),
        offsets=np.arange(count + 1, dtype=np.int64) * SUPERCOPY,
        prompt_lengths=np.zeros(count, np.int32),
        begins=nothing,
        ends=nothing,
        ids=[str(gram) for gram in range(count)],
        groups=[""] * count,
        sources=None,
        named=False,
        texts=[""] * count,
        prompts=[""] * count,
        references=[()] * count,
        vocabulary=vocabulary,
    )
