"""Checks of texts that make comparisons doubtful: they warn, they never stop anything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from textassay.corpus.corpus import Corpus, judged_tokens
from textassay.corpus.documents import Reading, iterate_documents
from textassay.corpus.files import InputFile
from textassay.corpus.ngrams import count_ngrams

_SAMPLE = 100_000  # characters of each side that are looked at
FEWEST_DOCUMENTS = 100

# Marks of preprocessing: a pattern, what it is counted against, and what it is called.
_MARKS: tuple[tuple[str, str, str], ...] = (
    (r"\s[.,;:!?](?=\s|$)", r"[.,;:!?](?=\s|$)", "a space before punctuation"),
    (r"\b[A-Z]", r"\b[A-Za-z]", "words that begin with a capital"),
    (r"[“”‘’]", r"[“”‘’\"']", "curly rather than straight quotation marks"),
    (r"``|''", r"``|''|[“”\"]", "quotation marks written `` and ''"),
    (r"<unk>", r"\S+", "the token <unk>"),
    (r"@[-,.]@", r"\S+", "split hyphens and commas such as @-@"),
    (r"\n", r"\s+", "line breaks inside documents"),
    (r"<\|endoftext\|>|</?s>|<eos>", r"\S+", "marks of text ends such as <|endoftext|>"),
)
_RARE = 5e-4


def sample_text(texts: Sequence[str]) -> str:
    """Some of a side's text: whole documents from its begin, its middle and its end."""
    third = max(1, len(texts) // 3)
    taken: list[str] = []
    for begin in (0, third, 2 * third):
        size = 0
        for text in texts[begin : begin + third]:
            taken.append(text[:_SAMPLE])
            size += len(text)
            if size > _SAMPLE // 3:
                break
    return " ".join(taken)


def sample_of_file(file: InputFile, reading: Reading, newline: str | None) -> str:
    """Some text of a file that can be read again, from its begin; empty for standard input."""
    if file.is_standard_input or file.format not in ("text", "jsonl", "csv", "tsv"):
        return ""
    copy = InputFile(file.name, file.format, file.compression)
    taken: list[str] = []
    size = 0
    for document in iterate_documents(copy, reading.with_documents("line")):
        taken.append(document.text[:_SAMPLE])
        size += len(document.text)
        if size > _SAMPLE:
            break
    return f" {newline or ''} ".join(taken) if file.format == "text" else " ".join(taken)


def preprocessing_differences(samples: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of a mark of preprocessing and how the sides differ in it.

    A mark counts as different where its share on one side is over half and on another under a
    tenth of that, or where it stands on one side and never on another.

    Examples
    --------
    >>> sides = {"model": "a dog . a cat . " * 9, "human": "A dog. A cat. " * 9}
    >>> [mark for mark, _ in preprocessing_differences(sides)]
    ['a space before punctuation', 'words that begin with a capital']
    """
    found = []
    for pattern, against, name in _MARKS:
        shares = {}
        for side, text in samples.items():
            total = len(re.findall(against, text))
            if total >= 10:
                shares[side] = len(re.findall(pattern, text)) / total
        if len(shares) < 2:
            continue
        high = max(shares, key=lambda side: shares[side])
        low = min(shares, key=lambda side: shares[side])
        if shares[high] > _RARE and shares[low] < 0.1 * shares[high]:
            found.append((name, f"{shares[high]:.1%} in {high}, {shares[low]:.1%} in {low}"))
    return found


def share_at_longest(corpus: Corpus) -> float:
    """Share of documents that are exactly as long as the longest: cut off, if it is large."""
    lengths = corpus.text_lengths
    if lengths.size < 20 or lengths.max() < 2 or lengths.min() == lengths.max() == 1:
        return 0.0
    return float(np.mean(lengths == lengths.max()))


def repeated_documents(corpus: Corpus) -> int:
    """Documents that repeat an earlier one except for case, punctuation and spacing."""
    keys = {"".join(filter(str.isalnum, text.casefold())) for text in corpus.texts}
    return len(corpus) - len(keys)


def near_duplicates(corpus: Corpus) -> int:
    """Documents that share at least 80 % of their trigrams with an earlier one (Jaccard index).

    Candidates are pairs that agree in one of eight bands of three min-hashes (Broder 1997), which
    finds such a pair with a probability above .99; every candidate is then compared exactly.
    Prompts do not count. Cost: some 0.2 s a million tokens.
    """
    offsets = np.concatenate([[0], np.cumsum(corpus.text_lengths)])
    *_, trigrams = count_ngrams(judged_tokens(corpus), offsets, 3)
    pairs = trigrams.by_document()
    holders = np.flatnonzero(np.diff(pairs.begins))
    if not holders.size:
        return 0
    begins, ends = pairs.begins[holders], pairs.begins[holders + 1]
    keys = pairs.ngrams.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found: set[int] = set()
    for band in range(_BANDS):
        joint = np.zeros(holders.size, np.uint64)
        for row in range(_ROWS):
            salt = np.uint64(0xD6E8FEB86659FD93 * (2 * (band * _ROWS + row) + 1) % 2**64)
            mixed = (keys ^ salt) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
            least = np.minimum.reduceat(mixed ^ (mixed >> np.uint64(32)), begins)
            joint = (joint ^ least) * np.uint64(0x9E3779B97F4A7C15)
        order = np.argsort(joint, kind="stable")
        edges = np.flatnonzero(np.diff(joint[order])) + 1
        groups = np.concatenate([[0], edges, [order.size]])
        for g in np.flatnonzero(np.diff(groups) > 1):
            # each against the first few of its group, which is where copies of one text meet
            group = order[groups[g] : groups[g + 1]]
            for later in range(1, group.size):
                one = int(group[later])
                if one in found:
                    continue
                mine = pairs.ngrams[begins[one] : ends[one]]
                for earlier in group[: min(later, _COMPARED)]:
                    other = pairs.ngrams[begins[earlier] : ends[earlier]]
                    common = np.intersect1d(mine, other, assume_unique=True).size
                    if common >= 0.8 * (mine.size + other.size - common):
                        found.add(one)
                        break
    return len(found)


_BANDS, _ROWS, _COMPARED = 8, 3, 5
