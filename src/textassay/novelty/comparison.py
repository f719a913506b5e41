"""One side's measurements and curves, compared with human text where there is any."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.units import can_be_paired
from textassay.novelty.measure import NoveltyOptions
from textassay.novelty.scores import position_means
from textassay.novelty.sides import Side
from textassay.novelty.tables import Column, Table
from textassay.results import Measurement, Record, Series, finite, make_signature
from textassay.stats.events import typical_deviations, value_interval
from textassay.stats.ratio_sums import RatioSums, bootstrap_ratios
from textassay.stats.ratios import RatioComparison, compare_ratios, human_margin
from textassay.stats.setting import Setting
from textassay.stats.verdicts import detectable_difference, verdict

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measured:
    """A side's measures, on whole documents or on documents cut to one length."""

    columns: list[Column]
    sums: RatioSums
    resampled: Array
    documents: int
    tokens: int

    @property
    def bounds(self) -> Array:
        """Smallest and largest possible values, float64[2, K]."""
        return np.array([column.bounds for column in self.columns]).T

    @property
    def least(self) -> Array:
        """Smallest deviations of a unit, float64[K]."""
        return np.array([float(column.event) for column in self.columns])

    @property
    def content(self) -> int:
        """A checksum of the sums, which names the side's random streams."""
        sums = (self.sums.numerators, self.sums.denominators)
        return zlib.crc32(b"".join(np.ascontiguousarray(part).tobytes() for part in sums))


@dataclass(eq=False)
class Bench:
    """Where sides are measured and compared, each thing once.

    Random streams are named after what they are for and what is in a text, so that a system's
    numbers depend neither on its name nor on which other systems are there.
    """

    human: Side | None
    options: NoveltyOptions
    setting: Setting
    n_resamples: int
    _tables: dict[tuple[str, int | None], Table] = field(default_factory=dict)
    _measured: dict[tuple[str, int | None], Measured] = field(default_factory=dict)
    _margins: dict[tuple[int, int | None], Array] = field(default_factory=dict)

    def rng(self, *names: object) -> np.random.Generator:
        """The generator for a purpose."""
        seed = self.setting.seed
        key = zlib.crc32(repr(names).encode("utf-8", "backslashreplace"))
        return np.random.default_rng(
            np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
        )

    def table(self, side: Side, cut: int | None) -> Table:
        """A side's sums by document."""
        if (side.name, cut) not in self._tables:
            self._tables[side.name, cut] = side.table(self.options, cut)
        return self._tables[side.name, cut]

    def measured(self, side: Side, cut: int | None) -> Measured:
        """A side's measures and their intervals."""
        if (side.name, cut) not in self._measured:
            table = self.table(side, cut)
            units = side.units(self.setting.unit)
            lengths = side.lengths
            if cut is not None:
                kept = lengths >= cut
                units = [unit for unit, keep in zip(units, kept, strict=True) if keep]
                lengths = np.full(int(kept.sum()), cut)
            sums = RatioSums.from_documents(table.numerators, table.denominators, units)
            measured = Measured(table.columns, sums, np.empty(0), lengths.size, int(lengths.sum()))
            rng = self.rng("bootstrap", measured.content)
            drawn = bootstrap_ratios(sums, self.n_resamples, rng)
            self._measured[side.name, cut] = replace(measured, resampled=drawn)
        return self._measured[side.name, cut]

    def intervals(self, side: Side, cut: int | None) -> tuple[Array, Array]:
        """The 95 % intervals of a side's measures."""
        mine = self.measured(side, cut)
        sides = [mine.sums]
        if self.human is not None and not side.is_human:
            sides.append(self.measured(self.human, cut).sums)
        typical = typical_deviations(sides, mine.least)
        low, high, _ = value_interval(mine.sums, mine.resampled, mine.bounds, typical)
        return low, high

    def margin(self, size: int, cut: int | None) -> Array:
        """Distances up to it are seen between sets of `size` human units."""
        if self.human is None:
            raise ValueError("there is no human text")
        if (size, cut) not in self._margins:
            sums = self.measured(self.human, cut).sums
            rng = self.rng("margin", size, self.measured(self.human, cut).content)
            self._margins[size, cut] = human_margin(sums, size, self.n_resamples, rng)
        return self._margins[size, cut]


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
        mine, theirs = bench.measured(self.side, cut), bench.measured(human, cut)
        paired = (
            len(human.corpora) == 1
            and can_be_paired(self.side.corpora[0], human.corpora[0], bench.setting.unit)
            and set(mine.sums.keys) == set(theirs.sums.keys)
        )
        return compare_ratios(
            mine.sums,
            theirs.sums.select(mine.sums.keys) if paired else theirs.sums,
            n_resamples=bench.n_resamples,
            rng=bench.rng("permutation", mine.content, theirs.content),
            paired=paired,
            # the curve over n: the first columns, which count both sources if there are two
            joint=slice(0, len(bench.options.ngrams)),
            bounds=mine.bounds,
            resampled=(mine.resampled, theirs.resampled),
            least=mine.least,
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
        values = mine.sums.values
        low, high = bench.intervals(self.side, cut)
        found: list[Record] = []
        for k, column in enumerate(mine.columns):
            record = Measurement(
                measure=column.measure,
                system=self.side.name,
                value=finite(values[k]),
                value_low=finite(low[k]),
                value_high=finite(high[k]),
                unit=column.unit,
                direction=column.direction,
                n_documents=mine.documents,
                n_tokens=mine.tokens,
                n_units=len(mine.sums),
                resampling_unit=bench.setting.unit,
                signature=self._signature(column, cut),
            )
            if comparison is not None and theirs is not None:
                record.human = finite(theirs.sums.values[k])
                self._add_comparison(record, comparison, theirs, k, cut)
            found.append(record)
        return found

    def _add_comparison(
        self,
        record: Measurement,
        comparison: RatioComparison,
        human: Measured,
        k: int,
        cut: int | None,
    ) -> None:
        bench = self.bench
        if np.isnan(comparison.distance[k]):
            return
        size = min(len(bench.measured(self.side, cut).sums), len(human.sums) // 2)
        record.size = size
        record.distance = finite(comparison.distance[k])
        record.distance_low = finite(comparison.low[k])
        record.distance_high = finite(comparison.high[k])
        record.floor = finite(comparison.floor[k])
        record.p_value = finite(comparison.pvalue[k])
        if not np.isnan(comparison.pvalue_joint[k]):
            record.p_adjusted = finite(comparison.pvalue_joint[k])
            record.family = "novelty by n, step-down max-T"
        how = "sign flips of paired" if comparison.paired else "studentized permutation of"
        record.test = f"{how} {record.resampling_unit}s, {bench.n_resamples} resamples"
        if comparison.sparse[k]:
            record.test = f"exact binomial of {record.resampling_unit}s with events"
            if record.family:
                record.family = "novelty by n, Bonferroni"
        margin = float(bench.margin(size, cut)[k])
        if comparison.sparse[k]:
            record.warnings.append("few-events")
            # human samples without any event agree in nothing but their size
            margin = max(margin, float(comparison.usual_most[k]))
        if bench.setting.margin is not None:
            margin = bench.setting.margin
        if np.isnan(margin):
            return
        record.reference = finite(margin)
        error = float(comparison.standard_error[k])
        record.detectable = finite(detectable_difference(error, margin))
        if cut is None and self.cut is not None:
            record.warnings.append("unlike-lengths")  # the verdict is that of equal lengths
        else:
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
                            Column("novelty.pointwise", "training", "tokens"), None
                        ),
                    )
                )
        return found
