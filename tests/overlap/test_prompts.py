"""Pairs of samples of one prompt against loops over them; pieces that are compressed."""

from __future__ import annotations

import zlib
from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import EXAMPLES
from tests.overlap.test_set_statistics import texts_of
from textassay.corpus.by_unit import by_unit
from textassay.overlap import bleu
from textassay.overlap.compression import compressed_pieces, piece_size
from textassay.overlap.document_ngrams import number_texts
from textassay.overlap.prompts import MOST, prompt_sums
from textassay.parallel import Workers
from textassay.stats.ratio_sums import bootstrap_ratios

documents = st.lists(
    st.tuples(st.sampled_from("pqr") | st.just(""), st.text("ab ", max_size=9)),
    min_size=1,
    max_size=9,
)


@settings(max_examples=60 * EXAMPLES)
@given(documents)
def test_pairs_by_hand(given_: list[tuple[str, str]]) -> None:
    prompts, texts = [p for p, _ in given_], [t for _, t in given_]
    (text,) = texts_of(texts)
    found = prompt_sums(
        by_unit(text, "document"),
        prompts,
        number_texts(texts),
        1,
        False,
        np.random.default_rng(0),
    )
    groups = {p: [t for q, t in given_ if q == p] for p in prompts if p}
    groups = {p: group for p, group in groups.items() if len(group) > 1}
    if not groups:
        assert found is None
        return
    assert found is not None
    assert found.keys == list(groups)
    for row, group in enumerate(groups.values()):
        pairs = list(permutations(group, 2))
        scores = [bleu([a], [b], tokenizer="whitespace").score for a, b in pairs]
        assert np.isclose(found.numerators[row, 0], np.mean(scores))
        grams = [
            [tuple(part.split()[i : i + 2]) for i in range(len(part.split()) - 1)] for part in group
        ]
        joint = [a + b for a, b in permutations(grams, 2)]
        total = np.mean([len(g) for g in joint])
        assert found.denominators[row, 1] == (total > 0)
        if total:
            share = np.mean([len(set(g)) for g in joint]) / total
            assert np.isclose(found.numerators[row, 1], share)
        assert np.isclose(found.numerators[row, 2], np.mean([a != b for a, b in pairs]))


def test_of_many_samples_some_are_drawn() -> None:
    texts = [f"a b{k}" for k in range(3 * MOST)]
    (text,) = texts_of(texts)
    rng = np.random.default_rng(0)
    found = prompt_sums(
        by_unit(text, "document"), ["p"] * len(texts), number_texts(texts), 1, False, rng
    )
    assert found is not None
    assert found.values[2] == 1.0


def test_pieces_are_of_one_size_and_share_no_unit() -> None:
    texts = [f"document number {k}" for k in range(400)]
    with Workers(2) as workers:
        found = compressed_pieces(
            texts, np.arange(401), texts, 512, np.random.default_rng(1), workers
        )
    order = np.random.default_rng(1).permutation(400)
    left = [texts[d] for d in order]
    for key, size, compressed in zip(
        found.keys, found.numerators[:, 0], found.denominators[:, 0], strict=True
    ):
        assert key == left[0]
        raw, number = b"", 0
        while len(raw) < 512:
            raw, number = raw + left[number].encode() + b"\n", number + 1
        assert (size, compressed) == (512, len(zlib.compress(raw[:512], 9)))
        left = left[number:]
    assert len("\n".join(left)) < 512


def test_pieces_of_one_unit_stay_together() -> None:
    texts = [f"{unit} {'lorem ipsum ' * 40}" for unit in "abcdefgh" for _ in range(3)]
    documents, keys = np.arange(0, 25, 3), list("abcdefgh")
    with Workers(1) as workers:
        found = compressed_pieces(texts, documents, keys, 256, np.random.default_rng(2), workers)
    assert sorted(found.keys) == keys
    size = len("\n".join(texts[:3]).encode()) + 1
    assert (found.numerators[:, 0] == size // 256 * 256).all()


def test_errors_of_compression_are_true_where_units_are_as_long_as_pieces() -> None:
    """Units of unlike words: had neighbouring pieces a unit in common, errors were too small."""
    rng = np.random.default_rng(3)
    values, errors = [], []
    with Workers(1) as workers:
        for _ in range(150):
            texts = []
            for words in rng.integers(1, 60, 60):
                chosen = rng.integers(0, words, 100)
                texts.append(" ".join(f"{word:04d}" for word in chosen)[:490])
            sums = compressed_pieces(
                texts, np.arange(61), list(map(str, range(60))), 512, rng, workers
            )
            values.append(sums.values[0])
            errors.append(bootstrap_ratios(sums, 199, rng).std())
    assert np.mean(errors) / np.std(values) > 0.95


def test_pieces_fit_the_smallest_side() -> None:
    assert piece_size([10**9, 10**8]) == 1 << 14
    assert piece_size([20 * 1024, 10**9]) == 1024
    assert piece_size([20 * 256 - 1]) is None
