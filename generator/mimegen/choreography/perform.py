"""Perform a score: from key poses to motions on the standard skeleton, one per performer."""

from collections.abc import Sequence

import numpy as np

from mimegen.choreography import hands, trunk
from mimegen.choreography.anchors import GAZE_LEAD_S, SIDES, Anchors, Stage
from mimegen.choreography.arms import Arm, solve_arm
from mimegen.choreography.body import centimetre
from mimegen.choreography.feet import lower_body
from mimegen.choreography.hand_shapes import finger_joints
from mimegen.choreography.life import small_movements
from mimegen.choreography.places import LEFT, in_body_axes
from mimegen.choreography.score import Score, ShouldersKey, Turned
from mimegen.choreography.tracks import TimedKey, track_keys, track_values, track_weights
from mimegen.choreography.variation import FREE, Variant, vary
from mimegen.errors import RequestError
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.editing import mirrored
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# The trunk starts a movement before the hands.
CHEST_LEAD_S = 0.03
# What a target may be out of reach before it is an error; other takes than the score as it is
# written come as near as the arm can.
REACH_TOLERANCE_M = 0.03
# Two performers look and reach for each other: how often each sees where the other has got to.
SCENE_ROUNDS = 3


def perform(score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None) -> Motion:
    """Return the first performer's motion; all of it, where a score has one performer."""
    return perform_scene(score, seed, fps, style)[0]


def perform_scene(
    score: Score, seed: int = 0, fps: float = 60.0, style: str | None = None
) -> tuple[Motion, ...]:
    """Return the take that a seed makes of a score: one motion per performer, in one world.

    Seed 0 is the score as written; every other seed is another take of it. The same seed always
    gives the same bytes. Raises RequestError where a hand cannot reach its target.
    """
    variants = vary(score, seed, style)
    parts = score.parts()
    frames = round(variants[0].line.duration * fps) + 1
    moments = np.arange(frames) / fps
    skeleton = standard_skeleton()
    alone = tuple(
        Stage(skeleton, variant.line, moments, fps, small_movements(part.name, seed, moments), None)
        for part, variant in zip(parts, variants, strict=True)
    )
    exact = seed == 0 and style is None
    if len(parts) == 1:
        motions = [_performed(parts[0], alone[0], exact)]
    else:
        still = _standing(skeleton, frames, fps)
        motions = [still, still]
        for number in range(SCENE_ROUNDS):
            for own in (1, 0):
                partner = _seen_by(score, own, motions[1 - own])
                stage = alone[own]._replace(partner=partner.global_pose)
                exact_now = exact and number == SCENE_ROUNDS - 1
                motions[own] = _performed(parts[own], stage, exact_now)
    return tuple(_as_seen(_placed(motion, *_spot(score, own)), variants[0])
                 for own, motion in enumerate(motions))


def touch_errors(
    motions: Sequence[Motion], score: Score, seed: int = 0, style: str | None = None
) -> tuple[dict[str, FloatArray], ...]:
    """Return by performer and side how far (F,), in metres, hands are from what they touch.

    The landmarks are those of the finished motions, which ``perform_scene`` made of the same
    score, seed and style. Places in free space count for the score as written only.
    """
    variants, parts = vary(score, seed, style), score.parts()
    moments = np.arange(motions[0].frames) / motions[0].fps
    bare = [_placed_back(_as_solved(motion, variants[0]), *_spot(score, own))
            for own, motion in enumerate(motions)]
    exact = seed == 0 and style is None
    found = []
    for own, (motion, part) in enumerate(zip(bare, parts, strict=True)):
        partner = _seen_by(score, own, bare[1 - own]).global_pose if len(bare) == 2 else None
        stage = Stage(motion.skeleton, variants[own].line, moments, motion.fps,
                      small_movements(part.name, seed, moments), partner)
        anchors = Anchors(part, stage, motion.global_pose)
        found.append({side: _misses(anchors, side, exact) for side in SIDES})
    return tuple(found)


def _misses(anchors: Anchors, side: str, exact: bool) -> FloatArray:
    stage, skeleton = anchors.stage, anchors.stage.skeleton
    track = anchors.hand_track(side)
    goal = hands.arm_goal(track, anchors.resolve, stage.moments, skeleton,
                          stage.life[f"{side} hand"])
    hand = skeleton.index[f"{side}Hand"]
    touching = anchors.pose.positions[:, hand] + quaternions.rotate(
        anchors.pose.rotations[:, hand], goal.touch
    )
    held = [0.0 if hands.hangs(key) or (not exact and key.to and key.to.anchor in FREE) else 1.0
            for key in track.hand_keys]
    share = np.clip(track_weights(track.keys, stage.moments) @ np.array(held), 0.0, 1.0)
    return np.asarray(share * np.linalg.norm(touching - goal.point, axis=-1))


def _standing(skeleton: Skeleton, frames: int, fps: float) -> Motion:
    """Return somebody who stands still: what the partner is before anything is known of them."""
    rotations = np.tile(quaternions.IDENTITY, (frames, len(skeleton.names), 1))
    return Motion(skeleton, fps, np.tile(skeleton.heads[0], (frames, 1)), rotations)


def _spot(score: Score, performer: int) -> tuple[FloatArray, float]:
    """Return where a performer's own world lies in the scene's (3,) and how far it is turned.

    The scene's middle is between the two.
    """
    if score.partner is None:
        return np.zeros(3), 0.0
    stands = score.partner.stands
    apart = in_body_axes(np.array([stands.left, stands.forward, 0.0]))
    apart = apart * centimetre(standard_skeleton())
    return (apart / 2, stands.turn) if performer else (-apart / 2, 0.0)


def _seen_by(score: Score, own: int, other: Motion) -> Motion:
    """Return the other performer's motion in the world of performer ``own``."""
    return _placed_back(_placed(other, *_spot(score, 1 - own)), *_spot(score, own))


def _placed(motion: Motion, spot: FloatArray, degrees: float) -> Motion:
    turned = _turned(motion, degrees)
    return Motion(motion.skeleton, motion.fps, turned.root_positions + spot, turned.rotations)


def _placed_back(motion: Motion, spot: FloatArray, degrees: float) -> Motion:
    return _turned(Motion(motion.skeleton, motion.fps, motion.root_positions - spot,
                          motion.rotations), -degrees)


def _as_seen(motion: Motion, variant: Variant) -> Motion:
    return _turned(mirrored(motion) if variant.mirror else motion, variant.turn_deg)


def _as_solved(motion: Motion, variant: Variant) -> Motion:
    bare = _turned(motion, -variant.turn_deg)
    return mirrored(bare) if variant.mirror else bare


def _turned(motion: Motion, degrees: float) -> Motion:
    turn = quaternions.from_rotation_vectors(np.array([0, 0, np.deg2rad(degrees)]))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quaternions.multiply(turn, rotations[:, 0])
    rotations = quaternions.without_flips(quaternions.normalise(rotations))
    places = quaternions.rotate(turn, motion.root_positions)
    return Motion(motion.skeleton, motion.fps, places, rotations)


def _performed(score: Score, stage: Stage, exact: bool) -> Motion:
    skeleton, names = stage.skeleton, stage.skeleton.index
    count = len(stage.moments)
    rotations = np.tile(quaternions.IDENTITY, (count, len(skeleton.names), 1))
    lower = lower_body(stage)
    root = lower.root
    _put(rotations, skeleton, lower.rotations)
    turn, lean, tilt = _turns(stage, "chest", CHEST_LEAD_S)
    bent = trunk.turned(trunk.Turns(turn + lower.chest_turn, lean, tilt))
    _put(rotations, skeleton, trunk.spine_rotations(rotations[:, 0], bent))
    chest = rotations[:, names["Spine2"]]
    offsets = trunk.Turns(*_turns(stage, "head", GAZE_LEAD_S / 2))
    _put(rotations, skeleton, trunk.head_rotations(chest, offsets))
    anchors = Anchors(score, stage, _pose(skeleton, root, rotations))
    target = anchors.gaze()
    eyes = anchors.resolve("eyes", LEFT).positions
    looking = trunk.looking(eyes, chest, target)
    turns = trunk.Turns(*(a + b for a, b in zip(looking, offsets, strict=True)))
    _put(rotations, skeleton, trunk.head_rotations(chest, turns))
    anchors = Anchors(score, stage, _pose(skeleton, root, rotations))
    shrug = track_values(
        track_keys(stage.line.phases, "shoulders", ShouldersKey()), ("up", "forward"),
        stage.moments,
    ) + stage.life["shoulders"]
    for side in SIDES:
        track = anchors.hand_track(side)
        drift = stage.life[f"{side} hand"] + lower.swing[side] * hands.hanging(
            track, stage.moments)[:, None]
        goal = hands.arm_goal(track, anchors.resolve, stage.moments, skeleton, drift)
        arm = solve_arm(skeleton, anchors.pose, side, goal, shrug, stage.fps)
        if exact:
            _check_reach(score, track.keys, arm, stage.moments, side)
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


def _turns(stage: Stage, track: str, lead: float) -> FloatArray:
    """Return a track's turn, lean and tilt (3, F) in degrees, with the small movements."""
    keys = track_keys(stage.line.phases, track, Turned())
    values = track_values(keys, ("turn", "lean", "tilt"), stage.moments, lead)
    return np.asarray((values + stage.life[track]).T)


def _check_reach(
    score: Score, keys: Sequence[TimedKey], arm: Arm, moments: FloatArray, side: str
) -> None:
    worst = int(np.argmax(arm.short_by))
    if arm.short_by[worst] <= REACH_TOLERANCE_M:
        return
    nearest = min(keys, key=lambda timed: abs(timed.time - moments[worst]))
    raise RequestError(
        f"{score.source}: line {nearest.line}: {side.lower()}_hand: the target at"
        f" {moments[worst]:.2f} s is {100 * arm.short_by[worst]:.0f} cm out of reach;"
        f" bring it nearer, or lean, turn or move the body towards it"
    )
