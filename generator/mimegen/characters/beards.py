"""Beards: the skin on which they grow, raised, with short hairs along it."""

from collections.abc import Iterator

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.character import Mesh
from mimegen.characters.head import HeadShape
from mimegen.characters.spec import Hair
from mimegen.characters.strands import strips
from mimegen.characters.surface import SkinnedSurface, part_of, subdivided, vertex_normals
from mimegen.motion.quaternions import FloatArray

# The thickness of the thickest beards, and how deep their edges lie in the skin, in metres.
THICKEST_BEARD_M = 0.009
BEARD_ROOT_M = 0.0012
BEARD_POINTS = 3
# How much the jaw rises towards the ears, per unit backwards.
JAW_SLOPE = 0.45
BEARD_COUNTS = {"full": 520, "goatee": 240, "moustache": 160}


def beard_meshes(head: HeadShape, hair: Hair, draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield a beard: the skin on which it grows, raised and smoothed, and hairs along it."""
    if hair.beard == "none":
        return
    thick = THICKEST_BEARD_M * (0.35 + 0.65 * hair.volume)
    body = head.body
    grown = beard_field(head, hair.beard)
    faces = body.faces["body"]
    # The field is passed instead of weights, because subdividing interpolates them.
    under = subdivided(part_of(body.vertices, faces[(grown[faces] > 0.02).any(axis=1)],
                               grown[:, None]))
    out = vertex_normals(under.vertices, under.faces)
    share = under.weights
    strand = draws.normal(0, 0.15, (len(share), 3))
    tufts = 1 + 0.25 * draws.normal(size=(len(share), 1)).clip(-1.5, 1.5)
    rise = thick * tufts * ramp(share, 0.25, 0.75) - BEARD_ROOT_M
    sag = -0.4 * np.maximum(rise, 0.0) * [0.0, 0.0, 1.0]
    yield head.rigid("beard", under.vertices + rise * out + sag, under.faces, "hair",
                     {"strand": strand})
    yield beard_hairs(head, hair, under, out, thick, draws)


def beard_hairs(head: HeadShape, hair: Hair, under: SkinnedSurface, out: FloatArray, thick: float,
                draws: np.random.Generator) -> Mesh:
    """Return hairs that grow out of a beard's surface, down and along the jaw."""
    share = under.weights[:, 0]
    roots = np.flatnonzero(share > 0.3)
    roots = roots[draws.integers(len(roots), size=BEARD_COUNTS[hair.beard])]
    root, normal = under.vertices[roots], out[roots]
    mouth = head.body.vertices[head.body.masks["lips"] > 0.5, 2].mean()
    back = np.sign(root[:, 0]) * np.where(root[:, 2] > mouth, 1.6, 0.2)
    direction = np.stack([back, 0.3 + 0 * back, 0 * back - 1.0], axis=1)
    direction = direction + draws.normal(0, 0.25, root.shape)
    direction = unit(direction - 0.9 * np.sum(direction * normal, axis=1, keepdims=True) * normal)
    long = (0.004 + 0.5 * thick) * draws.uniform(0.6, 1.0, (len(root), 1))
    along = np.linspace(0, 1, BEARD_POINTS)[:, None, None]
    start = root + (thick * ramp(share[roots], 0.25, 0.75)[:, None] - BEARD_ROOT_M) * normal
    middle = start - 0.001 * normal + along * (long * direction + 0.0022 * normal)
    half = (0.0009 * (1 - along * along) + 0.0002) * unit(np.cross(direction, normal))
    return strips(head, "beard_strands", middle, half, draws, 0.3)


def beard_field(head: HeadShape, kind: str) -> FloatArray:
    """Return where a beard of a kind grows (V,), 0 to 1; stubble grows where a full beard does."""
    body = head.body
    x, y, z = (body.vertices - head.eyes.mean(axis=0)).T / head.unit
    lips = body.masks["lips"] > 0.5
    above = z[lips].max() + 0.136
    jaw = ramp(z, above, above - 0.17) * ramp(z - JAW_SLOPE * y, -1.3, -1.08) * ramp(y, 0.95, 0.75)
    below_cheeks = ramp(z + 0.55 * np.abs(x), above + 0.15, above + 0.03)
    full = np.asarray(jaw * below_cheeks * (1 - body.masks["lips"]))
    wide, level = np.abs(x[lips]).max(), z[lips].mean()
    upper = full * ramp(np.abs(x), 1.35 * wide, 1.05 * wide) * ramp(z, level - 0.02, level + 0.04)
    chin = full * ramp(np.abs(x), 1.15 * wide, 0.85 * wide) * ramp(z, level + 0.02, level - 0.06)
    goatee = np.maximum(chin * ramp(y, 0.5, 0.3), upper)
    return {"full": full, "moustache": upper, "goatee": goatee, "none": full}[kind]
