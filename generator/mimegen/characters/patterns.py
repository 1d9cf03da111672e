"""Patterns of cloth in a second color: pictures that are mapped onto the cloth in metres.

A pattern is a tile that repeats or, for motifs that appear once on the chest, a picture with empty
edges. Both render engines draw it like the textures of bodies that users import.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.easing import ramp
from mimegen.base.grid import on_grid
from mimegen.base.srgb import encoded
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.spec import Cloth, Pattern
from mimegen.motion.quaternions import FloatArray

# The size of a picture in pixels, and the samples per pixel in both directions.
PIXELS = 96
FINER = 4
# Width of the pictures on the chest, including their empty edges, and the radii that sleeves and
# legs are unrolled with, in metres.
CHEST_M = 0.26
SLEEVE_M = 0.06
LEG_M = 0.08


class _Laid(NamedTuple):
    """Coordinates of cloth unrolled from trunk, legs or sleeves, in metres.

    ``up`` (N,) and ``around`` (N,) are the position, ``whole`` (N,) is the circumference there.
    """

    up: FloatArray
    around: FloatArray
    whole: FloatArray


def cloth_material(name: str, garment: Cloth, **parameters: Any) -> Material:
    """Return a garment's cloth material, with the picture of its pattern, if any.

    ``parameters`` are further parameters of the material's shader.
    """
    image = None if garment.pattern is None else picture(garment.pattern, garment.color)
    return Material(name, "cloth", {"color": garment.color, **parameters}, image)


def picture(pattern: Pattern, color: tuple[float, ...]) -> bytes:
    """Return a pattern on a ground color (linear RGB) as PNG.

    It is not compressed, because compressed bytes may differ from machine to machine.
    """
    fine = (np.arange(PIXELS * FINER) + 0.5) / (PIXELS * FINER)
    shown = TILES[pattern.kind](*np.meshgrid(fine, fine[::-1])).astype(float)
    share = shown.reshape(PIXELS, FINER, PIXELS, FINER).mean(axis=(1, 3))[..., None]
    one, other = (encoded(np.array(tint)) for tint in (color, pattern.color))
    pixels = np.floor(255 * (one + share * (other - one)) + 0.49).astype(np.uint8)
    packed = io.BytesIO()
    Image.fromarray(pixels).save(packed, "PNG", compress_level=0)
    return packed.getvalue()


def printed(mesh: Mesh, pattern: Pattern | None, body: Body) -> Mesh:
    """Return a mesh with texture coordinates for its pattern, if it has one."""
    if pattern is None:
        return mesh
    corners = np.where(mesh.faces < 0, mesh.faces[:, :1], mesh.faces)
    points = mesh.vertices[corners]
    uvs = _on_chest(points, pattern, body) if pattern.kind in ONCE else (
        _laid(points, body, hanging=mesh.name == "skirt") / pattern.size)
    return replace(mesh, uvs=on_grid(uvs))


def _on_chest(points: FloatArray, pattern: Pattern, body: Body) -> FloatArray:
    """Return texture coordinates (F, 4, 2) in a chest picture for faces' corners (F, 4, 3)."""
    centre = body.joint("Spine2") + np.array([0.0, 0.0, 0.02])
    x, y, z = np.moveaxis(points - centre, -1, 0)
    if pattern.kind == "block":
        across = np.zeros_like(x)
    else:
        across = np.where((y < -0.03).all(axis=1, keepdims=True), x / CHEST_M + 0.5, 0.0)
    return np.asarray(np.clip(np.stack([across, z / CHEST_M + 0.5], axis=-1), 0.004, 0.996))


def _laid(points: FloatArray, body: Body, hanging: bool) -> FloatArray:
    """Return unrolled coordinates (F, 4, 2), around and up in metres, of faces' corners (F, 4, 3).

    Seams lie along the arm holes, and at the back, where the coordinate around starts again. A
    ``hanging`` garment, a skirt, is one tube around both legs.
    """
    flat = points.reshape(-1, 3)
    shoulder = body.joint("LeftArm")
    on_sleeve = (flat[:, 2] > shoulder[2] - 0.15).reshape(-1, 4).all(axis=1) & (
        np.abs(points[:, :, 0]).mean(axis=1) > shoulder[0])
    trunk, sleeve = _about_trunk(flat, body, hanging), _about_sleeve(flat, body)
    up, around, whole = (np.where(on_sleeve[:, None], second.reshape(-1, 4), first.reshape(-1, 4))
                         for first, second in zip(trunk, sleeve, strict=True))
    around = around - whole * np.round((around - around[:, :1]) / whole)
    return np.stack([around, up], axis=-1)


def _about_trunk(points: FloatArray, body: Body, hanging: bool) -> _Laid:
    """Return coordinates around the trunk and the legs."""
    hip = body.joint("LeftUpLeg")
    x, y, z = points.T
    leg = ramp(z, hip[2] - 0.08, hip[2] - 0.14) * (not hanging)
    aside = x - np.sign(x) * leg * hip[0]
    wide = (0.15 + 0.05 * hanging) * body.phenotype.height / 1.7
    radius = wide + (LEG_M - wide) * leg
    return _Laid(z, radius * np.arctan2(aside, hip[1] - y), 2 * np.pi * radius)


def _about_sleeve(points: FloatArray, body: Body) -> _Laid:
    """Return coordinates around the sleeves."""
    shoulder = body.joint("LeftArm")
    x, y, z = points.T
    around = SLEEVE_M * np.arctan2(z - shoulder[2], shoulder[1] - y)
    return _Laid(shoulder[2] - 0.1 - (np.abs(x) - shoulder[0]), around,
                 np.full(len(x), 2 * np.pi * SLEEVE_M))


Grid = NDArray[Any]


def _stripes(u: Grid, v: Grid) -> Grid:
    return v < 0.42


def _upright(u: Grid, v: Grid) -> Grid:
    return u < 0.3


def _checks(u: Grid, v: Grid) -> Grid:
    """Gingham: half of the second color where threads of both colors cross."""
    return np.asarray(0.5 * (u < 0.5) + 0.5 * (v < 0.5))


def _plaid(u: Grid, v: Grid) -> Grid:
    """Broad and narrow bands in both directions, each half transparent."""
    band, along = (1.0 * (np.abs(at - 0.3) < 0.16) + (np.abs(at - 0.78) < 0.025) for at in (u, v))
    return np.asarray(0.5 * band + 0.5 * along)


def _dots(u: Grid, v: Grid) -> Grid:
    return _away(u, v, 0.25, 0.25) + _away(u, v, 0.75, 0.75) < 0


def _away(u: Grid, v: Grid, across: float, up: float, radius: float = 0.17) -> Grid:
    """Return -1 inside a disc and 0 elsewhere."""
    return np.where(np.hypot(u - across, v - up) < radius, -1, 0)


def _zigzag(u: Grid, v: Grid) -> Grid:
    return np.asarray((v + 0.5 * np.abs(u - 0.5)) % 0.5 < 0.22)


# Positions across and up, radii and angles (radians) of the flowers of a tile.
FLOWERS = ((0.26, 0.28, 0.22, 0.2), (0.74, 0.66, 0.17, 0.9), (0.22, 0.8, 0.11, 0.5),
           (0.72, 0.16, 0.10, 0.0))


def _flowers(u: Grid, v: Grid) -> Grid:
    shown = np.zeros(u.shape, bool)
    for across, up, radius, turn in FLOWERS:
        x, y = (u - across) / radius, (v - up) / radius
        away, angle = np.hypot(x, y), np.arctan2(y, x) + turn
        shown |= (away < 0.62 + 0.36 * np.cos(5 * angle)) & (away > 0.2)
    return shown


def _block(u: Grid, v: Grid) -> Grid:
    return v > 0.55


def _print(u: Grid, v: Grid) -> Grid:
    """A disc with the sun above two mountains."""
    disc = np.hypot(u - 0.5, v - 0.5) < 0.33
    ridge = np.maximum(0.52 - 1.3 * np.abs(u - 0.42), 0.44 - 1.1 * np.abs(u - 0.64))
    sun = np.hypot(u - 0.6, v - 0.64) < 0.075
    return np.asarray(disc & ~((v > ridge) & (v < ridge + 0.03)) & ~sun)


def _star(u: Grid, v: Grid) -> Grid:
    """A five-pointed star: angles are folded into a tenth of a turn with one straight edge."""
    x, y = u - 0.5, v - 0.48
    fold = np.abs((np.arctan2(x, y) + np.pi / 5) % (2 * np.pi / 5) - np.pi / 5)
    # A point of radius 1, an inner corner of 0.42 at a tenth of a turn.
    inner = 0.42 * np.array([np.cos(np.pi / 5), np.sin(np.pi / 5)])
    out, aside = np.hypot(x, y) * np.cos(fold), np.hypot(x, y) * np.sin(fold)
    return np.asarray((0.32 - out) * inner[1] > aside * (1 - inner[0]))


def _band(u: Grid, v: Grid) -> Grid:
    """Three bands across the chest."""
    shown = (np.abs(u - 0.5) < 0.36) & (np.abs(v - 0.5) < 0.14) & ((v - 0.36) % 0.1 < 0.065)
    return np.asarray(shown)


# Each function takes positions across and up a tile, 0 to 1, and returns the fraction of the second
# color there, 0 to 1.
TILES: Mapping[str, Callable[[Grid, Grid], Grid]] = {
    "stripes": _stripes, "upright": _upright, "checks": _checks, "plaid": _plaid, "dots": _dots,
    "zigzag": _zigzag, "flowers": _flowers, "block": _block, "print": _print, "star": _star,
    "band": _band,
}
# Patterns that appear once instead of repeating.
ONCE = ("block", "print", "star", "band")
