"""Training speed of an LSTM of word_language_model's size, beside a plain torch.nn.LSTM loop.

python benchmarks/models.py [--steps 60] [--repeats 5]

Two layers of 200, batches of 20 rows x 35 tokens, 33,278 words, dropout .2, SGD at a rate of 20
with gradients clipped to a norm of .25: what pytorch/examples/word_language_model does by default.
The plain loop is that recipe written out here, once with tied weights, as the model has them, and
once without. Both run in turn in one process; ratios are taken within a turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from texts import Words
from torch import nn

from textassay.models.networks import Shape
from textassay.models.text_tokens import ListedTokens
from textassay.models.training import train
from textassay.models.training_options import Progress, TrainingOptions

VOCABULARY, WIDTH, LAYERS, BATCH, STRETCH, DROPOUT = 33_278, 200, 2, 20, 35, 0.2


class Plain(nn.Module):
    """Embedding, LSTM, linear layer."""

    def __init__(self, size: int, tied: bool) -> None:
        super().__init__()
        self.drop = nn.Dropout(DROPOUT)
        self.encoder = nn.Embedding(size, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, LAYERS, dropout=DROPOUT)
        self.decoder = nn.Linear(WIDTH, size)
        if tied:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, ids, state):
        """Log-probabilities behind each id."""
        out, state = self.lstm(self.drop(self.encoder(ids)), state)
        return self.decoder(self.drop(out)), state


def plain_speed(flat: np.ndarray, size: int, steps: int, tied: bool) -> float:
    """Tokens a second of the plain loop."""
    torch.manual_seed(0)
    model = Plain(size, tied)
    rows = flat[: flat.size // BATCH * BATCH].reshape(BATCH, -1)
    data = torch.from_numpy(rows.T.copy())
    state = None
    begin = 0.0
    for step in range(steps + 5):
        if step == 5:
            begin = time.perf_counter()
        at = step * STRETCH
        inputs, targets = data[at : at + STRETCH], data[at + 1 : at + 1 + STRETCH]
        model.zero_grad()
        if state is not None:
            state = tuple(part.detach() for part in state)
        logits, state = model(inputs, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(parameter.grad, alpha=-20)
        loss.item()
    return steps * STRETCH * BATCH / (time.perf_counter() - begin)


def our_speed(documents: list[str], tokens: ListedTokens) -> float:
    """Tokens a second of textassay, as its progress tells."""
    shape = Shape("lstm", tokens.size, width=WIDTH, layers=LAYERS, dropout=DROPOUT)
    options = TrainingOptions(
        epochs=1,
        batch=BATCH,
        stretch=STRETCH,
        optimiser="sgd",
        rate=20.0,
        schedule="constant",
        warmup=0,
        weight_decay=0.0,
        clip_norm=0.25,
        checkpoint_every=10**9,
    )
    told: list[Progress] = []
    with tempfile.TemporaryDirectory() as folder:
        train(documents, tokens, shape, options, folder=Path(folder), progress=told.append)
    return told[-1].tokens_per_second


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    words = Words()
    ids = words.walk((options.steps + 10) * STRETCH * BATCH, 1)
    documents = [" ".join(words.types[ids[i : i + 25]]) for i in range(0, ids.size, 25)]
    tokens = ListedTokens("words", words.types[:VOCABULARY].tolist())
    flat = np.concatenate([[0, *row, 1] for row in tokens.encode(documents)])
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(options.repeats):
        mine = our_speed(documents, tokens)
        shown = [f"textassay {mine:,.0f} tokens/s"]
        for tied, name in ((True, "plain, tied"), (False, "plain, not tied")):
            theirs = plain_speed(flat, tokens.size, options.steps, tied)
            ratios[tied].append(mine / theirs)
            shown.append(f"{name} {theirs:,.0f} ({mine / theirs:.2f})")
        print("; ".join(shown), flush=True)
    medians = {tied: float(np.median(found)) for tied, found in ratios.items()}
    print(
        f"median ratios: {medians[True]:.2f} to the plain loop with tied weights, "
        f"{medians[False]:.2f} to the one without"
    )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
