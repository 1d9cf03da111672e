"""Where a walker goes: on straight and curved ways, on stairs and slopes, from and to a stand."""

from dataclasses import dataclass

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk
from mimegen.gait.walker import Pace

# People start and stop in one and a half steps, three quarters of a cycle (Breniere & Do, "When
# and how does steady state gait movement induced from upright posture begin?", J. Biomechanics 19,
# 1986).
STARTING = 0.75


@dataclass(frozen=True)
class Way:
    """A way over ``cycles`` of the gait.

    ``turn_deg`` is how far the walker has turned to the left at the end, evenly along the way;
    ``on_spot`` turns without going ahead. ``starts`` and ``stops`` say whether the walker stands
    before and after.
    """

    cycles: float
    turn_deg: float = 0.0
    on_spot: bool = False
    starts: bool = False
    stops: bool = False


@dataclass(frozen=True)
class WalkerCourse:
    """A walker's way on the floor by the phase of the gait.

    The body begins at the origin and faces -Y. ``first`` is the phase at which it begins to move;
    before and after the way it goes on straight, or stands. Backwards, phases fall.
    """

    pace: Pace
    way: Way
    first: float

    @property
    def _sign(self) -> float:
        return -1.0 if self.pace.backwards else 1.0

    @property
    def _whole(self) -> float:
        """How far the whole way is, in cycles of steady gait."""
        eased = STARTING / 2 * (self.way.starts + self.way.stops)
        return max(self.way.cycles - eased, 1e-6)

    def done(self, phases: FloatArray) -> FloatArray:
        """Return how far (...,) the way has been gone, in cycles, at phases (...,)."""
        gone = self._sign * (phases - self.first)
        if self.way.stops:
            left = _started(self.way.cycles - gone)
            going = _started(gone) if self.way.starts else gone
            gone = np.where(gone > self.way.cycles / 2, self._whole - left, going)
        elif self.way.starts:
            gone = _started(gone)
        return np.asarray(self._sign * gone)

    def liveliness(self, phases: FloatArray) -> FloatArray:
        """Return the share (...,) of the steady speed that the walker has."""
        step = 1e-3
        return np.asarray((self.done(phases + step) - self.done(phases - step)) / (2 * step))

    def heading(self, phases: FloatArray) -> FloatArray:
        """Return how far (...,) the walker has turned to the left, in radians."""
        share = self._sign * self.done(phases) / self._whole
        return np.asarray(np.deg2rad(self.way.turn_deg) * np.clip(share, 0.0, 1.0)
                          if self.way.turn_deg else np.zeros(np.shape(phases)))

    def place(self, phases: FloatArray) -> FloatArray:
        """Return where the body is (..., 2), X and Y in metres, on its steady way."""
        gone = self.done(phases) * self.pace.stride
        if self.way.on_spot:
            return np.zeros((*np.shape(phases), 2))
        turn = self.heading(phases)
        if not self.way.turn_deg:
            return np.stack([np.zeros_like(gone), -gone], axis=-1)
        return _arc(gone, turn, self._radius)

    @property
    def _radius(self) -> float:
        return self._sign * self._whole * self.pace.stride / float(np.deg2rad(self.way.turn_deg))

    def level(self, phases: FloatArray) -> FloatArray:
        """Return how high (...,) the floor is under the body, in metres, evenly along the way."""
        rise = np.tan(np.deg2rad(self.pace.slope_deg)) * self.pace.stride
        if self.pace.manner.steps is not None:
            rise += self.pace.manner.steps.rise_cm / 50
        return np.asarray(rise * self.done(phases))


def _arc(gone: FloatArray, turn: FloatArray, radius: float) -> FloatArray:
    """Return places on an arc and, before and after it, on its tangents."""
    beyond = gone - turn * radius
    across, ahead = radius * (1 - np.cos(turn)), radius * np.sin(turn)
    return np.stack([across + beyond * np.sin(turn), -ahead - beyond * np.cos(turn)], axis=-1)


def _started(gone: FloatArray) -> FloatArray:
    """Return the distance covered from a standing start, at full pace from ``STARTING`` on."""
    share = np.clip(gone / STARTING, 0.0, 1.0)
    # The integral of a minimum-jerk rise of speed.
    eased = STARTING * (share**4 * (2.5 - share * (3.0 - share)))
    return np.where(gone > STARTING, gone - STARTING / 2, eased)


def eased_pace(course: WalkerCourse, phases: FloatArray) -> FloatArray:
    """Return how lively (F,) legs and arms move: 0 in standing, 1 in steady gait."""
    lively = np.clip(course.liveliness(phases), 0.0, 1.0)
    return np.asarray(minimum_jerk(lively) * 0.5 + lively * 0.5)
