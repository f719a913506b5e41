"""Compiled walks over the scores of one corpus that have no plain array form."""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel


@kernel
def longest_cover(copied: Any, offsets: Any, begin: int, end: int, cover: Any) -> None:
    """For each token, the longest copied passage that covers it, for documents begin..end.

    copied[i]: length of the passage that ends at token i and lies inside its document. The begins
    of these passages never move back, so a queue of falling lengths answers each token in turn
    from the right.
    """
    for d in range(begin, end):
        first, last = offsets[d], offsets[d + 1]
        size = last - first
        waiting = np.empty(size, np.int64)
        head, tail = 0, 0
        next_end = first
        for t in range(first, last):
            # all passages that begin no later than t
            while next_end < last and next_end - copied[next_end] + 1 <= t:
                while tail > head and copied[waiting[tail - 1]] <= copied[next_end]:
                    tail -= 1
                waiting[tail] = next_end
                tail += 1
                next_end += 1
            while head < tail and waiting[head] < t:
                head += 1
            cover[t] = copied[waiting[head]] if head < tail else 0


@kernel
def covered_characters(
    copied: Any, offsets: Any, begins: Any, ends: Any, least: int, out: Any
) -> None:
    """Characters of each document in copied passages of at least `least` characters.

    begins, ends: characters at which tokens begin and end. Passages that overlap count once.
    """
    for d in range(offsets.size - 1):
        covered = 0
        reached = 0
        for i in range(offsets[d], offsets[d + 1]):
            if copied[i] > 0:
                start = begins[i - copied[i] + 1]
                if ends[i] - start >= least:
                    covered += ends[i] - max(start, reached)
                    reached = ends[i]
        out[d] = covered
