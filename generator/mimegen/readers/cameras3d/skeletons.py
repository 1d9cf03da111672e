"""Which skeleton joints without names are of: by how many there are, and whose limbs are alike."""

from dataclasses import dataclass

import numpy as np

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.position_layouts import file_layout

# Limbs by the roles of their ends; left ones are as long as right ones, and thighs as long as
# shins, upper arms as long as forearms, by and large.
LEG, ARM = ("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")
SHORT = 1e-9
# No joint is further away, in any unit.
FARTHEST = 1e7
# Limbs of people are not more unlike than this: a sum of eight logarithms of their ratios.
PEOPLE = 4.0
# Joints that follow each other in a set lie as far apart, in metres and the more in other units.
LEAST_BONE = 0.03


@dataclass(frozen=True)
class JointSet:
    """A set of joints: its name, its layout, and which of a frame's joints are the layout's."""

    format: str
    layout: str
    kept: tuple[int, ...] | None = None


MEDIAPIPE = JointSet("MediaPipe", "mediapipe", tuple(range(33)))
COCO = JointSet("COCO", "coco", tuple(range(17)))
# By how many joints a frame has. MediaPipe's Holistic, and FreeMocap, have hands and a face after
# the body's 33, COCO-WholeBody after its 17. Human3.6M's 32 have 15 without movement.
SETS: dict[int, tuple[JointSet, ...]] = {
    17: (COCO, JointSet("Human3.6M", "human36m")),
    25: (JointSet("OpenPose", "openpose"), JointSet("Kinect v2", "kinect2")),
    32: (JointSet("Azure Kinect", "azure"),
         JointSet("Human3.6M", "human36m",
                  (0, 1, 2, 3, 6, 7, 8, 12, 13, 14, 15, 17, 18, 19, 25, 26, 27))),
    33: (MEDIAPIPE,), 75: (MEDIAPIPE,), 543: (MEDIAPIPE,), 553: (MEDIAPIPE,), 133: (COCO,)}


def joint_set(places: FloatArray) -> JointSet:
    """Return the set that joints (F, J, 3) are of. Raises KeyError where none has as many."""
    sets, places = SETS[places.shape[1]], _near(places)
    return sets[0] if len(sets) == 1 else min(sets, key=lambda one: unlike(places, one))


def are_limbs(places: FloatArray) -> bool:
    """Whether joints (F, J, 3) of some set have limbs like a person's."""
    places = _near(places)
    apart = np.linalg.norm(np.diff(places, axis=1), axis=2)
    usual = float(np.median(apart[np.isfinite(apart)])) if np.isfinite(apart).any() else 0.0
    return usual > LEAST_BONE and min(unlike(places, one)
                                      for one in SETS[places.shape[1]]) < PEOPLE


def _near(places: FloatArray) -> FloatArray:
    """Return places, NaN where they are of no body in any unit."""
    return np.where(np.abs(places) < FARTHEST, places, np.nan)


def kept_joints(places: FloatArray, chosen: JointSet) -> FloatArray:
    """Return the joints of a set's layout."""
    return places if chosen.kept is None else np.asarray(places[:, list(chosen.kept)])


def unlike(places: FloatArray, chosen: JointSet) -> float:
    """Return how unlike limbs are, that should be alike, if joints (F, J, 3) are of this set."""
    known = file_layout(chosen.layout)
    bodies = known.placed(kept_joints(places, chosen))
    bodies = bodies[np.isfinite(bodies).all(axis=(1, 2))]
    if not len(bodies):
        return np.inf
    index, roles = known.layout.skeleton.index, known.layout.roles
    sizes = {}
    for side in ("left", "right"):
        for parts in (LEG, ARM):
            for number in (0, 1):
                ends = [bodies[:, index[roles[f"{side}_{part}"]]] for part in parts[number:][:2]]
                sizes[side, parts[number]] = max(
                    float(np.median(np.linalg.norm(ends[1] - ends[0], axis=1))), SHORT)
    pairs = [(sizes["left", part], sizes["right", part]) for part in (*LEG[:2], *ARM[:2])]
    pairs += [(sizes[side, upper], sizes[side, lower]) for side in ("left", "right")
              for upper, lower in (LEG[:2], ARM[:2])]
    return float(np.sum([abs(np.log(one / other)) for one, other in pairs]))
