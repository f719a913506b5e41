"""Neural models: probabilities, decoding, training that goes on where it was stopped."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.errors import InputError, UsageError
from textassay.models.decoding import Decoding, decoded, decoded_rows
from textassay.models.networks import NETWORKS, Network, Shape
from textassay.models.neural import NeuralModel
from textassay.models.text_tokens import END, SPECIAL, ListedTokens, learn_tokens, tokens_from
from textassay.models.training import train
from textassay.models.training_options import TrainingOptions, to_tensorboard

LINES = ["a cat sat on a mat", "a dog sat", "the cat and the dog", "on the mat a dog"] * 12


def small(
    network: str, *, listed: list[str] | None = None, seed: int = 1, **more: object
) -> NeuralModel:
    torch.manual_seed(seed)
    tokens = ListedTokens("words", listed or sorted({w for line in LINES for w in line.split()}))
    shape = {"width": 16, "layers": 2, "heads": 2, "window": 8, "kernel": 3, **more}
    return NeuralModel(Network(Shape(network, tokens.size, **shape)), tokens)


histories = st.lists(st.sampled_from(["a", "cat", "sat", "never"]), max_size=40).map(" ".join)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("cutoffs", [(), (5,)])
@settings(max_examples=10 * EXAMPLES)
@given(texts=st.lists(histories, min_size=1, max_size=3), seed=st.integers(0, 99))
def test_probabilities_of_any_network_sum_to_one(
    network: str, cutoffs: tuple[int, ...], texts: list[str], seed: int
) -> None:
    model = small(network, cutoffs=cutoffs, seed=seed)
    found = model.next_probabilities(texts)
    assert (found >= 0).all()
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("cutoffs", [(), (5,)])
def test_the_next_token_is_what_a_text_is_scored_by(network: str, cutoffs: tuple[int, ...]) -> None:
    model = small(network, cutoffs=cutoffs)
    (logs,) = model.log_probabilities(["a cat"])
    steps = [model.next_probabilities([text])[0] for text in ("", "a", "a cat")]
    ids = [*model.tokens.encode(["a cat"])[0], END]
    assert np.allclose(logs, [np.log(p[i]) for p, i in zip(steps, ids, strict=True)], atol=1e-4)


@pytest.mark.parametrize("network", NETWORKS)
def test_batches_padding_and_stretches_change_nothing(
    network: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small(network)
    texts = ["a cat sat " * k for k in (1, 9, 3, 30)] + [""]
    together = model.log_probabilities(texts)
    alone = model.log_probabilities(texts, batch_size=1)
    monkeypatch.setattr("textassay.models.neural._STRETCH", 7)
    in_parts = model.log_probabilities(texts, batch_size=2)
    for one, other, third, text in zip(together, alone, in_parts, texts, strict=True):
        assert one.shape == (len(text.split()) + 1,)
        assert np.allclose(one, other, atol=1e-5)
        assert np.allclose(one, third, atol=1e-5)


@pytest.mark.parametrize("network", NETWORKS)
def test_a_prompt_is_context_alone(network: str) -> None:
    model = small(network)
    (whole,) = model.log_probabilities(["a dog sat on"])
    (rest,) = model.log_probabilities([" sat on"], prompts=["a dog"])
    assert np.allclose(whole[2:], rest, atol=1e-5)
    # a word across the boundary is the text's
    (across,) = model.log_probabilities(["og sat on"], prompts=["a d"])
    assert np.allclose(whole[1:], across, atol=1e-5)


rows = st.lists(st.floats(0.01, 1), min_size=2, max_size=9).map(lambda x: np.array(x) / sum(x))


@settings(max_examples=60 * EXAMPLES)
@given(rows, st.integers(1, 12), st.floats(0.05, 1), st.floats(0.05, 1), st.floats(0.3, 3))
def test_decodings_by_hand(
    p: np.ndarray, top_k: int, top_p: float, typical: float, temperature: float
) -> None:
    order = sorted(range(p.size), key=lambda i: (-p[i], i))
    assert np.count_nonzero(decoded(p, Decoding(top_k=top_k))) == min(top_k, p.size)
    if top_k >= p.size:
        assert np.array_equal(decoded(p, Decoding(top_k=top_k)), p)
    kept, total = [], 0.0
    for i in order:
        if total >= top_p:
            break
        kept.append(i)
        total += p[i]
    found = decoded(p, Decoding(top_p=top_p))
    assert np.allclose(found[kept], p[kept] / p[kept].sum())
    assert np.isclose(found.sum(), 1)
    entropy = -(p * np.log(p)).sum()
    found = decoded(p, Decoding(typical=typical))
    away = np.abs(-np.log(p) - entropy)
    assert away[found > 0].max() <= away[found == 0].min(initial=np.inf) + 1e-9
    warm = decoded(p, Decoding(temperature=temperature))
    assert np.allclose(warm, p ** (1 / temperature) / (p ** (1 / temperature)).sum())


def test_a_decoding_reads_back() -> None:
    for text in ("greedy", "ancestral", "beams=4", "temperature=0.7,top_k=3,top_p=0.9,typical=0.5"):
        assert str(Decoding.parse(text)) == text
    with pytest.raises(UsageError, match="beam search draws nothing"):
        Decoding.parse("beams=4,top_k=2")
    with pytest.raises(UsageError, match="draws from no distribution"):
        decoded_rows(np.ones((1, 2)), Decoding(beams=2))


@pytest.mark.parametrize("network", NETWORKS)
def test_draws_follow_the_distribution_whatever_is_beside_them(network: str) -> None:
    model = small(network, listed=["a", "b"])
    texts = model.sample(400, rng=1, max_length=1)
    p = model.next_probabilities([""])[0]
    p[[0, 2]] = 0
    p /= p.sum()
    shares = [texts.count(t) / 400 for t in ("", "a", "b")]
    assert np.allclose(shares, [p[END], p[SPECIAL], p[SPECIAL + 1]], atol=0.08)
    few = model.sample(3, rng=1, max_length=9, prompts=["a", "b b", "a b"])
    assert few == model.sample(3, rng=1, max_length=9, prompts=["a", "b b", "a b"])
    wide = Decoding(top_k=99, top_p=1.0)
    assert model.sample(20, wide, rng=2, max_length=9) == model.sample(20, rng=2, max_length=9)


@pytest.mark.parametrize("network", NETWORKS)
def test_greedy_and_beam_against_all_texts(network: str) -> None:
    model = small(network, listed=["a", "b"], seed=3)
    longest = 4
    texts = ["".join(t) for n in range(longest + 1) for t in product("ab", repeat=n)]

    def score(text: str) -> float:
        """As decoding scores it: without begin and unknown, no end at the greatest length."""
        total, spaced = 0.0, " ".join(text)
        ids = [*model.tokens.encode([spaced])[0], *([END] if len(text) < longest else [])]
        for k, i in enumerate(ids):
            p = model.next_probabilities([" ".join(text[:k])])[0].copy()
            p[[0, 2]] = 0
            total += np.log(p[i] / p.sum())
        return total

    best = max(texts, key=score)
    (found,) = model.sample(1, Decoding(beams=len(texts)), max_length=longest)
    assert found.replace(" ", "") == best
    (greedy,) = model.sample(1, Decoding(temperature=0), max_length=longest)
    history: list[str] = []
    for _ in range(longest):
        p = model.next_probabilities([" ".join(history)])[0]
        p[[0, 2]] = 0
        if p.argmax() == END:
            break
        history.append("ab"[p.argmax() - SPECIAL])
    assert greedy == " ".join(history)


def test_saved_models_are_the_same(tmp_path: Path) -> None:
    model = small("transformer", memory=True)
    model.save(tmp_path)
    again = NeuralModel.load(tmp_path)
    assert np.array_equal(
        model.log_probabilities(LINES[:1])[0], again.log_probabilities(LINES[:1])[0]
    )
    described = json.loads((tmp_path / "model.json").read_text())
    described["tokens"]["listed"].pop()
    (tmp_path / "model.json").write_text(json.dumps(described))
    with pytest.raises(InputError, match="the vocabulary holds 10 tokens, the network 11"):
        NeuralModel.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 20)
    with pytest.raises(InputError, match="holds no neural model"):
        NeuralModel.load(tmp_path)
    with pytest.raises(InputError, match="holds no neural model"):
        NeuralModel.load(tmp_path / "nowhere")


@pytest.mark.parametrize("kind", ["words", "characters", "bpe"])
def test_tokens_come_back(kind: str) -> None:
    tokens = tokens_from(learn_tokens(kind, LINES, 300 if kind == "bpe" else None).described())
    assert [tokens.decode(ids) for ids in tokens.encode(LINES[:4])] == LINES[:4]
    assert max(max(ids) for ids in tokens.encode(LINES)) < tokens.size
    strange = "é ☃"
    assert (tokens.decode(tokens.encode([strange])[0]) == strange) == (kind == "bpe")
    assert tokens.closed == (kind != "bpe")
    with pytest.raises(UsageError, match="holds nothing"):
        learn_tokens(kind, ["", " "], None)


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("network", NETWORKS)
def test_a_stopped_run_ends_with_the_same_bits(network: str, tmp_path: Path) -> None:
    tokens = learn_tokens("words", LINES, None)
    shape = Shape(network, tokens.size, width=16, heads=2, window=8, kernel=3, memory=True)
    options = TrainingOptions(epochs=3, batch=4, stretch=6, checkpoint_every=5, log_every=4)
    folders = [tmp_path / name for name in ("whole", "stopped")]
    for folder in folders:
        folder.mkdir()
    train(LINES, tokens, shape, options, folder=folders[0], development=LINES[:9])
    count = 0

    def stop(line: dict[str, float]) -> None:
        nonlocal count
        count += 1
        if count in (1, 3):
            raise StoppedError

    for _ in range(2):
        with pytest.raises(StoppedError):
            train(
                LINES, tokens, shape, options, folder=folders[1], development=LINES[:9], logger=stop
            )
    train(LINES, tokens, shape, options, folder=folders[1], development=LINES[:9])
    weights = [(folder / "model.safetensors").read_bytes() for folder in folders]
    assert weights[0] == weights[1]
    metrics = [(folder / "metrics.jsonl").read_text() for folder in folders]
    assert metrics[0] == metrics[1]
    lines = [json.loads(line) for line in metrics[0].splitlines()]
    epochs = [line for line in lines if "development" in line]
    assert [line["epoch"] for line in epochs] == [1, 2, 3]
    assert epochs[-1]["loss"] < epochs[0]["loss"]
    between = [line["step"] for line in lines if "development" not in line]
    assert between == list(range(4, epochs[-1]["step"] + 1, 4))
    other = TrainingOptions(epochs=4, batch=4, stretch=6)
    with pytest.raises(InputError, match="checkpoint of other text or settings"):
        train(LINES, tokens, shape, other, folder=folders[1])


def test_a_summary_writer_can_be_passed_in(tmp_path: Path) -> None:
    class Writer:
        told: list[tuple[str, float, int]] = []

        def add_scalar(self, name: str, value: float, step: int) -> None:
            self.told.append((name, value, step))

    tokens = learn_tokens("words", LINES, None)
    options = TrainingOptions(epochs=1, batch=4, stretch=6)
    shape = Shape("lstm", tokens.size, width=8)
    train(LINES, tokens, shape, options, folder=tmp_path, logger=to_tensorboard(Writer()))
    assert {name for name, _, _ in Writer.told} == {"loss", "rate"}
    assert Writer.told[-1][2] > 0


def test_too_little_text_is_named(tmp_path: Path) -> None:
    tokens = learn_tokens("words", LINES, None)
    shape = Shape("lstm", tokens.size)
    with pytest.raises(UsageError, match="holds 4 tokens, too few for 20 rows"):
        train(["a cat"], tokens, shape, TrainingOptions(), folder=tmp_path)
    with pytest.raises(UsageError, match="optimiser 'none': choose one of adamw, sgd"):
        TrainingOptions(optimiser="none")


def test_a_window_beyond_what_was_seen_is_refused(tmp_path: Path) -> None:
    tokens = learn_tokens("words", LINES, None)
    shape = Shape("transformer", tokens.size, width=16, heads=2, window=8)
    options = TrainingOptions(epochs=1, batch=4, stretch=6)
    with pytest.raises(UsageError, match="a window of 8 needs --stretch 8, or --memory"):
        train(LINES, tokens, shape, options, folder=tmp_path)
    remembers = Shape("transformer", tokens.size, width=16, heads=2, window=8, memory=True)
    train(LINES, tokens, remembers, options, folder=tmp_path)


def test_training_stops_after_as_many_epochs_as_it_has_patience(tmp_path: Path) -> None:
    tokens = learn_tokens("words", LINES, None)
    shape = Shape("lstm", tokens.size, width=8)
    options = TrainingOptions(epochs=9, batch=4, stretch=6, rate=1e-12, patience=2)
    train(LINES, tokens, shape, options, folder=tmp_path, development=LINES[:5])
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines][-1] == 3  # the first is the best


@pytest.mark.parametrize("network", NETWORKS)
def test_mixed_precision_learns_as_well(network: str, tmp_path: Path) -> None:
    """On a processor here: the same code runs where a GPU is."""
    tokens = learn_tokens("words", LINES, None)
    shape = Shape(network, tokens.size, width=16, heads=2, window=6, kernel=3, dropout=0.0)
    losses = []
    for mixed in (False, True):
        options = TrainingOptions(
            epochs=4, batch=4, stretch=6, warmup=1, rate=0.01, mixed_precision=mixed
        )
        folder = tmp_path / str(mixed)
        folder.mkdir()
        model = train(LINES, tokens, shape, options, folder=folder)
        weights = model.network.state_dict().values()
        assert all(part.dtype == torch.float32 for part in weights)
        losses.append(-np.concatenate(model.log_probabilities(LINES)).mean())
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert losses[0] != losses[1]
