"""Whether performers meet anything in their sets, or are hidden by it, before and after clearing.

    python benchmarks/clearance.py [--seeds 5] [--actions] [NAME ...]

Every scene (with ``--actions`` every action as well), performed by the standard person, in its
aligned and its misaligned set as written and as seeds draw them, from four sides. Nothing of what
clears sets is used to measure: points of bodies are looked for in the boxes of things and near the
surfaces of bars and cloths, and rays go from the camera to joints.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from mimegen.characters.character import Performance
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import load_background
from mimegen.library.scene_take import scene_take
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.pages.preview import capsule_body
from mimegen.scenery.clearing import SetClearing, changed, needed_changes
from mimegen.scenery.floorplan import GROUND_M, HOLLOW, LaidSet
from mimegen.scenery.layout import (
    PlacedShape,
    box_corners,
    faces_camera,
    hulls_meet,
    lay_out,
    panel_frame,
    turned_boxes,
    visible_pieces,
    wall_panels,
)
from mimegen.scenery.meshes import in_world
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import bounds_of, mesh_of
from mimegen.scenery.sweeping import swept_by
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera, outline_points

FPS = 6.0
SIDES = (0.0, 90.0, 180.0, 270.0)
# So near to a bar or a cloth a body touches it.
TOUCH_M = 0.02
# Somebody is hidden of whom more than this share of joints is: their feet, say.
HIDDEN = 0.1
# It may be so in this share of all frames.
HIDDEN_SHARE = 0.1

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Bodies:
    """Points (F, N, 3) all over all bodies, and each performer's joints (P, F, J, 3)."""

    points: NDArray[np.float64]
    joints: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, scene: Sequence[Performance]) -> "Bodies":
        """Look at the bodies of a scene."""
        points = [outline_points(one).reshape(one.motion.frames, -1, 3) for one in scene]
        return cls(np.concatenate(points, axis=1),
                   tuple(one.motion.global_pose.positions for one in scene))


def meeting(pieces: Sequence[PlacedShape], bodies: Bodies) -> Flags:
    """Return in which frames (F,) a body is in a piece, above the ground."""
    met = np.zeros(len(bodies.points), bool)
    flat = bodies.points.reshape(-1, 3)
    low, high = flat.min(axis=0) - TOUCH_M, flat.max(axis=0) + TOUCH_M
    boxes = turned_boxes(pieces)
    near = ((boxes.max(axis=1) > low) & (boxes.min(axis=1) < high)).all(axis=1)
    near &= boxes[..., 2].max(axis=1) > GROUND_M
    frames = np.repeat(np.arange(len(met)), bodies.points.shape[1])
    for number in np.flatnonzero(near).tolist():
        met[frames[_inside(pieces[number], flat)]] = True
    return met


def _inside(piece: PlacedShape, points: NDArray[np.float64]) -> Flags:
    above = points[:, 2] > GROUND_M
    if isinstance(piece.shape, HOLLOW):
        surface = in_world(mesh_of(piece.shape), piece.matrix)
        return np.asarray((cKDTree(surface).query(points, distance_upper_bound=TOUCH_M)[0]
                           <= TOUCH_M) & above)
    own = np.column_stack([points, np.ones(len(points))]) @ np.linalg.inv(piece.matrix).T
    low, high = bounds_of(piece.shape)
    return np.asarray(((own[:, :3] > low) & (own[:, :3] < high)).all(axis=1) & above)


def crossing_walls(scenery: Scenery, bodies: Bodies) -> Flags:
    """Return in which frames (F,) a body has points on both sides of a wall, within its length."""
    met = np.zeros(len(bodies.points), bool)
    for panel in wall_panels(scenery):
        frame, corners = panel_frame(panel)
        own = (bodies.points - frame[:3, 3]) @ frame[:3, :3]
        along = (own[..., 0] > 0) & (own[..., 0] < corners[:, 0].max()) & (
            own[..., 2] > max(corners[:, 2].min(), GROUND_M)) & (own[..., 2] < corners[:, 2].max())
        met |= (along & (own[..., 1] > 0)).any(axis=1) & (along & (own[..., 1] < 0)).any(axis=1)
    return met


def hidden(scenery: Scenery, pieces: Sequence[PlacedShape], camera: Camera, bodies: Bodies
           ) -> Flags:
    """Return in which frames (F,) of somebody more than a tenth of the joints are hidden."""
    eye = np.array(camera.position)
    flat = np.concatenate([one.reshape(-1, 3) for one in bodies.joints])
    sight = np.vstack([eye, box_corners(flat.min(axis=0), flat.max(axis=0))])
    before = [piece for piece, meets in
              zip(pieces, hulls_meet(sight, turned_boxes(pieces)).tolist(), strict=True) if meets]
    gone = np.zeros(len(bodies.points), bool)
    for joints in bodies.joints:
        blocked = np.zeros(joints.shape[:2], bool)
        for piece in before:
            blocked |= _behind(piece, eye, joints)
        for panel in wall_panels(scenery):
            if faces_camera(panel, camera):
                frame, corners = panel_frame(panel)
                blocked |= _behind_box(frame, np.array([0.0, -0.01, corners[:, 2].min()]),
                                       np.array([corners[:, 0].max(), 0.01, corners[:, 2].max()]),
                                       eye, joints)
        gone |= blocked.mean(axis=1) > HIDDEN
    return gone


def _behind(piece: PlacedShape, eye: NDArray[np.float64], targets: NDArray[np.float64]) -> Flags:
    return _behind_box(piece.matrix, *bounds_of(piece.shape), eye, targets)


def _behind_box(matrix: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64],
                eye: NDArray[np.float64], targets: NDArray[np.float64]) -> Flags:
    """Return which of the ways from an eye to targets (..., 3) a box cuts, by slabs."""
    back = np.linalg.inv(matrix)
    start = back[:3, :3] @ eye + back[:3, 3]
    way = targets @ back[:3, :3].T + back[:3, 3] - start
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / way, (high - start) / way
    enter = np.nanmax(np.minimum(first, second), axis=-1)
    leave = np.nanmin(np.maximum(first, second), axis=-1)
    return np.asarray((enter < leave) & (leave > 0) & (enter < 0.98))


def takes(catalogue: Catalogue, names: Sequence[str], actions: bool) -> Iterator[LibraryTake]:
    """Yield scenes, and takes of actions."""
    for name in catalogue.scenes:
        if not names or name in names:
            yield scene_take(catalogue, name, 0)
    for entry in catalogue.actions.values() if actions or names else ():
        if not names or entry.action.id in names:
            yield from (library_take(entry, take, 0) for take in entry.takes)


def performed(take: LibraryTake) -> tuple[Performance, ...]:
    """Return a take by people made of capsules."""
    return tuple(Performance(capsule_body(motion.skeleton), motion)
                 for motion, _ in take.sources(FPS))


def views(scene: Sequence[Performance], scenery: Scenery, config: RenderConfig
          ) -> Iterator[tuple[float, SetClearing, dict[str, float]]]:
    """Yield each side with a set's changes and the shares of frames in which something is wrong."""
    bodies, laid = Bodies.of(scene), LaidSet(scenery)
    swept = swept_by([one.motion for one in scene], bodies.joints)
    for angle in SIDES:
        camera = frame_camera(scene, config, angle)
        changes = needed_changes(laid, swept, camera)
        before = after = wrong_in(scenery, laid.pieces, camera, bodies)
        if changes.changes_anything:
            seen = changed(scenery, changes)
            after = wrong_in(seen, lay_out(seen), camera, bodies)
        yield angle, changes, {f"{when}: {what}": share
                               for when, shares in (("before", before), ("after", after))
                               for what, share in shares.items()}


def wrong_in(scenery: Scenery, pieces: list[PlacedShape], camera: Camera, bodies: Bodies
             ) -> dict[str, float]:
    """Return in which share of frames a body meets something, a wall, or is hidden."""
    shown = visible_pieces(pieces, camera)
    return {"met": float(meeting(shown, bodies).mean()),
            "wall": float(crossing_walls(scenery, bodies).mean()),
            "hidden": float(hidden(scenery, shown, camera, bodies).mean())}


def places_of(catalogue: Catalogue, take: LibraryTake, seeds: int) -> Iterator[tuple[str, Scenery]]:
    """Yield a take's two sets, as they are written and as so many seeds draw them."""
    for name in (take.aligned, take.misaligned):
        assert name is not None, "the library's takes know their places"
        for drawn in (None, *range(seeds)):
            scenery = load_background(catalogue.file("background", name), drawn).set
            assert scenery is not None, "they are sets"
            yield name if drawn is None else f"{name}:{drawn}", scenery


def told(scenery: Scenery, changes: SetClearing, shares: dict[str, float],
         sums: Counter[str]) -> str:
    """Count what was found, and return it as a line; nothing where nothing is to be told."""
    wrong = {what: share for what, share in shares.items()
             if share > (HIDDEN_SHARE if "hidden" in what else 0.0)}
    sums.update(["views", *wrong, *["changed"] * changes.changes_anything,
                 *["moved"] * (changes.moved != (0.0, 0.0)), *["doubts"] * bool(changes.doubts)])
    out = [getattr(scenery.objects[number], "of", scenery.objects[number].kind)
           for number, _ in changes.left_out]
    if not wrong and not changes.changes_anything and not changes.doubts:
        return ""
    return (f"{', '.join(f'{what} {share:.0%}' for what, share in wrong.items())};"
            f" moved {changes.moved}, left out {out} {' '.join(changes.doubts)}")


def main() -> None:
    """Print a line for each view in which something is wrong or changed, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--actions", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    catalogue, sums = Catalogue.with_libraries(()), Counter[str]()
    config = read_config(catalogue.file("config", "draft"))
    for take in takes(catalogue, options.names, options.actions):
        scene = performed(take)
        for name, scenery in places_of(catalogue, take, options.seeds):
            for angle, changes, shares in views(scene, scenery, config):
                line = told(scenery, changes, shares, sums)
                if line:
                    print(f"{take.action} {take.name}, {name} @{angle:g}: {line}", flush=True)
    for what, count in sorted(sums.items()):
        print(f"{what}: {count}")


if __name__ == "__main__":
    main()
