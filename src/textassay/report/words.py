"""Answers and definitions in words, from records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textassay.report.natural import naturalness
from textassay.results import Header, Measurement, Record, parse_signature

# Measures of copying: name, heading, digits.
COPYING = (
    ("novelty.longest_copy", "longest copy", 0),
    ("novelty.supercopied", "tokens in copies >= 100", 5),
    ("novelty.copied50", "characters in copies >= 50", 5),
    ("novelty.mean_suffix", "mean suffix", 3),
    ("novelty.creativity", "creativity", 4),
)


def times(count: int | None) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(count or 0, f"{count or 0:,} times")


def units_column(measured: Iterable[Measurement]) -> list[str]:
    """The heading of a column for resampling units, if they are not documents."""
    units = {r.resampling_unit for r in measured}
    return [f"{unit}s" for unit in sorted(units - {"document"})]


def verdict_of(record: Measurement) -> str:
    """The verdict, with a word where it rests on few events."""
    few = " (few events)" if "few-events" in record.warnings and record.verdict else ""
    return f"{record.verdict or ''}{few}"


def scores_of(measured: Sequence[Measurement]) -> list[tuple[Measurement, Measurement]]:
    """For each system its pointwise score on whole documents, and the record with the verdict.

    The two are one, unless documents were also compared at one length.
    """
    whole: dict[str, Measurement] = {}
    judged: dict[str, Measurement] = {}
    sources = {parse_signature(r.signature).get("source") for r in measured}
    source = "both" if "both" in sources else "context"
    for r in measured:
        parts = parse_signature(r.signature)
        if r.measure != "novelty.pointwise" or parts.get("source") != source:
            continue
        if "len" in parts:
            judged[r.system] = r
        else:
            whole[r.system] = r
    return [(r, judged.get(system, r)) for system, r in whole.items()]


def answers(records: Sequence[Record]) -> dict[str, str]:
    """One sentence a family, with its verdict."""
    measured = [r for r in records if isinstance(r, Measurement)]
    found = {"tendencies": naturalness(measured), "novelty": _novelty(measured)}
    return {family: sentence for family, sentence in found.items() if sentence}


def _novelty(measured: Sequence[Measurement]) -> str:
    scores = [(whole, r) for whole, r in scores_of(measured) if whole.system != "human"]
    if not scores:
        return ""
    if not any(r.distance is not None for _, r in scores):
        listed = "; ".join(f"{w.system} {w.value:.3f}" for w, _ in scores if w.value is not None)
        return f"Without human text there is no verdict: pointwise duplication scores are {listed}."
    groups: dict[str, list[str]] = {}
    for whole, r in scores:
        if r.verdict == "differs":
            how = "repeats more" if (r.distance or 0) > 0 else "repeats less"
        else:
            how = r.verdict or "undecided"
        groups.setdefault(how, []).append(whole.system)
    words = []
    for how, systems in groups.items():
        listed = ", ".join(systems)
        one = len(systems) == 1
        if how in ("repeats more", "repeats less"):
            verb = how if one else how.replace("repeats", "repeat")
            words.append(f"{listed} {verb} than people do (differs)")
        elif how == "within human variation":
            words.append(f"{listed} {'is' if one else 'are'} within human variation")
        else:
            words.append(f"for {listed} this much text cannot tell (undecided)")
    return f"Novelty: {'; '.join(words)}."


def definitions(header: Header, measured: Sequence[Measurement]) -> list[tuple[str, str]]:
    """How numbers were made: terms and what they mean here."""
    unit = measured[0].resampling_unit if measured else "document"
    resamples = header.settings.get("resamples")
    found = [
        (
            "Tokens",
            f"by the tokenizer {header.tokenizer}; a document is a "
            f"{header.settings.get('documents')} of plain text (or a record), in training text a "
            f"{header.settings.get('train_documents')}.",
        ),
        (
            "Novel n-gram",
            "one that occurs neither in the training text nor earlier in its document (prompt "
            "included); only n-grams wholly inside the judged text count (McCoy et al. 2021).",
        ),
        (
            "Score",
            "pointwise duplication score: the size of the smallest novel n-gram that ends at a "
            "token, at most one more than the tokens of the text so far, truncated at 5, averaged "
            "over tokens.",
        ),
        (
            "95 %",
            f"interval by bootstrap over {unit}s, {resamples} resamples; where fewer than 20 of "
            "them show an event at all (few events), by exact limits of their number.",
        ),
        (
            "Minus human",
            "the system's value minus the human text's; where lengths are unlike, of documents cut "
            "to one length (len in the signature).",
        ),
        (
            "Margin",
            "the 95th percentile of distances between disjoint random halves of the human text, of "
            "the system's size if it is smaller: differences up to it are seen between people.",
        ),
        (
            "Verdict",
            "within human variation if the whole interval lies inside the margin, differs if it "
            "lies wholly outside, else undecided.",
        ),
        ("Detectable", "the smallest true difference that is found to differ 4 times in 5."),
        (
            "p",
            "of the hypothesis of no difference at all, where the verdict asks for more than the "
            f"margin: permutation of {unit}s (studentized; sign flips where prompts pair the "
            "sides); exact binomial where events are few; floor is the mean absolute difference it "
            "gives; one star up to .05, two up to .005; adjusted by Holm over systems for the "
            "score, by step-down max-T over n for the curve, for false discoveries otherwise.",
        ),
        (
            "Copied passage",
            "tokens in a row that the training text holds, that cannot be made longer, of at least "
            "50 characters or 100 tokens; supercopied: 100 tokens or more.",
        ),
        (
            "Mean suffix, creativity",
            "mean length of the longest suffix in the training text (Merrill et al. 2024); share "
            "of tokens outside copies of L tokens or more, averaged over L = 5 to 12 (Lu et al. "
            "2024).",
        ),
        (
            "Versions",
            ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items()))
            + f"; textassay {header.package_version}; seed {header.seed}.",
        ),
    ]
    return found
