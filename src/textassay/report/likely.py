"""Likelihood in tables, words and a figure: quality by a scorer's measure, beside novelty."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.report.figures import Figure, points_panel
from textassay.report.natural import mark_of
from textassay.report.printable import printable
from textassay.report.tables import TableData, interval, number
from textassay.report.words import scores_of, standing, verdict_of
from textassay.results import Measurement, parse_signature

PRIMARY = "likelihood.nll_token"
PERPLEXITY = "likelihood.perplexity"
_BITS = "likelihood.bits_per_character"
_SENTENCE = "likelihood.nll_sentence"


def likelihood_table(measured: Sequence[Measurement]) -> TableData | None:
    """Each text's perplexity, and how it differs from people's, in nats a token."""
    cells = {(r.system, r.measure): r for r in measured if r.measure.startswith("likelihood.")}
    scored = [r for r in measured if r.measure == PRIMARY]
    if not scored:
        return None
    compared = any(r.distance is not None for r in scored)
    columns = ["system", "documents", "scorer's tokens", "perplexity", "95 %", "nats a token"]
    if compared:
        columns += ["minus human", "95 %", "margin", "detectable", "verdict"]
    columns += ["nats a document", "bits a character"]
    data = TableData(f"Likelihood by the scorer {_scorer(scored[0])}", columns)
    for r in scored:
        perplexity = cells.get((r.system, PERPLEXITY))
        row = [
            printable(r.system),
            f"{r.n_documents:,}",
            f"{r.n_tokens:,}",
            number(perplexity.value if perplexity else None, 2),
            interval(perplexity.value_low, perplexity.value_high, 2) if perplexity else "",
            number(r.value),
        ]
        if compared:
            row += [
                number(r.distance, signed=True) if r.distance is not None else "",
                interval(r.distance_low, r.distance_high),
                number(r.reference),
                number(r.detectable),
                f"{mark_of(r)} {verdict_of(r)}".strip(),
            ]
        for measure in (_SENTENCE, _BITS):
            found = cells.get((r.system, measure))
            row.append(number(found.value if found else None))
        data.rows.append(row)
    return data


def likelihood_answer(measured: Sequence[Measurement]) -> str:
    """The answer in a sentence."""
    scored = [r for r in measured if r.measure == PRIMARY]
    perplexities = {r.system: r for r in measured if r.measure == PERPLEXITY}
    judged = [r for r in scored if r.distance is not None]
    if not scored:
        return ""
    name = _scorer(scored[0])
    if not judged:
        listed = "; ".join(f"{s} {number(r.value, 1)}" for s, r in perplexities.items())
        return f"Without human text there is no verdict: perplexities by {name} are {listed}."
    words = []
    for r in judged:
        how = standing(r, "probable", higher="less")
        perplexity = perplexities.get(r.system)
        numbers = ""
        if perplexity is not None:
            numbers = f" (perplexity {number(perplexity.value, 1)}"
            numbers += f" against {number(perplexity.human, 1)})"
        words.append(f"{r.system} {how}{numbers}")
    return f"Likelihood by {name}: {'; '.join(words)}."


def quality_and_novelty(measured: Sequence[Measurement]) -> Figure | None:
    """Perplexity against the pointwise duplication score: a point a system, and people's."""
    quality = {r.system: r for r in measured if r.measure == PERPLEXITY}
    panel = points_panel(
        quality,
        {whole.system: whole for whole, _ in scores_of(measured)},
        "perplexity: to the right, less probable",
        "duplication score: upwards, less new",
        log_x=True,
    )
    if panel is None:
        return None
    return Figure(
        "quality-and-novelty",
        "Quality and novelty",
        "Perplexity by the scorer and pointwise duplication score, truncated at 5, with 95 % "
        "intervals (McCoy et al. 2021, figure 2): decodings that make text more probable tend to "
        "make it less new. A model is good if it lies where people's own text does.",
        [panel],
        family="likelihood",
    )


def _scorer(record: Measurement) -> str:
    return printable(parse_signature(record.signature).get("scorer", ""))
