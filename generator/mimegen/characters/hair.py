"""Hair: a sheet along the skull and downwards, with strands over it that soften its edges."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.arrays import BoolArray
from mimegen.base.easing import ramp
from mimegen.base.seeds import generator
from mimegen.base.vectors import unit
from mimegen.characters.beards import beard_meshes
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.curls import curl_thickness, curls
from mimegen.characters.head import HeadShape, grid_faces, head_shape
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spec import CharacterSpec, Hair
from mimegen.characters.strands import FRAME, knotted, ribbons, strands
from mimegen.characters.surface import IntArray
from mimegen.motion.quaternions import FloatArray

# Resolution of the flow: strands around the head, and positions along each.
COLUMNS = 160
ROWS = 40
# How far behind the top of the head the crown lies, and the knot of tied hair, in radians.
CROWN_TILT = np.radians(24)
KNOT_TILT = np.radians(80)
# Ranges of how far a parting is to one side, and how far short hair turns around the crown, in
# radians.
PARTING_ASIDE = (0.0, 0.3)
WHORL_TURN = (0.2, 0.7)
# How far behind the hairline a parting begins, in radians.
PARTING_BEHIND = 0.04
# Strands that end farther from straight ahead than this, in degrees, hang down.
HANGS_FROM_DEG = 41.0
# Where hair leaves the skull and hangs: height above the eyes in units (eyes to crown).
HANGS_FROM_UP = 0.2
# How much denser the lines that leave a parting are towards the sides.
SIDEWAYS = 0.35
# The sheet uses every SHEET_STEP-th row and column of the flow.
SHEET_STEP = 2
# The inside of hanging hair: its first row, the step between its columns, and its distance from the
# outside in metres.
LINED_ROWS = 16
LINED_STEP = 4
LINING_M = 0.005
# Distance between hanging strands and the face, in metres.
OFF_FACE_M = 0.004
# The number of columns on either side of the face that get extra strands.
FRAMING = 5
TIED = ("tail", "bun")
# The hairline: degrees from straight ahead, and height above the eyes as a fraction of the height
# from eyes to crown.
HAIRLINE_DEG = (0, 25, 45, 58, 68, 76, 84, 104, 114, 130, 180)
HAIRLINE_UP = (0.66, 0.67, 0.60, 0.38, 0.02, -0.20, 0.20, 0.20, -0.25, -0.62, -0.80)
# How far the hairline moves up where hair recedes fully, in the same units.
HAIRLINE_BACK = (0.20, 0.25, 0.32, 0.30, 0.15, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Flow(NamedTuple):
    """The paths of strands.

    ``places`` (ROWS, C, 3) has one strand per column, from root to end; ``hangs`` (C,) marks those
    that hang down.
    """

    places: FloatArray
    hangs: BoolArray


def make_hair(spec: CharacterSpec, body: Body) -> CharacterPiece:
    """Return a person's hair and beard."""
    head, hair = head_shape(body), visible_hair(spec)
    draws = generator(spec.seed, 0x4A12)
    meshes = list(beard_meshes(head, hair, draws))
    if hair.kind != "bald":
        flow = flowing(head, hair, draws)
        if hair.kind == "curls":
            meshes += curls(head, hair, flow.places, draws)
        else:
            meshes += [sheet(head, hair, flow, draws), *lining(head, hair, flow),
                       *strands(head, hair, flow.places, draws), *framing(head, hair, flow, draws),
                       *knotted(head, hair, flow.places, draws)]
    material = Material("hair", "hair", {"color": spec.hair.color})
    return CharacterPiece(tuple(meshes), (material,) if meshes else ())


def visible_hair(spec: CharacterSpec) -> Hair:
    """Return the visible hair: flat under a cap, none under a headscarf."""
    worn, hair = {garment.kind for garment in spec.outfit}, spec.hair
    if "headscarf" in worn:
        return hair.model_copy(update={"kind": "bald"})
    if "cap" in worn:
        kind = {"curls": "strands", "bun": "tail"}.get(hair.kind, hair.kind)
        return hair.model_copy(update={"kind": kind, "volume": 0.0})
    # Long hair hangs in front of receding temples.
    return hair.model_copy(update={"receding": 0.3 * hair.receding}) if is_long(hair) else hair


def flowing(head: HeadShape, hair: Hair, draws: np.random.Generator) -> Flow:
    """Return the flow of hair, in which each column is a strand from its root.

    Short hair lies on the skull from the crown to the hairline, turning to one side. Long hair goes
    from a parting above the forehead to the sides and back, and hangs down from where the skull
    turns inwards. Tied hair has its crown at the knot.
    """
    clump = clumps(draws)
    around = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    if is_long(hair):
        # Most visible hair hangs from lines that leave the parting sideways.
        around = around + SIDEWAYS * np.sin(2 * around)
    scalp, azimuth = scalp_lines(head, around, np.radians(np.linspace(0.2, 150, 120)),
                                 *whorl(head, hair, draws))
    ends = hairline_rows(head, hair, scalp, azimuth)
    share = np.linspace(0, 1, ROWS)
    rows = share[:, None] * ends
    on_skull = sample_rows(scalp, rows)
    facing = np.abs(np.degrees(sample_rows(azimuth[..., None], rows)[..., 0]))
    if hair.kind == "curls":
        thick = curl_thickness(hair, on_skull)
    else:
        thick = thickness(hair, share[:, None], facing[-1], on_skull, head) * (
            1 + 0.35 * clump * ramp(share, 0.03, 0.35)[:, None])
    places = on_skull + thick[..., None] * unit(on_skull - head.centre)
    if not is_long(hair):
        return Flow(places, np.zeros(COLUMNS, bool))
    hangs = facing[-1] > HANGS_FROM_DEG
    return parted(np.where(hangs[:, None], hanging(head, hair, places, clump), places), hangs)


def parted(places: FloatArray, hangs: BoolArray) -> Flow:
    """Return a flow that leaves no surface between hanging strands and those that lie on the skull.

    Between two such neighbours it inserts a strand: the hanging one, cut to the length of the
    other.
    """
    for column in np.flatnonzero(hangs != np.roll(hangs, -1))[::-1]:
        beside = (column + 1) % len(hangs)
        hung, lying = (column, beside) if hangs[column] else (beside, column)
        between = evenly(places[:, hung], lengths(places[:, lying])[-1])
        places = np.insert(places, column + 1, between, axis=1)
        hangs = np.insert(hangs, column + 1, False)
    return Flow(places, hangs)


def lengths(line: FloatArray) -> FloatArray:
    """Return the distances (R,) of a line's points (R, 3) along it, in metres."""
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def evenly(line: FloatArray, length: float) -> FloatArray:
    """Return points (ROWS, 3) at even steps along the first ``length`` metres of a line (R, 3)."""
    even, along = np.linspace(0.0, length, ROWS), lengths(line)
    return np.stack([np.interp(even, along, line[:, axis]) for axis in range(3)], axis=1)


def is_long(hair: Hair) -> bool:
    """Return whether the hair hangs down."""
    return hair.length > 0 and hair.kind == "strands"


def whorl(head: HeadShape, hair: Hair,
          draws: np.random.Generator) -> tuple[float, float, float]:
    """Return where strands begin and how they swirl around that point, in radians.

    The angles are: how far the point lies behind the top of the head, how far to its left, and how
    far a strand has turned where it is a right angle away from the point.
    """
    side = draws.choice([-1.0, 1.0])
    aside, turn = draws.uniform(*PARTING_ASIDE), draws.uniform(*WHORL_TURN)
    if hair.kind in TIED:
        return KNOT_TILT, 0.0, 0.0
    if is_long(hair):
        return -forehead_tilt(head, hair), side * aside, 0.0
    return CROWN_TILT, 0.25 * side * aside, side * turn * (hair.kind == "strands")


def forehead_tilt(head: HeadShape, hair: Hair) -> float:
    """Return how far in front of the top a parting begins, just above the hairline, in radians."""
    radius = float(head.skull_radius(np.array([[0.0, -np.sqrt(0.75), 0.5]]))[0])
    up = HAIRLINE_UP[0] + hair.receding * HAIRLINE_BACK[0]
    rise = head.eyes[0, 2] + up * head.unit - head.centre[2]
    return float(np.arccos(rise / radius)) - PARTING_BEHIND


def sheet(head: HeadShape, hair: Hair, flow: Flow, draws: np.random.Generator) -> Mesh:
    """Return the sheet under the strands, with a ragged edge.

    Its attribute ``strand`` (V, 3) hardly changes along a strand. It skips every other row and
    column of the flow, except for the last row and the columns where hair begins to hang.
    """
    count = len(flow.hangs)
    parts = flow.hangs != np.roll(flow.hangs, 1)
    columns = np.flatnonzero((np.arange(count) % SHEET_STEP == 0) | parts | np.roll(parts, -1))
    uneven = scipy.ndimage.gaussian_filter(draws.random(count), 1.6, mode="wrap")[columns]
    short = 1 - ragged(hair) * (0.5 + 0.5 * uneven)
    share = np.linspace(0, 1, ROWS)[[*range(0, ROWS - 1, SHEET_STEP), ROWS - 1]]
    rows = np.asarray((ROWS - 1) * np.minimum(share[:, None], short), float)
    places = sample_rows(flow.places[:, columns], rows)
    faces = grid_faces(len(places), places.shape[1], closed=True)
    strand = strand_colors(share, columns / count)
    return swaying(head, hair, head.rigid("hair", places.reshape(-1, 3), faces[:, ::-1], "hair",
                                          {"strand": strand}))


def strand_colors(share: FloatArray, column: FloatArray) -> FloatArray:
    """Return the attribute ``strand`` (R * C, 3) of a grid.

    ``share`` (R,) is the position along strands and ``column`` (C,) that around the head, 0 to 1.
    """
    around = 2 * np.pi * column - np.pi
    spread = 3 * ramp(share, -0.02, 0.25)[:, None]
    return np.asarray(np.stack(np.broadcast_arrays(
        np.cos(around) * spread, np.sin(around) * spread, share[:, None] * 0.5),
        axis=-1).reshape(-1, 3))


def lining(head: HeadShape, hair: Hair, flow: Flow) -> Iterator[Mesh]:
    """Yield the inside of hanging hair: a coarser sheet that faces the neck."""
    if not flow.hangs.any():
        return
    columns, rows = hanging_columns(flow)[::LINED_STEP], np.arange(LINED_ROWS, ROWS - 2, 3)
    places = flow.places[rows][:, columns]
    places = places - LINING_M * unit((places - head.centre) * [1.0, 1.0, 0.0])
    faces = grid_faces(len(rows), len(columns), closed=False)
    strand = strand_colors(rows / (ROWS - 1), columns / len(flow.hangs))
    yield swaying(head, hair, head.rigid("hair_lining", places.reshape(-1, 3), faces, "hair",
                                         {"strand": strand}))


def hanging_columns(flow: Flow) -> IntArray:
    """Return the columns that hang, from the left of the face around the back to the right."""
    first = int(np.flatnonzero(flow.hangs & ~np.roll(flow.hangs, 1))[0])
    return (first + np.arange(int(flow.hangs.sum()))) % len(flow.hangs)


def framing(head: HeadShape, hair: Hair, flow: Flow, draws: np.random.Generator) -> Iterator[Mesh]:
    """Yield strands that soften the edges of hanging hair beside the face."""
    if flow.hangs.any():
        columns = hanging_columns(flow)
        for name, beside in (("left", columns[:FRAMING]), ("right", columns[:-FRAMING - 1:-1])):
            yield swaying(head, hair, ribbons(head, f"framing_{name}", flow.places, FRAME, draws,
                                              beside))


def ragged(hair: Hair) -> float:
    """Return how much shorter some strands of the sheet are, as a fraction of their length."""
    return 0.06 if is_long(hair) else 0.02


def swaying(head: HeadShape, hair: Hair, mesh: Mesh) -> Mesh:
    """Return a mesh with ``sway`` (V,), 0 to 1: how far long hair moves apart from the head."""
    if not (hair.kind == "tail" or (hair.kind == "strands" and hair.length > 0.3)):
        return mesh
    _, y, z = mesh.vertices.T
    below = ramp(z, head.eyes[0, 2] - 0.2 * head.unit, head.eyes[0, 2] - 1.6 * head.unit)
    behind = ramp(y, head.centre[1] - 0.2 * head.unit, head.centre[1] + 0.3 * head.unit)
    return replace(mesh, attributes={**mesh.attributes, "sway": below * behind})


def clumps(draws: np.random.Generator) -> FloatArray:
    """Return smooth noise (ROWS, COLUMNS) from -1 to 1, elongated along the strands."""
    noise = draws.normal(size=(ROWS, COLUMNS))
    fine = scipy.ndimage.gaussian_filter(noise, (12, 1.0), mode=("nearest", "wrap"))
    broad = scipy.ndimage.gaussian_filter(draws.normal(size=(ROWS, COLUMNS)), (9, 3.5),
                                          mode=("nearest", "wrap"))
    return np.asarray(0.6 * fine / fine.std() + 0.6 * broad / broad.std()).clip(-2, 2) * 0.5


def scalp_lines(head: HeadShape, around: FloatArray, polar: FloatArray, behind: float = 0.0,
                aside: float = 0.0, turn: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return points (P, C, 3) on the skull along lines from a common beginning, and their azimuths.

    The beginning lies ``behind`` the top and ``aside`` to the left. Lines leave it in directions
    ``around`` (C,) and turn by ``turn``; points lie at angles ``polar`` (P,) from it, in radians.
    Azimuths (P, C) are radians from straight ahead.
    """
    begun, slope = np.meshgrid(around, polar)
    quarter = slope / (0.5 * np.pi)
    turned = begun + turn * quarter * quarter
    upright = np.stack([
        np.sin(slope) * np.sin(turned), -np.sin(slope) * np.cos(turned), np.cos(slope)
    ], axis=-1)
    cosine, sine = np.cos(behind), np.sin(behind)
    back = np.array([[1, 0, 0], [0, cosine, sine], [0, -sine, cosine]])
    cosine, sine = np.cos(aside), np.sin(aside)
    over = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
    directions = upright @ (over @ back).T
    radius = head.skull_radius(directions.reshape(-1, 3)).reshape(turned.shape)
    points = head.centre + radius[..., None] * directions
    return points, np.arctan2(directions[..., 0], -directions[..., 1])


def hairline_rows(head: HeadShape, hair: Hair, scalp: FloatArray,
                  azimuth: FloatArray) -> FloatArray:
    """Return the fractional row (COLUMNS,) at which each line crosses the hairline."""
    above = above_hairline(head, hair, scalp, azimuth)
    below = (above < 0) & (np.arange(len(scalp))[:, None] > 0)
    first = np.where(below.any(axis=0), below.argmax(axis=0), len(scalp) - 1)
    columns = np.arange(scalp.shape[1])
    before, after = above[first - 1, columns], above[first, columns]
    rows = first - 1 + np.clip(before / np.maximum(before - after, 1e-9), 0.0, 1.0)
    return np.asarray(scipy.ndimage.gaussian_filter(rows, 0.8, mode="wrap"))


def above_hairline(head: HeadShape, hair: Hair, points: FloatArray,
                   azimuth: FloatArray) -> FloatArray:
    """Return how far points (..., 3) of the head lie inside the hairline, in metres."""
    facing = np.abs(np.degrees(azimuth))
    back = hair.receding * np.interp(facing, HAIRLINE_DEG, HAIRLINE_BACK)
    line = np.interp(facing, HAIRLINE_DEG, HAIRLINE_UP) + back
    return np.asarray(points[..., 2] - (head.eyes[0, 2] + line * head.unit))


def sample_rows(lines: FloatArray, rows: FloatArray) -> FloatArray:
    """Return values (R, C, K) of lines (P, C, K), interpolated at fractional rows (R, C)."""
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
    if hair.kind in (*TIED, "crop"):
        volume = np.full_like(top, 0.004 + 0.004 * hair.volume)
    root = np.sqrt(1 - ramp(share, 0.72, 1.0))
    if is_long(hair):
        away = np.linalg.norm(scalp - scalp[:1], axis=-1)
        volume, root = volume * ramp(away, -0.01, 0.06), np.ones_like(share)
    return np.asarray(volume * (0.08 + 0.92 * root) - 0.0015 * (share > 0.99))


def hanging(head: HeadShape, hair: Hair, sheet: FloatArray, clump: FloatArray) -> FloatArray:
    """Let strands (ROWS, COLUMNS, 3) hang down to the hair's length."""
    chin = head.eyes[0, 2] - 0.95 * head.unit
    bottom = head.eyes[0, 2] - hair.length * 2.2 * head.unit + 0.006 * clump[-1]
    hung = np.stack([hanging_line(head, sheet[:, column], bottom[column])
                     for column in range(COLUMNS)], axis=1)
    drop = np.clip((head.eyes[0, 2] - hung[..., 2]) / (head.eyes[0, 2] - chin), 0, None)
    inward = 1 - 0.10 * drop * drop
    hung[..., 0] = hung[..., 0] * inward
    hung[..., 1] = head.centre[1] + (hung[..., 1] - head.centre[1]) * inward
    hung[..., :2] += (0.004 * clump * np.minimum(drop, 1))[..., None] * np.sign(hung[..., :2])
    hung[..., 0] += beside_ears(head, hung)
    return head.off_face(hung, OFF_FACE_M, 1.0)


def hanging_line(head: HeadShape, line: FloatArray, bottom: float) -> FloatArray:
    """Return a strand (ROWS, 3) that follows a line (R, 3) down to the brows, then hangs down."""
    below = line[:, 2] < head.eyes[0, 2] + HANGS_FROM_UP * head.unit
    last = int(np.argmax(below)) if below.any() else len(line) - 1
    end = line[last] * [1.0, 1.0, 0.0] + [0.0, 0.0, min(bottom, float(line[-1, 2]))]
    strand = np.concatenate([line[:last + 1], end[None]])
    return evenly(strand, lengths(strand)[-1])


def beside_ears(head: HeadShape, points: FloatArray) -> FloatArray:
    """Return how far hair (R, C, 3) must move along X to fall over the ears, in metres."""
    body = head.body
    ears = body.vertices[(body.masks["ears"] > 0.5) & (body.vertices[:, 0] > 0)]
    low, high = ears.min(axis=0), ears.max(axis=0)
    x, y, z = np.moveaxis(points, -1, 0)
    near = ramp(y, low[1] - 0.05, low[1]) * ramp(y, high[1] + 0.05, high[1])
    near = near * ramp(z, high[2] + 0.04, high[2] + 0.005)
    missing = np.maximum(high[0] + 0.010 - np.abs(x), 0.0)
    return np.asarray(np.sign(x) * near * missing)
