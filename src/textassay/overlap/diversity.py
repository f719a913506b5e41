"""How varied texts are: distinct n-grams and documents, repetition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textassay.corpus.ngrams import count_ngrams
from textassay.errors import UsageError
from textassay.overlap.sentences import Sentences, Texts, as_sentences, vocabulary_of
from textassay.overlap.set_statistics import rarefied


def distinct(
    texts: Texts, n: int = 2, *, documents: int | None = None, tokenizer: str = "words"
) -> float:
    """Distinct n-grams over all n-grams (Li et al. 2016), of so many documents, 0 to 1.

    It falls with the number of documents, so compare equal numbers: `documents` gives the exact
    expectation over random subsets of that many (rarefaction, Hurlbert 1971), the expected number
    of distinct n-grams, sum over w of 1 - C(D - d, m) / C(D, m) for the d documents that hold w,
    over the expected number of n-grams.

    Parameters
    ----------
    texts : Corpus, list of str, or list of lists of tokens
    n : int
    documents : int, optional
        m; default: all.
    tokenizer : str
        For strings.

    Raises
    ------
    UsageError
        If no document holds n tokens, or there are not as many documents.

    Examples
    --------
    >>> distinct(["a b a b", "a b"], 2), round(distinct(["a b a b", "a b"], 2, documents=1), 3)
    (0.5, 0.75)
    """
    sentences = _sentences(texts, tokenizer)
    size = sentences.lengths.size
    m = size if documents is None else documents
    if not 1 <= m <= size:
        raise UsageError(f"documents is {m}: from 1 to {size} are there")
    if n < 1:
        raise UsageError(f"n is {n}: at least 1 is needed")
    *_, counted = count_ngrams(sentences.tokens, sentences.offsets, n)
    if not counted.ids.size:
        raise UsageError(f"no document holds {n} tokens")
    expected = rarefied(np.bincount(counted.document_frequencies()), size, m)
    return expected / (counted.ids.size * m / size)


def distinct_documents(texts: Sequence[str]) -> float:
    """Share of documents that are no copy of an earlier one, 0 to 1.

    Examples
    --------
    >>> distinct_documents(["a", "b", "a", "a"])
    0.5
    """
    if isinstance(texts, str) or not texts:
        raise UsageError("texts must be a list of at least one document")
    return len(set(texts)) / len(texts)


def repetition(texts: Texts, n: int = 4, *, tokenizer: str = "words") -> float:
    """Share of the n-grams of a document that stood earlier in the same document, 0 to 1.

    Over all n-grams of all documents; NaN where no document holds n tokens.

    Examples
    --------
    >>> repetition(["a b a b a b", "c d"], n=2)
    0.5
    """
    sentences = _sentences(texts, tokenizer)
    *_, counted = count_ngrams(sentences.tokens, sentences.offsets, n)
    if not counted.ids.size:
        return float("nan")
    return 1 - counted.by_document().ngrams.size / counted.ids.size


def _sentences(texts: Texts, tokenizer: str) -> Sentences:
    sentences = as_sentences(texts, vocabulary_of(texts), tokenizer, "texts")
    if not sentences.lengths.size:
        raise UsageError("texts is empty: at least one document is needed")
    return sentences
