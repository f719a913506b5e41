"""The main job: systems, human text and training text in; records out."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import textassay
from textassay.corpus import checks
from textassay.corpus.corpus import Corpus
from textassay.corpus.decoding import NORMALIZATIONS
from textassay.corpus.documents import MODES, Reading, attach_prompts, read_documents
from textassay.corpus.files import InputFile, find_files
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import Tokenizer, make_tokenizer
from textassay.corpus.units import choose_unit
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, UsageError
from textassay.novelty.measure import Matches, NoveltyOptions, find_matches
from textassay.novelty.records import Side, novelty_records
from textassay.parallel import Workers
from textassay.results import (
    SCHEMA_VERSION,
    DocumentSums,
    Header,
    Measurement,
    Record,
    Warn,
    finite,
    write_records,
)
from textassay.resume import Store
from textassay.stats.multiplicity import benjamini_hochberg, holm
from textassay.stats.setting import Setting

PRIMARY = ("tendencies.unigram.tvd", "overlap.self_bleu4", "novelty.pointwise")
STREAM_NEWLINE = "<eos>"
TRAIN_ROLES = ("full", "sample", "reference")
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class AssaySettings:
    """What is compared and how; the options of the command line under the same names.

    Attributes
    ----------
    systems, human : list of str
        ``NAME=FILE`` or ``FILE``; a file may be a folder, a glob or ``-``.
    train : list of str
    prompts, human_prompts : str or None
        Files with a prompt for each document of plain text.
    tokenizer, documents, train_documents, newlines, normalize, errors, split_on : see the commands
    text_field, prompt_field : str
    newline_token : int or None
        For ready ids: the id that ends a document.
    id_type : str
    train_role, unit, protocol, margin, ngrams, resamples, seed, jobs, examples
    """

    systems: Sequence[str]
    human: Sequence[str] = ()
    train: Sequence[str] = ()
    prompts: str | None = None
    human_prompts: str | None = None
    tokenizer: str = "words"
    documents: str = "line"
    train_documents: str = "line"
    newlines: str | None = None
    newline_token: int | None = None
    normalize: str | None = None
    errors: str = "strict"
    split_on: str | None = None
    text_field: str = "text"
    prompt_field: str = "prompt"
    id_type: str = "uint16"
    train_role: str = "full"
    unit: str | None = None
    protocol: str = "equal"
    margin: float | None = None
    ngrams: tuple[int, ...] = tuple(range(1, 11))
    resamples: int = 1999
    seed: int = 0
    jobs: int | None = None
    examples: int = 20

    def __post_init__(self) -> None:
        if not self.systems:
            raise UsageError("name at least one generated text: NAME=FILE")
        for option, value, allowed in (
            ("--documents", self.documents, MODES),
            ("--train-documents", self.train_documents, MODES),
            ("--normalize", self.normalize, (None, *NORMALIZATIONS)),
            ("--errors", self.errors, ("strict", "replace")),
            ("--train-role", self.train_role, TRAIN_ROLES),
            ("--id-type", self.id_type, ("uint16", "uint32")),
        ):
            if value not in allowed:
                choices = ", ".join(a for a in allowed if a is not None)
                raise UsageError(f"{option} {value}: choose one of {choices}")
        if not self.ngrams or min(self.ngrams) < 1 or max(self.ngrams) > 1000:
            raise UsageError("--ngrams: whole numbers from 1 to 1,000 are needed")
        if self.newline_token is not None and self.tokenizer != "ids":
            raise UsageError("--newline-token is for ready ids: it needs --tokenizer ids")
        if self.seed < 0:
            raise UsageError(f"--seed {self.seed}: a whole number from 0 on is needed")
        if "stream" in (self.documents,) and (self.prompts or self.human_prompts):
            raise UsageError("--documents stream joins all text, so --prompts cannot be given")

    @property
    def newline(self) -> str | None:
        """The token that a line end stands for on all sides, None for white space."""
        if self.newlines is not None:
            return None if self.newlines == "space" else self.newlines
        return STREAM_NEWLINE if "stream" in (self.documents, self.train_documents) else None

    @property
    def reading(self) -> Reading:
        """How generated and human text is read."""
        return Reading(
            documents=self.documents,
            text_field=self.text_field,
            prompt_field=self.prompt_field,
            errors=self.errors,
            normalize=self.normalize,
            split_on=self.split_on,
            id_type=self.id_type,
            document_end=self.newline_token,
        )

    def signature(self) -> dict[str, str]:
        """Parts common to all signatures."""
        parts = {"tok": self.tokenizer, "docs": self.documents}
        if self.train:
            parts["traindocs"] = self.train_documents
        if self.newline is not None:
            parts["newlines"] = self.newline
        if self.normalize:
            parts["norm"] = self.normalize
        return {**parts, "v": textassay.__version__}


@dataclass(frozen=True, eq=False)
class Assay:
    """What an assay found.

    Attributes
    ----------
    records : list of Record
        Header first.
    documents : list of DocumentSums
    matches : Matches
        Scores of every token.
    names : list of str
        Systems and human files in the order of ``matches.corpora``.
    """

    records: list[Record]
    documents: list[DocumentSums]
    matches: Matches
    names: list[str]

    def write(self, folder: Path) -> None:
        """Write ``results.jsonl`` and ``documents.jsonl.zst``, each whole or not at all."""
        write_records(folder / "documents.jsonl.zst", self.documents)
        write_records(folder / "results.jsonl", self.records)


@dataclass(eq=False)
class _Input:
    name: str
    role: str
    files: list[InputFile]
    corpus: Corpus | None = None


def parse_named(argument: str) -> tuple[str, str]:
    """Name and file of ``NAME=FILE``; a file alone is named by its stem.

    Examples
    --------
    >>> parse_named("gpt2=out/samples.txt"), parse_named("out/samples.txt.gz")
    (('gpt2', 'out/samples.txt'), ('samples', 'out/samples.txt.gz'))
    """
    name, equals, pattern = argument.partition("=")
    if equals and name and os.sep not in name and "/" not in name:
        if not pattern:
            raise UsageError(f"{argument}: a file is missing behind the =")
        return name, pattern
    if argument == "-":
        return "stdin", argument
    stem = Path(argument).name
    return stem.split(".")[0] or stem, argument


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
    tokenizer = make_tokenizer(settings.tokenizer)
    inputs = _inputs(settings)
    train_files = [file for pattern in settings.train for file in find_files(pattern)]
    _check_inputs(inputs, train_files, tokenizer)
    vocabulary = Vocabulary()
    for number, item in enumerate(inputs):
        if progress:
            progress(f"reading {item.name}", number, len(inputs))
        item.corpus = _read_corpus(item, settings, tokenizer, vocabulary)
    corpora = [item.corpus for item in inputs if item.corpus is not None]
    stream = None
    if train_files:
        stream = TokenStream(
            train_files,
            tokenizer,
            settings.reading.with_documents(settings.train_documents),
            settings.newline,
        )
    seeds = np.random.SeedSequence(settings.seed)
    setting = Setting(
        signature=settings.signature(),
        unit=choose_unit(corpora, settings.unit),
        n_resamples=settings.resamples,
        margin=settings.margin,
        protocol=settings.protocol,
        seed=seeds.spawn(1)[0],
    )
    options = NoveltyOptions(settings.ngrams, settings.train_role, settings.examples)
    with Workers(settings.jobs) as workers:
        total = _total_bytes(train_files)
        matches = find_matches(
            corpora,
            stream,
            workers,
            ngrams=settings.ngrams,
            progress=(lambda done: progress("training text", done, total)) if progress else None,
            store=store,
        )
        if progress:
            progress("comparing", 0, None)
        sides = [
            Side(item.name, item.role == "human", [corpus], [scores])
            for item, corpus, scores in zip(inputs, corpora, matches.scores, strict=True)
        ]
        systems = [side for side in sides if not side.is_human]
        humans = [side for side in sides if side.is_human]
        records, documents = novelty_records(systems, humans, matches, options, setting, stream)
        jobs = workers.jobs
    adjust(records)
    warnings = _text_warnings(inputs, train_files, settings)
    if stream is not None and not stream.can_be_read_again:
        warnings.append(
            Warn(
                code="standard-input",
                message="training text on standard input is read once: passages are named by "
                "document and token, without the text around them",
            )
        )
    header = _header(settings, inputs, train_files, matches, command, jobs)
    return Assay([header, *warnings, *records], documents, matches, [item.name for item in inputs])


def _inputs(settings: AssaySettings) -> list[_Input]:
    found: list[_Input] = []
    for role, arguments in (("system", settings.systems), ("human", settings.human)):
        for argument in arguments:
            name, pattern = parse_named(argument)
            found.append(_Input(name, role, find_files(pattern)))
    names = [item.name for item in found]
    for item in found:
        if names.count(item.name) > 1:
            raise UsageError(f"two inputs are named {item.name!r}: name them apart with NAME=FILE")
        if item.role == "system" and item.name == "human":
            raise UsageError("a system cannot be named 'human': that is the human text's name")
    return found


def _check_inputs(
    inputs: Sequence[_Input], train: Sequence[InputFile], tokenizer: Tokenizer
) -> None:
    everything = [file for item in inputs for file in item.files] + list(train)
    if sum(file.is_standard_input for file in everything) > 1:
        raise UsageError("standard input (-) can be read only once")
    for file in everything:
        has_ids = file.format in ("npy", "bin")
        if has_ids and not tokenizer.reads_ids:
            raise InputError("holds token ids: it needs --tokenizer ids", file=file.name)
        if tokenizer.reads_ids and not has_ids:
            raise InputError(
                "--tokenizer ids reads .npy and .bin files on all sides", file=file.name
            )


def _read_corpus(
    item: _Input, settings: AssaySettings, tokenizer: Tokenizer, vocabulary: Vocabulary
) -> Corpus:
    documents = read_documents(item.files, settings.reading)
    prompts = settings.human_prompts if item.role == "human" else settings.prompts
    if prompts is not None:
        attach_prompts(documents, find_files(prompts), settings.reading, name=item.name)
    corpus = Corpus.from_documents(
        documents, tokenizer, vocabulary, name=item.name, newline=settings.newline
    )
    if not corpus.text_lengths.any():
        raise InputError(
            "holds no token outside prompts: there is nothing to judge",
            file=", ".join(file.name for file in item.files),
        )
    return corpus


def _total_bytes(files: Sequence[InputFile]) -> int | None:
    if any(file.compression or file.is_standard_input or file.format != "text" for file in files):
        return None
    return sum(os.path.getsize(file.name) for file in files)


def adjust(records: Sequence[Record]) -> None:
    """Adjust p-values in place: Holm over the primary family, else for false discoveries."""
    measured = [
        r
        for r in records
        if isinstance(r, Measurement) and r.p_value is not None and r.p_adjusted is None
    ]
    primary = [
        r
        for r in measured
        if r.measure in PRIMARY
        and "|source:training" not in r.signature
        and "|source:context" not in r.signature
    ]
    rest = [r for r in measured if not any(r is p for p in primary)]
    for family, group, method in (
        ("primary, Holm", primary, holm),
        ("exploratory, false discovery rate", rest, benjamini_hochberg),
    ):
        adjusted = method([r.p_value for r in group if r.p_value is not None])
        for record, p in zip(group, adjusted, strict=True):
            record.p_adjusted = finite(float(p))
            record.family = family


def _text_warnings(
    inputs: Sequence[_Input], train: Sequence[InputFile], settings: AssaySettings
) -> list[Record]:
    found: list[Record] = []
    samples: dict[str, str] = {}
    for item in inputs:
        corpus = item.corpus
        if corpus is None:
            continue
        samples[item.name] = checks.sample_text(corpus.texts)
        if len(corpus) < checks.FEWEST_DOCUMENTS:
            found.append(
                Warn(
                    code="few-documents",
                    system=item.name,
                    message=f"{len(corpus)} documents: intervals and verdicts need about "
                    f"{checks.FEWEST_DOCUMENTS} or more",
                )
            )
        empty = int((corpus.text_lengths == 0).sum())
        if empty:
            found.append(
                Warn(
                    code="empty-documents",
                    system=item.name,
                    message=f"{empty:,} of {len(corpus):,} documents hold no token",
                )
            )
        cut = checks.share_at_longest(corpus)
        if cut >= 0.05:
            found.append(
                Warn(
                    code="cut-documents",
                    system=item.name,
                    message=f"{cut:.1%} of the documents end at the greatest length "
                    f"({int(corpus.text_lengths.max()):,} tokens): they were cut there, so their "
                    "lengths say nothing of where the system ends a text",
                )
            )
        repeated = checks.repeated_documents(corpus)
        if repeated >= 0.01 * len(corpus) and repeated > 1:
            found.append(
                Warn(
                    code="repeated-documents",
                    system=item.name,
                    message=f"{repeated:,} of {len(corpus):,} documents repeat an earlier one but "
                    "for case and punctuation",
                )
            )
    if train and settings.tokenizer != "ids":
        samples["training text"] = checks.sample_of_file(train[0])
    for mark, how in checks.preprocessing_differences(samples):
        found.append(
            Warn(
                code="preprocessing",
                message=f"the sides were preprocessed differently: {mark} ({how})",
            )
        )
    return found


def _header(
    settings: AssaySettings,
    inputs: Sequence[_Input],
    train: Sequence[InputFile],
    matches: Matches,
    command: str,
    jobs: int,
) -> Header:
    import importlib.metadata
    import unicodedata

    listed: list[dict[str, Any]] = []
    for item in inputs:
        for file in item.files:
            entry: dict[str, Any] = {"role": item.role, "system": item.name, "file": file.name}
            entry["sha256"] = file.digest
            if len(item.files) == 1 and item.corpus is not None:
                entry["documents"] = len(item.corpus)
                entry["tokens"] = int(item.corpus.text_lengths.sum())
            listed.append(entry)
    for number, file in enumerate(train):
        entry = {"role": "training", "system": None, "file": file.name, "sha256": file.digest}
        if matches.training is not None:
            entry["documents"] = matches.training.documents_of(number)
            entry["tokens"] = matches.training.tokens_of(number)
        listed.append(entry)
    versions = {
        name: importlib.metadata.version(name) for name in ("numpy", "numba", "regex", "msgspec")
    }
    versions["python"] = platform.python_version()
    versions["unicode"] = unicodedata.unidata_version
    chosen = {k: v for k, v in asdict(settings).items() if k not in ("jobs", "seed")}
    return Header(
        schema_version=SCHEMA_VERSION,
        package_version=textassay.__version__,
        command=command,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        tokenizer=settings.tokenizer,
        seed=settings.seed,
        threads=jobs,
        settings={k: list(v) if isinstance(v, tuple | list) else v for k, v in chosen.items()},
        inputs=listed,
        versions=versions,
    )
