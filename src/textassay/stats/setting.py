"""What every family of measures is told of how to compare."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from textassay.results import make_signature

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
    margins : mapping of str to float
        The user's own margins by measure, instead of the human text's; under an empty name: of all
        measures.
    protocol : {'equal', 'published'}
        ``published`` gives values at full size, without subsampling, as older tables do.
    seed : numpy.random.SeedSequence
        The family's own branch of the seed.
    """

    signature: dict[str, str]
    unit: str
    n_resamples: int
    margins: Mapping[str, float]
    protocol: str
    seed: np.random.SeedSequence

    def margin_of(self, measure: str) -> float | None:
        """The user's own margin of a measure, if there is one."""
        return self.margins.get(measure, self.margins.get(""))

    def sign(self, measure: str, **parts: object) -> str:
        """The signature of a measure."""
        common = dict(self.signature)
        version = common.pop("v")
        found = {**common, **parts, "unit": self.unit, "protocol": self.protocol}
        return make_signature(measure, **found, v=version)

    def rng(self, *names: object) -> np.random.Generator:
        """The generator for a purpose.

        Random streams are named after what they are for and what is in a text, so that a system's
        numbers depend neither on its name nor on which other systems are there.
        """
        key = zlib.crc32(repr(names).encode("utf-8", "backslashreplace"))
        spawn_key = (*self.seed.spawn_key, key)
        return np.random.default_rng(np.random.SeedSequence(self.seed.entropy, spawn_key=spawn_key))
