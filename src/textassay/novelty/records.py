"""Novelty records: measurements with verdicts, curves, and copied passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.corpus import Corpus
from textassay.corpus.stream import TokenStream
from textassay.corpus.units import can_be_paired, unit_keys
from textassay.novelty.copies import copied_passages, find_sources
from textassay.novelty.measure import Matches, NoveltyOptions
from textassay.novelty.scores import SUPERCOPY, TokenScores, position_means
from textassay.novelty.tables import Column, Table, document_table, matched_length
from textassay.results import (
    DocumentSums,
    Example,
    Measurement,
    Record,
    Series,
    Warn,
    finite,
    make_signature,
)
from textassay.stats.ratios import (
    RatioComparison,
    RatioSums,
    bootstrap_ratios,
    compare_ratios,
    human_margin,
    interval,
)
from textassay.stats.setting import Setting
from textassay.stats.verdicts import detectable_difference, verdict

NEAR_DUPLICATE = 0.8
_FEWEST_TOKENS = 5


@dataclass(frozen=True, eq=False)
class Side:
    """One text collection: a system's, one human file's, or all human files' together."""

    name: str
    is_human: bool
    corpora: list[Corpus]
    scores: list[TokenScores]

    @property
    def documents(self) -> int:
        """How many documents it holds."""
        return sum(len(corpus) for corpus in self.corpora)

    @property
    def tokens(self) -> int:
        """How many tokens are judged."""
        return sum(int(corpus.text_lengths.sum()) for corpus in self.corpora)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Judged tokens of each document."""
        return np.concatenate([corpus.text_lengths for corpus in self.corpora])

    def units(self, unit: str) -> list[str]:
        """The unit of each document; files are kept apart where names do not come from inputs."""
        if len(self.corpora) == 1:
            return unit_keys(self.corpora[0], unit)
        return [
            f"{number}\0{key}"
            for number, corpus in enumerate(self.corpora)
            for key in unit_keys(corpus, unit)
        ]

    def table(self, options: NoveltyOptions, cut: int | None = None) -> Table:
        """Sums of all documents; cut to `cut` tokens, without measures that count characters."""
        tables = [
            document_table(
                scores if cut is None else scores.cut(cut),
                options.ngrams,
                corpus if cut is None else None,
            )
            for corpus, scores in zip(self.corpora, self.scores, strict=True)
        ]
        return Table(
            tables[0].columns,
            np.vstack([table.numerators for table in tables]),
            np.vstack([table.denominators for table in tables]),
        )

    def kept(self, cut: int) -> NDArray[np.bool_]:
        """Which documents are at least `cut` tokens long."""
        return self.lengths >= cut


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
    n = max(setting.n_resamples, 200 * max(1, len(systems)) - 1)
    seeds = iter(setting.seed.spawn(2 * (len(systems) + len(humans)) + 4))
    sides = [*systems, *([human] if human else []), *(humans if len(humans) > 1 else [])]
    for side in sides:
        report = _SideReport(side, human, options, setting, n, np.random.default_rng(next(seeds)))
        records.extend(report.measurements())
        records.extend(report.series())
    for number, side in enumerate([*systems, *humans]):
        records.extend(_curves_of_training_size(side, number, matches, options, setting))
        sums.extend(_document_sums(side, options))
    if matches.training is not None and stream is not None:
        for number, side in enumerate([*systems, *humans]):
            records.extend(_copies(side, number, matches, options, stream))
    return records, sums


class _SideReport:
    """Measurements and curves of one side, compared with human text if there is any."""

    def __init__(
        self,
        side: Side,
        human: Side | None,
        options: NoveltyOptions,
        setting: Setting,
        n_resamples: int,
        rng: np.random.Generator,
    ) -> None:
        self.side, self.options, self.setting = side, options, setting
        self.rng, self.n = rng, n_resamples
        self.human = human if human is not None and not side.is_human else None
        self.table = side.table(options)
        self.columns = self.table.columns
        self.sums = RatioSums.from_documents(
            self.table.numerators, self.table.denominators, side.units(setting.unit)
        )
        self.low, self.high = interval(bootstrap_ratios(self.sums, self.n, rng))
        self.warnings: list[str] = []
        self.comparison: RatioComparison | None = None
        self.human_values: NDArray[np.float64] | None = None
        self.cut: int | None = None
        if self.human is not None:
            self._compare(self.human)

    def _compare(self, human: Side) -> None:
        self.cut = matched_length(self.side.lengths, human.lengths)
        system_sums, human_sums = self.sums, self._ratio_sums(human, None)
        self.human_values = human_sums.values
        self.comparable = np.ones(len(self.columns), np.bool_)
        if self.cut is not None:
            self.warnings.append("unlike-lengths")
            cut_columns = self.side.table(self.options, self.cut).columns
            kept = [self.columns.index(column) for column in cut_columns]
            self.comparable[:] = False
            self.comparable[kept] = True
            system_sums = self._ratio_sums(self.side, self.cut)
            human_sums = self._ratio_sums(human, self.cut)
        self.compared = (system_sums, human_sums)
        paired = (
            len(human.corpora) == 1
            and can_be_paired(self.side.corpora[0], human.corpora[0], self.setting.unit)
            and set(system_sums.keys) == set(human_sums.keys)
        )
        if paired:
            human_sums = human_sums.select(system_sums.keys)
        curve = sum(
            column.source == self.columns[0].source and "ngram" in column.measure
            for column in self.columns
        )
        comparison = compare_ratios(
            system_sums,
            human_sums,
            n_resamples=self.n,
            rng=self.rng,
            paired=paired,
            joint=slice(0, curve),
        )
        size = min(len(system_sums), len(human_sums) // 2)
        margin = human_margin(human_sums, size, self.n, self.rng)
        if self.setting.margin is not None:
            margin = np.full_like(margin, self.setting.margin)
        self.size = size
        self.comparison, self.margin = comparison, margin

    def _ratio_sums(self, side: Side, cut: int | None) -> RatioSums:
        table = side.table(self.options, cut)
        units = side.units(self.setting.unit)
        if cut is not None:
            units = [u for u, kept in zip(units, side.kept(cut), strict=True) if kept]
        return RatioSums.from_documents(table.numerators, table.denominators, units)

    def _signature(self, column: Column) -> str:
        parts = dict(self.setting.signature)
        parts["source"] = column.source
        parts["role"] = self.options.train_role
        if self.cut is not None:
            parts["len"] = str(self.cut)
        parts["unit"] = self.setting.unit
        parts["protocol"] = self.setting.protocol
        version = parts.pop("v")
        return make_signature(column.measure, **parts, v=version)

    def measurements(self) -> list[Record]:
        """One record a measure."""
        found: list[Record] = []
        values = self.sums.values
        position = 0  # in the columns that were compared
        for k, column in enumerate(self.columns):
            record = Measurement(
                measure=column.measure,
                system=self.side.name,
                value=finite(values[k]),
                value_low=finite(self.low[k]),
                value_high=finite(self.high[k]),
                unit=column.unit,
                direction=column.direction,
                n_documents=self.side.documents,
                n_tokens=self.side.tokens,
                resampling_unit=self.setting.unit,
                warnings=list(self.warnings),
                signature=self._signature(column),
            )
            if self.comparison is not None and self.human_values is not None:
                record.human = finite(self.human_values[k])
                if self.comparable[k]:
                    self._add_comparison(record, position)
                    position += 1
            found.append(record)
        if self.side.scores[0].has_training:
            found.append(self._longest_copy())
        return found

    def _add_comparison(self, record: Measurement, k: int) -> None:
        comparison = self.comparison
        if comparison is None or np.isnan(comparison.distance[k]):
            return
        margin = float(self.margin[k])
        record.distance = finite(comparison.distance[k])
        record.distance_low = finite(comparison.low[k])
        record.distance_high = finite(comparison.high[k])
        record.floor = finite(comparison.floor[k])
        record.size = self.size
        record.p_value = finite(comparison.pvalue[k])
        if not np.isnan(comparison.pvalue_joint[k]):
            record.p_adjusted = finite(comparison.pvalue_joint[k])
            record.family = "novelty by n, step-down max-T"
        record.test = (
            f"sign flips of paired {record.resampling_unit}s, {self.n} resamples"
            if comparison.paired
            else f"studentized permutation of {record.resampling_unit}s, {self.n} resamples"
        )
        if np.isnan(margin) or np.isnan(comparison.low[k]):
            return
        record.reference = finite(margin)
        record.detectable = finite(
            detectable_difference(float(comparison.standard_error[k]), margin)
        )
        record.verdict = verdict(float(comparison.low[k]), float(comparison.high[k]), margin)

    def _longest_copy(self) -> Record:
        longest = max(int(scores.copied.max(initial=0)) for scores in self.side.scores)
        column = Column("novelty.longest_copy", "training", "tokens", "lower")
        return Measurement(
            measure=column.measure,
            system=self.side.name,
            value=float(longest),
            unit=column.unit,
            direction=column.direction,
            n_documents=self.side.documents,
            n_tokens=self.side.tokens,
            resampling_unit=self.setting.unit,
            signature=self._signature(column),
        )

    def series(self) -> list[Record]:
        """Novelty by n (Figures 1 and 15), and scores by position (Figure 14)."""
        found: list[Record] = []
        values = self.sums.values
        ngrams = self.options.ngrams
        for source in dict.fromkeys(column.source for column in self.columns):
            at = [
                k
                for k, column in enumerate(self.columns)
                if column.source == source and column.measure.startswith("novelty.ngram")
            ]
            found.append(
                Series(
                    measure=f"novelty.by_n.{source}",
                    system=self.side.name,
                    x_label="n",
                    y_label="share of n-grams that are novel",
                    x=[float(n) for n in ngrams],
                    y=[finite(values[k]) for k in at],
                    y_low=[finite(self.low[k]) for k in at],
                    y_high=[finite(self.high[k]) for k in at],
                    band="95 % for each n",
                    signature=self._signature(self.columns[at[0]]),
                )
            )
        if self.comparison is not None:
            comparison = self.comparison
            at = list(range(len(ngrams)))
            found.append(
                Series(
                    measure="novelty.by_n.distance",
                    system=self.side.name,
                    x_label="n",
                    y_label="novelty less that of human text",
                    x=[float(n) for n in ngrams],
                    y=[finite(comparison.distance[k]) for k in at],
                    y_low=[finite(comparison.distance[k] - comparison.band[k]) for k in at],
                    y_high=[finite(comparison.distance[k] + comparison.band[k]) for k in at],
                    band="95 % for all n at once, max-T",
                    signature=self._signature(self.columns[0]),
                )
            )
        if len(self.side.scores) == 1 and self.side.scores[0].has_training:
            bins, means = position_means(self.side.scores[0])
            if bins.size:
                found.append(
                    Series(
                        measure="novelty.by_position",
                        system=self.side.name,
                        x_label="position of the first token",
                        y_label="mean pointwise score, truncated at 10",
                        x=bins.astype(float).tolist(),
                        y=[finite(mean) for mean in means],
                        signature=self._signature(
                            Column("novelty.pointwise", "training", "tokens")
                        ),
                    )
                )
        return found


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
                f"whole in the training text; without them novelty.pointwise of the human text is "
                f"{without:.4f}"
            ),
        )
    ]


def _parts(human: Side, near: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    sizes = [len(corpus) for corpus in human.corpora]
    return np.split(near, np.cumsum(sizes)[:-1])


def near_duplicates(side: Side) -> NDArray[np.bool_]:
    """Documents of 5 tokens or more of which one training passage covers 80 % or more."""
    out = []
    for scores in side.scores:
        sizes = np.diff(scores.offsets)
        longest = np.zeros(sizes.size, np.int64)
        documents = np.repeat(np.arange(sizes.size), sizes)
        np.maximum.at(longest, documents, scores.copied)
        out.append((sizes >= _FEWEST_TOKENS) & (longest >= NEAR_DUPLICATE * sizes))
    return np.concatenate(out)


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


def _document_sums(side: Side, options: NoveltyOptions) -> list[DocumentSums]:
    table = side.table(options)
    (corpus,) = side.corpora
    lengths = corpus.text_lengths
    keys = [column.key for column in table.columns]
    return [
        DocumentSums(
            system=side.name,
            id=corpus.ids[d],
            group=corpus.groups[d],
            source=corpus.sources[d] if corpus.sources else None,
            n_tokens=int(lengths[d]),
            n_prompt_tokens=int(corpus.prompt_lengths[d]),
            sums={
                **dict(zip(keys, table.numerators[d].tolist(), strict=True)),
                **{
                    f"of.{key}": float(table.denominators[d, k])
                    for k, key in enumerate(keys)
                    if not key.startswith(("ngram", "pointwise"))
                },
            },
        )
        for d in range(len(corpus))
    ]


def _copies(
    side: Side, number: int, matches: Matches, options: NoveltyOptions, stream: TokenStream
) -> list[Record]:
    if matches.automaton is None or matches.settled is None or matches.training is None:
        return []
    (corpus,), (scores,) = side.corpora, side.scores
    passages = copied_passages(
        corpus, scores, matches.automaton, matches.automaton.prefix_states[number], matches.settled
    )
    supercopies = sum(passage.tokens >= SUPERCOPY for passage in passages)
    shown = passages[: max(options.n_examples, min(supercopies, options.most_supercopies))]
    sources = find_sources(shown, stream, matches.training, corpus.vocabulary)
    found: list[Record] = []
    for passage, source in zip(shown, sources, strict=True):
        text = corpus.texts[passage.document]
        found.append(
            Example(
                measure="novelty.supercopied"
                if passage.tokens >= SUPERCOPY
                else "novelty.copied50",
                system=side.name,
                document=corpus.ids[passage.document],
                text=text[passage.begin : passage.end],
                before=text[max(0, passage.begin - 120) : passage.begin],
                after=text[passage.end : passage.end + 120],
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
                note=_role_note(options.train_role),
            )
        )
    if len(passages) > len(shown):
        found.append(
            Warn(
                code="passages-left-out",
                system=side.name,
                message=f"{len(passages):,} passages of at least 50 characters are repeated; "
                f"the longest {len(shown):,} are listed",
            )
        )
    return found


def _role_note(role: str) -> str:
    return {
        "full": "copied from the training text",
        "sample": "copied; the training text is a sample, so there may be more",
        "reference": "also found in the reference text",
    }[role]
