"""Which figures records hold data for."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.report.figures import Figure, Matrix, Panel, points_panel
from textassay.report.likely import quality_and_novelty
from textassay.report.natural import MATRIX, MEANING, compared, mark_of
from textassay.report.varied import VARIETY
from textassay.results import Measurement, Record, Series

_SIZE_CURVE = 4
_PERMUTED = (
    "tendencies.unigram.tvd",
    "tendencies.rank_frequency.ks",
    "tendencies.type_token.difference",
    "tendencies.length.mean",
    "tendencies.stopwords.mean",
    "tendencies.symbols.mean",
)


def make_figures(records: Sequence[Record]) -> list[Figure]:
    """The figures that the records hold data for."""
    series: dict[str, list[Series]] = {}
    for record in records:
        if isinstance(record, Series):
            series.setdefault(record.measure, []).append(record)
    measured = [record for record in records if isinstance(record, Measurement)]
    return [
        *_of_tendencies(series, measured),
        *_of_overlap(series, measured),
        *(figure for figure in [quality_and_novelty(measured)] if figure is not None),
        *_of_novelty(series),
    ]


def _of_tendencies(
    series: dict[str, list[Series]], measured: Sequence[Measurement]
) -> list[Figure]:
    found = [figure for figure in [_matrix(measured)] if figure is not None]
    ranks = series.get("tendencies.rank_frequency", [])
    if ranks:
        fits = series.get("tendencies.rank_frequency.fit", [])
        panel = Panel([*ranks, *fits], "rank", "share of tokens", log_x=True, log_y=True)
        found.append(
            Figure(
                "rank-frequency",
                "Rank and frequency",
                "Share of tokens by rank of their type, on logarithmic axes; thin lines are Zipf's "
                "law as fitted to each text. How far human text itself lies from its law is told "
                "in the tables.",
                [panel],
            )
        )
    types = series.get("tendencies.type_token", [])
    if types:
        found.append(
            Figure(
                "type-token",
                "Types by length of the document",
                "Mean number of distinct tokens of documents of each length; the band is the human "
                "text's 95 % interval.",
                [Panel(types, "tokens of a document", "types")],
            )
        )
    panels = [
        Panel(curves, curves[0].x_label, curves[0].y_label, name, style="steps", is_share=True)
        for name in ("length", "stopwords", "symbols")
        if (curves := series.get(f"tendencies.{name}.distribution"))
    ]
    if panels:
        found.append(
            Figure(
                "distributions",
                "Length, stopwords, symbols",
                "Share of documents that hold at most so many tokens, and at most such a share of "
                "stopwords and of symbols.",
                panels,
            )
        )
    panels = [
        Panel(curves, "", "", MEANING[name], style="nulls")
        for name in _PERMUTED
        if (curves := series.get(f"{name}.permutations"))
    ]
    if panels:
        found.append(
            Figure(
                "permutations",
                "Differences from human text beside those of permuted documents",
                "Grey: distances when documents are dealt at random to the two sides. Mark: the "
                "observed distance.",
                panels,
            )
        )
    panels = [
        Panel(curves, curves[0].x_label, curves[0].y_label, MEANING[name], log_x=True)
        for name in MEANING
        if (curves := series.get(f"{name}.by_size")) and len(curves[0].x) > 1
    ]
    if panels:
        found.append(
            Figure(
                "by-size",
                "Every tendency against corpus size",
                "Means over random subsamples of each size; the band holds 95 of 100 subsamples of "
                "the human text. Distances of the human text are between halves of it.",
                panels,
            )
        )
    return found


def _matrix(measured: Sequence[Measurement]) -> Figure | None:
    cells = compared(measured)
    systems = list(dict.fromkeys(system for system, _ in cells))
    measures = [m for m in MATRIX if any((s, m) in cells for s in systems)]
    if not measures:
        return None
    numbers: list[list[float | None]] = []
    marks: list[list[str]] = []
    for system in systems:
        row = [cells.get((system, measure)) for measure in measures]
        numbers.append(
            [
                r.distance / r.reference if r and r.distance is not None and r.reference else None
                for r in row
            ]
        )
        marks.append([mark_of(r) if r else "" for r in row])
    return Figure(
        "tendencies",
        "Systems and tendencies",
        "Distance from human text over the margin, which is how far people's own texts differ: "
        "\u2260 differs, \u2248 within human variation, ? undecided.",
        matrix=Matrix(systems, [MEANING[m] for m in measures], numbers, marks, "distance / margin"),
    )


def _of_overlap(series: dict[str, list[Series]], measured: Sequence[Measurement]) -> list[Figure]:
    found = [figure for figure in [_quality_and_variety(measured)] if figure is not None]
    panels = [
        Panel(curves, "documents", VARIETY[name], VARIETY[name], log_x=True, is_share=True)
        for name in ("overlap.self_bleu4", "overlap.distinct2")
        if (curves := series.get(f"{name}.by_size"))
    ]
    if panels:
        found.append(
            Figure(
                "overlap-by-size",
                "Self-BLEU-4 and distinct-2 against the number of documents",
                "Means over random subsamples of each size: without the size, neither number means "
                "anything. The band holds 95 of 100 subsamples of the human text.",
                panels,
                family="overlap",
            )
        )
    return found


def _quality_and_variety(measured: Sequence[Measurement]) -> Figure | None:
    """BLEU-4 against Self-BLEU-4: a point a system, and people's."""
    quality = {r.system: r for r in measured if r.measure == "overlap.bleu4"}
    variety = {r.system: r for r in measured if r.measure == "overlap.self_bleu4"}
    panel = points_panel(
        variety,
        quality,
        "Self-BLEU-4: to the right, less varied",
        "BLEU-4: upwards, more like human text",
    )
    if panel is None:
        return None
    return Figure(
        "quality-and-variety",
        "Quality and variety",
        "BLEU-4 against human text and Self-BLEU-4, with 95 % intervals. A model is good if it "
        "lies where people's own text does: further right it repeats itself, further down it "
        "strays.",
        [panel],
        family="overlap",
    )


def _of_novelty(series: dict[str, list[Series]]) -> list[Figure]:
    found: list[Figure] = []
    for source, words in (
        ("both", "counting training text and context"),
        ("context", "counting context alone"),
    ):
        curves = series.get(f"novelty.by_n.{source}", [])
        if curves and not found:
            panel = Panel(
                curves,
                "n",
                "share of n-grams that are novel",
                style="ticks",
                inset=True,
                is_share=True,
            )
            found.append(
                Figure(
                    "novelty-by-n",
                    "Novel n-grams by size",
                    f"Share of n-grams that are novel, for each n, {words}; the band is the human "
                    "text's 95 % interval.",
                    [panel],
                    family="novelty",
                )
            )
    curves = series.get(f"novelty.ngram{_SIZE_CURVE}.by_training_size", [])
    if curves and len(curves[0].x) > 1:
        panel = Panel(
            curves,
            "training tokens",
            f"share of {_SIZE_CURVE}-grams that are novel",
            log_x=True,
            style="ticks",
            is_share=True,
        )
        found.append(
            Figure(
                "novelty-by-training-size",
                f"Novel {_SIZE_CURVE}-grams by size of the training text",
                f"Share of {_SIZE_CURVE}-grams that are novel after so many tokens of the training "
                "text: a novelty without the size of the text means little.",
                [panel],
                family="novelty",
            )
        )
    return found
