"""Answers and definitions in words, from records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textassay.report.natural import naturalness
from textassay.report.varied import variety
from textassay.results import Measurement, Record, parse_signature

# Measures of copying: name, heading, digits.
COPYING = (
    ("novelty.longest_copy", "longest copy", 0),
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


def answers(records: Sequence[Record]) -> dict[str, str]:
    """One sentence a family, with its verdict."""
    measured = [r for r in records if isinstance(r, Measurement)]
    found = {
        "tendencies": naturalness(measured),
        "overlap": variety(measured),
        "novelty": _novelty(measured),
    }
    return {family: sentence for family, sentence in found.items() if sentence}


def _novelty(measured: Sequence[Measurement]) -> str:
    scores = [(whole, r) for whole, r in scores_of(measured) if whole.system != "human"]
    if not scores:
        return ""
    if not any(r.distance is not None for _, r in scores):
        listed = "; ".join(f"{w.system} {w.value:.3f}" for w, _ in scores if w.value is not None)
        return f"Without human text there is no verdict: pointwise duplication scores are {listed}."
    groups: dict[str, list[str]] = {}
    for whole, r in scores:
        if r.verdict == "differs":
            how = "repeats more" if (r.distance or 0) > 0 else "repeats less"
        else:
            how = r.verdict or "undecided"
        groups.setdefault(how, []).append(whole.system)
    words = []
    for how, systems in groups.items():
        listed = ", ".join(systems)
        one = len(systems) == 1
        if how in ("repeats more", "repeats less"):
            verb = how if one else how.replace("repeats", "repeat")
            words.append(f"{listed} {verb} than people do (differs)")
        elif how == "within human variation":
            words.append(f"{listed} {'is' if one else 'are'} within human variation")
        else:
            words.append(f"for {listed} this much text cannot tell (undecided)")
    return f"Novelty: {'; '.join(words)}."
