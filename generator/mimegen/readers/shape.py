"""Roles by topology, symmetry and geometry, for skeletons whose names say nothing.

A person is a tree with two pairs of like limbs: legs below a joint of the pelvis, arms below a
joint of the trunk, and a neck beside the arms. How long the parts are to each other tells legs
from arms; where feet, knees and elbows point tells left from right.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.fingers import fingers_by_shape
from mimegen.readers.joint_tree import JointTree

# Branches of one joint that are looked at, longest first: limbs, neck, and what clothes hang on.
BRANCHES = 8
STRAIGHT, COST_OF_A_JOINT_BETWEEN, MOST_JOINTS_BETWEEN = 0.97, 1.2, 2
# Of the height, after Winter (2009), figure 4.1: means over people, and how far rigs stray (log).
LEGS = 0.491
PROPORTIONS = {"arm": (0.332, 0.30), "trunk": (0.27, 0.35), "forearm to upper arm": (0.85, 0.40),
               "shin to thigh": (1.0, 0.25), "left to right": (1.0, 0.08),
               "limb to longest": (1.0, 0.30)}
HEAD_ABOVE_SHOULDERS, HEAD_STRAYS = (0.03, 0.085, 0.155), 0.04
WORST_COST = 8.0
# Shoulders and hips whose left sides differ more than this (cosine) leave left and right unsure.
LEAST_ALONG = 0.6
SHARE_OF_LONGEST = 0.4


@dataclass(frozen=True)
class Branch:
    """A branch: ``line`` down its longest way, its ``upper``, ``lower`` and ``end`` joints."""

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
    """Two like limbs that hang on the same joint."""

    joint: int
    limbs: tuple[Branch, Branch]

    @property
    def length(self) -> float:
        """The mean length of both limbs."""
        return (self.limbs[0].length + self.limbs[1].length) / 2


@dataclass(frozen=True)
class PersonReading:
    """A reading of a tree as a person; ``cost`` says how unlike a person that is."""

    hips: int
    legs: Pair
    arms: Pair
    head: int
    cost: float


def roles_by_shape(body: JointTree) -> dict[str, tuple[str, float]]:
    """Return role -> joint name and confidence for a person's tree, nothing where it is none."""
    people = sorted(_people(body), key=lambda person: person.cost)
    if not people:
        return {}
    best = people[0]
    sure = 0.9 * _fit(best) * _clearness(people)
    found = {"hips": (best.hips, sure), "head": (best.head, sure)}
    left, certainty = _left(body, best)
    along = float(np.sum(unit(_across(body, best.arms)) * left, axis=1).mean())
    untwisted = 2 * (abs(along) - LEAST_ALONG) / (1 - LEAST_ALONG)
    confidence = sure * float(np.clip(2 * certainty, 0.0, 1.0) * np.clip(untwisted, 0.0, 1.0))
    first_leg_is_left = bool(np.sum(_across(body, best.legs) * left, axis=1).mean() > 0)
    for side, limb in _by_side(best.legs, first_leg_is_left):
        found |= {f"{side}_{part}": (joint, confidence)
                  for part, joint in _leg(body, limb).items()}
    for side, limb in _by_side(best.arms, along > 0):
        found |= {f"{side}_{part}": (joint, confidence)
                  for part, joint in _arm(body, limb).items()}
        fingers = fingers_by_shape(body.places, body.children, limb.end)
        found |= {f"{side}_{finger}": (joint, 0.9 * confidence)
                  for finger, joint in fingers.items()}
    return {role: (body.skeleton.names[joint], round(confidence, 2))
            for role, (joint, confidence) in found.items()}


def _fit(person: PersonReading) -> float:
    """Return how much like a person a reading is, 0 to 1."""
    return float(np.clip(1.0 - person.cost / WORST_COST, 0.0, 1.0))


def _clearness(people: list[PersonReading]) -> float:
    """Return how far, 0 to 1, the best reading is from the best one with other legs."""
    swapped = [person.cost for person in people[1:] if person.legs.joint != people[0].legs.joint]
    return float(np.clip((min(swapped) - people[0].cost) / 2.0, 0.0, 1.0)) if swapped else 1.0


def _across(body: JointTree, pair: Pair) -> FloatArray:
    """Return the way (K, 3) from a pair's second limb to its first."""
    return body.way(pair.limbs[1].upper, pair.limbs[0].upper)


def _by_side(pair: Pair, first_is_left: bool) -> Iterator[tuple[str, Branch]]:
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
    """Return the two bones of a branch that are most like a limb's.

    They are long, of the usual ratio, and joints between their ends lie on a straight line.
    """
    line = [joint for joint in body.line(start) if not body.nubs[joint]]
    found = []
    triples = [(i, j, k) for i, j, k in combinations(range(len(line)), 3)
               if k - i - 2 <= MOST_JOINTS_BETWEEN]
    for i, j, k in triples:
        lengths = [float(body.distances[line[a], line[b]]) for a, b in pairwise((i, j, k))]
        chains = [float(body.lengths[line[a + 1 : b + 1]].sum()) for a, b in pairwise((i, j, k))]
        if all(length > max(STRAIGHT * chain, 1e-9)
               for length, chain in zip(lengths, chains, strict=True)):
            cost = _stray(lengths[1], lengths[0], lower_to_upper) + _stiffness(
                body, line[i], line[j]) + COST_OF_A_JOINT_BETWEEN * (k - i - 2)
            found.append((cost, Branch(tuple(line), line[i], line[j], line[k],
                                       (lengths[0], lengths[1]))))
    longest = max((limb.length for _, limb in found), default=0.0)
    costs = [(cost + _stray(limb.length, longest, "limb to longest"), limb)
             for cost, limb in found]
    return min(costs, key=lambda c: c[0])[1] if costs else None


def _stiffness(body: JointTree, upper: int, lower: int) -> float:
    """Return what speaks against a limb's upper joint: shoulders and hips turn as elbows do."""
    turns = np.maximum(body.turns[[upper, lower]], 1.0)
    return float(np.log(max(1.0, turns[1] / turns[0])) ** 2)


def _pairs(body: JointTree, lower_to_upper: str) -> list[Pair]:
    """Return all pairs of like branches that are long enough for limbs."""
    pairs = []
    least = SHARE_OF_LONGEST / 2 * body.reaches.max()
    for joint, children in enumerate(body.children):
        longest = sorted(children, key=lambda c: -body.reaches[c])[:BRANCHES]
        longest = [child for child in longest if body.reaches[child] > least]
        limbs = [limb for limb in (_limb(body, child, lower_to_upper)
                                   for child in longest) if limb]
        pairs += [Pair(joint, both) for both in combinations(limbs, 2)
                  if _stray(both[0].length, both[1].length, "left to right") < 4.0]
    longest_pair = max((pair.length for pair in pairs), default=0.0)
    return [pair for pair in pairs if pair.length > SHARE_OF_LONGEST * longest_pair]


def _stray(value: float, of: float, proportion: str) -> float:
    """Return the squared distance of a ratio from its usual value, in usual deviations."""
    usual, deviation = PROPORTIONS[proportion]
    return float((np.log(max(value, 1e-9) / max(of, 1e-9) / usual) / deviation) ** 2)


def _people(body: JointTree) -> list[PersonReading]:
    """Return every reading of the tree as a person, with what speaks against it."""
    people = []
    for legs, arms in product(_pairs(body, "shin to thigh"),
                              _pairs(body, "forearm to upper arm")):
        above_legs, above_arms = body.ancestors(legs.joint), body.ancestors(arms.joint)
        if legs.joint == arms.joint or any(limb.line[0] in above_arms for limb in legs.limbs) or \
                any(limb.line[0] in above_legs for limb in arms.limbs):
            continue
        hips = next(joint for joint in above_legs if joint in above_arms)
        height = legs.length / LEGS
        trunk = _middle(body, arms) - _middle(body, legs)
        head, cost = _head(body, arms, unit(trunk), height, {*above_legs, *above_arms})
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
    """Return the middle (K, 3) between the upper joints of a pair."""
    return np.asarray((body.places[:, pair.limbs[0].upper] + body.places[:, pair.limbs[1].upper])
                      / 2)


def _head(body: JointTree, arms: Pair, up: FloatArray, height: float,
          trunk: set[int]) -> tuple[int | None, float]:
    """Return the last joint above the shoulders that is as high as heads are, and its cost."""
    branches = [child for child in body.children[arms.joint]
                if child not in trunk and child not in [limb.line[0] for limb in arms.limbs]]
    lowest, usual, highest = HEAD_ABOVE_SHOULDERS
    best: tuple[int | None, float] = (None, np.inf)
    shoulders = _middle(body, arms)
    for line in [body.line(branch) for branch in branches]:
        heights = [float(np.median(np.sum((body.places[:, joint] - shoulders) * up, axis=1)))
                   / height for joint in line]
        within = [i for i, above in enumerate(heights) if lowest < above < highest]
        within = [i for i in within if not body.nubs[line[i]]] or within
        # Eyes, a jaw and hair hang on the head.
        forks = [i for i in within if len(body.children[line[i]]) > 1]
        at = min(forks, default=within[-1] if within else -1)
        if heights:
            cost = ((heights[at] - usual) / HEAD_STRAYS) ** 2 * (0.2 if within else 1.0)
            best = min(best, (line[at], cost), key=lambda found: found[1])
    return best


def _left(body: JointTree, person: PersonReading) -> tuple[FloatArray, float]:
    """Return the person's left (K, 3) and how certain it is, 0 to 1.

    Feet point forward, knees bend forward, elbows backward, and hands are rather in front.
    """
    up = unit(_middle(body, person.arms) - _middle(body, person.legs))
    first, second = person.legs.limbs
    left = body.way(second.upper, first.upper)
    left = unit(left - up * np.sum(left * up, axis=1, keepdims=True))
    forward = np.cross(left, up)
    votes, weights = np.zeros(len(up)), 0.0
    for limb in person.legs.limbs:
        foot = body.way(limb.end, limb.line[-1])
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
    """Return how far (K,) a limb's middle joint is in front of its line, -1 to 1."""
    middle = body.way(limb.upper, limb.lower) - body.way(limb.upper, limb.end) * (
        limb.lengths[0] / limb.length)
    return np.asarray(np.tanh(np.sum(middle * forward, axis=1) / (0.03 * length)))
