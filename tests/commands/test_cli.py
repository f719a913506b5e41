"""Commands end to end: results, exit codes, messages, interruption."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands.conftest import Run, sentences
from textassay.cli import main
from textassay.corpus import pieces as cutting
from textassay.novelty import matching
from textassay.results import (
    Example,
    Header,
    Measurement,
    Series,
    Warn,
    parse_signature,
    read_results,
)


def records_of(path: Path, kind: type) -> list:
    return [record for record in read_results(path) if isinstance(record, kind)]


def test_run(command: Run, texts: Path) -> None:
    out = texts / "out"
    code, table, err = command(
        "run",
        f"model={texts / 'model.txt'}",
        "--human",
        texts / "human.txt",
        "--train",
        texts / "train.txt",
        "--out",
        out,
        "--resamples",
        199,
    )
    assert code == 0
    assert "verdict" in table
    assert "differs" in table
    assert "written:" in err
    assert sorted(p.name for p in out.iterdir()) == [
        "documents.jsonl.zst",
        "figures",
        "report.html",
        "results.jsonl",
    ]
    (header,) = records_of(out, Header)
    assert [(i["role"], i["documents"]) for i in header.inputs] == [
        ("system", 200),
        ("human", 200),
        ("training", 3000),
    ]
    assert all(len(i["sha256"]) == 64 for i in header.inputs)
    measured = {
        (m.measure, m.system, parse_signature(m.signature).get("source")): m
        for m in records_of(out, Measurement)
    }
    primary = measured["novelty.pointwise", "model", "both"]
    assert primary.verdict == "differs"
    assert primary.family == "primary, Holm"
    assert primary.distance is not None
    assert primary.distance_low <= primary.distance <= primary.distance_high
    assert primary.p_adjusted <= 0.01
    assert measured["novelty.pointwise", "human", "both"].verdict is None
    assert measured["novelty.ngram4", "model", "both"].family == "novelty by n, step-down max-T"
    # the halves can be told apart by hand
    sums = {d.id: d for d in read_results(out / "documents.jsonl.zst") if d.system == "model"}
    copied = [d for i, d in sums.items() if int(i) >= 100]
    assert all(d.sums["ngram5.training"] == 0 for d in copied)
    total = sum(d.sums["pointwise"] for d in sums.values()) / sum(d.n_tokens for d in sums.values())
    assert np.isclose(primary.value, total)
    curve = [s for s in records_of(out, Series) if s.measure == "novelty.ngram4.by_training_size"]
    assert curve[0].y == sorted(curve[0].y, reverse=True)
    passages = [e for e in records_of(out, Example) if e.system == "model"]
    assert passages
    for passage in passages:
        assert passage.source_text.split() == passage.text.split()
        raw = (texts / "train.txt").read_bytes()
        assert raw[passage.source_byte :].startswith(passage.source_text.encode())
    code, table, _ = command("validate", out)
    assert (code, "1 header" in table) == (0, True)
    assert command("validate", out / "documents.jsonl.zst")[0] == 0


def test_the_same_bytes_for_any_number_of_workers(command: Run, texts: Path) -> None:
    found = []
    for jobs in (1, 3):
        code, out, _ = command(
            "novelty",
            f"model={texts / 'model.txt'}",
            "--human",
            texts / "human.txt",
            "--train",
            texts / "train.txt",
            "--json",
            "--jobs",
            jobs,
            "--resamples",
            199,
        )
        assert code == 0
        found.append(out.splitlines()[1:])
    assert found[0] == found[1]


def test_per_token(command: Run, texts: Path) -> None:
    path = texts / "tokens.jsonl"
    (texts / "prompts.txt").write_text("w1 w2\n" * 200)
    code, _, _ = command(
        "novelty",
        f"model={texts / 'model.txt'}",
        "--train",
        texts / "train.txt",
        "--prompts",
        texts / "prompts.txt",
        "--per-token",
        path,
        "--quiet",
        "--resamples",
        99,
    )
    assert code == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 200
    assert lines[0]["tokens"][:2] == ["w1", "w2"]
    for line in lines:
        assert len(line["tokens"]) == len(line["training"]) == len(line["context"])
    # a copied line of n tokens ends with n
    assert lines[150]["training"][-1] >= len(lines[150]["tokens"]) - 2


def test_without_training_text_only_context_counts(command: Run, texts: Path) -> None:
    code, out, _ = command("novelty", f"m={texts / 'model.txt'}", "--json", "--resamples", 99)
    assert code == 0
    measured = [json.loads(line) for line in out.splitlines()]
    sources = {
        parse_signature(m["signature"])["source"] for m in measured if m["kind"] == "measurement"
    }
    assert sources == {"context"}
    code, table, _ = command("novelty", f"m={texts / 'model.txt'}", "--resamples", 99)
    assert "counting their own context alone" in table
    assert "Copying" not in table


def test_training_text_on_standard_input(
    command: Run, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("novelty", f"m={texts / 'model.txt'}", "--json", "--resamples", 99, "--train")
    _, expected, _ = command(*arguments, texts / "train.txt")
    with (texts / "train.txt").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        code, out, _ = command(*arguments, "-")
    assert code == 0

    def values(lines: str) -> list[object]:
        records = [json.loads(line) for line in lines.splitlines()]
        return [(r["measure"], r["value"]) for r in records if r["kind"] == "measurement"]

    assert values(out) == values(expected)
    found = [json.loads(line) for line in out.splitlines()]
    assert any(r["kind"] == "warning" and r["code"] == "standard-input" for r in found)
    examples = [r for r in found if r["kind"] == "example"]
    assert all(e["source_text"] is None for e in examples)
    assert all(e["source_document"] is not None for e in examples)


def test_reference_text_is_never_said_to_be_copied(command: Run, texts: Path) -> None:
    code, table, _ = command(
        "novelty",
        f"m={texts / 'model.txt'}",
        "--train",
        texts / "train.txt",
        "--train-role",
        "reference",
        "--resamples",
        99,
    )
    assert code == 0
    assert "Also found in the reference text" in table
    assert "Copying" not in table


def test_tokenizers_that_run_in_processes(command: Run, texts: Path) -> None:
    results = []
    for tokenizer in ("treebank", "whitespace"):
        code, out, _ = command(
            "novelty",
            f"m={texts / 'model.txt'}",
            "--train",
            texts / "train.txt",
            "--tokenizer",
            tokenizer,
            "--jobs",
            2,
            "--json",
            "--resamples",
            99,
        )
        assert code == 0
        records = [json.loads(line) for line in out.splitlines()]
        results.append([r["value"] for r in records if r["kind"] == "measurement"])
    assert results[0] == results[1]  # these words are the same for both


def test_paired_by_prompts(command: Run, texts: Path) -> None:
    for name in ("model", "human"):
        lines = (texts / f"{name}.txt").read_text().splitlines()
        (texts / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"text": t, "prompt": f"prompt {i // 2}"}) + "\n"
                for i, t in enumerate(lines)
            )
        )
    code, out, _ = command(
        "novelty",
        f"m={texts / 'model.jsonl'}",
        "--human",
        texts / "human.jsonl",
        "--train",
        texts / "train.txt",
        "--json",
        "--resamples",
        199,
    )
    assert code == 0
    measured = [json.loads(line) for line in out.splitlines()]
    (primary,) = [
        m
        for m in measured
        if m["kind"] == "measurement"
        and m["measure"] == "novelty.pointwise"
        and m["system"] == "m"
        and "source:both" in m["signature"]
    ]
    assert primary["resampling_unit"] == "prompt"
    assert primary["test"].startswith("sign flips of paired prompts")
    assert primary["size"] == 50


def test_hostile_text_is_inert_in_the_terminal(command: Run, texts: Path) -> None:
    hostile = "\x1b[31mred\x1b[0m \u202eevil\u202c \x07 " + "copied words " * 10
    (texts / "h.txt").write_text(hostile + "\n")
    (texts / "t.txt").write_text(hostile + "\n")
    code, table, _ = command(
        "novelty",
        f"\x1b]0;title\x07={texts / 'h.txt'}",
        "--train",
        texts / "t.txt",
        "--tokenizer",
        "whitespace",
        "--resamples",
        99,
    )
    assert code == 0
    assert "\x1b" not in table
    assert "\x07" not in table
    assert "\u202e" not in table
    assert "\\x1b[31mred" in table


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["novelty", "m=nowhere.txt"], r"nowhere.txt: no such file"),
        (["novelty", "m="], "m=: a file is missing behind the ="),
        (["novelty"], "requires an argument|Parameter"),
        (["novelty", "m={texts}/model.txt", "--tokenizer", "nltk"], "no tokenizer 'nltk'"),
        (["novelty", "m={texts}/model.txt", "--documents", "page"], "--documents page: choose"),
        (["novelty", "m={texts}/model.txt", "--nonsense"], "nonsense"),
        (["novelty", "m={texts}/model.txt", "--jobs", "0"], "--jobs 0: at least 1"),
        (["novelty", "m={texts}/model.txt", "--seed", "-1"], "--seed -1"),
        (["novelty", "m={texts}/model.txt", "--resamples", "9"], "--resamples 9: at least 99"),
        (["novelty", "m={texts}/model.txt", "--ngrams", "x"], "--ngrams x: write 1-10"),
        (
            ["novelty", "m={texts}/model.txt", "--ngrams", "0-3"],
            "--ngrams 0-3: whole numbers from 1",
        ),
        (["novelty", "m={texts}/model.txt", "--unit", "source"], "needs documents with a field"),
        (["novelty", "m={texts}/model.txt", "--unit", "prompt"], "needs documents with prompts"),
        (
            ["novelty", "m={texts}/model.txt", "--margin", "0"],
            "--margin 0: MEASURE=NUMBER with a number above 0",
        ),
        (["novelty", "m={texts}/model.txt", "--protocol", "old"], "--protocol old: choose"),
        (["novelty", "m={texts}/model.txt", "m={texts}/human.txt"], "two inputs are named 'm'"),
        (["novelty", "human={texts}/model.txt"], "cannot be named 'human'"),
        (["novelty", "m={texts}/model.txt", "--newline-token", "3"], "needs --tokenizer ids"),
        (["novelty", "m={texts}/model.txt", "--tokenizer", "ids"], r"reads \.npy and \.bin"),
        (["novelty", "m=-", "--train", "-"], "can be read only once"),
        (["run", "m={texts}/model.txt"], "out"),
        (["validate", "{texts}/model.txt"], "model.txt, line 1: is not JSON"),
        (["validate", "{texts}"], "results.jsonl: no such file"),
        (["fly"], "fly"),
    ],
)
def test_misuse(command: Run, texts: Path, arguments: list[str], message: str) -> None:
    import re

    filled = [argument.format(texts=texts) for argument in arguments]
    code, out, err = command(*filled)
    assert code == 2
    assert out == ""
    assert re.search(message, err), err
    assert "Traceback" not in err


def test_bad_input_leaves_nothing_behind(command: Run, texts: Path) -> None:
    (texts / "bad.txt").write_bytes(b"fine\n" * 9 + b"\xff\n")
    out = texts / "out"
    code, _, err = command(
        "run", f"m={texts / 'model.txt'}", "--train", texts / "bad.txt", "--out", out
    )
    assert code == 2
    assert (
        "bad.txt, line 10, byte 45: is not valid UTF-8 (0xff): convert it, or use --errors replace"
        in err
    )
    assert not out.exists()
    code, _, _ = command("novelty", f"m={texts / 'bad.txt'}", "--per-token", out / "tokens.jsonl")
    assert code == 2
    assert not out.exists()
    code, _, _ = command(
        "novelty", f"m={texts / 'bad.txt'}", "--errors", "replace", "--quiet", "--resamples", 99
    )
    assert code == 0


def test_prompts_that_do_not_match(command: Run, texts: Path) -> None:
    (texts / "prompts.txt").write_text("one\n")
    code, _, err = command(
        "novelty", f"m={texts / 'model.txt'}", "--prompts", texts / "prompts.txt"
    )
    assert code == 2
    assert "prompts.txt: holds 1 prompts for the 200 documents of m" in err


def test_output_that_cannot_be_written(command: Run, texts: Path) -> None:
    code, _, err = command("run", f"m={texts / 'model.txt'}", "--out", texts / "model.txt" / "out")
    assert code == 2
    assert "cannot be written" in err
    code, _, err = command(
        "novelty", f"m={texts / 'model.txt'}", "--per-token", texts / "model.txt" / "x.jsonl"
    )
    assert code == 2


def test_config_files(command: Run, texts: Path) -> None:
    config = texts / "c.toml"
    config.write_text('resamples = 99\nngrams = "2,3"\nseed = 5\n')
    code, out, _ = command("novelty", f"m={texts / 'model.txt'}", "--config", config, "--json")
    assert code == 0
    header, *rest = (json.loads(line) for line in out.splitlines())
    assert (header["seed"], header["settings"]["ngrams"]) == (5, [2, 3])
    assert {r["measure"] for r in rest if r["kind"] == "measurement"} >= {"novelty.ngram3"}
    # the command line wins
    _, out, _ = command(
        "novelty", f"m={texts / 'model.txt'}", f"--config={config}", "--seed", 6, "--json"
    )
    assert json.loads(out.splitlines()[0])["seed"] == 6
    config.write_text("seed = = 5\n")
    code, _, err = command("novelty", f"m={texts / 'model.txt'}", "--config", config)
    assert (code, "is not TOML" in err) == (2, True)
    config.write_text("sead = 5\n")
    code, _, err = command("novelty", f"m={texts / 'model.txt'}", "--config", config)
    assert (code, "sead" in err) == (2, True)
    code, _, err = command("novelty", f"m={texts / 'model.txt'}", "--config", texts / "no.toml")
    assert (code, "no.toml: cannot be read" in err) == (2, True)


def test_interrupted_and_resumed(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of the pass over training text; the same command then goes on."""
    from textassay.assay import run_assay
    from textassay.corpus import pieces
    from textassay.resume import Store
    from textassay.settings import AssaySettings

    monkeypatch.setattr(pieces, "FIRST_PIECE", 1 << 10)
    monkeypatch.setattr(pieces, "LARGEST_PIECE", 1 << 12)
    settings = AssaySettings(
        systems=[f"m={texts / 'model.txt'}"], train=[str(texts / "train.txt")], resamples=99
    )
    expected = run_assay(settings)
    store = Store(texts / "unfinished")
    pieces_read: list[int] = []

    def interrupt(what: str, done: int, total: int | None) -> None:
        if what == "training text":
            pieces_read.append(done)
            if len(pieces_read) == 9:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run_assay(settings, progress=interrupt, store=store)
    assert len(list(store.folder.iterdir())) == 1
    read_before = len(pieces_read)
    again: list[int] = []
    resumed = run_assay(
        settings,
        progress=lambda what, done, _: again.append(done) if what == "training text" else None,
        store=store,
    )
    assert min(again) > pieces_read[read_before - 2]
    assert not store.folder.exists()
    assert resumed.records[1:] == expected.records[1:]
    assert resumed.records[0].inputs == expected.records[0].inputs


def test_a_damaged_checkpoint_is_no_obstacle(tmp_path: Path) -> None:
    from textassay.resume import Store

    store = Store(tmp_path / "s")
    store.save("k", {"a": np.arange(3)})
    assert store.load("k")["a"].tolist() == [0, 1, 2]
    next(store.folder.iterdir()).write_bytes(b"nonsense")
    assert store.load("k") is None
    store.discard("k")
    assert not store.folder.exists()


def test_interrupt_from_outside(texts: Path) -> None:
    """A process that is sent SIGINT says so and leaves no result."""
    line = " ".join(sentences(4, 50)) + "\n"
    (texts / "big.txt").write_text(line * 40_000)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "textassay",
            "run",
            f"m={texts / 'model.txt'}",
            "--train",
            str(texts / "big.txt"),
            "--out",
            str(texts / "out"),
            "--jobs",
            "1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    import time

    while not (texts / "out").exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode != 0:  # a fast machine may have been done
        assert process.returncode == 130
        assert err.strip().startswith("textassay: interrupted")
        assert not (texts / "out" / "results.jsonl").exists()
    assert "Traceback" not in err + out


def test_novelty_keeps_unfinished_work_beside_its_results(
    texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped in the middle of the training text, the same command goes on there."""
    line = " ".join(sentences(4, 50)) + "\n"
    (texts / "big.txt").write_text(line * 4_000)
    arguments = ["novelty", f"m={texts / 'model.txt'}", "--train", str(texts / "big.txt")]
    arguments += ["--out", str(texts / "out"), "--quiet", "--jobs", "1"]
    whole = [*arguments]
    whole[-4] = str(texts / "whole")
    assert main(whole) == 0
    monkeypatch.setattr(cutting, "LARGEST_PIECE", 1 << 16)
    monkeypatch.setattr(matching, "_GROUP", 2)
    before = matching._Walk.read
    calls = []

    def stop_once(walk: matching._Walk, group: matching._Group) -> None:
        before(walk, group)
        calls.append(walk.training.last_bytes)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(matching._Walk, "read", stop_once)
    assert main(arguments) == 130
    assert list((texts / "out" / ".unfinished").glob("*.npz"))
    assert main(arguments) == 0
    assert not (texts / "out" / ".unfinished").exists()
    assert calls[3] > calls[2]  # it did not begin anew
    for name in ("results.jsonl", "documents.jsonl.zst"):
        assert (texts / "out" / name).exists()
    measured = [
        [r for r in read_results(texts / folder) if isinstance(r, Measurement)]
        for folder in ("out", "whole")
    ]
    assert measured[0] == measured[1]


def test_a_reader_that_goes_away(texts: Path) -> None:
    script = f"{sys.executable} -m textassay novelty m={texts / 'model.txt'} --json | head -c 10"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_one_long_line(command: Run, texts: Path) -> None:
    (texts / "line.txt").write_text("word " * 10_000_000)
    code, out, _ = command(
        "novelty",
        f"m={texts / 'model.txt'}",
        "--train",
        texts / "line.txt",
        "--json",
        "--resamples",
        99,
    )
    assert code == 0
    assert json.loads(out.splitlines()[0])["inputs"][1]["tokens"] == 10_000_000
    code, out, _ = command(
        "novelty", f"m={texts / 'line.txt'}", "--json", "--resamples", 99, "--documents", "file"
    )
    assert code == 0
    longest = [
        json.loads(line) for line in out.splitlines() if '"novelty.pointwise_untruncated"' in line
    ]
    # each token repeats all before it: 1, 2, ..., n
    assert longest[0]["value"] == (10_000_000 + 1) / 2


def test_standard_output_is_records_alone(command: Run, texts: Path) -> None:
    code, out, err = command("novelty", f"m={texts / 'model.txt'}", "--json", "--resamples", 99)
    assert code == 0
    kinds = [json.loads(line)["kind"] for line in io.StringIO(out)]
    assert kinds[0] == "header"
    assert set(kinds) <= {"header", "measurement", "series", "example", "warning"}
    assert err == ""


def test_warnings_of_the_records(command: Run, texts: Path) -> None:
    lines = [f"This is line {i} , capitalised ." for i in range(60)] + ["same text ."] * 5 + [""]
    (texts / "w.txt").write_text("\n".join(lines) + "\n")
    (texts / "h.txt").write_text("\n".join(f"this is line {i}, too." for i in range(120)) + "\n")
    out = texts / "out"
    code, _, _ = command(
        "run",
        f"m={texts / 'w.txt'}",
        "--human",
        texts / "h.txt",
        "--train",
        texts / "h.txt",
        "--out",
        out,
        "--resamples",
        99,
    )
    assert code == 0
    codes = {w.code for w in records_of(out, Warn)}
    assert codes >= {
        "few-documents",
        "empty-documents",
        "cut-documents",
        "repeated-documents",
        "preprocessing",
        "human-text-in-training",
    }


def test_near_verbatim_copies_and_counts(command: Run, texts: Path) -> None:
    rng = np.random.default_rng(9)
    words = [f"word{w}" for w in rng.integers(0, 5000, 400)]
    (texts / "t.txt").write_text((" ".join(words[:300]) + "\n") * 7 + " ".join(words[300:]) + "\n")
    shouted = ", ".join(word.upper() for word in words[20:140])
    (texts / "m.txt").write_text(f"{shouted}!\n{' '.join(words[100:250])}\n")
    arguments = (
        "novelty",
        f"m={texts / 'm.txt'}",
        "--train",
        texts / "t.txt",
        "--near-verbatim",
        "--random-ngrams",
        50,
        "--resamples",
        99,
    )
    code, out, _ = command(*arguments, "--json")
    assert code == 0
    records = [json.loads(line) for line in out.splitlines()]
    longest = {
        "norm:casefold" in r["signature"]: r["value"]
        for r in records
        if r["kind"] == "measurement" and r["measure"] == "novelty.longest_copy"
    }
    assert longest == {False: 150, True: 150}
    shares = {
        "norm:casefold" in r["signature"]: r["value"]
        for r in records
        if r["kind"] == "measurement" and r["measure"] == "novelty.supercopied"
    }
    # 120 words and 120 marks, then 150 words: only the words alone are all copied
    assert shares == {False: 150 / 390, True: 1.0}
    near = [r for r in records if r["kind"] == "example" and r["note"].startswith("near-verbatim")]
    assert near[1]["text"] == shouted
    assert near[1]["source_text"] == " ".join(words[20:140])
    counts = {
        r["system"]: dict(zip(r["x"], r["y"], strict=True))
        for r in records
        if r["kind"] == "series" and r["measure"] == "novelty.supercopied.counts"
    }
    assert counts["m"] == {7.0: 51.0}
    assert set(counts["training text"]) <= {1.0, 7.0}
    assert 40 <= sum(counts["training text"].values()) <= 50
    code, table, _ = command(*arguments)
    assert code == 0
    assert "The same except for case and punctuation" in table
    assert "m: 51 100-grams occur 7 times (median)" in table
    code, _, err = command("novelty", f"m={texts / 'm.txt'}", "--near-verbatim")
    assert (code, "needs text, and --train" in err) == (2, True)
