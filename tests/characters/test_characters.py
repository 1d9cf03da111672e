"""Characters: phenotype, outfit, files."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from examples import examples
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.body import make_body
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, posed_vertices
from mimegen.characters.followers import FOLLOWERS
from mimegen.characters.helpers import ADDED, with_helpers_turned
from mimegen.characters.phenotype import Phenotype
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.characters.surface import SkinnedSurface, boundary_edges, hemmed, vertex_normals
from mimegen.motion import Motion, quaternions

RIGS = data_folder() / "rigs"
AVERAGE = {"sex": 1.0, "age": 30.0, "height": 1.75}


@pytest.fixture(scope="module", params=["man", "woman"])
def person(request: pytest.FixtureRequest) -> Character:
    return build_character(read_character(RIGS / f"{request.param}.yaml"))


@pytest.fixture(scope="module")
def man_spec() -> CharacterSpec:
    return read_character(RIGS / "man.yaml")


def mesh_of(character: Character, name: str) -> Mesh:
    return next(mesh for mesh in character.meshes if mesh.name == name)


def body_width(phenotype: dict[str, float], joint: str) -> float:
    """The trunk's width, in metres, at a joint's height."""
    body = make_body(Phenotype.model_validate(phenotype))
    skin = body.vertices[np.unique(body.faces["body"])]
    level = np.abs(skin[:, 2] - body.joint(joint)[2]) < 0.02
    return float(np.ptp(skin[level, 0]))


def arm_thickness(phenotype: dict[str, float]) -> float:
    """The upper arm's height in the T pose, half-way to the elbow, in metres."""
    body = make_body(Phenotype.model_validate(phenotype))
    skin = body.vertices[np.unique(body.faces["body"])]
    middle = (body.joint("LeftArm")[0] + body.joint("LeftForeArm")[0]) / 2
    return float(np.ptp(skin[np.abs(skin[:, 0] - middle) < 0.02, 2]))


def trunk_volume(phenotype: dict[str, float]) -> float:
    """The volume enclosed by the skin, in cubic metres (divergence theorem)."""
    body = make_body(Phenotype.model_validate(phenotype))
    a, b, c, d = (body.vertices[body.faces["body"][:, i]] for i in range(4))
    return float(sum(np.einsum("fa,fa->", p, np.cross(q, r)) / 6
                     for p, q, r in ((a, b, c), (a, c, d))))


def test_every_mesh_is_sound(person: Character) -> None:
    for mesh in person.meshes:
        assert np.isfinite(mesh.vertices).all()
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-6)
        assert mesh.weights.min() >= 0
        assert mesh.joints.max() < len(person.skeleton.names)
        assert mesh.faces.max() < len(mesh.vertices)
        assert mesh.faces[:, :3].min() >= 0
        assert mesh.material in person.materials
        assert all(len(values) == len(mesh.vertices) for values in mesh.attributes.values())


def test_soles_stand_on_the_ground(person: Character) -> None:
    lowest = {mesh.name: mesh.vertices[:, 2].min() for mesh in person.meshes}
    assert abs(lowest["soles"]) < 1e-9
    assert min(lowest.values()) > -1e-9


def test_skeleton_is_mixamos_in_a_t_pose(person: Character) -> None:
    skeleton = person.skeleton
    assert len(set(skeleton.names) - {*ADDED, *FOLLOWERS}) == 52
    arm, hand = (skeleton.heads[skeleton.index[n]] for n in ("LeftArm", "LeftHand"))
    assert abs((hand - arm)[2]) < 0.1 * (hand - arm)[0]
    toe, foot = (skeleton.heads[skeleton.index[n]] for n in ("LeftToeBase", "LeftFoot"))
    assert toe[1] < foot[1]


def test_joints_lie_inside_the_body() -> None:
    body = make_body(Phenotype.model_validate({**AVERAGE, "sex": 0.0}))
    faces = body.faces["body"]
    triangles = body.vertices[np.concatenate([faces[:, :3], faces[:, [0, 2, 3]]])]
    for name, joint in zip(body.skeleton.names, body.skeleton.heads, strict=True):
        a, b, c = (triangles[:, i] - joint for i in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        volume = np.einsum("fa,fa->f", a, np.cross(b, c))
        below = (la * lb * lc + np.einsum("fa,fa->f", a, b) * lc
                 + np.einsum("fa,fa->f", b, c) * la + np.einsum("fa,fa->f", c, a) * lb)
        winding = np.arctan2(volume, below).sum() / (2 * np.pi)
        assert winding > 0.5, f"{name} lies outside"


def test_body_is_mirror_symmetric() -> None:
    body = make_body(Phenotype.model_validate({**AVERAGE, "age": 60, "weight": 0.8}))
    flipped = body.vertices[body.mirror] * np.array([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(flipped, body.vertices, atol=1e-3)


@pytest.mark.parametrize("name", ["top", "trousers", "soles"])
def test_clothes_are_symmetric_within_millimetres(person: Character, name: str) -> None:
    from scipy.spatial import cKDTree

    vertices = mesh_of(person, name).vertices
    gaps, _ = cKDTree(vertices).query(vertices * np.array([-1.0, 1.0, 1.0]))
    assert np.percentile(gaps, 99) < 0.006


@settings(max_examples=examples(12), deadline=None)
@given(st.fixed_dictionaries({
    "sex": st.floats(0, 1), "age": st.floats(10, 90), "height": st.floats(1.2, 2.2),
    "muscle": st.floats(0, 1), "weight": st.floats(0, 1), "proportions": st.floats(0.5, 1),
}))
def test_every_phenotype_has_its_height(phenotype: dict[str, float]) -> None:
    body = make_body(Phenotype.model_validate(phenotype))
    skin = body.vertices[np.unique(body.faces["body"])]
    assert skin[:, 2].min() == pytest.approx(0, abs=1e-9)
    assert skin[:, 2].max() == pytest.approx(phenotype["height"], abs=0.02)


def test_phenotype_changes_measures_the_right_way() -> None:
    man, woman = AVERAGE, {**AVERAGE, "sex": 0.0}
    shoulders = [make_body(Phenotype.model_validate(p)).joint("LeftArm")[0] for p in (man, woman)]
    assert shoulders[0] > 1.05 * shoulders[1]
    waist_to_hip = [body_width(p, "Spine") / body_width(p, "LeftUpLeg") for p in (man, woman)]
    assert waist_to_hip[0] > waist_to_hip[1] + 0.03
    volumes = [trunk_volume({**man, "weight": weight}) for weight in (0.1, 0.5, 0.9)]
    assert volumes[0] < volumes[1] < volumes[2]
    assert arm_thickness({**man, "muscle": 0.9}) > 1.08 * arm_thickness({**man, "muscle": 0.1})
    child, adult = ({**man, "height": 1.5, "age": age} for age in (11, 30))
    heads = [make_body(Phenotype.model_validate(p)).joint("Head")[2] for p in (child, adult)]
    assert heads[0] < heads[1], "children have larger heads for their height"


def test_joints_follow_the_height() -> None:
    small, tall = (make_body(Phenotype.model_validate({**AVERAGE, "height": h}))
                   for h in (1.5, 2.0))
    assert tall.joint("LeftLeg")[2] > 1.2 * small.joint("LeftLeg")[2]


ARMS_UP = {"LeftArm": ("Y", -75.0), "RightArm": ("Y", 75.0),
           "LeftShoulder": ("Y", -15.0), "RightShoulder": ("Y", 15.0)}
SITTING = {"LeftUpLeg": ("X", -88.0), "RightUpLeg": ("X", -88.0),
           "LeftLeg": ("X", 88.0), "RightLeg": ("X", 88.0)}
ARMS_DOWN = {"LeftArm": ("Y", 72.0), "RightArm": ("Y", -72.0)}


@pytest.mark.parametrize("turns", [{}, ARMS_UP, SITTING, ARMS_DOWN],
                         ids=["rest", "arms up", "sitting", "arms down"])
def test_no_skin_shows_through_the_clothes(
    person: Character, turns: dict[str, tuple[str, float]]
) -> None:
    skeleton = person.skeleton
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for joint, (axis, degrees) in turns.items():
        rotations[0, skeleton.index[joint]] = quaternions.from_euler(axis, np.array([degrees]))
    pose = with_helpers_turned(
        Motion(skeleton, 30.0, skeleton.heads[:1].copy(), rotations)).global_pose
    skin = mesh_of(person, "skin")
    skin_now = posed_vertices(skin, skeleton, pose.positions[0], pose.rotations[0])
    for name in ("top", "trousers"):
        cloth = mesh_of(person, name)
        now = posed_vertices(cloth, skeleton, pose.positions[0], pose.rotations[0])
        assert share_outside(skin, skin_now, cloth, now) < 0.01


def share_outside(skin: Mesh, skin_now: NDArray[Any], cloth: Mesh,
                  cloth_now: NDArray[Any]) -> float:
    """The share of the skin's vertices under a garment that stand 3 mm or more out of it.

    Under it are those whose nearest cloth vertex in the rest pose is near and away from a hem.
    """
    from scipy.spatial import cKDTree

    inner = np.flatnonzero(cloth.attributes["edge"] > 0.012)
    gaps, nearest = cKDTree(cloth.vertices[inner]).query(skin.vertices)
    covered = gaps < 0.03
    normals = vertex_normals(cloth_now, cloth.faces)[inner]
    ahead = np.einsum("va,va->v", skin_now - cloth_now[inner[nearest]], normals[nearest])
    return float(np.mean(ahead[covered] > 0.003)) if covered.any() else 0.0


@pytest.mark.slow
def test_fingerprint_is_the_same_in_another_process(man_spec: CharacterSpec) -> None:
    code = ("import sys; from pathlib import Path;"
            "from mimegen.characters.build import build_character as b;"
            "from mimegen.characters.spec import read_character as r;"
            "print(b(r(Path(sys.argv[1]))).fingerprint)")
    answer = subprocess.run(
        [sys.executable, "-c", code, str(RIGS / "man.yaml")], capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert answer.stdout.strip() == build_character(man_spec).fingerprint


@pytest.mark.slow
def test_fingerprint_changes_with_a_color_and_a_measure(man_spec: CharacterSpec) -> None:
    first = build_character(man_spec).fingerprint
    eyes = man_spec.eyes.model_copy(update={"color": (0.1, 0.2, 0.3)})
    assert build_character(man_spec.model_copy(update={"eyes": eyes})).fingerprint != first
    taller = man_spec.phenotype.model_copy(update={"height": 1.81})
    assert build_character(man_spec.model_copy(update={"phenotype": taller})).fingerprint != first


def test_random_people_are_repeatable_and_differ() -> None:
    assert sample_character(7) == sample_character(7)
    people = [sample_character(seed) for seed in range(40)]
    assert len({person.skin.color for person in people}) == 40
    men = sum(person.phenotype.sex > 0.5 for person in people)
    assert 8 < men < 32


@pytest.mark.parametrize("seed", [3, 11, 19])
def test_random_people_can_be_built(seed: int) -> None:
    character = build_character(sample_character(seed))
    assert 1.4 < character.height < 2.2


@pytest.mark.parametrize(("old", "new", "place"), [
    ("age:", "aeg:", "phenotype aeg"),
    ("#2a1a10", "#2a1a1", "hair color"),
    ("height: 1.8", "height: 18", "phenotype height"),
    ("kind: top", "kind: tpo", "outfit"),
])
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, place: str) -> None:
    text = (RIGS / "man.yaml").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "broken.yaml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(RequestError) as caught:
        read_character(file)
    assert str(file) in str(caught.value)
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_color_out_of_range_is_named(tmp_path: Path) -> None:
    text = (RIGS / "man.yaml").read_text(encoding="utf-8")
    file = tmp_path / "broken.yaml"
    file.write_text(text.replace('"#2a1a10"', "[0.2, 1.4, 0.1]"), encoding="utf-8")
    with pytest.raises(RequestError, match="hair color"):
        read_character(file)


@pytest.mark.parametrize("content", ["", "[]", "name: [", "name: x"])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(RequestError, match=r"other\.yaml"):
        read_character(file)


def test_the_bake_is_compact() -> None:
    assert (RIGS / "body.npz").stat().st_size < 5e6


def test_a_hem_is_folded_in_under_the_cloth() -> None:
    across, along = np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5), indexing="ij")
    sheet = np.stack([across.ravel(), along.ravel(), np.zeros(25)], axis=1)
    faces = np.array([[5 * i + j, 5 * i + j + 5, 5 * i + j + 6, 5 * i + j + 1]
                      for i in range(4) for j in range(4)], np.int32)
    surface = SkinnedSurface(sheet, faces, np.ones((25, 1)))
    assert vertex_normals(sheet, faces)[:, 2].min() > 0.99
    done = hemmed(surface, 0.02, 0.1)
    rim, under = done.vertices[25:41], done.vertices[41:]
    assert rim[:, 2] == pytest.approx(np.full(16, -0.02))
    assert under[:, 2] == pytest.approx(np.full(16, -0.026))
    middle = np.array([0.5, 0.5])
    assert (np.abs(under[:, :2] - middle).max(axis=1)
            < np.abs(rim[:, :2] - middle).max(axis=1) - 0.05).all()
    assert set(np.unique(boundary_edges(done.faces))) == set(range(41, 57))


@pytest.mark.slow
def test_a_character_has_the_licence_that_its_description_states(man_spec):
    assert build_character(man_spec).licence == "CC0-1.0"
    assert build_character(man_spec.model_copy(update={"licence": "CC-BY-4.0"})).licence \
        == "CC-BY-4.0"


def test_our_people_state_their_licence_and_a_file_without_one_states_none(tmp_path):
    shipped = [read_character(path).licence for path in sorted(RIGS.glob("*.yaml"))]
    assert set(shipped) == {"CC0-1.0", sample_character(3).licence}
    bare = tmp_path / "bare.yaml"
    bare.write_text((RIGS / "man.yaml").read_text().replace("licence: CC0-1.0\n", ""))
    assert read_character(bare).licence == "not stated"
