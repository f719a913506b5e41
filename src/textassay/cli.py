"""The command line. It parses, calls one function and prints; nothing is computed here."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
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
        if chosen[name] == []:
            raise UsageError(f"--{name}: a file is missing behind it")
        chosen[name] = tuple(chosen[name] or ())
    chosen["ngrams"] = _parse_ngrams(options.ngrams)
    return AssaySettings(systems=tuple(systems), **chosen)


def _parse_ngrams(text: str) -> tuple[int, ...]:
    sizes: set[int] = set()
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            begin, end = int(first), int(last if dash else first)
            if not 1 <= begin <= end <= 1000:
                raise UsageError(f"--ngrams {text}: whole numbers from 1 to 1,000 are needed")
            sizes.update(range(begin, end + 1))
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
    from textassay.writing import writable_folder

    settings = _settings(systems, options)
    store = Store(out / ".unfinished")
    with writable_folder(out):
        assay = _assay(settings, options, store)
        assay.write(out)
        store.clear()
    _show(assay, options)
    if not options.quiet:
        written = f"written: {out / 'results.jsonl'}, {out / 'documents.jsonl.zst'}"
        print(_safe(written), file=sys.stderr)
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
    """Is the text new, or copied from the training text or from its own context?

    docs/measures.md defines every measure.
    """
    from textassay.writing import writable_folder

    settings = _settings(systems, options)
    with contextlib.ExitStack() as places:
        if per_token == "":
            raise UsageError("--per-token: a file is missing behind it")
        for place in (out, Path(per_token).parent if per_token else None):
            if place is not None:
                places.enter_context(writable_folder(place))
        assay = _assay(settings, options, None)
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
    print(_safe(f"{file}: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())))
    return 0


def _assay(settings: Any, options: Options, store: Any) -> Assay:
    from textassay.assay import run_assay

    command = shlex.join(["textassay", *sys.argv[1:]])
    with _progress(options) as progress:
        return run_assay(settings, command=command, progress=progress, store=store)


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
            bar.update(task, description=_safe(what), completed=done, total=total)

        yield show


def _show(assay: Assay, options: Options) -> None:
    if options.json:
        from textassay.results import encode

        for record in assay.records:
            sys.stdout.buffer.write(encode(record))
        sys.stdout.buffer.flush()
    elif not options.quiet:
        from textassay.report.terminal import make_console, print_results

        print_results(assay.records, make_console())


def _write_tokens(assay: Assay, path: Path) -> None:
    from textassay.novelty.measure import token_lines
    from textassay.results import encode
    from textassay.writing import atomic_file

    with atomic_file(path) as file:
        for line in token_lines(assay.matches, assay.names):
            file.write(encode(line))


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
            found = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from None
    kinds = {field.name: str(field.type) for field in fields(Options) if field.name != "config"}
    for key, value in found.items():
        kind = kinds.get(key.replace("-", "_"))
        if kind is None:
            raise UsageError(f"{path}: there is no option {key!r}")
        wanted = next(name for name in _CONFIG_TYPES if name in kind)
        values = value if wanted == "list" and isinstance(value, list) else [value]
        if not all(type(v) in _CONFIG_TYPES[wanted] for v in values):
            raise UsageError(f"{path}: {key} = {value!r}: {_CONFIG_WORDS[wanted]} is needed")
    app.config = (cyclopts.config.Toml(path, must_exist=True, use_commands_as_keys=False),)


_CONFIG_TYPES: dict[str, tuple[type, ...]] = {
    "list": (str,),
    "bool": (bool,),
    "float": (float, int),
    "int": (int,),
    "str": (str,),
}
_CONFIG_WORDS = {
    "list": "a list of strings",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "str": "a string",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 a fault of ours, 2 misuse or bad input.

    130 stands for Ctrl-C, 141 for a reader of the output that went away.
    """
    _open_streams()
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
        return _fail(f"{error}\ntextassay: --help lists commands and options", 2)
    except TextassayError as error:
        return _fail(str(error), error.exit_code)
    except MemoryError:
        return _fail("not enough memory for this input", 2)
    except KeyboardInterrupt:
        return _fail("interrupted; the same command goes on where it can", 130)
    except BrokenPipeError:
        _silence(sys.stdout)
        return 128 + getattr(signal, "SIGPIPE", 13)
    except OSError as error:
        if error.filename is not None:
            raise
        _silence(sys.stdout)
        return _fail(f"the output cannot be written: {error.strerror or error}", 2)


def _open_streams() -> None:
    """Give closed standard streams a place, and let no encoding stop a message."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence(stream: Any) -> None:
    """Let the flush at exit not complain once more."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(message: str, code: int) -> int:
    try:
        for line in message.split("\n"):
            print(
                line if line.startswith("textassay:") else f"textassay: {_safe(line)}",
                file=sys.stderr,
            )
    except OSError:
        _silence(sys.stderr)
    return code


def _safe(message: str) -> str:
    from textassay.report.terminal import printable

    return printable(message)


if __name__ == "__main__":
    sys.exit(main())
