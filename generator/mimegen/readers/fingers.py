"""Identify the fingers by their positions on the hand."""

from itertools import pairwise

import numpy as np

from mimegen.motion.quaternions import FloatArray

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
PHALANGES = 3
# Most joints followed down a finger.
MAX_LINE = 12
# A finger's first joint lies within the palm if its distance from the wrist is less than this
# fraction of the second joint's.
WITHIN_PALM = 0.5


def fingers_by_shape(positions: FloatArray, children: list[list[int]],
                     hand: int) -> dict[str, int]:
    """Return ``thumb1`` to ``pinky3`` -> joint below a hand, or nothing if it has not five fingers.

    ``positions`` (K, J, 3) are joint positions in some poses.
    """
    lines = [_line(children, child) for child in children[hand]]
    lines = [line for line in lines if len(line) >= PHALANGES]
    if len(lines) != len(FINGERS):
        return {}
    away = [[_distance(positions, hand, joint) for joint in line] for line in lines]
    # The thumb starts low on the hand: the joint after its knuckle is the nearest to the wrist.
    starts = [_knuckle(distances) for distances in away]
    thumb = min(range(len(lines)), key=lambda i: away[i][starts[i] + 1])
    starts[thumb] = 0
    others = sorted((i for i in range(len(lines)) if i != thumb),
                    key=lambda i: _distance(positions, lines[thumb][1], lines[i][starts[i]]))
    knuckles = [lines[i][starts[i]] for i in others]
    across = [_distance(positions, knuckles[0], knuckle) for knuckle in knuckles]
    if any(second <= first for first, second in pairwise(across)):
        return {}
    return {f"{finger}{number}": joint
            for finger, i in zip(FINGERS, [thumb, *others], strict=True)
            for number, joint in enumerate(lines[i][starts[i]:][:PHALANGES], start=1)}


def _line(children: list[list[int]], joint: int) -> list[int]:
    """Return up to ``MAX_LINE`` joints down a chain, along the children with most joints below."""
    line = [joint]
    while (below := children[line[-1]]) and len(line) < MAX_LINE:
        line.append(max(below, key=lambda child: _depth(children, child)))
    return line


def _depth(children: list[list[int]], joint: int) -> int:
    """Return the number of joints in the longest chain from a joint, ``MAX_LINE`` at most."""
    level, depth = [joint], 0
    while level and depth < MAX_LINE:
        level = [child for above in level for child in children[above]]
        depth += 1
    return depth


def _knuckle(distances: list[float]) -> int:
    """Return the index of the knuckle in a finger's line: 1 after a joint in the palm, else 0."""
    within = len(distances) > PHALANGES and distances[0] < WITHIN_PALM * distances[1]
    return 1 if within else 0


def _distance(positions: FloatArray, start: int, end: int) -> float:
    return float(np.median(np.linalg.norm(positions[:, end] - positions[:, start], axis=1)))
