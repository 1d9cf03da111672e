import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.gait.stride import stride_of
from mimegen.gait.walker import Walker, pace_of
from mimegen.gait.walking import walk_loop
from mimegen.motion import quaternions

PHASES = np.arange(0, 1, 0.02)


@pytest.mark.parametrize("speed", [0.6, 1.2, 1.8])
def test_a_stride_is_a_cycle_of_the_engine(speed):
    pace = pace_of(Walker(speed=speed))
    motion = walk_loop(Walker(speed=speed), 50 / pace.stride_s, frames=50)
    stride = stride_of(pace)
    root = motion.root_positions - motion.root_positions.mean(axis=0)
    found = stride.root(PHASES)
    assert np.abs(found - found.mean(axis=0) - root).max() < 0.002
    turned = quaternions.from_euler("ZXY", stride.pelvis(PHASES))
    assert np.abs(np.abs(np.sum(turned * motion.global_pose.rotations[:, 0], axis=1)) - 1).max() \
        < 1e-4


def test_hands_swing_against_the_legs():
    stride = stride_of(pace_of(Walker(speed=1.3)))
    # The left foot lands at 0: the right hand is ahead, towards -Y, the left one behind.
    right, left = (stride.hands[side](0.02)[1] for side in ("Right", "Left"))
    assert right < -0.08 and left > 0.08


def test_faster_walkers_move_more():
    slow, fast = (stride_of(pace_of(Walker(speed=speed))) for speed in (0.6, 1.7))
    for cycle in ("root", "pelvis"):
        sizes = [np.ptp(getattr(stride, cycle)(PHASES)[:, 2]) for stride in (slow, fast)]
        assert sizes[1] > 1.2 * sizes[0]


@given(st.tuples(*[st.floats(-80, 80)] * 3))
def test_euler_angles_come_back(angles):
    turned = quaternions.from_euler("ZXY", np.array([angles]))
    assert quaternions.to_euler("ZXY", turned)[0] == pytest.approx(angles, abs=1e-6)
