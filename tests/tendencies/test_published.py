"""Values that were measured on published text before this code was written, and by others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from textassay.results import Measurement, parse_signature
from textassay.tendencies import rank_frequency, unigram_distance

pytestmark = pytest.mark.published


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def coco(published: Path) -> Path:
    return published / "texygen-samples"


def test_unigram_distances_of_captions(coco: Path) -> None:
    """COCO: .315 from training to test text, MLE .325 from test and .100 from training text."""
    test, train, mle = (lines(coco / f"{n}.txt") for n in ("test_coco", "image_coco", "mle"))
    assert np.isclose(unigram_distance(train, test), 0.315, atol=0.002)
    assert np.isclose(unigram_distance(mle, test), 0.325, atol=0.002)
    assert np.isclose(unigram_distance(mle, train), 0.100, atol=0.003)
    order = np.random.default_rng(1).permutation(len(test))
    halves = [[test[i] for i in part] for part in np.split(order, 2)]
    assert np.isclose(unigram_distance(*halves), 0.081, atol=0.002)


def test_the_exponent_of_war_and_peace(published: Path) -> None:
    """s = .981 at 390,000 words, .823 at 5,000."""
    text = lines(published / "war-and-peace" / "wap.train.txt")
    whole = rank_frequency(text, tokenizer="whitespace").fit
    assert np.isclose(whole.exponent, 0.981, atol=0.001)
    rng = np.random.default_rng(2)
    few = []
    for _ in range(20):
        part: list[str] = []
        words = 0
        for place in rng.permutation(len(text)):
            part.append(text[place])
            words += len(text[place].split())
            if words >= 5000:
                break
        few.append(rank_frequency(part, tokenizer="whitespace").fit.exponent)
    # sentences differ in length, so that samples of sentences are a little richer than of words
    assert np.isclose(np.mean(few), 0.823, atol=0.015)


def test_the_triangle_of_captions(coco: Path) -> None:
    """The model lies as far from people as its training text does, and close to the latter."""
    from textassay import AssaySettings, run_assay

    assay = run_assay(
        AssaySettings(
            systems=[f"mle={coco / 'mle.txt'}"],
            human=[str(coco / "test_coco.txt")],
            train=[str(coco / "image_coco.txt")],
            families=("tendencies",),
            resamples=199,
        )
    )
    found = {
        (r.system, parse_signature(r.signature).get("against")): r
        for r in assay.records
        if isinstance(r, Measurement) and r.measure == "tendencies.unigram.tvd"
    }
    assert found["mle", None].verdict == "differs"
    assert np.isclose(found["mle", None].distance, 0.33, atol=0.01)
    assert np.isclose(found["human", "training text"].distance, 0.32, atol=0.01)
    assert np.isclose(found["mle", "training text"].distance, 0.118, atol=0.01)
    assert np.isclose(found["mle", None].reference, 0.083, atol=0.003)
    # the paper: human text itself does not follow Zipf's law
    zipf = {
        r.system: r
        for r in assay.records
        if isinstance(r, Measurement) and r.measure == "tendencies.zipf.ks"
    }
    assert zipf["mle"].human > 0.04
    assert zipf["mle"].value > 0.04
