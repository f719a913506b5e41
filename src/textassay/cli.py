"""The command line. It parses, calls one function and prints; nothing is computed here."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import App, Parameter

from textassay import __version__
from textassay.errors import TextassayError, UsageError

if TYPE_CHECKING:
    from textassay.assay import Assay

app = App(
    name="textassay",
    version=__version__,
    help="Is a language model's text as natural, varied and new as people's?",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)

_Files = Parameter(consume_multiple=True, negative=())


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Options of all commands that compare texts."""

    human: Annotated[list[str] | None, _Files] = None
    "Human text, [NAME=]FILE; several for a between-source comparison."
    train: Annotated[list[str] | None, _Files] = None
    "Training text: files, folders, globs, or - for standard input."
    train_role: str = "full"
    "What it is: full, sample (copying is a lower bound), or reference (not the training text)."
    prompts: str | None = None
    "For plain text: a file with a prompt for each generated document."
    human_prompts: str | None = None
    "The same for the human text."
    tokenizer: str = "words"
    "words, bare-words, whitespace, characters, treebank, moses:LANG, hf:PATH, or ids."
    documents: str = "line"
    "What a document of generated and human text is: line, blank-line, file, or stream."
    train_documents: str = "line"
    "The same for training text."
    newlines: str | None = None
    "What a line end inside a document is: space, or a token; stream makes it <eos>."
    newline_token: int | None = None
    "For ready ids: the id that ends a document."
    normalize: str | None = None
    "nfc, nfkc, or casefold."
    errors: str = "strict"
    "Invalid UTF-8: strict, or replace."
    split_on: str | None = None
    "A string that separates samples inside a text, such as <|endoftext|>."
    text_field: str = "text"
    "The field of records that holds the text."
    prompt_field: str = "prompt"
    "The field of records that holds the prompt."
    id_type: str = "uint16"
    "Numbers in raw .bin files: uint16, or uint32."
    ngrams: str = "1-10"
    "Sizes n of n-grams: 1-10, or 2,4,8."
    near_verbatim: Annotated[bool, Parameter(negative=())] = False
    "Also look for copies but for case and punctuation (reads the training text once more)."
    random_ngrams: int = 0
    "Also count so many random 100-grams of the training text, beside copied ones (once more)."
    examples: int = 20
    "Passages listed for each system beside all of 100 tokens."
    unit: str | None = None
    "Resampling unit: document, prompt, or source; default: what documents share."
    protocol: str = "equal"
    "equal (sizes), or published (full size, as in older tables)."
    margin: float | None = None
    "Distances up to this count as none, instead of the human text's own."
    resamples: int = 1999
    "Bootstrap resamples and permutations."
    seed: int = 0
    "Everything random depends on it alone."
    jobs: int | None = None
    "Threads or processes; default: all cores. The results do not depend on it."
    config: str | None = None
    "A TOML file with options under these names."
    json: Annotated[bool, Parameter(negative=())] = False
    "Print records to standard output, one JSON object a line."
    quiet: Annotated[bool, Parameter(negative=())] = False
    "No progress and no table."


def _settings(systems: Sequence[str], options: Options) -> Any:
    from textassay.settings import AssaySettings

    chosen = {k: v for k, v in asdict(options).items() if k not in ("config", "json", "quiet")}
    for name in ("human", "train"):
        chosen[name] = tuple(chosen[name] or ())
    chosen["ngrams"] = _parse_ngrams(options.ngrams)
    return AssaySettings(systems=tuple(systems), **chosen)


def _parse_ngrams(text: str) -> tuple[int, ...]:
    sizes: set[int] = set()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            sizes.update(range(int(first), int(last if dash else first) + 1))
    except ValueError:
        raise UsageError(f"--ngrams {text}: write 1-10, or 2,4,8") from None
    return tuple(sorted(sizes))


@app.command
def run(
    *systems: Annotated[str, Parameter(name="NAME=GENERATED", required=True)],
    out: Annotated[Path, Parameter(help="Folder for results.jsonl and documents.jsonl.zst.")],
    options: Options = Options(),
) -> int:
    """Compare generated texts with human and training text, by every family of measures."""
    from textassay.resume import Store

    _check_writable(out)
    assay = _assay(systems, options, Store(out / ".unfinished"))
    assay.write(out)
    _show(assay, options)
    if not options.quiet:
        print(f"written: {out / 'results.jsonl'}, {out / 'documents.jsonl.zst'}", file=sys.stderr)
    return 0


@app.command
def novelty(
    *systems: Annotated[str, Parameter(name="NAME=FILE", required=True)],
    per_token: Annotated[
        str | None,
        Parameter(help="Write JSON lines: system, document, tokens, training, context."),
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="Folder for results.jsonl and documents.jsonl.zst.")
    ] = None,
    options: Options = Options(),
) -> int:
    """Is the text new, or copied from the training text or from its own context?"""
    for place in (out, Path(per_token).parent if per_token else None):
        if place is not None:
            _check_writable(place)
    assay = _assay(systems, options, None)
    if per_token:
        _write_tokens(assay, Path(per_token))
    if out is not None:
        assay.write(out)
    _show(assay, options)
    return 0


@app.command
def validate(file: Annotated[str, Parameter(name="FILE")], /) -> int:
    """Check a file of records, or a folder that holds results.jsonl."""
    from collections import Counter

    from textassay.results import read_results

    kinds = Counter(type(record).__struct_config__.tag for record in read_results(file))
    print(f"{file}: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()))
    return 0


def _assay(systems: Sequence[str], options: Options, store: Any) -> Assay:
    from textassay.assay import run_assay

    command = shlex.join(["textassay", *sys.argv[1:]])
    with _progress(options) as progress:
        return run_assay(
            _settings(systems, options), command=command, progress=progress, store=store
        )


@contextlib.contextmanager
def _progress(options: Options) -> Iterator[Any]:
    if options.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=None)

        def show(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield show


def _show(assay: Assay, options: Options) -> None:
    if options.json:
        from textassay.results import encode

        for record in assay.records:
            sys.stdout.buffer.write(encode(record))
        sys.stdout.buffer.flush()
    elif not options.quiet:
        from rich.console import Console

        from textassay.report.terminal import print_results

        # in a pipe there is no width to fit
        print_results(assay.records, Console(width=None if sys.stdout.isatty() else 160))


def _write_tokens(assay: Assay, path: Path) -> None:
    import msgspec

    from textassay.novelty.measure import token_lines
    from textassay.results import atomic_file

    with atomic_file(path) as file:
        for line in token_lines(assay.matches, assay.names):
            file.write(msgspec.json.encode(line) + b"\n")


def _check_writable(folder: Path) -> None:
    """Fail before the work, not behind it."""
    from textassay.results import check_writable

    check_writable(folder)


def _config_path(arguments: Sequence[str]) -> str | None:
    for position, argument in enumerate(arguments):
        if argument == "--":
            return None
        if argument == "--config":
            if position + 1 == len(arguments):
                raise UsageError("--config: a file is missing")
            return arguments[position + 1]
        if argument.startswith("--config="):
            return argument.partition("=")[2]
    return None


def _use_config(path: str | None) -> None:
    app.config = ()
    if path is None:
        return
    import tomllib

    try:
        with open(path, "rb") as file:
            tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from None
    app.config = (cyclopts.config.Toml(path, must_exist=True, use_commands_as_keys=False),)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 a fault of ours, 2 misuse or bad input.

    130 stands for Ctrl-C, 141 for a reader of the output that went away.
    """
    # a lone hyphen is a file here, not an option
    given = sys.argv[1:] if arguments is None else arguments
    arguments = ["/dev/stdin" if argument == "-" else argument for argument in given]
    try:
        _use_config(_config_path(arguments))
        result = app(
            arguments, exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
        return int(result or 0)
    except cyclopts.CycloptsError as error:
        print(f"textassay: {error}", file=sys.stderr)
        print("textassay: --help lists commands and options", file=sys.stderr)
        return 2
    except TextassayError as error:
        print(f"textassay: {_safe(str(error))}", file=sys.stderr)
        return error.exit_code
    except MemoryError:
        print("textassay: not enough memory for this input", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("textassay: interrupted; the same command goes on where it can", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # a later flush of standard output at exit must not complain once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + getattr(signal, "SIGPIPE", 13)


def _safe(message: str) -> str:
    from textassay.report.terminal import printable

    return printable(message)


if __name__ == "__main__":
    sys.exit(main())
