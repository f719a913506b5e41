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

FEW_UNITS = 20
_NOISE = 1e-9  # deviations below it, for each item, are rounding


def unusual_units(sums: RatioSums) -> tuple[Array, Array]:
    """For each measure, the ratio that units usually have, and how many units have another.

    Where nearly all units are alike (no copy at all; every n-gram new), a sample says little of
    how often the others come, and resampling it says less: a sample without any has no spread.
    """
    ratios = ratio(sums.numerators, sums.denominators)
    usual = np.full(ratios.shape[1], np.nan)
    for column in range(ratios.shape[1]):
        defined = np.sort(ratios[:, column][~np.isnan(ratios[:, column])])
        if defined.size:
            usual[column] = defined[defined.size // 2]
    deviation = np.abs(sums.numerators - usual * sums.denominators)
    return usual, (deviation > _NOISE * np.maximum(1.0, sums.denominators)).sum(axis=0)


def typical_deviations(sides: Sequence[RatioSums], least: Array) -> Array:
    """How far a unit deviates from the usual value, if it does, float64[K].

    The root of the mean square over all sides, so that large deviations count more. `least` is the
    smallest deviation that can be (one item), which stands where no unit deviates.
    """
    squares, count = np.zeros_like(least), np.zeros_like(least)
    for sums in sides:
        usual, number = unusual_units(sums)
        deviation = np.nan_to_num(sums.numerators - usual * sums.denominators)
        squares += (deviation * deviation).sum(axis=0)
        count += number
    return np.maximum(least, np.sqrt(squares / np.maximum(1, count)))


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
    (:func:`sum_limits`). Where there is none, 3.7 units that deviate as far as others do are the
    limit: the rule of three.
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
        if not number[k] and np.isinf(bounds[:, k]).all():
            continue  # nothing tells how far a unit could deviate
        deviation = _deviations(sums, int(k), float(usual[k]))
        value = deviation.sum()
        reach = np.zeros(2)  # down, up
        for sign in (-1.0, 1.0):
            seen = sign * deviation[sign * deviation > 0]
            if number[k] and not seen.size:
                continue  # units deviate to the other side alone
            fewest, most = sum_limits(seen, float(typical[k]))
            nearer, farther = seen.sum() - fewest, most - seen.sum()
            reach = np.hypot(reach, [nearer, farther] if sign > 0 else [farther, nearer])
        ends = usual[k] + np.array([value - reach[0], value + reach[1]]) / total[k]
        low[k], high[k] = np.clip(ends, bounds[0, k], bounds[1, k])
    return low, high, sparse


@dataclass(frozen=True, eq=False)
class FewEvents:
    """One measure of human text of which few units show any event.

    Attributes
    ----------
    usual : float
        What units without an event have.
    sizes : float64[n]
        Deviations of the others from it, with their signs; n may be 0.
    typical : float
        What one more would be like, without sign.
    total : float
        The denominator of the measure.
    units : int
    """

    usual: float
    sizes: Array
    typical: float
    total: float
    units: int

    @classmethod
    def of(cls, human: RatioSums, k: int, typical: float) -> FewEvents:
        """From the sums of human text."""
        usual = float(unusual_units(human)[0][k])
        deviation = _deviations(human, k, usual)
        total = float(human.denominators[:, k].sum())
        return cls(usual, deviation[deviation != 0], typical, total, len(human))

    def margin(self, size: int, n_resamples: int, rng: np.random.Generator) -> float:
        """95th percentile of distances between two sets of `size` human units.

        As few events say little of how often they come, their rate is drawn from what it may be
        (gamma, half an event more than there were: Jeffreys' prior), then the events of two sets
        with it. Two sets without an event would agree in nothing but their size.
        """
        rate = rng.gamma(self.sizes.size + 0.5, size / self.units, n_resamples)
        sizes = self.sizes if self.sizes.size else np.array([self.typical])
        sums = []
        for _ in range(2):
            counts = rng.poisson(rate)
            drawn = rng.choice(sizes, counts.sum())
            ends = np.concatenate([[0.0], np.cumsum(drawn)])
            at = np.concatenate([[0], np.cumsum(counts)])
            sums.append(ends[at[1:]] - ends[at[:-1]])
        distance = np.abs(sums[0] - sums[1]) * self.units / (size * self.total)
        return float(np.quantile(distance, 0.95))

    def detectable(self, total: float, bounds: tuple[float, float], margin: float) -> float:
        """The smallest true distance of a system that is found to differ four times in five.

        Parameters
        ----------
        total : float
            The system's denominator.
        bounds : tuple of float
            Smallest and largest possible value of the measure.
        margin : float

        Returns
        -------
        float
            NaN if no distance is large enough. A system's error grows with its events, so what is
            found is worked out from as many events as it takes, all of the typical size.
        """
        from scipy.special import gammaincinv

        whole = float(self.sizes.sum())
        sign = np.sign(whole) or (1.0 if bounds[1] - self.usual > self.usual - bounds[0] else -1.0)
        own = sign * self.sizes[sign * self.sizes > 0]
        value = float(own.sum()) / self.total
        most = sum_limits(own, self.typical)[1] / self.total
        room = abs((bounds[1] if sign > 0 else bounds[0]) - self.usual)
        step = self.typical / total

        def is_found(number: int) -> bool:
            nearest = self.typical * number - sum_limits(np.full(number, self.typical), 0.0)[0]
            reach = np.hypot(nearest / total, most - value)
            return bool(number * step - value - reach > margin)

        high = 1
        while not is_found(high):
            if high * step > 2 * room or high > 1e9:
                return float("nan")
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_found(middle) else (middle, high)
        expected = float(gammaincinv(high, 0.8))  # so many come at least four times in five
        distance = expected * step - value
        return distance if expected * step <= room else float("nan")


def _deviations(sums: RatioSums, k: int, usual: float) -> Array:
    """How far each unit deviates from what is usual, without rounding."""
    of = sums.denominators[:, k]
    deviation: Array = sums.numerators[:, k] - usual * of
    deviation[np.abs(deviation) <= _NOISE * np.maximum(1.0, of)] = 0.0
    return deviation


def event_pvalue(system: RatioSums, human: RatioSums, k: int) -> float:
    """Exact binomial p-value, two-sided, of how unusual units fall to the two sides."""
    # what is usual on the side that shows it more clearly
    shares, usual = [], []
    for side in (system, human):
        value, number = unusual_units(side)
        shares.append(number[k] / len(side))
        usual.append(value[k])
    base = usual[int(np.argmin(shares))]
    counts = []
    for side in (system, human):
        deviation = np.abs(side.numerators[:, k] - base * side.denominators[:, k])
        counts.append(int((deviation > _NOISE * np.maximum(1.0, side.denominators[:, k])).sum()))
    return _binomial_pvalue(counts, system, human, k)


def spread_pvalue(system: RatioSums, human: RatioSums, k: int) -> float:
    """The same of a variance, where what is usual depends on each side's mean."""
    counts = [int(unusual_units(side)[1][k]) for side in (system, human)]
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
