"""A progress bar on standard error, if somebody looks."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from textassay.streams import safe

Show = Callable[[str, int, int | None], None]
_BYTES = 1_000_000  # from so many on, an amount is one of bytes


@contextlib.contextmanager
def progress_bar(quiet: bool) -> Iterator[Show | None]:
    """A function that is told what is under way, how much is done, and of how much.

    None where nobody looks.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=None, amount="")
        current = ""

        def show(what: str, done: int, total: int | None) -> None:
            nonlocal current
            if what.partition(",")[0] != current:  # the time that is left is that of one thing
                current = what.partition(",")[0]
                bar.reset(task, total=total)
            bar.update(
                task,
                description=safe(what),
                completed=done,
                total=total,
                amount=_amount(done, total),
            )

        yield show


def _amount(done: int, total: int | None) -> str:
    """
    Examples
    --------
    >>> _amount(3, 10), _amount(0, None), _amount(2_500_000, 10_000_000)
    ('3/10', '', '2.5/10.0 MB')
    """
    if total is None:
        return f"{done / 1e6:,.1f} MB" if done >= _BYTES else ""
    if total < _BYTES:
        return f"{done:,}/{total:,}"
    return f"{done / 1e6:,.1f}/{total / 1e6:,.1f} MB"
