"""Likelihood: how probable a language model finds a text, in units that compare.

>>> from textassay.likelihood import Likelihood
>>> Likelihood.from_logs([[-1.0, -2.0]], ["ab"]).nll_token
1.5
"""

from textassay.likelihood.scores import Likelihood

__all__ = ["Likelihood"]
