"""Bytes to text: one strict rule, and what ``--errors replace`` and ``--normalize`` do."""

from __future__ import annotations

import unicodedata

from textassay.errors import InputError

NORMALIZATIONS = ("nfc", "nfkc", "casefold")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def decode(
    raw: bytes, *, errors: str, file: str, line: int | None = None, byte: int | None = None
) -> str:
    """Text of UTF-8 bytes.

    Invalid bytes and NUL are errors that name their place, or with ``errors="replace"`` become
    U+FFFD. `byte` is the offset of ``raw[0]`` in the file.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if errors == "replace":
            return raw.decode("utf-8", "replace").replace("\0", REPLACEMENT)
        hint = ""
        if byte in (0, None) and raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "; it looks like UTF-16"
        at = error.start if byte is None else byte + error.start
        raise InputError(
            f"is not valid UTF-8 (0x{raw[error.start]:02x}){hint}: convert it, or use --errors "
            "replace",
            file=file,
            line=line,
            byte=at,
        ) from None
    if "\0" in text:
        if errors == "replace":
            return text.replace("\0", REPLACEMENT)
        at = raw.index(b"\0") + (byte or 0)
        raise InputError(
            "holds a NUL byte: is it text? --errors replace reads it all the same",
            file=file,
            line=line,
            byte=at,
        )
    return text


def without_surrogates(text: str, *, errors: str, file: str, line: int | None = None) -> str:
    """`text`, if it can be written as UTF-8; JSON can hold halves of characters that cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        if errors == "replace":
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        raise InputError(
            f"holds a lone surrogate (U+{ord(text[error.start]):04X}), which is no character; "
            "--errors replace reads it all the same",
            file=file,
            line=line,
        ) from None
    return text


def normalize(text: str, normalization: str | None) -> str:
    """`text` after ``nfc``, ``nfkc``, ``casefold`` or nothing (None).

    Examples
    --------
    >>> normalize("STRASSE ﬁne", "casefold"), normalize("ﬁne", "nfkc")
    ('strasse fine', 'fine')
    """
    if normalization is None:
        return text
    if normalization == "casefold":
        return text.casefold()
    return unicodedata.normalize("NFC" if normalization == "nfc" else "NFKC", text)
