"""Figures from records: each as SVG for the page, and as SVG and PDF with its data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textassay.report.terminal import printable
from textassay.results import Record, Series
from textassay.writing import atomic_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's colours, which the colour-blind tell apart, and marks for those who see none.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8F6B00")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_SIZE_CURVE = 4


@dataclass(frozen=True)
class Figure:
    """A figure: what it shows in words, its curves, and how its axes run."""

    name: str
    title: str
    description: str
    curves: list[Series]
    x_label: str
    y_label: str
    log_x: bool = False
    inset: bool = False

    def rows(self) -> Iterator[list[object]]:
        """The data, a header first."""
        yield ["system", self.x_label, self.y_label, "low", "high"]
        for curve in self.curves:
            low = curve.y_low or [None] * len(curve.x)
            high = curve.y_high or [None] * len(curve.x)
            for x, y, y_low, y_high in zip(curve.x, curve.y, low, high, strict=True):
                yield [printable(curve.system), f"{x:g}", y, y_low, y_high]


def make_figures(records: Sequence[Record]) -> list[Figure]:
    """The figures that the records hold data for."""
    series = [record for record in records if isinstance(record, Series)]
    found: list[Figure] = []
    for source, words in (
        ("both", "counting training text and context"),
        ("context", "counting context alone"),
    ):
        curves = [s for s in series if s.measure == f"novelty.by_n.{source}"]
        if curves and not found:
            found.append(
                Figure(
                    "novelty-by-n",
                    "Novel n-grams by size",
                    f"Share of n-grams that are novel, for each n, {words}; the band is the human "
                    "text's 95 % interval.",
                    curves,
                    "n",
                    "share of n-grams that are novel",
                    inset=True,
                )
            )
    curves = [s for s in series if s.measure == f"novelty.ngram{_SIZE_CURVE}.by_training_size"]
    if curves and len(curves[0].x) > 1:
        found.append(
            Figure(
                "novelty-by-training-size",
                f"Novel {_SIZE_CURVE}-grams by size of the training text",
                f"Share of {_SIZE_CURVE}-grams that are novel after so many tokens of the training "
                "text: a novelty without the size of the text means little.",
                curves,
                "training tokens",
                f"share of {_SIZE_CURVE}-grams that are novel",
                log_x=True,
            )
        )
    return found


def draw(figure: Figure, *, dark: bool = False) -> Drawing:
    """The drawing, on a transparent ground for light or dark pages."""
    import matplotlib

    ink = "#d8d8d8" if dark else "#222222"
    style: Any = {
        "font.size": 10,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "svg.hashsalt": "textassay",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(style):
        from matplotlib.figure import Figure as Drawing

        drawing = Drawing(figsize=(7.2, 4.4), layout="constrained")
        drawing.patch.set_alpha(0)
        axes = drawing.add_subplot()
        _draw_curves(axes, figure, ink)
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(figure.y_label)
        axes.set_ylim(-0.02, 1.02)
        if figure.log_x:
            axes.set_xscale("log")
            axes.set_xticks(figure.curves[0].x, [f"{x:,.0f}" for x in figure.curves[0].x])
            axes.tick_params(axis="x", labelrotation=30, labelsize=8)
            axes.minorticks_off()
        else:
            axes.set_xticks(figure.curves[0].x)
        drawing.legend(frameon=False, loc="outside lower center", ncols=3)
        if figure.inset and len(figure.curves[0].x) >= 4:
            _draw_inset(axes, figure, ink)
    return drawing


def _draw_curves(axes: Any, figure: Figure, ink: str) -> None:
    axes.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    number = 0
    for curve in figure.curves:
        y = [float("nan") if value is None else value for value in curve.y]
        # a dollar sign begins no formula, and an underscore hides no name
        label = printable(curve.system).replace("$", r"\$")
        label = f"\u200b{label}" if label.startswith("_") else label
        if curve.system == "human":
            axes.plot(curve.x, y, color=ink, linestyle="--", label=label, zorder=3)
            if curve.y_low and curve.y_high:
                low = [float("nan") if value is None else value for value in curve.y_low]
                high = [float("nan") if value is None else value for value in curve.y_high]
                axes.fill_between(curve.x, low, high, color=ink, alpha=0.25, linewidth=0)
            continue
        axes.plot(
            curve.x,
            y,
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKS[number % len(_MARKS)],
            markersize=4,
            label=label,
        )
        number += 1


def _draw_inset(axes: Any, figure: Figure, ink: str) -> None:
    """The small n, where models repeat most and curves lie close together."""
    few = [
        value
        for curve in figure.curves
        for x, value in zip(curve.x, curve.y, strict=True)
        if x <= 2 and value is not None
    ]
    if not few or max(few) > 0.45:
        return
    inset = axes.inset_axes((0.52, 0.1, 0.42, 0.38))
    _draw_curves(inset, figure, ink)
    inset.set_xlim(0.8, 2.2)
    inset.set_ylim(-0.05 * max(few), 1.15 * max(few))
    inset.set_xticks([1, 2])
    inset.tick_params(labelsize=8)


def as_svg(drawing: Drawing) -> bytes:
    """The drawing as SVG; the same bytes for the same data."""
    import matplotlib

    out = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "textassay"}):
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": "textassay"})
    return out.getvalue()


def write_figures(figures: Sequence[Figure], folder: Path) -> None:
    """Each figure as SVG and PDF, with its data as CSV; all or none.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
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
