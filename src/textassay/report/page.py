"""The page: one file without scripts that needs no network, made from records alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from textassay.report.answers import answers
from textassay.report.definitions import definitions
from textassay.report.drawing import as_svg, draw
from textassay.report.likely import likelihood_table
from textassay.report.make_figures import make_figures
from textassay.report.natural import distances_table, triangle_table, values_table
from textassay.report.printable import printable
from textassay.report.tables import TableData, interval, number
from textassay.report.varied import VARIETY, repeated_table, variety_table
from textassay.report.words import (
    COPYING,
    scores_of,
    times,
    units_column,
    verdict_of,
)
from textassay.results import (
    Example,
    Header,
    Measurement,
    Record,
    Series,
    Warn,
    parse_signature,
)
from textassay.writing import atomic_file

_SHOWN = 6  # passages of a system
_LONGEST_SHOWN = 1500  # characters of a passage
_BEGINS_INSIDE = 100  # characters before a passage from which on there are more
_CLASSES = (
    (1, "c1", "1 to 4"),
    (5, "c2", "5 to 9"),
    (10, "c3", "10 to 19"),
    (20, "c4", "20 to 99"),
)
_LONG = (100, "c5", "100 or more")


@dataclass
class Part:
    """Some characters of a text, and the class that colours them."""

    text: str
    name: str


def render_page(records: Sequence[Record]) -> str:
    """The page as HTML. Text in it is escaped, control codes and direction marks are shown.

    Parameters
    ----------
    records : sequence of Record
        As :func:`textassay.results.read_results` gives them.
    """
    import jinja2
    from markupsafe import Markup

    folder = files("textassay.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    style = (folder / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    macro = environment.from_string(_TABLE)

    def table(data: TableData) -> Markup:
        return Markup(macro.render(data=data))

    header = next(r for r in records if isinstance(r, Header))
    measured = [r for r in records if isinstance(r, Measurement)]
    examples = [r for r in records if isinstance(r, Example) and r.measure.startswith("novelty.")]
    reference = header.settings.get("train_role") == "reference"
    systems = dict.fromkeys(e["system"] for e in header.inputs if e.get("role") == "system")
    return environment.from_string((folder / "page.html").read_text(encoding="utf-8")).render(
        style=Markup(style),
        style_hash=f"sha256-{digest}",
        systems=[_safe(system) for system in systems],
        created=header.created.replace("T", " ").replace("+00:00", " UTC"),
        warnings=[
            {"system": _safe(r.system or ""), "message": _safe(r.message)}
            for r in records
            if isinstance(r, Warn) and r.code != "passages-left-out"  # said with the passages
        ],
        answers={family: _safe(answer, 4000) for family, answer in answers(records).items()},
        table=table,
        natural=[
            data
            for data in (
                distances_table(measured),
                values_table(measured),
                triangle_table(measured),
            )
            if data is not None
        ],
        varied=[
            data
            for data in (
                variety_table(measured),
                distances_table(measured, VARIETY),
                repeated_table(records),
            )
            if data is not None
        ],
        likely=likelihood_table(measured),
        has_novelty=any(r.measure.startswith("novelty.") for r in measured),
        scores=_scores_table(measured),
        ngrams=_ngrams_table(records),
        copying=_copying_table(measured, reference),
        figures=_figures(records),
        passages=_passages(examples),
        passages_title="Also found in the reference text" if reference else "Copied passages",
        text_name="reference text" if reference else "training text",
        legend=[(name, label) for _, name, label in (*_CLASSES, _LONG)],
        left_out=[
            _safe(f"{r.system}: {r.message}")
            for r in records
            if isinstance(r, Warn) and r.code == "passages-left-out"
        ],
        shown=_SHOWN,
        has_training=any(entry.get("role") == "training" for entry in header.inputs),
        definitions=definitions(header, measured),
        inputs=_inputs_table(header),
        details=_details_table(measured),
        command=_safe(header.command),
    )


def write_page(records: Sequence[Record], folder: Path) -> Path:
    """Write ``report.html``, whole or not at all; returns its path."""
    path = folder / "report.html"
    with atomic_file(path) as file:
        file.write(render_page(records).encode("utf-8", "replace"))
    return path


_TABLE = """<div class="scroll" role="region" tabindex="0" aria-label="{{ data.caption }}"><table>
<caption><span>{{ data.caption }}</span></caption>
<thead><tr>
{%- for column in data.columns %}<th scope="col"
{%- if data.rows and data.class_of(0, loop.index0) == "text" %} class="text"{% endif -%}
>{{ column }}</th>{% endfor -%}
</tr></thead>
<tbody>{% for row in data.rows %}{% set number = loop.index0 %}<tr>
{%- for cell in row %}
{%- set name = data.class_of(number, loop.index0) %}
{%- if loop.first %}<th scope="row"><bdi>{{ cell }}</bdi></th>
{%- elif name %}<td class="{{ name }}">{{ cell }}</td>
{%- else %}<td>{{ cell }}</td>
{%- endif %}
{%- endfor -%}
</tr>
{% endfor %}</tbody></table></div>"""


def _safe(text: str, longest: int = 400) -> str:
    text = printable(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _passage_text(text: str) -> str:
    """Control codes and direction marks shown; white space as it is."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _scores_table(measured: Sequence[Measurement]) -> TableData:
    compared = any(r.distance is not None for r in measured)
    scores = scores_of(measured)
    units = units_column(whole for whole, _ in scores)
    columns = ["system", "documents", *units, "tokens", "score", "95 %"]
    cut = next((r for whole, r in scores if r is not whole), None)
    if cut is not None:
        columns.append(f"first {parse_signature(cut.signature)['len']} tokens")
    if compared:
        columns += ["minus human", "95 %", "margin", "detectable", "verdict"]
    data = TableData("Pointwise duplication score, truncated at 5: lower is newer", columns)
    for whole, r in scores:
        row = [
            _safe(whole.system),
            f"{whole.n_documents:,}",
            *(f"{whole.n_units:,}" for _ in units),
            f"{whole.n_tokens:,}",
            number(whole.value),
            interval(whole.value_low, whole.value_high),
        ]
        if cut is not None:
            row.append(number(r.value if r is not whole else cut.human))
        if compared:
            row += [
                "" if r.distance is None else f"{r.distance:+.3f}",
                interval(r.distance_low, r.distance_high),
                number(r.reference),
                number(r.detectable),
                verdict_of(r),
            ]
        data.rows.append(row)
    return data


def _ngrams_table(records: Sequence[Record]) -> TableData:
    series = [r for r in records if isinstance(r, Series)]
    both = [r for r in series if r.measure == "novelty.by_n.both"]
    curves = both or [r for r in series if r.measure == "novelty.by_n.context"]
    columns = [f"n = {x:g}" for x in curves[0].x] if curves else []
    data = TableData("Share of n-grams that are novel", ["system", *columns])
    for curve in curves:
        data.rows.append([_safe(curve.system), *(number(y, 4) for y in curve.y)])
    return data


def _copying_table(measured: Sequence[Measurement], reference: bool) -> TableData:
    caption = "Also found in the reference text" if reference else "Copied from the training text"
    data = TableData(caption, ["system", *(name for _, name, _ in COPYING)])
    found: dict[str, dict[str, Measurement]] = {}
    for r in measured:
        parts = parse_signature(r.signature)
        if parts.get("source") == "training" and not {"len", "norm"} & parts.keys():
            found.setdefault(r.system, {})[r.measure] = r
    for system, by_measure in found.items():
        if "novelty.longest_copy" in by_measure:
            cells = [
                number(by_measure[m].value if m in by_measure else None, digits)
                for m, _, digits in COPYING
            ]
            data.rows.append([_safe(system), *cells])
    return data


def _figures(records: Sequence[Record]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for figure in make_figures(records):
        header, *rows = ([str(cell) for cell in row] for row in figure.rows())
        words = header.index("system") + 1  # what is no number
        data = TableData(figure.title, header)
        for row in rows:
            values = ["" if n == "None" else f"{float(n):.4g}" for n in row[words:]]
            data.rows.append([*row[:words], *values])
        width, height = figure.inches
        found.append(
            {
                "title": figure.title,
                "description": figure.description,
                "family": figure.family,
                "light": _data_address(as_svg(draw(figure))),
                "dark": _data_address(as_svg(draw(figure, dark=True))),
                "width": round(100 * width),
                "height": round(100 * height),
                "data": data,
            }
        )
    return found


def _data_address(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def _class_of(length: int) -> str:
    if length >= _LONG[0]:
        return _LONG[1]
    return next((name for least, name, _ in reversed(_CLASSES) if length >= least), "")


def _parts(example: Example) -> list[Part]:
    """The text around and in a passage, cut to a length that can be read, in coloured parts."""
    text = example.before + example.text + example.after
    last = len(example.before) + min(len(example.text), _LONGEST_SHOWN) + len(example.after)
    parts: list[Part] = [Part(_dots(example.before, ""), "")]
    at = 0
    for begin, end, length in example.spans:
        if begin >= last:
            break
        if begin > at:
            parts.append(Part(_passage_text(text[at:begin]), ""))
        parts.append(Part(_passage_text(text[begin : min(end, last)]), _class_of(length)))
        at = min(end, last)
    parts.append(Part(_passage_text(text[at:last]) + ("…" if last < len(text) else ""), ""))
    return parts


def _dots(before: str | None, text: str) -> str:
    """An ellipsis before a text that begins in the middle."""
    return f"…{text}" if before and len(before) >= _BEGINS_INSIDE else text


def _passages(examples: Sequence[Example]) -> list[tuple[str, list[dict[str, object]]]]:
    by_system: dict[str, list[dict[str, object]]] = {}
    for example in examples:
        shown = by_system.setdefault(_safe(example.system), [])
        if len(shown) < _SHOWN:
            shown.append(_passage(example))
    return list(by_system.items())


def _passage(example: Example) -> dict[str, object]:
    byte = "" if example.source_byte is None else f", byte {example.source_byte:,}"
    note = f" ({example.note})" if example.note and example.note.startswith("near") else ""
    text = example.source_text
    return {
        "heading": f"Document {_safe(example.document, 60)}, {example.n_tokens:,} tokens, "
        f"found {times(example.count)}{note}",
        "parts": _parts(example),
        "source_before": _dots(example.source_before, _passage_text(example.source_before or "")),
        "source_text": "(standard input cannot be read once more)"
        if text is None
        else _passage_text(text[:_LONGEST_SHOWN]) + ("…" if len(text) > _LONGEST_SHOWN else ""),
        "source_after": _passage_text(example.source_after or ""),
        "source": f"{_safe(example.source_file or '')}, document {example.source_document}, "
        f"token {example.source_token}{byte}",
    }


def _inputs_table(header: Header) -> TableData:
    data = TableData(
        "Files, as they lie on disk", ["file", "role", "system", "documents", "tokens", "SHA-256"]
    )
    for entry in header.inputs:
        counts = [
            f"{entry[k]:,}" if entry.get(k) is not None else "" for k in ("documents", "tokens")
        ]
        data.rows.append(
            [
                _safe(str(entry.get("file", ""))),
                str(entry.get("role", "")),
                _safe(str(entry.get("system") or "")),
                *counts,
                str(entry.get("sha256") or "")[:16],
            ]
        )
    return data


def _details_table(measured: Sequence[Measurement]) -> TableData:
    columns = ["measure", "system", "value", "95 %", "human", "minus human", "95 %", "floor"]
    columns += ["margin", "p", "p adjusted", "family", "verdict", "signature"]
    data = TableData("All measurements", columns)
    for r in measured:
        p, adjusted = (
            "" if value is None else f"{value:.4f}{'*' * ((value <= 0.05) + (value <= 0.005))}"
            for value in (r.p_value, r.p_adjusted)
        )
        data.rows.append(
            [
                r.measure,
                _safe(r.system),
                number(r.value, 5),
                interval(r.value_low, r.value_high, 4),
                number(r.human, 5),
                number(r.distance, 5),
                interval(r.distance_low, r.distance_high, 4),
                number(r.floor, 5),
                number(r.reference, 5),
                p,
                adjusted,
                r.family or "",
                verdict_of(r),
                _safe(r.signature),
            ]
        )
    return data
