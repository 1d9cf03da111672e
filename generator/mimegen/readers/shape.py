"""Roles by the shape of the tree, for skeletons whose names say nothing."""

from functools import lru_cache
from itertools import combinations

import numpy as np

from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# Branches of one joint that are looked at, longest first: limbs, neck, and what clothes hang on.
LIMBS = 8


def roles_by_shape(skeleton: Skeleton, places: FloatArray) -> dict[str, str]:
    """Return role -> joint name for a person's tree, or nothing where it is not one.

    The hips are a joint with a pair of like branches (legs) and a branch that holds another
    joint with such a pair (arms) and one more branch (neck). ``places`` (J, 3) is a natural pose;
    which leg is the left one follows from where feet and knees point.
    """
    for hips in range(len(skeleton.names)):
        legs = _pair(skeleton, hips)
        if legs is None:
            continue
        trunk = [j for j in _below(skeleton, hips) if not _within(skeleton, j, legs)]
        for chest in trunk:
            arms = _pair(skeleton, chest) if chest != hips else None
            necks = [c for c in skeleton.children(chest) if arms and c not in arms]
            if arms and necks:
                neck = max(necks, key=lambda c: _reaches(skeleton)[c])
                return _named(skeleton, places, hips, chest, neck, legs, arms)
    return {}


def _below(skeleton: Skeleton, joint: int) -> list[int]:
    found = {joint}
    for child in range(joint + 1, len(skeleton.names)):
        if int(skeleton.parents[child]) in found:
            found.add(child)
    return sorted(found - {joint})


def _within(skeleton: Skeleton, joint: int, branches: tuple[int, int]) -> bool:
    return any(joint == b or joint in _below(skeleton, b) for b in branches)


def _line(skeleton: Skeleton, joint: int) -> list[int]:
    """Return the joints of the longest way down from a joint."""
    line = [joint]
    while children := skeleton.children(line[-1]):
        line.append(max(children, key=lambda c: _reaches(skeleton)[c]))
    return line


@lru_cache(maxsize=4)
def _reaches(skeleton: Skeleton) -> FloatArray:
    """Return the length (J,) of the longest way from each joint's parent through it to an end."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    deepest = np.zeros(len(lengths))
    for joint in range(len(lengths) - 1, 0, -1):
        parent = skeleton.parents[joint]
        deepest[parent] = max(deepest[parent], lengths[joint] + deepest[joint])
    return np.asarray(lengths + deepest)


def _pair(skeleton: Skeleton, joint: int) -> tuple[int, int] | None:
    """Return the longest two children's branches of like length and joint count."""
    reaches = _reaches(skeleton)
    longest = sorted(skeleton.children(joint), key=lambda c: -reaches[c])[:LIMBS]
    pairs = []
    for a, b in combinations(longest, 2):
        alike = len(_below(skeleton, a)) == len(_below(skeleton, b))
        if alike and len(_line(skeleton, a)) >= 3 and reaches[b] > 0.9 * reaches[a]:
            pairs.append((reaches[a], (a, b)))
    return max(pairs)[1] if pairs else None


def _limb(skeleton: Skeleton, start: int) -> tuple[int, list[int]]:
    """Return where in the branch's line the two longest bones in a row begin, and the line."""
    line = _line(skeleton, start)
    lengths = np.linalg.norm(skeleton.offsets[line], axis=1)
    return int(np.argmax(np.minimum(lengths[1:-1], lengths[2:]))), line


def _named(skeleton: Skeleton, places: FloatArray, hips: int, chest: int, neck: int,
           legs: tuple[int, int], arms: tuple[int, int]) -> dict[str, str]:
    up = places[chest] - places[hips]
    ways = [_limb(skeleton, leg) for leg in legs]
    forward = np.zeros(3)
    for at, line in ways:
        hip, knee, ankle = places[line[at : at + 3]]
        forward += places[line[-1]] - ankle + knee - (hip + ankle) / 2
    left = np.cross(up, forward)
    roles = {"hips": hips, "head": _line(skeleton, neck)[-1]}
    if len(_line(skeleton, neck)) > 2:
        roles["head"] = _line(skeleton, neck)[1]
    for branches, parts, before in ((legs, ("thigh", "shin", "foot", "toe"), None),
                                    (arms, ("upper_arm", "forearm", "hand"), "clavicle")):
        offsets = [places[_limb(skeleton, b)[1][1]] @ left for b in branches]
        for side, branch in zip(("left", "right"), np.argsort(offsets)[::-1], strict=True):
            at, line = _limb(skeleton, branches[int(branch)])
            roles |= {f"{side}_{p}": j for p, j in zip(parts, line[at:], strict=False)}
            if before and at > 0:
                roles[f"{side}_{before}"] = line[at - 1]
    return {role: skeleton.names[joint] for role, joint in roles.items()}
