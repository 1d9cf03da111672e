"""The times of the source that a display shows, for each performer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.pointlight.dots import DotTracks, sampled

# Shares of a frame by which a time may lie outside the motion and still count as its end.
ROUNDING_FRAMES = 1e-6


@dataclass(frozen=True, eq=False)
class ShownTimes:
    """Times of the source in seconds: ``shared`` (F,), and each performer's ``own`` (F, P).

    They differ where a manipulation changes the time of one performer alone.
    """

    shared: FloatArray
    own: FloatArray

    def every(self, stride: int) -> "ShownTimes":
        """Return every nth frame's times."""
        return ShownTimes(self.shared[::stride], self.own[::stride])

    def within(self, last_s: float, fps: float, cropped: Sequence[int]) -> "ShownTimes":
        """Return times from 0 to ``last_s``, the ends of a source of ``fps`` frames a second.

        Frames are left out in which a ``cropped`` performer's motion has not begun or is over; any
        other performer is held at the end of the motion.
        """
        slack = ROUNDING_FRAMES / fps
        inside = (self.own >= -slack) & (self.own <= last_s + slack)
        kept = inside[:, cropped].all(axis=1)
        return ShownTimes(self.shared[kept], np.clip(self.own[kept], 0.0, last_s))

    def held_frames(self, performer: int) -> int:
        """Return the number of frames at the display's ends in which a performer does not move."""
        return int((np.diff(self.own[:, performer]) == 0).sum())


def sampled_people(values: FloatArray, source: FloatArray) -> FloatArray:
    """Return values (N, P, ...) of performers, each at their own frame numbers (N, P)."""
    return np.stack([sampled(values[:, person], source[:, person])
                     for person in range(values.shape[1])], axis=1)


def sampled_dots(dots: DotTracks, source: FloatArray) -> DotTracks:
    """Return dots at the fractional frame numbers (N, P) of their performers."""
    positions = np.empty((len(source), dots.count, 3))
    for person in dots.people:
        own = source[:, dots.performers[person[0]]]
        positions[:, person] = sampled(dots.positions[:, person], own)
    return DotTracks.of(dots.names, dots.performers, positions, dots.limbs, dots.trunk)
