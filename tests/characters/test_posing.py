"""Bodies in poses: folds that do not lie inside one another, arms that keep their thickness."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Performance, posed_vertices
from mimegen.characters.folds import END, SOFT_M, folds_of, softly
from mimegen.characters.helpers import helped_joint, with_helpers_turned
from mimegen.characters.packing import pack_character, unpack_character
from mimegen.characters.posing import Corrections, corrections_of, posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.characters.surface import vertex_normals
from mimegen.groundtruth.surface import PosedScene
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.pointlight.body import posed_body
from mimegen.rendering.opengl.body import RasterBody
from mimegen.retarget import retarget
from mimegen.shots.figures import Figure
from mimegen.shots.skinning import body_skin, joint_columns

RAISED = {"LeftArm": [0.0, -75.0, 0.0], "RightArm": [0.0, 75.0, 0.0]}
BENT = {"LeftForeArm": [0.0, 0.0, -140.0], "LeftLeg": [145.0, 0.0, 0.0],
        "LeftUpLeg": [-80.0, 0.0, 0.0]}
# Arms that neither swell nor press.
AT_EASE = {"LeftArm": [0.0, 0.0, 36.0], "RightArm": [0.0, 0.0, -36.0]}
SQUATTING = {"LeftUpLeg": [-115.0, 10.0, 0.0], "RightUpLeg": [-115.0, -10.0, 0.0],
             "Spine": [12.0, 0.0, 0.0], "Spine1": [6.0, 0.0, 0.0]}
DEEP_SQUAT = {"LeftUpLeg": [-118.0, 6.0, 0.0], "RightUpLeg": [-118.0, -6.0, 0.0],
              "Spine": [14.0, 0.0, 0.0], "Spine1": [10.0, 0.0, 0.0], "Spine2": [8.0, 0.0, 0.0]}
DEEP_M, FOLD_M = 0.005, 0.04


@pytest.fixture(scope="module", params=["man", "woman"])
def bare(request: pytest.FixtureRequest) -> Character:
    spec = read_character(data_folder() / "rigs" / f"{request.param}.yaml")
    return build_character(spec.model_copy(update={"outfit": ()}))


@pytest.fixture(scope="module")
def man() -> Character:
    return build_character(read_character(data_folder() / "rigs" / "man.yaml"))


def turned(skeleton: Skeleton, turns: Mapping[str, list[float]]) -> Motion:
    """One frame with rotation vectors, in degrees, at some joints."""
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for name, vector in turns.items():
        rotations[0, skeleton.index[name]] = quaternions.from_rotation_vectors(np.radians(vector))
    return with_helpers_turned(Motion(skeleton, 24.0, skeleton.heads[:1].copy(), rotations))


def both(character: Character, turns: Mapping[str, list[float]]
         ) -> tuple[NDArray[Any], NDArray[Any]]:
    """All vertices by linear blending alone, and folded."""
    pose = turned(character.skeleton, turns).global_pose
    now = pose.positions[0], pose.rotations[0]
    return (np.concatenate([posed_vertices(mesh, character.skeleton, *now)
                            for mesh in character.meshes]),
            np.concatenate(posed_meshes(character, *now)))


def depth(character: Character, places: NDArray[Any], first: str, second: str) -> float:
    """How deep, in metres, skin of either part lies inside that of the other."""
    number = [mesh.name for mesh in character.meshes].index("skin")
    skin = character.meshes[number]
    start = sum(len(mesh.vertices) for mesh in character.meshes[:number])
    now = places[start:start + len(skin.vertices)]
    helped = np.array([helped_joint(name) for name in character.skeleton.names])
    own, other = (np.flatnonzero(np.where(np.isin(helped, part.split("+"))[skin.joints],
                                          skin.weights, 0).sum(axis=1) > 0.5)
                  for part in (first, second))
    normals = vertex_normals(now, skin.faces)
    deepest = 0.0
    for one, across in ((own, other), (other, own)):
        away, near = cKDTree(now[across]).query(now[one])
        near = across[near]
        ahead = np.einsum("va,va->v", now[one] - now[near], normals[near])
        rest = np.linalg.norm(skin.vertices[one] - skin.vertices[near], axis=1)
        depths = np.where((rest > away + FOLD_M) & (ahead < 0) & (away < 0.1), away, 0.0)
        for vertex in np.argsort(-depths):
            if depths[vertex] <= deepest:
                break
            if winding(now[one[vertex]], now, skin.faces) > 1.25:
                deepest = float(depths[vertex])
    return deepest


def winding(point: NDArray[Any], vertices: NDArray[Any], faces: NDArray[Any]) -> float:
    """How often a surface goes round a point of it: solid angles (Van Oosterom, Strackee 1983)."""
    corners = vertices[np.concatenate([faces[:, :3], faces[:, [0, 2, 3]]])] - point
    a, b, c = np.moveaxis(corners, 1, 0)
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    over = np.einsum("fa,fa->f", a, np.cross(b, c))
    under = (la * lb * lc + np.einsum("fa,fa->f", a, b) * lc
             + np.einsum("fa,fa->f", b, c) * la + np.einsum("fa,fa->f", c, a) * lb)
    away = np.minimum(np.minimum(la, lb), lc) > 1e-9
    return float(np.sum(np.arctan2(over, under)[away]) / (2 * np.pi))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [
    ("LeftArm", "LeftForeArm"), ("LeftUpLeg", "LeftLeg"), ("LeftUpLeg", "Hips+Spine+Spine1")])
def test_what_folds_is_not_inside_itself(bare: Character, first: str, second: str) -> None:
    linear, folded = both(bare, BENT)
    assert depth(bare, folded, first, second) < DEEP_M
    assert depth(bare, linear, first, second) > DEEP_M


@pytest.mark.slow
def test_thighs_side_by_side_press_the_middle_of_the_belly(bare: Character) -> None:
    _, folded = both(bare, SQUATTING)
    for side in ("Left", "Right"):
        assert depth(bare, folded, f"{side}UpLeg", "Hips+Spine+Spine1+Spine2") < DEEP_M


def test_the_chest_of_somebody_heavy_is_not_inside_their_knees() -> None:
    heavy = build_character(sample_character(9003).model_copy(update={"outfit": ()}))
    _, folded = both(heavy, DEEP_SQUAT)
    assert depth(heavy, folded, "RightUpLeg", "Hips+Spine+Spine1+Spine2") < DEEP_M


@pytest.mark.slow
def test_short_thick_legs_fold_at_the_knee_as_well() -> None:
    short = build_character(sample_character(5008).model_copy(update={"outfit": ()}))
    linear, folded = both(short, {"LeftLeg": [145.0, 0.0, 0.0], "LeftUpLeg": [-80.0, 0.0, 0.0]})
    assert depth(short, linear, "LeftUpLeg", "LeftLeg") > 0.02
    assert depth(short, folded, "LeftUpLeg", "LeftLeg") < DEEP_M


def test_a_thigh_presses_what_lies_over_it_and_nothing_far_past_the_knee() -> None:
    heavy = build_character(sample_character(4730).model_copy(update={"outfit": ()}))
    turns = AT_EASE | DEEP_SQUAT | {"Spine": [14.0, 0.0, 12.0]}
    pose = turned(heavy.skeleton, turns).global_pose
    columns = joint_columns(heavy.skeleton, pose.positions, pose.rotations)
    linear, folded = both(heavy, turns)
    thighs = [fold for fold in folds_of(heavy, heavy.meshes) if fold.crease.edge]
    over, past = [], np.ones(len(linear), bool)
    for fold in thighs:
        plane = fold.crease.plane(columns)
        assert plane is not None
        before, after = linear - plane.place, folded - plane.place
        along = before @ plane.inner / plane.end
        aside = np.sign(fold.crease.edge) * (before @ np.cross(plane.normal, plane.inner))
        trunk = np.zeros(len(linear), bool)
        trunk[fold.vertices[fold.upper > 0]] = True
        past &= trunk & (along > END[1])
        pressed = trunk & (along > 0.05) & (along < END[0]) & (aside < abs(fold.crease.edge))
        deep = (before @ plane.normal)[pressed]
        over.append((deep.max(), (after @ plane.normal)[pressed].max()))
    assert len(thighs) == 2 and past.sum() > 10
    assert min(deep for deep, _ in over) > 0.03 and max(left for _, left in over) < 0.008
    np.testing.assert_allclose(folded[past], linear[past], atol=1e-6)


def test_what_is_straight_stays_as_it_was(man: Character) -> None:
    linear, folded = both(man, AT_EASE | {"LeftForeArm": [40.0, 0.0, -30.0],
                                          "LeftLeg": [30.0, 0.0, 0.0]})
    np.testing.assert_array_equal(linear, folded)


def test_only_what_is_near_a_fold_moves_and_not_far(man: Character) -> None:
    linear, folded = both(man, AT_EASE | BENT)
    moved = np.linalg.norm(folded - linear, axis=1)
    assert 0.005 < moved.max() < 0.10
    rest = np.concatenate([mesh.vertices for mesh in man.meshes])[moved > 0]
    assert len(rest) < 3000
    assert rest[:, 0].min() > -0.15, "the right limbs are straight"


def test_the_crease_goes_with_the_body(man: Character) -> None:
    folded = both(man, BENT)[1]
    turn = quaternions.from_rotation_vectors([0.3, 0.8, -1.1])
    pose = turned(man.skeleton, BENT).global_pose
    aside = np.array([1.0, -2.0, 0.4])
    moved = posed_meshes(man, quaternions.rotate(turn, pose.positions[0]) + aside,
                         quaternions.multiply(turn, pose.rotations[0]))
    np.testing.assert_allclose(
        np.concatenate(moved), quaternions.rotate(turn, folded) + aside, atol=1e-9)


def test_softly_is_smooth_and_holds_what_passed() -> None:
    values = np.linspace(-0.02, 0.02, 4001)
    held = softly(values)
    np.testing.assert_allclose(held[values > SOFT_M], values[values > SOFT_M])
    assert (held[values < -SOFT_M] == 0).all()
    assert np.abs(np.diff(held, 2)).max() < 2 * (values[1] - values[0]) ** 2 / SOFT_M


def test_a_raised_arm_swells_out_of_its_bone(man: Character) -> None:
    linear, swollen = both(man, RAISED)
    moved = np.linalg.norm(swollen - linear, axis=1)
    assert 0.001 < moved.max() < 0.006
    rest = np.concatenate([mesh.vertices for mesh in man.meshes])
    shoulder, elbow = (man.skeleton.heads[man.skeleton.index[f"Left{name}"], 0]
                       for name in ("Arm", "ForeArm"))
    middle = np.abs(rest[:, 0] - (shoulder + elbow) / 2) < 0.03
    places = swollen[middle], linear[middle]
    spreads = [np.sqrt(np.linalg.eigvalsh(np.cov(each.T))[:2]).prod() for each in places]
    assert 1.05 < spreads[0] / spreads[1] < 1.2
    # Half-way down nothing swells; what the armpits press is not a swell.
    half = turned(man.skeleton, {"LeftArm": [0.0, 48.0, 0.0], "RightArm": [0.0, -48.0, 0.0]})
    columns = joint_columns(man.skeleton, half.global_pose.positions, half.global_pose.rotations)
    assert [swell.amount(columns) for swell in corrections_of(man).swells] == [0.0, 0.0]
    linear, pressed = both(man, {"LeftArm": [0.0, 48.0, 0.0], "RightArm": [0.0, -48.0, 0.0]})
    assert np.abs(pressed - linear).max() < 0.005


@pytest.mark.slow
def test_arms_swell_by_what_their_own_body_loses() -> None:
    spec = read_character(data_folder() / "rigs" / "woman.yaml")
    slight, heavy = (build_character(spec.model_copy(update={
        "phenotype": spec.phenotype.model_copy(update={"weight": weight})}))
        for weight in (0.1, 0.9))
    assert slight.swelling[1] > 0.08 > 0.06 > heavy.swelling[1]
    assert max(slight.swelling[3], heavy.swelling[3]) < 0, "to the sides shoulders gain"
    assert slight.swelling[4] < 0 < heavy.swelling[4]
    gains = build_character(sample_character(5021))
    assert slight.swelling[0] == 0.05 > 0.03 > gains.swelling[0], "forward heavy shoulders gain"
    assert unpack_character(pack_character(slight)).swelling == slight.swelling


def test_a_thick_arm_across_is_not_inside_the_chest() -> None:
    heavy = build_character(sample_character(5037).model_copy(update={"outfit": ()}))
    linear, pressed = both(heavy, {"LeftShoulder": [0.0, 1.0, -9.0], "LeftArm": [18.0, 9.0, -92.0],
                                   "LeftForeArm": [-28.0, 14.0, -43.0]})
    trunk = "Hips+Spine+Spine1+Spine2+LeftShoulder"
    assert depth(heavy, linear, "LeftArm", trunk) > 0.02
    assert depth(heavy, pressed, "LeftArm", trunk) < DEEP_M


@pytest.mark.slow
def test_arms_of_somebody_heavy_keep_their_volume_to_the_sides() -> None:
    heavy = build_character(sample_character(5).model_copy(update={"outfit": ()}))
    changes = []
    for swelling in (heavy.swelling, ()):
        own = replace(heavy, swelling=swelling)
        half, level = (skin_volume(own, {"LeftArm": [0.0, down, 0.0],
                                         "RightArm": [0.0, -down, 0.0]}) for down in (46.0, 0.0))
        changes.append(abs(level - half))
    assert changes[0] < 0.5 * changes[1]


def skin_volume(character: Character, turns: Mapping[str, list[float]]) -> float:
    """The volume (m3) between the skin in a pose and the origin."""
    number = [mesh.name for mesh in character.meshes].index("skin")
    pose = turned(character.skeleton, turns).global_pose
    places = posed_meshes(character, pose.positions[0], pose.rotations[0])[number]
    faces = character.meshes[number].faces
    a, b, c, d = np.moveaxis(places[np.where(faces < 0, faces[:, :1], faces)], 1, 0)
    return float(np.sum(a * np.cross(b - d, c))) / 6


def test_all_engines_pose_the_same_vertices(man: Character) -> None:
    motion = turned(man.skeleton, BENT | RAISED)
    pose = motion.global_pose
    columns = joint_columns(man.skeleton, pose.positions, pose.rotations)
    blender = body_skin(man).posed(columns)
    raster = RasterBody(_Buffers(), man, 0.02).pose(columns)  # type: ignore[arg-type]
    performance = Performance(man, motion)
    passes = PosedScene([Figure.of(performance)]).vertices(0)
    np.testing.assert_array_equal(blender, passes)
    np.testing.assert_array_equal(
        blender, posed_body(performance, np.zeros(1)).vertices(0).astype(np.float32))
    np.testing.assert_allclose(both(man, BENT | RAISED)[1], blender, atol=2e-6)
    if len(raster) == len(blender):
        np.testing.assert_array_equal(blender, raster)


class _Buffers:
    """Stands for what OpenGL is given."""

    def buffer(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(write=lambda _: None)


def test_who_has_no_helpers_is_blended_alone(man: Character) -> None:
    names = tuple(f"bone{number}" for number in range(len(man.skeleton.names)))
    plain = replace(man.skeleton, names=names)
    assert corrections_of(replace(man, skeleton=plain)) == Corrections()


def test_a_suit_does_not_give_way(man: Character) -> None:
    hard = {name: replace(made, kind="painted") for name, made in man.materials.items()}
    assert corrections_of(replace(man, materials=hard)) == Corrections()
    assert len(corrections_of(man).folds) == 6


def test_a_shirts_hem_rises_evenly_beside_one_raised_thigh(man: Character) -> None:
    names = [mesh.name for mesh in man.meshes]
    top = man.meshes[names.index("top")]
    start = sum(len(mesh.vertices) for mesh in man.meshes[:names.index("top")])
    linear, folded = both(man, {"LeftUpLeg": [-70.0, 0.0, 0.0]})
    edges = np.sort(np.concatenate([top.faces[:, [corner, (corner + 1) % 4]]
                                    for corner in range(4)]), axis=1)
    edges, faces = np.unique(edges[edges[:, 0] >= 0], axis=0, return_counts=True)
    across, ahead, up = top.vertices.T
    hem = np.unique(edges[faces == 1])
    hem = hem[(up[hem] < 1.05) & (ahead[hem] < -0.1) & (np.abs(across[hem]) < 0.08)]
    raised = (folded - linear)[start + hem[np.argsort(across[hem])], 2]
    assert raised.max() > 0.02
    assert np.abs(np.diff(raised)).max() < 0.014


@pytest.mark.slow
def test_what_follows_a_thigh_by_little_is_the_bellys() -> None:
    heavy = build_character(sample_character(2).model_copy(update={"outfit": ()}))
    take = library_take(Catalogue.with_libraries(()).action("clean_and_jerk"), None, 0)
    motion, roles = take.sources(12.0)[0]
    pose = retarget(motion, heavy, roles).motion.global_pose
    folded = np.concatenate(posed_meshes(heavy, pose.positions[8], pose.rotations[8]))
    for side in ("Left", "Right"):
        assert depth(heavy, folded, f"{side}UpLeg", "Hips+Spine+Spine1+Spine2") < DEEP_M
