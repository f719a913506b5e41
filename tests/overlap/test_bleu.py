"""BLEU and Self-BLEU: equal to nltk's, to sacreBLEU's idea of an identical text, and to tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from tests.conftest import EXAMPLES
from textassay import Corpus, Document, Vocabulary, make_tokenizer
from textassay.errors import UsageError
from textassay.overlap import bleu, bleu_by_document, self_bleu

sentence = st.lists(st.sampled_from("abcd"), max_size=8)
several = st.lists(sentence, min_size=1, max_size=6)
METHODS = [getattr(SmoothingFunction(), f"method{number}") for number in range(5)]


def theirs(references: list[list[str]], hypothesis: list[str], n: int, method: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk warns of scores that are 0
        return float(
            sentence_bleu(references, hypothesis, (1 / n,) * n, smoothing_function=METHODS[method])
        )


@settings(max_examples=60 * EXAMPLES)
@given(several, several, st.integers(0, 4))
def test_bleu_equals_nltk(
    hypotheses: list[list[str]], references: list[list[str]], method: int
) -> None:
    found = bleu(hypotheses, references, 4, smoothing=method)
    for d, hypothesis in enumerate(hypotheses):
        for n in range(1, 5):
            if not hypothesis:
                assert found.by_sentence[d, n - 1] == 0
                continue
            expected = theirs(references, hypothesis, n, method)
            assert np.isclose(found.by_sentence[d, n - 1], expected, atol=1e-9, rtol=1e-9)
    assert np.isclose(found.score, found.by_sentence[:, 3].mean())


@settings(max_examples=60 * EXAMPLES)
@given(st.lists(sentence, min_size=2, max_size=6), st.integers(0, 4))
def test_self_bleu_equals_nltk(sentences: list[list[str]], method: int) -> None:
    found = self_bleu(sentences, 4, smoothing=method)
    for d, hypothesis in enumerate(sentences):
        others = sentences[:d] + sentences[d + 1 :]
        for n in range(1, 5):
            expected = theirs(others, hypothesis, n, method) if hypothesis else 0.0
            assert np.isclose(found.by_sentence[d, n - 1], expected, atol=1e-9, rtol=1e-9)


@settings(max_examples=60 * EXAMPLES)
@given(st.lists(st.tuples(sentence, several), min_size=1, max_size=5))
def test_bleu_by_document_equals_nltk(pairs: list[tuple[list[str], list[list[str]]]]) -> None:
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    found = bleu_by_document(hypotheses, references, 3)
    for d, (hypothesis, own) in enumerate(pairs):
        expected = theirs(own, hypothesis, 3, 1) if hypothesis else 0.0
        assert np.isclose(found.by_sentence[d, 2], expected, atol=1e-9)


@settings(max_examples=60 * EXAMPLES)
@given(st.lists(st.tuples(sentence, several), min_size=1, max_size=5))
def test_corpus_bleu_equals_sacrebleu(pairs: list[tuple[list[str], list[list[str]]]]) -> None:
    found = bleu_by_document([h for h, _ in pairs], [r for _, r in pairs], 3)
    most = max(len(own) for _, own in pairs)
    streams = [
        [" ".join(own[k]) if k < len(own) else None for _, own in pairs] for k in range(most)
    ]
    metric = sacrebleu.BLEU(tokenize="none", smooth_method="none", max_ngram_order=3)
    expected = metric.corpus_score([" ".join(h) for h, _ in pairs], streams).score / 100
    assert np.isclose(found.corpus[2], expected, atol=1e-9)


@settings(max_examples=60 * EXAMPLES)
@given(
    st.lists(st.sampled_from("abcd"), min_size=4, max_size=9),
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=1, max_size=3),
)
def test_sentence_bleu_equals_sacrebleu(hypothesis: list[str], references: list[list[str]]) -> None:
    lines = [" ".join(reference) for reference in references]
    methods = (
        (0, "none", None),
        (1, "floor", 0.1),
        (2, "add-k", 1),
        (3, "exp", None),
    )
    for method, name, value in methods:
        metric = sacrebleu.BLEU(tokenize="none", smooth_method=name, smooth_value=value)
        expected = metric.sentence_score(" ".join(hypothesis), lines).score / 100
        found = bleu([hypothesis], references, 4, smoothing=method)
        if set(hypothesis) & {token for reference in references for token in reference}:
            assert np.isclose(found.score, expected, atol=1e-9)
        else:
            assert found.score == 0  # no common word, whatever the smoothing


def test_short_documents_add_no_ngrams_to_corpus_bleu() -> None:
    assert bleu(["a b c d", "a"], ["a b c d", "a"], 4).corpus[3] == 1.0


@settings(max_examples=40 * EXAMPLES)
@given(st.lists(sentence, min_size=2, max_size=6))
def test_self_bleu_is_bleu_without_the_sentence(sentences: list[list[str]]) -> None:
    found = self_bleu(sentences, 3)
    for d, own in enumerate(sentences):
        others = sentences[:d] + sentences[d + 1 :]
        assert np.allclose(found.by_sentence[d], bleu([own], others, 3).by_sentence[0])


def test_conventions() -> None:
    # two equal tokens at order 4: two precisions are .1 of 1
    assert np.isclose(bleu([["a", "b"]], [["a", "b"]], 4).score, 0.01**0.25)
    assert bleu([["a", "b"]], [["a", "b"]], 4, effective_order=True).score == 1
    long = ["the cat sat on the mat"]
    assert bleu(long, long, 5).score == 1
    assert bleu(["x y"], long, 2).score == 0
    assert bleu([""], long, 2).score == 0
    # the shorter of two references as close
    assert np.isclose(bleu([list("aaa")], [list("aa"), list("aaaa")], 1).by_sentence[0, 0], 1)
    # duplicates are references, the sentence itself is not
    assert self_bleu(["a b c", "a b c", "x y z"], 3).by_sentence[:, 2].tolist() == [1, 1, 0]


def test_corpora_strings_and_lists_are_alike() -> None:
    vocabulary = Vocabulary()
    texts, others = ["A cat sat.", "dogs run"], ["a cat sat.", "A dog sat."]
    corpora = [
        Corpus.from_documents(
            [Document(t, prompt="not judged") for t in side], make_tokenizer("words"), vocabulary
        )
        for side in (texts, others)
    ]
    split = [[t.replace(".", " .").split() for t in side] for side in (texts, others)]
    scores = [bleu(a, b).by_sentence for a, b in (corpora, (texts, others), split)]
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: self_bleu(["one"]), "at least two"),
        (lambda: self_bleu([]), "0 sentences"),
        (lambda: bleu([], ["a"]), "hypotheses is empty"),
        (lambda: bleu(["a"], []), "references is empty"),
        (lambda: bleu("a cat", ["a"]), "hypotheses is one string"),
        (lambda: bleu(["a", ["b"]], ["a"]), "strings and lists"),
        (lambda: bleu(["a"], ["a"], 0), "order is 0"),
        (lambda: bleu(["a"], ["a"], smoothing=7), "smoothing is 7"),
        (lambda: bleu_by_document(["a"], [["a"], ["b"]]), "2 sets of references for 1 hypotheses"),
        (lambda: bleu_by_document(["a"], [[]]), "has no reference"),
    ],
)
def test_misuse(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


# Zhu et al. 2018, COCO captions: BLEU-2 to 5 against all test sentences; Self-BLEU-2 to 5 over all
# 9,984 sentences.
PUBLISHED_TABLE = {
    "seq": ((0.745, 0.498, 0.294, 0.180), (0.950, 0.840, 0.670, 0.489)),
    "maligan": ((0.673, 0.432, 0.257, 0.159), (0.918, 0.781, 0.606, 0.437)),
    "rank": ((0.743, 0.467, 0.264, 0.156), (0.959, 0.882, 0.762, 0.618)),
    "leakgan": ((0.746, 0.528, 0.355, 0.230), (0.966, 0.913, 0.848, 0.780)),
    "textgan": ((0.593, 0.463, 0.277, 0.207), (0.942, 0.931, 0.804, 0.746)),
    "mle": ((0.731, 0.497, 0.305, 0.189), (0.916, 0.769, 0.583, 0.408)),
}


@pytest.mark.published
@pytest.mark.parametrize("model", PUBLISHED_TABLE)
def test_published_table_of_captions(published: Path, model: str) -> None:
    tokenizer = make_tokenizer("treebank")
    vocabulary = Vocabulary()

    def read(name: str) -> Corpus:
        path = published / "texygen-samples" / f"{name}.txt"
        texts = path.read_text(encoding="utf-8").splitlines()
        return Corpus.from_documents([Document(t) for t in texts], tokenizer, vocabulary)

    texts = read(model)
    against, own = PUBLISHED_TABLE[model]
    assert np.allclose(bleu(texts, read("test_coco"), 5).scores[1:], against, atol=0.01)
    assert np.allclose(self_bleu(texts, 5).scores[1:], own, atol=0.01)
