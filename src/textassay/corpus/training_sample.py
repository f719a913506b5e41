"""A random sample of the documents of a training text that is too large to hold."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from textassay.corpus.decoding import decode, normalize
from textassay.corpus.documents import Document, Reading, iterate_samples
from textassay.corpus.files import InputFile, byte_lines

# Files whose documents are not single lines are held in memory while they are cut.
LARGEST_HELD = 256 << 20


def can_be_sampled(files: Sequence[InputFile], reading: Reading) -> bool:
    """Whether documents can be drawn: files that can be read again, and held where they must be."""
    for file in files:
        if file.is_standard_input or not os.path.isfile(file.name):
            return False
        held = file.format == "text" and (reading.documents != "line" or reading.split_on)
        if held and os.path.getsize(file.name) > LARGEST_HELD:
            return False
    return True


def sample_documents(
    files: Sequence[InputFile], reading: Reading, characters: int, rng: np.random.Generator
) -> list[Document]:
    """Documents drawn without replacement until about so many characters are there, in order.

    Each document gets a random number, and those with the smallest ones are kept: one pass, and
    memory for the sample alone. Prompts and ids are left out. Cost: some 0.5 us a line of plain
    text, some 3 us a document of other formats.
    """
    heap: list[tuple[float, int, Document]] = []  # the largest number first
    held = 0
    threshold = 1.0
    numbers = _uniform(rng)
    for place, (document, raw, file) in enumerate(_documents(files, reading)):
        number = next(numbers)
        if number >= threshold:
            continue
        if document is None:
            text = decode(raw, errors=reading.errors, file=file.name)
            document = Document(text, place=file.name)
        text = normalize(document.text, reading.normalize)
        kept = replace(document, text=text, prompt="", id=None, group=None, references=())
        heapq.heappush(heap, (-number, place, kept))
        held += len(text) + 1
        while held > characters and len(heap) > 1:
            dropped = heapq.heappop(heap)
            held -= len(dropped[2].text) + 1
            threshold = -dropped[0]
    return [document for _, _, document in sorted(heap, key=lambda item: item[1])]


def _uniform(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(1 << 14).tolist()


def _documents(
    files: Sequence[InputFile], reading: Reading
) -> Iterator[tuple[Document | None, bytes, InputFile]]:
    """Documents, or lines that need not be decoded unless they are kept."""
    for named in files:
        file = InputFile(named.name, named.format, named.compression)
        if file.format == "text" and reading.documents == "line" and reading.split_on is None:
            for _, line in byte_lines(file):
                yield None, line, file
        else:
            for document in iterate_samples(file, reading):
                yield document, b"", file
