"""Counting of n-grams against a dictionary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.corpus.ngrams import count_ngrams
from textassay.errors import UsageError


@given(st.lists(st.lists(st.integers(0, 70_000) | st.integers(0, 2), max_size=8), max_size=6))
def test_counts_are_those_of_a_dictionary(documents: list[list[int]]) -> None:
    tokens = np.array([token for document in documents for token in document], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(document) for document in documents])])
    for counts in count_ngrams(tokens, offsets.astype(np.int64), 5):
        n = counts.order
        expected = [
            Counter(tuple(document[i : i + n]) for i in range(len(document) - n + 1))
            for document in documents
        ]
        places = [
            (s, d) for d, document in enumerate(documents) for s in range(len(document) - n + 1)
        ]
        grams = {
            int(k): tuple(documents[d][s : s + n])
            for k, (s, d) in zip(counts.ids, places, strict=True)
        }
        assert [int(x) for x in np.diff(counts.offsets)] == [sum(c.values()) for c in expected]
        assert len(set(grams.values())) == counts.distinct
        total = sum(expected, Counter())
        assert {grams[k]: c for k, c in enumerate(counts.counts.tolist())} == dict(total)
        found: list[Counter[tuple[int, ...]]] = [Counter() for _ in documents]
        pairs = counts.by_document()
        for d, k, c in zip(pairs.documents, pairs.ngrams, pairs.counts, strict=True):
            found[d][grams[k]] = c
        assert found == expected
        frequencies = counts.document_frequencies()
        for k, gram in grams.items():
            assert frequencies[k] == sum(gram in document for document in expected)


def test_orders_begin_at_one() -> None:
    with pytest.raises(UsageError, match="order 0: at least 1"):
        next(count_ngrams(np.array([1]), np.array([0, 1]), 0))
