"""What texts mean, as vectors: static word embeddings that come with the package wordllama."""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError

# Of the similarity: far above the last bits in which machines differ.
DIGITS = 4


@cache
def _model() -> Any:
    try:
        import wordllama  # takes a second, and only questions need it
    except ImportError as problem:
        raise RequestError("the package wordllama, whose vectors tell near meanings, is not"
                           f" installed ({problem}); pip install --no-deps 'wordllama>=0.4,<0.5'"
                           ) from problem
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def similarities(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return the cosine similarity of every text with every other, (first, second)."""
    a, b = _embedded(first), _embedded(second)
    return np.asarray(np.round(np.einsum("ix,jx->ij", a, b), DIGITS))


@cache
def embedding_version() -> str:
    """Return what the vectors come from."""
    return f"wordllama {version('wordllama')} l2_supercat_256"


def _embedded(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return unit vectors (texts, 256), zero where a text has no word."""
    if not texts:
        return np.zeros((0, 256))
    # Batches are padded, and an empty text is refused; a blank one has no vector of its own.
    vectors = np.asarray(_model().embed([text or " " for text in texts]), dtype=np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.nan_to_num(vectors / np.where(length > 0, length, 1.0)))
