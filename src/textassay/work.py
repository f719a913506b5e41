"""What an assay works on: texts as corpora, training text as a stream, how values compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from textassay.corpus.by_unit import TRAINING, Text
from textassay.corpus.checks import sample_of_file
from textassay.corpus.corpus import Corpus
from textassay.corpus.files import InputFile
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import Tokenizer
from textassay.corpus.units import choose_unit
from textassay.corpus.vocabulary import Vocabulary
from textassay.inputs import AssayInput, read_corpus
from textassay.parallel import Workers
from textassay.results import Record
from textassay.settings import AssaySettings
from textassay.stats.setting import Setting
from textassay.text_warnings import text_warnings

Progress = Callable[[str, int, int | None], None]


@dataclass(eq=False)
class Work:
    """What the families of measures are given."""

    settings: AssaySettings
    inputs: list[AssayInput]
    train_files: list[InputFile]
    tokenizer: Tokenizer
    vocabulary: Vocabulary
    corpora: list[Corpus]
    stream: TokenStream | None
    unit: str
    progress: Progress | None
    sample: str
    workers: Workers = field(default_factory=Workers)

    @property
    def names(self) -> list[str]:
        """Systems, then human files."""
        return [item.name for item in self.inputs]

    @property
    def n_systems(self) -> int:
        """They stand first among the inputs."""
        return sum(item.role == "system" for item in self.inputs)

    @property
    def texts(self) -> tuple[list[Text], list[Text]]:
        """Systems, and human files."""
        texts = [
            Text(item.name, [corpus])
            for item, corpus in zip(self.inputs, self.corpora, strict=True)
        ]
        return texts[: self.n_systems], texts[self.n_systems :]

    def text_warnings(self) -> list[Record]:
        """Doubts about the texts: made in another way, near-duplicates, cut."""
        samples = {TRAINING: self.sample} if self.sample else {}
        return text_warnings(dict(zip(self.names, self.corpora, strict=True)), samples)

    def show(self, what: str) -> None:
        """Tell what is under way."""
        if self.progress:
            self.progress(what, 0, None)

    def teller(self, what: str, total: int) -> Callable[[int], None] | None:
        """What is told how much of something is done."""
        progress = self.progress
        return None if progress is None else lambda done: progress(what, done, total)

    def setting(self, number: int) -> Setting:
        """How values are compared, with the branch of the seed of a family."""
        settings = self.settings
        tests = self.n_systems * len(settings.families)
        return Setting(
            signature=settings.signature(),
            unit=self.unit,
            # enough for p-values that adjusted for all systems and families can still be small
            n_resamples=max(settings.resamples, 200 * tests - 1),
            margins=settings.margins(),
            protocol=settings.protocol,
            seed=self.seed(number),
        )

    def seed(self, number: int) -> np.random.SeedSequence:
        """A branch of the seed."""
        return np.random.SeedSequence(self.settings.seed, spawn_key=(number,))


def read_work(
    settings: AssaySettings,
    inputs: list[AssayInput],
    train_files: list[InputFile],
    tokenizer: Tokenizer,
    progress: Progress | None,
) -> Work:
    """Read systems and human text; the training text is read by who needs it."""
    vocabulary = Vocabulary()
    for number, item in enumerate(inputs):
        if progress:
            progress(f"reading {item.name}", number, len(inputs))
        item.corpus = read_corpus(item, settings, tokenizer, vocabulary)
    corpora = [item.corpus for item in inputs if item.corpus is not None]
    stream = None
    sample = ""
    if train_files:
        reading = settings.reading.with_documents(settings.train_documents)
        stream = TokenStream(train_files, tokenizer, reading, settings.newline)
        if not tokenizer.reads_ids:
            sample = sample_of_file(train_files[0], settings.reading, settings.newline)
    unit = choose_unit(corpora, settings.unit)
    return Work(
        settings,
        inputs,
        train_files,
        tokenizer,
        vocabulary,
        corpora,
        stream,
        unit,
        progress,
        sample,
    )
