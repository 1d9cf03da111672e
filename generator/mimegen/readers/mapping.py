"""Mapping files, in which the user states which bone plays which role.

    # role: bone (its name in the motion file; null for a role that no bone plays)
    hips: Bone.001
    left_upper_arm: Bone.017
    left_toe: null
"""

from pathlib import Path

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.yaml_file import YamlFile
from mimegen.readers.fingers import FINGERS
from mimegen.readers.names import SIDES

MAX_SPINES = 9
MAX_NECKS = 5
FINGER_BONES = tuple(f"{finger}{number}" for finger in FINGERS for number in (1, 2, 3))
ROLES = ("hips", "chest", "head", *(f"spine{i + 1}" for i in range(MAX_SPINES)),
         *(f"neck{i + 1}" for i in range(MAX_NECKS)),
         *(f"{side}_{part}" for side in SIDES for part in
           ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe",
            *FINGER_BONES)))


def read_mapping(path: Path, joints: tuple[str, ...], file: str) -> dict[str, str | None]:
    """Return role -> joint name, or None for a role that no joint plays.

    Raises RequestError, with the line and similar names, for an unknown role, for a bone that
    ``file`` does not have, or for a bone that is given two roles.
    """
    document = YamlFile(path)
    found: dict[str, str | None] = {}
    for role, bone in document.content.items():
        name = None if bone is None else str(bone)
        if role not in ROLES:
            raise document.error((str(role),), f"is not a role{near_misses(str(role), ROLES)}")
        if name is not None and name not in joints:
            raise document.error((role,), f"{file} has no bone {name!r}"
                                          f"{near_misses(name, joints)}")
        if name is not None and name in found.values():
            raise document.error((role,), f"bone {name!r} already has a role")
        found[role] = name
    if not found:
        raise RequestError(f"{path}: contains no bones; expected lines of 'role: bone'")
    return found
