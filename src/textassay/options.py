"""Options of the command line, by the families that they belong to."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from cyclopts import Parameter

_Files = Parameter(consume_multiple=True, negative=())


@Parameter(name="*")
@dataclass(frozen=True)
class NoveltyChoices:
    """Options of novelty."""

    ngrams: str = "1-10"
    "Sizes n of n-grams: 1-10, or 2,4,8."
    near_verbatim: Annotated[bool, Parameter(negative=())] = False
    "Also look for copies except for case and punctuation (reads the training text once more)."
    random_ngrams: int = 0
    "Also count so many random 100-grams of the training text, beside copied ones (once more)."
    examples: int = 20
    "Passages listed for each system beside all of 100 tokens."


@Parameter(name="*")
@dataclass(frozen=True)
class TendencyChoices:
    """Options of the tendencies."""

    language: str = "en"
    "Language of the list of stopwords: en, de, fr, and others (ISO 639-1)."
    stopwords: str | None = None
    "A file with your own list, one word a line."
    ranks: int = 10_000
    "Ranks over which Zipf's law is fitted; 0 for all."
    window: int | None = None
    "Tokens of the windows whose type-token ratios are averaged; default: by the documents."


@Parameter(name="*")
@dataclass(frozen=True)
class OverlapChoices:
    """Options of overlap."""

    smoothing: int = 1
    "Smoothing of BLEU, 0 to 4 (Chen and Cherry 2014)."
    effective_order: Annotated[bool, Parameter(negative=())] = False
    "Score a sentence shorter than the order at its own length."
    references: str = "human"
    "References of BLEU: human (a random half of it), or document (the field 'references' of each)."
    sample_documents: int | None = None
    "With --protocol published: documents for Self-BLEU and references, as older code took 500."
    embeddings: Annotated[list[str] | None, _Files] = None
    "A model folder (transformers, sentence-transformers), or NAME=FILE.npy for each text."
    mauve_documents: int = 1000
    "Documents a side from which on there is MAUVE."


@Parameter(name="*")
@dataclass(frozen=True)
class SamplingChoices:
    """How models among the inputs are sampled."""

    sample: Annotated[list[str] | None, _Files] = None
    "[NAME=]MODEL: a model whose texts are compared, as a model among the systems is."
    decoding: Annotated[list[str] | None, _Files] = None
    "ancestral, greedy, beams=4, or temperature=, top_k=, top_p=, typical=; each makes a system."
    number: Annotated[int | None, Parameter(name=["-n", "--number"])] = None
    "Texts of a model; default: as many as there are prompts, else 1,000."
    max_length: int = 200
    "Tokens of such a text, the model's own."
    prompt_length: int | None = None
    "Words of each prompt that a model is given."


@Parameter(name="*")
@dataclass(frozen=True)
class LikelihoodChoices:
    """Options of likelihood."""

    scorer: str | None = None
    "A model that tells how probable all texts are: quality beside novelty."
    scorer_train: Annotated[list[str] | None, _Files] = None
    "What the scorer was trained on: looked for in --train, and the other way round."
    scorer_context: int = 512
    "Tokens that a stretch of a text longer than the scorer's window sees before it."
    scorer_stretch: int = 1024
    "Tokens that are scored in such a stretch."


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """Options of all commands that compare texts."""

    human: Annotated[list[str] | None, _Files] = None
    "Human text, [NAME=]FILE; several for a between-source comparison."
    train: Annotated[list[str] | None, _Files] = None
    "Training text: files, folders, globs, or - for standard input."
    train_role: str = "full"
    "What it is: full, sample (copying is a lower bound), or reference (not the training text)."
    prompts: str | None = None
    "For plain text: a file with a prompt for each generated document."
    human_prompts: str | None = None
    "The same for the human text."
    tokenizer: str = "words"
    "words, bare-words, whitespace, characters, treebank, moses:LANG, hf:PATH, or ids."
    documents: str = "line"
    "What a document of generated and human text is: line, blank-line, file, or stream."
    train_documents: str = "line"
    "The same for training text."
    newlines: str | None = None
    "What a line end inside a document is: space, or a token; stream makes it <eos>."
    newline_token: int | None = None
    "For ready ids: the id that ends a document."
    normalize: str | None = None
    "nfc, nfkc, or casefold."
    errors: str = "strict"
    "Invalid UTF-8: strict, or replace."
    split_on: str | None = None
    "A string that separates samples inside a text, such as <|endoftext|>."
    text_field: str = "text"
    "The field of records that holds the text."
    prompt_field: str = "prompt"
    "The field of records that holds the prompt."
    id_type: str = "uint16"
    "Numbers in raw .bin files: uint16, or uint32."
    unit: str | None = None
    "Resampling unit: document, prompt, or source; default: what documents share."
    protocol: str = "equal"
    "equal (sizes), or published (full size, as in older tables)."
    margin: Annotated[list[str] | None, _Files] = None
    "MEASURE=NUMBER: distances up to it count as none, instead of the human text's own."
    resamples: int = 1999
    "Bootstrap resamples, and permutations of means; of whole distributions at most 999."
    seed: int = 0
    "Everything random depends on it alone."
    jobs: int | None = None
    "Threads or processes; default: all cores. The results do not depend on it."
    config: str | None = None
    "A TOML file with options under these names."
    json: Annotated[bool, Parameter(negative=())] = False
    "Print records to standard output, one JSON object a line."
    quiet: Annotated[bool, Parameter(negative=())] = False
    "No progress and no table."


# What commands take where nothing is given.
COMMON, NOVELTY, TENDENCIES = Options(), NoveltyChoices(), TendencyChoices()
OVERLAP, SAMPLING, LIKELIHOOD = OverlapChoices(), SamplingChoices(), LikelihoodChoices()


def option_kinds() -> dict[str, str]:
    """Names of all options but ``config``, and their types as they are written here."""
    kinds: dict[str, str] = {}
    for choices in (
        Options,
        NoveltyChoices,
        TendencyChoices,
        OverlapChoices,
        SamplingChoices,
        LikelihoodChoices,
    ):
        kinds.update({field.name: str(field.type) for field in fields(choices)})
    del kinds["config"]
    return kinds
