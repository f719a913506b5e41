"""Calibration: human text against itself. How often do verdicts and intervals err?

    python benchmarks/calibration.py [--families tendencies] [--splits 200] [--resamples 399]

Documents of one human collection are dealt to a "system" and a "human" side many times, so that
every difference is chance. Wanted: intervals that hold the truth 93 to 97 times in a hundred,
p-values below .05 five times, and hardly a verdict `differs`. The truth of a value that depends on
the size of the text is its mean over all splits, as it grows with the logarithm of the size; that
of a distance, its mean over splits.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from comparisons import FAMILIES, Found, compare, corpus_of
from human_texts import DEALT, Dealt

from textassay.corpus.documents import Document
from textassay.corpus.units import unit_keys
from textassay.corpus.vocabulary import Vocabulary
from textassay.parallel import Workers
from textassay.results import Measurement, parse_signature


@dataclass(frozen=True)
class Split:
    """A split by its number, for processes: units dealt to two sides, and compared."""

    dealt: Dealt
    families: tuple[str, ...]
    resamples: int

    def __call__(self, seed: int) -> Found:
        """Measurements of the split."""
        dealt = self.dealt
        sizes = (dealt.n, dealt.m)
        system, human = deal(dealt, sizes, np.random.default_rng([seed, *sizes]))
        return compare(
            system, human, dealt.training, dealt.unit, self.families, self.resamples, seed
        )


def deal(dealt: Dealt, sizes: tuple[int, ...], rng: np.random.Generator) -> list[list[Document]]:
    """Sides of so many units each, drawn at random; documents stay in their order."""
    documents, units = dealt.read(), units_of(dealt)
    names = list(dict.fromkeys(units))
    order = rng.permutation(len(names))
    ends = np.cumsum((0, *sizes))
    parts = [{names[i] for i in order[a:b]} for a, b in pairwise(ends)]
    return [[d for d, u in zip(documents, units, strict=True) if u in part] for part in parts]


@cache
def units_of(dealt: Dealt) -> list[str]:
    """The unit of each document."""
    return unit_keys(corpus_of(dealt.read(), "all", Vocabulary()), dealt.unit)


def calibrate(dealt: Dealt, options: argparse.Namespace) -> None:
    """Split, compare, count; prints a table."""
    split = Split(dealt, tuple(options.families), options.resamples)
    with Workers(options.jobs) as workers:
        found = list(workers.map_in_processes(split, range(options.splits)))
    rows: dict[str, list[Measurement]] = defaultdict(list)
    for measurements in found:
        for measure, record in measurements.items():
            # pieces are as large as the text that was dealt allows
            size = parse_signature(record.signature).get("bytes")
            rows[measure if size is None else f"{measure} ({size} bytes)"].append(record)
    print(f"\n{dealt}, {options.splits} splits\n")
    print("| measure | value held | distance held | p <= .05 | differs | within |")
    print("|---|---|---|---|---|---|")
    for measure, measured in rows.items():
        if 10 * len(measured) < options.splits:
            continue
        shares = [
            held(
                [(r.value, r.value_low, r.value_high) for r in measured],
                # of pieces of one size: how many there are changes nothing
                sizes=None if "bytes" in measure else [float(r.size or 1) for r in measured],
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


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES[:5])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings, from 0")
    options = parser.parse_args()
    for number, dealt in enumerate(DEALT):
        if options.only is None or number in options.only:
            print(f"\n## {dealt.read.__doc__}")
            calibrate(dealt, options)


if __name__ == "__main__":
    main()
