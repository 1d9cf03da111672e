"""The performance that a fault changes, the times at which it acts, and helpers for changes."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.errors import RequestError
from mimegen.base.vectors import unit
from mimegen.characters.character import Performance
from mimegen.characters.followers import with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.faults.fault import Fault, FaultRecord, record_of
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles

# Time in which a fault fades in and out, and the largest fraction of its span that this may take.
EASE_S = 0.25
EASE_SHARE = 0.25
# Ranges of the beginning and of the duration of a fault's span, as fractions of the clip.
BEGINS = (0.15, 0.3)
LASTS = (0.5, 0.6)
# In shorter clips, no frame may have a fault at its full strength.
MIN_FRAMES = 8
SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class Acting:
    """A performance and the fault that acts on it.

    ``random`` is the fault's own generator, seeded alike for every amount of the fault.
    """

    performance: Performance
    fault: Fault
    random: np.random.Generator

    @property
    def motion(self) -> Motion:
        """The motion that the fault changes."""
        return self.performance.motion

    @property
    def skeleton(self) -> Skeleton:
        """The character's skeleton."""
        return self.motion.skeleton

    @cached_property
    def joints(self) -> dict[str, int]:
        """Joint numbers by role."""
        character = self.performance.character
        roles = find_roles(character.skeleton, file=character.name).joints
        return {role: self.skeleton.index[name] for role, name in roles.items()}

    @cached_property
    def times(self) -> FloatArray:
        """The time (F,) of every frame, in seconds."""
        return np.arange(self.motion.frames) / self.motion.fps

    @property
    def seconds(self) -> float:
        """The duration of the clip, in seconds."""
        return self.motion.frames / self.motion.fps

    def name(self, role: str) -> str:
        """Return the name of a role's joint."""
        return self.skeleton.names[self.joints[role]]

    def span(self) -> tuple[float, float]:
        """Draw the start and the end of the span in which the fault acts, in seconds.

        Raises RequestError if the clip has too few frames for it.
        """
        if self.motion.frames < MIN_FRAMES:
            raise RequestError(f"--fault {self.fault.name}: needs a clip of at least"
                               f" {MIN_FRAMES} frames, this one has {self.motion.frames}")
        start = self.random.uniform(*BEGINS) * self.seconds
        return start, start + self.random.uniform(*LASTS) * self.seconds

    def strength(self, span: tuple[float, float]) -> FloatArray:
        """Return the fault's strength (F,) in every frame, from 0 to 1, faded in and out."""
        (start, end), ease = span, ease_of(span)
        return np.minimum(ramp(self.times, start, start + ease),
                          ramp(self.times, end, end - ease))

    def record(self, *spans: tuple[float, float], joints: tuple[str, ...] = ()) -> FaultRecord:
        """Return the record of the fault; without spans it acts in the whole clip."""
        return record_of(self.fault, spans or ((0.0, self.seconds),), joints)

    def with_root(self, shift: FloatArray) -> Performance:
        """Return the performance moved as a whole by ``shift`` (F, 3) metres."""
        motion = Motion(self.skeleton, self.motion.fps, self.motion.root_positions + shift,
                        self.motion.rotations)
        return Performance(self.performance.character, motion)

    def with_turns(self, rotations: FloatArray) -> Performance:
        """Return the performance with other local rotations (F, J, 4)."""
        motion = Motion(self.skeleton, self.motion.fps, self.motion.root_positions,
                        quaternions.without_flips(rotations))
        return Performance(self.performance.character,
                           with_followers_turned(with_helpers_turned(motion)))

    def moving_side(self) -> str:
        """Return the side whose hand moves more, relative to the hips."""
        places = self.motion.global_pose.positions
        hips = places[:, self.joints["hips"]]
        travels = [np.linalg.norm(np.diff(places[:, self.joints[f"{side}_hand"]] - hips, axis=0),
                                  axis=1).sum() for side in SIDES]
        return SIDES[int(travels[1] > travels[0] + 1e-6)]

    def bone(self, role: str, end: str) -> FloatArray:
        """Return the unit vector (3,) in the rest pose from one role's joint to another's."""
        heads = self.skeleton.heads
        return unit(heads[self.joints[end]] - heads[self.joints[role]])

    def below(self, joint: int) -> list[int]:
        """Return a joint and all its descendants, in the skeleton's order."""
        below = [joint]
        for number, parent in enumerate(self.skeleton.parents):
            if int(parent) in below:
                below.append(number)
        return below


def ease_of(span: tuple[float, float]) -> float:
    """Return the time in which a fault fades in and out in a span, in seconds."""
    return min(EASE_S, EASE_SHARE * (span[1] - span[0]))
