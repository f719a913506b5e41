"""Whether a scorer saw the text that it is to judge: McCoy et al. 2021, appendix G.1.

A thousand 20-grams from random places of the scorer's training text are looked for in the models'
training text, and the other way round, by letters alone: case, punctuation and symbols apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document, Reading
from textassay.corpus.files import InputFile
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import Tokenizer, make_tokenizer
from textassay.corpus.training_sample import can_be_sampled, sample_documents
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.measure import find_matches
from textassay.parallel import Workers
from textassay.results import Measurement, Record, Warn
from textassay.stats.events import exact_share
from textassay.stats.setting import Setting

MEASURE = "likelihood.scorer_overlap"
_SIZE = 20  # words
_NUMBER = 1000
_CHARACTERS = 1 << 23  # of documents that 20-grams are drawn from
_MUCH = 0.02  # the paper took .012 for little


def scorer_overlap(
    scorer: Sequence[InputFile],
    models: Sequence[InputFile],
    reading: Reading,
    setting: Setting,
    workers: Workers,
) -> list[Record]:
    """Two measurements, and a warning if much of one text stands in the other.

    Parameters
    ----------
    scorer, models : sequence of InputFile
        Training text of the scorer, and of the models.
    reading : Reading
        How both are read.

    Notes
    -----
    Cost: two passes over each text. 20-grams do not cross documents.
    """
    if not all(can_be_sampled(files, reading) for files in (scorer, models)):
        return [
            Warn(
                code="scorer-unchecked",
                message="no 20-grams can be drawn from standard input, nor from large files whose "
                "documents are not lines: whether the scorer saw the models' training text is "
                "not known",
            )
        ]
    tokenizer = make_tokenizer("bare-words")
    folded = replace(reading, normalize="casefold")
    records: list[Record] = []
    for name, drawn, searched in (
        ("scorer's training text", scorer, models),
        ("training text", models, scorer),
    ):
        rng = setting.rng("scorer overlap", name)
        documents = sample_documents(drawn, folded, _CHARACTERS, rng)
        vocabulary = Vocabulary()
        grams = _random_grams(documents, tokenizer, vocabulary, rng)
        if grams is None:
            records.append(
                Warn(
                    code="scorer-unchecked",
                    message=f"the {name} holds no document of {_SIZE} words: whether the scorer "
                    "saw the models' training text is not known",
                )
            )
            continue
        files = [InputFile(file.name, file.format, file.compression) for file in searched]
        stream = TokenStream(files, tokenizer, folded, None)
        (scores,) = find_matches([grams], stream, workers, ngrams=(_SIZE,)).scores
        found = int((scores.training[_SIZE - 1 :: _SIZE] >= _SIZE).sum())
        records += _told(name, found, len(grams), setting)
    return records


def _random_grams(
    documents: Sequence[Document],
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
) -> Corpus | None:
    """20-grams from random places, each a document; None if no document is that long."""
    whole = Corpus.from_documents(documents, tokenizer, vocabulary, name="", newline=None)
    lengths = np.diff(whole.offsets)
    places = np.maximum(0, lengths - _SIZE + 1)
    ends = np.cumsum(places)
    if not places.any():
        return None
    chosen = np.sort(rng.choice(ends[-1], min(_NUMBER, ends[-1]), replace=False))
    of = np.searchsorted(ends, chosen, side="right")
    begins = whole.offsets[of] + chosen - (ends[of] - places[of])
    strings = vocabulary.strings
    texts = [
        Document(" ".join(strings[i] for i in whole.tokens[begin : begin + _SIZE].tolist()))
        for begin in begins.tolist()
    ]
    return Corpus.from_documents(texts, tokenizer, vocabulary, name="20-grams", newline=None)


def _told(name: str, found: int, number: int, setting: Setting) -> list[Record]:
    low, high = exact_share(found, number)
    record = Measurement(
        measure=MEASURE,
        system=name,
        value=found / number,
        value_low=low,
        value_high=high,
        unit=f"share of {_SIZE}-grams that stand in the other's training text",
        direction="lower",
        n_documents=number,
        n_tokens=number * _SIZE,
        n_units=number,
        resampling_unit="document",
        signature=replace(setting, unit="document").sign(
            MEASURE, tok="bare-words", norm="casefold"
        ),
    )
    if record.value is not None and record.value <= _MUCH:
        return [record]
    warning = Warn(
        code="scorer-overlap",
        measure="likelihood.nll_token",
        message=f"{found:,} of {number:,} random {_SIZE}-grams of the {name} stand in the training "
        f"text of the {'models' if name.startswith('scorer') else 'scorer'}: what the scorer finds "
        "probable may be what both copied",
    )
    return [record, warning]
