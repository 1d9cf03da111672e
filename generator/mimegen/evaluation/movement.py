"""What the movement of a clip's person shows, computed from the landmarks of its keypoints.

Each probe returns which of its choices is right, or None if it is too close to call: what people
could not agree on is not asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError

Array = NDArray[np.float64]
# A clip is split into this many parts in time to compare them.
THIRDS = 3
FINGERTIPS = ("thumb4", "index4", "middle4")
FOOT = ("big_toe", "small_toe", "heel")
FACE = ("nose", "left_eye", "right_eye", "left_ear", "right_ear")
LANDMARKS = {"nose"} | {f"{side}_{part}" for side in ("left", "right") for part in (
    "eye", "ear", "shoulder", "hip", "ankle", "wrist", "middle1", *FINGERTIPS, *FOOT)}


@dataclass(frozen=True)
class ProbeLimits:
    """Thresholds of probes; what lies between two limits is not asked about.

    Lengths are fractions of the person's stature unless a unit is named.
    """

    more: float = 1.7            # ratio of the hands' paths
    least_path: float = 0.3      # of the hand that moves more
    touching_m: float = 0.09     # between the middles of the hands
    apart_m: float = 0.22
    moved: float = 0.35          # of the hips, sideways in the picture
    stayed: float = 0.08
    turned_deg: float = 50.0
    unturned_deg: float = 12.0
    lower: float = 0.08          # of the head, than in the other thirds
    faster: float = 1.4          # ratio of peak speeds, to the other thirds
    higher: float = 0.12         # difference in height between the hands
    margin: float = 0.04         # distance of a hand's height from hips, shoulders and head
    airborne_m: float = 0.08     # of the lowest part of the feet, above its lowest height
    grounded_m: float = 0.03
    standing_m: float = 0.1      # highest that a part of a foot is on the ground, in any shoe
    level: float = 0.5           # horizontal share of a direction that has a clear heading
    in_picture: float = 0.9      # of the frames, in which what is asked about is in the picture
    hand_s: float = 0.2          # time over which speeds are averaged
    changed: float = 1.5         # ratio of the hands' mean speeds in the two halves
    profiled: float = 1.3        # ratio of the same from one third to the next
    head_turned_deg: float = 35.0
    head_ahead_deg: float = 10.0
    at_face_m: float = 0.05      # from the nearest fingertip to eyes, ears or nose
    off_face_m: float = 0.25
    mirrored: float = 0.04       # between a hand and the mirror image of the other, on average
    not_mirrored: float = 0.15
    near: float = 0.12           # of the hips, from where they started
    about_half: tuple[float, float] = (0.35, 0.8)
    far: float = 1.2


LIMITS = ProbeLimits()


@dataclass(frozen=True, eq=False)
class Movement:
    """The first performer's landmarks: ``world`` by name (F, 3) metres, ``pixels`` (F, 2).

    ``size`` is the width and height of the picture in pixels, or None if unknown.
    """

    world: Mapping[str, Array]
    pixels: Mapping[str, Array]
    fps: float
    size: Array | None = None

    @classmethod
    def of(cls, path: Path, fps: float) -> "Movement":
        """Read a clip's keypoints.npz. Raises RequestError if it cannot be read."""
        try:
            with np.load(path, allow_pickle=False) as file:
                names = [str(name) for name in file["names"]]
                world, pixels = file["world"][:, 0], file["pixels"][:, 0]
                size = np.array([file["width"], file["height"]], float) \
                    if "width" in file.files else None
        except (OSError, EOFError, ValueError, KeyError, IndexError, BadZipFile) as problem:
            raise RequestError(f"{path}: cannot be read ({problem}); render the pass again with"
                               " --passes keypoints") from problem
        if missing := sorted(LANDMARKS - {*names}):
            raise RequestError(f"{path}: has no landmark {missing[0]}; render the pass again with"
                               " --passes keypoints")
        return cls({name: world[:, place].astype(float) for place, name in enumerate(names)},
                   {name: pixels[:, place].astype(float) for place, name in enumerate(names)}, fps,
                   size)

    def of_frames(self, frames: Sequence[int]) -> "Movement":
        """Return the movement in some frames only."""
        return replace(self, world={name: own[frames] for name, own in self.world.items()},
                       pixels={name: own[frames] for name, own in self.pixels.items()})

    def shows(self, names: Sequence[str], frame: int | None) -> bool:
        """Return whether landmarks are in the picture: in one frame, or else in nearly all."""
        if self.size is None:
            return True
        inside = np.all([((self.pixels[name] >= 0) & (self.pixels[name] < self.size)).all(axis=1)
                         for name in names], axis=0)
        return bool(inside[frame] if frame is not None else inside.mean() >= LIMITS.in_picture)

    @property
    def stature(self) -> float:
        """The largest height of the eyes above the ground, metres."""
        return float(np.nanmax(self.world["left_eye"][:, 2]))

    def hand(self, side: str) -> Array:
        """Return the middle of a hand (F, 3), between wrist and middle finger's first joint."""
        return (self.world[f"{side}_wrist"] + self.world[f"{side}_middle1"]) / 2

    def middle(self, name: str, of: str = "world") -> Array:
        """Return the midpoint between a left and a right landmark."""
        points: Mapping[str, Array] = getattr(self, of)
        return (points[f"left_{name}"] + points[f"right_{name}"]) / 2


def _active_hand(body: Movement, frame: int) -> int | None:
    """Return the hand that moves more: 0 left, 1 right; None if unclear."""
    # Relative to the trunk, so that walking does not count as movement of the hands.
    trunk = body.middle("shoulder")
    paths = [float(np.linalg.norm(np.diff(body.hand(side) - trunk, axis=0), axis=1).sum())
             for side in ("left", "right")]
    place = int(np.argmax(paths))
    clear = paths[place] >= LIMITS.more * paths[1 - place]
    return place if clear and paths[place] >= LIMITS.least_path * body.stature else None


def _hands_touch(body: Movement, frame: int) -> int | None:
    nearest = float(np.linalg.norm(body.hand("left") - body.hand("right"), axis=1).min())
    return _between(nearest, LIMITS.touching_m, LIMITS.apart_m)


def _travel(body: Movement, frame: int) -> int | None:
    """Return where the hips move in the picture: 0 left, 1 right, 2 nowhere; None if unclear."""
    # The distance from hips to eyes is about half the stature. In pixels, because the question is
    # about the picture.
    hips, eyes = body.middle("hip", "pixels"), body.middle("eye", "pixels")
    stature = float(np.median(np.linalg.norm(hips - eyes, axis=1))) * 2
    moved = float(hips[-1, 0] - hips[0, 0]) / stature
    if abs(moved) <= LIMITS.stayed:
        return 2
    return int(moved > 0) if abs(moved) >= LIMITS.moved else None


def _turn(body: Movement, frame: int) -> int | None:
    """Return how the body turned, seen from above: 0 clockwise, 1 counterclockwise, 2 not."""
    across = body.world["left_hip"] - body.world["right_hip"]
    if not all(map(_has_heading, across)):
        return None
    # Unwrapped, so that one and a half turns do not count as half a turn.
    yaw = np.degrees(np.unwrap(np.arctan2(across[:, 1], across[:, 0])))
    turned = float(yaw[-1] - yaw[0])
    if abs(turned) <= LIMITS.unturned_deg:
        return 2
    return int(turned > 0) if abs(turned) >= LIMITS.turned_deg else None


def _has_heading(direction: Array) -> bool:
    """Return whether a direction is level enough to say where it points, seen from above."""
    level = float(np.linalg.norm(direction[:2]))
    return bool(level >= LIMITS.level * float(np.linalg.norm(direction)) > 0)


def _lowest(body: Movement, frame: int) -> int | None:
    """Return the third of the clip in which the head is lowest; None if unclear."""
    lows = [float(part.min()) for part in np.array_split(body.middle("eye")[:, 2], THIRDS)]
    order = np.argsort(lows)
    clear = lows[order[1]] - lows[order[0]] >= LIMITS.lower * body.stature
    return int(order[0]) if clear else None


def _fastest(body: Movement, frame: int) -> int | None:
    peaks = [float(part.max()) for part in np.array_split(_hand_speeds(body), THIRDS)]
    order = np.argsort(peaks)
    return int(order[-1]) if peaks[order[-1]] >= LIMITS.faster * peaks[order[-2]] else None


def _speed_change(body: Movement, frame: int) -> int | None:
    """Return the half in which the hands are faster on average; None if unclear or too still."""
    # The mean, not the peak: a single flick would decide for its half.
    first, last = (float(part.mean()) for part in np.array_split(_hand_speeds(body), 2))
    clear = max(first, last) >= LIMITS.changed * min(first, last) and _hands_move(body)
    return int(last > first) if clear else None


def _velocity_profile(body: Movement, frame: int) -> int | None:
    """Return how mean speed changes over the thirds: up, down, to a peak or to a low."""
    means = [float(part.mean()) for part in np.array_split(_hand_speeds(body), THIRDS)]
    clear = _hands_move(body) and all(
        max(pair) >= LIMITS.profiled * min(pair) for pair in pairwise(means))
    rises = tuple(second > first for first, second in pairwise(means))
    return _PROFILES.index(rises) if clear else None


# Whether speed rises from the first third to the second, and from the second to the last.
_PROFILES = ((True, True), (False, False), (True, False), (False, True))


def _hands_move(body: Movement) -> bool:
    paths = [np.linalg.norm(np.diff(body.hand(side), axis=0), axis=1).sum()
             for side in ("left", "right")]
    return bool(max(paths) >= LIMITS.least_path * body.stature)


def _hand_speeds(body: Movement) -> Array:
    """Return the distance that both hands move within a short window (F - width,), metres."""
    width = max(round(LIMITS.hand_s * body.fps), 1)
    return np.asarray(sum(
        np.linalg.norm(body.hand(side)[width:] - body.hand(side)[:-width], axis=1)
        for side in ("left", "right")))


def _head_turn(body: Movement, frame: int) -> int | None:
    """Return the direction in which the head is turned relative to the hips, by the nose."""
    ahead = (body.world["nose"] - body.middle("ear"))[frame]
    across = (body.world["left_hip"] - body.world["right_hip"])[frame]
    if not (_has_heading(ahead) and _has_heading(across)):
        return None
    # The hips face a quarter turn clockwise from the direction right hip to left hip.
    turned = np.degrees(np.arctan2(ahead[1], ahead[0]) - np.arctan2(across[1], across[0])) + 90
    # Wrapped to -180 to 180, so that small turns are small numbers.
    turned = float((turned + 180) % 360 - 180)
    if abs(turned) <= LIMITS.head_ahead_deg:
        return 2
    return int(turned < 0) if abs(turned) >= LIMITS.head_turned_deg else None


def _hand_to_face(body: Movement, frame: int) -> int | None:
    """Return 0 if a fingertip touches the face at some time, 1 if none is near it."""
    tips = [body.world[f"{side}_{tip}"] for side in ("left", "right") for tip in FINGERTIPS]
    nearest = float(np.min([np.linalg.norm(tip - body.world[part], axis=1)
                            for tip in tips for part in FACE]))
    return _between(nearest, LIMITS.at_face_m, LIMITS.off_face_m)


def _mirrored_arms(body: Movement, frame: int) -> int | None:
    """Return whether the hands are mirror images of each other, relative to the trunk."""
    left, right = (_from_trunk(body, side) for side in ("left", "right"))
    path = float(np.linalg.norm(np.diff(left, axis=0), axis=1).sum())
    apart = float(np.linalg.norm(left - right * [-1, 1, 1], axis=1).mean()) / body.stature
    moves = path >= LIMITS.least_path * body.stature
    return _between(apart, LIMITS.mirrored, LIMITS.not_mirrored) if moves else None


def _from_trunk(body: Movement, side: str) -> Array:
    """Return a hand (F, 3) relative to the middle of the shoulders: left, ahead and up."""
    across = body.world["left_shoulder"] - body.world["right_shoulder"]
    # Horizontal, so that a shrug or a lean does not tilt the frame of reference.
    across = across * [1, 1, 0] / np.linalg.norm(across[:, :2], axis=1)[:, None]
    # Left turned by -90 degrees about Z points ahead.
    ahead = np.stack([across[:, 1], -across[:, 0], 0 * across[:, 0]], axis=1)
    offset = body.hand(side) - body.middle("shoulder")
    return np.stack([(offset * across).sum(1), (offset * ahead).sum(1), offset[:, 2]], axis=1)


def _distance(body: Movement, frame: int) -> int | None:
    """Return how far the hips get: 0 nowhere, 1 about half the stature, 2 more than the stature."""
    hips = body.middle("hip")[:, :2]
    # A person may walk away and come back, so the farthest position counts, not the last.
    farthest = float(np.linalg.norm(hips - hips[0], axis=1).max()) / body.stature
    if farthest <= LIMITS.near:
        return 0
    if LIMITS.about_half[0] <= farthest <= LIMITS.about_half[1]:
        return 1
    return 2 if farthest >= LIMITS.far else None


def _higher_hand(body: Movement, frame: int) -> int | None:
    above = float(body.hand("left")[frame, 2] - body.hand("right")[frame, 2]) / body.stature
    return int(above < 0) if abs(above) >= LIMITS.higher else None


def _reach(body: Movement, frame: int) -> int | None:
    """Return how high the higher hand gets: 0 not above the hips, 1 shoulders, 2 crown, 3 above."""
    higher = np.maximum(body.hand("left")[:, 2], body.hand("right")[:, 2])
    frame = int(np.argmax(higher))
    # The top of the head is about 8 % of the eyes' height above the eyes.
    top = body.middle("eye")[frame, 2] + 0.08 * body.stature
    edges = [body.middle("hip")[frame, 2], body.middle("shoulder")[frame, 2], top]
    near = min(abs(float(higher[frame]) - edge) for edge in edges)
    clear = near >= LIMITS.margin * body.stature
    return int(np.searchsorted(edges, higher[frame])) if clear else None


def _leave_ground(body: Movement, frame: int) -> int | None:
    """Return 0 if both feet leave the ground at some time, 1 if not; None if unclear."""
    # All parts of both feet: on tiptoe and on the knees, ankles and heels are up.
    parts = [body.world[f"{side}_{part}"][:, 2] for side in ("left", "right") for part in FOOT]
    above = float(np.min([height - np.minimum(height.min(), LIMITS.standing_m)
                          for height in parts], axis=0).max())
    found = _between(above, LIMITS.grounded_m, LIMITS.airborne_m)
    return None if found is None else 1 - found


def _between(value: float, low: float, high: float) -> int | None:
    """Return 0 at or below ``low``, 1 at or above ``high``, None between them."""
    return 0 if value <= low else 1 if value >= high else None


PROBES: dict[str, Callable[[Movement, int], int | None]] = {
    "active_hand": _active_hand, "hands_touch": _hands_touch, "travel": _travel, "turn": _turn,
    "lowest": _lowest, "fastest": _fastest, "higher_hand": _higher_hand, "reach": _reach,
    "leave_ground": _leave_ground, "speed_change": _speed_change,
    "velocity_profile": _velocity_profile, "head_turn": _head_turn,
    "hand_to_face": _hand_to_face, "mirrored_arms": _mirrored_arms, "distance": _distance}
