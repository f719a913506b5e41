"""All families asked for one pair of texts, without curves; `calibration.py` and others use it.

The scorer of `likelihood` is a 3-gram model of other text; the vectors of `vectors` are sums of a
random vector for each word, which is all that the comparison of vectors needs. Parts of tendencies
and overlap can be asked for alone: `composition` is so fast that a thousand splits can be made.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from human_texts import NOVEL
from numpy.typing import NDArray

from textassay.corpus.by_unit import Text
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document, Reading
from textassay.corpus.files import find_files
from textassay.corpus.stopwords import stopwords_of
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.likelihood import Likelihood
from textassay.likelihood.records import Scorer, likelihood_records
from textassay.likelihood.scoring import score_texts
from textassay.models.kneser_ney import KneserNey
from textassay.novelty.measure import NoveltyOptions, find_matches
from textassay.novelty.records import novelty_records
from textassay.novelty.sides import Side
from textassay.overlap import family as overlap_family
from textassay.overlap import records as overlap_records
from textassay.overlap.embedding_records import embedding_records
from textassay.overlap.embsim_records import embsim_records
from textassay.overlap.reference_records import reference_records
from textassay.parallel import Workers
from textassay.results import Measurement, Record, parse_signature
from textassay.stats.setting import Setting
from textassay.tendencies import records
from textassay.tendencies.family import Family, TendencyOptions

_TENDENCIES: dict[str, Callable[[Family], Iterable[Record]]] = {
    "types": records.type_records,
    "heaps": records.heaps_records,
    "composition": records.composition_records,
    "distributions": records.distribution_records,
    "ngrams": records.ngram_records,
}
_OVERLAP: dict[str, Callable[[overlap_family.Family], Iterable[Record]]] = {
    "references": lambda members: reference_records(members)[0],
    "sets": overlap_records.of_sets,
    "compression": overlap_records.of_compression,
    "prompts": overlap_records.within_prompts,
}
FAMILIES = (
    *("tendencies", "overlap", "likelihood", "novelty", "vectors", "embsim"),
    *_TENDENCIES,
    *_OVERLAP,
)
Found = dict[str, Measurement]
Part = TypeVar("Part")
_WIDTH = 16  # of vectors
_NO_MAUVE = 1 << 30  # documents from which on there would be one


def corpus_of(documents: list[Document], name: str, vocabulary: Vocabulary) -> Corpus:
    """Tokenized documents."""
    return Corpus.from_documents(documents, make_tokenizer("words"), vocabulary, name=name)


def compare(
    system: list[Document],
    human: list[Document],
    training: Path,
    unit: str,
    families: Iterable[str],
    n_resamples: int,
    seed: int,
) -> Found:
    """Measurements of the system; those of novelty by measure and, but for `both`, source."""
    setting = Setting({"v": "0"}, unit, n_resamples, {}, "equal", np.random.SeedSequence(seed))
    vocabulary = Vocabulary()
    corpora = [corpus_of(system, "system", vocabulary), corpus_of(human, "human", vocabulary)]
    texts = [Text(corpus.name, [corpus]) for corpus in corpora]
    sides = (texts[:1], texts[1:])
    families = set(families)
    found: list[Record] = []
    with Workers(1) as workers:
        tendencies = _asked("tendencies", _TENDENCIES, families)
        if tendencies:
            family = Family(*sides, None, TendencyOptions(stopwords_of("en")), setting, workers)
            for make in tendencies:
                found += make(family)
        overlap = _asked("overlap", _OVERLAP, families)
        if overlap or {"vectors", "embsim"} & families:
            options = overlap_family.OverlapOptions()
            members = overlap_family.Family(*sides, None, options, setting, workers)
            for of in overlap:
                found += of(members)
            if "vectors" in families:
                vectors = {corpus.name: _vectors(corpus) for corpus in corpora}
                found += embedding_records(members, vectors, "random", _NO_MAUVE)
            if "embsim" in families:
                found += embsim_records(members)
        if "likelihood" in families:
            scorer = Scorer("3-gram", True, _scored, {})
            found += likelihood_records(*sides, scorer, setting)[0]
        if "novelty" in families:
            found += _novelty(corpora, training, setting, workers)
    return {
        _name(record): record
        for record in found
        if isinstance(record, Measurement) and record.system == "system"
    }


def _asked(name: str, parts: dict[str, Part], families: set[str]) -> list[Part]:
    """The parts of a family that are asked for: all if it is asked for itself."""
    return [make for part, make in parts.items() if {name, part} & families]


def _name(record: Measurement) -> str:
    source = parse_signature(record.signature).get("source", "both")
    return record.measure if source == "both" else f"{record.measure}.{source}"


@cache
def _scoring_model() -> KneserNey:
    """A model of text that is neither captions nor speeches."""
    return KneserNey.train(NOVEL.read_text(encoding="utf-8").splitlines(), order=3)


def _scored(corpus: Corpus) -> Likelihood:
    return score_texts(_scoring_model(), corpus.texts)


@cache
def _word_vector(word: str) -> NDArray[np.float32]:
    rng = np.random.default_rng(zlib.crc32(word.encode()))
    return rng.standard_normal(_WIDTH).astype(np.float32)


def _vectors(corpus: Corpus) -> NDArray[np.float32]:
    return np.stack([sum(map(_word_vector, t.split()), _word_vector("")) for t in corpus.texts])


def _novelty(
    corpora: list[Corpus], training: Path, setting: Setting, workers: Workers
) -> list[Record]:
    stream = TokenStream(find_files(str(training)), make_tokenizer("words"), Reading())
    matches = find_matches(corpora, stream, workers)
    sides = [
        Side(corpus.name, corpus.name == "human", [corpus], [scores])
        for corpus, scores in zip(corpora, matches.scores, strict=True)
    ]
    options = NoveltyOptions(n_examples=0)
    return novelty_records(sides[:1], sides[1:], matches, options, setting, None)[0]
