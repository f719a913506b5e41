"""What gives probabilities and samples: language models, and ways to decode from them."""
