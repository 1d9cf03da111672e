"""A walker's course: straight and curved, on stairs and slopes, from and to standing."""

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
# No person walks perfectly straight: the direction wanders by a sum of WAVES waves, each SHORTEST
# to LONGEST cycles of the gait long, and fully only after one cycle.
WAVES = 3
SHORTEST, LONGEST = 2.5, 7.0
# A course is integrated in this many pieces per cycle: accurate to a micrometre.
PIECES = 400


@dataclass(frozen=True)
class Way:
    """A walk to perform, over ``cycles`` of the gait.

    ``turn_deg`` is the whole turn to the left, made between the two fractions of the way in
    ``turns``, fastest in the middle; ``on_spot`` turns evenly without moving ahead. ``starts`` and
    ``stops`` are whether the walker stands before and after. ``wander_deg`` is the standard
    deviation of the wandering direction, drawn by ``wander_seed``.
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
    """A walker's position and heading on the floor, by the phase of the gait.

    The body begins at the origin and faces -Y. ``first`` is the phase at which it begins to move;
    before and after the way it continues straight, or stands. Backwards, phases decrease.
    """

    pace: Pace
    way: Way
    first: float

    @property
    def _sign(self) -> float:
        return -1.0 if self.pace.backwards else 1.0

    @property
    def _whole(self) -> float:
        """The length of the whole way, in cycles of steady gait."""
        eased = STARTING / 2 * (self.way.starts + self.way.stops)
        return max(self.way.cycles - eased, 1e-6)

    def done(self, phases: FloatArray) -> FloatArray:
        """Return the distance (...,) covered at phases (...,), in cycles of steady gait."""
        gone = self._sign * (phases - self.first)
        if self.way.stops:
            left = _started(self.way.cycles - gone)
            going = _started(gone) if self.way.starts else gone
            gone = np.where(gone > self.way.cycles / 2, self._whole - left, going)
        elif self.way.starts:
            gone = _started(gone)
        return np.asarray(self._sign * gone)

    def speed_fraction(self, phases: FloatArray) -> FloatArray:
        """Return the walker's speed (...,) as a fraction of the steady speed."""
        step = 1e-3
        return np.asarray((self.done(phases + step) - self.done(phases - step)) / (2 * step))

    def heading(self, phases: FloatArray) -> FloatArray:
        """Return the walker's heading (...,), in radians to the left of -Y."""
        return self._turned(self._sign * self.done(phases))

    def place(self, phases: FloatArray) -> FloatArray:
        """Return the body's position (..., 2), X and Y in metres, without its waves in a cycle."""
        gone = self._sign * self.done(phases)
        if self.way.on_spot:
            return np.zeros((*np.shape(phases), 2))
        along, places = self._line
        within = np.clip(gone, 0.0, self._whole)
        at = np.stack([np.interp(within, along, places[:, axis]) for axis in range(2)], axis=-1)
        beyond = (gone - within)[..., None] * _ahead(self._turned(within))
        return np.asarray(self._sign * self.pace.stride * (at + beyond))

    def _turned(self, gone: FloatArray) -> FloatArray:
        """Return the heading (...,), in radians, after ``gone`` cycles of steady gait."""
        share = np.clip(gone / self._whole, 0.0, 1.0)
        begins, ends = self.way.turns
        turned = np.clip((share - begins) / (ends - begins), 0.0, 1.0)
        # A walk eases into a curve and out of it; a turn on the spot is even.
        eased = turned if self.way.on_spot else turned**2 * (3 - 2 * turned)
        return np.asarray(np.deg2rad(self.way.turn_deg * eased
                                     + self._wander(share * self._whole)))

    def _wander(self, gone: FloatArray) -> FloatArray:
        """Return the deviation (...,) of the wandering direction, in degrees."""
        if not self.way.wander_deg:
            return np.zeros(np.shape(gone))
        cycles, begins = self._waves
        waves = np.sin(2 * np.pi * gone[..., None] / cycles + begins).sum(axis=-1)
        return np.asarray(self.way.wander_deg * np.sqrt(2 / WAVES) * waves
                          * minimum_jerk(np.clip(gone, 0.0, 1.0)))

    @cached_property
    def _waves(self) -> tuple[FloatArray, FloatArray]:
        """The lengths (W,) of the wandering's waves, in cycles, and their phases in radians."""
        rng = generator(self.way.wander_seed, "way")
        return rng.uniform(SHORTEST, LONGEST, WAVES), rng.uniform(0, 2 * np.pi, WAVES)

    @cached_property
    def _line(self) -> tuple[FloatArray, FloatArray]:
        """Distances (N,) along the way, in cycles of steady gait; positions (N, 2) in strides."""
        along = np.linspace(0.0, self._whole, max(2, round(PIECES * self._whole)))
        ahead = _ahead(self._turned(along))
        steps = (ahead[1:] + ahead[:-1]) / 2 * np.diff(along)[:, None]
        return along, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])

    def level(self, phases: FloatArray) -> FloatArray:
        """Return the floor's height (...,) under the body, in metres; even, on stairs as well."""
        rise = np.tan(np.deg2rad(self.pace.slope_deg)) * self.pace.stride
        if self.pace.manner.steps is not None:
            rise += self.pace.manner.steps.rise_cm / 50
        return np.asarray(rise * self.done(phases))


def _ahead(heading: FloatArray) -> FloatArray:
    """Return the unit vectors (..., 2), X and Y, of headings (...,) in radians to the left of -Y.
    """
    return np.stack([np.sin(heading), -np.cos(heading)], axis=-1)


def _started(gone: FloatArray) -> FloatArray:
    """Return the distance covered from a standing start, at full pace from ``STARTING`` on."""
    share = np.clip(gone / STARTING, 0.0, 1.0)
    # The integral of a minimum-jerk rise of speed.
    eased = STARTING * (share**4 * (2.5 - share * (3.0 - share)))
    return np.where(gone > STARTING, gone - STARTING / 2, eased)


def eased_pace(course: WalkerCourse, phases: FloatArray) -> FloatArray:
    """Return the amplitude (F,) of legs and arms: 0 in standing, 1 in steady gait."""
    lively = np.clip(course.speed_fraction(phases), 0.0, 1.0)
    return np.asarray(minimum_jerk(lively) * 0.5 + lively * 0.5)
