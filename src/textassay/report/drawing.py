"""How figures are drawn: the same colours, marks and human baseline everywhere."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from textassay.report.figures import Figure, Matrix, Panel
from textassay.report.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


# Okabe and Ito's colours, which the colour-blind tell apart, and marks for those who see none.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8F6B00")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_BASELINES = ("human", "training text")
_LONGEST_LABEL = 28  # characters
_MARKED = 20  # points up to which each gets a mark


def draw(figure: Figure, *, dark: bool = False) -> Drawing:
    """The drawing, on a transparent ground for light or dark pages."""
    import matplotlib

    ink = "#d8d8d8" if dark else "#222222"
    style: Any = {
        "font.size": 10 if figure.grid[1] == 1 else 8,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "axes.titlesize": 9,
        "text.color": ink,
        "xtick.color": ink,
        "ytick.color": ink,
        "svg.hashsalt": "textassay",
        "svg.fonttype": "path",
        "pdf.fonttype": 42,
    }
    with matplotlib.rc_context(style):
        from matplotlib.figure import Figure as Drawing

        drawing = Drawing(figsize=figure.inches, layout="constrained")
        drawing.patch.set_alpha(0)
        if figure.matrix is not None:
            _draw_matrix(drawing.add_subplot(), figure.matrix, ink, dark)
            return drawing
        systems = list(dict.fromkeys(c.system for p in figure.panels for c in p.curves))
        systems = [system for system in systems if system not in _BASELINES]
        rows, columns = figure.grid
        labelled: dict[str, Any] = {}
        for number, panel in enumerate(figure.panels):
            axes = drawing.add_subplot(rows, columns, number + 1)
            _draw_panel(axes, panel, systems, ink)
            if panel.style != "nulls":
                handles, labels = axes.get_legend_handles_labels()
                labelled.update(zip(labels, handles, strict=True))
        if labelled:
            drawing.legend(
                labelled.values(),
                labelled.keys(),
                frameon=False,
                loc="outside lower center",
                ncols={1: 3, 2: 5}.get(columns, 8),
            )
    return drawing


def as_svg(drawing: Drawing) -> bytes:
    """The drawing as SVG; the same bytes for the same data."""
    import matplotlib

    out = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "textassay"}):
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": "textassay"})
    return out.getvalue()


def _draw_panel(axes: Any, panel: Panel, systems: list[str], ink: str) -> None:
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    if panel.style == "nulls":
        _draw_nulls(axes, panel, systems, ink)
        return
    if panel.style == "points":
        _draw_points(axes, panel, systems, ink)
        if panel.log_x:
            axes.set_xscale("log")
            _log_ticks(axes)
        return
    _draw_curves(axes, panel, systems, ink)
    if panel.is_share:
        axes.set_ylim(-0.02, 1.02)
    points = [p for c in panel.curves for p in zip(c.x, c.y, strict=True) if p[1] is not None]
    if panel.log_y and any(y > 0 for _, y in points if y is not None):
        axes.set_yscale("log")
    above = [x for x, _ in points if x > 0]
    if panel.log_x and above:
        axes.set_xscale("log")
        if max(above) < 30 * min(above):  # else powers of ten are enough
            _log_ticks(axes)
    if panel.style == "ticks":
        ticks = panel.curves[0].x
        if panel.log_x:
            axes.set_xticks(ticks, [f"{x:,.0f}" for x in ticks])
            axes.tick_params(axis="x", labelrotation=30, labelsize=8)
            axes.minorticks_off()
        else:
            axes.set_xticks(ticks)
    if panel.inset and len(panel.curves[0].x) >= 4:
        _draw_inset(axes, panel, systems, ink)


def _log_ticks(axes: Any) -> None:
    """Ticks of a logarithmic axis of few decades: 1, 2, 5, 10, without powers."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _label(system: str) -> str:
    # a dollar sign begins no formula, and an underscore hides no name
    label = printable(system)
    label = label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
    label = label.replace("$", r"\$")
    return f"\u200b{label}" if label.startswith("_") else label


def _look(number: int) -> tuple[str, str]:
    """Colour and mark of a system by its number: 49 pairs before one comes again.

    Examples
    --------
    >>> len({_look(number) for number in range(49)})
    49
    """
    count = len(_COLOURS)
    return _COLOURS[number % count], _MARKS[(number + number // count) % count]


def _floats(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _draw_curves(axes: Any, panel: Panel, systems: list[str], ink: str) -> None:
    axes.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    draw = axes.step if panel.style == "steps" else axes.plot
    more: dict[str, Any] = {"where": "post"} if panel.style == "steps" else {}
    for curve in panel.curves:
        y = _floats(curve.y)
        if curve.system in _BASELINES:
            line = "--" if curve.system == "human" else ":"
            is_fit = curve.measure.endswith(".fit")
            width = {"linewidth": 0.8} if is_fit else {}
            label = "_fit" if is_fit else curve.system
            draw(curve.x, y, color=ink, linestyle=line, label=label, zorder=3, **width, **more)
            if curve.y_low and curve.y_high and curve.system == "human":
                low, high = _floats(curve.y_low), _floats(curve.y_high)
                axes.fill_between(curve.x, low, high, color=ink, alpha=0.25, linewidth=0)
            continue
        number = systems.index(curve.system)
        colour = _COLOURS[number % len(_COLOURS)]
        if curve.measure.endswith(".fit"):
            axes.plot(curve.x, y, color=colour, linestyle="-.", linewidth=0.8, label="_fit")
            continue
        marks: dict[str, Any] = {}
        if len(curve.x) <= _MARKED:
            marks = {"marker": _look(number)[1], "markersize": 4}
        draw(curve.x, y, color=colour, label=_label(curve.system), **marks, **more)


def _draw_points(axes: Any, panel: Panel, systems: list[str], ink: str) -> None:
    """A mark a system, with the intervals of both numbers; people's text as a large ring."""
    axes.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for curve in panel.curves:
        x, y = curve.x[0], _floats(curve.y)[0]
        low, high = _floats(curve.y_low or [None])[0], _floats(curve.y_high or [None])[0]
        left, right = panel.x_spans.get(curve.system, (x, x))
        is_baseline = curve.system in _BASELINES
        number = 0 if is_baseline else systems.index(curve.system)
        colour, mark = _look(number)
        look: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 6}
        if is_baseline:
            look = {"color": ink, "marker": "o", "markersize": 11, "markerfacecolor": "none"}
        axes.errorbar(
            [x],
            [y],
            xerr=[[max(0.0, x - left)], [max(0.0, right - x)]],
            yerr=[[max(0.0, y - low)], [max(0.0, high - y)]],
            linestyle="none",
            linewidth=1,
            label=curve.system if is_baseline else _label(curve.system),
            **look,
        )
    axes.margins(0.15)


def _draw_nulls(axes: Any, panel: Panel, systems: list[str], ink: str) -> None:
    """A row a system: the histogram under permutation, and a mark where the observed value is."""
    axes.patch.set_alpha(0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    places = []
    for row, curve in enumerate(reversed(panel.curves)):
        y = _floats(curve.y)
        top = max(y) or 1.0
        heights = [row + 0.7 * value / top for value in y]
        axes.fill_between(curve.x, row, heights, step="mid", color=ink, alpha=0.35, linewidth=0)
        number = systems.index(curve.system)
        axes.plot(
            [curve.observed],
            [row + 0.2],
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKS[number % len(_MARKS)],
            markersize=5,
        )
        places.append(_label(curve.system))
    axes.axvline(0, color=ink, linewidth=0.5)
    axes.set_yticks([row + 0.2 for row in range(len(places))], places)
    axes.tick_params(axis="y", length=0)


def _draw_inset(axes: Any, panel: Panel, systems: list[str], ink: str) -> None:
    """The small x, where models repeat most and curves lie close together."""
    few = [
        value
        for curve in panel.curves
        for x, value in zip(curve.x, curve.y, strict=True)
        if x <= 2 and value is not None
    ]
    if not few or not 0 < max(few) <= 0.45:
        return
    inset = axes.inset_axes((0.52, 0.1, 0.42, 0.38))
    _draw_curves(inset, panel, systems, ink)
    inset.set_xlim(0.8, 2.2)
    inset.set_ylim(-0.05 * max(few), 1.15 * max(few))
    inset.set_xticks([1, 2])
    inset.tick_params(labelsize=8)


def _draw_matrix(axes: Any, matrix: Matrix, ink: str, dark: bool) -> None:
    """Colours grow with the number, from 1 on, on a log scale; marks are written in the cells."""
    import numpy as np

    numbers = np.array(
        [[np.nan if n is None else n for n in row] for row in matrix.numbers], float
    ).reshape(len(matrix.systems), len(matrix.measures))
    shade = np.log2(np.clip(np.abs(numbers), 1.0, 64.0))
    image = axes.imshow(
        shade, cmap="cividis" if dark else "cividis_r", vmin=0, vmax=6, aspect="auto", alpha=0.75
    )
    axes.set_xticks(range(len(matrix.measures)), matrix.measures, rotation=40, ha="right")
    axes.set_yticks(range(len(matrix.systems)), [_label(s) for s in matrix.systems])
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    for row, marks in enumerate(matrix.marks):
        for column, mark in enumerate(marks):
            light = (shade[row, column] < 3) != dark
            colour = ink if np.isnan(shade[row, column]) else ("#111111" if light else "#f2f2f2")
            axes.text(column, row, mark, ha="center", va="center", fontsize=8, color=colour)
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.9)
    bar.set_ticks([0, 2, 4, 6], labels=["1 or less", "4", "16", "64 or more"])
    bar.set_label(matrix.label)
    bar.outline.set_visible(False)
