"""Where text comes from: files, folders, globs and standard input; plain, gzip or Zstandard.

Everything else reads through :func:`byte_chunks`, so that a truncated archive, a missing file or a
folder without text is reported in one way.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from textassay.errors import InputError

Format = Literal["text", "jsonl", "csv", "tsv", "parquet", "npy", "bin"]
STANDARD_INPUT = "-"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FORMATS: dict[str, Format] = {
    ".txt": "text",
    ".text": "text",
    ".tokens": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".npy": "npy",
    ".bin": "bin",
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstandard"}
_READ = 1 << 18
_LARGEST_AHEAD = 1 << 32
_PACKED = 1 << 12  # so little at a time that what it unpacks to is bounded


@dataclass
class InputFile:
    """One file to read, and what reading it found.

    Attributes
    ----------
    name : str
        As the user named it; ``-`` is standard input.
    format : str
        ``text``, ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``npy`` or ``bin``, by the file's
        ending; anything unknown is text.
    compression : str or None
        ``gzip`` or ``zstandard``, by the ending ``.gz`` or ``.zst``.
    digest : str or None
        SHA-256 of the file as it lies on disk, once it was read to its end.
    """

    name: str
    format: Format = "text"
    compression: str | None = None
    digest: str | None = field(default=None, compare=False)
    hashed_ahead: bool = field(default=False, compare=False, repr=False)

    @property
    def is_standard_input(self) -> bool:
        """Whether it can be read only once."""
        return self.name == STANDARD_INPUT

    def identity(self) -> tuple[str, int, int]:
        """Path, size and time of change: what tells an unchanged file without reading it."""
        if self.is_standard_input:
            return (self.name, -1, -1)
        stat = os.stat(self.name)
        return (os.path.abspath(self.name), stat.st_size, stat.st_mtime_ns)


def find_files(pattern: str) -> list[InputFile]:
    """Files that a path, a folder, a glob or ``-`` names, sorted by name.

    Raises
    ------
    InputError
        If nothing is there, or a folder holds no text.
    """
    if pattern in (STANDARD_INPUT, "/dev/stdin"):
        return [InputFile(STANDARD_INPUT)]
    path = Path(pattern)
    try:
        os.stat(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=pattern) from None
    if path.is_dir():
        inside = sorted(
            p
            for p in path.rglob("*")
            if p.is_file()
            and not any(part.startswith(".") for part in p.relative_to(path).parts)
            and _by_ending(p)[0] is not None
        )
        if not inside:
            raise InputError(
                f"the folder holds no text ({', '.join(_FORMATS)}, also .gz and .zst)", file=pattern
            )
        return [_describe(p) for p in inside]
    if path.exists():
        return [_describe(path)]
    if glob.has_magic(pattern):
        found = sorted(p for p in glob.glob(pattern, recursive=True) if os.path.isfile(p))
        if not found:
            raise InputError("no file matches this pattern", file=pattern)
        return [_describe(Path(p)) for p in found]
    raise InputError("no such file", file=pattern)


def _by_ending(path: Path) -> tuple[Format | None, str | None]:
    endings = [ending.lower() for ending in path.suffixes]
    compression = _COMPRESSIONS.get(endings[-1]) if endings else None
    if compression:
        endings.pop()
    return (_FORMATS.get(endings[-1]) if endings else None), compression


def _describe(path: Path) -> InputFile:
    form, compression = _by_ending(path)
    if compression and form in ("parquet", "npy", "bin"):
        raise InputError(f".{form} files are read as they are: unpack it first", file=str(path))
    return InputFile(str(path), form or "text", compression)


def byte_chunks(file: InputFile) -> Iterator[bytes]:
    """The file's (decompressed) bytes, in chunks; the first time sets ``file.digest`` at the end.

    Raises
    ------
    InputError
        If it cannot be opened or read, or is a truncated or corrupt archive.
    """
    hashes = file.digest is None and not file.hashed_ahead
    digest = hashlib.sha256() if hashes else _NoDigest()
    try:
        with _open(file) as stream:
            if file.compression is None:
                while chunk := stream.read(_READ):
                    digest.update(chunk)
                    yield chunk
            else:
                yield from _unpack(file, stream, digest)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file.name) from None
    if hashes:
        file.digest = digest.hexdigest()


@contextlib.contextmanager
def hashed_ahead(files: Sequence[InputFile]) -> Iterator[Callable[[], None]]:
    """Hash plain files in a thread of its own; gives a function that waits until it is done.

    While other things are made ready one core has nothing to do; later there is none to spare.
    Files that are packed, or too large to stay in memory between two readings, are hashed when
    they are read.
    """
    chosen = [
        file
        for file in files
        if file.compression is None
        and file.format in ("text", "jsonl", "csv", "tsv")
        and os.path.isfile(file.name)
        and os.path.getsize(file.name) <= _LARGEST_AHEAD
    ]
    stopped = threading.Event()

    def hash_all() -> None:
        for file in chosen:
            digest = hashlib.sha256()
            with contextlib.suppress(OSError), open(file.name, "rb") as stream:
                while (chunk := stream.read(_READ)) and not stopped.is_set():
                    digest.update(chunk)
                if not stopped.is_set():
                    file.digest = digest.hexdigest()

    for file in chosen:
        file.hashed_ahead = True
    thread = threading.Thread(target=hash_all, name="textassay-digests", daemon=True)
    thread.start()
    try:
        yield thread.join
    finally:
        stopped.set()
        thread.join()


class _NoDigest:
    """What a file read once more is hashed with."""

    def update(self, data: bytes) -> None:
        """Nothing."""

    def hexdigest(self) -> str:
        """Nothing."""
        return ""


def _open(file: InputFile) -> BinaryIO:
    if file.is_standard_input:
        # a duplicate, so that closing it leaves the process's own standard input alone
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    return open(file.name, "rb")


def _unpack(file: InputFile, stream: BinaryIO, digest: Any) -> Iterator[bytes]:
    unpacker: Any = None
    at = 0
    while packed := stream.read(_PACKED):
        digest.update(packed)
        at += len(packed)
        while packed:
            if unpacker is None:
                if not packed.strip(b"\0"):
                    break  # padding behind the last member
                unpacker = _new_unpacker(file)
            try:
                chunk = unpacker.decompress(packed)
            except Exception as error:  # zlib.error or zstandard.ZstdError
                raise InputError(
                    f"is not a sound {file.compression} file ({error}) near packed byte {at}",
                    file=file.name,
                ) from None
            for begin in range(0, len(chunk), _READ):
                yield chunk[begin : begin + _READ]
            packed = b""
            if unpacker.eof:
                packed = unpacker.unused_data
                unpacker = None
    if unpacker is not None:
        raise InputError(
            f"the {file.compression} file is truncated after {at} packed bytes: copy it again",
            file=file.name,
        )


def _new_unpacker(file: InputFile) -> Any:
    if file.compression == "gzip":
        return zlib.decompressobj(wbits=31)
    import zstandard

    return zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj()


def byte_lines(file: InputFile) -> Iterator[tuple[int, bytes]]:
    """Byte offset and content of each line, without its end (``\\n`` or ``\\r\\n``).

    A byte-order mark is dropped.
    """
    rest: list[bytes] = []
    at = begin = 0
    for chunk in byte_chunks(file):
        if at == 0 and chunk.startswith(BYTE_ORDER_MARK):
            at = begin = len(BYTE_ORDER_MARK)
            chunk = chunk.removeprefix(BYTE_ORDER_MARK)
        *lines, tail = chunk.split(b"\n")
        for line in lines:
            rest.append(line)
            at += len(line) + 1
            yield begin, b"".join(rest).removesuffix(b"\r")
            rest = []
            begin = at
        if tail:
            rest.append(tail)
            at += len(tail)
    if rest:
        yield begin, b"".join(rest).removesuffix(b"\r")
