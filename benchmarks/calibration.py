"""Calibration of all families but novelty: human text against itself. How often do verdicts err?

    python benchmarks/calibrate_families.py [--families tendencies] [--splits 200] [--resamples 399]

`composition` is the part of the tendencies that is ratios of sums (means, variances, shares): it
takes so little time that a thousand splits can be made. The scorer of `likelihood` is a 3-gram
model of other text.

Documents of one human collection are dealt to a "system" and a "human" side many times, so that
every difference is chance. Wanted: intervals that hold the truth 93 to 97 times in a hundred,
p-values below .05 five times, and hardly a verdict `differs`. The truth of a value that depends on
the size of the text is its mean over all splits, as it grows with the logarithm of the size; that
of a distance, its mean over splits.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
from calibration import caption_documents, speech_documents
from texts import PUBLISHED

from textassay.corpus.by_unit import Text
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.stopwords import stopwords_of
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.units import unit_keys
from textassay.corpus.vocabulary import Vocabulary
from textassay.likelihood import Likelihood
from textassay.likelihood.records import Scorer, likelihood_records
from textassay.likelihood.scoring import score_texts
from textassay.models.kneser_ney import KneserNey
from textassay.overlap import family as overlap_family
from textassay.overlap import records as overlap_records
from textassay.overlap.reference_records import reference_records
from textassay.parallel import Workers
from textassay.results import Measurement, Record
from textassay.stats.setting import Setting
from textassay.tendencies import records
from textassay.tendencies.family import Family, TendencyOptions

VOCABULARY = Vocabulary()
FAMILIES = ("tendencies", "overlap", "likelihood", "composition")
TENDENCIES: list[Callable[[Family], Iterable[Record]]] = [
    records.type_records,
    records.heaps_records,
    records.composition_records,
    records.distribution_records,
    records.ngram_records,
]
Found = dict[str, Measurement]


def corpus_of(documents: list[Document], name: str) -> Corpus:
    """Tokenized documents; all of one vocabulary."""
    return Corpus.from_documents(documents, make_tokenizer("words"), VOCABULARY, name=name)


def compare(
    system: list[Document], human: list[Document], unit: str, options: argparse.Namespace, seed: int
) -> Found:
    """Measurements of one pair of texts, without curves."""
    setting = Setting(
        {"v": "0"}, unit, options.resamples, {}, "equal", np.random.SeedSequence(seed)
    )
    with Workers(1) as workers:
        texts = (
            [Text("system", [corpus_of(system, "system")])],
            [Text("human", [corpus_of(human, "human")])],
            None,
        )
        found: list[Record] = []
        if "tendencies" in options.families:
            family = Family(*texts, TendencyOptions(stopwords_of("en")), setting, workers)
            for make in TENDENCIES:
                found += make(family)
        if "overlap" in options.families:
            members = overlap_family.Family(
                *texts, overlap_family.OverlapOptions(), setting, workers
            )
            found += reference_records(members)[0]
            found += overlap_records.of_sets(members)
            found += overlap_records.of_compression(members)
        if "composition" in options.families:
            family = Family(*texts, TendencyOptions(stopwords_of("en")), setting, workers)
            found += records.composition_records(family)
        if "likelihood" in options.families:
            scorer = Scorer("3-gram", True, scored, {})
            found += likelihood_records(*texts[:2], scorer, setting)[0]
    return {r.measure: r for r in found if isinstance(r, Measurement) and r.system == "system"}


@cache
def scoring_model() -> KneserNey:
    """A model of text that is neither captions nor speeches."""
    lines = (PUBLISHED / "war-and-peace" / "wap.train.txt").read_text(encoding="utf-8").splitlines()
    return KneserNey.train(lines, order=3)


def scored(corpus: Corpus) -> Likelihood:
    """The likelihood of each document."""
    return score_texts(scoring_model(), corpus.texts)


def one_split(
    documents: list[Document], n: int, m: int, unit: str, options: argparse.Namespace, seed: int
) -> Found:
    """Deal units to two sides and compare them."""
    units = unit_names(documents, unit)
    names = list(dict.fromkeys(units))
    order = np.random.default_rng([seed, n, m]).permutation(len(names))
    mine = {names[i] for i in order[:n]}
    theirs = {names[i] for i in order[n : n + m]}
    sides = [[d for d, u in zip(documents, units, strict=True) if u in s] for s in (mine, theirs)]
    return compare(sides[0], sides[1], unit, options, seed)


def unit_names(documents: list[Document], unit: str) -> list[str]:
    """The unit of each document."""
    return unit_keys(corpus_of(documents, "all"), unit)


def calibrate(
    documents: list[Document], n: int, m: int, unit: str, options: argparse.Namespace
) -> None:
    """Split, compare, count; prints a table."""
    with Workers(options.jobs) as workers:
        found = list(
            workers.map_in_processes(_Split(documents, n, m, unit, options), range(options.splits))
        )
    rows: dict[str, list[Measurement]] = defaultdict(list)
    for measurements in found:
        for measure, record in measurements.items():
            rows[measure].append(record)
    print(f"\n{n} against {m} {unit}s, {options.splits} splits\n")
    print("| measure | value held | distance held | p <= .05 | differs | within |")
    print("|---|---|---|---|---|---|")
    for measure, measured in rows.items():
        shares = [
            held(
                [(r.value, r.value_low, r.value_high) for r in measured],
                sizes=[float(r.size or 1) for r in measured],
            ),
            held(
                [(r.distance, r.distance_low, r.distance_high) for r in measured],
                None if measured[0].direction == "none" else 0.0,
            ),
            mean([r.p_value <= 0.05 for r in measured if r.p_value is not None]),
            mean([r.verdict == "differs" for r in measured]),
            mean([r.verdict == "within human variation" for r in measured]),
        ]
        cells = " | ".join("" if np.isnan(share) else f"{share:.3f}" for share in shares)
        print(f"| {measure.partition('.')[2]} | {cells} |", flush=True)


def mean(values: list[bool]) -> float:
    """Share of true ones; NaN of none."""
    return float(np.mean(values)) if values else float("nan")


def held(
    rows: list[tuple[float | None, float | None, float | None]],
    truth: float | None = None,
    sizes: list[float] | None = None,
) -> float:
    """Share of intervals that hold the truth: the number given, or the mean of all estimates.

    Where estimates are of texts of unlike size, the truth grows with its logarithm.
    """
    kept = [k for k, row in enumerate(rows) if None not in row]
    if not kept:
        return float("nan")
    values, lows, highs = (np.array([rows[k][part] for k in kept]) for part in range(3))
    expected = np.full(len(kept), np.mean(values) if truth is None else truth)
    logs = np.log([sizes[k] for k in kept]) if sizes else np.zeros(len(kept))
    if truth is None and np.ptp(logs) > 0:
        expected = np.polyval(np.polyfit(logs, values, 1), logs)
    return float(np.mean((lows - 1e-12 <= expected) & (expected <= highs + 1e-12)))


class _Split:
    """A split by its number, for processes."""

    def __init__(
        self, documents: list[Document], n: int, m: int, unit: str, options: argparse.Namespace
    ) -> None:
        self.arguments = (documents, n, m, unit, options)

    def __call__(self, seed: int) -> Found:
        return one_split(*self.arguments, seed)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES[:3])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings, from 0")
    options = parser.parse_args()
    settings = [
        (caption_documents, 500, 500, "document"),
        (caption_documents, 100, 1000, "document"),
        (caption_documents, 1000, 200, "document"),
        (speech_documents, 20, 40, "source"),
        (speech_documents, 30, 30, "source"),
    ]
    for number, (read, n, m, unit) in enumerate(settings):
        if options.only is None or number in options.only:
            print(f"\n## {read.__doc__}")
            calibrate(read(), n, m, unit, options)


if __name__ == "__main__":
    main()
