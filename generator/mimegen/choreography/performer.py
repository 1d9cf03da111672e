"""One performer: from a part's keys to a motion in that performer's own world."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.easing import ramp, softly_limited
from mimegen.base.errors import RequestError
from mimegen.base.vectors import lengths, product
from mimegen.choreography import hands, trunk
from mimegen.choreography.anchors import SIDES, Anchors, Context
from mimegen.choreography.arms import BEHIND, Arm, solve_arm
from mimegen.choreography.balance import righted
from mimegen.choreography.feet import Lower, lower_body
from mimegen.choreography.life import life_values
from mimegen.choreography.places import LEFT
from mimegen.choreography.score import PelvisKey, Score, ShouldersKey, Turned
from mimegen.choreography.timing import widened
from mimegen.choreography.tracks import TimedKey, eased_weights, track_keys, values_of
from mimegen.choreography.trunk_following import Along, going_along
from mimegen.motion import Motion, Skeleton, quaternions
from mimegen.motion.hand_shapes import finger_joints
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# In the score as written, a target farther out of reach than this is an error; in other takes the
# arm comes as near as it can.
REACH_TOLERANCE_M = 0.05
# The trunk helps an arm that is too short by HELPED_FROM_M or more, up to HELP_LIMIT_M, in at most
# HELP_ROUNDS rounds. PELVIS_SHARE of the help moves the pelvis, the rest leans the trunk from the
# hips, SHOULDER_HEIGHT_M below the shoulders. A round that leaves more than WORTH_IT of the
# shortfall is undone: then the arm reaches for something that the trunk carries.
HELPED_FROM_M = 0.004
HELP_LIMIT_M = 0.2
HELP_ROUNDS = 5
WORTH_IT = 0.9
# A trunk that pushes a hand farther than this from what it holds makes room.
CROWDED_M = 0.015
# Imbalance of more than this is corrected by shifting the weight, in at most RIGHTED_ROUNDS rounds.
OFF_BALANCE_M = 0.035
RIGHTED_ROUNDS = 3
HELP_EASE_S = 0.09
SHOULDER_HEIGHT_M = 0.42
PELVIS_SHARE = 0.45
# A performer whose pelvis is keyed above STANDING_ABOVE_CM stands; from ACTS_CM down, and ACTING_S
# before and after, the legs act. A standing performer keeps the knees straight if a hand's target
# is too low and drops that shoulder instead, by tilting the trunk up to MAX_TILT radians; the
# shoulders are SHOULDER_DISTANCE_M apart.
STANDING_ABOVE_CM = -3.5
ACTS_CM = -6.5
ACTING_S = 0.15
SHOULDER_DISTANCE_M = 0.34
MAX_TILT = 0.2
# Largest backward part of a runner's upper arm, as a fraction of its length, while the hand swings.
RUNNING_BEHIND = 0.85


class Help(NamedTuple):
    """How the trunk helps arms that are too short.

    ``along`` (F, 3) is the displacement of the shoulders in metres, ``tilt`` (F,) the tilt to the
    left in radians.
    """

    along: FloatArray
    tilt: FloatArray

    def more(self, other: "Help") -> "Help":
        """Return the sum of this help and another."""
        return Help(self.along + other.along, self.tilt + other.tilt)

    def limited(self) -> "Help":
        """Return this help, softly limited to HELP_LIMIT_M and MAX_TILT."""
        return Help(softly_limited(self.along, HELP_LIMIT_M),
                    MAX_TILT * np.tanh(self.tilt / MAX_TILT))


def performed(score: Score, context: Context, exact: bool) -> Motion:
    """Return one performer's motion.

    Imbalance is corrected first; then the trunk helps arms that are too short. If ``exact``, raises
    RequestError for a target out of reach.
    """
    help_now = none = Help(np.zeros((len(context.moments), 3)), np.zeros(len(context.moments)))
    stands = _standing_share(context)
    along = going_along(score, context)
    shift_m = along.shift
    motion, arms = _solved(score, context, none, shift_m, along)
    for _ in range(RIGHTED_ROUNDS if score.balanced else 0):
        back = righted(motion, OFF_BALANCE_M)
        if np.abs(back).max() < HELPED_FROM_M:
            break
        shift_m = shift_m + back
        motion, arms = _solved(score, context, none, shift_m, along)
    for _ in range(HELP_ROUNDS):
        short = max(float(arm.short_by.max()) for arm in arms.values())
        if short < HELPED_FROM_M:
            break
        more = help_now.more(_help(arms, motion, stands))
        helped, nearer = _solved(score, context, more.limited(), shift_m, along)
        if max(float(arm.short_by.max()) for arm in nearer.values()) > WORTH_IT * short:
            break
        motion, arms, help_now = helped, nearer, more
    if exact:
        for side, arm in arms.items():
            _check_reach(score, Anchors(score, context, motion.global_pose).hand_track(side).keys,
                         arm, context.moments, side)
    return motion


def _crowding(pushed: FloatArray) -> FloatArray:
    """Return the part of the trunk's push against a hand (F, 3) that exceeds CROWDED_M."""
    size = lengths(pushed)
    share = np.maximum(size - CROWDED_M, 0.0) / np.maximum(size, 1e-9)
    return np.asarray(share[:, None] * pushed)


def _standing_share(context: Context) -> FloatArray:
    """Return how far (F,), from 0 to 1, the score lets the performer stand with idle legs."""
    keys = track_keys(context.line.phases, "pelvis", PelvisKey())
    eased = eased_weights(keys, context.clock("pelvis"), life_values().follow["pelvis up"])
    up = product(eased, values_of(keys, ("up",)))[:, 0]
    return 1.0 - widened(ramp(up, STANDING_ABOVE_CM, ACTS_CM), ACTING_S, ACTING_S, context.fps)


def _help(arms: dict[str, Arm], motion: Motion, stands: FloatArray) -> Help:
    """Return the trunk's help for arms that are too short.

    ``stands`` (F,) is as in ``_standing_share``.
    """
    pull = _pulled(arms, motion.fps)
    pull[:, 2] -= stands * np.minimum(pull[:, 2], 0.0)
    chest = motion.global_pose.rotations[:, motion.skeleton.index["Spine2"]]
    low = {side: np.maximum(-quaternions.rotate(quaternions.conjugate(chest), arm.short)[:, 2], 0.0)
           for side, arm in arms.items()}
    lower = (low["Left"] - low["Right"]) / SHOULDER_DISTANCE_M
    eased = scipy.ndimage.gaussian_filter1d(lower, HELP_EASE_S * motion.fps, mode="nearest")
    return Help(pull, stands * eased)


def _pulled(arms: dict[str, Arm], fps: float) -> FloatArray:
    """Return the displacement (F, 3) of the shoulders that short arms need, smoothed in time."""
    pulls = np.stack([arm.short for arm in arms.values()])
    sizes = np.linalg.norm(pulls, axis=-1, keepdims=True)
    pull = (pulls * sizes).sum(axis=0) / np.maximum(sizes.sum(axis=0), 1e-9)
    size = np.linalg.norm(pull, axis=-1)
    towards = scipy.ndimage.gaussian_filter1d(pull, HELP_EASE_S * fps, axis=0, mode="nearest")
    towards /= np.maximum(np.linalg.norm(towards, axis=-1, keepdims=True), 1e-9)
    return np.asarray(widened(size, HELP_EASE_S, HELP_EASE_S, fps)[:, None] * towards)


def _solved(score: Score, context: Context, helping: Help, shift_m: FloatArray, along: Along
            ) -> tuple[Motion, dict[str, Arm]]:
    """Return the whole body solved, and its arms.

    ``helping`` is the trunk's help, ``shift_m`` (F, 3) a displacement of the pelvis, in metres.
    """
    skeleton = context.skeleton
    lower = lower_body(context, PELVIS_SHARE * helping.along + shift_m, along.pelvis)
    rotations = _trunk_and_head(score, context, lower, helping, along.chest)
    anchors = Anchors(score, context, _pose(skeleton, lower.root, rotations))
    shrugs = track_keys(context.line.phases, "shoulders", ShouldersKey())
    weights = eased_weights(shrugs, context.clock("shoulders"), life_values().follow["shoulders"])
    shrug = product(weights, values_of(shrugs, ("up", "forward")))
    shrug = shrug + context.life.shrug(context.moments)
    arms = {}
    for side in SIDES:
        track = anchors.hand_track(side)
        fingers = hands.finger_pose(track)
        goal = hands.arm_goal(track, anchors.resolve, skeleton, fingers)
        swings = hands.hanging(track)
        goal = goal._replace(
            point=goal.point + swings[:, None] * lower.swing[side],
            behind=BEHIND + swings * lower.runs * (RUNNING_BEHIND - BEHIND))
        arm = solve_arm(skeleton, anchors.pose, side, goal, shrug, context.fps)
        holding = track.weighted_mean(
            lambda key: 1.0 if key.to and key.to.anchor in score.props else 0.0)
        arms[side] = arm._replace(short=arm.short - holding[:, None] * _crowding(arm.pushed))
        _put(rotations, skeleton, arm.rotations)
        rotations[:, finger_joints(skeleton, side)] = quaternions.multiply(
            arm.rotations[f"{side}Hand"][:, None], fingers
        )
    return Motion.from_global_rotations(skeleton, context.fps, lower.root, rotations), arms


def _trunk_and_head(score: Score, context: Context, lower: Lower, helping: Help,
                    along: trunk.TrunkAngles) -> FloatArray:
    """Return the global rotations (F, J, 4) of everything but the arms."""
    skeleton = context.skeleton
    rotations = np.tile(quaternions.IDENTITY, (len(context.moments), len(skeleton.names), 1))
    _put(rotations, skeleton, lower.rotations)
    turn, lean, tilt = _trunk_angles(context, "chest")
    sideways, back, _ = np.rad2deg(quaternions.rotate(
        quaternions.conjugate(rotations[:, 0]), (1 - PELVIS_SHARE) * helping.along).T
        / SHOULDER_HEIGHT_M)
    added = (lower.chest, along, trunk.steadying(lower.root, rotations[:, 0], context.fps))
    bent = trunk.turned(trunk.TrunkAngles(
        turn + sum(turns.turn for turns in added),
        lean + sum(turns.lean for turns in added) - back,
        tilt + sum(turns.tilt for turns in added) + sideways + np.rad2deg(helping.tilt)))
    _put(rotations, skeleton, trunk.spine_rotations(rotations[:, 0], bent))
    chest = rotations[:, skeleton.index["Spine2"]]
    offsets = trunk.TrunkAngles(*_trunk_angles(context, "head"))
    _put(rotations, skeleton, trunk.head_rotations(chest, offsets))
    anchors = Anchors(score, context, _pose(skeleton, lower.root, rotations))
    looking = trunk.looking(anchors.resolve("eyes", LEFT).positions, chest, anchors.gaze())
    turns = trunk.TrunkAngles(*(a + b for a, b in zip(looking, offsets, strict=True)))
    _put(rotations, skeleton, trunk.head_rotations(chest, turns))
    return rotations


def _put(rotations: FloatArray, skeleton: Skeleton, parts: dict[str, FloatArray]) -> None:
    """Set joints' global rotations; joints below them that are not set take their parent's."""
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


def _trunk_angles(context: Context, track: str) -> FloatArray:
    """Return a track's turn, lean and tilt (3, F) in degrees, with the small movements."""
    keys = track_keys(context.line.phases, track, Turned())
    weights = eased_weights(keys, context.clock(track), life_values().follow[track])
    turns = product(weights, values_of(keys, ("turn", "lean", "tilt")))
    return np.asarray((turns + context.life.turned(track, context.moments)).T)


def _check_reach(
    score: Score, keys: Sequence[TimedKey], arm: Arm, moments: FloatArray, side: str
) -> None:
    """Raise RequestError if an arm is too short by more than REACH_TOLERANCE_M."""
    worst = int(np.argmax(arm.short_by))
    if arm.short_by[worst] <= REACH_TOLERANCE_M:
        return
    nearest = min(keys, key=lambda timed: abs(timed.time - moments[worst]))
    raise RequestError(
        f"{score.source}: line {nearest.line}: {side.lower()}_hand: the target at"
        f" {moments[worst]:.2f} s is {100 * arm.short_by[worst]:.0f} cm out of reach; move it"
        " closer, or lean, turn or move the body towards it"
    )
