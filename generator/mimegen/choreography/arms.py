"""Arms: collar bone, elbow swivel, forearm twist and wrist, for all frames at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.angles import wrapped_deg
from mimegen.base.easing import soft_excess
from mimegen.base.vectors import lengths, unit
from mimegen.choreography.body import away_from_capsule, capsules, hand_axes
from mimegen.choreography.places import LEFT, in_body_axes
from mimegen.choreography.timing import widened
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.limbs import Limb, across, bend, eased_reach
from mimegen.motion.motion import GlobalPose
from mimegen.motion.quaternions import FloatArray

# Forearm twist from rest, where the palm faces down: at the middle of the range (thumb up), and of
# a relaxed hand. The twist limit counts from the middle.
NEUTRAL_TWIST_DEG = 85.0
RELAXED_TWIST_DEG = 65.0
TWIST_LIMIT_DEG = 92.0
WRIST_LIMIT_DEG = 66.0
WRIST_SMOOTHING_S = 0.02
# Farther from the shoulder than this fraction of the arm's length, a wrist counts as out of reach.
EXTENDED = 0.985
# A wrist comes no nearer than this fraction: the elbow is then bent by about 155 degrees.
FOLDED = 0.2
# A wrist that passes close to the shoulder swings the arm round fast. From HURRIED_DEG_S on, and
# fully at twice that, its direction is smoothed by a Gaussian of CALMED_S, in CALMED_ROUNDS passes.
HURRIED_DEG_S = 900.0
CALMED_S = 0.05
CALMED_ROUNDS = 8
FOREARM_SHARE_OF_TWIST = 0.6
# Candidates for the elbow's swivel, in radians, and the rate at which one of them is chosen.
SWIVELS = np.deg2rad(np.arange(-180.0, 180.0, 7.5))
SOLVE_RATE_HZ = 20.0
# From this turning speed of its hint (radians per second) an elbow's path is smoothed less, least
# at twice that.
HASTE_FROM = 3.0
TRUNK = ("pelvis", "waist", "ribs", "upper_chest")
# How far wrist and forearm, knuckles and fingertips stay outside the body's capsules, in metres.
LIMB_RADIUS_M = 0.035
KNUCKLE_RADIUS_M = 0.012
TIP_RADIUS_M = -0.004
# Largest backward part of the upper arm's direction, as a fraction of its length.
BEHIND = 0.45
# Axis along which hands at rest lie, on both sides.
SIDEWAYS = np.array([1.0, 0.0, 0.0])


class ArmGoal(NamedTuple):
    """The goal of one arm.

    ``point`` (F, 3) is the target of the hand's touching point. ``touch`` (F, 3) is that point and
    ``tip`` (F, 3) the middle finger's tip, both relative to the wrist, in the hand's frame, metres.
    ``orient`` returns the hand's rotations (F, 4), given those of a relaxed hand (F, 4). ``elbow``
    (F, 3) is the direction in which the elbow should point, in chest axes; its length is its
    weight. ``behind`` (F,) is the largest backward part of the upper arm's direction.
    """

    point: FloatArray
    touch: FloatArray
    tip: FloatArray
    orient: Callable[[FloatArray], FloatArray]
    elbow: FloatArray
    behind: FloatArray | float = BEHIND


class Arm(NamedTuple):
    """A solved arm: global rotations (F, 4) by joint name.

    ``short`` (F, 3) is the vector in metres, away from the shoulder, by which the arm is too short.
    ``pushed`` (F, 3) is the displacement in metres by which the body keeps the hand off its target.
    """

    rotations: dict[str, FloatArray]
    short: FloatArray
    pushed: FloatArray

    @property
    def short_by(self) -> FloatArray:
        """By how much the arm is too short (F,), in metres."""
        return np.asarray(np.linalg.norm(self.short, axis=-1))


class _Shoulder(NamedTuple):
    """An arm's root: its position (F, 3), the chest's rotation (F, 4), the arm's side and bones."""

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

    It rises and comes forward with the arm (scapulohumeral rhythm, Inman 1944). ``toward`` (F, 3)
    leads from the shoulder to the hand, in arm lengths. ``shrug`` (F, 2) is added: degrees up and
    forward.
    """
    local = quaternions.rotate(quaternions.conjugate(chest), toward) * np.array([side, -1, 1])
    far = np.clip(np.linalg.norm(local, axis=-1), 0.0, 1.15)
    aim = unit(local)
    # A raised arm lifts the collar bone far more than a hanging one lowers it.
    up = np.where(aim[:, 2] > 0, 23.0, 6.0) * aim[:, 2] * far + shrug[:, 0]
    forward = np.clip(16.0 * aim[:, 1] * far - 4.0 * aim[:, 0], -12, 16) + shrug[:, 1]
    # If the target is ahead and out of reach, the collar bone comes forward: people reach with
    # their shoulders.
    forward = forward + 45.0 * np.clip(far - 1.0, 0.0, 0.15) * np.clip(aim[:, 1], 0, 1)
    vectors = np.zeros((len(chest), 3))
    vectors[:, 1] = -side * np.deg2rad(up)
    vectors[:, 2] = -side * np.deg2rad(forward)
    return quaternions.multiply(chest, quaternions.from_rotation_vectors(vectors))


def solve_arm(
    skeleton: Skeleton, pose: GlobalPose, side: str, goal: ArmGoal, shrug: FloatArray, fps: float
) -> Arm:
    """Return one arm solved for its goal.

    ``pose`` is the global pose with everything but the arms in place; ``shrug`` (F, 2) raises the
    shoulder and draws it forward, in degrees.
    """
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
    hand, wrist, swivel = _solve_wrist(shoulder, goal, fps)
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


def _solve_wrist(
    shoulder: _Shoulder, goal: ArmGoal, fps: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return hand rotations (F, 4), wrist positions (F, 3) and elbow swivels (F,) by iteration.

    Each of the three depends on the other two.
    """
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


def _smoothed(shoulder: _Shoulder, wrist: FloatArray, fps: float) -> FloatArray:
    """Smooth the directions of wrists (F, 3) that rush past the shoulder; distances stay."""
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
    # An elbow does not fold completely either: wrists that are too near are eased outwards.
    soft = limb.reach * FOLDED * 0.15
    nearest = limb.reach * FOLDED + soft
    under = np.maximum(nearest - distance, 0.0)
    eased = np.where(under > 0, nearest - soft_excess(under, soft), eased)
    return np.asarray(place + unit(line) * eased[..., None])


def _wrists(shoulder: _Shoulder, hand: FloatArray, goal: ArmGoal, fps: float) -> FloatArray:
    """Return the wrist positions (F, 3) that bring the touching point to its target.

    They are kept outside the body and smoothed where they rush past the shoulder.
    """
    wrist = goal.point - quaternions.rotate(hand, goal.touch)
    knuckles = quaternions.rotate(hand, 0.09 * hand_axes(shoulder.side)[0])
    tip = quaternions.rotate(hand, goal.tip)
    known = capsules()
    # The parts push one after the other: if two conflict, the one nearer to the head wins.
    for name in (*TRUNK, "neck", "skull", "face"):
        for part, room in ((tip, TIP_RADIUS_M), (knuckles, KNUCKLE_RADIUS_M), (0.0, LIMB_RADIUS_M)):
            gap, away = away_from_capsule(known[name], shoulder.pose, wrist + part)
            wrist = wrist + np.maximum(room - gap, 0.0)[:, None] * away
    return _smoothed(shoulder, wrist, fps)


def _pole(shoulder: _Shoulder, wrist: FloatArray, swivel: FloatArray) -> FloatArray:
    """Return the direction in which the elbow points (..., 3); swivel 0 is that of a relaxed arm.

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
    # The wider low-pass removes the steps between candidates, but would delay fast elbows.
    calm, quick = (scipy.ndimage.gaussian_filter1d(path, samples, mode="nearest")
                   for samples in (1.6, 0.6))
    haste = _haste(goal.elbow[chosen], step / fps)
    return np.asarray(np.interp(np.arange(frames), chosen, calm + haste * (quick - calm)))


def _haste(hint: FloatArray, seconds: float) -> FloatArray:
    """Return how fast (F,) the elbow's hint turns, as in flapping: 0 below HASTE_FROM, up to 1."""
    if len(hint) < 2:
        return np.zeros(len(hint))
    rate = lengths(np.gradient(unit(hint), seconds, axis=0))
    beyond = np.clip((rate - HASTE_FROM) / HASTE_FROM, 0.0, 1.0)
    wide = scipy.ndimage.maximum_filter1d(beyond, 5, mode="nearest")
    return np.asarray(scipy.ndimage.gaussian_filter1d(wide, 1.6, mode="nearest"))


def _cheapest_path(cost: FloatArray, seconds: float) -> NDArray[np.intp]:
    """Return each frame's candidate (F,) on the cheapest path, by dynamic programming.

    A path costs its candidates' ``cost`` (F, N) plus the weighted square of its turning speed;
    ``seconds`` is the time between frames.
    """
    turn = (SWIVELS[:, None] - SWIVELS[None] + np.pi) % (2 * np.pi) - np.pi
    # Cost of turning: 0.012 for each (radian per second) squared.
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
    """Return the costs (F, N) of the candidates.

    They add up: deviation from the hint, forearm twist, wrist bend, elbow position, body contact.
    """
    # Bend one arm per frame; the other candidates are that arm turned about its axis.
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
    # Only the part of the hint across the arm can be followed. It costs nothing if the elbow points
    # along it, and twice its length (times 1.5) if the elbow points the opposite way.
    aside = wanted - np.sum(wanted * axis, axis=-1, keepdims=True) * axis
    cost = 1.5 * (np.linalg.norm(aside, axis=-1) - np.sum(aside * pole, axis=-1))
    twist = np.abs(wrapped_deg(forearm_twist(lower, hands) - NEUTRAL_TWIST_DEG))
    wrist_bend = wrist_angle(lower, hands, shoulder.side)
    # Squares weigh comfortable angles against one another; the steep linear terms are soft limits,
    # so that a candidate always remains.
    cost += (twist / 80) ** 2 + 4 * np.maximum(twist / 80 - 1, 0)
    cost += (wrist_bend / 45) ** 2 + 4 * np.maximum(wrist_bend / 60 - 1, 0)
    local = quaternions.rotate(
        quaternions.conjugate(shoulder.chest)[:, None], unit(middle - place)
    )
    behind = np.maximum(local[..., 1] - most[:, None], 0.0)
    inward = np.maximum(-local[..., 0] * shoulder.side - 0.35, 0.0)
    cost += 20 * behind**2 + 20 * inward**2
    bodies = [capsules()[name] for name in TRUNK]
    # Test the elbow and the middle of the forearm; the wrist is already kept outside.
    for share in (0.0, 0.5):
        points = middle + share * (near - middle)
        for body in bodies:
            gap, _ = away_from_capsule(body, shoulder.pose, points)
            cost += 3 * (np.maximum(LIMB_RADIUS_M - gap, 0.0) / 0.03) ** 2
    return np.asarray(cost)


def wrist_angle(forearm: FloatArray, hand: FloatArray, side: float) -> FloatArray:
    """Return the angle (...,) between the hand and the line of the forearm, in degrees."""
    along = hand_axes(side)[0]
    cosine = np.sum(
        quaternions.rotate(forearm, along) * quaternions.rotate(hand, along), axis=-1
    )
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosine, -1.0, 1.0))))


def supination(degrees: FloatArray, axis: FloatArray = SIDEWAYS) -> FloatArray:
    """Return the rotations (..., 4) that turn a resting hand by ``degrees`` towards palm up."""
    return quaternions.from_rotation_vectors(-np.deg2rad(degrees)[..., None] * axis)


def forearm_twist(forearm: FloatArray, hand: FloatArray) -> FloatArray:
    """Return the twist of hands (..., 4) against untwisted forearms, in degrees towards palm up.

    Values lie within 180 degrees of NEUTRAL_TWIST_DEG and are not unwrapped over time.
    """
    relative = quaternions.multiply(quaternions.conjugate(forearm), hand)
    along, scalar = relative[..., 1].copy(), relative[..., 0].copy()
    degrees = -np.rad2deg(2 * np.arctan2(along, scalar))
    return np.asarray(NEUTRAL_TWIST_DEG + wrapped_deg(degrees - NEUTRAL_TWIST_DEG))


def relaxed_hand(forearm: FloatArray) -> FloatArray:
    """Return the rotations (..., 4) of relaxed hands on forearms (..., 4)."""
    return quaternions.multiply(forearm, supination(np.array(RELAXED_TWIST_DEG)))


def within_wrist(forearm: FloatArray, hand: FloatArray, fps: float) -> FloatArray:
    """Return hand rotations (F, 4) limited to the ranges of forearm and wrist, without jumps."""
    relative = quaternions.multiply(quaternions.conjugate(forearm), hand)
    around = quaternions.twist_about(relative, np.broadcast_to(SIDEWAYS, relative[..., 1:].shape))
    swing = quaternions.to_rotation_vectors(
        quaternions.multiply(relative, quaternions.conjugate(around))
    )
    angle = np.rad2deg(np.linalg.norm(swing, axis=-1, keepdims=True))
    # The wrist bends and the forearm twists. Each has its own limit, so they are separated first.
    swing = swing * np.minimum(1.0, WRIST_LIMIT_DEG / np.maximum(angle, 1e-9))
    twist = _steady_twist(forearm_twist(forearm, hand), fps)
    swing = scipy.ndimage.gaussian_filter1d(swing, WRIST_SMOOTHING_S * fps, axis=0, mode="nearest")
    return quaternions.multiply(
        forearm, quaternions.multiply(quaternions.from_rotation_vectors(swing), supination(twist))
    )


def _steady_twist(twist: FloatArray, fps: float) -> FloatArray:
    """Limit the forearm's twist (F,) in degrees.

    More than 30 degrees beyond the limit it is ambiguous which way the forearm should turn: those
    frames are interpolated between the clear ones before and after, so that it never snaps round.
    """
    off = twist - NEUTRAL_TWIST_DEG
    frames = np.arange(len(off))
    clear = np.abs(off) <= TWIST_LIMIT_DEG + 30.0
    if clear.any():
        off = np.interp(frames, frames[clear], off[clear])
    off = np.clip(off, -TWIST_LIMIT_DEG, TWIST_LIMIT_DEG)
    off = scipy.ndimage.gaussian_filter1d(off, WRIST_SMOOTHING_S * fps, mode="nearest")
    return np.asarray(NEUTRAL_TWIST_DEG + off)
