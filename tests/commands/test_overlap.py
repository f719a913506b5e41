"""The command `overlap`, and its part in `run`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commands.conftest import Run, sentences
from textassay.overlap import bleu, distinct, self_bleu
from textassay.results import parse_signature

Records = list[dict[str, Any]]
QUICK = ["--resamples", 199, "--jobs", 2]


def parsed(out: str) -> Records:
    return [json.loads(line) for line in out.splitlines()]


def measured(records: Records, measure: str, system: str = "model") -> dict[str, Any]:
    (found,) = [
        r
        for r in records
        if r["kind"] == "measurement" and r["measure"] == measure and r["system"] == system
    ]
    return found


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_values_are_those_of_the_library(command: Run, texts: Path) -> None:
    model, human, train = (texts / f"{name}.txt" for name in ("model", "human", "train"))
    code, out, err = command(
        "overlap", model, "--human", human, "--train", train, "--protocol", "published", *QUICK,
        "--json",
    )  # fmt: skip
    assert code == 0, err
    records = parsed(out)
    mine, theirs, training = lines_of(model), lines_of(human), lines_of(train)
    expected = bleu(mine, theirs, 5)
    own = self_bleu(mine, 5)
    against = bleu(mine, training, 5)
    for n in (2, 3, 4, 5):
        found = measured(records, f"overlap.bleu{n}")
        assert np.isclose(found["value"], expected.scores[n - 1])
        assert parse_signature(found["signature"])["refs"] == "200"
        assert parse_signature(found["signature"])["protocol"] == "published"
        assert np.isclose(
            measured(records, f"overlap.corpus_bleu{n}")["value"], expected.corpus[n - 1]
        )
        assert np.isclose(measured(records, f"overlap.self_bleu{n}")["value"], own.scores[n - 1])
        assert np.isclose(
            measured(records, f"overlap.train_bleu{n}")["value"], against.scores[n - 1]
        )
        assert found["verdict"] is None
    for n in (1, 2, 3, 4):
        assert np.isclose(measured(records, f"overlap.distinct{n}")["value"], distinct(mine, n))
    human_bleu = self_bleu(theirs, 4).score
    assert np.isclose(measured(records, "overlap.self_bleu4", "human")["value"], human_bleu)


def test_older_tables_took_the_first_documents(command: Run, texts: Path) -> None:
    model, human = texts / "model.txt", texts / "human.txt"
    arguments = [
        model,
        "--human",
        human,
        "--protocol",
        "published",
        "--sample-documents",
        50,
        *QUICK,
    ]
    code, out, err = command("overlap", *arguments, "--json")
    assert code == 0, err
    records = parsed(out)
    found = measured(records, "overlap.bleu3")
    assert np.isclose(found["value"], bleu(lines_of(model), lines_of(human)[:50], 3).score)
    assert parse_signature(found["signature"])["first"] == "50"
    own = measured(records, "overlap.self_bleu3")
    assert np.isclose(own["value"], self_bleu(lines_of(model)[:50], 3).score)


def test_verdicts_at_equal_sizes(command: Run, texts: Path) -> None:
    twin = texts / "twin.txt"
    twin.write_text("\n".join(sentences(7, 200)) + "\n")
    collapsed = texts / "collapsed.txt"
    collapsed.write_text("\n".join(sentences(8, 10) * 20) + "\n")
    code, out, err = command(
        "overlap", f"collapsed={collapsed}", f"twin={twin}", "--human", texts / "human.txt",
        *QUICK, "--json",
    )  # fmt: skip
    assert code == 0, err
    records = parsed(out)
    for measure in ("self_bleu4", "distinct2", "distinct_documents"):
        found = measured(records, f"overlap.{measure}", "collapsed")
        assert found["verdict"] == "differs"
        assert found["size"] == 100
        assert found["p_value"] <= 0.02
        assert found["distance_low"] <= found["distance"] <= found["distance_high"]
        like = measured(records, f"overlap.{measure}", "twin")
        assert like["verdict"] != "differs"
    assert measured(records, "overlap.self_bleu4", "twin")["family"] == "primary, Holm"
    assert measured(records, "overlap.bleu4", "twin")["verdict"] != "differs"
    people = measured(records, "overlap.bleu4", "human")
    assert measured(records, "overlap.bleu4", "twin")["human"] == people["value"]
    # the most frequent documents are listed with their counts
    examples = [r for r in records if r["kind"] == "example" and r["system"] == "collapsed"]
    assert len(examples) == 10
    assert all(r["count"] == 20 for r in examples)


def test_the_same_for_any_number_of_workers_and_other_systems(command: Run, texts: Path) -> None:
    model, human = texts / "model.txt", texts / "human.txt"
    runs = []
    for more, jobs in (([], 1), ([f"other={texts / 'train.txt'}"], 3)):
        code, out, _ = command(
            "overlap", f"model={model}", *more, "--human", human, "--resamples", 499, "--jobs",
            jobs, "--json",
        )  # fmt: skip
        assert code == 0
        kept = [r for r in parsed(out) if r.get("system") == "model"]
        for record in kept:
            record.pop("p_adjusted", None)
            if record.get("measure") in ("overlap.compression_ratio", "overlap.embsim"):
                record.clear()  # of one size for all sides
        runs.append(kept)
    assert runs[0] == runs[1]


def test_without_human_text_there_are_values(command: Run, texts: Path) -> None:
    code, out, err = command("overlap", texts / "model.txt", *QUICK, "--json")
    assert code == 0, err
    records = parsed(out)
    found = measured(records, "overlap.self_bleu4")
    assert np.isclose(found["value"], self_bleu(lines_of(texts / "model.txt"), 4).score)
    assert found["verdict"] is None
    assert found["value_low"] < found["value"] < found["value_high"]
    assert not [r for r in records if r.get("measure") == "overlap.bleu4"]
    code, out, err = command("overlap", texts / "model.txt", *QUICK)
    assert code == 0, err
    assert "Quality and variety" in out


def with_prompts(path: Path, samples: dict[str, list[str]], **more: object) -> Path:
    rows = [
        {"prompt": prompt, "text": text, **more}
        for prompt, texts in samples.items()
        for text in texts
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_samples_of_one_prompt(command: Run, tmp_path: Path) -> None:
    numbers = range(30)
    varied = {f"p{k}": sentences(100 + k, 4) for k in numbers}
    same = {f"p{k}": sentences(200 + k, 1) * 4 for k in numbers}
    human = {f"p{k}": sentences(300 + k, 4) for k in numbers}
    files = [
        with_prompts(tmp_path / f"{name}.jsonl", samples)
        for name, samples in (("varied", varied), ("same", same), ("human", human))
    ]
    code, out, err = command("overlap", *files[:2], "--human", files[2], *QUICK, "--json")
    assert code == 0, err
    records = parsed(out)
    for measure in ("prompt_bleu4", "prompt_distinct2", "prompt_distinct_documents"):
        assert measured(records, f"overlap.{measure}", "same")["verdict"] == "differs"
        found = measured(records, f"overlap.{measure}", "varied")
        assert found["verdict"] != "differs"
        assert found["resampling_unit"] == "prompt"
        assert found["n_units"] == 30
    assert measured(records, "overlap.prompt_bleu4", "same")["value"] == 1
    assert measured(records, "overlap.prompt_distinct_documents", "same")["value"] == 0
    # no equal pair on either side says little of how often there is one
    unseen = measured(records, "overlap.prompt_distinct_documents", "varied")
    assert (unseen["verdict"], unseen["warnings"]) == ("undecided", ["few-events"])
    assert unseen["detectable"] > unseen["reference"] > 0
    # prompts that references answer are left out on the other side
    assert measured(records, "overlap.bleu4", "varied")["n_documents"] == 60


def test_references_of_each_document(command: Run, tmp_path: Path) -> None:
    texts, references = sentences(1, 40), sentences(2, 40)
    rows = [
        {"text": text, "references": [reference, text if k % 2 else "other words here"]}
        for k, (text, reference) in enumerate(zip(texts, references, strict=True))
    ]
    place = tmp_path / "model.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["overlap", place, "--references", "document", *QUICK, "--json"]
    code, out, err = command(*arguments)
    assert code == 0, err
    found = measured(parsed(out), "overlap.bleu2")
    assert found["value"] >= 0.5
    assert parse_signature(found["signature"])["refs"] == "own"
    del rows[3]["references"]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = command(*arguments)
    assert code == 2
    assert "model: 1 of 40 documents have no 'references'" in err


def test_references_are_read_as_texts_are(command: Run, tmp_path: Path) -> None:
    place = tmp_path / "model.jsonl"
    text = "one\ntwo \0 three four"
    place.write_text(json.dumps({"text": text, "references": [text]}) + "\n")
    arguments = ["overlap", place, "--references", "document", "--newlines", "<nl>", *QUICK]
    code, out, err = command(*arguments, "--json")
    assert code == 0, err
    assert measured(parsed(out), "overlap.bleu5")["value"] == 1
    for wrong, message in (
        ("[3]", "must be a list"),
        ("0", "must be a list"),
        ('"\\ud800"', "line 1"),
    ):
        place.write_text(f'{{"text": "a b", "references": {wrong}}}\n')
        code, _, err = command(*arguments)
        assert code == 2
        assert message in err


def test_text_without_words_on_some_sides(command: Run, tmp_path: Path) -> None:
    model, human = tmp_path / "model.txt", tmp_path / "human.jsonl"
    model.write_text("\n".join(sentences(1, 40)) + "\n")
    for full in range(2):
        rows = [json.dumps({"text": "a b c d" if k == full else ""}) for k in range(2)]
        human.write_text("\n".join(rows) + "\n")
        for seed in range(3):
            code, out, err = command(
                "overlap", model, "--human", human, "--seed", seed, *QUICK, "--json"
            )
            assert code == 0, err
            for r in parsed(out):
                if r["kind"] == "measurement" and r["value"] is None:
                    assert r["value_low"] is None


def test_numbers_stay_in_their_range(command: Run, tmp_path: Path) -> None:
    model, human = tmp_path / "model.txt", tmp_path / "human.txt"
    model.write_text("\n".join(sentences(1, 50)) + "\n")
    human.write_text("\n".join([*sentences(2, 40), *["a b c d e f"] * 8, "x " * 300]) + "\n")
    code, out, err = command("overlap", model, "--human", human, *QUICK, "--json")
    assert code == 0, err
    for r in parsed(out):
        if r["kind"] == "measurement" and r["value_low"] is not None:
            assert r["value_low"] <= r["value"] <= r["value_high"]
            if "compression" not in r["measure"] and "embsim" not in r["measure"]:
                assert r["value_low"] >= 0, r["measure"]
                assert r["value_high"] <= 1, r["measure"]


def test_names_that_are_taken(command: Run, texts: Path) -> None:
    code, _, err = command("overlap", f"training text={texts / 'model.txt'}")
    assert code == 2
    assert "a system cannot be named 'training text'" in err


def test_vectors_that_somebody_else_made(command: Run, texts: Path) -> None:
    rng = np.random.default_rng(1)
    np.save(texts / "model.npy", rng.normal(size=(200, 8)) + 1)
    np.save(texts / "human.npy", rng.normal(size=(200, 8)))
    model, human = texts / "model.txt", texts / "human.txt"
    named = [f"model={texts / 'model.npy'}", f"human={texts / 'human.npy'}"]
    start = ["overlap", model, "--human", human, *QUICK, "--json", "--embeddings"]
    code, out, err = command(*start, *named)
    assert code == 0, err
    records = parsed(out)
    assert measured(records, "overlap.similarity")["verdict"] == "differs"
    assert measured(records, "overlap.frechet")["verdict"] == "differs"
    assert "overlap.mauve" not in {r.get("measure") for r in records}
    (warning,) = [r for r in records if r.get("code") == "mauve-left-out"]
    assert "--mauve-documents 100 asks for it" in warning["message"]
    code, out, err = command(*start, *named, "--mauve-documents", 100)
    assert code == 0, err
    found = measured(parsed(out), "overlap.mauve")
    assert found["value_low"] <= found["value"] <= found["value_high"] <= 1
    assert found["value"] < found["human"]
    for given, message in (
        ([named[0]], "no file for human"),
        ([*named, f"x={texts / 'human.npy'}"], "no text x"),
        ([texts / "model.npy"], "is no model directory"),
        ([texts], "holds no config.json"),
        ([f"model={texts / 'none.npy'}", named[1]], "none.npy: does not exist"),
    ):
        code, _, err = command(*start, *given)
        assert code == 2
        assert message in err
    np.save(texts / "model.npy", rng.normal(size=(199, 8)))
    code, _, err = command(*start, *named)
    assert code == 2
    assert "holds 199 vectors, but model has 200 documents" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--smoothing", 5], "--smoothing 5: at least 0, at most 4"),
        (["--sample-documents", 50], "add --protocol published"),
        (["--references", "none"], "--references none: choose one of human, document"),
        (["--mauve-documents", 3], "--mauve-documents 3: at least 20"),
        (["--embeddings"], "--embeddings"),
        (["--margin", "0.1"], "measures have unlike units"),
        (["--ngrams", "1-3"], "--ngrams"),
    ],
)
def test_misuse_is_named(command: Run, texts: Path, options: list[Any], message: str) -> None:
    code, _, err = command("overlap", texts / "model.txt", "--human", texts / "human.txt", *options)
    assert code == 2
    assert message in err


@pytest.mark.parametrize("documents", [["one line"], ["", "a b"], ["a"], ["a b c d e f"] * 3])
def test_few_documents_have_answers(command: Run, tmp_path: Path, documents: list[str]) -> None:
    model, human = tmp_path / "model.txt", tmp_path / "human.txt"
    model.write_text("\n".join(documents) + "\n")
    human.write_text("\n".join(documents[::-1]) + "\n")
    code, out, err = command("overlap", model, "--human", human, *QUICK, "--json")
    assert code == 0, err
    for record in parsed(out):
        if record["kind"] == "measurement" and record["n_units"] < 4:
            assert record["verdict"] is None
    code, out, err = command("overlap", model, "--human", human, *QUICK)
    assert code == 0, err


def test_run_holds_all_families(command: Run, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "assay"
    code, table, err = command(
        "run", f"model={texts / 'model.txt'}", "--human", texts / "human.txt", "--train",
        texts / "train.txt", "--out", out, *QUICK,
    )  # fmt: skip
    assert code == 0, err
    assert "Quality and variety" in table
    page = (out / "report.html").read_text()
    assert "Is it good and varied?" in page
    assert re.search("Variety: model (is|may be) ", page)
    for name in ("quality-and-variety", "overlap-by-size"):
        assert (out / "figures" / f"{name}.svg").exists()
    points = (out / "figures" / "quality-and-variety.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in points] == ["system", "model", "human"]
