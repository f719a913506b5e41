"""How measures of all members become records, compared with the human text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from textassay.overlap.document_ngrams import as_items
from textassay.overlap.family import Family, Member
from textassay.results import Record
from textassay.stats.count_records import CountMeasure
from textassay.stats.grouped import Statistics
from textassay.stats.ratio_records import Column, RatioSide, ratio_measurements
from textassay.stats.ratio_sums import RatioSums
from textassay.stats.setting import Setting


def set_records(
    family: Family,
    kind: str,
    members: Sequence[Member],
    statistics: Statistics,
    measures: Sequence[CountMeasure],
    parts: dict[str, object],
) -> Iterator[Record]:
    """Records of statistics of sets of documents; the categories are the members' documents."""
    tests = family.tests
    grouped = as_items([member.text for member in members])
    human = next((g for m, g in zip(members, grouped, strict=True) if m.role == "human"), None)
    if human is not None and human.items < 2:
        human = None
    for member, mine in zip(members, grouped, strict=True):
        side = family.side(member)
        if not mine.items:
            continue
        if human is None or member.role != "system":
            items = None if human is None else max(1, human.items // 2)
            for one in measures:
                yield from tests.describe(kind, side, mine, statistics, one, items, **parts)
            continue
        found = tests.compare(kind, mine, human, statistics)
        for one in measures:
            yield tests.record(side, human.units, found, one, None, **parts)


def ratio_records(
    family: Family,
    sums: Sequence[tuple[Member, RatioSums]],
    columns: Sequence[Column],
    parts: dict[str, object],
    *,
    unit: str | None = None,
) -> Iterator[Record]:
    """Records of ratios of sums; people's, if they are among the members, are compared with."""
    setting: Setting = family.setting if unit is None else replace(family.setting, unit=unit)
    sides = [
        RatioSide(
            member.text.name,
            member.role == "human",
            found,
            member.text.documents,
            member.text.tokens.size,
            member.text.content,
            may_pair=unit == "prompt" or family.may_pair(member),
        )
        for member, found in sums
    ]

    def sign(measure: str) -> str:
        signature = family.tests.sign(measure, **parts)
        if unit is None:
            return signature
        return signature.replace(f"|unit:{family.setting.unit}", f"|unit:{unit}")

    yield from ratio_measurements(sides, columns, setting, sign)
