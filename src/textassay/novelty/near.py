"""Near-verbatim copies: a second matching of words alone, whatever their case and punctuation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textassay.corpus.corpus import Corpus
from textassay.corpus.documents import Document
from textassay.corpus.stream import TokenStream
from textassay.corpus.tokenizers import make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.novelty.comparison import Bench, SideReport
from textassay.novelty.measure import NoveltyOptions, find_matches
from textassay.novelty.records import passage_records
from textassay.novelty.sides import Side
from textassay.parallel import Workers
from textassay.results import Measurement, Record
from textassay.stats.setting import Setting

TOKENIZER = "bare-words"
_MEASURES = ("novelty.longest_copy", "novelty.supercopied", "novelty.copied50")


def near_verbatim_records(
    sides: Sequence[Side],
    stream: TokenStream,
    options: NoveltyOptions,
    setting: Setting,
    workers: Workers,
) -> list[Record]:
    """Copies except for case and punctuation: the same measures, told apart by their signatures.

    Cost: one more pass over the training text.
    """
    tokenizer = make_tokenizer(TOKENIZER)
    vocabulary = Vocabulary()
    corpora = [
        Corpus.from_documents(
            [
                Document(text.casefold(), prompt.casefold())
                for text, prompt in zip(corpus.texts, corpus.prompts, strict=True)
            ],
            tokenizer,
            vocabulary,
            name=corpus.name,
            newline=stream.newline,
        )
        for side in sides
        for corpus in side.corpora
    ]
    folded = replace(stream.reading, normalize="casefold")
    near_stream = TokenStream(stream.files, tokenizer, folded, stream.newline)
    matches = find_matches(corpora, near_stream, workers, ngrams=options.ngrams[:1])
    signature = {**setting.signature, "tok": TOKENIZER, "norm": "casefold"}
    near_setting = replace(setting, signature=signature, unit="document")
    bench = Bench(None, options, near_setting)
    found: list[Record] = []
    for number, (side, corpus) in enumerate(zip(sides, corpora, strict=True)):
        near = Side(side.name, side.is_human, [corpus], [matches.scores[number]])
        found.extend(
            record
            for record in SideReport(near, bench, None).measurements()
            if isinstance(record, Measurement) and record.measure in _MEASURES
        )
        (original,) = side.corpora
        found.extend(passage_records(near, number, matches, options, near_stream, shown=original))
    return found
