"""Where the pelvis is and what the feet do: the score's keys, walking, weight on the feet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from mimegen.choreography import legs, trunk
from mimegen.choreography.anchors import SIDES, Stage, about_z
from mimegen.choreography.body import FLOOR
from mimegen.choreography.places import Place, in_body_axes
from mimegen.choreography.score import FootKey, PelvisKey
from mimegen.choreography.tracks import TimedKey, track_keys, track_values, track_weights
from mimegen.choreography.walking import (
    Walk,
    body_ground,
    foot_ground,
    under_way,
    walk_start,
    walks,
)
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# The trunk starts a movement before the hands.
PELVIS_LEAD_S = 0.06
# In quiet standing the knees are not quite straight.
STANDING_SINK_M = 0.004
TOES_OUT_DEG = 8.0
# How much of the way to the standing foot the pelvis goes when the other is lifted, and how
# gradually: quick steps leave it nearly in the middle.
WEIGHT_SHARE, WEIGHT_EASE_S, LIFTED_M = 0.6, 0.13, 0.02
# In a full step the pelvis turns and lists, and sinks where the legs are spread, in degrees and
# metres (Perry and Burnfield 2010); the chest turns the other way.
STEP_TURN_DEG, STEP_LIST_DEG, STEP_LEAN_DEG, CHEST_TURN_DEG = 5.0, 2.0, 2.0, 9.0
STEP_SINK_M, STEP_BOB_M = 0.008, 0.026
SWING_M = 0.16


class Lower(NamedTuple):
    """The lower body: the pelvis' places (F, 3), global rotations by joint, and what walking
    adds above: the chest's turn (F,) in degrees and the hanging hands' swing by side (F, 3)."""

    root: FloatArray
    rotations: dict[str, FloatArray]
    chest_turn: FloatArray
    swing: dict[str, FloatArray]


def lower_body(stage: Stage, help_m: FloatArray) -> Lower:
    """Return pelvis and legs; ``help_m`` (F, 3) is where arms pull the pelvis."""
    skeleton = stage.skeleton
    found, start = walks(stage.line.written_phases), walk_start(stage.line.phases)
    written = stage.line.written(stage.moments)
    body = body_ground(found, start, written)
    heading = about_z(body.turn)
    goals = {side: _foot_goal(stage, side, found, start) for side in SIDES}
    keys = track_keys(stage.line.phases, "pelvis", PelvisKey())
    steps = track_values(keys, ("left", "forward", "up"), stage.moments, PELVIS_LEAD_S)
    turns = track_values(keys, ("turn", "lean", "tilt"), stage.moments, PELVIS_LEAD_S)
    root = _flat(body.place * stage.unit) + quaternions.rotate(
        heading, skeleton.heads[0] + in_body_axes(steps * stage.unit) + stage.life["sway"]
    )
    root[:, 2] -= STANDING_SINK_M
    root += help_m
    root += _weight_shift(goals, root, heading, stage.fps)
    size, spread = under_way(found, written), _spread(goals, heading)
    along = size * np.clip(spread / 0.55, -1.2, 1.2)
    root[:, 2] -= size * STEP_SINK_M + size * STEP_BOB_M * np.clip(spread / 0.6, -1.2, 1.2) ** 2
    turns = turns + np.stack([
        body.turn + STEP_TURN_DEG * along, STEP_LEAN_DEG * size,
        STEP_LIST_DEG * size * _lifted_side(goals),
    ], axis=-1)
    pelvis = trunk.turned(trunk.Turns(*turns.T))
    rotations = {"Hips": pelvis}
    for side in SIDES:
        hip = root + quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
        rotations |= legs.leg_rotations(skeleton, side, hip, pelvis, goals[side], stage.fps)
    return Lower(root, rotations, -CHEST_TURN_DEG * along, {
        side: quaternions.rotate(heading, in_body_axes(np.stack(
            [np.zeros_like(along), sign * SWING_M * along, 0.03 * size * (along > 0)], axis=-1)))
        for side, sign in SIDES.items()
    })


def _flat(place: FloatArray) -> FloatArray:
    """Return steps left and forward (F, 2) as places on the floor (F, 3)."""
    return in_body_axes(np.column_stack([place, np.zeros(len(place))]))


def _foot_goal(stage: Stage, side: str, found: Sequence[Walk], start: FloatArray) -> legs.FootGoal:
    skeleton, sign = stage.skeleton, SIDES[side]
    ball = skeleton.heads[skeleton.index[f"{side}ToeBase"]]
    standing = (in_body_axes(ball, sign) * [1, 1, 0] / stage.unit) * [1.25, 1, 1]
    at_first = FootKey(to=Place(FLOOR, tuple(standing)), turn=TOES_OUT_DEG, heel=0.0)
    keys = track_keys(stage.line.phases, f"{side.lower()}_foot", at_first)
    places = np.array([timed.key.to.offset for timed in keys if isinstance(timed.key, FootKey)
                       and timed.key.to is not None])
    ground = foot_ground(found, start, stage.line.written(stage.moments), side.lower())
    steps = track_weights(keys, stage.moments) @ places
    steps[:, 0] *= ground.narrow
    height = np.maximum(steps[:, 2], 0.0) + _step_height(keys, places, stage.moments) + ground.lift
    turn, heel = track_values(keys, ("turn", "heel"), stage.moments).T
    flat = in_body_axes(steps * [1, 1, 0] * stage.unit, sign)
    goal = _flat(ground.place * stage.unit) + quaternions.rotate(about_z(ground.turn), flat)
    goal[:, 2] = height * stage.unit + ball[2]
    return legs.on_heel(skeleton, side, legs.FootGoal(
        goal, sign * turn + ground.turn, heel + ground.heel))


def _step_height(keys: Sequence[TimedKey], places: FloatArray, moments: FloatArray) -> FloatArray:
    """Return how high (F,), in cm, the foot is lifted on its way between two places."""
    height = np.zeros(len(moments))
    for number in range(1, len(keys)):
        span = float(np.linalg.norm((places[number] - places[number - 1])[:2]))
        low, high = sorted(float(up) for up in places[number - 1 : number + 1, 2])
        if span < 1.0 or low > 0.5:
            continue
        # Where the score lifts the foot itself, only so much that it does not drag at its ends.
        rise = 3.0 + 0.12 * span if high <= 0.5 else min(0.05 * span, 2.0)
        begin, end = keys[number - 1].time, keys[number].time
        share = np.clip((moments - begin) / (end - begin), 0.0, 1.0)
        height += rise * 16 * share**2 * (1 - share) ** 2
    return height


def _weight_shift(goals: dict[str, legs.FootGoal], root: FloatArray, heading: FloatArray,
                  fps: float) -> FloatArray:
    """Return how the pelvis goes (F, 3), sideways, towards the foot that carries the weight."""
    leftward = quaternions.rotate(heading, np.array([1.0, 0.0, 0.0]))
    across = {side: np.sum(goal.ball * leftward, axis=-1) for side, goal in goals.items()}
    low = np.minimum(goals["Left"].ball[:, 2], goals["Right"].ball[:, 2])
    load = {side: 1.0 - np.clip((goal.ball[:, 2] - low) / LIFTED_M, 0.0, 1.0)
            for side, goal in goals.items()}
    share = load["Left"] / (load["Left"] + load["Right"])
    apart = across["Left"] - across["Right"]
    shift = gaussian_filter1d((share - 0.5) * apart, WEIGHT_EASE_S * fps, mode="nearest")
    # A pelvis that the score has already put over the foot stays there.
    room = (across["Left"] + across["Right"]) / 2 + shift - np.sum(root * leftward, axis=-1)
    wanted = WEIGHT_SHARE * shift
    toward = np.where(shift > 0, np.clip(wanted, 0.0, np.maximum(room, 0.0)),
                      np.clip(wanted, np.minimum(room, 0.0), 0.0))
    return np.asarray(toward[:, None] * leftward)


def _spread(goals: dict[str, legs.FootGoal], heading: FloatArray) -> FloatArray:
    """Return how far (F,), in metres, the right foot is ahead of the left."""
    ahead = quaternions.rotate(heading, np.array([0.0, -1.0, 0.0]))
    return np.asarray(np.sum((goals["Right"].ball - goals["Left"].ball) * ahead, axis=-1))


def _lifted_side(goals: dict[str, legs.FootGoal]) -> FloatArray:
    """Return 1 where the left foot is in the air, -1 where the right one is, eased."""
    apart = goals["Left"].ball[:, 2] - goals["Right"].ball[:, 2]
    return np.asarray(np.tanh(apart / 0.05))
