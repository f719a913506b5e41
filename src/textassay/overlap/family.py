"""The texts of an assay as overlap sees them: documents, references, and what records share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.by_unit import TRAINING, Text, TextByUnit, by_unit, select_documents
from textassay.corpus.corpus import Corpus
from textassay.corpus.units import can_be_paired
from textassay.errors import UsageError
from textassay.overlap.document_ngrams import DocumentNgrams, number_texts
from textassay.overlap.sentences import Sentences
from textassay.overlap.set_statistics import ORDERS
from textassay.parallel import Workers
from textassay.results import DocumentSums, documents_of
from textassay.stats.count_records import CountBench, Side
from textassay.stats.setting import Setting

REFERENCES = ("human", "document")


@dataclass(frozen=True)
class OverlapOptions:
    """What can be chosen of overlap.

    Attributes
    ----------
    tokenizer : str
    newline : str or None
        For references that documents bring along.
    smoothing : int
        Chen and Cherry's method.
    effective_order : bool
        Whether a sentence shorter than the order is scored at its own length.
    references : {'human', 'document'}
        All of the human text, or each document's own.
    sample : int or None
        Documents that Self-BLEU and references are cut to, as Texygen's code did with 500.
    examples : int
        Repeated documents that are listed.
    vectors : mapping of str to float32[D, E], or None
        Of every system and human file.
    vectors_source : str
        What made them.
    mauve_documents : int
        Documents a side from which on there is MAUVE.
    """

    tokenizer: str = "words"
    newline: str | None = None
    smoothing: int = 1
    effective_order: bool = False
    references: str = "human"
    sample: int | None = None
    examples: int = 20
    vectors: Mapping[str, NDArray[np.float32]] | None = None
    vectors_source: str = ""
    mauve_documents: int = 1000


@dataclass(frozen=True, eq=False)
class Member:
    """One side: its documents in the order of their units.

    Attributes
    ----------
    role : {'system', 'human', 'training'}
    text : TextByUnit
    strings, prompts, ids : list of str
        Of each document.
    references : list of tuple of str
    """

    role: str
    text: TextByUnit
    strings: list[str]
    prompts: list[str]
    ids: list[str]
    references: list[tuple[str, ...]]

    @classmethod
    def of(cls, role: str, text: Text, unit: str) -> Member:
        """From a text. Cost: linear."""
        found = by_unit(text, unit)
        corpora, order = text.corpora, found.order.tolist()
        strings = [string for corpus in corpora for string in corpus.texts]
        prompts = [group for corpus in corpora for group in corpus.groups]
        ids = [name for corpus in corpora for name in corpus.ids]
        references = [given for corpus in corpora for given in corpus.references]
        return cls(
            role,
            found,
            [strings[d] for d in order],
            [prompts[d] for d in order],
            [ids[d] for d in order],
            [references[d] for d in order],
        )

    def select(self, chosen: NDArray[np.bool_]) -> Member:
        """Some of the documents, bool[D]."""
        places = np.flatnonzero(chosen).tolist()
        return Member(
            self.role,
            select_documents(self.text, chosen),
            [self.strings[d] for d in places],
            [self.prompts[d] for d in places],
            [self.ids[d] for d in places],
            [self.references[d] for d in places],
        )

    def some(self, size: int, rng: np.random.Generator) -> Member:
        """So many documents at random; all, if there are no more."""
        documents = self.text.documents
        if documents <= size:
            return self
        chosen = np.zeros(documents, np.bool_)
        chosen[rng.permutation(documents)[:size]] = True
        return self.select(chosen)

    @property
    def sentences(self) -> Sentences:
        """The documents' tokens."""
        return Sentences(self.text.tokens, self.text.offsets)


class Family:
    """Members of an assay, and what is made of them once.

    Attributes
    ----------
    systems : list of Member
    human, training : Member or None
    references : Member or None
        Half of the human text (under the published protocol all of it), which all hypotheses are
        compared with.
    hypotheses : Member or None
        The other half: what people's own BLEU is.
    counted : list of Member
        Systems, people, training text, as Self-BLEU and distinct n-grams take them.
    """

    def __init__(
        self,
        systems: Sequence[Text],
        humans: Sequence[Text],
        training: Corpus | None,
        options: OverlapOptions,
        setting: Setting,
        workers: Workers,
    ) -> None:
        self.options, self.setting, self.workers = options, setting, workers
        self.texts, self.human_texts = list(systems), list(humans)
        self.systems = [Member.of("system", text, setting.unit) for text in systems]
        self.human: Member | None = None
        if humans:
            joined = Text("human", [corpus for text in humans for corpus in text.corpora])
            self.human = Member.of("human", joined, setting.unit)
        self.training: Member | None = None
        if training is not None:
            self.training = Member.of("training", Text(TRAINING, [training]), "document")
        self.tests = CountBench(setting, workers)
        self.references, self.hypotheses = self._split()
        self.counted = self.compared
        if self.training is not None and self.human is not None:
            self.counted.append(self._some_training(self.human.text.documents))
        if options.sample is not None:
            self.counted = [
                member.select(member.text.order < options.sample) for member in self.counted
            ]
        self.ngrams = DocumentNgrams.of([member.text for member in self.counted], max(ORDERS))
        self.vocabulary = systems[0].corpora[0].vocabulary
        strings = [string for member in self.counted for string in member.strings]
        self.numbers = number_texts(strings)

    def _split(self) -> tuple[Member | None, Member | None]:
        """Human references, and human hypotheses."""
        human, setting = self.human, self.setting
        if human is None or not human.text.documents:
            return None, None
        if setting.protocol == "published":
            if self.options.sample is not None:
                return human.select(human.text.order < self.options.sample), None
            return human, None
        units = len(human.text.keys)
        if units < 2:
            return None, None
        rng = setting.rng("references", human.text.content)
        chosen = np.zeros(units, np.bool_)
        chosen[rng.permutation(units)[: units // 2]] = True
        is_reference = chosen[human.text.document_units]
        return human.select(is_reference), human.select(~is_reference)

    def _some_training(self, documents: int) -> Member:
        """As many documents of the training text, at random."""
        if self.training is None:
            raise UsageError("there is no training text")
        rng = self.setting.rng("training", self.training.text.content, documents)
        return self.training.some(documents, rng)

    def train_references(self) -> Member | None:
        """Training documents that hypotheses are compared with: as many as human ones."""
        if self.training is None:
            return None
        if self.options.sample is not None:
            return self.training.select(self.training.text.order < self.options.sample)
        if self.setting.protocol == "published" or self.references is None:
            return self.training
        return self._some_training(self.references.text.documents)

    def side(self, member: Member) -> Side:
        """What records say of a member."""
        text = member.text
        is_sampled = member.role == "training"
        return Side(text.name, text.documents, text.tokens.size, len(text.keys), is_sampled)

    @property
    def compared(self) -> list[Member]:
        """Systems and the human text."""
        return [*self.systems, *([self.human] if self.human else [])]

    def parts(self) -> dict[str, object]:
        """How BLEU is computed, for signatures."""
        found: dict[str, object] = {"smoothing": self.options.smoothing}
        if self.options.effective_order:
            found["order"] = "effective"
        if self.options.sample is not None:
            found["first"] = self.options.sample
        return found

    def may_pair(self, system: Member) -> bool:
        """Whether a system's units may belong to those of the human text, one by one."""
        if len(self.human_texts) != 1 or system.role != "system":
            return False
        text = next(text for text in self.texts if text.name == system.text.name)
        (one,), (other,) = text.corpora, self.human_texts[0].corpora
        return can_be_paired(one, other, self.setting.unit)

    def judged(self, system: Member) -> Member:
        """What of a system is compared with the references.

        Where prompts pair the sides, the prompts that references answer are left out: people's own
        hypotheses answer others, too.
        """
        if self.references is None or self.hypotheses is None or not self.may_pair(system):
            return system
        taken = set(self.references.text.keys)
        left = np.array([key not in taken for key in system.text.keys])
        return system.select(left[system.text.document_units])

    def document_sums(
        self, sums: Sequence[tuple[Member, Member, dict[str, NDArray[np.float64]]]]
    ) -> list[DocumentSums]:
        """Records of all documents: of a member's documents, those of a part of it have sums."""
        found: list[DocumentSums] = []
        for member in self.compared:
            rows: list[dict[str, float]] = [{} for _ in member.strings]
            for part, columns in ((p, c) for whole, p, c in sums if whole is member):
                for name, numbers in columns.items():
                    for d, number in zip(part.text.order.tolist(), numbers.tolist(), strict=True):
                        rows[d][name] = number
            found += self._as_records(member, rows)
        return found

    def _as_records(
        self, member: Member, rows: Sequence[dict[str, float]]
    ) -> Iterator[DocumentSums]:
        texts = self.human_texts
        if member is not self.human:
            texts = [self.texts[self.systems.index(member)]]
        first = 0
        for text in texts:
            (corpus,) = text.corpora
            yield from documents_of(text.name, corpus, rows[first : first + len(corpus)])
            first += len(corpus)
