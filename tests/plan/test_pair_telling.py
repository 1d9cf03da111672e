"""Whether one frame can tell the halves of a pair apart: measured from the poses of both."""

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.manifest.pair import ONE, SEVERAL
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import from_rotation_vectors
from mimegen.motion.skeleton import Skeleton
from mimegen.plan.permute.factors import FACTORS
from mimegen.plan.permute.telling import IN_TIME, Half, Told, pose_gap_m
from running import invoke

NAMES = ("Hips", "Head", "LeftHand", "RightHand")
ROLES = {"hips": "Hips", "head": "Head", "left_hand": "LeftHand", "right_hand": "RightHand"}
FPS = 30.0


@dataclass(frozen=True)
class PretendedTake:
    """A take of performers whose motions are given."""

    motions: tuple[Motion, ...]
    mirror: bool = False

    def sources(self, _fps: float) -> list[tuple[Motion, dict[str, str]]]:
        if not self.motions:
            raise RequestError("cannot be performed")
        return [(motion, ROLES) for motion in self.motions]

    def __hash__(self) -> int:
        return id(self)


def motion(path: list[float], turned_deg: float = 0.0, side: float = 0.3) -> Motion:
    """A body whose hands go up to each of the heights of a path, the head turned."""
    heads = np.array([[0, 0, 1.0], [0, 0, 1.6], [side, 0, 1.0], [-0.3, 0, 1.0]])
    skeleton = Skeleton(NAMES, np.array([-1, 0, 0, 0]), heads, heads + np.array([0, 0, 0.1]))
    # The whole body moves: its height is what the path says.
    roots = np.array([[0, 0, height] for height in path])
    rotations = np.zeros((len(path), 4, 4))
    rotations[..., 0] = 1
    rotations[:, 1] = from_rotation_vectors(np.radians([0, 0, turned_deg]))
    return Motion(skeleton, FPS, roots, rotations)


def half(*motions: Motion, value: str = "a", people: tuple[str, ...] = (), **more: Any) -> Half:
    return Half(value, PretendedTake(motions, **more), people)  # type: ignore[arg-type]


RISING = [*np.linspace(1, 2, 60)]


@pytest.mark.parametrize("other", [
    RISING[::-1], RISING[::2], [*RISING, *RISING], [*RISING[30:], *RISING[:30]]])
def test_the_same_poses_in_another_order_speed_or_number_have_no_gap(other: list[float]) -> None:
    assert pose_gap_m(half(motion(RISING)), half(motion(other))) == pytest.approx(0, abs=0.04)


def test_the_gap_is_the_distance_that_poses_keep_for_half_a_second() -> None:
    # One second at 0.6 m above the highest pose of the other, against a quarter of a second.
    long, short = ([*RISING, *[2.6] * count] for count in (30, 7))
    for one, expected in ((long, 0.6), (short, 0.0)):
        assert pose_gap_m(half(motion(RISING)), half(motion(one))) == pytest.approx(
            expected, abs=0.04)
        assert pose_gap_m(half(motion(one)), half(motion(RISING))) == pytest.approx(
            expected, abs=0.04)


def test_a_turned_head_is_a_pose_of_its_own() -> None:
    gap = pose_gap_m(half(motion(RISING, 30)), half(motion(RISING, -30)))
    assert gap == pytest.approx(2 * 0.5 * np.sin(np.radians(30)), abs=0.02)


def test_takes_are_compared_as_they_are_shown() -> None:
    one_sided = motion(RISING, 40, side=0.3)
    assert (pose_gap_m(half(one_sided), half(one_sided, mirror=True)) or 0) > 0.25
    assert pose_gap_m(half(one_sided, mirror=True), half(one_sided, mirror=True)) == 0


def test_who_does_what_counts_where_two_people_swap_parts() -> None:
    still, moving = motion([1.0] * 60), motion([1.6] * 60)
    first = half(still, moving, people=("man", "woman"))
    assert pose_gap_m(first, half(still, moving, people=("woman", "man"))) == pytest.approx(0.6)
    assert pose_gap_m(first, half(moving, still, people=("woman", "man"))) == 0


def test_what_cannot_be_compared_is_not_claimed() -> None:
    assert pose_gap_m(half(), half(motion(RISING))) is None
    two = half(motion(RISING), motion(RISING))
    assert pose_gap_m(two, half(motion(RISING))) is None
    assert FACTORS["action"].told_by.of(half(), half(motion(RISING))) is None


def test_each_factor_says_what_it_needs_or_how_that_is_found() -> None:
    says = {name: factor.told_by.says for name, factor in FACTORS.items()}
    assert {name for name, one in says.items() if one == SEVERAL} == {
        "speed", "repetitions", "reversed"}
    assert {name for name, one in says.items() if one == ONE} == {
        "background", "performer", "emotion", "angle"}
    assert says["fault"] == "depends on the fault"
    listed = json.loads(invoke("list", "factors", "--json").output)
    assert {one["factor"]: one["needs"] for one in listed} == says
    assert "several frames" in invoke("list", "factors").output


def test_faults_in_time_need_several_frames() -> None:
    from mimegen.faults.fault import fault_kinds

    assert {*fault_kinds()} > IN_TIME
    told = FACTORS["fault"].told_by.of
    for name in fault_kinds():
        expected = SEVERAL if name in IN_TIME else ONE
        assert told(half(value="none"), half(value=name)) == Told(expected)


def test_pairs_of_poses_that_differ_need_one_frame() -> None:
    told = FACTORS["hand"].told_by.of
    apart = replace(half(motion([*RISING, *[3.0] * 30])), value="b")
    for other, needs, gap in ((apart, ONE, 1.0), (half(motion(RISING[::-1])), SEVERAL, 0.0)):
        found = told(half(motion(RISING)), other)
        assert found is not None and found.needs == needs
        assert found.pose_gap_m == pytest.approx(gap, abs=0.04)
