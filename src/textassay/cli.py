"""The command line. It parses, calls one function and prints; nothing is computed here."""

from __future__ import annotations

import contextlib
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import cyclopts
from cyclopts import App, Parameter

from textassay import __version__
from textassay.config_file import config_path, read_config
from textassay.errors import TextassayError, UsageError
from textassay.model_commands import COMMANDS
from textassay.options import (
    COMMON,
    LIKELIHOOD,
    NOVELTY,
    OVERLAP,
    SAMPLING,
    TENDENCIES,
    LikelihoodChoices,
    NoveltyChoices,
    Options,
    OverlapChoices,
    SamplingChoices,
    TendencyChoices,
    option_kinds,
)
from textassay.progress import progress_bar
from textassay.streams import fail, open_streams, safe, silence

if TYPE_CHECKING:
    from textassay.assay import Assay

app = App(
    name="textassay",
    version=__version__,
    help="Is a language model's text as natural, varied and new as people's?",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
)
for command in COMMANDS:
    app.command(command)


def _settings(
    systems: Sequence[str],
    options: Options,
    novelty: NoveltyChoices | None = None,
    tendencies: TendencyChoices | None = None,
    overlap: OverlapChoices | None = None,
    likelihood: LikelihoodChoices | None = None,
    sampling: SamplingChoices | None = None,
) -> Any:
    """Settings for the families whose options are given."""
    from textassay.settings import AssaySettings

    chosen = {k: v for k, v in asdict(options).items() if k not in ("config", "json", "quiet")}
    if tendencies is not None:
        chosen.update(asdict(tendencies))
    if overlap is not None:
        chosen.update(asdict(overlap))
    if novelty is not None:
        chosen.update(asdict(novelty), ngrams=_parse_ngrams(novelty.ngrams))
    if likelihood is not None:
        chosen.update(asdict(likelihood))
        likelihood = likelihood if likelihood.scorer is not None else None
    if sampling is not None:
        chosen.update(asdict(sampling))
        from textassay.models.loading import check_model
        from textassay.settings import parse_named

        sampled = chosen.pop("sample")
        if sampled is not None and not all(sampled or [""]):
            raise UsageError("--sample: a model is missing behind it")
        for argument in sampled or ():
            check_model(parse_named(argument)[1])
        systems = [*systems, *(sampled or ())]
    families = {
        "tendencies": tendencies,
        "overlap": overlap,
        "likelihood": likelihood,
        "novelty": novelty,
    }
    chosen["families"] = tuple(name for name, given in families.items() if given is not None)
    missing = {"margin": "a number", "decoding": "a decoding"}
    for name in ("human", "train", "margin", "embeddings", "decoding", "scorer_train"):
        if chosen.get(name) == []:
            option = name.replace("_", "-")
            raise UsageError(f"--{option}: {missing.get(name, 'a file')} is missing behind it")
        chosen[name] = tuple(chosen.get(name) or ())
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
    *systems: Annotated[str, Parameter(name="NAME=GENERATED", help="Texts, or models.")],
    out: Annotated[Path, Parameter(help="Folder for the page, the figures and the records.")],
    options: Options = COMMON,
    novelty_choices: NoveltyChoices = NOVELTY,
    tendency_choices: TendencyChoices = TENDENCIES,
    overlap_choices: OverlapChoices = OVERLAP,
    likelihood_choices: LikelihoodChoices = LIKELIHOOD,
    sampling_choices: SamplingChoices = SAMPLING,
) -> int:
    """Compare generated texts with human and training text, by every family of measures.

    A model may stand wherever a text may: it is sampled into the folder 'samples'.
    """
    from textassay.resume import Store
    from textassay.sampling import sampled_texts
    from textassay.writing import writable_folder

    settings = _settings(
        systems,
        options,
        novelty_choices,
        tendency_choices,
        overlap_choices,
        likelihood_choices,
        sampling_choices,
    )
    store = Store(out / ".unfinished")
    with writable_folder(out):
        with progress_bar(options.quiet) as progress:
            drawn = sampled_texts(settings, out / "samples", store=store, progress=progress)
        assay = _assay(settings, options, store, drawn)
        assay.write(out)
        _write_report(assay.records, out)
        store.clear()
    _show(assay, options)
    _say_written(out, options)
    return 0


@app.command
def demo(
    *,
    out: Annotated[Path, Parameter(help="Folder for texts, results and the page.")] = Path(
        "textassay-demo"
    ),
    seed: Annotated[int, Parameter(help="Everything random depends on it alone.")] = 0,
    jobs: Annotated[int | None, Parameter(help="Threads; default: all cores.")] = None,
    quiet: Annotated[bool, Parameter(negative=(), help="No progress and no table.")] = False,
) -> int:
    """Train two n-gram models on Python's documentation, sample them, and assay the samples."""
    from textassay.demo import make_demo
    from textassay.writing import writable_folder

    options = Options(seed=seed, jobs=jobs, quiet=quiet)
    with writable_folder(out):
        made = make_demo(out / "texts", seed)
        chosen = replace(options, human=[str(made.human)], train=[str(made.train)])
        systems = [f"{name}={path}" for name, path in made.systems.items()]
        settings = _settings(systems, chosen, NOVELTY, TENDENCIES, OVERLAP)
        assay = _assay(settings, chosen, None)
        assay.write(out)
        _write_report(assay.records, out)
    _show(assay, chosen)
    _say_written(out, chosen)
    return 0


@app.command
def report(folder: Annotated[Path, Parameter(name="DIR")], /) -> int:
    """Make the page and the figures anew from the records in a folder."""
    from textassay.results import read_results

    _write_report(read_results(folder), folder)
    print(safe(f"written: {folder / 'report.html'}"))
    return 0


def _write_report(records: Sequence[Any], folder: Path) -> None:
    from textassay.report.figures import write_figures
    from textassay.report.make_figures import make_figures
    from textassay.report.page import write_page

    write_page(records, folder)
    write_figures(make_figures(records), folder / "figures")


def _say_written(out: Path, options: Options) -> None:
    if not options.quiet:
        written = f"written: {out / 'report.html'}, {out / 'results.jsonl'} and more in {out}"
        print(safe(written), file=sys.stderr)


@app.command
def novelty(
    *systems: Annotated[str, Parameter(name="NAME=FILE", required=True)],
    per_token: Annotated[
        str | None,
        Parameter(
            help="Write JSON lines: system, document, n_prompt_tokens, tokens, training, context."
        ),
    ] = None,
    out: Annotated[
        Path | None, Parameter(help="Folder for results.jsonl and documents.jsonl.zst.")
    ] = None,
    options: Options = COMMON,
    choices: NoveltyChoices = NOVELTY,
) -> int:
    """Is the text new, or copied from the training text or from its own context?

    docs/measures.md defines every measure.
    """
    from textassay.resume import Store
    from textassay.writing import writable_folder

    settings = _settings(systems, options, novelty=choices)
    with contextlib.ExitStack() as places:
        if per_token == "":
            raise UsageError("--per-token: a file is missing behind it")
        for place in (out, Path(per_token).parent if per_token else None):
            if place is not None:
                places.enter_context(writable_folder(place))
        store = None if out is None else Store(out / ".unfinished")
        assay = _assay(settings, options, store)
        if per_token:
            _write_tokens(assay, Path(per_token))
        if out is not None:
            assay.write(out)
        if store is not None:
            store.clear()
    _show(assay, options)
    return 0


@app.command
def tendencies(
    *systems: Annotated[str, Parameter(name="NAME=FILE", required=True)],
    out: Annotated[
        Path | None, Parameter(help="Folder for results.jsonl and documents.jsonl.zst.")
    ] = None,
    options: Options = COMMON,
    choices: TendencyChoices = TENDENCIES,
) -> int:
    """Is the text natural: does it show the statistical tendencies of people's text?

    Ranks (Zipf), types by length (Heaps), unigrams, length, stopwords, symbols,
    each compared with human text at equal sizes. docs/measures.md defines all.
    """
    return _measure(_settings(systems, options, tendencies=choices), options, out)


@app.command
def overlap(
    *systems: Annotated[str, Parameter(name="NAME=FILE", required=True)],
    out: Annotated[
        Path | None, Parameter(help="Folder for results.jsonl and documents.jsonl.zst.")
    ] = None,
    options: Options = COMMON,
    choices: OverlapChoices = OVERLAP,
) -> int:
    """Is the text good (like people's), and is it varied (unlike itself)?

    BLEU, Self-BLEU, distinct n-grams and documents, repetition, compression,
    each compared with human text at equal sizes. docs/measures.md defines all.
    """
    return _measure(_settings(systems, options, overlap=choices), options, out)


def _measure(settings: Any, options: Options, out: Path | None) -> int:
    """Assay, write records if there is a folder for them, and print."""
    from textassay.writing import writable_folder

    with contextlib.ExitStack() as places:
        if out is not None:
            places.enter_context(writable_folder(out))
        assay = _assay(settings, options, None)
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
    listed = (
        f"{count:,} {kind}{'s' if count != 1 and kind != 'series' else ''}"
        for kind, count in kinds.items()
    )
    print(safe(f"{file}: {', '.join(listed)}"))
    return 0


def _assay(settings: Any, options: Options, store: Any, drawn: Any = None) -> Assay:
    from textassay.assay import run_assay

    command = shlex.join(["textassay", *sys.argv[1:]])
    with progress_bar(options.quiet) as progress:
        return run_assay(settings, command=command, progress=progress, store=store, drawn=drawn)


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

    if assay.matches is None:
        raise ValueError("tokens have scores only where novelty was measured")
    with atomic_file(path) as file:
        for line in token_lines(assay.matches, assay.names):
            file.write(encode(line))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 a fault of ours, 2 misuse or bad input.

    130 stands for Ctrl-C, 141 for a reader of the output that went away.
    """
    open_streams()
    # a lone hyphen is a file here, not an option
    given = sys.argv[1:] if arguments is None else arguments
    arguments = ["/dev/stdin" if argument == "-" else argument for argument in given]
    try:
        if "--out=" in arguments or ("--out", "") in pairwise(arguments):
            raise UsageError("--out: a name is missing behind it")
        path = config_path(arguments)
        if path is not None:
            options = read_config(path, option_kinds())
            # under each command's name: among top-level keys "train" would be taken for a command
            named = {command.__name__: options for command in (run, novelty, tendencies, overlap)}
            loaded = cyclopts.config.Dict(named, source=path)
        app.config = () if path is None else (loaded,)
        result = app(
            arguments, exit_on_error=False, print_error=False, result_action="return_value"
        )
        sys.stdout.flush()
        return int(result or 0)
    except cyclopts.CycloptsError as error:
        return fail(f"{error}\ntextassay: --help lists commands and options", 2)
    except TextassayError as error:
        return fail(str(error), error.exit_code)
    except MemoryError:
        return fail("not enough memory for this input", 2)
    except KeyboardInterrupt:
        return fail("interrupted; the same command goes on where it can", 130)
    except BrokenPipeError:
        silence(sys.stdout)
        return 128 + getattr(signal, "SIGPIPE", 13)
    except OSError as error:
        if error.filename is not None:
            raise
        silence(sys.stdout)
        return fail(f"the output cannot be written: {error.strerror or error}", 2)


if __name__ == "__main__":
    sys.exit(main())
