"""Joints for faces that users import, which drive ARKit's shape keys and the eyes."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mimegen.characters.arkit_shapes import all_shapes
from mimegen.characters.character import Character
from mimegen.characters.face_units import carriers
from mimegen.characters.fingerprint import fingerprint
from mimegen.characters.lids import PARTS
from mimegen.characters.rounding import rounded_skeleton
from mimegen.faces.words import SIDES
from mimegen.motion import Skeleton
from mimegen.readers.roles import find_roles

HEAD = "Head"
# Names of eye joints, without lids, brows, lashes and targets of gaze.
EYE = re.compile(r"eye(?!.*(lid|brow|lash|look))", re.IGNORECASE)
# The least distance of an eye from the middle of the head, in metres.
ASIDE_M = 0.01


def head_of(skeleton: Skeleton) -> int:
    """Return the index of the head's joint."""
    if carriers()[0] in skeleton.index:
        return int(skeleton.parents[skeleton.index[carriers()[0]]])
    name = HEAD if HEAD in skeleton.index else find_roles(skeleton).joints["head"]
    return skeleton.index[name]


def with_shape_joints(character: Character) -> Character:
    """Return a character with joints at the head that carry the values of its face.

    The character's own eye joints are turned if no shape key moves the eyes.
    """
    old, head = character.skeleton, head_of(character.skeleton)
    wanted = (*(side + part for side in SIDES for part in PARTS), *carriers())
    names = _renamed(character, head, wanted)
    added = [name for name in wanted if name not in names]
    places = np.tile(old.heads[head], (len(added), 1))
    skeleton = Skeleton((*names, *added), np.concatenate(
        [old.parents, np.full(len(added), head, old.parents.dtype)]),
        np.concatenate([old.heads, places]), np.concatenate([old.tails, places]))
    return replace(character, skeleton=rounded_skeleton(skeleton),
                   fingerprint=fingerprint(character.meshes, character.materials.values()))


def eyes_turn(character: Character) -> bool:
    """Return whether the eyes of a character with ARKit's shapes turn, by shapes or by joints.

    The character is one that ``with_shape_joints`` returned.
    """
    skeleton, head = character.skeleton, head_of(character.skeleton)
    if _has_looks(character):
        return True
    eyes = [skeleton.index[f"{side}{PARTS[0]}"] for side in SIDES]
    # Joints that were added are at the head's own joint.
    aside = np.abs(skeleton.heads[eyes, 0] - skeleton.heads[head, 0])
    return bool((aside > ASIDE_M).all())


def _has_looks(character: Character) -> bool:
    return any(name.startswith("eyeLook") for name in all_shapes(character))


def _renamed(character: Character, head: int, wanted: Sequence[str]) -> list[str]:
    """Return the joints' names, with the character's own eyes named like mimegen's if they turn.

    They turn if no shape key moves the eyes. Other joints with names of mimegen's face get a
    suffix.
    """
    skeleton = character.skeleton
    names = [f"{name} (own)" if name in wanted else name for name in skeleton.names]
    if _has_looks(character):
        return names
    for number, name in enumerate(skeleton.names):
        aside = skeleton.heads[number, 0] - skeleton.heads[head, 0]
        eye = f"{SIDES[0] if aside > 0 else SIDES[1]}{PARTS[0]}"
        if EYE.search(name) and skeleton.parents[number] == head and abs(aside) > ASIDE_M and (
                eye not in names):
            names[number] = eye
    return names
