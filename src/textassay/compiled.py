"""The one way to compile a kernel, and where compiled kernels are kept.

Kernels are plain functions on typed arrays, compiled by numba without the interpreter lock
(``nogil``), so that threads run them side by side. They return within 0.2 s on the pieces they are
given, so that Ctrl-C is answered.

numba notices a change of a kernel's own file, but not of a kernel that it calls in another file.
The cache therefore lives in a folder named after a digest of all kernel sources. Where no folder
can be written the kernels are compiled in memory, and one warning says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from textassay.errors import TextassayWarning

Function = TypeVar("Function", bound=Callable[..., Any])


# numba knows of one folder for all: threads that import kernels at once take turns
_SETTING = threading.Lock()


def kernel(function: Function) -> Function:
    """Compile `function` for arrays, without the interpreter lock, and keep it on disk.

    Parameters
    ----------
    function : callable
        A function of typed arrays and scalars; it must not be a closure over changing values. If
        its name begins with an underscore, only other kernels can call it.

    Returns
    -------
    callable
        The compiled dispatcher; its first call for a set of types compiles or loads it.
    """
    import numba

    config: Any = numba.config
    # entrances that nobody uses take a tenth of the time: from C, and those of kernels' own helpers
    options: dict[str, Any] = {
        "nogil": True,
        "boundscheck": False,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": function.__name__.startswith("_"),
    }
    dispatcher: Any = numba.njit(**options)(function)
    folder = cache_folder()
    if folder is not None:
        with _SETTING:
            before = config.CACHE_DIR
            config.CACHE_DIR = str(folder)
            try:
                dispatcher.enable_caching()
            finally:
                config.CACHE_DIR = before
        _forgive(dispatcher._cache)
    compiled: Function = dispatcher
    return compiled


def _forgive(kept: Any) -> None:
    """Let a damaged cache be made anew, and a full disk be no obstacle.

    numba reads and writes its cache without a net: a truncated index would stop every later run.
    And before it reads the first kernel it gets ready to compile, which takes longer than reading
    them all (a quarter of a second): only memory management must be ready for kernels that are
    compiled. Where a kernel is not found, numba gets ready by itself.
    """
    if hasattr(kept, "_cache_file"):
        kept._cache_file = _CheckedFiles(kept._cache_file)
    load, save = getattr(kept, "_load_overload", kept.load_overload), kept.save_overload

    def load_or_compile(signature: Any, context: Any) -> Any:
        from numba.core.runtime.nrt import rtsys

        try:
            rtsys.initialize(context)
            return load(signature, context)
        except Exception:  # whatever is wrong with the files
            with contextlib.suppress(Exception):
                kept.flush()
            return None

    def save_if_possible(*arguments: Any) -> None:
        try:
            save(*arguments)
        except Exception as error:
            _warn_once(f"kernels cannot be kept ({error}); they are compiled anew in every run")

    kept.load_overload, kept.save_overload = load_or_compile, save_if_possible


class _CheckedFiles:
    """numba's files of one kernel, with a digest: damaged machine code would crash."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def flush(self) -> None:
        self._files.flush()

    def save(self, key: Any, data: Any) -> None:
        from numba.core import serialize

        dumps: Callable[[Any], bytes] = serialize.dumps
        raw = dumps(data)
        self._files.save(key, (hashlib.sha256(raw).digest(), raw))

    def load(self, key: Any) -> Any:
        found = self._files.load(key)
        if found is None:
            return None
        digest, raw = found
        if hashlib.sha256(raw).digest() != digest:
            raise ValueError("damaged")
        return pickle.loads(raw)


@cache
def _warn_once(message: str) -> None:
    warnings.warn(message, TextassayWarning, stacklevel=2)


@cache
def cache_folder() -> Path | None:
    """Folder for compiled kernels, or None (after one warning) where none can be written.

    ``TEXTASSAY_CACHE`` names another place than the user's cache folder.
    """
    named = os.environ.get("TEXTASSAY_CACHE")
    places = [Path(named)] if named else []
    if not named:
        with contextlib.suppress(RuntimeError):  # no home
            places.append(_user_cache() / "textassay")
        user = os.getuid() if hasattr(os, "getuid") else 0
        places.append(Path(tempfile.gettempdir()) / f"textassay-{user}")
    for place in places:
        folder = place / f"kernels-{_source_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                continue  # somebody else's folder: compiled code is not taken from there
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    _warn_once(
        f"kernels are compiled anew in every run, since {' or '.join(map(str, places))} cannot be "
        "written; TEXTASSAY_CACHE names another folder"
    )
    return None


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _source_digest() -> str:
    """Digest of every file that holds kernels (``*kernels.py``) and of this one."""
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([Path(__file__), *package.rglob("*kernels.py")]):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
