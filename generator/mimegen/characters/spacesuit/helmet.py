"""A spacesuit's helmet: white shell, mirror visor, hinges, lamps; and the neck below it."""

import numpy as np

from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.limbs import cloth_shade
from mimegen.characters.spacesuit.shapes import (
    SuitPart,
    ball,
    bead,
    box,
    circle,
    drum,
    loft,
    part,
    puffs,
    tube,
)
from mimegen.characters.spacesuit.trunk import neck_centre
from mimegen.motion.quaternions import FloatArray

AROUND = 72
# How far the shell stands out from the visor, in metres.
LIP_M = 0.009


def helmet(fitting: Fitting) -> list[SuitPart]:
    """Return all parts that turn with the head."""
    suit, scale = fitting.suit, fitting.scale
    head = fitting.rigid(Head=1.0)
    middle, radii = bubble(fitting)
    opening = visor_edge()
    edge = [opening * share for share in np.linspace(0.02, 1.0, 15)]
    visor = middle + radii * directions(np.array(edge))
    beyond = np.linspace(0, 1, 22)[:, None]
    turned = opening + (0.985 * np.pi - opening) * beyond
    shell_radii = radii + LIP_M * scale
    shell = middle + shell_radii * directions(turned)
    rim = middle + (radii + 0.5 * LIP_M * scale) * directions(opening[None])[0]
    outward = directions(opening[None])[0]
    parts = [
        part(loft(visor[::-1]), head, suit.visor_color, "visor"),
        part(loft(shell[::-1]), head, suit.shell_color, "shell"),
        part(bead(rim, outward, 0.021 * scale, 0.014 * scale), head, suit.metal_color, "metal"),
        *crest(fitting, middle, shell_radii),
        *fixtures(fitting, middle, shell_radii),
    ]
    return parts


def bubble(fitting: Fitting) -> tuple[FloatArray, FloatArray]:
    """Return the centre (3,) and radii (3,) of the visor's ellipsoid, in metres."""
    points = fitting.points_of("Head")
    low, high = points.min(axis=0), points.max(axis=0)
    scale = fitting.scale
    middle = np.array([0.0, (low[1] + high[1]) / 2 + 0.01 * scale,
                       (low[2] + high[2]) / 2 + 0.006 * scale])
    return middle, np.array([0.148, 0.152, 0.157]) * scale


def visor_edge() -> FloatArray:
    """Return the angle (A,) between the face's direction and the opening's edge, in radians."""
    cosines, sines = circle(AROUND)
    wide, up, down = np.radians([74.0, 43.0, 47.0])
    tall = np.where(sines > 0, up, down)
    power = 2.6
    return np.asarray(
        (np.abs(cosines / wide) ** power + np.abs(sines / tall) ** power) ** (-1 / power))


def directions(angles: FloatArray) -> FloatArray:
    """Return unit vectors (S, A, 3) at angles (S, A) from straight ahead, in radians.

    The second axis goes around that direction.
    """
    cosines, sines = circle(AROUND)
    return np.stack([np.sin(angles) * cosines, -np.cos(angles), np.sin(angles) * sines], axis=-1)


def crest(fitting: Fitting, middle: FloatArray, radii: FloatArray) -> list[SuitPart]:
    """Return the colored stripe over the helmet, from the visor to the nape."""
    slopes = np.radians(np.linspace(50, 165, 30))
    half = np.linspace(-0.5, 0.5, 5) * 0.034 * fitting.scale
    over = np.stack([np.zeros_like(slopes), -np.cos(slopes), np.sin(slopes)], axis=1)
    lifted = radii + 0.0012 * fitting.scale
    points = np.empty((len(slopes), len(half), 3))
    for column, x in enumerate(half):
        share = np.sqrt(1 - (x / lifted[0]) ** 2)
        points[:, column] = middle + lifted * over * share + np.array([x, 0, 0])
    under = points[:, ::-1] - 0.003 * fitting.scale * over[:, None]
    band = loft(np.concatenate([points, under], axis=1))
    return [part(band, fitting.rigid(Head=1.0), fitting.suit.stripe_color, "shell")]


def fixtures(fitting: Fitting, middle: FloatArray, radii: FloatArray) -> list[SuitPart]:
    """Return hinges and lamps on both sides of the helmet."""
    suit, scale = fitting.suit, fitting.scale
    head = fitting.rigid(Head=1.0)
    parts = []
    for side in (-1.0, 1.0):
        hinge = middle + np.array([side * radii[0], 0.028 * scale, -0.012 * scale])
        lamp = middle + np.array([side * 0.131, 0.0, 0.088]) * scale
        front = lamp + np.array([0.0, -0.041, 0.0]) * scale
        parts += [
            part(drum(hinge, (side, 0, 0), 0.034 * scale, 0.026 * scale), head,
                 suit.metal_color, "metal"),
            part(drum(hinge, (side, 0, 0), 0.02 * scale, 0.036 * scale), head,
                 suit.shell_color, "shell"),
            part(box(lamp, np.array([0.056, 0.08, 0.05]) * scale, 0.011 * scale), head,
                 suit.shell_color, "shell"),
            part(drum(front, (0, 1, 0), 0.019 * scale, 0.008 * scale), head,
                 suit.lamp_color, "shell"),
        ]
    return parts


def neck(fitting: Fitting) -> list[SuitPart]:
    """Return the bellows between neck ring and helmet."""
    suit, scale = fitting.suit, fitting.scale
    start = neck_centre(fitting)
    middle, _ = bubble(fitting)
    places = np.linspace(-0.02, 0.075, 20) * scale
    share = np.linspace(0, 1, 20)
    path = start + (middle - start) * (places / (middle - start)[2])[:, None]
    radii = (0.112 + 0.005 * puffs(places, 0.019 * scale)) * scale
    rings = tube(path, np.repeat(radii[:, None], 40, axis=1), np.eye(3))
    shape = loft(rings)
    ends = np.repeat(share, 40)
    weights = fitting.between("Spine2", "Head", np.concatenate([ends, [0.0, 1.0]]))
    shade = np.repeat(cloth_shade(puffs(places, 0.019 * scale)), 40)
    colors = np.concatenate([shade, [1.0, 1.0]])[:, None] * np.array(suit.color)
    gap = part(ball(fitting.joint("Head"), 0.1 * scale), fitting.rigid(Neck=1.0), suit.color,
               "suit")
    return [part(shape, weights, colors, "suit"), gap]
