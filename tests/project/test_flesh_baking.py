"""tools/flesh_baking, on small pieces: flesh keeps its volume, known weights are found again."""
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from mimegen.motion import quaternions
from places import ROOT

TOOLS = ROOT / "tools"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the tool by its name."""
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return lambda name: import_module(f"flesh_baking.{name}")


def turned(degrees: float) -> NDArray[Any]:
    turn = quaternions.from_rotation_vectors([0.0, np.radians(degrees), 0.0])
    return np.asarray(quaternions.to_matrices(turn[None])[0])


def test_a_bar_that_is_bent_keeps_its_volume(part: Any) -> None:
    grid = np.stack(np.meshgrid(np.arange(13), np.arange(4), np.arange(4), indexing="ij"), axis=-1)
    points = grid.reshape(-1, 3) * 0.02
    draws = np.random.default_rng(0)
    cells = Delaunay(points + draws.normal(scale=1e-6, size=points.shape)).simplices
    sizes = np.abs(np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]))
    cells = cells[sizes > 1e-7]
    ends = np.where(points[:, 0] < 0.03, 0, np.where(points[:, 0] > 0.21, 1, -1))
    flesh = part("limbs").Flesh(np.arange(len(points)), points, ends, cells)
    bent = (points - [0.12, 0, 0.03]) @ turned(70).T + [0.12, 0, 0.03]
    share = np.clip((points[:, :1] - 0.03) / 0.18, 0, 1)
    guess = points + share * (bent - points)
    elastic = part("elastic").Elastic(flesh, np.zeros((len(points), 0), dtype=bool))
    now = elastic.settled(guess, guess, [], np.zeros((len(points), 0)), 30)
    volumes = [np.abs(np.linalg.det(each[cells[:, 1:]] - each[cells[:, :1]])).sum()
               for each in (points, guess, now)]
    assert volumes[1] < 0.92 * volumes[0], "blending alone loses some"
    assert volumes[2] > 0.945 * volumes[0]
    assert np.abs(now - guess)[ends >= 0].max() < 1e-3


def test_known_weights_are_found_again(part: Any) -> None:
    fitting = part("fitting")
    way = 2 * np.pi * np.arange(8) / 8
    rest = np.array([[0.12 * ring, 0.12 * np.cos(angle), 0.12 * np.sin(angle)]
                     for ring in range(5) for angle in way])
    faces = np.array([[8 * ring + k, 8 * ring + 8 + k, 8 * ring + 8 + (k + 1) % 8,
                       8 * ring + (k + 1) % 8] for ring in range(4) for k in range(8)], np.int32)
    weights = np.column_stack([1 - rest[:, 0] / 0.48, rest[:, 0] / 0.48])
    turns = [turned(degrees) for degrees in (0, 0, 40, -50, 25)]
    matrices = np.array([[np.eye(3), turn] for turn in turns])
    pivot = np.array([0.24, 0.0, 0.0])
    shifts = np.array([[np.zeros(3), pivot - turn @ pivot] for turn in turns])
    seen = np.einsum("sc,ksca->ksa", weights, np.einsum("kcab,sb->ksca", matrices, rest)
                     + shifts[:, None])
    examples = fitting.Examples(np.arange(40), seen, matrices, shifts)
    limb = SimpleNamespace(columns=("fixed", "turned"), like_rest=0, keeps=False)
    skin, found = fitting.fitted(limb, [examples], faces)
    assert len(skin) == 40
    now = np.einsum("sc,ksca->ksa", found, examples.alone(examples.at_rest(found)))
    assert np.linalg.norm(now - seen, axis=-1).max() < 2e-3
    middle = np.abs(rest[:, 0] - 0.24) > 0.01
    np.testing.assert_allclose(found[middle], weights[middle], atol=0.03)


def test_parts_inside_one_another_are_pushed_out_each_half_of_the_way(part: Any) -> None:
    count = 9
    grid = np.stack(np.meshgrid(np.arange(count), np.arange(count), [0], indexing="ij"), axis=-1)
    sheet = grid.reshape(-1, 3) * 0.01
    corners = np.array([[row * count + column + step for step in (0, count, count + 1, 1)]
                        for row in range(count - 1) for column in range(count - 1)], np.int32)
    faces = np.concatenate([corners, corners[:, ::-1] + count**2])
    rest = np.concatenate([sheet, sheet + np.array([0, 0, 0.2])])
    sides = [np.arange(count**2), np.arange(count**2) + count**2]
    crossed = np.concatenate([sheet, sheet - np.array([0, 0, 0.012])])
    contact = part("contact").Contact(sides, rest, faces)
    push = contact.push(crossed)
    np.testing.assert_allclose(push[:, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(push[sides[1], 2], 0.0065, atol=1e-9)
    np.testing.assert_allclose(push[sides[0], 2], -0.0065, atol=1e-9)
    assert not contact.push(rest).any(), "what does not touch stays"
