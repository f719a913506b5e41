"""What an assay asks of each family of measures.

Families are imported when they are asked for, so that the others cost no time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from textassay.corpus.by_unit import TRAINING
from textassay.corpus.corpus import Corpus
from textassay.corpus.files import find_files
from textassay.corpus.stopwords import read_stopwords, stopwords_of
from textassay.corpus.training_sample import can_be_sampled, sample_documents
from textassay.errors import InputError
from textassay.inputs import total_bytes
from textassay.novelty.counts import count_records
from textassay.novelty.measure import Matches, NoveltyOptions, find_matches
from textassay.novelty.near import near_verbatim_records
from textassay.novelty.records import novelty_records
from textassay.novelty.sides import Side
from textassay.results import DocumentSums, Record, Warn
from textassay.resume import Store
from textassay.work import Work

WORD_TOKENIZERS = ("words", "bare-words", "whitespace", "treebank")
_SAMPLED = 10  # times the human text is what is drawn from the training text
_FEWEST_SAMPLED, _MOST_SAMPLED = 1 << 20, 1 << 26  # characters


def measure_novelty(
    work: Work, store: Store | None
) -> tuple[Matches, list[Record], list[DocumentSums]]:
    """Scores of every token, records and sums; the training text is read once, or as often as is
    asked for."""
    settings, stream, progress = work.settings, work.stream, work.progress
    setting = work.setting(0)
    options = NoveltyOptions(settings.ngrams, settings.train_role, settings.examples)
    total = total_bytes(work.train_files)
    matches = find_matches(
        work.corpora,
        stream,
        work.workers,
        ngrams=settings.ngrams,
        progress=(lambda done: progress(TRAINING, done, total)) if progress else None,
        store=store,
    )
    work.show("novelty: comparing")
    sides = [
        Side(item.name, item.role == "human", [corpus], [scores])
        for item, corpus, scores in zip(work.inputs, work.corpora, matches.scores, strict=True)
    ]
    systems = [side for side in sides if not side.is_human]
    humans = [side for side in sides if side.is_human]
    records, documents = novelty_records(systems, humans, matches, options, setting, stream)
    if stream is not None and stream.can_be_read_again:
        if settings.near_verbatim:
            records += near_verbatim_records(sides, stream, options, setting, work.workers)
        if settings.random_ngrams and matches.training is not None:
            rng = np.random.default_rng(work.seed(1))
            number = settings.random_ngrams
            records += count_records(
                sides, stream, matches.training, number, setting, work.workers, rng
            )
    return matches, records, documents


def measure_tendencies(
    work: Work, training: Corpus | None
) -> tuple[list[Record], list[DocumentSums]]:
    """Records and sums of the tendencies."""
    from textassay.tendencies.family import TendencyOptions
    from textassay.tendencies.records import tendency_records

    settings = work.settings
    stopwords = None
    if settings.stopwords is not None:
        stopwords = read_stopwords(settings.stopwords, settings.errors)
    elif settings.tokenizer in WORD_TOKENIZERS or settings.tokenizer.startswith("moses:"):
        stopwords = stopwords_of(settings.language)
    work.show("tendencies: comparing")
    return tendency_records(
        *work.texts,
        training,
        TendencyOptions(stopwords, settings.ranks or None, settings.window),
        work.setting(2),
        work.workers,
    )


def measure_overlap(work: Work, training: Corpus | None) -> tuple[list[Record], list[DocumentSums]]:
    """Records and sums of overlap."""
    from textassay.overlap.embeddings import embed_all
    from textassay.overlap.family import OverlapOptions
    from textassay.overlap.records import overlap_records

    settings = work.settings
    vectors = None
    if settings.embeddings:
        texts = {item.name: c.texts for item, c in zip(work.inputs, work.corpora, strict=True)}
        vectors = embed_all(settings.embeddings, texts, work.progress)
    work.show("overlap: comparing")
    return overlap_records(
        *work.texts,
        training,
        OverlapOptions(
            tokenizer=settings.tokenizer,
            newline=settings.newline,
            smoothing=settings.smoothing,
            effective_order=settings.effective_order,
            references=settings.references,
            sample=settings.sample_documents,
            vectors=vectors,
            vectors_source=settings.vectors_source,
            mauve_documents=settings.mauve_documents,
        ),
        work.setting(4),
        work.workers,
    )


def measure_likelihood(work: Work, store: Store | None) -> tuple[list[Record], list[DocumentSums]]:
    """Likelihood of all texts under the scorer, and whether it saw the training text."""
    from textassay.likelihood.records import Scorer, likelihood_records
    from textassay.likelihood.scores import Likelihood
    from textassay.likelihood.scoring import score_texts
    from textassay.models.loading import digest_of_model, load_model
    from textassay.models.pretrained import PretrainedModel
    from textassay.models.prompts import spaced
    from textassay.scorer_check import scorer_overlap

    settings = work.settings
    place = settings.scorer or ""
    strides = (settings.scorer_context, settings.scorer_stretch)
    work.show("likelihood: loading the scorer")
    model = load_model(place, context=strides[0], scored=strides[1])
    digest = digest_of_model(place)
    key = f"{digest} {strides}"
    plain = {item.name for item in work.inputs if item.has_plain_prompts}

    def score(corpus: Corpus) -> Likelihood:
        texts, prompts = corpus.texts, corpus.prompts
        if corpus.name in plain:
            texts = [spaced(*pair) for pair in zip(prompts, texts, strict=True)]
        what = f"likelihood: scoring {corpus.name}"
        told = work.teller(what, len(corpus))
        return score_texts(model, texts, prompts, store=store, key=key, progress=told)

    parts: dict[str, object] = {"scorer": Path(place).name, "sha256": digest[:12]}
    if isinstance(model, PretrainedModel):
        parts.update(window=model.window, context=strides[0], stretch=strides[1])
    scorer = Scorer(Path(place).name, bool(model.closed), score, parts)
    setting = work.setting(5)
    records, sums = likelihood_records(*work.texts, scorer, setting)
    if scorer.closed:
        records.append(
            Warn(
                code="closed-scorer",
                measure="likelihood.nll_token",
                message="words outside the scorer's vocabulary all have the probability of <unk>: "
                "take a scorer of byte pairs to compare texts with unlike words",
            )
        )
    if settings.scorer_train and work.train_files:
        files = [file for pattern in settings.scorer_train for file in find_files(pattern)]
        reading = settings.reading.with_documents(settings.train_documents)
        work.show("likelihood: looking for the training text in the scorer's")
        records += scorer_overlap(files, work.train_files, reading, setting, work.workers)
    else:
        records.append(
            Warn(
                code="scorer-unchecked",
                measure="likelihood.nll_token",
                message="whether the scorer saw the models' training text is not known: name its "
                "own training text with --scorer-train, and the models' with --train",
            )
        )
    return records, sums


def training_sample(work: Work) -> tuple[Corpus | None, list[Record]]:
    """Some documents of the training text, where there is human text to compare them with."""
    settings = work.settings
    work.show("sampling the training text")
    if not work.train_files or work.tokenizer.reads_ids:
        return None, []
    if not settings.human:
        return None, [
            Warn(
                code="training-unused",
                message="without human text nothing is compared with the training text but novelty",
            )
        ]
    reading = settings.reading.with_documents(settings.train_documents)
    if not can_be_sampled(work.train_files, reading):
        return None, [
            Warn(
                code="training-not-sampled",
                message="no documents can be drawn from training text on standard input, nor from "
                "large files whose documents are not lines: it is not compared with human text",
            )
        ]
    texts = [text for corpus in work.corpora[work.n_systems :] for text in corpus.texts]
    wanted = _SAMPLED * sum(map(len, texts))
    characters = min(_MOST_SAMPLED, max(_FEWEST_SAMPLED, wanted))
    rng = np.random.default_rng(work.seed(3))
    documents = sample_documents(work.train_files, reading, characters, rng)
    if not documents:
        raise InputError("holds no text", file=", ".join(file.name for file in work.train_files))
    corpus = Corpus.from_documents(
        documents, work.tokenizer, work.vocabulary, name=TRAINING, newline=settings.newline
    )
    if not corpus.tokens.size:
        # novelty says so by itself
        empty = Warn(code="empty-training", message="the training text holds no token")
        return None, [] if "novelty" in settings.families else [empty]
    return corpus, []


def stream_warnings(work: Work, matches: Matches | None) -> list[Record]:
    """What must be known of the training text that novelty read."""
    found: list[Record] = []
    if matches is None:
        return found
    if matches.training is not None and not matches.training.tokens:
        found.append(
            Warn(code="empty-training", message="the training text holds no token: all is new")
        )
    if work.stream is not None and not work.stream.can_be_read_again:
        found.append(
            Warn(
                code="standard-input",
                message="training text on standard input is read once: passages are named by "
                "document and token, without the text around them, and neither --near-verbatim nor "
                "--random-ngrams can be had",
            )
        )
    return found
