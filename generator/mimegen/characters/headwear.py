"""Glasses, caps and headscarves."""

from typing import Any

import numpy as np

from mimegen.base.arrays import BoolArray
from mimegen.base.easing import ramp
from mimegen.base.vectors import unit
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.cloth import cleared, cloth_mesh
from mimegen.characters.drape import Stretch, draped
from mimegen.characters.hair import beside_ears, sample_rows, scalp_lines
from mimegen.characters.head import HeadShape, grid_faces, head_shape
from mimegen.characters.patterns import cloth_material, printed
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.spec import Cap, Glasses, Headscarf
from mimegen.characters.surface import SkinnedSurface
from mimegen.motion.quaternions import FloatArray

WIRE_M = 0.0026
LENS = 24
COLUMNS = 64
CAP_ROWS = 14
SCARF_ROWS = 26
# Height of a cap's edge above the eyes, in front and behind, as a fraction of the height from eyes
# to crown.
CAP_UP = (0.52, 0.10)
CAP_GAP_M = 0.013
SCARF_GAP_M = 0.016
PEAK_M = 0.075
# How far below the neck's base a headscarf reaches, and its distance from the body there, in
# metres.
COWL_M = 0.09
COWL_GAP_M = 0.036
# The opening for the face: angles around it from the chin up, and its half-width there, in degrees.
FACE_DEG = ((0, 45, 90, 135, 180), (69, 62, 53, 40, 33))


def make_glasses(garment: Glasses, body: Body) -> CharacterPiece:
    """Return glasses: rims about the eyes, a bridge, and temples to the ears."""
    head = head_shape(body)
    wires = [wire for side in (1.0, -1.0) for wire in half_of_glasses(head, garment, side)]
    left, right = (wires[number][0] for number in (0, 2))
    nose = np.linspace(left[LENS // 2], right[LENS // 2], 5) + np.array([0.0, -0.001, 0.004])
    meshes = tuple(tube(head, f"glasses{number}", wire, closed)
                   for number, (wire, closed) in enumerate((*wires, (nose, False))))
    return CharacterPiece(meshes, (Material("glasses", "plain", {
        "color": garment.color, "roughness": 0.55, "metallic": 0.0}),))


def half_of_glasses(head: HeadShape, garment: Glasses,
                    side: float) -> list[tuple[FloatArray, bool]]:
    """Return the lines (N, 3) of a rim and a temple, each with a flag whether it is closed."""
    eye, size = head.eyes[0], head.unit
    turn = np.linspace(0, 2 * np.pi, LENS, endpoint=False)
    wide, high = 0.232 * size * garment.width, 0.185 * size * garment.width
    round_x, round_z = (np.sign(f(turn)) * np.sqrt(np.abs(f(turn))) for f in (np.cos, np.sin))
    x = eye[0] + 0.02 * size + wide * (0.4 * round_x + 0.6 * np.cos(turn))
    z = eye[2] - 0.03 * size + high * (0.4 * round_z + 0.6 * np.sin(turn))
    bowed = eye[1] - head.eye_radius - 0.011 + 0.10 * (x - eye[0] * 0.5) ** 2 / size
    rim = np.stack([side * x, bowed, z], axis=1)
    ears = head.body.vertices[head.body.masks["ears"] > 0.5]
    ear = np.array([ears[:, 0].max() - 0.012, ears[:, 1].min() + 0.012, eye[2] + 0.02 * size])
    hinge = np.array([x.max(), bowed[0] + 0.002, z.mean() + 0.3 * high])
    temple = np.stack([hinge, [ear[0], hinge[1] + 0.02, ear[2]], ear,
                       ear + np.array([-0.004, 0.02, -0.02])]) * [side, 1.0, 1.0]
    return [(rim, True), (temple, False)]


def tube(head: HeadShape, name: str, line: FloatArray, closed: bool) -> Mesh:
    """Return a wire along a line (N, 3), as a tube with a square cross-section."""
    along = np.roll(line, -1, 0) - np.roll(line, 1, 0) if closed else np.gradient(line, axis=0)
    up = np.array([0.0, -0.6, 0.8])
    first = unit(np.cross(along, up))
    second = unit(np.cross(first, along))
    turn = np.linspace(0, 2 * np.pi, 4, endpoint=False)[:, None, None]
    rings = line + WIRE_M * (np.cos(turn) * first + np.sin(turn) * second)
    rings = np.concatenate([rings, rings[:, :1]], axis=1) if closed else rings
    rings = rings.transpose(1, 0, 2)
    return head.rigid(name, rings.reshape(-1, 3), grid_faces(len(rings), 4, closed=True),
                      "glasses", {})


def make_cap(garment: Cap, body: Body) -> CharacterPiece:
    """Return a cap with a peak."""
    head = head_shape(body)
    crown, edge = dome(head, CAP_ROWS, CAP_UP, CAP_GAP_M)
    faces = grid_faces(CAP_ROWS, COLUMNS, closed=True)[:, ::-1]
    meshes = (head.rigid("cap", crown.reshape(-1, 3), faces, "cap", {}), peak(head, edge))

    def hides(points: FloatArray) -> BoolArray:
        return above_edge(head, points, CAP_UP) > 0.012

    def material(name: str, color: Any) -> Material:
        return Material(name, "plain", {"color": color, "roughness": 0.8, "metallic": 0.0})

    return CharacterPiece(meshes, (material("cap", garment.color), material("peak",
                                                                            garment.peak_color)),
                          hides)


def above_edge(head: HeadShape, points: FloatArray, edge_up: tuple[float, float]) -> FloatArray:
    """Return how far points (N, 3) lie above a cap's edge, in metres; -1 for points off a head."""
    x, y, _ = (points - head.centre).T
    front = 0.5 - 0.5 * y / np.maximum(np.hypot(x, y), 1e-6)
    level = head.eyes[0, 2] + head.unit * (edge_up[1] + front * (edge_up[0] - edge_up[1]))
    return np.where(np.hypot(x, y) < 1.6 * head.unit, points[:, 2] - level, -1.0)


def dome(head: HeadShape, rows: int, edge_up: tuple[float, float],
         gap: float) -> tuple[FloatArray, FloatArray]:
    """Return a dome over the skull (R, COLUMNS, 3) and its edge (COLUMNS, 3)."""
    around = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    lines, _ = scalp_lines(head, around, np.radians(np.linspace(0.5, 140, 90)))
    above = above_edge(head, lines.reshape(-1, 3), edge_up).reshape(lines.shape[:2])
    last = np.argmax(above < 0, axis=0)
    pick = np.round(np.linspace(0, 1, rows)[:, None] * last).astype(int)
    places = lines[pick, np.arange(COLUMNS)]
    out = unit(places - head.centre)
    high = 0.010 * ramp(np.linspace(1, 0, rows), 0.0, 0.6)[:, None, None]
    places = places + (gap + high) * out
    return places, places[-1]


def peak(head: HeadShape, edge: FloatArray) -> Mesh:
    """Return a cap's peak, which extends from the front of its edge forwards and slightly down."""
    azimuth = np.arctan2(edge[:, 0] - head.centre[0], head.centre[1] - edge[:, 1])
    root = edge[np.abs(azimuth) < np.radians(58)]
    share = np.linspace(0, 1, 6)[:, None]
    wide = np.cos(np.linspace(-1, 1, len(root)) * np.pi / 2)[None] ** 0.6
    grid = np.repeat(root[None], 6, axis=0)
    grid[..., 1] -= PEAK_M * share * wide
    grid[..., 2] -= 0.018 * share**2 + 0.25 * np.abs(grid[..., 0] - head.centre[0]) ** 2 / 0.09
    grid[..., 2] += 0.012 - 0.01 * share
    below = grid - [0.0, 0.0, 0.004]
    both = np.concatenate([grid, below[::-1]])
    faces = grid_faces(12, len(root), closed=False)
    return head.rigid("peak", both.reshape(-1, 3), faces[:, ::-1], "peak", {})


def make_headscarf(garment: Headscarf, body: Body) -> CharacterPiece:
    """Return a headscarf: over the head around the face, and around the neck onto the shoulders."""
    head = head_shape(body)
    hood, cowl = scarf_hood(head), scarf_cowl(head)
    meshes = []
    for name, grid in (("headscarf", hood), ("cowl", cowl)):
        faces = grid_faces(len(grid), COLUMNS, closed=True)[:, ::-1]
        surface = SkinnedSurface(grid.reshape(-1, 3), faces, scarf_weights(head, grid.reshape(-1,
                                                                                              3)))
        surface = cleared(surface, body, 0.006 if grid is hood else 0.75 * COWL_GAP_M)
        meshes.append(printed(cloth_mesh(name, surface, "headscarf"), garment.pattern, body))
    return CharacterPiece(tuple(meshes), (cloth_material(
        "headscarf", garment, fold_height=0.03, fold_stretch=(1.0, 1.0, 0.5), roughness=0.85),))


def scarf_hood(head: HeadShape) -> FloatArray:
    """Return the scarf over the head (SCARF_ROWS, COLUMNS, 3), from the face backwards."""
    around = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    lines, _ = scalp_lines(head, around, np.radians(np.linspace(20, 179.6, 160)), -np.pi / 2)
    begin = np.interp(np.degrees(np.abs(around)), *FACE_DEG) - 20
    share = np.linspace(0, 1, SCARF_ROWS)[:, None]
    low = lines[..., 2] < head.body.joint("Neck")[2] + 0.25 * head.unit
    end = np.where(low.any(axis=0), low.argmax(axis=0) - 1, len(lines) - 1)
    places = sample_rows(lines, begin + share * np.maximum(end - begin, 1.0))
    out = unit(places - head.centre)
    folds = 0.35 * np.sin(7 * np.pi * share + 0.8 * np.cos(around)) * ramp(share, 0.1, 0.4)
    gap = SCARF_GAP_M * (ramp(share, -0.15, 0.12) + folds * ramp(np.cos(around), -0.6, 0.6))
    places = places + gap[..., None] * out
    places[..., 0] += beside_ears(head, places)
    return np.asarray(places)


def scarf_cowl(head: HeadShape) -> FloatArray:
    """Return the scarf around neck and shoulders (16, COLUMNS, 3)."""
    body = head.body
    neck = body.joint("Neck")
    top = np.array([0.0, neck[1] - 0.012, head.eyes[0, 2] - 0.98 * head.unit])
    tube = Stretch(top, top * [1.0, 1.0, 0.0] + [0.0, 0.0, neck[2] - COWL_M])
    skin = body.vertices[np.unique(body.faces["body"])]
    near = np.hypot(skin[:, 0], skin[:, 1] - top[1]) < 0.14 * body.phenotype.height / 1.7
    turn = np.linspace(-np.pi, np.pi, COLUMNS, endpoint=False)
    down = np.linspace(0, 1, 16)[:, None] * tube.length
    down = down * (1 - 0.42 * np.abs(np.sin(turn)))
    thin = top + np.stack(np.broadcast_arrays(
        0.01 * np.sin(turn), -0.01 * np.cos(turn), -down), axis=-1)
    places = draped(thin.reshape(-1, 3), tube, COWL_GAP_M, -0.1, skin[near])
    return places.reshape(16, COLUMNS, 3)


def scarf_weights(head: HeadShape, points: FloatArray) -> FloatArray:
    """Return weights (N, J): on the head above the chin, on the chest at the shoulders."""
    skeleton = head.body.skeleton
    weights = np.zeros((len(points), len(skeleton.names)))
    up = ramp(points[:, 2], head.body.joint("Neck")[2] - 0.02, head.eyes[0, 2] - 0.9 * head.unit)
    weights[:, skeleton.index["Head"]] = up**2
    weights[:, skeleton.index["Neck"]] = 2 * up * (1 - up)
    weights[:, skeleton.index["Spine2"]] = (1 - up) ** 2
    return weights
