"""Corpus: documents as arrays of token ids, immutable, sharing one vocabulary with others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.tokenizers import Tokenizer, encode_documents
from textassay.errors import InputError

if TYPE_CHECKING:
    from textassay.corpus.documents import Document
    from textassay.corpus.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents of one side of an assay, prompt first, then the text that is judged.

    Attributes
    ----------
    name : str
    tokens : int32[N]
        Ids of all tokens, documents end to end.
    offsets : int64[D + 1]
        Where each document begins in `tokens`.
    prompt_lengths : int32[D]
        Leading tokens of each document that are context and never judged.
    begins, ends : int32[N]
        Characters of the prompt, or of the text, at which a token begins and ends.
    ids, groups : list of str
        Names of documents (their numbers where the input names none) and of their prompts.
    sources : list of str or None
        Where each document is taken from, where the input says so.
    named : bool
        Whether the ids come from the input, so that systems can be paired by them.
    texts, prompts : list of str
        The raw strings.
    references : list of tuple of str
    vocabulary : Vocabulary
    """

    name: str
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    prompt_lengths: NDArray[np.int32]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    ids: list[str]
    groups: list[str]
    sources: list[str] | None
    named: bool
    texts: list[str]
    prompts: list[str]
    references: list[tuple[str, ...]]
    vocabulary: Vocabulary

    def __len__(self) -> int:
        """Number of documents."""
        return len(self.texts)

    @property
    def text_lengths(self) -> NDArray[np.int64]:
        """Judged tokens of each document, int64[D]."""
        return np.diff(self.offsets) - self.prompt_lengths.astype(np.int64)

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        tokenizer: Tokenizer,
        vocabulary: Vocabulary,
        *,
        name: str = "text",
        newline: str | None = None,
    ) -> Corpus:
        """Tokenize documents; prompt and text separately. Cost: linear in the text.

        Parameters
        ----------
        documents : sequence of Document
        tokenizer : Tokenizer
        vocabulary : Vocabulary
            New tokens are added to it.
        name : str
        newline : str, optional
            The token that a line end stands for; None: line ends are white space.

        Raises
        ------
        InputError
            If two documents have the same id.
        """
        texts = [document.text for document in documents]
        prompts = [document.prompt for document in documents]
        text = encode_documents(texts, tokenizer, vocabulary, newline)
        if any(prompts):
            prompt = encode_documents(prompts, tokenizer, vocabulary, newline)
            text_sizes, prompt_sizes = np.diff(text.offsets), np.diff(prompt.offsets)
            offsets = text.offsets + prompt.offsets
            tokens, begins, ends = (
                np.empty(offsets[-1], np.int32),
                np.empty(offsets[-1], np.int32),
                np.empty(offsets[-1], np.int32),
            )
            is_prompt = np.arange(offsets[-1]) < np.repeat(
                offsets[:-1] + prompt_sizes, text_sizes + prompt_sizes
            )
            for out, name_ in ((tokens, "ids"), (begins, "begins"), (ends, "ends")):
                out[is_prompt] = getattr(prompt, name_)
                out[~is_prompt] = getattr(text, name_)
        else:
            tokens, offsets, begins, ends = text.ids, text.offsets, text.begins, text.ends
            prompt_sizes = np.zeros(len(texts), np.int64)
        return cls(
            name=name,
            tokens=tokens,
            offsets=offsets,
            prompt_lengths=prompt_sizes.astype(np.int32),
            begins=begins,
            ends=ends,
            texts=texts,
            prompts=prompts,
            vocabulary=vocabulary,
            **_names(documents, name),
        )


def judged_tokens(corpus: Corpus) -> NDArray[np.int32]:
    """Tokens that are no prompt, documents end to end."""
    if not corpus.prompt_lengths.any():
        return corpus.tokens
    sizes = np.diff(corpus.offsets)
    place = np.arange(corpus.tokens.size) - np.repeat(corpus.offsets[:-1], sizes)
    return corpus.tokens[place >= np.repeat(corpus.prompt_lengths, sizes)]


def _names(documents: Sequence[Document], name: str) -> dict[str, Any]:
    named = all(document.id is not None for document in documents) and len(documents) > 0
    ids = [
        document.id if named and document.id is not None else str(number)
        for number, document in enumerate(documents)
    ]
    if named and len(set(ids)) < len(ids):
        seen: set[str] = set()
        for document in documents:
            if document.id in seen:
                raise InputError(
                    f"{name}: the id {document.id!r} stands on two documents ({document.place}); "
                    "ids pair documents of different systems, so each may stand once"
                )
            seen.add(document.id or "")
    groups = [
        document.group
        if document.group is not None
        else (
            hashlib.sha256(document.prompt.encode("utf-8", "replace")).hexdigest()[:16]
            if document.prompt
            else ""
        )
        for document in documents
    ]
    sources = [document.source or "" for document in documents]
    return {
        "ids": ids,
        "groups": groups,
        "sources": sources if any(sources) else None,
        "named": named,
        "references": [document.references for document in documents],
    }
