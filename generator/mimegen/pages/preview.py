"""Quick contact sheets without Blender: flat-shaded faces painted from far to near."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from mimegen.base.vectors import MIME_AZIMUTH_DEG, direction_from
from mimegen.characters.character import Character, Material, Mesh
from mimegen.characters.posing import posed_meshes
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import SENSOR_WIDTH_MM, Camera

# The default elevation of the camera.
ELEVATION_DEG = 12.0
# Tiles are painted this many times larger and then reduced, for smooth edges.
OVERSAMPLING = 2
LIGHT_FROM = np.array([0.35, -0.65, 0.68])
LABEL = 13
SKY = (248, 248, 246)
GROUND_LINE = (216, 216, 212)
SHADOW = (150, 150, 150)
FALLBACK_COLOR = (0.55, 0.55, 0.58)

SKIN = "skin"
SHIRT = "shirt"
TROUSERS = "trousers"
SHOES = "shoes"
HAIR = "hair"
CAPSULE_COLORS: dict[str, tuple[float, float, float]] = {
    SKIN: (0.72, 0.44, 0.31), SHIRT: (0.10, 0.35, 0.62), TROUSERS: (0.16, 0.16, 0.20),
    SHOES: (0.55, 0.08, 0.06), HAIR: (0.05, 0.03, 0.02),
}
# For each bone: the part it belongs to, and its radius in metres at the head and at the tail. Left
# and right share an entry.
CAPSULE_BONES: dict[str, tuple[str, float, float]] = {
    "Hips": (TROUSERS, 0.12, 0.115), "Spine": (SHIRT, 0.115, 0.115),
    "Spine1": (SHIRT, 0.12, 0.125), "Spine2": (SHIRT, 0.125, 0.06),
    "Neck": (SKIN, 0.052, 0.05), "Shoulder": (SHIRT, 0.055, 0.06), "Arm": (SHIRT, 0.052, 0.04),
    "ForeArm": (SKIN, 0.040, 0.027), "UpLeg": (TROUSERS, 0.085, 0.055),
    "Leg": (TROUSERS, 0.055, 0.040), "Foot": (SHOES, 0.042, 0.036), "ToeBase": (SHOES, 0.034, 0.02),
}
FINGER_RADIUS_M = 0.0085


class SheetLayout(NamedTuple):
    """The layout of a contact sheet.

    ``tile`` is a tile's width and height in pixels, ``columns`` the number of tiles per row. With
    ``focus``, only the named joints are framed instead of the whole body. With ``timed``, each
    tile's time in seconds is written on it.
    """

    azimuth_deg: float = MIME_AZIMUTH_DEG
    elevation_deg: float = ELEVATION_DEG
    tile: tuple[int, int] = (240, 300)
    columns: int = 8
    focus: tuple[str, ...] = ()
    timed: bool = False


def scene_sheet(
    figures: Sequence[tuple[Character, Motion]], frames: int = 16, sheet: SheetLayout | None = None,
    paint: Callable[[int, Camera], Image.Image] | None = None,
) -> Image.Image:
    """Return a contact sheet of evenly spaced frames of people, whose motions have equal length.

    Each motion must have joints with the names of its character's. ``paint`` returns the picture of
    a frame from a camera; by default, flat-shaded faces are painted.
    """
    sheet = sheet or SheetLayout()
    chosen = np.unique(np.linspace(0, figures[0][1].frames - 1, frames).round().astype(int))
    width, height = sheet.tile
    rows = -(-len(chosen) // sheet.columns)
    picture = Image.new("RGB", (width * min(sheet.columns, len(chosen)), height * rows), SKY)
    for number, tile in enumerate(scene_pictures(figures, chosen.tolist(), sheet, paint)):
        row, column = divmod(number, sheet.columns)
        picture.paste(tile, (column * width, row * height))
        if sheet.timed:
            ImageDraw.Draw(picture).text(
                (column * width + 6, row * height + 4),
                f"{chosen[number] / figures[0][1].fps:.2f} s", "black",
                ImageFont.load_default(LABEL))
    return picture


def scene_pictures(
    figures: Sequence[tuple[Character, Motion]], frames: Iterable[int], sheet: SheetLayout,
    paint: Callable[[int, Camera], Image.Image] | None = None,
) -> Iterator[Image.Image]:
    """Yield pictures of the given frames, in the size of a sheet's tile; see ``scene_sheet``."""
    paint = paint or partial(_painted, figures)
    points = np.concatenate([_focus_points(motion, sheet.focus) for _, motion in figures], axis=1)
    camera = camera_of(points, sheet)
    for frame in frames:
        look = camera_of(points[frame : frame + 1], sheet) if sheet.focus else camera
        yield paint(frame, look).resize(sheet.tile, Image.Resampling.LANCZOS)


def _focus_points(motion: Motion, focus: tuple[str, ...]) -> FloatArray:
    """Return the positions (F, J, 3) of the joints in focus, or of all joints if there is none."""
    places = motion.global_pose.positions
    return places[:, [motion.skeleton.index[name] for name in focus]] if focus else places


def camera_of(points: FloatArray, sheet: SheetLayout) -> Camera:
    """Return a camera that has all ``points`` (F, J, 3) in view, with some room around them."""
    points = points.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.11 if sheet.focus else 0.13
    middle = (low + high) / 2
    away = direction_from(sheet.azimuth_deg, sheet.elevation_deg)
    azimuth, elevation = np.deg2rad([sheet.azimuth_deg, sheet.elevation_deg])
    turn = quaternions.multiply(
        quaternions.from_rotation_vectors([0, 0, azimuth]),
        quaternions.from_rotation_vectors([np.pi / 2 - elevation, 0, 0]),
    )
    width, height = (OVERSAMPLING * side for side in sheet.tile)
    local = quaternions.rotate(quaternions.conjugate(turn), points - middle)
    extent = np.abs(local).max(axis=0) + room
    lens = 85.0
    focal = lens / SENSOR_WIDTH_MM
    distance = focal * max(extent[0], extent[1] * width / height) * 2 + extent[2]
    place = middle + away * distance
    return Camera(tuple(place), tuple(turn), lens, width, height)


def _painted(
    figures: Sequence[tuple[Character, Motion]], frame: int, camera: Camera
) -> Image.Image:
    picture = Image.new("RGB", (camera.width, camera.height), SKY)
    outlines, shades, feet = [], [], []
    for character, motion in figures:
        pose = motion.global_pose
        names = [motion.skeleton.index[name] for name in character.skeleton.names]
        positions, rotations = pose.positions[frame][names], pose.rotations[frame][names]
        feet.append(positions[character.skeleton.index["Hips"], :2])
        for mesh, vertices in zip(character.meshes, posed_meshes(character, positions, rotations),
                                  strict=True):
            corners, colors = _shaded(mesh, vertices, character.materials[mesh.material])
            outlines.append(corners)
            shades.append(colors)
    _paint_ground(picture, camera, feet)
    corners = np.concatenate(outlines)
    colors = np.concatenate(shades)
    seen = camera.project(corners)
    order = np.argsort(-seen[..., 2].mean(axis=1))
    draw = ImageDraw.Draw(picture)
    for face in order:
        draw.polygon([(x, y) for x, y, _ in seen[face]], fill=tuple(colors[face]))
    return picture


def _shaded(
    mesh: Mesh, vertices: FloatArray, material: Material
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the faces' corners (F, 4, 3) and their sRGB colors (F, 3), 0 to 255."""
    faces = np.where(mesh.faces < 0, mesh.faces[:, :1], mesh.faces)
    corners = vertices[faces]
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    triangles = mesh.faces[:, 3] < 0
    normals[triangles] = np.cross(
        corners[triangles, 1] - corners[triangles, 0], corners[triangles, 2] - corners[triangles, 0]
    )
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    corners[triangles, 3] = corners[triangles, 2]
    light = 0.42 + 0.58 * np.clip(normals @ (LIGHT_FROM / np.linalg.norm(LIGHT_FROM)), 0, 1)
    linear = np.clip(_base_color(mesh, material, faces) * light[:, None], 0, 1)
    return corners, (255 * linear ** (1 / 2.2)).astype(int)


def _base_color(mesh: Mesh, material: Material, faces: NDArray[np.int32]) -> FloatArray:
    if "color" in mesh.attributes:
        return np.asarray(mesh.attributes["color"][faces, :3].mean(axis=1))
    color = material.parameters.get("color", FALLBACK_COLOR)
    return np.asarray(color if isinstance(color, tuple) else FALLBACK_COLOR)[None, :3]


def _paint_ground(picture: Image.Image, camera: Camera, middles: Sequence[FloatArray]) -> None:
    """Paint a grid with half a metre between lines, and a soft shadow around each X Y (2,)."""
    draw = ImageDraw.Draw(picture)
    for at in np.arange(-1.5, 1.51, 0.5):
        for ends in ([[at, -1.5, 0], [at, 1.5, 0]], [[-1.5, at, 0], [1.5, at, 0]]):
            (x0, y0, _), (x1, y1, _) = camera.project(np.array(ends, float))
            draw.line([(x0, y0), (x1, y1)], fill=GROUND_LINE, width=OVERSAMPLING)
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    shade = Image.new("L", picture.size, 0)
    for middle in middles:
        ring = np.stack([middle[0] + 0.27 * np.cos(angles), middle[1] + 0.27 * np.sin(angles),
                         np.zeros(24)], axis=-1)
        ImageDraw.Draw(shade).polygon([(x, y) for x, y, _ in camera.project(ring)], fill=150)
    shade = shade.filter(ImageFilter.GaussianBlur(6 * OVERSAMPLING))
    picture.paste(Image.new("RGB", picture.size, SHADOW), (0, 0), shade)


def capsule_body(skeleton: Skeleton) -> Character:
    """Return a plain body of tapered capsules on a skeleton with the standard names."""
    meshes = (*_capsule_bones(skeleton), *_capsule_head(skeleton), *_eyes_and_palms(skeleton))
    materials = {part: Material(part, "plain", {"color": color, "roughness": 0.7, "metallic": 0.0})
                 for part, color in CAPSULE_COLORS.items()}
    return Character("capsules", skeleton, meshes, materials, "capsules", "made here",
                     "Apache-2.0")


def _capsule_bones(skeleton: Skeleton) -> Iterator[Mesh]:
    for joint, name in enumerate(skeleton.names):
        bare = name.removeprefix("Left").removeprefix("Right")
        if bare not in ("Head", "Hand"):
            part, thick, thin = CAPSULE_BONES.get(bare, (SKIN, FINGER_RADIUS_M, FINGER_RADIUS_M))
            ends = skeleton.heads[joint], skeleton.tails[joint]
            wide = 1.25 if bare in ("Hips", "Spine", "Spine1") else 1.0
            yield _capsule(name, joint, part, ends, (thick, thin), wide)


def _capsule_head(skeleton: Skeleton) -> Iterator[Mesh]:
    head = skeleton.index["Head"]
    for name, part, offset, radii in (
        ("face", SKIN, (0.0, -0.012, 0.085), (0.074, 0.09, 0.115)),
        ("hair", HAIR, (0.0, 0.02, 0.115), (0.082, 0.092, 0.098)),
        ("nose", SKIN, (0.0, -0.105, 0.07), (0.012, 0.018, 0.02)),
    ):
        yield _ball(name, head, part, skeleton.heads[head] + np.array(offset), radii)


def _eyes_and_palms(skeleton: Skeleton) -> Iterator[Mesh]:
    head = skeleton.index["Head"]
    for side, name in ((1, "LeftHand"), (-1, "RightHand")):
        eye = skeleton.heads[head] + np.array([side * 0.03, -0.088, 0.10])
        yield _ball("eye", head, HAIR, eye, (0.014, 0.012, 0.010))
        hand = skeleton.index[name]
        palm = skeleton.heads[hand] + np.array([side * 0.055, 0.012, -0.003])
        yield _ball("palm", hand, SKIN, palm, (0.056, 0.042, 0.016))


def _rigid(name: str, joint: int, part: str, grid: FloatArray) -> Mesh:
    """Return a closed tube of rings ``grid`` (R, N, 3) that follows one joint."""
    rings, around = grid.shape[:2]
    first = np.arange(rings - 1)[:, None] * around + np.arange(around)
    after = np.arange(rings - 1)[:, None] * around + (np.arange(around) + 1) % around
    faces = np.stack([first, after, after + around, first + around], axis=-1).reshape(-1, 4)
    count = rings * around
    return Mesh(name, grid.reshape(-1, 3), faces.astype(np.int32),
                np.full((count, 1), joint, np.int32), np.ones((count, 1)), part)


def _capsule(
    name: str, joint: int, part: str, ends: tuple[FloatArray, FloatArray],
    radii: tuple[float, float], wide: float,
) -> Mesh:
    head, tail = ends
    along = (tail - head) / np.linalg.norm(tail - head)
    beside = np.cross(along, [0.0, -1.0, 0.0] if abs(along[1]) < 0.8 else [0.0, 0.0, 1.0])
    beside /= np.linalg.norm(beside)
    other = np.cross(along, beside)
    turns = np.linspace(0, 2 * np.pi, 10, endpoint=False)
    ring = np.cos(turns)[:, None] * beside * wide + np.sin(turns)[:, None] * other
    caps = np.deg2rad([-90, -60, -30, 0])
    rings = [head + radii[0] * (np.sin(a) * along + np.cos(a) * ring) for a in caps]
    rings += [tail + radii[1] * (np.sin(a) * along + np.cos(a) * ring) for a in -caps[::-1]]
    return _rigid(name, joint, part, np.stack(rings))


def _ball(name: str, joint: int, part: str, middle: FloatArray,
          radii: tuple[float, float, float]) -> Mesh:
    turns = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    ups = np.linspace(-np.pi / 2, np.pi / 2, 8)
    grid = np.stack([
        np.cos(ups)[:, None] * np.cos(turns), np.cos(ups)[:, None] * np.sin(turns),
        np.broadcast_to(np.sin(ups)[:, None], (8, 14)),
    ], axis=-1)
    return _rigid(name, joint, part, middle + grid * np.array(radii))
