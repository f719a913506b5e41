"""Measures of documents as vectors: similarity, Frechet distance, MAUVE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from textassay.errors import MissingExtraError
from textassay.overlap.comparison import ratio_records, set_records
from textassay.overlap.embedding_statistics import (
    FrechetStatistics,
    SimilarityStatistics,
    mauve,
    unit_rows,
)
from textassay.overlap.family import Family, Member
from textassay.overlap.measures import OF_FRECHET, OF_PROMPT_SIMILARITY, OF_SIMILARITY
from textassay.results import Measurement, Record, Warn, finite
from textassay.stats.ratio_sums import RatioSums

Array = NDArray[np.float64]
SEEDS = 5
FEWEST = 20  # documents below which MAUVE cannot be asked for


def embedding_records(
    family: Family,
    vectors: Mapping[str, NDArray[np.float32]],
    source: str,
    fewest: int,
) -> Iterator[Record]:
    """Records of all measures of vectors.

    Parameters
    ----------
    family : Family
    vectors : mapping of str to float32[D, E]
        Of each system and human file, documents in the order of the input.
    source : str
        What made them, for signatures.
    fewest : int
        Documents a side from which on there is MAUVE.
    """
    members = family.compared
    rows = [_of_member(family, member, vectors) for member in members]
    together = np.concatenate(rows)
    parts: dict[str, object] = {"emb": source}
    yield from set_records(
        family, "similarity", members, SimilarityStatistics(together), (OF_SIMILARITY,), parts
    )
    yield from set_records(
        family, "frechet", members, FrechetStatistics(together), (OF_FRECHET,), parts
    )
    yield from _within_prompts(family, members, rows, parts)
    if family.human is not None:
        yield from _mauve_records(family, members, rows, parts, fewest)


def _of_member(family: Family, member: Member, vectors: Mapping[str, NDArray[np.float32]]) -> Array:
    names = [member.text.name]
    if member.role == "human":
        names = [text.name for text in family.human_texts]
    found = np.concatenate([vectors[name] for name in names]).astype(np.float64)
    ordered: Array = found[member.text.order]
    return ordered


def _within_prompts(
    family: Family, members: list[Member], rows: list[Array], parts: dict[str, object]
) -> Iterator[Record]:
    """Mean cosine of pairs of samples of one prompt."""
    sums = []
    for member, vectors in zip(members, rows, strict=True):
        unit = unit_rows(vectors)
        by_prompt: dict[str, list[int]] = {}
        for d, prompt in enumerate(member.prompts):
            if prompt:
                by_prompt.setdefault(prompt, []).append(d)
        keys = [prompt for prompt, found in by_prompt.items() if len(found) > 1]
        if not keys or 2 * sum(len(by_prompt[key]) for key in keys) < member.text.documents:
            continue
        means = np.empty((len(keys), 1))
        for k, prompt in enumerate(keys):
            some = unit[by_prompt[prompt]]
            total = some.sum(axis=0)
            n = len(some)
            means[k] = (total @ total - np.sum(some * some)) / (n * (n - 1))
        sums.append((member, RatioSums(means, np.ones_like(means), keys)))
    yield from ratio_records(family, sums, (OF_PROMPT_SIMILARITY,), parts, unit="prompt")


def _mauve_records(
    family: Family,
    members: list[Member],
    rows: list[Array],
    parts: dict[str, object],
    fewest: int,
) -> Iterator[Record]:
    """MAUVE at equal sizes; what two halves of the human text give stands beside."""
    human = rows[-1]
    own: dict[int, Array] = {}
    for member, vectors in zip(members, rows, strict=True):
        size = min(len(vectors), len(human) // 2)
        if member.role != "system":
            continue
        if size < fewest:
            yield Warn(
                code="mauve-left-out",
                system=member.text.name,
                message=f"MAUVE of {size:,} documents a side (half of the human text at most) "
                f"would mislead, {fewest:,} are needed"
                + (f"; --mauve-documents {size} asks for it" if size >= FEWEST else ""),
            )
            continue
        rng = family.setting.rng("mauve", member.text.content, size)
        mine, one = (side[rng.permutation(len(side))[:size]] for side in (vectors, human))
        try:
            scores = _over_seeds(family, mine, one, fewest)
            if size not in own:
                rng = family.setting.rng("mauve", "human", size)
                order = rng.permutation(len(human))
                halves = human[order[:size]], human[order[size : 2 * size]]
                own[size] = _over_seeds(family, *halves, fewest)
        except MissingExtraError as error:
            yield Warn(code="no-mauve", message=str(error))
            return
        side = family.side(member)
        yield Measurement(
            measure="overlap.mauve",
            system=side.name,
            value=finite(float(scores.mean())),
            value_low=finite(float(scores.min())),
            value_high=finite(float(scores.max())),
            human=finite(float(own[size].mean())),
            unit="area",
            direction="higher",
            size=size,
            n_documents=side.documents,
            n_tokens=side.tokens,
            n_units=side.units,
            resampling_unit=family.setting.unit,
            test=f"interval: smallest and largest of {SEEDS} seeds of the clustering",
            signature=family.tests.sign("overlap.mauve", **parts, seeds=SEEDS, size=size),
        )


def _over_seeds(family: Family, first: Array, second: Array, fewest: int) -> Array:
    def score(seed: int) -> float:
        return mauve(first, second, seed=seed, fewest=fewest)

    return np.array(list(family.workers.map(score, range(SEEDS))))
