"""Statistics of sets of documents against the functions that look at one list."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from textassay import Corpus, Document, Vocabulary, make_tokenizer
from textassay.corpus.by_unit import Text, by_unit, select_documents
from textassay.overlap import bleu, distinct, self_bleu
from textassay.overlap.bleu import matches
from textassay.overlap.document_ngrams import DocumentNgrams, as_items, number_texts
from textassay.overlap.sentences import Sentences
from textassay.overlap.set_statistics import (
    CorpusBleuStatistics,
    DistinctStatistics,
    SelfBleuStatistics,
)

line = st.lists(st.sampled_from("abc"), max_size=7).map(" ".join)
lines = st.lists(line, min_size=2, max_size=7)


def texts_of(*sides: list[str]) -> list[Text]:
    vocabulary, tokenizer = Vocabulary(), make_tokenizer("whitespace")
    return [
        Text(
            f"side {k}",
            [Corpus.from_documents([Document(d) for d in side], tokenizer, vocabulary)],
        )
        for k, side in enumerate(sides)
    ]


def ngrams_of(*sides: list[str], order: int = 5) -> DocumentNgrams:
    return DocumentNgrams.of([by_unit(text, "document") for text in texts_of(*sides)], order)


@settings(max_examples=80 * EXAMPLES)
@given(lines, lines, st.data(), st.integers(0, 4), st.booleans())
def test_self_bleu_of_a_set(
    one: list[str], other: list[str], data: st.DataObject, smoothing: int, effective: bool
) -> None:
    everything = one + other
    chosen = data.draw(st.lists(st.booleans(), min_size=len(everything), max_size=len(everything)))
    rows = np.array([chosen, [True] * len(everything)], np.int32)
    statistics = SelfBleuStatistics(ngrams_of(one, other), smoothing, effective)
    found = statistics.describe(rows)
    for row, numbers in zip(rows, found, strict=True):
        members = [everything[d] for d in np.flatnonzero(row)]
        if len(members) < 2:
            assert np.isnan(numbers).all()
            continue
        expected = self_bleu(
            members, 5, smoothing=smoothing, effective_order=effective, tokenizer="whitespace"
        )
        assert np.allclose(numbers, expected.scores[1:], atol=1e-12)


@settings(max_examples=80 * EXAMPLES)
@given(lines, lines, st.data())
def test_distinct_of_a_set_and_its_expectation(
    one: list[str], other: list[str], data: st.DataObject
) -> None:
    texts = texts_of(one, other)
    ordered = [by_unit(text, "document") for text in texts]
    ngrams = DocumentNgrams.of(ordered, 4)
    statistics = DistinctStatistics(ngrams, number_texts(one + other))
    sample = as_items(ordered)[1]
    m = data.draw(st.integers(1, len(other)))
    subsets = list(combinations(range(len(other)), m))
    rows = np.zeros((len(subsets), len(one) + len(other)), np.int32)
    for row, subset in zip(rows, subsets, strict=True):
        row[len(one) + np.array(subset)] = 1
    found = statistics.describe(rows)
    expected = statistics.expected(sample, m)
    assert expected is not None
    assert np.isclose(expected[-1], found[:, -1].mean())
    for k, n in enumerate((1, 2, 3, 4)):
        if any(len(document.split()) >= n for document in other):
            value = distinct(other, n, documents=m, tokenizer="whitespace")
            assert np.isclose(expected[k], value)
            whole = distinct(other, n, tokenizer="whitespace")
            assert np.isclose(statistics.expected(sample, len(other))[k], whole)
        else:
            assert np.isnan(expected[k])
    for row, numbers in zip(rows, found, strict=True):
        members = [(one + other)[d] for d in np.flatnonzero(row)]
        assert numbers[-1] == len(set(members)) / len(members)


@settings(max_examples=60 * EXAMPLES)
@given(lines, lines)
def test_corpus_bleu_of_a_set(hypotheses: list[str], references: list[str]) -> None:
    mine, theirs = (by_unit(text, "document") for text in texts_of(hypotheses, references))
    matched, closest = matches(
        Sentences(mine.tokens, mine.offsets), Sentences(theirs.tokens, theirs.offsets), 5
    )
    statistics = CorpusBleuStatistics(matched, mine.lengths, closest)
    rows = np.ones((1, len(hypotheses)), np.int32)
    expected = bleu(hypotheses, references, 5, tokenizer="whitespace").corpus
    assert np.allclose(statistics.describe(rows)[0], expected[1:])


def test_units_of_several_documents_have_no_formula() -> None:
    ngrams = ngrams_of(["a b", "c d", "a b"])
    statistics = DistinctStatistics(ngrams, np.array([0, 1, 0]))
    (sample,) = as_items([by_unit(text, "document") for text in texts_of(["a b", "c d", "a b"])])
    joined = type(sample)(sample.categories, np.array([0, 2, 3]), sample.size)
    assert statistics.expected(sample, 2) is not None
    assert statistics.expected(joined, 2) is None


@given(lines, st.data())
def test_some_documents_of_a_text(documents: list[str], data: st.DataObject) -> None:
    chosen = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(documents), max_size=len(documents)))
    )
    (text,) = texts_of(documents)
    whole = by_unit(text, "document")
    part = select_documents(whole, chosen)
    kept = [d for d, keep in zip(documents, chosen, strict=True) if keep]
    words = [text.corpora[0].vocabulary[int(t)] for t in part.tokens]
    assert words == [w for d in kept for w in d.split()]
    assert part.lengths.tolist() == [len(d.split()) for d in kept]
    assert part.keys == [str(d) for d in np.flatnonzero(chosen)]
    assert part.order.tolist() == np.flatnonzero(chosen).tolist()


def test_few_repeated_documents_are_counted() -> None:
    lines = [f"line {k}" for k in range(100)]
    for repeated in (0, 3, 40):
        documents = lines + lines[:repeated]
        texts = [by_unit(text, "document") for text in texts_of(documents)]
        statistics = DistinctStatistics(DocumentNgrams.of(texts, 4), number_texts(documents))
        (sample,) = as_items(texts)
        least = statistics.least_errors(sample)
        # no bigram stands twice where no document does; there are none of three words
        assert least[:-1].tolist() == [0, 0 if repeated else least[-1], 0, 0]
        assert (least[-1] > 0) == (repeated < 20)
        if not repeated:
            # the exact Poisson limit of a count of none
            assert np.isclose(1.96 * least[-1] * 200, 3.69, atol=0.01)
