"""Measurements of measures that are ratios of sums, and their comparison with human text."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from textassay.results import Measurement, finite
from textassay.stats.events import typical_deviations, value_interval
from textassay.stats.ratio_sums import RatioSums, bootstrap_ratios
from textassay.stats.ratios import RatioComparison, compare_ratios, human_margin
from textassay.stats.setting import Setting
from textassay.stats.verdicts import FEWEST_UNITS, Z95, detectable_difference, verdict

Array = NDArray[np.float64]
TOO_FEW = "few-units"
FEWEST_JUDGED = 10  # on either side, or nothing is decided


@dataclass(frozen=True)
class Column:
    """One measure: its name, what it is a share or mean of, and what it can be.

    ``event`` is the smallest deviation of a document that can be: one item, or one passage; 0 for
    measures that count no events, so that few unlike documents are nothing special. ``spread`` says
    that it is a variance, a mean of squared deviations from the mean.
    """

    measure: str
    unit: str
    direction: str = "human"
    bounds: tuple[float, float] = (0.0, 1.0)
    event: float = 1.0
    spread: bool = False


ColumnType = TypeVar("ColumnType", bound=Column)


@dataclass(frozen=True, eq=False)
class Measured(Generic[ColumnType]):
    """Several measures of one text, with their bootstrap.

    `content` is a checksum that names the text's random streams.
    """

    columns: Sequence[ColumnType]
    sums: RatioSums
    resampled: Array
    documents: int
    tokens: int
    content: int

    @property
    def bounds(self) -> Array:
        """Smallest and largest possible values, float64[2, K]."""
        return np.array([column.bounds for column in self.columns]).T

    @property
    def least(self) -> Array:
        """Smallest deviations of a unit, float64[K]."""
        return np.array([float(column.event) for column in self.columns])

    @property
    def spreads(self) -> NDArray[np.bool_]:
        """Which are variances, bool[K]."""
        return np.array([column.spread for column in self.columns])


def measure(
    columns: Sequence[ColumnType],
    sums: RatioSums,
    documents: int,
    tokens: int,
    setting: Setting,
    content: int | None = None,
) -> Measured[ColumnType]:
    """Measures of one text, bootstrapped over its units; `content`: default that of the sums."""
    if content is None:
        parts = (sums.numerators, sums.denominators)
        content = zlib.crc32(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    measured = Measured(columns, sums, np.empty(0), documents, tokens, content)
    rng = setting.rng("bootstrap", measured.content)
    return replace(measured, resampled=bootstrap_ratios(sums, setting.n_resamples, rng))


def intervals(
    mine: Measured[ColumnType], human: Measured[ColumnType] | None
) -> tuple[Array, Array]:
    """The 95 % intervals of a text's measures; `human` tells how much units deviate if they do."""
    sides = [mine.sums] if human is None else [mine.sums, human.sums]
    typical = typical_deviations(sides, mine.least)
    low, high, _ = value_interval(
        mine.sums, mine.resampled, mine.bounds, typical, mine.least > 0, mine.spreads
    )
    return low, high


@dataclass(eq=False)
class RatioBench(Generic[ColumnType]):
    """Compares texts with one human text; margins are worked out once for each size."""

    setting: Setting
    joint: slice = field(default_factory=lambda: slice(None))
    joint_family: str = ""
    _margins: dict[tuple[int, int], Array] = field(default_factory=dict)

    def compare(
        self, mine: Measured[ColumnType], human: Measured[ColumnType], *, may_pair: bool
    ) -> RatioComparison:
        """Compare; paired where the sides may be and their units have the same names."""
        paired = may_pair and set(mine.sums.keys) == set(human.sums.keys)
        return compare_ratios(
            mine.sums,
            human.sums.select(mine.sums.keys) if paired else human.sums,
            n_resamples=self.setting.n_resamples,
            rng=self.setting.rng("permutation", mine.content, human.content),
            paired=paired,
            joint=self.joint,
            bounds=mine.bounds,
            resampled=(mine.resampled, human.resampled),
            least=mine.least,
            spreads=mine.spreads,
        )

    def margin(self, human: Measured[ColumnType], size: int) -> Array:
        """Distances up to it are seen between sets of `size` human units."""
        if (size, human.content) not in self._margins:
            rng = self.setting.rng("margin", size, human.content)
            self._margins[size, human.content] = human_margin(
                human.sums, size, self.setting.n_resamples, rng
            )
        return self._margins[size, human.content]

    def record(
        self,
        system: str,
        mine: Measured[ColumnType],
        interval: tuple[Array, Array],
        k: int,
        signature: str,
    ) -> Measurement:
        """The measurement of one column, not compared."""
        column = mine.columns[k]
        return Measurement(
            measure=column.measure,
            system=system,
            value=finite(mine.sums.values[k]),
            value_low=finite(interval[0][k]),
            value_high=finite(interval[1][k]),
            unit=column.unit,
            direction=column.direction,
            n_documents=mine.documents,
            n_tokens=mine.tokens,
            n_units=len(mine.sums),
            resampling_unit=self.setting.unit,
            signature=signature,
        )

    def add_comparison(
        self,
        record: Measurement,
        comparison: RatioComparison,
        mine: Measured[ColumnType],
        human: Measured[ColumnType],
        k: int,
        no_verdict: str | None = None,
    ) -> None:
        """Add to a measurement how it differs from human text.

        `no_verdict` is a warning that stands in place of a verdict.
        """
        record.human = finite(human.sums.values[k])
        if np.isnan(comparison.distance[k]):
            return
        size = min(len(mine.sums), len(human.sums) // 2)
        record.size = size
        of = (mine.sums.values[k], human.sums.values[k])
        low, high = (without_noise(float(end[k]), *of) for end in (comparison.low, comparison.high))
        record.distance = finite(without_noise(float(comparison.distance[k]), *of))
        record.distance_low, record.distance_high = finite(low), finite(high)
        record.floor = finite(comparison.floor[k])
        record.p_value = finite(comparison.pvalue[k])
        if not np.isnan(comparison.pvalue_joint[k]):
            record.p_adjusted = finite(comparison.pvalue_joint[k])
            record.family = f"{self.joint_family}, step-down max-T"
        how = "sign flips of paired" if comparison.paired else "studentized permutation of"
        n = self.setting.n_resamples
        record.test = f"{how} {record.resampling_unit}s, {n} resamples, two-sided"
        if comparison.sparse[k]:
            record.test = f"exact binomial of {record.resampling_unit}s with events"
            if record.family:
                record.family = f"{self.joint_family}, Bonferroni"
        margin = without_noise(float(self.margin(human, size)[k]), *of)
        if comparison.sparse[k]:
            record.warnings.append("few-events")
        few = comparison.few_events.get(k)
        if few is not None:
            margin = few.margin(size)
        add_verdict(
            record,
            low,
            high,
            float(comparison.standard_error[k]),
            margin,
            len(human.sums),
            self.setting,
            no_verdict,
        )
        if few is not None and record.reference is not None:
            record.detectable = finite(few.detectable(record.reference))


@dataclass(frozen=True, eq=False)
class RatioSide:
    """One text's sums, and what a record tells of it."""

    name: str
    is_human: bool
    sums: RatioSums
    documents: int
    tokens: int
    content: int
    may_pair: bool = False


def ratio_measurements(
    sides: Sequence[RatioSide],
    columns: Sequence[ColumnType],
    setting: Setting,
    sign: Callable[[str], str],
) -> Iterator[Measurement]:
    """Records of measures of several texts; people's, if it is there, is compared with.

    Parameters
    ----------
    sides : sequence of RatioSide
    columns : sequence of Column
    setting : Setting
    sign : callable
        From a measure's name to its signature.
    """
    bench: RatioBench[ColumnType] = RatioBench(setting, joint=slice(0, 0))
    measured = [
        (side, measure(columns, side.sums, side.documents, side.tokens, setting, side.content))
        for side in sides
    ]
    human = next((found for side, found in measured if side.is_human), None)
    for side, mine in measured:
        is_human = mine is human
        interval = intervals(mine, None if is_human else human)
        comparison = None
        if human is not None and not is_human:
            comparison = bench.compare(mine, human, may_pair=side.may_pair)
        for k, column in enumerate(columns):
            record = bench.record(side.name, mine, interval, k, sign(column.measure))
            if comparison is not None and human is not None:
                bench.add_comparison(record, comparison, mine, human, k)
            yield record


def without_noise(distance: float, *values: float) -> float:
    """`distance`, or 0 if it is but the last digits of the values it is made of."""
    largest = max((abs(value) for value in values if not np.isnan(value)), default=0.0)
    return 0.0 if abs(distance) <= 1e-10 * largest else distance


def add_verdict(
    record: Measurement,
    low: float,
    high: float,
    standard_error: float,
    margin: float,
    human_units: int,
    setting: Setting,
    no_verdict: str | None = None,
    reach: float | None = None,
) -> None:
    """Add margin, detectable difference and verdict, or a warning in the verdict's place.

    `reach` is how far the interval reaches before it is cut to what is possible; default: as far
    as it does towards no difference.

    Fewer than 4 units tell nothing of how they vary: then there is neither. Of fewer than 10, on
    either side, the verdict is `undecided`: intervals of so few cannot be relied on.
    """
    if record.n_units < FEWEST_UNITS:
        return
    own = setting.margin_of(record.measure)
    if own is not None:
        margin = own
    if np.isnan(margin) or np.isnan(low) or np.isnan(high):
        return
    record.reference = finite(margin)
    if reach is None:
        distance = 0.0 if record.distance is None else record.distance
        reach = distance - low if distance >= 0 else high - distance
    record.detectable = finite(detectable_difference(reach, standard_error, margin))
    if no_verdict is not None:
        record.warnings.append(no_verdict)
    elif min(record.n_units, human_units) < FEWEST_JUDGED:
        record.warnings.append(TOO_FEW)
        record.verdict = "undecided"
    else:
        record.verdict = verdict(low, high, margin)


def widen(
    record: Measurement,
    value_error: float,
    distance_error: float,
    bounds: tuple[float, float] = (float("-inf"), float("inf")),
) -> None:
    """Add an error that does not come from the record's own units, and judge anew.

    Parameters
    ----------
    record : Measurement
        With intervals, which are widened by 1.96 of the errors, root of the squares.
    value_error, distance_error : float
        Standard errors; NaN adds nothing.
    bounds : tuple of float
        Smallest and largest possible value; a distance is at most their difference.
    """
    most = bounds[1] - bounds[0]
    for name, error, least, largest in (
        ("value", value_error, *bounds),
        ("distance", distance_error, -most, most),
    ):
        middle = getattr(record, name)
        low, high = getattr(record, f"{name}_low"), getattr(record, f"{name}_high")
        if None not in (middle, low, high) and not np.isnan(error):
            reach = Z95 * error
            low = max(least, middle - float(np.hypot(middle - low, reach)))
            high = min(largest, middle + float(np.hypot(high - middle, reach)))
            setattr(record, f"{name}_low", min(low, middle))
            setattr(record, f"{name}_high", max(high, middle))
    low, high, margin = record.distance_low, record.distance_high, record.reference
    if low is None or high is None or margin is None or np.isnan(distance_error):
        return
    if record.detectable is not None:
        added = detectable_difference(Z95 * distance_error, distance_error, 0.0)
        record.detectable = margin + float(np.hypot(record.detectable - margin, added))
    if record.verdict is not None and TOO_FEW not in record.warnings:
        record.verdict = verdict(low, high, margin)
