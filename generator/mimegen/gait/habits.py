"""What is a walker's own: arms that swing unalike, a head that hangs, and what no cycle repeats.

Left and right arms of healthy people swing unalike (Kuhtz-Buschbeck et al., "Asymmetry of arm swing
in healthy individuals", Gait & Posture 27, 2008). How far habits go was chosen so that viewers tell
these walks from captured ones as little as can be. Whoever walks along a curve leans into it, as
far as the centripetal force asks for.
"""

from dataclasses import dataclass, replace

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk
from mimegen.gait.walker import Pace

GRAVITY_M_S2 = 9.81
# Standard deviations over walkers: of an arm's swing (a share), of elbows, arms, head and trunk in
# degrees. Each arm draws its own.
SWING_SD = 0.38
ELBOW_SD_DEG = 11.0
OUT_SD_DEG = 2.5
HEAD_SD_DEG = 7.0
LEAN_SD_DEG = 2.6
ROLL_SD_DEG = 1.2
PALM_SD_DEG = 12.0
CURL_SD_DEG = 5.0
# People look down at their way a little.
HEAD_MEAN_DEG = 7.0
# From stride to stride: shares of the swing, and degrees of the head, elbow and trunk.
SWING_WANDERS = 0.14
HEAD_WANDERS_DEG = 3.0
ELBOW_WANDERS_DEG = 4.0
ROLL_WANDERS_DEG = 0.6
# What wanders is the sum of so many waves, so slow, in cycles of them for each of the gait.
WAVES = 3
SLOWEST, FASTEST = 0.18, 0.6
# How unlike people's steps are: width in metres, toes outwards in degrees, knees bent by so many
# metres, and the turns of pelvis and chest and the arms' middle, as shares and in degrees.
WIDTH_SD_M, NARROWEST_M = 0.02, 0.03
TOES_SD_DEG = 3.0
CROUCH_SD_M = 0.008
TURN_SD = 0.25
ARMS_SD_DEG = 4.0
# Steps come sooner or later than a metronome's, by a standard deviation in cycles.
TEMPO_SD = 0.025
# Nobody leans further into a curve.
MOST_LEAN_DEG = 12.0


@dataclass(frozen=True, eq=False)
class ArmHabit:
    """One arm's own, in all frames: its swing as a share, further bent and further out, degrees.

    ``palm`` is how far the hand is turned, ``curl`` how far each joint of a finger is closed.
    """

    swing: FloatArray
    elbow: FloatArray
    out: float
    palm: float = 0.0
    curl: float = 0.0


@dataclass(frozen=True, eq=False)
class Habits:
    """A walker's own (F,), degrees: the head down and turned, the trunk leaning ahead and aside.

    ``arms`` are the left and the right one's.
    """

    arms: tuple[ArmHabit, ArmHabit]
    head_down: FloatArray
    head_left: FloatArray
    lean: float
    roll: FloatArray


def habits_of(rng: np.random.Generator, phases: FloatArray) -> Habits:
    """Return the habits that a generator draws, at phases (F,) of the gait."""
    return Habits((_arm(rng, phases), _arm(rng, phases)),
                  HEAD_MEAN_DEG + HEAD_SD_DEG * rng.normal()
                  + HEAD_WANDERS_DEG * wandering(rng, phases),
                  HEAD_WANDERS_DEG * wandering(rng, phases), LEAN_SD_DEG * float(rng.normal()),
                  ROLL_SD_DEG * rng.normal() + ROLL_WANDERS_DEG * wandering(rng, phases))


def own_pace(pace: Pace, rng: np.random.Generator) -> Pace:
    """Return the gait of one walker among those for whom its numbers are the mean."""
    width, toes, crouch, pelvis, thorax, arms = rng.normal(size=6)
    return replace(
        pace, width=max(pace.width + WIDTH_SD_M * width, min(NARROWEST_M, pace.width)),
        toe_out=pace.toe_out + TOES_SD_DEG * toes, crouch=pace.crouch + CROUCH_SD_M * abs(crouch),
        pelvis_turn=pace.pelvis_turn * float(np.exp(TURN_SD * pelvis)),
        thorax_turn=pace.thorax_turn * float(np.exp(TURN_SD * thorax)),
        arm_middle=pace.arm_middle + ARMS_SD_DEG * arms)


def own_tempo(rng: np.random.Generator, gone: FloatArray, cycles: float) -> FloatArray:
    """Return how far (F,) a walker has got who evenly would have gone so many cycles (F,).

    At both ends of ``cycles`` it is the same.
    """
    inside = minimum_jerk(np.clip(gone, 0.0, 1.0)) * minimum_jerk(np.clip(cycles - gone, 0.0, 1.0))
    return gone + TEMPO_SD * inside * wandering(rng, gone)


def no_habits(phases: FloatArray) -> Habits:
    """Return what a walker has who is everybody's mean, as loops need it."""
    none = np.zeros(len(phases))
    arm = ArmHabit(none + 1.0, none, 0.0)
    return Habits((arm, arm), none, none, 0.0, none)


def _arm(rng: np.random.Generator, phases: FloatArray) -> ArmHabit:
    own = float(np.exp(SWING_SD * rng.normal()))
    return ArmHabit(own * (1 + SWING_WANDERS * wandering(rng, phases)),
                    ELBOW_SD_DEG * rng.normal() + ELBOW_WANDERS_DEG * wandering(rng, phases),
                    OUT_SD_DEG * float(rng.normal()), PALM_SD_DEG * float(rng.normal()),
                    CURL_SD_DEG * float(rng.normal()))


def wandering(rng: np.random.Generator, phases: FloatArray) -> FloatArray:
    """Return slow, smooth noise (F,) of variance 1 along the gait."""
    rates = rng.uniform(SLOWEST, FASTEST, WAVES)
    begins = rng.uniform(0.0, 2 * np.pi, WAVES)
    waves = np.sin(2 * np.pi * phases[:, None] * rates + begins)
    return np.asarray(waves.sum(axis=1) * np.sqrt(2 / WAVES))


def lean_into_curve(place: FloatArray, heading: FloatArray, fps: float) -> FloatArray:
    """Return how far (F,) a walker leans to the left, degrees, who goes along places (F, 2) in m.

    ``heading`` (F,) is in radians, to the left from -Y. The angle's tangent is the speed ahead
    times the rate of turning, over gravity: who turns on the spot stays upright.
    """
    if len(heading) < 2:
        return np.zeros(len(heading))
    ahead = np.stack([np.sin(heading), -np.cos(heading)], axis=1)
    speed = (np.gradient(place, axis=0) * ahead).sum(axis=1) * fps
    lean = np.rad2deg(np.arctan(speed * np.gradient(heading) * fps / GRAVITY_M_S2))
    return np.asarray(np.clip(lean, -MOST_LEAN_DEG, MOST_LEAN_DEG))
