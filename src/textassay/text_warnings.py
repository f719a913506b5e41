"""Warnings about the texts themselves, which hold for every family of measures."""

from __future__ import annotations

from collections.abc import Mapping

from textassay.corpus import checks
from textassay.corpus.corpus import Corpus
from textassay.results import Record, Warn


def text_warnings(corpora: Mapping[str, Corpus], samples: Mapping[str, str]) -> list[Record]:
    """What makes comparisons of these texts doubtful.

    Parameters
    ----------
    corpora : mapping of str to Corpus
        Systems and human files by name.
    samples : mapping of str to str
        Some text of sides that are not held in memory.
    """
    found: list[Record] = []
    looked_at = dict(samples)
    for name, corpus in corpora.items():
        looked_at[name] = checks.sample_text(corpus.texts)
        if len(corpus) < checks.FEWEST_DOCUMENTS:
            found.append(
                Warn(
                    code="few-documents",
                    system=name,
                    message=f"{len(corpus)} documents: intervals and verdicts need about "
                    f"{checks.FEWEST_DOCUMENTS} or more",
                )
            )
        empty = int((corpus.text_lengths == 0).sum())
        if empty:
            found.append(
                Warn(
                    code="empty-documents",
                    system=name,
                    message=f"{empty:,} of {len(corpus):,} documents hold no token",
                )
            )
        cut = checks.share_at_longest(corpus)
        if cut >= 0.05:
            found.append(
                Warn(
                    code="cut-documents",
                    system=name,
                    message=f"{cut:.1%} of the documents end at the greatest length "
                    f"({int(corpus.text_lengths.max()):,} tokens): they were cut there, so their "
                    "lengths say nothing of where the system ends a text",
                )
            )
        repeated = checks.repeated_documents(corpus)
        if repeated >= 0.01 * len(corpus) and repeated > 1:
            found.append(
                Warn(
                    code="repeated-documents",
                    system=name,
                    message=f"{repeated:,} of {len(corpus):,} documents repeat an earlier one "
                    "except for case and punctuation",
                )
            )
        near = checks.near_duplicates(corpus)
        if near >= 0.01 * len(corpus) and near > max(1, repeated):
            found.append(
                Warn(
                    code="near-duplicates",
                    system=name,
                    message=f"{near:,} of {len(corpus):,} documents share at least 80 % of their "
                    "trigrams with an earlier one",
                )
            )
    for mark, how in checks.preprocessing_differences(looked_at):
        found.append(
            Warn(
                code="preprocessing",
                message=f"the sides were preprocessed differently: {mark} ({how})",
            )
        )
    return found
