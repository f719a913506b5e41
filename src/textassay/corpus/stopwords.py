"""Lists of stopwords by language, and the user's own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from textassay.corpus.documents import Reading, iterate_documents
from textassay.corpus.files import find_files
from textassay.corpus.token_kinds import plain_word
from textassay.errors import InputError, UsageError


@dataclass(frozen=True)
class Stopwords:
    """A list of stopwords.

    Attributes
    ----------
    name : str
        For signatures: the language and the number of words, or a digest of the user's file.
    words : frozenset of str
        Case folded, with straight apostrophes.
    """

    name: str
    words: frozenset[str]


def stopwords_of(language: str) -> Stopwords:
    """The list of a language, from the package stopwordsiso (Stopwords ISO).

    The lists are of different breadth (English 1,298 words, Estonian 35), so shares of stopwords
    compare texts of one language, not languages.

    Parameters
    ----------
    language : str
        ISO 639-1 code: bg, cs, da, de, el, en, es, et, fi, fr, hu, it, lt, lv, nl, pl, pt, ro,
        sk, sl, sv and others.

    Raises
    ------
    UsageError
        If there is no list; the message names those that there are.

    Examples
    --------
    >>> english = stopwords_of("en")
    >>> "the" in english.words, "cat" in english.words
    (True, False)
    """
    import stopwordsiso

    if not stopwordsiso.has_lang(language):
        known = ", ".join(sorted(stopwordsiso.langs()))
        raise UsageError(
            f"--language {language}: there is no list of stopwords for it, only for {known}; "
            "--stopwords FILE gives your own"
        )
    words = frozenset(map(plain_word, stopwordsiso.stopwords(language)))
    return Stopwords(f"{language}-{len(words)}", words)


def read_stopwords(path: str, errors: str = "strict") -> Stopwords:
    """A list from a text file with one word a line; what follows a # is a comment.

    Raises
    ------
    InputError
        If the file cannot be read, holds no word, or several in a line.
    """
    words: set[str] = set()
    for file in find_files(path):
        for document in iterate_documents(file, Reading(errors=errors)):
            word = document.text.partition("#")[0].strip()
            if len(word.split()) > 1:
                raise InputError(
                    f"{word[:60]!r} is more than one word: one a line is wanted",
                    file=document.place,
                )
            if word:
                words.add(plain_word(word))
    if not words:
        raise InputError("holds no stopword (one a line is wanted)", file=path)
    digest = hashlib.sha256("\n".join(sorted(words)).encode("utf-8", "replace")).hexdigest()
    return Stopwords(f"file-{digest[:8]}-{len(words)}", frozenset(words))
