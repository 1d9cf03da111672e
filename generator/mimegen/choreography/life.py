"""Small movements of a living performer: breathing, drift, parts that are early or late."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mimegen.base.paths import data_file
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.choreography.places import Place
from mimegen.choreography.score import FootKey, HandKey, Key, PelvisKey, PropKey, Turned, WalkKey
from mimegen.choreography.timing import Follow
from mimegen.choreography.tracks import Timeline
from mimegen.motion.quaternions import FloatArray

Three = tuple[float, float, float]
Band = tuple[float, float]
# Number of sines in a noise.
WAVES = 6
# The number of footfalls drawn for each side; longer walks repeat them.
FOOTFALLS = 64
# Factor on small movements that a take borrows from another seed.
BORROWED = 0.5
# Weights of the centimetres and the degrees of each kind of key in a performer's vigor.
VIGOR: tuple[tuple[type[Key], float, float], ...] = (
    (HandKey, 0.2, 0.0), (PropKey, 0.2, 0.1), (FootKey, 0.5, 0.0), (WalkKey, 0.5, 0.5),
    (PelvisKey, 1.0, 0.5), (Turned, 0.0, 0.3))


class Breath(Strict):
    """Breathing: its rate and the amplitudes in degrees; shoulders go up and forward."""

    rate_hz: float
    chest_deg: float
    head_deg: float
    shoulders_deg: tuple[float, float]


class Drift(Strict):
    """Root mean square speeds of the drift by track and axis, per second.

    ``ripple`` is the size of additional quick movements, ``gusts`` the size of the slow variation
    of all drift, both as fractions. ``_hz`` are bands of frequencies.
    """

    rates_hz: Band
    ripple: float
    ripple_hz: Band
    gusts: float
    gusts_hz: Band
    pelvis: Three
    chest: Three
    head: Three
    sway: Three
    hand: Three


class Bearing(Strict):
    """Standard deviations of constant turn, lean and tilt, in degrees, by track."""

    pelvis: Three
    chest: Three
    head: Three


class Late(Strict):
    """Standard deviations, in seconds, by which parts are early or late.

    Lateness varies slowly and quickly, in the bands ``slow_hz`` and ``quick_hz``.
    """

    slow_s: float
    quick_s: float
    hands_apart_s: float
    feet_s: float
    slow_hz: Band
    quick_hz: Band


class Uneven(Strict):
    """Standard deviations between repetitions of a movement.

    ``size`` and ``time`` are fractions; the others are in centimetres or degrees.
    """

    size: float
    time: float
    place_cm: float
    pelvis_cm: float
    foot_cm: float
    turn_deg: float


class SmallSteps(Strict):
    """Small steps of a standing performer: mean interval, reach and range of durations.

    ``stance_cm`` and ``toes_deg`` are standard deviations of the performers' habitual stance.
    """

    every_s: float
    reach_cm: float
    lasts_s: Band
    stance_cm: float
    toes_deg: float


class Gait(Strict):
    """Standard deviations between the steps, and between the sides, of one walker.

    ``lift`` and ``swing`` are fractions.
    """

    length_cm: float
    width_cm: float
    turn_deg: float
    lift: float
    swing: float
    late_s: float
    quick_s: float


class Fingers(Strict):
    """The fraction of a relaxed hand's shape that fingers always have, and its variation."""

    relaxed: float
    changing: float
    rates_hz: Band


class FollowRates(Strict):
    """How far trunk and pelvis follow the hands, in degrees (``sway`` in metres) per metre.

    ``pelvis_share`` is the pelvis' fraction of the chest's turns. Hands' paths are smoothed over
    ``ease_s``.
    """

    lean: float
    bow: float
    turn: float
    tilt: float
    pelvis_share: float
    sway: float
    ease_s: float


class LifeValues(Strict):
    """The values of mocap/life.yaml."""

    calm: float
    vigor_cm_s: float
    breath: Breath
    drift: Drift
    bearing: Bearing
    follow: dict[str, Follow]
    late: Late
    uneven: Uneven
    small_steps: SmallSteps
    gait: Gait
    along: FollowRates
    fingers: Fingers
    stray_s: float
    stray_hz: Band


def life_values() -> LifeValues:
    """Return the values of mocap/life.yaml."""
    return read_yaml_once(data_file("mocap/life.yaml"), LifeValues)


class Waves(NamedTuple):
    """Smooth noise as a sum of W sines in C channels: rates in Hz, phases, amplitudes, (W, C)."""

    rates: FloatArray
    phases: FloatArray
    sizes: FloatArray

    def at(self, moments: FloatArray) -> FloatArray:
        """Return the noise (F, C) at moments (F,)."""
        turns = 2 * np.pi * moments[:, None, None] * self.rates + self.phases
        return np.asarray(np.sum(self.sizes * np.sin(turns), axis=1))


def waves(rng: np.random.Generator, band: Band, sizes: FloatArray) -> Waves:
    """Return noise within a band of frequencies, with root mean squares ``sizes`` (C,)."""
    # Draw one rate from each of WAVES parts of the band, equal in octaves: rates drawn from the
    # whole band could lie close together and beat.
    edges = np.geomspace(*band, WAVES + 1)[:, None]
    shape = (WAVES, len(sizes))
    rates = edges[:-1] * (edges[1:] / edges[:-1]) ** rng.uniform(size=shape)
    phases = rng.uniform(0, 2 * np.pi, shape)
    # The root mean square of a sine is its amplitude divided by the square root of 2.
    return Waves(rates, phases, np.broadcast_to(sizes * np.sqrt(2 / WAVES), shape))


def drifting(rng: np.random.Generator, drift: Drift, speeds: FloatArray) -> Waves:
    """Return drift with root mean square ``speeds`` (C,); its positions' power falls with 1/f^2."""
    slow, quick = waves(rng, drift.rates_hz, speeds), waves(
        rng, drift.ripple_hz, drift.ripple * speeds)
    noise = Waves(*(np.concatenate(both) for both in zip(slow, quick, strict=True)))
    # Integrate speeds to positions: a sine's integral is divided by its angular frequency.
    return noise._replace(sizes=noise.sizes / (2 * np.pi * noise.rates))


class Life(NamedTuple):
    """The small movements of one performer in one take.

    ``drift`` is by track, in degrees, or centimetres for ``sway`` and hands; ``gusts`` modulate it.
    ``late`` is by track, in seconds, above 0 for late. ``stray`` (seconds, times the hand's speed)
    and ``fingers`` (change of their relaxation) are by hand. ``bearing`` (3,) is the constant turn,
    lean and tilt by track. ``breath`` is the breath's phase from 0 to 1, ``steps`` the seed of
    small steps, ``toes`` the toes' additional turn outward in degrees by side. For walks,
    ``footfalls`` (N, 4) are the deviations of landings by side (see ``strides.foot_ground``), and
    ``swing`` is how much farther each hand swings, as a constant fraction and its variation.
    """

    vigor: float
    drift: dict[str, Waves]
    gusts: Waves
    late: dict[str, tuple[Waves, Waves]]
    stray: dict[str, Waves]
    fingers: dict[str, Waves]
    bearing: dict[str, FloatArray]
    breath: float
    steps: int
    toes: dict[str, float]
    footfalls: dict[str, FloatArray]
    swing: dict[str, tuple[float, Waves]]

    def drifted(self, track: str, moments: FloatArray) -> FloatArray:
        """Return the drift (F, 3) of a track, in its unit."""
        # Never below zero: between gusts the drift rests instead of reversing.
        gusts = np.maximum(1 + self.gusts.at(moments), 0.0)
        return np.asarray(gusts * self.drift[track].at(moments))

    def turned(self, track: str, moments: FloatArray) -> FloatArray:
        """Return the turn, lean and tilt (F, 3), in degrees, that are added to a track."""
        found = self.drifted(track, moments) + self.bearing[track]
        breath, size = self._breath(moments), life_values().breath
        lean = {"chest": -size.chest_deg, "head": size.head_deg}.get(track, 0.0)
        found[:, 1] += lean * breath
        return found

    def shrug(self, moments: FloatArray) -> FloatArray:
        """Return the shoulders' movement by breathing (F, 2), up and forward, in degrees."""
        return self._breath(moments)[:, None] * life_values().breath.shoulders_deg

    def _breath(self, moments: FloatArray) -> FloatArray:
        rate_hz = life_values().breath.rate_hz
        return np.asarray(np.sin(2 * np.pi * (rate_hz * moments + self.breath)))

    def swung(self, side: str, moments: FloatArray) -> FloatArray:
        """Return a hand's swing (F,) in walking, as a fraction of the usual one."""
        usual, changes = self.swing[side]
        return np.asarray(1 + usual + changes.at(moments)[:, 0])

    def lateness(self, track: str, moments: FloatArray) -> FloatArray:
        """Return by how many seconds (F,) a track is late at moments (F,); below 0 it is early."""
        return np.asarray(sum(noise.at(moments)[:, 0] for noise in self.late[track]))


@dataclass(frozen=True)
class SmallMovements:
    """The small movements of a take: the seed that draws them, and a factor on their size."""

    seed: int
    size: float = 1.0


@dataclass(frozen=True)
class KeptVariation:
    """How much of a seed's variation a take keeps.

    ``share`` is the fraction of its differences in space. At 0, small movements are those of seed
    0, with which the score was tuned, or those of the seed ``borrowed_from``, at BORROWED of their
    size.
    """

    share: float = 1.0
    borrowed_from: int | None = None

    def small_movements(self, seed: int) -> SmallMovements:
        """Return the small movements of a seed's take."""
        if self.borrowed_from is not None:
            return SmallMovements(self.borrowed_from, BORROWED)
        return SmallMovements(seed, self.share) if self.share else SmallMovements(0)


ALL_VARIATION = KeptVariation()


def life_of(name: str, small: SmallMovements, line: Timeline) -> Life:
    """Return the small movements of the performer whose part is called ``name``."""
    share = small.size
    rng = generator(small.seed, f"the life of {name}")
    known, vigor = life_values(), _vigor(line)
    drift, late, gait = known.drift, known.late, known.gait

    def lateness(slow: float, quick: float = late.quick_s) -> tuple[Waves, Waves]:
        return (waves(rng, late.slow_hz, share * np.array([slow])),
                waves(rng, late.quick_hz, share * np.array([quick])))

    # All are drawn from one generator, so their order is part of every take: add new draws last.
    return Life(
        vigor,
        drift={track: drifting(rng, drift, share * vigor * np.array(speeds)) for track, speeds in (
            ("pelvis", drift.pelvis), ("chest", drift.chest), ("head", drift.head),
            ("sway", drift.sway), ("left_hand", drift.hand), ("right_hand", drift.hand))},
        gusts=waves(rng, drift.gusts_hz, np.array([drift.gusts])),
        late={track: lateness(late.slow_s) for track in (
            "pelvis", "chest", "head", "gaze", "shoulders", "hands")}
        | {track: lateness(late.hands_apart_s) for track in ("left_hand", "right_hand")}
        | {track: lateness(late.feet_s, 0.0) for track in ("left_foot", "right_foot")}
        | {"walk": lateness(known.gait.late_s, known.gait.quick_s)},
        stray={track: waves(rng, known.stray_hz, np.full(3, share * known.stray_s))
               for track in ("left_hand", "right_hand")},
        fingers={track: waves(rng, known.fingers.rates_hz, np.full(5, known.fingers.changing))
                 for track in ("left_hand", "right_hand")},
        bearing={track: share * rng.normal(0, getattr(known.bearing, track))
                 for track in ("pelvis", "chest", "head")},
        breath=float(rng.uniform()),
        steps=int(rng.integers(2**31)),
        toes={side: float(rng.normal(0, known.small_steps.toes_deg)) for side in ("left", "right")},
        footfalls={side: rng.normal(0, (gait.width_cm, gait.length_cm, gait.turn_deg, gait.lift),
                                    (FOOTFALLS, 4)) for side in ("left", "right")},
        swing={side: (float(rng.normal(0, gait.swing)),
                      waves(rng, late.slow_hz, np.array([gait.swing])))
               for side in ("left", "right")},
    )


def _vigor(line: Timeline) -> float:
    """Return how vigorous a performance is, from ``calm`` to 1, by how far its keys go per second.
    """
    known = life_values()
    way, before = 0.0, dict[str, FloatArray]()
    for phase in line.phases:
        for track, key in phase.moves():
            there = _whereabouts(key, before.get(track, np.zeros(6)))
            if track in before:
                counts = next((np.repeat([place, turn], 3) for kind, place, turn in VIGOR
                               if isinstance(key, kind)), np.zeros(6))
                way += float(np.linalg.norm((there - before[track]) * counts))
            before[track] = there
    rate = way / line.duration / known.vigor_cm_s
    return float(known.calm + (1 - known.calm) * min(rate, 1.0))


def _whereabouts(key: Key, before: FloatArray) -> FloatArray:
    """Return a key's position in centimetres and turns in degrees (6,).

    Values that the key leaves out are those of ``before``.
    """
    place: Place | None = getattr(key, "to", None)
    steps = place.offset if place is not None else (
        getattr(key, name, None) for name in ("left", "forward", "up"))
    turns = (getattr(key, name, None) for name in ("turn", "lean", "tilt"))
    return np.array([then if now is None else now
                     for now, then in zip((*steps, *turns), before, strict=True)], float)
