"""Where everything of a set stands, and what a camera must not have in its way."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mimegen.base.seeds import generator
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera
from mimegen.stage.scenery.scenery import (
    Copies,
    Group,
    Object,
    Placed,
    Scenery,
    Solid,
    Words,
)
from mimegen.stage.scenery.shapes import mesh_of

# The room that a performance takes: 2 m x 3 m and 2.5 m high, from above what lies on the floor.
PERFORMER_LOW = np.array([-1.0, -1.5, 0.06])
PERFORMER_HIGH = np.array([1.0, 1.5, 2.5])
# What is nearer to the camera than this share of the way to the performer would fill the picture.
NEAR_SHARE = 0.55


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """One shape in its place: ``matrix`` (4, 4) takes its own frame to the world's.

    Pieces of the same ``whole`` come and go together. ``front`` is the place and the direction of
    a mounted whole's front, else None.
    """

    shape: Solid
    material: str
    matrix: FloatArray
    whole: int
    front: tuple[FloatArray, FloatArray] | None


@dataclass(frozen=True, eq=False)
class WallPanel:
    """One straight piece of wall: corners (4, 3) counter-clockwise seen from inside."""

    corners: FloatArray
    material: str


def world_from_set(scenery: Scenery) -> FloatArray:
    """Return the matrix (4, 4) from the set's frame to the world's, the performer at its origin."""
    turn = _matrix((0.0, 0.0, 0.0), (0.0, 0.0, scenery.turn_deg))
    return np.asarray(turn @ _matrix((-scenery.performer_at[0], -scenery.performer_at[1], 0.0)))


def lay_out(scenery: Scenery) -> list[PlacedShape]:
    """Return every shape of the set in the world, copies and groups resolved."""
    start = world_from_set(scenery)
    wholes, writings = itertools.count(), _Writings(scenery.scatter)
    pieces: list[PlacedShape] = []
    for number, thing in enumerate(scenery.objects):
        name = f"{scenery.scatter}objects.{number}"
        for copy, matrix in enumerate(_copies(thing, start, name)):
            front = (matrix[:3, 3], -matrix[:3, 1]) if thing.mounted else None
            whole = next(wholes)
            pieces.extend(
                PlacedShape(shape, material, place, whole, front)
                for shape, material, place in
                _solids(scenery, thing, copy, matrix, {}, f"{name}.{copy}", writings))
    return pieces


def wall_panels(scenery: Scenery) -> list[WallPanel]:
    """Return every straight piece of the set's walls in the world."""
    matrix = world_from_set(scenery)
    panels = []
    for walls in scenery.walls:
        ends = [*walls.corners, walls.corners[0]] if walls.closed else list(walls.corners)
        for start, end in itertools.pairwise(ends):
            corners = np.array([(*end, walls.bottom), (*start, walls.bottom),
                                (*start, walls.top), (*end, walls.top)])
            panels.append(WallPanel(corners @ matrix[:3, :3].T + matrix[:3, 3], walls.material))
    return panels


def panel_frame(panel: WallPanel) -> tuple[FloatArray, FloatArray]:
    """Return a wall's own frame in the world (4, 4), X along it, and its corners (4, 3) in that."""
    along = panel.corners[1] - panel.corners[0]
    length = float(np.linalg.norm(along))
    inward = np.cross(along / length, [0.0, 0.0, 1.0])
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = along / length, -inward, [0, 0, 1]
    frame[:3, 3] = panel.corners[0]
    return frame, (panel.corners - panel.corners[0]) @ frame[:3, :3]


def faces_camera(panel: WallPanel, camera: Camera) -> bool:
    """Return whether the camera stands on the inside of a wall."""
    one, two, three = panel.corners[:3]
    inside = np.cross(two - one, three - one)
    return bool((np.array(camera.position) - one) @ inside > 0)


def visible_pieces(pieces: list[PlacedShape], camera: Camera) -> list[PlacedShape]:
    """Return the pieces without the wholes that come between the camera and the performer.

    That is whatever reaches into the convex hull of the camera and the performer's room, or
    stands close before the camera within its view, or is mounted with its back to the camera.
    """
    eye = np.array(camera.position)
    shapes = {id(piece.shape): piece.shape for piece in pieces}
    meshes = {key: mesh_of(shape).vertices for key, shape in shapes.items()}
    bounds = {key: (points.min(axis=0), points.max(axis=0)) for key, points in meshes.items()}
    sight = np.vstack([eye, box_corners(PERFORMER_LOW, PERFORMER_HIGH)])
    near = near_view(camera)
    hidden = set()
    for piece in pieces:
        if piece.whole in hidden:
            continue
        box = box_corners(*bounds[id(piece.shape)]) @ piece.matrix[:3, :3].T + piece.matrix[:3, 3]
        backwards = piece.front is not None and (eye - piece.front[0]) @ piece.front[1] < 0
        if backwards or hulls_meet(sight, box) or hulls_meet(near, box):
            hidden.add(piece.whole)
    return [piece for piece in pieces if piece.whole not in hidden]


def near_view(camera: Camera) -> FloatArray:
    """Return the apex and corners (5, 3) of the camera's view up to ``NEAR_SHARE`` of the way."""
    eye = np.array(camera.position)
    reach = NEAR_SHARE * float(np.linalg.norm(eye[:2]))
    corners = np.array([[0, 0], [camera.width, 0], [camera.width, camera.height],
                        [0, camera.height]], dtype=float)
    ends = eye + camera.rays(corners) * reach
    # What lies on the floor never stands in the way.
    ends[:, 2] = np.maximum(ends[:, 2], PERFORMER_LOW[2])
    return np.vstack([eye, ends])


def box_corners(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of a box, X slowest."""
    return np.array(list(itertools.product(*zip(low, high, strict=True))))


def hulls_meet(cone: FloatArray, box: FloatArray) -> bool:
    """Return whether the hull of ``cone`` (an apex, then a base) meets a turned box (8, 3).

    Separating axes (Gottschalk et al. 1996): the normals of both and the crosses of their edges.
    """
    if (cone.max(axis=0) < box.min(axis=0)).any() or (cone.min(axis=0) > box.max(axis=0)).any():
        return False
    base = cone[1:]
    rims = np.concatenate([base[1:] - base[:-1], base[[0]] - base[[-1]]])
    edges = np.concatenate([base - cone[0], rims])
    sides = np.stack([box[4] - box[0], box[2] - box[0], box[1] - box[0]])
    normals = np.cross(edges[:, None], edges[None]).reshape(-1, 3)
    crosses = np.cross(edges[:, None], sides[None]).reshape(-1, 3)
    flat = np.cross(sides, np.roll(sides, 1, axis=0))
    axes = np.concatenate([normals, crosses, flat])
    axes = axes[np.linalg.norm(axes, axis=1) > 1e-9]
    first, second = axes @ cone.T, axes @ box.T
    apart = (first.max(axis=1) < second.min(axis=1)) | (first.min(axis=1) > second.max(axis=1))
    return not apart.any()


def _solids(scenery: Scenery, thing: Object, copy: int, matrix: FloatArray,
            exchanged: Mapping[str, str], name: str, writings: "_Writings"
            ) -> Iterator[tuple[Solid, str, FloatArray]]:
    """Yield shape, material and matrix of everything in one copy of an object."""
    if not isinstance(thing, Group):
        names = (thing.material,) if isinstance(thing.material, str) else thing.material
        material = names[copy % len(names)]
        shape = writings.next(thing) if isinstance(thing, Words) else thing
        yield shape, exchanged.get(material, material), matrix
        return
    inner_exchanged = {**exchanged, **{
        old: exchanged.get(new, new) for old, new in thing.materials.items()}}
    for number, inner in enumerate(scenery.groups[thing.of]):
        inner_name = f"{name}.{number}"
        for inner_copy, place in enumerate(_copies(inner, matrix, inner_name)):
            yield from _solids(scenery, inner, inner_copy, place, inner_exchanged,
                               f"{inner_name}.{inner_copy}", writings)


class _Writings:
    """Which of several writings each copy has: all in turn, in an order of chance's own."""

    def __init__(self, scatter: str) -> None:
        self._scatter = scatter
        self._orders: dict[tuple[str, ...], Iterator[int]] = {}

    def next(self, thing: Words) -> Words:
        """Return the writing of the next copy."""
        if isinstance(thing.words, str):
            return thing
        if thing.words not in self._orders:
            chance = generator(f"{self._scatter}words {' '.join(thing.words)}")
            self._orders[thing.words] = itertools.cycle(
                chance.permutation(len(thing.words)).tolist())
        return _one_writing(thing, next(self._orders[thing.words]))


@lru_cache(maxsize=256)
def _one_writing(thing: Words, number: int) -> Words:
    return thing.model_copy(update={"words": thing.words[number]})


def _copies(thing: Placed, outer: FloatArray, name: str) -> Iterator[FloatArray]:
    """Yield the matrix of every copy; chance depends on the object's name alone."""
    base = outer @ _matrix(thing.at, thing.turn)
    scale = np.diag([*np.broadcast_to(thing.scale, 3), 1.0])
    if not thing.repeat:
        yield base @ scale
        return
    chance = generator(name)
    for counts in itertools.product(*(range(repeat.count) for repeat in thing.repeat)):
        matrix = base
        for repeat, count in zip(thing.repeat, counts, strict=True):
            step = _matrix(repeat.step, repeat.turn)
            matrix = matrix @ np.linalg.matrix_power(step, count)
        for repeat in thing.repeat:
            matrix = matrix @ _variation(repeat, chance)
        yield matrix @ scale


def _variation(repeat: Copies, chance: np.random.Generator) -> FloatArray:
    at, turn, scale = chance.uniform(-1, 1, (3, 3)) * [
        repeat.vary_at, repeat.vary_turn, repeat.vary_scale]
    return np.asarray(_matrix(at, turn) @ np.diag([*(1.0 + scale), 1.0]))


def turned(turn: tuple[float, float, float]) -> FloatArray:
    """Return the matrix (3, 3) that turns about X, then Y, then Z (degrees)."""
    return _matrix((0.0, 0.0, 0.0), turn)[:3, :3]


def _matrix(at: FloatArray | tuple[float, float, float],
            turn: FloatArray | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return the matrix (4, 4) that turns about X, then Y, then Z (degrees) and moves."""
    (a, b, c), (sin_a, sin_b, sin_c) = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    return np.array([
        [c * b, c * sin_b * sin_a - sin_c * a, c * sin_b * a + sin_c * sin_a, at[0]],
        [sin_c * b, sin_c * sin_b * sin_a + c * a, sin_c * sin_b * a - c * sin_a, at[1]],
        [-sin_b, b * sin_a, b * a, at[2]],
        [0.0, 0.0, 0.0, 1.0]])
