"""Checks of texts, against pairs compared one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.corpus import checks
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary


def corpus_of(texts: list[str], prompts: list[str] | None = None) -> Corpus:
    pairs = zip(texts, prompts or [""] * len(texts), strict=True)
    documents = [Document(text, prompt) for text, prompt in pairs]
    return Corpus.from_documents(documents, make_tokenizer("words"), Vocabulary())


@settings(max_examples=60 * EXAMPLES)
@given(st.lists(st.lists(st.sampled_from("ab"), max_size=9).map(" ".join), max_size=5))
def test_near_duplicates_on_small_sets(texts: list[str]) -> None:
    sets = [
        {tuple(text.split()[i : i + 3]) for i in range(len(text.split()) - 2)} for text in texts
    ]
    expected = sum(
        any(s and t and len(s & t) >= 0.8 * len(s | t) for t in sets[:k])
        for k, s in enumerate(sets)
    )
    found = checks.near_duplicates(corpus_of(texts, ["a b a b"] * len(texts)))
    assert found <= expected
    if expected <= 1 or len(set(texts)) < len(texts):
        exact = sum(bool(s) and s in sets[:k] for k, s in enumerate(sets))
        assert found >= exact


def test_planted_near_duplicates_are_found() -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(f"w{w}" for w in rng.integers(0, 500, 60)) for _ in range(300)]
    planted = []
    for k in range(100):
        words = texts[k].split()
        words[rng.integers(60)] = "changed"  # 3 of 58 trigrams: a Jaccard index of .9
        planted.append(" ".join(words))
    assert checks.near_duplicates(corpus_of(texts)) == 0
    assert checks.near_duplicates(corpus_of([*texts, *planted])) == 100
    assert checks.near_duplicates(corpus_of(["same text all over again"] * 50)) == 49
    assert checks.near_duplicates(corpus_of(["", "a", "a b"])) == 0


def test_other_checks() -> None:
    assert checks.repeated_documents(corpus_of(["One, two.", "one two", "three"])) == 1
    assert checks.share_at_longest(corpus_of(["a b c"] * 5 + ["a b"] * 15)) == 0.25
    assert checks.share_at_longest(corpus_of(["a b c"] * 5)) == 0.0
