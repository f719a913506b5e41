"""Novelty against training text: textassay from raw text, its peers from ready token ids.

    python benchmarks/novelty.py [--training 10 50] [--generated 200000] [--repeats 3] [--out FILE]

Every contestant is a process of its own, so that start-up and peak memory are its own too; they
take turns within one run, and ratios are medians over the turns. All answer the same question: for
every generated token, the longest suffix that occurs in the training text. tokengrams and
pydivsufsort are given the ids; textassay reads the text, tokenizes it and prints its tables.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent

TEXTASSAY = """
import sys
from textassay.cli import main
sys.exit(main(["novelty", "model=" + sys.argv[1] + ".txt", "--train", sys.argv[2] + ".txt",
               "--tokenizer", "whitespace", "--resamples", "199"]))
"""

# The index on disk, then for each document the longest suffix at each token, by one count query
# for each token that is read: the match either grows by one or shrinks until it occurs.
TOKENGRAMS = """
import sys, tempfile, os
import numpy as np
from tokengrams import MemmapIndex
generated = np.load(sys.argv[1] + ".npy")
training = sys.argv[2] + ".u16.bin"
with tempfile.TemporaryDirectory(dir=os.path.dirname(training)) as folder:
    index = MemmapIndex.build(training, folder + "/index", vocab=2**16)
    longest = 0
    total = 0
    for begin in range(0, generated.size, 1000):
        document = generated[begin : begin + 1000].tolist()
        length = 0
        for i in range(len(document)):
            length += 1
            while length and not index.contains(document[i - length + 1 : i + 1]):
                length -= 1
            total += length
print(total)
"""

# The suffix array of the training text alone, without any search in it.
PYDIVSUFSORT = """
import sys
import numpy as np
from pydivsufsort import divsufsort
training = np.load(sys.argv[2] + ".npy").astype(np.uint32)
print(divsufsort(training).size)
"""


# A process's own peak: what wait4 tells would include the memory of the process that forked it.
PEAK = """
import atexit, os, re
def _peak():
    status = open("/proc/self/status").read()
    open(os.environ["PEAK_FILE"], "w").write(re.search(r"VmHWM:\\s*(\\d+)", status).group(1))
atexit.register(_peak)
"""


def measure(code: str, *arguments: str) -> tuple[float, float]:
    """Seconds and peak memory (MB, Linux only) of a Python process."""
    with tempfile.NamedTemporaryFile("r") as peak:
        begin = time.perf_counter()
        process = subprocess.run(
            [sys.executable, "-c", PEAK + code, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "PEAK_FILE": peak.name},
            check=False,
        )
        seconds = time.perf_counter() - begin
        if process.returncode:
            raise SystemExit(f"a contestant failed: {process.stderr.decode()[-2000:]}")
        return seconds, int(peak.read()) / 1024


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--training", type=int, nargs="+", default=[10, 50], help="million tokens")
    parser.add_argument("--generated", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without", nargs="*", default=[], help="contestants to leave out")
    parser.add_argument("--whole-copy", action="store_true", help="one document is copied whole")
    parser.add_argument("--one-token", action="store_true", help="training text of one token")
    options = parser.parse_args()

    sys.path.insert(0, str(HERE))
    from texts import Words

    words = Words()
    contestants = {
        "textassay": TEXTASSAY,
        "tokengrams": TOKENGRAMS,
        "pydivsufsort (suffix array alone)": PYDIVSUFSORT,
    }
    contestants = {k: v for k, v in contestants.items() if k.split()[0] not in options.without}
    with tempfile.TemporaryDirectory() as folder:
        for millions in options.training:
            training = words.walk(millions * 1_000_000, 1)
            generated = words.walk(options.generated, 2)
            if options.whole_copy:
                generated[:1000] = training[5000:6000]
            if options.one_token:
                training[:] = training[0]
                generated[:1000] = training[0]
            # ids below 65,536, the largest that tokengrams knows
            for name, ids, line in (("t", training, 1000), ("g", generated, 1000)):
                words.write(Path(folder, f"{name}.txt"), ids, line)
                small = (ids % 65_000).astype(np.uint16)
                np.save(Path(folder, f"{name}.npy"), small)
                small.tofile(Path(folder, f"{name}.u16.bin"))
            size = Path(folder, "t.txt").stat().st_size / 1e6
            print(
                f"\n{millions} million training tokens ({size:.0f} MB of text), "
                f"{options.generated:,} generated tokens, {os.cpu_count()} cores"
            )
            paths = (str(Path(folder, "g")), str(Path(folder, "t")))
            measure(TEXTASSAY, *paths)  # compile
            seconds: dict[str, list[float]] = {name: [] for name in contestants}
            memory: dict[str, float] = {}
            for _ in range(options.repeats):
                for name, code in contestants.items():
                    taken, peak = measure(code, *paths)
                    seconds[name].append(taken)
                    memory[name] = max(memory.get(name, 0.0), peak)
            for name, taken in seconds.items():
                ratios = [t / own for t, own in zip(taken, seconds["textassay"], strict=True)]
                print(
                    f"{name:36s} {statistics.median(taken):7.2f} s   {memory[name]:6.0f} MB   "
                    f"{statistics.median(ratios):5.2f} x textassay's time"
                )


if __name__ == "__main__":
    main()
