"""Answers in a sentence each, from records."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.report.likely import likelihood_answer
from textassay.report.natural import naturalness
from textassay.report.tables import number
from textassay.report.varied import variety
from textassay.report.words import scores_of
from textassay.results import Measurement, Record


def answers(records: Sequence[Record]) -> dict[str, str]:
    """One sentence a family, with its verdict."""
    measured = [r for r in records if isinstance(r, Measurement)]
    found = {
        "tendencies": naturalness(measured),
        "overlap": variety(measured),
        "likelihood": likelihood_answer(measured),
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
    whole = {r.system: r for r in measured if r.measure == "novelty.copied_documents"}
    return f"Novelty: {'; '.join(_repeats(r, whole.get(r.system)) for _, r in scores)}."


def _repeats(record: Measurement, whole: Measurement | None) -> str:
    if record.verdict == "differs":
        how = f"repeats {'more' if (record.distance or 0) > 0 else 'less'} than people do (differs)"
    elif record.verdict == "within human variation":
        how = "repeats as much as people do"
    else:
        how = "may repeat as much as people do (undecided)"
    numbers = f"duplication score {number(record.value)} against {number(record.human)}"
    return f"{record.system} {how} ({numbers}){_found_whole(whole)}"


def _found_whole(whole: Measurement | None) -> str:
    if whole is None or not whole.value:
        return ""
    people = "" if whole.human is None else f", {whole.human:.1%} of people's"
    return f", and {whole.value:.1%} of its documents stand whole in the training text{people}"
