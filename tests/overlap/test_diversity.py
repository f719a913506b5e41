"""Diversity: against counting by hand, and values measured on published captions."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay.errors import UsageError
from textassay.overlap import compression_ratio, distinct, distinct_documents, repetition

texts_of = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=6)


def grams(tokens: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@settings(max_examples=60 * EXAMPLES)
@given(texts_of.filter(lambda texts: any(len(t) > 1 for t in texts)), st.data())
def test_rarefaction_is_the_mean_over_all_subsets(
    texts: list[list[str]], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, len(texts)))
    subsets = list(combinations(texts, m))
    types = np.mean([len({g for t in part for g in grams(t, 2)}) for part in subsets])
    total = np.mean([sum(len(grams(t, 2)) for t in part) for part in subsets])
    assert np.isclose(distinct(texts, 2, documents=m), types / total)


@settings(max_examples=60 * EXAMPLES)
@given(texts_of, st.integers(1, 3))
def test_repetition_by_hand(texts: list[list[str]], n: int) -> None:
    total = sum(len(grams(t, n)) for t in texts)
    fresh = sum(len(set(grams(t, n))) for t in texts)
    expected = 1 - fresh / total if total else np.nan
    assert np.isclose(repetition(texts, n), expected, equal_nan=True)


def test_compression_and_copies() -> None:
    texts = ["a cat sat", "a dog ran", "a cat sat"]
    raw = "\n".join(texts).encode()
    assert compression_ratio(texts) == len(raw) / len(zlib.compress(raw, 9))
    assert compression_ratio(texts, size=9) == 9 / len(zlib.compress(b"a cat sat", 9))
    assert distinct_documents(texts) == 2 / 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distinct(["a"], 2), "no document holds 2 tokens"),
        (lambda: distinct(["a b"], 2, documents=2), "documents is 2: from 1 to 1"),
        (lambda: distinct(["a"], 0), "n is 0"),
        (lambda: distinct([], 1), "texts is empty"),
        (lambda: distinct_documents("a"), "list of at least one"),
        (lambda: compression_ratio([""]), "no character"),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.published
def test_distinct_bigrams_of_captions(published: Path) -> None:
    """Human COCO captions, by white space: .768 at 100, .498 at 1,000, .267 at 9,984."""
    path = published / "texygen-samples" / "test_coco.txt"
    texts = path.read_text(encoding="utf-8").splitlines()
    for size, value in ((100, 0.768), (1000, 0.498), (9984, 0.267)):
        found = distinct(texts, 2, documents=size, tokenizer="whitespace")
        assert np.isclose(found, value, atol=0.002)
    names = ("seq", "maligan", "rank", "leakgan", "textgan", "mle")
    counts = []
    for name in names:
        lines = (path.parent / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        counts.append(round(distinct_documents(lines) * len(lines)))
    assert counts == [9950, 9924, 9665, 7063, 319, 9964]
