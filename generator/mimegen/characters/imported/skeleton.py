"""Convert a file's armatures to one skeleton in mimegen's convention."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.characters.imported.mesh import RawMesh
from mimegen.characters.imported.placement import Similarity
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.readers.roles import find_roles

IntArray = NDArray[np.int64]

# A joint moves nothing if the sum of its weights is at most this.
MIN_WEIGHT = 0.01
# The end of a bone is not derived from its skin if the skin's middle is nearer to the joint than
# this fraction of the skin's size.
MIN_LEAN = 0.01
# Factors to metres, in the order in which they are tried; the heights to which a factor must lead;
# and the height to which a figure is scaled if none does. Heights in metres.
USUAL_SCALES = (0.01, 0.1, 0.0254, 0.001, 0.3048, 100.0, 10.0, 39.37, 1000.0)
USUAL_HEIGHT = (1.3, 2.1)
STANDARD_HEIGHT = 1.75
# Other parts that reach farther below the soles or above the head than this are noted, in metres.
MIN_BEYOND_M = 0.05


@dataclass(frozen=True, eq=False)
class FileJoints:
    """The joints of a file, in its units and axes.

    ``parents`` (J,) are -1 for roots; ``armature`` (J,) is the index of each joint's armature.
    """

    names: tuple[str, ...]
    parents: IntArray
    heads: FloatArray
    tails: FloatArray
    armature: IntArray


@dataclass(frozen=True, eq=False)
class Tree:
    """One skeleton, still in the file's units and axes.

    ``number`` maps the file's joints to those of the skeleton, -1 for dropped ones. ``ends`` are
    the positions at which joints point through bones that were dropped. ``roles`` are those of the
    readers.
    """

    skeleton: Skeleton
    number: IntArray
    ends: dict[int, FloatArray]
    roles: dict[str, int]
    notes: tuple[str, ...]


def one_tree(joints: FileJoints, weight: FloatArray, file: str) -> Tree:
    """Join a file's armatures to one skeleton whose root is the hips.

    ``weight`` (J,) is the sum of the skin's weights on each joint. Joints that move nothing are
    dropped unless they lie between others. Raises RequestError, naming the file, if the rest is not
    the skeleton of one whole person.
    """
    names = [bare_name(name) for name in joints.names]
    alias, notes = _same_joints(joints, names, weight)
    carried = np.zeros(len(names))
    np.add.at(carried, alias[alias >= 0], weight[alias >= 0])
    parents = np.where(joints.parents >= 0, alias[joints.parents], -1)
    kept = _with_ancestors(carried > MIN_WEIGHT, parents)
    kept &= alias == np.arange(len(names))
    parents = _joined_roots(np.where(kept, parents, -1), kept, joints.heads, carried)
    order = _parents_first(parents, kept)
    new = np.full(len(names) + 1, -1)
    new[order] = np.arange(len(order))
    skeleton = Skeleton(_different([names[i] for i in order]), new[parents[order]],
                        joints.heads[order], joints.tails[order])
    found = find_roles(skeleton, file=file)
    ends = {int(new[i]): joints.heads[child] for i in order
            for child in _only_child(joints.parents, int(i)) if not kept[child]}
    roles = {role: skeleton.index[name] for role, name in found.joints.items()}
    number = np.where(alias >= 0, new[alias], -1)
    return _rooted_at(roles["hips"], Tree(skeleton, number, ends, roles, notes))


def bare_name(name: str) -> str:
    """Return a bone's name without namespaces: ``mixamorig:Hips`` and the like become ``Hips``."""
    bare = re.sub(r"^mixamorig\d*[_:]?", "", re.split(r"[:|]", name)[-1])
    return bare or name


def _same_joints(joints: FileJoints, names: Sequence[str],
                 weight: FloatArray) -> tuple[IntArray, tuple[str, ...]]:
    """Return for each joint (J,) the one it duplicates, and notes.

    Clothes often come with an armature that repeats the body's bones. Joints of further figures are
    -1; all others are their own duplicates.
    """
    alias = np.arange(len(names))
    main = int(np.argmax(np.bincount(joints.armature, weight)))
    size = float(np.ptp(joints.heads, axis=0).max())
    body = {names[i]: i for i in np.flatnonzero(joints.armature == main).tolist()}
    notes = []
    for armature in sorted(set(joints.armature.tolist()) - {main}):
        members = np.flatnonzero(joints.armature == armature).tolist()
        shared = [i for i in members if names[i] in body]
        apart = [np.linalg.norm(joints.heads[i] - joints.heads[body[names[i]]]) for i in shared]
        if shared and np.median(apart) > 0.02 * size:
            alias[members] = -1
            notes.append(f"a further figure ({len(members)} bones) is left out")
        else:
            alias[shared] = [body[names[i]] for i in shared]
    return alias, tuple(notes)


def _with_ancestors(chosen: NDArray[np.bool_], parents: IntArray) -> NDArray[np.bool_]:
    """Return a mask (J,) of the chosen joints and all their ancestors."""
    kept = chosen.copy()
    for joint in np.flatnonzero(chosen):
        above = parents[joint]
        while above >= 0 and not kept[above]:
            kept[above] = True
            above = parents[above]
    return kept


def _joined_roots(parents: IntArray, kept: NDArray[np.bool_], heads: FloatArray,
                  weight: FloatArray) -> IntArray:
    """Return parents (J,) with all trees attached to the nearest joint of the heaviest tree."""
    top = np.arange(len(parents))
    for _ in range(len(parents)):
        above = np.where(parents[top] >= 0, parents[top], top)
        if np.array_equal(above, top):
            break
        top = above
    main = int(np.argmax(np.bincount(top, weight, len(parents))))
    body = np.flatnonzero(kept & (top == main))
    joined = parents.copy()
    for root in np.flatnonzero(kept & (parents < 0)):
        if root != main:
            apart = np.linalg.norm(heads[body] - heads[root], axis=1)
            joined[root] = body[int(np.argmin(apart))]
    return joined


def _parents_first(parents: IntArray, kept: NDArray[np.bool_]) -> IntArray:
    """Return the indices of the kept joints, depth first."""
    children: dict[int, list[int]] = {}
    for joint in np.flatnonzero(kept)[::-1]:
        children.setdefault(int(parents[joint]), []).append(int(joint))
    order: list[int] = []
    waiting = children.get(-1, [])
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(children.get(joint, []))
    return np.array(order, dtype=np.int64)


def _different(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, with numbers appended to repeated ones."""
    made: list[str] = []
    for name in names:
        fresh, number = name, 2
        while fresh in made:
            fresh, number = f"{name}.{number}", number + 1
        made.append(fresh)
    return tuple(made)


def _only_child(parents: IntArray, joint: int) -> list[int]:
    """Return the children of a joint if it has exactly one, else an empty list."""
    children = np.flatnonzero(parents == joint).tolist()
    return children if len(children) == 1 else []


def _rooted_at(hips: int, tree: Tree) -> Tree:
    """Return the tree with the hips as root; joints above the hips are merged into them."""
    old = tree.skeleton
    above = []
    joint = int(old.parents[hips])
    while joint >= 0:
        above.append(joint)
        joint = int(old.parents[joint])
    if not above:
        return tree
    become = np.arange(len(old.names) + 1)
    become[above] = hips
    become[-1] = -1
    parents = become[old.parents]
    parents[hips] = -1
    kept = np.ones(len(old.names), dtype=bool)
    kept[above] = False
    order = _parents_first(parents, kept)
    new = np.full(len(old.names) + 1, -1)
    new[order] = np.arange(len(order))
    skeleton = Skeleton(tuple(old.names[i] for i in order), new[parents[order]],
                        old.heads[order], old.tails[order])
    number = np.where(tree.number >= 0, new[become[tree.number]], -1)
    ends = {int(new[i]): end for i, end in tree.ends.items() if kept[i]}
    roles = {role: int(new[become[i]]) for role, i in tree.roles.items()}
    return Tree(skeleton, number, ends, roles, tree.notes)


def with_tails(tree: Tree, meshes: Sequence[RawMesh]) -> Tree:
    """Return the tree with each joint pointing at its children on its own side.

    Joints without such children point at the end of a dropped bone or through their skin. The head
    points at its top, whatever bones of eyes, jaw and hair it carries.
    """
    skeleton = tree.skeleton
    left = skeleton.heads[tree.roles["left_thigh"]] - skeleton.heads[tree.roles["right_thigh"]]
    across = (skeleton.heads - skeleton.heads[0]) @ (left / np.linalg.norm(left))
    side = np.sign(np.round(across / (0.02 * np.ptp(skeleton.heads, axis=0).max())))
    skin = np.concatenate([mesh.vertices for mesh in meshes])
    owner = np.concatenate([mesh.owners() for mesh in meshes])
    tails = skeleton.tails.copy()
    for joint in range(len(skeleton.names)):
        children = [child for child in skeleton.children(joint)
                    if not np.allclose(skeleton.heads[child], skeleton.heads[joint])]
        same = [child for child in children if side[child] == side[joint]] or (
            children if len(children) == 1 else [])
        if same:
            tails[joint] = skeleton.heads[same].mean(axis=0)
        elif joint in tree.ends:
            tails[joint] = tree.ends[joint]
        elif not children:
            tails[joint] = _through(skeleton.heads[joint], skin[owner == joint], tails[joint])
    head = tree.roles["head"]
    if head not in tree.ends:
        tails[head] = _top_of_head(tree, meshes, tails[head])
    return replace(tree, skeleton=Skeleton(skeleton.names, skeleton.parents, skeleton.heads, tails))


def _top_of_head(tree: Tree, meshes: Sequence[RawMesh], otherwise: FloatArray) -> FloatArray:
    """Return the point above the head's joint as high as its skin, without hats.

    A hat is a mesh that begins above the middle of all other skin of the head. Returns
    ``otherwise`` if the head has no skin above its joint.
    """
    joint = tree.roles["head"]
    start, up = tree.skeleton.heads[joint], _up_and_fronts(tree)[0]
    own = tree.skeleton.below([joint])
    levels = [(mesh.vertices[np.isin(mesh.owners(), own)] - start) @ up for mesh in meshes]
    spans = sorted((float(level.max()), float(level.min())) for level in levels if len(level))
    while len(spans) > 1 and spans[-1][1] > spans[-2][0] / 2:
        spans.pop()
    return np.asarray(start + up * spans[-1][0]) if spans and spans[-1][0] > 0 else otherwise


def _through(head: FloatArray, points: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return the far end of a bone from ``head`` through the middle of its skin.

    It is ``otherwise`` if there is no such skin, or none that shows a direction.
    """
    if not len(points):
        return otherwise
    direction = points.mean(axis=0) - head
    length = float(np.linalg.norm(direction))
    if length < MIN_LEAN * np.ptp(points, axis=0).max():
        return otherwise
    direction /= length
    return np.asarray(head + direction * ((points - head) @ direction).max())


def with_true_sides(tree: Tree) -> Tree:
    """Return the tree with left and right exchanged if the toes show that they are interchanged.

    Mirrored bodies are so, and bodies whose sides are named as a viewer sees them.
    """
    _, front, by_names = _up_and_fronts(tree)
    if front @ by_names >= 0:
        return tree
    other = {role: f"{'right' if side == 'left' else 'left'}_{part}" for role in tree.roles
             for side, _, part in (role.partition("_"),) if side in SIDES}
    roles = {other.get(role, role): joint for role, joint in tree.roles.items()}
    names = _exchanged(tree.skeleton.names, {joint: roles[role] for role, joint
                                             in tree.roles.items() if role in roles})
    skeleton = Skeleton(names, tree.skeleton.parents, tree.skeleton.heads, tree.skeleton.tails)
    return replace(tree, skeleton=skeleton, roles=roles, notes=(
        *tree.notes, "left and right were named the wrong way round, as the toes show; exchanged"))


def _exchanged(names: Sequence[str], partners: Mapping[int, int]) -> tuple[str, ...]:
    """Return the names with those of partners exchanged, and those that only ``SIDES`` tell apart.
    """
    index = {name: i for i, name in enumerate(names)}
    made = []
    for i, name in enumerate(names):
        mirrored = re.sub("Left|Right", lambda side: "Right" if side[0] == "Left" else "Left", name)
        made.append(names[partners.get(i, index.get(mirrored, i))])
    return tuple(made)


def _up_and_fronts(tree: Tree) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a figure's up axis, its front by its toes, and its front by the names of its sides.

    Toes that show no direction have the front of the names.
    """
    heads, roles = tree.skeleton.heads, tree.roles
    feet = [roles["left_foot"], roles["right_foot"]]
    up = near_axis(heads[roles["head"]] - heads[feet].mean(axis=0), 40.0)
    left = heads[roles["left_thigh"]] - heads[roles["right_thigh"]]
    toes = (tree.skeleton.tails[feet] - heads[feet]).mean(axis=0)
    by_names = np.cross(left, up)
    level = np.asarray(toes - up * (toes @ up))
    front = level if np.linalg.norm(level) > 0.1 * np.linalg.norm(left) else by_names
    return up, front, by_names


def find_placement(tree: Tree, meshes: Sequence[RawMesh],
                   plausible: tuple[float, float], file: str) -> Similarity:
    """Return the transform that stands the figure on its soles, facing the front.

    Its up axis goes from feet to head, its front is where the toes point. A height, from the soles
    to the top of the head, outside ``plausible`` (metres) is taken for a common other unit, or else
    scaled to 1.75 m. Raises RequestError, naming the file, if the body has no height.
    """
    up, front, _ = _up_and_fronts(tree)
    notes = []
    front = near_axis(front - up * (front @ up), 25.0)
    front = front - up * (front @ up)
    front /= np.linalg.norm(front)
    turn = np.array([np.cross(up, front), -front, up])
    if not np.allclose(turn, np.eye(3), atol=1e-6):
        notes.append("turned to stand upright and face the front")
    levels = _Levels.of(tree, meshes, up)
    height = levels.top - levels.soles
    if not height > 1e-9:
        raise RequestError(f"{file}: the body is flat, expected a figure with a height")
    scale = usual_scale(height, plausible)
    if scale != 1.0:
        notes.append(f"{height:.4g} m tall by its own units, scaled to {height * scale:.2f} m")
    notes += levels.notes(scale)
    hips = turn @ tree.skeleton.heads[0]
    return Similarity(turn, scale, -scale * np.array([hips[0], hips[1], levels.soles]),
                      tuple(notes))


def usual_scale(height: float, plausible: tuple[float, float]) -> float:
    """Return the factor to metres for a figure of this height in the file's units."""
    if plausible[0] <= height <= plausible[1]:
        return 1.0
    fitting = (s for s in USUAL_SCALES if USUAL_HEIGHT[0] <= height * s <= USUAL_HEIGHT[1])
    return next(fitting, STANDARD_HEIGHT / height)


@dataclass(frozen=True)
class _Levels:
    """Heights along a figure's up axis, in the file's units.

    ``soles`` and ``top`` are the lowest point of the feet's skin and the highest of the head's;
    ``lowest`` and ``highest`` those of all skin, such as a held staff's, a tail's or wings'.
    """

    soles: float
    top: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, tree: Tree, meshes: Sequence[RawMesh], up: FloatArray) -> "_Levels":
        """Return the levels; feet without skin end where the shins do, or else all skin."""
        levels = np.concatenate([mesh.vertices for mesh in meshes]) @ up
        owner = np.concatenate([mesh.owners() for mesh in meshes])
        parts = [np.isin(owner, tree.skeleton.below([tree.roles[f"{side}_{part}"]
                                                     for side in SIDES]))
                 for part in ("foot", "shin")]
        feet = next((levels[part] for part in parts if part.any()), levels)
        head = levels[np.isin(owner, tree.skeleton.below([tree.roles["head"]]))]
        return cls(float(feet.min()), float((head if len(head) else levels).max()),
                   float(levels.min()), float(levels.max()))

    def notes(self, scale: float) -> list[str]:
        """Say how far other parts reach below the soles and above the head."""
        said = ((scale * (self.soles - self.lowest), "below the soles"),
                (scale * (self.highest - self.top), "above the head"))
        return [f"parts of it reach {away:.2f} m {where}, such as a held thing, a tail or wings"
                for away, where in said if away > MIN_BEYOND_M]


def near_axis(vector: FloatArray, limit: float) -> FloatArray:
    """Return the signed coordinate axis within ``limit`` degrees, or else the unit vector."""
    unit = vector / max(float(np.linalg.norm(vector)), 1e-12)
    largest = int(np.argmax(np.abs(unit)))
    axis = np.eye(3)[largest] * np.sign(unit[largest])
    return np.asarray(axis if axis @ unit > np.cos(np.radians(limit)) else unit)
