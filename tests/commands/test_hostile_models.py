"""Models, options and configurations that are wrong: exit code 2, and nothing written."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.commands.conftest import SMALL, Run, sentences
from textassay.models.decoding import Decoding
from textassay.models.loading import digest_of_model
from textassay.results import Header, read_results


@pytest.fixture
def text(tmp_path: Path) -> Path:
    place = tmp_path / "train.txt"
    place.write_text("\n".join(sentences(1, 80)) + "\n")
    return place


@pytest.fixture
def ngram(command: Run, text: Path, tmp_path: Path) -> Path:
    assert command("train", text, "--model", "ngram", "--out", tmp_path / "ngram")[0] == 0
    return tmp_path / "ngram"


@pytest.fixture
def lstm(command: Run, text: Path, tmp_path: Path) -> Path:
    assert command("train", text, "--out", tmp_path / "lstm", *SMALL)[0] == 0
    return tmp_path / "lstm"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--width", 0], "width is 0: at least 1"),
        (["--layers", -1], "layers is -1: at least 1"),
        (["--model", "transformer", "--heads", 0], "heads is 0: at least 1"),
        (["--model", "transformer", "--window", 0], "window is 0: at least 1"),
        (["--cutoffs", "50,10"], "cutoffs 50, 10: they must grow"),
        (["--cutoffs", "5000,10000"], "to below the 62 tokens of the vocabulary"),
        (["--cutoffs", "a"], "--cutoffs a: whole numbers"),
        (["--clip-norm", "nan"], "clip_norm is nan"),
        (["--clip-value", -1], "clip_value is -1.0"),
        (["--rate", 0], "rate is 0.0"),
        (["--seed", -1], "--seed -1"),
        (["--seed", 10**30], "seed is 1000000000000000000000000000000"),
        (["--vocabulary", 0], "a vocabulary of 0: at least 1"),
        (["--tokens", "bpe", "--vocabulary", 0], "a vocabulary of 0: at least 1"),
        (["--reading", "pages"], "reading 'pages': choose one of contiguous, documents"),
        (["--rate", "1e30", "--clip-norm", "1e30"], "give a smaller --rate"),
        (["--model", "ngram", "--tokens", "bpe"], "are for networks, not for n-grams"),
        (["--epochs", 0], "epochs is 0: at least 1"),
    ],
)
def test_impossible_training(
    command: Run, text: Path, tmp_path: Path, options: list[object], message: str
) -> None:
    out = tmp_path / "model"
    usual = {SMALL[k]: SMALL[k + 1] for k in range(0, len(SMALL) - 1, 2)}
    usual |= {options[k]: options[k + 1] for k in range(0, len(options), 2)}
    given = [part for pair in usual.items() for part in pair]
    code, _, err = command("train", text, "--out", out, *given, "--quiet")
    assert code == 2, err
    assert message in err
    assert not (out / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decoding", "beams=1"], "a search with one beam is greedy"),
        (["--decoding", "top_k=99999999999999999999"], "at most 2,147,483,647"),
        (["--decoding", "greedy", "temperature=0"], "one is named twice"),
        (["--seed", -1], "--seed -1"),
        (["--out", "/"], "a name is missing"),
        (["-n", 0], "-n 0: at least 1"),
    ],
)
def test_impossible_samples(
    command: Run, ngram: Path, arguments: list[object], message: str
) -> None:
    code, out, err = command("sample", ngram, *arguments)
    assert code == 2, err
    assert message in err
    assert out == ""


def test_decodings_keep_their_digits() -> None:
    one, other = Decoding.parse("temperature=0.7"), Decoding.parse("temperature=0.70000001")
    assert str(one) != str(other)
    assert Decoding.parse(str(other)) == other
    assert np.isfinite(Decoding.parse("temperature=1e-320").temperature)


def test_more_texts_than_prompts(command: Run, ngram: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("w1\n" * 150)
    out = tmp_path / "y.jsonl"
    code, _, err = command("sample", ngram, "-n", 200, "--prompts", prompts, "--out", out)
    assert code == 2
    assert "-n 200: more texts than prompts (150)" in err
    assert not list(tmp_path.glob(".y*"))


def edited(folder: Path, **changes: Any) -> None:
    described = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**described, **changes}))


def test_n_grams_that_were_tampered_with(command: Run, ngram: Path, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(ngram, tmp_path / name))

    edited(copy("order"), order=1)
    edited(copy("words"), vocabulary=["a", "b"])
    edited(copy("null"), tokenizer=None)
    counts = (copy("cut") / "counts.npz").read_bytes()
    (tmp_path / "cut" / "counts.npz").write_bytes(counts[:200])
    (copy("empty") / "counts.npz").write_bytes(b"")
    flipped = bytearray((copy("bit") / "counts.npz").read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (tmp_path / "bit" / "counts.npz").write_bytes(flipped)
    for name in ("order", "words", "null", "cut", "empty", "bit"):
        code, _, err = command("sample", tmp_path / name, "-n", 1)
        assert code == 2, (name, err)
        assert "holds no Kneser-Ney model: model.json and counts.npz were not written" in err
        assert name in err


def test_networks_that_were_tampered_with(command: Run, lstm: Path, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(lstm, tmp_path / name))

    shape = json.loads((lstm / "model.json").read_text())["shape"]
    edited(copy("width"), shape={**shape, "width": 17})
    edited(copy("dropout"), shape={**shape, "dropout": 5})
    edited(copy("words"), tokens={"kind": "words", "listed": [1, None]})
    edited(copy("pairs"), tokens={"kind": "bpe", "tokenizer": None})
    weights = load_file(lstm / "model.safetensors")
    weights["embedding.weight"][3] = np.nan
    save_file(weights, copy("nan") / "model.safetensors")
    for name in ("width", "dropout", "words", "pairs", "nan"):
        for arguments in (["sample", tmp_path / name, "-n", 1], ["score", tmp_path / name, lstm]):
            code, out, err = command(*arguments)
            assert code == 2, (name, err)
            assert f"{name}: holds no neural model: " in err
            assert out == ""


def test_another_model_is_not_written_over(
    command: Run, text: Path, ngram: Path, lstm: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "config.json").write_text("{}")
    before = digest_of_model(lstm)
    for out, more in ((foreign, SMALL), (ngram, SMALL), (lstm, ["--model", "ngram"])):
        code, _, err = command("train", text, "--out", out, *more)
        assert code == 2
        assert "choose another folder" in err
    assert digest_of_model(lstm) == before


def test_another_development_text_is_another_run(command: Run, text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("\n".join(sentences(2, 20)) + "\n")
    assert command("train", text, "--dev", text, "--out", tmp_path / "m", *SMALL)[0] == 0
    code, _, err = command("train", text, "--dev", other, "--out", tmp_path / "m", *SMALL)
    assert code == 2
    assert "holds a checkpoint of other text or settings" in err


def test_an_older_checkpoint_is_told_of(command: Run, text: Path, lstm: Path) -> None:
    described = json.loads((lstm / "checkpoint.json").read_text())
    del described["rest"]["losses"]
    (lstm / "checkpoint.json").write_text(json.dumps(described))
    code, _, err = command("train", text, "--out", lstm, *SMALL)
    assert code == 2
    assert "holds a checkpoint of another version ('losses'): delete checkpoint.json" in err


@pytest.mark.published
def test_weights_that_are_not_the_models(command: Run, published: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(published / "stories260K", tmp_path / "stories"))
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o644)
    weights = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    save_file({"other": np.ones(3, np.float32)}, folder / "model.safetensors")
    for layers in (None, 7, 2):
        if layers:
            save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
            described = {**config, "num_hidden_layers": layers}
            (folder / "config.json").write_text(json.dumps(described))
        code, _, err = command("sample", folder, "-n", 1)
        assert code == 2, err
        assert "stories: holds no causal language model that can be read" in err


def test_a_folder_with_a_description_alone_is_no_text(
    command: Run, text: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "README.txt").write_text("a model\n")
    code, _, err = command("run", f"m={folder}", "--out", tmp_path / "out", "--quiet")
    assert code == 2
    assert "bare: holds no model: neither model.json" in err


def test_networks_without_torch(
    command: Run, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    code, out, err = command("train", text, "--out", tmp_path / "lm")
    assert (code, out) == (2, "")
    assert "Neural language models needs torch: pip install 'textassay[neural]'" in err
    assert not (tmp_path / "lm").exists()


def test_a_model_that_reads_in_both_directions(command: Run, text: Path, tmp_path: Path) -> None:
    import torch
    from transformers import BertConfig, BertLMHeadModel, BertTokenizerFast

    folder = tmp_path / "masked"
    torch.manual_seed(1)
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2)
    BertLMHeadModel(config).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(65, 120))]
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(words))
    tokenizer = BertTokenizerFast(str(vocabulary), bos_token="[CLS]", eos_token="[SEP]")
    tokenizer.save_pretrained(folder)
    code, out, err = command("score", folder, text)
    assert (code, out) == (2, "")
    assert "masked: what it says of a token depends on the tokens behind it" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-n", 5], "--number, --decoding and --prompt-length are for models"),
        (["--decoding", "greedy"], "are for models, and none is among the inputs"),
        (["--sample"], "--sample: a model is missing behind it"),
        (["--sample", ""], "--sample: a model is missing behind it"),
        (["--sample", "train.txt"], "train.txt: is no folder of a model"),
    ],
)
def test_sampling_without_models(
    command: Run, text: Path, tmp_path: Path, more: list[object], message: str
) -> None:
    code, _, err = command("run", f"m={text}", *more, "--out", tmp_path / "out", "--quiet")
    assert code == 2
    assert message in err


def test_a_model_named_twice_is_told_before_it_is_sampled(
    command: Run, ngram: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, _, err = command("run", ngram, "--sample", ngram, "--out", out, "--quiet")
    assert code == 2
    assert "two inputs are named 'ngram'" in err
    assert not out.exists()


def test_options_named_as_commands_are_read_from_a_file(
    command: Run, text: Path, ngram: Path, tmp_path: Path
) -> None:
    config, out = tmp_path / "c.toml", tmp_path / "out"
    config.write_text(
        f'train = ["{text}"]\nsample = ["b={ngram}"]\nnumber = 12\nresamples = 99\n'
        'decoding = ["top_k=3"]\n'
    )
    code, _, err = command("run", f"m={text}", "--config", config, "--out", out, "--quiet")
    assert code == 0, err
    header = next(r for r in read_results(out) if isinstance(r, Header))
    assert {(e["role"], e["system"]) for e in header.inputs} == {
        ("system", "m"),
        ("system", "b"),
        ("training", None),
    }
