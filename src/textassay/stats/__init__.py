"""Numbers about numbers: resampling, tests, intervals and verdicts; nothing about text."""
