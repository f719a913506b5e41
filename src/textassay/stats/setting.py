"""What every family of measures is told of how to compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textassay.errors import UsageError

PROTOCOLS = ("equal", "published")


@dataclass(frozen=True)
class Setting:
    """How values are compared, the same for all families of an assay.

    Attributes
    ----------
    signature : dict
        Parts common to all signatures; the version stands under ``v`` and comes last.
    unit : {'document', 'prompt', 'source'}
        Resampling unit.
    n_resamples : int
        Bootstrap resamples and permutations.
    margin : float or None
        The user's own margin, instead of the human text's.
    protocol : {'equal', 'published'}
        ``published`` gives values at full size, without subsampling, as older tables do.
    seed : numpy.random.SeedSequence
        The family's own branch of the seed.
    """

    signature: dict[str, str]
    unit: str
    n_resamples: int
    margin: float | None
    protocol: str
    seed: np.random.SeedSequence

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise UsageError(f"--protocol {self.protocol}: choose one of {', '.join(PROTOCOLS)}")
        if self.n_resamples < 99:
            raise UsageError(f"--resamples {self.n_resamples}: at least 99 are needed")
        if self.margin is not None and not self.margin > 0:
            raise UsageError(f"--margin {self.margin}: a number above 0 is needed")
