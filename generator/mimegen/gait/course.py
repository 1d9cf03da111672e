"""Where a walker goes: on straight and curved ways, on stairs and slopes, from and to a stand."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk
from mimegen.base.seeds import generator
from mimegen.gait.walker import Pace

# People start and stop in one and a half steps, three quarters of a cycle (Breniere & Do, "When
# and how does steady state gait movement induced from upright posture begin?", J. Biomechanics 19,
# 1986).
STARTING = 0.75
# Nobody walks along a ruler: the direction wanders by waves of so many cycles of the gait each, and
# begins to after one.
WAVES = 3
SHORTEST, LONGEST = 2.5, 7.0
# A way is added up in so many pieces a cycle: to a micrometre.
PIECES = 400


@dataclass(frozen=True)
class Way:
    """A way over ``cycles`` of the gait.

    ``turn_deg`` is how far the walker has turned to the left at the end, most in the middle of the
    way, or of the shares of it that ``turns`` names; ``on_spot`` turns evenly, without going ahead.
    ``starts`` and ``stops`` say whether the walker stands before and after. ``wander_deg`` is the
    standard deviation by which the direction wanders, as ``wander_seed`` draws it.
    """

    cycles: float
    turn_deg: float = 0.0
    on_spot: bool = False
    starts: bool = False
    stops: bool = False
    turns: tuple[float, float] = (0.0, 1.0)
    wander_deg: float = 0.0
    wander_seed: int = 0


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
        return self._turned(self._sign * self.done(phases))

    def place(self, phases: FloatArray) -> FloatArray:
        """Return where the body is (..., 2), X and Y in metres, on its steady way."""
        gone = self._sign * self.done(phases)
        if self.way.on_spot:
            return np.zeros((*np.shape(phases), 2))
        along, places = self._line
        within = np.clip(gone, 0.0, self._whole)
        at = np.stack([np.interp(within, along, places[:, axis]) for axis in range(2)], axis=-1)
        beyond = (gone - within)[..., None] * _ahead(self._turned(within))
        return np.asarray(self._sign * self.pace.stride * (at + beyond))

    def _turned(self, gone: FloatArray) -> FloatArray:
        """Return the heading (...,) after so many cycles of steady gait."""
        share = np.clip(gone / self._whole, 0.0, 1.0)
        begins, ends = self.way.turns
        turned = np.clip((share - begins) / (ends - begins), 0.0, 1.0)
        # A walk bends into a curve and out of it; a turn on the spot is even.
        eased = turned if self.way.on_spot else turned**2 * (3 - 2 * turned)
        return np.asarray(np.deg2rad(self.way.turn_deg * eased
                                     + self._wander(share * self._whole)))

    def _wander(self, gone: FloatArray) -> FloatArray:
        """Return how far (...,) the direction has wandered, in degrees."""
        if not self.way.wander_deg:
            return np.zeros(np.shape(gone))
        cycles, begins = self._waves
        waves = np.sin(2 * np.pi * gone[..., None] / cycles + begins).sum(axis=-1)
        return np.asarray(self.way.wander_deg * np.sqrt(2 / WAVES) * waves
                          * minimum_jerk(np.clip(gone, 0.0, 1.0)))

    @cached_property
    def _waves(self) -> tuple[FloatArray, FloatArray]:
        """How long the waves (W,) of the wandering are, in cycles, and where they begin."""
        rng = generator(self.way.wander_seed, "way")
        return rng.uniform(SHORTEST, LONGEST, WAVES), rng.uniform(0, 2 * np.pi, WAVES)

    @cached_property
    def _line(self) -> tuple[FloatArray, FloatArray]:
        """Where the way is (N, 2), in strides, after so many (N,) cycles of steady gait."""
        along = np.linspace(0.0, self._whole, max(2, round(PIECES * self._whole)))
        ahead = _ahead(self._turned(along))
        steps = (ahead[1:] + ahead[:-1]) / 2 * np.diff(along)[:, None]
        return along, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])

    def level(self, phases: FloatArray) -> FloatArray:
        """Return how high (...,) the floor is under the body, in metres, evenly along the way."""
        rise = np.tan(np.deg2rad(self.pace.slope_deg)) * self.pace.stride
        if self.pace.manner.steps is not None:
            rise += self.pace.manner.steps.rise_cm / 50
        return np.asarray(rise * self.done(phases))


def _ahead(heading: FloatArray) -> FloatArray:
    """Return the unit vectors (..., 2) of headings (...,) in radians, to the left from -Y."""
    return np.stack([np.sin(heading), -np.cos(heading)], axis=-1)


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
