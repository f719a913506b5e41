"""All records of overlap: systems beside human text and, if there is any, training text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import Text
from textassay.corpus.corpus import Corpus
from textassay.overlap.comparison import ratio_records, set_records
from textassay.overlap.compression import as_bytes, compressed_pieces, piece_size
from textassay.overlap.document_ngrams import as_items, number_texts
from textassay.overlap.embedding_records import embedding_records
from textassay.overlap.embsim_records import embsim_records
from textassay.overlap.family import Family, OverlapOptions
from textassay.overlap.measures import (
    OF_COMPRESSION,
    OF_DISTINCT,
    OF_PROMPTS,
    OF_SELF_BLEU,
)
from textassay.overlap.prompts import prompt_sums
from textassay.overlap.reference_records import reference_records
from textassay.overlap.set_statistics import DistinctStatistics, SelfBleuStatistics
from textassay.parallel import Workers
from textassay.results import DocumentSums, Example, Record, Series, finite
from textassay.stats.count_comparison import value_at
from textassay.stats.count_records import CountMeasure
from textassay.stats.grouped import Statistics
from textassay.stats.setting import Setting

_SMALLEST = 50  # documents of the smallest set on curves over size


def overlap_records(
    systems: Sequence[Text],
    humans: Sequence[Text],
    training: Corpus | None,
    options: OverlapOptions,
    setting: Setting,
    workers: Workers,
) -> tuple[list[Record], list[DocumentSums]]:
    """All records of the family, and the sums of every document.

    Parameters
    ----------
    systems, humans : sequence of Text
        Each of one corpus.
    training : Corpus or None
        A sample of the training text.

    Raises
    ------
    UsageError
        If documents are to have references of their own and one has none.
    """
    family = Family(systems, humans, training, options, setting, workers)
    compared, sums = reference_records(family)
    records = [
        *compared,
        *of_sets(family),
        *of_compression(family),
        *within_prompts(family),
        *embsim_records(family),
        *_of_vectors(family),
        *_repeated(family),
    ]
    return records, family.document_sums(sums)


def _of_vectors(family: Family) -> Iterator[Record]:
    options = family.options
    if options.vectors is not None:
        yield from embedding_records(
            family, options.vectors, options.vectors_source, options.mauve_documents
        )


def of_sets(family: Family) -> Iterator[Record]:
    """Self-BLEU and distinct n-grams: what depends on how many documents there are."""
    options = family.options
    self_bleu = SelfBleuStatistics(family.ngrams, options.smoothing, options.effective_order)
    distinct = DistinctStatistics(family.ngrams, family.numbers)
    parts = family.parts()
    counted = family.counted
    yield from set_records(family, "self-bleu", counted, self_bleu, OF_SELF_BLEU, parts)
    yield from _by_size(family, self_bleu, OF_SELF_BLEU[2], parts)
    parts = {name: value for name, value in parts.items() if name == "first"}
    yield from set_records(family, "distinct", counted, distinct, OF_DISTINCT, parts)
    yield from _by_size(family, distinct, OF_DISTINCT[1], parts)


def _by_size(
    family: Family, statistics: Statistics, measured: CountMeasure, parts: dict[str, object]
) -> Iterator[Record]:
    """A measure against the number of documents; the band holds 95 of 100 subsamples."""
    if family.tests.full_size:
        return
    grouped = as_items([member.text for member in family.counted])
    for member, mine in zip(family.counted, grouped, strict=True):
        sizes = [_SMALLEST]
        while sizes[-1] * 3 < mine.items:
            sizes.append(sizes[-1] * 3)
        if mine.items < _SMALLEST:
            continue
        sizes.append(mine.items)
        means, spreads = [], []
        for size in sizes:
            rng = family.setting.rng("by size", measured.measure, mine.content, size)
            rows = value_at(mine, statistics, size, rng, family.workers)[:, measured.column]
            means.append(float(rows.mean()))
            spreads.append(1.96 * float(rows.std(ddof=1)) if rows.size > 1 else 0.0)
        drawn = max(spreads) > 0
        yield Series(
            measure=f"{measured.measure}.by_size",
            system=member.text.name,
            x_label="documents",
            y_label=measured.measure.rpartition(".")[2],
            x=[float(size) for size in sizes],
            y=[finite(mean) for mean in means],
            y_low=[finite(m - s) for m, s in zip(means, spreads, strict=True)] if drawn else None,
            y_high=[finite(m + s) for m, s in zip(means, spreads, strict=True)] if drawn else None,
            band="95 of 100 subsamples" if drawn else None,
            signature=family.tests.sign(measured.measure, **parts),
        )


def of_compression(family: Family) -> Iterator[Record]:
    """Compression ratios of pieces of one size; pieces are what is resampled."""
    members = family.compared
    size = piece_size([len(as_bytes(member.strings)) for member in members])
    if size is None:
        return
    sums = []
    for member in members:
        rng = family.setting.rng("pieces", size, member.text.content)
        text = member.text
        pieces = compressed_pieces(
            member.strings, text.unit_documents, text.keys, size, rng, family.workers
        )
        sums.append((member, pieces))
    yield from ratio_records(family, sums, (OF_COMPRESSION,), {"bytes": size}, unit="piece")


def within_prompts(family: Family) -> Iterator[Record]:
    """Pairs of samples of one prompt, for members that mostly have several."""
    sums = []
    for member in family.compared:
        counts = Counter(prompt for prompt in member.prompts if prompt)
        if 2 * sum(n for n in counts.values() if n > 1) < member.text.documents:
            continue  # a few equal prompts are chance
        found = prompt_sums(
            member.text,
            member.prompts,
            number_texts(member.strings),
            family.options.smoothing,
            family.options.effective_order,
            family.setting.rng("prompts", member.text.content),
        )
        if found is not None:
            sums.append((member, found))
    parts = {name: value for name, value in family.parts().items() if name != "first"}
    yield from ratio_records(family, sums, OF_PROMPTS, parts, unit="prompt")


def _repeated(family: Family) -> Iterator[Record]:
    """Documents that stand several times, the most frequent first."""
    for member in family.compared:
        counts = Counter(member.strings)
        first: dict[str, int] = {}
        for d, string in enumerate(member.strings):
            first.setdefault(string, d)
        lengths: NDArray[np.int64] = member.text.lengths
        for string, count in counts.most_common(family.options.examples):
            if count > 1:
                yield Example(
                    measure="overlap.distinct_documents",
                    system=member.text.name,
                    document=member.ids[first[string]],
                    text=string,
                    count=count,
                    n_tokens=int(lengths[first[string]]),
                    n_characters=len(string),
                )
