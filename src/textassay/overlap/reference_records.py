"""BLEU against human and training text, and repetition: measures of single documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.ngrams import count_ngrams
from textassay.errors import UsageError
from textassay.overlap.bleu import matches, own_matches, scored
from textassay.overlap.comparison import ratio_records, set_records
from textassay.overlap.family import Family, Member
from textassay.overlap.measures import OF_BLEU, OF_CORPUS_BLEU, OF_REPETITION, OF_TRAIN_BLEU
from textassay.overlap.sentences import as_sentences
from textassay.overlap.set_statistics import ORDERS, CorpusBleuStatistics
from textassay.results import Measurement, Record
from textassay.stats.ratio_records import widen
from textassay.stats.ratio_sums import RatioSums
from textassay.stats.verdicts import FEWEST_UNITS

Array = NDArray[np.float64]
Sums = tuple[Member, Member, dict[str, Array]]
Lengths = NDArray[np.int64]
_PARTS = 16  # samples of the references
_REPEATED = 4  # n of n-grams that are looked for inside documents


def reference_records(family: Family) -> tuple[list[Record], list[Sums]]:
    """Records, and for each member the documents that were scored with their numbers."""
    records: list[Record] = []
    sums: list[Sums] = []
    if family.options.references == "document":
        records += _own_references(family, sums)
    elif family.references is not None:
        records += _human_references(family, family.references, sums)
    records += _training_references(family)
    records += _repetition(family, sums)
    return records, sums


def _human_references(family: Family, references: Member, sums: list[Sums]) -> Iterator[Record]:
    members = [(system, family.judged(system)) for system in family.systems]
    if family.hypotheses is not None and family.human is not None:
        members.append((family.human, family.hypotheses))
    scores, corpora = [], []
    for whole, judged in members:
        matched, closest = matches(judged.sentences, references.sentences, max(ORDERS))
        lengths = judged.text.lengths
        found = _scores(family, matched, lengths, closest)
        scores.append((judged, _means(judged, found)))
        corpora.append((matched, lengths, closest))
        sums.append((whole, judged, _named("bleu", found)))
    parts = {**family.parts(), "refs": references.text.documents}
    errors = _reference_errors(family, references, [judged for _, judged in members])
    yield from _widened(ratio_records(family, scores, OF_BLEU, parts), errors)
    del parts["smoothing"]
    statistics = CorpusBleuStatistics(
        *(np.concatenate([part[k] for part in corpora], axis=-1) for k in range(3))
    )
    judged_members = [judged for _, judged in members]
    yield from _widened(
        set_records(family, "corpus-bleu", judged_members, statistics, OF_CORPUS_BLEU, parts),
        errors,
    )


def _reference_errors(
    family: Family, references: Member, members: list[Member]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Standard errors of values and distances that come from the choice of references.

    By subsampling three quarters of the references' units (scores against half as many references
    are lower, and vary less): documents are resampled against references as they are, which tells
    nothing of other ones.
    """
    units = len(references.text.keys)
    if units < FEWEST_UNITS:
        return {}
    rng = family.setting.rng("references", "parts", references.text.content)
    kept = units - units // 4
    parts = [rng.permutation(units) < kept for _ in range(_PARTS)]
    scale = np.sqrt(kept / (units - kept))

    def scores(chosen: NDArray[np.bool_]) -> Array:
        """float64[members, 8]: sentence and corpus BLEU."""
        part = references.select(chosen[references.text.document_units])
        return np.stack([_both_scores(family, member, part) for member in members])

    found = np.stack(list(family.workers.map(scores, parts)))
    own = scale * found.std(axis=0, ddof=1)
    apart = np.full_like(own, np.nan)
    if members[-1].role == "human":
        apart = scale * (found - found[:, -1:]).std(axis=0, ddof=1)
    measures = [one.measure for one in OF_BLEU] + [one.measure for one in OF_CORPUS_BLEU]
    return {
        (member.text.name, measure): (float(own[m, k]), float(apart[m, k]))
        for m, member in enumerate(members)
        for k, measure in enumerate(measures)
    }


def _both_scores(family: Family, member: Member, references: Member) -> Array:
    options = family.options
    matched, closest = matches(member.sentences, references.sentences, max(ORDERS))
    found = scored(
        matched, member.text.lengths, closest, options.smoothing, options.effective_order
    )
    columns = np.array(ORDERS) - 1
    return np.concatenate([found.scores[columns], found.corpus[columns]])


def _widened(
    records: Iterable[Record], errors: dict[tuple[str, str], tuple[float, float]]
) -> Iterator[Record]:
    for record in records:
        if isinstance(record, Measurement):
            found = errors.get((record.system, record.measure), (np.nan, np.nan))
            widen(record, *found, bounds=(0.0, 1.0))
        yield record


def _own_references(family: Family, sums: list[Sums]) -> Iterator[Record]:
    """BLEU of each document against references of its own."""
    members = list(family.systems)
    if family.human is not None and all(family.human.references):
        members.append(family.human)
    scores = []
    for member in members:
        without = sum(not references for references in member.references)
        if without:
            raise UsageError(
                f"{member.text.name}: {without:,} of {member.text.documents:,} documents have no "
                "'references': --references document needs them in each, --references human "
                "takes the human text"
            )
        listed = [reference for given in member.references for reference in given]
        options = family.options
        theirs = as_sentences(
            listed, family.vocabulary, options.tokenizer, "references", options.newline
        )
        owner = np.repeat(np.arange(len(member.strings)), [len(g) for g in member.references])
        matched, closest = own_matches(member.sentences, theirs, owner, max(ORDERS))
        found = _scores(family, matched, member.text.lengths, closest)
        scores.append((member, _means(member, found)))
        sums.append((member, member, _named("bleu", found)))
    yield from ratio_records(family, scores, OF_BLEU, {**family.parts(), "refs": "own"})


def _training_references(family: Family) -> Iterator[Record]:
    """BLEU of all documents against the training text, or as much of it as there is human text."""
    references = family.train_references()
    if references is None:
        return
    scores = []
    for member in family.compared:
        matched, closest = matches(member.sentences, references.sentences, max(ORDERS))
        found = _scores(family, matched, member.text.lengths, closest)
        scores.append((member, _means(member, found)))
    parts = {**family.parts(), "refs": references.text.documents}
    yield from ratio_records(family, scores, OF_TRAIN_BLEU, parts)


def _repetition(family: Family, sums: list[Sums]) -> Iterator[Record]:
    """4-grams that stood earlier in their document."""
    scores = []
    for member in family.compared:
        *_, counted = count_ngrams(member.text.tokens, member.text.offsets, _REPEATED)
        total = np.diff(counted.offsets).astype(float)
        repeated = total - np.diff(counted.by_document().begins)
        units = [member.text.keys[unit] for unit in member.text.document_units]
        found = RatioSums.from_documents(repeated[:, None], total[:, None], units)
        scores.append((member, found))
        columns = {f"repeated{_REPEATED}": repeated, f"ngrams{_REPEATED}": total}
        sums.append((member, member, columns))
    yield from ratio_records(family, scores, (OF_REPETITION,), {})


def _scores(family: Family, matched: Lengths, lengths: Lengths, closest: Lengths) -> Array:
    """Scores of each document at orders 2 to 5."""
    options = family.options
    found = scored(matched, lengths, closest, options.smoothing, options.effective_order)
    return found.by_sentence[:, np.array(ORDERS) - 1]


def _means(member: Member, scores: Array) -> RatioSums:
    units = [member.text.keys[unit] for unit in member.text.document_units]
    return RatioSums.from_documents(scores, np.ones_like(scores), units)


def _named(name: str, scores: Array) -> dict[str, Array]:
    return {f"{name}{n}": scores[:, k] for k, n in enumerate(ORDERS)}
