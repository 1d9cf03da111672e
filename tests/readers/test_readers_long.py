"""Trees of thousands of joints: deep ones, wide ones, and people on whom they hang."""

from collections.abc import Callable

import numpy as np
import pytest

from bvh_text import CHANNELS, HIERARCHY, person, row
from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers import find_roles, read_motion
from mimegen.readers.fingers import fingers_by_shape
from waiting import ending

JOINTS = 3000
# What takes time by the square or cube of the joints takes many minutes; this takes a second.
SECONDS = 60.0
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
Tree = tuple[list[int], list[FloatArray]]


def chain() -> Tree:
    return [-1, *range(JOINTS - 1)], list(np.outer(np.arange(JOINTS), [0.0, 0.3, 1.0]))


def broom() -> Tree:
    rays = np.random.default_rng(1).normal(size=(JOINTS, 3))
    return [-1, *[0] * JOINTS], [np.zeros(3), *rays]


def comb() -> Tree:
    """A chain each of whose joints bears a limb longer than all of the rest."""
    parents, heads, spine = [-1], [np.zeros(3)], 0
    for side in np.random.default_rng(2).normal(size=(JOINTS // 4, 3)):
        last = spine
        for _ in range(3):
            parents.append(last)
            heads.append(heads[last] + 400 * side)
            last = len(parents) - 1
        parents.append(spine)
        heads.append(heads[spine] + np.array([0.0, 0.0, 1.0]))
        spine = len(parents) - 1
    return parents, heads


def twigs() -> Tree:
    """A binary tree."""
    parents, heads = [-1], [np.zeros(3)]
    for way in np.random.default_rng(3).normal(size=(JOINTS, 3)):
        parents.append((len(parents) - 1) // 2)
        heads.append(heads[parents[-1]] + way)
    return parents, heads


def skeleton(parents: list[int], heads: list[FloatArray]) -> Skeleton:
    places = np.array(heads, float)
    return Skeleton(tuple(f"joint {n}" for n in range(len(parents))), np.array(parents), places,
                    places)


def moving(body: Skeleton) -> Motion:
    turns = np.random.default_rng(4).normal(size=(60, len(body.names), 4)) * 0.05
    return Motion(body, 30.0, np.zeros((60, 3)), quaternions.normalise(turns + UPRIGHT))


@pytest.mark.slow
@pytest.mark.parametrize("tree", [chain, broom, comb, twigs])
def test_large_trees_that_are_no_person_are_refused_soon(tree: Callable[[], Tree]) -> None:
    body = skeleton(*tree())
    with ending(SECONDS):
        for motion in (moving(body), None):
            with pytest.raises(RequestError, match="which bone is which"):
                find_roles(body, motion)


@pytest.mark.parametrize("where", ["Spine2", "LeftHand", "Head", "Hips"])
@pytest.mark.parametrize("deep", [False, True])
def test_what_hangs_on_a_person_does_not_take_long(where: str, deep: bool) -> None:
    plain = standard_skeleton()
    parents, heads = plain.parents.tolist(), list(plain.heads)
    at = plain.index[where]
    for number in range(JOINTS):
        parents.append(len(parents) - 1 if deep and number else at)
        heads.append(heads[parents[-1]] + [0.01, 0.01, 0.02 / (1 + deep * number)])
    with ending(SECONDS):
        try:
            found = find_roles(skeleton(parents, heads))
            assert found.joints["left_foot"] == f"joint {plain.index['LeftFoot']}"
        except RequestError as problem:
            assert deep, problem


def test_chains_below_a_hand_are_no_fingers() -> None:
    children = [[1, 2, 3, 4, 5], *([] for _ in range(5 * 60))]
    for line in range(5):
        last = 1 + line
        for number in range(59):
            children[last] = [6 + line * 59 + number]
            last = children[last][0]
    places = np.random.default_rng(5).normal(size=(1, len(children), 3))
    with ending(SECONDS):
        fingers_by_shape(places, children, 0)


@pytest.mark.slow
@pytest.mark.parametrize("count", [900, 3000])
def test_a_file_with_a_long_chain_is_read_or_refused_soon(tmp_path, count: int) -> None:
    joint = "JOINT tail{} {{ OFFSET 0 0 1 CHANNELS 3 Zrotation Xrotation Yrotation\n"
    tail = "".join(joint.format(n) for n in range(count)) + "}" * count
    body, end = HIERARCHY.rstrip().rsplit("}", 1)
    path = tmp_path / "tail.bvh"
    zeros = " 0" * (3 * count)
    path.write_text(person([row() + zeros] * 3, hierarchy=f"{body}{tail}}}{end}\n"))
    with ending(SECONDS):
        if count < 1000:
            assert len(read_motion(path).motion.skeleton.names) == count + (CHANNELS - 6) // 3 + 1
        else:
            with pytest.raises(RequestError, match="more than 1000 joints"):
                read_motion(path)
