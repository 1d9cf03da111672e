"""Place the camera so that the whole action stays in view."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.decisions import first_most
from mimegen.base.grid import on_grid
from mimegen.base.vectors import direction_from, product
from mimegen.characters.character import Mesh, Performance
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import SENSOR_WIDTH_MM, Camera
from mimegen.shots.config import FixedCamera, FramedCamera, RenderConfig
from mimegen.shots.skinning import joint_columns, skin_matrix, skinned

# Distances are rounded up to multiples of this, so that similar people get the same camera and
# share background stills. Cameras that frame hands or a face are near and use the finer step.
DISTANCE_STEP_M = 0.25
NEAR_STEP_M = 0.05
# Share of the distance at which a face that stays in place fits: the rings around a face are wider
# than the part visible at once.
FACE_NEARER = 0.72
# Targets are at multiples of this.
PLACE_STEP_M = 0.05
# Tolerance for what the subset of vertices and rounding may miss.
SKIN_SLACK_M = 0.02
# Ground kept in view around the feet, for their shadow; feet are points below FEET_BELOW_M.
SHADOW_MARGIN_M = 0.15
FEET_BELOW_M = 0.4
# A joint within this distance of the plane between left and right belongs to neither side.
MIDDLE_M = 0.01
# A hand is raised if it is more than this above the hips.
RAISED_M = 0.05
# Number of points on the sphere around a hand that is kept in view.
BALL_POINTS = 64
# A joint with at least this many children is a hand with fingers.
FINGERS = 4
# Kinds of material that faces are made of.
FACES = {"skin", "painted"}


def frame_camera(scene: Sequence[Performance], config: RenderConfig, angle_deg: float) -> Camera:
    """Return the config's camera for one or more performers, rotated about Z by ``angle_deg``.

    Positive angles rotate it counterclockwise seen from above. A framed camera has the same target,
    distance and height at every angle, and keeps every frame within its margin at all of them.
    """
    if isinstance(config.camera, FixedCamera):
        return _fixed_camera(config.camera, config, angle_deg)
    return _framed_camera(scene, config.camera, config, angle_deg)


def _fixed_camera(fixed: FixedCamera, config: RenderConfig, angle_deg: float) -> Camera:
    turn = quaternions.from_euler("xyz", np.array([0.0, 0.0, angle_deg]))
    position = quaternions.rotate(turn, np.array(fixed.position))
    upright = quaternions.from_euler("xyz", np.degrees(fixed.euler_rad))
    return _camera(position, quaternions.multiply(turn, upright), fixed.lens_mm, config)


def camera_place(scene: Sequence[Performance], camera: FixedCamera | FramedCamera,
                 size: tuple[int, int]) -> FloatArray:
    """Return the position (3,) of a config's camera at angle 0; ``size`` is that of the picture."""
    if isinstance(camera, FixedCamera):
        return np.array(camera.position, float)
    return _framed_place(scene, camera, size, 0.0)


def _framed_place(scene: Sequence[Performance], framed: FramedCamera, size: tuple[int, int],
                  angle_deg: float) -> FloatArray:
    middle, height, distance = _target(tuple(scene), framed, size)
    towards = direction_from(framed.azimuth_deg + angle_deg, framed.elevation_deg)
    return np.asarray(np.array([*middle, height]) + distance * towards)


def _framed_camera(scene: Sequence[Performance], framed: FramedCamera, config: RenderConfig,
                   angle_deg: float) -> Camera:
    position = _framed_place(scene, framed, (config.width, config.height), angle_deg)
    euler = np.array([90.0 - framed.elevation_deg, 0.0, framed.azimuth_deg + angle_deg])
    return _camera(position, quaternions.from_euler("xyz", euler), framed.lens_mm, config)


@lru_cache(maxsize=2)
def _target(scene: tuple[Performance, ...], framed: FramedCamera, size: tuple[int, int]
            ) -> tuple[FloatArray, float, float]:
    """Return X Y of the target, its height and the camera's distance, the same for every angle."""
    points, _ = points_in_view(scene, framed)
    # Axis by axis: numpy is slow over the short side of (N, 3).
    flat = points[:, :2].T.copy()
    middle = np.round((flat.min(axis=1) + flat.max(axis=1)) / 2 / PLACE_STEP_M) * PLACE_STEP_M
    rings = _rings(points, middle, ground=not framed.near)
    height, distance = _height_and_distance(rings, framed, size)
    if framed.head_only:
        at_rest = _in_place(points.reshape(scene[0].motion.frames, -1, 3))
        _, needed = _height_and_distance(_rings(at_rest, np.zeros(2), ground=False), framed, size)
        # Only as much nearer as a face in place allows, so that one that moves stays in view.
        distance -= (1 - FACE_NEARER) * needed
    step = NEAR_STEP_M if framed.head_only or framed.hand_room_m is not None else DISTANCE_STEP_M
    return middle, height, float(np.ceil(on_grid(np.array(distance)) / step) * step)


def _in_place(points: FloatArray) -> FloatArray:
    """Return the points (F, P, 3) of all frames, each frame moved to the origin in X Y, (N, 3)."""
    flat = points[..., :2]
    middles = (flat.min(axis=1, keepdims=True) + flat.max(axis=1, keepdims=True)) / 2
    return np.asarray(np.concatenate([flat - middles, points[..., 2:]], axis=-1).reshape(-1, 3))


def _camera(position: FloatArray, rotation: FloatArray, lens_mm: float,
            config: RenderConfig) -> Camera:
    x, y, z = (round(float(number), 9) for number in position)
    turn = cast(
        tuple[float, float, float, float], tuple(round(float(number), 12) for number in rotation)
    )
    return Camera((x, y, z), turn, lens_mm, config.width, config.height)


def points_in_view(scene: Sequence[Performance], framed: FramedCamera
                   ) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the points (N, 3) to be kept in view, and the frame (N,) of each.

    These are all points or, if the camera says so, those near the first performer's head, of that
    performer's face, or near hands.
    """
    if framed.head_room_m is not None:
        return _near_head(scene[0], framed.head_room_m)
    if framed.hand_room_m is not None:
        found = _near_hands(scene, framed.hand_room_m)
    elif framed.head_only:
        found = [_face_points(scene[0])]
    else:
        found = [outline_points(performance) for performance in scene]
    frames = np.arange(scene[0].motion.frames)
    return np.concatenate(found), np.concatenate(
        [np.repeat(frames, len(points) // len(frames)) for points in found])


def _near_head(performance: Performance, room_m: float) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return the points (N, 3) within ``room_m`` of the head's joint, and the frame (N,) of each.
    """
    motion = performance.motion
    heads = motion.global_pose.positions[:, _head(motion.skeleton)]
    points = outline_points(performance).reshape(len(heads), -1, 3)
    near = np.linalg.norm(points - heads[:, None], axis=-1) < room_m
    return np.asarray(points[near]), np.nonzero(near)[0]


def _near_hands(scene: Sequence[Performance], room_m: float) -> list[FloatArray]:
    """Return points (N, 3), frame by frame, on spheres around hands: the raised ones, else all.

    A hand is raised if its mean height over all frames is above the hips'. Without any hands, all
    points of the bodies are returned.
    """
    hands = [hand for one in scene for hand in _hand_centres(one)]
    if not hands:
        return [outline_points(one) for one in scene]
    raised = [centres for centres, above in hands if above > RAISED_M]
    ball = sphere_directions(BALL_POINTS) * room_m
    return [(centres[:, None] + ball).reshape(-1, 3)
            for centres in raised or [centres for centres, _ in hands]]


def _hand_centres(performance: Performance) -> Iterator[tuple[FloatArray, float]]:
    """Yield the centre (F, 3) of each hand in all frames, and its mean height above the hips."""
    places = performance.motion.global_pose.positions
    for joints in _hands(performance.character.skeleton):
        centres = places[:, joints].mean(axis=1)
        yield centres, float(on_grid((centres[:, 2] - places[:, 0, 2]).mean()))


def _hands(skeleton: Skeleton) -> Iterator[list[int]]:
    """Yield the joints of each hand.

    On either side, these are the outermost joint with at least FINGERS children and all joints
    below it.
    """
    children = np.bincount(skeleton.parents[skeleton.parents >= 0],
                           minlength=len(skeleton.parents))
    for side in (1.0, -1.0):
        outward = side * skeleton.heads[:, 0]
        carrying = np.where((children >= FINGERS) & (outward > MIDDLE_M), outward, -np.inf)
        if carrying.max() > 0:
            hand = int(np.argmax(carrying))
            yield [hand, *_below(skeleton, hand)]


def _below(skeleton: Skeleton, joint: int) -> Iterator[int]:
    """Yield the descendants of a joint; parents come before their children."""
    hanging = {joint}
    for number, parent in enumerate(skeleton.parents):
        if int(parent) in hanging:
            hanging.add(number)
            yield number


def _face_points(performance: Performance) -> FloatArray:
    """Return the points (N, 3), frame by frame, of a face: those in front of the head's joint."""
    skeleton, character = performance.motion.skeleton, performance.character
    head = _head(skeleton)
    own = [head, *_below(skeleton, head)]
    skins = [mesh for mesh in character.meshes
             if character.materials[mesh.material].kind in FACES] or [*character.meshes]
    kept = []
    for mesh in skins:
        strongest = mesh.joints[np.arange(len(mesh.joints)), mesh.weights.argmax(axis=1)]
        chosen = np.isin(strongest, own) & (mesh.vertices[:, 1] < skeleton.heads[head, 1])
        kept += [_with_vertices(mesh, chosen)] if chosen.any() else []
    face = replace(character, meshes=tuple(kept)) if kept else character
    return outline_points(replace(performance, character=face))


def _with_vertices(mesh: Mesh, chosen: NDArray[Any]) -> Mesh:
    """Return a mesh with the chosen vertices only; its faces are not updated."""
    return replace(mesh, vertices=mesh.vertices[chosen], joints=mesh.joints[chosen],
                   weights=mesh.weights[chosen])


def _head(skeleton: Skeleton) -> int:
    """Return the head's joint: the highest one in the rest pose that is neither left nor right."""
    middle = np.abs(skeleton.heads[:, 0]) < MIDDLE_M
    return int(np.argmax(np.where(middle, skeleton.heads[:, 2], -np.inf)))


def outline_points(performance: Performance) -> FloatArray:
    """Return points (N, 3), frame by frame, that bound the body within a centimetre or two.

    For speed, only the vertices that are outermost in the rest pose are posed, for each bone.
    """
    skeleton = performance.character.skeleton
    pose = performance.motion.global_pose
    columns = joint_columns(skeleton, pose.positions, pose.rotations)
    matrices = []
    for mesh in performance.character.meshes:
        strongest = mesh.joints[np.arange(len(mesh.joints)), mesh.weights.argmax(axis=1)]
        chosen = _outermost(mesh.vertices, strongest)
        matrices.append(skin_matrix(_with_vertices(mesh, chosen), len(skeleton.names)))
    whole = scipy.sparse.vstack(matrices, format="csr")
    return skinned(whole, columns).reshape(-1, 3).astype(float)


def _outermost(vertices: FloatArray, groups: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the indices of the vertices that are extreme within their group in some direction."""
    directions = sphere_directions(48)
    chosen: set[int] = set()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        chosen.update(members[first_most(product(directions, vertices[members].T))].tolist())
    return np.array(sorted(chosen), dtype=np.intp)


def sphere_directions(count: int) -> FloatArray:
    """Return evenly spread unit vectors (count, 3), by a Fibonacci lattice."""
    number = np.arange(count) + 0.5
    z = 1 - 2 * number / count
    turn = np.pi * (1 + 5**0.5) * number
    flat = np.sqrt(1 - z * z)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=-1)


def _rings(points: FloatArray, middle: FloatArray, ground: bool) -> FloatArray:
    """Return rings around the vertical axis through ``middle``, as radius and height (N, 2).

    They bound the points to be kept in view for a camera at any angle, because a point may then be
    seen anywhere on its ring. With ``ground``, a ring for the shadow around the feet is added.
    """
    # Column by column: numpy is slow over the short side of (N, 3).
    aside, ahead = (points[:, axis] - middle[axis] for axis in (0, 1))
    radius = np.sqrt(aside * aside + ahead * ahead) + SKIN_SLACK_M
    feet = points[:, 2] < FEET_BELOW_M
    reach = float(radius[feet].max()) if feet.any() else 0.0
    level = np.round(points[:, 2] / SKIN_SLACK_M).astype(int)
    levels, slots = np.unique(level, return_inverse=True)
    widest = np.zeros(len(levels))
    np.maximum.at(widest, slots, radius)
    heights = levels * SKIN_SLACK_M
    return np.concatenate([
        np.stack([widest, heights + SKIN_SLACK_M], axis=1),
        np.stack([widest, heights - SKIN_SLACK_M], axis=1),
        *([[[reach + SHADOW_MARGIN_M, 0.0]]] if ground else []),
    ])


def _height_and_distance(rings: FloatArray, framed: FramedCamera,
                         size: tuple[int, int]) -> tuple[float, float]:
    """Return the target's height and the camera's distance, the smallest that shows all rings."""
    focal = framed.lens_mm / SENSOR_WIDTH_MM * size[0]
    share = 1.0 - 2.0 * framed.margin
    per_side, per_rise = (2.0 * focal / (share * side) for side in size)
    elevation = np.radians(framed.elevation_deg)
    sine, cosine = np.sin(elevation), np.cos(elevation)
    around = np.linspace(0.0, 2.0 * np.pi, 49)
    side = rings[:, :1] * np.sin(around)
    nearer = rings[:, :1] * np.cos(around)
    low, high = rings[:, 1].min(), rings[:, 1].max()
    targets = np.arange(np.floor(low / PLACE_STEP_M), np.ceil(high / PLACE_STEP_M) + 1)
    best = (0.0, np.inf)
    for target in targets * PLACE_STEP_M:
        above = rings[:, 1:] - target
        towards = above * sine + nearer * cosine
        rise = above * cosine - nearer * sine
        needed = towards + np.maximum(np.abs(side) * per_side, np.abs(rise) * per_rise)
        reach = float(on_grid(needed.max()))
        if reach < best[1]:
            best = (float(target), reach)
    return best
