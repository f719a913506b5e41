"""The demonstration: real English that every Python carries, models trained on it on the spot.

The documentation of Python's language (``pydoc_data.topics``) and the docstrings of its standard
library are cut into documents of a few sentences and dealt to three parts by source (a topic, a
module): text to train on, text that people wrote otherwise, and prompts. Two n-gram models, a short
and a long one, then show what copying looks like.
"""

from __future__ import annotations

import ast
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textassay.models.decoding import Decoding
from textassay.models.kneser_ney import KneserNey
from textassay.results import encode
from textassay.writing import atomic_files

ORDERS = (3, 6)
DECODINGS = {"ancestral": "ancestral", "top-40": "top_k=40"}
_SHORTEST, _LONGEST = 30, 120  # words of a document
_PROMPT = 12  # words
_SAMPLES = 300


@dataclass(frozen=True)
class Piece:
    """A stretch of documentation and the topic or module that it is from."""

    source: str
    text: str


def documentation() -> Iterator[Piece]:
    """Prose of the documentation, cut into documents of some 30 to 120 words."""
    for source, text in sorted(_sources()):
        words: list[str] = []
        text = re.sub(r"(?m)^[ \t]*(?:[*=~^#+-]{3,}[ \t]*)+$", "", text)  # underlined headings
        for paragraph in re.split(r"\n\s*\n", text):
            if _is_prose(paragraph):
                words.extend(paragraph.split())
            if len(words) >= _LONGEST or (not _is_prose(paragraph) and len(words) >= _SHORTEST):
                yield Piece(source, " ".join(words[:_LONGEST]))
                words = []
        if len(words) >= _SHORTEST:
            yield Piece(source, " ".join(words[:_LONGEST]))


def _sources() -> Iterator[tuple[str, str]]:
    import pydoc_data.topics

    for topic, text in pydoc_data.topics.topics.items():
        yield f"topic {topic}", text
    library = Path(os.__file__).parent
    for path in sorted(library.glob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, SyntaxError):
            continue
        found = [
            ast.get_docstring(node) or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ]
        yield f"module {path.stem}", "\n\n".join(text for text in found if text)


def _is_prose(paragraph: str) -> bool:
    """Whether most of a paragraph's words are words, and it is no heading or code."""
    words = paragraph.split()
    plain = sum(bool(re.fullmatch(r"[A-Za-z'-]+[.,;:]?", word)) for word in words)
    return len(words) >= 5 and plain >= 0.7 * len(words) and ">>>" not in paragraph


@dataclass(frozen=True)
class DemoFiles:
    """Where the parts of the demonstration were written."""

    train: Path
    human: Path
    systems: dict[str, Path]


def make_demo(folder: Path, seed: int = 0) -> DemoFiles:
    """Write training text, human text and the samples of two models under two decodings.

    Parameters
    ----------
    folder : Path
    seed : int

    Raises
    ------
    OutputError
        If the folder cannot be written.

    Notes
    -----
    Documents are dealt by a checksum of their source, so that no source stands on two sides; a
    source is a topic of the language's documentation or a module of the library. The first words
    of human documents are the prompts of all systems; prompts are never judged.
    """
    pieces = list(documentation())
    train = [p for p in pieces if zlib.crc32(p.source.encode()) % 4]
    human = [p for p in pieces if not zlib.crc32(p.source.encode()) % 4][:_SAMPLES]
    prompts = [" ".join(piece.text.split()[:_PROMPT]) for piece in human]
    generators = np.random.default_rng(seed).spawn(len(ORDERS) * len(DECODINGS))
    texts: dict[str, list[str]] = {}
    numbers = iter(generators)
    for order in ORDERS:
        model = KneserNey.train([piece.text for piece in train], order=order)
        for name, decoding in DECODINGS.items():
            texts[f"{order}-gram {name}"] = model.sample(
                len(prompts),
                Decoding.parse(decoding),
                prompts=prompts,
                max_length=_LONGEST - _PROMPT,
                rng=next(numbers),
            )
    names = {name: folder / f"{name.replace(' ', '-')}.jsonl" for name in texts}
    paths = [folder / "train.jsonl", folder / "human.jsonl", *names.values()]
    with atomic_files(paths) as files:
        for piece in train:
            files[0].write(encode({"text": piece.text, "source": piece.source}))
        for number, (piece, prompt) in enumerate(zip(human, prompts, strict=True)):
            rest = " ".join(piece.text.split()[_PROMPT:])
            record = {"id": str(number), "prompt": prompt, "text": rest, "source": piece.source}
            files[1].write(encode(record))
        for file, sampled in zip(files[2:], texts.values(), strict=True):
            for number, (text, piece) in enumerate(zip(sampled, human, strict=True)):
                record = {
                    "id": str(number),
                    "prompt": prompts[number],
                    "text": text,
                    "source": piece.source,
                }
                file.write(encode(record))
    return DemoFiles(paths[0], paths[1], names)
