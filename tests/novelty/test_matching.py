"""The one-pass matcher against brute force, and the worked cases."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.conftest import EXAMPLES
from textassay.corpus import pieces as cutting
from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import MODES, Document, Reading
from textassay.corpus.files import InputFile
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty import matching
from textassay.novelty.automaton import build_automaton, context_lengths
from textassay.novelty.copies import copied_passages, find_sources
from textassay.novelty.matching import match_training
from textassay.novelty.measure import Matches, find_matches, novelty_curve
from textassay.novelty.scores import TokenScores
from textassay.parallel import Workers

WORDS = ["a", "b", "c", "longer-word", "é"]
word_lists = st.lists(st.sampled_from(WORDS), max_size=12)
generated = st.lists(st.tuples(word_lists, word_lists), min_size=1, max_size=6)
white = st.sampled_from([" ", "  ", "\n", "\n\n", " \n", "\n \n", "\t", "\r\n"])
training_texts = st.lists(
    st.lists(st.tuples(st.sampled_from([*WORDS, "never"]), white), min_size=1, max_size=60).map(
        lambda pairs: "".join(word + gap for word, gap in pairs)
    ),
    min_size=1,
    max_size=3,
)


def make_corpora(
    systems: list[list[tuple[list[str], list[str]]]], tokenizer: str, newline: str | None = None
) -> list[Corpus]:
    vocabulary = Vocabulary()
    return [
        Corpus.from_documents(
            [Document(" ".join(text), " ".join(prompt)) for prompt, text in documents],
            make_tokenizer(tokenizer),
            vocabulary,
            newline=newline,
        )
        for documents in systems
    ]


def make_stream(
    folder: Path, texts: list[str], tokenizer: str, mode: str, newline: str | None
) -> TokenStream:
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_bytes(text.encode())
        files.append(InputFile(str(path)))
    return TokenStream(files, make_tokenizer(tokenizer), Reading(documents=mode), newline)


@settings(max_examples=250 * EXAMPLES)
@given(
    systems=st.lists(generated, min_size=1, max_size=3),
    texts=training_texts,
    mode=st.sampled_from(MODES),
    tokenizer=st.sampled_from(["whitespace", "words", "characters", "treebank"]),
    with_newlines=st.booleans(),
    piece=st.integers(1, 40),
    lanes=st.integers(1, 5),
    jobs=st.integers(1, 4),
    fold=st.sampled_from([0, 10, 1 << 31]),
)
def test_equal_to_brute_force(
    tmp_path_factory: pytest.TempPathFactory,
    systems: list[list[tuple[list[str], list[str]]]],
    texts: list[str],
    mode: str,
    tokenizer: str,
    with_newlines: bool,
    piece: int,
    lanes: int,
    jobs: int,
    fold: int,
) -> None:
    newline = "<eos>" if mode == "stream" or with_newlines else None
    if tokenizer == "treebank":
        jobs = 1  # processes are tried elsewhere
    corpora = make_corpora(systems, tokenizer, newline)
    stream = make_stream(tmp_path_factory.mktemp("t"), texts, tokenizer, mode, newline)
    with (
        patch.object(cutting, "FIRST_PIECE", piece),
        patch.object(cutting, "LARGEST_PIECE", 3 * piece),
        patch.object(matching, "lane_count", lambda size, longest: min(lanes, size)),
        patch.object(matching, "_FOLD_EVERY", fold),
        patch.object(matching, "_GROUP", 3),
        Workers(jobs) as workers,
    ):
        matches = find_matches(corpora, stream, workers)
        assert matches.training is not None
        assert matches.settled is not None
        assert matches.automaton is not None
        strings = corpora[0].vocabulary.strings
        training = [
            (f, d, naive_tokens(document, tokenizer, newline))
            for f, text in enumerate(texts)
            for d, document in enumerate(naive.documents(text, mode))
        ]
        hay = [tokens for _, _, tokens in training]
        for number, corpus in enumerate(corpora):
            lengths = matches.training_lengths(number)
            context = context_lengths(corpus)
            states = matches.automaton.prefix_states[number]
            for d in range(len(corpus)):
                begin = corpus.offsets[d]
                tokens = [strings[t] for t in corpus.tokens[begin : corpus.offsets[d + 1]]]
                for i in range(len(tokens)):
                    expected = naive.training_length(tokens, i, hay)
                    assert lengths[begin + i] == expected
                    assert context[begin + i] == naive.context_length(tokens, i)
                    if expected:
                        found = naive.occurrences(tokens[i - expected + 1 : i + 1], hay)
                        state = states[begin + i]
                        assert matches.settled.counts[state] == len(found)
                        if tokenizer == "treebank":
                            continue
                        file, document, token, _ = matches.training.place(
                            int(matches.settled.byte[state]), int(matches.settled.place[state])
                        )
                        first, last = found[0]
                        assert (file, document, token) == (*training[first][:2], last)
        assert matches.training.tokens == sum(map(len, hay))
        for file in range(len(texts)):
            assert matches.training.documents_of(file) == sum(f == file for f, _, _ in training)


def naive_tokens(document: str, tokenizer: str, newline: str | None) -> list[str]:
    # these words are the same for the Treebank
    name = "whitespace" if tokenizer == "treebank" else tokenizer
    return naive.tokenize(document, name, newline)


@settings(max_examples=60 * EXAMPLES)
@given(
    documents=generated,
    texts=training_texts,
    piece=st.integers(1, 30),
)
def test_passages_and_their_sources(
    tmp_path_factory: pytest.TempPathFactory,
    documents: list[tuple[list[str], list[str]]],
    texts: list[str],
    piece: int,
) -> None:
    (corpus,) = make_corpora([documents], "whitespace")
    stream = make_stream(tmp_path_factory.mktemp("t"), texts, "whitespace", "line", None)
    hay = [
        naive.tokenize(line, "whitespace", None)
        for text in texts
        for line in naive.documents(text, "line")
    ]
    with (
        patch.object(cutting, "FIRST_PIECE", piece),
        patch.object(cutting, "LARGEST_PIECE", piece),
        patch("textassay.novelty.copies.COPIED_CHARACTERS", 1),
        Workers(1) as workers,
    ):
        matches = find_matches([corpus], stream, workers)
        assert matches.automaton is not None
        assert matches.settled is not None
        assert matches.training is not None
        passages = copied_passages(
            corpus,
            matches.scores[0],
            matches.automaton,
            matches.automaton.prefix_states[0],
            matches.settled,
        )
        sources = find_sources(passages, stream, matches.training, corpus.vocabulary)
    expected = set()
    for d, (prompt, text) in enumerate(documents):
        tokens = [*prompt, *text]
        lengths = [
            min(naive.training_length(tokens, i, hay), i - len(prompt) + 1)
            for i in range(len(prompt), len(tokens))
        ]
        for i, length in enumerate(lengths):
            if length and not (i + 1 < len(lengths) and lengths[i + 1] == length + 1):
                expected.add((d, i - length + 1, length))
    assert {(p.document, p.token, p.tokens) for p in passages} == expected
    for passage, source in zip(passages, sources, strict=True):
        shown = corpus.texts[passage.document][passage.begin : passage.end]
        assert source.text is not None
        assert source.text.split() == shown.split()
        assert passage.count == len(naive.occurrences(shown.split(), hay))
        raw = Path(source.file).read_bytes()
        assert source.byte is not None
        assert raw[source.byte :].startswith(source.text.encode())


def score(texts: list[tuple[str, str]], training: str, tmp_path: Path, **options: str) -> Matches:
    """Matches of (prompt, text) pairs against one training file."""
    mode = options.get("mode", "line")
    newline = "<eos>" if mode == "stream" else None
    (corpus,) = make_corpora([[(p.split(), t.split()) for p, t in texts]], "whitespace", newline)
    stream = make_stream(tmp_path, [training], "whitespace", mode, newline)
    with Workers(2) as workers:
        return find_matches([corpus], stream, workers)


def test_context_of_a_repeated_token() -> None:
    (corpus,) = make_corpora([[([], ["a"] * 4)]], "whitespace")
    context = context_lengths(corpus)
    assert context.tolist() == [0, 1, 2, 3]
    scores = TokenScores.of(corpus, None, context)
    assert scores.pointwise("context").tolist() == [1, 2, 3, 4]


def test_appendix_m(tmp_path: Path) -> None:
    """McCoy et al. 2021, appendix M: equal trigram novelty, unlike bigram novelty."""
    training = "alligators resemble crocodiles, and dolphins resemble sharks\n".replace(",", " ,")
    matches = score(
        [("", "alligators resemble sharks"), ("", "crocodiles resemble dolphins")],
        training,
        tmp_path,
    )
    scores = matches.scores[0]
    assert scores.training.tolist() == [1, 2, 2, 1, 1, 1]
    first, second = scores.without(np.array([False, True])), scores.without(np.array([True, False]))
    assert novelty_curve(first, [1, 2, 3]).tolist() == [0, 0, 1]
    assert novelty_curve(second, [1, 2, 3]).tolist() == [0, 1, 1]


def test_wholly_copied_and_empty_documents(tmp_path: Path) -> None:
    text = " ".join(f"w{i}" for i in range(300))
    matches = score([("", text), ("", ""), ("w1", "")], f"x\n{text}\ny\n", tmp_path)
    scores = matches.scores[0]
    assert scores.training.tolist() == list(range(1, 301))
    assert scores.pointwise("both").tolist() == list(range(2, 302))
    assert scores.cover().tolist() == [300] * 300


def test_a_generation_equal_to_its_prompt(tmp_path: Path) -> None:
    matches = score([("a b c", "a b c")], "zzz\n", tmp_path)
    assert matches.scores[0].context.tolist() == [1, 2, 3]
    assert matches.scores[0].training.tolist() == [0, 0, 0]


@pytest.mark.parametrize("length", [99, 100, 101])
def test_copies_about_the_size_of_a_supercopy(tmp_path: Path, length: int) -> None:
    training = [f"w{i}" for i in range(200)]
    text = ["new", *training[20 : 20 + length], "end"]
    matches = score([("", " ".join(text))], " ".join(training) + "\n", tmp_path)
    cover = matches.scores[0].cover()
    assert (cover >= 100).sum() == (length if length >= 100 else 0)


def test_no_copy_crosses_a_document_boundary(tmp_path: Path) -> None:
    training = "a b c\nd e f\n"
    matches = score([("", "a b c d e f")], training, tmp_path)
    assert matches.scores[0].training.tolist() == [1, 2, 3, 1, 2, 3]
    matches = score([("", "a b c <eos> d e f")], training, tmp_path, mode="stream")
    assert matches.scores[0].training.tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_overlapping_copies_count_once(tmp_path: Path) -> None:
    first = [f"a{i}" for i in range(120)]
    second = [*first[60:], *(f"b{i}" for i in range(60))]
    text = [*first, *second[60:]]
    training = " ".join(first) + "\n" + " ".join(second) + "\n"
    matches = score([("", " ".join(text))], training, tmp_path)
    assert (matches.scores[0].cover() >= 100).sum() == 180
    assert matches.automaton is not None
    assert matches.settled is not None
    passages = copied_passages(
        matches.corpora[0],
        matches.scores[0],
        matches.automaton,
        matches.automaton.prefix_states[0],
        matches.settled,
    )
    assert [(p.token, p.tokens) for p in passages] == [(0, 120), (60, 120)]


@pytest.mark.parametrize("training", ["x", "\n", "a\n", "a a a a a a a a\n" * 50])
def test_training_text_of_next_to_nothing(tmp_path: Path, training: str) -> None:
    matches = score([("", "a a a")], training, tmp_path)
    repeats = max((len(line.split()) for line in training.splitlines() if "a" in line), default=0)
    assert matches.scores[0].training.tolist() == [min(i + 1, repeats) for i in range(3)]


def test_match_at_the_first_and_the_last_token(tmp_path: Path) -> None:
    matches = score([("", "first"), ("", "last")], "first x y last", tmp_path)
    assert matches.scores[0].training.tolist() == [1, 1]


def test_a_passage_cut_at_its_begin_is_counted_by_itself(tmp_path: Path) -> None:
    text = " ".join(f"t{i}" for i in range(60))
    training = f"p {text}\n{text}\n{text}\n"
    matches = score([("p", text)], training, tmp_path)
    assert matches.automaton is not None
    assert matches.settled is not None
    (passage,) = copied_passages(
        matches.corpora[0],
        matches.scores[0],
        matches.automaton,
        matches.automaton.prefix_states[0],
        matches.settled,
    )
    assert (passage.tokens, passage.count) == (60, 3)


def test_results_do_not_depend_on_workers(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    lines = [" ".join(f"w{w}" for w in rng.zipf(1.3, 40) % 50) for _ in range(4000)]
    stream = make_stream(tmp_path, ["\n".join(lines)], "words", "line", None)
    (corpus,) = make_corpora([[([], line.split()) for line in lines[:50]]], "words")
    automaton = build_automaton([corpus])
    settled = []
    for jobs in (1, 2, 4):
        with Workers(jobs) as workers:
            training = match_training(automaton, stream, corpus.vocabulary, workers)
            settled.append(training.settled())
    for other in settled[1:]:
        for one, two in zip(settled[0], other, strict=True):
            assert np.array_equal(one, two)
