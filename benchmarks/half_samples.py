"""Errors from random parts of a text, beside the true ones: halves, thirds, quarters, eighths.

python benchmarks/half_samples.py [--repeats 120] [--types 300]

Pairs of texts of Zipf's law, 150 and 300 documents of some nine words; the second text's exponent
is 1 (texts are alike), 1.03, 1.1 or 1.3. Printed is the stated error (root mean square) over the
standard deviation of the estimates in fresh pairs: exponent, distance to Zipf, hapax share and
entropy of one text, KS and total variation distance of two. See docs/results/calibration.md.
"""

from __future__ import annotations

import argparse

import numpy as np

from textassay.parallel import Workers
from textassay.stats.count_comparison import common_size, distances_at, value_at, value_errors
from textassay.stats.grouped import (
    Grouped,
    Statistics,
    TypeStatistics,
    in_batches,
    key_of,
    subsets,
)

PARTS = (2, 3, 4, 8)


def text(rng: np.random.Generator, documents: int, types: int, power: float = 1.0) -> Grouped:
    """A text of Zipf's law."""
    shares = 1 / np.arange(1, types + 1) ** power
    lengths = rng.poisson(8, documents) + 1
    items = rng.choice(types, lengths.sum(), p=shares / shares.sum())
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Grouped(items.astype(np.int32), ends, types)


def distance_errors(
    one: Grouped,
    other: Grouped,
    statistics: Statistics,
    part: int,
    rng: np.random.Generator,
    workers: Workers,
) -> np.ndarray:
    """Errors of distances by parts of both texts, as `count_comparison.distance_errors` does."""
    size = min(one.items, other.items) // part
    keys = key_of(rng), key_of(rng)

    def pairs(first: int, n: int) -> np.ndarray:
        mine = subsets(one, size, keys[0], first, n + 1)
        theirs = subsets(other, size, keys[1], first, n + 1)
        return np.stack(
            [
                statistics.compare(mine[:-1], theirs[:-1]),
                statistics.compare(mine[:-1], theirs[1:]),
            ],
            axis=1,
        )

    draws = statistics.draws(one, other)
    found = in_batches(pairs, draws.parts, 4 * one.size, workers)[:, :, : statistics.distances]
    same, following = found[:, 0], found[:, 1]
    of_one, of_other = covariance(same, following), covariance(following[:-1], same[1:])
    variance = found.reshape(-1, statistics.distances).var(axis=0, ddof=1)
    rest = np.maximum(0, variance - of_one - of_other) / draws.averaged
    scales = [size / (side.items - size) for side in (one, other)]
    return np.sqrt(scales[0] * of_one + scales[1] * of_other + rest)


def covariance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of columns, 0 at least."""
    products = (first - first.mean(axis=0)) * (second - second.mean(axis=0))
    return np.maximum(0, products.sum(axis=0) / (len(first) - 1))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=120)
    parser.add_argument("--types", type=int, default=300)
    options = parser.parse_args()
    statistics = TypeStatistics(None, options.types)
    for power in (1.0, 1.03, 1.1, 1.3):
        rng = np.random.default_rng(2)
        stated: dict[int, list[np.ndarray]] = {part: [] for part in PARTS}
        estimates = []
        with Workers(1) as workers:
            for _ in range(options.repeats):
                one, other = text(rng, 150, options.types), text(rng, 300, options.types, power)
                size = common_size(one, other)
                values = value_at(one, statistics, size, rng, workers).mean(axis=0)
                apart = distances_at(one, other, statistics, size, rng, workers).mean(axis=0)
                estimates.append([*values, *apart[: statistics.distances]])
                for part in PARTS:
                    found = value_errors(one, statistics, one.items // part, rng, workers)
                    more = distance_errors(one, other, statistics, part, rng, workers)
                    stated[part].append(np.concatenate([found, more]))
        true = np.std(estimates, axis=0, ddof=1)
        for part in PARTS:
            ratios = np.sqrt(np.mean(np.square(stated[part]), axis=0)) / true
            print(f"exponent {power}, 1/{part}:", " ".join(f"{r:.2f}" for r in ratios), flush=True)


if __name__ == "__main__":
    main()
