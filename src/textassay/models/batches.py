"""What a training step reads: contiguous text, or documents by themselves.

An epoch is a sequence of blocks, int64[rows, T]. A run reads a block stretch by stretch with the
state carried on, and begins each block without a state. What follows the end of a document is its
successor's begin or padding, and both are the begin's id, which is never learnt.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError
from textassay.models.text_tokens import BEGIN, END

READINGS = ("contiguous", "documents")
Block = NDArray[np.int64]


class Batches:
    """Blocks of every epoch.

    Parameters
    ----------
    documents : sequence of list of int
        Ids without begin and end.
    reading : {'contiguous', 'documents'}
        Contiguous: documents stand end to end, cut into `batch` rows of one length, in one block,
        so that a model learns across documents that belong together. Documents: each row is one,
        blocks hold documents of like length, their order and what shares a block is drawn anew for
        each epoch; for sentences in any order, or sorted ones.
    batch : int
        Rows that are read side by side. Blocks of documents shorter than a stretch have more rows,
        so that they hold about as many tokens.
    stretch : int
        Tokens of a row that a step reads.
    seed : int

    Raises
    ------
    UsageError
        If there is too little text for a batch.
    """

    def __init__(
        self,
        documents: Sequence[list[int]],
        reading: str,
        batch: int,
        stretch: int,
        seed: int,
    ) -> None:
        self.stretch, self.seed = stretch, seed
        self._documents = [np.array([BEGIN, *ids, END], np.int64) for ids in documents if ids]
        self._contiguous: Block | None = None
        self._parts: list[tuple[int, int]] = []
        total = sum(map(len, self._documents))
        few = UsageError(
            f"the training text holds {total:,} tokens, too few for {batch} rows: "
            "give more text or a smaller batch"
        )
        if reading == "contiguous":
            width = total // batch
            if width < 2:
                raise few
            flat = np.concatenate(self._documents)
            self._contiguous = flat[: width * batch].reshape(batch, width)
            self._lengths = [width]
        else:
            if not self._documents:
                raise few
            # by length: the parts are the same in every epoch, who shares one is not
            lengths = np.sort([len(ids) for ids in self._documents])
            end = len(lengths)
            while end:
                rows = max(batch, batch * stretch // int(lengths[end - 1]))
                self._parts.append((max(0, end - rows), end))
                end = max(0, end - rows)
            self._lengths = [int(lengths[end - 1]) for _, end in self._parts]

    @property
    def steps(self) -> int:
        """Of an epoch."""
        return sum(-(-(length - 1) // self.stretch) for length in self._lengths)

    @property
    def digest(self) -> int:
        """A number that tells other text apart."""
        flat = np.concatenate(self._documents)
        return int(np.bitwise_xor.reduce(flat * np.arange(1, flat.size + 1)))

    def blocks(self, epoch: int) -> list[Block]:
        """The blocks of an epoch, from 0 on."""
        if self._contiguous is not None:
            return [self._contiguous]
        rng = np.random.default_rng([self.seed, epoch])
        lengths = np.array([len(ids) for ids in self._documents])
        order = np.lexsort((rng.random(lengths.size), lengths))
        blocks = []
        for number in rng.permutation(len(self._parts)).tolist():
            begin, end = self._parts[number]
            block = np.full((end - begin, self._lengths[number]), BEGIN, np.int64)
            for row, document in enumerate(order[begin:end].tolist()):
                block[row, : lengths[document]] = self._documents[document]
            blocks.append(block)
        return blocks
