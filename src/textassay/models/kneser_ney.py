"""Interpolated Kneser-Ney n-gram models of words.

Kneser and Ney 1995; Chen and Goodman 1999, "An empirical study of smoothing techniques". With h'
the history h without its earliest word and c the counts of `HistoryCounts`,

    p(w | h) = max(c(h w) - D, 0) / c(h) + D N(h) / c(h) * p(w | h'),

N(h) the number of different words behind h and D one discount for each length of h. At the empty
history the share D N / c goes to ``<unk>``, the one token of all words that were not in the
training text: the discount takes from every word what a word new to the text may expect.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textassay.corpus.tokenizers import Tokenizer, encode_documents, make_tokenizer
from textassay.corpus.vocabulary import Vocabulary
from textassay.errors import InputError, UsageError
from textassay.models.decoding import Decoding
from textassay.models.history_counts import HistoryCounts, count_histories, estimate_discounts
from textassay.models.prompts import at_word, paired, spaced
from textassay.resume import digest_of
from textassay.stats.resampling import as_generator
from textassay.writing import atomic_files

_ROWS = 64  # texts sampled by one kernel call
_FORMAT = 2


class KneserNey:
    """An interpolated Kneser-Ney model; see :meth:`train`.

    Attributes
    ----------
    order : int
        Words of history plus one.
    discounts : float64[order]
        By length of the history.
    closed : bool
        True: unknown words share ``<unk>``.
    window : int
        Words of history.

    Examples
    --------
    >>> model = KneserNey.train(["a b a b", "a b b"], order=3)
    >>> text_log_probability = model.log_probabilities(["a b"])[0]
    >>> text_log_probability.size  # two words and the end
    3
    >>> model.sample(1, Decoding.parse("greedy"), max_length=5)
    ['a b']
    """

    closed = True

    def __init__(
        self,
        counts: HistoryCounts,
        vocabulary: Vocabulary,
        tokenizer: Tokenizer,
        discounts: NDArray[np.float64],
    ) -> None:
        self.counts, self.vocabulary, self.tokenizer = counts, vocabulary, tokenizer
        self.discounts = discounts
        self.order = counts.order
        self.window: int | None = counts.order - 1
        # symbols: words, then the text's end, unknown words, and what stands before a text
        self._end = len(vocabulary)
        self._unknown, self._begin = self._end + 1, self._end + 2
        self._tree = self._make_tree()

    @classmethod
    def train(
        cls,
        texts: Sequence[str],
        *,
        order: int = 3,
        tokenizer: Tokenizer | str = "whitespace",
        discount: float | None = None,
        unknown: bool = True,
    ) -> KneserNey:
        """Count a training text. Cost: some 3 s and 0.6 GB a million words at order 6.

        Parameters
        ----------
        texts : sequence of str
            Documents; each is one sequence with an end of its own.
        order : int
            At least 1.
        tokenizer : Tokenizer or str
        discount : float, optional
            One discount for all lengths of history, 0 <= D < 1; default: n1 / (n1 + 2 n2) from the
            numbers of counts that are 1 and 2, separately for each length (Ney, Essen and Kneser
            1994), or 0.5 where there are none of either.
        unknown : bool
            Whether ``<unk>`` gets the discounts of the empty history. False: unknown words have
            probability 0, as in models without smoothing at the root.

        Raises
        ------
        UsageError
            If the order or discount is impossible, or there is no text.
        """
        if order < 1:
            raise UsageError(f"order {order}: at least 1 is needed")
        if discount is not None and not 0 <= discount < 1:
            raise UsageError(f"discount {discount}: a number from 0 to below 1 is needed")
        if not texts:
            raise UsageError("there is no text to train on")
        if isinstance(tokenizer, str):
            tokenizer = make_tokenizer(tokenizer)
        vocabulary = Vocabulary()
        encoded = encode_documents(texts, tokenizer, vocabulary)
        end, begin = len(vocabulary), len(vocabulary) + 2
        symbols = np.insert(encoded.ids.astype(np.int64), encoded.offsets[1:], end)
        offsets = encoded.offsets + np.arange(encoded.offsets.size)
        place = np.arange(symbols.size) - np.repeat(offsets[:-1], np.diff(offsets))
        histories = np.full((order - 1, symbols.size), begin, np.int64)
        for k in range(1, order):
            inside = np.flatnonzero(place >= k)
            histories[k - 1, inside] = symbols[inside - k]
        counts = count_histories(histories, symbols, len(vocabulary) + 3)
        if discount is not None:
            discounts = np.full(order, float(discount))
        else:
            discounts = estimate_discounts(counts)
        if not unknown:
            discounts[0] = 0.0
        return cls(counts, vocabulary, tokenizer, discounts)

    def _make_tree(self) -> Any:
        from textassay.models.kneser_ney_kernels import Tree

        counts = self.counts
        running = np.concatenate([[0], np.cumsum(counts.pair_counts)])
        before = running[counts.first_pair]
        sizes = np.diff(counts.first_pair)
        totals = np.diff(before)
        root = slice(counts.first_pair[0], counts.first_pair[1])
        shared = self.discounts[0] * (root.stop - root.start) / totals[0]
        return Tree(
            context_symbols=counts.context_symbols,
            first_child=counts.first_child,
            first_pair=counts.first_pair,
            pair_symbols=counts.pair_symbols,
            pair_counts=counts.pair_counts,
            cumulated=running[1:] - np.repeat(before[:-1], sizes),
            totals=totals,
            discounts=self.discounts,
            unknown=self._unknown,
            shared=float(shared),
        )

    def _encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Symbols of texts, unknown words as ``<unk>``; where each text begins."""
        own = Vocabulary()
        encoded = encode_documents(texts, self.tokenizer, own)
        known = self.vocabulary.find(own.strings).astype(np.int64)
        known[known < 0] = self._unknown
        return known[encoded.ids] if encoded.ids.size else encoded.ids.astype(
            np.int64
        ), encoded.offsets

    def log_probabilities(
        self,
        texts: Sequence[str],
        prompts: Sequence[str] | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[NDArray[np.float64]]:
        """For each text, ln p of its words and its end, given the words before.

        Unknown words get the probability of ``<unk>``, which is that of all of them together.

        Raises
        ------
        UsageError
            If there are more or fewer prompts than texts.
        """
        from textassay.models.kneser_ney_kernels import score

        if not texts:
            return []
        pairs = [at_word(*pair) for pair in zip(paired(len(texts), prompts), texts, strict=True)]
        prompt, prompt_offsets = self._encode([before for before, _ in pairs])
        text, text_offsets = self._encode([behind for _, behind in pairs])
        parts = []
        for d in range(len(texts)):
            parts.append(prompt[prompt_offsets[d] : prompt_offsets[d + 1]])
            parts.append(text[text_offsets[d] : text_offsets[d + 1]])
            parts.append(np.array([self._end]))
        symbols = np.concatenate(parts)
        offsets = text_offsets + prompt_offsets + np.arange(len(texts) + 1)
        sizes = np.diff(prompt_offsets)
        out = np.zeros(symbols.size)
        with np.errstate(divide="ignore"):
            score(self._tree, self.order, self._begin, symbols, offsets, sizes, out)
        if progress:
            progress(len(texts))
        return [out[offsets[d] + sizes[d] : offsets[d + 1]] for d in range(len(texts))]

    def next_probabilities(self, history: Sequence[str]) -> NDArray[np.float64]:
        """p of every word, the end and ``<unk>`` behind some words, float64[words + 2].

        For looking and for tests; linear in the vocabulary.
        """
        from textassay.models.kneser_ney_kernels import distribution, find_path

        known = self.vocabulary.find(list(history)).astype(np.int64)
        known[known < 0] = self._unknown
        recent = np.full(self.order - 1, self._begin, np.int64)
        for k, symbol in enumerate(known[::-1][: self.order - 1]):
            recent[k] = symbol
        path = np.empty(self.order, np.int64)
        out = np.empty(self._begin)
        distribution(self._tree, path, find_path(self._tree, 0, recent, path), out)
        return out

    def sample(
        self,
        n: int,
        decoding: Decoding | None = None,
        *,
        prompts: Sequence[str] | None = None,
        max_length: int = 1000,
        rng: np.random.Generator | int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[str]:
        """Texts with a space between words, ended by the model or at `max_length` words.

        Parameters
        ----------
        n : int
            How many; with prompts, one for each of the first `n`.
        decoding : Decoding, optional
            Default: ancestral. ``<unk>`` is never drawn: the distribution is that of known words.
        prompts : sequence of str, optional
        max_length : int
        rng : Generator or int, optional
        progress : callable, optional
            Told how many texts are drawn.

        Raises
        ------
        UsageError
            If there are fewer than `n` prompts.
        """
        from textassay.models.kneser_ney_kernels import sample

        decoding = decoding or Decoding()
        before = paired(n, prompts)
        if n < 1:
            return []
        prompt, prompt_offsets = self._encode(before)
        generator = as_generator(rng)
        strings = self.vocabulary.strings
        if decoding.beams > 1 or decoding.typical < 1:
            from textassay.models.drawing import draw_ids
            from textassay.models.kneser_ney_reader import HistoryReader

            drawn = draw_ids(
                lambda: HistoryReader(
                    self._tree, self.order, self._end, self._unknown, self._begin
                ),
                [row.tolist() for row in np.split(prompt, prompt_offsets[1:-1])],
                decoding,
                [max_length] * n,
                generator.integers(0, 2**63, n).tolist(),
                progress,
            )
            words = (" ".join(strings[s] for s in ids) for ids in drawn)
            return [spaced(text, own) for text, own in zip(before, words, strict=True)]
        key = np.uint64(generator.integers(0, 2**64, dtype=np.uint64))
        cut = self._cut(decoding)
        chosen = np.empty(self.counts.n_symbols, np.int32)
        weights = np.empty(self.counts.n_symbols)
        texts: list[str] = []
        for first in range(0, n, _ROWS):
            last = min(n, first + _ROWS)
            out = np.empty((last - first, max_length), np.int32)
            sizes = np.empty(last - first, np.int64)
            sample(
                self._tree,
                self.order,
                self._begin,
                self._end,
                prompt,
                prompt_offsets,
                first,
                last,
                max_length,
                key,
                not decoding.is_ancestral,
                cut,
                chosen,
                weights,
                out,
                sizes,
            )
            texts.extend(
                spaced(text, " ".join(strings[s] for s in row[:size].tolist()))
                for text, row, size in zip(before[first:last], out, sizes.tolist(), strict=True)
            )
            if progress:
                progress(len(texts))
        return texts

    def _cut(self, decoding: Decoding) -> Any:
        from textassay.models.kneser_ney_kernels import Cut

        contexts, pairs = self._tree.totals.size, self.counts.pair_symbols.size
        if decoding.is_ancestral:
            contexts, pairs = 0, 0  # nothing will be listed
        return Cut(
            exponent=1.0 if decoding.is_greedy else 1.0 / decoding.temperature,
            top_k=1 if decoding.is_greedy else (decoding.top_k or 0),
            top_p=float(decoding.top_p),
            ready=np.zeros(contexts, np.uint8),
            probabilities=np.empty(pairs),
            order=np.empty(pairs, np.int32),
            running=np.empty(pairs),
            own=np.empty(contexts),
            shorter=np.empty(contexts),
            first_other=np.empty(contexts, np.int64),
        )

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``counts.npz``.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        folder = Path(folder)
        arrays = {
            name: getattr(self.counts, name)
            for name in (
                "levels",
                "context_symbols",
                "first_child",
                "first_pair",
                "pair_symbols",
                "pair_counts",
            )
        }
        packed = io.BytesIO()
        np.savez(packed, allow_pickle=False, discounts=self.discounts, **arrays)
        described: dict[str, Any] = {
            "model": "kneser-ney",
            "format": _FORMAT,
            "order": self.order,
            "tokenizer": self.tokenizer.name,
            "vocabulary": self.vocabulary.strings,
        }
        described["sha256"] = digest_of(packed.getvalue(), sorted(described.items()))
        paths = [folder / "counts.npz", folder / "model.json"]
        with atomic_files(paths) as (counts, text):
            counts.write(packed.getvalue())
            text.write(json.dumps(described, ensure_ascii=False).encode())

    @classmethod
    def load(cls, folder: Path) -> KneserNey:
        """Read what :meth:`save` wrote.

        Raises
        ------
        InputError
            If the folder holds no such model.
        """
        folder = Path(folder)
        try:
            described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
            if described.get("model") != "kneser-ney" or described.get("format") != _FORMAT:
                raise ValueError("model.json names another model or format")
            packed = (folder / "counts.npz").read_bytes()
            # indices are trusted by compiled code: nothing but what was written together is read
            told = described.pop("sha256", None)
            if told != digest_of(packed, sorted(described.items())):
                raise ValueError("model.json and counts.npz were not written together")
            with np.load(io.BytesIO(packed), allow_pickle=False) as saved:
                arrays = {name: saved[name] for name in saved.files}
            discounts = arrays.pop("discounts")
            vocabulary = Vocabulary()
            vocabulary.add(described["vocabulary"])
            counts = HistoryCounts(
                order=described["order"], n_symbols=len(vocabulary) + 3, n_kinds=1, **arrays
            )
            return cls(counts, vocabulary, make_tokenizer(described["tokenizer"]), discounts)
        except Exception as error:  # whatever is wrong with the files
            said = f"holds no Kneser-Ney model: {error}; train it anew"
            raise InputError(said, file=str(folder)) from None
