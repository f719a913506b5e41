"""The finished automaton's table of edges: exact, however full and however keys are cut."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty import automaton as building
from textassay.novelty.transition_kernels import (
    CHECK_BITS,
    EMPTY,
    FARTHEST,
    GROUP,
    ROW,
    follow,
    mixed_key,
)


def automaton_of(documents: list[list[int]]) -> tuple[building.Automaton, dict[int, int]]:
    """The automaton, and the id of each number."""
    vocabulary = Vocabulary()
    corpus = Corpus.from_documents(
        [Document(" ".join(map(str, document))) for document in documents],
        make_tokenizer("whitespace"),
        vocabulary,
    )
    ids = {int(token): k for k, token in enumerate(vocabulary.strings)}
    return building.build_automaton([corpus]), ids


@settings(max_examples=60)
@given(
    documents=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=60), min_size=1),
    load=st.sampled_from([0.5, 1.6, 4.0, 40.0]),
    read=st.lists(st.integers(0, 12), max_size=80),
)
def test_matches_are_the_longest_suffixes(
    documents: list[list[int]], load: float, read: list[int]
) -> None:
    # a table that is too small by far is made anew until all edges lie near their homes
    with patch.object(building, "_LOAD", load):
        automaton, ids = automaton_of(documents)
    inside = {
        tuple(document[i:j])
        for document in documents
        for i in range(len(document))
        for j in range(i + 1, len(document) + 1)
    }
    state = length = 0
    for k, number in enumerate(read):
        if number not in ids:
            state = length = 0
            continue
        state, length = follow(automaton.matcher, state, length, ids[number])
        longest = max(
            (n for n in range(1, k + 2) if tuple(read[k + 1 - n : k + 1]) in inside), default=0
        )
        assert length == longest


def test_edges_lie_near_their_homes_and_farther_ones_are_found() -> None:
    rng = np.random.default_rng(5)
    documents = rng.integers(0, 50, (20, 200)).tolist()
    with patch.object(building, "_LOAD", 3.5):
        automaton, ids = automaton_of(documents)
    table = automaton.matcher.table
    entries = table[table != EMPTY]
    distances = (entries & np.uint64(0xFFFFFFFF)) >> np.uint64(CHECK_BITS)
    assert distances.max() <= FARTHEST
    assert (distances > 0).sum() > 100  # else this tests nothing
    # every document can be walked to its end
    for document in documents:
        state = length = 0
        for number in document:
            state, length = follow(automaton.matcher, state, length, ids[number])
        assert length == len(document)


@pytest.mark.parametrize(("types", "states"), [(1, 1), (2, 3), (5, 9), (700, 40), (3, 5000)])
@pytest.mark.parametrize("group_bits", [0, 1, 4])
def test_no_two_keys_are_told_apart_by_less_than_their_place_and_check(
    types: int, states: int, group_bits: int
) -> None:
    matcher = building._new_matcher(
        np.zeros(ROW * states, np.int32), np.zeros(types, np.int32), group_bits
    )
    seen = set()
    for state in range(states):
        for token in range(types):
            mixed = int(mixed_key(matcher, np.uint64(state), np.uint64(token)))
            home, check = mixed >> int(matcher.check_bits), mixed & int(matcher.check_mask)
            assert 0 <= home < matcher.table.size // GROUP
            assert check < 1 << CHECK_BITS
            seen.add((home, check))
    assert len(seen) == states * types


def test_a_check_always_fits() -> None:
    # many states and types, few edges asked for: the table grows until 29 bits tell keys apart
    matcher = building._new_matcher(np.zeros(ROW << 18, np.int32), np.zeros(1 << 17, np.int32), 0)
    assert int(matcher.check_bits) == CHECK_BITS
    assert matcher.table.size == GROUP << (18 + 17 - CHECK_BITS)


def test_arrays_begin_where_a_cache_line_does() -> None:
    for size in (1, 3, 1000, 1_000_003):
        array = building.aligned(size, np.int32)
        assert array.size == size
        assert array.ctypes.data % 64 == 0
