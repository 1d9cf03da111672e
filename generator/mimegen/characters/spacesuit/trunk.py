"""A spacesuit's trunk: a hard upper part, a soft waist and seat, and their rings."""

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.easing import ramp
from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.limbs import cloth_shade, with_lids
from mimegen.characters.spacesuit.shapes import (
    SuitPart,
    bead,
    circle,
    creases,
    loft,
    part,
    puffs,
    ring,
)
from mimegen.motion.quaternions import FloatArray

AROUND = 56
STEPS = 70


def trunk(fitting: Fitting) -> list[SuitPart]:
    """Return the trunk from the crotch to the neck ring."""
    suit, scale = fitting.suit, fitting.scale
    outline = outlines(fitting)
    low, high = float(outline.x[0]), float(outline.x[-1])
    heights = np.linspace(low, high, STEPS)
    waist = fitting.joint("Spine")[2]
    angles = np.arange(AROUND) * 2 * np.pi / AROUND
    soft = ramp(heights, waist + 0.03 * scale, waist - 0.01 * scale)
    folds = 0.004 * creases(heights / scale, angles, 3) * (0.35 + 0.65 * soft)[:, None]
    pleated = soft * ramp(heights, waist - 0.16 * scale, waist - 0.13 * scale)
    puff = puffs(heights - waist, 0.036 * scale)
    swell = folds + (0.007 * pleated * (puff - 0.6))[:, None]
    rings = sections(outline, heights, swell * suit.creases * scale)
    shade = (1 - pleated * (1 - cloth_shade(puff)))[:, None]
    shade = np.clip(shade * (1 + 14 * np.minimum(folds, 0)), 0.5, 1)
    colors = with_lids(shade[:, :, None] * np.array(suit.color))
    shape = loft(rings)
    cloth = part(shape, fitting.trunk_weights(shape.vertices), colors, "suit")
    return [cloth, *trunk_rings(fitting, outline)]


def trunk_rings(fitting: Fitting, outline: "scipy.interpolate.PchipInterpolator") -> list[SuitPart]:
    """Return waist ring and neck ring."""
    suit, scale = fitting.suit, fitting.scale
    waist = fitting.joint("Spine")[2] + 0.012 * scale
    path = sections(outline, np.array([waist]), np.full((1, AROUND), 0.002 * scale))[0]
    outward = path - path.mean(axis=0)
    outward = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    shape = bead(path, outward, 0.012 * scale, 0.03 * scale)
    parts = [part(shape, fitting.rigid(Spine=1.0), suit.metal_color, "metal")]
    parts.append(part(ring(neck_centre(fitting), (0, -0.12, 1), 0.118 * scale, 0.026 * scale,
                           0.034 * scale, 48),
                      fitting.rigid(Spine2=1.0), suit.metal_color, "metal"))
    return parts


def neck_centre(fitting: Fitting) -> FloatArray:
    """Return the centre (3,) of the neck ring."""
    neck = fitting.joint("Neck")
    return np.array([0.0, neck[1] - 0.028 * fitting.scale, neck[2] + 0.002 * fitting.scale])


def outlines(fitting: Fitting) -> "scipy.interpolate.PchipInterpolator":
    """Return an interpolator over height for the trunk's half-width, front, back and squareness.

    All but the squareness, which is a superellipse's exponent, are in metres.
    """
    scale, bulk = fitting.scale, fitting.suit.bulk * fitting.scale
    points = fitting.points_of("Hips", "Spine", "Spine1", "Spine2", "LeftShoulder",
                               "RightShoulder", "LeftUpLeg", "RightUpLeg")
    hip, hips, spine, chest, arm = (
        fitting.joint(name)[2]
        for name in ("LeftUpLeg", "Hips", "Spine", "Spine1", "LeftArm"))
    armpit = arm - 0.1 * scale
    levels = np.array([hip, hips, spine, chest, armpit])
    measured = np.array([extent(points, level, 0.03 * scale) for level in levels])
    measured[:, 0] += bulk * np.array([0.4, 0.9, 1.9, 1.6, 0.2])
    measured[-1, 0] = fitting.joint("LeftArm")[0] - 0.012 * scale
    measured[:, 1] -= bulk * np.array([1.0, 0.9, 0.9, 0.9, 0.7])
    measured[:, 2] += bulk * np.array([0.8, 0.9, 1.4, 1.2, 0.9])
    square = np.array([2.2, 2.2, 2.3, 2.6, 2.8])
    seat = measured[0]
    below = [seat * [0.55, 0.5, 0.35], seat * [0.93, 0.85, 0.8]]
    middle = neck_centre(fitting)
    collar = 0.118 * scale
    above = [
        [measured[-1, 0] + 0.002, measured[-1, 1], measured[-1, 2]],
        [0.155 * scale, middle[1] - 1.04 * collar, middle[1] + 1.02 * collar],
        [collar, middle[1] - collar, middle[1] + collar],
        [collar * 0.97, middle[1] - 0.97 * collar, middle[1] + 0.97 * collar],
    ]
    heights = np.concatenate([[hip - 0.125 * scale, hip - 0.085 * scale], levels, [
        arm - 0.015 * scale, arm + 0.075 * scale, middle[2] - 0.008 * scale,
        middle[2] + 0.012 * scale]])
    squares = np.concatenate([[2, 2], square, [2.8, 2.3, 2.0, 2.0]])
    rows = np.column_stack([np.concatenate([below, measured, above]), squares])
    return scipy.interpolate.PchipInterpolator(heights, rows)


def extent(points: FloatArray, height: float, reach: float) -> NDArray[np.float64]:
    """Return half-width, front and back (3,) of points within ``reach`` of a height, in metres."""
    near = points[np.abs(points[:, 2] - height) < reach]
    return np.array([np.abs(near[:, 0]).max(), near[:, 1].min(), near[:, 1].max()])


def sections(outline: "scipy.interpolate.PchipInterpolator", heights: FloatArray,
             swell: FloatArray) -> FloatArray:
    """Return superelliptic rings (S, A, 3) at heights (S,), grown by ``swell`` (S, A)."""
    width, front, back, square = outline(heights).T[:, :, None]
    cosines, sines = circle(swell.shape[1])
    x = np.sign(cosines) * np.abs(cosines) ** (2 / square)
    y = np.sign(sines) * np.abs(sines) ** (2 / square)
    middle, depth = (front + back) / 2, (back - front) / 2
    across = np.stack([width * x, depth * y, np.zeros_like(x)], axis=-1)
    outward = across / np.maximum(np.linalg.norm(across, axis=-1, keepdims=True), 1e-9)
    centre = np.stack([np.zeros_like(middle), middle, heights[:, None]], axis=-1)
    return np.asarray(centre + across + swell[:, :, None] * outward)
