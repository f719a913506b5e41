"""Kneser-Ney models: seconds to train, words sampled a second, beside nltk on a part of the text.

python benchmarks/kneser_ney.py [--words 1000000] [--order 6]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from texts import Words

from textassay.models.decoding import Decoding
from textassay.models.kneser_ney import KneserNey


def nltk_seconds(lines: list[str], order: int) -> tuple[float, float]:
    """Seconds to train nltk's model, and to score one word of it."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    begin = time.perf_counter()
    ngrams, vocabulary = padded_everygram_pipeline(order, [line.split() for line in lines])
    model = KneserNeyInterpolated(order)
    model.fit(ngrams, vocabulary)
    trained = time.perf_counter()
    words = lines[0].split()[:order]
    model.unmasked_score(words[-1], tuple(words[:-1]))
    return trained - begin, time.perf_counter() - trained


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--order", type=int, default=6)
    options = parser.parse_args()
    words = Words()
    ids = words.walk(options.words, 1)
    lines = [" ".join(words.types[ids[i : i + 20]]) for i in range(0, ids.size, 20)]
    warm = KneserNey.train(lines[:50], order=options.order)
    for decoding in ("ancestral", "top_k=5"):
        warm.sample(2, Decoding.parse(decoding))
    warm.log_probabilities(lines[:2])

    begin = time.perf_counter()
    model = KneserNey.train(lines, order=options.order)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"textassay: {options.words:,} words, order {options.order}: {seconds:.2f} s, {peak:.0f} MB"
    )
    for decoding in ("ancestral", "temperature=0.7", "top_k=40", "top_p=0.9", "greedy"):
        begin = time.perf_counter()
        texts = model.sample(2000, Decoding.parse(decoding), max_length=50, rng=1)
        size = sum(len(text.split()) + 1 for text in texts)
        print(
            f"  {decoding:16s} {size / (time.perf_counter() - begin):10,.0f} words a second sampled"
        )
    begin = time.perf_counter()
    size = sum(x.size for x in model.log_probabilities(lines[:5000]))
    print(f"  scoring          {size / (time.perf_counter() - begin):10,.0f} words a second")
    part = lines[:2500]
    begin = time.perf_counter()
    KneserNey.train(part, order=options.order)
    mine = time.perf_counter() - begin
    theirs, score = nltk_seconds(part, options.order)
    print(
        f"50,000 words: textassay {mine:.2f} s; nltk {theirs:.2f} s, {score:.2f} s to score a word"
    )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
