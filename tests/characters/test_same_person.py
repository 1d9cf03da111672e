"""The same request gives the same person on every kind of machine.

What differs between CPUs is what OpenBLAS, numpy and the C library choose by them; environment
variables choose the same on one machine (`benchmarks/same_person.py` does it for everybody).
"""
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from mimegen.base.decisions import EQUAL, first_least, largest, nearest
from mimegen.base.grid import POSITION_STEP_M, on_grid
from mimegen.characters.rounding import rounded_weights
from mimegen.motion import quaternions
from places import ROOT

PROGRAM = ROOT / "benchmarks" / "same_person.py"
PEOPLE = "man,woman,spacesuit,random:6,random:7,random:15"
HASWELL = {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "2"}
PRESCOTT = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1",
            "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX"
                                        " AVX512_CNL AVX512_ICL",
            "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"}


def made(what: str, only: str, machine: Mapping[str, str], folder: Path,
         noise: int = 0) -> dict[str, NDArray[Any]]:
    """What a kind of machine makes, by name."""
    target = folder / f"{machine['OPENBLAS_CORETYPE']}-{noise}.npz"
    subprocess.run(
        [sys.executable, str(PROGRAM), what, "--only", only, "--make", str(target),
         "--noise", str(noise)], check=True, env=os.environ | machine)
    with np.load(target) as packed:
        return dict(packed)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NDArray[Any]]:
    return made("characters", PEOPLE, HASWELL, tmp_path_factory.mktemp("made"))


@pytest.mark.slow
def test_another_kind_of_cpu_builds_the_same_people(
    people: dict[str, NDArray[Any]], tmp_path: Path
) -> None:
    other = made("characters", PEOPLE, PRESCOTT, tmp_path)
    assert set(other) == set(people)
    assert [name for name in people if not np.array_equal(people[name], other[name])] == []


@pytest.mark.slow
def test_noise_far_below_an_atom_moves_nothing_by_a_micrometre(
    people: dict[str, NDArray[Any]], tmp_path: Path
) -> None:
    noisy = made("characters", PEOPLE, HASWELL, tmp_path, noise=1)
    for name, array in people.items():
        assert noisy[name].shape == array.shape
        if name.endswith((" vertices", " weights", " faces", " joints", " heads", " tails")):
            assert np.abs(noisy[name] - array).max() < 1e-6, name
        if name.endswith(" normals"):
            assert np.abs(noisy[name] - array).max() < 1e-3, name


def test_the_first_of_nearly_equal_points_is_the_nearest() -> None:
    left, right = [-1.0, 0.0, 0.0], [1.0 - 1e-13, 0.0, 0.0]
    assert nearest(np.array([left, right]), np.zeros((1, 3))) == [0]
    assert nearest(np.array([right, left]), np.zeros((1, 3))) == [0]
    around = np.array([[np.cos(turn), np.sin(turn), 0.0] for turn in np.linspace(0, 6, 40)])
    assert nearest(around, np.zeros((2, 3))).tolist() == [0, 0]


@given(st.integers(0, 2**32 - 1))
def test_without_equals_the_nearest_is_the_nearest(seed: int) -> None:
    draws = np.random.default_rng(seed)
    points, places = draws.normal(size=(50, 3)), draws.normal(size=(20, 3))
    apart = np.linalg.norm(places[:, None] - points, axis=2)
    assert np.array_equal(nearest(points, places), apart.argmin(axis=1))


def test_nearly_equal_weights_come_in_the_order_of_their_joints() -> None:
    weights = np.array([[0.3, 0.3 + EQUAL / 2, 0.0, 0.4]])
    assert largest(weights, 3).tolist() == [[3, 0, 1]]
    assert first_least(np.array([[2.0, 1.0 + EQUAL / 2, 1.0]])) == [1]


@given(arrays.arrays(float, 20, elements=st.floats(-1e3, 1e3)))
def test_numbers_on_the_grid_stay_and_others_move_by_less_than_a_step(values: NDArray[Any]) -> None:
    found = on_grid(values)
    assert np.abs(found - values).max() < POSITION_STEP_M
    assert np.array_equal(on_grid(found), found)
    assert np.array_equal(on_grid(-values), -found)
    assert not np.signbit(found[found == 0]).any()


def test_rounding_ignores_the_last_bits_of_numbers_of_single_precision() -> None:
    single = np.random.default_rng(0).uniform(-2, 2, 10_000).astype(np.float32).astype(float)
    assert np.array_equal(on_grid(single - 1e-12), on_grid(single + 1e-12))


def test_rounded_weights_still_sum_to_one() -> None:
    weights = np.sort(np.random.default_rng(0).dirichlet(np.ones(5), 1000), axis=1)[:, ::-1]
    assert np.array_equal(rounded_weights(weights).sum(axis=1), np.ones(1000))


@pytest.mark.slow
def test_another_kind_of_cpu_performs_the_same_poses(tmp_path: Path) -> None:
    takes = "deadlift,high_five"
    one, other = (made("poses", takes, machine, tmp_path) for machine in (HASWELL, PRESCOTT))
    assert {name.split()[0] for name in one} == {"deadlift.score", "high_five.score"}
    assert [name for name in one if not np.array_equal(one[name], other[name])] == []


@pytest.mark.slow
def test_another_kind_of_cpu_renders_the_same_frames(tmp_path: Path) -> None:
    one, other = (made("frames", "deadlift", machine, tmp_path) for machine in (HASWELL, PRESCOTT))
    figures = [array for name, array in one.items() if name.endswith("figure")]
    assert len(figures) == 2 and all((array[..., 3] > 250).sum() > 100 for array in figures)
    assert not np.array_equal(figures[0], figures[1])
    assert [name for name in one if not np.array_equal(one[name], other[name])] == []


@given(st.integers(0, 2**32 - 1))
def test_the_mean_rotation_has_one_sign_and_no_last_bits(seed: int) -> None:
    draws = np.random.default_rng(seed)
    turns = quaternions.from_rotation_vectors(draws.normal(0.0, 0.3, (20, 3)))
    found = quaternions.mean(turns)
    signs = np.where(draws.random(20) < 0.5, -1.0, 1.0)[:, None]
    assert np.array_equal(quaternions.mean(turns * signs * (1 + 1e-15)), found)
    assert found[0] > 0 and np.isclose(np.linalg.norm(found), 1.0)
