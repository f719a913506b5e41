"""Which measure is which column of which statistics, and in what unit it is told."""

from __future__ import annotations

from textassay.stats.count_records import CountMeasure, EntropyMeasure

_ANY = (float("-inf"), float("inf"))

OF_TYPES = (
    CountMeasure("tendencies.zipf.exponent", "exponent", 0, False, _ANY),
    CountMeasure("tendencies.zipf.ks", "share of tokens", 1, False, (0.0, 1.0)),
    CountMeasure("tendencies.hapax", "share of types", 2, False, (0.0, 1.0)),
    EntropyMeasure("tendencies.entropy", "bits a token", 3, False, (0.0, float("inf"))),
    CountMeasure("tendencies.unigram.tvd", "share of tokens", 4, True, (0.0, 1.0)),
    CountMeasure("tendencies.rank_frequency.ks", "share of tokens", 5, True, (0.0, 1.0)),
)
OF_LENGTHS = CountMeasure("tendencies.length.ks", "share of documents", 0, True, (0.0, 1.0))
OF_SHARES = {
    "stopwords": CountMeasure("tendencies.stopwords.ks", "share of documents", 0, True, (0.0, 1.0)),
    "symbols": CountMeasure("tendencies.symbols.ks", "share of documents", 0, True, (0.0, 1.0)),
}
OF_NGRAMS = {
    n: EntropyMeasure(f"tendencies.entropy{n}", f"bits a {n}-gram", 0, False, (0.0, float("inf")))
    for n in (2, 3)
}
HEAPS = (
    ("tendencies.heaps.alpha", "types of a document of one token"),
    ("tendencies.heaps.beta", "exponent"),
    ("tendencies.type_token.difference", "types, at the same length"),
)
