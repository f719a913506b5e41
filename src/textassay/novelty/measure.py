"""The novelty family: corpora and training text in, records out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.stream import TokenStream
from textassay.novelty.automaton import Automaton, build_automaton, context_lengths
from textassay.novelty.matching import Progress, match_training
from textassay.novelty.scores import TokenScores
from textassay.novelty.training_pass import Settled, TrainingPass
from textassay.parallel import Workers
from textassay.resume import Store, digest_of

NGRAMS = tuple(range(1, 11))


@dataclass(frozen=True, eq=False)
class Matches:
    """What matching finds: token scores of every corpus, and the training text's places.

    Attributes
    ----------
    corpora : list of Corpus
    scores : list of TokenScores
        In the order of `corpora`.
    automaton : Automaton
    training : TrainingPass or None
        None without training text.
    settled : Settled or None
    """

    corpora: list[Corpus]
    scores: list[TokenScores]
    automaton: Automaton | None
    training: TrainingPass | None
    settled: Settled | None

    def training_lengths(self, corpus: int) -> NDArray[np.int32] | None:
        """For every token of a corpus, prompts included, the longest suffix seen in training."""
        if self.automaton is None or self.settled is None:
            return None
        return self.settled.longest[self.automaton.prefix_states[corpus]]


def find_matches(
    corpora: Sequence[Corpus],
    stream: TokenStream | None,
    workers: Workers,
    *,
    ngrams: Sequence[int] = NGRAMS,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Matches:
    """Match documents against their own contexts and, in one pass, against training text.

    Parameters
    ----------
    corpora : sequence of Corpus
        Sharing one vocabulary.
    stream : TokenStream or None
        Training text.
    workers : Workers
    ngrams : sequence of int
        Sizes for which novelty is followed while the training text is read.
    progress, store
        See :func:`textassay.novelty.matching.match_training`.

    Notes
    -----
    Cost: building, some 0.8 us a generated token; streaming, some 0.05 us a training token and
    core. Memory: some 400 bytes a generated token with two workers, whatever the size of the
    training text.
    """
    contexts = list(workers.map(context_lengths, corpora))
    if stream is None:
        scores = [TokenScores.of(c, None, x) for c, x in zip(corpora, contexts, strict=True)]
        return Matches(list(corpora), scores, None, None, None)
    automaton = build_automaton(corpora)
    key = ""
    if store is not None and stream.can_be_read_again:
        key = _key(corpora, stream, ngrams)

    def scores_now(longest: NDArray[np.int32]) -> list[TokenScores]:
        return [
            TokenScores.of(corpus, longest[states], context)
            for corpus, states, context in zip(
                corpora, automaton.prefix_states, contexts, strict=True
            )
        ]

    def snapshot(longest: NDArray[np.int32], tokens: int) -> NDArray[np.float64]:
        curves = [novelty_curve(s, ngrams) for s in scores_now(longest)]
        return np.concatenate([[tokens], *curves])

    training = match_training(
        automaton,
        stream,
        corpora[0].vocabulary,
        workers,
        snapshot=snapshot,
        progress=progress,
        store=store,
        key=key,
    )
    settled = training.settled()
    return Matches(list(corpora), scores_now(settled.longest), automaton, training, settled)


def _key(corpora: Sequence[Corpus], stream: TokenStream, ngrams: Sequence[int]) -> str:
    import textassay
    from textassay.novelty.visit_kernels import Totals

    return digest_of(
        textassay.__version__,
        Totals._fields,
        corpora[0].vocabulary.strings,
        *(part for c in corpora for part in (c.tokens, c.offsets, c.prompt_lengths)),
        [file.identity() for file in stream.files],
        stream.tokenizer.identity(),
        tuple(ngrams),
        stream.reading,
        stream.newline,
    )


def novelty_curve(scores: TokenScores, ngrams: Sequence[int]) -> NDArray[np.float64]:
    """Share of novel n-grams for each n, counting training and context; NaN where there is none.

    Examples
    --------
    >>> scores = TokenScores(
    ...     np.array([1, 2, 1], np.int32), np.zeros(3, np.int32), np.array([0, 3]),
    ...     np.arange(3, dtype=np.int32), True,
    ... )
    >>> novelty_curve(scores, [1, 2, 3]).tolist()
    [0.0, 0.5, 1.0]
    """
    most = max(ngrams)
    # one table over position and duplicated length, both cut at the largest n
    position = np.minimum(scores.positions, most)
    duplicated = np.minimum(scores.duplicated("both"), most)
    table = np.bincount(
        position.astype(np.int64) * (most + 1) + duplicated, minlength=(most + 1) ** 2
    ).reshape(most + 1, most + 1)
    out = np.full(len(ngrams), np.nan)
    for k, n in enumerate(ngrams):
        inside = table[n - 1 :]
        total = inside.sum()
        if total:
            out[k] = inside[:, :n].sum() / total
    return out


def token_lines(matches: Matches, names: Sequence[str]) -> Iterator[dict[str, object]]:
    """For every document, its tokens with the uncapped lengths duplicated at each, prompt included.

    Yields dictionaries with ``system, document, n_prompt_tokens, tokens, training, context``;
    ``training`` is None without training text.
    """
    for number, (corpus, name) in enumerate(zip(matches.corpora, names, strict=True)):
        training = matches.training_lengths(number)
        context = context_lengths(corpus)
        strings = corpus.vocabulary.strings
        for d in range(len(corpus)):
            here = slice(corpus.offsets[d], corpus.offsets[d + 1])
            yield {
                "system": name,
                "document": corpus.ids[d],
                "n_prompt_tokens": int(corpus.prompt_lengths[d]),
                "tokens": [strings[token] for token in corpus.tokens[here]],
                "training": None if training is None else training[here].tolist(),
                "context": context[here].tolist(),
            }


@dataclass(frozen=True)
class NoveltyOptions:
    """What can be chosen of the novelty family.

    Attributes
    ----------
    ngrams : tuple of int
    train_role : {'full', 'sample', 'reference'}
        Whether the training text is all of it, a part (copying is a lower bound), or a text that
        the model was not trained on (then nothing is said to be copied).
    n_examples : int
        Passages shown for each system beside all of 100 tokens or more.
    """

    ngrams: tuple[int, ...] = NGRAMS
    train_role: str = "full"
    n_examples: int = 20
    most_supercopies: int = field(default=1000)
