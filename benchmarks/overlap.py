"""Self-BLEU and BLEU: textassay beside fast-bleu, in one run; then a million sentences.

    python benchmarks/overlap.py [--repeats 3] [--million]

Both are given lists of tokens and asked for orders 2 to 5. Captions are the published samples where
they are there, else walks over real text (`texts.py`), cut into lines of eleven words.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import numpy as np
from texts import PUBLISHED, Words

from textassay.overlap import bleu, self_bleu

ORDERS = (2, 3, 4, 5)
WEIGHTS = {n: (1 / n,) * n for n in ORDERS}
SENTENCE = 11  # words


def captions(name: str) -> list[list[str]]:
    """Ten thousand captions as lists of tokens."""
    place = PUBLISHED / "texygen-samples" / name
    if place.is_file():
        return [line.split() for line in place.read_text().splitlines() if line.strip()]
    return walked(10_000, len(name))


def walked(count: int, seed: int) -> list[list[str]]:
    """Sentences of a walk over real text."""
    words = Words()
    flat = words.types[words.walk(count * SENTENCE, seed)].tolist()
    return [flat[at : at + SENTENCE] for at in range(0, len(flat), SENTENCE)]


def seconds(function: Callable[[], object]) -> tuple[float, object]:
    """Wall time of a call, and what it returned."""
    begin = time.perf_counter()
    found = function()
    return time.perf_counter() - begin, found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--million", action="store_true", help="a million sentences, alone")
    options = parser.parse_args()
    if options.million:
        sentences = walked(1_000_000, 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        taken, found = seconds(lambda: self_bleu([" ".join(s) for s in sentences], 5))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"a million sentences: {taken:.1f} s, {after:,.0f} MB (before: {before:,.0f} MB)")
        print(f"  Self-BLEU-2 to -5: {found.scores[1:].round(4).tolist()}")
        return
    from fast_bleu import BLEU, SelfBLEU

    mine, theirs = captions("seq.txt"), captions("test_coco.txt")
    self_bleu(mine[:9], 5), bleu(mine[:9], theirs[:9], 5)
    cases: dict[str, tuple[Callable[[], object], Callable[[], dict[int, list[float]]]]] = {
        "Self-BLEU": (
            lambda: self_bleu(mine, 5).scores,
            lambda: SelfBLEU(mine, WEIGHTS).get_score(),
        ),
        "BLEU": (
            lambda: bleu(mine, theirs, 5).scores,
            lambda: BLEU(theirs, WEIGHTS).get_score(mine),
        ),
    }
    for name, (ours, other) in cases.items():
        ratios, own, far = [], [], []
        for _ in range(options.repeats):
            taken, scores = seconds(ours)
            against, found = seconds(other)
            own.append(taken)
            far.append(against)
            ratios.append(against / taken)
        unlike = max(abs(np.mean(found[n]) - scores[n - 1]) for n in ORDERS)
        print(
            f"{name} of {len(mine):,} captions, orders 2 to 5: "
            f"textassay {statistics.median(own):.3f} s, fast-bleu {statistics.median(far):.2f} s, "
            f"{statistics.median(ratios):.0f} times; values differ by {unlike:.1e} at most"
        )


if __name__ == "__main__":
    main()
