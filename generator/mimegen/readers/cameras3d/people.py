"""Turn the joints that a file holds frame by frame into tracked people with a known skeleton."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.cameras3d.skeletons import MAX_COORDINATE, SETS, joint_set, kept_joints
from mimegen.readers.cameras3d.tracked import Tracked
from mimegen.readers.files import MAX_FILE_BYTES
from mimegen.readers.position_layouts import file_layout

# The up axis in a camera's picture. Y or Z count instead if the median vector from feet to head has
# more than this fraction of its length along them.
CAMERA_UP = "-Y"
MIN_UP_SHARE = 0.8
EXPECTED = "33 (MediaPipe), 25 (OpenPose, Kinect v2), 32 (Azure Kinect) or 17 (Human3.6M, COCO)"
Held = Mapping[str, list[tuple[int, FloatArray]]]


def tracked_people(path: Path, people: Held, frames: int, fps: float | None) -> Tracked:
    """Return tracked people from joints (J, 3) that ``people`` holds with their frame numbers.

    Joints (J, 6) are positions, NaN if uncertain, followed by the estimator's guesses. ``frames``
    is the number of all frames. Raises RequestError if the joints are of no known skeleton.
    """
    counts = {joints.shape for held in people.values() for _, joints in held}
    if len(counts) != 1 or next(iter(counts))[1:] not in ((3,), (6,)) \
            or next(iter(counts))[0] not in SETS:
        raise RequestError(f"{path}: its frames have"
                           f" {', '.join(str(shape[0]) for shape in sorted(counts)[:4]) or 'no'}"
                           f" joints; expected {EXPECTED}")
    count = next(iter(counts))[0]
    if len(people) * frames * count > MAX_FILE_BYTES // 8:
        raise RequestError(f"{path}: contains more people and frames than are read")
    made = {key: np.full((frames, count, 3), np.nan) for key in people}
    guesses = {key: positions.copy() for key, positions in made.items()}
    for key, held in people.items():
        for number, joints in held:
            finite = np.where(np.abs(joints) < MAX_COORDINATE, joints, np.nan)
            made[key][number], guesses[key][number] = finite[:, :3], finite[:, -3:]
    chosen = joint_set(np.concatenate(list(made.values())))
    made, guesses = ({key: kept_joints(positions, chosen) for key, positions in one.items()}
                     for one in (made, guesses))
    up = _up_of(chosen.layout, made)
    # MediaPipe's vertical is the camera's: a camera that looks down tilts the body (docs/research).
    return Tracked(chosen.format, chosen.layout, up, made, fps, is_level=up == "Z", guesses=guesses)


def _up_of(layout: str, people: Mapping[str, FloatArray]) -> str:
    """Return the axis from feet to head: -Y in a camera's picture, Z or Y in world coordinates."""
    known = file_layout(layout)
    index, roles = known.layout.skeleton.index, known.layout.roles
    bodies = known.placed(np.concatenate(list(people.values())))
    feet = (bodies[:, index[roles["left_foot"]]] + bodies[:, index[roles["right_foot"]]]) / 2
    body = bodies[:, index[roles["head"]]] - feet
    seen = body[np.isfinite(body).all(axis=1)]
    if not len(seen):
        return CAMERA_UP
    x, y, z = np.median(seen, axis=0)
    upright = MIN_UP_SHARE * np.linalg.norm((x, y, z))
    return "Z" if z > upright else "Y" if y > upright else CAMERA_UP
