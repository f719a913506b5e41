"""Models x decodings on two texts: train, then sample and assay. See docs/results/decoding.md.

python benchmarks/decoding_study.py --work DIR train|assay|tables [--only war-and-peace/lstm]

Everything is done by the commands that a user has; a stage that was stopped goes on where it was.
Needs the published data (docs/reproducing.md).
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

from texts import PUBLISHED

# beams write so little that novelty at one length would be that of a word: an assay of their own
# (and beams over paragraphs are slow)
BEAMS = {"war-and-peace": 1000, "wikitext-2": 100}
DECODINGS = {
    "assay": ["ancestral", "temperature=0.7", "top_k=40", "top_p=0.9", "typical=0.9"],
    "assay-beams": ["beams=5"],
}
MODELS = {
    "ngram": ["--order", "5"],
    "lstm": ["--layers", "2", "--epochs", "8"],
    "cnn": ["--layers", "6", "--epochs", "5"],
    "transformer": ["--layers", "4", "--epochs", "5", "--rate", "1e-3"],
}
# what a Transformer sees: lines are shorter than 64 tokens
WINDOW = {
    "war-and-peace": ["--window", "64"],
    "wikitext-2": ["--window", "128", "--stretch", "128", "--batch", "10"],
}
JUDGE = ["--layers", "2", "--epochs", "12"]
NETWORK = ["--tokens", "bpe", "--vocabulary", "4096", "--width", "256"]
READING = {"war-and-peace": "documents", "wikitext-2": "contiguous"}
# words of a prompt, fewest words behind it, texts, tokens of a text at most
ASKED = {"war-and-peace": (3, 4, 1000, 60), "wikitext-2": (16, 24, 300, 300)}


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
    for name in READING:
        write_prompts(work / name, *ASKED[name][:3])


def write_prompts(folder: Path, length: int, least: int, number: int) -> None:
    """First words of people's documents, and how people went on: other documents than trained on.

    Documents are drawn at random, each prompt once.
    """
    rows: dict[str, str] = {}
    for line in (folder / "human.txt").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) >= length + least and not line.startswith("="):
            rows.setdefault(" ".join(words[:length]), " ".join(words[length:]))
    prompts = random.Random(0).sample(sorted(rows), number)
    (folder / "prompts.txt").write_text("".join(f"{p}\n" for p in prompts), encoding="utf-8")
    with (folder / "human.jsonl").open("w", encoding="utf-8") as file:
        for prompt in prompts:
            file.write(json.dumps({"prompt": prompt, "text": f" {rows[prompt]}"}) + "\n")


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
    if kind == "transformer":
        command += WINDOW[text]
    if kind != "ngram":
        command += [*NETWORK, "--reading", READING[text]]
    if part == "train" and kind != "ngram":
        command += ["--dev", str(work / text / "dev.txt")]
    run("train", *command)
    (folder / "done").touch()


def assay(work: Path, text: str) -> None:
    """All models under all decodings behind the same prompts, beside how people went on."""
    folder = work / text
    models = [f"{model}={folder / model}" for model in MODELS if (folder / model / "done").exists()]
    *_, number, longest = ASKED[text]
    for out, decodings in DECODINGS.items():
        if out == "assay-beams":
            number = BEAMS[text]
        run(
            *["run", "--sample", *models, "--decoding", *decodings, "-n", str(number)],
            *["--prompts", str(folder / "prompts.txt"), "--max-length", str(longest)],
            *["--human", str(folder / "human.jsonl"), "--train", str(folder / "train.txt")],
            *["--scorer", str(folder / "judge"), "--scorer-train", str(folder / "judge.txt")],
            *["--tokenizer", "whitespace", "--out", str(folder / out), "--quiet"],
        )


def tables(work: Path, text: str) -> None:
    """Markdown of what an assay found."""
    from textassay.report.natural import MATRIX, MEANING, mark_of
    from textassay.results import Measurement, Series, parse_signature, read_results

    records = []
    for out, decodings in DECODINGS.items():
        for r in read_results(work / text / out):
            if len(decodings) == 1 and getattr(r, "system", None) in MODELS:
                r.system = f"{r.system} {decodings[0]}"  # as where there are several
            records.append(r)
    cells: dict[tuple[str, str], Measurement] = {}
    for r in records:
        if isinstance(r, Measurement):
            parts = parse_signature(r.signature)
            counts = "against" not in parts and parts.get("source", "both") == "both"
            # a set of one length, where there is one, has the verdict
            if counts and ((r.system, r.measure) not in cells or "len" in parts):
                cells[r.system, r.measure] = r
    whole = {
        (r.system, r.measure): r
        for r in reversed(records)
        if isinstance(r, Measurement) and "len" not in parse_signature(r.signature)
    }
    curves = {r.system: r for r in records if isinstance(r, Series) and r.measure == BY_N}
    systems = [*dict.fromkeys(s for s, m in cells if m == "likelihood.nll_token")]

    def cell(system: str, measure: str, digits: int = 3) -> str:
        r = cells.get((system, measure))
        value = None if r is None else (r.value if r.distance is None else r.distance)
        return "" if r is None or value is None else f"{value:.{digits}f} {mark_of(r)}".strip()

    def number(system: str, measure: str, digits: int = 3) -> str:
        r = whole.get((system, measure))
        mark = mark_of(cells[system, measure]) if (system, measure) in cells else ""
        return "" if r is None or r.value is None else f"{r.value:.{digits}f} {mark}".strip()

    rows = [["system", *(MEANING[m] for m in MATRIX)]]
    rows += [[s, *(cell(s, m) for m in MATRIX)] for s in systems if s != "human"]
    show(rows)
    rows = [["system", *(f"n={n:g}" for n in curves["human"].x)]]
    rows += [[s, *("" if y is None else f"{y:.3f}" for y in curves[s].y)] for s in systems]
    show(rows)
    columns = {
        "perplexity": ("likelihood.perplexity", 1),
        "nats a token": ("likelihood.nll_token", 3),
        "duplication": ("novelty.pointwise", 3),
        "longest copy": ("novelty.longest_copy", 0),
        "in copies >= 50": ("novelty.copied50", 4),
        "Self-BLEU-4": ("overlap.self_bleu4", 3),
        "distinct-2": ("overlap.distinct2", 3),
        "BLEU-4": ("overlap.bleu4", 3),
        "repeated 4-grams": ("overlap.repetition4", 4),
    }
    rows = [["system", *columns]]
    rows += [[s, *(number(s, m, digits) for m, digits in columns.values())] for s in systems]
    show(rows)


BY_N = "novelty.by_n.both"


def show(rows: list[list[str]]) -> None:
    """A table of Markdown."""
    head, *rest = rows
    for row in (head, ["---"] * len(head), *rest):
        print(f"| {' | '.join(row)} |")
    print()


def main() -> None:
    """Run a stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["train", "assay", "tables"])
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
        elif options.stage == "assay" and text.startswith(options.only):
            assay(work, text)
        elif options.stage == "tables" and (work / text / "assay-beams").exists():
            print(f"## {text}\n")
            tables(work, text)


if __name__ == "__main__":
    main()
