"""The lower body: pelvis and feet, from the score's keys, walking and the weight on the feet."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from mimegen.base.vectors import product
from mimegen.choreography import legs, trunk
from mimegen.choreography.anchors import SIDES, Context, about_z
from mimegen.choreography.body import FLOOR
from mimegen.choreography.footwork import SmallStep, aside, small_steps
from mimegen.choreography.life import life_values
from mimegen.choreography.places import Place, in_body_axes
from mimegen.choreography.score import FootKey, PelvisKey
from mimegen.choreography.standing import stand
from mimegen.choreography.strides import BodyMoves, body_moves, foot_ground
from mimegen.choreography.tracks import (
    TimedKey,
    eased_weights,
    track_keys,
    track_values,
    track_weights,
    values_of,
)
from mimegen.choreography.walking import (
    STANDING_WIDTH_FACTOR,
    MovingFloor,
    body_ground,
    walk_start,
    walks,
)
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# The pelvis is lowered by this much in quiet standing, where knees are not quite straight.
STANDING_SINK_M = 0.004
TOES_OUT_DEG = 8.0
# When one foot is lifted, the pelvis shifts by this fraction of the way to the other. The shift is
# smoothed by a Gaussian of WEIGHT_EASE_S, so quick steps leave the pelvis nearly in the middle.
WEIGHT_SHARE = 0.6
WEIGHT_EASE_S = 0.13
GENTLE_S = 0.08
LIFTED_M = 0.02
# A sitting performer does not shift weight. Below the first fraction of its standing height the
# pelvis sits, above the second it stands.
SITS = 0.62
STANDING_SHARE = 0.78
# Sway on one foot, as a fraction of the sway on two.
ON_ONE_FOOT = 0.35
LOWER_EASE_S = 0.025
ASIDE_EASE_S = 0.15


class Lower(NamedTuple):
    """The solved lower body, and the movements that walking adds to the upper body.

    ``root`` (F, 3) has the pelvis' positions, ``rotations`` the global rotations (F, 4) by joint.
    ``chest`` has the chest's added turns (F,) in degrees, ``swing`` the displacement (F, 3) of
    hanging hands by side. ``runs`` (F,) is 0 for walking or standing, 1 for running.
    """

    root: FloatArray
    rotations: dict[str, FloatArray]
    chest: trunk.TrunkAngles
    swing: dict[str, FloatArray]
    runs: FloatArray


class _WalkState(NamedTuple):
    """The state of feet and walking from which the pelvis is computed.

    ``ground`` is the body's own floor and ``heading`` (F, 4) its rotation; ``goals`` are the feet's
    goals by side; ``jumps`` is whether both feet leave the floor at once. ``taken`` (F, 2) is the
    pelvis' displacement by small steps, in centimetres left and forward; ``moves`` are the
    movements that walking adds to the body.
    """

    ground: MovingFloor
    heading: FloatArray
    goals: dict[str, legs.FootGoal]
    jumps: bool
    taken: FloatArray
    moves: BodyMoves


def lower_body(context: Context, help_m: FloatArray, along: trunk.TrunkAngles) -> Lower:
    """Return the pose of pelvis and legs.

    ``help_m`` (F, 3) is the displacement of the pelvis that helps the arms, in metres; ``along``
    has the turns with which it follows the hands.
    """
    state = _walk_state(context)
    steps, turns = _pelvis(context, state.jumps)
    root = _root(context, state, steps, help_m)
    goals, moves = state.goals, state.moves
    turns = turns + np.stack(along, axis=-1) + moves.pelvis
    turns[:, 0] += state.ground.turn
    stood = stand(context.skeleton, root, trunk.turned(trunk.TrunkAngles(*turns.T)), goals,
                  context.fps)
    root += stood.aside
    root[:, 2] += stood.up
    turns[:, 2] += stood.tilt
    goals = {side: goal._replace(straightest=legs.STRAIGHTEST + stood.share * (
        legs.STANDING - legs.STRAIGHTEST)) for side, goal in goals.items()}
    root, rotations = _on_legs(context, root, trunk.turned(trunk.TrunkAngles(*turns.T)), goals)
    chest = moves.chest - stood.tilt[:, None] * [0.0, 0.0, 1.0]
    return Lower(root, rotations, trunk.TrunkAngles(*chest.T), _swings(context, state), moves.runs)


def _walk_state(context: Context) -> _WalkState:
    found, start = walks(context.line.phases_in_score_time), walk_start(context.line.phases)
    written, life = context.walked, context.life
    ground = body_ground(found, start, written)
    heading = about_z(ground.turn)
    feet = {side: _foot_keys(context, side) for side in SIDES}
    grounds = {side: foot_ground(found, start, written, side.lower(),
                                 life.footfalls[side.lower()]) for side in SIDES}
    stepped = small_steps(feet, found, life, float(context.moments[-1]))
    goals = {side: _foot_goal(context, side, feet[side], grounds[side], stepped) for side in SIDES}
    taken = np.mean([aside(stepped, side, context.moments)[:, :2] * [sign, 1.0]
                     for side, sign in SIDES.items()], axis=0)
    return _WalkState(ground, heading, goals, _jumps(feet), taken, body_moves(found, written))


def _root(context: Context, state: _WalkState, steps: FloatArray, help_m: FloatArray) -> FloatArray:
    """Return the pelvis' positions (F, 3), in metres, before ``standing`` straightens the legs.

    ``steps`` (F, 3) is the displacement by the score's keys, in centimetres.
    """
    steady = _steadiness(state.goals, context.fps)[:, None]
    steps = steps + context.life.drifted("sway", context.moments) * steady
    # Small steps take the whole performer along.
    steps[:, :2] += scipy.ndimage.gaussian_filter1d(
        state.taken, ASIDE_EASE_S * context.fps, axis=0, mode="nearest")
    root = _flat(state.ground.place * context.unit) + quaternions.rotate(
        state.heading, context.skeleton.heads[0] + in_body_axes(steps * context.unit)
    )
    root[:, 2] -= STANDING_SINK_M
    root += help_m
    # In walking, the gait engine shifts the weight instead.
    root += (1.0 - np.minimum(state.moves.share, 1.0))[:, None] * _weight_shift(
        context, state.goals, root, state.heading)
    root += quaternions.rotate(state.heading, state.moves.root)
    return np.asarray(root)


def _swings(context: Context, state: _WalkState) -> dict[str, FloatArray]:
    """Return the swing of hanging hands by side: displacements (F, 3) in metres."""
    return {
        side: quaternions.rotate(state.heading, state.moves.hands[side]
                                 * context.life.swung(side.lower(), context.moments)[:, None])
        for side in SIDES
    }


def _pelvis(context: Context, jumps: bool) -> tuple[FloatArray, FloatArray]:
    """Return the pelvis' displacement (F, 3) in centimetres and its turns (F, 3) in degrees."""
    keys = track_keys(context.line.phases, "pelvis", PelvisKey())
    clock, follow = context.clock("pelvis"), life_values().follow
    eased = eased_weights(keys, clock, follow["pelvis"])
    steps = product(eased, values_of(keys, ("left", "forward", "up")))
    if jumps:
        # In a jump the pelvis' height follows its keys exactly, as the feet's does: if it lagged,
        # the legs would be too short.
        steps[:, 2] = track_values(keys, ("up",), context.moments, follow["pelvis"].lead)[:, 0]
    else:
        weights = eased_weights(keys, clock, follow["pelvis up"])
        steps[:, 2] = product(weights, values_of(keys, ("up",)))[:, 0]
    turns = product(eased, values_of(keys, ("turn", "lean", "tilt")))
    return steps, turns + context.life.turned("pelvis", context.moments)


def _on_legs(context: Context, root: FloatArray, pelvis: FloatArray, goals: dict[str, legs.FootGoal]
             ) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the root (F, 3), lowered to where the legs reach, and rotations of pelvis and legs."""
    skeleton, rotations = context.skeleton, {"Hips": pelvis}
    hips = {side: quaternions.rotate(pelvis, skeleton.offsets[skeleton.index[f"{side}UpLeg"]])
            for side in SIDES}
    high = np.max([legs.too_high(skeleton, side, root + hip, goals[side])
                   for side, hip in hips.items()], axis=0)
    lower = np.zeros_like(root)
    lower[:, 2] = scipy.ndimage.gaussian_filter1d(high, LOWER_EASE_S * context.fps, mode="nearest")
    for side, hip in hips.items():
        rotations |= legs.leg_rotations(skeleton, side, root - lower + hip, pelvis, goals[side],
                                        context.fps)
    return root - lower, rotations


def _jumps(feet: dict[str, list[TimedKey]]) -> bool:
    """Return whether some keys raise both feet off the floor at the same time."""
    high = [{timed.time for timed in keys if isinstance(timed.key, FootKey) and timed.key.to
             and timed.key.to.offset[2] > 0.5} for keys in feet.values()]
    return bool(set.intersection(*high))


def _flat(place: FloatArray) -> FloatArray:
    """Return displacements left and forward (F, 2) as displacements along the floor (F, 3)."""
    return in_body_axes(np.column_stack([place, np.zeros(len(place))]))


def _foot_keys(context: Context, side: str) -> list[TimedKey]:
    standing = in_body_axes(_ball(context, side), SIDES[side]) * [1, 1, 0] / context.unit
    at_first = FootKey(to=Place(FLOOR, tuple(standing * [STANDING_WIDTH_FACTOR, 1, 1])),
                       turn=TOES_OUT_DEG,
                       heel=0.0)
    return track_keys(context.line.phases, f"{side.lower()}_foot", at_first)


def _ball(context: Context, side: str) -> FloatArray:
    return np.asarray(context.skeleton.heads[context.skeleton.index[f"{side}ToeBase"]])


def _foot_goal(context: Context, side: str, keys: Sequence[TimedKey], ground: MovingFloor,
               stepped: Sequence[SmallStep]) -> legs.FootGoal:
    skeleton, sign, ball = context.skeleton, SIDES[side], _ball(context, side)
    places = np.array([timed.key.to.offset for timed in keys if isinstance(timed.key, FootKey)
                       and timed.key.to is not None])
    now = context.clock(f"{side.lower()}_foot").now
    steps = product(track_weights(keys, now), places) + aside(stepped, side, now)
    steps[:, 0] *= ground.narrow
    height = np.maximum(steps[:, 2], 0.0) + _step_height(keys, places, now) + ground.lift
    turn, heel = track_values(keys, ("turn", "heel"), now).T
    flat = in_body_axes(steps * [1, 1, 0] * context.unit, sign)
    goal = _flat(ground.place * context.unit) + quaternions.rotate(about_z(ground.turn), flat)
    goal[:, 2] = height * context.unit + ball[2] + legs.rolled_up(
        skeleton, side, np.maximum(ground.heel, heel + ground.heel))
    turn = turn + context.life.toes[side.lower()]
    return legs.on_heel(skeleton, side, legs.FootGoal(
        goal, sign * turn + ground.turn, heel + ground.heel))


def _step_height(keys: Sequence[TimedKey], places: FloatArray, moments: FloatArray) -> FloatArray:
    """Return the height (F,) in centimetres by which a foot is lifted between two positions."""
    height = np.zeros(len(moments))
    for number in range(1, len(keys)):
        span = float(np.linalg.norm((places[number] - places[number - 1])[:2]))
        low, high = sorted(float(up) for up in places[number - 1 : number + 1, 2])
        if span < 1.0 or low > 0.5:
            continue
        # If the score lifts the foot itself, add only enough that it does not drag at the ends.
        rise = 3.0 + 0.12 * span if high <= 0.5 else min(0.05 * span, 2.0)
        begin, end = keys[number - 1].time, keys[number].time
        share = np.clip((moments - begin) / (end - begin), 0.0, 1.0)
        height += rise * 16 * share**2 * (1 - share) ** 2
    return height


def _weight_shift(context: Context, goals: dict[str, legs.FootGoal], root: FloatArray,
                  heading: FloatArray) -> FloatArray:
    """Return the pelvis' sideways displacement (F, 3) towards the foot that carries the weight."""
    leftward = quaternions.rotate(heading, np.array([1.0, 0.0, 0.0]))
    across = {side: np.sum(goal.ball * leftward, axis=-1) for side, goal in goals.items()}
    load = _loads(goals)
    share = load["Left"] / (load["Left"] + load["Right"])
    apart = across["Left"] - across["Right"]
    shift = scipy.ndimage.gaussian_filter1d((share - 0.5) * apart, WEIGHT_EASE_S * context.fps,
                                            mode="nearest")
    # Do not move a pelvis that the score has already placed over the foot.
    room = (across["Left"] + across["Right"]) / 2 + shift - np.sum(root * leftward, axis=-1)
    wanted = WEIGHT_SHARE * shift
    toward = np.where(shift > 0, np.clip(wanted, 0.0, np.maximum(room, 0.0)),
                      np.clip(wanted, np.minimum(room, 0.0), 0.0))
    height = root[:, 2] / context.skeleton.heads[0, 2]
    standing = np.clip((height - SITS) / (STANDING_SHARE - SITS), 0.0, 1.0)
    # The clipped shift may begin and end abruptly: smooth it.
    gentle = scipy.ndimage.gaussian_filter1d(standing * toward, GENTLE_S * context.fps,
                                             mode="nearest")
    return np.asarray(gentle[:, None] * leftward)


def _loads(goals: dict[str, legs.FootGoal]) -> dict[str, FloatArray]:
    """Return each foot's load (F,) by side: 1 for the lower foot, 0 if LIFTED_M above it."""
    low = np.minimum(goals["Left"].ball[:, 2], goals["Right"].ball[:, 2])
    return {side: 1.0 - np.clip((goal.ball[:, 2] - low) / LIFTED_M, 0.0, 1.0)
            for side, goal in goals.items()}


def _steadiness(goals: dict[str, legs.FootGoal], fps: float) -> FloatArray:
    """Return the factor (F,) of the pelvis' sway: 1 on both feet, ON_ONE_FOOT on one."""
    load = _loads(goals)
    both = scipy.ndimage.gaussian_filter1d(
        np.minimum(load["Left"], load["Right"]), WEIGHT_EASE_S * fps, mode="nearest")
    return np.asarray(ON_ONE_FOOT + (1 - ON_ONE_FOOT) * both)
