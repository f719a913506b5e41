"""The commands train, sample and score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands.conftest import SMALL, Run, sentences


@pytest.fixture
def text(tmp_path: Path) -> Path:
    place = tmp_path / "train.txt"
    place.write_text("\n".join(sentences(1, 60)) + "\n")
    return place


@pytest.mark.parametrize("kind", ["ngram", "lstm", "cnn", "transformer"])
def test_train_sample_score(command: Run, text: Path, tmp_path: Path, kind: str) -> None:
    model = tmp_path / "model"
    more = [] if kind == "ngram" else [*SMALL, "--dev", text]
    code, _, err = command("train", text, "--out", model, "--model", kind, *more)
    assert code == 0, err
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("w1 w2 w3\nw2 w2\n")
    code, out, err = command(
        "sample", model, "-n", 2, "--prompts", prompts, "--prompt-length", 1, "--decoding",
        "top_k=5", "--max-length", 9,
    )  # fmt: skip
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["prompt"] for row in rows] == ["w1", "w2"]
    assert {row["decoding"] for row in rows} == {"top_k=5"}
    assert all(len(row["text"].split()) <= 9 for row in rows)
    code, out, err = command("score", model, text, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["documents"] == 60
    assert np.isclose(found["perplexity"], np.exp(found["nll_token"]))
    assert np.isclose(found["nll_document"] * 60, found["nll_token"] * found["tokens"])
    assert found["closed"] == (found["bits_per_byte"] is None)
    code, out, err = command("score", model, text)
    assert code == 0, err
    assert "nats a token" in out


def test_each_decoding_has_a_file(command: Run, text: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "model", tmp_path / "samples"
    assert command("train", text, "--out", model, "--model", "lstm", *SMALL)[0] == 0
    code, _, err = command(
        "sample", model, "-n", 4, "--decoding", "greedy", "--decoding", "typical=0.5", "--decoding",
        "beams=2", "--max-length", 5, "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert sorted(p.name for p in out.iterdir()) == [
        "beams=2.jsonl",
        "greedy.jsonl",
        "typical=0.5.jsonl",
    ]
    again = tmp_path / "again"
    code, _, err = command("train", text, "--out", again, "--model", "lstm", *SMALL)
    assert (again / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "TEXT", "--out", "OUT", "--model", "rnn"], "network 'rnn': choose one of lstm"),
        (["train", "TEXT", "--out", "OUT", "--tokens", "x"], "tokens 'x': choose one of words"),
        (["train", "TEXT", "--out", "OUT", "--cutoffs", "x"], "--cutoffs x: whole numbers"),
        (["train", "TEXT", "--out", "OUT", "--batch", 4000], "too few for 4000 rows"),
        (["train", "TEXT", "--out", "OUT", "--dropout", 1], "dropout 1.0"),
        (["train", "EMPTY", "--out", "OUT"], "empty.txt: holds no"),
        (["train", "NOWHERE", "--out", "OUT"], "nowhere"),
        (["sample", "NOWHERE"], "nowhere: is no folder of a model"),
        (["score", "FOLDER", "TEXT"], "holds no model: neither model.json"),
        (["sample", "FOLDER", "--decoding", "beams=3,top_k=2"], "beam search draws nothing"),
        (["sample", "FOLDER", "-n", 0], "-n 0: at least 1"),
    ],
)
def test_misuse_is_named(
    command: Run, text: Path, tmp_path: Path, arguments: list[object], message: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "folder").mkdir()
    places = {
        "TEXT": text,
        "OUT": tmp_path / "out",
        "EMPTY": tmp_path / "empty.txt",
        "NOWHERE": tmp_path / "nowhere",
        "FOLDER": tmp_path / "folder",
    }
    code, _, err = command(*(places.get(str(a), a) for a in arguments))
    assert code == 2
    assert message in err
    assert not (tmp_path / "out").exists()


@pytest.mark.published
def test_a_pretrained_model(command: Run, published: Path, tmp_path: Path) -> None:
    model = published / "stories260K"
    text = tmp_path / "text.txt"
    text.write_text("Once upon a time there was a little girl.\nThe cat sat on the mat.\n")
    code, out, err = command("score", model, text, "--json")
    assert code == 0, err
    story = json.loads(out)
    assert story["bits_per_character"] < 2.5
    text.write_text("time a upon there Once girl was little a.\nmat the on cat sat The.\n")
    assert json.loads(command("score", model, text, "--json")[1])["nll_token"] > story["nll_token"]
    code, out, err = command("sample", model, "-n", 1, "--max-length", 20, "--decoding", "greedy")
    assert code == 0, err
    assert json.loads(out)["text"].startswith("Once upon a time")


@pytest.mark.published
def test_strides_change_no_short_text(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from textassay.models.pretrained import PretrainedModel

    model = PretrainedModel(published / "stories260K")
    texts = ["Lily went to the park. " * k for k in (1, 20, 60)]
    whole = model.log_probabilities(texts)
    assert [len(row) > model.window for row in whole] == [False, False, True]
    model.window = 400
    for one, other in zip(whole[:2], model.log_probabilities(texts[:2], batch_size=1), strict=True):
        assert np.allclose(one, other, atol=1e-4)
    # every token is scored once, with at least a third of the window before it or all there is
    for size in (5, 400, 401, 1000, 3333):
        for first in (1, 3, 390):
            for model.context, model.scored in ((512, 1024), (10, 20)):
                if first >= size:
                    continue
                stretches = model._stretches(size, first)
                assert [b for _, b, _ in stretches] == [first, *(e for _, _, e in stretches[:-1])]
                assert stretches[-1][2] == size
                least = min(model.context, 133)
                assert all(e - b <= 400 and (b == 0 or s - b >= least) for b, s, e in stretches)
    prompts = ["Once upon a time"]
    (joined,) = model.log_probabilities(["Once upon a time there was a dog."])
    (rest,) = model.log_probabilities([" there was a dog."], prompts=prompts)
    assert np.allclose(joined[-rest.size :], rest, atol=1e-4)


def test_prompts_are_context_of_a_score(command: Run, text: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    more = ["--tokens", "characters", *SMALL]
    assert command("train", text, "--out", model, "--model", "lstm", *more)[0] == 0
    rows = [("w1 w2", "w3 w1"), ("", "w2 w2 w1"), ("w5", "w1")]
    whole, parts, plain, prompts = (tmp_path / n for n in ("w.txt", "r.jsonl", "p.txt", "q.txt"))
    whole.write_text("".join(f"{prompt} {text}".strip() + "\n" for prompt, text in rows))
    parts.write_text(
        "".join(
            json.dumps({"prompt": prompt, "text": f" {text}" if prompt else text}) + "\n"
            for prompt, text in rows
        )
    )
    plain.write_text("".join(f"{text}\n" for _, text in rows))
    prompts.write_text("".join(f"{prompt}\n" for prompt, _ in rows))
    each = tmp_path / "each.jsonl"
    code, out, err = command("score", model, parts, "--json", "--per-document", each)
    assert code == 0, err
    found = json.loads(out)
    assert json.loads(command("score", model, plain, "--prompts", prompts, "--json")[1])[
        "nll_token"
    ] == pytest.approx(found["nll_token"])
    # the space between prompt and text is the text's
    assert found["tokens"] == sum(len(text) + 1 + bool(prompt) for prompt, text in rows)
    listed = [json.loads(line) for line in each.read_text().splitlines()]
    assert [row["tokens"] for row in listed] == [
        len(text) + 1 + bool(prompt) for prompt, text in rows
    ]
    assert sum(row["nll"] for row in listed) == pytest.approx(found["nll_token"] * found["tokens"])
    all_of_it = json.loads(command("score", model, whole, "--json")[1])
    assert all_of_it["tokens"] > found["tokens"]
    assert listed[1]["nll"] < all_of_it["nll_token"] * all_of_it["tokens"]
