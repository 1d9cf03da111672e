"""Equipment on a spacesuit: life support on the back, controls on the chest, hoses, patches."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.shapes import Shape, SuitPart, box, drum, hose, part, ring
from mimegen.characters.spacesuit.trunk import outlines
from mimegen.motion.quaternions import FloatArray

PATCH_RADIUS_M = 0.043


def backpack(fitting: Fitting) -> list[SuitPart]:
    """Return the life-support backpack."""
    suit, scale = fitting.suit, fitting.scale
    arm, spine = fitting.joint("LeftArm")[2], fitting.joint("Spine")[2]
    back = float(outlines(fitting)(arm - 0.1 * scale)[2])
    low, high = spine - 0.01 * scale, arm + 0.145 * scale
    depth = 0.165 * scale
    middle = np.array([0.0, back + depth / 2 - 0.03 * scale, (low + high) / 2])
    tall = high - low
    chest, add = fitting.rigid(Spine2=1.0), _placed_boxes(middle, fitting)
    half_depth, half_tall = depth / scale / 2, tall / scale / 2
    shell, metal, rubber = suit.shell_color, suit.metal_color, suit.rubber_color
    soft = np.array(suit.color)
    return [
        add((0, 0, 0), (0.4, depth / scale, tall / scale), 0.045, soft, "suit"),
        add((0, 0.012, half_tall - 0.035), (0.34, half_depth * 2, 0.13), 0.04, shell, "shell"),
        add((0, half_depth, -0.015), (0.3, 0.03, tall / scale * 0.56), 0.014, shell, "shell"),
        add((0, half_depth + 0.012, 0.06), (0.16, 0.02, 0.1), 0.009, np.array(metal), "metal"),
        add((0, half_depth + 0.008, -0.115), (0.2, 0.025, 0.05), 0.01, rubber, "rubber"),
        add((0, 0, -half_tall - 0.012), (0.3, half_depth * 1.6, 0.07), 0.025, metal, "metal"),
        *(add((side * 0.2, -0.004, 0.03), (0.03, half_depth * 1.3, tall / scale * 0.5), 0.013,
              shell, "shell") for side in (-1, 1)),
        *(add((side * 0.118, half_depth + 0.014, half_tall - 0.115), (0.05, 0.03, 0.02), 0.008,
              suit.stripe_color, "shell") for side in (-1, 1)),
        *(part(drum(middle + np.array([side * 0.1, half_depth + 0.015, -0.19]) * scale,
                    (0, 1, 0), 0.026 * scale, 0.03 * scale), chest, metal, "metal")
          for side in (-1, 1)),
    ]


def chest_controls(fitting: Fitting) -> list[SuitPart]:
    """Return the display and control box on the chest, and the hoses from it to the backpack."""
    suit, scale = fitting.suit, fitting.scale
    spine, arm = fitting.joint("Spine1")[2], fitting.joint("LeftArm")[2]
    height = 0.55 * spine + 0.45 * arm - 0.03 * scale
    front = float(outlines(fitting)(height)[1])
    middle = np.array([0.0, front - 0.018 * scale, height])
    chest, add = fitting.rigid(Spine2=1.0), _placed_boxes(middle, fitting)

    def knob(at: ArrayLike, radius: float, color: ArrayLike, material: str) -> SuitPart:
        shape = drum(middle + np.asarray(at) * scale, (0, 1, 0), radius * scale, 0.02 * scale)
        return part(shape, chest, color, material)

    shell, metal, rubber = suit.shell_color, suit.metal_color, suit.rubber_color
    parts = [
        add((0, 0, 0), (0.25, 0.085, 0.15), 0.02, shell, "shell"),
        add((0, -0.036, 0.037), (0.2, 0.022, 0.05), 0.008, metal, "metal"),
        add((-0.04, -0.043, 0.039), (0.095, 0.015, 0.03), 0.004, rubber, "visor"),
        knob((0.062, -0.047, 0.039), 0.014, suit.stripe_color, "shell"),
        knob((-0.08, -0.043, -0.03), 0.017, metal, "metal"),
        knob((-0.03, -0.043, -0.03), 0.017, metal, "metal"),
        add((0.055, -0.043, -0.03), (0.075, 0.018, 0.045), 0.006, rubber, "rubber"),
    ]
    return parts + hoses(fitting, middle)


def hoses(fitting: Fitting, box_middle: FloatArray) -> list[SuitPart]:
    """Return the hoses from the chest box around the ribs to the backpack."""
    suit, scale = fitting.suit, fitting.scale
    height = box_middle[2] - 0.05 * scale
    width, front, back, _ = outlines(fitting)(height - 0.045 * scale)
    middle = (front + back) / 2
    parts = []
    for side in (-1.0, 1.0):
        start = box_middle + np.array([side * 0.07, -0.015, -0.05]) * scale
        bend = box_middle + np.array([side * 0.125, -0.035, -0.105]) * scale
        points = np.array([
            start, bend,
            [side * (0.86 * width + 0.01 * scale), middle + 0.62 * (front - middle),
             height - 0.05 * scale],
            [side * (width + 0.016 * scale), middle, height - 0.03 * scale],
            [side * 0.17 * scale, back + 0.03 * scale, height],
        ])
        shape = hose(points, 0.0135 * scale, (0, 0, 1), rib=0.0022 * scale)
        collar = ring(start + 0.22 * (bend - start), bend - start, 0.013 * scale, 0.012 * scale,
                      0.016 * scale, 20)
        parts += [
            part(shape, fitting.trunk_weights(shape.vertices), suit.metal_color, "rubber"),
            part(collar, fitting.rigid(Spine2=1.0), suit.stripe_color, "shell"),
        ]
    return parts


def connectors(fitting: Fitting) -> list[SuitPart]:
    """Return two hose connectors on the right of the chest, in two colors."""
    suit, scale = fitting.suit, fitting.scale
    height = fitting.joint("LeftArm")[2] - np.array([0.045, 0.0]) * scale
    places = np.array([-0.135, -0.1]) * scale
    fronts = front_of(fitting, places, height)
    chest = fitting.rigid(Spine2=1.0)
    parts = []
    colors = (suit.stripe_color, suit.patch_color)
    for x, y, z, color in zip(places, fronts, height, colors, strict=True):
        parts += [
            part(drum((x, y, z), (0, 1, 0), 0.021 * scale, 0.026 * scale), chest,
                 suit.metal_color, "metal"),
            part(drum((x, y, z), (0, 1, 0), 0.015 * scale, 0.04 * scale), chest, color, "shell"),
        ]
    return parts


def patch(fitting: Fitting) -> list[SuitPart]:
    """Return the round mission patch on the left of the chest: a moon and a distant sun."""
    suit, scale = fitting.suit, fitting.scale
    middle = np.array([0.125 * scale, fitting.joint("LeftArm")[2] - 0.02 * scale])
    discs = (
        ((0.0, 0.0), 1.0, suit.stripe_color), ((0.0, 0.0), 0.88, suit.patch_color),
        ((-0.22, -0.24), 0.42, suit.shell_color), ((0.38, 0.34), 0.18, suit.visor_color),
    )
    parts = []
    for layer, (away, radius, color) in enumerate(discs):
        centre = middle + PATCH_RADIUS_M * scale * np.array(away)
        shape = sewn_disc(fitting, centre, radius * PATCH_RADIUS_M * scale,
                          (0.0025 + 0.0005 * layer) * scale)
        parts.append(part(shape, fitting.trunk_weights(shape.vertices), color, "suit"))
    return parts


def sewn_disc(fitting: Fitting, centre: FloatArray, radius: float, height: float) -> Shape:
    """Return a disc on the chest around ``centre`` (2,), X and Z, raised by ``height`` metres."""
    radii = np.linspace(0, radius, 5)[1:]
    angles = np.arange(32) * 2 * np.pi / 32
    x = centre[0] + radii[:, None] * np.sin(angles)
    z = centre[1] + radii[:, None] * np.cos(angles)
    return fan(np.stack([x, front_of(fitting, x, z) - height, z], axis=-1))


def front_of(fitting: Fitting, x: FloatArray, z: FloatArray) -> FloatArray:
    """Return the frontmost Y of the trunk at positions X and Z (...)."""
    width, front, back, square = np.moveaxis(outlines(fitting)(z), -1, 0)
    share = np.clip(1 - np.abs(x / width) ** square, 0, 1) ** (1 / square)
    return np.asarray((front + back) / 2 - (back - front) / 2 * share)


def fan(rings: FloatArray) -> Shape:
    """Return a disc of rings (S, A, 3), filled to the middle of the first ring."""
    steps, around = rings.shape[:2]
    here = np.arange(steps * around).reshape(steps, around)
    after = np.roll(here, -1, axis=1)
    quads = np.stack([here[:-1], here[1:], after[1:], after[:-1]], axis=-1).reshape(-1, 4)
    middle = np.full(around, steps * around)
    inner = np.stack([middle, here[0], after[0], np.full(around, -1)], axis=1)
    vertices = np.concatenate([rings.reshape(-1, 3), rings[:1].mean(axis=1)])
    return Shape(vertices, np.concatenate([quads, inner]).astype(np.int32))


def _placed_boxes(middle: FloatArray, fitting: Fitting) -> Callable[..., SuitPart]:
    """Return a function that makes boxes on the chest, placed relative to ``middle``."""
    scale, chest = fitting.scale, fitting.rigid(Spine2=1.0)

    def add(at: ArrayLike, size: ArrayLike, rounding: float, color: ArrayLike,
            material: str) -> SuitPart:
        shape = box(middle + np.asarray(at) * scale, np.asarray(size) * scale, rounding * scale)
        return part(shape, chest, color, material)

    return add
