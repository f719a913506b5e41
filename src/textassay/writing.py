"""Files that appear whole under their names, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from textassay.errors import OutputError

_REMEDIES = {
    errno.ENOSPC: "free some space",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}


@contextlib.contextmanager
def atomic_files(paths: Sequence[Path]) -> Iterator[list[BinaryIO]]:
    """Files that appear under their names together, when all are whole and on the disk.

    What is there and is no regular file (a pipe, a device) is written to directly; a link stays a
    link.

    Raises
    ------
    OutputError
        If one cannot be written; whatever was there before is still there, and nothing else.
    """
    waiting: list[tuple[str, Path]] = []
    current = paths[0]
    with contextlib.ExitStack() as opened:
        try:
            files: list[BinaryIO] = []
            for current in paths:
                target = Path(os.path.realpath(current))
                if target.exists() and not target.is_dir() and not _is_regular(target):
                    files.append(opened.enter_context(open(target, "wb")))
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                handle, temporary = tempfile.mkstemp(
                    dir=target.parent, prefix=f".{target.name}."[:99]
                )
                waiting.append((temporary, target))
                files.append(opened.enter_context(os.fdopen(handle, "wb")))
            yield files
            for path, file in zip(paths, files, strict=True):
                current = path
                file.flush()
                if _is_regular(file.fileno()):
                    os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            for temporary, current in list(waiting):
                os.chmod(temporary, 0o666 & ~mask)
                os.replace(temporary, current)
                waiting.pop(0)
        except OSError as error:
            remedy = _REMEDIES.get(error.errno or 0, "choose another place")
            raise OutputError(
                f"{current}: cannot be written ({error.strerror or error}): {remedy}"
            ) from None
        finally:
            for temporary, _ in waiting:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)


def _is_regular(file: Path | int) -> bool:
    return stat.S_ISREG(os.stat(file).st_mode)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """One such file."""
    with atomic_files([path]) as (file,):
        yield file


@contextlib.contextmanager
def writable_folder(folder: Path) -> Iterator[None]:
    """A folder that is made if need be, and proved writable before the work that will need it.

    If the work fails, folders that were made for it and are still empty are removed.

    Raises
    ------
    OutputError
        If it cannot be made or written to.
    """
    made: list[Path] = []
    try:
        try:
            missing = folder
            while not missing.exists():
                made.append(missing)
                missing = missing.parent
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            remedy = _REMEDIES.get(error.errno or 0, "choose another place")
            raise OutputError(
                f"{folder}: cannot be written to ({error.strerror or error}): {remedy}"
            ) from None
        yield
    except BaseException:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()
        raise
