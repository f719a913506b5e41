"""Human texts that calibration deals to two sides, and the training text that goes with them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from texts import PUBLISHED

from textassay.corpus.documents import Document, Reading, read_documents
from textassay.corpus.files import find_files

CAPTIONS = PUBLISHED / "texygen-samples" / "image_coco.txt"
NEWS = PUBLISHED / "texygen-samples" / "test_emnlp.txt"
SPEECHES = PUBLISHED / "state-of-the-union.jsonl.gz"
NOVEL = PUBLISHED / "war-and-peace" / "wap.train.txt"
WORDS = 60  # of a stretch of a speech


def documents_of(path: Path) -> list[Document]:
    """Of one file."""
    return read_documents(find_files(str(path)), Reading())


@cache
def caption_documents() -> list[Document]:
    """COCO captions, each a unit of its own."""
    return documents_of(PUBLISHED / "texygen-samples" / "test_coco.txt")


@cache
def speech_documents() -> list[Document]:
    """Stretches of 60 words of speeches; stretches of one speech are no independent documents."""
    documents = []
    with gzip.open(SPEECHES, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            words = json.loads(line)["text"].split()
            for begin in range(0, len(words) - WORDS, WORDS):
                text = " ".join(words[begin : begin + WORDS])
                documents.append(Document(text, source=str(number), group=str(number)))
    return documents


@cache
def similar_speech_documents() -> list[Document]:
    """Stretches of speeches without the longest one, which holds as many as 3 others together."""
    documents = speech_documents()
    longest = Counter(document.source for document in documents).most_common(1)[0][0]
    return [document for document in documents if document.source != longest]


@cache
def review_documents() -> list[Document]:
    """Film reviews of 700 words, each a unit of its own."""
    return documents_of(PUBLISHED / "movie-reviews.jsonl.gz")


@dataclass(frozen=True)
class Dealt:
    """A way of dealing human text to two sides: n units against m."""

    read: Callable[[], list[Document]]
    training: Path
    n: int
    m: int
    unit: str

    def __str__(self) -> str:
        return f"{self.n} against {self.m} {self.unit}s"


DEALT = (
    Dealt(caption_documents, CAPTIONS, 500, 500, "document"),
    Dealt(caption_documents, CAPTIONS, 100, 1000, "document"),
    Dealt(caption_documents, CAPTIONS, 1000, 200, "document"),
    Dealt(speech_documents, NOVEL, 20, 40, "source"),
    Dealt(speech_documents, NOVEL, 30, 30, "source"),
    Dealt(similar_speech_documents, NOVEL, 30, 30, "source"),
    Dealt(review_documents, SPEECHES, 300, 300, "document"),
)
