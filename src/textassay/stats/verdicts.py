"""From a distance, its interval and a margin to words."""

from __future__ import annotations

from typing import Literal

from textassay.errors import UsageError

Verdict = Literal["within human variation", "differs", "undecided"]

FEWEST_UNITS = 4  # that tell anything of how they vary
Z95 = 1.959964  # standard errors on either side of a 95 % interval
# Standard errors from the margin at which the interval's near end is beyond it 4 times in 5.
_POWER = Z95 + 0.841621


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


def detectable_difference(standard_error: float, margin: float) -> float:
    """The smallest true distance for which the verdict is ``differs`` four times in five.

    The interval is taken to be the distance -+ 1.96 standard errors.

    Examples
    --------
    >>> round(detectable_difference(0.01, 0.02), 4)
    0.048
    """
    return margin + _POWER * standard_error
