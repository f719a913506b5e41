"""Compiled look-up and insertion of tokens by their bytes.

The table is open addressing with linear probing over pairs of uint64, ``key`` and
``id | length << 32``, one pair behind the other; an empty slot has a length of 0xFFFFFFFF. A token
of at most eight bytes *is* its key, so a hit is exact by one comparison; a longer token's key is a
hash, and a hit is verified by its bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textassay.compiled import kernel
from textassay.corpus.scan_kernels import BOUNDARY, NEWLINE
from textassay.memory_kernels import load_eight_bytes, prefetch

EMPTY_SLOT = np.uint64(0xFFFFFFFF_00000000)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)

UNKNOWN_TOKEN, DOCUMENT_END = -1, -2
AHEAD = 16


@kernel
def key_of(buffer: Any, start: int, length: int) -> Any:
    """The token's own bytes as a number up to eight bytes, else a hash of all of them."""
    word = load_eight_bytes(buffer, start)
    if length <= 8:
        if length == 0:
            return np.uint64(0)
        return word & (np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 8 * length))
    mixed = word * _MULTIPLIER
    at = 8
    while at + 8 <= length:
        mixed = (mixed ^ (mixed >> np.uint64(32))) + load_eight_bytes(buffer, start + at)
        mixed = mixed * _MIX
        at += 8
    # the last eight bytes, which may overlap the ones before
    mixed = (mixed ^ (mixed >> np.uint64(29))) + load_eight_bytes(buffer, start + length - 8)
    return mixed * _MIX


@kernel
def slot_of(key: Any, length: int, shift: Any) -> Any:
    """Where the search for a key begins."""
    mixed = (key ^ (key >> np.uint64(31)) ^ np.uint64(length)) * _MULTIPLIER
    return mixed >> shift


@kernel
def same_bytes(buffer: Any, start: int, pool: Any, pool_start: int, length: int) -> bool:
    """Whether two stretches longer than eight bytes are equal."""
    at = 0
    while at + 8 <= length:
        if load_eight_bytes(buffer, start + at) != load_eight_bytes(pool, pool_start + at):
            return False
        at += 8
    last = length - 8
    return bool(load_eight_bytes(buffer, start + last) == load_eight_bytes(pool, pool_start + last))


@kernel
def find(
    buffer: Any, start: int, length: int, table: Any, shift: Any, pool: Any, pool_starts: Any
) -> int:
    """Id of the token, or -(slot + 1) of the empty slot where it belongs."""
    key = key_of(buffer, start, length)
    slot = np.int64(slot_of(key, length, shift))
    last = table.size // 2 - 1
    while True:
        value = table[2 * slot + 1]
        if value == EMPTY_SLOT:
            return -slot - 1
        if table[2 * slot] == key and np.int64(value >> np.uint64(32)) == length:
            token = np.int64(value & np.uint64(0xFFFFFFFF))
            if length <= 8 or same_bytes(buffer, start, pool, pool_starts[token], length):
                return token
        slot = (slot + 1) & last


@kernel
def look_up(
    buffer: Any,
    starts: Any,
    ends: Any,
    count: int,
    table: Any,
    shift: Any,
    pool: Any,
    pool_starts: Any,
    newline_id: int,
    space_id: int,
    ids: Any,
) -> None:
    """Fill ids[:count]: the token's id, UNKNOWN_TOKEN, or DOCUMENT_END.

    The slots of the next tokens are asked for before the ones at hand are compared.
    """
    one = np.uint64(1)
    last = np.uint64(table.size // 2 - 1)
    keys = np.empty(AHEAD, np.uint64)
    slots = np.empty(AHEAD, np.uint64)
    for begin in range(0, count, AHEAD):
        many = min(AHEAD, count - begin)
        for k in range(many):
            i = np.uint64(begin + k)
            start = starts[i]
            if start >= 0:
                length = ends[i] - start
                key = key_of(buffer, start, length)
                slot = slot_of(key, length, shift)
                keys[np.uint64(k)] = key
                slots[np.uint64(k)] = slot
                prefetch(table, np.int64(slot + slot))
        for k in range(many):
            i = np.uint64(begin + k)
            start = starts[i]
            if start < 0:
                if start == BOUNDARY:
                    ids[i] = DOCUMENT_END
                else:
                    ids[i] = newline_id if start == NEWLINE else space_id
                continue
            length = ends[i] - start
            ids[i] = UNKNOWN_TOKEN
            slot = slots[np.uint64(k)]
            key = keys[np.uint64(k)]
            while True:
                value = table[slot + slot + one]
                if value == EMPTY_SLOT:
                    break
                if table[slot + slot] == key and np.int64(value >> np.uint64(32)) == length:
                    token = np.int64(value & np.uint64(0xFFFFFFFF))
                    if length <= 8 or same_bytes(buffer, start, pool, pool_starts[token], length):
                        ids[i] = token
                        break
                slot = (slot + one) & last


@kernel
def insert(
    buffer: Any,
    starts: Any,
    ends: Any,
    begin: int,
    count: int,
    table: Any,
    shift: Any,
    pool: Any,
    pool_starts: Any,
    size: int,
    newline_id: int,
    space_id: int,
    ids: Any,
) -> tuple[int, int]:
    """Like `look_up`, adding what is missing, until an array is full.

    Returns how far it came and how many tokens there are now.
    """
    for i in range(begin, count):
        start = starts[i]
        if start < 0:
            ids[i] = (
                DOCUMENT_END
                if start == BOUNDARY
                else (newline_id if start == NEWLINE else space_id)
            )
            continue
        length = ends[i] - start
        found = find(buffer, start, length, table, shift, pool, pool_starts)
        if found < 0:
            used = pool_starts[size]
            if (
                4 * (size + 1) > table.size
                or size + 2 > pool_starts.size
                or used + length + 8 > pool.size
            ):
                return i, size
            slot = -found - 1
            table[2 * slot] = key_of(buffer, start, length)
            table[2 * slot + 1] = np.uint64(size) | (np.uint64(length) << np.uint64(32))
            for k in range(length):
                pool[used + k] = buffer[start + k]
            pool_starts[size + 1] = used + length
            found = size
            size += 1
        ids[i] = found
    return count, size


@kernel
def rebuild(table: Any, shift: Any, pool: Any, pool_starts: Any, size: int) -> None:
    """Enter all tokens into an empty, larger table."""
    last = table.size // 2 - 1
    for token in range(size):
        start = pool_starts[token]
        length = pool_starts[token + 1] - start
        key = key_of(pool, start, length)
        slot = np.int64(slot_of(key, length, shift))
        while table[2 * slot + 1] != EMPTY_SLOT:
            slot = (slot + 1) & last
        table[2 * slot] = key
        table[2 * slot + 1] = np.uint64(token) | (np.uint64(length) << np.uint64(32))
