"""Overlap: is the text good (like people's), and is it varied (unlike itself)?

>>> from textassay.overlap import self_bleu
>>> self_bleu(["a cat sat down", "a cat sat up"], order=2).score
0.7071067811865475
"""

from textassay.overlap.bleu import Bleu, bleu, bleu_by_document, self_bleu
from textassay.overlap.compression import compression_ratio
from textassay.overlap.diversity import distinct, distinct_documents, repetition
from textassay.overlap.embedding_statistics import frechet_distance, mauve, mean_similarity
from textassay.overlap.embeddings import Embedder, ModelEmbedder, read_vectors
from textassay.overlap.embsim import EmbSim, embsim

__all__ = [
    "Bleu",
    "EmbSim",
    "Embedder",
    "ModelEmbedder",
    "bleu",
    "bleu_by_document",
    "compression_ratio",
    "distinct",
    "distinct_documents",
    "embsim",
    "frechet_distance",
    "mauve",
    "mean_similarity",
    "read_vectors",
    "repetition",
    "self_bleu",
]
