"""Wrinkles of clothes: low ridges in the rest pose where cloth hangs, bends or is compressed.

Ridges only go outwards, so that no skin comes through. A fold is a ridge between broad valleys.
"""

from dataclasses import replace

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.body import Body
from mimegen.characters.spec import Jacket, Top, Trousers
from mimegen.characters.surface import SkinnedSurface, vertex_normals
from mimegen.motion.quaternions import FloatArray

# Depth of folds in loose cloth, in metres: hanging folds, those that spread from the armpits, at
# the waist, around elbows and cuffs, from the crotch, at the knees, and where trousers rest on
# shoes.
HANGING_M = 0.0115
ARMPIT_M = 0.009
WAIST_M = 0.006
SLEEVE_M = 0.0055
CROTCH_M = 0.007
KNEE_M = 0.009
BREAK_M = 0.012
# Distance from one fold to the next where cloth is compressed, in metres.
PRESSED_M = 0.052
# The looseness from which on folds have their full depth, and the fraction of it in tight clothes.
LOOSE = 0.5
TIGHT_SHARE = 0.3


def with_top_wrinkles(surface: SkinnedSurface, garment: Top | Jacket, body: Body) -> SkinnedSurface:
    """Return a top with its folds on trunk and sleeves."""
    shoulder = body.joint("LeftArm")
    on_arm = ramp(np.abs(surface.vertices[:, 0]), shoulder[0] * 0.95, shoulder[0] * 1.25)
    depth = ((1 - on_arm) * trunk_wrinkles(surface.vertices, garment, body)
             + on_arm * sleeve_wrinkles(surface.vertices, body))
    return raised(surface, slack(garment.looseness) * depth)


def with_leg_wrinkles(surface: SkinnedSurface, garment: Trousers, body: Body) -> SkinnedSurface:
    """Return trousers with their folds."""
    return raised(surface, slack(garment.looseness) * leg_wrinkles(surface.vertices, body))


def raised(surface: SkinnedSurface, depth: FloatArray) -> SkinnedSurface:
    """Return the surface moved out by depths (V,), in metres."""
    normals = vertex_normals(surface.vertices, surface.faces)
    return replace(surface, vertices=surface.vertices + depth[:, None] * normals)


def slack(looseness: float) -> float:
    """Return the fraction of their full depth that folds have in a garment."""
    return TIGHT_SHARE + (1 - TIGHT_SHARE) * min(1.0, looseness / LOOSE)


def ridges(phase: FloatArray) -> FloatArray:
    """Return a profile from 0 to 1 with one ridge per turn of the phase, between broad valleys."""
    wave = 0.5 + 0.5 * np.cos(phase)
    return np.asarray(wave * wave)


def window(values: FloatArray, middle: float, reach: float) -> FloatArray:
    """Return weights that fall from 1 at ``middle`` to 0 at the distance ``reach``."""
    return ramp(np.abs(values - middle), reach, 0.0)


def trunk_wrinkles(points: FloatArray, garment: Top | Jacket, body: Body) -> FloatArray:
    """Return depths (N,) of folds on a trunk, in metres.

    They hang down, spread from the armpits, and are compressed above the belt.
    """
    shoulder, scale = body.joint("LeftArm"), body.phenotype.height / 1.7
    x, y, z = points.T
    around = np.arctan2(x, body.joint("Spine1")[1] - y)
    own = 7.0 * (garment.looseness + garment.length)
    armpit = shoulder[2] - 0.06 * scale
    low = float(z.min())
    down = (armpit - z) / (armpit - low)
    lean = 0.9 * np.sin(2 * around) + 0.3 * np.sin(4.0 * down + own)
    hang = ramp(down, 0.15, 0.9) * (0.7 * ridges(8 * around + lean)
                                    + 0.5 * ridges(13 * around - 1.4 * lean))
    hang = hang * (1 - 0.8 * garment.ribbed * ramp(z, low + 0.09, low + 0.03))
    inwards, below = shoulder[0] - np.abs(x), armpit + 0.03 * scale - z
    away = np.hypot(inwards, below) / scale
    drag = ridges(11 * np.arctan2(below, inwards) + 0.7 * np.sin(9 * away + own))
    drag = drag * ramp(away, 0.03, 0.08) * ramp(away, 0.26, 0.12) * ramp(below, -0.02, 0.03)
    zigzag = (z - low) / (PRESSED_M * scale) + 0.4 * np.cos(3 * around) + 0.08 * np.sin(around)
    pressed = ridges(2 * np.pi * zigzag) * window(z, body.joint("Spine")[2], 0.12 * scale)
    pressed = pressed * (0.25 + 0.75 * np.abs(np.sin(around)))
    return np.asarray(HANGING_M * hang + ARMPIT_M * drag + WAIST_M * pressed)


def sleeve_wrinkles(points: FloatArray, body: Body) -> FloatArray:
    """Return depths (N,) of folds on sleeves, in metres: at elbow, wrist and upper arm."""
    shoulder, elbow = body.joint("LeftArm"), body.joint("LeftForeArm")
    scale = body.phenotype.height / 1.7
    x, y, z = np.abs(points[:, 0]), points[:, 1] - shoulder[1], points[:, 2] - shoulder[2]
    around = np.arctan2(z, -y)
    phase = 2 * np.pi * (x / (PRESSED_M * scale) + 0.4 * np.sin(around)
                         + 0.25 * np.sin(2 * around) + 0.04 * np.sign(points[:, 0]))
    inside = 0.35 + 0.65 * ramp(np.cos(around), -0.6, 0.6)
    wrist = body.joint("LeftHand")[0]
    much = (window(x, elbow[0], 0.13 * scale) * inside + 0.7 * window(x, wrist, 0.15 * scale)
            + 0.5 * window(x, shoulder[0] + 0.1 * scale, 0.12 * scale) * ramp(z, 0.02, -0.03))
    return np.asarray(SLEEVE_M * ridges(phase) * np.minimum(much, 1.0))


def leg_wrinkles(points: FloatArray, body: Body) -> FloatArray:
    """Return depths (N,) of folds on legs, in metres: from the crotch, at knees and shoes."""
    hip, knee, ankle = (body.joint(f"Left{name}") for name in ("UpLeg", "Leg", "Foot"))
    scale = body.phenotype.height / 1.7
    x, y, z = points.T
    beside = np.abs(x) - np.interp(z, [ankle[2], hip[2]], [ankle[0], hip[0]])
    around = np.arctan2(beside, hip[1] - y)
    rise = (z - ankle[2]) / (PRESSED_M * scale) + 0.05 * np.sign(x)
    zigzag = ridges(2 * np.pi * (rise + 0.4 * np.sin(around) + 0.2 * np.sin(2 * around)))
    behind = 0.5 + 0.5 * ramp(np.cos(around), 0.3, -0.6)
    knees = window(z, knee[2], 0.14 * scale) * behind
    front = 0.4 + 0.6 * ramp(np.cos(around), -0.4, 0.6)
    breaks = ramp(z, ankle[2] + 0.20 * scale, ankle[2] + 0.05 * scale) * front
    crotch = hip[2] - 0.075 * scale
    away = np.hypot(x, z - crotch) / scale
    spread = ridges(9 * np.arctan2(z - crotch, np.abs(x)) + 0.6 * np.sin(14 * away))
    spread = spread * ramp(away, 0.02, 0.06) * ramp(away, 0.24, 0.1)
    seams = ridges(2 * around + 1.5 * np.sin(5 * z / scale)) * ramp(away, 0.1, 0.25)
    return np.asarray(CROTCH_M * spread + KNEE_M * zigzag * knees + BREAK_M * zigzag * breaks
                      + 0.4 * CROTCH_M * seams)
