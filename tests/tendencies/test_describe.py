"""Each tendency against a slow twin, and on text that holds little."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay import Corpus, Document, Vocabulary, make_tokenizer
from textassay.errors import UsageError
from textassay.stats import heaps_fit, zipf_fit
from textassay.tendencies import (
    entropy,
    hapax_share,
    lengths,
    mattr,
    rank_frequency,
    rank_frequency_distance,
    stopword_shares,
    symbol_shares,
    type_token,
    unigram_distance,
    word_length,
)

words = st.sampled_from(["a", "the", "cat", "Of", "x9", "7", "!", "--", "Łódź"])
documents = st.lists(st.lists(words, max_size=12).map(" ".join), min_size=1, max_size=8)
with_tokens = documents.filter(lambda texts: any(text.strip() for text in texts))


def tokens_of(texts: list[str]) -> list[list[str]]:
    return [text.split() for text in texts]


@settings(max_examples=60 * EXAMPLES)
@given(with_tokens)
def test_against_counting_by_hand(texts: list[str]) -> None:
    split = tokens_of(texts)
    everything = [token for tokens in split for token in tokens]
    counts = Counter(everything)
    kind = {"tokenizer": "whitespace"}
    assert lengths(texts, **kind).tolist() == [len(tokens) for tokens in split]
    found = rank_frequency(texts, **kind)
    assert found.counts.tolist() == sorted(counts.values(), reverse=True)
    assert found.fit == zipf_fit(list(counts.values()))
    assert hapax_share(texts, **kind) == sum(c == 1 for c in counts.values()) / len(counts)
    by_type = type_token(texts, **kind)
    assert by_type.types.tolist() == [len(set(tokens)) for tokens in split]
    kept = [tokens for tokens in split if tokens]
    law = heaps_fit([len(t) for t in kept], [len(set(t)) for t in kept])
    assert by_type.fit == law
    total = len(everything)
    plain = -sum(c / total * math.log2(c / total) for c in counts.values())
    assert np.isclose(entropy(texts, **kind), plain, atol=1e-9)
    pairs = Counter(pair for tokens in split for pair in pairwise(tokens))
    if pairs:
        n = sum(pairs.values())
        plain = -sum(c / n * math.log2(c / n) for c in pairs.values())
        assert np.isclose(entropy(texts, 2, **kind), plain, atol=1e-9)
    letters = [token for token in everything if any(c.isalpha() for c in token)]
    mean = np.mean([len(token) for token in letters]) if letters else np.nan
    assert np.isclose(word_length(texts, **kind), mean, equal_nan=True)


@settings(max_examples=60 * EXAMPLES)
@given(documents, st.integers(1, 5))
def test_shares_and_windows_by_hand(texts: list[str], window: int) -> None:
    split = tokens_of(texts)
    kind = {"tokenizer": "whitespace"}
    stop = {"the", "of", "a"}

    def share(tokens: list[str], test: Callable[[str], bool]) -> float:
        return sum(map(test, tokens)) / len(tokens) if tokens else np.nan

    found = stopword_shares(texts, stopwords=["The", "of", "A"], **kind)
    expected = [share(tokens, lambda t: t.lower() in stop) for tokens in split]
    assert np.allclose(found, expected, equal_nan=True)
    found = symbol_shares(texts, **kind)
    expected = [share(tokens, lambda t: t in ("7", "!", "--")) for tokens in split]
    assert np.allclose(found, expected, equal_nan=True)
    ratios = [
        len(set(tokens[i : i + window])) / window
        for tokens in split
        for i in range(len(tokens) - window + 1)
    ]
    expected_mean = np.mean(ratios) if ratios else np.nan
    assert np.isclose(mattr(texts, window=window, **kind), expected_mean, equal_nan=True)


@settings(max_examples=60 * EXAMPLES)
@given(with_tokens, with_tokens)
def test_distances_by_hand(texts: list[str], others: list[str]) -> None:
    shares = []
    ranked = []
    for side in (texts, others):
        counts = Counter(token for tokens in tokens_of(side) for token in tokens)
        total = sum(counts.values())
        shares.append({token: c / total for token, c in counts.items()})
        ranked.append(sorted(shares[-1].values(), reverse=True))
    both = shares[0].keys() | shares[1].keys()
    variation = sum(abs(shares[0].get(t, 0) - shares[1].get(t, 0)) for t in both) / 2
    found = unigram_distance(texts, others, tokenizer="whitespace")
    assert np.isclose(found, variation, atol=1e-12)
    assert np.isclose(found, unigram_distance(others, texts, tokenizer="whitespace"))
    size = max(map(len, ranked))
    steps = [np.cumsum(side + [0.0] * (size - len(side))) for side in ranked]
    found = rank_frequency_distance(texts, others, tokenizer="whitespace")
    assert np.isclose(found, np.abs(steps[0] - steps[1]).max(), atol=1e-12)


def test_a_corpus_counts_without_its_prompts() -> None:
    vocabulary = Vocabulary()
    corpus = Corpus.from_documents(
        [Document("a b", prompt="a a a"), Document("c")], make_tokenizer("words"), vocabulary
    )
    assert lengths(corpus).tolist() == [2, 1]
    assert rank_frequency(corpus).counts.tolist() == [1, 1, 1]
    other = Corpus.from_documents([Document("c c d")], make_tokenizer("words"), vocabulary)
    # .5 |1/3 - 0| twice, |1/3 - 2/3|, |0 - 1/3|
    assert np.isclose(unigram_distance(corpus, other), 2 / 3)
    alien = Corpus.from_documents([Document("c")], make_tokenizer("words"), Vocabulary())
    with pytest.raises(UsageError, match="different vocabularies"):
        unigram_distance(corpus, alien)


def test_split_halves_rank_by_one_and_count_in_the_other() -> None:
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, 5001)
    texts = [
        " ".join(f"w{w}" for w in rng.choice(5000, 20, p=shares / shares.sum()))
        for _ in range(1000)
    ]
    plain = rank_frequency(texts, ranks=10_000).fit.exponent
    halves = [rank_frequency(texts, split_half=True, rng=k).fit.exponent for k in range(5)]
    # ranks from the counts themselves make the law look steeper than it is (s = 1)
    assert plain > np.mean(halves)
    assert rank_frequency(texts, split_half=True, rng=3).fit.exponent == halves[3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lengths([]), "texts is empty"),
        (lambda: lengths("one string"), "texts is one string"),
        (lambda: rank_frequency(["", " "]), "no token"),
        (lambda: hapax_share([""]), "no token"),
        (lambda: entropy(["a"], 2), "no document holds 2 tokens"),
        (lambda: mattr(["a"], window=0), "window is 0"),
        (lambda: unigram_distance(["a"], [""]), "no token"),
        (lambda: stopword_shares(["a"], language="xx"), "no list of stopwords"),
        (lambda: rank_frequency(["a"], split_half=True), "two halves"),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_degenerate_text_has_defined_values() -> None:
    same = ["a a a"] * 5
    assert rank_frequency(same).counts.tolist() == [15]
    assert entropy(same) == 0
    assert hapax_share(same) == 0
    fit = type_token(same).fit
    assert (fit.alpha, fit.beta) == (None, None)  # all lengths are equal
    assert unigram_distance(same, same) == 0
    assert unigram_distance(same, ["b"]) == 1
    assert math.isnan(mattr(same, window=50))
    assert math.isnan(word_length(["1 2 !"]))
    assert np.isnan(stopword_shares([""])).all()
    assert stopword_shares(["cat dog"]).tolist() == [0.0]


def test_a_million_tokens_in_one_document() -> None:
    text = " ".join(["the", "cat"] * 500_000)
    assert lengths([text]).tolist() == [1_000_000]
    assert type_token([text]).types.tolist() == [2]
    assert mattr([text], window=50) == 2 / 50


EUROPARL = "bg cs da de el en es et fi fr hu it lt lv nl pl pt ro sk sl sv"


@pytest.mark.parametrize("language", EUROPARL.split())
def test_stopwords_of_all_languages_of_europarl(language: str) -> None:
    from textassay.corpus.stopwords import stopwords_of

    found = stopwords_of(language)
    assert len(found.words) >= 30
    assert found.name == f"{language}-{len(found.words)}"
    assert all(word == word.casefold() for word in found.words)
