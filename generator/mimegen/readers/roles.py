"""Find the role of each bone by joint names, or else by the shape of the skeleton.

Roles are ``hips``, ``spine1`` ..., ``chest``, ``neck1`` ..., ``head`` and, after ``left_`` or
``right_``, ``clavicle upper_arm forearm hand thigh shin foot toe`` and ``thumb1`` to ``pinky3``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.names import words
from mimegen.motion import Motion, Skeleton
from mimegen.readers.joint_tree import JointTree
from mimegen.readers.mapping import read_mapping
from mimegen.readers.names import SIDES, Found, roles_by_name
from mimegen.readers.shape import roles_by_shape

LIMBS = (("clavicle", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe"))
# Roles that a person must have.
ESSENTIAL = ("hips", "head", *(f"{side}_{part}" for side in SIDES for part in
             ("upper_arm", "forearm", "thigh", "shin", "foot")))
# Confidence below which an essential role is refused.
SAFE = 0.5
# Least confidence of a role found by shape, if sure names confirm the shape for the same limbs.
BORNE_OUT = 0.7
# Greatest confidence of an uncertain name that the shape contradicts.
BY_NAME_AGAINST_SHAPE = 0.6
# Confidence of named bones of a limb that do not hang one below the other.
NOT_BELOW = 0.4
# Doubts listed in an error message.
MAX_DOUBTS = 3


class DoubtfulBonesError(RequestError):
    """An essential role is uncertain or missing.

    ``doubts`` maps a bone's name to the role that it may have, or to an empty text.
    """

    def __init__(self, message: str, doubts: Mapping[str, str]) -> None:
        super().__init__(message)
        self.doubts = doubts


@dataclass(frozen=True)
class Roles:
    """The roles found: ``joints`` maps role to joint name, ``confidence`` maps role to 0 to 1."""

    joints: Mapping[str, str]
    confidence: Mapping[str, float]


def find_roles(skeleton: Skeleton, motion: Motion | None = None, file: str = "skeleton",
               mapping: Path | None = None) -> Roles:
    """Find the roles of a skeleton's joints by a mapping file, then by names, then by shape.

    If a ``motion`` of this skeleton is given, its poses show the shape instead of the rest pose,
    which may be unnatural. Raises DoubtfulBonesError, which names the bones, if the confidence of
    an essential role is below ``SAFE``.
    """
    mapped = read_mapping(mapping, skeleton.names, file) if mapping else {}
    body = JointTree.moving(motion) if motion else JointTree.at_rest(skeleton)
    named = _in_order(skeleton, _with_true_hips(skeleton, roles_by_name(skeleton.names)))
    found = {role: (joint, sure) for role, (joint, sure)
             in _merged_roles(named, roles_by_shape(body)).items()
             if role not in mapped and joint not in mapped.values()}
    found |= {role: (joint, 1.0) for role, joint in mapped.items() if joint}
    _refuse_doubts(skeleton, found, file, "" if motion is None else
                   "; list them in a file of 'role: bone' lines and give it with --map")
    joints = {role: joint for role, (joint, _) in found.items()}
    trunk = {role: joint for role, joint in _trunk(skeleton, joints).items()
             if role not in mapped and joint not in joints.values()}
    sure = min(0.9, found["hips"][1], found["head"][1])
    return Roles(trunk | joints,
                 dict.fromkeys(trunk, sure) | {role: c for role, (_, c) in found.items()})


def _merged_roles(named: Found, shaped: Found) -> Found:
    """Merge roles found by names with roles found by shape.

    The shape raises or lowers the confidence of names, and adds roles that no name identifies. An
    uncertain name ("Leg") is dropped if the shape contradicts it but confirms all sure names.
    """
    both = [role for role in ESSENTIAL if role in named and role in shaped]
    against = [role for role in both if named[role][1] == 1.0
               and named[role][0] != shaped[role][0]]
    borne_out = not against and any(role.startswith(SIDES) and named[role][1] == 1.0
                                    for role in both)
    found: Found = {}
    for role, (joint, sure) in named.items():
        agrees = role in shaped and shaped[role][0] == joint
        if agrees:
            found[role] = (joint, round(min(1.0, sure + 0.15), 2))
        elif role not in shaped or sure == 1.0:
            found[role] = (joint, sure)
        elif not borne_out:
            found[role] = (joint, min(sure, BY_NAME_AGAINST_SHAPE))
    taken = {joint for joint, _ in found.values()}
    limbs = {_limb(role) for role in both if borne_out and named[role][1] == 1.0}
    for role, (joint, sure) in shaped.items():
        if role not in found and joint not in taken and (
                borne_out or not both or role in ESSENTIAL):
            found[role] = (joint, sure / 2 if against else
                           max(sure, BORNE_OUT) if _limb(role) in limbs else sure)
    return found


def _limb(role: str) -> str:
    """Return ``legs``, ``arms`` or ``trunk`` for a role.

    Both legs are one part, because the side of one leg gives that of the other.
    """
    part = role.partition("_")[2]
    return "trunk" if not part else "legs" if part in LIMBS[1] else "arms"


def _in_order(skeleton: Skeleton, named: Found) -> Found:
    """Lower the confidence of named limb bones that do not hang one below the other."""
    found = dict(named)
    for side in SIDES:
        for parts in LIMBS:
            line = [f"{side}_{part}" for part in parts if f"{side}_{part}" in named]
            for upper, lower in pairwise(line):
                joint = skeleton.index[named[lower][0]]
                if skeleton.index[named[upper][0]] not in _ancestors(skeleton, joint):
                    found |= {role: (named[role][0], NOT_BELOW) for role in (upper, lower)}
    return found


def _refuse_doubts(skeleton: Skeleton, found: Found, file: str, hint: str) -> None:
    """Raise DoubtfulBonesError if an essential role is missing or uncertain."""
    missing = [role for role in ESSENTIAL if role not in found]
    doubts = sorted((found[role][1], role) for role in ESSENTIAL
                    if role in found and found[role][1] < SAFE)
    if not missing and not doubts:
        return
    taken = {joint for joint, _ in found.values()}
    free = [name for name in skeleton.names if name not in taken] if missing else []
    said = [f"{found[role][0]!r} is perhaps the {words(role)} ({sure:.0%} sure)"
            for sure, role in doubts[:MAX_DOUBTS]]
    if missing:
        said.append(f"no bone fits {', '.join(map(words, missing[:MAX_DOUBTS + 1]))}"
                    + (f" (not recognised: {', '.join(map(repr, free[:MAX_DOUBTS]))})"
                       if free else ""))
    raise DoubtfulBonesError(
        f"{file}: cannot tell which bone is which in what should be one whole person:"
        f" {'; '.join(said)}{hint}",
        dict.fromkeys(free, "")
        | {found[role][0]: f"{words(role)}? {sure:.0%}" for sure, role in doubts})


def _ancestors(skeleton: Skeleton, joint: int) -> Iterator[int]:
    """Yield a joint and all joints above it."""
    while joint >= 0:
        yield joint
        joint = int(skeleton.parents[joint])


def _common(skeleton: Skeleton, names: list[str]) -> int:
    """Return the lowest joint that is an ancestor of all named joints."""
    lines = [list(_ancestors(skeleton, skeleton.index[name])) for name in names]
    return next(joint for joint in lines[0] if all(joint in line for line in lines[1:]))


def _with_true_hips(skeleton: Skeleton, found: Found) -> Found:
    """Put the hips at the joint where both legs and the trunk meet, whatever bone has the name.

    A named bone above that joint stays the hips if it is near: no further from the joint than
    twice the distance from there to a thigh.
    """
    below = [found[r][0] for r in ("left_thigh", "right_thigh", "head") if r in found]
    if len(below) < 3:
        return found
    fork = _common(skeleton, below)
    named = skeleton.index[found["hips"][0]] if "hips" in found else fork
    apart = float(np.linalg.norm(skeleton.heads[named] - skeleton.heads[fork]))
    thigh = float(np.linalg.norm(skeleton.heads[skeleton.index[below[0]]] - skeleton.heads[fork]))
    if "hips" not in found or named not in _ancestors(skeleton, fork) or apart > 2 * thigh:
        found["hips"] = (skeleton.names[fork], 0.8)
    return found


def _trunk(skeleton: Skeleton, joints: Mapping[str, str]) -> dict[str, str]:
    """Return roles for the joints between hips and head.

    The chest is the joint on which the arms hang; spine joints lie below it, neck joints above.
    """
    hips, head = skeleton.index[joints["hips"]], skeleton.index[joints["head"]]
    line = list(_ancestors(skeleton, head))
    if hips not in line:
        raise RequestError(f"bone {joints['head']!r} is not attached to {joints['hips']!r};"
                           " expected the skeleton of one whole person")
    line = line[1 : line.index(hips)][::-1]
    arms = [joints.get(f"{side}_clavicle", joints[f"{side}_upper_arm"]) for side in SIDES]
    fork = _common(skeleton, [*arms, joints["head"]])
    chest = line.index(fork) if fork in line else -1
    trunk = {f"spine{i + 1}": skeleton.names[joint] for i, joint in enumerate(line[:max(chest, 0)])}
    if chest >= 0:
        trunk["chest"] = skeleton.names[line[chest]]
    return trunk | {f"neck{i + 1}": skeleton.names[joint]
                    for i, joint in enumerate(line[chest + 1 :])}
