"""Commands for language models: train, sample, score. They parse, call and print."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from textassay.errors import InputError, UsageError
from textassay.progress import Show, progress_bar
from textassay.streams import safe

if TYPE_CHECKING:
    from textassay.corpus.documents import Document
    from textassay.likelihood import Likelihood
    from textassay.models.training_options import Progress

_Quiet = Annotated[bool, Parameter(negative=(), help="No progress.")]
_Documents = Annotated[str, Parameter(help="line, blank-line, or file.")]


def train(
    text: Annotated[str, Parameter(name="TEXT", help="Training text.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder for the model.")],
    model: Annotated[str, Parameter(help="ngram, lstm, cnn, or transformer.")] = "lstm",
    dev: Annotated[str | None, Parameter(help="Development text: keep the best epoch.")] = None,
    documents: _Documents = "line",
    tokens: Annotated[str, Parameter(help="words (white space), characters, or bpe.")] = "words",
    vocabulary: Annotated[int | None, Parameter(help="Most tokens; bpe: 8192.")] = None,
    order: Annotated[int, Parameter(help="Of an n-gram model.")] = 5,
    width: int = 256,
    layers: int = 2,
    heads: int = 4,
    window: Annotated[int, Parameter(help="Context of a Transformer's layer.")] = 128,
    memory: Annotated[
        bool, Parameter(negative=(), help="Segment recurrence (Transformer-XL).")
    ] = False,
    dropout: float = 0.2,
    cutoffs: Annotated[str, Parameter(help="Adaptive softmax: 2000,10000.")] = "",
    epochs: int = 10,
    reading: Annotated[
        str, Parameter(help="contiguous text, or documents by themselves (sentences in any order).")
    ] = "contiguous",
    batch: int = 20,
    stretch: Annotated[
        int | None,
        Parameter(help="Tokens of a row that a step reads; default: 64, for a Transformer more."),
    ] = None,
    optimiser: Annotated[str, Parameter(help="adamw, or sgd.")] = "adamw",
    rate: float = 2e-3,
    schedule: Annotated[str, Parameter(help="constant, cosine, or halving.")] = "cosine",
    clip_norm: Annotated[float, Parameter(help="Longest gradient; 0: none.")] = 1.0,
    clip_value: Annotated[float | None, Parameter(help="Largest part of it.")] = None,
    mixed_precision: Annotated[
        bool | None, Parameter(help="Products in bfloat16; default: on a GPU.")
    ] = None,
    checkpoint_every: Annotated[int, Parameter(help="Steps between checkpoints.")] = 500,
    seed: int = 0,
    quiet: _Quiet = False,
) -> int:
    """Train a language model on a text; the same command goes on where it was stopped."""
    from textassay.writing import writable_folder

    if seed < 0:
        raise UsageError(f"--seed {seed}: a whole number from 0 on is needed")
    _check_place(out, "kneser-ney" if model == "ngram" else "neural")
    if model == "ngram" and (dev is not None or tokens != "words" or vocabulary is not None):
        raise UsageError("--dev, --tokens and --vocabulary are for networks, not for n-grams")
    texts = _texts(text, documents)
    with writable_folder(out):
        if model == "ngram":
            from textassay.models.kneser_ney import KneserNey

            KneserNey.train(texts, order=order).save(out)
        else:
            from textassay.models.neural import require_torch

            require_torch()
            from textassay.models.networks import Shape
            from textassay.models.text_tokens import learn_tokens
            from textassay.models.training import train as train_network
            from textassay.models.training_options import TrainingOptions

            learnt = learn_tokens(tokens, texts, vocabulary)
            shape = Shape(
                model,
                learnt.size,
                width=width,
                layers=layers,
                heads=heads,
                window=window,
                dropout=dropout,
                memory=memory,
                cutoffs=_numbers("--cutoffs", cutoffs),
            )
            options = TrainingOptions(
                epochs=epochs,
                reading=reading,
                batch=batch,
                # without memory nothing beyond a stretch is seen
                stretch=stretch or (max(64, window) if model == "transformer" else 64),
                optimiser=optimiser,
                rate=rate,
                schedule=schedule,
                clip_norm=clip_norm or None,
                clip_value=clip_value,
                mixed_precision=mixed_precision,
                checkpoint_every=checkpoint_every,
                seed=seed,
            )
            development = _texts(dev, documents) if dev else []
            with progress_bar(quiet) as show:
                train_network(
                    texts,
                    learnt,
                    shape,
                    options,
                    folder=out,
                    development=development,
                    progress=_trained(show),
                )
    if not quiet:
        print(safe(f"written: {out}"), file=sys.stderr)
    return 0


def sample(
    folder: Annotated[str, Parameter(name="MODEL")],
    /,
    *,
    n: Annotated[
        int | None,
        Parameter(name=["-n", "--number"], help="How many texts; default: 100, or all prompts."),
    ] = None,
    decoding: Annotated[
        list[str] | None,
        Parameter(
            consume_multiple=True,
            negative=(),
            help="ancestral, greedy, beams=4, or temperature=, top_k=, top_p=, typical=.",
        ),
    ] = None,
    prompts: Annotated[str | None, Parameter(help="A file with a prompt a line.")] = None,
    prompt_length: Annotated[
        int | None, Parameter(help="Words of each prompt that are kept.")
    ] = None,
    max_length: Annotated[int, Parameter(help="Tokens of a text.")] = 200,
    seed: int = 0,
    out: Annotated[
        Path | None, Parameter(help="File; a folder where there are several decodings.")
    ] = None,
    quiet: _Quiet = False,
) -> int:
    """Draw texts from a model as JSON lines; each carries its prompt and its decoding."""
    from textassay.corpus.documents import Reading
    from textassay.models.decoding import Decoding
    from textassay.models.loading import digest_of_model, load_model
    from textassay.resume import Store
    from textassay.sampling import Draw, draw_texts, read_prompts, sample_lines
    from textassay.writing import atomic_files

    chosen = [Decoding.parse(text) for text in decoding or ["ancestral"]]
    _check_numbers({"-n": n, "--max-length": max_length, "--prompt-length": prompt_length})
    if seed < 0:
        raise UsageError(f"--seed {seed}: a whole number from 0 on is needed")
    if out is not None and not out.name:
        raise UsageError(f"--out {out}: a name is missing")
    if len(set(chosen)) < len(chosen):
        raise UsageError(f"--decoding: {', '.join(map(str, chosen))}: one is named twice")
    model = load_model(folder)
    given = read_prompts(prompts, Reading(), prompt_length) if prompts else None
    number = n or (len(given) if given is not None else 100)
    if given is not None and len(given) < number:
        raise UsageError(f"-n {number}: more texts than prompts ({len(given):,})")
    store = Store(out.with_name(f".{out.name}.unfinished")) if out else None
    key = digest_of_model(folder) if store else ""
    files: dict[Path, list[bytes]] = {}
    for one in chosen:
        with progress_bar(quiet) as show:
            draw = Draw(number, one, max_length, given, seed)
            told = _teller(show, "sampling", number)
            texts = draw_texts(model, draw, store=store, key=key, progress=told)
        lines = sample_lines(texts, draw, Path(folder).name)
        if out is None:
            sys.stdout.buffer.write(b"".join(lines))
        else:
            files[out if len(chosen) == 1 else out / f"{one}.jsonl"] = lines
    if files:
        with atomic_files(list(files)) as opened:
            for file, lines in zip(opened, files.values(), strict=True):
                file.write(b"".join(lines))
    if store:
        store.clear()
    sys.stdout.flush()
    return 0


def score(
    folder: Annotated[str, Parameter(name="MODEL")],
    text: Annotated[str, Parameter(name="TEXT")],
    /,
    *,
    documents: _Documents = "line",
    prompts: Annotated[
        str | None, Parameter(help="For plain text: a file with a prompt for each document.")
    ] = None,
    context: Annotated[
        int, Parameter(help="Tokens seen before a stretch of a text longer than the window.")
    ] = 512,
    stretch: Annotated[int, Parameter(help="Tokens scored in such a stretch.")] = 1024,
    per_document: Annotated[
        Path | None, Parameter(help="Write JSON lines: document, nll, tokens, characters, bytes.")
    ] = None,
    json_lines: Annotated[
        bool, Parameter(name="--json", negative=(), help="One JSON object.")
    ] = False,
    quiet: _Quiet = False,
) -> int:
    """How probable a model finds a text: per token, document, character and byte.

    Prompts, in records or from a file, are context that is not counted.
    """
    from textassay.corpus.documents import Reading, attach_prompts
    from textassay.corpus.files import find_files
    from textassay.likelihood.scoring import score_texts
    from textassay.models.loading import load_model
    from textassay.models.prompts import spaced

    _check_numbers({"--context": context, "--stretch": stretch})
    model = load_model(folder, context=context, scored=stretch)
    read = _documents(text, documents)
    space = ""
    if prompts is not None:
        attach_prompts(read, find_files(prompts), Reading(), name=text)
        space = " "
    before = [document.prompt for document in read]
    texts = [spaced(d.prompt, d.text) if space else d.text for d in read]
    with progress_bar(quiet) as show:
        found = score_texts(model, texts, before, progress=_teller(show, "scoring", len(texts)))
    if per_document is not None:
        _write_scores(per_document, found)
    closed = bool(model.closed)
    numbers = {
        "documents": len(texts),
        "tokens": int(found.tokens.sum()),
        "nll_token": found.nll_token,
        "perplexity": found.perplexity,
        "nll_document": found.nll_document,
        # <unk> has the probability of all unknown words: not that of the text
        "bits_per_character": None if closed else found.bits_per_character,
        "bits_per_byte": None if closed else found.bits_per_byte,
    }
    if json_lines:
        whole = {k: v if v is None or math.isfinite(v) else None for k, v in numbers.items()}
        print(json.dumps({"model": Path(folder).name, "text": text, "closed": closed, **whole}))
        return 0
    units = ("", "", "nats a token", "", "nats a document", "bits", "bits")
    for (name, value), unit in zip(numbers.items(), units, strict=True):
        shown = "(closed vocabulary)" if value is None else f"{value:,.4f} {unit}".rstrip()
        print(f"{name:20s} {f'{value:,}' if isinstance(value, int) else shown}")
    return 0


def _check_numbers(numbers: dict[str, int | None]) -> None:
    for option, number in numbers.items():
        if number is not None and number < 1:
            raise UsageError(f"{option} {number}: at least 1 is needed")


def _check_place(out: Path, kind: str) -> None:
    """Refuse to write a model over another one of another kind."""
    other = None
    if (out / "config.json").exists():
        other = "a model in the format of transformers"
    elif (out / "model.json").exists():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found = json.loads((out / "model.json").read_text(encoding="utf-8")).get("model")
            other = None if found == kind else "a model of another kind"
    if other is not None:
        raise UsageError(f"--out {out}: holds {other}: choose another folder")


def _write_scores(path: Path, found: Likelihood) -> None:
    from textassay.results import encode, finite
    from textassay.writing import atomic_file

    columns = ("tokens", "characters", "bytes")
    with atomic_file(path) as file:
        for d, nll in enumerate(found.nll.tolist()):
            row = {"document": d, "nll": finite(nll)}
            file.write(encode({**row, **{name: int(getattr(found, name)[d]) for name in columns}}))


def _documents(pattern: str, documents: str) -> list[Document]:
    """The documents of a text, of which at least one holds anything."""
    from textassay.corpus.documents import MODES, Reading, read_documents
    from textassay.corpus.files import find_files

    if documents not in MODES or documents == "stream":
        raise UsageError(f"--documents {documents}: choose one of line, blank-line, file")
    read = read_documents(find_files(pattern), Reading(documents=documents))
    if not any(document.text.strip() for document in read):
        raise InputError("holds no text", file=pattern)
    return read


def _texts(pattern: str, documents: str) -> list[str]:
    """The texts of a file that hold anything."""
    return [d.text for d in _documents(pattern, documents) if d.text.strip()]


def _numbers(option: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part)
    except ValueError:
        raise UsageError(f"{option} {text}: whole numbers with commas are needed") from None


def _trained(show: Show | None) -> Callable[[Progress], None] | None:
    """What is told how a training goes."""
    if show is None:
        return None
    return lambda p: show(
        f"training, epoch {p.epoch + 1}, loss {p.loss:.3f}, {p.tokens_per_second:,.0f} tokens/s",
        p.step,
        p.steps,
    )


def _teller(show: Show | None, what: str, total: int) -> Callable[[int], None] | None:
    """What is told how many are done."""
    return None if show is None else lambda done: show(what, done, total)


COMMANDS: Sequence[Callable[..., int]] = (train, sample, score)
