"""Models x decodings on two texts: train, sample, assay. What docs/results/decoding.md tells of.

python benchmarks/decoding_study.py --work DIR train|sample|assay [--only war-and-peace/lstm]

Everything is done by the commands that a user has; a stage that was stopped goes on where it was.
Needs the published data (docs/reproducing.md).
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time
from pathlib import Path

from texts import PUBLISHED

DECODINGS = ("ancestral", "temperature=0.7", "top_k=40", "top_p=0.9", "typical=0.9", "beams=5")
MODELS = {
    "ngram": ["--order", "5"],
    "lstm": ["--layers", "2", "--epochs", "8"],
    "cnn": ["--layers", "6", "--epochs", "5"],
    "transformer": ["--layers", "4", "--epochs", "5", "--window", "128", "--rate", "1e-3"],
}
JUDGE = ["--layers", "2", "--epochs", "6"]
NETWORK = ["--tokens", "bpe", "--vocabulary", "4096", "--width", "256"]
READING = {"war-and-peace": "documents", "wikitext-2": "contiguous"}
SAMPLES = {"war-and-peace": 2000, "wikitext-2": 500}


def prepare(work: Path) -> None:
    """Training, development and human text, and text for the judge: no two share a document."""
    for name in READING:
        (work / name).mkdir(parents=True, exist_ok=True)
    for part, file in (("train", "train"), ("dev", "valid"), ("judge", "valid"), ("human", "test")):
        text = (PUBLISHED / f"war-and-peace/wap.{file}.txt").read_bytes()
        (work / f"war-and-peace/{part}.txt").write_bytes(text)
    articles = {
        part: articles_of(PUBLISHED / f"wikitext-2/{part}.txt") for part in ("valid", "test")
    }
    parts = {
        "train": [a for k, a in enumerate(articles["valid"]) if k % 10],
        "dev": articles["valid"][::10],
        "judge": articles["test"][::2],
        "human": articles["test"][1::2],
    }
    for part, chosen in parts.items():
        (work / f"wikitext-2/{part}.txt").write_text("".join(chosen), encoding="utf-8")


def articles_of(file: Path) -> list[str]:
    """The articles of WikiText, headings of the first level with what is behind them."""
    articles: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if not text:
            continue
        if (text.startswith("= ") and not text.startswith("= =")) or not articles:
            articles.append("")
        articles[-1] += text + "\n"
    return articles


def run(*command: str) -> None:
    """A command of textassay, shown with the time that it took."""
    print("$ textassay", shlex.join(command), flush=True)
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "textassay", *command], check=True)
    print(f"  {time.perf_counter() - begin:,.0f} s", flush=True)


def train(work: Path, text: str, model: str) -> None:
    """One model, or the judge."""
    folder = work / text / model
    if (folder / "done").exists():
        return
    part, kind = ("judge", "lstm") if model == "judge" else ("train", model)
    chosen = JUDGE if model == "judge" else MODELS[model]
    command = [str(work / text / f"{part}.txt"), "--model", kind, "--out", str(folder), *chosen]
    if kind != "ngram":
        command += [*NETWORK, "--reading", READING[text]]
    if part == "train" and kind != "ngram":
        command += ["--dev", str(work / text / "dev.txt")]
    run("train", *command)
    (folder / "done").touch()


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["train", "sample", "assay"])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    work: Path = options.work
    prepare(work)
    for text in READING:
        if options.stage == "train":
            for model in (*MODELS, "judge"):
                if f"{text}/{model}".startswith(options.only):
                    train(work, text, model)


if __name__ == "__main__":
    main()
