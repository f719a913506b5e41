"""The command `tendencies` and its records on whole files, and on files that hold little."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands.conftest import Run, sentences
from textassay.results import DocumentSums, Measurement, Series, Warn, read_results
from textassay.tendencies import (
    entropy,
    hapax_share,
    lengths,
    rank_frequency,
    rank_frequency_distance,
    stopword_shares,
    type_token,
    unigram_distance,
)

FEW = ("--resamples", 199)


def measured(folder: Path) -> dict[tuple[str, str], Measurement]:
    return {
        (r.measure.removeprefix("tendencies."), r.system): r
        for r in read_results(folder)
        if isinstance(r, Measurement) and "|against:" not in r.signature
    }


@pytest.fixture
def english(tmp_path: Path) -> Path:
    """People, a model that writes like them, and one that does not; training text."""
    rng = np.random.default_rng(5)
    common = ["the", "of", "and", "to", "in", "a", "is", "that", "for", "it"]
    rare = [f"word{n}" for n in range(400)]

    def line(share: float, mean: float) -> str:
        size = 3 + rng.poisson(mean)
        words = [
            common[min(9, rng.geometric(0.25) - 1)]
            if rng.random() < share
            else rare[min(399, rng.zipf(1.3) - 1)]
            for _ in range(size)
        ]
        return " ".join(words) + " ."

    for name, count, share, mean in (
        ("human", 600, 0.5, 9),
        ("train", 900, 0.5, 9),
        ("good", 300, 0.5, 9),
        ("odd", 300, 0.2, 14),
    ):
        lines = [line(share, mean) for _ in range(count)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_verdicts_values_and_sums(command: Run, english: Path) -> None:
    out = english / "out"
    code, table, _ = command(
        "tendencies",
        f"good={english / 'good.txt'}",
        f"odd={english / 'odd.txt'}",
        "--human",
        english / "human.txt",
        "--train",
        english / "train.txt",
        "--out",
        out,
        *FEW,
    )
    assert code == 0
    assert "unigrams, TVD" in table
    assert "from training text" in table
    found = measured(out)
    for measure in ("unigram.tvd", "rank_frequency.ks", "length.mean", "length.ks"):
        assert found[measure, "odd"].verdict == "differs", measure
        assert found[measure, "odd"].p_value <= 0.01
    for measure in ("stopwords.mean", "stopwords.ks"):
        assert found[measure, "odd"].distance_high is not None
        assert found[measure, "odd"].verdict == "differs"
    judged = [r for (_, system), r in found.items() if system == "good" and r.verdict]
    assert len(judged) >= 20
    assert sum(r.verdict == "differs" for r in judged) <= 1
    primary = found["unigram.tvd", "odd"]
    assert primary.family == "primary, Holm"
    assert 0 <= primary.distance_low <= primary.distance <= primary.distance_high <= 1
    # sums over documents give the measures back
    sums = [
        d
        for d in read_results(out / "documents.jsonl.zst")
        if isinstance(d, DocumentSums) and d.system == "odd"
    ]
    shares = [d.sums["stopwords"] / d.n_tokens for d in sums]
    assert np.isclose(found["stopwords.mean", "odd"].value, np.mean(shares))
    assert np.isclose(found["length.mean", "odd"].value, np.mean([d.n_tokens for d in sums]))
    series = {(s.measure, s.system) for s in read_results(out) if isinstance(s, Series)}
    for measure in ("rank_frequency", "rank_frequency.fit", "type_token", "length.distribution"):
        assert (f"tendencies.{measure}", "human") in series
    assert ("tendencies.unigram.tvd.permutations", "good") in series
    assert ("tendencies.unigram.tvd.by_size", "human") in series
    against = [
        r
        for r in read_results(out)
        if isinstance(r, Measurement) and "|against:training text|" in r.signature
    ]
    assert {r.system for r in against} == {"good", "odd", "human"}
    assert all(r.verdict is None and r.p_value is None for r in against)


def test_published_protocol_is_the_library_on_whole_texts(command: Run, english: Path) -> None:
    out = english / "out"
    code, _, _ = command(
        "tendencies",
        f"odd={english / 'odd.txt'}",
        "--human",
        english / "human.txt",
        "--protocol",
        "published",
        "--out",
        out,
        *FEW,
    )
    assert code == 0
    found = measured(out)
    texts = {n: (english / f"{n}.txt").read_text().splitlines() for n in ("odd", "human")}
    odd, human = texts["odd"], texts["human"]
    assert np.isclose(found["unigram.tvd", "odd"].distance, unigram_distance(odd, human))
    assert np.isclose(
        found["rank_frequency.ks", "odd"].distance, rank_frequency_distance(odd, human)
    )
    for name, value in (
        ("zipf.exponent", rank_frequency(odd).fit.exponent),
        ("zipf.ks", rank_frequency(odd).fit.ks),
        ("hapax", hapax_share(odd)),
        ("entropy", entropy(odd)),
        ("entropy2", entropy(odd, 2)),
        ("entropy3", entropy(odd, 3)),
        ("heaps.beta", type_token(odd).fit.beta),
        ("heaps.alpha", type_token(odd).fit.alpha),
        ("length.mean", lengths(odd).mean()),
        ("length.variance", lengths(odd).var()),
        ("stopwords.mean", stopword_shares(odd).mean()),
        ("stopwords.variance", stopword_shares(odd).var()),
    ):
        assert np.isclose(found[name, "odd"].value, value, rtol=1e-7), name
        assert found[name, "odd"].signature.endswith("|protocol:published|v:0.1.0")


def test_the_same_bytes_for_any_number_of_workers(command: Run, english: Path) -> None:
    found = []
    for jobs in (1, 3):
        code, out, _ = command(
            "tendencies",
            english / "good.txt",
            "--human",
            english / "human.txt",
            "--json",
            "--jobs",
            jobs,
            *FEW,
        )
        assert code == 0
        found.append([line for line in out.splitlines() if '"kind":"header"' not in line])
    assert found[0] == found[1]


def test_numbers_do_not_depend_on_names_or_other_systems(command: Run, english: Path) -> None:
    found = []
    for systems in ([("a", "odd")], [("x", "good"), ("b", "odd")]):
        out = english / f"out{len(systems)}"
        named = [f"{name}={english / file}.txt" for name, file in systems]
        code, _, _ = command(
            "tendencies", *named, "--human", english / "human.txt", "--out", out, "--resamples", 999
        )
        assert code == 0
        name = systems[-1][0]
        records = [r for (_, system), r in measured(out).items() if system == name]
        found.append([(r.measure, r.value, r.distance, r.distance_low, r.p_value) for r in records])
    for one, other in zip(*found, strict=True):
        assert one[0] == other[0]
        # shares are added up in another order
        for x, y in zip(one[1:], other[1:], strict=True):
            assert (x is None) == (y is None)
            assert x is None or np.isclose(x, y, rtol=1e-9, atol=1e-12), one[0]


def test_stopwords_of_ones_own_and_of_a_language(command: Run, english: Path) -> None:
    own = english / "own.txt"
    own.write_text("# mine\nThe\nof # twice\n\n")
    arguments = ("tendencies", english / "good.txt", "--json", *FEW)
    code, out, _ = command(*arguments, "--stopwords", own)
    assert code == 0
    (record,) = (r for r in map(json.loads, out.splitlines()) if r.get("measure") == MEAN)
    text = (english / "good.txt").read_text().splitlines()
    assert np.isclose(record["value"], stopword_shares(text, stopwords=["the", "of"]).mean())
    assert "|stopwords:file-" in record["signature"]
    code, out, _ = command(*arguments, "--language", "de")
    (record,) = (r for r in map(json.loads, out.splitlines()) if r.get("measure") == MEAN)
    assert "|stopwords:de-" in record["signature"]
    own.write_text("# nothing\n")
    code, _, err = command(*arguments, "--stopwords", own)
    assert code == 2
    assert "own.txt: holds no stopword" in err
    own.write_text("the\nof course\n")
    code, _, err = command(*arguments, "--stopwords", own)
    assert code == 2
    assert "own.txt, line 2: 'of course' is more than one word" in err
    code, _, err = command(*arguments, "--stopwords", own, "--tokenizer", "characters")
    assert code == 2
    assert "--stopwords looks for words" in err
    code, _, err = command(*arguments, "--language", "klingon")
    assert code == 2
    assert "--language klingon: there is no list of stopwords" in err
    assert "en" in err


MEAN = "tendencies.stopwords.mean"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--ranks", -1, "--ranks -1: at least 0"),
        ("--window", 1, "--window 1: at least 2"),
        ("--stopwords", "missing.txt", "missing.txt"),
        ("--margin", "0.1", "--margin tendencies.unigram.tvd=0.1"),
        ("--margin", "tendencies.unigram.tvd=nan", "a number above 0"),
        ("--margin", "novelty.pointwise=1", "begins with one of tendencies"),
        (
            "--margin",
            "tendencies.length.maen=1",
            "nothing is measured under this name; tendencies.length.mean is",
        ),
        ("--out", "", "--out: a name is missing behind it"),
        ("--ngrams", "1-3", "--ngrams"),
    ],
)
def test_misuse(command: Run, english: Path, option: str, value: object, message: str) -> None:
    code, out, err = command("tendencies", english / "good.txt", option, value)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


SAME = ["the cat sat ."] * 40
CASES = {
    "one document": ["a cat and a dog"],
    "two": ["a cat", "the dog"],
    "three": ["a cat", "the dog", "x"],
    "four": ["a cat", "the dog", "x", "y z"],
    "all equal": SAME,
    "one type": ["a", "a a", "a a a", "a"] * 10,
    "empty ones": ["", "a cat", "", "the dog !"] * 10,
    "nearly all empty": [""] * 30 + ["a"],
    "no stopword": ["cat dog", "cat bird house"] * 20,
    "symbols alone": ["! ?", "1 2 3", "..."] * 15,
    "one token each": ["a", "b", "c"] * 15,
}


PAGES = ("one document", "all equal", "symbols alone")
PAIRS = [
    *((system, "words") for system in CASES),
    *((system, system) for system in CASES),
    *(("one document", human) for human in CASES),
    *(("all equal", human) for human in CASES),
]


@pytest.mark.parametrize(("system", "human"), dict.fromkeys(PAIRS))
def test_degenerate_texts_have_defined_answers(
    command: Run, tmp_path: Path, system: str, human: str
) -> None:
    (tmp_path / "s.txt").write_text("\n".join(CASES[system]) + "\n")
    lines = CASES.get(human) or sentences(3, 60)
    (tmp_path / "h.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "t.txt").write_text("\n".join(sentences(4, 20)) + "\n")
    out = tmp_path / "out"
    code, _, err = command(
        # the page takes seconds to draw
        "run" if system == human in PAGES else "tendencies",
        f"s={tmp_path / 's.txt'}",
        "--human",
        tmp_path / "h.txt",
        "--train",
        tmp_path / "t.txt",
        "--out",
        out,
        "--resamples",
        99,
    )
    assert code == 0, err
    assert command("validate", out)[0] == 0
    found = measured(out)
    if system == human:  # the same text
        record = found["unigram.tvd", "s"]
        assert record.p_value is None or record.p_value > 0.05
        for (measure, name), r in found.items():
            if name == "s" and r.p_value is not None and measure.endswith((".mean", ".ks")):
                assert r.p_value > 0.05, measure
            assert r.verdict != "differs" or name != "s", measure
    if system == "all equal":
        assert found["heaps.beta", "s"].value is None


def test_what_no_text_shows_is_not_known_to_be_equal(command: Run, tmp_path: Path) -> None:
    for name, words in (("s", ["cat dog", "a bird"]), ("h", ["the bird", "a dog sings"])):
        (tmp_path / f"{name}.txt").write_text("\n".join(words * 50) + "\n")
    out = tmp_path / "out"
    system, human = f"s={tmp_path / 's.txt'}", tmp_path / "h.txt"
    code, _, err = command("tendencies", system, "--human", human, "--out", out, "--resamples", 99)
    assert code == 0, err
    found = measured(out)["symbols.ks", "s"]
    assert (found.distance, found.distance_low, found.reference) == (0, 0, 0)
    # one document more with a symbol on either side would be no surprise
    assert found.distance_high == pytest.approx(1.984 * np.sqrt(2) / 100, rel=1e-3)
    assert found.verdict == "undecided"
    error = np.sqrt(2) / 100
    assert found.detectable == pytest.approx(found.distance_high + 0.8416 * error, rel=1e-4)


def test_lengths_that_were_cut_have_no_verdict(command: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)

    def lines(cut: int | None) -> str:
        sizes = rng.integers(5, 40, 200)
        return "".join(" ".join(f"w{w}" for w in rng.zipf(1.5, n)[:cut]) + "\n" for n in sizes)

    (tmp_path / "s.txt").write_text(lines(20))
    (tmp_path / "h.txt").write_text(lines(None))
    out = tmp_path / "out"
    code, _, _ = command(
        "tendencies", f"s={tmp_path / 's.txt'}", "--human", tmp_path / "h.txt", "--out", out, *FEW
    )
    assert code == 0
    found = measured(out)
    for measure in ("length.mean", "length.variance", "length.ks"):
        assert found[measure, "s"].verdict is None
        assert "censored-lengths" in found[measure, "s"].warnings
        assert found[measure, "s"].reference is not None
    assert found["unigram.tvd", "s"].verdict is not None
    assert any(isinstance(r, Warn) and r.code == "cut-documents" for r in read_results(out))


def test_several_human_files_and_sources(command: Run, english: Path) -> None:
    rng = np.random.default_rng(9)
    lines = (english / "human.txt").read_text().splitlines()
    for number in (0, 1):
        with (english / f"h{number}.jsonl").open("w") as file:
            for line in lines[number::2]:
                source = f"book {rng.integers(12)}"
                file.write(json.dumps({"text": line, "source": source}) + "\n")
    out = english / "out"
    code, _, _ = command(
        "tendencies",
        f"good={english / 'good.txt'}",
        "--human",
        f"one={english / 'h0.jsonl'}",
        f"two={english / 'h1.jsonl'}",
        "--out",
        out,
        *FEW,
    )
    assert code == 0
    records = [r for r in read_results(out) if isinstance(r, Measurement)]
    between = [r for r in records if "|against:two|" in r.signature]
    assert {r.system for r in between} == {"one"}
    human = next(r for r in records if r.system == "human")
    assert (human.resampling_unit, human.n_units) == ("source", 24)
    assert {d.system for d in read_results(out / "documents.jsonl.zst")} == {"good", "one", "two"}


def test_without_human_text_there_are_values_alone(command: Run, english: Path) -> None:
    out = english / "out"
    code, table, _ = command("tendencies", f"m={english / 'good.txt'}", "--out", out, *FEW)
    assert code == 0
    assert "Tendencies of each text" in table
    found = measured(out)
    assert all(r.verdict is None and r.distance is None for r in found.values())
    assert found["zipf.exponent", "m"].value_low < found["zipf.exponent", "m"].value
    assert ("unigram.tvd", "m") not in found


def test_tokens_that_are_no_words_have_no_stopwords(command: Run, english: Path) -> None:
    out = english / "out"
    code, _, _ = command(
        "tendencies", f"m={english / 'good.txt'}", "--tokenizer", "characters", "--out", out, *FEW
    )
    assert code == 0
    found = measured(out)
    assert ("stopwords.mean", "m") not in found
    assert ("symbols.mean", "m") in found


def test_training_text_that_holds_nothing_or_is_not_needed(command: Run, english: Path) -> None:
    (english / "empty.txt").write_text("")
    human = ("--human", english / "human.txt")
    code, _, err = command(
        "tendencies", english / "good.txt", *human, "--train", english / "empty.txt", *FEW
    )
    assert code == 2
    assert "empty.txt: holds no text" in err
    (english / "blank.txt").write_text("\n \n")
    code, out, _ = command(
        "tendencies", english / "good.txt", *human, "--train", english / "blank.txt", *FEW
    )
    assert code == 0
    assert "the training text holds no token" in out
    code, out, _ = command(
        "tendencies", english / "good.txt", "--train", english / "train.txt", *FEW
    )
    assert code == 0
    assert "without human text nothing is compared with the training text" in out


def test_margins_of_ones_own(command: Run, english: Path) -> None:
    out = english / "out"
    code, _, _ = command(
        "tendencies",
        f"odd={english / 'odd.txt'}",
        "--human",
        english / "human.txt",
        "--margin",
        "tendencies.unigram.tvd=0.9",
        "--out",
        out,
        *FEW,
    )
    assert code == 0
    found = measured(out)
    assert found["unigram.tvd", "odd"].reference == 0.9
    assert found["unigram.tvd", "odd"].verdict == "within human variation"
    assert found["rank_frequency.ks", "odd"].reference != 0.9


def test_one_unit_a_side(command: Run, english: Path) -> None:
    for name in ("good", "human"):
        lines = (english / f"{name}.txt").read_text().splitlines()
        with (english / f"{name}.jsonl").open("w") as file:
            file.writelines(json.dumps({"text": t, "prompt": "p"}) + "\n" for t in lines)
    out = english / "out"
    code, _, _ = command(
        "tendencies", english / "good.jsonl", "--human", english / "human.jsonl", "--out", out, *FEW
    )
    assert code == 0
    assert command("validate", out)[0] == 0
    for record in measured(out).values():
        assert record.verdict is None
        assert record.distance_low is None
