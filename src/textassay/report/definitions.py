"""How every number on the page was made: terms and what they mean there."""

from __future__ import annotations

from collections.abc import Sequence

from textassay.results import Header, Measurement, parse_signature

Terms = list[tuple[str, str]]


def definitions(header: Header, measured: Sequence[Measurement]) -> Terms:
    """Terms and definitions for the families that were measured."""
    unit = measured[0].resampling_unit if measured else "document"
    families = {r.measure.partition(".")[0] for r in measured}
    found = _tokens(header)
    if "tendencies" in families:
        found += _tendencies(measured)
    if "overlap" in families:
        found += _overlap(measured)
    if "likelihood" in families:
        found += _likelihood()
    if "novelty" in families:
        found += _novelty()
    found += _comparison(header, unit, families)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(header.versions.items()))
    found.append(
        ("Versions", f"{versions}; textassay {header.package_version}; seed {header.seed}.")
    )
    return found


def _tokens(header: Header) -> Terms:
    return [
        (
            "Tokens",
            f"by the tokenizer {header.tokenizer}; a document is a "
            f"{header.settings.get('documents')} of plain text (or a record), in training text a "
            f"{header.settings.get('train_documents')}. A type is a distinct token.",
        )
    ]


def _tendencies(measured: Sequence[Measurement]) -> Terms:
    parts = [parse_signature(r.signature) for r in measured]
    ranks = next((p["ranks"] for p in parts if "ranks" in p), "")
    stopwords = next((p["stopwords"] for p in parts if "stopwords" in p), "none")
    window = next((p["window"] for p in parts if "window" in p), "")
    return [
        (
            "Zipf exponent, distance to Zipf",
            f"s of the law rank ** -s over the first {ranks} ranks, fitted by maximum likelihood; "
            "largest difference (KS) of the cumulative shares by rank from that law. People's text "
            "lies away from the law too: its own distance stands beside (Meister and Cotterell "
            "2021, section 3.1).",
        ),
        (
            "Ranks, unigrams",
            "KS distance of the cumulative shares by rank, each text by its own ranks; total "
            "variation distance of the shares of all types.",
        ),
        (
            "Heaps, types at a length",
            "types of a document of l tokens are Poisson with the mean alpha l ** beta; mean "
            "difference of types from documents of people at the same length.",
        ),
        (
            "Length, stopwords, symbols",
            "tokens of a document; shares of its tokens that are in the list of stopwords "
            f"({stopwords}), that are digits and punctuation alone. Mean and variance over "
            "documents; KS distance of the distributions.",
        ),
        (
            "Other tendencies",
            "hapax share: of types, that occur once; entropy of n-grams in bits; types in windows: "
            f"distinct tokens of {window} in a row, as a share, averaged; word length in "
            "characters.",
        ),
        (
            "Equal sizes",
            "what depends on the size of a text (ranks, unigrams, hapax, entropy, KS) is compared "
            "at one size, the system's or half of the human text if that is less, averaged over 40 "
            "random subsamples; size is in the signature. Intervals of these are 1.96 standard "
            "errors (a little more where units are few; longer away from a near bound) "
            "from random parts of both texts.",
        ),
    ]


def _overlap(measured: Sequence[Measurement]) -> Terms:
    parts = [parse_signature(r.signature) for r in measured]
    smoothing = next((p["smoothing"] for p in parts if "smoothing" in p), "1")
    size = next((p["bytes"] for p in parts if "bytes" in p), "")
    names = {r.measure for r in measured}
    found = [
        (
            "BLEU",
            "mean over documents of sentence BLEU against all references at once (uniform weights, "
            f"closest length, smoothing {smoothing} of Chen and Cherry 2014). References are a "
            "random half of the human text (refs in the signature); people's own BLEU is that of "
            "the other half. Against training text: as many of its documents.",
        ),
        (
            "Self-BLEU",
            "mean BLEU of each document against all others (Zhu et al. 2018), exact; averaged over "
            "random subsamples of the size in the signature: the higher, the less varied.",
        ),
        (
            "Distinct",
            "distinct n-grams over all n-grams, distinct documents over all, expected for that "
            "many documents (rarefaction).",
        ),
        (
            "Repetition",
            "share of a document's 4-grams that stood earlier in it.",
        ),
    ]
    if size:
        found.append(
            (
                "Compression ratio",
                f"bytes over compressed bytes (zlib) of pieces of {int(size):,} bytes, documents "
                "in random order; pieces are what is resampled (those of one unit together).",
            )
        )
    if any(name.startswith("overlap.prompt_") for name in names):
        found.append(
            (
                "Within a prompt",
                "pairs of samples of one prompt: BLEU-4 of one against the other, distinct bigrams "
                "and distinct documents of two; means over prompts.",
            )
        )
    if "overlap.embsim" in names:
        found.append(
            (
                "EmbSim",
                "natural logarithm of the mean over shared words of the cosine of their rows of "
                "similarities in two texts' skip-gram vectors, averaged over five seeds (Zhu et "
                "al. 2018): 0 is best.",
            )
        )
    if "overlap.frechet" in names:
        found.append(
            (
                "Vectors",
                "similarity: mean cosine of all pairs of documents; Frechet: squared distance of "
                "normal distributions with the vectors' means and covariances; MAUVE: area under "
                "the divergence curve of k-means clusters (Pillutla et al. 2021), smallest to "
                "largest of five seeds.",
            )
        )
    return found


def _likelihood() -> Terms:
    return [
        (
            "Perplexity, nats",
            "exp of the scorer's mean negative log-probability a token of its own, ends of "
            "documents included where it has them; prompts are context alone and count nowhere. "
            "nats a document: summed over it. Differences and verdicts are in nats a token.",
        ),
        (
            "Scorer",
            "compares texts with each other, not models with other tokens; low is not good by "
            "itself: text that repeats itself is probable. Its overlap with the training text is "
            "looked for by 1,000 random 20-grams each way (McCoy et al. 2021, appendix G.1), by "
            "letters alone.",
        ),
    ]


def _novelty() -> Terms:
    return [
        (
            "Novel n-gram",
            "one that occurs neither in the training text nor earlier in its document (prompt "
            "included); only n-grams wholly inside the judged text count (McCoy et al. 2021).",
        ),
        (
            "Score",
            "pointwise duplication score: the size of the smallest novel n-gram that ends at a "
            "token, at most one more than the tokens of the text so far, truncated at 5, averaged "
            "over tokens.",
        ),
        (
            "Copied passage",
            "tokens in a row that the training text holds, that cannot be made longer, of at least "
            "50 characters or 100 tokens; supercopied: 100 tokens or more.",
        ),
        (
            "Mean suffix, creativity",
            "mean length of the longest suffix in the training text (Merrill et al. 2024); share "
            "of tokens outside copies of L tokens or more, averaged over L = 5 to 12 (Lu et al. "
            "2024).",
        ),
    ]


def _comparison(header: Header, unit: str, families: set[str]) -> Terms:
    resamples = header.settings.get("resamples")
    few = "; where fewer than 20 of them show an event at all (few events), by limits of "
    rare = "; where these show few events, room is left for how little that tells of their rate"
    unlike = "; where lengths are unlike, of documents cut to one length (len in the signature)"
    novelty = "novelty" in families
    return [
        (
            "95 %",
            f"interval by bootstrap over {unit}s, {resamples} resamples"
            + (f"{few}what they add up to." if novelty else "."),
        ),
        (
            "Minus human",
            f"the system's value minus the human text's{unlike if novelty else ''}.",
        ),
        (
            "Margin",
            "the 95th percentile of distances between disjoint random parts of the human text, of "
            "the system's size, or halves if it is larger: differences up to it are seen between "
            "people" + (f"{rare}." if novelty else "."),
        ),
        (
            "Verdict",
            "within human variation if the whole interval lies inside the margin, differs if it "
            "lies wholly outside, else undecided.",
        ),
        (
            "Detectable",
            "the smallest true difference that is found to differ 4 times in 5, in a system whose "
            "documents are as unlike each other as this one's.",
        ),
        (
            "p",
            "of the hypothesis of no difference at all, where the verdict asks for more than the "
            f"margin: permutation of {unit}s (studentized for means; sign flips where prompts pair "
            "the sides; one-sided for distances); exact binomial where events are few; floor is "
            "the mean absolute distance it gives. The paper's levels of .05 and .005 are marked by "
            "one and two stars. Adjusted by Holm over systems for the primary measures (unigrams, "
            "Self-BLEU-4, score), by step-down max-T over n for the curve, for false discoveries "
            "otherwise.",
        ),
    ]
