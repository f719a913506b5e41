"""The tendencies in tables and words: values, distances from human text, the triangle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textassay.report.printable import printable
from textassay.report.tables import TableData, interval, number
from textassay.results import Measurement, parse_signature

# Measures in the order of tables, and their headings.
MEANING = {
    "tendencies.zipf.exponent": "Zipf exponent",
    "tendencies.zipf.ks": "distance to Zipf",
    "tendencies.rank_frequency.ks": "ranks, KS",
    "tendencies.heaps.alpha": "Heaps alpha",
    "tendencies.heaps.beta": "Heaps beta",
    "tendencies.type_token.difference": "types at a length",
    "tendencies.unigram.tvd": "unigrams, TVD",
    "tendencies.hapax": "hapax share",
    "tendencies.entropy": "entropy",
    "tendencies.entropy2": "bigram entropy",
    "tendencies.entropy3": "trigram entropy",
    "tendencies.mattr": "types in windows",
    "tendencies.word_length": "word length",
    "tendencies.length.mean": "length, mean",
    "tendencies.length.variance": "length, variance",
    "tendencies.length.ks": "length, KS",
    "tendencies.stopwords.mean": "stopwords, mean",
    "tendencies.stopwords.variance": "stopwords, variance",
    "tendencies.stopwords.ks": "stopwords, KS",
    "tendencies.symbols.mean": "symbols, mean",
    "tendencies.symbols.variance": "symbols, variance",
    "tendencies.symbols.ks": "symbols, KS",
}
MATRIX = tuple(
    name for name in MEANING if not name.endswith((".variance", ".alpha", "entropy2", "entropy3"))
)
VALUES = tuple(
    name
    for name in MEANING
    if name.endswith((".exponent", "zipf.ks", ".beta", ".hapax", ".mean", ".mattr"))
    or name in ("tendencies.entropy", "tendencies.word_length")
)
PRIMARY = "tendencies.unigram.tvd"
TRAINING = "training text"
_MARKS = {"differs": "\u2260", "within human variation": "\u2248", "undecided": "?"}
_CLASSES = {"differs": "differs", "within human variation": "within"}


def mark_of(record: Measurement) -> str:
    """The verdict as a sign: differs, within human variation, undecided."""
    return _MARKS.get(record.verdict or "", "")


def _against(record: Measurement) -> str:
    return parse_signature(record.signature).get("against", "human")


def _is_edge(record: Measurement) -> bool:
    """Whether it is an edge of the triangle, and no verdict's record."""
    return "against" in parse_signature(record.signature)


def compared(
    measured: Sequence[Measurement], meaning: Mapping[str, str] = MEANING
) -> dict[tuple[str, str], Measurement]:
    """Measures of systems compared with human text, by system and measure."""
    return {
        (r.system, r.measure): r
        for r in measured
        if r.measure in meaning and r.distance is not None and not _is_edge(r)
    }


def alone(measured: Sequence[Measurement]) -> dict[tuple[str, str], Measurement]:
    """Values of tendencies, by text and measure."""
    return {
        (r.system, r.measure): r
        for r in measured
        if r.measure in MEANING and r.value is not None and not _is_edge(r)
    }


def values_table(measured: Sequence[Measurement]) -> TableData | None:
    """Values of systems, people and training text."""
    cells = alone(measured)
    texts = list(dict.fromkeys(system for system, _ in cells))
    measures = [m for m in VALUES if any((s, m) in cells for s in texts)]
    if not measures:
        return None
    data = TableData("Tendencies of each text", ["system", *(MEANING[m] for m in measures)])
    for text in texts:
        row = [cells.get((text, measure)) for measure in measures]
        data.rows.append([printable(text), *(number(r.value if r else None) for r in row)])
    return data


def distances_table(
    measured: Sequence[Measurement], meaning: Mapping[str, str] = MEANING
) -> TableData | None:
    """Distances of all systems from human text with verdicts; a row a measure."""
    cells = compared(measured, meaning)
    systems = list(dict.fromkeys(system for system, _ in cells))
    measures = [m for m in meaning if any((s, m) in cells for s in systems)]
    if not measures:
        return None
    data = TableData(
        "Distance from human text, at equal sizes: \u2260 differs, \u2248 within human variation, "
        "? undecided",
        ["measure", "margin", *map(printable, systems)],
    )
    classes: list[list[str]] = []
    for measure in measures:
        row = [cells.get((system, measure)) for system in systems]
        margins = sorted(r.reference for r in row if r and r.reference is not None)
        shown = " to ".join(dict.fromkeys(map(number, [*margins[:1], *margins[-1:]])))
        texts = []
        for r in row:
            # a distance of distributions has no sign
            signed = r is not None and r.direction != "none"
            texts.append(f"{number(r.distance, signed=signed)} {mark_of(r)}".rstrip() if r else "")
        data.rows.append([meaning[measure], shown, *texts])
        verdicts = (_CLASSES.get(r.verdict or "", "") if r else "" for r in row)
        classes.append(["", "", *verdicts])
    data.classes = classes
    return data


def triangle_table(measured: Sequence[Measurement]) -> TableData | None:
    """Unigram distances: from people, from training text, and what halves of people's text show."""
    found: dict[str, dict[str, Measurement]] = {}
    for r in measured:
        if r.measure == PRIMARY and r.distance is not None:
            row = found.setdefault(r.system, {})
            row[_against(r)] = r  # of one size for all, where sizes differ: it stands later
    judged = compared(measured)
    others = list(dict.fromkeys(other for row in found.values() for other in row))
    if not others:
        return None
    columns = ["system"]
    for other in others:
        columns += [f"from {'human text' if other == 'human' else printable(other)}", "95 %"]
    data = TableData(
        "Unigrams, total variation distance: a system may lie far from people because its training "
        "text does",
        [*columns, "floor", "margin"],
    )
    for system, row in found.items():
        cells = [printable(system)]
        for other in others:
            there = row.get(other)
            cells.append(number(there.distance if there else None))
            cells.append(interval(there.distance_low, there.distance_high) if there else "")
        own = judged.get((system, PRIMARY))
        cells += [number(own.floor if own else None), number(own.reference if own else None)]
        data.rows.append(cells)
    return data


def naturalness(measured: Sequence[Measurement]) -> str:
    """The answer in a sentence."""
    cells = compared(measured)
    if not cells:
        return ""
    words = []
    for system in dict.fromkeys(system for system, _ in cells):
        row = [cells[system, m] for m in MATRIX if (system, m) in cells]
        judged = [r for r in row if r.verdict]
        if not judged:
            continue
        differing = [MEANING[r.measure] for r in judged if r.verdict == "differs"]
        within = sum(r.verdict == "within human variation" for r in judged)
        undecided = len(judged) - len(differing) - within
        listed = f" ({'; '.join(differing)})" if differing and len(differing) <= 4 else ""
        words.append(
            f"{system} differs from people in {len(differing)} of {len(judged)} main "
            f"tendencies{listed}, is within human variation in {within}, undecided in {undecided}"
        )
    return f"Naturalness: {'; '.join(words)}." if words else ""
