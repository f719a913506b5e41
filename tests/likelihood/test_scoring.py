"""Scores in pieces, and whether a scorer saw the training text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from textassay.corpus.documents import Reading
from textassay.corpus.files import find_files
from textassay.likelihood import Likelihood
from textassay.likelihood.scoring import score_texts
from textassay.parallel import Workers
from textassay.results import Measurement, Warn
from textassay.resume import Store
from textassay.scorer_check import scorer_overlap
from textassay.stats.events import exact_share
from textassay.stats.setting import Setting


class Letters:
    """Gives each letter -1, and the end -2; counts what it is asked."""

    asked = 0

    def log_probabilities(
        self,
        texts: list[str],
        prompts: list[str] | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[np.ndarray]:
        self.asked += len(texts)
        return [np.array([-1.0] * len(text) + [-2.0]) for text in texts]


def test_pieces_are_scored_once(tmp_path: Path) -> None:
    texts = ["é" * (k % 7) for k in range(600)]
    model, store = Letters(), Store(tmp_path / "store")
    whole = score_texts(model, texts)
    assert whole.nll_token == pytest.approx(
        (sum(map(len, texts)) + 2 * 600) / (sum(map(len, texts)) + 600)
    )
    assert whole.bytes.sum() == 2 * whole.characters.sum()
    assert model.asked == 600

    class StoppedError(Exception):
        pass

    def stop(done: int) -> None:
        if done > 512:
            raise StoppedError

    with pytest.raises(StoppedError):
        score_texts(model, texts, store=store, key="k", progress=stop)
    model.asked = 0
    again = score_texts(model, texts, store=store, key="k")
    assert model.asked == 0  # all three pieces were there
    for name in ("nll", "tokens", "characters", "bytes"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    score_texts(model, texts, store=store, key="other")
    assert model.asked == 600


def setting() -> Setting:
    seed = np.random.SeedSequence(1)
    return Setting({"tok": "words", "v": "0"}, "document", 99, {}, "equal", seed)


def overlap(folder: Path, scorer: list[str], models: list[str]) -> list[Measurement | Warn]:
    files = []
    for name, lines in (("scorer", scorer), ("models", models)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
        files.append(find_files(str(folder / f"{name}.txt")))
    with Workers(2) as workers:
        return scorer_overlap(*files, Reading(), setting(), workers)


def test_planted_overlap_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"w{chr(97 + a)}{chr(97 + b)}" for a in range(26) for b in range(26)])
    own, other, shared = (
        [" ".join(names[rng.integers(0, 676, 40)]) for _ in range(n)] for n in (60, 90, 30)
    )
    loud = [line.upper().replace(" ", " , ") + " !" for line in shared]
    found = overlap(tmp_path, [*own, *shared], [*other, *loud])
    values = {r.system: r for r in found if isinstance(r, Measurement)}
    for name, share in (("scorer's training text", 30 / 90), ("training text", 30 / 120)):
        r = values[name]
        assert r.value == pytest.approx(share, abs=0.06)
        limits = scipy.stats.binomtest(round(r.value * r.n_units), r.n_units).proportion_ci()
        assert (r.value_low, r.value_high) == pytest.approx((limits.low, limits.high))
    told = [r.message for r in found if isinstance(r, Warn)]
    assert len(told) == 2
    assert "of the scorer's training text stand in the training text of the models" in told[0]
    (one, another) = overlap(tmp_path, own, other)
    assert (one.value, another.value) == (0, 0)


def test_short_documents_cannot_be_checked(tmp_path: Path) -> None:
    found = overlap(tmp_path, ["a few words"] * 9, ["w " * 30] * 9)
    assert [type(r) for r in found] == [Warn, Measurement]
    assert "holds no document of 20 words" in found[0].message


@pytest.mark.parametrize(("events", "number"), [(0, 5), (5, 5), (3, 1000), (1, 2)])
def test_exact_limits(events: int, number: int) -> None:
    exact = scipy.stats.binomtest(events, number).proportion_ci()
    assert exact_share(events, number) == pytest.approx((exact.low, exact.high))


def test_sums_and_logs_agree() -> None:
    logs = [[-1.0, -3.0], [-2.0]]
    one = Likelihood.from_logs(logs, ["ab", ""])
    other = Likelihood.from_sums(np.array([4.0, 2.0]), np.array([2, 1]), ["ab", ""])
    assert one.nll_token == other.nll_token == 2.0
    assert one.nll_document == other.nll_document == 3.0
