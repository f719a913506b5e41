"""Tokenizers against twins written from the definitions."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.conftest import EXAMPLES
from textassay.corpus.characters import character_class, class_table
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.tokenizers import encode_documents, make_tokenizer, split
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, MissingExtraError, UsageError

interesting = st.text(
    st.one_of(
        st.sampled_from("aB9'’ \t\n\r.,-é漢かナーไท\u0301\u200d\u00a0\u00ad👍🏽𝒳\u0e34"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    ),
    max_size=30,
)


@settings(max_examples=400 * EXAMPLES)
@given(
    texts=st.lists(interesting, min_size=1, max_size=4),
    tokenizer=st.sampled_from(["words", "whitespace", "characters"]),
    newline=st.sampled_from([None, "<eos>"]),
)
def test_compiled_tokenizers_equal_their_twins(
    texts: list[str], tokenizer: str, newline: str | None
) -> None:
    vocabulary = Vocabulary()
    encoded = encode_documents(texts, make_tokenizer(tokenizer), vocabulary, newline)
    for d, text in enumerate(texts):
        here = slice(encoded.offsets[d], encoded.offsets[d + 1])
        tokens = [vocabulary[i] for i in encoded.ids[here]]
        assert tokens == naive.tokenize(text, tokenizer, newline)
        for token, begin, end in zip(tokens, encoded.begins[here], encoded.ends[here], strict=True):
            if token not in (newline, " "):
                assert text[begin:end] == token


def test_every_character_has_the_class_of_its_rule() -> None:
    table = class_table()
    sample = [
        *range(0x3400),
        *range(0x4DB0, 0x4E10),
        *range(0x9FF0, 0xAC10),
        *range(0xD790, 0xE010),
    ]
    sample += [*range(0xF8F0, 0x10100), *range(0x16FF0, 0x17010), *range(0x18CD0, 0x18D10)]
    sample += [*range(0x1AFF0, 0x1B180), *range(0x1F300, 0x1F700), *range(0x1FFF0, 0x20010)]
    sample += [*range(0x323A0, 0x323C0), *range(0xDFFF0, 0xE0200), *range(0x10FFF0, 0x110000)]
    for code in sample:
        if unicodedata.category(chr(code)) in ("Cs", "Cn"):
            continue
        assert table[code] == character_class_in_table(code), hex(code)


def character_class_in_table(code: int) -> int:
    from textassay.corpus import characters

    kind = character_class(code)
    by_character = any(a <= code <= b for a, b in characters.BY_CHARACTER)
    return characters.SINGLE if by_character and kind == characters.WORD else kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop!", ["Don't", "stop", "!"]),
        ("rock 'n' roll", ["rock", "'", "n", "'", "roll"]),
        ("l’été 3.14", ["l’été", "3", ".", "14"]),
        ("漢字かな", ["漢", "字", "か", "な"]),
        ("cafe\u0301 👍🏽", ["cafe\u0301", "👍🏽"]),
        (
            "<s> <unk> <END_OF_PROMPT>",
            [*"<s>", "<", "unk", ">", "<", "END", "_", "OF", "_", "PROMPT", ">"],
        ),
        ("a\u00a0b\u2003c\u200bd", ["a", "b", "c", "d"]),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert split(make_tokenizer("words"), text) == expected


def test_treebank_and_moses() -> None:
    assert split(make_tokenizer("treebank"), "I can't go.") == ["I", "ca", "n't", "go", "."]
    assert split(make_tokenizer("moses:en"), "I can't go.") == ["I", "can", "'t", "go", "."]


@pytest.mark.published
def test_hugging_face_tokenizer(published: Path) -> None:
    tokenizer = make_tokenizer(f"hf:{published / 'stories260K'}")
    vocabulary = Vocabulary()
    corpus = Corpus.from_documents([Document("Once upon a time")], tokenizer, vocabulary)
    assert "".join(vocabulary[t] for t in corpus.tokens) == "▁Once▁upon▁a▁time"


@pytest.mark.parametrize("name", ["word", "moses:", "hf:", "moses:english"])
def test_unknown_tokenizers(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        make_tokenizer(name)


def test_a_tokenizer_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.*no such file"):
        make_tokenizer("hf:nowhere")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"is no tokenizer\.json"):
        make_tokenizer(f"hf:{tmp_path}")


def test_missing_packages_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'textassay\[tokenize\]'"):
        make_tokenizer("moses:en")


@settings(max_examples=100 * EXAMPLES)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=25)))
def test_vocabulary_is_a_dictionary(tokens: list[str]) -> None:
    vocabulary = Vocabulary()
    twin: dict[str, int] = {}
    expected = [twin.setdefault(token, len(twin)) for token in tokens]
    assert vocabulary.add(tokens).tolist() == expected
    assert len(vocabulary) == len(twin)
    assert vocabulary.strings == list(twin)
    assert vocabulary.find([*tokens, "\0absent"]).tolist() == [*expected, -1]


def test_vocabulary_grows_past_sixteen_bits() -> None:
    vocabulary = Vocabulary()
    tokens = [f"token-number-{i}" if i % 2 else str(i) for i in range(200_000)]
    ids = vocabulary.add(tokens)
    assert np.array_equal(ids, np.arange(200_000))
    assert vocabulary.find(tokens[70_000:70_005]).tolist() == list(range(70_000, 70_005))
    assert vocabulary[199_999] == "token-number-199999"


def test_prompt_and_text_are_tokenized_apart() -> None:
    vocabulary = Vocabulary()
    corpus = Corpus.from_documents(
        [Document("ly new", prompt="total"), Document("b"), Document("", prompt="x y")],
        make_tokenizer("words"),
        vocabulary,
    )
    assert [vocabulary[t] for t in corpus.tokens] == ["total", "ly", "new", "b", "x", "y"]
    assert corpus.prompt_lengths.tolist() == [1, 0, 2]
    assert corpus.text_lengths.tolist() == [2, 1, 0]
    assert corpus.offsets.tolist() == [0, 3, 4, 6]
    assert corpus.begins.tolist() == [0, 0, 3, 0, 0, 2]


def test_equal_ids_are_refused() -> None:
    with pytest.raises(InputError, match="the id 'a' stands on two documents"):
        Corpus.from_documents(
            [Document("x", id="a"), Document("y", id="a")], make_tokenizer("words"), Vocabulary()
        )


def test_bare_words() -> None:
    tokens = split(make_tokenizer("bare-words"), "“Don’t,” 3.5% of 漢字 – said Ann's 👍 e\u0301!")
    assert tokens == ["Don", "t", "3", "5", "of", "漢", "字", "said", "Ann", "s", "e\u0301"]
