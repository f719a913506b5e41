"""Input and surroundings that are against us: found by attack, kept as tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.commands.conftest import Run
from textassay.assay import run_assay
from textassay.corpus import pieces
from textassay.resume import Store
from textassay.settings import AssaySettings


def process(
    *arguments: str | bytes, shell: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own; `shell` is appended, unquoted."""
    code = "import sys; from textassay.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    env = {**os.environ, **environment}
    if shell:
        return subprocess.run(
            ["bash", "-c", f'"$@" {shell}', "bash", *command],
            capture_output=True,
            env=env,
            check=False,
        )
    return subprocess.run(command, capture_output=True, env=env, check=False)


def test_other_ngrams_are_another_piece_of_work(
    texts: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "FIRST_PIECE", 1 << 10)
    monkeypatch.setattr(pieces, "LARGEST_PIECE", 1 << 12)
    store = Store(texts / "unfinished")
    seen: list[int] = []

    def interrupt(what: str, done: int, total: int | None) -> None:
        seen.append(done)
        if what == "training text" and len(seen) == 9:
            os.kill(os.getpid(), signal.SIGINT)

    def settings(*ngrams: int) -> AssaySettings:
        return AssaySettings(
            systems=[f"m={texts / 'model.txt'}"],
            train=[str(texts / "train.txt")],
            resamples=99,
            ngrams=ngrams,
        )

    with pytest.raises(KeyboardInterrupt):
        run_assay(settings(1, 2), progress=interrupt, store=store)
    other = run_assay(settings(6, 7), store=store)
    assert other.records[1:] == run_assay(settings(6, 7)).records[1:]
    assert store.folder.exists()
    store.clear()
    assert not store.folder.exists()


@pytest.mark.parametrize(
    ("tail", "options"),
    [
        (" \xff".encode("latin-1") * 9, ["--errors", "replace"]),
        (b" \0" * 6, ["--errors", "replace"]),
        (" ﷺﷺﷺ ﷺ".encode(), ["--normalize", "nfkc"]),
        (" ｆｕｌｌ".encode(), ["--normalize", "nfkc"]),
        (" ﷺﷺﷺ ﷺ".encode(), ["--normalize", "nfkc", "--tokenizer", "treebank", "--jobs", "1"]),
    ],
)
def test_sources_in_text_that_was_changed(
    command: Run,
    tmp_path: Path,
    tail: bytes,
    options: list[str],
) -> None:
    rng = np.random.default_rng(5)
    lines = [" ".join(f"word{w}" for w in rng.integers(0, 9000, 14)) for _ in range(9000)]
    (tmp_path / "t.txt").write_bytes(b"".join(line.encode() + tail + b"\n" for line in lines))
    chosen = rng.choice(9000, 60, replace=False)
    (tmp_path / "m.txt").write_text("".join(lines[k] + "\n" for k in chosen))
    code, out, _ = command(
        "novelty",
        f"m={tmp_path / 'm.txt'}",
        "--train",
        tmp_path / "t.txt",
        "--json",
        "--resamples",
        99,
        "--examples",
        60,
        *options,
    )
    assert code == 0
    examples = [r for r in map(json.loads, out.splitlines()) if r["kind"] == "example"]
    assert len(examples) == 60
    for example in examples:
        assert example["source_document"] == chosen[int(example["document"])]
        assert example["source_text"] == example["text"]
        assert example["source_byte"] is None  # no byte of the file can be named


@pytest.mark.parametrize("option", ["--train", "--human"])
def test_options_without_a_value(command: Run, texts: Path, option: str) -> None:
    code, _, err = command("novelty", f"m={texts / 'model.txt'}", option)
    assert code == 2
    assert option in err


def test_names_are_no_markup(command: Run, texts: Path) -> None:
    code, table, _ = command(
        "novelty",
        f"gpt[red]={texts / 'model.txt'}",
        f":smile:={texts / 'human.txt'}",
        "--resamples",
        99,
    )
    assert code == 0
    assert "gpt[red]" in table
    assert ":smile:" in table


def test_tokens_to_a_pipe(texts: Path) -> None:
    fifo = texts / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE)
    done = process(
        "novelty",
        f"m={texts / 'model.txt'}",
        "--quiet",
        "--resamples",
        "99",
        "--per-token",
        str(fifo),
    )
    assert done.returncode == 0, done.stderr
    out, _ = reader.communicate(timeout=60)
    assert len(out.splitlines()) == 200
    assert fifo.is_fifo()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[novelty]\nseed = 3\n", "no option 'novelty'"),
        ("seed = 1.5\n", "a whole number is needed"),
        ('json = "yes"\n', "true or false is needed"),
        ("train = [1, 2]\n", "a list of strings is needed"),
        ('config = "other.toml"\n', "no option 'config'"),
    ],
)
def test_configs_that_would_be_misread(
    command: Run,
    texts: Path,
    content: str,
    message: str,
) -> None:
    (texts / "c.toml").write_text(content)
    code, _, err = command("novelty", f"m={texts / 'model.txt'}", "--config", texts / "c.toml")
    assert (code, message in err) == (2, True), err


def test_names_that_are_not_utf8(texts: Path) -> None:
    name = os.fsencode(texts) + b"/m\xff.txt"
    Path(os.fsdecode(name)).write_text("a b c\n")
    done = process(
        b"novelty",
        b"m=" + name,
        b"--out",
        os.fsencode(texts / "out"),
        b"--json",
        b"--resamples",
        b"99",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["inputs"][0]["file"].endswith("m\ufffd.txt")
    done = process(
        "novelty", f"é={texts / 'model.txt'}", "--resamples", "99", PYTHONIOENCODING="ascii"
    )
    assert done.returncode == 0, done.stderr
    assert b"\\xe9" in done.stdout


def test_a_damaged_kernel_cache_is_made_anew(texts: Path) -> None:
    cache = {"TEXTASSAY_CACHE": str(texts / "cache")}
    arguments = ("novelty", f"m={texts / 'model.txt'}", "--quiet", "--resamples", "99")
    assert process(*arguments, **cache).returncode == 0
    damaged = list((texts / "cache").rglob("*.nbi"))
    assert damaged
    for number, path in enumerate(damaged):
        path.write_bytes(path.read_bytes()[: 10 * (number % 2)])
    done = process(*arguments, **cache)
    assert done.returncode == 0, done.stderr
    assert process(*arguments, **cache).stderr == b""


@pytest.mark.parametrize("shell", [">/dev/full", ">&-", "2>&-", "2>/dev/full", "<&-", "| head -1"])
def test_streams_that_do_not_work(texts: Path, shell: str) -> None:
    done = process("novelty", f"m={texts / 'model.txt'}", "--resamples", "99", shell=shell)
    assert b"Traceback" not in done.stderr
    assert done.returncode == (2 if shell == ">/dev/full" else 0)
    if shell == ">/dev/full":
        assert b"the output cannot be written: No space left" in done.stderr


def test_escapes_in_what_was_typed(texts: Path) -> None:
    for arguments in (["novelty", f"m={texts / 'model.txt'}", "--bog\x1b[31m"], ["f\x1b[31mly"]):
        done = process(*arguments)
        assert done.returncode == 2
        assert b"\x1b" not in done.stderr


def test_one_document_a_side(command: Run, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("one two three\n")
    (tmp_path / "two.txt").write_text("two three four five\n")
    for mode in ("line", "file", "stream"):
        code, _, err = command(
            "novelty",
            f"m={tmp_path / 'one.txt'}",
            "--human",
            tmp_path / "two.txt",
            "--train",
            tmp_path / "one.txt",
            "--documents",
            mode,
            "--resamples",
            99,
        )
        assert (code, err) == (0, "")


def test_human_text_that_is_the_training_text(command: Run, texts: Path) -> None:
    code, table, err = command(
        "novelty",
        f"m={texts / 'model.txt'}",
        "--human",
        texts / "train.txt",
        "--train",
        texts / "train.txt",
        "--resamples",
        99,
    )
    assert (code, err) == (0, "")
    assert "nothing is left without them" in table
    assert "nan" not in table


def test_training_text_without_a_token(command: Run, texts: Path) -> None:
    (texts / "blank.txt").write_text("\n \n")
    code, table, _ = command(
        "novelty", f"m={texts / 'model.txt'}", "--train", texts / "blank.txt", "--resamples", 99
    )
    assert code == 0
    assert "the training text holds no token" in table


def test_prompts_and_samples_cut_at_a_string(command: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("one<|end|>two<|end|>three")
    (tmp_path / "p.txt").write_text("a\nb\nc\n")
    code, _, _ = command(
        "novelty",
        f"m={tmp_path / 's.txt'}",
        "--split-on",
        "<|end|>",
        "--prompts",
        tmp_path / "p.txt",
        "--resamples",
        99,
    )
    assert code == 0


def test_what_an_archive_unpacks_to_is_bounded(tmp_path: Path) -> None:
    import zlib

    import zstandard

    from textassay.corpus.files import byte_chunks, find_files

    packer = zlib.compressobj(9, wbits=31)
    with (tmp_path / "b.txt.gz").open("wb") as file:
        for _ in range(50):
            file.write(packer.compress(b"a b c " * (1 << 20)))
        file.write(packer.flush())
    (tmp_path / "b.txt.zst").write_bytes(zstandard.compress(b"a b c " * (1 << 25), 19))
    for name in ("b.txt.gz", "b.txt.zst"):
        (found,) = find_files(str(tmp_path / name))
        assert max(map(len, byte_chunks(found))) <= 1 << 18


def test_long_names(command: Run) -> None:
    code, _, err = command("novelty", "m=" + "x" * 300)
    assert (code, "File name too long" in err) == (2, True)


@pytest.mark.parametrize(
    "line",
    [
        '{"kind":"foo", broken',
        '{"kind":"measurement","measure":5, broken',
        '{"kind":"measurement","measure":"m","system":"s","value":1e999,"signature":"m"}',
        "[" * 50_000,
    ],
)
def test_validate_of_broken_lines(command: Run, tmp_path: Path, line: str) -> None:
    (tmp_path / "r.jsonl").write_text(line + "\n")
    code, _, err = command("validate", tmp_path / "r.jsonl")
    assert (code, "r.jsonl, line 1: is " in err) == (2, True), err
