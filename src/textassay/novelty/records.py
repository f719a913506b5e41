"""Novelty records: measurements with verdicts, curves, and copied passages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.stream import TokenStream
from textassay.novelty.comparison import Bench, SideReport
from textassay.novelty.copies import copied_passages, find_sources
from textassay.novelty.measure import Matches, NoveltyOptions
from textassay.novelty.scores import SUPERCOPY, TokenScores, is_judged
from textassay.novelty.sides import Side, near_duplicates
from textassay.novelty.tables import Table, document_table, matched_length
from textassay.results import (
    DocumentSums,
    Example,
    Record,
    Series,
    Warn,
    documents_of,
    finite,
    make_signature,
)
from textassay.stats.setting import Setting


def novelty_records(
    systems: Sequence[Side],
    humans: Sequence[Side],
    matches: Matches,
    options: NoveltyOptions,
    setting: Setting,
    stream: TokenStream | None,
) -> tuple[list[Record], list[DocumentSums]]:
    """All records of the family, and the sums of every document.

    Parameters
    ----------
    systems, humans : sequence of Side
        Each of one corpus; together they are the corpora of `matches`, in this order.
    """
    records: list[Record] = []
    sums: list[DocumentSums] = []
    human = None
    if humans:
        human = Side(
            "human",
            True,
            [corpus for side in humans for corpus in side.corpora],
            [scores for side in humans for scores in side.scores],
        )
        records.extend(_human_warnings(human, options))
    bench = Bench(human, options, setting)
    cut = None
    if human is not None:
        cut = matched_length([human.lengths, *(side.lengths for side in systems)])
    if cut is not None:
        records.append(
            Warn(
                code="unlike-lengths",
                measure="novelty",
                message=f"documents of systems and people are of unlike length, which changes how "
                f"much they can repeat: verdicts compare documents of at least {cut} tokens, cut "
                f"to {cut}, on all sides",
            )
        )
    sides = [*systems, *([human] if human else []), *(humans if len(humans) > 1 else [])]
    for side in sides:
        report = SideReport(side, bench, cut)
        records.extend(report.measurements())
        records.extend(report.series())
    for number, side in enumerate([*systems, *humans]):
        records.extend(_curves_of_training_size(side, number, matches, options, setting))
        sums.extend(_document_sums(side, bench.table(side, None)))
    if matches.training is not None and stream is not None:
        for number, side in enumerate([*systems, *humans]):
            records.extend(passage_records(side, number, matches, options, stream))
    return records, sums


def _human_warnings(human: Side, options: NoveltyOptions) -> list[Record]:
    """Human documents that stand in the training text make the model look new."""
    if not human.scores[0].has_training:
        return []
    near = near_duplicates(human)
    if near.mean() < 0.01:
        return []
    measured = document_table(
        TokenScores.joined(
            [s.without(n) for s, n in zip(human.scores, _parts(human, near), strict=True)]
        ),
        options.ngrams,
    )
    position = [c.measure for c in measured.columns].index("novelty.pointwise")
    total = measured.denominators[:, position].sum()
    without = measured.numerators[:, position].sum() / total if total else float("nan")
    return [
        Warn(
            code="human-text-in-training",
            system="human",
            measure="novelty.pointwise",
            message=(
                f"{near.sum():,} of {near.size:,} human documents ({near.mean():.1%}) stand almost "
                f"whole in the training text; "
                + (
                    f"without them novelty.pointwise of the human text is {without:.4f}"
                    if total
                    else "nothing is left without them"
                )
            ),
        )
    ]


def _parts(human: Side, near: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    sizes = [len(corpus) for corpus in human.corpora]
    return np.split(near, np.cumsum(sizes)[:-1])


def _curves_of_training_size(
    side: Side, number: int, matches: Matches, options: NoveltyOptions, setting: Setting
) -> list[Record]:
    if matches.training is None or not matches.training.snapshots:
        return []
    snapshots = np.array(matches.training.snapshots)
    width = len(options.ngrams)
    parts = dict(setting.signature)
    version = parts.pop("v")
    found: list[Record] = []
    for k, n in enumerate(options.ngrams):
        measure = f"novelty.ngram{n}"
        found.append(
            Series(
                measure=f"{measure}.by_training_size",
                system=side.name,
                x_label="training tokens",
                y_label=f"share of {n}-grams that are novel",
                x=snapshots[:, 0].tolist(),
                y=[finite(y) for y in snapshots[:, 1 + number * width + k]],
                signature=make_signature(
                    measure, **parts, source="both", role=options.train_role, v=version
                ),
            )
        )
    return found


def _document_sums(side: Side, table: Table) -> list[DocumentSums]:
    (corpus,) = side.corpora
    keys = [column.key for column in table.columns]
    sums = (
        {
            **dict(zip(keys, table.numerators[d].tolist(), strict=True)),
            **{
                f"of.{key}": float(table.denominators[d, k])
                for k, key in enumerate(keys)
                if not key.startswith(("ngram", "pointwise"))
            },
        }
        for d in range(len(corpus))
    )
    return documents_of(side.name, corpus, sums)


def passage_records(
    side: Side,
    number: int,
    matches: Matches,
    options: NoveltyOptions,
    stream: TokenStream,
    shown: Corpus | None = None,
) -> list[Record]:
    """Copied passages of one side with their sources, and a warning if some are left out.

    Parameters
    ----------
    side : Side
    number : int
        Its place in `matches`.
    shown : Corpus, optional
        The same documents as people wrote them, where the matched ones were rewritten; passages
        are then near-verbatim ones.
    """
    if matches.automaton is None or matches.settled is None or matches.training is None:
        return []
    (corpus,), (scores,) = side.corpora, side.scores
    passages = copied_passages(
        corpus, scores, matches.automaton, matches.automaton.prefix_states[number], matches.settled
    )
    supercopies = sum(passage.tokens >= SUPERCOPY for passage in passages)
    listed = passages[: max(options.n_examples, min(supercopies, options.most_supercopies))]
    sources = find_sources(listed, stream, matches.training, corpus.vocabulary)
    judged = is_judged(corpus)
    begins, ends = corpus.begins[judged], corpus.ends[judged]
    cover = scores.cover()
    found: list[Record] = []
    for passage, source in zip(listed, sources, strict=True):
        text = corpus.texts[passage.document]
        if shown is not None and len(shown.texts[passage.document]) == len(text):
            text = shown.texts[passage.document]
        found.append(
            Example(
                measure="novelty.supercopied"
                if passage.tokens >= SUPERCOPY
                else "novelty.copied50",
                system=side.name,
                document=(shown or corpus).ids[passage.document],
                text=text[passage.begin : passage.end],
                before=text[max(0, passage.begin - _AROUND) : passage.begin],
                after=text[passage.end : passage.end + _AROUND],
                spans=_covered_spans(
                    slice(scores.offsets[passage.document], scores.offsets[passage.document + 1]),
                    begins,
                    ends,
                    cover,
                    max(0, passage.begin - _AROUND),
                    min(len(text), passage.end + _AROUND),
                ),
                n_tokens=passage.tokens,
                n_characters=passage.characters,
                token=passage.token,
                count=passage.count,
                source_file=source.file,
                source_document=source.document,
                source_token=source.token,
                source_byte=source.byte,
                source_text=source.text,
                source_before=source.before,
                source_after=source.after,
                note=("near-verbatim; " if shown is not None else "")
                + _role_note(options.train_role),
            )
        )
    if len(passages) > len(listed):
        found.append(
            Warn(
                code="passages-left-out",
                system=side.name,
                message=f"{'near-verbatim: ' if shown is not None else ''}"
                f"{len(passages):,} passages of at least 50 characters are repeated; "
                f"the longest {len(listed):,} are listed",
            )
        )
    return found


_AROUND = 200  # characters of text shown on either side of a passage


def _covered_spans(
    document: slice,
    begins: NDArray[np.int32],
    ends: NDArray[np.int32],
    cover: NDArray[np.int32],
    first: int,
    last: int,
) -> list[tuple[int, int, int]]:
    """Stretches of the characters first..last of a document by the passage that covers them."""
    begins, ends, cover = begins[document], ends[document], cover[document]
    tokens = np.flatnonzero((begins >= first) & (ends <= last) & (cover > 0))
    if not tokens.size:
        return []
    lengths = cover[tokens]
    runs = np.append(True, (np.diff(tokens) > 1) | (np.diff(lengths) != 0))
    opens, closes = np.flatnonzero(runs), np.append(np.flatnonzero(runs)[1:], tokens.size) - 1
    return list(
        zip(
            (begins[tokens[opens]] - first).tolist(),
            (ends[tokens[closes]] - first).tolist(),
            lengths[opens].tolist(),
            strict=True,
        )
    )


def _role_note(role: str) -> str:
    return {
        "full": "copied from the training text",
        "sample": "copied; the training text is a sample, so there may be more",
        "reference": "also found in the reference text",
    }[role]
