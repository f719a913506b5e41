"""Permutation tests of numbers: textassay beside SciPy, in one run.

python benchmarks/stats.py [--size 10000] [--resamples 10000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy.stats

from textassay.stats.permutation import permutation_test


def seconds(function: Callable[[], object]) -> float:
    """Wall time of a call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def ks(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    """The distance of each row, without a loop over rows."""
    n, m = x.shape[axis], y.shape[axis]
    pooled = np.concatenate([x, y], axis=axis)
    order = np.argsort(pooled, axis=axis, kind="stable")
    ordered = np.take_along_axis(pooled, order, axis)
    steps = np.where(order < n, 1 / n, -1 / m)
    sums = np.cumsum(steps, axis=axis)
    last = np.concatenate(
        [np.diff(ordered, axis=axis) > 0, np.ones((*pooled.shape[:-1], 1), bool)], axis=axis
    )
    return np.abs(np.where(last, sums, 0)).max(axis=axis)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    n = options.size
    cases = {
        "lengths": (rng.poisson(20, n).astype(float), rng.poisson(20, n).astype(float)),
        "shares": (rng.random(n).round(4), rng.random(n).round(4)),
    }
    statistics_of = {"mean": lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), "ks": ks}
    for case, (x, y) in cases.items():
        for name, function in statistics_of.items():
            permutation_test(x[:300], y[:300], name, n_resamples=99, rng=1)

            def scipy_test(batch: int | None, x=x, y=y, function=function, name=name) -> None:
                scipy.stats.permutation_test(
                    (x, y),
                    function,
                    vectorized=True,
                    n_resamples=options.resamples,
                    batch=batch,
                    alternative="greater" if name == "ks" else "two-sided",
                    rng=1,
                )

            times: dict[str, list[float]] = {"textassay": [], "scipy": [], "scipy, batch=100": []}
            for _ in range(options.repeats):
                times["textassay"].append(
                    seconds(
                        lambda x=x, y=y, name=name: permutation_test(
                            x, y, name, n_resamples=options.resamples, rng=1
                        )
                    )
                )
                if name == "mean":  # scipy's default holds all resamples of a distance: too much
                    times["scipy"].append(seconds(lambda: scipy_test(None)))
                times["scipy, batch=100"].append(seconds(lambda: scipy_test(100)))
            distinct = np.unique(np.concatenate([x, y])).size
            print(f"{case} ({distinct:,} distinct values), {name}:")
            for who, taken in times.items():
                if taken:
                    ratios = [t / own for t, own in zip(taken, times["textassay"], strict=True)]
                    print(
                        f"  {who:18s} {statistics.median(taken):8.3f} s   "
                        f"{statistics.median(ratios):7.1f} x"
                    )


if __name__ == "__main__":
    main()
