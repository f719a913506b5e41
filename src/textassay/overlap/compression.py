"""How far text can be compressed, at one number of bytes for all sides."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.errors import UsageError
from textassay.parallel import Workers
from textassay.stats.ratio_sums import RatioSums

LARGEST = 1 << 14  # bytes of a piece: half of what zlib looks back over
_PIECES = 20  # that each side should have
_SMALLEST = 256


def compression_ratio(texts: Sequence[str], *, size: int | None = None) -> float:
    """Bytes of the texts over those of their compressed form (zlib): the higher, the less varied.

    Shaib et al. 2024. It grows with the amount of text, so compare equal amounts.

    Parameters
    ----------
    texts : list of str
        Joined by line ends, as UTF-8.
    size : int, optional
        Bytes that are compressed, from the begin; default: all.

    Examples
    --------
    >>> compression_ratio(["ab"] * 1000) > 50
    True
    """
    if isinstance(texts, str) or not texts:
        raise UsageError("texts must be a list of at least one document")
    raw = as_bytes(texts)[:size]
    if not raw:
        raise UsageError("texts hold no character")
    return len(raw) / len(zlib.compress(raw, 9))


def as_bytes(texts: Sequence[str]) -> bytes:
    """Texts joined by line ends, as UTF-8."""
    return "\n".join(texts).encode("utf-8", "surrogatepass")


def piece_size(sizes: Sequence[int]) -> int | None:
    """Bytes of a piece for sides of so many bytes each; None where one is too small.

    The largest power of two that gives each side 20 pieces, from 256 bytes to 16 KiB.
    """
    fits = min(sizes) // _PIECES
    return None if fits < _SMALLEST else min(LARGEST, 1 << (fits.bit_length() - 1))


def compressed_pieces(
    texts: Sequence[str],
    unit_documents: NDArray[np.int64],
    keys: Sequence[str],
    size: int,
    rng: np.random.Generator,
    workers: Workers,
) -> RatioSums:
    """Bytes and compressed bytes of pieces of `size` bytes, units in random order.

    A ratio of their sums is the ratio at that many bytes. A piece begins where a unit does, or in a
    long unit where the piece before ended; what is left of a unit is left out. Pieces of one unit
    (a long document, or many of one source) are alike, so they are added up and bear its name:
    what is resampled shares no unit.
    """
    pieces: list[bytes] = []
    names: list[str] = []
    filled = b""
    name: str | None = None
    for unit in rng.permutation(len(keys)).tolist():
        raw = as_bytes(texts[unit_documents[unit] : unit_documents[unit + 1]]) + b"\n"
        name = keys[unit] if name is None else name
        filled += raw
        if len(filled) >= size:
            ends = range(size, len(filled) + 1, size)
            pieces += [filled[end - size : end] for end in ends]
            names += [name] * len(ends)
            filled, name = b"", None
    compressed = list(workers.map(lambda piece: len(zlib.compress(piece, 9)), pieces))
    return RatioSums.from_documents(
        np.full((len(pieces), 1), float(size)),
        np.array(compressed, float)[:, None],
        names,
    )
