"""Small linear systems, against numpy's and scipy's solvers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solveh_banded

from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.solving import solve_bands, solve_pairs, solve_triples

SEEDS = st.integers(0, 2**32 - 1)


def definite(draws: np.random.Generator, count: int, size: int) -> FloatArray:
    factors = draws.normal(size=(count, size, size))
    return np.asarray(factors @ factors.transpose(0, 2, 1) + np.eye(size))


@given(SEEDS)
def test_pairs_and_triples_are_solved(seed: int) -> None:
    draws = np.random.default_rng(seed)
    pairs, right = definite(draws, 6, 2), draws.normal(size=(6, 2, 3))
    assert np.allclose(solve_pairs(pairs, right), np.linalg.solve(pairs, right))
    triples, right = definite(draws, 6, 3), draws.normal(size=(6, 3))
    assert np.allclose(solve_triples(triples, right),
                       np.linalg.solve(triples, right[..., None])[..., 0])


@given(SEEDS, st.integers(4, 40), st.integers(1, 3))
def test_banded_systems_are_solved(seed: int, count: int, columns: int) -> None:
    draws = np.random.default_rng(seed)
    bands = draws.uniform(-1, 1, (4, count))
    bands[0] = draws.uniform(7, 8, count)
    for below in range(1, 4):
        bands[below, count - below:] = 0.0
    right = draws.normal(size=(count, columns))
    assert np.allclose(solve_bands(bands, right), solveh_banded(bands, right, lower=True),
                       rtol=1e-10, atol=1e-12)
