"""The command run with models among its inputs, and with a scorer."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.commands.conftest import Run, sentences
from textassay.likelihood import Likelihood
from textassay.models.decoding import Decoding
from textassay.models.loading import digest_of_model, is_model, load_model
from textassay.results import Header, Measurement, Warn, read_results
from textassay.resume import Store
from textassay.sampling import Draw, draw_texts

QUICK = ["--resamples", 99, "--quiet"]
NETWORK = ["--width", 16, "--epochs", 1, "--batch", 4, "--stretch", 16, "--quiet"]


@pytest.fixture
def model(command: Run, texts: Path) -> Path:
    place = texts / "three"
    lines = texts / "few.txt"
    lines.write_text("\n".join(sentences(1, 400)) + "\n")
    assert command("train", lines, "--model", "ngram", "--order", 3, "--out", place)[0] == 0
    return place


@pytest.fixture
def scorer(command: Run, texts: Path) -> Path:
    place = texts / "scorer"
    lines = texts / "scored.txt"
    lines.write_text("\n".join(sentences(7, 100)) + "\n")
    more = ["--tokens", "characters", *NETWORK]
    assert command("train", lines, "--model", "lstm", "--out", place, *more)[0] == 0
    return place


def found(folder: Path) -> tuple[Header, dict[tuple[str, str], Measurement], list[Warn]]:
    records = read_results(folder)
    (header,) = (r for r in records if isinstance(r, Header))
    measured = {
        (r.system, r.measure): r
        for r in records
        if isinstance(r, Measurement) and r.measure.startswith("likelihood.")
    }
    return header, measured, [r for r in records if isinstance(r, Warn)]


def test_a_model_makes_a_system_of_each_decoding(
    command: Run, texts: Path, model: Path, scorer: Path
) -> None:
    out = texts / "out"
    code, _, err = command(
        "run", texts / "model.txt", "--sample", f"three={model}", "--decoding", "ancestral",
        "--decoding", "top_k=3", "-n", 40, "--max-length", 12, "--human", texts / "human.txt",
        "--train", texts / "train.txt", "--scorer", scorer, "--scorer-train", texts / "scored.txt",
        "--train-documents", "file", "--out", out, *QUICK,
    )  # fmt: skip
    assert code == 0, err
    assert not (out / ".unfinished").exists()
    header, measured, warnings = found(out)
    sampled = {e["system"]: e for e in header.inputs if "decoding" in e}
    assert {name: e["decoding"] for name, e in sampled.items()} == {
        "three ancestral": "ancestral",
        "three top_k=3": "top_k=3",
    }
    assert all(e["model_sha256"] == digest_of_model(model) for e in sampled.values())
    rows = [
        json.loads(line) for line in Path(sampled["three top_k=3"]["file"]).read_text().splitlines()
    ]
    assert len(rows) == 40
    assert all(len(row["text"].split()) <= 12 and row["decoding"] == "top_k=3" for row in rows)
    # the scorer's numbers are those of the scorer
    for name in ("three ancestral", "model", "human"):
        place = Path(next(e["file"] for e in header.inputs if e["system"] == name))
        lines = place.read_text().splitlines()
        if place.suffix == ".jsonl":
            lines = [json.loads(line)["text"] for line in lines]
        exact = Likelihood.from_logs(load_model(scorer).log_probabilities(lines), lines)
        nll = measured[name, "likelihood.nll_token"]
        assert nll.value == pytest.approx(exact.nll_token, rel=1e-5)
        assert nll.n_tokens == exact.tokens.sum()
        perplexity = measured[name, "likelihood.perplexity"]
        assert perplexity.value == pytest.approx(math.exp(exact.nll_token), rel=1e-4)
        sentence = measured[name, "likelihood.nll_sentence"]
        assert sentence.value == pytest.approx(exact.nll_document, rel=1e-5)
        assert (nll.distance is None) == (name == "human")
        assert "scorer:scorer" in nll.signature
    # characters have one token for all unknown ones: no bits of the text itself
    assert not any(measure == "likelihood.bits_per_byte" for _, measure in measured)
    assert {"closed-scorer"} == {w.code for w in warnings if "scorer" in w.code}
    for side in ("training text", "scorer's training text"):
        overlap = measured[side, "likelihood.scorer_overlap"]
        assert overlap.value == 0
        assert overlap.n_units > 100
    page = (out / "report.html").read_text()
    assert "How probable is it to another model?" in page
    assert "Likelihood by scorer: " in page
    assert "quality-and-novelty.svg" in {p.name for p in (out / "figures").iterdir()}


def test_models_as_people_and_training_text(command: Run, texts: Path, model: Path) -> None:
    out = texts / "out"
    prompts = texts / "prompts.txt"
    prompts.write_text("w1 w2 w3 w4\n" * 30)
    code, _, err = command(
        "run", model, "--human", model, "--train", model, "-n", 30, "--prompts", prompts,
        "--prompt-length", 2, "--max-length", 8, "--out", out, *QUICK,
    )  # fmt: skip
    assert code == 0, err
    files = sorted(p.name.split("-")[0] for p in (out / "samples").iterdir())
    assert files == ["human", "system", "train"]
    texts_of = {
        p.name.split("-")[0]: [json.loads(line) for line in p.read_text().splitlines()]
        for p in (out / "samples").iterdir()
    }
    assert {row["prompt"] for row in texts_of["system"]} == {"w1 w2"}
    assert all(row["text"].startswith(" ") or not row["text"] for row in texts_of["system"])
    # the same model under two roles draws other texts
    assert [r["text"].strip() for r in texts_of["human"]] != [
        r["text"].strip() for r in texts_of["train"]
    ]


def test_a_scorer_that_saw_the_text_is_named(command: Run, texts: Path, scorer: Path) -> None:
    out = texts / "out"
    code, _, err = command(
        "run", texts / "model.txt", "--human", texts / "human.txt", "--train", texts / "train.txt",
        "--scorer", scorer, "--scorer-train", texts / "train.txt", "--train-documents", "file",
        "--out", out, *QUICK,
    )  # fmt: skip
    assert code == 0, err
    _, measured, warnings = found(out)
    assert measured["training text", "likelihood.scorer_overlap"].value == 1
    told = [w.message for w in warnings if w.code == "scorer-overlap"]
    assert len(told) == 2
    assert "stand in the training text of the scorer" in told[1]
    code, _, err = command(
        "run", texts / "model.txt", "--human", texts / "human.txt", "--scorer", scorer, "--out",
        texts / "other", *QUICK,
    )  # fmt: skip
    assert code == 0, err
    assert "scorer-unchecked" in {w.code for w in found(texts / "other")[2]}


@pytest.mark.parametrize("plain", [False, True])
def test_prompts_are_context_of_the_scorer(
    command: Run, texts: Path, scorer: Path, plain: bool
) -> None:
    rows = [("w1 w2", "w3 w1 w1"), ("w4", "w2 w2"), ("w1", "w5 w1")] * 4
    if plain:
        system = texts / "s.txt"
        system.write_text("".join(f"{text}\n" for _, text in rows))
        prompts = texts / "p.txt"
        prompts.write_text("".join(f"{prompt}\n" for prompt, _ in rows))
        more: list[object] = ["--prompts", prompts]
    else:
        system = texts / "s.jsonl"
        lines = (json.dumps({"prompt": prompt, "text": f" {text}"}) for prompt, text in rows)
        system.write_text("\n".join(lines))
        more = []
    out = texts / "out"
    code, _, err = command("run", system, *more, "--scorer", scorer, "--out", out, *QUICK)
    assert code == 0, err
    model = load_model(scorer)
    whole = model.log_probabilities([f"{prompt} {text}" for prompt, text in rows])
    kept = [logs[len(prompt) :] for logs, (prompt, _) in zip(whole, rows, strict=True)]
    exact = -np.concatenate(kept).sum() / sum(map(len, kept))
    nll = found(out)[1]["s", "likelihood.nll_token"]
    assert nll.value == pytest.approx(exact, rel=1e-5)
    assert nll.n_tokens == sum(len(text) + 2 for _, text in rows)


def test_finished_pieces_are_not_drawn_again(tmp_path: Path, model: Path) -> None:
    draw = Draw(300, Decoding(), 9, None, 5)
    store = Store(tmp_path / "store")
    loaded = load_model(model)
    whole = draw_texts(loaded, draw)

    class StoppedError(Exception):
        pass

    def stop(done: int) -> None:
        if done > 200:
            raise StoppedError

    with pytest.raises(StoppedError):
        draw_texts(loaded, draw, store=store, key="k", progress=stop)
    first: list[int] = []
    assert draw_texts(loaded, draw, store=store, key="k", progress=first.append) == whole
    assert first[0] == 128  # the first piece was there
    assert draw_texts(loaded, Draw(40, Decoding(), 9, None, 5), key="k") == whole[:40]


def test_what_is_a_model(tmp_path: Path, model: Path) -> None:
    assert is_model(model)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "model.json").write_text("{}")
    assert not is_model(tmp_path / "texts")
    assert not is_model(tmp_path / "nothing.gguf")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--scorer-train", "x.txt"], "--scorer-train tells of --scorer, which is missing"),
        (["--scorer", "nowhere"], "nowhere: is no folder of a model"),
        (["--decoding", "best"], "decoding 'best': write ancestral, greedy"),
        (["-n", 0], "--number 0: at least 1 is needed"),
        (["--scorer", ""], "--scorer: a name is missing behind it"),
    ],
)
def test_misuse(command: Run, texts: Path, model: Path, more: list[object], message: str) -> None:
    code, _, err = command("run", f"m={model}", *more, "--out", texts / "out", *QUICK)
    assert code == 2
    assert message in err
    assert not (texts / "out" / "results.jsonl").exists()


def test_too_few_prompts(command: Run, texts: Path, model: Path) -> None:
    prompts = texts / "prompts.txt"
    prompts.write_text("w1\n")
    more = ["--prompts", prompts, "-n", 2]
    code, _, err = command("run", model, *more, "--out", texts / "out", *QUICK)
    assert code == 2
    assert "--number 2: more texts than prompts (1)" in err
    twice = ["--decoding", "greedy", "--decoding", "temperature=0"]
    code, _, err = command("run", model, *twice, "--out", texts / "out", *QUICK)
    assert code == 2
    assert "--decoding: greedy, greedy: one is named twice" in err
    code, _, err = command("run", model, f"three={model}", "--out", texts / "out", *QUICK)
    assert code == 2
    assert "two inputs are named 'three'" in err
    assert not (texts / "out").exists()
    code, _, err = command("run", "--out", texts / "out", *QUICK)
    assert code == 2
    assert "name at least one generated text" in err
