"""Measures that rest on few units: no copy in most documents, every n-gram new in most.

Resampling says little there: a sample without any event has no spread. Exact limits and an exact
test of how many units show an event take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.stats.ratio_sums import Array, RatioSums, effective_units, interval, ratio
from textassay.stats.spreads import spread_interval
from textassay.stats.verdicts import Z95

FEW_UNITS = 20
_NOISE = 1e-9  # deviations below it, for each item, are rounding


def unusual_units(sums: RatioSums) -> tuple[Array, Array]:
    """For each measure, the ratio that units usually have, and how many units have another.

    Where nearly all units are alike (no copy at all; every n-gram new), a sample says little of
    how often the others come, and resampling it says less: a sample without any has no spread.
    """
    usual = np.array([_usual_value(sums, k) for k in range(sums.numerators.shape[1])])
    deviation = np.abs(sums.numerators - usual * sums.denominators)
    return usual, (deviation > _NOISE * np.maximum(1.0, sums.denominators)).sum(axis=0)


def _usual_value(sums: RatioSums, k: int) -> float:
    """The ratio that units usually have of one measure; NaN where none has any."""
    ratios = ratio(sums.numerators[:, k], sums.denominators[:, k])
    defined = np.sort(ratios[~np.isnan(ratios)])
    return float(defined[defined.size // 2]) if defined.size else float("nan")


def typical_deviations(sides: Sequence[RatioSums], least: Array) -> Array:
    """How far a unit deviates from the usual value, if it does, float64[K].

    The root of the mean square over all sides, so that large deviations count more; `least`, the
    smallest deviation that can be (one item), at least. Infinite where no unit deviates: then
    nothing tells how far one could, but what a unit can hold.
    """
    squares, count = np.zeros_like(least), np.zeros_like(least)
    for sums in sides:
        usual, number = unusual_units(sums)
        deviation = np.nan_to_num(sums.numerators - usual * sums.denominators)
        squares += (deviation * deviation).sum(axis=0)
        count += number
    found: Array = np.maximum(least, np.sqrt(squares / np.maximum(1, count)))
    return np.where(count > 0, found, np.inf)


def _most_held(sums: RatioSums, k: int, usual: float, bounds: Array) -> float:
    """How far a unit can deviate from what is usual; infinite without bounds.

    A unit of the mean size that items are found in: of units of unlike size, the large ones bring
    most of the error of a sum.
    """
    of = sums.denominators[:, k]
    room = max(abs(float(bounds[1]) - usual), abs(float(bounds[0]) - usual))
    return room * float((of * of).sum() / (of.sum() or 1.0))


def sum_limits(events: Array, typical: float) -> tuple[float, float]:
    """95 % limits of the expected sum of events that come by chance, each with its own size.

    Parameters
    ----------
    events : float64[n]
        Sizes of those seen, all above 0; n may be 0.
    typical : float
        What one more would have been like.

    Notes
    -----
    Gamma limits of Fay and Feuer (1997), "Confidence intervals for directly standardized rates":
    Poisson limits (Garwood 1936) where all sizes are equal, wider where few large ones make up most
    of the sum. Their one more event is the largest that can be, which holds the truth 99 times in a
    hundred and more; a typical one (Tiwari, Clegg and Zou 2006) is nearer to 95.

    Examples
    --------
    >>> [round(end, 3) for end in sum_limits(np.ones(5), 1.0)]
    [1.623, 11.668]
    >>> [round(end, 3) for end in sum_limits(np.empty(0), 2.0)]
    [0.0, 7.378]
    """
    from scipy.special import chdtri

    scale = max(typical, float(events.max(initial=0.0)))
    if scale == 0.0:
        return 0.0, 0.0
    sizes, one = events / scale, typical / scale
    total, squares = float(sizes.sum()), float((sizes * sizes).sum())
    low = squares / (2 * total) * float(chdtri(2 * total**2 / squares, 0.975)) if total else 0.0
    total, squares = total + one, squares + one**2
    return scale * low, scale * squares / (2 * total) * float(chdtri(2 * total**2 / squares, 0.025))


def value_interval(
    sums: RatioSums,
    resampled: Array,
    bounds: Array,
    typical: Array,
    events: NDArray[np.bool_] | None = None,
    spreads: NDArray[np.bool_] | None = None,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """95 % intervals of the measures, and which rest on few unusual units.

    Parameters
    ----------
    sums : RatioSums
    resampled : float64[B, K]
        From :func:`bootstrap_ratios`.
    bounds : float64[2, K]
        Smallest and largest possible values; infinite where there are none.
    typical : float64[K]
        How far a unit deviates if it does (see :func:`typical_deviations`).
    events : bool[K], optional
        Which measures count events; default: all.
    spreads : bool[K], optional
        Which are variances (see :func:`textassay.stats.spreads.spread_interval`); default: none.

    Notes
    -----
    Variances aside, the percentile interval of the bootstrap; but where fewer than 20 units, and
    fewer than a quarter of them, differ from the usual value, limits of what they add up to
    (:func:`sum_limits`). Where there is none, 3.7 units that deviate as far as others do, or as
    far as they can, are the limit: the rule of three.
    """
    low, high = interval(resampled, effective_units(sums))
    if spreads is not None and spreads.any():
        ends = np.clip(np.stack(spread_interval(sums)), *bounds)
        low, high = np.where(spreads, ends, [low, high])
    usual, number = unusual_units(sums)
    sparse = (number < FEW_UNITS) & (4 * number < len(sums)) & (len(sums) > 1)
    if events is not None:
        sparse &= events
    total = sums.denominators.sum(axis=0)
    for k in np.flatnonzero(sparse & (total > 0)):
        most = _most_held(sums, int(k), float(usual[k]), bounds[:, k])
        one_more = min(float(typical[k]), most)
        if np.isinf(one_more):
            continue  # nothing tells how far a unit could deviate
        deviation = _deviations(sums, int(k), float(usual[k]))
        value = deviation.sum()
        reach = np.zeros(2)  # down, up
        for sign in (-1.0, 1.0):
            seen = sign * deviation[sign * deviation > 0]
            if number[k] and not seen.size:
                continue  # units deviate to the other side alone
            fewest, largest = sum_limits(seen, one_more)
            nearer, farther = seen.sum() - fewest, largest - seen.sum()
            reach = np.hypot(reach, [nearer, farther] if sign > 0 else [farther, nearer])
        ends = usual[k] + np.array([value - reach[0], value + reach[1]]) / total[k]
        low[k], high[k] = np.clip(ends, bounds[0, k], bounds[1, k])
    return low, high, sparse


@dataclass(frozen=True, eq=False)
class FewEvents:
    """One measure of human text of which few units show any event, beside a system's.

    Attributes
    ----------
    usual : float
        What units without an event have.
    bounds : tuple of float
        Smallest and largest possible value.
    sizes : float64[n]
        Deviations of the other human units from it, with their signs; n may be 0.
    typical, system_typical : float
        What one more would be like on either side, without sign: the mean of all events seen, each
        weighted by its size, so that events as large bring the same error of a sum; but no more
        than a unit of that side can hold.
    total, system_total : float
        The denominators of the measure.
    units : int
        Of human text.
    """

    usual: float
    bounds: tuple[float, float]
    sizes: Array
    typical: float
    system_typical: float
    total: float
    system_total: float
    units: int

    @classmethod
    def of(cls, human: RatioSums, system: RatioSums, k: int, bounds: Array) -> FewEvents | None:
        """From the sums of both sides; None where nothing tells how large an event could be."""
        usual = _usual_value(human, k)
        sizes = _deviations(human, k, usual)
        others = _deviations(system, k, _usual_value(system, k))
        seen = np.abs(np.concatenate([sizes, others]))
        weighted = float((seen * seen).sum() / seen.sum()) if seen.any() else np.inf
        typical, system_typical = (
            min(weighted, _most_held(side, k, usual, bounds)) for side in (human, system)
        )
        total, system_total = (float(side.denominators[:, k].sum()) for side in (human, system))
        if not np.isfinite(typical + system_typical) or not typical or not total * system_total:
            return None
        return cls(
            usual,
            (float(bounds[0]), float(bounds[1])),
            sizes[sizes != 0],
            typical,
            system_typical,
            total,
            system_total,
            len(human),
        )

    def margin(self, size: int) -> float:
        """The 95th percentile of distances between two sets of `size` human units.

        1.96 standard deviations of the difference of two sums of events that come by chance, as
        often as in the whole text and half an event more (as Jeffreys' prior has it): two sets
        without an event would agree in nothing but their size.
        """
        squares = float((self.sizes * self.sizes).sum()) + 0.5 * self.typical**2
        apart = np.sqrt(2 * squares * self.units / size) / self.total
        return min(Z95 * float(apart), self.bounds[1] - self.bounds[0])

    def detectable(self, margin: float) -> float:
        """The smallest true distance that is found to differ from it four times in five.

        A system's error grows with its events, so it is worked out how many are found, all of the
        typical size. NaN if no distance is large enough.
        """
        from scipy.special import chdtri, gammaincinv

        low, high = self.bounds
        sign = np.sign(self.sizes.sum()) or (1.0 if high - self.usual > self.usual - low else -1.0)
        own = sign * self.sizes[sign * self.sizes > 0]
        value = float(own.sum()) / self.total
        above = sum_limits(own, self.typical)[1] / self.total - value
        step = self.system_typical / self.system_total
        most = (high - self.usual if sign > 0 else self.usual - low) / step

        def is_found(number: float) -> bool:
            nearest = number - 0.5 * float(chdtri(2 * number, 0.975))
            return bool(number * step - value - np.hypot(nearest * step, above) > margin)

        last = 1.0
        while not is_found(last):
            if last > most:
                return float("nan")
            last *= 2
        first = last / 2
        while last - first > 1:
            middle = float(int((first + last) / 2))
            first, last = (first, middle) if is_found(middle) else (middle, last)
        expected = float(gammaincinv(last, 0.8))  # so many come at least four times in five
        return expected * step - value if expected <= most else float("nan")


def _deviations(sums: RatioSums, k: int, usual: float) -> Array:
    """How far each unit deviates from what is usual, without rounding."""
    of = sums.denominators[:, k]
    deviation: Array = sums.numerators[:, k] - usual * of
    deviation[np.abs(deviation) <= _NOISE * np.maximum(1.0, of)] = 0.0
    return deviation


def _number_unusual(sums: RatioSums, k: int, usual: float) -> int:
    return int(np.count_nonzero(_deviations(sums, k, usual)))


def event_pvalue(system: RatioSums, human: RatioSums, k: int) -> float:
    """Exact binomial p-value, two-sided, of how unusual units fall to the two sides."""
    # what is usual on the side that shows it more clearly
    usual = [_usual_value(side, k) for side in (system, human)]
    shares = [
        _number_unusual(side, k, value) / len(side)
        for side, value in zip((system, human), usual, strict=True)
    ]
    base = usual[int(np.argmin(shares))]
    counts = [_number_unusual(side, k, base) for side in (system, human)]
    return _binomial_pvalue(counts, system, human, k)


def spread_pvalue(system: RatioSums, human: RatioSums, k: int) -> float:
    """The same of a variance, where what is usual depends on each side's mean."""
    counts = [_number_unusual(side, k, _usual_value(side, k)) for side in (system, human)]
    return _binomial_pvalue(counts, system, human, k)


def _binomial_pvalue(counts: list[int], system: RatioSums, human: RatioSums, k: int) -> float:
    from scipy.special import gammaln, xlog1py, xlogy

    exposure = [float(side.denominators[:, k].sum()) for side in (system, human)]
    n = sum(counts)
    share = exposure[0] / sum(exposure)
    i = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1)
    mass = np.exp(logs + xlogy(i, share) + xlog1py(n - i, -share))
    return float(min(1.0, mass[mass <= mass[counts[0]] * (1 + 1e-7)].sum()))


def exact_share(events: int, number: int) -> tuple[float, float]:
    """The exact 95 % interval of a share (Clopper and Pearson 1934).

    Examples
    --------
    >>> [round(end, 4) for end in exact_share(0, 1000)]
    [0.0, 0.0037]
    """
    from scipy.special import betaincinv

    low = float(betaincinv(events, number - events + 1, 0.025)) if events else 0.0
    high = float(betaincinv(events + 1, number - events, 0.975)) if events < number else 1.0
    return low, high
