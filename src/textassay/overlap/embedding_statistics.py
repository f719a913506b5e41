"""Statistics of sets of documents as vectors: similarity, Frechet distance, MAUVE."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textassay.errors import MissingExtraError, UsageError
from textassay.stats.grouped import Array, Counts, Drawn, Draws, Grouped

Vectors = NDArray[np.floating]
_SCALE = 5.0  # c of MAUVE's divergence curve
_POINTS = 25  # mixtures on it
_KEPT = 0.9  # share of variance that principal components keep
_ITERATIONS = 500


def mean_similarity(vectors: Vectors) -> float:
    """Mean cosine of all pairs of documents, -1 to 1: the higher, the less varied.

    Parameters
    ----------
    vectors : float[D, E]

    Examples
    --------
    >>> mean_similarity(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]))
    0.3333333333333333
    """
    rows = unit_rows(as_vectors(vectors, "vectors"))
    n = len(rows)
    if n < 2:
        raise UsageError(f"vectors holds {n} documents: at least 2 are needed")
    total = rows.sum(axis=0)
    # a row's own length is 1, or 0 where a document has no vector
    own = float(np.einsum("de,de->", rows, rows))
    return float((total @ total - own) / (n * (n - 1)))


def frechet_distance(first: Vectors, second: Vectors) -> float:
    """Squared Frechet distance of two sets of vectors taken to be normal (Heusel et al. 2017).

    |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), 0 or more. It shrinks with the number of documents,
    so compare equal numbers.

    Parameters
    ----------
    first, second : float[D, E]
        At least two documents each.

    Examples
    --------
    >>> a = np.random.default_rng(1).normal(size=(500, 3))
    >>> round(frechet_distance(a, a), 9), round(frechet_distance(a, a + 1), 6)
    (0.0, 3.0)
    """
    one, other = as_vectors(first, "first"), as_vectors(second, "second")
    if min(len(one), len(other)) < 2 or one.shape[1] != other.shape[1]:
        raise UsageError(
            f"shapes {one.shape} and {other.shape}: at least 2 documents each, of equal dimensions"
        )
    apart = one.mean(axis=0) - other.mean(axis=0)
    scaled = [(rows - rows.mean(axis=0)) / np.sqrt(len(rows) - 1) for rows in (one, other)]
    traces = sum(float(np.einsum("de,de->", rows, rows)) for rows in scaled)
    distance = float(apart @ apart) + traces - 2 * _root_trace(*scaled)
    return max(0.0, distance)


def _root_trace(one: Array, other: Array) -> float:
    """tr (C1 C2)^(1/2) for C = X'X: the sum of the singular values of X1 X2'."""
    if min(len(one), len(other)) < one.shape[1]:
        if len(one) > len(other):
            one, other = other, one
        products = one @ other.T
        squares = np.linalg.eigvalsh(products @ products.T)
    else:
        values, axes = np.linalg.eigh(one.T @ one)
        root = (axes * np.sqrt(np.maximum(0.0, values))) @ axes.T
        squares = np.linalg.eigvalsh(root @ (other.T @ other) @ root)
    return float(np.sqrt(np.maximum(0.0, squares)).sum())


def mauve(
    first: Vectors,
    second: Vectors,
    *,
    clusters: int | None = None,
    seed: int = 0,
    fewest: int = 1000,
) -> float:
    """MAUVE of two sets of vectors (Pillutla et al. 2021), 0 to 1: the higher, the more alike.

    Vectors are scaled to unit length, reduced to the principal components that keep .9 of the
    variance, and clustered together by k-means, as the authors' code does; P and Q are the shares
    of the clusters. The curve of (exp(-5 KL(Q | R)), exp(-5 KL(P | R))) over mixtures R of P and Q
    encloses the area that is MAUVE.

    Parameters
    ----------
    first, second : float[D, E]
    clusters : int, optional
        Default: a tenth of the smaller side's documents, at most 500 and at least 2.
    seed : int
        Of the clustering, on which the value depends.
    fewest : int
        Documents a side below which the value is refused, since it would mislead.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed.
    UsageError
        If a side has fewer than `fewest` documents.

    Examples
    --------
    >>> a = np.random.default_rng(1).normal(size=(1000, 3))
    >>> round(mauve(a, a), 6), mauve(a, a + 9) < 0.01
    (1.0, True)
    """
    try:
        from sklearn.cluster import KMeans
        from sklearn.decomposition import PCA
    except ImportError:
        raise MissingExtraError("MAUVE", "scikit-learn", "embeddings") from None
    one, other = as_vectors(first, "first"), as_vectors(second, "second")
    smaller = min(len(one), len(other))
    if smaller < fewest:
        raise UsageError(f"{smaller:,} documents on a side: MAUVE needs {fewest:,} (fewest=)")
    k = min(500, max(2, round(smaller / 10))) if clusters is None else clusters
    if not 2 <= k <= len(one) + len(other) or not smaller:
        raise UsageError(f"clusters is {k}: from 2 to the number of documents is needed")
    both = unit_rows(np.concatenate([one, other]))
    distinct = len(np.unique(both, axis=0))
    if distinct == 1:
        return 1.0
    k = min(k, distinct)
    rows = PCA(n_components=_KEPT, svd_solver="full").fit_transform(both)
    found = KMeans(n_clusters=k, n_init=1, max_iter=_ITERATIONS, random_state=seed).fit(rows)
    labels = found.labels_
    p = np.bincount(labels[: len(one)], minlength=k) / len(one)
    q = np.bincount(labels[len(one) :], minlength=k) / len(other)
    return divergence_area(p, q)


def divergence_area(p: Array, q: Array) -> float:
    """Area under the divergence curve of two distributions over the same clusters."""
    points = [(0.0, 1.0), (1.0, 0.0)]
    for weight in np.linspace(1e-6, 1 - 1e-6, _POINTS):
        mixture = weight * p + (1 - weight) * q
        points.append(
            (
                float(np.exp(-_SCALE * _divergence(q, mixture))),
                float(np.exp(-_SCALE * _divergence(p, mixture))),
            )
        )
    points.sort(key=lambda point: (point[0], -point[1]))
    x, y = np.array(points).T
    return float(min(1.0, np.trapezoid(y, x)))


def _divergence(p: Array, mixture: Array) -> float:
    some = p > 0
    return float(np.sum(p[some] * np.log(p[some] / mixture[some])))


def as_vectors(vectors: Vectors, name: str) -> Array:
    """A float64 matrix, checked."""
    found = np.asarray(vectors, np.float64)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise UsageError(f"{name}: a matrix of documents x dimensions without NaN is needed")
    return found


def unit_rows(vectors: Array) -> Array:
    """Rows of length 1; rows of zeros stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Array = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return rows


class SimilarityStatistics(Drawn):
    """Mean cosine of the pairs of each set."""

    values = 1
    distances = 0
    fixed_draws = Draws(averaged=20)

    def __init__(self, vectors: Vectors) -> None:
        self.rows = unit_rows(np.asarray(vectors, np.float64))
        self.own = np.einsum("de,de->d", self.rows, self.rows)

    def expected(self, sample: Grouped, items: int) -> Array | None:
        """Of all pairs, whatever the size: a mean over pairs does not depend on it."""
        if sample.units != sample.items:
            return None
        counts = np.zeros((1, sample.size), np.int32)
        counts[0, sample.categories] = 1
        whole: Array = self.describe(counts)[0]
        return whole

    def describe(self, counts: Counts) -> Array:
        """float64[R, 1]."""
        weights = counts.astype(np.float64)
        totals = weights @ self.rows
        n = weights.sum(axis=1)
        pairs = n * (n - 1)
        out = np.full(len(counts), np.nan)
        same = np.einsum("re,re->r", totals, totals) - weights @ self.own
        np.divide(same, pairs, out=out, where=pairs > 0)
        return out[:, None]

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))


class FrechetStatistics(Drawn):
    """Frechet distance of two sets."""

    values = 0
    distances = 1
    fixed_draws = Draws(averaged=5, parts=60, pairs=40, permutations=99)

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = np.asarray(vectors, np.float64)

    def describe(self, counts: Counts) -> Array:
        """float64[R, 0]."""
        return np.empty((len(counts), 0))

    def compare(self, counts: Counts, others: Counts) -> Array:
        """float64[R, 1]."""
        out = np.full((len(counts), 1), np.nan)
        for r, (row, other) in enumerate(zip(counts, others, strict=True)):
            one, two = self.vectors[row > 0], self.vectors[other > 0]
            if min(len(one), len(two)) > 1:
                out[r] = frechet_distance(one, two)
        return out
