"""The main job: systems, human text and training text in; records out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from textassay.corpus.files import hashed_ahead
from textassay.corpus.tokenizers import make_tokenizer
from textassay.errors import UsageError
from textassay.families import (
    measure_likelihood,
    measure_novelty,
    measure_overlap,
    measure_tendencies,
    stream_warnings,
    training_sample,
)
from textassay.inputs import (
    Drawn,
    check_inputs,
    find_inputs,
    find_training,
    input_warnings,
    make_header,
)
from textassay.novelty.measure import Matches
from textassay.parallel import Workers
from textassay.results import (
    DocumentSums,
    Measurement,
    Record,
    write_records,
)
from textassay.resume import Store
from textassay.settings import AssaySettings
from textassay.stats.adjustment import adjust
from textassay.stats.ratio_sums import make_ready
from textassay.work import Progress, read_work


@dataclass(frozen=True, eq=False)
class Assay:
    """What an assay found.

    Attributes
    ----------
    records : list of Record
        Header first.
    documents : list of DocumentSums
    matches : Matches or None
        Scores of every token; None where novelty was not asked for.
    names : list of str
        Systems and human files in the order of ``matches.corpora``.
    """

    records: list[Record]
    documents: list[DocumentSums]
    matches: Matches | None
    names: list[str]

    def write(self, folder: Path) -> None:
        """Write ``results.jsonl`` and ``documents.jsonl.zst``: both, whole, or neither."""
        write_records(
            {
                folder / "documents.jsonl.zst": self.documents,
                folder / "results.jsonl": self.records,
            }
        )


def run_assay(
    settings: AssaySettings,
    *,
    command: str = "",
    progress: Progress | None = None,
    store: Store | None = None,
    drawn: Drawn | None = None,
) -> Assay:
    """Compare systems with human and training text.

    Parameters
    ----------
    settings : AssaySettings
    command : str
        Kept in the header.
    progress : callable, optional
        Called with what is under way, how much is done, and of how much (bytes; None: unknown).
    store : Store, optional
        Where unfinished work is kept, so that the same call goes on after an interruption.
    drawn : dict, optional
        Files of texts that :func:`textassay.sampling.sampled_texts` drew from models, by role and
        argument.

    Raises
    ------
    TextassayError
        If an input cannot be used; nothing has been written then.
    """
    drawn = drawn or {}
    inputs = find_inputs(settings, drawn)
    train_files = find_training(settings, drawn)
    with hashed_ahead(train_files) as wait_for_digests:
        tokenizer = make_tokenizer(settings.tokenizer)
        check_inputs(settings, inputs, train_files, tokenizer)
        work = read_work(settings, inputs, train_files, tokenizer, progress)
        with Workers(settings.jobs) as work.workers:
            doubts = work.workers.start(work.text_warnings)
            ready = work.workers.start(make_ready)
            records: list[Record] = []
            documents: list[DocumentSums] = []
            matches = None
            if "novelty" in settings.families:
                matches, records, documents = measure_novelty(work, store)
            # afterwards, since a sample of the training text adds words that were not generated
            others = {"tendencies": measure_tendencies, "overlap": measure_overlap}
            wanted = [measured for name, measured in others.items() if name in settings.families]
            training = training_sample(work) if wanted else (None, [])
            found = list(training[1])
            for measured in wanted:
                more, sums = measured(work, training[0])
                found += more
                documents = joined_sums(documents, sums)
            if "likelihood" in settings.families:
                more, sums = measure_likelihood(work, store)
                found += more
                documents = joined_sums(documents, sums)
            records = [*found, *records]
            ready.result()
            warnings = doubts.result()
            jobs = work.workers.jobs
        adjust(records)
        _check_margins(settings, records)
        wait_for_digests()
    warnings.extend(input_warnings(inputs, train_files, records))
    warnings.extend(stream_warnings(work, matches))
    counts = []
    if matches is not None and matches.training is not None:
        counts = [
            (matches.training.documents_of(k), matches.training.tokens_of(k))
            for k in range(len(train_files))
        ]
    header = make_header(settings, inputs, train_files, counts, command, jobs)
    return Assay([header, *warnings, *records], documents, matches, work.names)


def _check_margins(settings: AssaySettings, records: Sequence[Record]) -> None:
    """A margin of a measure that is not measured is a slip of the pen."""
    measured = sorted({r.measure for r in records if isinstance(r, Measurement)})
    for name, margin in settings.margins().items():
        if name and name not in measured:
            alike = get_close_matches(name, measured, n=1) or measured[:1]
            raise UsageError(
                f"--margin {name}={margin:g}: nothing is measured under this name"
                + "".join(f"; {one} is" for one in alike)
            )


def joined_sums(first: list[DocumentSums], second: list[DocumentSums]) -> list[DocumentSums]:
    """Sums of the same documents by several families, as one record a document."""
    if not first:
        return second
    known = {(document.system, document.id): document for document in first}
    for document in second:
        known[document.system, document.id].sums.update(document.sums)
    return first
