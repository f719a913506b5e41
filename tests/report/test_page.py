"""The page and its figures: content, hostile text, and a real browser."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from textassay.cli import main
from textassay.report.answers import answers
from textassay.report.drawing import as_svg, draw
from textassay.report.figures import write_figures
from textassay.report.make_figures import make_figures
from textassay.report.page import write_page
from textassay.results import Example, Measurement, Record, Series, Warn, read_results

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="module")
def assay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration, made once."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--out", str(folder / "out"), "--quiet"]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def records(assay: Path) -> list[Record]:
    return read_results(assay)


HOSTILE = (
    "<script>alert(1)</script></style></title>\"'><img src=x onerror=alert(2)>\u202eevil\x1b[31m"
)


def hostile(records: list[Record]) -> list[Record]:
    """The same records, every text in them hostile, and a token of ten megabytes."""
    found: list[Record] = []
    for record in records:
        changes: dict[str, object] = {}
        if hasattr(record, "system") and record.system not in (None, "human"):
            changes["system"] = f"{HOSTILE}{record.system}"
        if isinstance(record, Example):
            text = HOSTILE + "x" * 10_000_000
            changes |= {
                "text": text,
                "before": HOSTILE,
                "after": HOSTILE,
                "source_text": text,
                "source_before": HOSTILE,
                "source_file": HOSTILE,
                "document": HOSTILE,
                "spans": [(0, 5, 3), (9, 5_000_000, 120)],
            }
        if isinstance(record, Warn):
            changes["message"] = HOSTILE
        fields = {name: getattr(record, name) for name in record.__struct_fields__}
        found.append(type(record)(**{**fields, **changes}))
    kept = [r for r in found if isinstance(r, Example)][:6]
    return [r for r in found if not isinstance(r, Example) or any(r is k for k in kept)]


FIGURES = [
    "tendencies",
    "rank-frequency",
    "type-token",
    "distributions",
    "permutations",
    "by-size",
    "quality-and-variety",
    "overlap-by-size",
    "novelty-by-n",
    "novelty-by-training-size",
]


@pytest.fixture(scope="module")
def hostile_page(records: list[Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(hostile(records), tmp_path_factory.mktemp("hostile"))


PARTS = ("#natural", "#varied", "#answers", "#how")


class Checker(HTMLParser):
    """Collects tags, and complains of what a page without scripts cannot hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.images: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name in ("src", "href", "srcset"):
                assert value is not None
                # nothing but what the page holds itself, or a part of it
                assert value.startswith("data:") or value in PARTS, value[:50]
        if tag == "img":
            self.images.append(dict(attrs))


def check(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert not {"script", "iframe", "object", "form", "base"} & set(checker.tags)
    return checker


def test_the_demonstration(assay: Path, records: list[Record]) -> None:
    measured = {
        r.system: r
        for r in records
        if isinstance(r, Measurement) and r.measure == "novelty.longest_copy"
    }
    assert set(measured) == {
        "3-gram ancestral",
        "3-gram top-40",
        "6-gram ancestral",
        "6-gram top-40",
        "human",
    }
    # models of counts copy: visibly, and with their sources
    passages = [r for r in records if isinstance(r, Example) and r.measure.startswith("novelty.")]
    copied = [r for r in passages if r.system != "human"]
    assert max(r.n_tokens for r in copied) >= 25
    assert all(r.source_text and r.source_text.split() == r.text.split() for r in copied)
    sentence = answers(records)["novelty"]
    assert answers(records)["tendencies"].startswith("Naturalness: 3-gram ancestral differs from")
    assert "6-gram top-40 repeats more than people do (differs)" in sentence
    assert {p.name for p in assay.iterdir()} == {
        "documents.jsonl.zst",
        "figures",
        "report.html",
        "results.jsonl",
        "texts",
    }


def test_no_source_stands_on_two_sides(assay: Path) -> None:
    import json

    sides = {
        name: {
            json.loads(line)["source"]
            for line in (assay / "texts" / name).read_text(encoding="utf-8").splitlines()
        }
        for name in ("train.jsonl", "human.jsonl")
    }
    assert not sides["train.jsonl"] & sides["human.jsonl"]


def test_the_page_says_what_the_records_say(assay: Path, records: list[Record]) -> None:
    page = (assay / "report.html").read_text(encoding="utf-8")
    checker = check(page)
    assert page.startswith("<!DOCTYPE html>")
    assert all(len(image["alt"] or "") > 40 for image in checker.images)
    assert len(checker.images) == 2 * len(FIGURES)
    text = re.sub(r"<[^>]+>", "", page)
    for record in records:
        if isinstance(record, Measurement) and record.measure == "novelty.pointwise":
            assert record.signature in text
    for heading in ("Warnings", "What was compared", "Is it new?", "Copied passages", "How every"):
        assert heading in text
    assert 'lang="en"' in page
    assert page.count("<caption>") == page.count("<table>")


def test_the_page_is_made_from_records_alone(assay: Path, tmp_path: Path) -> None:
    shutil.copy(assay / "results.jsonl", tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    for name in ("report.html", "figures/novelty-by-n.svg", "figures/novelty-by-n.csv"):
        assert (tmp_path / name).read_bytes() == (assay / name).read_bytes()
    assert main(["report", str(tmp_path / "nowhere")]) == 2


def test_figures_hold_their_data(records: list[Record], tmp_path: Path) -> None:
    figures = make_figures(records)
    assert [f.name for f in figures] == FIGURES
    write_figures(figures, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3 * len(FIGURES)
    with (tmp_path / "novelty-by-n.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    curves = [r for r in records if isinstance(r, Series) and r.measure == "novelty.by_n.both"]
    expected = [
        [curve.system, f"{x:g}", str(y)]
        for curve in curves
        for x, y in zip(curve.x, curve.y, strict=True)
    ]
    assert [row[:3] for row in rows] == expected
    for figure in figures[:2]:
        assert as_svg(draw(figure)) == as_svg(draw(figure))
    assert (tmp_path / "novelty-by-n.pdf").read_bytes().startswith(b"%PDF")


def test_hostile_text_is_inert(hostile_page: Path) -> None:
    page = hostile_page.read_text()
    check(page)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("</style>") == 1
    assert "\u202e" not in page
    assert "\\u202e" in page
    assert "\x1b" not in page
    assert len(page) < 8_000_000


def test_without_human_text_there_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("one two three\n" * 5)
    out = tmp_path / "out"
    assert main(["run", f"m={tmp_path / 'm.txt'}", "--out", str(out), "--quiet"]) == 0
    sentence = answers(read_results(out))["novelty"]
    assert sentence.startswith("Without human text there is no verdict")
    page = (out / "report.html").read_text()
    check(page)
    assert "verdict</th>" not in page.split("How every number")[0]


def test_words_of_every_verdict() -> None:
    def record(system: str, verdict: str, distance: float) -> Measurement:
        return Measurement(
            measure="novelty.pointwise",
            system=system,
            value=3.0 + distance,
            human=3.0,
            distance=distance,
            verdict=verdict,
            signature="novelty.pointwise|source:both",
        )

    found = answers(
        [
            record("a", "differs", 0.5),
            record("b", "differs", -0.5),
            record("c", "within human variation", 0.0),
            record("d", "undecided", 0.1),
            Measurement(measure="novelty.copied_documents", system="a", value=0.4, human=0.01),
        ]
    )
    assert found["novelty"] == (
        "Novelty: a repeats more than people do (differs) (duplication score 3.500 against 3.000), "
        "and 40.0% of its documents stand whole in the training text, 1.0% of people's; "
        "b repeats less than people do (differs) (duplication score 2.500 against 3.000); "
        "c repeats as much as people do (duplication score 3.000 against 3.000); "
        "d may repeat as much as people do (undecided) (duplication score 3.100 against 3.000)."
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        launched.close()


@pytest.mark.parametrize("kind", ["demo", "hostile"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser(
    browser: object,
    assay: Path,
    hostile_page: Path,
    kind: str,
    scheme: str,
    width: int,
) -> None:
    path = hostile_page if kind == "hostile" else assay / "report.html"
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on(
        "request",
        lambda request: (
            trouble.append(request.url)
            if not request.url.startswith(("data:", path.as_uri()))
            else None
        ),
    )
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = page.evaluate(
        "[...document.images].filter(i => i.offsetWidth > 0 && i.naturalWidth > 0)"
        ".map(i => i.className)"
    )
    assert shown == [scheme] * len(FIGURES)
    page.emulate_media(media="print")
    assert len(page.pdf()) > 10_000
    context.close()
    assert trouble == []
