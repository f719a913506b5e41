"""The measures of overlap: names, units, columns."""

from __future__ import annotations

from textassay.overlap.prompts import PAIRS
from textassay.overlap.set_statistics import DISTINCT, ORDERS
from textassay.stats.count_records import CountMeasure
from textassay.stats.ratio_records import Column

_SHARE = (0.0, 1.0)

OF_SELF_BLEU = tuple(
    CountMeasure(f"overlap.self_bleu{n}", "score", k, False, _SHARE) for k, n in enumerate(ORDERS)
)
OF_CORPUS_BLEU = tuple(
    CountMeasure(f"overlap.corpus_bleu{n}", "score", k, False, _SHARE, "higher")
    for k, n in enumerate(ORDERS)
)
OF_DISTINCT = (
    *(
        CountMeasure(f"overlap.distinct{n}", f"share of {n}-grams", k, False, _SHARE)
        for k, n in enumerate(DISTINCT)
    ),
    CountMeasure("overlap.distinct_documents", "share of documents", len(DISTINCT), False, _SHARE),
)
OF_BLEU = tuple(Column(f"overlap.bleu{n}", "score", direction="higher", event=0.0) for n in ORDERS)
OF_TRAIN_BLEU = tuple(Column(f"overlap.train_bleu{n}", "score", event=0.0) for n in ORDERS)
OF_REPETITION = Column("overlap.repetition4", "share of 4-grams")
OF_COMPRESSION = Column(
    "overlap.compression_ratio", "bytes a compressed byte", bounds=(0.0, float("inf")), event=0.0
)
OF_SIMILARITY = CountMeasure("overlap.similarity", "mean cosine", 0, False, (-1.0, 1.0))
OF_FRECHET = CountMeasure("overlap.frechet", "squared distance", 0, True, (0.0, float("inf")))
OF_PROMPT_SIMILARITY = Column(
    "overlap.prompt_similarity",
    "mean cosine of two samples of a prompt",
    bounds=(-1.0, 1.0),
    event=0.0,
)
OF_PROMPTS = (
    Column("overlap.prompt_bleu4", "score of two samples of a prompt", event=0.0),
    Column("overlap.prompt_distinct2", "share of 2-grams of two samples of a prompt", event=0.0),
    Column("overlap.prompt_distinct_documents", "share of pairs of a prompt", event=1 / PAIRS),
)
