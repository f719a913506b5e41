"""Figures: what they show in words and data; written as SVG, PDF and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textassay.report.printable import printable
from textassay.results import Measurement, Series
from textassay.writing import atomic_files


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    curves : list of Series
    x_label, y_label, title : str
    log_x, log_y : bool
    style : {'lines', 'ticks', 'steps', 'nulls', 'points'}
        Lines; lines with a tick at each x; cumulative shares; histograms of permutations, a row a
        system, with what was observed; a point a system, with its intervals.
    inset : bool
        Whether the small x are shown once more, larger.
    is_share : bool
        Whether y runs from 0 to 1.
    x_spans : mapping of str to tuple of float
        Intervals of x, by system.
    """

    curves: list[Series]
    x_label: str
    y_label: str
    title: str = ""
    log_x: bool = False
    log_y: bool = False
    style: str = "lines"
    inset: bool = False
    is_share: bool = False
    x_spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Matrix:
    """Numbers by system and measure, each with a mark."""

    systems: list[str]
    measures: list[str]
    numbers: list[list[float | None]]
    marks: list[list[str]]
    label: str


@dataclass(frozen=True)
class Figure:
    """A figure of one or several panels, or a matrix."""

    name: str
    title: str
    description: str
    panels: list[Panel] = field(default_factory=list)
    matrix: Matrix | None = None
    family: str = "tendencies"

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of panels."""
        columns = min(3, len(self.panels)) or 1
        return -(-len(self.panels) // columns) or 1, columns

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height."""
        if self.matrix is not None:
            return 10.0, 2.2 + 0.45 * len(self.matrix.systems)
        rows, columns = self.grid
        if columns == 1:
            # three names a row of the legend; those beyond two rows need room of their own
            systems = len({curve.system for panel in self.panels for curve in panel.curves})
            return 7.2, 4.4 + 0.2 * max(0, -(-systems // 3) - 2)
        tallest = 2.5
        if any(panel.style == "nulls" for panel in self.panels):
            tallest = 0.9 + 0.28 * max(len(panel.curves) for panel in self.panels)
        return 3.5 * columns, 0.6 + tallest * rows

    def rows(self) -> Iterator[list[object]]:
        """The data, a header first."""
        if self.matrix is not None:
            yield ["system", *self.matrix.measures]
            for system, numbers in zip(self.matrix.systems, self.matrix.numbers, strict=True):
                yield [printable(system), *numbers]
            return
        several = len(self.panels) > 1
        first = self.panels[0]
        labels = ["x", "y"] if several else [first.x_label, first.y_label]
        observed = any(c.observed is not None for panel in self.panels for c in panel.curves)
        end = ["observed"] if observed else ["low", "high"]
        yield [*(["panel"] if several else []), "system", *labels, *end]
        for panel in self.panels:
            for curve in panel.curves:
                low = curve.y_low or [None] * len(curve.x)
                high = curve.y_high or [None] * len(curve.x)
                name = [panel.title] if several else []
                for x, y, y_low, y_high in zip(curve.x, curve.y, low, high, strict=True):
                    ends = [curve.observed] if observed else [y_low, y_high]
                    yield [*name, printable(curve.system), f"{x:g}", y, *ends]


def points_panel(
    x: Mapping[str, Measurement],
    y: Mapping[str, Measurement],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
) -> Panel | None:
    """Two measures against each other, a point with its intervals for each system that has both.

    Labels tell a measure and, behind a colon, what its direction means.
    """
    curves, spans = [], {}
    for system, of_y in y.items():
        of_x = x.get(system)
        if of_x is None or of_x.value is None or of_y.value is None:
            continue
        curves.append(
            Series(
                measure=of_y.measure,
                system=system,
                x_label=x_label.partition(":")[0],
                y_label=y_label.partition(":")[0],
                x=[of_x.value],
                y=[of_y.value],
                y_low=[of_y.value_low],
                y_high=[of_y.value_high],
            )
        )
        if of_x.value_low is not None and of_x.value_high is not None:
            spans[system] = (of_x.value_low, of_x.value_high)
    if not curves:
        return None
    return Panel(curves, x_label, y_label, style="points", log_x=log_x, x_spans=spans)


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Each figure as SVG and PDF, with its data as CSV; all or none.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    from textassay.report.drawing import as_svg, draw

    if not figures:
        return
    paths = [folder / f"{f.name}.{kind}" for f in figures for kind in ("svg", "pdf", "csv")]
    with atomic_files(paths) as files:
        waiting = iter(files)
        for figure in figures:
            drawing = draw(figure)
            drawing.patch.set(alpha=1, facecolor="white")  # a file is seen on any ground
            next(waiting).write(as_svg(drawing))
            drawing.savefig(next(waiting), format="pdf", metadata={"CreationDate": None})
            table = io.StringIO(newline="")
            csv.writer(table).writerows(figure.rows())
            next(waiting).write(table.getvalue().encode())
