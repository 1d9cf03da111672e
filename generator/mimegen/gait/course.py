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
START_CYCLES = 0.75
# No person walks perfectly straight: the direction wanders by a sum of WAVES waves, each
# MIN_WAVE_CYCLES to MAX_WAVE_CYCLES long, and fully only after one cycle.
WAVES = 3
MIN_WAVE_CYCLES, MAX_WAVE_CYCLES = 2.5, 7.0
# A course is integrated in this many pieces per cycle: accurate to a micrometre.
PIECES_PER_CYCLE = 400


@dataclass(frozen=True)
class WalkPath:
    """A walk to perform, over ``cycles`` of the gait.

    ``turn_deg`` is the whole turn to the left, made between the two fractions of the path in
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
    before and after the path it continues straight, or stands. Backwards, phases decrease.
    """

    pace: Pace
    path: WalkPath
    first: float

    @property
    def _sign(self) -> float:
        return -1.0 if self.pace.backwards else 1.0

    @property
    def _total_cycles(self) -> float:
        """The length of the whole path, in cycles of steady gait."""
        eased = START_CYCLES / 2 * (self.path.starts + self.path.stops)
        return max(self.path.cycles - eased, 1e-6)

    def cycles_covered(self, phases: FloatArray) -> FloatArray:
        """Return the distance (...,) covered at phases (...,), in cycles of steady gait."""
        covered = self._sign * (phases - self.first)
        if self.path.stops:
            left = _covered_from_standstill(self.path.cycles - covered)
            going = _covered_from_standstill(covered) if self.path.starts else covered
            covered = np.where(covered > self.path.cycles / 2, self._total_cycles - left, going)
        elif self.path.starts:
            covered = _covered_from_standstill(covered)
        return np.asarray(self._sign * covered)

    def speed_fraction(self, phases: FloatArray) -> FloatArray:
        """Return the walker's speed (...,) as a fraction of the steady speed."""
        step = 1e-3
        return np.asarray((self.cycles_covered(phases + step) - self.cycles_covered(phases - step))
                          / (2 * step))

    def heading(self, phases: FloatArray) -> FloatArray:
        """Return the walker's heading (...,), in radians to the left of -Y."""
        return self._heading_after(self._sign * self.cycles_covered(phases))

    def position(self, phases: FloatArray) -> FloatArray:
        """Return the body's position (..., 2), X and Y in metres, without its waves in a cycle."""
        covered = self._sign * self.cycles_covered(phases)
        if self.path.on_spot:
            return np.zeros((*np.shape(phases), 2))
        along, places = self._polyline
        within = np.clip(covered, 0.0, self._total_cycles)
        at = np.stack([np.interp(within, along, places[:, axis]) for axis in range(2)], axis=-1)
        beyond = (covered - within)[..., None] * _direction_vectors(self._heading_after(within))
        return np.asarray(self._sign * self.pace.stride * (at + beyond))

    def _heading_after(self, covered: FloatArray) -> FloatArray:
        """Return the heading (...,), in radians, after ``covered`` cycles of steady gait."""
        share = np.clip(covered / self._total_cycles, 0.0, 1.0)
        begins, ends = self.path.turns
        turned = np.clip((share - begins) / (ends - begins), 0.0, 1.0)
        # A walk eases into a curve and out of it; a turn on the spot is even.
        eased = turned if self.path.on_spot else turned**2 * (3 - 2 * turned)
        return np.asarray(np.deg2rad(self.path.turn_deg * eased
                                     + self._wander_deg(share * self._total_cycles)))

    def _wander_deg(self, covered: FloatArray) -> FloatArray:
        """Return the deviation (...,) of the wandering direction, in degrees."""
        if not self.path.wander_deg:
            return np.zeros(np.shape(covered))
        cycles, begins = self._waves
        waves = np.sin(2 * np.pi * covered[..., None] / cycles + begins).sum(axis=-1)
        return np.asarray(self.path.wander_deg * np.sqrt(2 / WAVES) * waves
                          * minimum_jerk(np.clip(covered, 0.0, 1.0)))

    @cached_property
    def _waves(self) -> tuple[FloatArray, FloatArray]:
        """The lengths (W,) of the wandering's waves, in cycles, and their phases in radians."""
        rng = generator(self.path.wander_seed, "way")
        return (rng.uniform(MIN_WAVE_CYCLES, MAX_WAVE_CYCLES, WAVES),
                rng.uniform(0, 2 * np.pi, WAVES))

    @cached_property
    def _polyline(self) -> tuple[FloatArray, FloatArray]:
        """Distances (N,) along the path, in cycles of steady gait; positions (N, 2) in strides."""
        along = np.linspace(0.0, self._total_cycles,
                            max(2, round(PIECES_PER_CYCLE * self._total_cycles)))
        ahead = _direction_vectors(self._heading_after(along))
        steps = (ahead[1:] + ahead[:-1]) / 2 * np.diff(along)[:, None]
        return along, np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])

    def floor_height(self, phases: FloatArray) -> FloatArray:
        """Return the floor's height (...,) under the body, in metres; even, on stairs as well."""
        rise = np.tan(np.deg2rad(self.pace.slope_deg)) * self.pace.stride
        if self.pace.manner.steps is not None:
            rise += self.pace.manner.steps.rise_cm / 50
        return np.asarray(rise * self.cycles_covered(phases))


def _direction_vectors(heading: FloatArray) -> FloatArray:
    """Return the unit vectors (..., 2), X and Y, of headings (...,) in radians to the left of -Y.
    """
    return np.stack([np.sin(heading), -np.cos(heading)], axis=-1)


def _covered_from_standstill(covered: FloatArray) -> FloatArray:
    """Return the distance covered from a standing start, at full pace from ``START_CYCLES`` on."""
    share = np.clip(covered / START_CYCLES, 0.0, 1.0)
    # The integral of a minimum-jerk rise of speed.
    eased = START_CYCLES * (share**4 * (2.5 - share * (3.0 - share)))
    return np.where(covered > START_CYCLES, covered - START_CYCLES / 2, eased)


def gait_amplitude(course: WalkerCourse, phases: FloatArray) -> FloatArray:
    """Return the amplitude (F,) of legs and arms: 0 in standing, 1 in steady gait."""
    amplitude = np.clip(course.speed_fraction(phases), 0.0, 1.0)
    return np.asarray(minimum_jerk(amplitude) * 0.5 + amplitude * 0.5)
