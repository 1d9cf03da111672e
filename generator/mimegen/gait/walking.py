"""Motions of a walker on the standard skeleton."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from mimegen.base.arrays import FloatArray
from mimegen.base.seeds import generator
from mimegen.base.vectors import lengths
from mimegen.gait.course import WalkerCourse, WalkPath, gait_amplitude
from mimegen.gait.feet import SIDES, FootPath, path_of, steps_of
from mimegen.gait.habits import habits_of, lean_into_curve, no_habits, varied_pace, varied_tempo
from mimegen.gait.skeleton import skeleton_of
from mimegen.gait.template import Template, pelvis_turns, template_of
from mimegen.gait.upper import arms, head, trunk
from mimegen.gait.walker import Pace, Walker, pace_of
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.limbs import Limb, bend, eased_reach
from mimegen.motion.rounding import rounded

# Cycles that a motion contains before the body starts, and after it has stopped.
STANDING_CYCLES = 0.3
# Time scale in seconds of the pelvis' sinking if a leg is too short.
SINK_TIME_S = 0.05
# Softness, as a fraction of the leg's length, with which a nearly straight leg is limited.
REACH_SOFTNESS = 0.0022
FORWARD = np.array([0.0, -1.0, 0.0])


@dataclass(frozen=True)
class GaitFrames:
    """The frames to compute: the gait's phase (F,) in each, and their rate.

    ``loop`` is whether the last frame leads into the first; ``treadmill`` removes the travel.
    """

    phases: FloatArray
    fps: float
    loop: bool = False
    treadmill: bool = False


def walk_loop(walker: Walker, fps: float, frames: int | None = None, cycles: int = 1,
              treadmill: bool = True, direction_deg: float = 0.0) -> Motion:
    """Return whole cycles whose last frame leads into the first, ``frames`` per cycle.

    By default ``frames`` is the cycle's duration at ``fps``, rounded; the speed does not change.
    Without ``treadmill`` the walker advances by a stride per cycle. ``direction_deg`` turns the
    walker to the left.
    """
    pace = pace_of(walker)
    count = frames or max(round(pace.stride_s * fps), 4)
    pace = pace.lasting(count / fps)
    phases = _phases(pace, walker.phase, np.arange(count * cycles) / count)
    course = WalkerCourse(pace, WalkPath(float(cycles)), walker.phase)
    return _turned_to(gait_motion(pace, course, GaitFrames(phases, fps, True, treadmill), None),
                      direction_deg)


def walk_along(walker: Walker, fps: float, path: WalkPath, direction_deg: float = 0.0,
               treadmill: bool = False) -> Motion:
    """Return a path walked once, with a person's unevenness, which the walker's seed draws.

    Seed 0 is the mean walker's gait, with its own habits and unevenness of steps.

    A walker that starts stands first, and one that stops stands at the end; the path is then
    rounded to whole steps.
    """
    pace = pace_of(walker)
    if walker.seed:
        pace = varied_pace(pace, generator(walker.seed, "pace"))
    middle = sum(pace.contacts[0][0]) / 2
    # Seed 0 begins with the left foot down, others with either.
    other = 0.5 * (walker.seed > 0 and bool(generator(walker.seed, "first").integers(2)))
    first = middle + other if path.starts else walker.phase
    if path.stops:
        path = replace(path, cycles=_whole_steps(first, path.cycles, middle, pace.backwards))
    before, after = STANDING_CYCLES * path.starts, STANDING_CYCLES * path.stops
    count = round((path.cycles + before + after) * pace.stride_s * fps) + 1
    covered = np.arange(max(count, 2)) / fps / pace.stride_s - before
    if walker.seed:
        covered = varied_tempo(generator(walker.seed, "tempo"), covered, path.cycles)
    frames = GaitFrames(_phases(pace, first, covered), fps, False, treadmill)
    return _turned_to(gait_motion(pace, WalkerCourse(pace, path, first), frames, walker.seed),
                      direction_deg)


def _whole_steps(first: float, cycles: float, middle: float, backwards: bool) -> float:
    """Return the length nearest to ``cycles``, in cycles, of a path that ends in a mid-stance."""
    sign = -1.0 if backwards else 1.0
    end = middle + round(2 * (first + sign * cycles - middle)) / 2
    return max(sign * (end - first), 1.0 if cycles else 0.0)


def _phases(pace: Pace, first: float, covered: FloatArray) -> FloatArray:
    # Round, so that a foot lands in the same frame of every cycle whatever the last bits.
    return np.round(first - covered if pace.backwards else first + covered, 9)


def _turned_to(motion: Motion, direction_deg: float) -> Motion:
    if not direction_deg:
        return rounded(motion)
    turn = quaternions.from_rotation_vectors([0.0, 0.0, np.deg2rad(direction_deg)])
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    return rounded(replace(motion, root_positions=quaternions.rotate(turn, motion.root_positions),
                           rotations=rotations))


def gait_motion(pace: Pace, course: WalkerCourse, frames: GaitFrames, seed: int | None) -> Motion:
    """Return the motion of a walker who begins at the origin and faces -Y.

    Without a seed it is the mean walker, and all steps are alike.
    """
    template, skeleton = template_of(pace), skeleton_of(pace)
    phases = frames.phases
    rng = None if seed is None else generator(seed, "gait")
    tilt = np.rad2deg(np.arctan(np.tan(np.deg2rad(pace.slope_deg))))
    feet = {side: path_of(template, steps_of(template, course, number, phases, rng), phases, tilt)
            for number, side in enumerate(SIDES)}
    amplitude = gait_amplitude(course, phases)
    pelvis, root = _pelvis(template, course, frames, amplitude)
    root = _lowered_to_reach(skeleton, pelvis, root, feet, template, frames)
    rotations = np.tile(quaternions.IDENTITY, (len(phases), len(skeleton.names), 1))
    rotations[:] = pelvis[:, None]
    for side in SIDES:
        _set_leg(rotations, skeleton, side, pelvis, root, feet[side])
    heading = course.heading(phases)
    own = no_habits(phases) if seed is None else habits_of(generator(seed, "habits"), phases)
    own = replace(own, roll=own.roll + lean_into_curve(
        course.position(phases), heading, frames.fps))
    chest = trunk(rotations, skeleton, pace, phases, heading, amplitude, own)
    head(rotations, skeleton, pace, phases, heading, chest, amplitude, own)
    arms(rotations, skeleton, pace, phases, chest, amplitude, own)
    if frames.treadmill:
        root = root - _travel(course, frames)
    return Motion.from_global_rotations(skeleton, frames.fps, root,
                                        quaternions.without_flips(rotations))


def _travel(course: WalkerCourse, frames: GaitFrames) -> FloatArray:
    position = course.position(frames.phases)
    return np.concatenate([position, course.floor_height(frames.phases)[:, None]], axis=1)


def _pelvis(template: Template, course: WalkerCourse, frames: GaitFrames,
            amplitude: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the pelvis' rotations (F, 4) and the root's positions (F, 3)."""
    pace, phases = template.pace, frames.phases
    heading = course.heading(phases)
    turn, drop = pelvis_turns(pace, phases)
    tilt = pace.pelvis_tilt * np.cos(4 * np.pi * (phases - 0.44))
    angles = np.stack([np.rad2deg(heading) - amplitude * turn, amplitude * tilt, -amplitude * drop],
                      axis=-1)
    rotations = quaternions.from_euler("ZXY", angles)
    # The template's path is that of the middle between the hips.
    aside = -0.5 * amplitude * pace.sway * _swayed(pace, phases)
    ahead = amplitude * template.ahead(phases)
    position = course.position(phases) + ahead[:, None] * np.stack(
        [np.sin(heading), -np.cos(heading)], axis=-1) - aside[:, None] * np.stack(
        [np.cos(heading), np.sin(heading)], axis=-1)
    raised = template.raised_mean - template.legs.height + template.raised(phases % 1.0)
    up = template.legs.height + amplitude * raised + course.floor_height(phases)
    middle = np.concatenate([position, up[:, None]], axis=1)
    skeleton = standard_skeleton()
    hips = skeleton.heads[[skeleton.index["LeftUpLeg"], skeleton.index["RightUpLeg"]]].mean(axis=0)
    return rotations, middle - quaternions.rotate(rotations, hips - skeleton.heads[0])


def _swayed(pace: Pace, phases: FloatArray) -> FloatArray:
    """Return how far (F,) the body is over the left foot, -1 to 1: most in its mid-stance."""
    middle = sum(pace.contacts[0][0]) / 2
    return np.asarray(np.cos(2 * np.pi * (phases - middle)))


def _lowered_to_reach(skeleton: Skeleton, pelvis: FloatArray, root: FloatArray,
                      feet: dict[str, FootPath],
                      template: Template, frames: GaitFrames) -> FloatArray:
    """Return the root (F, 3), lowered smoothly where a leg does not reach its planted foot."""
    short = np.zeros(len(root))
    for side in SIDES:
        hip = root + quaternions.rotate(pelvis, _offset(skeleton, f"{side}UpLeg"))
        flat = lengths((hip - feet[side].ankle) * [1.0, 1.0, 0.0])
        highest = feet[side].ankle[:, 2] + np.sqrt(
            np.maximum(template.legs.reach**2 - flat**2, 0.0))
        short = np.maximum(short, np.where(feet[side].planted, hip[:, 2] - highest, 0.0))
    mode = "wrap" if frames.loop else "nearest"
    width = SINK_TIME_S * frames.fps
    # Extend each sinking by twice SINK_TIME_S both ways, then smooth it.
    wide = scipy.ndimage.maximum_filter1d(
        np.maximum(short, 0.0), 2 * round(2 * width) + 1, mode=mode)
    lowered = root.copy()
    lowered[:, 2] -= scipy.ndimage.gaussian_filter1d(wide, max(width, 0.5), mode=mode)
    return lowered


def _offset(skeleton: Skeleton, joint: str) -> FloatArray:
    return np.asarray(skeleton.heads[skeleton.index[joint]] - skeleton.heads[0])


def _set_leg(rotations: FloatArray, skeleton: Skeleton, side: str, pelvis: FloatArray,
             root: FloatArray, foot: FootPath) -> None:
    """Set the global rotations of a leg's joints."""
    hip, knee, ankle = (skeleton.heads[skeleton.index[side + name]]
                        for name in ("UpLeg", "Leg", "Foot"))
    limb = Limb(knee - hip, ankle - knee, FORWARD)
    start = root + quaternions.rotate(pelvis, _offset(skeleton, f"{side}UpLeg"))
    ahead = quaternions.rotate(pelvis, FORWARD)
    facing = np.arctan2(ahead[:, 0], -ahead[:, 1])
    apart = (foot.heading - facing + np.pi) % (2 * np.pi) - np.pi
    knees = facing + 0.6 * apart
    pole = np.stack([np.sin(knees), -np.cos(knees), 0.25 + 0.0 * knees], axis=-1)
    line = foot.ankle - start
    far = lengths(line)
    eased = eased_reach(far, limb.reach, REACH_SOFTNESS)
    bent = bend(limb, start, start + line * (eased / far)[:, None], pole)
    rotations[:, skeleton.index[f"{side}UpLeg"]] = quaternions.from_frames(bent.upper)
    rotations[:, skeleton.index[f"{side}Leg"]] = quaternions.from_frames(bent.lower)
    rotations[:, skeleton.index[f"{side}Foot"]] = _foot_rotation(foot.heading, foot.pitch)
    rotations[:, skeleton.index[f"{side}ToeBase"]] = _foot_rotation(foot.heading, foot.toes)


def _foot_rotation(heading: FloatArray, pitch: FloatArray) -> FloatArray:
    angles = np.stack([np.rad2deg(heading), -pitch], axis=-1)
    return quaternions.from_euler("ZX", angles)


