"""Records: strict reading, atomic writing."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path

import msgspec
import pytest

from textassay.errors import InputError, OutputError
from textassay.results import (
    SCHEMA_VERSION,
    DocumentSums,
    Example,
    Header,
    Measurement,
    Record,
    Series,
    Warn,
    encode,
    finite,
    make_signature,
    parse_signature,
    read_results,
    write_records,
)
from textassay.writing import atomic_file, writable_folder


def header(version: str = SCHEMA_VERSION) -> Header:
    return Header(
        schema_version=version,
        package_version="0",
        command="",
        created="",
        tokenizer="words",
        seed=0,
        threads=1,
        settings={},
        inputs=[],
        versions={},
    )


RECORDS: list[Record] = [
    header(),
    Measurement(measure="m.x", system="s", value=0.5, signature="m.x|tok:words"),
    Series(measure="m.x", system="s", x_label="n", y_label="y", x=[1.0, 2.0], y=[0.1, None]),
    Example(measure="m.x", system="s", document="0", text="\x1b[31m \u202e"),
    Warn(code="w", message="watch"),
]


def test_round_trip(tmp_path: Path) -> None:
    write_records({tmp_path / "results.jsonl": RECORDS})
    assert read_results(tmp_path) == RECORDS
    sums: list[Record] = [DocumentSums(system="s", id="1", group="", sums={"ngram1": 2.0})]
    write_records({tmp_path / "documents.jsonl.zst": sums})
    assert read_results(tmp_path / "documents.jsonl.zst") == sums
    assert sorted(p.name for p in tmp_path.iterdir()) == ["documents.jsonl.zst", "results.jsonl"]


def rewrite(path: Path, line: int, **changes: object) -> None:
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    lines[line].update(changes)
    path.write_text("".join(json.dumps(record) + "\n" for record in lines))


def test_unknown_fields_and_older_minor_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_records({path: RECORDS})
    rewrite(path, 0, schema_version="1.9", brand_new={"x": 1})
    rewrite(path, 1, brand_new=3)
    assert len(read_results(path)) == len(RECORDS)


@pytest.mark.parametrize(
    ("line", "changes", "message"),
    [
        (0, {"schema_version": "2.0"}, r"line 1: has schema version 2\.0, newer than"),
        (1, {"value": "high"}, r"line 2: is no measurement: .*value"),
        (1, {"value": float("nan")}, r"line 2: is not JSON"),
        (1, {"signature": "other"}, "does not begin with 'm.x'"),
        (1, {"verdict": "bad"}, "there is no verdict 'bad'"),
        (1, {"value_low": 1.0, "value_high": 0.0}, "is upside down"),
        (1, {"p_value": 1.5}, "p_value of m.x is 1.5"),
        (2, {"y": [0.1]}, "the lists of series m.x are of different lengths"),
        (3, {"kind": "poem"}, "line 4: is no poem"),
        (3, {"text": None}, "line 4: is no example"),
    ],
)
def test_bad_records(tmp_path: Path, line: int, changes: dict[str, object], message: str) -> None:
    path = tmp_path / "results.jsonl"
    write_records({path: RECORDS})
    rewrite(path, line, **changes)
    with pytest.raises(InputError, match=message):
        read_results(path)


def test_files_that_are_no_results(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("")
    with pytest.raises(InputError, match="holds no record"):
        read_results(path)
    write_records({path: RECORDS[1:]})
    with pytest.raises(InputError, match="the first record must be a header"):
        read_results(path)
    write_records({path: [header(), header()]})
    with pytest.raises(InputError, match="more than one header"):
        read_results(path)
    path.write_bytes(encode(RECORDS[0]) + encode(RECORDS[1])[:-20])
    with pytest.raises(InputError, match="line 2: is not JSON"):
        read_results(path)
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="line 1: is no record"):
        read_results(path)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("before")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device\): free some space"):
        write_records({path: RECORDS})
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["results.jsonl"]
    with pytest.raises(OutputError):
        write_records({tmp_path / "documents.jsonl.zst": [], path: RECORDS})
    assert [p.name for p in tmp_path.iterdir()] == ["results.jsonl"]


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(OutputError, match=r"file/out.*cannot be written"),
        writable_folder(tmp_path / "file" / "out"),
    ):
        pass

    def refuse(**_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with (
        pytest.raises(OutputError, match="choose a folder that you may write to"),
        writable_folder(tmp_path / "new" / "folder"),
    ):
        pass
    with pytest.raises(OutputError, match="choose a folder that you may write to"):
        write_records({tmp_path / "r.jsonl": RECORDS})
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="bytes"), atomic_file(tmp_path / "f") as file:
        file.write("half")
    assert list(tmp_path.iterdir()) == []


def test_signatures_parse_back() -> None:
    parts = {"tok": "hf:some/path", "docs": "line", "v": "0.1.0"}
    signature = make_signature("novelty.ngram4", **parts)
    assert parse_signature(signature) == {"measure": "novelty.ngram4", **parts}
    assert parse_signature(make_signature("m", tok="a|b"))["tok"] == "a/b"


def test_finite() -> None:
    assert [finite(x) for x in (1.5, None, float("nan"), float("inf"))] == [1.5, None, None, None]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    target = tmp_path / "target.jsonl"
    target.write_text("before")
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    write_records({link: RECORDS})
    assert link.is_symlink()
    assert len(read_results(target)) == len(RECORDS)
    write_records({Path(os.devnull): RECORDS})
    assert not Path(os.devnull).is_file()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="Is a directory"):
        write_records({tmp_path / "folder": RECORDS})


def test_folders_made_in_vain_are_removed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="stop"), writable_folder(tmp_path / "a" / "b"):
        raise RuntimeError("stop")
    assert list(tmp_path.iterdir()) == []
    with writable_folder(tmp_path / "a" / "b"):
        pass
    assert (tmp_path / "a" / "b").is_dir()


def test_half_characters_never_reach_a_file() -> None:
    line = encode(Warn(code="w", message="name \udcc3\udca9 and \ud800"))
    assert json.loads(line)["message"] == "name ?? and ?"
    line = encode(Warn(code="w", message="name \udcc3\udca9"))
    assert json.loads(line)["message"] == "name é"


def test_the_documentation_names_all_fields_and_warnings() -> None:
    root = Path(__file__).parents[1]
    text = (root / "docs" / "records.md").read_text(encoding="utf-8")
    for kind in (Header, Measurement, Series, Example, Warn, DocumentSums):
        for field in msgspec.structs.fields(kind):
            assert f"`{field.name}`" in text, (kind, field.name)
    sources = [path.read_text(encoding="utf-8") for path in (root / "src").rglob("*.py")]
    codes = {code for source in sources for code in re.findall(r'code="([a-z-]+)"', source)}
    assert len(codes) > 10
    for code in codes:
        assert f"`{code}`" in text, code
