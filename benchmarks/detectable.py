"""Are stated detectable differences found four times in five?

    python benchmarks/detectable.py [--splits 42] [--text captions] [--measures overlap.] [--jobs 2]

Human text is dealt to two "systems" and a "human" side, and the systems spoilt: of all documents a
share of the words (`word_defects.py`), or a share of the documents wholly (`planted_defects.py`).
The record of one system states a detectable difference. Is a system of that true distance found,
the verdict of the other one, as much spoilt as that takes, `differs`? Wanted: in 80 of 100; once
for what systems so much spoilt state of themselves, once for what sound ones state.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from calibration import deal
from comparisons import Found, compare
from detectable_cases import CASES
from human_texts import (
    CAPTIONS,
    NOVEL,
    SPEECHES,
    Dealt,
    caption_documents,
    documents_of,
    review_documents,
    speech_documents,
)
from numpy.typing import NDArray
from planted_defects import DEFECTS, spoilt
from word_defects import WORD_DEFECTS, touched

from textassay.parallel import Workers
from textassay.results import Measurement

# shares of words or documents: each .6 above the one before, then nearer to each other, where
# distances no longer grow in step with them
GRID = tuple(
    float(f"{share:.2g}") for share in (*np.geomspace(0.001, 0.3, 13), *np.linspace(0.4, 1, 7))
)
PASSAGE = 120  # words of a speech that go on a review
SIDES = {
    "captions": Dealt(caption_documents, CAPTIONS, 500, 500, "document"),
    "speeches": Dealt(speech_documents, NOVEL, 20, 20, "source"),
    "reviews": Dealt(review_documents, SPEECHES, 300, 300, "document"),
}
Array = NDArray[np.float64]
Work = tuple[int, int, float]  # number of a split, 0 or 1 for the system, share of a defect
COUNTS = ("sets", "types", "ngrams", "distributions")  # whose verdicts need no permutation
FEWEST = 19  # of permutations
PARTS = {
    "embsim": ("embsim",),
    "vectors": ("similarity", "frechet", "prompt_similarity"),
    "prompts": ("prompt_",),
    "sets": ("self_bleu", "distinct"),
    "references": ("bleu", "corpus_bleu", "repetition"),
    "compression": ("compression",),
    "ngrams": ("entropy2", "entropy3"),
    "heaps": ("heaps", "type_token"),
    "types": ("zipf", "hapax", "entropy", "unigram", "rank_frequency"),
    "distributions": ("length.ks", "stopwords.ks", "symbols.ks"),
    "composition": ("length", "stopwords", "symbols", "word_length", "mattr"),
}


def _speech_goes_on(
    words: list[str], rng: np.random.Generator, training: Sequence[str]
) -> list[str]:
    speech = _speeches()[rng.integers(len(_speeches()))].split()
    begin = rng.integers(len(speech) - PASSAGE)
    return words + speech[begin : begin + PASSAGE]


@cache
def _speeches() -> list[str]:
    return [document.text for document in documents_of(SPEECHES)]


DOCUMENT_DEFECTS = {**DEFECTS, "a speech goes on": _speech_goes_on}


@dataclass(frozen=True)
class Spoilt:
    """One comparison for processes: a system with a share of a defect, beside human text.

    Documents are dealt to three sides that take turns in being human text, so that chance favours
    none of them; the other two are systems of one kind.
    """

    dealt: Dealt
    defect: str
    families: tuple[str, ...]
    resamples: int

    def __call__(self, work: Work) -> Found:
        """Measurements of a system."""
        split, which, share = work
        dealt, n = self.dealt, self.dealt.n
        sides = deal(dealt, (n, n, n), np.random.default_rng([split // 3, n]))
        human, *systems = (sides[(split + k) % 3] for k in range(3))
        system = systems[which]
        rng = np.random.default_rng([split, 55, which])
        if share and self.defect in WORD_DEFECTS:
            system = touched(system, WORD_DEFECTS[self.defect], share, rng)
        elif share:
            system = spoilt(system, DOCUMENT_DEFECTS[self.defect], share, rng)
        return compare(
            system, human, dealt.training, dealt.unit, self.families, self.resamples, split
        )


class Study:
    """One way of dealing text: the comparisons of a defect and a share are made once, and kept."""

    def __init__(self, dealt: Dealt, workers: Workers, options: argparse.Namespace) -> None:
        self.dealt, self.workers, self.options = dealt, workers, options
        self._made: dict[tuple[str, str, Work], Found] = {}

    def records(self, measure: str, defect: str, work: Sequence[Work]) -> list[Measurement]:
        """Of one measure."""
        family = family_of(measure)
        keys = [(defect if share else "", family, (k, which, share)) for k, which, share in work]
        missing = list(dict.fromkeys(key for key in keys if key not in self._made))
        resamples = FEWEST if family in COUNTS else self.options.resamples
        spoilt = Spoilt(self.dealt, defect, (family,), resamples)
        found = self.workers.map_in_processes(spoilt, [key[2] for key in missing])
        self._made.update(zip(missing, found, strict=True))
        return [self._made[key][measure] for key in keys]

    def at(self, measure: str, defect: str, share: float) -> list[Measurement]:
        """Of both systems of all splits, equally spoilt."""
        splits = range(self.options.splits)
        return self.records(
            measure, defect, [(k, which, share) for k in splits for which in (0, 1)]
        )

    def true_distance(self, measure: str, defect: str, share: float) -> float:
        """Mean over splits; of a difference, less that of the same splits without defect.

        Of distances of distributions it is what texts of this size show, chance included.
        """
        records = self.at(measure, defect, share)
        if records[0].direction == "none":
            return mean_distance(records)
        return abs(mean_distance(records) - mean_distance(self.at(measure, defect, 0.0)))

    def promise(self, measure: str, defect: str, *, sound: bool) -> Promise:
        """How often a system is found whose true distance is what another's record states.

        The other is as much spoilt, or `sound`. For each record the share is looked for at which
        the true distance is the stated one (on a grid, then between two of its shares on
        logarithmic scales); then one system more, spoilt by that share, is compared with the human
        text of that record.
        """

        def excess(place: int) -> Array:
            records = self.at(measure, defect, 0.0 if sound else GRID[place])
            stated = [np.nan if r.detectable is None else r.detectable for r in records]
            distance = max(self.true_distance(measure, defect, GRID[place]), 1e-12)
            return np.log(distance / np.array(stated))

        count = 2 * self.options.splits
        low, high = np.zeros(count, int), np.full(count, len(GRID) - 1)
        promised = (excess(0) < 0) & (excess(len(GRID) - 1) >= 0)
        while (high - low > 1).any():
            middle = (low + high) // 2
            above = np.full(count, False)
            for place in np.unique(middle[promised]).tolist():
                above = np.where(middle == place, excess(place) >= 0, above)
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        work, distances = [], []
        for k in np.flatnonzero(promised).tolist():
            ends = (int(low[k]), int(high[k]))
            at = [float(excess(end)[k]) for end in ends]
            share = float(np.exp(np.interp(0.0, at, np.log([GRID[end] for end in ends]))))
            logs = [np.log(self.true_distance(measure, defect, GRID[end])) for end in ends]
            distances.append(float(np.exp(np.interp(0.0, at, logs))))
            work.append((k // 2, 1 - k % 2, share))
        found = [r.verdict == "differs" for r in self.records(measure, defect, work)]
        return Promise([share for _, _, share in work], distances, found, count)


@dataclass(frozen=True)
class Promise:
    """Of each record whose stated difference was reached: share, true distance, whether found."""

    shares: list[float]
    distances: list[float]
    found: list[bool]
    records: int

    @property
    def cells(self) -> list[str]:
        """Of a table: medians, and how many were found."""
        if 2 * len(self.found) < self.records:
            return ["", " not reached ", ""]
        part = "" if len(self.found) == self.records else f" of {len(self.found)}"
        return [
            f" {np.median(self.shares):.3g} ",
            f" {np.median(self.distances):.3g} ",
            f" {np.mean(self.found):.2f}{part} ",
        ]


def family_of(measure: str) -> str:
    """The family that `compare` is to be asked for, or the part of it."""
    family, _, name = measure.partition(".")
    return next((part for part, names in PARTS.items() if name.startswith(names)), family)


def mean_distance(records: list[Measurement]) -> float:
    """Over comparisons."""
    return float(np.mean([record.distance or 0.0 for record in records]))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=42, help="a multiple of three")
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--text", choices=sorted(SIDES), default="captions")
    parser.add_argument("--measures", nargs="*", default=[""], help="begins of their names")
    options = parser.parse_args()
    dealt = SIDES[options.text]
    print(f"{dealt}, {options.splits} splits of two systems\n")
    print("| measure | defect | share | detectable | differs | share | of sound text | differs |")
    print("|---" * 8 + "|")
    with Workers(options.jobs) as workers:
        study = Study(dealt, workers, options)
        for defect, measures in CASES[options.text].items():
            for measure in measures:
                if measure.startswith(tuple(options.measures)):
                    cells = [f" {measure} ", f" {defect} "]
                    for sound in (False, True):
                        cells += study.promise(measure, defect, sound=sound).cells
                    print("|".join(["", *cells, ""]), flush=True)


if __name__ == "__main__":
    main()
