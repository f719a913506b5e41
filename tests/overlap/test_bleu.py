"""BLEU and Self-BLEU: equal to nltk's, to sacreBLEU's idea of an identical text, and to tables."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu

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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        expected = float(corpus_bleu(references, hypotheses, (1 / 3,) * 3))
    assert np.isclose(found.corpus[2], expected, atol=1e-9)


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
def test_misuse(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.published
def test_published_table_of_captions(published: Path) -> None:
    """Zhu et al. 2018 (COCO): test BLEU against all sentences, Self-BLEU over all 9,984."""
    folder = published / "texygen-samples"
    golden = published.parent / "golden" / "texygen-coco.tsv"
    if not golden.is_file():
        pytest.skip(f"the published table is not at {golden}")
    tokenizer = make_tokenizer("treebank")
    vocabulary = Vocabulary()

    def read(name: str) -> Corpus:
        texts = (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        return Corpus.from_documents([Document(t) for t in texts], tokenizer, vocabulary)

    test = read("test_coco")
    files = {"SeqGAN": "seq", "MaliGAN": "maligan", "RankGAN": "rank", "LeakGAN": "leakgan"}
    files |= {"TextGAN": "textgan", "MLE": "mle"}
    with golden.open(encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t")
        for row in rows:
            texts = read(files[row["model"]])
            against, own = bleu(texts, test, 5), self_bleu(texts, 5)
            for n in range(2, 6):
                assert np.isclose(own.scores[n - 1], float(row[f"self_bleu{n}"]), atol=0.01)
                assert np.isclose(against.scores[n - 1], float(row[f"test_bleu{n}"]), atol=0.01)
