"""Texts drawn from models as files: JSON lines, each with its prompt and its decoding.

Texts are drawn in pieces of one size, each with a random stream of its own, so that a piece that is
kept on disk is worth the same as one that is drawn anew.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from textassay.corpus.documents import Reading, read_documents
from textassay.corpus.files import find_files
from textassay.errors import UsageError
from textassay.models.decoding import Decoding
from textassay.models.loading import check_model, digest_of_model, is_model, load_model
from textassay.results import encode
from textassay.resume import Store, digest_of
from textassay.settings import AssaySettings, check_names, parse_named
from textassay.writing import atomic_file

NUMBER = 1000  # texts of a model, where nothing tells how many
_PIECE = 128  # texts that are drawn with one random stream


@dataclass(frozen=True)
class Draw:
    """What is asked of a model.

    Attributes
    ----------
    number : int
        Of texts.
    decoding : Decoding
    max_length : int
        Tokens of a text, the model's own.
    prompts : sequence of str or None
        The first `number` are used, one for each text.
    seed : int
    role : {'system', 'human', 'train'}
        Roles draw from streams of their own, so that a model beside itself is not its own copy.
        Decodings of one role share theirs.
    """

    number: int
    decoding: Decoding
    max_length: int
    prompts: Sequence[str] | None = None
    seed: int = 0
    role: str = "system"


@dataclass(frozen=True)
class DrawnText:
    """A file of drawn texts.

    Attributes
    ----------
    name : str
        Of the text in an assay.
    path : Path
    described : dict
        The model and how it was asked, for the header.
    """

    name: str
    path: Path
    described: dict[str, Any]


def draw_texts(
    model: Any,
    draw: Draw,
    *,
    store: Store | None = None,
    key: str = "",
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """The texts, in the order of their prompts.

    Parameters
    ----------
    model : LanguageModel
    draw : Draw
    store : Store, optional
        Where finished pieces are kept until all are there.
    key : str
        Names the model in the store.
    progress : callable, optional
        Told how many texts are there.
    """
    texts: list[str] = []
    for number, first in enumerate(range(0, draw.number, _PIECE)):
        size = min(_PIECE, draw.number - first)
        prompts = None if draw.prompts is None else list(draw.prompts[first : first + size])
        seed = (zlib.crc32(draw.role.encode()), number) if draw.role != "system" else (number,)
        piece = digest_of(key, size, str(draw.decoding), draw.max_length, prompts, draw.seed, seed)
        saved = store.load(piece) if store else None
        if saved is not None and "texts" in saved:
            drawn = [bytes(row).decode("utf-8", "surrogatepass") for row in _unpacked(saved)]
        else:
            rng = np.random.default_rng(np.random.SeedSequence(draw.seed, spawn_key=seed))
            drawn = model.sample(
                size,
                draw.decoding,
                prompts=prompts,
                max_length=draw.max_length,
                rng=rng,
                progress=_behind(progress, first),
            )
            if store:
                store.save(piece, _packed(drawn))
        texts += drawn
        if progress:
            progress(len(texts))
    return texts


def sample_lines(texts: Sequence[str], draw: Draw, model: str) -> list[bytes]:
    """JSON lines: prompt, text, model, decoding, seed."""
    return [
        encode(
            {
                **({"prompt": draw.prompts[k]} if draw.prompts is not None else {}),
                "text": text,
                "model": model,
                "decoding": str(draw.decoding),
                "seed": draw.seed,
            }
        )
        for k, text in enumerate(texts)
    ]


def sampled_texts(
    settings: AssaySettings,
    folder: Path,
    *,
    store: Store | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[tuple[str, str], list[DrawnText]]:
    """Texts of all models among an assay's inputs, by role and argument.

    A model among the systems gives one text for each decoding, named after both where there are
    several; people's and training text are drawn from a model's own distribution.

    Parameters
    ----------
    settings : AssaySettings
    folder : Path
        For the files.

    Raises
    ------
    InputError
        If a model or the prompts cannot be read.
    UsageError
        If there are fewer prompts than texts.
    """
    planned = _plan(settings)
    found: dict[tuple[str, str], list[DrawnText]] = {}
    models: dict[str, tuple[Any, str]] = {}
    for number, plan in enumerate(planned):
        if plan.place not in models:
            models = {plan.place: (load_model(plan.place), digest_of_model(plan.place))}
        model, key = models[plan.place]
        draw = plan.draw
        told = None
        if progress:
            told = partial(_tell, progress, f"sampling {plan.named}", draw.number)
        texts = draw_texts(model, draw, store=store, key=key, progress=told)
        path = folder / f"{draw.role}-{number}-{_file_name(plan.named)}.jsonl"
        with atomic_file(path) as file:
            file.write(b"".join(sample_lines(texts, draw, Path(plan.place).name)))
        described = {"model": plan.place, "model_sha256": key, "decoding": str(draw.decoding)}
        text = DrawnText(plan.named, path, described)
        found.setdefault((draw.role, plan.argument), []).append(text)
    return found


@dataclass(frozen=True)
class _Plan:
    """A text that is to be drawn: for which argument, from which model, under what name."""

    argument: str
    place: str
    named: str
    draw: Draw


def _plan(settings: AssaySettings) -> list[_Plan]:
    """All that is to be drawn, checked before any model is loaded."""
    decodings = [Decoding.parse(text) for text in settings.decoding] or [Decoding()]
    if len(set(decodings)) < len(decodings):
        raise UsageError(f"--decoding: {', '.join(map(str, decodings))}: one is named twice")
    planned: list[_Plan] = []
    names: list[tuple[str, str]] = []
    for role, arguments in (
        ("system", settings.systems),
        ("human", settings.human),
        ("train", settings.train),
    ):
        prompts = None
        for argument in arguments:
            name, place = parse_named(argument) if role != "train" else ("train", argument)
            if not is_model(place):
                if any((Path(place) / file).is_file() for file in ("model.json", "config.json")):
                    check_model(place)  # or the texts beside would be taken for a sample
                names.append((role, name))
                continue
            if prompts is None:
                prompts = _prompts(settings, role)
            number = settings.number or (len(prompts) if prompts is not None else NUMBER)
            if prompts is not None and len(prompts) < number:
                raise UsageError(
                    f"--number {number}: more texts than prompts ({len(prompts):,}), and each "
                    "text needs one"
                )
            several = role == "system" and len(decodings) > 1
            for decoding in decodings if role == "system" else [Decoding()]:
                named = f"{name} {decoding}" if several else name
                draw = Draw(number, decoding, settings.max_length, prompts, settings.seed, role)
                planned.append(_Plan(argument, place, named, draw))
                names.append((role, named))
    if not planned and (settings.number or settings.decoding or settings.prompt_length):
        raise UsageError(
            "--number, --decoding and --prompt-length are for models, and none is among the inputs"
        )
    if planned:
        check_names([pair for pair in names if pair[0] != "train"], len(settings.human))
    return planned


def _prompts(settings: AssaySettings, role: str) -> list[str] | None:
    """The prompts of a role, cut to a number of words."""
    pattern = {"system": settings.prompts, "human": settings.human_prompts}.get(role)
    if pattern is None:
        return None
    return read_prompts(pattern, settings.reading, settings.prompt_length)


def read_prompts(pattern: str, reading: Reading, length: int | None) -> list[str]:
    """Prompts from plain text, one a line, or from records; the first `length` words of each.

    A record's prompt is its field for prompts if it has one, else its text.
    """
    read = read_documents(find_files(pattern), replace(reading, documents="line", split_on=None))
    prompts = [document.prompt or document.text for document in read]
    if length is None:
        return prompts
    return [" ".join(prompt.split()[:length]) for prompt in prompts]


def _file_name(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in ".-_" else "_" for c in name)
    return kept.encode()[:120].decode("utf-8", "ignore")  # names of files have at most 255 bytes


def _tell(
    progress: Callable[[str, int, int | None], None], what: str, total: int, done: int
) -> None:
    progress(what, done, total)


def _behind(progress: Callable[[int], None] | None, first: int) -> Callable[[int], None] | None:
    return None if progress is None else lambda done: progress(first + done)


def _packed(texts: Sequence[str]) -> dict[str, Any]:
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    return {
        "texts": np.frombuffer(b"".join(raw), np.uint8),
        "sizes": np.array([len(row) for row in raw], np.int64),
    }


def _unpacked(saved: dict[str, Any]) -> list[Any]:
    return np.split(saved["texts"], np.cumsum(saved["sizes"])[:-1])
