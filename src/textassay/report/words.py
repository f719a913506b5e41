"""Words and columns that several parts of the report share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textassay.results import Measurement, parse_signature

# Measures of copying: name, heading, digits.
COPYING = (
    ("novelty.longest_copy", "longest copy", 0),
    ("novelty.copied_documents", "documents found whole", 4),
    ("novelty.supercopied", "tokens in copies >= 100", 5),
    ("novelty.copied50", "characters in copies >= 50", 5),
    ("novelty.mean_suffix", "mean suffix", 3),
    ("novelty.creativity", "creativity", 4),
)


def times(count: int | None) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(count or 0, f"{count or 0:,} times")


def units_column(measured: Iterable[Measurement]) -> list[str]:
    """The heading of a column for resampling units, if they are not documents."""
    units = {r.resampling_unit for r in measured}
    return [f"{unit}s" for unit in sorted(units - {"document"})]


def verdict_of(record: Measurement) -> str:
    """The verdict, with a word where it rests on few events."""
    few = " (few events)" if "few-events" in record.warnings and record.verdict else ""
    return f"{record.verdict or ''}{few}"


def standing(record: Measurement, quality: str, *, higher: str) -> str:
    """How a system stands beside people's text; `higher` is what a larger value means.

    Examples
    --------
    >>> record = Measurement(measure="m", system="s", distance=-1.0, verdict="differs")
    >>> standing(record, "varied", higher="less")
    "is more varied than people's text"
    """
    if record.verdict == "differs":
        is_higher = (record.distance or 0) > 0
        more = higher if is_higher else {"less": "more", "more": "less"}[higher]
        return f"is {more} {quality} than people's text"
    if record.verdict == "within human variation":
        return f"is as {quality} as people's text"
    return f"may be as {quality} as people's text (undecided)"


def scores_of(measured: Sequence[Measurement]) -> list[tuple[Measurement, Measurement]]:
    """For each system its pointwise score on whole documents, and the record with the verdict.

    The two are one, unless documents were also compared at one length.
    """
    whole: dict[str, Measurement] = {}
    judged: dict[str, Measurement] = {}
    sources = {parse_signature(r.signature).get("source") for r in measured}
    source = "both" if "both" in sources else "context"
    for r in measured:
        parts = parse_signature(r.signature)
        if r.measure != "novelty.pointwise" or parts.get("source") != source:
            continue
        if "len" in parts:
            judged[r.system] = r
        else:
            whole[r.system] = r
    return [(r, judged.get(system, r)) for system, r in whole.items()]
