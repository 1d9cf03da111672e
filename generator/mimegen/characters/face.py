"""Eyes, eyebrows and lashes."""

import numpy as np

from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.head import HeadShape, grid_faces, head_shape
from mimegen.characters.spec import CharacterSpec

IRIS_DEG = 30.0
EYE_RINGS_DEG = (0, 5, 9, 11, 12, 16, 21, 26, 29, 31, 34, 40, 48, 58, 70, 85, 105)
EYE_COLUMNS = 24
BROW_COLUMNS = 16
BROW_ROWS = 7


def make_face(spec: CharacterSpec, body: Body) -> tuple[tuple[Mesh, ...], tuple[Material, ...]]:
    """Return the meshes of eyes, brows and lashes, and their materials."""
    head = head_shape(body)
    meshes = (eyeballs(head), eyebrows(head, spec.hair.brow_height), lashes(head))
    dark = tuple(0.55 * channel for channel in spec.hair.color)
    return meshes, (
        Material("eyes", "eye", {"color": spec.eyes.color, "iris_deg": IRIS_DEG}),
        Material("brows", "plain", {"color": dark, "roughness": 0.9, "metallic": 0.0}),
        Material("lashes", "plain", {"color": lash_color(spec), "roughness": 0.9,
                                     "metallic": 0.0}),
    )


def lash_color(spec: CharacterSpec) -> tuple[float, ...]:
    """Return the lashes' color: darker than the hair, and paler on men, whose look sparser."""
    sparse = 0.4 * spec.phenotype.sex
    return tuple(0.25 * (1 - sparse) * hair + 0.5 * sparse * skin
                 for hair, skin in zip(spec.hair.color, spec.skin.color, strict=True))


def eyeballs(head: HeadShape) -> Mesh:
    """Return both eyeballs looking straight ahead; ``angle`` (V,) is degrees from the gaze."""
    polar = np.radians(np.array(EYE_RINGS_DEG, dtype=float))
    around = np.linspace(0, 2 * np.pi, EYE_COLUMNS, endpoint=False)
    polar, around = (grid.ravel() for grid in np.meshgrid(polar, around, indexing="ij"))
    ball = head.eye_radius * np.stack([
        np.sin(polar) * np.cos(around), -np.cos(polar), np.sin(polar) * np.sin(around)
    ], axis=1)
    faces = grid_faces(len(EYE_RINGS_DEG), EYE_COLUMNS, closed=True)
    vertices = np.concatenate([ball + eye for eye in head.eyes])
    both = np.concatenate([faces, faces + len(ball)])
    angle = np.tile(np.degrees(polar), 2)
    return head.rigid("eyes", vertices, both.astype(np.int32), "eyes", {"angle": angle})


def eyebrows(head: HeadShape, height: float) -> Mesh:
    """Return both brows: tapered ridges that lie on the skin, ``height`` metres at the most."""
    along = np.linspace(0, 1, BROW_COLUMNS)
    eye = head.eyes[0]
    inner, outer = eye[0] - 0.165 * head.unit, eye[0] + 0.235 * head.unit
    across = inner + (outer - inner) * along
    arch = np.interp(along, [0, 0.35, 0.65, 1], [0.165, 0.195, 0.205, 0.135])
    middle = eye[2] + arch * head.unit
    size = height * np.interp(along, [0, 0.12, 0.5, 1], [0.6, 1.0, 0.9, 0.25])
    turn = np.linspace(0, np.pi, BROW_ROWS)
    up = middle + 0.5 * size * np.cos(turn)[:, None]
    points, normals = head.on_face(np.broadcast_to(across, up.shape).ravel(), up.ravel())
    lift = -0.0004 + np.sin(turn)[:, None] * (0.0034 + 0.15 * size)
    left = points + lift.reshape(-1, 1) * normals
    right = left * np.array([-1.0, 1.0, 1.0])
    faces = grid_faces(BROW_ROWS, BROW_COLUMNS, closed=False)
    both = np.concatenate([faces, faces[:, ::-1] + len(left)]).astype(np.int32)
    return head.rigid("brows", np.concatenate([left, right]), both, "brows", {})


def lashes(head: HeadShape) -> Mesh:
    """Return the upper lashes."""
    body = head.body
    used = np.unique(body.faces["upper_lashes"])
    number = np.full(len(body.vertices), -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    return head.rigid("lashes", body.vertices[used], number[body.faces["upper_lashes"]],
                      "lashes", {})
