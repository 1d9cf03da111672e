"""Eyes, eyebrows, lashes, teeth and tongue."""

import numpy as np

from mimegen.base.seeds import generator
from mimegen.characters.body import Body
from mimegen.characters.character import Material, Mesh
from mimegen.characters.face_units import POINTS, units_bake, with_inner_mouth
from mimegen.characters.head import HeadShape, grid_faces, head_shape
from mimegen.characters.spec import CharacterSpec
from mimegen.characters.strands import strips

# The radius of the iris, as an angle at the eyeball's centre.
IRIS_DEG = 30.0
# The rings of an eyeball's mesh, in degrees from the gaze.
EYE_RINGS_DEG = (0, 5, 9, 11, 12, 16, 21, 26, 29, 31, 34, 40, 48, 58, 70, 85, 105)
EYE_COLUMNS = 24
# The number of hairs of a brow, of points along each, and a hair's length as a fraction of the
# height from eyes to crown.
BROW_HAIRS = 90
BROW_POINTS = 3
BROW_HAIR = 0.062

# Linear RGB, darkened as in the shade of the mouth.
TEETH = (0.44, 0.36, 0.25)
TONGUE = (0.26, 0.085, 0.08)


def make_face(spec: CharacterSpec, body: Body) -> tuple[tuple[Mesh, ...], tuple[Material, ...]]:
    """Return the meshes of eyes, brows, lashes, teeth and tongue, and their materials."""
    head = head_shape(body)
    brows = eyebrows(head, spec.hair.brow_height, generator(spec.seed, 0xB203))
    meshes = (eyeballs(head), brows, lashes(head), *inner_mouth(head))
    dark = tuple(0.55 * channel for channel in spec.hair.color)
    return meshes, (
        Material("eyes", "eye", {"color": spec.eyes.color, "iris_deg": IRIS_DEG}),
        Material("brows", "hair", {"color": dark}),
        Material("lashes", "plain", {"color": lash_color(spec), "roughness": 0.9,
                                     "metallic": 0.0}),
        Material("teeth", "plain", {"color": TEETH, "roughness": 0.5, "metallic": 0.0}),
        Material("tongue", "plain", {"color": TONGUE, "roughness": 0.5, "metallic": 0.0}),
    )


def lash_color(spec: CharacterSpec) -> tuple[float, ...]:
    """Return the lashes' color: darker than the hair, paler on men, whose lashes look sparser."""
    sparse = 0.4 * spec.phenotype.sex
    return tuple(0.25 * (1 - sparse) * hair + 0.5 * sparse * skin
                 for hair, skin in zip(spec.hair.color, spec.skin.color, strict=True))


def eyeballs(head: HeadShape) -> Mesh:
    """Return both eyeballs looking straight ahead.

    Their attribute ``angle`` (V,) is the angle from the gaze in degrees.
    """
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


def eyebrows(head: HeadShape, height: float, draws: np.random.Generator) -> Mesh:
    """Return both brows: hairs that lie along the skin in a band at most ``height`` metres high.

    They grow up and outwards near the nose, then outwards, and down at the end. ``strand`` (V, 3)
    holds one color per hair.
    """
    place, beside = draws.random(BROW_HAIRS), draws.uniform(-0.5, 0.5, BROW_HAIRS)
    eye = head.eyes[0]
    arch = np.interp(place, [0, 0.35, 0.65, 1], [0.165, 0.195, 0.205, 0.135])
    size = height * np.interp(place, [0, 0.12, 0.5, 1], [0.75, 1.0, 0.8, 0.2])
    rising = np.radians(np.interp(place, [0, 0.2, 0.6, 1], [62, 30, -2, -22]) - 16 * beside
                        + draws.normal(0, 7, BROW_HAIRS))
    long = BROW_HAIR * head.unit * draws.uniform(0.7, 1.1, BROW_HAIRS)
    share = np.linspace(0, 1, BROW_POINTS)[:, None]
    across = eye[0] + head.unit * (0.385 * place - 0.165) + share * long * np.cos(rising)
    up = eye[2] + arch * head.unit + beside * size + share * long * np.sin(rising)
    points, normals = head.on_face(across.ravel(), up.ravel())
    lift = 0.0004 + 0.0016 * np.sin(np.pi * share) + 0.0006 * draws.random(BROW_HAIRS)
    points = (points + lift.reshape(-1, 1) * normals).reshape(*across.shape, 3)
    middle = head.off_face(points, 0.0004)
    aside = np.stack([-np.sin(rising), 0 * rising, np.cos(rising)], axis=-1)
    half = (0.0007 * (1 - share**2) + 0.0001)[..., None] * aside
    hairs = strips(head, "brows", middle, half, draws, 0.5)
    mirrored = hairs.vertices * np.array([-1.0, 1.0, 1.0])
    both = np.concatenate([hairs.faces, hairs.faces[:, ::-1] + len(mirrored)]).astype(np.int32)
    strand = np.concatenate([hairs.attributes["strand"]] * 2)
    return head.rigid("brows", np.concatenate([hairs.vertices, mirrored]), both, "brows",
                      {"strand": strand})


def lashes(head: HeadShape) -> Mesh:
    """Return the upper lashes."""
    body = head.body
    used = np.unique(body.faces["upper_lashes"])
    number = np.full(len(body.vertices), -1, dtype=np.int32)
    number[used] = np.arange(len(used))
    return head.rigid("lashes", body.vertices[used], number[body.faces["upper_lashes"]],
                      "lashes", {})


def inner_mouth(head: HeadShape) -> tuple[Mesh, Mesh]:
    """Return teeth and tongue, which follow the head joint alone until the jaw opens."""
    bake, body = units_bake(), head.body
    places = with_inner_mouth(body.vertices, body.masks["lips"])

    def made(name: str, *parts: str) -> Mesh:
        faces = np.concatenate([bake.faces[part] for part in parts])
        used, numbers = np.unique(faces, return_inverse=True)
        return head.rigid(name, places[used - bake.body],
                          numbers.reshape(faces.shape).astype(np.int32), name,
                          {POINTS: used.astype(float)})

    return made("teeth", "upper_teeth", "lower_teeth"), made("tongue", "tongue")
