"""Perform a score: from key poses to a motion on the standard skeleton."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mimegen.choreography import hands, legs, trunk
from mimegen.choreography.arms import Arm, solve_arm
from mimegen.choreography.body import FLOOR, Frames, centimetre, landmark_frames
from mimegen.choreography.hand_shapes import finger_joints
from mimegen.choreography.places import LEFT, RIGHT, Place, in_body_axes
from mimegen.choreography.score import (
    FootKey,
    GazeKey,
    PelvisKey,
    PropKey,
    Score,
    ShouldersKey,
    Turned,
)
from mimegen.choreography.tracks import (
    TimedKey,
    Timeline,
    track_keys,
    track_values,
    track_weights,
)
from mimegen.choreography.variation import FREE, Variant, vary
from mimegen.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.editing import mirrored
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

SIDES = {"Left": LEFT, "Right": RIGHT}
# The trunk starts a movement before the hands, and the eyes before everything.
PELVIS_LEAD_S, CHEST_LEAD_S, GAZE_LEAD_S = 0.06, 0.03, 0.15
# In quiet standing the knees are not quite straight.
STANDING_SINK_M = 0.004
# What a target may be out of reach before it is an error; the arm then comes as near as it can.
# Other seeds than 0 may miss targets in free space by more: that is their style.
REACH_TOLERANCE_M, SEED_REACH_TOLERANCE_M = 0.03, 0.1
AHEAD = GazeKey(to=Place(FLOOR, (0.0, 600.0, 140.0)))
TOES_OUT_DEG = 8.0


class _Stage(NamedTuple):
    """What the parts of a performance share: keys, moments (F,), and the small movements."""

    skeleton: Skeleton
    line: Timeline
    moments: FloatArray
    fps: float
    life: dict[str, FloatArray]

    @property
    def unit(self) -> float:
        """A score's centimetre in metres."""
        return centimetre(self.skeleton)


def perform(score: Score, seed: int = 0, fps: float = 60.0) -> Motion:
    """Return the take that a seed makes of a score, on the standard skeleton.

    Seed 0 is the score as written; every other seed is another take of it. The same seed always
    gives the same bytes. Raises RequestError where a hand cannot reach its target.
    """
    variant = vary(score, seed)
    frames = round(variant.line.duration * fps) + 1
    moments = np.arange(frames) / fps
    skeleton = standard_skeleton()
    stage = _Stage(skeleton, variant.line, moments, fps, _life(score, seed, moments))
    motion = _performed(score, stage, seed)
    return _as_seen(motion, variant)


def touch_errors(motion: Motion, score: Score, seed: int = 0) -> dict[str, FloatArray]:
    """Return by side how far (F,), in metres, hands are from props and body parts they touch.

    The landmarks are those of the finished motion, which ``perform(score, seed)`` made. Places
    in free space count for seed 0 only.
    """
    variant = vary(score, seed)
    bare = _turned(motion, -variant.turn_deg)
    bare = mirrored(bare) if variant.mirror else bare
    moments = np.arange(motion.frames) / motion.fps
    stage = _Stage(motion.skeleton, variant.line, moments, motion.fps,
                   _life(score, seed, moments))
    anchors = _Anchors(score, stage, bare.global_pose)
    errors = {}
    for side in SIDES:
        track = anchors.hand_track(side)
        goal = hands.arm_goal(track, anchors.resolve, moments, motion.skeleton,
                              stage.life[f"{side} hand"])
        hand = motion.skeleton.index[f"{side}Hand"]
        touching = bare.global_pose.positions[:, hand] + quaternions.rotate(
            bare.global_pose.rotations[:, hand], goal.touch
        )
        held = [1.0 if seed == 0 or key.to is None or key.to.anchor not in FREE else 0.0
                for key in track.hand_keys]
        share = np.clip(track_weights(track.keys, moments) @ np.array(held), 0.0, 1.0)
        errors[side] = share * np.linalg.norm(touching - goal.point, axis=-1)
    return errors


def _as_seen(motion: Motion, variant: Variant) -> Motion:
    return _turned(mirrored(motion) if variant.mirror else motion, variant.turn_deg)


def _turned(motion: Motion, degrees: float) -> Motion:
    turn = quaternions.from_rotation_vectors(np.array([0, 0, np.deg2rad(degrees)]))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    rotations = quaternions.without_flips(quaternions.normalise(rotations))
    places = quaternions.rotate(turn, motion.root_positions)
    return Motion(motion.skeleton, motion.fps, places, rotations)


def _performed(score: Score, stage: _Stage, seed: int) -> Motion:
    skeleton, names = stage.skeleton, stage.skeleton.index
    count = len(stage.moments)
    rotations = np.tile(quaternions.IDENTITY, (count, len(skeleton.names), 1))
    root, lower = _pelvis_and_legs(stage)
    _put(rotations, skeleton, lower)
    _put(rotations, skeleton, _spine(stage, rotations[:, 0]))
    chest = rotations[:, names["Spine2"]]
    offsets = trunk.Turns(*_turns(stage, "head", GAZE_LEAD_S / 2))
    _put(rotations, skeleton, trunk.head_rotations(chest, offsets))
    anchors = _Anchors(score, stage, _pose(skeleton, root, rotations))
    target = anchors.gaze()
    eyes = anchors.resolve("eyes", LEFT).positions
    looking = trunk.looking(eyes, chest, target)
    turns = trunk.Turns(*(a + b for a, b in zip(looking, offsets, strict=True)))
    _put(rotations, skeleton, trunk.head_rotations(chest, turns))
    anchors = _Anchors(score, stage, _pose(skeleton, root, rotations))
    shrug = track_values(
        track_keys(stage.line.phases, "shoulders", ShouldersKey()), ("up", "forward"),
        stage.moments,
    ) + stage.life["shoulders"]
    for side in SIDES:
        track = anchors.hand_track(side)
        goal = hands.arm_goal(track, anchors.resolve, stage.moments, skeleton,
                              stage.life[f"{side} hand"])
        arm = solve_arm(skeleton, anchors.pose, side, goal, shrug, stage.fps)
        _check_reach(score, track.keys, arm, stage.moments, side, seed)
        _put(rotations, skeleton, arm.rotations)
        fingers = hands.finger_pose(track, skeleton, stage.moments)
        rotations[:, finger_joints(skeleton, side)] = quaternions.multiply(
            arm.rotations[f"{side}Hand"][:, None], fingers
        )
    return Motion.from_global_rotations(skeleton, stage.fps, root, rotations)


def _put(rotations: FloatArray, skeleton: Skeleton, parts: dict[str, FloatArray]) -> None:
    """Set joints' global rotations, and let everything that hangs on them follow."""
    fixed = {skeleton.index[name]: turns for name, turns in parts.items()}
    moved = set(fixed)
    for joint, turns in fixed.items():
        rotations[:, joint] = turns
    for joint in range(1, len(skeleton.names)):
        parent = int(skeleton.parents[joint])
        if joint not in fixed and parent in moved:
            rotations[:, joint] = rotations[:, parent]
            moved.add(joint)


def _pose(skeleton: Skeleton, root: FloatArray, rotations: FloatArray) -> GlobalPose:
    positions = np.empty((len(root), len(skeleton.names), 3))
    positions[:, 0] = root
    for joint in range(1, len(skeleton.names)):
        parent = skeleton.parents[joint]
        positions[:, joint] = positions[:, parent] + quaternions.rotate(
            rotations[:, parent], skeleton.offsets[joint]
        )
    return GlobalPose(positions, rotations.copy())


def _turns(stage: _Stage, track: str, lead: float) -> FloatArray:
    """Return a track's turn, lean and tilt (3, F) in degrees, with the small movements."""
    keys = track_keys(stage.line.phases, track, Turned())
    values = track_values(keys, ("turn", "lean", "tilt"), stage.moments, lead)
    return np.asarray((values + stage.life[track]).T)


def _pelvis_and_legs(stage: _Stage) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the pelvis' places (F, 3) and the global rotations of pelvis and legs."""
    skeleton = stage.skeleton
    keys = track_keys(stage.line.phases, "pelvis", PelvisKey())
    lead = PELVIS_LEAD_S
    steps = track_values(keys, ("left", "forward", "up"), stage.moments, lead) * stage.unit
    root = skeleton.heads[0] + in_body_axes(steps) + stage.life["sway"]
    root[:, 2] -= STANDING_SINK_M
    turns = trunk.Turns(*track_values(keys, ("turn", "lean", "tilt"), stage.moments, lead).T)
    pelvis = trunk.turned(turns)
    rotations = {"Hips": pelvis}
    for side in SIDES:
        hip = root + quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
        goal = _foot_goal(stage, side)
        rotations |= legs.leg_rotations(skeleton, side, hip, pelvis, goal, stage.fps)
    return root, rotations


def _foot_goal(stage: _Stage, side: str) -> legs.FootGoal:
    skeleton, sign = stage.skeleton, SIDES[side]
    ball = skeleton.heads[skeleton.index[f"{side}ToeBase"]]
    standing = (in_body_axes(ball, sign) * [1, 1, 0] / stage.unit) * [1.25, 1, 1]
    start = FootKey(to=Place(FLOOR, tuple(standing)), turn=TOES_OUT_DEG, heel=0.0)
    keys = track_keys(stage.line.phases, f"{side.lower()}_foot", start)
    places = np.array([timed.key.to.offset for timed in keys if isinstance(timed.key, FootKey)
                       and timed.key.to is not None])
    weights = track_weights(keys, stage.moments)
    steps = weights @ (in_body_axes(places, sign) * stage.unit)
    steps[:, 2] = np.maximum(steps[:, 2], 0.0) + _step_height(keys, places, stage) + ball[2]
    turn, heel = track_values(keys, ("turn", "heel"), stage.moments).T
    return legs.FootGoal(steps, sign * turn, heel)


def _step_height(keys: Sequence[TimedKey], places: FloatArray, stage: _Stage) -> FloatArray:
    """Return how high (F,) the foot is lifted on its way between two places on the floor."""
    height = np.zeros(len(stage.moments))
    for number in range(1, len(keys)):
        span = np.linalg.norm((places[number] - places[number - 1])[:2])
        if span < 1.0 or max(places[number, 2], places[number - 1, 2]) > 0.5:
            continue
        begin, end = keys[number - 1].time, keys[number].time
        share = np.clip((stage.moments - begin) / (end - begin), 0.0, 1.0)
        height += (3.0 + 0.12 * span) * stage.unit * 16 * share**2 * (1 - share) ** 2
    return height


def _spine(stage: _Stage, pelvis: FloatArray) -> dict[str, FloatArray]:
    chest = trunk.turned(trunk.Turns(*_turns(stage, "chest", CHEST_LEAD_S)))
    return trunk.spine_rotations(pelvis, chest)


class _Anchors:
    """Landmarks, props and hands as moving frames."""

    def __init__(self, score: Score, stage: _Stage, pose: GlobalPose) -> None:
        self.score, self.stage, self.pose = score, stage, pose
        self._known: dict[tuple[str, float], Frames] = {}

    def hand_track(self, side: str) -> hands.HandTrack:
        """Return one hand's keys."""
        name = f"{side.lower()}_hand"
        keys = track_keys(self.stage.line.phases, name, hands.HANGING)
        return hands.HandTrack(keys, SIDES[side])

    def resolve(self, name: str, side: float) -> Frames:
        """Return the frame of a landmark, prop or hand for a hand on ``side``."""
        if (name, side) not in self._known:
            self._known[name, side] = self._found(name, side)
        return self._known[name, side]

    def _found(self, name: str, side: float) -> Frames:
        count = len(self.stage.moments)
        if name == FLOOR:
            return Frames(np.zeros((count, 3)), np.tile(quaternions.IDENTITY, (count, 1)))
        if name in self.score.props:
            return self._prop(name)
        if name in ("left_hand", "right_hand", "other_hand"):
            own = side if name == "other_hand" else (LEFT if name == "right_hand" else RIGHT)
            return self._hand("Right" if own == LEFT else "Left")
        return landmark_frames(self.stage.skeleton, self.pose, name, side)

    def _hand(self, side: str) -> Frames:
        self._known[f"{side.lower()}_hand", LEFT] = self.resolve("chest", LEFT)
        points = hands.touching_points(
            self.hand_track(side), self.resolve, self.stage.moments, self.stage.unit
        )
        return Frames(points, self.resolve("chest", LEFT).rotations)

    def _prop(self, name: str) -> Frames:
        start = PropKey(to=Place("chest", (0.0, 35.0, -5.0)))
        keys = track_keys(self.stage.line.phases, name, start)
        weights = track_weights(keys, self.stage.moments)
        turns = track_values(keys, ("turn", "lean", "tilt"), self.stage.moments)
        own = trunk.turned(trunk.Turns(*turns.T))
        frames = [self._on(timed.key) for timed in keys]
        places = np.einsum("fk,kfc->fc", weights, np.stack([f.positions for f in frames]))
        rotations = quaternions.normalise(
            np.einsum("fk,kfc->fc", weights, np.stack([f.rotations for f in frames]))
        )
        return Frames(places, quaternions.multiply(rotations, own))

    def _on(self, key: object) -> Frames:
        assert isinstance(key, PropKey | GazeKey) and key.to is not None
        frame = self.resolve(key.to.anchor, LEFT)
        offset = in_body_axes(np.array(key.to.offset) * self.stage.unit)
        return Frames(frame.place(offset), frame.rotations)

    def gaze(self) -> FloatArray:
        """Return what the person looks at (F, 3)."""
        keys = track_keys(self.stage.line.phases, "gaze", AHEAD)
        weights = track_weights(keys, self.stage.moments, GAZE_LEAD_S)
        places = np.stack([self._on(timed.key).positions for timed in keys])
        return np.asarray(np.einsum("fk,kfc->fc", weights, places))


def _check_reach(
    score: Score, keys: Sequence[TimedKey], arm: Arm, moments: FloatArray, side: str,
    seed: int,
) -> None:
    worst = int(np.argmax(arm.short_by))
    if arm.short_by[worst] <= (SEED_REACH_TOLERANCE_M if seed else REACH_TOLERANCE_M):
        return
    nearest = min(keys, key=lambda timed: abs(timed.time - moments[worst]))
    raise RequestError(
        f"{score.source}: line {nearest.line}: {side.lower()}_hand: the target at"
        f" {moments[worst]:.2f} s is {100 * arm.short_by[worst]:.0f} cm out of reach;"
        f" bring it nearer, or lean, turn or move the body towards it"
    )


def _life(score: Score, seed: int, moments: FloatArray) -> dict[str, FloatArray]:
    """Return the small movements of somebody alive: breathing, sway, drift of the hands."""
    rng = np.random.default_rng([seed, zlib.crc32(f"life of {score.action} {score.take}".encode())])
    breath = np.sin(2 * np.pi * (0.27 * moments + rng.uniform()))[:, None]
    return {
        "chest": _drift(rng, moments, 3) * [0.7, 0.5, 0.5] - breath * [0, 0.9, 0],
        "head": _drift(rng, moments, 3) * [1.2, 0.8, 0.8] + breath * [0, 0.5, 0],
        "shoulders": breath * [1.3, -0.6],
        "sway": _drift(rng, moments, 3) * [0.005, 0.004, 0.001],
        "Left hand": _drift(rng, moments, 3) * 0.003,
        "Right hand": _drift(rng, moments, 3) * 0.003,
    }


def _drift(rng: np.random.Generator, moments: FloatArray, channels: int) -> FloatArray:
    """Return slow smooth noise (F, channels) of about unit size."""
    rates = rng.uniform(0.12, 0.75, (4, 1, channels))
    phases = rng.uniform(0, 2 * np.pi, (4, 1, channels))
    waves = np.sin(2 * np.pi * rates * moments[None, :, None] + phases)
    return np.asarray(waves.mean(axis=0) * 1.4)
