"""Is text new, or copied from training text or from its own context? (RAVEN, McCoy et al. 2021)"""
