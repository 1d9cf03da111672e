"""Skirts under tops, on thighs and over knees."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh
from mimegen.characters.followers import _slope, with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.characters.posing import posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec
from mimegen.characters.surface import vertex_normals
from mimegen.motion import Motion, quaternions

SITTING = {"LeftUpLeg": -88.0, "RightUpLeg": -88.0, "LeftLeg": 88.0, "RightLeg": 88.0}
KNEE_RAISED = {"LeftUpLeg": -95.0, "LeftLeg": 100.0}
# A short skirt below a loose shirt, one to the knees, a dress and a wide skirt over them, and a
# skirt that is narrow about the hips.
SHORT, TO_THE_KNEES, LONG, WIDE, NARROW = 11, 4759, 6012, 6003, 7000


@cache
def wearing(seed: int) -> Character:
    return build_character(sample_character(seed))


def in_pose(character: Character, turns: dict[str, float]) -> dict[str, NDArray[Any]]:
    """Where meshes' vertices are with joints turned about the axis to the left, in degrees."""
    skeleton = character.skeleton
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for joint, degrees in turns.items():
        rotations[0, skeleton.index[joint]] = quaternions.from_euler("X", np.array([degrees]))
    motion = Motion(skeleton, 30.0, skeleton.heads[:1].copy(), rotations)
    pose = with_followers_turned(with_helpers_turned(motion)).global_pose
    places = posed_meshes(character, pose.positions[0], pose.rotations[0])
    return {mesh.name: own for mesh, own in zip(character.meshes, places, strict=True)}


def mesh_of(character: Character, name: str) -> Mesh:
    return next(mesh for mesh in character.meshes if mesh.name == name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [SHORT, TO_THE_KNEES, WIDE])
def test_no_skirt_comes_through_the_top_that_hangs_over_it(seed: int) -> None:
    character = wearing(seed)
    skirt, top = (mesh_of(character, name) for name in ("skirt", "top"))
    normals = vertex_normals(top.vertices, top.faces)
    outer = np.flatnonzero(np.sum((normals * top.vertices)[:, :2], axis=1) > 0.03)
    near = outer[cKDTree(top.vertices[outer]).query(skirt.vertices)[1]]
    covered = ((skirt.vertices[:, 2] > top.vertices[:, 2].min())
               & (ahead_of(skirt.vertices, top.vertices, normals, near) < 0))
    assert covered.sum() > 100
    now = in_pose(character, SITTING)
    ahead = ahead_of(now["skirt"], now["top"], vertex_normals(now["top"], top.faces), near)
    assert ahead[covered].max() < 0.005


def ahead_of(points: NDArray[Any], surface: NDArray[Any], normals: NDArray[Any],
             near: NDArray[np.intp]) -> NDArray[Any]:
    """How far (V,) points are out of the surface at its vertices that are near."""
    return np.asarray(np.einsum("vx,vx->v", points - surface[near], normals[near]))


def test_a_skirt_lies_on_the_thighs_of_who_sits() -> None:
    character = wearing(SHORT)
    skirt, hip = mesh_of(character, "skirt").vertices, character.skeleton.index["LeftUpLeg"]
    front = ((skirt[:, 2] < skirt[:, 2].min() + 0.06) & (np.abs(skirt[:, 0]) < 0.04)
             & (skirt[:, 1] < character.skeleton.heads[hip, 1]))
    now = in_pose(character, SITTING)
    hem = now["skirt"][front]
    skin = now["skin"][np.abs(now["skin"][:, 0]) < 0.2]
    near = (skin[:, 1] > hem[:, 1].min()) & (skin[:, 1] < hem[:, 1].max() + 0.02)
    off = hem[:, 2].mean() - skin[near & (skin[:, 2] < hem[:, 2].max()), 2].max()
    assert off < 0.025, "a skirt stands off like a lampshade"


@pytest.mark.slow
def test_trousers_under_a_skirt_are_legs_as_well() -> None:
    spec = sample_character(SHORT)
    trousers = {"kind": "trousers", "color": "#303040", "looseness": 0.2, "leg": 1.0}
    worn = CharacterSpec.model_validate({**spec.model_dump(), "outfit": [
        trousers, *(garment.model_dump() for garment in spec.outfit)]})
    bare, over = (_slope(character.skeleton) for character in (
        wearing(SHORT), build_character(worn)))
    assert bare - 0.15 < over < bare + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("seed", [LONG, WIDE])
def test_no_knee_comes_through_a_skirt(seed: int) -> None:
    character = wearing(seed)
    skirt, skin = (mesh_of(character, name) for name in ("skirt", "skin"))
    knee = character.skeleton.heads[character.skeleton.index["LeftLeg"]]
    cap = (np.linalg.norm(skin.vertices - knee, axis=1) < 0.12) & (skin.vertices[:, 1] < knee[1])
    now = in_pose(character, KNEE_RAISED)
    away, near = cKDTree(now["skirt"]).query(now["skin"][cap])
    ahead = ahead_of(now["skin"][cap], now["skirt"],
                     vertex_normals(now["skirt"], skirt.faces), near)
    assert cap.sum() > 20
    assert not ((ahead > 0.002) & (away < 0.1)).any()


@pytest.mark.slow
def test_no_hip_comes_through_below_the_top() -> None:
    character = wearing(NARROW)
    skirt, skin = (mesh_of(character, name) for name in ("skirt", "skin"))
    hip = character.skeleton.heads[character.skeleton.index["LeftUpLeg"]]
    side = ((np.abs(skin.vertices[:, 0]) > hip[0])
            & (np.abs(skin.vertices[:, 2] - hip[2] + 0.1) < 0.06)
            & (np.abs(skin.vertices[:, 0]) < 0.25))
    now = in_pose(character, SITTING)
    near = cKDTree(now["skirt"]).query(now["skin"][side])[1]
    ahead = ahead_of(now["skin"][side], now["skirt"],
                     vertex_normals(now["skirt"], skirt.faces), near)
    assert side.sum() > 10
    assert ahead.max() < 0.003
