"""What cloth shows in its second color, worked out at the vertices in the rest pose."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.vectors import product
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.spec import Cloth, Pattern
from mimegen.motion.quaternions import FloatArray

PRINT_M = 0.085


class Places(NamedTuple):
    """Places of a cloth's vertices (V, 3), and metres along the body (V,) and around it (V,)."""

    points: FloatArray
    along: FloatArray
    around: FloatArray


def cloth_material(name: str, garment: Cloth, **parameters: Any) -> Material:
    """Return a garment's cloth; further ``parameters`` are those of the material's shader.

    Where the mesh's attribute ``print`` is above 0.5 it shows ``print_color``.
    """
    if garment.pattern is not None:
        parameters["print_color"] = garment.pattern.color
    return Material(name, "cloth", {"color": garment.color, **parameters})


def printed(mesh: Mesh, pattern: Pattern | None, body: Body) -> Mesh:
    """Return a mesh with ``print`` (V,), around 0.5, if there is a pattern."""
    if pattern is None:
        return mesh
    places = along_and_around(mesh.vertices, body, hanging=mesh.name == "skirt")
    values = KINDS[pattern.kind](Places(mesh.vertices, *places), pattern.size, body)
    return replace(mesh, attributes={**mesh.attributes, "print": values})


def along_and_around(points: FloatArray, body: Body,
                     hanging: bool) -> tuple[FloatArray, FloatArray]:
    """Return metres along trunk, legs and sleeves (N,) and around them (N,).

    What is ``hanging``, a skirt, is one tube about both legs.
    """
    shoulder, hip = body.joint("LeftArm"), body.joint("LeftUpLeg")
    x, y, z = points.T
    beyond = np.where(z > shoulder[2] - 0.25, np.abs(x) - shoulder[0], -1.0)
    leg = ramp(z, hip[2] - 0.08, hip[2] - 0.14) * (not hanging)
    aside = x - np.sign(x) * leg * hip[0]
    trunk = (0.15 + 0.05 * hanging - 0.07 * leg) * np.arctan2(aside, hip[1] - y)
    sleeve = 0.06 * np.arctan2(z - shoulder[2], shoulder[1] - y)
    return np.where(beyond > 0, shoulder[2] - 0.1 - beyond, z), np.where(beyond > 0, sleeve, trunk)


def _wave(metres: FloatArray, size: float, share: float) -> FloatArray:
    """Return a triangle wave (N,) that is above 0.5 over a ``share`` of each ``size`` metres."""
    away = np.abs((metres / size) % 1.0 - 0.5)
    return np.asarray(0.5 + (away - 0.5 * (1 - share)) * size / 0.02)


def _stripes(at: Places, size: float, body: Body) -> FloatArray:
    return _wave(at.along, size, 0.42)


def _upright(at: Places, size: float, body: Body) -> FloatArray:
    return _wave(at.around, size, 0.36)


def _checks(at: Places, size: float, body: Body) -> FloatArray:
    return np.maximum(_wave(at.along, size, 0.3), _wave(at.around, size, 0.3))


def _dots(at: Places, size: float, body: Body) -> FloatArray:
    row = np.floor(at.along / size)
    aside = (at.around / size + 0.5 * (row % 2)) % 1.0 - 0.5
    away = np.hypot(at.along / size - row - 0.5, aside)
    return np.asarray(0.5 + (0.3 - away) * size / 0.02)


def _flowers(at: Places, size: float, body: Body) -> FloatArray:
    turns = np.array([[1.0, 0.3], [-0.5, 1.1], [-0.7, -0.9], [1.7, -0.6]])
    waves = np.sin(2 * np.pi / size * product(np.stack([at.along, at.around], axis=1), turns.T))
    return np.asarray(0.5 + (waves.sum(axis=1) - 0.7) * size / 0.12)


def _block(at: Places, size: float, body: Body) -> FloatArray:
    level = body.joint("Spine2")[2] + 0.04
    return np.asarray(0.5 + (at.along - level) / 0.02)


def _print(at: Places, size: float, body: Body) -> FloatArray:
    centre = body.joint("Spine2") + np.array([0.0, 0.0, 0.05])
    x, y, z = (at.points - centre).T
    away = np.hypot(x, z) / PRINT_M
    ring = np.where(np.abs(z) < 0.018, 0.9 - away, np.minimum(1.0 - away, away - 0.45))
    return np.where(y < -0.03, 0.5 + ring * 4, 0.0)


KINDS: Mapping[str, Callable[[Places, float, Body], FloatArray]] = {
    "stripes": _stripes, "upright": _upright, "checks": _checks, "dots": _dots,
    "flowers": _flowers, "block": _block, "print": _print,
}
