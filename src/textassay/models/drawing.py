"""Texts from any model that reads ids and tells how probable each next one is.

Drawing and beam search need three things of a model: to read rows of ids, to read one more id of
each row, and to keep some of the rows. Networks, pretrained and n-gram models give them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textassay.models.decoding import Decoding, decoded_rows
from textassay.models.memory import enough_memory

ROWS = 32  # texts at a time
Array = NDArray[np.float64]


class Reader(Protocol):
    """Reads ids and tells probabilities of what may be drawn next, float64[B, V], rows sum to 1.

    Attributes
    ----------
    end : int or None
        The id that ends a text.
    """

    end: int | None

    def begin(self, rows: Sequence[list[int]]) -> Array:
        """Read rows of one length from their begin."""

    def step(self, ids: Sequence[int]) -> Array:
        """Read one more id of each row."""

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows, in this order; one may stand several times."""


def draw_ids(
    new_reader: Callable[[], Reader],
    prompts: Sequence[list[int]],
    decoding: Decoding,
    limits: Sequence[int],
    seeds: Sequence[int],
    progress: Callable[[int], None] | None = None,
) -> list[list[int]]:
    """Ids drawn behind each prompt, ends left out.

    Parameters
    ----------
    new_reader : callable
    prompts : sequence of list of int
        Of any lengths.
    decoding : Decoding
    limits : sequence of int
        Ids of each text at most, 1 or more.
    seeds : sequence of int
        Row r draws one number an id from a stream of its own, so that a text does not depend on
        what is drawn beside it.
    progress : callable, optional
        Told how many texts are done.
    """
    with enough_memory("shorter prompts or texts need less"):
        return _draw_all(new_reader, prompts, decoding, limits, seeds, progress)


def _draw_all(
    new_reader: Callable[[], Reader],
    prompts: Sequence[list[int]],
    decoding: Decoding,
    limits: Sequence[int],
    seeds: Sequence[int],
    progress: Callable[[int], None] | None,
) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in prompts]
    order = sorted(range(len(prompts)), key=lambda r: len(prompts[r]))
    rows_at_once = ROWS if decoding.beams == 1 else 1
    for first in range(0, len(order), rows_at_once):
        rows = order[first : first + rows_at_once]
        if decoding.beams > 1:
            drawn = [_beam(new_reader(), prompts[rows[0]], decoding.beams, limits[rows[0]])]
        else:
            drawn = _draw(
                new_reader(),
                [prompts[r] for r in rows],
                decoding,
                [limits[r] for r in rows],
                [np.random.default_rng(seeds[r]) for r in rows],
            )
        for r, ids in zip(rows, drawn, strict=True):
            found[r] = ids
        if progress:
            progress(first + len(rows))
    return found


def _draw(
    reader: Reader,
    prompts: Sequence[list[int]],
    decoding: Decoding,
    limits: Sequence[int],
    streams: Sequence[np.random.Generator],
) -> list[list[int]]:
    """Rows side by side: as much as the shortest prompt at once, the rest of others id by id."""
    shortest = min(map(len, prompts))
    out: list[list[int]] = [[] for _ in prompts]
    waiting = [prompt[shortest:] for prompt in prompts]
    alive = list(range(len(prompts)))
    probabilities = reader.begin([prompt[:shortest] for prompt in prompts])
    while True:
        ready = [k for k, r in enumerate(alive) if not waiting[r]]
        drawn = decoded_rows(probabilities[ready], decoding) if ready else probabilities[:0]
        chosen = dict(zip(ready, drawn, strict=True))
        ids, going = [], []
        for k, r in enumerate(alive):
            if waiting[r]:
                token = waiting[r].pop(0)
            else:
                token = _pick(chosen[k], streams[r].random())
                if token == reader.end:
                    continue
                out[r].append(token)
                if len(out[r]) == limits[r]:
                    continue
            ids.append(token)
            going.append(k)
        if not going:
            return out
        if len(going) < len(alive):
            reader.keep(going)
            alive = [alive[k] for k in going]
        probabilities = reader.step(ids)


def _pick(probabilities: Array, number: float) -> int:
    """The id at a place of the cumulative distribution."""
    running = np.cumsum(probabilities)
    return int(np.searchsorted(running, number * running[-1], side="right"))


def _beam(reader: Reader, prompt: list[int], beams: int, limit: int) -> list[int]:
    """The most probable text that a search with so many beams finds, its end included.

    A text of the greatest length has no end and competes as it is.
    """
    probabilities = reader.begin([prompt])
    kept: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for _ in range(limit):
        with np.errstate(divide="ignore"):
            scores = np.log(probabilities) + np.array([score for score, _ in kept])[:, None]
        if reader.end is not None:
            ended += [(float(scores[b, reader.end]), kept[b][1]) for b in range(len(kept))]
            scores[:, reader.end] = -np.inf
        flat = scores.ravel()
        best = np.argpartition(-flat, min(beams, flat.size - 1))[:beams]
        best = best[np.lexsort((best, -flat[best]))]
        places = [divmod(place, scores.shape[1]) for place in best.tolist()]
        places = [(b, i) for b, i in places if np.isfinite(scores[b, i])]
        # what goes on can only become less probable
        reached = max((score for score, _ in ended), default=-np.inf)
        if not places or reached >= scores[places[0]]:
            break
        kept = [(float(scores[b, i]), [*kept[b][1], i]) for b, i in places]
        reader.keep([b for b, _ in places])
        probabilities = reader.step([i for _, i in places])
    else:
        ended += kept
    return max(ended, key=lambda found: found[0])[1] if ended else kept[0][1]
