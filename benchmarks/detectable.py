"""Are stated detectable differences found four times in five?

    python benchmarks/detectable.py [--splits 100] [--only 0] [--measures overlap.] [--jobs 2]

Human text is dealt to a "system" and a "human" side, and the system spoilt: of all its documents a
share of the words (`word_defects.py`), or a share of the documents wholly (`planted_defects.py`).
For each measure two shares are looked for: that at which the true distance is what the spoilt
system's own comparisons state as detectable, and that at which it is what sound text states. How
often is the verdict `differs` there? Wanted: in 80 of 100.
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
from scipy.special import ndtr, ndtri
from word_defects import WORD_DEFECTS, touched

from textassay.parallel import Workers
from textassay.results import Measurement

# shares of words or documents, each a quarter above the one before
GRID = tuple(float(f"{share:.2g}") for share in np.geomspace(0.001, 0.9, 30))
CASES = {
    "typing errors": (
        "tendencies.hapax",
        "tendencies.entropy",
        "tendencies.entropy2",
        "tendencies.entropy3",
        "novelty.ngram1",
        "novelty.ngram2.training",
        "novelty.mean_suffix.training",
        "novelty.creativity.training",
    ),
    "words from news": (
        "tendencies.zipf.exponent",
        "tendencies.unigram.tvd",
        "tendencies.rank_frequency.ks",
        "overlap.bleu2",
        "overlap.corpus_bleu4",
        "overlap.self_bleu4",
        "overlap.distinct1",
        "overlap.distinct2",
        "overlap.distinct4",
        "overlap.compression_ratio",
        "overlap.similarity",
        "overlap.frechet",
        "novelty.pointwise",
        "novelty.pointwise_untruncated",
        "likelihood.nll_sentence",
    ),
    "neighbours swapped": (
        "overlap.bleu4",
        "overlap.bleu5",
        "overlap.self_bleu5",
        "overlap.distinct3",
        "novelty.ngram4",
        "likelihood.nll_token",
    ),
    "words dropped": ("tendencies.length.mean",),
    "stopwords dropped": (
        "tendencies.stopwords.mean",
        "tendencies.zipf.ks",
        "tendencies.stopwords.ks",
        "tendencies.length.ks",
    ),
    "symbols dropped": (
        "tendencies.symbols.mean",
        "tendencies.symbols.ks",
    ),
    "long words become one": ("tendencies.word_length",),
    "words said twice": (
        "tendencies.length.variance",
        "tendencies.mattr",
        "tendencies.heaps.alpha",
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
        "overlap.self_bleu4",
        "overlap.distinct2",
        "overlap.distinct_documents",
        "overlap.compression_ratio",
    ),
    "first half said twice": (
        "overlap.repetition4",
        "tendencies.heaps.beta",
        "tendencies.type_token.difference",
    ),
    "cut to two thirds": ("tendencies.length.mean",),
    "another topic": ("tendencies.stopwords.variance", "tendencies.symbols.variance"),
}
_COMPOSITION = (".mean", ".variance", ".word_length", ".mattr")


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
    """One way of dealing text: the comparisons of a defect and a share are made once, and kept."""

    def __init__(self, dealt: Dealt, workers: Workers, options: argparse.Namespace) -> None:
        self.dealt, self.workers, self.options = dealt, workers, options
        self._made: dict[tuple[str, str, float], list[Found]] = {}

    def records(self, measure: str, defect: str, share: float) -> list[Measurement]:
        """Of one measure, split by split."""
        family = family_of(measure)
        key = (defect if share else "", family, share)
        if key not in self._made:
            spoilt = Spoilt(self.dealt, defect, share, (family,), self.options.resamples)
            splits = range(self.options.splits)
            self._made[key] = list(self.workers.map_in_processes(spoilt, splits))
        return [found[measure] for found in self._made[key]]

    def true_distance(self, measure: str, defect: str, share: float) -> float:
        """Mean over splits; of a difference, less that of the same splits without defect.

        Of distances of distributions it is what texts of this size show, chance included.
        """
        records = self.records(measure, defect, share)
        if records[0].direction == "none":
            return mean_distance(records)
        sound = self.records(measure, defect, 0.0)
        return abs(mean_distance(records) - mean_distance(sound))

    def stated(self, measure: str, defect: str, share: float) -> float:
        """The median of detectable differences; infinite where none is large enough."""
        records = self.records(measure, defect, share)
        return float(np.median([np.inf if r.detectable is None else r.detectable for r in records]))

    def found(self, measure: str, defect: str, share: float) -> float:
        """Share of verdicts `differs`."""
        records = self.records(measure, defect, share)
        return float(np.mean([record.verdict == "differs" for record in records]))

    def promise(
        self, measure: str, defect: str, stated: Callable[[float], float]
    ) -> tuple[float, float, float] | None:
        """Share of the defect from which on the true distance is the stated one.

        With that distance, and how many verdicts are `differs`: between the two shares of the grid,
        on a logarithmic scale (normal quantiles for verdicts), on whose lower one the distance is
        smaller than stated.
        """

        def excess(place: int) -> float:
            share = GRID[place]
            distance = self.true_distance(measure, defect, share)
            return float(np.log(max(distance, 1e-12) / stated(share)))

        low, high = 0, len(GRID) - 1
        if not excess(low) < 0 <= excess(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if excess(middle) >= 0 else (middle, high)
        ends = [GRID[low], GRID[high]]
        at = [excess(low), excess(high)]
        share = float(np.exp(np.interp(0.0, at, np.log(ends))))
        distances = [self.true_distance(measure, defect, end) for end in ends]
        found = np.array([self.found(measure, defect, end) for end in ends])
        certain = 0.5 / self.options.splits
        quantiles = ndtri(np.clip(found, certain, 1 - certain))
        return (
            share,
            float(np.exp(np.interp(0.0, at, np.log(distances)))),
            float(ndtr(np.interp(0.0, at, quantiles))),
        )


def family_of(measure: str) -> str:
    """The family that `compare` is to be asked for."""
    if measure in ("overlap.similarity", "overlap.frechet"):
        return "vectors"
    family = measure.partition(".")[0]
    is_composition = family == "tendencies" and measure.endswith(_COMPOSITION)
    return "composition" if is_composition else family


def mean_distance(records: list[Measurement]) -> float:
    """Over comparisons."""
    return float(np.mean([record.distance or 0.0 for record in records]))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, default=0, help="number of the way of dealing, from 0")
    parser.add_argument("--measures", nargs="*", default=[""], help="begins of their names")
    options = parser.parse_args()
    dealt = DEALT[options.only]
    print(f"{dealt}, {options.splits} splits\n")
    print("| measure | defect | share | detectable | differs | share | of sound text | differs |")
    print("|---" * 8 + "|")
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
        promise = study.promise(measure, defect, stated)
        if promise is None:
            cells += ["", " not reached ", ""]
        else:
            share, distance, found = promise
            cells += [f" {share:.3g} ", f" {distance:.3g} ", f" {found:.2f} "]
    return cells


if __name__ == "__main__":
    main()
