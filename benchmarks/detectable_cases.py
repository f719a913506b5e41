"""Which defect moves which measure far enough to ask whether detectable differences are detected.

By the text that is dealt: measures within a prompt need several samples of one, copies of a hundred
tokens documents that are longer than that.
"""

from __future__ import annotations

Cases = dict[str, tuple[str, ...]]  # defect: measures
_CAPTIONS: Cases = {
    "typing errors": (
        "tendencies.hapax",
        "tendencies.entropy",
        "tendencies.entropy2",
        "tendencies.entropy3",
        "novelty.ngram1",
        "novelty.ngram2.training",
        "novelty.mean_suffix.training",
        "novelty.creativity.training",
    ),
    "words from news": (
        "tendencies.zipf.exponent",
        "tendencies.unigram.tvd",
        "tendencies.rank_frequency.ks",
        "overlap.bleu2",
        "overlap.bleu3",
        "overlap.corpus_bleu2",
        "overlap.corpus_bleu3",
        "overlap.corpus_bleu4",
        "overlap.corpus_bleu5",
        "overlap.self_bleu2",
        "overlap.self_bleu3",
        "overlap.self_bleu4",
        "overlap.self_bleu5",
        "overlap.distinct1",
        "overlap.distinct2",
        "overlap.distinct3",
        "overlap.distinct4",
        "overlap.compression_ratio",
        "overlap.similarity",
        "overlap.frechet",
        "novelty.pointwise",
        "novelty.pointwise_untruncated",
        "likelihood.nll_sentence",
    ),
    "neighbours swapped": (
        "overlap.bleu4",
        "overlap.bleu5",
        "novelty.ngram4",
        "likelihood.nll_token",
    ),
    "words dropped": ("tendencies.length.mean",),
    "stopwords dropped": (
        "tendencies.stopwords.mean",
        "tendencies.zipf.ks",
        "tendencies.stopwords.ks",
        "tendencies.length.ks",
    ),
    "symbols dropped": (
        "tendencies.symbols.mean",
        "tendencies.symbols.ks",
    ),
    "long words become one": ("tendencies.word_length",),
    "words said twice": (
        "tendencies.length.variance",
        "tendencies.mattr",
        "tendencies.type_token.difference",
    ),
    "later words repeat earlier ones": ("tendencies.heaps.alpha", "tendencies.heaps.beta"),
    "copied whole": (
        "novelty.ngram6",
        "novelty.ngram8",
        "novelty.ngram10",
        "novelty.copied50.training",
        "novelty.copied_documents.training",
    ),
    "one text repeated": (
        "overlap.self_bleu4",
        "overlap.distinct2",
        "overlap.distinct_documents",
        "overlap.compression_ratio",
        "overlap.embsim",
    ),
    "first half said twice": (
        "overlap.repetition4",
        "tendencies.type_token.difference",
    ),
    "cut to two thirds": ("tendencies.length.mean",),
    "another topic": ("tendencies.stopwords.variance", "tendencies.symbols.variance"),
}
_SPEECHES: Cases = {
    "words from news": ("overlap.prompt_distinct2",),
    "one text repeated": (
        "overlap.prompt_bleu4",
        "overlap.prompt_distinct_documents",
        "overlap.prompt_similarity",
    ),
}
_REVIEWS: Cases = {"a speech goes on": ("novelty.supercopied.training",)}

CASES: dict[str, Cases] = {
    "captions": _CAPTIONS,
    "speeches": _SPEECHES,
    "reviews": _REVIEWS,
}
