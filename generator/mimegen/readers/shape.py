"""Find roles by topology, symmetry and geometry, for skeletons whose names are of no help.

A person is a tree with two pairs of similar limbs: legs below a joint of the pelvis, arms below a
joint of the trunk, and a neck beside the arms. The proportions distinguish legs from arms; the
directions of feet, knees and elbows distinguish left from right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.fingers import fingers_by_shape
from mimegen.readers.joint_tree import JointTree

# Branches of one joint that are examined, longest first: limbs, neck, and bones of clothes.
BRANCHES = 8
# Pairs of limbs, and branches between the arms that may be necks, that are examined. A person has
# few, and every pair of legs is tried with every pair of arms.
MAX_PAIRS = 40
MAX_NECKS = 24
# Least ratio of the straight distance to the length along the joints for a single bone.
STRAIGHT = 0.97
# Cost of each extra joint within a limb's two bones, and the most such joints in one bone.
COST_OF_A_JOINT_BETWEEN = 1.2
MAX_JOINTS_BETWEEN = 2
# Proportions after Winter (2009), figure 4.1: leg, arm and trunk as fractions of the height, and
# ratios between bones. Each is a mean over people and, of its logarithm, the deviation among rigs.
LEGS = 0.491
PROPORTIONS = {"arm": (0.332, 0.30), "trunk": (0.27, 0.35), "forearm to upper arm": (0.85, 0.40),
               "shin to thigh": (1.0, 0.25), "left to right": (1.0, 0.08),
               "limb to longest": (1.0, 0.30)}
# Height of the head's joint above the shoulders (least, usual, most) and its deviation, as
# fractions of the body's height.
HEAD_ABOVE_SHOULDERS = (0.03, 0.085, 0.155)
HEAD_STRAYS = 0.04
# Cost at which a reading has no likeness to a person.
WORST_COST = 8.0
# Mean cosine between the left of the shoulders and that of the hips at or below which left and
# right have no confidence.
MIN_ALONG = 0.6
# Least length of a pair of limbs, as a fraction of the longest pair.
SHARE_OF_LONGEST = 0.4


@dataclass(frozen=True)
class Branch:
    """A branch that may be a limb.

    ``line`` holds the joints down its longest chain; ``upper``, ``lower`` and ``end`` are the
    joints where its two bones begin, meet and end; ``lengths`` are those of the bones.
    """

    line: tuple[int, ...]
    upper: int
    lower: int
    end: int
    lengths: tuple[float, float]

    @property
    def length(self) -> float:
        """The length of both bones."""
        return sum(self.lengths)


@dataclass(frozen=True)
class Pair:
    """Two similar limbs that hang on the same joint."""

    joint: int
    limbs: tuple[Branch, Branch]

    @property
    def length(self) -> float:
        """The mean length of both limbs."""
        return (self.limbs[0].length + self.limbs[1].length) / 2


@dataclass(frozen=True)
class PersonReading:
    """An interpretation of a tree as a person; a higher ``cost`` is less like a person."""

    hips: int
    legs: Pair
    arms: Pair
    head: int
    cost: float


def roles_by_shape(body: JointTree) -> dict[str, tuple[str, float]]:
    """Return role -> joint name and confidence, or nothing if the tree is not like a person's."""
    people = sorted(_people(body), key=lambda person: person.cost)
    if not people:
        return {}
    best = people[0]
    sure = 0.9 * _fit(best) * _clearness(people)
    found = {"hips": (best.hips, sure), "head": (best.head, sure)}
    left, certainty = _left(body, best)
    along = float(np.sum(unit(_across(body, best.arms)) * left, axis=1).mean())
    untwisted = 2 * (abs(along) - MIN_ALONG) / (1 - MIN_ALONG)
    confidence = sure * float(np.clip(2 * certainty, 0.0, 1.0) * np.clip(untwisted, 0.0, 1.0))
    first_leg_is_left = bool(np.sum(_across(body, best.legs) * left, axis=1).mean() > 0)
    for side, limb in _by_side(best.legs, first_leg_is_left):
        found |= {f"{side}_{part}": (joint, confidence)
                  for part, joint in _leg(body, limb).items()}
    for side, limb in _by_side(best.arms, along > 0):
        found |= {f"{side}_{part}": (joint, confidence)
                  for part, joint in _arm(body, limb).items()}
        fingers = fingers_by_shape(body.positions, body.children, limb.end)
        found |= {f"{side}_{finger}": (joint, 0.9 * confidence)
                  for finger, joint in fingers.items()}
    return {role: (body.skeleton.names[joint], round(confidence, 2))
            for role, (joint, confidence) in found.items()}


def _fit(person: PersonReading) -> float:
    """Return how similar a reading is to a person, 0 to 1."""
    return float(np.clip(1.0 - person.cost / WORST_COST, 0.0, 1.0))


def _clearness(people: list[PersonReading]) -> float:
    """Return how much better, 0 to 1, the best reading is than the best one with other legs."""
    swapped = [person.cost for person in people[1:] if person.legs.joint != people[0].legs.joint]
    return float(np.clip((min(swapped) - people[0].cost) / 2.0, 0.0, 1.0)) if swapped else 1.0


def _across(body: JointTree, pair: Pair) -> FloatArray:
    """Return the vectors (K, 3) from a pair's second limb to its first."""
    return body.vector(pair.limbs[1].upper, pair.limbs[0].upper)


def _by_side(pair: Pair, first_is_left: bool) -> Iterator[tuple[str, Branch]]:
    """Return the limbs of a pair as (``left``, limb) and (``right``, limb)."""
    limbs = pair.limbs if first_is_left else pair.limbs[::-1]
    return zip(("left", "right"), limbs, strict=True)


def _leg(body: JointTree, limb: Branch) -> dict[str, int]:
    """Return the joints of a leg's parts, with its toe if there is one."""
    after = limb.line[limb.line.index(limb.end) + 1 :]
    toe = {"toe": after[0]} if after and not body.nubs[after[0]] else {}
    return {"thigh": limb.upper, "shin": limb.lower, "foot": limb.end} | toe


def _arm(body: JointTree, limb: Branch) -> dict[str, int]:
    """Return the joints of an arm's parts, with its clavicle if there is one."""
    above = limb.line[: limb.line.index(limb.upper)]
    clavicle = {"clavicle": above[-1]} if above else {}
    return {"upper_arm": limb.upper, "forearm": limb.lower, "hand": limb.end} | clavicle


def _limb(body: JointTree, start: int, lower_to_upper: str) -> Branch | None:
    """Return the two bones of a branch that are most like a limb's, or None.

    They are long, have the usual ratio, and joints between their ends lie on a straight line.
    """
    line = [joint for joint in body.line(start) if not body.nubs[joint]]
    triples = _triples(len(line))
    if not len(triples):
        return None
    joints = np.array(line)
    straight, chains = _stretches(body, joints)
    upper, lower = (triples[:, k + 1] - triples[:, k] for k in (0, 1))
    first, second = straight[upper, triples[:, 0]], straight[lower, triples[:, 1]]
    fitting = (first > np.maximum(STRAIGHT * chains[upper, triples[:, 0]], 1e-9)) & (
        second > np.maximum(STRAIGHT * chains[lower, triples[:, 1]], 1e-9))
    if not fitting.any():
        return None
    triples, first, second = triples[fitting], first[fitting], second[fitting]
    costs = _strays(second, first, lower_to_upper) + _stiffness(body, joints[triples[:, 0]],
                                                                joints[triples[:, 1]])
    costs += COST_OF_A_JOINT_BETWEEN * (triples[:, 2] - triples[:, 0] - 2)
    costs += _strays(first + second, (first + second).max(), "limb to longest")
    best = int(np.argmin(costs))
    upper_joint, lower_joint, end = joints[triples[best]].tolist()
    return Branch(tuple(line), upper_joint, lower_joint, end,
                  (float(first[best]), float(second[best])))


@cache
def _triples(count: int) -> NDArray[np.intp]:
    """Return indices (N, 3) on a line of ``count`` joints where a limb may begin, bend and end."""
    found = [(i, j, k) for i in range(count)
             for k in range(i + 2, min(i + 3 + MAX_JOINTS_BETWEEN, count))
             for j in range(i + 1, k)]
    return np.array(sorted(found), np.intp).reshape(-1, 3)


def _stretches(body: JointTree, line: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return distances between joints of a line: straight ones, and those along the joints.

    Both are (S, N): at [s, n], the distance from joint n to the joint s steps further down.
    """
    steps = MAX_JOINTS_BETWEEN + 2
    straight, chains = np.zeros((2, steps, len(line)))
    for step in range(1, steps):
        until = max(len(line) - step, 0)
        straight[step, :until] = body.distance(line[:until], line[step:])
        chains[step, :until] = chains[step - 1, :until] + body.lengths[line[step:]]
    return straight, chains


def _stiffness(body: JointTree, upper: NDArray[np.intp],
               lower: NDArray[np.intp]) -> FloatArray:
    """Return a cost (N,) for limbs whose upper joint turns less than the lower one.

    Shoulders and hips turn at least as much as elbows and knees.
    """
    above, below = (np.maximum(body.mean_rotation_deg[joints], 1.0) for joints in (upper, lower))
    return np.asarray(np.log(np.maximum(1.0, below / above)) ** 2)


def _pairs(body: JointTree, lower_to_upper: str) -> list[Pair]:
    """Return the longest pairs of similar branches that are long enough for limbs."""
    pairs = []
    least = SHARE_OF_LONGEST / 2 * body.reaches.max()
    for joint, children in enumerate(body.children):
        longest = [child for child in children if body.reaches[child] > least]
        if len(longest) < 2:
            continue
        longest = sorted(longest, key=lambda c: -body.reaches[c])[:BRANCHES]
        limbs = [limb for limb in (_limb(body, child, lower_to_upper)
                                   for child in longest) if limb]
        pairs += [Pair(joint, both) for both in combinations(limbs, 2)
                  if _stray(both[0].length, both[1].length, "left to right") < 4.0]
    longest_pair = max((pair.length for pair in pairs), default=0.0)
    pairs = [pair for pair in pairs if pair.length > SHARE_OF_LONGEST * longest_pair]
    kept = sorted(range(len(pairs)), key=lambda number: -pairs[number].length)[:MAX_PAIRS]
    return [pairs[number] for number in sorted(kept)]


def _strays(values: FloatArray, of: FloatArray | float, proportion: str) -> FloatArray:
    """Return the squared distances (N,) of log ratios from their mean, in standard deviations."""
    usual, deviation = PROPORTIONS[proportion]
    ratios = np.maximum(values, 1e-9) / np.maximum(of, 1e-9)
    return np.asarray((np.log(ratios / usual) / deviation) ** 2)


def _stray(value: float, of: float, proportion: str) -> float:
    """Return the squared distance of a log ratio from its mean, in standard deviations."""
    usual, deviation = PROPORTIONS[proportion]
    return float((np.log(max(value, 1e-9) / max(of, 1e-9) / usual) / deviation) ** 2)


def _people(body: JointTree) -> list[PersonReading]:
    """Return every reading of the tree as a person, with its cost."""
    people = []
    every_legs, every_arms = (_pairs(body, ratio) for ratio in ("shin to thigh",
                                                                "forearm to upper arm"))
    above = {pair.joint: dict.fromkeys(body.ancestors(pair.joint))
             for pair in (*every_legs, *every_arms)}
    for legs, arms in product(every_legs, every_arms):
        above_legs, above_arms = above[legs.joint], above[arms.joint]
        if legs.joint == arms.joint or any(limb.line[0] in above_arms for limb in legs.limbs) or \
                any(limb.line[0] in above_legs for limb in arms.limbs):
            continue
        hips = next(joint for joint in above_legs if joint in above_arms)
        height = legs.length / LEGS
        trunk = _middle(body, arms) - _middle(body, legs)
        head, cost = _head(body, arms, unit(trunk), height, above_legs.keys() | above_arms.keys())
        if head is None or hips == arms.joint:
            continue
        for pair, ratio in ((legs, "shin to thigh"), (arms, "forearm to upper arm")):
            cost += sum(_stray(limb.lengths[1], limb.lengths[0], ratio) for limb in pair.limbs) / 2
            cost += _stray(pair.limbs[0].length, pair.limbs[1].length, "left to right")
        cost += _stray(arms.length, height, "arm")
        cost += _stray(float(np.median(np.linalg.norm(trunk, axis=1))), height, "trunk")
        people.append(PersonReading(hips, legs, arms, head, cost))
    return people


def _middle(body: JointTree, pair: Pair) -> FloatArray:
    """Return the midpoint (K, 3) of the upper joints of a pair."""
    return np.asarray((body.positions[:, pair.limbs[0].upper]
                       + body.positions[:, pair.limbs[1].upper])
                      / 2)


def _head(body: JointTree, arms: Pair, up: FloatArray, height: float,
          trunk: set[int]) -> tuple[int | None, float]:
    """Return the joint above the shoulders that is at the height of a head, and its cost."""
    branches = [child for child in body.children[arms.joint]
                if child not in trunk and child not in [limb.line[0] for limb in arms.limbs]]
    if len(branches) > MAX_NECKS:
        branches = sorted(branches, key=lambda child: -body.reaches[child])[:MAX_NECKS]
    lowest, usual, highest = HEAD_ABOVE_SHOULDERS
    best: tuple[int | None, float] = (None, np.inf)
    shoulders = _middle(body, arms)
    for line in [body.line(branch) for branch in branches]:
        heights = [float(np.median(np.sum((body.positions[:, joint] - shoulders) * up, axis=1)))
                   / height for joint in line]
        within = [i for i, above in enumerate(heights) if lowest < above < highest]
        within = [i for i in within if not body.nubs[line[i]]] or within
        # Prefer a joint with several children: eyes, jaw and hair hang on the head.
        forks = [i for i in within if len(body.children[line[i]]) > 1]
        at = min(forks, default=within[-1] if within else -1)
        if heights:
            cost = ((heights[at] - usual) / HEAD_STRAYS) ** 2 * (0.2 if within else 1.0)
            best = min(best, (line[at], cost), key=lambda found: found[1])
    return best


def _left(body: JointTree, person: PersonReading) -> tuple[FloatArray, float]:
    """Return the direction of the person's left (K, 3) and its certainty, 0 to 1.

    Feet point forward, knees are in front of the line of the leg, and elbows behind that of the
    arm.
    """
    up = unit(_middle(body, person.arms) - _middle(body, person.legs))
    first, second = person.legs.limbs
    left = body.vector(second.upper, first.upper)
    left = unit(left - up * np.sum(left * up, axis=1, keepdims=True))
    forward = np.cross(left, up)
    votes, weights = np.zeros(len(up)), 0.0
    for limb in person.legs.limbs:
        foot = body.vector(limb.end, limb.line[-1])
        if limb.line[-1] != limb.end:
            votes += np.sum(unit(foot) * forward, axis=1)
            weights += 1.0
        votes += _bent(body, limb, forward, person.legs.length)
        weights += 1.0
    for limb in person.arms.limbs:
        votes -= 0.3 * _bent(body, limb, forward, person.arms.length)
        weights += 0.3
    sign = votes.mean() / weights
    return np.asarray(left * (1.0 if sign > 0 else -1.0)), float(abs(sign))


def _bent(body: JointTree, limb: Branch, forward: FloatArray, length: float) -> FloatArray:
    """Return how far (K,) a limb's middle joint is in front of the line between its ends, -1 to 1.
    """
    middle = body.vector(limb.upper, limb.lower) - body.vector(limb.upper, limb.end) * (
        limb.lengths[0] / limb.length)
    return np.asarray(np.tanh(np.sum(middle * forward, axis=1) / (0.03 * length)))
