"""EmbSim, vectors, Frechet distance, similarity, MAUVE: against definitions written out."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

from textassay.errors import InputError, UsageError
from textassay.overlap import (
    ModelEmbedder,
    embsim,
    frechet_distance,
    mauve,
    mean_similarity,
    read_vectors,
)
from textassay.overlap.embedding_statistics import (
    FrechetStatistics,
    SimilarityStatistics,
    divergence_area,
)
from textassay.overlap.embsim import mean_cosine, shared_words, word_vectors
from textassay.overlap.sentences import as_sentences, vocabulary_of


def captions(seed: int, count: int = 120) -> list[str]:
    rng = np.random.default_rng(seed)
    animals, places = ["cat", "dog", "cow", "bird"], ["mat", "road", "roof"]
    return [f"a {rng.choice(animals)} sat on the {rng.choice(places)}" for _ in range(count)]


def test_embsim_is_the_mean_over_large_matrices() -> None:
    vocabulary = vocabulary_of()
    mine = as_sentences(captions(1), vocabulary, "words", "texts")
    theirs = as_sentences(captions(2), vocabulary, "words", "references")
    words = shared_words(mine, theirs)
    vectors = [word_vectors(part, 0) for part in (mine, theirs)]
    tables = []
    for found in vectors:
        rows = np.stack([found[w] for w in words.tolist()]).astype(float)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        tables.append(rows @ rows.T)
    expected = np.mean(
        [
            one @ other / math.sqrt((one @ one) * (other @ other))
            for one, other in zip(*tables, strict=True)
        ]
    )
    assert np.isclose(mean_cosine(*vectors, words), expected)
    score = embsim(captions(1), captions(2), seeds=1)
    assert np.isclose(score.score, math.log(expected))
    assert score.words == words.size == len({w for c in captions(1) for w in c.split()})
    in_tens = embsim(captions(1), captions(2), seeds=1, base=10)
    assert np.isclose(in_tens.score, math.log10(expected))


def test_embsim_of_equal_texts_is_nought_and_unlike_ones_are_below() -> None:
    assert embsim(captions(1), captions(1), seeds=2).score == 0
    shuffled = [" ".join(reversed(c.split())) for c in captions(3)]
    found = embsim(shuffled, captions(1), most_frequent=5)
    assert found.words == 5
    assert found.by_seed.shape == (5,)
    assert found.score < 0


def test_embsim_knows_no_direction() -> None:
    # it did while gensim took the ids of words for places in its list
    one, other = captions(1), captions(2)
    scores = [embsim(*pair, seeds=1).score for pair in ((one, other), (other, one))]
    assert np.isclose(*scores, atol=1e-9)


def test_noise_words_are_drawn_by_their_frequency() -> None:
    from gensim.models import Word2Vec

    sentences = as_sentences(captions(1), vocabulary_of(), "words", "texts")
    made: list[Word2Vec] = []

    class Kept(Word2Vec):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gensim.models.Word2Vec", Kept)
        word_vectors(sentences, 0)
    (model,) = made
    shares = np.diff(np.concatenate([[0], model.cum_table.astype(float)]))
    counts = np.bincount(sentences.tokens)[[int(word) for word in model.wv.index_to_key]]
    expected = counts**0.75 / (counts**0.75).sum()
    assert np.allclose(shares / shares.sum(), expected, atol=1e-3)


def test_embsim_is_the_same_in_every_process() -> None:
    code = (
        "from tests.overlap.test_embeddings import captions\n"
        "from textassay.overlap import embsim\n"
        "print(repr(embsim(captions(1), captions(2), seeds=2).score))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a b"], ["c d"]), "share 0 words"),
        ((["a b"], ["a b"], {"seeds": 0}), "seeds is 0"),
        ((["a b"], ["a b"], {"base": 1.0}), "base is 1.0"),
    ],
)
def test_embsim_says_what_is_wrong(
    arguments: tuple[list[str], list[str], dict[str, float]], message: str
) -> None:
    texts, references, *more = arguments
    with pytest.raises(UsageError, match=message):
        embsim(texts, references, **(more[0] if more else {}))


def test_frechet_distance_is_that_of_the_matrix_root() -> None:
    rng = np.random.default_rng(1)
    one = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    other = rng.normal(size=(50, 6)) + 0.5
    means = one.mean(axis=0) - other.mean(axis=0)
    c1, c2 = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    root = scipy.linalg.sqrtm(c1 @ c2).real
    expected = means @ means + np.trace(c1 + c2 - 2 * root)
    assert np.isclose(frechet_distance(one, other), expected)
    rows = np.zeros((2, 110), np.int32)
    rows[0, :60] = 1
    rows[1, 60:] = 1
    both = np.concatenate([one, other])
    found = FrechetStatistics(both).compare(rows[:1], rows[1:])
    assert np.isclose(found[0, 0], expected)


def test_frechet_of_few_documents_of_many_dimensions() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.normal(size=(9, 40)), rng.normal(size=(14, 40)) + 0.2
    c1, c2 = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    means = one.mean(axis=0) - other.mean(axis=0)
    root = np.sqrt(np.maximum(0, np.linalg.eigvals(c1 @ c2).real)).sum()
    expected = means @ means + np.trace(c1) + np.trace(c2) - 2 * root
    assert np.isclose(frechet_distance(one, other), expected)


def test_mauve_of_constant_vectors() -> None:
    assert mauve(np.ones((30, 3)), np.ones((40, 3)), fewest=20) == 1.0
    assert mauve(np.ones((30, 3)), -np.ones((40, 3)), fewest=20) < 0.01


def test_similarity_is_the_mean_over_pairs() -> None:
    vectors = np.random.default_rng(2).normal(size=(7, 3))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = [unit[i] @ unit[j] for i in range(7) for j in range(7) if i != j]
    assert np.isclose(mean_similarity(vectors), np.mean(pairs))
    rows = np.array([[1, 1, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]], np.int32)
    found = SimilarityStatistics(vectors).describe(rows)[:, 0]
    assert np.isclose(found[0], mean_similarity(vectors[[0, 1, 3]]))
    assert np.isnan(found[1])


def test_mauve_of_like_and_unlike_sets() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 1000, 4))
    shifted = [mauve(one, other + np.array([d, 0, 0, 0])) for d in (0.0, 1.0, 3.0)]
    assert shifted[0] > 0.9
    assert shifted[0] > shifted[1] > shifted[2]
    assert mauve(one, other, seed=1) == mauve(one, other, seed=1)
    # disjoint sets: the curve x ** (1/5) + y ** (1/5) = 1 encloses 5! 5! / 10!
    p, q = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert abs(divergence_area(p, q) - 120 * 120 / 3_628_800) < 0.003
    assert divergence_area(p, p) == pytest.approx(1.0)
    with pytest.raises(UsageError, match="clusters is 1"):
        mauve(one, other, clusters=1)
    with pytest.raises(UsageError, match="999 documents on a side: MAUVE needs 1,000"):
        mauve(one, other[1:])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder with random weights, as sentence-transformers would save it."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "sat", "on", "mat"]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_a_model_pools_what_is_no_padding(model: Path) -> None:
    texts = ["a cat sat on a mat", "a dog", "", "a cat " * 40]
    embedder = ModelEmbedder(model, batch_size=4)
    found = embedder(texts)
    assert found.shape == (4, 16)
    assert found.dtype == np.float32
    done: list[int] = []
    alone = ModelEmbedder(model, batch_size=1)(texts, done.append)
    assert np.allclose(found, alone, atol=1e-5)
    assert done == [1, 2, 3, 4]
    assert not np.allclose(found[0], found[1], atol=1e-3)


@pytest.mark.parametrize("mode", ["cls", "mean", "max", "lasttoken"])
def test_pooling_follows_the_folder(model: Path, tmp_path: Path, mode: str) -> None:
    import shutil

    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    names = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, f"pooling_mode_{names.get(mode, mode)}": True})
    )
    kinds = ["Transformer", "Pooling", "Normalize"]
    (folder / "modules.json").write_text(
        json.dumps([{"type": f"sentence_transformers.models.{kind}"} for kind in kinds])
    )
    texts = ["a cat sat", "a dog sat on a mat"]
    found = ModelEmbedder(folder)(texts)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder).eval()
    for row, text in zip(found, texts, strict=True):
        with torch.inference_mode():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        pooled = {
            "cls": states[0],
            "mean": states.mean(axis=0),
            "max": states.max(axis=0),
            "lasttoken": states[-1],
        }[mode]
        assert np.allclose(row, pooled / np.linalg.norm(pooled), atol=1e-5)


def test_folders_without_a_model_are_named(tmp_path: Path, model: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: holds no config\.json"):
        ModelEmbedder(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="holds no model that can be read"):
        ModelEmbedder(tmp_path)
    (tmp_path / "modules.json").write_text('[{"type": "x.Dense"}]')
    (model / "modules.json").write_text('[{"type": "x.Dense"}]')
    try:
        with pytest.raises(InputError, match="modules Dense, which are unknown"):
            ModelEmbedder(model)
    finally:
        (model / "modules.json").unlink()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("1_Pooling/config.json", "[]"),
        ("modules.json", "[1]"),
        ("modules.json", '{"a": 1}'),
        ("sentence_bert_config.json", '{"max_seq_length": "abc"}'),
        ("config.json", "[]"),
        ("tokenizer_config.json", "[]"),
        ("model.safetensors", "garbage"),
    ],
)
def test_damaged_folders_are_named(model: Path, tmp_path: Path, name: str, content: str) -> None:
    import shutil

    folder = tmp_path / "damaged"
    shutil.copytree(model, folder)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(content)
    with pytest.raises(InputError, match="damaged"):
        ModelEmbedder(folder)


def test_files_of_vectors_are_checked(tmp_path: Path) -> None:
    place = tmp_path / "vectors.npy"
    np.save(place, np.arange(6.0).reshape(3, 2))
    assert read_vectors(place, 3, "model").dtype == np.float32
    with pytest.raises(InputError, match="holds 3 vectors, but model has 4 documents"):
        read_vectors(place, 4, "model")
    np.save(place, np.array([[1.0, np.nan]]))
    with pytest.raises(InputError, match="row 0 holds NaN, or a number beyond"):
        read_vectors(place, 1, "model")
    np.save(place, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"is no \.npy file of numbers"):
        read_vectors(place, 1, "model")
    np.save(place, np.arange(3.0))
    with pytest.raises(InputError, match="documents x dimensions"):
        read_vectors(place, 3, "model")
    with pytest.raises(InputError, match="does not exist"):
        read_vectors(tmp_path / "none.npy", 3, "model")
