"""Arms: collar bone, elbow swivel, forearm twist and wrist, for all frames at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.angles import half_turn
from mimegen.base.easing import soft_excess
from mimegen.base.vectors import lengths, unit
from mimegen.choreography.body import away_from_capsule, capsules, hand_axes
from mimegen.choreography.places import LEFT, in_body_axes
from mimegen.choreography.timing import widened
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.limbs import Limb, across, bend, eased_reach
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# At rest the palm faces down: the thumb-up middle of the forearm's range is this far from it.
NEUTRAL_TWIST_DEG = 85.0
RELAXED_TWIST_DEG = 65.0
TWIST_LIMIT_DEG = 92.0
WRIST_LIMIT_DEG = 66.0
WRIST_SMOOTHING_S = 0.02
# No arm is stretched further than this share of its length.
EXTENDED = 0.985
# Nor is it folded to less than this share: an elbow bent by about 155 degrees.
FOLDED = 0.2
# A wrist that passes close by the shoulder swings the arm round fast. From this speed (degrees a
# second) it is calmed, fully at twice that: its direction is smoothed over so many seconds, in
# rounds.
HURRIED_DEG_S = 900.0
CALMED_S = 0.05
CALMED_ROUNDS = 8
FOREARM_SHARE_OF_TWIST = 0.6
SWIVELS = np.deg2rad(np.arange(-180.0, 180.0, 7.5))
SOLVE_RATE_HZ = 20.0
# An elbow whose hint turns faster than this (radians a second) is in haste, fully at twice that.
HASTE_FROM = 3.0
TRUNK = ("pelvis", "waist", "ribs", "upper_chest")
LIMB_RADIUS_M = 0.035
KNUCKLE_RADIUS_M = 0.012
TIP_RADIUS_M = -0.004
# An upper arm points back with this share of its length at most.
BEHIND = 0.45
# Hands at rest lie along this axis, on either side.
SIDEWAYS = np.array([1.0, 0.0, 0.0])


class ArmGoal(NamedTuple):
    """What an arm should do.

    ``point`` (F, 3): where the touching point should be, which is ``touch`` (F, 3) from the wrist
    in the hand at rest; ``tip`` (F, 3): where the middle finger's tip is in it; ``orient`` gives
    the hand's rotations (F, 4) for a relaxed hand (F, 4); ``elbow`` (F, 3): where the elbow should
    point, as firmly as it is long, chest axes; ``behind`` (F,): how far back it may be.
    """

    point: FloatArray
    touch: FloatArray
    tip: FloatArray
    orient: Callable[[FloatArray], FloatArray]
    elbow: FloatArray
    behind: FloatArray | float = BEHIND


class Arm(NamedTuple):
    """A solved arm: global rotations by joint name; how it is too short (F, 3), in metres.

    ``pushed`` (F, 3) is how far, in metres, the body keeps the hand from where it should be.
    """

    rotations: dict[str, FloatArray]
    short: FloatArray
    pushed: FloatArray

    @property
    def short_by(self) -> FloatArray:
        """How much (F,) the arm is too short, in metres."""
        return np.asarray(np.linalg.norm(self.short, axis=-1))


class _Shoulder(NamedTuple):
    """An arm's root: its place (F, 3), the chest's rotation (F, 4), and the limb's side."""

    place: FloatArray
    chest: FloatArray
    side: float
    limb: Limb
    pose: GlobalPose


def arm_limb(skeleton: Skeleton, side: str) -> Limb:
    """Return the arm at rest; elbows point back."""
    shoulder, elbow, wrist = (
        skeleton.heads[skeleton.index[side + name]] for name in ("Arm", "ForeArm", "Hand")
    )
    return Limb(elbow - shoulder, wrist - elbow, np.array([0.0, 1.0, 0.0]))


def collar_rotation(
    chest: FloatArray, toward: FloatArray, side: float, shrug: FloatArray
) -> FloatArray:
    """Return the collar bone's global rotation (F, 4).

    It rises and comes forward with the arm (scapulohumeral rhythm, Inman 1944). ``toward``
    (F, 3) leads from the shoulder to the hand in arm lengths; ``shrug`` (F, 2): degrees up and
    forward on top.
    """
    local = quaternions.rotate(quaternions.conjugate(chest), toward) * np.array([side, -1, 1])
    far = np.clip(np.linalg.norm(local, axis=-1), 0.0, 1.15)
    aim = unit(local)
    # A raised arm lifts the collar bone far more than a hanging one lowers it.
    up = np.where(aim[:, 2] > 0, 23.0, 6.0) * aim[:, 2] * far + shrug[:, 0]
    forward = np.clip(16.0 * aim[:, 1] * far - 4.0 * aim[:, 0], -12, 16) + shrug[:, 1]
    # Out of reach ahead, the collar bone comes along: people reach with their shoulders.
    forward = forward + 45.0 * np.clip(far - 1.0, 0.0, 0.15) * np.clip(aim[:, 1], 0, 1)
    vectors = np.zeros((len(chest), 3))
    vectors[:, 1] = -side * np.deg2rad(up)
    vectors[:, 2] = -side * np.deg2rad(forward)
    return quaternions.multiply(chest, quaternions.from_rotation_vectors(vectors))


def solve_arm(
    skeleton: Skeleton, pose: GlobalPose, side: str, goal: ArmGoal, shrug: FloatArray, fps: float
) -> Arm:
    """Solve one arm. ``pose`` is the global pose with everything but the arms in place."""
    sign = LEFT if side == "Left" else -LEFT
    index = skeleton.index
    chest = pose.rotations[:, index["Spine2"]]
    base = pose.positions[:, index["Spine2"]]
    collar_offset = skeleton.offsets[index[f"{side}Shoulder"]]
    limb = arm_limb(skeleton, side)
    resting = base + quaternions.rotate(
        chest, collar_offset + skeleton.offsets[index[f"{side}Arm"]]
    )
    collar = collar_rotation(chest, (goal.point - resting) / limb.reach, sign, shrug)
    place = base + quaternions.rotate(chest, collar_offset) + quaternions.rotate(
        collar, skeleton.offsets[index[f"{side}Arm"]]
    )
    shoulder = _Shoulder(place, chest, sign, limb, pose)
    hand, wrist, swivel = _settled(shoulder, goal, fps)
    pushed = wrist - goal.point + quaternions.rotate(hand, goal.touch)
    bent = bend(limb, place, _within_reach(place, wrist, limb), _pole(shoulder, wrist, swivel))
    lower = quaternions.from_frames(bent.lower)
    hand = within_wrist(lower, hand, fps)
    # The hand's rotation is global, so what the forearm does not twist is left to the wrist.
    twist = FOREARM_SHARE_OF_TWIST * forearm_twist(lower, hand)
    twisted = quaternions.multiply(lower, supination(twist, sign * unit(limb.lower)))
    over = np.linalg.norm(wrist - place, axis=-1, keepdims=True) - EXTENDED * limb.reach
    return Arm(
        {
            f"{side}Shoulder": collar,
            f"{side}Arm": quaternions.from_frames(bent.upper),
            f"{side}ForeArm": twisted,
            f"{side}Hand": hand,
        },
        np.maximum(over, 0.0) * unit(wrist - place),
        pushed,
    )


def _settled(
    shoulder: _Shoulder, goal: ArmGoal, fps: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Let hand, wrist and elbow settle on each other; each depends on the other two."""
    elbow_hint = quaternions.rotate(shoulder.chest, goal.elbow)
    straight = bend(shoulder.limb, shoulder.place, goal.point, elbow_hint)
    relaxed = relaxed_hand(quaternions.from_frames(straight.lower))
    hand = goal.orient(relaxed)
    for _ in range(3):
        wrist = _wrists(shoulder, hand, goal, fps)
        swivel = _swivels(shoulder, wrist, hand, goal, fps)
        near = _within_reach(shoulder.place, wrist, shoulder.limb)
        bent = bend(shoulder.limb, shoulder.place, near, _pole(shoulder, wrist, swivel))
        lower = quaternions.from_frames(bent.lower)
        relaxed = relaxed_hand(lower)
        hand = within_wrist(lower, goal.orient(relaxed), fps)
    return hand, _wrists(shoulder, hand, goal, fps), swivel


def _calmed(shoulder: _Shoulder, wrist: FloatArray, fps: float) -> FloatArray:
    """Lead wrists (F, 3) that would rush past the shoulder round it, at their own distances."""
    line = quaternions.rotate(quaternions.conjugate(shoulder.chest), wrist - shoulder.place)
    aim = calm = unit(line)
    rate = np.rad2deg(lengths(np.diff(aim, axis=0, append=aim[-1:]))) * fps
    hurried = np.clip(rate / HURRIED_DEG_S - 1.0, 0.0, 1.0)
    if not hurried.any():
        return wrist
    for _ in range(CALMED_ROUNDS):
        calm = unit(scipy.ndimage.gaussian_filter1d(
            calm, CALMED_S * fps / CALMED_ROUNDS**0.5, axis=0, mode="nearest"))
    share = widened(hurried, 2 * CALMED_S, CALMED_S, fps)[:, None]
    aim = unit(aim + share * (calm - aim))
    return shoulder.place + quaternions.rotate(shoulder.chest, lengths(line)[:, None] * aim)


def _within_reach(place: FloatArray, wrist: FloatArray, limb: Limb) -> FloatArray:
    line = wrist - place
    distance = np.linalg.norm(line, axis=-1)
    eased = eased_reach(distance, limb.reach)
    # Nor does an elbow bend further than people's: near hands are eased away in the same way.
    soft = limb.reach * FOLDED * 0.15
    nearest = limb.reach * FOLDED + soft
    under = np.maximum(nearest - distance, 0.0)
    eased = np.where(under > 0, nearest - soft_excess(under, soft), eased)
    return np.asarray(place + unit(line) * eased[..., None])


def _wrists(shoulder: _Shoulder, hand: FloatArray, goal: ArmGoal, fps: float) -> FloatArray:
    """Return the wrists (F, 3) at which the hand touches its point, outside the body and calm."""
    wrist = goal.point - quaternions.rotate(hand, goal.touch)
    knuckles = quaternions.rotate(hand, 0.09 * hand_axes(shoulder.side)[0])
    tip = quaternions.rotate(hand, goal.tip)
    known = capsules()
    # One part after the other: where two push, the one nearer to the head has the last word.
    for name in (*TRUNK, "neck", "skull", "face"):
        for part, room in ((tip, TIP_RADIUS_M), (knuckles, KNUCKLE_RADIUS_M), (0.0, LIMB_RADIUS_M)):
            gap, away = away_from_capsule(known[name], shoulder.pose, wrist + part)
            wrist = wrist + np.maximum(room - gap, 0.0)[:, None] * away
    return _calmed(shoulder, wrist, fps)


def _pole(shoulder: _Shoulder, wrist: FloatArray, swivel: FloatArray) -> FloatArray:
    """Return where the elbow points (..., 3); swivel 0 is how a relaxed arm has it.

    ``wrist`` is (F, 3) and ``swivel`` (F,), in radians.
    """
    side = shoulder.side
    usual_arm = unit(in_body_axes(np.array([0.25, 0.85, -0.35]), side))
    usual_elbow = across(in_body_axes(np.array([0.45, -0.15, -1.0]), side), usual_arm)
    aim = quaternions.rotate(
        quaternions.conjugate(shoulder.chest), unit(wrist - shoulder.place)
    )
    swing = quaternions.multiply(shoulder.chest, quaternions.between(usual_arm, aim))
    first = quaternions.rotate(swing, usual_elbow)
    second = quaternions.cross(quaternions.rotate(swing, usual_arm), first)
    return np.asarray(np.cos(swivel)[..., None] * first + np.sin(swivel)[..., None] * second)


def _swivels(
    shoulder: _Shoulder, wrist: FloatArray, hand: FloatArray, goal: ArmGoal, fps: float
) -> FloatArray:
    """Choose the elbow's swivel (F,) by the cheapest smooth path through candidates."""
    frames = len(wrist)
    step = max(1, round(fps / SOLVE_RATE_HZ))
    chosen = np.unique(np.r_[np.arange(0, frames, step), frames - 1])
    part = _Shoulder(shoulder.place[chosen], shoulder.chest[chosen], shoulder.side, shoulder.limb,
                     GlobalPose(shoulder.pose.positions[chosen], shoulder.pose.rotations[chosen]))
    behind = np.broadcast_to(goal.behind, frames)
    cost = _swivel_costs(part, wrist[chosen], hand[chosen], goal.elbow[chosen], behind[chosen])
    path = np.unwrap(SWIVELS[_cheapest_path(cost, step / fps)])
    # The wider low-pass rounds off the steps between candidates, but makes elbows in haste late.
    calm, quick = (scipy.ndimage.gaussian_filter1d(path, samples, mode="nearest")
                   for samples in (1.6, 0.6))
    haste = _haste(goal.elbow[chosen], step / fps)
    return np.asarray(np.interp(np.arange(frames), chosen, calm + haste * (quick - calm)))


def _haste(hint: FloatArray, seconds: float) -> FloatArray:
    """Return the share (F,) of haste with which an elbow is told to go elsewhere, as in a flap."""
    if len(hint) < 2:
        return np.zeros(len(hint))
    rate = lengths(np.gradient(unit(hint), seconds, axis=0))
    beyond = np.clip((rate - HASTE_FROM) / HASTE_FROM, 0.0, 1.0)
    wide = scipy.ndimage.maximum_filter1d(beyond, 5, mode="nearest")
    return np.asarray(scipy.ndimage.gaussian_filter1d(wide, 1.6, mode="nearest"))


def _cheapest_path(cost: FloatArray, seconds: float) -> NDArray[np.intp]:
    """Dynamic programming over candidates (F, N): cost, plus squared turning speed."""
    turn = (SWIVELS[:, None] - SWIVELS[None] + np.pi) % (2 * np.pi) - np.pi
    # For each (radian a second) squared, in units of the candidates' costs.
    moving = 0.012 * (turn / seconds) ** 2
    total, came = cost[0], np.zeros(cost.shape, dtype=np.intp)
    for frame in range(1, len(cost)):
        through = total[None] + moving
        came[frame] = np.argmin(through, axis=1)
        total = through[np.arange(len(total)), came[frame]] + cost[frame]
    path = np.empty(len(cost), dtype=np.intp)
    path[-1] = np.argmin(total)
    for frame in range(len(cost) - 1, 0, -1):
        path[frame - 1] = came[frame, path[frame]]
    return path


def _swivel_costs(
    shoulder: _Shoulder, wrist: FloatArray, hand: FloatArray, hint: FloatArray, most: FloatArray
) -> FloatArray:
    """Return the costs (F, N) of the candidates: hint, twist, wrist, elbow's place, contact."""
    # One bent arm for each frame; all the others are that one, turned about its axis.
    first = _pole(shoulder, wrist, np.zeros(len(wrist)))
    near = _within_reach(shoulder.place, wrist, shoulder.limb)
    bent = bend(shoulder.limb, shoulder.place, near, first)
    place, near, hands = shoulder.place[:, None], near[:, None], hand[:, None]
    axis = unit(near - place)
    turns = quaternions.from_rotation_vectors(SWIVELS[:, None] * axis)
    pole = quaternions.rotate(turns, first[:, None])
    middle = place + quaternions.rotate(turns, bent.middle[:, None] - place)
    lower = quaternions.multiply(turns, quaternions.from_frames(bent.lower)[:, None])
    wanted = quaternions.rotate(shoulder.chest, hint)[:, None]
    # Of the hint only what is across the arm can be followed; it costs nothing where the elbow
    # points along it, and twice its length where it points the other way.
    aside = wanted - np.sum(wanted * axis, axis=-1, keepdims=True) * axis
    cost = 1.5 * (np.linalg.norm(aside, axis=-1) - np.sum(aside * pole, axis=-1))
    twist = np.abs(half_turn(forearm_twist(lower, hands) - NEUTRAL_TWIST_DEG))
    wrist_bend = wrist_angle(lower, hands, shoulder.side)
    # Squares weigh comfortable angles against one another; the steep lines after them are limits
    # that give way rather than leave no candidate.
    cost += (twist / 80) ** 2 + 4 * np.maximum(twist / 80 - 1, 0)
    cost += (wrist_bend / 45) ** 2 + 4 * np.maximum(wrist_bend / 60 - 1, 0)
    local = quaternions.rotate(
        quaternions.conjugate(shoulder.chest)[:, None], unit(middle - place)
    )
    behind = np.maximum(local[..., 1] - most[:, None], 0.0)
    inward = np.maximum(-local[..., 0] * shoulder.side - 0.35, 0.0)
    cost += 20 * behind**2 + 20 * inward**2
    bodies = [capsules()[name] for name in TRUNK]
    # At the elbow and half-way along the forearm: the wrist is kept out already.
    for share in (0.0, 0.5):
        points = middle + share * (near - middle)
        for body in bodies:
            gap, _ = away_from_capsule(body, shoulder.pose, points)
            cost += 3 * (np.maximum(LIMB_RADIUS_M - gap, 0.0) / 0.03) ** 2
    return np.asarray(cost)


def wrist_angle(forearm: FloatArray, hand: FloatArray, side: float) -> FloatArray:
    """Return how far the hand is bent from the forearm's line (...,), in degrees."""
    along = hand_axes(side)[0]
    cosine = np.sum(
        quaternions.rotate(forearm, along) * quaternions.rotate(hand, along), axis=-1
    )
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosine, -1.0, 1.0))))


def supination(degrees: FloatArray, axis: FloatArray = SIDEWAYS) -> FloatArray:
    """Return the rotations (..., 4) of hands at rest that turn their palms up from facing down."""
    return quaternions.from_rotation_vectors(-np.deg2rad(degrees)[..., None] * axis)


def forearm_twist(forearm: FloatArray, hand: FloatArray) -> FloatArray:
    """Return how far hands (..., 4) are turned palm up against untwisted forearms, in degrees.

    Within 180 degrees of the thumb-up middle; never unwrapped further.
    """
    relative = quaternions.multiply(quaternions.conjugate(forearm), hand)
    along, scalar = relative[..., 1].copy(), relative[..., 0].copy()
    degrees = -np.rad2deg(2 * np.arctan2(along, scalar))
    return np.asarray(NEUTRAL_TWIST_DEG + half_turn(degrees - NEUTRAL_TWIST_DEG))


def relaxed_hand(forearm: FloatArray) -> FloatArray:
    """Return the hand's rotations (..., 4) when nothing is asked of it."""
    return quaternions.multiply(forearm, supination(np.array(RELAXED_TWIST_DEG)))


def within_wrist(forearm: FloatArray, hand: FloatArray, fps: float) -> FloatArray:
    """Return hand rotations (F, 4) limited to what forearm and wrist can do, without snaps."""
    relative = quaternions.multiply(quaternions.conjugate(forearm), hand)
    around = quaternions.twist_about(relative, np.broadcast_to(SIDEWAYS, relative[..., 1:].shape))
    swing = quaternions.to_rotation_vectors(
        quaternions.multiply(relative, quaternions.conjugate(around))
    )
    angle = np.rad2deg(np.linalg.norm(swing, axis=-1, keepdims=True))
    # The wrist bends and the forearm twists: each has its own limit, so the two are parted first.
    swing = swing * np.minimum(1.0, WRIST_LIMIT_DEG / np.maximum(angle, 1e-9))
    twist = _steady_twist(forearm_twist(forearm, hand), fps)
    swing = scipy.ndimage.gaussian_filter1d(swing, WRIST_SMOOTHING_S * fps, axis=0, mode="nearest")
    return quaternions.multiply(
        forearm, quaternions.multiply(quaternions.from_rotation_vectors(swing), supination(twist))
    )


def _steady_twist(twist: FloatArray, fps: float) -> FloatArray:
    """Limit the forearm's twist (F,) in degrees.

    Beyond the limit it is not clear which way the forearm should turn: there it goes from what
    is asked before to what is asked after, and never snaps round.
    """
    off = twist - NEUTRAL_TWIST_DEG
    frames = np.arange(len(off))
    clear = np.abs(off) <= TWIST_LIMIT_DEG + 30.0
    if clear.any():
        off = np.interp(frames, frames[clear], off[clear])
    off = np.clip(off, -TWIST_LIMIT_DEG, TWIST_LIMIT_DEG)
    off = scipy.ndimage.gaussian_filter1d(off, WRIST_SMOOTHING_S * fps, mode="nearest")
    return np.asarray(NEUTRAL_TWIST_DEG + off)
