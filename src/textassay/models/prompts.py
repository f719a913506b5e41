"""Prompt and text as one string: where the text's tokens begin.

A prompt and a text are joined by nothing, and the joined string is encoded; a token across the
boundary belongs to the text. So a text behind a prompt carries the space that separates them.
"""

from __future__ import annotations

from collections.abc import Sequence

from textassay.errors import UsageError


def paired(n: int, prompts: Sequence[str] | None) -> list[str]:
    """The first `n` prompts, empty ones where there are none.

    Raises
    ------
    UsageError
        If there are fewer.
    """
    if prompts is None:
        return [""] * n
    if len(prompts) < n:
        raise UsageError(f"{len(prompts)} prompts for {n} texts: one is needed for each")
    return list(prompts[:n])


def at_word(prompt: str, text: str) -> tuple[str, str]:
    """Prompt and text with the boundary moved back to where a word across it begins.

    Examples
    --------
    >>> at_word("to un", "do it"), at_word("to", " do it")
    (('to ', 'undo it'), ('to', ' do it'))
    """
    if not text or text[0].isspace():
        return prompt, text
    at = len(prompt)
    while at and not prompt[at - 1].isspace():
        at -= 1
    return prompt[:at], prompt[at:] + text


def spaced(prompt: str, words: str) -> str:
    """Words that a model of words drew behind a prompt, with the space before them.

    Examples
    --------
    >>> spaced("to", "do it"), spaced("", "do it"), spaced("to ", "do it")
    (' do it', 'do it', 'do it')
    """
    return f" {words}" if prompt and words and not prompt[-1].isspace() else words
