"""Build a set's floors, walls, ceilings and objects as triangles, for a camera.

Walls and objects that block the camera's view are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.set_triangles import Corners, corners_of, rounded_box
from mimegen.scenery.job import SetJob
from mimegen.scenery.layout import (
    PlacedShape,
    faces_camera,
    lay_out,
    panel_frame,
    visible_pieces,
    wall_panels,
    world_from_set,
)
from mimegen.scenery.meshes import ShapeMesh
from mimegen.scenery.objects import Box, Solid
from mimegen.scenery.scenery import Plane
from mimegen.scenery.shapes import mesh_of

# The vertex attributes of triangle corners, and their layout.
ATTRIBUTES = ("place", "normal", "own", "scattered", "uv", "offshore")
FORMAT = "3f 3f 3f 3f 2f 1f"
# Objects whose shadow has a penumbra wider than this, in metres, cast none.
HAZE_M = 0.5
# Size in metres of the tiles that floors and walls are divided into, and the most tiles per side.
TILE_M = 2.0
MAX_TILES = 40


@dataclass(frozen=True, eq=False)
class BuiltSet:
    """A set as triangle corners (N, 15) by material, with the attributes in ATTRIBUTES.

    ``shell`` are walls and ceilings, ``inner`` is everything else. ``casting`` (N, 3) are the
    corners' positions of objects that cast shadows, ``nets`` (N, 3) those of nets; ``net_cover`` is
    the fraction of their area that nets' cords cover, as a mean.
    """

    shell: dict[str, NDArray[np.float32]]
    inner: dict[str, NDArray[np.float32]]
    casting: NDArray[np.float32]
    nets: NDArray[np.float32]
    net_cover: float

    def parts(self) -> list[tuple[str, NDArray[np.float32]]]:
        """Return the name and the corners of every material, of shell and inner parts."""
        return [*self.shell.items(), *self.inner.items()]


def build_set(job: SetJob) -> BuiltSet:
    """Build floors, walls, ceilings and objects, leaving out those that block the camera's view."""
    scenery, matrix = job.scenery, world_from_set(job.scenery)
    shell: dict[str, list[NDArray[np.float32]]] = {}
    inner: dict[str, list[NDArray[np.float32]]] = {}
    for floor in scenery.floors:
        inner.setdefault(floor.material, []).append(_level(floor, matrix, down=False))
    for ceiling in scenery.ceilings:
        if job.camera.position[2] < ceiling.height:
            shell.setdefault(ceiling.material, []).append(_level(ceiling, matrix, down=True))
    for panel in wall_panels(scenery):
        if faces_camera(panel, job.camera):
            frame, local = panel_frame(panel)
            made, = corners_of(_tiled(local)).in_world(frame)
            shell.setdefault(panel.material, []).append(made)
    shades = _add_pieces(job, inner)
    return BuiltSet(_joined(shell), _joined(inner), *shades)


def _joined(parts: dict[str, list[NDArray[np.float32]]]) -> dict[str, NDArray[np.float32]]:
    return {name: np.concatenate(made) for name, made in parts.items()}


def triangles(parts: dict[str, NDArray[np.float32]]) -> dict[str, NDArray[np.float32]]:
    """Return corners (N, 15) as triangles (T, 3, 3) in world coordinates, by material."""
    return {name: corners[:, :3].reshape(-1, 3, 3) for name, corners in parts.items()}


def _add_pieces(job: SetJob, parts: dict[str, list[NDArray[np.float32]]]
                ) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """Add the set's objects to ``parts``; return ``casting``, ``nets`` and ``net_cover``."""
    casting, nets = ([np.zeros((0, 3), np.float32)] for _ in range(2))
    covered: list[float] = []
    softness = np.radians(job.scenery.sun.size_deg)
    pieces = visible_pieces(lay_out(job.scenery), job.camera)
    for piece, made in zip(pieces, _placed(pieces), strict=True):
        parts.setdefault(piece.material, []).append(made)
        hazy = float(made[:, 2].min()) * softness > HAZE_M
        look = job.scenery.materials[piece.material]
        if look.opacity < 1.0 or hazy:
            continue
        if look.pattern == "net":
            nets.append(made[:, :3])
            covered.append(1.0 - (1.0 - look.gap) ** 2)
        else:
            casting.append(made[:, :3])
    return np.concatenate(casting), np.concatenate(nets), float(np.mean(covered or [0.0]))


def _placed(pieces: Sequence[PlacedShape]) -> list[NDArray[np.float32]]:
    """Return each piece's corners (N, 15); copies of a shape are transformed together."""
    copies: dict[int, list[int]] = {}
    for number, piece in enumerate(pieces):
        copies.setdefault(id(piece.shape), []).append(number)
    placed: dict[int, NDArray[np.float32]] = {}
    for numbers in copies.values():
        made = _corners(pieces[numbers[0]].shape).in_world(
            *(pieces[number].matrix for number in numbers))
        placed.update(zip(numbers, made, strict=True))
    return [placed[number] for number in range(len(pieces))]


@lru_cache(maxsize=1024)
def _corners(shape: Solid) -> Corners:
    if isinstance(shape, Box) and shape.bevel > 0:
        return corners_of(rounded_box(shape))
    return corners_of(mesh_of(shape))


def _level(plane: Plane, matrix: FloatArray, down: bool) -> NDArray[np.float32]:
    (x0, y0), (x1, y1) = plane.corners
    lift = np.eye(4)
    lift[2, 3] = plane.height
    made = _tiled(np.array([[x0, y0, 0], [x1, y0, 0], [x1, y1, 0], [x0, y1, 0]], dtype=float))
    turned = replace(made, faces=tuple(face[::-1] for face in made.faces)) if down else made
    return np.asarray(corners_of(turned).in_world(matrix @ lift)[0])


def _tiled(corners: FloatArray) -> ShapeMesh:
    """Divide a rectangle (4, 3) into tiles, because depths within large triangles are inexact."""
    along, across = corners[1] - corners[0], corners[3] - corners[0]
    counts = [int(np.clip(np.ceil(np.linalg.norm(side) / TILE_M), 1, MAX_TILES))
              for side in (along, across)]
    i, j = np.meshgrid(*(np.linspace(0, 1, count + 1) for count in counts), indexing="ij")
    places = corners[0] + i[..., None] * along + j[..., None] * across
    number = np.arange(places[..., 0].size).reshape(i.shape)
    faces = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1)
    return ShapeMesh(places.reshape(-1, 3), tuple(map(tuple, faces.reshape(-1, 4).tolist())))
