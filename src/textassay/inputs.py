"""What an assay reads: files with names and roles, checked, as corpora; what is said of them."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import textassay
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import attach_prompts, read_documents
from textassay.corpus.files import InputFile, find_files
from textassay.corpus.tokenizers import Tokenizer
from textassay.corpus.units import UNITS
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, UsageError
from textassay.models.loading import check_model
from textassay.results import SCHEMA_VERSION, Header, Measurement, Record, Warn
from textassay.sampling import DrawnText
from textassay.settings import AssaySettings, check_names, parse_named

FEWEST_UNITS = 30
Drawn = Mapping[tuple[str, str], Sequence[DrawnText]]


@dataclass(eq=False)
class AssayInput:
    """A system's or a human text: its name, its role (system, human), its files, its corpus.

    `sampled` tells of the model that a text was drawn from; `has_plain_prompts`, whether its
    prompts came from a file of their own.
    """

    name: str
    role: str
    files: list[InputFile]
    corpus: Corpus | None = None
    sampled: dict[str, Any] | None = None
    has_plain_prompts: bool = False


def find_inputs(settings: AssaySettings, drawn: Drawn) -> list[AssayInput]:
    """Systems, then human texts, each with its own name; one human text is named ``human``."""
    found: list[AssayInput] = []
    for role, arguments in (("system", settings.systems), ("human", settings.human)):
        for argument in arguments:
            for text in drawn.get((role, argument), ()):
                files = find_files(str(text.path))
                found.append(AssayInput(text.name, role, files, sampled=text.described))
            if (role, argument) not in drawn:
                name, pattern = parse_named(argument)
                found.append(AssayInput(name, role, find_files(pattern)))
    if len(settings.human) == 1:
        found[-1].name = "human"
    check_names([(item.role, item.name) for item in found], len(settings.human))
    return found


def find_training(settings: AssaySettings, drawn: Drawn) -> list[InputFile]:
    """The files of the training text."""
    places = [
        str(text.path) if text else pattern
        for pattern in settings.train
        for text in drawn.get(("train", pattern), (None,))
    ]
    return [file for place in places for file in find_files(place)]


def check_inputs(
    settings: AssaySettings,
    inputs: Sequence[AssayInput],
    train: Sequence[InputFile],
    tokenizer: Tokenizer,
) -> None:
    """Refuse standard input twice, token ids beside text, and a scorer that is none."""
    if settings.scorer is not None:
        check_model(settings.scorer)
    for pattern in settings.scorer_train:
        find_files(pattern)
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


def read_corpus(
    item: AssayInput, settings: AssaySettings, tokenizer: Tokenizer, vocabulary: Vocabulary
) -> Corpus:
    """The documents of one input, with their prompts, as tokens."""
    documents = read_documents(item.files, settings.reading)
    prompts = settings.human_prompts if item.role == "human" else settings.prompts
    if prompts is not None and item.sampled is None:
        item.has_plain_prompts = True
        attach_prompts(documents, find_files(prompts), settings.reading, name=item.name)
    corpus = Corpus.from_documents(
        documents, tokenizer, vocabulary, name=item.name, newline=settings.newline
    )
    if not corpus.text_lengths.any():
        raise InputError(
            "holds no token outside prompts: there is nothing to judge; leave it out"
            + (" (another --decoding, or --prompts, may give texts)" if item.sampled else ""),
            file=", ".join(file.name for file in item.files),
        )
    return corpus


def total_bytes(files: Sequence[InputFile]) -> int | None:
    """Bytes of plain text in files, None where that is not known without reading them."""
    if any(file.compression or file.is_standard_input or file.format != "text" for file in files):
        return None
    return sum(os.path.getsize(file.name) for file in files)


def input_warnings(
    inputs: Sequence[AssayInput], train: Sequence[InputFile], records: Sequence[Record]
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
    units = {
        r.system: r
        for r in records
        if isinstance(r, Measurement) and r.n_units and r.resampling_unit in UNITS
    }
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


def make_header(
    settings: AssaySettings,
    inputs: Sequence[AssayInput],
    train: Sequence[InputFile],
    training_counts: Sequence[tuple[int, int]],
    command: str,
    jobs: int,
) -> Header:
    """What was compared, and how.

    `training_counts` are documents and tokens of each training file, where they were counted.
    """
    import importlib.metadata
    import unicodedata

    listed: list[dict[str, Any]] = []
    for item in inputs:
        for file in item.files:
            entry: dict[str, Any] = {"role": item.role, "system": item.name, "file": file.name}
            entry["sha256"] = file.digest
            entry.update(item.sampled or {})
            if len(item.files) == 1 and item.corpus is not None:
                entry["documents"] = len(item.corpus)
                entry["tokens"] = int(item.corpus.text_lengths.sum())
            listed.append(entry)
    for number, file in enumerate(train):
        entry = {"role": "training", "system": None, "file": file.name, "sha256": file.digest}
        if number < len(training_counts):
            entry["documents"], entry["tokens"] = training_counts[number]
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
