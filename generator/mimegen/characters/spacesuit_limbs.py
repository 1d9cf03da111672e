"""A spacesuit's arms and legs: padded tubes with sewn pleats at the joints, and their rings."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from mimegen.characters.spacesuit_fitting import Fitting
from mimegen.characters.spacesuit_shapes import (
    Part,
    ball,
    creases,
    frame,
    loft,
    part,
    puffs,
    ramp,
    ring,
    tube,
)
from mimegen.motion.quaternions import FloatArray

AROUND = 28
STEP_M = 0.008
SEAM_SHADE = 0.72


def arm(fitting: Fitting) -> list[Part]:
    """Return the left arm from the shoulder to the wrist."""
    suit, scale = fitting.suit, fitting.scale
    shoulder, elbow, wrist = map(fitting.joint, ("LeftArm", "LeftForeArm", "LeftHand"))
    upper, lower = np.linalg.norm(elbow - shoulder), np.linalg.norm(wrist - elbow)
    names = ("LeftArm", "LeftForeArm")
    measured = np.concatenate([
        fitting.limb_radii(names, shoulder, elbow, np.array([0.45, 0.75])),
        fitting.limb_radii(names, elbow, wrist, np.array([0.0, 0.35, 0.65])),
    ])
    bulk = suit.bulk * scale
    pad = bulk * np.array([1.2, 1.05, 0.85, 0.85, 0.85])
    radii = measured + pad
    top, cuff = radii[0] * 1.16, 0.047 * scale
    profile = PchipInterpolator(
        np.concatenate([[-top, 0.1 * upper], upper * np.array([0.45, 0.75]),
                        upper + lower * np.array([0.0, 0.35, 0.65, 1.0])]),
        np.concatenate([[top, top], radii, [cuff]]),
    )
    stripe = (0.62 * upper, 0.62 * upper + 0.035 * scale)
    places = stations(0.0, upper + lower, STEP_M * scale, stripe)
    pleats = [(0.02, 0.5 * upper, 0.034, 0.0075), (upper - 0.075, upper + 0.08, 0.026, 0.0075),
              (upper + 0.8 * lower, upper + lower, 0.024, 0.004)]
    tubes, shade = sleeve(fitting, (shoulder, elbow, wrist), places, profile(places), pleats, 1)
    weights = fitting.between("LeftArm", "LeftForeArm",
                              ramp(places, upper - 0.07 * scale, upper + 0.07 * scale))
    cloth = cloth_part(fitting, tubes, shade, places, stripe, weights)
    axis = elbow - shoulder
    cap = part(ball(shoulder, top * 0.99, axis, around=AROUND), fitting.rigid(LeftArm=1.0),
               suit.color, "suit")
    pad_radius = float(profile(upper)) * 0.93
    elbow_pad = part(ball(elbow, pad_radius, axis), fitting.rigid(LeftArm=0.5, LeftForeArm=0.5),
                     suit.color, "suit")
    bearing = shoulder + 0.55 * axis
    rings = [
        part(ring(bearing, axis, float(profile(0.55 * upper)) + 0.001, 0.011 * scale,
                  0.022 * scale), fitting.rigid(LeftArm=1.0), suit.metal_color, "metal"),
        part(ring(wrist - np.array([0.012 * scale, 0, 0]), wrist - elbow, cuff, 0.014 * scale,
                  0.026 * scale), fitting.rigid(LeftForeArm=1.0), suit.metal_color, "metal"),
    ]
    return [cloth, cap, elbow_pad, *rings]


def leg(fitting: Fitting) -> list[Part]:
    """Return the left leg from the hip to inside the boot."""
    suit, scale = fitting.suit, fitting.scale
    hip, knee, ankle = map(fitting.joint, ("LeftUpLeg", "LeftLeg", "LeftFoot"))
    upper, lower = np.linalg.norm(knee - hip), np.linalg.norm(ankle - knee)
    names = ("LeftUpLeg", "LeftLeg")
    measured = np.concatenate([
        fitting.limb_radii(names, hip, knee, np.array([0.35, 0.7])),
        fitting.limb_radii(names, knee, ankle, np.array([0.0, 0.3, 0.7])),
    ])
    bulk = suit.bulk * scale
    radii = measured + bulk * np.array([0.9, 1.0, 0.95, 0.8, 0.75])
    top = min(radii[0], hip[0] - 0.004 * scale)
    radii[0] = min(radii[0], top)
    profile = PchipInterpolator(
        np.concatenate([[-top, 0.1 * upper], upper * np.array([0.35, 0.7]),
                        upper + lower * np.array([0.0, 0.3, 0.7, 1.0])]),
        np.concatenate([[top, top], radii, [0.066 * scale]]),
    )
    stripe = (0.6 * upper, 0.6 * upper + 0.04 * scale)
    places = stations(0.0, upper + 0.86 * lower, STEP_M * 1.15 * scale, stripe)
    pleats = [(0.03, 0.24 * upper, 0.045, 0.008), (upper - 0.1, upper + 0.1, 0.034, 0.009),
              (upper + 0.55 * lower, upper + 0.86 * lower, 0.034, 0.005)]
    tubes, shade = sleeve(fitting, (hip, knee, ankle), places, profile(places), pleats, 2)
    weights = fitting.between("LeftUpLeg", "LeftLeg",
                              ramp(places, upper - 0.09 * scale, upper + 0.09 * scale))
    cloth = cloth_part(fitting, tubes, shade, places, stripe, weights)
    axis = knee - hip
    cap = part(ball(hip, top * 0.99, axis, around=AROUND), fitting.rigid(LeftUpLeg=1.0),
               suit.color, "suit")
    knee_pad = part(ball(knee, float(profile(upper)) * 0.95, axis),
                    fitting.rigid(LeftUpLeg=0.5, LeftLeg=0.5), suit.color, "suit")
    sizing = part(
        ring(hip + 0.34 * axis, axis, float(profile(0.34 * upper)) + 0.001, 0.011 * scale,
             0.022 * scale, 40), fitting.rigid(LeftUpLeg=1.0), suit.metal_color, "metal")
    return [cloth, cap, knee_pad, sizing]


def stations(start: float, end: float, step: float, stripe: tuple[float, float]) -> FloatArray:
    """Return places along a limb, every ``step`` and doubled at the stripe's sharp edges."""
    even = np.linspace(start, end, round((end - start) / step) + 1)
    hair = 0.0004
    edges = np.array([place + sign * hair for place in stripe for sign in (-1, 1)])
    away = np.abs(even[:, None] - np.array(stripe)).min(axis=1) > 2 * hair
    return np.sort(np.concatenate([even[away], edges]))


def sleeve(
    fitting: Fitting, joints: tuple[FloatArray, FloatArray, FloatArray], places: FloatArray,
    radii: FloatArray, pleats: list[tuple[float, float, float, float]], seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the rings (S, A, 3) of a limb's tube and how light its folds are (S, A).

    ``pleats`` are rows of start, end, period and height in metres.
    """
    first, middle, last = joints
    bend = float(np.linalg.norm(middle - first))
    reach = bend + float(np.linalg.norm(last - middle))
    path = np.stack([np.interp(places, [0, bend, reach], values)
                     for values in np.stack(joints, axis=1)], axis=1)
    angles = np.arange(AROUND) * 2 * np.pi / AROUND
    folds = 0.0032 * fitting.scale * creases(places / fitting.scale, angles, seed)
    swell, shade = np.zeros_like(places), np.ones_like(places)
    for start, end, period, height in pleats:
        inside = ramp(places, start, start + 0.015) * ramp(places, end, end - 0.015)
        puff = puffs(places - start, period)
        swell += inside * height * (puff - 0.6)
        shade *= 1 - inside * (1 - cloth_shade(puff))
        folds = folds * (1 - 0.75 * inside[:, None])
    depth = fitting.suit.creases
    grown = radii[:, None] + depth * (swell[:, None] + folds)
    light = shade[:, None] * (1 + 14 * np.minimum(folds, 0))
    return tube(path, grown, frame(last - first)), np.clip(light, 0.5, 1)


def cloth_shade(puff: FloatArray) -> FloatArray:
    """Return how light pleats are from seam, 0, to crest, 1."""
    return np.asarray(1 - (1 - SEAM_SHADE) * (1 - puff) ** 2)


def cloth_part(
    fitting: Fitting, rings: FloatArray, shade: FloatArray, places: FloatArray,
    stripe: tuple[float, float], weights: ArrayLike,
) -> Part:
    """Return a limb's tube in the suit's color with its stripe, darker in the folds."""
    suit = fitting.suit
    inside = (places > stripe[0]) & (places < stripe[1])
    base = np.where(inside[:, None], np.array(suit.stripe_color), np.array(suit.color))
    colors = with_lids(base[:, None] * shade[:, :, None])
    spread = np.repeat(np.asarray(weights)[:, None], AROUND, axis=1)
    return part(loft(rings), with_lids(spread), colors, "suit")


def with_lids(values: FloatArray) -> FloatArray:
    """Return values (S, A, C) of rings as those (V, C) of their loft's vertices."""
    flat = values.reshape(-1, values.shape[-1])
    return np.concatenate([flat, values[[0, -1], 0]])
