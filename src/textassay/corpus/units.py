"""What can be taken to be independent: documents, prompts or sources.

Several documents of one prompt, or chunks of one book, are not independent draws; resampling them
as if they were makes intervals too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

from textassay.corpus.corpus import Corpus
from textassay.errors import UsageError

UNITS = ("document", "prompt", "source")


def choose_unit(corpora: Sequence[Corpus], asked: str | None = None) -> str:
    """The resampling unit: as asked, else `source` or `prompt` where documents share one.

    Raises
    ------
    UsageError
        If the unit asked for is not in the inputs.
    """
    if asked is not None:
        if asked not in UNITS:
            raise UsageError(f"--unit {asked}: choose one of {', '.join(UNITS)}")
        if asked == "source" and not any(corpus.sources for corpus in corpora):
            raise UsageError("--unit source needs documents with a field 'source'")
        if asked == "prompt" and not any(any(corpus.groups) for corpus in corpora):
            raise UsageError("--unit prompt needs documents with prompts or a field 'group'")
        return asked
    for corpus in corpora:
        if corpus.sources and 1 < len(set(corpus.sources)) < len(corpus):
            return "source"
    if any(any(corpus.groups) for corpus in corpora):
        return "prompt"
    return "document"


def unit_keys(corpus: Corpus, unit: str) -> list[str]:
    """The name of each document's unit; documents without a prompt or source stand alone."""
    if unit == "document" or (unit == "source" and corpus.sources is None):
        return corpus.ids
    names = corpus.groups if unit == "prompt" else corpus.sources or []
    return [name or f"\0{number}" for number, name in enumerate(names)]


def can_be_paired(first: Corpus, second: Corpus, unit: str) -> bool:
    """Whether the units of two sides have the same names, given by the inputs."""
    if unit == "document" and not (first.named and second.named):
        return False
    if unit == "source":
        return False  # the same books, but other stretches of them
    one, other = set(unit_keys(first, unit)), set(unit_keys(second, unit))
    return one == other and not any(key.startswith("\0") for key in one)
