"""The tendencies: does text show the statistics of human language? (Meister and Cotterell 2021)

Each function takes a :class:`textassay.Corpus` or a list of strings. They describe; to compare with
human text at equal sizes, with intervals and verdicts, run an assay.

>>> from textassay.tendencies import unigram_distance
>>> unigram_distance(["a cat sat"], ["a dog sat"])
0.3333333333333333
"""

from textassay.tendencies.describe import (
    RankFrequency,
    TypesByLength,
    entropy,
    hapax_share,
    lengths,
    mattr,
    rank_frequency,
    rank_frequency_distance,
    stopword_shares,
    symbol_shares,
    type_token,
    unigram_distance,
    word_length,
)

__all__ = [
    "RankFrequency",
    "TypesByLength",
    "entropy",
    "hapax_share",
    "lengths",
    "mattr",
    "rank_frequency",
    "rank_frequency_distance",
    "stopword_shares",
    "symbol_shares",
    "type_token",
    "unigram_distance",
    "word_length",
]
