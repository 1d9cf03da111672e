"""A walker's habits: unequal arm swing, the head's posture, and slow changes from cycle to cycle.

Left and right arms of healthy people swing unequally (Kuhtz-Buschbeck et al., "Asymmetry of arm
swing in healthy individuals", Gait & Posture 27, 2008). The sizes of habits were chosen to make
these walks as hard as possible for viewers to tell from captured ones. A walker on a curve leans
into it as far as the centripetal force requires.
"""

from dataclasses import dataclass, replace

import numpy as np

from mimegen.base.arrays import FloatArray
from mimegen.base.easing import minimum_jerk
from mimegen.gait.walker import Pace

GRAVITY_M_S2 = 9.81
# Standard deviations between walkers: of an arm's swing (of its logarithm), of elbow, arm outward,
# head, trunk forward and aside, palm and finger joints, in degrees. The arms are drawn separately.
SWING_SD = 0.38
ELBOW_SD_DEG = 11.0
OUT_SD_DEG = 2.5
HEAD_SD_DEG = 7.0
LEAN_SD_DEG = 2.6
ROLL_SD_DEG = 1.2
PALM_SD_DEG = 12.0
CURL_SD_DEG = 5.0
# People look slightly down at their way.
HEAD_MEAN_DEG = 7.0
# Standard deviations of slow changes: of the swing as a fraction; of head, elbow, trunk in degrees.
SWING_DRIFT = 0.14
HEAD_DRIFT_DEG = 3.0
ELBOW_DRIFT_DEG = 4.0
ROLL_DRIFT_DEG = 0.6
# Slow changes are sums of WAVES waves, with SLOWEST to FASTEST periods per cycle of the gait.
WAVES = 3
SLOWEST, FASTEST = 0.18, 0.6
# Standard deviations of a gait between walkers: width of steps (never below NARROWEST_M unless the
# mean is), toes outward, lowering of the body by bent knees, logarithm of the turns of pelvis and
# chest, and the middle of the arms' swing.
WIDTH_SD_M, NARROWEST_M = 0.02, 0.03
TOES_SD_DEG = 3.0
CROUCH_SD_M = 0.008
TURN_SD = 0.25
ARMS_SD_DEG = 4.0
# Steps are earlier or later than at an even tempo: standard deviation in cycles.
TEMPO_SD = 0.025
# Largest lean into a curve.
MAX_LEAN_DEG = 12.0


@dataclass(frozen=True, eq=False)
class ArmHabit:
    """The habits of one arm.

    ``swing`` (F,) is a factor on its swing. In degrees: ``elbow`` (F,) is added to the elbow's
    bend, ``out`` to the arm's angle outward; ``palm`` is the hand's turn, ``curl`` what the joints
    of the fingers are closed further.
    """

    swing: FloatArray
    elbow: FloatArray
    out: float
    palm: float = 0.0
    curl: float = 0.0


@dataclass(frozen=True, eq=False)
class Habits:
    """The habits of one walker, in degrees.

    ``arms`` are the habits of the left and the right arm. ``head_down`` and ``head_left`` (F,) turn
    the head; ``lean`` leans the trunk forward and ``roll`` (F,) aside.
    """

    arms: tuple[ArmHabit, ArmHabit]
    head_down: FloatArray
    head_left: FloatArray
    lean: float
    roll: FloatArray


def habits_of(rng: np.random.Generator, phases: FloatArray) -> Habits:
    """Return habits drawn at random, at phases (F,) of the gait."""
    return Habits((_arm(rng, phases), _arm(rng, phases)),
                  HEAD_MEAN_DEG + HEAD_SD_DEG * rng.normal()
                  + HEAD_DRIFT_DEG * smooth_noise(rng, phases),
                  HEAD_DRIFT_DEG * smooth_noise(rng, phases), LEAN_SD_DEG * float(rng.normal()),
                  ROLL_SD_DEG * rng.normal() + ROLL_DRIFT_DEG * smooth_noise(rng, phases))


def varied_pace(pace: Pace, rng: np.random.Generator) -> Pace:
    """Return the gait of a random walker, whose numbers vary about those of ``pace``."""
    width, toes, crouch, pelvis, thorax, arms = rng.normal(size=6)
    return replace(
        pace, width=max(pace.width + WIDTH_SD_M * width, min(NARROWEST_M, pace.width)),
        toe_out=pace.toe_out + TOES_SD_DEG * toes, crouch=pace.crouch + CROUCH_SD_M * abs(crouch),
        pelvis_turn=pace.pelvis_turn * float(np.exp(TURN_SD * pelvis)),
        thorax_turn=pace.thorax_turn * float(np.exp(TURN_SD * thorax)),
        arm_middle=pace.arm_middle + ARMS_SD_DEG * arms)


def varied_tempo(rng: np.random.Generator, gone: FloatArray, cycles: float) -> FloatArray:
    """Return the cycles (F,) covered at a varying tempo instead of ``gone`` (F,) at an even one.

    They are the same at the beginning and the end of ``cycles``.
    """
    inside = minimum_jerk(np.clip(gone, 0.0, 1.0)) * minimum_jerk(np.clip(cycles - gone, 0.0, 1.0))
    return gone + TEMPO_SD * inside * smooth_noise(rng, gone)


def no_habits(phases: FloatArray) -> Habits:
    """Return the habits of the mean walker, which do not change over time, as loops need."""
    none = np.zeros(len(phases))
    arm = ArmHabit(none + 1.0, none, 0.0)
    return Habits((arm, arm), none, none, 0.0, none)


def _arm(rng: np.random.Generator, phases: FloatArray) -> ArmHabit:
    own = float(np.exp(SWING_SD * rng.normal()))
    return ArmHabit(own * (1 + SWING_DRIFT * smooth_noise(rng, phases)),
                    ELBOW_SD_DEG * rng.normal() + ELBOW_DRIFT_DEG * smooth_noise(rng, phases),
                    OUT_SD_DEG * float(rng.normal()), PALM_SD_DEG * float(rng.normal()),
                    CURL_SD_DEG * float(rng.normal()))


def smooth_noise(rng: np.random.Generator, phases: FloatArray) -> FloatArray:
    """Return slow, smooth noise (F,) of variance 1 at phases (F,) of the gait."""
    rates = rng.uniform(SLOWEST, FASTEST, WAVES)
    begins = rng.uniform(0.0, 2 * np.pi, WAVES)
    waves = np.sin(2 * np.pi * phases[:, None] * rates + begins)
    return np.asarray(waves.sum(axis=1) * np.sqrt(2 / WAVES))


def lean_into_curve(position: FloatArray, heading: FloatArray, fps: float) -> FloatArray:
    """Return the lean to the left (F,), in degrees, of a walker at positions (F, 2) in metres.

    ``heading`` (F,) is in radians to the left of -Y. The tangent of the angle is the speed ahead
    times the rate of turning, divided by gravity; a walker who turns on the spot stays upright.
    """
    if len(heading) < 2:
        return np.zeros(len(heading))
    ahead = np.stack([np.sin(heading), -np.cos(heading)], axis=1)
    speed = (np.gradient(position, axis=0) * ahead).sum(axis=1) * fps
    lean = np.rad2deg(np.arctan(speed * np.gradient(heading) * fps / GRAVITY_M_S2))
    return np.asarray(np.clip(lean, -MAX_LEAN_DEG, MAX_LEAN_DEG))
