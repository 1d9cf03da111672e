"""Strands: tapered ribbons that follow hair's flow and end beyond it, so that its edges are soft.

A flow (R, C, 3) is a grid of positions; each column is a strand's path from its root to its end.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.character import Mesh
from mimegen.characters.head import HeadShape, grid_faces
from mimegen.characters.spec import Hair
from mimegen.characters.surface import IntArray
from mimegen.motion.quaternions import FloatArray


class StrandStyle(NamedTuple):
    """How the ribbons of one kind of hair look.

    ``many`` is their number. Each begins at a position along the flow in the range ``begin`` and
    covers a length in the range ``reach``, both as fractions. ``width`` and the tip's distance
    ``lift`` off the flow are in metres, as is the sideways ``wave``. ``points`` is the number of
    points along each; ``shades`` is the variation of colors (see ``strips``).
    """

    many: int
    begin: tuple[float, float]
    reach: tuple[float, float]
    width: float
    lift: float
    wave: float = 0.0
    points: int = 5
    shades: float = 3.0


# The positional fields are many, begin, reach, width, lift, wave, points, shades.
SHORT = StrandStyle(300, (0.02, 0.78), (0.16, 0.30), 0.0055, 0.004, 0.001, 4)
HANGING = StrandStyle(420, (0.0, 0.80), (0.2, 0.45), 0.0050, 0.003, 0.002)
FRAME = StrandStyle(60, (0.25, 0.85), (0.3, 0.6), 0.0045, 0.006, 0.003)
COMBED = StrandStyle(200, (0.05, 0.70), (0.22, 0.30), 0.008, 0.0015)
CROPPED = StrandStyle(260, (0.03, 0.90), (0.04, 0.07), 0.0035, 0.0015, 0.001, 3)
# Fine hair along the hairline.
EDGE = StrandStyle(340, (0.84, 0.93), (0.06, 0.16), 0.0026, 0.001, 0.0008, 3)
# How far a ribbon extends beyond the flow's end at most, as a fraction of the flow.
BEYOND = 0.02
# Ribbons shorter than this are narrower and sink in.
SMALL_M = 0.03
STYLES = {"strands": SHORT, "tail": COMBED, "bun": COMBED,
          "crop": CROPPED}


def strands(head: HeadShape, hair: Hair, flow: FloatArray,
            draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield the ribbons over a head's hair."""
    style = STYLES.get(hair.kind)
    if style is not None:
        style = HANGING if style is SHORT and hair.length > 0 else style
        yield ribbons(head, "strands", flow, style, draws)
        if style is not HANGING:
            yield ribbons(head, "edge_strands", flow, EDGE, draws)


def ribbons(head: HeadShape, name: str, flow: FloatArray, style: StrandStyle,
            draws: np.random.Generator, columns: IntArray | None = None) -> Mesh:
    """Return ribbons along a closed flow; ``strand`` (V, 3) holds one color per ribbon.

    They are spread over the whole flow, or over the given ``columns`` (N,).
    """
    begin = draws.uniform(*style.begin, style.many)
    end = np.minimum(begin + draws.uniform(*style.reach, style.many),
                     1.0 + BEYOND * draws.random(style.many))
    share = np.linspace(0, 1, style.points)[:, None]
    along = begin + share * (end - begin)
    column = flow.shape[1] * (np.arange(style.many) + draws.random(style.many)) / style.many
    column = draws.permutation(column)
    if columns is not None:
        column = columns[np.arange(style.many) % len(columns)].astype(float)
    middle = sampled(flow, along, column)
    aside = unit(sampled(flow, along, column + 1) - sampled(flow, along, column - 1))
    out = unit(np.cross(aside, np.gradient(middle, axis=0)))
    out = out * np.sign(np.sum(out * (middle - head.centre), axis=-1, keepdims=True))
    # Near a parting, where strands are short, ribbons are small.
    small = np.minimum(np.linalg.norm(middle[-1] - middle[0], axis=-1) / SMALL_M, 1.0)
    wave = style.wave * small * np.sin(share * draws.uniform(3, 7, style.many)
                               + draws.uniform(0, 6.28, style.many))
    lift = style.lift * share * draws.uniform(0.2, 1.0, style.many) + 0.003 * (share > 0.2)
    lift = lift * small - 0.001 - 0.005 * (1 - small)
    half = 0.5 * style.width * draws.uniform(0.7, 1.2, style.many) * small
    half = half * (1 - share * share) + 0.0004 * small
    return strips(head, name, middle + lift[..., None] * out + wave[..., None] * aside,
                 half[..., None] * aside, draws, style.shades)


def strips(head: HeadShape, name: str, middle: FloatArray, half: FloatArray,
           draws: np.random.Generator, shades: float = 3.0) -> Mesh:
    """Return ribbons along lines (P, N, 3), ``half`` (P, N, 3) wide to both sides, as a mesh.

    Its faces point away from the head. ``shades`` is the range of its random colors.
    """
    points, count = middle.shape[:2]
    places = np.stack([middle - half, middle + half], axis=2).transpose(1, 0, 2, 3)
    faces = grid_faces(points, 2, closed=False)
    faces = faces[None] + 2 * points * np.arange(count)[:, None, None]
    flat = places.reshape(-1, 3)
    shade = np.repeat(draws.uniform(-shades, shades, (count, 3)), 2 * points, axis=0)
    return head.rigid(name, flat, outward(flat, faces.astype(np.int32), head), "hair",
                      {"strand": shade})


def outward(places: FloatArray, faces: IntArray, head: HeadShape) -> IntArray:
    """Return ribbons' quads (N, P, 4) as one array (N * P, 4), each facing away from the head."""
    corners = places[faces]
    normal = np.cross(corners[..., 2, :] - corners[..., 0, :],
                      corners[..., 3, :] - corners[..., 1, :])
    inward = np.sum(normal * (corners.mean(axis=2) - head.centre), axis=(1, 2)) < 0
    turned = np.where(inward[:, None, None], faces[..., ::-1], faces)
    return turned.reshape(-1, 4).astype(np.int32)


def sampled(flow: FloatArray, along: FloatArray, column: FloatArray) -> FloatArray:
    """Return positions (P, N, 3) of a closed flow at ``along`` (P, N), 0 to 1, and columns (N,).

    Beyond the end of the flow its last segment is extended.
    """
    rows, columns = flow.shape[:2]
    row = along * (rows - 1)
    first = np.clip(np.floor(row).astype(int), 0, rows - 2)
    left = np.floor(column).astype(int)
    part, beside = (row - first)[..., None], (column - left)[:, None]
    values = 0.0
    for number, weight in ((left, 1 - beside), (left + 1, beside)):
        line = number % columns
        values = values + weight * (flow[first, line] * (1 - part) + flow[first + 1, line] * part)
    return np.asarray(values)


def knotted(head: HeadShape, hair: Hair, flow: FloatArray,
            draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield the hair beyond the knot of tied hair: a hanging tail, or a bun."""
    knot, size = flow[0].mean(axis=0), head.unit
    turns = np.linspace(-np.pi, np.pi, 32, endpoint=False)
    if hair.kind == "bun":
        away = unit(knot - head.centre)
        radius = 0.22 * size + 0.08 * size * hair.volume
        yield from tufts(head, hair, ball(knot + 0.7 * radius * away, radius, turns), draws)
    if hair.kind == "tail":
        length = (0.9 + 1.2 * hair.length) * size
        yield from tufts(head, hair, hanging_tail(knot, length, size, turns), draws)


def tufts(head: HeadShape, hair: Hair, flow: FloatArray,
          draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield the surface of a tail or a bun, and ribbons over it."""
    rows, columns = flow.shape[:2]
    places = flow.reshape(-1, 3)
    strand = np.stack(np.broadcast_arrays(
        4 * np.cos(np.linspace(0, 6.28, columns)), 4 * np.sin(np.linspace(0, 6.28, columns)),
        np.linspace(0, 0.5, rows)[:, None]), axis=-1).reshape(-1, 3)
    style = StrandStyle(70, (0.0, 0.75), (0.25, 0.4), 0.009, 0.004, 0.001)
    loose = ribbons(head, "tuft_strands", flow, style, draws)
    wound = head.rigid("tuft", places, grid_faces(rows, columns, closed=True)[:, ::-1], "hair",
                       {"strand": strand})
    for mesh in (wound, loose):
        if hair.kind == "tail":
            sway = ramp(mesh.vertices[:, 2], flow[0, :, 2].mean(), flow[0, :, 2].mean() - 0.10)
            yield replace(mesh, attributes={**mesh.attributes, "sway": sway})
        else:
            yield mesh


def ball(centre: FloatArray, radius: float, turns: FloatArray) -> FloatArray:
    """Return the grid (12, C, 3) of a bun."""
    polar = np.linspace(0.05, np.pi - 0.05, 12)[:, None]
    return np.asarray(centre + radius * np.stack(np.broadcast_arrays(
        np.sin(polar) * np.sin(turns), -np.sin(polar) * np.cos(turns), 0.9 * np.cos(polar)),
        axis=-1))


def hanging_tail(knot: FloatArray, length: float, size: float, turns: FloatArray) -> FloatArray:
    """Return the grid (16, C, 3) of a tail.

    It arches out of the knot and hangs down, thinner at its end.
    """
    share = np.linspace(0, 1, 16)
    back = 0.34 * size * np.sin(np.minimum(share * 5, 1.57)) - 0.10 * size * share
    down = length * (share - 0.16 * np.sin(np.minimum(share * 7, np.pi)))
    middle = knot + np.stack([0 * share, back, -down], axis=1)
    radius = size * np.interp(share, [0, 0.1, 0.35, 0.8, 1], [0.09, 0.13, 0.19, 0.13, 0.02])
    return np.asarray(middle[:, None] + radius[:, None, None] * np.stack(
        [np.sin(turns), -np.cos(turns), 0 * turns], axis=1))
