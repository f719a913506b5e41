"""Reading: formats, document modes, and every way an input can be bad."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from textassay.corpus.documents import (
    MODES,
    Document,
    Reading,
    attach_prompts,
    read_documents,
)
from textassay.corpus.files import InputFile, byte_chunks, find_files
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, MissingExtraError, UsageError

lines_of = st.text(st.sampled_from("ab \t\n\r"), max_size=30)


def read(path: Path | str, **options: object) -> list[Document]:
    return read_documents(find_files(str(path)), Reading(**options))


def texts(path: Path | str, **options: object) -> list[str]:
    return [document.text for document in read(path, **options)]


@given(text=lines_of, mode=st.sampled_from(MODES))
def test_document_modes(tmp_path_factory: pytest.TempPathFactory, text: str, mode: str) -> None:
    path = tmp_path_factory.mktemp("d") / "t.txt"
    path.write_bytes(text.encode())
    expected = [naive.tokenize(d, "whitespace", None) for d in naive.documents(text, mode)]
    if not text or not expected:
        with pytest.raises(InputError, match="holds no document"):
            read(path, documents=mode)
        return
    assert [d.split() for d in texts(path, documents=mode)] == expected


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_compressions_and_marks(tmp_path: Path, ending: str) -> None:
    raw = "\ufeffone\r\ntwo é\r\n".encode()
    packed = {
        "": raw,
        # two members, as tools that append make them
        ".gz": gzip.compress(raw[:5]) + gzip.compress(raw[5:]),
        ".zst": zstandard.compress(raw[:5]) + zstandard.compress(raw[5:]),
    }[ending]
    path = tmp_path / f"t.txt{ending}"
    path.write_bytes(packed)
    assert texts(path) == ["one", "two é"]
    (file,) = find_files(str(path))
    list(byte_chunks(file))
    import hashlib

    assert file.digest == hashlib.sha256(packed).hexdigest()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_truncated_archives(tmp_path: Path, ending: str) -> None:
    raw = b"some text that goes on " * 3000
    packed = gzip.compress(raw) if ending == ".gz" else zstandard.compress(raw)
    path = tmp_path / f"t.txt{ending}"
    path.write_bytes(packed[:-9])
    with pytest.raises(InputError, match=rf"t\.txt{ending}.*truncated.*copy it again"):
        read(path)
    path.write_bytes(packed[:20] + b"\xff\xfe\x00\x01" * 10 + packed[60:])
    with pytest.raises(InputError, match=rf"t\.txt{ending}: (is not a sound|.*truncated)"):
        read(path)
    path.write_bytes(b"no archive at all")
    with pytest.raises(InputError, match="is not a sound"):
        read(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: no such file"):
        find_files("nowhere.txt")
    with pytest.raises(InputError, match="no file matches"):
        find_files(str(tmp_path / "*.txt"))
    with pytest.raises(InputError, match="the folder holds no text"):
        find_files(str(tmp_path))
    (tmp_path / "picture.png").write_bytes(b"x")
    with pytest.raises(InputError, match="the folder holds no text"):
        find_files(str(tmp_path))


def test_folders_and_globs(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl", "deep/c.txt.gz", ".hidden/d.txt", "e.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    names = [Path(file.name).name for file in find_files(str(tmp_path))]
    assert names == ["a.jsonl", "b.txt", "c.txt.gz"]
    assert [Path(f.name).name for f in find_files(str(tmp_path / "*.txt"))] == ["b.txt"]


def test_empty_files(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"t\.txt: holds no document"):
        read(path)
    stream = TokenStream([InputFile(str(path))], make_tokenizer("words"), Reading())
    with pytest.raises(InputError, match=r"t\.txt: holds no text"):
        list(stream.pieces())


@pytest.mark.parametrize("mode", ["line", "file"])
def test_invalid_utf8(tmp_path: Path, mode: str) -> None:
    raw = b"\xef\xbb\xbffine\r\n\xc3\xa9 then \xff bad\n"
    path = tmp_path / "t.txt"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=rf"byte {raw.index(0xFF)}: is not valid UTF-8 \(0xff\)"):
        read(path, documents=mode)
    found = " ".join(texts(path, documents=mode, errors="replace")).split()
    assert found == ["fine", "é", "then", "\ufffd", "bad"]


def test_invalid_utf8_in_training_text(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbf" + b"good line\n" * 200_000 + b"ab\xc3(cd\n"
    path = tmp_path / "t.txt"
    path.write_bytes(raw)
    vocabulary = Vocabulary()
    vocabulary.add(["ab", "\ufffd", "(", "cd"])
    files = [InputFile(str(path))]
    stream = TokenStream(files, make_tokenizer("words"), Reading())
    *_, last_piece = stream.pieces()
    with pytest.raises(InputError, match=rf"t\.txt, byte {raw.index(0xC3)}: is not valid UTF-8"):
        stream.encode(last_piece, vocabulary)
    stream = TokenStream(files, make_tokenizer("words"), Reading(errors="replace"))
    last = [stream.encode(piece, vocabulary).ids for piece in stream.pieces()][-1]
    assert last[-5:].tolist() == [0, 1, 2, 3, -2]


@pytest.mark.parametrize("raw", [b"\xff\xfea\x00b\x00", b"\xfe\xff\x00a\x00b"])
def test_utf16_is_recognised(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(raw)
    with pytest.raises(InputError, match="looks like UTF-16"):
        read(path)


def test_nul_bytes(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(b"one\ntw\0o\n")
    with pytest.raises(InputError, match="line 2, byte 6: holds a NUL byte"):
        read(path)
    assert texts(path, errors="replace") == ["one", "tw\ufffdo"]


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_json_lines(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "t.jsonl",
        {"text": "one\ntwo", "prompt": "p", "id": 7, "group": "g", "source": "s", "extra": [1]},
        {"text": "", "references": ["r"], "prompt": None},
    )
    first, second = read(path)
    assert (first.text, first.prompt, first.id, first.group, first.source) == (
        "one\ntwo",
        "p",
        "7",
        "g",
        "s",
    )
    assert (second.text, second.prompt, second.references) == ("", "", ("r",))
    path = write_lines(tmp_path / "u.jsonl", {"output": "x", "question": "q"})
    (document,) = read(path, text_field="output", prompt_field="question")
    assert (document.text, document.prompt) == ("x", "q")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"txt": "a"}',
            r"line 2: field 'text' is missing \(fields with text: txt\); --text-field",
        ),
        ('{"text": 3}', r"line 2: field 'text' is a number, not a string"),
        ('{"text": null}', r"line 2: field 'text' is null, not a string"),
        ('{"text": ["a"]}', r"line 2: field 'text' is a list, not a string"),
        ('{"text": "a", "references": [1]}', r"line 2: field 'references' must be a list of str"),
        ('["a"]', r"line 2: is a list, not an object"),
        ('{"text": "a"', r"line 2: is not JSON"),
        ('{"text": "\\ud800"}', r"line 2: holds a lone surrogate \(U\+D800\)"),
        ("[" * 100_000, r"line 2: is not JSON"),
    ],
)
def test_bad_json_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "fine"}\n' + line + "\n")
    with pytest.raises(InputError, match=message):
        read(path)


def test_what_json_can_spell(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a\\u0000b"}\n\n{"text": "c\\ud83d\\ude00"}\n')
    assert texts(path) == ["a\ufffdb", "c😀"]
    path.write_text('{"text": "a\\ud800b"}\n')
    assert texts(path, errors="replace") == ["a\ufffdb"]


def test_logged_samples_of_the_harness(tmp_path: Path) -> None:
    def sample(number: int, responses: list[object], kind: str = "none") -> dict[str, object]:
        return {
            "doc_id": number,
            "doc": {"question": "?"},
            "arguments": {"gen_args_0": {"arg_0": f"prompt {number}", "arg_1": {"until": []}}},
            "resps": responses,
            "filtered_resps": ["x"],
            "filter": kind,
        }

    path = write_lines(
        tmp_path / "samples_task.jsonl",
        sample(0, [["zero"]], "strict"),
        sample(1, [["one", "uno"]], "strict"),
        sample(0, [["zero"]], "flexible"),
    )
    documents = read(path)
    assert [(d.text, d.prompt, d.id) for d in documents] == [
        ("zero", "prompt 0", "0"),
        ("one", "prompt 1", "1.0"),
        ("uno", "prompt 1", "1.1"),
    ]
    assert documents[1].group == documents[2].group == "1"
    path = write_lines(tmp_path / "scores.jsonl", sample(0, [[["-1.5", "False"]]]))
    with pytest.raises(InputError, match="line 1: the logged responses are no generated text"):
        read(path)


def test_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,text\n1,"one, ""two""\nthree"\n2,four\n')
    assert [(d.id, d.text) for d in read(path)] == [("1", 'one, "two"\nthree'), ("2", "four")]
    path.write_text("id,body\n1,a\n")
    with pytest.raises(InputError, match=r"line 1: has no column 'text' \(columns: id, body\)"):
        read(path)
    path.write_text("id,text\n1\n")
    with pytest.raises(InputError, match="line 2: has 1 cells where the header has 2"):
        read(path)
    path.write_text('id,text\n1,"a\n')
    with pytest.raises(InputError, match="line 2: is not a sound table"):
        read(path)
    other = tmp_path / "t.tsv"
    other.write_text("text\tid\na b\t9\n")
    assert [(d.id, d.text) for d in read(other)] == [("9", "a b")]


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    table = pyarrow.table({"text": ["a", "b"], "prompt": ["p", None], "n": [1, 2]})
    pyarrow.parquet.write_table(table, path)
    assert [(d.text, d.prompt) for d in read(path)] == [("a", "p"), ("b", "")]
    with pytest.raises(InputError, match="has no column 'body'"):
        read(path, text_field="body")
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match="is not a sound Parquet file"):
        read(path)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"textassay\[data\]"):
        read(path)


def test_split_on(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("<|end|>one\nmore<|end|>two<|end|>\n")
    assert texts(path, split_on="<|end|>") == ["one\nmore", "two"]
    with pytest.raises(UsageError, match="--split-on"):
        read(path, split_on="")


def test_prompts(tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("p\nq\n")
    documents = [Document("a"), Document("b")]
    attach_prompts(documents, find_files(str(path)), Reading(), name="gpt")
    assert [d.prompt for d in documents] == ["p", "q"]
    for wrong in ([Document("a")], [Document("a")] * 3):
        with pytest.raises(InputError, match=rf"prompts.txt: holds 2 prompts for the {len(wrong)}"):
            attach_prompts(wrong, find_files(str(path)), Reading(), name="gpt")
    with pytest.raises(InputError, match="gpt has prompts of its own"):
        attach_prompts(documents, find_files(str(path)), Reading(), name="gpt")


def test_stream_joins_records_and_refuses_prompts(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", {"text": "a"}, {"text": "b"})
    assert texts(path, documents="stream") == ["a\nb\n"]
    path = write_lines(tmp_path / "u.jsonl", {"text": "a", "prompt": "p"})
    with pytest.raises(UsageError, match="stream joins all text"):
        read(path, documents="stream")


def test_normalization(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("Ünï ﬁ\n")
    assert texts(path, normalize="casefold") == ["ünï fi"]
    assert texts(path, normalize="nfkc") == ["Ünï fi"]
    vocabulary = Vocabulary()
    vocabulary.add(["ünï", "fi"])
    stream = TokenStream(
        [InputFile(str(path))], make_tokenizer("words"), Reading(normalize="casefold")
    )
    (piece,) = stream.pieces()
    assert stream.encode(piece, vocabulary).ids.tolist() == [0, 1, -2]


def ids_of(file: Path, **options: object) -> list[list[int]]:
    vocabulary = Vocabulary()
    vocabulary.add(map(str, range(70_100)))
    reading = Reading(**options)
    stream = TokenStream(find_files(str(file)), make_tokenizer("ids"), reading)
    flat = [i for piece in stream.pieces() for i in stream.encode(piece, vocabulary).ids.tolist()]
    documents: list[list[int]] = [[]]
    for token in flat:
        if token == -2:
            documents.append([])
        else:
            documents[-1].append(token)
    assert documents.pop() == []
    held = [[int(word) for word in text.split()] for text in texts(file, **options)]
    if options.get("documents") != "stream":
        assert held == documents
    return documents


def test_ready_ids(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    np.save(path, np.array([1, 70_000, 3, 0, 5], np.int64))
    assert ids_of(path) == [[1, 70_000, 3, 0, 5]]
    assert ids_of(path, document_end=0) == [[1, 70_000, 3], [5]]
    np.save(path, np.array([[1, 2], [3, 4]], np.int32))
    assert ids_of(path) == [[1, 2], [3, 4]]
    path = tmp_path / "t.bin"
    np.array([9, 8, 7], np.uint16).tofile(path)
    assert ids_of(path) == [[9, 8, 7]]
    np.array([70_001, 8], np.uint32).tofile(path)
    assert ids_of(path, id_type="uint32") == [[70_001, 8]]
    np.array([1, 2, 3, 4, 5], np.int32).tofile(path)
    index = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, 4, 3, 3)
    index += np.array([2, 1, 2], np.int32).tobytes()
    index += np.array([0, 8, 12], np.int64).tobytes() + np.array([0, 2, 3], np.int64).tobytes()
    path.with_suffix(".idx").write_bytes(index)
    assert ids_of(path) == [[1, 2, 3], [4, 5]]
    path.with_suffix(".idx").write_bytes(index[:40])
    with pytest.raises(InputError, match=r"t\.idx: is truncated"):
        ids_of(path)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([1.5]), "holds float64 of 1 dimensions"),
        (np.zeros((2, 2, 2), int), "of 3 dimensions"),
        (np.array([3, -1]), "holds a token id below 0"),
    ],
)
def test_bad_ids(tmp_path: Path, array: np.ndarray, message: str) -> None:
    path = tmp_path / "t.npy"
    np.save(path, array)
    with pytest.raises(InputError, match=message):
        ids_of(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"is no \.npy file"):
        ids_of(path)
    path = tmp_path / "t.bin"
    path.write_bytes(b"abc")
    with pytest.raises(InputError, match="holds 3 bytes, which is no whole number of uint16"):
        ids_of(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no array", b"\x93NUMPY\x01\x00"])
def test_files_that_are_no_arrays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.npy"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"t\.npy: (is no \.npy file|cannot be read)"):
        ids_of(path)


def test_megatron_files_that_do_not_agree(tmp_path: Path) -> None:
    path = tmp_path / "t.bin"
    np.arange(5, dtype=np.int32).tofile(path)

    def index(sizes: list[int], documents: list[int]) -> bytes:
        head = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, 4, len(sizes), len(documents))
        pointers = np.zeros(len(sizes), np.int64)
        return (
            head
            + np.array(sizes, np.int32).tobytes()
            + pointers.tobytes()
            + np.array(documents, np.int64).tobytes()
        )

    for sizes, documents, message in (
        ([3, 4], [0, 2], "holds 5 ids, but .* lists 7"),
        ([3, -1], [0, 2], "negative length"),
        ([3, 2], [0, 9], "cannot be read as token ids"),
    ):
        path.with_suffix(".idx").write_bytes(index(sizes, documents))
        with pytest.raises(InputError, match=message):
            ids_of(path)


def test_parquet_that_is_damaged_inside(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + b"x" * 60 + b"\x10\0\0\0PAR1")
    with pytest.raises(InputError, match="is not a sound Parquet file"):
        read(path)
