"""How flesh and cloth keep their form when people move: pictures for docs/research/people.md.

    flesh.py OUT [--people man woman random:3 random:11] [--no-pictures]

writes OUT/flesh.json and one sheet a person, shoulders from the front and from behind. Poses are
those that the engine makes of short scores. Of every pose:

- ``volume_pct``: how far shoulders and upper arms are from the volume that they were sculpted with
  (all skin above the waist, of which nothing hides or cuts any here, whatever is worn);
- ``sleeve_cm``, ``shirt_cm``: how far the farthest vertex of a sleeve, and of any cloth about the
  trunk, is from the skin next to it;
- ``inside_mm``: how deep skin lies inside that of another part of trunk, arm, hand or leg: the
  shortest way to that part's surface, or out of it along the skin's own normal and 45 degrees about
  it;
- ``crossed_mm``: the same of either arm and hand inside the other arm;
- ``hands_mm``: the same of one hand inside the other;
- ``thin_pct``: the narrowest of the arms' cross-sections, but for the elbows, against the sculpted.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, cKDTree

from mimegen.base.files import scratch_folder
from mimegen.base.paths import data_folder
from mimegen.characters.bake import read_bake
from mimegen.characters.body import shaped_points
from mimegen.characters.build import build_character
from mimegen.characters.character import Character, Mesh
from mimegen.characters.helpers import helped_joint
from mimegen.characters.posing import posed_meshes
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.characters.surface import boundary_edges, dense_weights, vertex_normals
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.library.catalogue import Catalogue
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.pages.drawn import drawing
from mimegen.pages.preview import SKY, SheetLayout, scene_sheet
from mimegen.retarget import retarget
from mimegen.shots.config import read_config

Faces = NDArray[np.int32]

HANG = "{to: hip 14 4 2, loose: true}"
SEATED = ("pelvis: {forward: -12, up: -47, lean: -8}, feet: {to: floor 12 44 0},"
          " hands: {to: hip 2 38 6, loose: true}")
# What the last phase of a score of two seconds says, by the pose's name.
POSES = {
    "down": f"hands: {HANG}",
    "side": "hands: {to: shoulder 48 4 2, palm: down, fingers: out}",
    "forward": "hands: {to: shoulder -4 58 0, palm: in, fingers: forward}",
    "overhead": "hands: {to: shoulder 2 4 60, palm: forward, fingers: up}",
    "across": "left_hand: {to: other_shoulder 4 10 -4, palm: back, fingers: right, elbow: "
              f"forward+down}}, right_hand: {HANG}",
    "both across": "hands: {to: shoulder -42 34 -4, palm: back, fingers: in}",
    "behind": "hands: {to: hip 4 -34 12, loose: true, elbow: back+out}",
    "behind the head": "hands: {to: head 6 -8 8, palm: forward, fingers: in, elbow: out}",
    "elbows bent": "hands: {to: shoulder 5 7 5, touch: fingertips, fingers: back, elbow: down}",
    "wrists turned": "hands: {to: shoulder -4 50 -10, palm: out+up, fingers: forward,"
                     " elbow: down}",
    "knee raised": f"hands: {HANG}, left_foot: {{to: floor 9 22 62}}",
    "seated": SEATED,
    "squat": "pelvis: {up: -60, forward: -10, lean: 46}, feet: {to: floor 8 6 0},"
             " hands: {to: shoulder -4 46 -10, palm: in, fingers: forward}",
    "arms folded": "left_hand: {to: other_shoulder 2 18 -22, palm: back, fingers: right, elbow: "
                   "forward+down}, right_hand: {to: other_shoulder 2 16 -28, palm: back,"
                   " fingers: left, elbow: forward+down}",
    "self hug": "left_hand: {to: other_shoulder 8 6 -12, palm: back, fingers: right, elbow: "
                "forward+down}, right_hand: {to: other_shoulder 8 6 -16, palm: back,"
                " fingers: left, elbow: forward+down}",
}
SCORE = """action: flesh
about: Poses.
duration: 2.0
balanced: false
phases:
  - {{at: 0, hands: {hang}}}
  - {{at: 1.2, {keys}}}
"""
FPS = 10.0
# Parts of the body that come against each other; what is less than this (m) farther away at rest is
# the fold itself.
OTHERS = (("trunk", "{}Arm"), ("trunk", "{}ForeArm"), ("trunk", "{}Hand"), ("{}Arm", "{}ForeArm"),
          ("trunk", "{}UpLeg"), ("{}UpLeg", "{}Leg"), ("{}UpLeg", "{}ForeArm"),
          ("{}UpLeg", "{}Hand"))
ONE_ANOTHER = (("LeftBoth", "RightBoth"), ("LeftHand", "RightBoth"), ("RightHand", "LeftBoth"))
HANDS = (("LeftHand", "RightHand"),)
FOLD_M, DEEPEST_M = 0.04, 0.1
# Who is inside a part and inside the whole body twice: a surface goes round them this often.
IN_PART, IN_WHOLE = 0.5, 1.25
TILE = (190, 210)
FOCUS = ("LeftArm", "RightArm", "Spine", "Head")


@dataclass(frozen=True, eq=False)
class Person:
    """Somebody as they are dressed, and their whole skin without anything on."""

    spec: CharacterSpec
    dressed: Character
    bare: Character

    @staticmethod
    def of(name: str) -> "Person":
        """Build who a name of the library or ``random:SEED`` stands for."""
        spec = (sample_character(int(name.split(":")[1])) if ":" in name
                else read_character(data_folder() / "rigs" / f"{name}.yaml"))
        bald = spec.hair.model_copy(update={"kind": "bald"})
        plain = build_character(spec.model_copy(update={"outfit": (), "hair": bald}))
        return Person(spec, build_character(spec), plain)

    @property
    def skin(self) -> Mesh:
        """The whole skin."""
        return next(mesh for mesh in self.bare.meshes if mesh.name == "skin")

    @cached_property
    def sculpted(self) -> FloatArray:
        """The skin's vertices (V, 3) as the body's data has them, arms half-way down."""
        bake = read_bake()
        return np.asarray(shaped_points(bake, self.spec.phenotype)[np.unique(bake.faces["body"])])

    @cached_property
    def parts(self) -> dict[str, NDArray[np.bool_]]:
        """Which vertices of the skin (V,) are whose flesh: the limbs' bones, the rest the trunk."""
        names = [helped_joint(name) for name in self.bare.skeleton.names]
        weights = dense_weights(self.skin.joints, self.skin.weights, len(names))
        bones = [side + bone for side in ("Left", "Right")
                 for bone in ("Arm", "ForeArm", "UpLeg", "Leg")]
        found = {bone: weights[:, [name == bone for name in names]].sum(axis=1) > 0.5
                 for bone in bones}
        for side in ("Left", "Right"):
            hand = [name.startswith(f"{side}Hand") for name in names]
            found[f"{side}Hand"] = weights[:, hand].sum(axis=1) > 0.5
            found[f"{side}Both"] = weights[:, [name in (f"{side}Arm", f"{side}ForeArm")
                                               for name in names]].sum(axis=1) > 0.5
        trunk = [name in ("Hips", "Spine", "Spine1", "Spine2") or name.endswith("Shoulder")
                 for name in names]
        return found | {"trunk": weights[:, trunk].sum(axis=1) > 0.5}

    def joint(self, name: str) -> FloatArray:
        """Return the place (3,) of a joint at rest, without shoes."""
        skeleton = self.bare.skeleton
        return np.asarray(skeleton.heads[skeleton.index[name]])


def motion_of(keys: str) -> Motion:
    """Return the standard skeleton's way to a pose."""
    with scratch_folder() as folder:
        path = folder / "pose.score.yaml"
        path.write_text(SCORE.format(hang=HANG, keys=keys))
        return perform(read_score(path), 0, FPS)


def bare_pose(person: Person, done: Motion) -> Motion:
    """Return a performance's last frame on the person without shoes."""
    lift = person.dressed.skeleton.heads[0] - person.bare.skeleton.heads[0]
    joints = [done.skeleton.index[name] for name in person.bare.skeleton.names]
    return Motion(person.bare.skeleton, FPS, done.root_positions[-1:] - lift,
                  done.rotations[-1:, joints])


def posed(character: Character, motion: Motion) -> dict[str, FloatArray]:
    """Return the vertices (V, 3) of a character's meshes in the first frame."""
    pose = motion.global_pose
    places = posed_meshes(character, pose.positions[0], pose.rotations[0])
    return {mesh.name: own for mesh, own in zip(character.meshes, places, strict=True)}


def measured(person: Person, done: Motion) -> dict[str, float]:
    """Return the figures of a performance's last frame."""
    motion = bare_pose(person, done)
    now = posed(person.bare, motion)["skin"]
    last = Motion(done.skeleton, FPS, done.root_positions[-1:], done.rotations[-1:])
    sleeve, shirt = cloth_away(person, now, last)
    return {"volume_pct": volume_change(person, now), "sleeve_cm": sleeve, "shirt_cm": shirt,
            "inside_mm": inside(person, now),
            "crossed_mm": deepest(person, now, ONE_ANOTHER),
            "hands_mm": deepest(person, now, HANDS),
            "thin_pct": thinnest(person, now)}


def volume_change(person: Person, now: FloatArray) -> float:
    """Return the change (%) of all above the waist, as a share of shoulders and upper arms.

    Between the waist, which hardly bends here, and the crown nothing else changes.
    """
    parts = [np.mean([volume(person.sculpted, shoulder_faces(person, sign)) for sign in (1, -1)])]
    places = person.skin.vertices[person.skin.faces].mean(axis=1)
    upper = person.skin.faces[places[:, 2] > person.joint("Spine1")[2]]
    parts += [volume(vertices, upper) for vertices in (person.sculpted, now)]
    return float(50 * (parts[2] - parts[1]) / parts[0])


def shoulder_faces(person: Person, sign: int) -> Faces:
    """Return the skin's faces from beside the neck to above the elbow."""
    shoulder, elbow = person.joint("LeftArm"), person.joint("LeftForeArm")
    places = person.skin.vertices[person.skin.faces].mean(axis=1)
    out = sign * places[:, 0]
    chosen = (out > 0.35 * shoulder[0]) & (out < shoulder[0] + 0.75 * (elbow - shoulder)[0])
    return person.skin.faces[chosen & (places[:, 2] > shoulder[2] - 0.10 * person.bare.height)]


def volume(vertices: FloatArray, faces: Faces) -> float:
    """Return the volume (m3) of a surface whose holes are closed from their middles."""
    corners = closed(vertices, faces)
    corners = corners - corners.mean(axis=(0, 1))
    return float(np.einsum("fa,fa->", corners[:, 0],
                           np.cross(corners[:, 1], corners[:, 2])) / 6)


def closed(vertices: FloatArray, faces: Faces) -> FloatArray:
    """Return a surface's triangles (T, 3, 3), its holes closed from their middles."""
    quads = np.where(faces < 0, faces[:, :1], faces)
    triangles = [vertices[quads[:, [0, 1, 2]]], vertices[quads[:, [0, 2, 3]]]]
    edges = boundary_edges(faces)
    links = sparse.coo_matrix((np.ones(len(edges)), edges.T), (len(vertices),) * 2)
    _, hole = connected_components(links, directed=False)
    for number in np.unique(hole[edges]):
        own = edges[hole[edges[:, 0]] == number]
        middle = np.broadcast_to(vertices[own[:, 0]].mean(axis=0), (len(own), 3))
        triangles.append(np.stack([vertices[own[:, 1]], vertices[own[:, 0]], middle], axis=1))
    return np.concatenate(triangles)


def cloth_away(person: Person, now: FloatArray, last: Motion) -> tuple[float, float]:
    """Return how far (cm) the farthest vertex of the sleeves and of the shirt is from the skin."""
    skin = dense(now, person.skin.faces)
    lift = last.skeleton.heads[0] - person.bare.skeleton.heads[0]
    far = {"sleeve": 0.0, "shirt": 0.0}
    worn = posed(person.dressed, last)
    for mesh in person.dressed.meshes:
        if mesh.name == "top":
            away, _ = cKDTree(skin).query(worn[mesh.name] - lift)
            arm = goes_with_arms(mesh, person.dressed.skeleton.names)
            far = {"sleeve": away[arm].max(initial=0.0), "shirt": away[~arm].max(initial=0.0)}
    return 100 * far["sleeve"], 100 * far["shirt"]


def goes_with_arms(mesh: Mesh, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which vertices (V,) of a garment go more with arms than with the trunk."""
    arms = [any(bone in name for bone in ("Arm", "Hand")) for name in map(helped_joint, names)]
    weights = dense_weights(mesh.joints, mesh.weights, len(names))
    return np.asarray(weights[:, arms].sum(axis=1) > 0.5)


def dense(vertices: FloatArray, faces: Faces) -> FloatArray:
    """Return points all over a surface, closer together than its vertices."""
    corners = vertices[np.where(faces < 0, faces[:, :1], faces)]
    return np.concatenate([vertices, corners.mean(axis=1),
                           (corners + np.roll(corners, 1, axis=1)).reshape(-1, 3) / 2])


def inside(person: Person, now: FloatArray) -> float:
    """Return how deep (mm) skin lies inside that of another part of the body."""
    return deepest(person, now, [(first.format(side), second.format(side)) for side in
                                 ("Left", "Right") for first, second in OTHERS])


def deepest(person: Person, now: FloatArray, parts: Sequence[tuple[str, str]]) -> float:
    """Return how deep (mm) skin of either of two parts lies inside that of the other."""
    normals = vertex_normals(now, person.skin.faces)
    found = 0.0
    for both in parts:
        own, across = (np.flatnonzero(person.parts[part]) for part in both)
        found = max(found, _inside(person.skin, now, normals, own, across),
                    _inside(person.skin, now, normals, across, own))
    return 1000 * found


def _inside(skin: Mesh, now: FloatArray, normals: FloatArray, own: NDArray[np.intp],
            across: NDArray[np.intp]) -> float:
    there = np.zeros(len(now), dtype=bool)
    there[across] = True
    faces = skin.faces[there[np.where(skin.faces < 0, skin.faces[:, :1], skin.faces)].all(axis=1)]
    places, rest, out = (filled(each, faces) for each in (now, skin.vertices, normals))
    away, near = cKDTree(places).query(now[own])
    apart = np.linalg.norm(skin.vertices[own] - rest[near], axis=1)
    ahead = np.einsum("va,va->v", now[own] - places[near], out[near])
    depth = np.where((apart > away + FOLD_M) & (ahead < 0) & (away < DEEPEST_M), away, 0.0)
    whole, part = closed(now, skin.faces), closed(now, faces)
    deepest = 0.0
    for vertex in np.argsort(-depth):
        if depth[vertex] <= deepest:
            break
        place = own[vertex]
        if winding(now[place], part) > IN_PART and winding(now[place], whole) > IN_WHOLE:
            way = way_out(now[place], normals[place], now, skin.faces)
            deepest = max(deepest, min(float(depth[vertex]), way))
    return deepest


def filled(values: FloatArray, faces: Faces) -> FloatArray:
    """Return values (V, C) at 36 places of each face (36 F, C), between its corners."""
    u, v = np.meshgrid(*[(np.arange(6) + 0.5) / 6] * 2)
    shares = np.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v]).reshape(4, -1)
    quads = np.where(faces < 0, faces[:, :1], faces)
    return np.asarray(np.einsum("cs,fcx->fsx", shares, values[quads]).reshape(-1, values.shape[1]))


def way_out(place: FloatArray, normal: FloatArray, vertices: FloatArray, faces: Faces) -> float:
    """Return how far (m) it is from a place (3,) inwards to where a surface is left.

    Along the normal, or the shortest of four ways 45 degrees about it.
    """
    side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    side /= np.linalg.norm(side)
    other = np.cross(normal, side)
    ways = -np.array([normal, *((normal + turn) / np.sqrt(2)
                                for turn in (side, -side, other, -other))])
    quads = np.where(faces < 0, faces[:, :1], faces)
    corners = vertices[np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])] - place
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    leaving = ways @ across.T
    sides = [ways @ np.cross(corners[:, one], corners[:, (one + 1) % 3]).T for one in range(3)]
    far = np.einsum("fx,fx->f", corners[:, 0], across) / np.where(leaving > 0, leaving, np.inf)
    hit = (np.min(sides, axis=0) >= 0) & (leaving > 1e-12) & (far > 1e-4)
    return float(np.where(hit, far, np.inf).min())


def winding(point: FloatArray, corners: FloatArray) -> float:
    """Return how often a closed surface of triangles (T, 3, 3) goes round a point (3,).

    Solid angles of triangles: Van Oosterom and Strackee (1983).
    """
    a, b, c = np.moveaxis(corners - point, 1, 0)
    la, lb, lc = (np.sqrt(np.einsum("fa,fa->f", side, side)) for side in (a, b, c))
    over = np.einsum("fa,fa->f", a, np.cross(b, c))
    under = (la * lb * lc + np.einsum("fa,fa->f", a, b) * lc
             + np.einsum("fa,fa->f", b, c) * la + np.einsum("fa,fa->f", c, a) * lb)
    touching = np.minimum(np.minimum(la, lb), lc) < 1e-9
    return float(np.sum(np.arctan2(over, under)[~touching]) / (2 * np.pi))


def thinnest(person: Person, now: FloatArray) -> float:
    """Return the narrowest cross-section of an arm, in per cent of its area as sculpted."""
    ends = [person.joint(f"Left{name}")[0] for name in ("Arm", "ForeArm", "Hand")]
    places = np.concatenate([np.linspace(ends[0] + 0.05, ends[1] - 0.07, 8),
                             np.linspace(ends[1] + 0.07, ends[2], 8)])
    shares = []
    for place in np.concatenate([places, -places]):
        before, after = (section(person.skin, vertices, place)
                         for vertices in (person.sculpted, now))
        shares.append(after / before)
    return 100 * min(shares)


def section(skin: Mesh, now: FloatArray, x: float) -> float:
    """Return the area (m2) of the ring of skin that lies at ``x`` at rest, where it is now."""
    ahead = skin.vertices[:, 0] - x
    points = []
    for corner in range(4):
        a, b = skin.faces[:, corner], skin.faces[:, (corner + 1) % 4]
        crossing = (ahead[a] > 0) != (ahead[b] > 0)
        a, b = a[crossing], b[crossing]
        share = (ahead[a] / (ahead[a] - ahead[b]))[:, None]
        points.append(now[a] * (1 - share) + now[b] * share)
    ring = np.concatenate(points)
    _, _, axes = np.linalg.svd(ring - ring.mean(axis=0), full_matrices=False)
    return float(ConvexHull(ring @ axes[:2].T).volume)


def sheet(person: Person, poses: dict[str, Motion]) -> Image.Image:
    """Return all poses, dressed, from the front and below that from behind, seen from near."""
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "draft"))
    last = Motion(person.dressed.skeleton, FPS,
                  np.concatenate([done.root_positions[-1:] for done in poses.values()]),
                  np.concatenate([done.rotations[-1:] for done in poses.values()]))
    figures = [(person.dressed, last)]
    paint = drawing(figures, config, SKY)
    rows = [scene_sheet(figures, len(poses), SheetLayout(azimuth, 8.0, TILE, len(poses), FOCUS),
                        paint)
            for azimuth in (20.0, 200.0)]
    whole = Image.new("RGB", (rows[0].width, 2 * rows[0].height))
    for number, row in enumerate(rows):
        whole.paste(row, (0, number * row.height))
    return whole


def main() -> None:
    """Measure, and draw, what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--people", nargs="+", default=["man", "woman", "random:3", "random:11"])
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--poses", nargs="+", default=list(POSES))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    motions = {name: motion_of(keys) for name, keys in POSES.items()
               if name in asked.poses}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in asked.people:
        person = Person.of(name)
        done = {pose: retarget(motion, person.dressed).motion for pose, motion in motions.items()}
        found[name] = {pose: measured(person, motion) for pose, motion in done.items()}
        for pose, figures in found[name].items():
            print(name, pose, *(f"{key} {value:.1f}" for key, value in figures.items()), flush=True)
        if not asked.no_pictures:
            sheet(person, done).save(asked.out / f"{name.replace(':', '-')}.png")
    (asked.out / "flesh.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
