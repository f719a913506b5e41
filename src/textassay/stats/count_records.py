"""Measurements of statistics of counts, and their comparison with human text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from textassay.parallel import Workers
from textassay.results import Measurement, Record, Series, finite
from textassay.stats.bounded import bounded_difference, bounded_interval, clipped
from textassay.stats.count_comparison import (
    CountComparison,
    averaging_errors,
    common_size,
    compare_counts,
    human_pairs,
    margin_of,
    value_at,
    value_errors,
)
from textassay.stats.grouped import EVERYTHING, Array, Grouped, Statistics
from textassay.stats.ratio_records import add_verdict, without_noise
from textassay.stats.setting import Setting


@dataclass(frozen=True)
class CountMeasure:
    """A measure that counts of types, values or documents give.

    Attributes
    ----------
    measure : str
    unit : str
    column : int
        Among the statistics' values, then distances.
    is_distance : bool
        Whether it has no value of one text, only a distance of two.
    bounds : tuple of float
        Smallest and largest value; a distance's, if it is one.
    direction : str
        Which way is better.
    """

    measure: str
    unit: str
    column: int
    is_distance: bool
    bounds: tuple[float, float]
    direction: str = "human"

    def bounds_at(self, items: int | None) -> tuple[float, float]:
        """Smallest and largest value of so many items; None: of any number."""
        return self.bounds

    def error(self, error: float, units: int, other_units: int) -> float:
        """The standard error of a distance, but not 0 where it is one of shares.

        Parts of texts that show nothing at all (no symbol, say) never differ, but one document more
        on either side may show something.
        """
        if error or self.bounds != (0.0, 1.0):
            return error
        return float(np.hypot(1 / units, 1 / other_units))


class EntropyMeasure(CountMeasure):
    """Bits of an item, which so many items, all unlike, have the logarithm of at most."""

    def bounds_at(self, items: int | None) -> tuple[float, float]:
        """0 and the logarithm; of any number, its own."""
        return self.bounds if items is None else (0.0, float(np.log2(items)))


@dataclass(frozen=True)
class Side:
    """What records say of a text beside its numbers."""

    name: str
    documents: int
    tokens: int
    units: int
    is_sampled: bool = False


@dataclass(eq=False)
class CountBench:
    """Compares counts, and writes what it finds; what belongs to the human text is made once."""

    setting: Setting
    workers: Workers
    _errors: dict[tuple[str, int, int], Array] = field(default_factory=dict)
    _margins: dict[tuple[str, int, int], Array] = field(default_factory=dict)
    _values: dict[tuple[str, int, int], Array] = field(default_factory=dict)

    @property
    def full_size(self) -> bool:
        """Whether values are those of whole texts, as older tables give them."""
        return self.setting.protocol == "published"

    def sign(self, measure: str, **parts: object) -> str:
        """The signature of a measure."""
        return self.setting.sign(measure, **parts)

    def errors(self, kind: str, sample: Grouped, statistics: Statistics, items: int) -> Array:
        """Standard errors of a sample's own values in subsamples of so many items, or of all."""
        size = EVERYTHING if self.full_size else items
        key = (kind, sample.content, size)
        if key not in self._errors:
            rng = self.setting.rng("errors", *key)
            self._errors[key] = value_errors(sample, statistics, size, rng, self.workers)
        return self._errors[key]

    def values(self, kind: str, sample: Grouped, statistics: Statistics, items: int) -> Array:
        """A sample's own values in random subsamples of so many items, or of all."""
        size = EVERYTHING if self.full_size else items
        key = (kind, sample.content, size)
        if key not in self._values:
            rng = self.setting.rng("alone", *key)
            self._values[key] = value_at(sample, statistics, size, rng, self.workers)
        return self._values[key]

    def margin(self, kind: str, human: Grouped, statistics: Statistics, items: int) -> Array:
        """Distances up to it are seen between human samples of so many items."""
        key = (kind, human.content, items)
        if key not in self._margins:
            rng = self.setting.rng("margin", *key)
            pairs = human_pairs(human, statistics, items, rng, self.workers)
            self._margins[key] = margin_of(pairs)
        return self._margins[key]

    def compare(
        self,
        kind: str,
        system: Grouped,
        human: Grouped,
        statistics: Statistics,
    ) -> CountComparison:
        """Compare two texts by one kind of counts."""
        names = (kind, system.content, human.content)
        size = common_size(system, human)

        def rng(*purpose: object) -> np.random.Generator:
            return self.setting.rng(*names, *purpose)

        return compare_counts(
            system,
            human,
            statistics,
            rng=rng,
            workers=self.workers,
            n_resamples=self.setting.n_resamples,
            errors=(
                self.errors(kind, system, statistics, size),
                self.errors(kind, human, statistics, size),
            ),
            human_values=self.values(kind, human, statistics, size),
            margin=self.margin(kind, human, statistics, size),
            full_size=self.full_size,
        )

    def describe(
        self,
        kind: str,
        side: Side,
        sample: Grouped,
        statistics: Statistics,
        measure: CountMeasure,
        items: int | None,
        **parts: object,
    ) -> list[Record]:
        """The value of one text by itself, averaged over subsamples of `items`, or of all of it."""
        if measure.is_distance:
            return []
        size = EVERYTHING if items is None else items
        rows = self.values(kind, sample, statistics, size)
        value = float(rows[:, measure.column].mean())
        shown = None if self.full_size else min(size, sample.items)
        record = self.blank(measure, side, shown, **parts)
        record.value = finite(value)
        if side.is_sampled and len(rows) > 1:
            # like the paper's Table 4: how samples of the size of the others differ
            reach = 1.96 * float(rows[:, measure.column].std(ddof=1))
            record.test = "interval: where 95 of 100 samples of this size lie"
        else:
            errors = np.hypot(self.errors(kind, sample, statistics, size), averaging_errors(rows))
            reach = reach_of(side.units) * float(errors[measure.column])
        bounds = measure.bounds_at(shown)
        record.value_low, record.value_high = bounded_interval(value, reach, bounds)
        return [record]

    def blank(
        self, measure: CountMeasure, side: Side, size: int | None, **parts: object
    ) -> Measurement:
        """A measurement without numbers."""
        if size is not None:
            parts["size"] = size
        return Measurement(
            measure=measure.measure,
            system=side.name,
            unit=measure.unit,
            direction="none" if measure.is_distance else measure.direction,
            size=size,
            n_documents=side.documents,
            n_tokens=side.tokens,
            n_units=side.units,
            resampling_unit=self.setting.unit,
            signature=self.sign(measure.measure, **parts),
        )

    def record(
        self,
        side: Side,
        human_units: int,
        found: CountComparison,
        measure: CountMeasure,
        no_verdict: str | None = None,
        **parts: object,
    ) -> Measurement:
        """A measurement of one measure, compared with human text."""
        k = measure.column
        size = None if self.full_size else found.items
        record = self.blank(measure, side, size, **parts)
        distance, error = float(found.distance[k]), float(found.standard_error[k])
        reach: float | None = None
        if measure.is_distance:
            error = measure.error(error, side.units, human_units)
            reach = reach_of(min(side.units, human_units)) * error
            low, high = clipped(distance, reach, measure.bounds)
        else:
            value, human = float(found.value[k]), float(found.human[k])
            own = reach_of(side.units) * float(found.value_error[k])
            theirs = reach_of(human_units) * float(found.human_error[k])
            record.value, record.human = finite(value), finite(human)
            bounds = measure.bounds_at(size)
            record.value_low, record.value_high = bounded_interval(value, own, bounds)
            ends = bounded_difference((value, human), (own, theirs), bounds)
            low, high = (None if end is None else without_noise(end, value, human) for end in ends)
            distance = without_noise(distance, value, human)
        record.distance = finite(distance)
        record.distance_low, record.distance_high = low, high
        record.p_value = finite(found.pvalue[k])
        tails = "one-sided" if measure.is_distance else "two-sided"
        record.test = (
            f"permutation of {record.resampling_unit}s, {len(found.null)} resamples, {tails}"
        )
        if self.full_size:
            # floor and margin are of equal sizes: beside whole texts they would mislead
            record.warnings.append("published-protocol")
            return record
        record.floor = finite(found.floor[k])
        if low is not None and high is not None:
            margin = float(found.margin[k])
            add_verdict(
                record, low, high, error, margin, human_units, self.setting, no_verdict, reach
            )
        return record

    def permutations(
        self, side: Side, measure: str, null: Array, observed: float, **parts: object
    ) -> list[Record]:
        """A histogram of permuted distances beside the observed one (the paper's Figure 8)."""
        known = null[~np.isnan(null)]
        if not known.size or np.isnan(observed):
            return []
        spread = np.ptp(known) > 1e-9 * np.abs(known).max()
        counts, edges = np.histogram(known, bins=40 if spread else 1)
        return [
            Series(
                measure=f"{measure}.permutations",
                system=side.name,
                x_label="distance under permutation",
                y_label="resamples",
                x=((edges[:-1] + edges[1:]) / 2).tolist(),
                y=counts.astype(float).tolist(),
                observed=finite(observed),
                signature=self.sign(measure, **parts),
            )
        ]


def reach_of(units: int) -> float:
    """Standard errors on either side of a 95 % interval: Student's quantile for so many units."""
    from scipy.special import stdtrit

    return float(stdtrit(max(1, units - 1), 0.975))
