"""Drawing and beam search, the same for all models."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.stats
import torch

from textassay.errors import UsageError
from textassay.models.decoding import Decoding, decoded
from textassay.models.drawing import draw_ids
from textassay.models.kneser_ney import KneserNey
from textassay.models.networks import NETWORKS, Network, Shape
from textassay.models.neural import NeuralModel
from textassay.models.text_tokens import ListedTokens, learn_tokens

TEXTS = ["a b c a b", "a b a d", "c c a b d e", "b a b c", "d e", "a b c d e a b"]


class Chain:
    """Three ids, the next depends on the last alone; id 2 ends."""

    end = 2
    table = np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3], [0.3, 0.3, 0.4]])

    def begin(self, rows: list[list[int]]) -> np.ndarray:
        assert len(set(map(len, rows))) == 1
        return self.table[[row[-1] for row in rows]]

    def step(self, ids: list[int]) -> np.ndarray:
        return self.table[ids]

    def keep(self, rows: list[int]) -> None:
        pass


@pytest.mark.parametrize("decoding", ["ancestral", "top_p=0.7", "typical=0.6", "temperature=0.5"])
def test_draws_follow_the_decoded_distribution_behind_any_prompt(decoding: str) -> None:
    chosen = Decoding.parse(decoding)
    n = 6000
    prompts = [[k % 2] * (1 + k % 5) for k in range(n)]
    drawn = draw_ids(Chain, prompts, chosen, [1] * n, list(range(n)))
    for last in (0, 1):
        exact = decoded(Chain.table[last], chosen)
        counts = Counter(
            ids[0] if ids else 2 for ids, p in zip(drawn, prompts, strict=True) if p[-1] == last
        )
        observed = np.array([counts[k] for k in range(3)])
        assert (observed[exact == 0] == 0).all()
        likely = exact > 0
        expected = observed.sum() * exact[likely]
        assert scipy.stats.chisquare(observed[likely], expected).pvalue > 1e-4


def test_a_row_does_not_depend_on_what_is_beside_it() -> None:
    prompts = [[0], [1, 0, 0], [1, 1]] * 20
    seeds = list(range(60))
    together = draw_ids(Chain, prompts, Decoding(), [9] * 60, seeds)
    alone = [
        draw_ids(Chain, [p], Decoding(), [9], [s])[0] for p, s in zip(prompts, seeds, strict=True)
    ]
    assert together == alone
    assert max(map(len, together)) == 9
    shorter = draw_ids(Chain, prompts, Decoding(), [3] * 60, seeds)
    assert shorter == [ids[:3] for ids in together]


@pytest.mark.parametrize("limit", [1, 2, 4])
@pytest.mark.parametrize("start", [0, 1])
def test_a_wide_beam_finds_the_best_of_all(limit: int, start: int) -> None:
    def score(ids: tuple[int, ...]) -> float:
        path = [start, *ids, *([2] if len(ids) < limit else [])]
        return sum(np.log(Chain.table[a, b]) for a, b in pairwise(path))

    texts = [ids for n in range(limit + 1) for ids in product((0, 1), repeat=n)]
    (found,) = draw_ids(Chain, [[start]], Decoding(beams=64), [limit], [0])
    assert score(tuple(found)) == pytest.approx(max(map(score, texts)))


@pytest.mark.parametrize("history", ["", "a", "a b", "never"])
def test_typical_n_grams_follow_the_exact_distribution(history: str) -> None:
    model = KneserNey.train(TEXTS, order=3)
    p = model.next_probabilities(history.split())
    p[-1] = 0.0
    exact = decoded(p / p.sum(), Decoding(typical=0.7))
    n = 5000
    texts = model.sample(n, Decoding(typical=0.7), prompts=[history] * n, max_length=1, rng=2)
    counts = Counter(text.strip() for text in texts)
    observed = np.array([counts[word] for word in [*model.vocabulary.strings, ""]])
    likely = exact[:-1] > 0
    assert observed.sum() == n
    assert (observed[~likely] == 0).all()
    if likely.sum() > 1:
        assert scipy.stats.chisquare(observed[likely], n * exact[:-1][likely]).pvalue > 1e-4


def test_beams_of_n_grams_beat_greedy() -> None:
    model = KneserNey.train(TEXTS, order=3)
    (greedy,) = model.sample(1, Decoding(temperature=0), max_length=30)
    (best,) = model.sample(1, Decoding(beams=50), max_length=30)
    logs = model.log_probabilities([greedy, best])
    assert logs[1].sum() >= logs[0].sum()


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("kind", ["words", "bpe", "characters"])
def test_prompts_of_unlike_lengths(network: str, kind: str) -> None:
    torch.manual_seed(0)
    tokens = learn_tokens(kind, TEXTS, 260 if kind == "bpe" else None)
    model = NeuralModel(
        Network(Shape(network, tokens.size, width=16, heads=2, window=4, kernel=3)), tokens
    )
    prompts = ["a", "b c a b", "", "c " * 9, "d e"]
    together = model.sample(5, prompts=prompts, max_length=8, rng=4)
    assert together == model.sample(5, prompts=prompts, max_length=8, rng=4)
    greedy = Decoding(temperature=0)
    batch = model.sample(5, greedy, prompts=prompts, max_length=8)
    alone = [model.sample(1, greedy, prompts=[p], max_length=8)[0] for p in prompts]
    assert batch == alone
    # what was drawn behind a prompt scores as it stands there
    for text, prompt in zip(together, prompts, strict=True):
        (logs,) = model.log_probabilities([text], [prompt])
        assert np.isfinite(logs).all()
    with pytest.raises(UsageError, match="5 prompts for 6 texts"):
        model.sample(6, prompts=prompts)


def test_words_behind_a_prompt_carry_the_space() -> None:
    tokens = ListedTokens("words", ["a", "b"])
    assert tokens.decode([3, 4], "a") == " a b"
    assert tokens.decode([3, 4]) == "a b"
    assert tokens.encode_behind(["a b"], [" b"]) == [([3, 4, 4], 2)]
    assert tokens.encode_behind(["a "], ["b"]) == [([3, 4], 1)]
