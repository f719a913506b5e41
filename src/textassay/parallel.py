"""Where independent pieces of work run: threads for compiled kernels, processes for Python code.

Results come back in the order of their inputs, and neither pieces nor seeds depend on how many
workers there are, so that the same input gives the same bytes on any machine.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TypeVar

from textassay.errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """A few threads and, where Python-bound work asks for them, processes.

    Parameters
    ----------
    jobs : int, optional
        How many pieces run at once; default: the cores this process may use.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     list(workers.map(abs, [-1, -2]))
    [1, 2]
    """

    def __init__(self, jobs: int | None = None) -> None:
        if jobs is not None and jobs < 1:
            raise UsageError(f"jobs is {jobs}: at least 1 is needed")
        self.jobs = jobs or available_cores()
        self._threads: Executor | None = None
        self._processes: Executor | None = None
        self._token: Token[Workers | None] | None = None

    def __enter__(self) -> Workers:
        self._token = _around.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            _around.reset(self._token)
        for pool in (self._threads, self._processes):
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)
        self._threads = self._processes = None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in order, computed by threads; `items` is read only a little ahead."""
        return _ordered(self._thread_pool(), function, items, 2 * self.jobs)

    def start(self, function: Callable[[], Result]) -> Future[Result]:
        """Begin something in a thread, beside what is called next; ask the future for its result.

        For work that runs without the interpreter lock for most of its time.
        """
        return self._thread_pool().submit(function)

    def _thread_pool(self) -> Executor:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="textassay")
        return self._threads

    def map_in_processes(
        self, function: Callable[[Item], Result], items: Iterable[Item]
    ) -> Iterator[Result]:
        """The same by processes; function, items and results must be picklable."""
        if self.jobs == 1:
            return map(function, items)
        if self._processes is None:
            context = multiprocessing.get_context("spawn")
            self._processes = ProcessPoolExecutor(self.jobs, mp_context=context)
        return _ordered(self._processes, function, items, 2 * self.jobs)


# Threads of a pool have no workers around them: what they call runs in them, and never waits for
# the pool that it is a part of.
_around: ContextVar[Workers | None] = ContextVar("workers", default=None)


def map_around(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results in order, by the threads of the workers whose ``with`` this is called in, if any.

    For numbers deep below the place that knows of workers.

    Examples
    --------
    >>> with Workers(2):
    ...     list(map_around(abs, [-1, -2]))
    [1, 2]
    """
    workers = _around.get()
    return map(function, items) if workers is None else workers.map(function, items)


def _ordered(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            while len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for future in waiting:
            if not future.cancelled():
                future.exception()  # what runs ends before anyone looks at shared arrays
