"""Transfer rotations between spines and necks with different numbers of joints."""

from collections.abc import Container, Mapping, Sequence
from itertools import pairwise

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.anatomy import TRUNK
from mimegen.retarget.smoothing import calmed

# Rotations (F, 4) or positions (F, 3) of joints by role.
ByRole = Mapping[str, FloatArray]


def trunk_turns(aligned: ByRole, places: ByRole, heads: ByRole,
                fps: float) -> dict[str, FloatArray]:
    """Return global rotations (F, 4) of the target's trunk, from hips to head, by role.

    ``aligned`` are the source's rotations from the target's rest pose, ``places`` the positions of
    its joints, ``heads`` (3,) those of the target's joints at rest. Pelvis, chest and head turn as
    the source's do. Joints between are interpolated from the nearest joints along the chain, and
    the chain as a whole leans as the source's does.
    """
    turns: dict[str, FloatArray] = {}
    for start, end in (("hips", "chest"), ("chest", "head")):
        known = {start: turns.get(start, aligned["hips"])} | dict(aligned)
        source_line, target_line = _line(known, start, end), _line(heads, start, end)
        turns |= _spread(known, source_line, target_line)
        inner = [role for role in target_line[1:] if role != end]
        if end in known and end in heads and len(source_line) > 2 and inner:
            lean = calmed(_lean(known, places, source_line[1:], turns, heads, [*inner, end]), fps)
            turns |= {role: quaternions.multiply(lean, turns[role]) for role in inner}
    return turns


def _line(roles: Container[str], start: str, end: str) -> list[str]:
    """Return the known roles of the trunk from ``start``, which is always included, to ``end``."""
    line = TRUNK[TRUNK.index(start) : TRUNK.index(end) + 1]
    return [role for role in line if role in roles or role == start]


def _spread(turns: ByRole, source: Sequence[str], target: Sequence[str]) -> dict[str, FloatArray]:
    """Return rotations of one chain spread over another with a different number of joints.

    Each joint of the shorter chain is paired with one of the longer, so that rotations spread over
    a longer chain and back again are unchanged.
    """
    few, many = sorted((len(source), len(target)))
    # Rounded half down; the first and last joints are always paired.
    belongs = np.ceil(np.arange(few) * (many - 1) / max(few - 1, 1) - 0.5)
    found = {}
    for number, role in enumerate(target):
        place = (float(belongs[number]) if len(target) == few
                 else float(np.interp(number, belongs, np.arange(few))))
        low, high = source[int(place)], source[min(int(place) + 1, len(source) - 1)]
        found[role] = quaternions.slerp(turns[low], turns[high], np.array(place % 1))
    return found


def _lean(aligned: ByRole, places: ByRole, source: Sequence[str], turns: ByRole, heads: ByRole,
          target: Sequence[str]) -> FloatArray:
    """Return the rotation (F, 4) by which a chain of the target leans as the source's does.

    ``source`` and ``target`` are roles from a chain's first joint to its end.
    """
    rest = sum(quaternions.rotate(quaternions.conjugate(aligned[low]),
                                  places[high] - places[low]).mean(axis=0)
               for low, high in pairwise(source))
    # Halfway between the ends: if a chain only bends, its chord turns by half of the bend.
    middle = quaternions.slerp(aligned[source[0]], aligned[source[-2]], np.array(0.5))
    bend = quaternions.between(quaternions.rotate(middle, rest),
                               places[source[-1]] - places[source[0]])
    goal = quaternions.rotate(quaternions.multiply(bend, middle),
                              heads[target[-1]] - heads[target[0]])
    now = sum(quaternions.rotate(turns[low], heads[high] - heads[low])
              for low, high in pairwise(target))
    return quaternions.between(now, goal)
