"""Are stated detectable differences found four times in five?

    python benchmarks/detectable.py [--splits 100] [--only 0] [--measures overlap.] [--jobs 2]

Human text is dealt to a "system" and a "human" side, and the system spoilt: of all its documents a
share of the words (`word_defects.py`), or a share of the documents wholly (`planted_defects.py`).
For each measure two shares are looked for: that at which the true distance is what the spoilt
system's own comparison states as detectable, and that at which it is what the text without defect
states. Then other splits are spoilt as much. Wanted: `differs` in 80 of 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from calibration import deal
from comparisons import Found, compare
from human_texts import DEALT, Dealt
from planted_defects import DEFECTS, spoilt
from word_defects import WORD_DEFECTS, touched

from textassay.parallel import Workers

# shares of words or documents, 10 for each power of ten
GRID = tuple(float(f"{share:.2g}") for share in np.geomspace(0.001, 0.9, 30))
SOUGHT, FRESH = range(1000, 1016), 2000  # numbers of splits that tell shares; first that tries them
CASES = {
    "typing errors": (
        "tendencies.hapax",
        "tendencies.entropy",
        "tendencies.entropy2",
        "tendencies.entropy3",
        "tendencies.heaps.beta",
        "novelty.ngram1",
        "novelty.ngram2.training",
        "novelty.mean_suffix.training",
        "novelty.creativity.training",
    ),
    "words from news": (
        "tendencies.zipf.exponent",
        "tendencies.unigram.tvd",
        "tendencies.rank_frequency.ks",
        "tendencies.heaps.alpha",
        "overlap.bleu2",
        "overlap.corpus_bleu4",
        "overlap.self_bleu2",
        "overlap.self_bleu4",
        "overlap.distinct1",
        "overlap.distinct2",
        "overlap.distinct4",
        "overlap.compression_ratio",
        "overlap.similarity",
        "overlap.frechet",
        "overlap.prompt_bleu4",
        "overlap.prompt_distinct2",
        "novelty.ngram2",
        "novelty.pointwise",
        "novelty.pointwise_untruncated",
        "likelihood.nll_sentence",
    ),
    "neighbours swapped": (
        "overlap.bleu4",
        "overlap.bleu5",
        "overlap.corpus_bleu5",
        "overlap.self_bleu5",
        "overlap.distinct3",
        "novelty.ngram4",
        "likelihood.nll_token",
    ),
    "words dropped": ("tendencies.length.mean", "tendencies.length.ks"),
    "stopwords dropped": (
        "tendencies.zipf.ks",
        "tendencies.stopwords.mean",
        "tendencies.stopwords.variance",
        "tendencies.stopwords.ks",
    ),
    "symbols dropped": (
        "tendencies.symbols.mean",
        "tendencies.symbols.variance",
        "tendencies.symbols.ks",
    ),
    "long words become one": ("tendencies.word_length",),
    "words said twice": (
        "tendencies.length.variance",
        "tendencies.mattr",
        "tendencies.type_token.difference",
    ),
    "copied whole": (
        "novelty.ngram6",
        "novelty.ngram8",
        "novelty.ngram10",
        "novelty.copied50.training",
        "novelty.copied_documents.training",
    ),
    "one text repeated": (
        "tendencies.entropy",
        "overlap.self_bleu4",
        "overlap.distinct2",
        "overlap.distinct_documents",
        "overlap.compression_ratio",
    ),
    "first half said twice": (
        "overlap.repetition4",
        "tendencies.type_token.difference",
    ),
    "cut to two thirds": ("tendencies.length.mean", "tendencies.length.ks"),
}
_FAMILY_OF = {"overlap.similarity": "vectors", "overlap.frechet": "vectors"}


@dataclass(frozen=True)
class Spoilt:
    """A split by its number with a share of a defect, for processes."""

    dealt: Dealt
    defect: str
    share: float
    families: tuple[str, ...]
    resamples: int

    def __call__(self, seed: int) -> Found:
        """Measurements of the split."""
        dealt = self.dealt
        # sides change places in every second split, so that chance favours none of them
        sides = deal(dealt, seed // 2 if dealt.n == dealt.m else seed)
        system, human = sides[::-1] if seed % 2 and dealt.n == dealt.m else sides
        rng = np.random.default_rng([seed, 55])
        if self.share and self.defect in WORD_DEFECTS:
            system = touched(system, WORD_DEFECTS[self.defect], self.share, rng)
        elif self.share:
            system = spoilt(system, DEFECTS[self.defect], self.share, rng)
        return compare(
            system, human, dealt.training, dealt.unit, self.families, self.resamples, seed
        )


class Study:
    """One way of dealing text: comparisons are made once, and kept."""

    def __init__(self, dealt: Dealt, workers: Workers, options: argparse.Namespace) -> None:
        self.dealt, self.workers, self.options = dealt, workers, options
        self._sought: dict[tuple[str, str, float], list[Found]] = {}

    def sought(self, defect: str, family: str, share: float) -> list[Found]:
        """Comparisons that tell the true distance at a share."""
        key = (defect if share else "", family, share)
        if key not in self._sought:
            self._sought[key] = self._made(defect, family, share, SOUGHT)
        return self._sought[key]

    def _made(self, defect: str, family: str, share: float, seeds: range) -> list[Found]:
        spoilt = Spoilt(self.dealt, defect, share, (family,), self.options.resamples)
        return list(self.workers.map_in_processes(spoilt, seeds))

    def true_distance(self, measure: str, defect: str, share: float) -> float:
        """Mean over splits; of a difference, less that of the same splits without defect."""
        family = family_of(measure)
        found = self.sought(defect, family, share)
        distance = mean_distance(found, measure)
        if found[0][measure].direction == "none":
            return distance
        return abs(distance - mean_distance(self.sought(defect, family, 0.0), measure))

    def stated(self, measure: str, defect: str, share: float) -> float:
        """The median of detectable differences."""
        found = self.sought(defect, family_of(measure), share)
        return float(np.median([records[measure].detectable or np.nan for records in found]))

    def share_for(
        self, measure: str, defect: str, stated: Callable[[float], float]
    ) -> float | None:
        """The share from which on the true distance is at least the stated one, by bisection."""

        def excess(place: int) -> float:
            share = GRID[place]
            return float(np.log(self.true_distance(measure, defect, share) / stated(share)))

        low, high = -1, len(GRID) - 1
        if not excess(high) >= 0:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if excess(middle) >= 0:
                high = middle
            else:
                low = middle
        if low < 0:
            return GRID[high]
        below, above = excess(low), excess(high)
        logs = np.log([GRID[low], GRID[high]])
        return float(np.exp(np.interp(0.0, [below, above], logs)))

    def found(self, measure: str, defect: str, share: float) -> tuple[float, float, float]:
        """Share of verdicts `differs` in fresh splits, mean distance, median of the detectable."""
        seeds = range(FRESH, FRESH + self.options.splits)
        made = self._made(defect, family_of(measure), share, seeds)
        records = [found[measure] for found in made]
        return (
            float(np.mean([record.verdict == "differs" for record in records])),
            abs(mean_distance(made, measure)),
            float(np.median([record.detectable or np.nan for record in records])),
        )


def family_of(measure: str) -> str:
    """The family that `compare` is to be asked for."""
    return _FAMILY_OF.get(measure, measure.partition(".")[0])


def mean_distance(found: list[Found], measure: str) -> float:
    """Over comparisons."""
    return float(np.mean([records[measure].distance or 0.0 for records in found]))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, default=0, help="number of the way of dealing, from 0")
    parser.add_argument("--measures", nargs="*", default=[""], help="begins of their names")
    options = parser.parse_args()
    dealt = DEALT[options.only]
    print(f"{dealt}, {options.splits} splits\n")
    print(
        "| measure | defect | share | true distance | its own detectable | differs "
        "| share | true distance | detectable of sound text | differs |"
    )
    print("|---" * 10 + "|")
    with Workers(options.jobs) as workers:
        study = Study(dealt, workers, options)
        for defect, measures in CASES.items():
            for measure in measures:
                if measure.startswith(tuple(options.measures)):
                    print("|".join(["", *_cells(study, measure, defect), ""]), flush=True)


def _cells(study: Study, measure: str, defect: str) -> list[str]:
    cells = [f" {measure} ", f" {defect} "]
    sound = study.stated(measure, defect, 0.0)
    for stated in (lambda share: study.stated(measure, defect, share), lambda share: sound):
        share = study.share_for(measure, defect, stated)
        if share is None:
            cells += [" not reached ", "", "", ""]
            continue
        found, distance, own = study.found(measure, defect, share)
        promise = own if stated(share) != sound else sound
        cells += [f" {share:.3g} ", f" {distance:.4g} ", f" {promise:.4g} ", f" {found:.2f} "]
    return cells


if __name__ == "__main__":
    main()
