"""Whether feet that bear weight rest on the ground, on a performing body: for `standing.py`."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.legs import HEEL_BEHIND_ANKLE_M
from mimegen.motion import Motion, quaternions
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.roles import find_roles
from mimegen.retarget.surface import SkinSample, owners

# A foot of the score bears weight where its heel or its ball is so near (m) to the floor and slower
# than this (m/s); what is farther than the last (m) from the ground hangs, or is in it.
BEARS_M, SLOW_M_S, OFF_M = 0.003, 0.15, 0.01
Frames = NDArray[np.bool_]
KINDS = ("hangs", "heel hangs", "toes hang", "sunk")


class Off(NamedTuple):
    """Where feet bear weight, and by kind how far (m) they are off the ground; both sides (2 F,).

    Heel or toes hang where the score has both down; a foot is sunk wherever it is below the ground.
    """

    bears: Frames
    by: dict[str, FloatArray]


class Foot(NamedTuple):
    """Lowest heights (F,) in metres of a foot's back half and of its front half."""

    heel: FloatArray
    toes: FloatArray


def written_foot(motion: Motion, side: str) -> Foot:
    """Return how high heel and ball of a score's own foot are over where they stand."""
    ball, ankle = (motion.skeleton.index[side + name] for name in ("ToeBase", "Foot"))
    places, rest = motion.global_pose.positions, motion.skeleton.heads
    down = np.array([0.0, HEEL_BEHIND_ANKLE_M, -rest[ankle, 2]])
    heel = places[:, ankle] + quaternions.rotate(motion.global_pose.rotations[:, ankle], down)
    return Foot(heel[:, 2], places[:, ball, 2] - rest[ball, 2])


def worn_foot(character: Character, motion: Motion, side: str) -> Foot:
    """Return how high a body's foot, in its shoe, is over the ground."""
    roles = find_roles(character.skeleton).joints
    ankle, toe = (character.skeleton.index[roles[f"{side}_{part}"]] for part in ("foot", "toe"))
    skins = [SkinSample(mesh.vertices, mesh.joints, mesh.weights).part(
        np.isin(owners(mesh), (ankle, toe))) for mesh in character.meshes]
    middle = character.skeleton.heads[toe, 1]
    halves = [[skin.part(half(skin.vertices[:, 1])) for skin in skins]
              for half in (lambda ahead: ahead > middle, lambda ahead: ahead <= middle)]
    frames = np.arange(motion.frames)
    return Foot(*(np.min([part.heights(motion, frames).min(axis=1) for part in parts
                          if len(part.vertices)], axis=0) for parts in halves))


def bearing(motion: Motion, side: str) -> Frames:
    """Return where (F,) a score's foot stands on the floor."""
    ball = motion.global_pose.positions[:, motion.skeleton.index[side + "ToeBase"]]
    ankle = motion.global_pose.positions[:, motion.skeleton.index[side + "Foot"]]
    foot = written_foot(motion, side)
    slow = [np.linalg.norm(velocities(place, motion.fps), axis=-1) < SLOW_M_S
            for place in (ankle, ball)]
    return np.asarray(((foot.heel < BEARS_M) & slow[0]) | ((foot.toes < BEARS_M) & slow[1]))


def off_the_ground(source: Motion, motion: Motion, character: Character) -> Off:
    """Return how far a character's feet, performing a score's motion, are off the ground."""
    bears: list[Frames] = []
    off: dict[str, list[FloatArray]] = {kind: [] for kind in KINDS}
    for side in SIDES:
        written, worn = written_foot(source, side), worn_foot(character, motion, side.lower())
        bears.append(bearing(source, side))
        flat = bears[-1] & (written.heel < BEARS_M) & (written.toes < BEARS_M)
        lowest = np.minimum(worn.heel, worn.toes)
        for kind, values in zip(KINDS, (bears[-1] * lowest, flat * worn.heel, flat * worn.toes,
                                        -lowest), strict=True):
            off[kind].append(np.maximum(values, 0.0))
    return Off(np.concatenate(bears), {kind: np.concatenate(both) for kind, both in off.items()})


def told(found: Sequence[Off], fps: float) -> str:
    """Return some performers' figures as a line, with the worst moment of each kind."""
    said = [f"{sum(int(one.bears.sum()) for one in found)} feet on the ground"]
    for kind in KINDS:
        many = sum(int((one.by[kind] > OFF_M).sum()) for one in found)
        if many:
            worst = max(found, key=lambda one: float(one.by[kind].max()))
            at = int(worst.by[kind].argmax())
            said.append(f"{kind} in {many}, by {100 * worst.by[kind][at]:.1f} cm"
                        f" ({at % (len(worst.bears) // 2) / fps:.2f} s) at most")
    return ", ".join(said)
