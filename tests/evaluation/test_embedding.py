"""Vectors of texts: those of the package wordllama, to the last bit."""
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.evaluation.embedding import embedding_version, mean_vectors, similarities
from places import DATA

# 50 texts, and their similarities with every fifth of them, by wordllama 0.4.0.post1.
STORED = [json.loads(line) for line in
          (DATA / "embedding.jsonl").read_text("utf-8").splitlines()]


def test_similarities_are_those_that_wordllama_gave() -> None:
    texts = [one["text"] for one in STORED]
    found = similarities(texts, texts[::5])
    assert np.abs(found - [one["similarities"] for one in STORED]).max() < 1.5e-4


@cache
def package() -> Any:
    """The package's own model, where the release that the vectors come from is installed."""
    wordllama = pytest.importorskip("wordllama")
    if wordllama.__version__ not in embedding_version():
        pytest.skip(f"wordllama {wordllama.__version__} is installed, not {embedding_version()}")
    return wordllama.WordLlama.load(
        cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@pytest.mark.slow
@given(st.lists(st.text(max_size=30).filter(bool), min_size=1, max_size=5))
def test_vectors_are_those_of_the_package(texts: list[str]) -> None:
    assert (mean_vectors(texts) == package().embed(texts)).all()


def test_a_text_has_the_same_vector_in_any_company() -> None:
    texts = [one["text"] for one in STORED]
    assert (mean_vectors(texts)[7] == mean_vectors(texts[7:8])[0]).all()


def test_empty_texts_mean_what_blank_ones_do() -> None:
    assert mean_vectors([""]).tolist() == [[0.0] * 256]
    assert similarities(["", " "], ["", " "]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert similarities([], ["boxing"]).shape == (0, 1)
