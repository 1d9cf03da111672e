"""Hair: a sheet along the skull and down, and strands over it that soften its edges."""

from dataclasses import replace

import numpy as np
from scipy.ndimage import gaussian_filter

from mimegen.base.easing import ramp
from mimegen.base.seeds import generator
from mimegen.base.vectors import unit
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.head import HeadShape, grid_faces, head_shape
from mimegen.characters.piece import Piece
from mimegen.characters.spec import CharacterSpec, Hair
from mimegen.characters.strands import beard_strands, knotted, strands
from mimegen.motion.quaternions import FloatArray

COLUMNS = 160
ROWS = 40
CROWN_TILT, KNOT_TILT = np.radians(24), np.radians(80)
TIED = ("tail", "bun")
# Where hair begins on the skin: degrees from straight ahead, height above the eyes as a share of
# the height from eyes to crown.
HAIRLINE_DEG = (0, 25, 45, 58, 68, 76, 84, 104, 114, 130, 180)
HAIRLINE_UP = (0.66, 0.67, 0.60, 0.38, 0.02, -0.20, 0.20, 0.20, -0.25, -0.62, -0.80)
# How far it goes back, likewise, on who loses hair.
HAIRLINE_BACK = (0.20, 0.25, 0.32, 0.30, 0.15, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def make_hair(spec: CharacterSpec, body: Body) -> Piece:
    """Return a person's hair and beard: a sheet along the skull, with strands over it."""
    head, hair = head_shape(body), worn_hair(spec)
    draws = generator(spec.seed, 0x4A12)
    meshes = list(beard_strands(head, hair, draws))
    if hair.kind != "bald":
        flow = flowing(head, hair, draws)
        meshes += [sheet(head, hair, flow, draws), *strands(head, hair, flow, draws)]
        meshes += knotted(head, hair, flow, draws)
    material = Material("hair", "hair", {"color": spec.hair.color})
    return Piece(tuple(meshes), (material,) if meshes else ())


def worn_hair(spec: CharacterSpec) -> Hair:
    """Return the hair that is seen: flat under a cap, none under a scarf."""
    worn, hair = {garment.kind for garment in spec.outfit}, spec.hair
    if "headscarf" in worn:
        return hair.model_copy(update={"kind": "bald"})
    if "cap" in worn:
        kind = {"curls": "strands", "bun": "tail"}.get(hair.kind, hair.kind)
        return hair.model_copy(update={"kind": kind, "volume": 0.0})
    return hair


def flowing(head: HeadShape, hair: Hair, draws: np.random.Generator) -> FloatArray:
    """Return the places (ROWS, COLUMNS, 3) of hair: each column is a strand from the crown.

    It lies on the skull as far as the hairline, or hangs from where the skull turns inwards if it
    is longer. Hair that is tied has its crown at the knot.
    """
    around = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    clump = clumps(draws)
    polar = np.radians(np.linspace(0.2, 150, 120))
    tied = hair.kind in TIED
    scalp, azimuth = scalp_lines(head, around, polar, KNOT_TILT if tied else CROWN_TILT)
    ends = hairline_rows(head, hair, scalp, azimuth)
    share = np.linspace(0, 1, ROWS)
    rows = share[:, None] * ends
    on_skull = sample_rows(scalp, rows)
    facing = np.abs(np.degrees(sample_rows(azimuth[..., None], rows)[..., 0]))
    thick = thickness(hair, share[:, None], facing[-1], on_skull, head) * (
        1 + 0.35 * clump * ramp(share, 0.03, 0.35)[:, None])
    places = on_skull + thick[..., None] * unit(on_skull - head.centre)
    if hair.length > 0 and hair.kind == "strands":
        places = hanging(head, hair, places, facing[-1], clump)
    return places


def sheet(head: HeadShape, hair: Hair, flow: FloatArray, draws: np.random.Generator) -> Mesh:
    """Return the sheet under the strands; ``strand`` (V, 3) hardly changes along a strand.

    Every other row and column of the flow is enough, but for the last, and its edge is ragged.
    """
    uneven = gaussian_filter(draws.random(COLUMNS), 1.6, mode="wrap")[::2]
    short = 1 - ragged(hair) * (0.5 + 0.5 * uneven)
    share = np.linspace(0, 1, ROWS)[[*range(0, ROWS, 2), ROWS - 1]]
    rows = np.asarray((ROWS - 1) * np.minimum(share[:, None], short), float)
    places = sample_rows(flow[:, ::2], rows)
    around = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)[::2]
    spread = 3 * ramp(share, -0.02, 0.25)[:, None]
    strand = np.stack(np.broadcast_arrays(
        np.cos(around) * spread, np.sin(around) * spread, share[:, None] * 0.5), axis=-1)
    faces = grid_faces(len(places), places.shape[1], closed=True)
    return swaying(head, hair, head.rigid("hair", places.reshape(-1, 3), faces[:, ::-1], "hair",
                                          {"strand": strand.reshape(-1, 3)}))


def ragged(hair: Hair) -> float:
    """Return by what share of their length strands of the sheet are shorter than others."""
    return 0.10 if hair.kind == "strands" and hair.length > 0 else 0.04


def swaying(head: HeadShape, hair: Hair, mesh: Mesh) -> Mesh:
    """Return a mesh with ``sway`` (V,), how far long hair moves by itself, 0 to 1."""
    if not (hair.kind == "tail" or (hair.kind == "strands" and hair.length > 0.3)):
        return mesh
    _, y, z = mesh.vertices.T
    below = ramp(z, head.eyes[0, 2] - 0.2 * head.unit, head.eyes[0, 2] - 1.6 * head.unit)
    behind = ramp(y, head.centre[1] - 0.2 * head.unit, head.centre[1] + 0.3 * head.unit)
    return replace(mesh, attributes={**mesh.attributes, "sway": below * behind})


def clumps(draws: np.random.Generator) -> FloatArray:
    """Return smooth noise (ROWS, COLUMNS), about -1 to 1, drawn out along the strands."""
    noise = draws.normal(size=(ROWS, COLUMNS))
    fine = gaussian_filter(noise, (12, 1.0), mode=("nearest", "wrap"))
    broad = gaussian_filter(draws.normal(size=(ROWS, COLUMNS)), (9, 3.5), mode=("nearest", "wrap"))
    return np.asarray(0.6 * fine / fine.std() + 0.6 * broad / broad.std()).clip(-2, 2) * 0.5


def scalp_lines(
    head: HeadShape, around: FloatArray, polar: FloatArray, tilt_rad: float
) -> tuple[FloatArray, FloatArray]:
    """Return the skull's points (P, COLUMNS, 3) along lines from the crown, and their azimuths.

    The crown lies ``tilt_rad`` behind the top. Azimuths are radians from straight ahead.
    """
    turned, slope = np.meshgrid(around, polar)
    upright = np.stack([
        np.sin(slope) * np.sin(turned), -np.sin(slope) * np.cos(turned), np.cos(slope)
    ], axis=-1)
    cosine, sine = np.cos(tilt_rad), np.sin(tilt_rad)
    tilt = np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])
    directions = upright @ tilt.T
    radius = head.skull_radius(directions.reshape(-1, 3)).reshape(turned.shape)
    points = head.centre + radius[..., None] * directions
    return points, np.arctan2(directions[..., 0], -directions[..., 1])


def hairline_rows(head: HeadShape, hair: Hair, scalp: FloatArray,
                  azimuth: FloatArray) -> FloatArray:
    """Return, as a fractional row (COLUMNS,), where every line crosses the hairline."""
    above = above_hairline(head, hair, scalp, azimuth)
    below = (above < 0) & (np.arange(len(scalp))[:, None] > 10)
    first = np.where(below.any(axis=0), below.argmax(axis=0), len(scalp) - 1)
    columns = np.arange(scalp.shape[1])
    before, after = above[first - 1, columns], above[first, columns]
    rows = first - 1 + before / np.maximum(before - after, 1e-9)
    return np.asarray(gaussian_filter(rows, 0.8, mode="wrap"))


def above_hairline(head: HeadShape, hair: Hair, points: FloatArray,
                   azimuth: FloatArray) -> FloatArray:
    """Return how far points (..., 3) of the head lie inside the hairline, in metres."""
    facing = np.abs(np.degrees(azimuth))
    back = hair.receding * np.interp(facing, HAIRLINE_DEG, HAIRLINE_BACK)
    line = np.interp(facing, HAIRLINE_DEG, HAIRLINE_UP) + back
    return np.asarray(points[..., 2] - (head.eyes[0, 2] + line * head.unit))


def sample_rows(lines: FloatArray, rows: FloatArray) -> FloatArray:
    """Return values (R, COLUMNS, C) of lines (P, COLUMNS, C) at fractional rows (R, COLUMNS)."""
    before = np.clip(np.floor(rows).astype(int), 0, len(lines) - 2)
    share = (rows - before)[..., None]
    columns = np.arange(lines.shape[1])
    return np.asarray(
        lines[before, columns] * (1 - share) + lines[before + 1, columns] * share
    )


def thickness(
    hair: Hair, share: FloatArray, end_facing: FloatArray, scalp: FloatArray, head: HeadShape
) -> FloatArray:
    """Return how far the hair stands off the skull (ROWS, COLUMNS), in metres."""
    up = (scalp[..., 2] - head.eyes[0, 2]) / head.unit
    top = ramp(up, 0.35, 0.95)
    front = ramp(np.asarray(end_facing), 75.0, 30.0) * ramp(share, 0.35, 0.85)
    front = front * (1 - 0.8 * min(1.0, 4 * hair.length))
    volume = 0.006 + hair.volume * (0.008 + 0.014 * top + 0.010 * front)
    if hair.kind == "curls":
        volume = 0.012 + hair.volume * (0.035 + 0.035 * top)
    if hair.kind in (*TIED, "crop"):
        volume = np.full_like(top, 0.004 + 0.004 * hair.volume)
    volume = volume * (1 - parting(hair, scalp, head))
    root = np.sqrt(1 - ramp(share, 0.72, 1.0))
    return np.asarray(volume * (0.08 + 0.92 * root) - 0.0015 * (share > 0.99))


def parting(hair: Hair, scalp: FloatArray, head: HeadShape) -> FloatArray:
    """Return how much of the volume the parting of longer hair takes away (ROWS, COLUMNS)."""
    if hair.kind != "strands":
        return np.zeros(scalp.shape[:2])
    aside = (scalp[..., 0] - 0.16 * head.unit) / (0.035 * head.unit)
    forward = ramp(scalp[..., 1], head.centre[1] + 0.3 * head.unit, head.centre[1])
    return np.asarray(0.75 * min(1.0, 4 * hair.length) * forward * np.exp(-(aside**2)))


def hanging(
    head: HeadShape, hair: Hair, sheet: FloatArray, end_facing: FloatArray, clump: FloatArray
) -> FloatArray:
    """Let the strands that end beside and behind the face hang down to the hair's length."""
    chin = head.eyes[0, 2] - 0.95 * head.unit
    bottom = head.eyes[0, 2] - hair.length * 2.2 * head.unit
    share = ramp(end_facing, 40.0, 66.0)
    level = np.minimum(sheet[-1, :, 2], bottom) * share + sheet[-1, :, 2] * (1 - share)
    along = np.linspace(0, 1, ROWS)[:, None]
    level = level + 0.012 * clump[-1] * share
    heights = sheet[0, :, 2] + along * (level - sheet[0, :, 2])
    hung = np.empty_like(sheet)
    for column in range(COLUMNS):
        order = np.argsort(-sheet[:, column, 2], kind="stable")
        line = sheet[order, column]
        widest = np.argmax(np.hypot(line[:, 0], line[:, 1] - head.centre[1]))
        used = line[: widest + 1]
        for axis in (0, 1):
            hung[:, column, axis] = np.interp(-heights[:, column], -used[:, 2], used[:, axis])
    drop = np.clip((head.eyes[0, 2] - heights) / (head.eyes[0, 2] - chin), 0, None)
    inward = 1 - 0.10 * drop**2
    hung[..., 0] = hung[..., 0] * inward
    hung[..., 1] = head.centre[1] + (hung[..., 1] - head.centre[1]) * inward
    hung[..., 2] = heights
    hung[..., :2] += (0.004 * clump * np.minimum(drop, 1))[..., None] * np.sign(hung[..., :2])
    hung[..., 0] += beside_ears(head, hung)
    return sheet + share[:, None] * (hung - sheet)


def beside_ears(head: HeadShape, points: FloatArray) -> FloatArray:
    """Return how far hair (R, C, 3) must move along X so that it falls over the ears."""
    body = head.body
    ears = body.vertices[(body.masks["ears"] > 0.5) & (body.vertices[:, 0] > 0)]
    low, high = ears.min(axis=0), ears.max(axis=0)
    x, y, z = np.moveaxis(points, -1, 0)
    near = ramp(y, low[1] - 0.05, low[1]) * ramp(y, high[1] + 0.05, high[1])
    near = near * ramp(z, high[2] + 0.04, high[2] + 0.005)
    missing = np.maximum(high[0] + 0.005 - np.abs(x), 0.0)
    return np.asarray(np.sign(x) * near * missing)
