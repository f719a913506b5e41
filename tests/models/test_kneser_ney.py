"""Kneser-Ney models: laws, nltk's model, and sampling against exact distributions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.lm import KneserNeyInterpolated

from tests.conftest import EXAMPLES
from textassay.errors import InputError, OutputError, UsageError
from textassay.models.decoding import Decoding, decoded
from textassay.models.kneser_ney import KneserNey
from textassay.models.language_model import LanguageModel

sentences = st.lists(
    st.lists(st.sampled_from("abcde"), max_size=7).map(" ".join), min_size=1, max_size=6
)
DECODINGS = [
    "ancestral",
    "greedy",
    "temperature=0.5",
    "temperature=1.7",
    "top_k=3",
    "top_p=0.6",
    "temperature=0.8,top_k=4,top_p=0.7",
]


def histories(texts: list[str]) -> list[list[str]]:
    """Some seen and some unseen histories."""
    found: list[list[str]] = [[], ["never"], ["a", "never"], ["e", "d", "c", "b", "a"]]
    for text in texts:
        words = text.split()
        found.extend(words[:i] for i in range(len(words) + 1))
    return found


@settings(max_examples=60 * EXAMPLES)
@given(texts=sentences, order=st.integers(1, 6), discount=st.sampled_from([None, 0.1, 0.75]))
def test_probabilities_sum_to_one(texts: list[str], order: int, discount: float | None) -> None:
    model = KneserNey.train(texts, order=order, discount=discount)
    for history in histories(texts):
        p = model.next_probabilities(history)
        assert p.size == len(model.vocabulary) + 2
        assert np.isclose(p.sum(), 1.0, atol=1e-12)
        assert (p > 0).all()  # <unk> and all words, behind any history


@settings(max_examples=40 * EXAMPLES)
@given(texts=sentences, order=st.integers(2, 5), discount=st.sampled_from([0.1, 0.5, 0.9]))
def test_equal_to_nltk(texts: list[str], order: int, discount: float) -> None:
    """nltk leaves the unigrams unsmoothed, and predicts the padding before a text too.

    So ours gives nothing to unknown words, and nltk's is trained on the n-grams that end in a word.
    """
    model = KneserNey.train(texts, order=order, discount=discount, unknown=False)
    ngrams = []
    words = {"<s>", "</s>"}
    for text in texts:
        padded = ["<s>"] * (order - 1) + text.split() + ["</s>"]
        words.update(text.split())
        ngrams.append(
            [
                tuple(padded[i - n + 1 : i + 1])
                for i in range(order - 1, len(padded))
                for n in range(1, order + 1)
            ]
        )
    twin = KneserNeyInterpolated(order, discount=discount)
    twin.fit(ngrams, vocabulary_text=sorted(words))
    strings = [*model.vocabulary.strings, "</s>"]
    for history in histories(texts):
        context = (["<s>"] * (order - 1) + history)[len(history) :] if order > 1 else []
        ours = model.next_probabilities(history)
        for k, word in enumerate(strings):
            try:
                theirs = twin.unmasked_score(word, tuple(context))
            except ZeroDivisionError:
                continue
            assert np.isclose(ours[k], theirs, atol=1e-9), (history, word)


@settings(max_examples=40 * EXAMPLES)
@given(texts=sentences, order=st.integers(1, 4), prompt=st.sampled_from(["", "a", "never b"]))
def test_scores_are_next_probabilities(texts: list[str], order: int, prompt: str) -> None:
    model = KneserNey.train(texts, order=order)
    strings = [*model.vocabulary.strings, "</s>"]
    asked = [*texts, "never a"]
    behind = [f" {text}" if prompt else text for text in asked]
    found = model.log_probabilities(behind, [prompt] * len(asked))
    for text, logs in zip(asked, found, strict=True):
        words = text.split()
        assert logs.size == len(words) + 1
        for i, word in enumerate([*words, "</s>"]):
            p = model.next_probabilities([*prompt.split(), *words[:i]])
            k = strings.index(word) if word in strings else len(strings)
            assert np.isclose(logs[i], np.log(p[k]))


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["a a a a", "b b b b"], 3),  # no singleton
        (["a"], 6),  # one line, shorter than the order
        ([""], 3),  # nothing but the end
        (["a b"] * 50, 2),
        ([" ".join(f"w{i}" for i in range(300))], 4),  # singletons alone
    ],
)
def test_training_texts_that_break_discounts(texts: list[str], order: int) -> None:
    model = KneserNey.train(texts, order=order)
    for history in ([], ["a"], ["w3", "w4"], ["never"]):
        p = model.next_probabilities(history)
        assert np.isclose(p.sum(), 1.0)
        assert (p > 0).all()
    assert np.isfinite(model.log_probabilities(["never seen words", *texts])[0]).all()
    assert len(model.sample(5, max_length=10, rng=1)) == 5


TEXTS = ["a b c a b", "a b a d", "c c a b d e", "b a b c", "d e", "a b c d e a b"]


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("history", ["", "a", "a b", "never", "c c"])
def test_samples_follow_the_exact_distribution(decoding: str, history: str) -> None:
    """One token, drawn many times, against the truncated and renormalised distribution."""
    model = KneserNey.train(TEXTS, order=3)
    p = model.next_probabilities(history.split())
    p[-1] = 0.0  # <unk> is never drawn
    exact = decoded(p / p.sum(), Decoding.parse(decoding))
    n = 20_000
    texts = model.sample(n, Decoding.parse(decoding), prompts=[history] * n, max_length=1, rng=5)
    assert all(text == "" or text.startswith(" ") == bool(history) for text in texts)
    drawn = Counter(text.strip() for text in texts)
    words = [*model.vocabulary.strings, ""]  # an empty text: the end was drawn
    counts = np.array([drawn[word] for word in words])
    exact = exact[:-1]
    assert counts.sum() == n
    assert (counts[exact == 0] == 0).all()
    likely = exact > 0
    if likely.sum() > 1:
        assert scipy.stats.chisquare(counts[likely], n * exact[likely]).pvalue > 1e-4


def test_samples_are_repeatable_and_do_not_depend_on_how_many() -> None:
    model = KneserNey.train(TEXTS, order=3)
    many = model.sample(200, rng=3)
    assert model.sample(200, rng=3) == many
    assert model.sample(7, rng=3) == many[:7]
    assert model.sample(0) == []
    assert max(len(text.split()) for text in model.sample(50, max_length=2, rng=1)) <= 2


def test_all_of_top_k_and_top_p_is_ancestral() -> None:
    model = KneserNey.train(TEXTS, order=2)
    p = model.next_probabilities(["a"])
    everything = Decoding(top_k=1000, top_p=1.0)
    assert np.allclose(decoded(p, everything), p)


def test_saving_and_loading(tmp_path: Path) -> None:
    model = KneserNey.train(TEXTS, order=4)
    assert isinstance(model, LanguageModel)
    model.save(tmp_path / "m")
    again = KneserNey.load(tmp_path / "m")
    assert again.sample(20, rng=2) == model.sample(20, rng=2)
    for one, other in zip(
        again.log_probabilities(TEXTS), model.log_probabilities(TEXTS), strict=True
    ):
        assert np.array_equal(one, other)
    (tmp_path / "m" / "counts.npz").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="holds no Kneser-Ney model"):
        KneserNey.load(tmp_path / "m")
    with pytest.raises(InputError, match="holds no Kneser-Ney model"):
        KneserNey.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="cannot be written"):
        model.save(tmp_path / "file" / "m")


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "no text to train on"),
        (["a"], {"order": 0}, "order 0: at least 1"),
        (["a"], {"discount": 1.0}, "discount 1.0: a number from 0 to below 1"),
    ],
)
def test_impossible_training(texts: list[str], options: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        KneserNey.train(texts, **options)


def test_prompts_must_match() -> None:
    model = KneserNey.train(TEXTS)
    with pytest.raises(UsageError, match="1 prompts for 2 texts"):
        model.log_probabilities(["a", "b"], ["p"])
    with pytest.raises(UsageError, match="1 prompts for 2 texts"):
        model.sample(2, prompts=["p"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("beam", "write ancestral, greedy"),
        ("top_k=x", "'x' is no number"),
        ("top_k=0", "top_k=0: at least 1"),
        ("top_p=0", "top_p=0.0: a number above 0"),
        ("temperature=-1", "temperature=-1.0: a number from 0 on"),
        ("top_k=1,top_k=2", "write ancestral, greedy"),
    ],
)
def test_impossible_decodings(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Decoding.parse(text)


@pytest.mark.parametrize("text", DECODINGS)
def test_decodings_are_written_as_they_are_read(text: str) -> None:
    assert str(Decoding.parse(text)) == text


@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=8).filter(any),
    st.sampled_from([None, 1, 2, 5, 50]),
    st.floats(0.05, 1.0),
    st.sampled_from([0.3, 1.0, 2.0]),
)
def test_decoding_laws(
    counts: list[int], top_k: int | None, top_p: float, temperature: float
) -> None:
    p = np.array(counts) / sum(counts)
    found = decoded(p, Decoding(temperature=temperature, top_k=top_k, top_p=top_p))
    assert np.isclose(found.sum(), 1.0)
    assert (found[p == 0] == 0).all()
    kept = found > 0
    if top_k is not None:
        assert kept.sum() <= top_k
    # what is kept is at least as probable as what is not
    if (~kept & (p > 0)).any() and not Decoding(temperature, top_k, top_p).is_greedy:
        assert p[kept].min() >= p[~kept].max()
