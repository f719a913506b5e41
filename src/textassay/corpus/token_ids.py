"""Ready token ids: NumPy arrays, and raw numbers as nanoGPT and Megatron write them.

A two-dimensional ``.npy`` holds a document a row. A ``.bin`` with Megatron's ``.idx`` beside it
holds the documents that the index lists. Other arrays are one document, unless an id ends
documents (``--newline-token``); token ``i`` is the text ``str(i)``.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.files import InputFile
from textassay.errors import InputError

_STRETCH = 1 << 19
_LARGEST_ID = 2**31 - 1
_MEGATRON_TYPES = {1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 8: "uint16"}


def id_stretches(
    file: InputFile, id_type: str, document_end: int | None, documents: str
) -> Iterator[NDArray[np.int64]]:
    """Stretches of ids, int64, with -2 behind each document; sets the file's digest."""
    ids, limits = open_ids(file, id_type)
    digest = hashlib.sha256()
    with open(file.name, "rb") as raw:
        while chunk := raw.read(1 << 20):
            digest.update(chunk)
    file.digest = digest.hexdigest()
    for first in range(0, ids.size, _STRETCH):
        stretch = np.asarray(ids[first : first + _STRETCH]).astype(np.int64)
        if stretch.size and not 0 <= stretch.min() <= stretch.max() <= _LARGEST_ID:
            raise InputError(f"holds a token id below 0 or above {_LARGEST_ID:,}", file=file.name)
        if documents == "stream":
            yield stretch
            continue
        if document_end is not None:
            stretch[stretch == document_end] = -2
        inside = limits[(limits > first) & (limits <= first + stretch.size)] - first
        yield np.insert(stretch, inside, -2)


def id_documents(
    file: InputFile, id_type: str, document_end: int | None, documents: str
) -> Iterator[str]:
    """The documents of a file as text: ids in decimal, with spaces between."""
    words: list[str] = []
    for stretch in id_stretches(file, id_type, document_end, documents):
        at = 0
        for end in np.flatnonzero(stretch == -2).tolist():
            words.extend(map(str, stretch[at:end].tolist()))
            yield " ".join(words)
            words = []
            at = end + 1
        words.extend(map(str, stretch[at:].tolist()))
    if words:
        yield " ".join(words)


def open_ids(file: InputFile, id_type: str) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """All ids of a file, memory-mapped, and where its documents end (as far as it tells)."""
    none = np.empty(0, np.int64)
    try:
        if file.format == "npy":
            with open(file.name, "rb") as raw:
                if raw.read(6) != b"\x93NUMPY":
                    raise InputError("is no .npy file", file=file.name)
            array = np.load(file.name, mmap_mode="r", allow_pickle=False)
            if array.dtype.kind not in "iu" or array.ndim not in (1, 2):
                raise InputError(
                    f"holds {array.dtype} of {array.ndim} dimensions: whole numbers of one "
                    "(a text) or two (a document a row) are needed",
                    file=file.name,
                )
            if array.ndim == 2:
                rows, width = array.shape
                return array.reshape(-1), np.arange(1, rows + 1) * width
            return array, none
        if file.format != "bin":
            raise InputError("--tokenizer ids reads .npy and .bin files", file=file.name)
        index = Path(file.name).with_suffix(".idx")
        limits = none
        if index.is_file():
            id_type, limits = _read_megatron_index(index)
        size = Path(file.name).stat().st_size
        if size % np.dtype(id_type).itemsize:
            raise InputError(
                f"holds {size:,} bytes, which is no whole number of {id_type}: truncated, or "
                "another --id-type",
                file=file.name,
            )
        ids = np.memmap(file.name, dtype=id_type, mode="r") if size else none
        if index.is_file() and limits.max(initial=0) != ids.size:
            raise InputError(
                f"holds {ids.size:,} ids, but {index} lists {limits.max(initial=0):,}: one of them "
                "is truncated or of another text",
                file=file.name,
            )
        return ids, limits
    except (OSError, ValueError, EOFError, OverflowError, IndexError) as error:
        raise InputError(f"cannot be read as token ids: {error}", file=file.name) from None


def _read_megatron_index(path: Path) -> tuple[str, NDArray[np.int64]]:
    raw = path.read_bytes()
    header = struct.calcsize("<9sQBQQ")
    if raw[:9] != b"MMIDIDX\x00\x00" or len(raw) < header:
        raise InputError("is no index of Megatron's (MMIDIDX)", file=str(path))
    _, version, code, sequences, documents = struct.unpack_from("<9sQBQQ", raw)
    if version != 1 or code not in _MEGATRON_TYPES:
        raise InputError(f"has version {version} and type {code}, unknown here", file=str(path))
    if len(raw) < header + 12 * sequences + 8 * documents:
        raise InputError("is truncated: copy it again", file=str(path))
    sizes = np.frombuffer(raw, np.int32, sequences, header)
    if sequences and sizes.min() < 0:
        raise InputError("lists a sequence of negative length", file=str(path))
    index = np.frombuffer(raw, np.int64, documents, header + 12 * sequences)
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    return _MEGATRON_TYPES[code], np.unique(ends[index[index > 0]])
