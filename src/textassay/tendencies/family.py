"""The texts of an assay as the tendencies see them, and what all their records share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import TRAINING, Text
from textassay.corpus.checks import share_at_longest
from textassay.corpus.corpus import Corpus
from textassay.corpus.stopwords import Stopwords
from textassay.corpus.token_kinds import token_kinds
from textassay.corpus.units import can_be_paired
from textassay.parallel import Workers
from textassay.stats.count_records import CountBench, CountMeasure, Side
from textassay.stats.grouped import TypeStatistics
from textassay.stats.ratio_records import Column, Measured, measure
from textassay.stats.setting import Setting
from textassay.tendencies.composition import SHARES, composition
from textassay.tendencies.measures import OF_LENGTHS, OF_SHARES
from textassay.tendencies.sample import Sample, common_window
from textassay.tendencies.types_by_length import TypeToken

CENSORED = "censored-lengths"
_CUT = 0.05  # share of documents of the greatest length from which on lengths are censored


@dataclass(frozen=True)
class TendencyOptions:
    """What can be chosen of the tendencies.

    Attributes
    ----------
    stopwords : Stopwords or None
    ranks : int or None
        Ranks over which Zipf's law is fitted; None: all.
    window : int or None
        Tokens of the windows of ``tendencies.mattr``; None: by the length of the documents.
    """

    stopwords: Stopwords | None
    ranks: int | None = 10_000
    window: int | None = None


def is_censored(text: Text) -> bool:
    """Whether many documents end at the greatest length."""
    return any(share_at_longest(corpus) >= _CUT for corpus in text.corpora)


class Family:
    """Samples of all texts, and what is made of them once.

    Attributes
    ----------
    systems : list of Sample
    human : Sample or None
        All human files together.
    human_files : list of Sample
        Each by itself, if there are several.
    training : Sample or None
    compared, all : list of Sample
        Systems and people; and training text.
    """

    def __init__(
        self,
        systems: Sequence[Text],
        humans: Sequence[Text],
        training: Corpus | None,
        options: TendencyOptions,
        setting: Setting,
        workers: Workers,
    ) -> None:
        self.options, self.setting, self.workers = options, setting, workers
        vocabulary = systems[0].corpora[0].vocabulary
        stopwords = options.stopwords.words if options.stopwords else frozenset[str]()
        kinds = token_kinds(vocabulary, stopwords)

        def sample(text: Text) -> Sample:
            return Sample.of(text, setting.unit, kinds)

        self.texts = list(systems)
        self.systems = [sample(text) for text in systems]
        self.human_text: Text | None = None
        self.human: Sample | None = None
        if humans:
            self.human_text = Text("human", [corpus for text in humans for corpus in text.corpora])
            self.human = sample(self.human_text)
        self.human_files = [sample(text) for text in humans] if len(humans) > 1 else []
        self.training = sample(Text(TRAINING, [training])) if training is not None else None
        self.inputs = list(zip(systems, self.systems, strict=True))
        if self.human is not None:
            self.inputs += zip(humans, self.human_files or [self.human], strict=True)
        self.compared = [*self.systems, *([self.human] if self.human else [])]
        self.all = [*self.compared, *([self.training] if self.training else [])]
        self.window = options.window or common_window(self.compared)
        self.tests = CountBench(setting, workers)
        self.types = TypeStatistics(options.ranks, len(vocabulary))
        self.type_token = TypeToken(self.all, setting, workers)
        self._measured: dict[str, Measured[Column]] = {}

    def side(self, sample: Sample) -> Side:
        """What records say of a sample."""
        is_sampled = sample is self.training
        return Side(sample.name, sample.documents, sample.tokens.size, len(sample.keys), is_sampled)

    def parts(self, measure: str) -> dict[str, object]:
        """What a measure's number depends on, beside what all do."""
        if ".zipf." in measure:
            return {"ranks": self.options.ranks or "all"}
        if ".stopwords." in measure and self.options.stopwords is not None:
            return {"stopwords": self.options.stopwords.name}
        if measure.endswith(".mattr"):
            return {"window": self.window}
        return {}

    def doubt(self, sample: Sample, measure: str) -> str | None:
        """Why a measure of lengths deserves no verdict: one of the sides was cut."""
        if not measure.startswith("tendencies.length.") or self.human_text is None:
            return None
        text = next((text for text in self.texts if text.name == sample.name), self.human_text)
        return CENSORED if is_censored(text) or is_censored(self.human_text) else None

    def may_pair(self, sample: Sample) -> bool:
        """Whether a system's units may belong to those of the human text, one by one."""
        if self.human_text is None or len(self.human_text.corpora) > 1:
            return False
        text = self.texts[self.systems.index(sample)]
        return can_be_paired(text.corpora[0], self.human_text.corpora[0], self.setting.unit)

    def measured(self, sample: Sample) -> Measured[Column]:
        """A sample's ratios of sums with their bootstrap, made once."""
        if sample.name not in self._measured:
            has_stopwords = self.options.stopwords is not None
            columns, sums = composition(sample, self.window, stopwords=has_stopwords)
            self._measured[sample.name] = measure(
                columns,
                sums,
                sample.documents,
                sample.tokens.size,
                self.setting,
                sample.content,
            )
        return self._measured[sample.name]

    def distributions(self) -> list[tuple[CountMeasure, list[NDArray[np.float64]]]]:
        """Length, share of stopwords, share of symbols of every document of all texts."""
        found = [(OF_LENGTHS, [sample.lengths.astype(float) for sample in self.all])]
        for name, column in SHARES.items():
            if name != "stopwords" or self.options.stopwords is not None:
                shares = [sample.shares(column) for sample in self.all]
                found.append((OF_SHARES[name], shares))
        return found
