"""Which way is down in what a camera saw: people are turned upright by how they keep balance."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mimegen as mg
from mimegen.motion import Motion, quaternions
from mimegen.readers.gravity import levelled

# Who plays golf leans from the hips, with the head in front of the feet.
ACTIONS = ("deadlift", "bow", "golf_swing")
NEAR_DEG = 6.0


@cache
def performed(action: str) -> tuple[Motion, dict[str, str]]:
    take = mg.take(action)
    return take.motion(), dict(take.roles())


def tilted(motion: Motion, degrees: float, about_deg: float) -> Motion:
    """Return a motion as a camera sees it that is tilted about a level axis."""
    axis = np.array([np.cos(np.radians(about_deg)), np.sin(np.radians(about_deg)), 0.0])
    turn = quaternions.from_rotation_vectors(axis * np.radians(degrees))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    return Motion(motion.skeleton, motion.fps, quaternions.rotate(turn, motion.root_positions),
                  rotations)


def tilt_between(first: Motion, second: Motion) -> float:
    """Return by how many degrees one motion leans against another."""
    turn = quaternions.multiply(first.rotations[0, 0],
                                quaternions.conjugate(second.rotations[0, 0]))
    up = quaternions.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return float(np.degrees(np.arccos(np.clip(up[2], -1.0, 1.0))))


@settings(max_examples=10, deadline=None)
@given(action=st.sampled_from(ACTIONS), degrees=st.floats(0.0, 30.0), about=st.floats(0.0, 360.0))
def test_who_keeps_balance_is_upright_whatever_the_cameras_tilt(action, degrees, about):
    motion, roles = performed(action)
    level, notes = levelled(tilted(motion, degrees, about), roles)
    assert tilt_between(level, motion) < NEAR_DEG
    assert "gravity is estimated" in notes[0]


def test_who_sits_tells_nothing():
    motion, roles = performed("play_cello")
    level, notes = levelled(motion, roles)
    assert level is motion
    assert notes == ("gravity is assumed to point down in the camera's picture",)


@pytest.mark.parametrize("action", ACTIONS)
def test_without_toes_the_body_stands_as_with_them(action):
    motion, roles = performed(action)
    less = {role: joint for role, joint in roles.items() if not role.endswith("_toe")}
    assert tilt_between(levelled(motion, less)[0], levelled(motion, roles)[0]) < 1.5
