"""What a face does by itself on every take: blinks, eye movements, effort and ease.

Everything is computed in closed form over all frames, from the finished motion and a random
generator seeded by the caller. The settings are in rigs/faces/life.yaml.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy

from mimegen.base.easing import ramp, softly_limited
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.characters.arkit_joints import head_of
from mimegen.characters.character import Performance
from mimegen.characters.expression import expressed, has_face
from mimegen.characters.gazing import eyes_towards, head_towards
from mimegen.faces.overlay import FaceOverlay
from mimegen.faces.words import LOOKS
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import rounded
from mimegen.readers.roles import find_roles

Two = tuple[float, float]
Values = Mapping[str, FloatArray]
# The direction in which a head faces at rest.
AHEAD = np.array([0.0, -1.0, 0.0])
# The joints whose speeds determine effort: their names on mimegen's own people, and their roles.
MOVING = {"LeftHand": "left_hand", "RightHand": "right_hand", "LeftFoot": "left_foot",
          "RightFoot": "right_foot", "Hips": "hips"}


class Blink(Strict):
    """When lids close, and how fast.

    ``first_s`` is the range of the first blink's time. ``every_s`` is the mean time between blinks,
    whose logarithm has the standard deviation ``spread``. A lid closes in ``shuts_s``, stays closed
    for ``shut_s`` and opens in ``opens_s``. All in seconds.
    """

    first_s: Two
    every_s: float
    spread: float
    shuts_s: float
    shut_s: float
    opens_s: float


class Gaze(Strict):
    """How the eyes lead the head, and how they move from one fixation to the next.

    The eyes turn to where the head will be after ``lead_s``, in a motion smoothed over ``smooth_s``
    (seconds), at most ``farthest`` degrees. Fixations last ``rests_s`` seconds and have the
    standard deviations ``strays`` to the side and up, in degrees. A cued look of ``cued_deg``
    degrees or more suppresses all of it.
    """

    lead_s: float
    smooth_s: float
    farthest: float
    rests_s: Two
    strays: Two
    cued_deg: float


class Effort(Strict):
    """How hard work shows in a face.

    ``speeds`` are the speeds in m/s at which effort begins and is complete. ``loads`` is the
    effort, 0 to 1, of semantic groups that work hard even when slow; it begins and is complete at
    the speeds ``moving``. Effort is smoothed over ``smooth_s``; over ``lasting_s`` it makes people
    breathe through the mouth, ``breaths_hz`` times a second. ``shown``, ``breath`` and ``ease`` are
    the channels of the face that show it, and their sizes.
    """

    speeds: Two
    moving: Two
    loads: dict[str, float]
    smooth_s: float
    lasting_s: float
    breaths_hz: float
    shown: dict[str, float]
    breath: dict[str, float]
    ease: dict[str, Two]


class FaceLife(Strict):
    """The contents of rigs/faces/life.yaml, which explains its parts."""

    blink: Blink
    gaze: Gaze
    effort: Effort


def face_life() -> FaceLife:
    """Return the contents of rigs/faces/life.yaml."""
    return read_yaml_once(data_file("rigs/faces/life.yaml"), FaceLife)


def enlivened(performance: Performance, cued: Values, group: str | None,
              rng: np.random.Generator, overlay: FaceOverlay | None = None,
              gazed: FloatArray | None = None) -> Performance:
    """Return a performance whose face shows what is ``cued`` and moves by itself.

    ``group`` is the action's semantic group. An ``overlay`` is added to the cued values; with a
    captured face there are no further blinks and eye movements. ``gazed`` are positions (F, 3) that
    the person looks at. A character without a face is returned unchanged.
    """
    if not has_face(performance.character):
        return performance
    if overlay is None:
        return expressed(performance, living(performance.motion, cued, group, rng))
    moments = np.arange(performance.motion.frames) / performance.motion.fps
    values, head = overlay.faces(moments, rng, cued)
    turned = with_head(performance, head)
    if gazed is not None:
        turned = with_head(turned, head_towards(turned, gazed))
        values |= dict(zip(LOOKS, eyes_towards(turned, gazed).T, strict=True))
    if overlay.captured is not None:
        return expressed(turned, values)
    alive = living(turned.motion, values, group, rng)
    fixed = {} if gazed is None else {name: values[name] for name in LOOKS}
    return expressed(turned, {**alive, **fixed})


def with_head(performance: Performance, head: FloatArray) -> Performance:
    """Return a performance with the head turned further by (F, 3) degrees left, up and tilted."""
    if not head.any():
        return performance
    motion = performance.motion
    left, up, tilt = np.radians(head).T
    turns = quaternions.from_rotation_vectors(np.stack([-up, tilt, left], axis=1))
    rotations = motion.rotations.copy()
    joint = head_of(motion.skeleton)
    rotations[:, joint] = quaternions.multiply(rotations[:, joint], turns)
    return replace(performance, motion=rounded(
        Motion(motion.skeleton, motion.fps, motion.root_positions, rotations)))


def living(motion: Motion, cued: Values, group: str | None, rng: np.random.Generator) -> Values:
    """Return the values (F,) of a face's channels: the ``cued`` ones and its own movements.

    ``cued`` may be empty. If it is not, the face shows no effort or ease.
    """
    moments = np.arange(motion.frames) / motion.fps
    blinks, looks = blinking(rng, moments), looking(motion, rng, moments)
    mood = {} if cued else _mood(motion, group, rng, moments)
    none = np.zeros(len(moments))
    values = dict.fromkeys(("closed", *LOOKS), none) | dict(cued)
    values |= {name: values.get(name, none) + shown for name, shown in mood.items()}
    aside = np.maximum(*(np.abs(values[name]) for name in looks))
    free = 1 - ramp(aside, 0.0, face_life().gaze.cued_deg)
    return values | {name: values[name] + free * turned for name, turned in looks.items()} | {
        "closed": np.maximum(values["closed"], blinks)}


def blinking(rng: np.random.Generator, moments: FloatArray) -> FloatArray:
    """Return how far (F,) blinks close the lids, 0 to 1, at times ``moments`` (F,) in seconds."""
    known = face_life().blink
    shut = np.zeros(len(moments))
    begins = float(rng.uniform(*known.first_s))
    while begins < moments[-1]:
        after = moments - begins
        open_again = known.shuts_s + known.shut_s
        shut = np.maximum(shut, ramp(after, 0.0, known.shuts_s)
                          * ramp(after, open_again + known.opens_s, open_again))
        begins += known.every_s * float(np.exp(
            rng.normal(-0.5 * known.spread**2, known.spread)))
    return shut


def looking(motion: Motion, rng: np.random.Generator, moments: FloatArray) -> Values:
    """Return how far (F,) the eyes look left and up, in degrees from straight ahead."""
    known = face_life().gaze
    head = motion.global_pose.rotations[:, head_of(motion.skeleton)]
    facing = quaternions.rotate(head, AHEAD)
    smooth = scipy.ndimage.gaussian_filter1d(facing, known.smooth_s * motion.fps, axis=0,
                                             mode="nearest")
    later = np.minimum(moments + known.lead_s, moments[-1])
    there = np.stack([np.interp(later, moments, smooth[:, axis]) for axis in range(3)], axis=1)
    x, y, z = quaternions.rotate(quaternions.conjugate(head), there).T
    turned = np.degrees(np.stack([np.arctan2(x, -y), np.arctan2(z, np.hypot(x, y))], axis=1))
    turned = softly_limited(turned, known.farthest) + _fixations(rng, moments)
    return {"look_left": turned[:, 0], "look_up": turned[:, 1]}


def _fixations(rng: np.random.Generator, moments: FloatArray) -> FloatArray:
    """Return the fixations of the eyes (F, 2), in degrees, with jumps from one to the next."""
    known = face_life().gaze
    rests = int(moments[-1] / known.rests_s[0]) + 2
    ends = np.cumsum(rng.uniform(*known.rests_s, rests))
    return np.asarray(rng.normal(0, known.strays, (rests, 2))[np.searchsorted(ends, moments)])


def _mood(motion: Motion, group: str | None, rng: np.random.Generator,
          moments: FloatArray) -> Values:
    """Return channels (F,) of effort and heavy breathing, and of ease."""
    known = face_life().effort
    now, lasting = (effort(motion, group, seconds) for seconds in (
        known.smooth_s, known.lasting_s))
    breaths = 0.5 + 0.5 * np.sin(2 * np.pi * (known.breaths_hz * moments + rng.uniform()))
    shown = {name: size * now for name, size in known.shown.items()}
    breath = {name: size * lasting * breaths for name, size in known.breath.items()}
    ease = {name: rng.uniform(*sizes) * (1 - now) for name, sizes in known.ease.items()}
    return shown | breath | ease


def _moving(skeleton: Skeleton) -> list[int]:
    """Return the indices of the joints whose speeds determine effort."""
    names = MOVING if MOVING.keys() <= skeleton.index.keys() else [
        find_roles(skeleton).joints[role] for role in MOVING.values()]
    return [skeleton.index[name] for name in names]


def effort(motion: Motion, group: str | None, smooth_s: float) -> FloatArray:
    """Return how hard (F,) the person works, 0 to 1, from speeds and the action's load."""
    known = face_life().effort
    places = motion.global_pose.positions[:, _moving(motion.skeleton)]
    steps = motion.fps * np.diff(places, axis=0, prepend=places[:1])
    squares = np.sum(steps * steps, axis=(1, 2))
    speed = np.sqrt(scipy.ndimage.gaussian_filter1d(squares, smooth_s * motion.fps, mode="nearest"))
    load = known.loads.get(group or "", 0.0)
    return np.maximum(ramp(speed, *known.speeds), load * ramp(speed, *known.moving))
