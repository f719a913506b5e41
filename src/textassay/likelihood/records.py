"""Likelihood of systems' and people's texts under one scorer, as records.

Quality by the measure of a model that had no part in the texts (McCoy et al. 2021, appendix G): a
text is too improbable if it strays, and too probable if it repeats what every model finds likely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textassay.corpus.by_unit import Text, by_unit
from textassay.corpus.corpus import Corpus
from textassay.corpus.units import can_be_paired
from textassay.likelihood.scores import Likelihood
from textassay.results import DocumentSums, Measurement, Record, Warn, documents_of
from textassay.stats.ratio_records import Column, RatioSide, ratio_measurements
from textassay.stats.ratio_sums import RatioSums
from textassay.stats.setting import Setting

_ANY = (0.0, math.inf)
PRIMARY = "likelihood.nll_token"
PERPLEXITY = "likelihood.perplexity"
OPEN = (
    Column(PRIMARY, "nats a token of the scorer", bounds=_ANY, event=0.0),
    Column("likelihood.nll_sentence", "nats a document", bounds=_ANY, event=0.0),
    Column("likelihood.bits_per_character", "bits a character", bounds=_ANY, event=0.0),
    Column("likelihood.bits_per_byte", "bits a byte of UTF-8", bounds=_ANY, event=0.0),
)
CLOSED = OPEN[:2]  # <unk> has the probability of all unknown words: no bits of the text itself
_HIGHEST = 700.0  # nats whose exponential is a number


@dataclass(frozen=True)
class Scorer:
    """What scores all texts.

    Attributes
    ----------
    name : str
    closed : bool
        Whether words outside its vocabulary share one token.
    score : callable
        From a corpus to the likelihood of its documents.
    parts : dict
        Of signatures.
    """

    name: str
    closed: bool
    score: Callable[[Corpus], Likelihood]
    parts: dict[str, object]


def likelihood_records(
    systems: Sequence[Text], humans: Sequence[Text], scorer: Scorer, setting: Setting
) -> tuple[list[Record], list[DocumentSums]]:
    """All records of the family, and the sums of every document.

    Parameters
    ----------
    systems, humans : sequence of Text
    scorer : Scorer
    setting : Setting
    """
    sides: list[RatioSide] = []
    sums: list[DocumentSums] = []
    records: list[Record] = []
    texts = list(systems)
    if humans:
        texts.append(Text("human", [corpus for text in humans for corpus in text.corpora]))
    columns = CLOSED if scorer.closed else OPEN
    for text in texts:
        is_human = text.name == "human"
        found = [scorer.score(corpus) for corpus in text.corpora]
        sums += _document_sums(text, found)
        ordered = by_unit(text, setting.unit)
        numerators, denominators = _ratios(found, len(columns))
        if not np.isfinite(numerators).all():
            records.append(_infinite(text.name, numerators[:, 0]))
            continue
        units = [ordered.keys[unit] for unit in ordered.document_units]
        ratios = RatioSums.from_documents(
            numerators[ordered.order], denominators[ordered.order], units
        )
        tokens = int(denominators[:, 0].sum())
        may_pair = not is_human and _may_pair(text, humans, setting.unit)
        sides.append(
            RatioSide(
                text.name, is_human, ratios, ordered.documents, tokens, ordered.content, may_pair
            )
        )

    def sign(measure: str) -> str:
        return setting.sign(measure, **scorer.parts)

    for record in ratio_measurements(sides, columns, setting, sign):
        records.append(record)
        if record.measure == PRIMARY:
            records.append(_perplexity(record, sign(PERPLEXITY)))
    return records, sums


def _ratios(
    found: Sequence[Likelihood], columns: int
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], ...]:
    nll = np.concatenate([part.nll for part in found])
    bits = nll / math.log(2)
    per = [
        np.concatenate([getattr(part, name) for part in found]).astype(float)
        for name in ("tokens", "characters", "bytes")
    ]
    numerators = np.stack([nll, nll, bits, bits], axis=1)
    denominators = np.stack([per[0], np.ones_like(nll), per[1], per[2]], axis=1)
    return numerators[:, :columns], denominators[:, :columns]


def _may_pair(text: Text, humans: Sequence[Text], unit: str) -> bool:
    if len(humans) != 1 or len(text.corpora) != 1 or len(humans[0].corpora) != 1:
        return False
    return can_be_paired(text.corpora[0], humans[0].corpora[0], unit)


def _perplexity(nll: Measurement, signature: str) -> Measurement:
    """exp of the nats a token, with its interval; the verdict is that of the nats."""

    def exponential(value: float | None) -> float | None:
        return None if value is None else math.exp(min(_HIGHEST, value))

    return Measurement(
        measure=PERPLEXITY,
        system=nll.system,
        value=exponential(nll.value),
        value_low=exponential(nll.value_low),
        value_high=exponential(nll.value_high),
        human=exponential(nll.human),
        unit="exp of nats a token of the scorer",
        direction="human",
        n_documents=nll.n_documents,
        n_tokens=nll.n_tokens,
        n_units=nll.n_units,
        resampling_unit=nll.resampling_unit,
        signature=signature,
    )


def _infinite(name: str, nll: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Record:
    return Warn(
        code="impossible-text",
        system=name,
        message=f"the scorer gives {int((~np.isfinite(nll)).sum()):,} documents no probability at "
        "all: its likelihood is not shown",
    )


def _document_sums(text: Text, found: Sequence[Likelihood]) -> Iterator[DocumentSums]:
    for corpus, part in zip(text.corpora, found, strict=True):
        columns = (part.nll, part.tokens, part.characters, part.bytes)
        sums = [
            {
                **({"nll": nll} if math.isfinite(nll) else {}),
                "scorer_tokens": float(tokens),
                "characters": float(characters),
                "bytes": float(size),
            }
            for nll, tokens, characters, size in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]
        yield from documents_of(corpus.name, corpus, sums)
