"""Keep contacts between people: those who touch each other in the sources do so in the scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import scipy

from mimegen.characters.character import Performance
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.hands import (
    HANDS,
    MovingBody,
    arms_bent,
    gap,
    has_arms,
    nearness,
    smoothed_shifts,
    source_body,
    target_body,
    to_the_body,
    wrists_of,
)


@dataclass(frozen=True)
class MeetingParameters:
    """When hands of two people meet.

    Chosen by trial; ``tests/retarget/test_retarget_scene.py`` checks that hands meet.
    """

    # Distance (m) from which a hand begins to be drawn to another person's hand.
    reaching_m: float = 0.5
    # Hands hold each other if they are nearer than this (m) and their distance changes slower than
    # this (m/s) for at least this long (s).
    short_m: float = 0.25
    holding_speed: float = 0.15
    holding_s: float = 0.25
    # Number of rounds; in each, both people move by half of the distance that is left.
    rounds: int = 3
    # Standard deviation (s) of the low-pass of distances.
    settling_s: float = 0.03


MEETING = MeetingParameters()


@dataclass(frozen=True)
class Performer:
    """One person: a source and its performance, each with its joints by role."""

    source: Motion
    source_joints: Mapping[str, int]
    performance: Performance
    joints: Mapping[str, int]
    scale: float

    def bodies(self) -> tuple[MovingBody, MovingBody]:
        """Return the source's and the character's body."""
        motion = self.performance.motion
        target = target_body(motion, self.performance.character, self.joints)
        return source_body(self.source, self.source_joints, motion, self.performance.character,
                           self.joints, self.scale), target

    def reaching(self, shifts: FloatArray) -> "Performer":
        """Return the person with wrists moved by ``shifts`` (F, 2, 3)."""
        motion = self.performance.motion
        moved = arms_bent(motion, self.joints, wrists_of(motion, self.joints) + shifts)
        # The hand turns half as far as the forearm, so that the wrist does not look broken.
        hands = [self.joints[f"{side}_hand"] for side in SIDES]
        moved.rotations[:, hands] = quaternions.slerp(
            moved.rotations[:, hands], motion.rotations[:, hands], np.array(0.5))
        return replace(self, performance=Performance(self.performance.character, moved))


def meeting(people: Sequence[Performer], scale: float) -> list[Performer]:
    """Return the people with hands that meet hands and bodies where the sources' do.

    ``scale`` is the scene's: distances between two people's hands are the sources' times it. All
    motions have the same frames. If anyone lacks an arm, all are returned unchanged.
    """
    people, fps = list(people), people[0].source.fps
    if any(not has_arms(joints) for person in people
           for joints in (person.source_joints, person.joints)):
        return people
    for _ in range(MEETING.rounds):
        bodies = [person.bodies() for person in people]
        shifts = [np.zeros_like(target.hands.wrists) for _, target in bodies]
        firm = [np.full(shift.shape[:2], HANDS.rest_weight) for shift in shifts]
        # Each hand goes halfway to the other's current position, so they converge over the rounds.
        for one, other in permutations(range(len(people)), 2):
            shift, near = _towards(bodies[one], bodies[other], scale, fps)
            shifts[one] += shift
            firm[one] += near
        people = [person.reaching(smoothed_shifts(shift, weights, fps))
                  for person, shift, weights in zip(people, shifts, firm, strict=True)]
    return people


def _towards(one: tuple[MovingBody, MovingBody], other: tuple[MovingBody, MovingBody], scale: float,
             fps: float) -> tuple[FloatArray, FloatArray]:
    """Return the shifts (F, 2, 3) of one person's hands towards another's hands and body.

    Also return how near (F, 2) they are: 1 if they touch, 0 if far.
    """
    shifts = np.zeros_like(one[1].hands.wrists)
    nearest = np.zeros(shifts.shape[:2])
    for number in range(len(SIDES)):
        source, target = (replace(body, hands=reaching.hands)
                          for reaching, body in zip(one, other, strict=True))
        body, weight = to_the_body(source, target, number, "", scale)
        most = weight[:, None]
        total, weights = most**4 * body, most**4
        for against in range(len(SIDES)):
            away = gap(one[0].hands, number, other[0].hands, against)
            short = _stopping_short(away, fps)
            wanted, now = (mine.hands.points[:, number, 0] - theirs.hands.points[:, against, 0]
                           for mine, theirs in zip(one, other, strict=True))
            # The gap at which captured hands stop short is taken off their distance; the direction
            # stays.
            wanted = wanted * scale * (np.maximum(away - short, 0.0)
                                       / np.maximum(away, 1e-6))[:, None]
            near = nearness(away - short, MEETING.reaching_m)[:, None]
            # Each hand goes half of the distance.
            half = (wanted - now) / 2
            total, weights = total + near**4 * half, weights + near**4
            most = np.maximum(most, near)
        # By the fourth power, the nearest contact dominates.
        shifts[:, number] = most * total / np.maximum(weights, 1e-9)
        nearest[:, number] = most[:, 0]
    return shifts, nearest


def _stopping_short(gap: FloatArray, fps: float) -> float:
    """Return the gap (m) at which captured hands that hold each other stop short, or 0.

    Captured wrists lie where the markers were, and forearms may be too short by half a hand. So
    hands that stay at one small distance for a while count as holding each other.
    """
    still = np.abs(velocities(gap[:, None], fps, MEETING.settling_s)[:, 0]) < MEETING.holding_speed
    runs, _ = scipy.ndimage.label(still & (gap < MEETING.short_m))
    lasting = np.bincount(runs)[1:] >= MEETING.holding_s * fps
    if not lasting.any():
        return 0.0
    return float(gap[np.isin(runs, 1 + np.flatnonzero(lasting))].max())
