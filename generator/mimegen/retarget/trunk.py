"""Spines and necks with other numbers of joints are bridged."""

from collections.abc import Container, Mapping, Sequence
from itertools import pairwise

import numpy as np

from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.anatomy import TRUNK
from mimegen.retarget.smoothing import calmed

# Rotations (F, 4) and places (F, 3) of joints by role.
ByRole = Mapping[str, FloatArray]


def trunk_turns(aligned: ByRole, places: ByRole, heads: ByRole,
                fps: float) -> dict[str, FloatArray]:
    """Return global rotations (F, 4) of the target's trunk, from hips to head, by role.

    ``aligned`` are the source's from the target's rest pose, ``places`` where the source's joints
    are, ``heads`` (3,) where the target's are at rest. Pelvis, chest and head turn as the source's;
    joints between take what the nearest along the chain have, and the chain as a whole leans as
    the source's does.
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
    """Return the trunk's roles that there are from one, which counts anyway, to another."""
    line = TRUNK[TRUNK.index(start) : TRUNK.index(end) + 1]
    return [role for role in line if role in roles or role == start]


def _spread(turns: ByRole, source: Sequence[str], target: Sequence[str]) -> dict[str, FloatArray]:
    """Spread rotations along a chain over one with another number of joints.

    Each joint of the shorter chain belongs to one of the longer, so that what has gone to a longer
    chain comes back whole.
    """
    few, many = sorted((len(source), len(target)))
    # Rounded half down, and the first and last joints always belong to each other.
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
    """Return the turn (F, 4) by which a chain of the target leans as the source's.

    ``source`` and ``target`` are roles from a chain's first joint to its end.
    """
    rest = sum(quaternions.rotate(quaternions.conjugate(aligned[low]),
                                  places[high] - places[low]).mean(axis=0)
               for low, high in pairwise(source))
    # Halfway between the ends: a chain that only bends has its chord turned by half of it.
    middle = quaternions.slerp(aligned[source[0]], aligned[source[-2]], np.array(0.5))
    bend = quaternions.between(quaternions.rotate(middle, rest),
                               places[source[-1]] - places[source[0]])
    goal = quaternions.rotate(quaternions.multiply(bend, middle),
                              heads[target[-1]] - heads[target[0]])
    now = sum(quaternions.rotate(turns[low], heads[high] - heads[low])
              for low, high in pairwise(target))
    return quaternions.between(now, goal)
