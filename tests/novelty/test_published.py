"""Real text: the sample of RAVEN's code, and Texygen's models, against sets of n-grams.

No published report belongs to these texts (those of McCoy et al. 2021 are of text that is not to be
had), so the numbers are held to a twin that shares no idea with the matcher: for each n, the set of
all training n-grams and the set of those before in the document.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from textassay.assay import run_assay
from textassay.results import Example, Measurement, parse_signature
from textassay.settings import AssaySettings

pytestmark = pytest.mark.published


def values(
    settings: AssaySettings,
) -> tuple[dict[tuple[str, str, str], Measurement], list[Example]]:
    records = run_assay(settings).records
    measured = {
        (r.system, r.measure, parse_signature(r.signature).get("source")): r
        for r in records
        if isinstance(r, Measurement)
    }
    return measured, [r for r in records if isinstance(r, Example)]


def ngram_sets(documents: list[list[str]], n: int) -> set[tuple[str, ...]]:
    return {tuple(d[i : i + n]) for d in documents for i in range(len(d) - n + 1)}


def check(
    measured: dict[tuple[str, str, str], Measurement],
    system: str,
    documents: list[tuple[list[str], list[str]]],
    training: list[list[str]],
) -> None:
    for n in range(1, 11):
        seen = ngram_sets(training, n)
        counts = {"both": 0, "training": 0, "context": 0}
        total = 0
        for prompt, text in documents:
            tokens = prompt + text
            before: set[tuple[str, ...]] = set()
            for i in range(len(tokens) - n + 1):
                gram = tuple(tokens[i : i + n])
                if i >= len(prompt):
                    total += 1
                    counts["training"] += gram not in seen
                    counts["context"] += gram not in before
                    counts["both"] += gram not in seen and gram not in before
                before.add(gram)
        for source, novel in counts.items():
            found = measured[system, f"novelty.ngram{n}", source].value
            assert found == pytest.approx(novel / total, abs=1e-12), (n, source)


def test_raven_mini(published: Path) -> None:
    folder = published / "raven-mini"
    measured, examples = values(
        AssaySettings(
            systems=[f"raven={folder / 'example_generations.txt'}"],
            prompts=str(folder / "example_prompts.txt"),
            train=[str(folder / "wiki.train.tokens")],
            train_documents="stream",
            tokenizer="whitespace",
            resamples=99,
        )
    )
    raw = (folder / "wiki.train.tokens").read_text(encoding="utf-8")
    training = raw.replace("\n", " <eos> ").split()
    prompts = [p.split() for p in (folder / "example_prompts.txt").read_text().splitlines()]
    texts = [t.split() for t in (folder / "example_generations.txt").read_text().splitlines()]
    check(measured, "raven", list(zip(prompts, texts, strict=True)), [training])
    # McCoy et al. 2021, figure 8: this passage of The Boat Race is copied by all three models
    longest = examples[0]
    assert longest.n_tokens == measured["raven", "novelty.longest_copy", "training"].value == 104
    assert "The Boat Race is a side @-@ by @-@ side rowing competition" in longest.text
    at = [i for i in range(len(training)) if training[i : i + 104] == longest.text.split()]
    assert (longest.count, longest.source_token) == (len(at), at[0])
    assert measured["raven", "novelty.supercopied", "training"].value == 104 / 10_000


@pytest.mark.parametrize("model", ["seq", "leakgan", "textgan"])
def test_texygen(published: Path, model: str, tmp_path: Path) -> None:
    folder = published / "texygen-samples"
    lines = (folder / f"{model}.txt").read_text(encoding="utf-8").split("\n")[:3000]
    (tmp_path / "model.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    measured, examples = values(
        AssaySettings(
            systems=[f"m={tmp_path / 'model.txt'}"],
            train=[str(folder / "image_coco.txt")],
            tokenizer="whitespace",
            resamples=99,
            families=("novelty",),
        )
    )
    training = (folder / "image_coco.txt").read_text(encoding="utf-8").split("\n")
    check(measured, "m", [([], x.split()) for x in lines], [x.split() for x in training])
    for example in examples:
        assert example.source_text is not None
        assert example.source_text.split() == example.text.split()
        source = training[example.source_document or 0].split()
        first = example.source_token or 0
        assert source[first : first + example.n_tokens] == example.text.split()


def test_gpt2_samples_read(published: Path) -> None:
    """A real file of JSON lines, compressed, by a compiled tokenizer and by numbers of workers."""
    file = published / "gpt2-117M" / "unconditional-topk40.jsonl.gz"
    train = published / "state-of-the-union.jsonl.gz"
    found = []
    for jobs in (1, 2):
        assay = run_assay(
            AssaySettings(
                systems=[f"gpt2={file}"],
                train=[str(train)],
                train_role="reference",
                resamples=99,
                jobs=jobs,
            )
        )
        found.append([r for r in assay.records[1:] if isinstance(r, Measurement)])
    assert found[0] == found[1]
    value = {r.measure: r.value for r in found[0] if "source:both" in r.signature}
    assert 0 < value["novelty.ngram2"] < value["novelty.ngram4"] < 1
    assert json.dumps(value)
    assert np.isfinite(list(value.values())).all()
