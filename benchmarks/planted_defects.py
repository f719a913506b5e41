"""Twelve defects planted in human text, at six doses: which measure sees what, from which dose?

    python benchmarks/planted_defects.py [--repeats 3] [--jobs 2] [--picture FILE.svg]

The "system" is human captions, each spoilt in one way with some chance (the dose); it is compared
with other captions of the same collection, and with training text. A measure sees a defect at a
dose if its verdict is `differs` in most repeats.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from comparisons import compare
from human_texts import CAPTIONS, NEWS, caption_documents

from textassay.corpus.documents import Document
from textassay.corpus.stopwords import stopwords_of
from textassay.parallel import Workers

DOSES = (0.01, 0.03, 0.1, 0.3, 0.6, 1.0)
SYSTEM, HUMAN = 1000, 4000  # documents
FAMILIES = ("tendencies", "overlap", "likelihood", "novelty")
OTHERS = (
    "likelihood.nll_token",
    "novelty.pointwise",
    "novelty.ngram2",
    "novelty.ngram6",
    "novelty.copied50.training",
    "novelty.copied_documents.training",
    "overlap.bleu4",
    "overlap.self_bleu4",
    "overlap.distinct2",
    "overlap.distinct_documents",
    "overlap.repetition4",
    "overlap.compression_ratio",
)
STOPWORDS = stopwords_of("en").words
Defect = Callable[[list[str], np.random.Generator, Sequence[str]], list[str]]


def _copied(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    return training[rng.integers(len(training))].split()


def _near_copied(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    copy = _copied(words, rng, training)
    copy[rng.integers(len(copy))] = words[rng.integers(len(words))]
    return copy


def _repeated(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    return ["a", "man", "riding", "a", "wave", "on", "top", "of", "a", "surfboard", "."]


def _truncated(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    return words[: max(1, 2 * len(words) // 3)]


def _shuffled(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    return [words[i] for i in rng.permutation(len(words))]


def _no_stopwords(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    return [w for w in words if w.casefold() not in STOPWORDS] or words


def _other_topic(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    # news, as long as the caption
    return _news()[rng.integers(len(_news()))].split()[: len(words)]


def _cut_words(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    pieces = []
    for word in words:
        pieces += [word[:-3], word[-3:]] if len(word) > 6 else [word]
    return pieces


def _common_words(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    # what a low temperature does: a rare word becomes a common one
    return ["man" if len(word) > 6 else word for word in words]


def _loops(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    half = len(words) // 2
    return words[:half] + words[:half] + words[2 * half :]


def _no_symbols(words: list[str], rng: np.random.Generator, training: Sequence[str]) -> list[str]:
    bare = ["".join(c for c in word if c.isalnum()) for word in words]
    return [word for word in bare if word] or words


def _typing_errors(
    words: list[str], rng: np.random.Generator, training: Sequence[str]
) -> list[str]:
    place = int(rng.integers(len(words)))
    letters = list(words[place])
    letters.insert(int(rng.integers(len(letters) + 1)), chr(97 + int(rng.integers(26))))
    return [*words[:place], "".join(letters), *words[place + 1 :]]


DEFECTS: dict[str, Defect] = {
    "copied whole": _copied,
    "copied, one word changed": _near_copied,
    "one text repeated": _repeated,
    "cut to two thirds": _truncated,
    "words shuffled": _shuffled,
    "stopwords dropped": _no_stopwords,
    "another topic": _other_topic,
    "words cut in pieces": _cut_words,
    "long words replaced by one": _common_words,
    "first half said twice": _loops,
    "symbols dropped": _no_symbols,
    "one typing error": _typing_errors,
}
_NEWS: list[str] = []


def _news() -> list[str]:
    if not _NEWS:
        _NEWS.extend(NEWS.read_text().splitlines())
    return _NEWS


def spoilt(
    documents: Sequence[Document], defect: Defect, dose: float, rng: np.random.Generator
) -> list[Document]:
    """The documents, each with the defect with the chance of the dose."""
    training = [line for line in CAPTIONS.read_text().splitlines() if line.strip()]
    chosen = np.flatnonzero(rng.random(len(documents)) < dose)
    found = list(documents)
    for place in chosen:
        words = documents[place].text.split()
        if words:
            found[place] = replace(documents[place], text=" ".join(defect(words, rng, training)))
    return found


class Run:
    """One comparison by its number, for processes: which measures say `differs`."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    def __call__(self, work: tuple[str, float, int]) -> set[str]:
        """Measures that say `differs` for a defect, a dose and a repeat."""
        name, dose, repeat = work
        documents = caption_documents()
        rng = np.random.default_rng([repeat, 77])
        order = rng.permutation(len(documents))
        system = [documents[i] for i in order[:SYSTEM]]
        human = [documents[i] for i in order[SYSTEM : SYSTEM + HUMAN]]
        system = spoilt(system, DEFECTS[name], dose, rng)
        found = compare(
            system, human, CAPTIONS, "document", FAMILIES, self.options.resamples, repeat
        )
        return {
            measure
            for measure, record in found.items()
            if record.verdict == "differs"
            and (measure.startswith("tendencies.") or measure in OTHERS)
        }


def picture(seen: dict[tuple[str, str], float], measures: Sequence[str], path: Path) -> None:
    """Defects by measures, coloured by the smallest dose that is seen."""
    from matplotlib.figure import Figure

    table = np.array(
        [[seen.get((name, measure), np.nan) for measure in measures] for name in DEFECTS]
    )
    drawing = Figure(figsize=(13, 5.4), layout="constrained")
    axes = drawing.add_subplot()
    steps = np.searchsorted(DOSES, table).astype(float)
    steps[np.isnan(table)] = np.nan
    axes.imshow(steps, cmap="cividis", vmin=0, vmax=len(DOSES), aspect="auto", alpha=0.8)
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            if not np.isnan(table[row, column]):
                text = f"{100 * table[row, column]:g}"
                colour = "white" if steps[row, column] < 3 else "black"
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    short = [measure.replace("tendencies.", "") for measure in measures]
    axes.set_xticks(range(len(measures)), short, rotation=60, ha="right", fontsize=8)
    axes.set_yticks(range(len(DEFECTS)), list(DEFECTS), fontsize=9)
    axes.set_title("Smallest share of spoilt documents, in %, that the verdict `differs` finds")
    drawing.savefig(path, metadata={"Date": None})


def main() -> None:
    """Run, print a table, draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    work = [
        (name, dose, repeat)
        for name in DEFECTS
        for dose in DOSES
        for repeat in range(options.repeats)
    ]
    with Workers(options.jobs) as workers:
        results = dict(zip(work, workers.map_in_processes(Run(options), work), strict=True))
    measures = sorted({measure for found in results.values() for measure in found})
    seen: dict[tuple[str, str], float] = {}
    for name in DEFECTS:
        for measure in measures:
            for dose in reversed(DOSES):
                count = sum(measure in results[name, dose, r] for r in range(options.repeats))
                if 2 * count <= options.repeats:
                    break
                seen[name, measure] = dose
    print(f"{SYSTEM} captions against {HUMAN}, {options.repeats} repeats\n")
    print("| measure | " + " | ".join(DEFECTS) + " |")
    print("|---" * (len(DEFECTS) + 1) + "|")
    for measure in measures:
        cells = [f"{seen[n, measure]:g}" if (n, measure) in seen else "" for n in DEFECTS]
        print(f"| {measure} | " + " | ".join(cells) + " |")
    if options.picture:
        picture(seen, measures, options.picture)


if __name__ == "__main__":
    main()
