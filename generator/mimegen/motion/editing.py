"""Resample, trim, move and mirror motions."""

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import quaternions
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray


def resampled(motion: Motion, fps: float) -> Motion:
    """Return the motion interpolated to another frame rate, up to at most its last frame."""
    # The added millionth keeps a last frame that rounding would put just beyond the end.
    count = int(np.floor(motion.last_s * fps + 1e-6)) + 1
    moments = np.arange(count) / fps * motion.fps
    before = np.minimum(moments.astype(int), motion.frames - 1)
    after = np.minimum(before + 1, motion.frames - 1)
    share = np.clip(moments - before, 0.0, 1.0)
    places = motion.root_positions
    root = places[before] + share[:, None] * (places[after] - places[before])
    rotations = quaternions.slerp(
        motion.rotations[before], motion.rotations[after], share[:, None]
    )
    return Motion(motion.skeleton, fps, root, quaternions.without_flips(rotations))


def trimmed(motion: Motion, first: int, last: int) -> Motion:
    """Return frames ``first`` to ``last`` inclusive.

    Raises ValueError if they are not a span inside the motion.
    """
    if not 0 <= first <= last < motion.frames:
        raise ValueError(f"frames {first} to {last} do not lie within 0 to {motion.frames - 1}")
    span = slice(first, last + 1)
    return Motion(
        motion.skeleton, motion.fps, motion.root_positions[span], motion.rotations[span]
    )


def moved(motion: Motion, shift: FloatArray, turn_deg: float) -> Motion:
    """Return the motion shifted by ``shift`` (3,) metres, then turned about the world's Z axis.

    Positive angles turn counterclockwise seen from above.
    """
    turn = quaternions.from_rotation_vectors([0.0, 0.0, np.radians(turn_deg)])
    rotations = motion.rotations.copy()
    # Only the root's rotation is relative to the world; all others are relative to their parents.
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    return Motion(motion.skeleton, motion.fps,
                  quaternions.rotate(turn, motion.root_positions + shift), rotations)


def counterparts(names: tuple[str, ...]) -> NDArray[np.intp]:
    """Return for every joint (J,) the index of its counterpart on the other side, or its own."""
    number = {name: i for i, name in enumerate(names)}
    swapped = [
        # A placeholder in between, so that a Left that became Right does not become Left again.
        name.replace("Left", "\0").replace("Right", "Left").replace("\0", "Right")
        for name in names
    ]
    return np.array([number.get(name, i) for i, name in enumerate(swapped)])


def mirrored(motion: Motion) -> Motion:
    """Return the motion mirrored in the plane X = 0, on the same skeleton.

    The skeleton's joints are named ``Left...`` and ``Right...`` and its rest pose is symmetric.
    """
    rotations = motion.rotations[:, counterparts(motion.skeleton.names)]
    return Motion(
        motion.skeleton,
        motion.fps,
        # Mirroring in X = 0 keeps rotations about X and reverses those about Y and Z.
        motion.root_positions * np.array([-1.0, 1.0, 1.0]),
        rotations * np.array([1.0, 1.0, -1.0, -1.0]),
    )


def at_rate(motion: Motion, fps: float) -> Motion:
    """Return the same poses at another frame rate, so that the motion becomes faster or slower."""
    if fps == motion.fps:
        return motion
    return Motion(motion.skeleton, fps, motion.root_positions, motion.rotations)
