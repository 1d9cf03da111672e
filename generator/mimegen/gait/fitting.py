"""Fit the pelvis' path so that legs with fixed feet come closest to published joint angles."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mimegen.base.arrays import FloatArray

# Standard deviations that weight the errors: of hip, knee and ankle angles (degrees), of the
# pelvis' range of height (m), of the fractions of the published pitch at landing and lift-off, and
# of the distance by which a leg is too short (m).
ANGLES_SD = np.array([6.5, 6.0, 3.6])
RISE_SD = 0.006
PITCH_SD = 0.08
REACH_SD = 0.0004
# Of the pelvis' waves ahead (m) at twice, four and six times the cycle's frequency. They are small,
# because people's trunks do not shake.
AHEAD_SD = np.tile([0.008, 0.006, 0.003], 2)
# The Levenberg-Marquardt method: number of rounds, step of the finite differences, damping.
ROUNDS = 7
STEP = 1e-4
DAMPING = 1e-3
WAVES = 3
# Function from pitches (F,) in degrees to the ankle's positions (F, 2) over the foothold, forward
# and up.
AnkleAt = Callable[[FloatArray], FloatArray]


class StanceLegs(NamedTuple):
    """The data of a fit: the left leg in its stance, at phases (F,) of the cycle.

    ``thigh`` and ``shin`` (F,) are published inclinations, ``ankle`` (F,) the published angle, in
    degrees; ``landing`` and ``leaving`` (F,) the foot's pitch in the two halves of the stance.
    ``aside`` (F, 2) is how far the hip is ahead of and above the pelvis' middle, ``apart`` (F,) how
    far the foot is to the side of the hip, in metres. ``rise`` (F,) is the part of the pelvis'
    height that is not fitted, ``travel`` (F,) its steady travel. ``waves`` (F, 6) are the cosines
    and sines that are fitted, ``most_rise`` the desired range of their sum in height. ``bones`` are
    the lengths of thigh and shin, ``reach`` the longest distance from hip to ankle.
    """

    phases: FloatArray
    thigh: FloatArray
    shin: FloatArray
    ankle: FloatArray
    landing: FloatArray
    leaving: FloatArray
    aside: FloatArray
    apart: FloatArray
    rise: FloatArray
    travel: FloatArray
    waves: FloatArray
    most_rise: float
    bones: tuple[float, float]
    reach: float


class Fit(NamedTuple):
    """The fitted values.

    ``height`` and ``up`` (6,) are the pelvis' mean height and its waves, ``over`` and ``ahead``
    (6,) its position ahead at phase 0 and its waves, in metres. ``landing`` and ``leaving`` are the
    fractions of the published pitch with which the foot lands and lifts off.
    """

    height: float
    up: FloatArray
    over: float
    ahead: FloatArray
    landing: float
    leaving: float


def fitted(known: StanceLegs, ankle_at: AnkleAt, start: Fit, free_rise: bool) -> Fit:
    """Return the fit by damped least squares from ``start``.

    The waves of the height are fitted only if ``free_rise``.
    """
    values = np.r_[start.height, start.up, start.over, start.ahead, start.landing, start.leaving]
    free = np.ones(len(values), bool)
    free[1:1 + 2 * WAVES] = free_rise
    for _ in range(ROUNDS):
        errors = _errors(values, known, ankle_at, free_rise)
        slopes = np.stack([(_errors(values + STEP * one, known, ankle_at, free_rise) - errors)
                           / STEP for one in np.eye(len(values))[free]], axis=1)
        normal = slopes.T @ slopes
        normal[np.diag_indices_from(normal)] *= 1.0 + DAMPING
        values[free] -= np.linalg.solve(normal, slopes.T @ errors)
    return _fit(values)


def _fit(values: FloatArray) -> Fit:
    half = 2 * WAVES
    return Fit(float(values[0]), values[1:1 + half], float(values[1 + half]),
               values[2 + half:2 + 2 * half], float(values[-2]), float(values[-1]))


def _errors(values: FloatArray, known: StanceLegs, ankle_at: AnkleAt,
            free_rise: bool) -> FloatArray:
    """Return the errors (N,) of a fit, in standard deviations."""
    fit = _fit(values)
    pitch = fit.landing * known.landing + fit.leaving * known.leaving
    up = fit.height + known.rise + known.waves @ fit.up
    ahead = fit.over + known.travel + known.waves @ fit.ahead
    hip = np.stack([ahead, up], axis=-1) + known.aside
    line = ankle_at(pitch) - hip
    thigh, shin, over = inclinations(line, known.apart, known.bones, known.reach)
    angles = np.stack([thigh - known.thigh, (thigh - shin) - (known.thigh - known.shin),
                       pitch - shin - known.ankle], axis=-1) / ANGLES_SD
    scale = np.sqrt(len(known.phases) / 40.0)
    whole = np.ptp(known.waves @ fit.up) - known.most_rise if free_rise else 0.0
    # If the height is given by a runner's flight, the pelvis moves more evenly ahead.
    ahead_sd = AHEAD_SD if free_rise else 0.5 * AHEAD_SD
    return np.concatenate([
        angles.ravel() / scale, over / REACH_SD / scale,
        np.r_[whole / RISE_SD, fit.ahead / ahead_sd, (fit.landing - 1.0) / PITCH_SD,
              (fit.leaving - 1.0) / PITCH_SD]])


def inclinations(line: FloatArray, apart: FloatArray, bones: tuple[float, float],
                 reach: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the inclinations (F,) of thigh and shin, in degrees, and the excess of the line (F,).

    ``line`` (F, 2) leads from hip to ankle, forward and up; the ankle is ``apart`` (F,) to the side
    of the hip. The excess is by how much the distance exceeds ``reach``; all lengths in metres.
    """
    upper, lower = bones
    flat = np.hypot(line[:, 0], line[:, 1])
    distance = np.hypot(flat, apart)
    over = np.maximum(distance - reach, 0.0)
    reached = np.minimum(distance, reach)
    along = (upper**2 - lower**2 + reached**2) / (2 * reached)
    aside = np.sqrt(np.maximum(upper**2 - along**2, 0.0))
    middle = np.rad2deg(np.arctan2(line[:, 0], -line[:, 1]))
    return (middle + np.rad2deg(np.arctan2(aside, along)),
            middle - np.rad2deg(np.arctan2(aside, reached - along)), over)


def leg_line(thigh: FloatArray, shin: FloatArray, apart: FloatArray,
             bones: tuple[float, float]) -> FloatArray:
    """Return the line (F, 2) from hip to ankle, forward and up, for inclinations (F,) in degrees.

    The ankle is ``apart`` (F,) to the side of the hip, in metres.
    """
    line = sum(length * np.stack([np.sin(angle), -np.cos(angle)], axis=-1)
               for length, angle in zip(bones, (np.deg2rad(thigh), np.deg2rad(shin)), strict=True))
    whole = np.hypot(line[:, 0], line[:, 1])
    return np.asarray(line * np.sqrt(np.maximum(1.0 - (apart / whole) ** 2, 0.0))[:, None])
