"""Scores and per-document sums against definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.conftest import EXAMPLES
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.measure import novelty_curve
from textassay.novelty.scores import TokenScores, ngram_sums, position_means
from textassay.novelty.tables import document_table, matched_length


@st.composite
def scored(draw: st.DrawFn) -> tuple[Corpus, list[tuple[list[int], list[int], int]]]:
    """A corpus, and for each document training and context lengths and the prompt's length."""
    documents, lengths = [], []
    for _ in range(draw(st.integers(1, 5))):
        prompt = draw(st.integers(0, 3))
        size = prompt + draw(st.integers(0, 12))
        training: list[int] = []
        context: list[int] = []
        for i in range(size):
            # a match grows by one at most
            for into, before in ((training, training), (context, context)):
                into.append(draw(st.integers(0, min(i + 1, (before[-1] if before else 0) + 1))))
        words = [draw(st.sampled_from(["a", "bcd", "ééé"])) for _ in range(size)]
        documents.append(Document(" ".join(words[prompt:]), " ".join(words[:prompt])))
        lengths.append((training, context, prompt))
    corpus = Corpus.from_documents(documents, make_tokenizer("whitespace"), Vocabulary())
    return corpus, lengths


@settings(max_examples=150 * EXAMPLES)
@given(scored())
def test_sums_equal_definitions(
    case: tuple[Corpus, list[tuple[list[int], list[int], int]]],
) -> None:
    corpus, lengths = case
    training = np.array([x for t, _, _ in lengths for x in t], np.int32)
    context = np.array([x for _, c, _ in lengths for x in c], np.int32)
    scores = TokenScores.of(corpus, training, context)
    both = [([max(t, c) for t, c in zip(ts, cs, strict=True)], p) for ts, cs, p in lengths]
    curve = novelty_curve(scores, range(1, 11))
    for n in range(1, 11):
        novel, total = naive.novelty(both, n)
        mine, of = ngram_sums(scores, n, "both")
        assert (mine.sum(), of.sum()) == (novel, total)
        if total:
            assert curve[n - 1] == novel / total
        else:
            assert np.isnan(curve[n - 1])
    table = document_table(scores, range(1, 11), corpus)
    column = {c.key: k for k, c in enumerate(table.columns)}
    for d, (ts, _, prompt) in enumerate(lengths):
        expected = naive.pointwise(both[d][0], prompt)
        assert table.numerators[d, column["pointwise_untruncated"]] == sum(expected)
        assert table.numerators[d, column["pointwise"]] == sum(min(s, 5) for s in expected)
        copied = [min(t, i + 1) for i, t in enumerate(ts[prompt:])]
        assert table.numerators[d, column["mean_suffix.training"]] == sum(copied)
        whole = [table.numerators, table.denominators]
        whole = [part[d, column["copied_documents.training"]] for part in whole]
        assert whole == [bool(copied) and copied[-1] == len(copied), bool(copied)]
        cover = naive.cover(copied)
        unique = sum(sum(c < least for least in range(5, 13)) / 8 for c in cover)
        assert np.isclose(table.numerators[d, column["creativity.training"]], unique)
        assert table.numerators[d, column["supercopied.training"]] == sum(c >= 100 for c in cover)


@settings(max_examples=100 * EXAMPLES)
@given(scored(), st.integers(1, 12))
def test_covered_characters(
    case: tuple[Corpus, list[tuple[list[int], list[int], int]]], least: int
) -> None:
    from textassay.novelty.score_kernels import covered_characters
    from textassay.novelty.scores import is_judged

    corpus, lengths = case
    training = np.array([x for t, _, _ in lengths for x in t], np.int32)
    scores = TokenScores.of(corpus, training, training)
    judged = is_judged(corpus)
    out = np.zeros(len(corpus), np.int64)
    begins, ends = corpus.begins[judged], corpus.ends[judged]
    covered_characters(scores.copied, scores.offsets, begins, ends, least, out)
    for d, text in enumerate(corpus.texts):
        marked = [False] * len(text)
        for i in range(scores.offsets[d], scores.offsets[d + 1]):
            length = scores.copied[i]
            if length and ends[i] - begins[i - length + 1] >= least:
                for at in range(begins[i - length + 1], ends[i]):
                    marked[at] = True
        assert out[d] == sum(marked)


def test_position_means_drop_the_first_bin() -> None:
    size = 250
    scores = TokenScores(
        np.full(size, 30, np.int32),
        np.zeros(size, np.int32),
        np.array([0, size]),
        np.arange(size, dtype=np.int32),
        True,
    )
    bins, means = position_means(scores)
    assert bins.tolist() == [100, 200]
    assert means.tolist() == [10.0, 10.0]


def test_matched_length() -> None:
    alike = np.array([9, 10, 11])
    assert matched_length([alike, alike]) is None
    assert matched_length([np.array([0]), alike]) is None
    assert matched_length([np.array([100] * 5), np.array([10] * 2 + [60] * 3)]) == 60


def test_cut_keeps_long_documents_only() -> None:
    corpus = Corpus.from_documents(
        [Document("a b c"), Document("a"), Document("d e")],
        make_tokenizer("words"),
        Vocabulary(),
    )
    lengths = np.array([1, 2, 3, 1, 0, 0], np.int32)
    cut = TokenScores.of(corpus, lengths, lengths).cut(2)
    assert cut.training.tolist() == [1, 2, 0, 0]
    assert cut.offsets.tolist() == [0, 2, 4]
