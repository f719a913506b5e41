"""The whole family of tendencies from the command line: seconds and peak memory.

    python benchmarks/tendencies.py [--documents 10000 100000] [--length 12] [--repeats 3]

Real words in a made-up order (see texts.py), so many documents a side, of 3 to twice `length` less
3 tokens; a process of its own, start-up, reading and all curves included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

import numpy as np
from novelty import measure
from texts import Words

COMMAND = """
import sys
from textassay.cli import main
sys.exit(main(["tendencies", "model=" + sys.argv[1], "--human", sys.argv[2]]))
"""


def write(words: Words, path: Path, documents: int, length: int, seed: int) -> int:
    """A file of documents; returns its tokens."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 2 * length - 2, documents)
    ids = words.walk(int(sizes.sum()), seed)
    ends = np.cumsum(sizes)
    with path.open("w", encoding="utf-8") as file:
        for begin, end in zip(ends - sizes, ends, strict=True):
            file.write(" ".join(words.types[ids[begin:end]]) + "\n")
    return ids.size


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    words = Words()
    with tempfile.TemporaryDirectory() as folder:
        for documents in options.documents:
            paths = [Path(folder, name) for name in ("model.txt", "human.txt")]
            tokens = [
                write(words, path, documents, options.length, seed)
                for seed, path in enumerate(paths)
            ]
            measure(COMMAND, *map(str, paths))  # compile
            taken = [measure(COMMAND, *map(str, paths)) for _ in range(options.repeats)]
            print(
                f"{documents:,} documents a side, {tokens[0]:,} and {tokens[1]:,} tokens, "
                f"{os.cpu_count()} cores: {statistics.median(t for t, _ in taken):.1f} s, "
                f"{max(m for _, m in taken):.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
