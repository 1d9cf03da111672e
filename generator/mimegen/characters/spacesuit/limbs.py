"""A spacesuit's arms and legs: padded tubes with sewn pleats at the joints, and their rings."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from mimegen.base.easing import ramp
from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.shapes import (
    SuitPart,
    ball,
    creases,
    frame,
    loft,
    part,
    puffs,
    ring,
    tube,
)
from mimegen.motion.quaternions import FloatArray

AROUND = 28
STEP_M = 0.008
# The lightness of the seams between pleats; crests have 1.
SEAM_SHADE = 0.72


@dataclass(frozen=True, eq=False)
class SuitLimb:
    """An arm or a leg of the suit; lengths in metres.

    It has three joints, interpolators of its centre and radius along it, the position of its bend,
    and its length.
    """

    joints: tuple[FloatArray, FloatArray, FloatArray]
    middle: "scipy.interpolate.PchipInterpolator"
    radius: "scipy.interpolate.PchipInterpolator"
    bend: float
    length: float

    def at(self, share: float) -> tuple[FloatArray, float]:
        """Return the centre (3,) and the radius at a fraction of the upper bone."""
        place = share * self.bend
        return self.middle(place), float(self.radius(place))


def limb(fitting: Fitting, names: tuple[str, str, str], shares: tuple[list[float], list[float]],
         padding: list[float], top: float, end: float) -> SuitLimb:
    """Measure a limb at fractions of its two bones and add ``padding``, in multiples of the bulk.

    ``top`` and ``end`` are the radii at its ends, in metres.
    """
    joints = tuple(map(fitting.joint, names))
    first, middle, last = joints
    bend, lower = float(np.linalg.norm(middle - first)), float(np.linalg.norm(last - middle))
    sections = [fitting.limb_sections(names[:2], *ends, np.array(where)) for ends, where in
                zip(((first, middle), (middle, last)), shares, strict=True)]
    offsets, radii = (np.concatenate(both) for both in zip(*sections, strict=True))
    radii = radii + fitting.suit.bulk * fitting.scale * np.array(padding)
    places = np.concatenate([bend * np.array(shares[0]), bend + lower * np.array(shares[1])])
    places = np.concatenate([[0, 0.1 * bend], places, [bend + lower]])
    offsets = np.concatenate([np.zeros((2, 3)), offsets, np.zeros((1, 3))])
    straight = np.stack([np.interp(places, [0, bend, bend + lower], values)
                         for values in np.stack(joints, axis=1)], axis=1)
    smooth = scipy.interpolate.PchipInterpolator
    return SuitLimb((first, middle, last), smooth(places, straight + offsets),
                    smooth(places, np.concatenate([[top, top], radii, [end]])), bend, bend + lower)


def arm(fitting: Fitting) -> list[SuitPart]:
    """Return the left arm from the shoulder to the wrist."""
    suit, scale = fitting.suit, fitting.scale
    cuff, top = 0.047 * scale, (0.059 + 1.25 * suit.bulk) * scale
    whole = limb(fitting, ("LeftArm", "LeftForeArm", "LeftHand"),
                 ([0.45, 0.75], [0.0, 0.35, 0.65]), [1.15, 1.05, 0.95, 0.95, 0.9], top, cuff)
    shoulder, _, wrist = whole.joints
    bend, lower = whole.bend, whole.length - whole.bend
    stripe = (0.62 * bend, 0.62 * bend + 0.035 * scale)
    places = stations(0.0, whole.length, STEP_M * scale, stripe)
    pleats = [(0.02, 0.5 * bend, 0.034, 0.0075), (bend - 0.075, bend + 0.08, 0.026, 0.0075),
              (bend + 0.8 * lower, whole.length, 0.024, 0.004)]
    tubes, shade = sleeve(fitting, whole, places, pleats, 1)
    weights = fitting.between("LeftArm", "LeftForeArm",
                              ramp(places, bend - 0.07 * scale, bend + 0.07 * scale))
    cloth = cloth_part(fitting, tubes, shade, places, stripe, weights)
    wrist_ring = ring(wrist - np.array([0.012 * scale, 0, 0]), wrist - shoulder, cuff,
                      0.014 * scale, 0.026 * scale)
    return [
        cloth, *fillings(fitting, whole, "LeftArm", "LeftForeArm"),
        bearing(fitting, whole, 0.55, "LeftArm"),
        part(wrist_ring, fitting.rigid(LeftForeArm=1.0), suit.metal_color, "metal"),
    ]


def leg(fitting: Fitting) -> list[SuitPart]:
    """Return the left leg from the hip down into the boot."""
    scale = fitting.scale
    top = fitting.joint("LeftUpLeg")[0] - 0.006 * scale
    whole = limb(fitting, ("LeftUpLeg", "LeftLeg", "LeftFoot"),
                 ([0.35, 0.7], [0.0, 0.3, 0.7]), [0.9, 1.0, 1.0, 1.05, 0.95], top,
                 0.066 * scale)
    bend, lower = whole.bend, whole.length - whole.bend
    stripe = (0.6 * bend, 0.6 * bend + 0.04 * scale)
    places = stations(0.0, bend + 0.86 * lower, STEP_M * 1.15 * scale, stripe)
    pleats = [(0.03, 0.24 * bend, 0.045, 0.008), (bend - 0.1, bend + 0.1, 0.034, 0.009),
              (bend + 0.55 * lower, bend + 0.86 * lower, 0.034, 0.005)]
    tubes, shade = sleeve(fitting, whole, places, pleats, 2)
    weights = fitting.between("LeftUpLeg", "LeftLeg",
                              ramp(places, bend - 0.09 * scale, bend + 0.09 * scale))
    cloth = cloth_part(fitting, tubes, shade, places, stripe, weights)
    return [cloth, *fillings(fitting, whole, "LeftUpLeg", "LeftLeg"),
            bearing(fitting, whole, 0.34, "LeftUpLeg")]


def fillings(fitting: Fitting, whole: SuitLimb, upper: str, lower: str) -> list[SuitPart]:
    """Return balls at both joints, which keep the limb full however it bends."""
    first, middle, _ = whole.joints
    axis = middle - first
    cap = ball(first, whole.at(0.0)[1] * 0.99, axis, around=AROUND)
    centre, radius = whole.at(1.0)
    return [
        part(cap, fitting.rigid(**{upper: 1.0}), fitting.suit.color, "suit"),
        part(ball(centre, radius * 0.94, axis), fitting.rigid(**{upper: 0.5, lower: 0.5}),
             fitting.suit.color, "suit"),
    ]


def bearing(fitting: Fitting, whole: SuitLimb, share: float, bone: str) -> SuitPart:
    """Return the metal ring around a limb at a fraction of its upper bone."""
    first, middle, _ = whole.joints
    centre, radius = whole.at(share)
    shape = ring(centre, middle - first, radius + 0.001, 0.011 * fitting.scale,
                 0.022 * fitting.scale, 36)
    return part(shape, fitting.rigid(**{bone: 1.0}), fitting.suit.metal_color, "metal")


def stations(start: float, end: float, step: float, stripe: tuple[float, float]) -> FloatArray:
    """Return positions along a limb, every ``step`` metres, doubled at the stripe's sharp edges."""
    even = np.linspace(start, end, round((end - start) / step) + 1)
    hair = 0.0004
    edges = np.array([place + sign * hair for place in stripe for sign in (-1, 1)])
    away = np.abs(even[:, None] - np.array(stripe)).min(axis=1) > 2 * hair
    return np.sort(np.concatenate([even[away], edges]))


def sleeve(
    fitting: Fitting, whole: SuitLimb, places: FloatArray,
    pleats: list[tuple[float, float, float, float]], seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the rings (S, A, 3) of a limb's tube and the lightness of its folds (S, A), 0.5 to 1.

    ``pleats`` are rows of start, end, period and height, in metres.
    """
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
    grown = whole.radius(places)[:, None] + depth * (swell[:, None] + folds)
    light = shade[:, None] * (1 + 14 * np.minimum(folds, 0))
    first, _, last = whole.joints
    return tube(whole.middle(places), grown, frame(last - first)), np.clip(light, 0.5, 1)


def cloth_shade(puff: FloatArray) -> FloatArray:
    """Return the lightness of pleats; ``puff`` is 0 at the seam and 1 at the crest."""
    return np.asarray(1 - (1 - SEAM_SHADE) * (1 - puff) ** 2)


def cloth_part(
    fitting: Fitting, rings: FloatArray, shade: FloatArray, places: FloatArray,
    stripe: tuple[float, float], weights: ArrayLike,
) -> SuitPart:
    """Return a limb's tube in the suit's color with its stripe, darker in the folds."""
    suit = fitting.suit
    inside = (places > stripe[0]) & (places < stripe[1])
    base = np.where(inside[:, None], np.array(suit.stripe_color), np.array(suit.color))
    colors = with_lids(base[:, None] * shade[:, :, None])
    spread = np.repeat(np.asarray(weights)[:, None], AROUND, axis=1)
    return part(loft(rings), with_lids(spread), colors, "suit")


def with_lids(values: FloatArray) -> FloatArray:
    """Return values (S, A, C) per ring as values (V, C) of the loft's vertices, with its lids."""
    flat = values.reshape(-1, values.shape[-1])
    return np.concatenate([flat, values[[0, -1], 0]])
