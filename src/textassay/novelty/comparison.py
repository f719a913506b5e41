"""One side's measurements and curves, compared with human text where there is any."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from textassay.corpus.units import can_be_paired
from textassay.novelty.measure import NoveltyOptions
from textassay.novelty.scores import position_means
from textassay.novelty.sides import Side
from textassay.novelty.tables import Column, Table
from textassay.results import Measurement, Record, Series, finite, make_signature
from textassay.stats.ratio_records import Array, Measured, RatioBench, intervals, measure
from textassay.stats.ratio_sums import RatioSums
from textassay.stats.ratios import RatioComparison
from textassay.stats.setting import Setting


@dataclass(eq=False)
class Bench:
    """Where sides are measured and compared, each thing once."""

    human: Side | None
    options: NoveltyOptions
    setting: Setting
    ratios: RatioBench[Column] = field(init=False)
    _tables: dict[tuple[str, int | None], Table] = field(default_factory=dict)
    _measured: dict[tuple[str, int | None], Measured[Column]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # the curve over n: the first columns, which count both sources if there are two
        joint = slice(0, len(self.options.ngrams))
        self.ratios = RatioBench(self.setting, joint, "novelty by n")

    def table(self, side: Side, cut: int | None) -> Table:
        """A side's sums by document."""
        if (side.name, cut) not in self._tables:
            self._tables[side.name, cut] = side.table(self.options, cut)
        return self._tables[side.name, cut]

    def measured(self, side: Side, cut: int | None) -> Measured[Column]:
        """A side's measures, on whole documents or on documents cut to one length."""
        if (side.name, cut) not in self._measured:
            table = self.table(side, cut)
            units = side.units(self.setting.unit)
            lengths = side.lengths
            if cut is not None:
                kept = lengths >= cut
                units = [unit for unit, keep in zip(units, kept, strict=True) if keep]
                lengths = np.full(int(kept.sum()), cut)
            sums = RatioSums.from_documents(table.numerators, table.denominators, units)
            self._measured[side.name, cut] = measure(
                table.columns, sums, lengths.size, int(lengths.sum()), self.setting
            )
        return self._measured[side.name, cut]

    def intervals(self, side: Side, cut: int | None) -> tuple[Array, Array]:
        """The 95 % intervals of a side's measures."""
        other = self.human if self.human is not None and not side.is_human else None
        return intervals(
            self.measured(side, cut), None if other is None else self.measured(other, cut)
        )


class SideReport:
    """Measurements and curves of one side, compared with human text if there is any.

    Parameters
    ----------
    side : Side
    bench : Bench
    cut : int or None
        A length to which all documents are cut for a second comparison, which then gives the
        verdict, where a system's lengths are unlike those of people.
    """

    def __init__(self, side: Side, bench: Bench, cut: int | None) -> None:
        self.side, self.bench = side, bench
        self.whole = bench.measured(side, None)
        self.cut = cut if bench.human is not None and not side.is_human else None
        self.comparison: RatioComparison | None = None
        if bench.human is not None and not side.is_human:
            self.comparison = self._compare(bench.human, None)

    def _compare(self, human: Side, cut: int | None) -> RatioComparison:
        bench = self.bench
        may_pair = len(human.corpora) == 1 and can_be_paired(
            self.side.corpora[0], human.corpora[0], bench.setting.unit
        )
        return bench.ratios.compare(
            bench.measured(self.side, cut), bench.measured(human, cut), may_pair=may_pair
        )

    def _signature(self, column: Column, cut: int | None) -> str:
        setting = self.bench.setting
        parts = {**setting.signature, "source": column.source}
        parts["role"] = self.bench.options.train_role
        if cut is not None:
            parts["len"] = str(cut)
        parts["unit"], parts["protocol"] = setting.unit, setting.protocol
        version = parts.pop("v")
        return make_signature(column.measure, **parts, v=version)

    def measurements(self) -> list[Record]:
        """One record a measure; two where documents are also compared at one length."""
        found = self._records(None, self.comparison)
        if self.side.scores[0].has_training:
            found.append(self._longest_copy())
        if self.cut is not None and self.bench.human is not None:
            found.extend(self._records(self.cut, self._compare(self.bench.human, self.cut)))
        return found

    def _records(self, cut: int | None, comparison: RatioComparison | None) -> list[Record]:
        bench = self.bench
        mine = bench.measured(self.side, cut)
        theirs = bench.measured(bench.human, cut) if comparison and bench.human else None
        interval = bench.intervals(self.side, cut)
        # where lengths are unlike, the verdict is that of documents cut to one length
        unlike = "unlike-lengths" if cut is None and self.cut is not None else None
        found: list[Record] = []
        for k, column in enumerate(mine.columns):
            record = bench.ratios.record(
                self.side.name, mine, interval, k, self._signature(column, cut)
            )
            if comparison is not None and theirs is not None:
                bench.ratios.add_comparison(record, comparison, mine, theirs, k, unlike)
            found.append(record)
        return found

    def _longest_copy(self) -> Record:
        longest = max(int(scores.copied.max(initial=0)) for scores in self.side.scores)
        column = Column("novelty.longest_copy", "tokens", "lower", source="training")
        return Measurement(
            measure=column.measure,
            system=self.side.name,
            value=float(longest),
            unit=column.unit,
            direction=column.direction,
            n_documents=self.side.documents,
            n_tokens=self.side.tokens,
            resampling_unit=self.bench.setting.unit,
            signature=self._signature(column, None),
        )

    def series(self) -> list[Record]:
        """Novelty by n (Figures 1 and 15), and scores by position (Figure 14)."""
        found: list[Record] = []
        values = self.whole.sums.values
        lows, highs = self.bench.intervals(self.side, None)
        ngrams = self.bench.options.ngrams
        for source in dict.fromkeys(column.source for column in self.whole.columns):
            at = [
                k
                for k, column in enumerate(self.whole.columns)
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
                    y_low=[finite(lows[k]) for k in at],
                    y_high=[finite(highs[k]) for k in at],
                    band="95 % for each n",
                    signature=self._signature(self.whole.columns[at[0]], None),
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
                    y_label="novelty minus that of human text",
                    x=[float(n) for n in ngrams],
                    y=[finite(comparison.distance[k]) for k in at],
                    y_low=[finite(comparison.distance[k] - comparison.band[k]) for k in at],
                    y_high=[finite(comparison.distance[k] + comparison.band[k]) for k in at],
                    band="95 % for all n at once, max-T",
                    signature=self._signature(self.whole.columns[0], None),
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
                            Column("novelty.pointwise", "tokens", source="training"), None
                        ),
                    )
                )
        return found
