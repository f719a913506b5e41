"""Are stated detectable differences found four times in five?

    python benchmarks/detectable.py [--splits 100] [--jobs 2]

Captions are split into a "system" and a "human" side. The system is spoilt at the dose at which the
true distance is the detectable one that the comparison itself states (the median over splits
without a defect). Wanted: the verdict `differs` in 80 of 100 splits.
"""

from __future__ import annotations

import argparse

import numpy as np
from calibrate_families import FAMILIES, Found, compare
from calibration import caption_documents
from planted_defects import DEFECTS, spoilt

from textassay.parallel import Workers

SIDE = 500
CASES = {
    "tendencies.length.mean": "cut to two thirds",
    "tendencies.stopwords.mean": "stopwords dropped",
    "tendencies.symbols.mean": "symbols dropped",
    "tendencies.word_length": "long words replaced by one",
    "tendencies.type_token.difference": "first half said twice",
    "tendencies.unigram.tvd": "another topic",
    "tendencies.length.ks": "cut to two thirds",
    "overlap.bleu4": "words shuffled",
    "overlap.self_bleu4": "one text repeated",
    "overlap.distinct2": "one text repeated",
    "overlap.compression_ratio": "one text repeated",
}
_GRID = (0.03, 0.1, 0.3)


class Split:
    """A split with a defect at a dose, by its number, for processes."""

    def __init__(self, name: str | None, dose: float, options: argparse.Namespace) -> None:
        self.name, self.dose, self.options = name, dose, options

    def __call__(self, seed: int) -> Found:
        """Measurements of the split."""
        documents = caption_documents()
        rng = np.random.default_rng([seed, 55])
        order = rng.permutation(len(documents))
        system = [documents[i] for i in order[:SIDE]]
        human = [documents[i] for i in order[SIDE : 2 * SIDE]]
        if self.name is not None:
            system = spoilt(system, DEFECTS[self.name], self.dose, rng)
        return compare(system, human, "document", self.options, seed)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.families = FAMILIES
    print(f"{SIDE} captions against {SIDE}, {options.splits} splits\n")
    print("| measure | defect | stated detectable | dose | true distance | differs |")
    print("|---|---|---|---|---|---|")
    with Workers(options.jobs) as workers:
        clean = list(workers.map_in_processes(Split(None, 0.0, options), range(30)))
        for measure, defect in CASES.items():
            options.families = (measure.partition(".")[0],)
            stated = float(np.median([found[measure].detectable for found in clean]))
            # distances by dose, from 10 splits each: the mean is the truth at this size
            distances = [_mean(clean, measure) if clean[0][measure].direction == "none" else 0.0]
            for dose in _GRID:
                found = workers.map_in_processes(Split(defect, dose, options), range(100, 110))
                distances.append(abs(_mean(list(found), measure)))
            dose = float(np.interp(stated, distances, [0.0, *_GRID]))
            tried = list(
                workers.map_in_processes(Split(defect, dose, options), range(options.splits))
            )
            share = np.mean([found[measure].verdict == "differs" for found in tried])
            print(
                f"| {measure} | {defect} | {stated:.4f} | {dose:.3f} | "
                f"{abs(_mean(tried, measure)):.4f} | {share:.2f} |",
                flush=True,
            )


def _mean(found: list[Found], measure: str) -> float:
    return float(np.mean([records[measure].distance for records in found]))


if __name__ == "__main__":
    main()
