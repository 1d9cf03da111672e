"""Lay out a set's shapes in the world, and find those that block a camera's view."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.base.seeds import generator
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.objects import Copies, Group, Object, Placed, Solid, WrittenWords
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import bounds_of
from mimegen.shots.camera import Camera

# The performer's space, kept free in every set: 2 m x 3 m, from just above the floor to 2.5 m.
PERFORMER_LOW = np.array([-1.0, -1.5, 0.06])
PERFORMER_HIGH = np.array([1.0, 1.5, 2.5])
# Objects within this fraction of the distance from camera to performer would fill the picture.
NEAR_SHARE = 0.55
# Length of the view frustum: farther than any repeated shape of a set.
HORIZON_M = 1000.0


@dataclass(frozen=True, eq=False)
class PlacedShape:
    """One shape with its pose: ``matrix`` (4, 4) maps its own frame to the world.

    Pieces with the same ``whole`` are shown or hidden together. ``front`` is the position and
    the outward direction of a mounted object's front; None for other objects.
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
    """Return every shape of the set in the world, with copies and groups expanded."""
    return [piece for pieces in laid_objects(scenery) for piece in pieces]


def laid_objects(scenery: Scenery) -> list[list[PlacedShape]]:
    """Return the shapes of each of the set's objects in the world."""
    start = world_from_set(scenery)
    wholes, writings = itertools.count(), _Writings(scenery.scatter)
    objects: list[list[PlacedShape]] = []
    for number, thing in enumerate(scenery.objects):
        name, pieces = f"{scenery.scatter}objects.{number}", []
        for copy, matrix in enumerate(_copies(thing, start, name)):
            front = (matrix[:3, 3], -matrix[:3, 1]) if thing.mounted else None
            whole = next(wholes)
            pieces += [
                PlacedShape(shape, material, place, whole, front)
                for shape, material, place in
                _solids(scenery, thing, copy, matrix, {}, f"{name}.{copy}", writings)]
        objects.append(pieces)
    return objects


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
    """Return a wall's frame in the world (4, 4), X along the wall, and its corners (4, 3) in it."""
    along = panel.corners[1] - panel.corners[0]
    length = float(np.linalg.norm(along))
    inward = np.cross(along / length, [0.0, 0.0, 1.0])
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2] = along / length, -inward, [0, 0, 1]
    frame[:3, 3] = panel.corners[0]
    return frame, (panel.corners - panel.corners[0]) @ frame[:3, :3]


def faces_camera(panel: WallPanel, camera: Camera) -> bool:
    """Return whether the camera is on the inner side of a wall."""
    one, two, three = panel.corners[:3]
    inside = np.cross(two - one, three - one)
    return bool((np.array(camera.position) - one) @ inside > 0)


def visible_pieces(pieces: list[PlacedShape], camera: Camera) -> list[PlacedShape]:
    """Return the pieces of objects that do not block the camera's view of the performer.

    An object blocks the view if it intersects the convex hull of the camera and the performer's
    space, is close to the camera within its view, or is mounted with its back to the camera.
    """
    eye = np.array(camera.position)
    sight = np.vstack([eye, box_corners(PERFORMER_LOW, PERFORMER_HIGH)])
    boxes = turned_boxes(pieces)
    in_the_way = hulls_meet(sight, boxes) | hulls_meet(near_view(camera), boxes)
    hidden = {piece.whole for piece, meets in zip(pieces, in_the_way.tolist(), strict=True)
              if meets or _faces_away(piece, eye)}
    return [piece for piece in pieces if piece.whole not in hidden]


def in_view(pieces: Sequence[PlacedShape], camera: Camera) -> NDArray[np.bool_]:
    """Return for each piece (N,) whether it may be partly within the camera's view."""
    return hulls_meet(_view(camera, HORIZON_M), turned_boxes(pieces))


def _faces_away(piece: PlacedShape, eye: FloatArray) -> bool:
    return piece.front is not None and bool((eye - piece.front[0]) @ piece.front[1] < 0)


def turned_boxes(pieces: Sequence[PlacedShape]) -> FloatArray:
    """Return the corners (N, 8, 3) in the world of each piece's oriented bounding box."""
    known: dict[int, FloatArray] = {}
    for piece in pieces:
        if id(piece.shape) not in known:
            known[id(piece.shape)] = box_corners(*bounds_of(piece.shape))
    corners = np.array([known[id(piece.shape)] for piece in pieces]).reshape(-1, 8, 3)
    matrices = np.array([piece.matrix for piece in pieces]).reshape(-1, 4, 4)
    return np.asarray(corners @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3])


def near_view(camera: Camera) -> FloatArray:
    """Return the view frustum (5, 3), apex first, up to ``NEAR_SHARE`` of the performer's distance.
    """
    view = _view(camera, NEAR_SHARE * float(np.linalg.norm(camera.position[:2])))
    # Objects that lie on the floor never block the view.
    view[1:, 2] = np.maximum(view[1:, 2], PERFORMER_LOW[2])
    return view


def _view(camera: Camera, reach: float) -> FloatArray:
    """Return the view frustum (5, 3), apex first, ``reach`` metres along its corner rays."""
    corners = np.array([[0, 0], [camera.width, 0], [camera.width, camera.height],
                        [0, camera.height]], dtype=float)
    eye = np.array(camera.position)
    return np.vstack([eye, eye + camera.rays(corners) * reach])


def box_corners(low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the corners (8, 3) of a box, X slowest."""
    return np.array(list(itertools.product(*zip(low, high, strict=True))))


def hulls_meet(cone: FloatArray, boxes: FloatArray) -> NDArray[np.bool_]:
    """Return whether the pyramid ``cone`` (apex, then base) meets each oriented box (N, 8, 3)."""
    meet = ~((cone.max(axis=0) < boxes.min(axis=1)) | (cone.min(axis=0) > boxes.max(axis=1))
             ).any(axis=1)
    meet[meet] = ~_are_outside(cone, boxes[meet])
    return np.asarray(meet)


def _are_outside(cone: FloatArray, boxes: FloatArray) -> NDArray[np.bool_]:
    """Return whether a plane separates the pyramid ``cone`` from each box (N, 8, 3).

    Separating axis test (Gottschalk et al. 1996): face normals of both, and cross products of
    their edges.
    """
    base = cone[1:]
    rims = np.concatenate([base[1:] - base[:-1], base[[0]] - base[[-1]]])
    edges = np.concatenate([base - cone[0], rims])
    sides = boxes[:, [4, 2, 1]] - boxes[:, [0]]
    normals = np.cross(edges[:, None], edges[None]).reshape(-1, 3)
    crosses = np.cross(edges[:, None], sides[:, None]).reshape(len(boxes), 3 * len(edges), 3)
    flat = np.cross(sides, np.roll(sides, 1, axis=1))
    axes = np.concatenate([np.tile(normals, (len(boxes), 1, 1)), crosses, flat], axis=1)
    first, second = axes @ cone.T, axes @ boxes.transpose(0, 2, 1)
    between = (first.max(axis=2) < second.min(axis=2)) | (first.min(axis=2) > second.max(axis=2))
    return np.asarray((between & (np.linalg.norm(axes, axis=2) > 1e-9)).any(axis=1))


def _solids(scenery: Scenery, thing: Object, copy: int, matrix: FloatArray,
            exchanged: Mapping[str, str], name: str, writings: "_Writings"
            ) -> Iterator[tuple[Solid, str, FloatArray]]:
    """Yield shape, material and matrix of every shape in one copy of an object."""
    if not isinstance(thing, Group):
        names = (thing.material,) if isinstance(thing.material, str) else thing.material
        material = names[copy % len(names)]
        shape = writings.next(thing) if isinstance(thing, WrittenWords) else thing
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
    """Choose the text of each copy of a sign: all texts in turn, in a random order."""

    def __init__(self, scatter: str) -> None:
        self._scatter = scatter
        self._orders: dict[tuple[str, ...], Iterator[int]] = {}

    def next(self, thing: WrittenWords) -> WrittenWords:
        """Return the shape of the next copy, with one text."""
        if isinstance(thing.words, str):
            return thing
        if thing.words not in self._orders:
            chance = generator(f"{self._scatter}words {' '.join(thing.words)}")
            self._orders[thing.words] = itertools.cycle(
                chance.permutation(len(thing.words)).tolist())
        return _one_writing(thing, next(self._orders[thing.words]))


@lru_cache(maxsize=256)
def _one_writing(thing: WrittenWords, number: int) -> WrittenWords:
    return thing.model_copy(update={"words": thing.words[number]})


def _copies(thing: Placed, outer: FloatArray, name: str) -> Iterator[FloatArray]:
    """Yield the matrix of every copy; random variation is seeded by the object's name alone."""
    base = outer @ _matrix(thing.at, thing.turn)
    scale = np.diag([*np.broadcast_to(thing.scale, 3), 1.0])
    if not thing.repeat:
        yield base @ scale
        return
    matrices = base[None]
    for repeat in thing.repeat:
        step = _matrix(repeat.step, repeat.turn)
        steps = np.stack([np.linalg.matrix_power(step, count) for count in range(repeat.count)])
        matrices = (matrices[:, None] @ steps).reshape(-1, 4, 4)
    chances = generator(name).uniform(-1, 1, (len(matrices), len(thing.repeat), 3, 3))
    for number, repeat in enumerate(thing.repeat):
        matrices = matrices @ _variations(repeat, chances[:, number])
    yield from matrices @ scale


def _variations(repeat: Copies, chances: FloatArray) -> FloatArray:
    """Return variation matrices (N, 4, 4) from random numbers (N, 3, 3) between -1 and 1.

    The second axis is position, rotation and scale.
    """
    at, turn, scale = (chances * [repeat.vary_at, repeat.vary_turn, repeat.vary_scale]
                       ).swapaxes(0, 1)
    sizes = np.concatenate([1.0 + scale, np.ones((len(scale), 1))], axis=1)
    return np.asarray(_matrix(at, turn) * sizes[:, None])


def turned(turn: tuple[float, float, float]) -> FloatArray:
    """Return the rotation matrix (3, 3) about X, then Y, then Z, in degrees."""
    return _matrix((0.0, 0.0, 0.0), turn)[:3, :3]


def _matrix(at: FloatArray | tuple[float, float, float],
            turn: FloatArray | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> FloatArray:
    """Return matrices (..., 4, 4) that rotate about X, then Y, then Z, and then translate.

    ``at`` (..., 3) is in metres, ``turn`` (..., 3) in degrees.
    """
    radians = np.moveaxis(np.radians(turn), -1, 0)
    (a, b, c), (sin_a, sin_b, sin_c) = np.cos(radians), np.sin(radians)
    made = np.zeros((*np.shape(a), 4, 4))
    made[..., 0, 0], made[..., 0, 1] = c * b, c * sin_b * sin_a - sin_c * a
    made[..., 0, 2], made[..., 1, 0] = c * sin_b * a + sin_c * sin_a, sin_c * b
    made[..., 1, 1] = sin_c * sin_b * sin_a + c * a
    made[..., 1, 2] = sin_c * sin_b * a - c * sin_a
    made[..., 2, 0], made[..., 2, 1], made[..., 2, 2] = -sin_b, b * sin_a, b * a
    made[..., :3, 3], made[..., 3, 3] = at, 1.0
    return made
