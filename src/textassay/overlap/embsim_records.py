"""EmbSim of every system and of people's text, against the same references."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from textassay.overlap.embsim import SEEDS, mean_cosine, shared_words, word_vectors
from textassay.overlap.family import Family, Member
from textassay.results import Measurement, Record, Warn, finite
from textassay.stats.bounded import clipped
from textassay.stats.count_records import reach_of
from textassay.stats.ratio_records import add_verdict, widen

Array = NDArray[np.float64]
Vectors = dict[int, NDArray[np.float32]]
_HALVES = 8  # half-samples that tell a standard error; pairs that tell the margin
_MOST = 5_000  # documents of a side
_MOST_TOKENS = 50_000


def embsim_records(family: Family) -> Iterator[Record]:
    """Records at one size for all sides, averaged over five seeds.

    References are half of the human text, as for BLEU. Few trainings tell the errors (eight
    halves), so there is no permutation test.
    """
    references, human = family.references, family.hypotheses
    if references is None or not references.text.tokens.size:
        return
    if human is not None and not human.text.tokens.size:
        human = None
    if find_spec("gensim") is None:
        yield Warn(
            code="no-embsim",
            message="EmbSim needs gensim, which is not there: pip install 'textassay[embeddings]'",
        )
        return
    members = [*family.systems, *([human] if human is not None else [])]
    members = [member for member in members if member.text.tokens.size]
    size = min(_MOST, *(_documents(member) for member in [*members, references]))
    if size < 2 or not members:
        return
    bench = _Bench(family, _some(family, references, size))
    parts = {id(m): _some(family, m, size) for m in members}
    values = {key: bench.by_seed(part) for key, part in parts.items()}
    errors = {id(m): bench.error(m, min(size, m.text.documents // 2)) for m in members}
    chosen = bench.by_references([parts[id(m)] for m in members])
    margin = bench.margin(human, size) if human is not None else math.nan
    for member in members:
        record = _record(family, member, values[id(member)], bench, size)
        if record.value is None:
            yield record
            continue
        reach = reach_of(_HALVES) * errors[id(member)]
        record.value_low, record.value_high = clipped(record.value, reach, (-math.inf, 0.0))
        k = members.index(member)
        widen(record, float(chosen[:, k].std(ddof=1)), math.nan, (-math.inf, 0.0))
        yield record
        if human is None or member.role != "system" or np.isnan(values[id(human)][0]).any():
            continue
        theirs = float(values[id(human)][0].mean())
        error = math.hypot(errors[id(member)], errors[id(human)])
        record.human, record.distance = finite(theirs), finite(record.value - theirs)
        low, high = clipped(record.value - theirs, reach_of(_HALVES) * error, (-math.inf, math.inf))
        record.distance_low, record.distance_high = low, high
        if low is not None and high is not None and not family.tests.full_size:
            add_verdict(record, low, high, error, margin, len(human.text.keys), family.setting)
        widen(record, math.nan, float((chosen[:, k] - chosen[:, -1]).std(ddof=1)))


def _record(
    family: Family, member: Member, found: tuple[Array, int], bench: _Bench, size: int
) -> Measurement:
    by_seed, words = found
    side = family.side(member)
    parts = {"words": words, "base": "e", "seeds": SEEDS, "size": size}
    references = bench.references.text.documents
    return Measurement(
        measure="overlap.embsim",
        system=side.name,
        value=finite(float(by_seed.mean())),
        unit="log of a mean cosine",
        direction="higher",
        size=size,
        n_documents=side.documents,
        n_tokens=side.tokens,
        n_units=side.units,
        resampling_unit=family.setting.unit,
        test="no test: eight half-samples tell the error",
        warnings=[]
        if np.isnan(by_seed).any()
        else [f"sd over {SEEDS} seeds {by_seed.std(ddof=1):.4f}"],
        signature=family.tests.sign("overlap.embsim", **parts, refs=references),
    )


class _Bench:
    """Scores against one set of references, whose vectors are trained once for each seed."""

    def __init__(self, family: Family, references: Member) -> None:
        self.family, self.references = family, references
        self.vectors = list(
            family.workers.map(lambda s: word_vectors(references.sentences, s), range(SEEDS))
        )

    def score(self, member: Member, seed: int) -> tuple[float, int]:
        """The score, and the words it is of."""
        words = shared_words(member.sentences, self.references.sentences)
        if words.size < 2:
            return math.nan, int(words.size)
        cosine = mean_cosine(word_vectors(member.sentences, seed), self.vectors[seed], words)
        return (math.log(cosine) if cosine > 0 else math.nan), int(words.size)

    def by_seed(self, member: Member) -> tuple[Array, int]:
        """Scores of the same documents for all seeds."""
        scores = list(self.family.workers.map(lambda s: self.score(member, s), range(SEEDS)))
        return np.array([score for score, _ in scores]), scores[0][1]

    def by_references(self, members: list[Member]) -> Array:
        """Scores of members against halves of the references, float64[halves, members]."""
        documents = self.references.text.documents
        rng = self.family.setting.rng("embsim", "references", self.references.text.content)
        own = list(self.family.workers.map(lambda m: word_vectors(m.sentences, 0), members))

        def scores(chosen: NDArray[np.bool_]) -> list[float]:
            half = self.references.select(chosen)
            vectors = word_vectors(half.sentences, 0)
            found = []
            for member, mine in zip(members, own, strict=True):
                words = shared_words(member.sentences, half.sentences)
                cosine = mean_cosine(mine, vectors, words) if words.size > 1 else 0.0
                found.append(math.log(cosine) if cosine > 0 else math.nan)
            return found

        halves = [rng.permutation(documents) < documents // 2 for _ in range(_HALVES)]
        return np.array(list(self.family.workers.map(scores, halves)))

    def error(self, member: Member, size: int) -> float:
        """The standard error by delete-half subsampling; seeds turn with the halves."""
        if size < 2:
            return math.nan
        scores = [score for score, _ in self._of_subsets(member, "halves", size)]
        return float(np.std(scores, ddof=1))

    def margin(self, human: Member, size: int) -> float:
        """How far disjoint parts of the human text differ: 1.96 root mean squares."""
        half = min(size, human.text.documents // 2)
        if half < 2:
            return math.nan
        pairs = list(self._of_subsets(human, "margin", half, disjoint=True))
        scores = np.array([score for score, _ in pairs])
        differences = scores[::2] - scores[1::2]
        return 1.96 * float(np.sqrt(np.mean(differences**2)))

    def _of_subsets(
        self, member: Member, name: str, size: int, *, disjoint: bool = False
    ) -> Iterator[tuple[float, int]]:
        """Scores of random subsets; of two disjoint ones in turn if asked for."""
        documents = member.text.documents
        rng = self.family.setting.rng("embsim", name, member.text.content, size)
        parts = []
        for half in range(_HALVES):
            order = rng.permutation(documents)
            for first in (0, size) if disjoint else (0,):
                chosen = np.zeros(documents, np.bool_)
                chosen[order[first : first + size]] = True
                parts.append((chosen, half % SEEDS))
        return self.family.workers.map(
            lambda part: self.score(member.select(part[0]), part[1]), parts
        )


def _documents(member: Member) -> int:
    """Documents that hold as many tokens as are trained on."""
    text = member.text
    return min(text.documents, max(2, _MOST_TOKENS * text.documents // max(1, text.tokens.size)))


def _some(family: Family, member: Member, size: int) -> Member:
    return member.some(size, family.setting.rng("embsim", "some", member.text.content, size))
