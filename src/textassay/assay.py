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
from textassay.corpus.checks import sample_of_file
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import attach_prompts, read_documents
from textassay.corpus.files import InputFile, find_files, hashed_ahead
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import Tokenizer, make_tokenizer
from textassay.corpus.units import choose_unit
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, UsageError
from textassay.novelty.counts import count_records
from textassay.novelty.measure import Matches, NoveltyOptions, find_matches
from textassay.novelty.near import near_verbatim_records
from textassay.novelty.records import novelty_records
from textassay.novelty.sides import Side
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
from textassay.settings import AssaySettings, parse_named
from textassay.stats.multiplicity import benjamini_hochberg, holm
from textassay.stats.setting import Setting
from textassay.text_warnings import text_warnings

FEWEST_UNITS = 30
PRIMARY = ("tendencies.unigram.tvd", "overlap.self_bleu4", "novelty.pointwise")
Progress = Callable[[str, int, int | None], None]


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
        """Write ``results.jsonl`` and ``documents.jsonl.zst``: both, whole, or neither."""
        write_records(
            {
                folder / "documents.jsonl.zst": self.documents,
                folder / "results.jsonl": self.records,
            }
        )


@dataclass(eq=False)
class _Input:
    name: str
    role: str
    files: list[InputFile]
    corpus: Corpus | None = None


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
    inputs = _inputs(settings)
    train_files = [file for pattern in settings.train for file in find_files(pattern)]
    with hashed_ahead(train_files) as wait_for_digests:
        return _run_assay(settings, inputs, train_files, command, progress, store, wait_for_digests)


def _run_assay(
    settings: AssaySettings,
    inputs: list[_Input],
    train_files: list[InputFile],
    command: str,
    progress: Progress | None,
    store: Store | None,
    wait_for_digests: Callable[[], None],
) -> Assay:
    tokenizer = make_tokenizer(settings.tokenizer)
    _check_inputs(settings, inputs, train_files, tokenizer)
    vocabulary = Vocabulary()
    for number, item in enumerate(inputs):
        if progress:
            progress(f"reading {item.name}", number, len(inputs))
        item.corpus = _read_corpus(item, settings, tokenizer, vocabulary)
    corpora = [item.corpus for item in inputs if item.corpus is not None]
    names = [item.name for item in inputs]
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
        # enough for p-values that adjusted for all systems can still be small
        n_resamples=max(settings.resamples, 200 * len(settings.systems) - 1),
        margin=settings.margin,
        protocol=settings.protocol,
        seed=seeds.spawn(1)[0],
    )
    options = NoveltyOptions(settings.ngrams, settings.train_role, settings.examples)
    samples = {}
    if train_files and not tokenizer.reads_ids:
        samples["training text"] = sample_of_file(
            train_files[0], settings.reading, settings.newline
        )
    with Workers(settings.jobs) as workers:
        doubts = workers.start(
            lambda: text_warnings(dict(zip(names, corpora, strict=True)), samples)
        )
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
        if stream is not None and stream.can_be_read_again:
            if settings.near_verbatim:
                records += near_verbatim_records(sides, stream, options, setting, workers)
            if settings.random_ngrams and matches.training is not None:
                rng = np.random.default_rng(seeds.spawn(1)[0])
                number = settings.random_ngrams
                records += count_records(
                    sides, stream, matches.training, number, setting, workers, rng
                )
        jobs = workers.jobs
        warnings = doubts.result()
    adjust(records)
    wait_for_digests()
    warnings.extend(_input_warnings(inputs, train_files, records))
    if matches.training is not None and not matches.training.tokens:
        warnings.append(
            Warn(code="empty-training", message="the training text holds no token: all is new")
        )
    if stream is not None and not stream.can_be_read_again:
        warnings.append(
            Warn(
                code="standard-input",
                message="training text on standard input is read once: passages are named by "
                "document and token, without the text around them, and neither --near-verbatim nor "
                "--random-ngrams can be had",
            )
        )
    header = _header(settings, inputs, train_files, matches, command, jobs)
    return Assay([header, *warnings, *records], documents, matches, names)


def _inputs(settings: AssaySettings) -> list[_Input]:
    found: list[_Input] = []
    for role, arguments in (("system", settings.systems), ("human", settings.human)):
        for argument in arguments:
            name, pattern = parse_named(argument)
            found.append(_Input(name, role, find_files(pattern)))
    if len(settings.human) == 1:
        found[-1].name = "human"
    names = [item.name for item in found]
    for item in found:
        if names.count(item.name) > 1:
            raise UsageError(f"two inputs are named {item.name!r}: name them apart with NAME=FILE")
        if item.role == "system" and item.name == "human":
            raise UsageError("a system cannot be named 'human': that is the human text's name")
    return found


def _check_inputs(
    settings: AssaySettings,
    inputs: Sequence[_Input],
    train: Sequence[InputFile],
    tokenizer: Tokenizer,
) -> None:
    everything = [file for item in inputs for file in item.files] + list(train)
    prompts = [p for p in (settings.prompts, settings.human_prompts) if p in ("-", "/dev/stdin")]
    if sum(file.is_standard_input for file in everything) + len(prompts) > 1:
        raise UsageError("standard input (-) can be read only once")
    systems = sum(item.role == "system" for item in inputs)
    if settings.prompts in ("-", "/dev/stdin") and systems > 1:
        raise UsageError("--prompts - can be read only once: put it into a file")
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


def _input_warnings(
    inputs: Sequence[_Input], train: Sequence[InputFile], records: Sequence[Record]
) -> list[Record]:
    """The same file on two sides; few independent units."""
    found: list[Record] = []
    sides = [(item.name, file) for item in inputs for file in item.files]
    sides += [("training text", file) for file in train]
    first: dict[str | None, str] = {}
    for name, file in sides:
        other = first.setdefault(file.digest, name)
        if other != name and file.digest is not None:
            found.append(
                Warn(
                    code="same-file",
                    system=name,
                    message=f"{file.name} is, byte for byte, a file of {other} too",
                )
            )
    units = {r.system: r for r in records if isinstance(r, Measurement) and r.n_units}
    for system, r in units.items():
        if r.resampling_unit != "document" and r.n_units < FEWEST_UNITS:
            found.append(
                Warn(
                    code="few-units",
                    system=system,
                    message=f"its documents are of {r.n_units} {r.resampling_unit}s: intervals "
                    f"and verdicts need about {FEWEST_UNITS} or more",
                )
            )
    return found


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
