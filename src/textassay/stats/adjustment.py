"""p-values of all records of an assay, adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.results import Measurement, Record, finite
from textassay.stats.multiplicity import benjamini_hochberg, holm

PRIMARY = (
    "tendencies.unigram.tvd",
    "overlap.self_bleu4",
    "likelihood.nll_token",
    "novelty.pointwise",
)


def adjust(records: Sequence[Record]) -> None:
    """Adjust p-values in place: Holm over the primary family, else for false discoveries."""
    measured = [
        r
        for r in records
        if isinstance(r, Measurement) and r.p_value is not None and r.p_adjusted is None
    ]
    primary = [
        r
        for r in measured
        if r.measure in PRIMARY
        and "|source:training" not in r.signature
        and "|source:context" not in r.signature
    ]
    rest = [r for r in measured if not any(r is p for p in primary)]
    for family, group, method in (
        ("primary, Holm", primary, holm),
        ("exploratory, false discovery rate", rest, benjamini_hochberg),
    ):
        adjusted = method([r.p_value for r in group if r.p_value is not None])
        for record, p in zip(group, adjusted, strict=True):
            record.p_adjusted = finite(float(p))
            record.family = family
