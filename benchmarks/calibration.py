"""Calibration: human text against itself. How often do verdicts and intervals err?

    python benchmarks/calibration.py [--splits 200] [--resamples 399]

Documents of one human collection are dealt to a "system" and a "human" side many times, so that
every difference is chance. Wanted: intervals that hold the truth 93 to 97 times in a hundred,
p-values below .05 five times, and hardly a verdict `differs`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from texts import PUBLISHED

from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document, Reading, read_documents
from textassay.corpus.files import find_files
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.measure import find_matches
from textassay.novelty.tables import Table, document_table
from textassay.parallel import Workers
from textassay.stats.events import typical_deviations, value_interval
from textassay.stats.ratio_sums import RatioSums, bootstrap_ratios
from textassay.stats.ratios import compare_ratios, human_margin
from textassay.stats.verdicts import verdict

SHOWN = (
    "ngram1",
    "ngram2",
    "ngram4",
    "ngram6",
    "ngram8",
    "ngram10",
    "pointwise",
    "pointwise_untruncated",
    "copied50.training",
    "creativity.training",
    "mean_suffix.training",
)


def table_of(documents: list[Document], training: Path) -> Table:
    """Sums of novelty for each document."""
    tokenizer = make_tokenizer("words")
    corpus = Corpus.from_documents(documents, tokenizer, Vocabulary())
    stream = TokenStream(find_files(str(training)), tokenizer, Reading())
    with Workers() as workers:
        matches = find_matches([corpus], stream, workers)
    return document_table(matches.scores[0], range(1, 11), corpus)


def caption_documents() -> list[Document]:
    """COCO captions, each a unit of its own."""
    path = PUBLISHED / "texygen-samples" / "test_coco.txt"
    return read_documents(find_files(str(path)), Reading())


def speech_documents() -> list[Document]:
    """Stretches of 60 words of speeches; stretches of one speech are no independent documents."""
    documents = []
    with gzip.open(PUBLISHED / "state-of-the-union.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            words = json.loads(line)["text"].split()
            for begin in range(0, len(words) - 60, 60):
                text = " ".join(words[begin : begin + 60])
                documents.append(Document(text, source=str(number)))
    return documents


def captions() -> tuple[Table, list[str]]:
    """Novelty of captions against the captions of the training set."""
    documents = caption_documents()
    table = table_of(documents, PUBLISHED / "texygen-samples" / "image_coco.txt")
    return table, [str(i) for i in range(len(documents))]


def speeches() -> tuple[Table, list[str]]:
    """Novelty of stretches of speeches against a novel."""
    documents = speech_documents()
    table = table_of(documents, PUBLISHED / "war-and-peace" / "wap.train.txt")
    return table, [document.source or "" for document in documents]


def sums_of(table: Table, units: list[str], chosen: set[str]) -> RatioSums:
    """The sums of some units."""
    kept = [d for d, unit in enumerate(units) if unit in chosen]
    return RatioSums.from_documents(
        table.numerators[kept], table.denominators[kept], [units[d] for d in kept]
    )


def calibrate(table: Table, units: list[str], n: int, m: int, options: argparse.Namespace) -> None:
    """Split, compare, count; prints a table."""
    names = sorted(set(units), key=units.index)
    truth = sums_of(table, units, set(names)).values
    bounds = np.array([column.bounds for column in table.columns]).T
    least = np.array([float(column.event) for column in table.columns])
    rng = np.random.default_rng(1)
    counts = np.zeros((5, len(table.columns)))
    for split in range(options.splits):
        dealt = [names[i] for i in rng.permutation(len(names))[: n + m]]
        sides = [sums_of(table, units, set(part)) for part in (dealt[:n], dealt[n:])]
        drawn = [
            bootstrap_ratios(s, options.resamples, np.random.default_rng(split)) for s in sides
        ]
        found = compare_ratios(
            *sides,
            n_resamples=options.resamples,
            rng=np.random.default_rng(split),
            bounds=bounds,
            resampled=(drawn[0], bootstrap_ratios(sides[1], options.resamples, rng)),
            least=least,
        )
        margin = human_margin(sides[1], min(n, m // 2), options.resamples, rng)
        margin = np.where(found.sparse, np.maximum(margin, found.usual_most), margin)
        low, high, _ = value_interval(sides[0], drawn[0], bounds, typical_deviations(sides, least))
        words = [verdict(*row) for row in zip(found.low, found.high, margin, strict=True)]
        counts[0] += (low <= truth + 1e-12) & (truth <= high + 1e-12)
        counts[1] += (found.low <= 1e-12) & (found.high >= -1e-12)
        counts[2] += found.pvalue <= 0.05
        counts[3] += [word == "differs" for word in words]
        counts[4] += [word == "within human variation" for word in words]
    print(f"\n{n} against {m} units, {options.splits} splits\n")
    print("| measure | value held | 0 held | p <= .05 | differs | within |")
    print("|---|---|---|---|---|---|")
    for k, column in enumerate(table.columns):
        if column.key in SHOWN:
            shares = " | ".join(f"{share:.3f}" for share in counts[:, k] / options.splits)
            print(f"| {column.key} | {shares} |")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=399)
    options = parser.parse_args()
    print("## COCO captions, by document")
    table, units = captions()
    for n, m in ((500, 500), (100, 1000), (1000, 200)):
        calibrate(table, units, n, m, options)
    print("\n## Stretches of speeches, by speech (source)")
    table, units = speeches()
    for n, m in ((20, 40), (30, 30)):
        calibrate(table, units, n, m, options)


if __name__ == "__main__":
    main()
