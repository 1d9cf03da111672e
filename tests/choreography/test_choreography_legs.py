"""Knees of somebody who lies on the back."""

import numpy as np
import pytest

from mimegen.choreography import legs
from mimegen.motion import quaternions, standard_skeleton

FPS = 30.0
# A knee's thigh turns by less than this between frames in which the pelvis turns by 0.6 degrees.
STEADY_DEG = 1.0


@pytest.mark.parametrize("ball", [(0.09, -0.55, 0.0), (0.09, -0.75, 0.0), (0.09, -0.3, 0.8)],
                         ids=["feet near", "feet far", "feet up"])
@pytest.mark.parametrize("heading_deg", [0.0, 70.0, -160.0])
def test_knees_stay_where_a_pelvis_leans_back_past_level(ball, heading_deg):
    frames = 241
    lean = np.radians(np.linspace(0.0, 140.0, frames))[:, None] * np.array([-1.0, 0.0, 0.0])
    heading = quaternions.from_rotation_vectors([0.0, 0.0, np.radians(heading_deg)])
    pelvis = quaternions.multiply(np.tile(heading, (frames, 1)),
                                  quaternions.from_rotation_vectors(lean))
    place = quaternions.rotate(heading, np.array(ball))
    hip = np.tile(quaternions.rotate(heading, np.array([0.09, 0.0, 0.3])), (frames, 1))
    goal = legs.FootGoal(np.tile(place, (frames, 1)), np.full(frames, heading_deg),
                         np.zeros(frames))
    turned = legs.leg_rotations(standard_skeleton(), "Left", hip, pelvis, goal, FPS)["LeftUpLeg"]
    thigh = quaternions.rotate(turned, np.array([0.0, 0.0, -1.0]))
    cosines = np.clip(np.sum(thigh[1:] * thigh[:-1], axis=1), -1.0, 1.0)
    assert np.degrees(np.arccos(cosines)).max() < STEADY_DEG
    assert thigh[-1, 2] > 0.0
