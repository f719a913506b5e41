"""One side's measurements and curves, compared with human text where there is any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.units import can_be_paired
from textassay.novelty.measure import NoveltyOptions
from textassay.novelty.scores import position_means
from textassay.novelty.sides import Side
from textassay.novelty.tables import Column, matched_length
from textassay.results import Measurement, Record, Series, finite, make_signature
from textassay.stats.ratios import (
    RatioComparison,
    RatioSums,
    bootstrap_ratios,
    compare_ratios,
    human_margin,
    interval,
)
from textassay.stats.setting import Setting
from textassay.stats.verdicts import detectable_difference, verdict


class SideReport:
    """Measurements and curves of one side, compared with human text if there is any."""

    def __init__(
        self,
        side: Side,
        human: Side | None,
        options: NoveltyOptions,
        setting: Setting,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self.side, self.options, self.setting = side, options, setting
        self.rng, self.n = rng, n_resamples
        self.human = human if human is not None and not side.is_human else None
        self.table = side.table(options)
        self.columns = self.table.columns
        self.sums = RatioSums.from_documents(
            self.table.numerators, self.table.denominators, side.units(setting.unit)
        )
        self.low, self.high = interval(bootstrap_ratios(self.sums, self.n, rng))
        self.warnings: list[str] = []
        self.comparison: RatioComparison | None = None
        self.human_values: NDArray[np.float64] | None = None
        self.cut: int | None = None
        if self.human is not None:
            self._compare(self.human)

    def _compare(self, human: Side) -> None:
        self.cut = matched_length(self.side.lengths, human.lengths)
        system_sums, human_sums = self.sums, self._ratio_sums(human, None)
        self.human_values = human_sums.values
        self.comparable = np.ones(len(self.columns), np.bool_)
        if self.cut is not None:
            self.warnings.append("unlike-lengths")
            cut_columns = self.side.table(self.options, self.cut).columns
            kept = [self.columns.index(column) for column in cut_columns]
            self.comparable[:] = False
            self.comparable[kept] = True
            system_sums = self._ratio_sums(self.side, self.cut)
            human_sums = self._ratio_sums(human, self.cut)
        self.compared = (system_sums, human_sums)
        paired = (
            len(human.corpora) == 1
            and can_be_paired(self.side.corpora[0], human.corpora[0], self.setting.unit)
            and set(system_sums.keys) == set(human_sums.keys)
        )
        if paired:
            human_sums = human_sums.select(system_sums.keys)
        curve = sum(
            column.source == self.columns[0].source and "ngram" in column.measure
            for column in self.columns
        )
        comparison = compare_ratios(
            system_sums,
            human_sums,
            n_resamples=self.n,
            rng=self.rng,
            paired=paired,
            joint=slice(0, curve),
        )
        size = min(len(system_sums), len(human_sums) // 2)
        margin = human_margin(human_sums, size, self.n, self.rng)
        if self.setting.margin is not None:
            margin = np.full_like(margin, self.setting.margin)
        self.size = size
        self.comparison, self.margin = comparison, margin

    def _ratio_sums(self, side: Side, cut: int | None) -> RatioSums:
        table = side.table(self.options, cut)
        units = side.units(self.setting.unit)
        if cut is not None:
            units = [u for u, kept in zip(units, side.kept(cut), strict=True) if kept]
        return RatioSums.from_documents(table.numerators, table.denominators, units)

    def _signature(self, column: Column) -> str:
        parts = dict(self.setting.signature)
        parts["source"] = column.source
        parts["role"] = self.options.train_role
        if self.cut is not None:
            parts["len"] = str(self.cut)
        parts["unit"] = self.setting.unit
        parts["protocol"] = self.setting.protocol
        version = parts.pop("v")
        return make_signature(column.measure, **parts, v=version)

    def measurements(self) -> list[Record]:
        """One record a measure."""
        found: list[Record] = []
        values = self.sums.values
        position = 0  # in the columns that were compared
        for k, column in enumerate(self.columns):
            record = Measurement(
                measure=column.measure,
                system=self.side.name,
                value=finite(values[k]),
                value_low=finite(self.low[k]),
                value_high=finite(self.high[k]),
                unit=column.unit,
                direction=column.direction,
                n_documents=self.side.documents,
                n_tokens=self.side.tokens,
                resampling_unit=self.setting.unit,
                warnings=list(self.warnings),
                signature=self._signature(column),
            )
            if self.comparison is not None and self.human_values is not None:
                record.human = finite(self.human_values[k])
                if self.comparable[k]:
                    self._add_comparison(record, position)
                    position += 1
            found.append(record)
        if self.side.scores[0].has_training:
            found.append(self._longest_copy())
        return found

    def _add_comparison(self, record: Measurement, k: int) -> None:
        comparison = self.comparison
        if comparison is None or np.isnan(comparison.distance[k]):
            return
        margin = float(self.margin[k])
        record.distance = finite(comparison.distance[k])
        record.distance_low = finite(comparison.low[k])
        record.distance_high = finite(comparison.high[k])
        record.floor = finite(comparison.floor[k])
        record.size = self.size
        record.p_value = finite(comparison.pvalue[k])
        if not np.isnan(comparison.pvalue_joint[k]):
            record.p_adjusted = finite(comparison.pvalue_joint[k])
            record.family = "novelty by n, step-down max-T"
        record.test = (
            f"sign flips of paired {record.resampling_unit}s, {self.n} resamples"
            if comparison.paired
            else f"studentized permutation of {record.resampling_unit}s, {self.n} resamples"
        )
        if np.isnan(margin) or np.isnan(comparison.low[k]):
            return
        record.reference = finite(margin)
        record.detectable = finite(
            detectable_difference(float(comparison.standard_error[k]), margin)
        )
        record.verdict = verdict(float(comparison.low[k]), float(comparison.high[k]), margin)

    def _longest_copy(self) -> Record:
        longest = max(int(scores.copied.max(initial=0)) for scores in self.side.scores)
        column = Column("novelty.longest_copy", "training", "tokens", "lower")
        return Measurement(
            measure=column.measure,
            system=self.side.name,
            value=float(longest),
            unit=column.unit,
            direction=column.direction,
            n_documents=self.side.documents,
            n_tokens=self.side.tokens,
            resampling_unit=self.setting.unit,
            signature=self._signature(column),
        )

    def series(self) -> list[Record]:
        """Novelty by n (Figures 1 and 15), and scores by position (Figure 14)."""
        found: list[Record] = []
        values = self.sums.values
        ngrams = self.options.ngrams
        for source in dict.fromkeys(column.source for column in self.columns):
            at = [
                k
                for k, column in enumerate(self.columns)
                if column.source == source and column.measure.startswith("novelty.ngram")
            ]
            found.append(
                Series(
                    measure=f"novelty.by_n.{source}",
                    system=self.side.name,
                    x_label="n",
                    y_label="share of n-grams that are novel",
                    x=[float(n) for n in ngrams],
                    y=[finite(values[k]) for k in at],
                    y_low=[finite(self.low[k]) for k in at],
                    y_high=[finite(self.high[k]) for k in at],
                    band="95 % for each n",
                    signature=self._signature(self.columns[at[0]]),
                )
            )
        if self.comparison is not None:
            comparison = self.comparison
            at = list(range(len(ngrams)))
            found.append(
                Series(
                    measure="novelty.by_n.distance",
                    system=self.side.name,
                    x_label="n",
                    y_label="novelty less that of human text",
                    x=[float(n) for n in ngrams],
                    y=[finite(comparison.distance[k]) for k in at],
                    y_low=[finite(comparison.distance[k] - comparison.band[k]) for k in at],
                    y_high=[finite(comparison.distance[k] + comparison.band[k]) for k in at],
                    band="95 % for all n at once, max-T",
                    signature=self._signature(self.columns[0]),
                )
            )
        if len(self.side.scores) == 1 and self.side.scores[0].has_training:
            bins, means = position_means(self.side.scores[0])
            if bins.size:
                found.append(
                    Series(
                        measure="novelty.by_position",
                        system=self.side.name,
                        x_label="position of the first token",
                        y_label="mean pointwise score, truncated at 10",
                        x=bins.astype(float).tolist(),
                        y=[finite(mean) for mean in means],
                        signature=self._signature(
                            Column("novelty.pointwise", "training", "tokens")
                        ),
                    )
                )
        return found
