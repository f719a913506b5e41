"""All records of the tendencies: systems beside human text and, if there is any, training text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from textassay.corpus.by_unit import Text
from textassay.corpus.corpus import Corpus
from textassay.parallel import Workers
from textassay.results import DocumentSums, Measurement, Record, documents_of, finite
from textassay.stats.bounded import clipped
from textassay.stats.count_comparison import common_size, distance_errors, distances_at
from textassay.stats.count_records import CountMeasure, Side, reach_of
from textassay.stats.grouped import (
    EVERYTHING,
    EntropyStatistics,
    Grouped,
    OrderedStatistics,
    Statistics,
)
from textassay.stats.ratio_records import Column, RatioBench, add_verdict, intervals
from textassay.stats.setting import Setting
from textassay.tendencies import curves
from textassay.tendencies.family import Family, TendencyOptions
from textassay.tendencies.measures import HEAPS, OF_NGRAMS, OF_TYPES
from textassay.tendencies.sample import Sample, grouped_ngrams, grouped_values
from textassay.tendencies.types_by_length import TypeTokenComparison
from textassay.tendencies.types_by_length import fit as fit_heaps

_SUMS = ("types", "stopwords", "symbols", "words", "word_characters")


def tendency_records(
    systems: Sequence[Text],
    humans: Sequence[Text],
    training: Corpus | None,
    options: TendencyOptions,
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
    """
    family = Family(systems, humans, training, options, setting, workers)
    records = [
        *type_records(family),
        *heaps_records(family),
        *composition_records(family),
        *distribution_records(family),
        *ngram_records(family),
        *human_file_records(family),
        *curves.all_series(family),
    ]
    return records, document_sums(family)


def type_records(family: Family) -> Iterator[Record]:
    """Zipf's law, ranks, unigrams, hapax legomena, entropy: statistics of counts of types."""
    grouped = [sample.by_type for sample in family.all]
    yield from _count_records(family, "types", family.all, grouped, family.types, OF_TYPES)
    yield from _triangle(family, grouped, family.types, OF_TYPES)


def ngram_records(family: Family) -> Iterator[Record]:
    """Entropy of n-grams."""
    for n, measure in OF_NGRAMS.items():
        for sample in family.systems:
            pair = [sample, *([family.human] if family.human else [])]
            if family.training is not None and sample is family.systems[0]:
                pair.append(family.training)
            for record in _count_records(
                family,
                f"{n}-grams",
                pair,
                grouped_ngrams(pair, n),
                EntropyStatistics(),
                (measure,),
            ):
                of_human = isinstance(record, Measurement) and record.system == "human"
                if not of_human or sample is family.systems[0]:
                    yield record


def distribution_records(family: Family) -> Iterator[Record]:
    """KS distances of lengths and shares."""
    for measure, values in family.distributions():
        grouped, _ = grouped_values(family.all, values)
        statistics = OrderedStatistics()
        yield from _count_records(
            family, measure.measure, family.all, grouped, statistics, (measure,)
        )
        yield from _triangle(family, grouped, statistics, (measure,))


def _count_records(
    family: Family,
    kind: str,
    samples: Sequence[Sample],
    grouped: Sequence[Grouped],
    statistics: Statistics,
    measures: Sequence[CountMeasure],
) -> Iterator[Record]:
    """Records of all measures of one kind of counts: systems compared, others by themselves."""
    tests = family.tests
    human = next((g for s, g in zip(samples, grouped, strict=True) if s is family.human), None)
    if human is not None and not human.items:
        human = None
    for sample, mine in zip(samples, grouped, strict=True):
        side = family.side(sample)
        if not mine.items:
            continue
        if sample not in family.systems or human is None:
            items = None if human is None else max(1, human.items // 2)
            for measure in measures:
                parts = family.parts(measure.measure)
                yield from tests.describe(kind, side, mine, statistics, measure, items, **parts)
            continue
        found = tests.compare(kind, mine, human, statistics)
        for measure in measures:
            parts = family.parts(measure.measure)
            doubt = family.doubt(sample, measure.measure)
            yield tests.record(side, human.units, found, measure, doubt, **parts)
            yield from tests.permutations(
                side,
                measure.measure,
                found.null[:, measure.column],
                float(found.observed[measure.column]),
                size=min(mine.items, human.items),
            )
        if found.curve.size:
            yield curves.rank_band(tests, side, family.types.places, found)


def composition_records(family: Family) -> Iterator[Record]:
    """Means and variances of lengths and shares, word length, type-token ratio of windows."""
    bench: RatioBench[Column] = RatioBench(family.setting, joint=slice(0, 0))
    human = family.measured(family.human) if family.human else None
    for sample in family.all:
        is_human = sample is family.human
        mine = human if is_human and human else family.measured(sample)
        interval = intervals(mine, None if is_human else human)
        comparison = None
        if human is not None and sample in family.systems:
            comparison = bench.compare(mine, human, may_pair=family.may_pair(sample))
        for k, column in enumerate(mine.columns):
            signature = family.tests.sign(column.measure, **family.parts(column.measure))
            record = bench.record(sample.name, mine, interval, k, signature)
            yield record
            if comparison is not None and human is not None:
                doubt = family.doubt(sample, column.measure)
                bench.add_comparison(record, comparison, mine, human, k, doubt)
                yield from family.tests.permutations(
                    family.side(sample),
                    column.measure,
                    comparison.null[:, k],
                    float(comparison.distance[k]),
                )


def heaps_records(family: Family) -> Iterator[Record]:
    """Heaps' law, and the difference from the human curve at equal lengths."""
    place = next((k for k, sample in enumerate(family.all) if sample is family.human), None)
    for which, sample in enumerate(family.all):
        side = family.side(sample)
        if not family.type_token.curves.grouped[which].items:
            continue
        dispersion = fit_heaps(sample).dispersion
        notes = [] if dispersion is None else [f"dispersion {dispersion:.2f}"]
        if sample not in family.systems or place is None:
            value, low, high = family.type_token.intervals(which)
            for k in range(2):
                record = _heaps_record(family, k, side)
                record.value = finite(value[k])
                record.value_low, record.value_high = finite(low[k]), finite(high[k])
                record.warnings = list(notes)
                yield record
            continue
        found = family.type_token.compare(which, place)
        human_units = len(family.all[place].keys)
        for k in range(3):
            record = _heaps_record(family, k, side)
            record.warnings = list(notes) if k < 2 else []
            _add_heaps(family, record, found, k, min(side.units, human_units // 2))
            yield record
            yield from family.tests.permutations(
                side, HEAPS[k][0], found.null[:, k], float(found.distance[k])
            )
        yield curves.type_token_band(family.tests, side, found)


def _heaps_record(family: Family, k: int, side: Side) -> Measurement:
    measure, unit = HEAPS[k]
    bounds = (float("-inf"), float("inf"))
    return family.tests.blank(CountMeasure(measure, unit, k, False, bounds), side, None)


def _add_heaps(
    family: Family, record: Measurement, found: TypeTokenComparison, k: int, size: int
) -> None:
    if k < 2:
        record.value, record.human = finite(found.value[k]), finite(found.human[k])
        record.value_low = finite(found.value_low[k])
        record.value_high = finite(found.value_high[k])
    record.size = size
    record.distance = finite(found.distance[k])
    record.distance_low, record.distance_high = finite(found.low[k]), finite(found.high[k])
    record.floor, record.p_value = finite(found.floor[k]), finite(found.pvalue[k])
    n = len(found.null)
    record.test = f"permutation of {record.resampling_unit}s, {n} resamples, two-sided"
    add_verdict(
        record,
        float(found.low[k]),
        float(found.high[k]),
        float(found.standard_error[k]),
        float(found.margin[k]),
        0 if family.human is None else len(family.human.keys),
        family.setting,
    )


def _triangle(
    family: Family,
    grouped: Sequence[Grouped],
    statistics: Statistics,
    measures: Sequence[CountMeasure],
) -> Iterator[Record]:
    """Distances to and from training text: what verdicts are to be read with.

    All edges of the triangle are of one size: that of the smallest comparison with human text.
    """
    pairs = {id(s): (s, g) for s, g in zip(family.all, grouped, strict=True) if g.items}
    human, training = (pairs.get(id(sample)) for sample in (family.human, family.training))
    systems = [pairs[id(sample)] for sample in family.systems if id(sample) in pairs]
    if human is None or training is None or not systems:
        return
    sizes = [common_size(mine, human[1]) for _, mine in systems]
    items = min(*sizes, training[1].items)
    for pair in (*systems, human):
        yield from _distances(family, pair, training, statistics, measures, items)
    for pair, size in zip(systems, sizes, strict=True):
        if size != items and not family.tests.full_size:
            yield from _distances(family, pair, human, statistics, measures, items)


def human_file_records(family: Family) -> Iterator[Record]:
    """Distances of human files from each other, by types."""
    for number, sample in enumerate(family.human_files):
        for other in family.human_files[number + 1 :]:
            one, two = (sample, sample.by_type), (other, other.by_type)
            if one[1].items and two[1].items:
                items = common_size(one[1], two[1])
                yield from _distances(family, one, two, family.types, OF_TYPES, items)


def _distances(
    family: Family,
    one: tuple[Sample, Grouped],
    other: tuple[Sample, Grouped],
    statistics: Statistics,
    measures: Sequence[CountMeasure],
    items: int,
) -> Iterator[Record]:
    """Distances of one sample from another."""
    (sample, mine), (far, theirs) = one, other
    tests, setting = family.tests, family.setting
    names = ("triangle", measures[0].measure, sample.content, far.content)
    size = EVERYTHING if tests.full_size else items
    rng = setting.rng(*names)
    rows = distances_at(mine, theirs, statistics, size, rng, family.workers)
    rng = setting.rng(*names, "errors")
    errors = distance_errors(mine, theirs, statistics, rng, family.workers)
    reach = reach_of(min(mine.units, theirs.units))
    for measure in measures:
        if not measure.is_distance:
            continue
        k = measure.column - statistics.values
        distance = float(np.mean(rows[:, k]))
        shown = None if tests.full_size else items
        record = tests.blank(measure, family.side(sample), shown, against=far.name)
        record.distance = finite(distance)
        error = measure.error(float(errors[k]), mine.units, theirs.units)
        low, high = clipped(distance, reach * error, measure.bounds)
        record.distance_low, record.distance_high = low, high
        yield record


def document_sums(family: Family) -> list[DocumentSums]:
    """What each document adds to the sums."""
    found: list[DocumentSums] = []
    for text, sample in family.inputs:
        (corpus,) = text.corpora
        rows = np.empty((sample.documents, sample.sums.shape[1]), np.int64)
        rows[sample.order] = sample.sums
        sums = (dict(zip(_SUMS, map(float, row), strict=True)) for row in rows.tolist())
        found += documents_of(text.name, corpus, sums)
    return found
