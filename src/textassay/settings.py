"""What an assay compares and how: the options of the command line, checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import textassay
from textassay.corpus.decoding import NORMALIZATIONS
from textassay.corpus.documents import MODES, Reading
from textassay.corpus.units import UNITS
from textassay.errors import UsageError
from textassay.stats.setting import PROTOCOLS

STREAM_NEWLINE = "<eos>"
FAMILIES = ("tendencies", "overlap", "likelihood", "novelty")
WITHOUT_SCORER = ("tendencies", "overlap", "novelty")
TRAIN_ROLES = ("full", "sample", "reference")


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
    near_verbatim : bool
    random_ngrams : int
    language : str
        Of the list of stopwords.
    stopwords : str or None
        A file with another list.
    ranks : int
        Ranks over which Zipf's law is fitted; 0: all.
    window : int or None
        Tokens of the windows of ``tendencies.mattr``.
    smoothing : int
        Of BLEU.
    effective_order : bool
    references : {'human', 'document'}
    sample_documents : int or None
        Documents for Self-BLEU and references, under the published protocol.
    embeddings : list of str
        A model directory, or ``NAME=FILE.npy`` for each text.
    mauve_documents : int
        Documents a side from which on there is MAUVE.
    decoding : list of str
        How models among the systems are sampled: one system for each.
    number : int or None
        Texts that are drawn from a model; default: as many as there are prompts, else 1,000.
    max_length : int
        Tokens of such a text, the model's own.
    prompt_length : int or None
        Words of each prompt that are kept for models.
    scorer : str or None
        A model that the likelihood of all texts is asked of.
    scorer_train : list of str
        What the scorer was trained on, to be compared with `train`.
    scorer_context, scorer_stretch : int
        For texts longer than a pretrained scorer's window.
    families : tuple of str
        Families of measures; likelihood needs a scorer.
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
    margin: Sequence[str] = ()
    ngrams: tuple[int, ...] = tuple(range(1, 11))
    resamples: int = 1999
    seed: int = 0
    jobs: int | None = None
    examples: int = 20
    near_verbatim: bool = False
    random_ngrams: int = 0
    language: str = "en"
    stopwords: str | None = None
    ranks: int = 10_000
    window: int | None = None
    smoothing: int = 1
    effective_order: bool = False
    references: str = "human"
    sample_documents: int | None = None
    embeddings: Sequence[str] = ()
    mauve_documents: int = 1000
    decoding: Sequence[str] = ()
    number: int | None = None
    max_length: int = 200
    prompt_length: int | None = None
    scorer: str | None = None
    scorer_train: Sequence[str] = ()
    scorer_context: int = 512
    scorer_stretch: int = 1024
    families: tuple[str, ...] = WITHOUT_SCORER

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
            ("--references", self.references, ("human", "document")),
        ):
            if value not in allowed:
                choices = ", ".join(a for a in allowed if a is not None)
                raise UsageError(f"{option} {value}: choose one of {choices}")
        if not self.ngrams or min(self.ngrams) < 1 or max(self.ngrams) > 1000:
            raise UsageError("--ngrams: whole numbers from 1 to 1,000 are needed")
        if self.newline_token is not None and self.tokenizer != "ids":
            raise UsageError("--newline-token is for ready ids: it needs --tokenizer ids")
        if self.near_verbatim and (self.tokenizer == "ids" or not self.train):
            raise UsageError("--near-verbatim compares words: it needs text, and --train")
        if self.stopwords is not None and self.tokenizer in ("ids", "characters"):
            raise UsageError(f"--stopwords looks for words: --tokenizer {self.tokenizer} has none")
        unknown = [name for name in self.families if name not in FAMILIES]
        if unknown or not self.families:
            raise UsageError(f"families {unknown}: choose of {', '.join(FAMILIES)}")
        if self.random_ngrams < 0 or (self.random_ngrams and not self.train):
            raise UsageError("--random-ngrams: a number from 0 on is needed, and --train")
        lists = {
            "--human": self.human,
            "--train": self.train,
            "--embeddings": self.embeddings,
            "--scorer-train": self.scorer_train,
        }
        for option, files in lists.items():
            if not all(files):
                raise UsageError(f"{option}: a file is missing behind it")
        for option, text in (
            ("--newlines", self.newlines),
            ("--text-field", self.text_field),
            ("--prompt-field", self.prompt_field),
            ("--language", self.language),
            ("--stopwords", self.stopwords),
            ("--scorer", self.scorer),
        ):
            if text == "":
                raise UsageError(f"{option}: a name is missing behind it")
        for option, number, least, most in (
            ("--seed", self.seed, 0, None),
            ("--jobs", self.jobs, 1, 4096),
            ("--resamples", self.resamples, 99, 1_000_000),
            ("--examples", self.examples, 0, None),
            ("--ranks", self.ranks, 0, None),
            ("--window", self.window, 2, 1_000_000),
            ("--smoothing", self.smoothing, 0, 4),
            ("--sample-documents", self.sample_documents, 2, None),
            ("--number", self.number, 1, None),
            ("--max-length", self.max_length, 1, None),
            ("--prompt-length", self.prompt_length, 1, None),
            ("--scorer-context", self.scorer_context, 1, None),
            ("--scorer-stretch", self.scorer_stretch, 1, None),
            ("--mauve-documents", self.mauve_documents, 20, None),
            ("--newline-token", self.newline_token, 0, 2**31 - 1),
        ):
            if number is not None and (number < least or (most is not None and number > most)):
                limit = f"at least {least}" + (f", at most {most:,}," if most is not None else "")
                raise UsageError(f"{option} {number}: {limit} is needed")
        self.margins()
        if self.protocol not in PROTOCOLS:
            raise UsageError(f"--protocol {self.protocol}: choose one of {', '.join(PROTOCOLS)}")
        if self.sample_documents is not None and self.protocol != "published":
            raise UsageError(
                "--sample-documents is how older tables were made: add --protocol published"
            )
        if "likelihood" in self.families and self.scorer is None:
            raise UsageError("likelihood is asked of a model: name it with --scorer")
        if self.scorer_train and self.scorer is None:
            raise UsageError("--scorer-train tells of --scorer, which is missing")
        if self.scorer is not None and self.tokenizer == "ids":
            raise UsageError("--scorer: a model reads text, not --tokenizer ids")
        if self.tokenizer == "ids" and self.embeddings and "=" not in self.embeddings[0]:
            raise UsageError("--embeddings: a model reads text, not --tokenizer ids")
        if self.references == "document" and self.tokenizer == "ids":
            raise UsageError("--references document holds text: --tokenizer ids cannot read it")
        if self.unit not in (None, *UNITS):
            raise UsageError(f"--unit {self.unit}: choose one of {', '.join(UNITS)}")
        if "stream" in (self.documents,) and (self.prompts or self.human_prompts):
            raise UsageError("--documents stream joins all text, so --prompts cannot be given")

    def margins(self) -> dict[str, float]:
        """Margins by measure; under an empty name that of all measures.

        Raises
        ------
        UsageError
            If one is no number above 0, or one number stands for measures of unlike units.
        """
        found: dict[str, float] = {}
        for text in self.margin:
            measure, equals, number = text.rpartition("=")
            try:
                value = float(number)
            except ValueError:
                value = 0.0
            if not 0 < value < float("inf"):
                raise UsageError(f"--margin {text}: MEASURE=NUMBER with a number above 0 is needed")
            if not equals and self.families != ("novelty",):
                raise UsageError(
                    f"--margin {text}: measures have unlike units; write --margin MEASURE={text}, "
                    "for example --margin tendencies.unigram.tvd=0.1"
                )
            if equals and measure.partition(".")[0] not in self.families:
                raise UsageError(
                    f"--margin {text}: the measure's name begins with one of "
                    f"{', '.join(self.families)}"
                )
            found[measure] = value
        return found

    @property
    def newline(self) -> str | None:
        """The token that a line end stands for on all sides, None for white space."""
        if self.newlines is not None:
            return None if self.newlines == "space" else self.newlines
        return STREAM_NEWLINE if "stream" in (self.documents, self.train_documents) else None

    @property
    def vectors_source(self) -> str:
        """What made the documents' vectors: a model directory, or files."""
        one = len(self.embeddings) == 1 and "=" not in self.embeddings[0]
        return self.embeddings[0] if one else "files"

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


def check_names(names: Sequence[tuple[str, str]], humans: int) -> None:
    """Refuse two texts of one name, and systems with names of other sides.

    Parameters
    ----------
    names : sequence of (role, name)
        Roles are system and human.
    humans : int
        How many human texts there are; one is named ``human`` whatever it is called.
    """
    listed = [name for role, name in names if role == "system" or humans != 1]
    for role, name in names:
        if role == "system" and name in ("human", "training text"):
            kind = name.split()[0]
            raise UsageError(f"a system cannot be named {name!r}: that is the {kind} text's name")
        if listed.count(name) > 1:
            raise UsageError(f"two inputs are named {name!r}: name them apart with NAME=FILE")


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
