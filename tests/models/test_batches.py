"""What training steps read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textassay.errors import UsageError
from textassay.models.batches import Batches
from textassay.models.text_tokens import BEGIN, END, SPECIAL

documents = st.lists(
    st.lists(st.integers(SPECIAL, 9), max_size=12), min_size=1, max_size=30
).filter(any)


@given(documents, st.integers(1, 5), st.integers(1, 8), st.integers(0, 3))
def test_each_document_is_read_once_an_epoch(
    given_documents: list[list[int]], batch: int, stretch: int, epoch: int
) -> None:
    batches = Batches(given_documents, "documents", batch, stretch, 0)
    found: Counter[tuple[int, ...]] = Counter()
    steps = 0
    blocks = batches.blocks(epoch)
    for block in blocks:
        steps += -(-(block.shape[1] - 1) // stretch)
        for row in block.tolist():
            end = row.index(END)
            found[tuple(row[1:end])] += 1
            assert row[0] == BEGIN
            assert set(row[end + 1 :]) <= {BEGIN}
        # no padding that no row needs
        assert (block[:, -1] == END).any()
    assert found == Counter(tuple(ids) for ids in given_documents if ids)
    assert steps == batches.steps
    again = batches.blocks(epoch)
    assert all(np.array_equal(a, b) for a, b in zip(blocks, again, strict=True))


@given(documents, st.integers(1, 4))
def test_contiguous_text_is_all_of_it_in_order(
    given_documents: list[list[int]], batch: int
) -> None:
    flat = [i for ids in given_documents if ids for i in [BEGIN, *ids, END]]
    if len(flat) // batch < 2:
        with pytest.raises(UsageError, match=f"holds {len(flat)} tokens, too few for {batch} rows"):
            Batches(given_documents, "contiguous", batch, 4, 0)
        return
    (block,) = Batches(given_documents, "contiguous", batch, 4, 0).blocks(2)
    assert block.ravel().tolist() == flat[: block.size]
    assert block.size > len(flat) - batch


def test_epochs_differ_and_other_text_has_another_digest() -> None:
    texts = [[3 + k % 5, 4, 5] for k in range(40)]
    batches = Batches(texts, "documents", 4, 3, 1)
    one, other = batches.blocks(0), batches.blocks(1)
    assert not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert batches.digest != Batches([*texts[1:], texts[1]], "documents", 4, 3, 1).digest
    assert len(one) < 12  # short documents share a block of as many tokens as others have
