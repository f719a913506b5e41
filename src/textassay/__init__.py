"""textassay: is a language model's text as natural, varied and new as people's?

>>> import textassay
>>> settings = textassay.AssaySettings(systems=["model=samples.txt"], train=["train.txt"])
>>> settings.tokenizer
'words'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from textassay.assay import Assay, run_assay
    from textassay.corpus.corpus import Corpus
    from textassay.corpus.documents import Document, Reading, read_documents
    from textassay.corpus.files import find_files
    from textassay.corpus.stream import TokenStream
    from textassay.corpus.tokenizers import Tokenizer, make_tokenizer
    from textassay.corpus.vocabulary import Vocabulary
    from textassay.errors import (
        InputError,
        MissingExtraError,
        OutputError,
        TextassayError,
        TextassayWarning,
        UsageError,
    )
    from textassay.results import Measurement, read_results, write_records
    from textassay.settings import AssaySettings

_WHERE = {
    "Assay": "assay",
    "AssaySettings": "settings",
    "Corpus": "corpus.corpus",
    "Document": "corpus.documents",
    "InputError": "errors",
    "Measurement": "results",
    "MissingExtraError": "errors",
    "OutputError": "errors",
    "Reading": "corpus.documents",
    "TextassayError": "errors",
    "TextassayWarning": "errors",
    "TokenStream": "corpus.stream",
    "Tokenizer": "corpus.tokenizers",
    "UsageError": "errors",
    "Vocabulary": "corpus.vocabulary",
    "find_files": "corpus.files",
    "make_tokenizer": "corpus.tokenizers",
    "read_documents": "corpus.documents",
    "read_results": "results",
    "run_assay": "assay",
    "write_records": "results",
}

__all__ = [
    "Assay",
    "AssaySettings",
    "Corpus",
    "Document",
    "InputError",
    "Measurement",
    "MissingExtraError",
    "OutputError",
    "Reading",
    "TextassayError",
    "TextassayWarning",
    "TokenStream",
    "Tokenizer",
    "UsageError",
    "Vocabulary",
    "__version__",
    "find_files",
    "make_tokenizer",
    "read_documents",
    "read_results",
    "run_assay",
    "write_records",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: ``import textassay`` stays fast."""
    if name not in _WHERE:
        raise AttributeError(f"module 'textassay' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"textassay.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
