"""Each tendency of one text, or of two, as a function: on a Corpus, or on strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import Text
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.ngrams import count_ngrams
from textassay.corpus.stopwords import stopwords_of
from textassay.corpus.token_kinds import plain_word, token_kinds
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import UsageError
from textassay.stats.fits import HeapsFit, ZipfFit, rank_fit, zipf_fit
from textassay.stats.grouped import EntropyStatistics, TypeStatistics
from textassay.stats.resampling import as_generator
from textassay.tendencies.sample import Sample
from textassay.tendencies.types_by_length import fit

Texts = Corpus | Sequence[str]
Array = NDArray[np.float64]


def as_corpora(*texts: Texts, tokenizer: str = "words") -> list[Corpus]:
    """Corpora of one vocabulary, from corpora that share one already or from lists of strings.

    Raises
    ------
    UsageError
        If a string stands in a list's place, a document is no string, or corpora have different
        vocabularies.
    """
    given = [text.vocabulary for text in texts if isinstance(text, Corpus)]
    vocabulary = given[0] if given else Vocabulary()
    if any(other is not vocabulary for other in given):
        raise UsageError("the corpora have different vocabularies: make them with one")
    found = []
    for text in texts:
        if isinstance(text, str):
            raise UsageError("texts is one string: a list of documents is needed")
        if not isinstance(text, Corpus):
            if not all(isinstance(document, str) for document in text):
                raise UsageError(
                    "a document is no string: join its tokens with spaces, and give "
                    "tokenizer='whitespace'"
                )
            documents = [Document(document) for document in text]
            text = Corpus.from_documents(documents, make_tokenizer(tokenizer), vocabulary)
        found.append(text)
    return found


def _sample(texts: Texts, tokenizer: str, stopwords: frozenset[str] = frozenset()) -> Sample:
    (corpus,) = as_corpora(texts, tokenizer=tokenizer)
    return _sample_of(corpus, stopwords)


def _sample_of(corpus: Corpus, stopwords: frozenset[str] = frozenset()) -> Sample:
    if not len(corpus):
        raise UsageError("texts is empty: at least one document is needed")
    kinds = token_kinds(corpus.vocabulary, stopwords)
    return Sample.of(Text(corpus.name, [corpus]), "document", kinds)


@dataclass(frozen=True, eq=False)
class RankFrequency:
    """What :func:`rank_frequency` finds.

    Attributes
    ----------
    counts : int64[types]
        How often types occur, by falling count: the place is the rank.
    fit : ZipfFit
        Zipf's law with its exponent and the KS distance from it.
    """

    counts: NDArray[np.int64]
    fit: ZipfFit


def rank_frequency(
    texts: Texts,
    *,
    ranks: int | None = 10_000,
    split_half: bool = False,
    rng: np.random.Generator | int | None = None,
    tokenizer: str = "words",
) -> RankFrequency:
    """Counts by rank and Zipf's law (Meister and Cotterell 2021, section 3.1).

    Parameters
    ----------
    texts : Corpus or sequence of str
        Documents; prompts of a corpus do not count.
    ranks : int or None
        Over which the law is fitted; None: all.
    split_half : bool
        Ranks from a random half of the documents, counts from the other: ranking and counting on
        the same text biases the exponent. Types that the first half lacks get the last ranks.
    rng : Generator or int, optional
        For the halves.
    tokenizer : str
        For strings.

    Raises
    ------
    UsageError
        If there is no token.

    Notes
    -----
    The exponent depends on the size of the text; compare texts of one size. Cost: linear, and a
    sort of the types.

    Examples
    --------
    >>> found = rank_frequency(["the cat and the dog", "the dog and a cat", "the end"])
    >>> found.counts.tolist(), round(found.fit.exponent, 2)
    ([4, 2, 2, 2, 1, 1], 0.7)
    """
    sample = _sample(texts, tokenizer)
    counts = sample.by_type.counts().astype(np.int64)
    ranked = np.sort(counts[counts > 0])[::-1]
    if not ranked.size:
        raise UsageError("texts hold no token")
    if not split_half:
        return RankFrequency(ranked, zipf_fit(ranked, ranks))
    chosen = np.zeros(sample.documents, np.bool_)
    order = as_generator(rng).permutation(sample.documents)
    chosen[order[: sample.documents // 2]] = True
    in_first = np.repeat(chosen, sample.lengths)
    first = np.bincount(sample.tokens[in_first], minlength=sample.vocabulary_size)
    second = counts - first
    if not first.any() or not second.any():
        raise UsageError("split_half needs two halves that hold tokens")
    by_rank = second[np.argsort(-first, kind="stable")]
    return RankFrequency(ranked, rank_fit(by_rank, ranks))


def rank_frequency_distance(texts: Texts, others: Texts, *, tokenizer: str = "words") -> float:
    """KS distance of the cumulative distributions over ranks, each text by its own, 0 to 1.

    Examples
    --------
    >>> rank_frequency_distance(["a a b"], ["b c c c"])
    0.08333333333333337
    """
    return float(_distances(texts, others, tokenizer)[1])


def unigram_distance(texts: Texts, others: Texts, *, tokenizer: str = "words") -> float:
    """Total variation distance of the unigram distributions over all types of both, 0 to 1.

    Two halves of one text are far apart, too, if they are short: compare with that.

    Examples
    --------
    >>> unigram_distance(["a a b b"], ["a a b c"])
    0.25
    """
    return float(_distances(texts, others, tokenizer)[0])


def _distances(texts: Texts, others: Texts, tokenizer: str) -> Array:
    samples = [_sample_of(corpus) for corpus in as_corpora(texts, others, tokenizer=tokenizer)]
    size = samples[-1].vocabulary_size
    counts = [replace(sample.by_type, size=size).counts() for sample in samples]
    if not all(part.any() for part in counts):
        raise UsageError("texts or others hold no token")
    row: Array = TypeStatistics(None, size).compare(counts[0][None], counts[1][None])[0]
    return row


@dataclass(frozen=True, eq=False)
class TypesByLength:
    """What :func:`type_token` finds.

    Attributes
    ----------
    lengths, types : int64[D]
        Tokens and distinct tokens of each document.
    fit : HeapsFit
    """

    lengths: NDArray[np.int64]
    types: NDArray[np.int64]
    fit: HeapsFit


def type_token(texts: Texts, *, tokenizer: str = "words") -> TypesByLength:
    """Types by length of the document, and Heaps' law (Meister and Cotterell 2021, section 3.1).

    Examples
    --------
    >>> found = type_token(["a b a", "a b c d e", "a a"])
    >>> found.types.tolist(), round(found.fit.beta, 2)
    ([2, 5, 1], 1.77)
    """
    sample = _sample(texts, tokenizer)
    return TypesByLength(sample.lengths, sample.types, fit(sample))


def lengths(texts: Texts, *, tokenizer: str = "words") -> NDArray[np.int64]:
    """Tokens of each document, int64[D].

    Examples
    --------
    >>> lengths(["a b c", ""]).tolist()
    [3, 0]
    """
    return _sample(texts, tokenizer).lengths


def stopword_shares(
    texts: Texts,
    *,
    language: str = "en",
    stopwords: Sequence[str] | None = None,
    tokenizer: str = "words",
) -> Array:
    """Share of stopwords in each document, float64[D]; NaN for empty ones.

    Parameters
    ----------
    texts : Corpus or sequence of str
    language : str
        Of the list (see :func:`textassay.corpus.stopwords.stopwords_of`).
    stopwords : sequence of str, optional
        A list of your own, without regard to case.
    tokenizer : str

    Examples
    --------
    >>> stopword_shares(["The cat and the dog", "cats"]).tolist()
    [0.6, 0.0]
    """
    if isinstance(stopwords, str):
        raise UsageError("stopwords is one string: a list of words is needed")
    words = (
        stopwords_of(language).words if stopwords is None else frozenset(map(plain_word, stopwords))
    )
    return _sample(texts, tokenizer, words).shares(1)


def symbol_shares(texts: Texts, *, tokenizer: str = "words") -> Array:
    """Share of tokens of digits and punctuation alone in each document; NaN for empty ones.

    Examples
    --------
    >>> symbol_shares(["In 1984 , 5 cats !", "cats"]).round(2).tolist()
    [0.67, 0.0]
    """
    return _sample(texts, tokenizer).shares(2)


def hapax_share(texts: Texts, *, tokenizer: str = "words") -> float:
    """Share of types that occur once. It falls with the size of the text.

    Examples
    --------
    >>> hapax_share(["a b", "a c"])
    0.6666666666666666
    """
    return _of_types(texts, tokenizer, 2)


def entropy(texts: Texts, n: int = 1, *, tokenizer: str = "words") -> float:
    """Entropy of the n-grams inside documents, bits an n-gram, as counted (biased downwards).

    Examples
    --------
    >>> entropy(["a b c d"]), entropy(["a b a b a"], n=2)
    (2.0, 1.0)
    """
    if n == 1:
        return _of_types(texts, tokenizer, 3)
    sample = _sample(texts, tokenizer)
    *_, counted = count_ngrams(sample.tokens, sample.offsets, n)
    if not counted.counts.size:
        raise UsageError(f"no document holds {n} tokens")
    return float(EntropyStatistics().describe(counted.counts[None].astype(np.int32))[0, 0])


def _of_types(texts: Texts, tokenizer: str, column: int) -> float:
    sample = _sample(texts, tokenizer)
    if not sample.tokens.size:
        raise UsageError("texts hold no token")
    statistics = TypeStatistics(1, sample.vocabulary_size)
    return float(statistics.describe(sample.by_type.counts()[None])[0, column])


def mattr(texts: Texts, *, window: int = 50, tokenizer: str = "words") -> float:
    """Type-token ratio of windows inside documents, averaged over all windows, 0 to 1.

    Covington and McFall 2010. Documents shorter than the window have none; NaN if all are.

    Examples
    --------
    >>> round(mattr(["a b a c", "d"], window=3), 4)
    0.8333
    """
    if not isinstance(window, int) or not 1 <= window < 2**31:
        raise UsageError(f"window is {window}: a whole number from 1 on is needed")
    sums = _sample(texts, tokenizer).windows(window).sum(axis=0)
    return float(sums[0] / sums[1]) if sums[1] else float("nan")


def word_length(texts: Texts, *, tokenizer: str = "words") -> float:
    """Mean number of characters of tokens that hold a letter; NaN if there are none.

    Examples
    --------
    >>> word_length(["a dog , 17 cats"])
    2.6666666666666665
    """
    sums = _sample(texts, tokenizer).sums.sum(axis=0)
    return float(sums[4] / sums[3]) if sums[3] else float("nan")
