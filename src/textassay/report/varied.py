"""Overlap in tables and words: quality beside variety, and what is repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textassay.report.natural import mark_of
from textassay.report.printable import printable
from textassay.report.tables import TableData, number
from textassay.report.words import standing
from textassay.results import Example, Measurement, Record

# Measures in the order of tables, and their headings.
VARIETY = {
    **{f"overlap.bleu{n}": f"BLEU-{n}" for n in (2, 3, 4, 5)},
    **{f"overlap.corpus_bleu{n}": f"corpus BLEU-{n}" for n in (2, 3, 4, 5)},
    "overlap.embsim": "EmbSim",
    "overlap.frechet": "Frechet",
    "overlap.mauve": "MAUVE",
    **{f"overlap.train_bleu{n}": f"BLEU-{n}, training text" for n in (2, 3, 4, 5)},
    **{f"overlap.self_bleu{n}": f"Self-BLEU-{n}" for n in (2, 3, 4, 5)},
    **{f"overlap.distinct{n}": f"distinct-{n}" for n in (1, 2, 3, 4)},
    "overlap.distinct_documents": "distinct documents",
    "overlap.repetition4": "4-grams repeated in a document",
    "overlap.compression_ratio": "compression ratio",
    "overlap.similarity": "similarity",
    "overlap.prompt_bleu4": "BLEU-4 within a prompt",
    "overlap.prompt_distinct2": "distinct-2 within a prompt",
    "overlap.prompt_distinct_documents": "distinct documents within a prompt",
    "overlap.prompt_similarity": "similarity within a prompt",
}
_SHOWN = tuple(
    name
    for name in VARIETY
    if name
    not in {f"overlap.{kind}{n}" for kind in ("bleu", "train_bleu", "self_bleu") for n in (2, 3, 5)}
    and not name.startswith("overlap.corpus_bleu")
    and name not in ("overlap.distinct1", "overlap.distinct3", "overlap.distinct4")
)
_PRIMARY = "overlap.self_bleu4"
_REPEATED = 5  # documents of a system in the table
_COLLAPSED = 0.1  # share of repeated documents that is worth a word
_LONGEST = 120  # characters of a repeated document


def variety_table(measured: Sequence[Measurement]) -> TableData | None:
    """The main measures of each text, with the verdict's mark."""
    cells = {
        (r.system, r.measure): r
        for r in measured
        if r.measure in _SHOWN and (r.value is not None or r.distance is not None)
    }
    texts = list(dict.fromkeys(system for system, _ in cells))
    measures = [m for m in _SHOWN if any((text, m) in cells for text in texts)]
    if not measures:
        return None
    data = TableData(
        "Quality and variety: \u2260 differs from human text, \u2248 within human variation, "
        "? undecided",
        ["measure", *map(printable, texts)],
    )
    for measure in measures:
        row = [VARIETY[measure]]
        for text in texts:
            r = cells.get((text, measure))
            value = None if r is None else r.distance if r.value is None else r.value
            if text == "human":
                value = _at_the_systems_size(cells, measure, value)
            row.append(f"{number(value)} {mark_of(r)}".strip() if r else "")
        data.rows.append(row)
    return data


def _at_the_systems_size(
    cells: Mapping[tuple[str, str], Measurement], measure: str, own: float | None
) -> float | None:
    """The human value that systems are compared with, where it is one for all of them."""
    beside = {r.human for (_, name), r in cells.items() if name == measure and r.human is not None}
    return beside.pop() if len(beside) == 1 else own


def repeated_table(records: Sequence[Record]) -> TableData | None:
    """The most frequent documents of each text, if any stand several times."""
    rows: list[list[str]] = []
    shown: dict[str, int] = {}
    for r in records:
        if isinstance(r, Example) and r.measure == "overlap.distinct_documents":
            shown[r.system] = shown.get(r.system, 0) + 1
            if shown[r.system] <= _REPEATED:
                text = printable(r.text) if r.text.strip() else "(empty)"
                text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}\u2026"
                rows.append([printable(r.system), f"{r.count:,}", text])
    if not rows:
        return None
    classes = [["", "", "text"] for _ in rows]
    columns = ["system", "times", "document"]
    return TableData("Documents that stand several times", columns, rows, classes)


def variety(measured: Sequence[Measurement]) -> str:
    """The answer in a sentence."""
    found = {r.system: r for r in measured if r.measure == _PRIMARY}
    distinct = {r.system: r for r in measured if r.measure == "overlap.distinct_documents"}
    judged = [r for r in found.values() if r.distance is not None]
    if not found:
        return ""
    if not judged:
        listed = [f"{r.system} {number(r.value)}" for r in found.values() if r.value is not None]
        return f"Without human text there is no verdict: Self-BLEU-4 is {'; '.join(listed)}."
    words = []
    for r in judged:
        how = standing(r, "varied", higher="less")
        numbers = f"Self-BLEU-4 {number(r.value)} against {number(r.human)}"
        words.append(f"{r.system} {how} ({numbers}){_collapse(distinct.get(r.system))}")
    return f"Variety: {'; '.join(words)}."


def _collapse(distinct: Measurement | None) -> str:
    if distinct is None or distinct.value is None or distinct.value > 1 - _COLLAPSED:
        return ""
    return f", and {1 - distinct.value:.0%} of its documents repeat others"
