"""Which bone is which: by name, by shape, by a mapping file, or refused."""

from pathlib import Path

import numpy as np
import pytest

from mapping import KINDS, renamed, shuffled
from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, standard_skeleton
from mimegen.readers import ReadOptions, find_roles, read_motion
from mimegen.readers.bvh import read_bvh
from mimegen.readers.names import roles_by_name, system_of
from mimegen.readers.roles import ESSENTIAL

SIMPLE = ("pybvh_bvh_test1", "assimp_Boxing_Toes", "dme_xia_strutting_01_000",
          "avatarlab_boxing", "bandai2_run_active_001")


@pytest.fixture(scope="module")
def recorded(samples: Path) -> dict[str, Motion]:
    return {name: read_bvh(samples / "bvh" / f"{name}.bvh")[0]
            for name in (*SIMPLE, "optitrack_milad")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SIMPLE)
def test_other_names_and_orders_give_the_same_bones(
        recorded: dict[str, Motion], name: str, kind: str) -> None:
    motion = recorded[name]
    roles = find_roles(motion.skeleton, motion).joints
    other, old = renamed(kind, motion, roles, seed=1)
    found = find_roles(other.skeleton, other)
    assert {role: old[joint] for role, joint in found.joints.items() if role in roles} == {
        role: joint for role, joint in roles.items() if role in found.joints}
    assert set(ESSENTIAL) <= set(found.joints)
    assert all(0.5 <= sure <= 1.0 for sure in found.confidence.values())
    assert found.confidence.keys() == found.joints.keys()


def test_a_doubtful_mapping_is_refused_with_its_bones(recorded: dict[str, Motion]) -> None:
    """The pelvis of this file is turned 132 degrees from its shoulders: left may be right."""
    motion = recorded["optitrack_milad"]
    roles = find_roles(motion.skeleton, motion).joints
    other, _ = renamed("numbers", motion, roles, seed=1)
    with pytest.raises(RequestError, match=r"take\.bvh: cannot tell .*'Bone\.\d+' is perhaps the"
                                           r" (left|right) .*--map") as caught:
        find_roles(other.skeleton, other, "take.bvh")
    assert 2 <= str(caught.value).count("is perhaps") <= 3
    assert "\n" not in str(caught.value)


def test_names_that_contradict_the_tree_yield_to_its_shape(recorded: dict[str, Motion]) -> None:
    motion = recorded["assimp_Boxing_Toes"]
    names = list(motion.skeleton.names)
    elbow, knee = names.index("LeftElbow"), names.index("LeftKnee")
    names[elbow], names[knee] = names[knee], names[elbow]
    found = find_roles(with_names(motion, names))
    assert found.joints["left_forearm"] == "LeftKnee"
    assert found.joints["left_shin"] == "LeftElbow"
    assert found.confidence["left_shin"] < found.confidence["right_shin"] == 1.0


def test_contradictions_without_a_clear_shape_are_refused(recorded: dict[str, Motion]) -> None:
    motion = recorded["optitrack_milad"]
    names = list(motion.skeleton.names)
    left, right = names.index("LeftUpLeg"), names.index("RightUpLeg")
    names[left], names[right] = names[right], names[left]
    with pytest.raises(RequestError, match=r"'LeftLeg' is perhaps the left shin"):
        find_roles(with_names(motion, names), motion, "take.bvh")


def with_names(motion: Motion, names: list[str]) -> Skeleton:
    old = motion.skeleton
    return Skeleton(tuple(names), old.parents, old.heads, old.tails)


@pytest.mark.parametrize(("names", "roles"), [
    (["Bip01 L Finger0", "Bip01 L Finger01", "Bip01 L Finger1", "Bip01 L Finger11",
      "Bip01 L Finger12"],
     {"left_thumb1": 0, "left_thumb2": 1, "left_index1": 2, "left_index2": 3, "left_index3": 4}),
    (["LeftFinger1Metacarpal", "LeftFinger1Proximal", "LeftFinger1Distal",
      "LeftFinger2Metacarpal", "LeftFinger2Proximal", "LeftFinger2Medial", "LeftFinger2Distal",
      "LeftFinger5Proximal", "LeftFinger5Medial"],
     {"left_thumb1": 0, "left_thumb2": 1, "left_thumb3": 2, "left_index1": 4, "left_index2": 5,
      "left_index3": 6, "left_pinky1": 7, "left_pinky2": 8}),
    (["index_metacarpal_l", "index_01_l", "index_02_l", "index_03_l", "ball_l", "clavicle_l",
      "lowerarm_twist_01_l", "lowerarm_l"],
     {"left_index1": 1, "left_index2": 2, "left_index3": 3, "left_toe": 4, "left_clavicle": 5,
      "left_forearm": 7}),
    (["Actor:Hips", "Actor:LeftUpLeg", "Actor:LeftLeg", "Actor:LeftHandIndex1",
      "Actor:LeftHandIndex2"],
     {"hips": 0, "left_thigh": 1, "left_shin": 2, "left_index1": 3, "left_index2": 4}),
    (["Character1_LeftForeArm", "Character1_LeftForeArmRoll", "Character1_Hips"],
     {"left_forearm": 0, "hips": 2}),
    (["LUArm", "LFArm", "RThigh", "RShin", "RToe"],
     {"left_upper_arm": 0, "left_forearm": 1, "right_thigh": 2, "right_shin": 3, "right_toe": 4}),
    (["左腕", "左ひじ", "右手首", "左足", "右ひざ", "左人指１", "左人指２"],
     {"left_upper_arm": 0, "left_forearm": 1, "right_hand": 2, "left_thigh": 3, "right_shin": 4,
      "left_index1": 5, "left_index2": 6}),
    (["lShldrBend", "lForearmBend", "rThighBend", "rShin", "lThumb1", "lThumb2"],
     {"left_upper_arm": 0, "left_forearm": 1, "right_thigh": 2, "right_shin": 3,
      "left_thumb1": 4, "left_thumb2": 5}),
])
def test_naming_tables(names: list[str], roles: dict[str, int]) -> None:
    found = {role: joint for role, (joint, _) in roles_by_name(tuple(names)).items()}
    assert found == {role: names[number] for role, number in roles.items()}


@pytest.mark.parametrize(("name", "system"), [
    ("mixamorig4:Hips", "Mixamo"), ("Bip001 Pelvis", "3ds Max Biped"),
    ("upperarm_l", "Unreal"), ("CC_Base_Hip", "Character Creator"), ("Bone.001", "unknown"),
    ("Actor:LeftUpLeg", "Vicon Shogun or HumanIK"),
])
def test_systems(name: str, system: str) -> None:
    assert system_of((name,)) == system


@pytest.fixture
def nameless(samples: Path, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A file whose left and right cannot be told, and what its bones were called."""
    text = (samples / "bvh" / "optitrack_milad.bvh").read_text()
    names = read_bvh(samples / "bvh" / "optitrack_milad.bvh")[0].skeleton.names
    new = {name: f"Bone.{i:03}" for i, name in enumerate(names)}
    head, motion = text.split("MOTION")
    words = (f"{kind} {new[name]}" if kind in ("ROOT", "JOINT") else None
             for kind, name in (line.split()[:2] if len(line.split()) > 1 else ("", "")
                                for line in head.splitlines()))
    lines = [word or line for word, line in zip(words, head.splitlines(), strict=True)]
    path = tmp_path / "nameless.bvh"
    path.write_text("\n".join(lines) + "\nMOTION" + motion)
    return path, new


def test_a_mapping_file_decides(nameless: tuple[Path, dict[str, str]], samples: Path,
                                tmp_path: Path) -> None:
    path, new = nameless
    with pytest.raises(RequestError, match=r"nameless\.bvh.*--map"):
        read_motion(path)
    true = read_motion(samples / "bvh" / "optitrack_milad.bvh").roles
    mapping = tmp_path / "roles.yaml"
    mapping.write_text("".join(f"{role}: {new[true[role]]}\n" for role in ESSENTIAL)
                       + "left_toe: null\n")
    found = read_motion(path, ReadOptions(mapping=mapping))
    assert {role: found.roles[role] for role in ESSENTIAL} == {
        role: new[true[role]] for role in ESSENTIAL}
    assert all(found.confidence[role] == 1.0 for role in ESSENTIAL)
    assert "left_toe" not in found.roles


@pytest.mark.parametrize(("text", "message"), [
    ("hips: Hips\nleft_uper_arm: LeftArm\n", r"line 2: left_uper_arm: is not a .*left_upper_arm"),
    ("hips: Hisp\n", r"line 1: hips: .*walk\.bvh has no bone 'Hisp' \(did you mean Hips"),
    ("hips: Hips\nchest: Hips\n", r"line 2: chest: bone 'Hips' already has a role"),
    ("- hips\n", "expected a mapping"),
    ("{}\n", "contains no bones"),
    ("hips: Hips\nhips: Spine\n", "given twice"),
])
def test_mapping_files_that_are_wrong(samples: Path, tmp_path: Path, text: str,
                                      message: str) -> None:
    mapping = tmp_path / "roles.yaml"
    mapping.write_text(text)
    with pytest.raises(RequestError, match=message) as caught:
        read_motion(samples / "bvh" / "pybvh_cmu_12_01_walk.bvh", ReadOptions(mapping=mapping))
    assert "roles.yaml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_rest_pose_alone_is_enough() -> None:
    standard = standard_skeleton()
    motion = Motion(standard, 30, standard.heads[:1].repeat(2, axis=0),
                    np.tile([1.0, 0, 0, 0], (2, len(standard.names), 1)))
    names = tuple(f"Bone.{i:03}" for i in range(len(standard.names)))
    other = shuffled(motion, names, np.random.default_rng(3)).skeleton
    old = dict(zip(names, standard.names, strict=True))
    found = {role: old[joint] for role, joint in find_roles(other).joints.items()}
    assert found == dict(find_roles(standard).joints)
