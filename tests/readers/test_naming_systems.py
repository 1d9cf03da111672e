"""Skeletons of programs of which there is no sample: the standard one with their bones' names."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from mimegen.motion import Skeleton, standard_skeleton
from mimegen.readers import find_roles
from mimegen.readers.fingers import FINGERS
from mimegen.readers.names import system_of

SYSTEMS = yaml.safe_load(Path(__file__).with_name("naming_systems.yaml").read_text())
STANDARD = {"clavicle": "Shoulder", "upper_arm": "Arm", "forearm": "ForeArm", "hand": "Hand",
            "thigh": "UpLeg", "shin": "Leg", "foot": "Foot", "toe": "ToeBase"}
ARM, LEG = ("clavicle", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")


class Growing:
    """A skeleton that gets bone after bone, and the roles that they play."""

    def __init__(self):
        self.places, self.parents, self.roles = {}, {}, {}
        self.standard = standard_skeleton()

    def place(self, joint):
        return self.standard.heads[self.standard.index[joint]]

    def add(self, names, parent, start, end, role):
        """Add bones in line below a parent, from one place towards another; return the last."""
        names = [names] if isinstance(names, str) else names
        for number, name in enumerate(names):
            self.parents[name] = parent
            self.places[name] = start + (end - start) * number / len(names)
            parent = name
        if role:
            self.roles[role] = names[0]
        return parent


def grown(system):
    """Return the skeleton of a naming system and the bones that play each role."""
    bones, top = Growing(), None
    for name in system.get("above", []):
        top = bones.add(name, top, np.zeros(3), np.zeros(3), None)
    hips, chest, head = (bones.place(joint) for joint in ("Hips", "Spine2", "Head"))
    trunk, neck = system["trunk"], system["neck"]
    bones.add(trunk[0], top, hips, hips, "hips")
    bones.add(trunk[1:], trunk[0], bones.place("Spine"),
              chest + (chest - bones.place("Spine")) / max(len(trunk) - 2, 1), None)
    bones.roles["chest"] = trunk[-1]
    low = bones.place("Neck")
    bones.add(neck[:-1], trunk[-1], low, head, "neck1")
    bones.add(neck[-1], neck[-2], head, head, "head")
    below = bones.add(system["legs_on"], trunk[0], hips, hips, None) if "legs_on" in system \
        else trunk[0]
    for side, mark in zip(("left", "right"), system["sides"], strict=True):
        for parts, parent in ((ARM, trunk[-1]), (LEG, below)):
            _limb(bones, system, side, mark, parts, parent)
    for name, others in system.get("more", {}).items():
        for mark in system["sides"] if "$" in f"{name}{others}" else [""]:
            for number, other in enumerate(others):
                at = bones.places[name.replace("$", mark)]
                bones.add(other.replace("$", mark), name.replace("$", mark),
                          at + np.array([0.0, 0.01 * number + 0.01, -0.02]), at, None)
    return bones


def _limb(bones, system, side, mark, parts, parent):
    limbs = {part: system["limbs"][part] for part in parts if part in system["limbs"]}
    ends = {part: bones.place(side.capitalize() + STANDARD[part]) for part in limbs}
    ends["end"] = ends[parts[len(limbs) - 1 if parts == LEG else -1]] + [0.0, -0.04, 0.0]
    for part, following in pairwise([*limbs, "end"]):
        names = limbs[part] if isinstance(limbs[part], list) else [limbs[part]]
        parent = bones.add([name.replace("$", mark) for name in names], parent, ends[part],
                           ends[following], f"{side}_{part}")
    if parts == ARM:
        _fingers(bones, system, side, mark, parent)


def _fingers(bones, system, side, mark, hand):
    palms = system.get("palm", [None] * 5)
    for finger, palm, names in zip(FINGERS, palms, system.get("fingers", [[]] * 5), strict=True):
        parent = hand
        for number, name in enumerate(names, start=1):
            at = bones.place(f"{side.capitalize()}Hand{finger.capitalize()}{number}")
            if number == 1 and palm:
                near = (at + bones.place(f"{side.capitalize()}Hand")) / 2
                parent = bones.add(palm.replace("$", mark), hand, near, near, None)
            parent = bones.add(name.replace("$", mark), parent, at, at, f"{side}_{finger}{number}")


def skeleton_of(bones):
    order = list(bones.parents)
    parents = np.array([order.index(bones.parents[name]) if bones.parents[name] else -1
                        for name in order])
    heads = np.array([bones.places[name] for name in order])
    return Skeleton(tuple(order), parents, heads, heads + np.array([0.0, 0.0, 0.02]))


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_bone_of_a_naming_system_gets_its_role(name):
    bones = grown(SYSTEMS[name])
    found = find_roles(skeleton_of(bones))
    wrong = {role: (found.joints.get(role), bone) for role, bone in bones.roles.items()
             if found.joints.get(role) != bone}
    assert not wrong
    others = {role: joint for role, joint in found.joints.items()
              if role not in bones.roles and not role.startswith(("spine", "neck"))}
    assert not others
    assert min(found.confidence.values()) >= 0.75
    assert system_of(tuple(bones.parents)) == SYSTEMS[name]["system"]
