"""Numbers about numbers: resampling, tests, intervals, fits and verdicts; nothing about text.

Usable alone, on NumPy arrays, with SciPy's conventions:

>>> from textassay.stats import permutation_test
>>> permutation_test([1, 2, 3], [7, 8, 9]).pvalue
0.1
"""

from textassay.stats.distances import chi_square, ks_distance, total_variation
from textassay.stats.estimates import bootstrap, subsample
from textassay.stats.fits import heaps_fit, power_law_fit, rank_fit, zipf_fit
from textassay.stats.multiplicity import benjamini_hochberg, holm, max_t
from textassay.stats.permutation import permutation_test
from textassay.stats.verdicts import detectable_difference, verdict

__all__ = [
    "benjamini_hochberg",
    "bootstrap",
    "chi_square",
    "detectable_difference",
    "heaps_fit",
    "holm",
    "ks_distance",
    "max_t",
    "permutation_test",
    "power_law_fit",
    "rank_fit",
    "subsample",
    "total_variation",
    "verdict",
    "zipf_fit",
]
