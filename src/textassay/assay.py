"""The main job: systems, human text and training text in; records out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from textassay.corpus.by_unit import TRAINING, Text
from textassay.corpus.checks import sample_of_file
from textassay.corpus.corpus import Corpus
from textassay.corpus.files import InputFile, find_files, hashed_ahead
from textassay.corpus.stopwords import read_stopwords, stopwords_of
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import Tokenizer, make_tokenizer
from textassay.corpus.training_sample import can_be_sampled, sample_documents
from textassay.corpus.units import choose_unit
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError
from textassay.inputs import (
    AssayInput,
    check_inputs,
    find_inputs,
    input_warnings,
    make_header,
    read_corpus,
    total_bytes,
)
from textassay.novelty.counts import count_records
from textassay.novelty.measure import Matches, NoveltyOptions, find_matches
from textassay.novelty.near import near_verbatim_records
from textassay.novelty.records import novelty_records
from textassay.novelty.sides import Side
from textassay.parallel import Workers
from textassay.results import (
    DocumentSums,
    Record,
    Warn,
    write_records,
)
from textassay.resume import Store
from textassay.settings import AssaySettings
from textassay.stats.adjustment import adjust
from textassay.stats.ratio_sums import make_ready
from textassay.stats.setting import Setting
from textassay.text_warnings import text_warnings

_SAMPLED = 10  # times the human text is what is drawn from the training text
_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 20, 1 << 26  # characters
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, eq=False)
class Assay:
    """What an assay found.

    Attributes
    ----------
    records : list of Record
        Header first.
    documents : list of DocumentSums
    matches : Matches or None
        Scores of every token; None where novelty was not asked for.
    names : list of str
        Systems and human files in the order of ``matches.corpora``.
    """

    records: list[Record]
    documents: list[DocumentSums]
    matches: Matches | None
    names: list[str]

    def write(self, folder: Path) -> None:
        """Write ``results.jsonl`` and ``documents.jsonl.zst``: both, whole, or neither."""
        write_records(
            {
                folder / "documents.jsonl.zst": self.documents,
                folder / "results.jsonl": self.records,
            }
        )


def run_assay(
    settings: AssaySettings,
    *,
    command: str = "",
    progress: Progress | None = None,
    store: Store | None = None,
) -> Assay:
    """Compare systems with human and training text.

    Parameters
    ----------
    settings : AssaySettings
    command : str
        Kept in the header.
    progress : callable, optional
        Called with what is under way, how much is done, and of how much (bytes; None: unknown).
    store : Store, optional
        Where unfinished work is kept, so that the same call goes on after an interruption.

    Raises
    ------
    TextassayError
        If an input cannot be used; nothing has been written then.
    """
    inputs = find_inputs(settings)
    train_files = [file for pattern in settings.train for file in find_files(pattern)]
    with hashed_ahead(train_files) as wait_for_digests:
        tokenizer = make_tokenizer(settings.tokenizer)
        check_inputs(settings, inputs, train_files, tokenizer)
        work = _read(settings, inputs, train_files, tokenizer, progress)
        with Workers(settings.jobs) as work.workers:
            doubts = work.workers.start(work.text_warnings)
            ready = work.workers.start(make_ready)
            records: list[Record] = []
            documents: list[DocumentSums] = []
            matches = None
            if "novelty" in settings.families:
                matches, records, documents = _novelty(work, store)
            # afterwards, since a sample of the training text adds words that were not generated
            others = {"tendencies": _tendencies, "overlap": _overlap}
            wanted = [measured for name, measured in others.items() if name in settings.families]
            training = _training_sample(work) if wanted else (None, [])
            found = list(training[1])
            for measured in wanted:
                more, sums = measured(work, training[0])
                found += more
                documents = joined_sums(documents, sums)
            records = [*found, *records]
            ready.result()
            warnings = doubts.result()
            jobs = work.workers.jobs
        adjust(records)
        wait_for_digests()
    warnings.extend(input_warnings(inputs, train_files, records))
    warnings.extend(_stream_warnings(work, matches))
    counts = []
    if matches is not None and matches.training is not None:
        counts = [
            (matches.training.documents_of(k), matches.training.tokens_of(k))
            for k in range(len(train_files))
        ]
    header = make_header(settings, inputs, train_files, counts, command, jobs)
    return Assay([header, *warnings, *records], documents, matches, work.names)


@dataclass(eq=False)
class _Work:
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
        return [item.name for item in self.inputs]

    @property
    def texts(self) -> tuple[list[Text], list[Text]]:
        """Systems, and human files."""
        texts = [
            Text(item.name, [corpus])
            for item, corpus in zip(self.inputs, self.corpora, strict=True)
        ]
        number = len(self.settings.systems)
        return texts[:number], texts[number:]

    def text_warnings(self) -> list[Record]:
        samples = {TRAINING: self.sample} if self.sample else {}
        return text_warnings(dict(zip(self.names, self.corpora, strict=True)), samples)

    def show(self, what: str) -> None:
        if self.progress:
            self.progress(what, 0, None)

    def setting(self, number: int) -> Setting:
        """How values are compared, with the branch of the seed of a family."""
        settings = self.settings
        tests = len(settings.systems) * len(settings.families)
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
        return np.random.SeedSequence(self.settings.seed, spawn_key=(number,))


def _read(
    settings: AssaySettings,
    inputs: list[AssayInput],
    train_files: list[InputFile],
    tokenizer: Tokenizer,
    progress: Progress | None,
) -> _Work:
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
    return _Work(
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


def _novelty(work: _Work, store: Store | None) -> tuple[Matches, list[Record], list[DocumentSums]]:
    settings, stream, progress = work.settings, work.stream, work.progress
    setting = work.setting(0)
    options = NoveltyOptions(settings.ngrams, settings.train_role, settings.examples)
    total = total_bytes(work.train_files)
    matches = find_matches(
        work.corpora,
        stream,
        work.workers,
        ngrams=settings.ngrams,
        progress=(lambda done: progress(TRAINING, done, total)) if progress else None,
        store=store,
    )
    work.show("novelty: comparing")
    sides = [
        Side(item.name, item.role == "human", [corpus], [scores])
        for item, corpus, scores in zip(work.inputs, work.corpora, matches.scores, strict=True)
    ]
    systems = [side for side in sides if not side.is_human]
    humans = [side for side in sides if side.is_human]
    records, documents = novelty_records(systems, humans, matches, options, setting, stream)
    if stream is not None and stream.can_be_read_again:
        if settings.near_verbatim:
            records += near_verbatim_records(sides, stream, options, setting, work.workers)
        if settings.random_ngrams and matches.training is not None:
            rng = np.random.default_rng(work.seed(1))
            number = settings.random_ngrams
            records += count_records(
                sides, stream, matches.training, number, setting, work.workers, rng
            )
    return matches, records, documents


def _tendencies(work: _Work, training: Corpus | None) -> tuple[list[Record], list[DocumentSums]]:
    # the families that are not asked for cost no time to import
    from textassay.tendencies.family import TendencyOptions
    from textassay.tendencies.records import tendency_records

    settings = work.settings
    stopwords = None
    if settings.stopwords is not None:
        stopwords = read_stopwords(settings.stopwords, settings.errors)
    elif settings.tokenizer in WORD_TOKENIZERS or settings.tokenizer.startswith("moses:"):
        stopwords = stopwords_of(settings.language)
    work.show("tendencies: comparing")
    return tendency_records(
        *work.texts,
        training,
        TendencyOptions(stopwords, settings.ranks or None, settings.window),
        work.setting(2),
        work.workers,
    )


def _overlap(work: _Work, training: Corpus | None) -> tuple[list[Record], list[DocumentSums]]:
    from textassay.overlap.embeddings import embed_all
    from textassay.overlap.family import OverlapOptions
    from textassay.overlap.records import overlap_records

    settings = work.settings
    vectors = None
    if settings.embeddings:
        texts = {item.name: c.texts for item, c in zip(work.inputs, work.corpora, strict=True)}
        vectors = embed_all(settings.embeddings, texts, work.progress)
    work.show("overlap: comparing")
    return overlap_records(
        *work.texts,
        training,
        OverlapOptions(
            tokenizer=settings.tokenizer,
            newline=settings.newline,
            smoothing=settings.smoothing,
            effective_order=settings.effective_order,
            references=settings.references,
            sample=settings.sample,
            vectors=vectors,
            vectors_source=settings.vectors_source,
            mauve_documents=settings.mauve_documents,
        ),
        work.setting(4),
        work.workers,
    )


def _training_sample(work: _Work) -> tuple[Corpus | None, list[Record]]:
    """Some documents of the training text, where there is human text to compare them with."""
    settings = work.settings
    work.show("sampling the training text")
    if not work.train_files or work.tokenizer.reads_ids:
        return None, []
    if not settings.human:
        return None, [
            Warn(
                code="training-unused",
                message="without human text nothing is compared with the training text but novelty",
            )
        ]
    reading = settings.reading.with_documents(settings.train_documents)
    if not can_be_sampled(work.train_files, reading):
        return None, [
            Warn(
                code="training-not-sampled",
                message="no documents can be drawn from training text on standard input, nor from "
                "large files whose documents are not lines: it is not compared with human text",
            )
        ]
    texts = [text for corpus in work.corpora[len(settings.systems) :] for text in corpus.texts]
    wanted = _SAMPLED * sum(map(len, texts))
    characters = min(_MOST_SAMPLED, max(_FEWEST_SAMPLED, wanted))
    rng = np.random.default_rng(work.seed(3))
    documents = sample_documents(work.train_files, reading, characters, rng)
    if not documents:
        raise InputError("holds no text", file=", ".join(file.name for file in work.train_files))
    corpus = Corpus.from_documents(
        documents, work.tokenizer, work.vocabulary, name=TRAINING, newline=settings.newline
    )
    if not corpus.tokens.size:
        # novelty says so by itself
        empty = Warn(code="empty-training", message="the training text holds no token")
        return None, [] if "novelty" in settings.families else [empty]
    return corpus, []


WORD_TOKENIZERS = ("words", "bare-words", "whitespace", "treebank")


def _stream_warnings(work: _Work, matches: Matches | None) -> list[Record]:
    found: list[Record] = []
    if matches is None:
        return found
    if matches.training is not None and not matches.training.tokens:
        found.append(
            Warn(code="empty-training", message="the training text holds no token: all is new")
        )
    if work.stream is not None and not work.stream.can_be_read_again:
        found.append(
            Warn(
                code="standard-input",
                message="training text on standard input is read once: passages are named by "
                "document and token, without the text around them, and neither --near-verbatim nor "
                "--random-ngrams can be had",
            )
        )
    return found


def joined_sums(first: list[DocumentSums], second: list[DocumentSums]) -> list[DocumentSums]:
    """Sums of the same documents by several families, as one record a document."""
    if not first:
        return second
    known = {(document.system, document.id): document for document in first}
    for document in second:
        known[document.system, document.id].sums.update(document.sums)
    return first
