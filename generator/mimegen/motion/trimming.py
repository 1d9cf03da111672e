"""Find the performance in a take: cut T-poses and idle ends, split long takes at rests."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from mimegen.base.arrays import BoolArray
from mimegen.base.spans import spans
from mimegen.motion.contacts import velocities
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray

MOVING_PARTS = ("head", "left_hand", "right_hand", "left_forearm", "right_forearm", "left_foot",
                "right_foot", "left_shin", "right_shin", "hips")


@dataclass(frozen=True)
class TrimmingLimits:
    """When a body rests, holds a T-pose or performs. Speeds are those of its fastest part.

    Standing people sway and breathe, so below ``least_speed_m_s`` they count as resting. In fast
    takes the limit is higher: ``share_of_speed`` times the take's own speed, up to
    ``most_speed_m_s``. Speeds are smoothed over ``smoothing_s``.

    A rest at an end of ``idle_s`` or more is cut to ``lead_s``. A T-pose is held for ``t_pose_s``
    below ``t_pose_speed_m_s``, within ``t_pose_by_s`` of an end. With it, the time until the arms
    are down is cut if it is at most ``arms_down_within_s``, and then the time until the body rests
    if it is less than ``settled_within_s``.

    Rests of ``rest_s`` split a take into segments; segments shorter than ``least_segment_s`` are
    left out.
    """

    least_speed_m_s: float = 0.10
    most_speed_m_s: float = 0.25
    share_of_speed: float = 0.06
    smoothing_s: float = 0.08
    idle_s: float = 0.6
    lead_s: float = 0.3
    t_pose_s: float = 0.2
    t_pose_speed_m_s: float = 0.5
    t_pose_by_s: float = 2.0
    arms_down_within_s: float = 3.0
    settled_within_s: float = 1.5
    rest_s: float = 1.0
    least_segment_s: float = 1.0


LIMITS = TrimmingLimits()


@dataclass(frozen=True)
class Span:
    """Frames ``first`` to ``last`` inclusive, and the reasons why other frames are left out."""

    first: int
    last: int
    reasons: tuple[str, ...] = ()


def trim_bounds(motion: Motion, roles: Mapping[str, str]) -> Span:
    """Return the span of a take without T-poses and idle ends.

    ``motion`` is in mimegen's convention; ``roles`` maps roles to joints. A take that holds nothing
    but rest is kept whole.
    """
    return _bounds(motion, roles, _still(motion, roles))


def _bounds(motion: Motion, roles: Mapping[str, str], still: BoolArray) -> Span:
    posed, down = _t_pose(motion, roles), _arms_down(motion, roles)
    first, at_start = _start(still, posed, down, motion.fps)
    cut, at_end = _start(still[::-1], posed[::-1], down[::-1], motion.fps)
    last = motion.frames - 1 - cut
    # If next to nothing would be left, the take is slow as a whole, as tai chi is.
    if (last - first) / motion.fps < LIMITS.least_segment_s / 2:
        return Span(0, motion.frames - 1)
    return Span(first, last, (*(f"{why} at the start" for why in at_start),
                              *(f"{why} at the end" for why in at_end)))


def segments(motion: Motion, roles: Mapping[str, str]) -> list[Span]:
    """Return the spans between rests of a second or more, after T-poses and idle ends are cut.

    Every segment keeps ``lead_s`` of the rests around it; none is shorter than ``least_segment_s``.
    """
    return bounds_and_segments(motion, roles)[1]


def bounds_and_segments(motion: Motion, roles: Mapping[str, str]) -> tuple[Span, list[Span]]:
    """Return the results of `trim_bounds` and `segments` in less time than both calls."""
    still = _still(motion, roles)
    whole = _bounds(motion, roles, still)
    moving = ~_runs(still, round(LIMITS.rest_s * motion.fps))
    # Frames that were cut at the ends must not become a segment.
    moving[: whole.first] = moving[whole.last + 1 :] = False
    lead = round(LIMITS.lead_s * motion.fps)
    found = [Span(max(whole.first, start - lead), min(whole.last, end - 1 + lead))
             for start, end in spans(moving)
             if (end - start) / motion.fps >= LIMITS.least_segment_s]
    return whole, found or [whole]


def _part_positions(motion: Motion, roles: Mapping[str, str], parts: tuple[str, ...]) -> FloatArray:
    """Return the positions (F, K, 3) of those ``parts`` that the skeleton has."""
    joints = [motion.skeleton.index[roles[part]] for part in parts if part in roles]
    return np.asarray(motion.global_pose.positions[:, joints])


def _fastest(motion: Motion, roles: Mapping[str, str]) -> FloatArray:
    """Return the speed (F,) in m/s of the fastest part of the body."""
    moves = velocities(_part_positions(motion, roles, MOVING_PARTS), motion.fps, LIMITS.smoothing_s)
    return np.asarray(np.linalg.norm(moves, axis=2).max(axis=1))


def _still(motion: Motion, roles: Mapping[str, str]) -> BoolArray:
    """Return a mask (F,) of the frames in which the whole body rests."""
    fastest = _fastest(motion, roles)
    # The 95th percentile is the speed of the take without its fastest jerks.
    limit = np.clip(LIMITS.share_of_speed * np.percentile(fastest, 95),
                    LIMITS.least_speed_m_s, LIMITS.most_speed_m_s)
    # Rests interrupted by a twitch of less than a tenth of a second are one rest.
    width = np.ones(max(1, round(0.1 * motion.fps)), dtype=bool)
    return np.asarray(scipy.ndimage.binary_closing(fastest < limit, width) | (fastest < limit))


def _runs(flags: BoolArray, length: int) -> BoolArray:
    """Return ``flags`` with only the runs of at least ``length`` frames."""
    width = max(1, length)
    padded = np.pad(flags, width, constant_values=False)
    opened = scipy.ndimage.binary_opening(padded, np.ones(width, dtype=bool))
    return np.asarray(opened[width:-width])


def _arms(motion: Motion, roles: Mapping[str, str]) -> FloatArray:
    """Return the vectors (F, 2, 3) from shoulders to wrists, as fractions of the arms' lengths."""
    parts = [part for part in ("upper_arm", "forearm", "hand")
             if f"left_{part}" in roles and f"right_{part}" in roles]
    places = np.stack([_part_positions(motion, roles, (f"left_{part}", f"right_{part}"))
                       for part in parts])
    length = np.linalg.norm(np.diff(places, axis=0), axis=3).sum(axis=0)
    return np.asarray((places[-1] - places[0]) / np.maximum(length, 1e-9)[..., None])


def _t_pose(motion: Motion, roles: Mapping[str, str]) -> BoolArray:
    """Return a mask (F,) of the frames in which straight arms are held out level to both sides."""
    arms = _arms(motion, roles)
    shoulders = _part_positions(motion, roles, ("left_upper_arm", "right_upper_arm"))
    left = shoulders[:, 0] - shoulders[:, 1]
    # Outwards is along the line of the shoulders, so that a T-pose is found for any heading.
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-9)
    out = np.sum(arms * np.stack([left, -left], axis=1), axis=2)
    # Sines of the arms' angles to the horizontal: each within 20 degrees, and within 17 of each
    # other.
    level = (np.abs(arms[..., 2]) < 0.35).all(axis=1) & (np.abs(np.diff(arms[..., 2])[:, 0]) < 0.3)
    slow = _fastest(motion, roles) < LIMITS.t_pose_speed_m_s
    # At least 85 % of the arm's length lies along the line of the shoulders: bent elbows, or arms
    # 32 degrees off that line, fail.
    return np.asarray((out > 0.85).all(axis=1) & level & slow)


def _arms_down(motion: Motion, roles: Mapping[str, str]) -> BoolArray:
    """Return a mask (F,) of the frames in which both arms point down rather than out."""
    return np.asarray((_arms(motion, roles)[..., 2] < -0.7).all(axis=1))


def _t_pose_text(held_s: float, around_s: float) -> str:
    """Return a description of a T-pose and of the movement around it, which is cut too."""
    movement = f" and {around_s:.1f} s of movement into or out of it" if around_s >= 0.05 else ""
    return f"a T-pose of {held_s:.1f} s{movement}"


def _start(still: BoolArray, posed: BoolArray, down: BoolArray,
           fps: float) -> tuple[int, list[str]]:
    """Return the first frame of the performance, and descriptions of the parts cut before it."""
    first, reasons = 0, []
    held = _runs(posed, round(LIMITS.t_pose_s * fps))
    if held[: round(LIMITS.t_pose_by_s * fps) + 1].any():
        begin = int(np.argmax(held))
        end = begin + int(np.argmin(np.append(held[begin:], False)))
        lowered = np.flatnonzero(down[end : end + round(LIMITS.arms_down_within_s * fps)])
        first = min(end + (int(lowered[0]) if len(lowered) else 0), len(still) - 1)
        # After a T-pose people stand for a while before they begin.
        settled = np.flatnonzero(_runs(still, round(LIMITS.idle_s * fps))[first:])
        if len(settled) and settled[0] < LIMITS.settled_within_s * fps:
            first += int(settled[0])
        reasons.append(_t_pose_text((end - begin) / fps, (begin + first - end) / fps))
    resting = int(np.argmin(np.append(still[first:], False)))
    if resting >= LIMITS.idle_s * fps:
        # Some rest is kept, from which the movement can be seen to begin.
        cut = resting - round(LIMITS.lead_s * fps)
        first += cut
        reasons.append(f"{cut / fps:.1f} s of rest")
    return first, reasons
