"""Read the bones of a skeleton in Motive's CSV that was exported without markers.

Every bone has a global position and rotation. Quaternions X Y Z W rotate it from the T pose, in
which the axes of all bones are those of the world: Y up, facing +Z.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.options import ReadOptions
from mimegen.readers.recording import Recording
from mimegen.readers.smpl.reading import World, upright
from mimegen.readers.suits.segments import motion_of_segments

WORLD = World("Y", "Motive has Y up", "Motive")
# Roles by bone names of Motive's own and its FBX convention, and possible parents of each role.
MIDDLE = {"Hip": "hips", "Hips": "hips", "Ab": "spine1", "Spine": "spine1", "Spine1": "chest",
          "Chest": "chest", "Neck": "neck1", "Head": "head"}
SIDES = {"Shoulder": "clavicle", "UArm": "upper_arm", "Arm": "upper_arm", "FArm": "forearm",
         "ForeArm": "forearm", "Hand": "hand", "Thigh": "thigh", "UpLeg": "thigh", "Shin": "shin",
         "Leg": "shin", "Foot": "foot", "Toe": "toe", "ToeBase": "toe"}
ABOVE = {"spine1": ("hips",), "chest": ("spine1", "hips"), "neck1": ("chest", "spine1"),
         "head": ("neck1", "chest", "spine1"), "clavicle": ("chest", "spine1"),
         "upper_arm": ("clavicle", "chest", "spine1"), "forearm": ("upper_arm",),
         "hand": ("forearm",), "thigh": ("hips",), "shin": ("thigh",), "foot": ("shin",),
         "toe": ("foot",)}
NEEDED = ("hips", "head", "left_shin", "right_shin", "left_forearm", "right_forearm")
ORDER = ("hips", "spine1", "chest", "neck1", "head", *(f"{side}_{part}" for side in (
    "left", "right") for part in ABOVE if part not in ("spine1", "chest", "neck1", "head")))


def roles_of_bones(names: Sequence[str]) -> dict[str, str]:
    """Return role -> bone name, parents first, or nothing if the bones are not a whole body's."""
    roles: dict[str, str] = {}
    for name in names:
        bare = name.rpartition(":")[2]
        if bare in MIDDLE:
            roles.setdefault(MIDDLE[bare], name)
        for side, marks in (("left", ("Left", "L")), ("right", ("Right", "R"))):
            part = next((bare.removeprefix(mark) for mark in marks if bare.startswith(mark)), "")
            if part in SIDES:
                roles.setdefault(f"{side}_{SIDES[part]}", name)
    return {role: roles[role] for role in ORDER if role in roles} \
        if all(role in roles for role in NEEDED) else {}


def recording_of_bones(path: Path, roles: Mapping[str, str], rotations: FloatArray,
                       positions: FloatArray,
                       fps: float, options: ReadOptions) -> Recording:
    """Return the recording of bones in the order of ``roles``.

    ``rotations`` (F, J, 4) are global rotations, ``positions`` (F, J, 3) positions in metres. Lost
    bones are held; both arrays are changed in place. Raises RequestError if bones are lost in too
    many frames.
    """
    lost = ~(np.isfinite(rotations).all(axis=2) & np.isfinite(positions).all(axis=2))
    if lost.all(axis=0).any() or lost.any(axis=1).mean() > 0.5:
        raise RequestError(f"{path}: its bones are lost in {lost.any(axis=1).mean():.0%} of the"
                           " frames")
    for joint in range(len(roles)):
        known = np.flatnonzero(~lost[:, joint])
        nearest = known[np.abs(np.arange(len(lost))[:, None] - known).argmin(axis=1)] \
            if lost[:, joint].any() else np.arange(len(lost))
        rotations[:, joint], positions[:, joint] = rotations[nearest, joint], positions[nearest,
                                                                                        joint]
    names = list(roles)
    above = np.array([_above(role, names) for role in names])
    motion: Motion = motion_of_segments(path, tuple(roles.values()), above, fps,
                                        quaternions.without_flips(rotations), positions)
    notes = (f"bones that were lost in {int(lost.any(axis=1).sum())} frames are held",) \
        if lost.any() else ()
    return upright(path, motion, WORLD, notes, options, dict(roles))


def _above(role: str, names: Sequence[str]) -> int:
    """Return the index of a role's parent among ``names``, -1 for the hips."""
    side, _, part = role.partition("_")
    if role == "hips":
        return -1
    bare = part if side in ("left", "right") else role
    for candidate in ABOVE[bare]:
        whole = candidate if candidate in names else f"{side}_{candidate}"
        if whole in names:
            return names.index(whole)
    return 0
