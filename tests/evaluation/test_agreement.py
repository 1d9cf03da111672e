"""Krippendorff's alpha against the tables that he published."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mimegen.evaluation.agreement import Level, alpha

NAN = np.nan
# Krippendorff (2011), Computing Krippendorff's alpha-reliability: A (two observers, binary), B (two
# observers, nominal), C and D (four observers, with what is missing).
BINARY = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
NOMINAL = [[1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1], [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]]
FOUR = [[1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN]]


@pytest.mark.parametrize(("table", "level", "published"), [
    (BINARY, "nominal", 0.095), (NOMINAL, "nominal", 0.692), (FOUR, "nominal", 0.743),
    (FOUR, "ordinal", 0.815), (FOUR, "interval", 0.849), (FOUR, "ratio", 0.797)])
def test_alpha_is_the_published_one(table, level, published):
    assert alpha(np.array(table, dtype=float), level) == pytest.approx(published, abs=6e-4)


UNLIKE: dict[str, Callable[[float, float], float]] = {
    "nominal": lambda one, other: float(one != other),
    "interval": lambda one, other: (one - other) ** 2,
    "ratio": lambda one, other: 0.0 if one == other else ((one - other) / (one + other)) ** 2}


def by_pairs(table: Any, level: str) -> float | None:
    """Alpha straight from its definition: every pair of ratings by itself."""
    unlike = UNLIKE[level]
    items = [[value for value in column if not np.isnan(value)] for column in table.T]
    items = [values for values in items if len(values) > 1]
    every = [value for values in items for value in values]
    expected = sum(unlike(*pair) for pair in permutations(every, 2))
    if not expected:
        return None
    observed = sum(unlike(*pair) / (len(values) - 1)
                   for values in items for pair in permutations(values, 2))
    return 1 - (len(every) - 1) * observed / expected


@given(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)),
              elements=st.sampled_from([0.0, 1.0, 2.0, 5.0, 100.0, NAN])),
       st.sampled_from([*UNLIKE]))
def test_alpha_is_what_its_definition_says(table, level):
    found, right = alpha(table, level), by_pairs(table, level)
    assert found == right if right is None else found == pytest.approx(right)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_one_where_all_agree_and_none_where_nothing_can_be_compared(level: Level):
    assert alpha(np.array([[1.0, 2, 3], [1, 2, 3]]), level) == pytest.approx(1.0)
    assert alpha(np.array([[1.0, NAN], [NAN, 2]]), level) is None
    assert alpha(np.array([[3.0, 3], [3, 3]]), level) is None
    assert alpha(np.zeros((3, 0)), level) is None
