"""The terminal's view of records: tables, warnings and the longest copied passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textassay.report.likely import likelihood_table
from textassay.report.natural import distances_table, triangle_table, values_table
from textassay.report.printable import printable
from textassay.report.tables import interval, number
from textassay.report.varied import repeated_table, variety_table
from textassay.report.words import COPYING, times, units_column, verdict_of
from textassay.results import Example, Header, Measurement, Record, Series, Warn, parse_signature

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_SHOWN_PASSAGES = 3
_LONGEST_SHOWN = 300


def make_console() -> Console:
    """Standard output as rich sees it; a reader that goes away is an error, not an exit."""
    import sys

    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # in a pipe there is no width to fit
    return Output(width=None if sys.stdout.isatty() else 160)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def print_results(records: Sequence[Record], console: Console) -> None:
    """Print what was compared, the tables, the warnings and some passages."""
    header = next((r for r in records if isinstance(r, Header)), None)
    measured = [r for r in records if isinstance(r, Measurement)]
    if header is not None:
        _print_inputs(header, measured, console)
    for data in (
        distances_table(measured),
        values_table(measured),
        triangle_table(measured),
        variety_table(measured),
        repeated_table(records),
        likelihood_table(measured),
    ):
        if data is not None:
            _print_title(data.caption, console)
            shown = _table(data.columns[1:], data.columns[0])
            for column, name in zip(shown.columns, (data.classes or [[]])[0], strict=False):
                if name == "text":
                    column.justify = "left"
            for row in data.rows:
                _add_row(shown, row)
            console.print(shown)
    novelty = [r for r in measured if r.measure.startswith("novelty.")]
    if novelty:
        _print_novelty(records, novelty, console)
    for warning in (r for r in records if isinstance(r, Warn)):
        where = f"{printable(warning.system)}: " if warning.system else ""
        console.print(
            f"warning: {where}{printable(warning.message)}",
            style="yellow",
            markup=False,
            highlight=False,
        )


def _print_inputs(header: Header, measured: Sequence[Measurement], console: Console) -> None:
    unit = measured[0].resampling_unit if measured else "document"
    parts = [f"tokenizer {header.tokenizer}", f"resampling unit {unit}", f"seed {header.seed}"]
    for entry in header.inputs:
        if entry["role"] == "training" and "tokens" in entry:
            role = header.settings.get("train_role", "full")
            kind = "reference text" if role == "reference" else "training text"
            parts.append(f"{kind} {entry['file']}: {entry['tokens']:,} tokens")
    console.print(printable("; ".join(parts)), markup=False, highlight=False)


def _table(columns: Sequence[str], first: str = "system") -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _add_row(table: Table, cells: Sequence[str]) -> None:
    from rich.text import Text

    table.add_row(*(Text(cell) for cell in cells))  # text, never markup


def _print_title(title: str, console: Console) -> None:
    console.print(f"\n{title}", style="bold", markup=False, highlight=False)


def _print_novelty(
    records: Sequence[Record], measured: Sequence[Measurement], console: Console
) -> None:
    by_system: dict[str, dict[tuple[str, str, str], Measurement]] = {}
    for record in measured:
        parts = parse_signature(record.signature)
        key = (record.measure, parts.get("source", "both"), parts.get("len", ""))
        if parts.get("norm") == "casefold" and parts.get("tok") == "bare-words":
            key = (f"{record.measure}~", key[1], key[2])  # near-verbatim, beside the exact ones
        by_system.setdefault(record.system, {}).setdefault(key, record)
    has_training = any(
        source == "training" for found in by_system.values() for _, source, _ in found
    )
    source = "both" if has_training else "context"
    counted = "training text and context" if has_training else "their own context alone"
    _print_scores(by_system, source, counted, console)

    curves = {
        r.system: r
        for r in records
        if isinstance(r, Series) and r.measure == f"novelty.by_n.{source}"
    }
    if curves:
        ngrams = next(iter(curves.values())).x
        _print_title("Novel n-grams (share)", console)
        table = _table([f"n={n:g}" for n in ngrams])
        for system, curve in curves.items():
            _add_row(table, [printable(system), *(number(y, 4) for y in curve.y)])
        console.print(table)
    if has_training:
        _print_copying(records, by_system, console)


def _print_scores(
    by_system: dict[str, dict[tuple[str, str, str], Measurement]],
    source: str,
    counted: str,
    console: Console,
) -> None:
    measure = "novelty.pointwise"
    lengths = {length for found in by_system.values() for _, _, length in found}
    cut = max(lengths, key=len)  # an assay compares at one length, if lengths are unlike
    compared = any(r.distance is not None for found in by_system.values() for r in found.values())
    units = units_column(r for found in by_system.values() for r in found.values())
    names = ["documents", *units, "tokens", "score", "95 %"]
    if cut:
        names.append(f"first {cut} tokens")
    if compared:
        names += ["minus human", "95 %", "margin", "detectable", "verdict"]
    _print_title(f"Pointwise duplication score, truncated at 5, counting {counted}", console)
    table = _table(names)
    for system, found in by_system.items():
        whole = found.get((measure, source, ""))
        if whole is None:
            continue
        cells = [
            printable(system),
            f"{whole.n_documents:,}",
            *(f"{whole.n_units:,}" for _ in units),
            f"{whole.n_tokens:,}",
            number(whole.value),
            interval(whole.value_low, whole.value_high),
        ]
        r = found.get((measure, source, cut), whole)
        if cut:
            others = (other.get((measure, source, cut)) for other in by_system.values())
            human = next((other.human for other in others if other is not None), None)
            cells.append(number(r.value if r is not whole else human))
        if compared:
            cells += [
                "" if r.distance is None else f"{r.distance:+.3f}",
                interval(r.distance_low, r.distance_high),
                number(r.reference),
                number(r.detectable),
                verdict_of(r),
            ]
        _add_row(table, cells)
    console.print(table)


def _print_copying(
    records: Sequence[Record],
    by_system: dict[str, dict[tuple[str, str, str], Measurement]],
    console: Console,
) -> None:
    header = next((r for r in records if isinstance(r, Header)), None)
    reference = header is not None and header.settings.get("train_role") == "reference"
    exact = "Also found in the reference text" if reference else "Copying from the training text"
    for title, mark, columns in (
        (exact, "", COPYING),
        ("The same except for case and punctuation", "~", COPYING[:3]),
    ):
        if not any((f"{COPYING[0][0]}{mark}", "training", "") in f for f in by_system.values()):
            continue
        _print_title(title, console)
        table = _table([name for _, name, _ in columns])
        for system, found in by_system.items():
            measured = [found.get((f"{m}{mark}", "training", "")) for m, _, _ in columns]
            numbers = [
                "" if record is None else number(record.value, digits)
                for record, (_, _, digits) in zip(measured, columns, strict=True)
            ]
            _add_row(table, [printable(system), *numbers])
        console.print(table)

    for curve in records:
        if isinstance(curve, Series) and curve.measure == "novelty.supercopied.counts":
            pairs = zip(curve.x, curve.y, strict=True)
            occurrences = [x for x, y in pairs for _ in range(int(y or 0))]
            console.print(
                printable(
                    f"{curve.system}: {len(occurrences):,} 100-grams occur "
                    f"{occurrences[len(occurrences) // 2]:,.0f} times (median), "
                    f"at most {occurrences[-1]:,.0f}"
                ),
                markup=False,
                highlight=False,
            )
    shown: dict[str, int] = {}
    for example in (r for r in records if isinstance(r, Example)):
        if not example.measure.startswith("novelty."):
            continue
        shown[example.system] = shown.get(example.system, 0) + 1
        if shown[example.system] > _SHOWN_PASSAGES:
            continue
        byte = "" if example.source_byte is None else f", byte {example.source_byte:,}"
        console.print(
            printable(
                f"{example.system}, document {example.document}: {example.n_tokens} tokens, "
                f"found {times(example.count)}, first in {example.source_file}, document "
                f"{example.source_document}, token {example.source_token}{byte}"
            ),
            markup=False,
            highlight=False,
            style="bold",
        )
        console.print(
            f"  {printable(_cut(example.text))}", markup=False, highlight=False, soft_wrap=True
        )
