"""From a distance, its interval and a margin to words."""

from __future__ import annotations

from typing import Literal

from textassay.errors import UsageError

Verdict = Literal["within human variation", "differs", "undecided"]

FEWEST_UNITS = 4  # that tell anything of how they vary
Z95 = 1.959964  # standard errors on either side of a 95 % interval
UNSEEN = 3.69 / Z95  # standard error of a count of none: 1.96 of it are the exact limit of 3.69
_POWER = 0.841621  # standard errors below its mean that an estimate lies 1 time in 5


def verdict(low: float, high: float, margin: float) -> Verdict:
    """What the interval of a distance says of a margin.

    Parameters
    ----------
    low, high : float
        95 % interval of the distance (signed, or never negative).
    margin : float
        Distances up to it are seen between human texts.

    Raises
    ------
    UsageError
        If the interval is upside down, the margin negative, or one is NaN.

    Examples
    --------
    >>> verdict(-0.01, 0.02, margin=0.05), verdict(0.06, 0.09, 0.05), verdict(0.01, 0.09, 0.05)
    ('within human variation', 'differs', 'undecided')
    """
    if not low <= high or not margin >= 0:
        raise UsageError(
            f"low {low}, high {high}, margin {margin}: low <= high, margin >= 0 needed"
        )
    if -margin <= low and high <= margin:
        return "within human variation"
    if low > margin or high < -margin:
        return "differs"
    return "undecided"


def detectable_difference(reach: float, standard_error: float, margin: float) -> float:
    """The smallest true distance for which the verdict is ``differs`` four times in five.

    Parameters
    ----------
    reach : float
        From a distance to the end of its 95 % interval.
    standard_error : float
        Of a distance.
    margin : float

    Notes
    -----
    It holds for a system whose documents are as unlike each other as the measured one's: errors are
    its own. docs/results/calibration.md says how often such distances were found.

    Examples
    --------
    >>> round(detectable_difference(0.0196, 0.01, margin=0.02), 4)
    0.048
    """
    return margin + reach + _POWER * standard_error
