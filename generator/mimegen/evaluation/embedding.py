"""Meanings of texts as vectors: WordLlama's static word embeddings, included in mimegen."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

# Decimals of similarities: coarse enough to hide rounding differences between machines.
DIGITS = 4
# Source of the vectors, from which tools/bake_embedding.py took them.
VERSION = "wordllama 0.4.0.post1 l2_supercat_256"
WORDS = Path(__file__).with_name("words.npz")


def similarities(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosine similarity of every text with every other, (first, second)."""
    a, b = _embedded(first), _embedded(second)
    # einsum adds in the same order on every machine; BLAS does not.
    return np.asarray(np.round(np.einsum("ix,jx->ij", a, b), DIGITS))


def embedding_version() -> str:
    """Return the name and version of the vectors, as recorded in questions."""
    return VERSION


def mean_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the mean of each text's token vectors, (texts, 256); zeros for an empty text.

    Sums are in single precision and in the order of the tokens, as in WordLlama.
    """
    tokenizer, vectors = _words()
    encoded = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    means = np.zeros((len(texts), vectors.shape[1]), np.float32)
    for mean, text in zip(means, encoded, strict=True):
        if text.ids:
            np.mean(vectors[text.ids], axis=0, dtype=np.float32, out=mean)
    return means


@cache
def _words() -> tuple[Tokenizer, NDArray[np.float16]]:
    """Return the tokenizer, and the vectors of its tokens (32,000, 256)."""
    with np.load(WORDS) as archive:
        low_and_high = np.moveaxis(archive["vectors"], 0, 2)
        vectors = np.ascontiguousarray(low_and_high).view("<f2")[:, :, 0]
        return Tokenizer.from_str(archive["tokenizer"].tobytes().decode()), vectors


def _embedded(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return unit vectors (texts, 256)."""
    # An empty text gets the same vector as a blank one.
    vectors = mean_vectors([text or " " for text in texts]).astype(np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))
