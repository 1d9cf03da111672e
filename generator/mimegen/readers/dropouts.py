"""Find and bridge frames in which tracking was lost: poses of zeros, and jumps away and back.

Lost values are interpolated between the frames around them, like gaps of markers. A value counts as
lost only if it leaps while the steps before and after the leap are small: people do not move so.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.arrays import BoolArray
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray

IntArray = NDArray[np.intp]

# Least leaps, in degrees: a joint's spike, a joint at zero, and (mean of all joints) a pose of
# zeros. Least leap of the root, as a fraction of the body's size.
SPIKE_DEG = 25.0
ZERO_DEG = 10.0
ZERO_POSE_DEG = 2.0
SPIKE_SIZES = 0.06
# Greatest steps before and after a leap, and greatest change from before a spike to after it, as
# fractions of the leap.
MAX_STEP_BESIDE_SPIKE = 0.25
MAX_CHANGE_ACROSS_SPIKE = 0.5
# Greatest time (seconds) from before a spike to after it, and greatest length of a spike in frames:
# no joint of a person leaves and returns so quickly from rest to rest.
SPIKE_S = 0.085
MAX_SPIKE_FRAMES = 3
# A value that spikes in more than this fraction of the frames is taken for true movement.
MAX_LOST_SHARE = 0.1
# A value that is zero in more than this fraction of the frames is taken for true.
MAX_ZERO_SHARE = 0.5
# A rotation counts as zero if the w of its quaternion is within this of 1.
UNTURNED = 1e-9
# Spans of frames, and joints, that a note names.
MAX_SPANS = 4
MAX_NAMES = 3


class _Track(NamedTuple):
    """Changes of values over time.

    ``steps`` (F + 1, K) are the changes into each frame, 0 at both ends; ``change_over(n)``
    (F - n, K) returns the changes between frames that are ``n`` apart.
    """

    steps: FloatArray
    change_over: Callable[[int], FloatArray]


def without_dropouts(motion: Motion, first: int = 0) -> tuple[Motion, tuple[str, ...]]:
    """Bridge the frames in which tracking was lost, in any unit and axes.

    Return the motion and a note for each kind of loss. ``first`` is the number of the motion's
    first frame in the file. At the file's ends the nearest pose is held.
    """
    if motion.frames < 4:
        return motion, ()
    rotation_changes, positions = _rotation_changes(motion), _position_changes(motion)
    empty = _empty_poses(motion, rotation_changes)
    zero = _zero_joints(motion, rotation_changes) & ~empty[:, None]
    absent = _zero_positions(motion, positions)
    wild = _visible_spikes(motion,
                           _spikes(rotation_changes, SPIKE_DEG, motion.fps) & ~empty[:, None])
    away = _spikes(positions, SPIKE_SIZES, motion.fps)[:, 0] & ~absent
    names = named(motion.skeleton.names, zero), named(motion.skeleton.names, wild)
    notes = [*lost_note(empty, "every joint is zero", first),
             *lost_note(absent & ~empty, "the body is at the file's origin", first),
             *lost_note(zero.any(axis=1), f"the rotation of {names[0]} is zero", first),
             *lost_note(wild.any(axis=1), f"the rotation of {names[1]} jumps away and back", first),
             *lost_note(away, "the body jumps away and back", first)]
    if not notes:
        return motion, ()
    lost = zero | wild | empty[:, None]
    return Motion(motion.skeleton, motion.fps, _interpolated_positions(motion, absent | away),
                  _interpolated_rotations(motion, lost)), tuple(notes)


def _angles(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the angles (...,) in degrees between rotations (..., 4)."""
    cosines = np.minimum(np.abs(np.einsum("...i,...i", first, second)), 1.0)
    return np.asarray(np.degrees(2 * np.arccos(cosines)))


def _track(change_over: Callable[[int], FloatArray]) -> _Track:
    return _Track(np.pad(change_over(1), ((1, 1), (0, 0))), change_over)


def _rotation_changes(motion: Motion) -> _Track:
    """Return the changes of the joints' rotations, in degrees."""
    return _track(lambda n: _angles(motion.rotations[:-n], motion.rotations[n:]))


def _position_changes(motion: Motion) -> _Track:
    """Return the changes of the root's position, as fractions of the body's size."""
    size = max(float(np.ptp(motion.skeleton.heads, axis=0).max()), 1e-12)
    positions = motion.root_positions / size
    return _track(lambda n: np.linalg.norm(positions[n:] - positions[:-n], axis=1)[:, None])


def _spikes(track: _Track, least: float, fps: float) -> BoolArray:
    """Return a mask (F, K) of values that leap by more than ``least`` and soon leap back.

    The steps before and after must be small, and the spike no longer than ``SPIKE_S`` and
    ``MAX_SPIKE_FRAMES``.
    """
    steps = track.steps
    frames = len(steps) - 1
    leaps = steps > least
    lost = np.zeros((frames, steps.shape[1]), bool)
    if not leaps.any():
        return lost
    for length in range(1, min(MAX_SPIKE_FRAMES, frames - 2) + 1):
        if (length + 1) / fps > SPIKE_S:
            break
        leap = np.minimum(steps[1 : frames - length], steps[1 + length : frames])
        calm = np.maximum(steps[: frames - 1 - length],
                          steps[2 + length :]) < MAX_STEP_BESIDE_SPIKE * leap
        found = (leap > least) & calm
        if found.any():
            found &= track.change_over(length + 1) < MAX_CHANGE_ACROSS_SPIKE * leap
            for frame in range(length):
                lost[1 + frame : frames - length + frame] |= found
    return np.asarray(lost & (lost.mean(axis=0) < MAX_LOST_SHARE))


def _visible_spikes(motion: Motion, wild: BoolArray) -> BoolArray:
    """Return the spikes (F, J) of local rotations that also turn a joint and its children globally.

    If a joint twists while the next one twists back, the pose hardly changes: that is no spike.
    """
    if not wild.any():
        return wild
    rotations, parents = motion.global_pose.rotations, motion.skeleton.parents
    steps = np.pad(_angles(rotations[:-1], rotations[1:]), ((1, 1), (0, 0)))
    jumps = np.maximum(steps[:-1], steps[1:]) > SPIKE_DEG / 2
    carried = jumps.copy()
    carried[:, np.unique(parents[1:])] = False
    for joint in range(1, len(parents)):
        carried[:, parents[joint]] |= jumps[:, joint]
    shown = jumps & carried
    # A spike of several frames jumps only at its ends, so look at the frames around it too.
    within = np.zeros_like(wild)
    for shift in range(-MAX_SPIKE_FRAMES + 1, MAX_SPIKE_FRAMES):
        within[max(shift, 0) : len(wild) + min(shift, 0)] |= \
            shown[max(-shift, 0) : len(wild) - max(shift, 0)]
    return wild & within


def _dropped(zero: BoolArray, track: _Track, least: float, at_ends: bool) -> BoolArray:
    """Return a mask (F, K) of the values that are ``zero`` between leaps of more than ``least``.

    If ``at_ends``, a run of zeros at the file's start or end needs a leap only on its other side.
    """
    zero = zero & (zero.mean(axis=0) < MAX_ZERO_SHARE)
    if not zero.any():
        return zero
    steps, frames = track.steps, len(zero)
    numbers = np.arange(frames)[:, None]
    edge = np.zeros((1, zero.shape[1]), bool)
    starts = np.concatenate([edge, zero[1:] & ~zero[:-1]])
    ends = np.concatenate([zero[:-1] & ~zero[1:], edge])
    before = np.concatenate([edge * 0.0, steps[:-2]])
    after = np.concatenate([steps[2:], edge * 0.0])
    leaps_in = starts & (steps[:-1] > least) & (before < MAX_STEP_BESIDE_SPIKE * steps[:-1])
    leaps_out = ends & (steps[1:] > least) & (after < MAX_STEP_BESIDE_SPIKE * steps[1:])
    start = np.maximum.accumulate(np.where(starts, numbers, -1), axis=0)
    end = np.minimum.accumulate(np.where(ends, numbers, frames)[::-1], axis=0)[::-1]
    enters = np.take_along_axis(leaps_in, np.maximum(start, 0), axis=0) | (at_ends & (start < 0))
    leaves = np.take_along_axis(leaps_out, np.minimum(end, frames - 1), axis=0) | (
        at_ends & (end == frames))
    return np.asarray(zero & enters & leaves)


def _unturned(motion: Motion) -> BoolArray:
    """Return a mask (F, J) of the joints without any rotation, as zeros in a file give."""
    return np.asarray(np.abs(motion.rotations[..., 0]) > 1.0 - UNTURNED)


def _empty_poses(motion: Motion, rotation_changes: _Track) -> BoolArray:
    """Return a mask (F,) of the frames in which every joint is zero between leaps of the pose."""
    empty = _unturned(motion).all(axis=1)[:, None]
    pose = _Track(rotation_changes.steps.mean(axis=1)[:, None], rotation_changes.change_over)
    return _dropped(empty, pose, ZERO_POSE_DEG, at_ends=True)[:, 0]


def _zero_joints(motion: Motion, rotation_changes: _Track) -> BoolArray:
    return _dropped(_unturned(motion), rotation_changes, ZERO_DEG, at_ends=False)


def _zero_positions(motion: Motion, positions: _Track) -> BoolArray:
    zero = ~motion.root_positions.any(axis=1)[:, None]
    return _dropped(zero, positions, SPIKE_SIZES, at_ends=True)[:, 0]


class Between(NamedTuple):
    """How to interpolate values (F, K).

    ``before`` and ``after`` are the nearest known frames, ``share`` the fraction of the step from
    the first to the second.
    """

    before: IntArray
    after: IntArray
    share: FloatArray


def between(lost: BoolArray) -> Between:
    """Return the frames between which lost values (F, K) are interpolated."""
    frames = len(lost)
    numbers = np.arange(frames)[:, None]
    before = np.maximum.accumulate(np.where(lost, -1, numbers), axis=0)
    after = np.minimum.accumulate(np.where(lost, frames, numbers)[::-1], axis=0)[::-1]
    # At the ends, where only one side is known, that value is held.
    before, after = np.where(before < 0, after, before), np.where(after == frames, before, after)
    share = (numbers - before) / np.maximum(after - before, 1)
    return Between(before, after, share)


def _interpolated_positions(motion: Motion, lost: BoolArray) -> FloatArray:
    """Return the root's positions (F, 3), interpolated along straight lines where ``lost`` (F,)."""
    before, after, share = between(lost[:, None])
    positions = motion.root_positions
    return np.asarray(positions[before[:, 0]]
                      + share * (positions[after[:, 0]] - positions[before[:, 0]]))


def _interpolated_rotations(motion: Motion, lost: BoolArray) -> FloatArray:
    """Return local rotations (F, J, 4), interpolated by shortest turns where ``lost`` (F, J)."""
    frames, joints = np.nonzero(lost)
    before, after, share = (values[frames, joints] for values in between(lost))
    turned = motion.rotations.copy()
    turned[frames, joints] = quaternions.slerp(motion.rotations[before, joints],
                                               motion.rotations[after, joints], share)
    return quaternions.without_flips(turned)


def named(names: tuple[str, ...], lost: BoolArray) -> str:
    """Return the names of the joints that were lost (F, J), the most often lost first."""
    counts = lost.sum(axis=0)
    worst = [int(joint) for joint in np.argsort(-counts, kind="stable") if counts[joint]]
    more = len(worst) - MAX_NAMES
    said = ", ".join(repr(names[joint]) for joint in worst[:MAX_NAMES])
    return f"{said} and {more} more" if more > 0 else said


def lost_note(lost: BoolArray, what: str, first: int) -> tuple[str, ...]:
    """Return a note on the lost frames (F,), or nothing if there are none.

    ``first`` is the number of the first frame in the file.
    """
    if not lost.any():
        return ()
    return (f"tracking was lost in {frame_list_text(np.flatnonzero(lost) + first)}, where {what}:"
            " the motion is bridged there",)


def frame_list_text(numbers: Iterable[int]) -> str:
    """Return frame numbers as text, "frames 3 to 5 and 9"; a long list ends with a count."""
    frames = [int(number) for number in numbers]
    runs = [[frame for _, frame in run]
            for _, run in groupby(enumerate(frames), lambda pair: pair[1] - pair[0])]
    said = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    if len(said) > MAX_SPANS:
        left = sum(len(run) for run in runs[MAX_SPANS:])
        said = [*said[:MAX_SPANS], f"{left} more"]
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return f"{'frame' if len(frames) == 1 else 'frames'} {listed}"
