"""Answers in a sentence each, from records."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.report.likely import likelihood_answer
from textassay.report.natural import naturalness
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
