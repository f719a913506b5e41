"""What documents are made of: length, stopwords, symbols, words; as ratios of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textassay.stats.ratio_records import Column
from textassay.stats.ratio_sums import RatioSums
from textassay.tendencies.sample import Sample

Array = NDArray[np.float64]
STOPWORDS, SYMBOLS = 1, 2  # columns of a sample's sums
SHARES = {"stopwords": STOPWORDS, "symbols": SYMBOLS}


def composition(sample: Sample, window: int, *, stopwords: bool) -> tuple[list[Column], RatioSums]:
    """Columns and sums by unit.

    Parameters
    ----------
    sample : Sample
    window : int
        Tokens of the windows whose type-token ratios are averaged.
    stopwords : bool
        Whether there is a list of stopwords.

    Notes
    -----
    A variance is the mean of squared deviations from the sample's own mean.
    """
    columns: list[Column] = []
    numerators: list[Array] = []
    denominators: list[Array] = []

    def add(column: Column, numerator: Array, denominator: Array) -> None:
        columns.append(column)
        numerators.append(numerator)
        denominators.append(denominator)

    mean_length = max(1.0, float(sample.lengths.mean()))

    def add_moments(
        name: str, unit: str, values: Array, most: float, event: float, least: float
    ) -> None:
        known = (~np.isnan(values)).astype(float)
        numbers = np.nan_to_num(values)
        mean = numbers.sum() / max(1.0, known.sum())
        add(
            Column(f"tendencies.{name}.mean", unit, bounds=(0.0, most), event=event), numbers, known
        )
        add(
            Column(
                f"tendencies.{name}.variance",
                f"{unit}, squared",
                bounds=(0.0, most * most / 4),
                event=least * least,
                spread=True,
            ),
            known * (numbers - mean) ** 2,
            known,
        )

    add_moments("length", "tokens", sample.lengths.astype(float), np.inf, 0.0, 1.0)
    for name, column in SHARES.items():
        if name != "stopwords" or stopwords:
            # one token is the least event: texts that hold hardly any symbol are few events
            shares = sample.shares(column)
            event = 1 / mean_length
            add_moments(name, "share of a document's tokens", shares, 1.0, event, event)
    sums = sample.sums.astype(float)
    add(
        Column("tendencies.word_length", "characters", bounds=(0.0, np.inf), event=0.0),
        sums[:, 4],
        sums[:, 3],
    )
    ratios = sample.windows(window)
    add(
        Column(
            "tendencies.mattr",
            f"share of distinct tokens in windows of {window}",
            bounds=(0.0, 1.0),
            event=0.0,
        ),
        ratios[:, 0],
        ratios[:, 1],
    )
    keys = [sample.keys[unit] for unit in sample.document_units]
    return columns, RatioSums.from_documents(
        np.stack(numerators, axis=1), np.stack(denominators, axis=1), keys
    )
