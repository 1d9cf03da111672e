"""Clothes, hair and headwear of all kinds, and random people that draw from them."""

from collections import Counter
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh, posed_vertices
from mimegen.characters.followers import HAIR, SKIRT, lagging, with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.characters.patterns import TILES
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.characters.wardrobe import random_people
from mimegen.library.catalogue import Catalogue
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.pages.backgroundsheet import standing
from mimegen.plan.permute.axes import axes
from mimegen.plan.permute.people import distances, lab, person_of

RIGS = data_folder() / "rigs"
# From the inside out.
LAST = ("headscarf", "jacket", "cap", "glasses")
RED, WHITE = (0.5, 0.05, 0.05), (0.8, 0.8, 0.8)
STRIPES = {"kind": "stripes", "color": WHITE, "size": 0.1}
TOP, TROUSERS = {"kind": "top", "color": RED}, {"kind": "trousers", "color": RED}
CLOTHES: dict[str, list[dict[str, Any]]] = {
    "striped": [{**TOP, "pattern": STRIPES}],
    "shirt": [{**TOP, "sleeve": 0.93, "collar": "shirt", "buttons": True}],
    "hoodie": [{**TOP, "sleeve": 0.93, "collar": "hood", "pocket": True}],
    "jacket": [TOP, {"kind": "jacket", "color": WHITE}],
    "dress": [{"kind": "dress", "color": RED, "pattern": STRIPES}],
    "cap and glasses": [TOP, {"kind": "cap", "color": RED, "peak_color": WHITE},
                        {"kind": "glasses", "color": RED}],
    "headscarf": [TOP, {"kind": "headscarf", "color": RED}],
}
SITTING = {"LeftUpLeg": ("X", -88.0), "RightUpLeg": ("X", -88.0),
           "LeftLeg": ("X", 88.0), "RightLeg": ("X", 88.0)}
KICKING = {"LeftUpLeg": ("X", -85.0), "LeftLeg": ("X", 10.0), "RightUpLeg": ("X", 8.0)}
STEPPING = {"LeftUpLeg": ("X", -75.0), "LeftLeg": ("X", 80.0), "RightUpLeg": ("X", 30.0)}


def described(**changes: Any) -> CharacterSpec:
    """The woman, with other hair or clothes."""
    spec = read_character(RIGS / "woman.yaml").model_dump()
    return CharacterSpec.model_validate({**spec, **changes})


def in_pose(character: Character, turns: dict[str, tuple[str, float]]) -> dict[str, Any]:
    """Where the vertices of each mesh are in a pose, by the mesh's name."""
    skeleton = character.skeleton
    rotations = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for joint, (axis, degrees) in turns.items():
        rotations[0, skeleton.index[joint]] = quaternions.from_euler(axis, np.array([degrees]))
    motion = Motion(skeleton, 30.0, skeleton.heads[:1].copy(), rotations)
    pose = with_followers_turned(with_helpers_turned(motion)).global_pose
    return {mesh.name: posed_vertices(mesh, skeleton, pose.positions[0], pose.rotations[0])
            for mesh in character.meshes}


def edge_lengths(mesh: Mesh, places: NDArray[Any]) -> NDArray[Any]:
    """The lengths of quads' sides."""
    quads = mesh.faces[mesh.faces[:, 3] >= 0]
    return np.asarray(np.linalg.norm(places[quads] - places[np.roll(quads, -1, axis=1)], axis=-1))


@pytest.mark.slow
@pytest.mark.parametrize("name", CLOTHES)
def test_clothes_of_every_kind_are_sound_meshes_of_their_own(name: str) -> None:
    plain = build_character(described(outfit=[TROUSERS, TOP]))
    character = build_character(described(outfit=[TROUSERS, *CLOTHES[name]]))
    assert character.fingerprint != plain.fingerprint
    names = [mesh.name for mesh in character.meshes]
    assert len(names) == len(set(names))
    for mesh in character.meshes:
        assert np.isfinite(mesh.vertices).all() and mesh.material in character.materials
        np.testing.assert_allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-6)
        assert mesh.faces.max() < len(mesh.vertices)


def test_a_shirts_collar_is_open_and_lies_on_the_shoulders() -> None:
    character = build_character(described(outfit=CLOTHES["shirt"]))
    meshes = {mesh.name: mesh for mesh in character.meshes}
    shirt, collar = meshes["top"].vertices, meshes["top_trim0"].vertices
    front = (np.abs(shirt[:, 0]) < 0.01) & (shirt[:, 1] < 0)
    points = [collar[side & (collar[:, 1] < np.percentile(collar[:, 1], 30)), 2].min()
              for side in (collar[:, 0] > 0, collar[:, 0] < 0)]
    assert np.abs(collar[collar[:, 1] < -0.06, 0]).min() > 0.01, "it meets in front"
    assert abs(points[0] - points[1]) < 0.002 and collar[:, 2].max() - points[0] > 0.08
    assert shirt[front, 2].max() < collar[:, 2].max() - 0.1, "it is closed to the chin"
    chin = character.skeleton.heads[character.skeleton.index["Head"], 2]
    assert collar[:, 2].max() < chin + 0.01
    distances = np.linalg.norm(collar[2 * 48:, None] - shirt[None], axis=-1).min(axis=1)
    assert np.percentile(distances[-48:], 90) < 0.02, "its edge stands off"


@pytest.mark.slow
@pytest.mark.parametrize("kind", TILES)
def test_a_pattern_is_a_picture_of_both_colors_that_lies_on_all_of_the_top(kind: str) -> None:
    pattern = {"kind": kind, "color": WHITE, "size": 0.1}
    character = build_character(described(outfit=[{**TOP, "pattern": pattern}]))
    top = next(mesh for mesh in character.meshes if mesh.name == "top")
    image = character.materials["top"].image
    assert image is not None and top.uvs is not None and top.uvs.shape == (*top.faces.shape, 2)
    with Image.open(BytesIO(image)) as drawn:
        reds, counts = np.unique(np.asarray(drawn)[..., 0], return_counts=True)
    darkest, lightest = counts[[0, -1]] / counts.sum()
    assert reds[0] < 195 < 230 < reds[-1] and 0.05 < lightest < 0.6 and darkest > 0.2


def test_patterns_are_laid_in_metres_without_tears_but_at_seams() -> None:
    character = build_character(described(outfit=CLOTHES["striped"]))
    top = next(mesh for mesh in character.meshes if mesh.name == "top")
    assert top.uvs is not None
    quads = top.faces[:, 3] >= 0
    uvs, places = top.uvs[quads], top.vertices[top.faces[quads]]
    on_cloth = np.linalg.norm(places - np.roll(places, -1, axis=1), axis=-1)
    on_picture = STRIPES["size"] * np.linalg.norm(uvs - np.roll(uvs, -1, axis=1), axis=-1)
    share = on_picture[on_cloth > 0.004] / on_cloth[on_cloth > 0.004]
    assert np.percentile(share, 97) < 2.0 and 0.7 < np.median(share) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("turns", [SITTING, KICKING, STEPPING],
                         ids=["sitting", "kicking", "stepping"])
@pytest.mark.parametrize("flare", [0.0, 0.8])
def test_no_thigh_comes_through_a_skirt_and_it_does_not_tear(
    turns: dict[str, tuple[str, float]], flare: float
) -> None:
    skirt = {"kind": "skirt", "color": RED, "leg": 0.5, "flare": flare}
    character = build_character(described(outfit=[skirt, TOP]))
    meshes = {mesh.name: mesh for mesh in character.meshes}
    places = in_pose(character, turns)
    rest, now = (edge_lengths(meshes["skirt"], where)
                 for where in (meshes["skirt"].vertices, places["skirt"]))
    assert (now < rest + 0.10).all()
    assert in_front(meshes, places, character.skeleton) < 0.05


def in_front(meshes: dict[str, Mesh], places: dict[str, Any], skeleton: Skeleton) -> float:
    """The share of the skin of the thighs' fronts that stands out of the skirt's front."""
    from scipy.spatial import cKDTree

    skin, skirt = meshes["skin"], meshes["skirt"]
    hip, hem = skeleton.heads[skeleton.index["LeftUpLeg"]], skirt.vertices[:, 2].min()
    here = (skin.vertices[:, 2] > hem + 0.05) & (skin.vertices[:, 2] < hip[2] - 0.1)
    here &= skin.vertices[:, 1] < hip[1] - 0.02
    front = skirt.vertices[:, 1] < hip[1]
    gap, nearest = cKDTree(places["skirt"][front]).query(places["skin"][here])
    triangles = skirt.faces
    corners = places["skirt"][triangles[:, :3]]
    normals = np.zeros_like(places["skirt"])
    np.add.at(normals, triangles[:, :3].ravel(), np.repeat(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), 3, axis=0))
    normals = normals[front] / np.maximum(np.linalg.norm(normals[front], axis=1), 1e-12)[:, None]
    out = np.einsum("na,na->n", places["skin"][here] - places["skirt"][front][nearest],
                    normals[nearest])
    return float(np.mean((out > 0.012) & (gap < 0.05)))


@pytest.mark.slow
def test_arms_hang_beside_a_skirt_as_beside_trousers() -> None:
    skirt = {"kind": "skirt", "color": RED, "leg": 0.7, "flare": 0.8}
    wrists = []
    for below in (skirt, TROUSERS):
        motion = standing(build_character(described(outfit=[below, TOP]))).motion
        index = motion.skeleton.index
        arm, wrist = (motion.global_pose.positions[0, index[f"Left{name}"]]
                      for name in ("Arm", "Hand"))
        wrists.append(wrist - arm)
        fingers = [motion.rotations[0, index[f"LeftHand{finger}1"], 0]
                   for finger in ("Index", "Middle", "Ring", "Pinky")]
        bends = 2 * np.degrees(np.arccos(np.abs(fingers)))
        assert 10 < bends[0] < bends[-1] < 60 and (np.diff(bends) > -1).all(), "relaxed"
    np.testing.assert_allclose(wrists[0], wrists[1], atol=0.02)


@pytest.mark.slow
def test_only_who_wears_a_skirt_or_long_hair_has_joints_for_them() -> None:
    man = build_character(read_character(RIGS / "man.yaml"))
    assert not {*SKIRT, *HAIR} & set(man.skeleton.names)
    skirt = build_character(described(outfit=CLOTHES["dress"]))
    assert {*SKIRT, *HAIR} <= set(skirt.skeleton.names)


def test_long_hair_lags_behind_a_turning_head_and_comes_to_rest() -> None:
    turned = np.minimum(np.arange(300) / 10.0, 1.0)[:, None]
    lag = lagging(turned, 60.0)
    assert lag[8, 0] > 0.3 and np.abs(lag[-60:]).max() < 0.02
    assert np.abs(lagging(np.ones((50, 1)), 60.0)).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["strands", "curls", "tail", "bun", "crop", "bald"])
def test_hair_of_every_kind_stays_on_the_head(kind: str) -> None:
    hair = {"color": RED, "kind": kind, "volume": 0.5, "beard": "full"}
    character = build_character(described(hair=hair))
    head = character.skeleton.heads[character.skeleton.index["Head"]]
    meshes = [mesh for mesh in character.meshes if mesh.material == "hair"]
    assert {"beard"} <= {mesh.name for mesh in meshes}
    for mesh in meshes:
        assert np.linalg.norm(mesh.vertices - head, axis=1).max() < 0.45
    assert (kind == "bald") == all(mesh.name.startswith("beard") for mesh in meshes)


@pytest.mark.slow
def test_headwear_hides_hair() -> None:
    hair = {"color": RED, "kind": "curls", "volume": 1.0}
    free, capped, scarfed = (build_character(described(hair=hair, outfit=outfit)) for outfit in (
        [TOP], CLOTHES["cap and glasses"], CLOTHES["headscarf"]))
    tops = [max(mesh.vertices[:, 2].max() for mesh in one.meshes if mesh.material == "hair")
            for one in (free, capped)]
    cap = next(mesh for mesh in capped.meshes if mesh.name == "cap")
    assert tops[0] > cap.vertices[:, 2].max() > tops[1]
    assert not any(mesh.material == "hair" for mesh in scarfed.meshes)


@pytest.mark.slow
def test_a_headscarf_goes_under_a_jacket() -> None:
    order = [*LAST]
    for seed in range(300):
        worn = [one.kind for one in sample_character(seed).outfit if one.kind in order]
        assert worn == sorted(worn, key=order.index)
    both = [person for person in map(sample_character, range(300))
            if {"headscarf", "jacket"} <= {garment.kind for garment in person.outfit}][:2]
    assert len(both) == 2
    for person in both:
        bare = person.model_copy(update={
            "outfit": tuple(one for one in person.outfit if one.kind != "jacket")})
        over, alone = (next(mesh for mesh in build_character(one).meshes if mesh.name == "cowl")
                       for one in (person, bare))
        assert 0 < len(over.faces) < 0.9 * len(alone.faces)


@pytest.mark.slow
def test_random_people_draw_from_all_kinds() -> None:
    people = [sample_character(seed) for seed in range(400)]
    kinds = Counter(garment.kind for person in people for garment in person.outfit)
    assert min(kinds[kind] for kind in (
        "top", "jacket", "trousers", "skirt", "dress", "glasses", "cap", "headscarf")) > 10
    assert set(Counter(person.hair.kind for person in people)) == {
        "strands", "curls", "tail", "bun", "crop", "bald"}
    worn = [garment for person in people for garment in person.outfit]
    assert {garment.style for garment in worn if garment.kind == "shoes"} == {
        "trainers", "leather", "flats", "boots"}
    shown = {pattern.kind for garment in worn if (pattern := getattr(garment, "pattern", None))}
    assert shown == {*TILES}


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 31_337])
def test_500_random_people_are_of_all_skins_ages_and_builds_evenly(first: int) -> None:
    people = [sample_character(seed) for seed in range(first, first + 500)]
    tones = [angle_of(person.skin.color) for person in people]
    ages = [person.phenotype.age for person in people]
    for values, parts, least, most in ((tones, 6, -62, 62), (ages, 6, 18, 80)):
        counts = np.histogram(values, parts, (least, most))[0]
        assert counts.sum() > 480 and counts.min() > 70 and counts.max() < 97
    assert 18 <= min(ages) < 20 and 78 < max(ages) <= 80
    builds = np.array([(one.muscle, one.weight) for one in random_people().builds.values()])
    drawn = np.array([(person.phenotype.muscle, person.phenotype.weight) for person in people])
    away = np.linalg.norm(drawn[:, None] - builds, axis=-1)
    assert np.abs(np.bincount(away.argmin(axis=1), minlength=5) - 100).max() < 6
    assert 240 < sum(person.phenotype.sex > 0.5 for person in people) < 260


def angle_of(color: tuple[float, float, float]) -> float:
    """The individual typology angle of skin, in degrees (Chardon et al. 1991)."""
    light, _, yellow = lab(color)
    return float(np.degrees(np.arctan2(light - 50, yellow)))


CATALOGUE = Catalogue.with_libraries(())


def test_twenty_four_people_are_far_from_one_another() -> None:
    for first in (1, 5000, 777_000):
        people = np.array([person_of(CATALOGUE, f"random:{seed}")
                           for seed in range(first, first + 24)])
        for number in range(1, len(people)):
            assert (distances(people[number], people[:number], axes().unseen.person) > 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 9003])
def test_loose_sleeves_hang_near_the_arm(seed: int) -> None:
    """Of two heavy people in loose tops: 6.2 and 6.8 cm where nothing holds them."""
    spec = sample_character(seed)
    bald = spec.hair.model_copy(update={"kind": "bald"})
    dressed = build_character(spec)
    bare = build_character(spec.model_copy(update={"outfit": (), "hair": bald}))
    lift = dressed.skeleton.heads[0] - bare.skeleton.heads[0]
    skin, top = ({mesh.name: mesh for mesh in character.meshes}[name]
                 for character, name in ((bare, "skin"), (dressed, "top")))
    beside = np.abs(top.vertices[:, 0]) > bare.skeleton.heads[bare.skeleton.index["LeftArm"], 0]
    away, _ = cKDTree(skin.vertices).query((top.vertices - lift)[beside])
    assert 0.02 < away.max() < 0.04
