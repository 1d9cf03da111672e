"""Resolve collisions between the arms, and between the arms and the trunk.

Each arm and palm is a row of balls, as thick as the flesh and the clothes there. Where balls
overlap, the arms turn about their shoulders until they touch. The turns move the wrists as little
as possible: the elbow swings about the line from shoulder to wrist first, and away from the trunk
rather than towards it. Hands that hold one shaft move together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, unit
from mimegen.characters.character import Character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.rounding import STILL, rounded
from mimegen.readers.names import SIDES
from mimegen.retarget.anatomy import hand_axes
from mimegen.retarget.flesh import (
    ALONG,
    FleshTube,
    TubeAxes,
    forward_of,
    measured_tubes,
    stature,
    tube_axes,
)
from mimegen.retarget.hands import ARM, Touch, half_a_hand, has_arms
from mimegen.retarget.smoothing import smoothest
from mimegen.retarget.solving import solve_triples

# Balls of an arm: the bone (upper arm, forearm, palm) and the positions along it, 0 to 1.
PARTS = ((0, np.linspace(0.4, 0.9, 4)), (1, np.linspace(0.0, 1.0, 9)), (2, np.linspace(0.2, 1, 4)))
UPPER = 0
FOREARM = 1
PALM = 2
OF_BONE = np.repeat([bone for bone, _ in PARTS], [len(along) for _, along in PARTS])
# Pairs of a left and a right bone that are checked for collisions, in the order of solving.
PAIRS = ((1, 1), (0, 1), (1, 0), (0, 0))
HELD = np.reshape([pair in (*PAIRS, (PALM, PALM)) for pair in product(OF_BONE, repeat=2)],
                  (len(OF_BONE),) * 2)

@dataclass(frozen=True)
class ArmParameters:
    """How collisions of the arms with each other and with the trunk are resolved.

    Chosen by trial on the man, heavy people and the spacesuit, and checked over the library by
    ``benchmarks/hands.py --arms`` (``docs/research/people.md``).
    """

    # Pushes go across the bones: components along a bone, or along either axis of a palm, are
    # divided by 1 + flat. If two axes pass closer than about thin_m (m), the push goes along their
    # common perpendicular.
    flat: float = 10.0
    thin_m: float = 0.005
    # Arms that have passed through each other are pushed back to their own side, fully from this
    # depth (m) on.
    passed_m: float = 0.03
    # Number of rounds of pushes, and the largest turn (radians) of an arm in one push.
    rounds: int = 8
    most_turn: float = 0.35
    # Cost of moving a wrist, relative to moving an elbow: for a free hand, and the extra cost for
    # a hand that touches something. For arm against arm, palm against palm, and arm against trunk.
    from_arms: tuple[float, float] = (4.0, 2e4)
    from_palms: tuple[float, float] = (4.0, 0.0)
    from_trunk: tuple[float, float] = (8.0, 40.0)
    # Cost of changing the offset between the wrists of hands that hold one shaft.
    parting: float = 10000.0
    # Cost of any rotation (m2). Without it nearly straight arms would spin about their own axis.
    twist: float = 0.02
    # Relative extra cost of turning an arm straight into the trunk.
    inwards: float = 3.0
    # Depth (m) to which a forearm may lie in the trunk, because flesh yields; elbows of heavy
    # people swing out.
    forearm_gives_m: float = 0.04
    # The same for the four balls of an upper arm, from the shoulder on, if their radius is at least
    # thick_m (m). For each metre that a ball is thinner, it may lie ``thinner`` metres deeper.
    upper_arm_gives_m: tuple[float, ...] = (0.115, 0.07, 0.05, 0.04)
    thick_m: tuple[float, ...] = (0.090, 0.086, 0.079, 0.074)
    thinner: float = 3.5
    # An upper arm counts as reaching forward from this cosine with the forward direction on. One
    # that points sideways or back may lie deeper by beside_m (m). One whose hand holds one shaft
    # with the other hand, or is near it, may lie deeper by together_m (m): its hands would part.
    ahead: float = 0.4
    beside_m: float = 0.1
    together_m: float = 0.04
    # Damping (m2) of the least squares: limits turns where the pose hardly lets a push act.
    yields: float = 0.01
    # Cutoff (Hz) of the low-pass of turns, see `smoothest`, and the weight of not turning in frames
    # without a push; frames with a push have weight 1.
    settle_hz: float = 4.0
    free_of_pushes: float = 0.05
    # Turns are solved from this long (s) before the first touch to this long after the last.
    about_s: float = 1.0
    # Smaller turns (radians) are dropped.
    faint: float = 1e-3


ARMS = ArmParameters()


@dataclass(frozen=True)
class Arms:
    """Both arms in all frames.

    ``joints`` (F, 2, 4, 3) are shoulder, elbow, wrist and knuckles; ``wide`` (F, 2, 3) the vectors
    across the palms towards the thumb; ``radii`` (2, B) those of the balls; ``touch`` what the
    hands touch; ``hips`` (F, 3) the middle between the hip joints; ``dear`` the cost of moving
    wrists, as in `ArmParameters`.
    """

    joints: FloatArray
    wide: FloatArray
    radii: FloatArray
    touch: Touch
    hips: FloatArray
    dear: tuple[float, float] = ARMS.from_arms

    def balls(self) -> FloatArray:
        """Return the centres (F, 2, B, 3) of the balls."""
        bones = np.diff(self.joints, axis=2)
        return np.concatenate([self.joints[:, :, [bone]] + along[:, None] * bones[:, :, [bone]]
                               for bone, along in PARTS], axis=2)

    def depths(self) -> FloatArray:
        """Return how deep (F, B, B) each left ball overlaps each right one, in metres.

        It is 0 without an overlap, and for pairs of balls that are not checked.
        """
        left, right = np.moveaxis(self.balls(), 1, 0)
        squares = (np.sum(left**2, axis=2)[:, :, None] + np.sum(right**2, axis=2)[:, None]
                   - 2 * np.einsum("fax,fbx->fab", left, right))
        reach = HELD * (self.radii[0][:, None] + self.radii[1])
        return np.asarray(np.maximum(reach - np.sqrt(np.maximum(squares, 0.0)), 0.0))

    def turned(self, turns: FloatArray) -> "Arms":
        """Return the arms turned by rotation vectors (F, 2, 3) about their shoulders.

        Palms move with the wrists but keep their rotation.
        """
        shoulders, palms = self.joints[:, :, :1], self.joints[:, :, 3] - self.joints[:, :, 2]
        spins = quaternions.from_rotation_vectors(turns)[:, :, None]
        joints = shoulders + quaternions.rotate(spins, self.joints - shoulders)
        joints[:, :, 3] = joints[:, :, 2] + palms
        return replace(self, joints=joints)

    def eased(self, frames: NDArray[np.intp], places: FloatArray,
              ways: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the cheapest rotation vectors (N, 2, 3) that move the arms along ``ways``.

        They answer a unit force along ``ways`` (N, 2, 3) at ``places`` (N, 2, 3), one on each arm.
        Also return how far (N,) the points then move along ``ways``, summed over both arms.
        """
        costs = self._costs(frames, places, ways)
        levers = quaternions.cross(places - self.joints[frames, :, 0], ways)
        turns = np.stack([solve_triples(costs[:, side], levers[:, side])
                          for side in range(len(SIDES))], axis=1)
        turns = turns - self._parting(frames, costs, turns)
        return turns, np.sum(levers * turns, axis=(1, 2))

    def _costs(self, frames: NDArray[np.intp], places: FloatArray,
               ways: FloatArray) -> FloatArray:
        """Return the cost matrices (N, 2, 3, 3) of turns, raised for turns into the trunk."""
        joints, firm = self.joints[frames], self.touch.firm[frames]
        elbow, wrist = (joints[:, :, part] - joints[:, :, 0] for part in (1, 2))
        free, firmly = self.dear
        dear = (free + firmly * firm**4)[..., None, None]
        costs = _swings(elbow) + dear * _swings(wrist) + ARMS.twist * np.eye(3)
        out = np.stack([self._outwards(frames, places[:, side]) for side in range(len(SIDES))],
                       axis=1)
        inwards = np.maximum(-np.sum(out * ways, axis=2), 0.0)
        return np.asarray(costs * (1 + ARMS.inwards * inwards)[..., None, None])

    def _parting(self, frames: NDArray[np.intp], costs: FloatArray,
                 turns: FloatArray) -> FloatArray:
        """Return the part of turns (N, 2, 3) that would part hands that hold one shaft."""
        found, held = np.zeros_like(turns), self.touch.held[frames]
        pairs = np.flatnonzero(held > 0)
        wrists = self.joints[frames[pairs], :, 2] - self.joints[frames[pairs], :, 0]
        wrists, costs = wrists * np.array([1.0, -1.0])[:, None], costs[pairs]

        def parted(turns: FloatArray) -> FloatArray:
            return np.asarray(quaternions.cross(turns, wrists).sum(axis=1))

        def eased(forces: FloatArray) -> FloatArray:
            return np.stack([solve_triples(costs[:, side], quaternions.cross(
                wrists[:, side], forces)) for side in range(len(SIDES))], axis=1)

        gives = np.stack([parted(eased(np.broadcast_to(way, (len(pairs), 3))))
                          for way in np.eye(3)], axis=2)
        loose = 1 / (ARMS.parting * held[pairs] ** 2)
        forces = solve_triples(gives + loose[:, None, None] * np.eye(3), parted(turns[pairs]))
        found[pairs] = eased(forces)
        return found

    def _outwards(self, frames: NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return unit vectors (N, 3) from the trunk's axis to places (N, 3), square to the axis."""
        hips = self.hips[frames]
        up = unit(self.joints[frames, :, 0].mean(axis=1) - hips)
        out = places - hips
        return unit(out - np.sum(out * up, axis=1, keepdims=True) * up)


def _swings(arms: FloatArray) -> FloatArray:
    """Return matrices M (..., 3, 3) for the ends of arms (..., 3), given from the shoulder.

    A small rotation vector r moves an end by a squared distance of r' M r.
    """
    return np.asarray(np.sum(arms**2, axis=-1)[..., None, None] * np.eye(3)
                      - arms[..., :, None] * arms[..., None, :])


@dataclass(frozen=True)
class Trunk:
    """The trunk's tube, and the depths (F, 2, B) in it that are ``allowed`` to balls of the arms.

    Allowed is the depth before any push, but no more than the flesh yields. ``dear`` is the cost of
    moving wrists to bring arms out of the trunk.
    """

    tube: FleshTube
    axes: TubeAxes
    allowed: FloatArray
    dear: tuple[float, float]

    @staticmethod
    def of(motion: Motion, character: Character, joints: Mapping[str, int],
           arms: Arms) -> "Trunk":
        """Return the trunk of a character in a motion."""
        pose = motion.global_pose
        axes = tube_axes(pose.positions, pose.rotations[:, joints["head"]], joints,
                         stature(character.skeleton, joints))["trunk"]
        tube = measured_tubes(character, tuple(sorted(joints.items())))["trunk"]
        soft = bool(character.soft)
        trunk = Trunk(tube, axes, np.zeros((1, 1, 1)), ARMS.from_trunk if soft else ARMS.from_arms)
        return replace(trunk, allowed=np.minimum(trunk.depths(arms)[0], trunk.gives(arms, soft)))

    def gives(self, arms: Arms, soft: bool) -> FloatArray:
        """Return the depths (F, 2, B), in metres, to which the trunk yields to balls of the arms.

        Thick upper arms may lie less deep than thin ones; upper arms that do not reach forward may
        lie deeper, because there is room beside the trunk. If the character is not ``soft``, as in
        a spacesuit, only forearms are limited. Palms are never limited.
        """
        found = np.full((len(arms.joints), len(SIDES), len(OF_BONE)), np.inf)
        found[:, :, OF_BONE == FOREARM] = ARMS.forearm_gives_m
        if not soft:
            return found
        upper = OF_BONE == UPPER
        bones = unit(arms.joints[:, :, 1] - arms.joints[:, :, 0])
        ahead = np.einsum("fax,fx->fa", bones, forward_of(self.axes))
        aside = np.clip(1 - ahead / ARMS.ahead, 0.0, 1.0)
        both = ARMS.together_m * np.maximum(arms.touch.held, arms.touch.joined)
        thinner = np.maximum(ARMS.thick_m - arms.radii[:, upper], 0.0)
        found[:, :, upper] = (ARMS.upper_arm_gives_m + ARMS.thinner * thinner
                              + ARMS.beside_m * aside[..., None] + both[:, None, None])
        return found

    def depths(self, arms: Arms) -> tuple[FloatArray, FloatArray]:
        """Return the depths (F, 2, B) beyond those allowed, and the directions out (F, 2, B, 3)."""
        balls = arms.balls()
        place = self.tube.found(balls.reshape(len(balls), -1, 3), self.axes)
        _, ways = self.tube.point(place, self.axes)
        depths = arms.radii - place.off.reshape(balls.shape[:3])
        return np.maximum(depths - self.allowed, 0.0), ways.reshape(balls.shape)


def with_arms_apart(motion: Motion, character: Character, joints: Mapping[str, int],
                    touch: Touch, before: Motion | None = None) -> Motion:
    """Return the motion with arms turned smoothly out of each other and of the trunk.

    Hands that ``touch`` something stay where they are; hands that hold one shaft move together.
    ``before`` is a motion whose arms are already apart: if no arm has moved since in a frame with a
    collision, the motion is returned unchanged.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    radii = radii_of(character, joints)
    moved = np.ones(motion.frames, bool) if before is None else arms_moved(before, motion, joints)
    if not moved.any():
        return motion
    arms = arms_of(motion, joints, radii, touch)
    touches = arms.depths().any(axis=(1, 2))
    # Finding collisions is cheap; turns are solved only for the frames around them.
    touches |= Trunk.of(motion, character, joints, arms).depths(arms)[0].any(axis=(1, 2))
    if not (touches & moved).any():
        return motion
    touching = np.flatnonzero(touches)
    about = round(ARMS.about_s * motion.fps)
    frames = np.arange(max(touching[0] - about, 0), min(touching[-1] + about + 1, motion.frames))
    part = motion.at(frames)
    arms = arms_of(part, joints, radii, touch.at(frames))
    turns = turns_of(arms, Trunk.of(part, character, joints, arms), motion.fps)
    return _turned(motion, joints, frames, turns)


def arms_moved(before: Motion, motion: Motion, joints: Mapping[str, int]) -> NDArray[np.bool_]:
    """Return a mask (F,) of the frames in which an elbow or a wrist differs from ``before``."""
    ends = [joints[f"{side}_{part}"] for side in SIDES for part in ARM[1:]]
    ways = motion.global_pose.positions[:, ends] - before.global_pose.positions[:, ends]
    return np.asarray((lengths(ways) > STILL).any(axis=1))


def arms_of(motion: Motion, joints: Mapping[str, int], radii: FloatArray,
            touch: Touch) -> Arms:
    """Return both arms of a motion; ``radii`` (2, B) are those of their balls."""
    pose, heads = motion.global_pose, motion.skeleton.heads
    chains = [[joints[f"{side}_{part}"] for part in ARM] for side in SIDES]
    hips = pose.positions[:, [joints[f"{side}_thigh"] for side in SIDES]].mean(axis=1)
    wrists = [chain[-1] for chain in chains]
    palms = np.array([palm_of(heads, joints, side) for side in SIDES])
    ways = quaternions.rotate(pose.rotations[:, wrists][:, :, None], palms)
    knuckles = pose.positions[:, wrists] + ways[:, :, 0]
    return Arms(np.concatenate([pose.positions[:, chains], knuckles[:, :, None]], axis=2),
                ways[:, :, 1], radii, touch, hips)


def palm_of(heads: FloatArray, joints: Mapping[str, int], side: str) -> FloatArray:
    """Return two vectors (2, 3) at rest: from wrist to knuckles, and across the palm to the thumb.

    Both are zero if the skeleton has no fingers.
    """
    axes = hand_axes(heads, joints, side)
    if axes is None or (knuckle := joints.get(f"{side}_middle1")) is None:
        return np.zeros((2, 3))
    along = heads[knuckle] - heads[joints[f"{side}_hand"]]
    return np.stack([along, np.cross(along, axes[1])])


def turns_of(arms: Arms, trunk: Trunk, fps: float) -> FloatArray:
    """Return the smooth rotations (F, 2, 4) about the shoulders that resolve all collisions."""
    turns = np.broadcast_to(quaternions.IDENTITY, (*arms.touch.firm.shape, 4))
    for _ in range(ARMS.rounds):
        pushes = turns_apart(arms, trunk)
        weights = np.maximum(pushes.any(axis=2), ARMS.free_of_pushes)
        smooth = np.stack([smoothest(pushes[:, side], weights[:, side], fps, ARMS.settle_hz)
                           for side in range(len(SIDES))], axis=1)
        smooth = np.where(lengths(smooth)[..., None] > ARMS.faint, smooth, 0.0)
        if not smooth.any():
            break
        arms = arms.turned(smooth)
        turns = quaternions.multiply(quaternions.from_rotation_vectors(smooth), turns)
    return turns


def radii_of(character: Character, joints: Mapping[str, int]) -> FloatArray:
    """Return the radii (2, B) of both arms' balls, halfway between mean and largest flesh radius.
    """
    tubes = measured_tubes(character, tuple(sorted(joints.items())))
    grid = np.linspace(0, 1, ALONG)
    thick = {name: (tube.radii.mean(axis=1) + tube.radii.max(axis=1)) / 2
             for name, tube in tubes.items()}
    return np.array([np.concatenate([*(np.interp(along, grid, thick[f"{side}_{ARM[bone]}"])
                                       for bone, along in PARTS[:PALM]),
                                     half_a_palm(character, joints, side)]) for side in SIDES])


def half_a_palm(character: Character, joints: Mapping[str, int], side: str) -> FloatArray:
    """Return half the palm's thickness (m) for each of its balls, zeros without finger joints."""
    heads, axes = character.skeleton.heads, hand_axes(character.skeleton.heads, joints, side)
    along, _ = palm_of(heads, joints, side)
    if axes is None or not along.any():
        return np.zeros(len(PARTS[PALM][1]))
    wrist = joints[f"{side}_hand"]
    half = half_a_hand(character, wrist, heads[wrist] + 0.7 * along, axes[1])
    return np.full(len(PARTS[PALM][1]), half)


def turns_apart(arms: Arms, trunk: Trunk) -> FloatArray:
    """Return the rotation vectors (F, 2, 3) about the shoulders of one round of pushes.

    The order is: each pair of bones, then the palms, then each arm out of the trunk. Palms move
    even if they touch something, but not if both hands hold one shaft.
    """
    found = np.zeros((*arms.touch.firm.shape, 3))
    # Forearms first: they move most for a small turn of the arm, which often frees upper arms too.
    for left, right in PAIRS:
        turns = ArmContact.of(arms, left, right).turns(arms)
        found, arms = found + turns, arms.turned(turns)
    turns = ArmContact.of(arms, PALM, PALM).turns(replace(arms, dear=ARMS.from_palms))
    # Both hands on one shaft lie close by intent.
    turns = turns * (1 - arms.touch.held)[:, None, None]
    arms = replace(arms.turned(turns), dear=trunk.dear)
    return found + turns + turns_out(arms, trunk)


def turns_out(arms: Arms, trunk: Trunk) -> FloatArray:
    """Return the rotation vectors (F, 2, 3) about the shoulders that push arms out of the trunk."""
    depths, ways = trunk.depths(arms)
    balls, found = arms.balls(), np.zeros((*arms.touch.firm.shape, 3))
    for side in range(len(SIDES)):
        frames = np.flatnonzero(depths[:, side].any(axis=1))
        deep, way, own = (values[frames, side] for values in (depths, ways, balls))
        shares = deep**2 / np.maximum(np.sum(deep**2, axis=1, keepdims=True), 1e-12)
        both = np.zeros((2, len(frames), len(SIDES), 3))
        both[:, :, side] = [np.einsum("nb,nbx->nx", shares, each) for each in (own, way)]
        turns, gain = arms.eased(frames, both[0], both[1])
        # Damped least squares: without damping, turns would be unbounded where the pose lets the
        # push hardly act.
        share = deep.max(axis=1, initial=0.0) / (gain + ARMS.yields)
        found[frames] += held(turns * share[:, None, None])
    return found


def held(turns: FloatArray) -> FloatArray:
    """Return rotation vectors (..., 3) shortened to at most ``ARMS.most_turn``."""
    far = np.maximum(lengths(turns)[..., None], ARMS.most_turn)
    return np.asarray(turns * (ARMS.most_turn / far))


class ArmContact(NamedTuple):
    """A collision of a left and a right bone in some ``frames`` (N,), and how ``deep`` (N,) it is.

    ``places`` (N, 2, 3) are points of the left and the right arm at which pushes act; for palms
    these are the wrists. ``way`` (N, 3) is the direction that takes the left arm out of the right.
    """

    frames: NDArray[np.intp]
    places: FloatArray
    way: FloatArray
    deep: FloatArray

    @staticmethod
    def of(arms: Arms, left: int, right: int) -> "ArmContact":
        """Return the collision of a left with a right bone, as the mean of their balls by depth."""
        depths = arms.depths() * np.outer(left == OF_BONE, right == OF_BONE)
        frames = np.flatnonzero(depths.any(axis=(1, 2)))
        depths = depths[frames]
        # Squared depths as weights: the deepest balls dominate, and yet the point moves smoothly
        # from ball to ball as the arms move past each other.
        shares = depths**2 / np.maximum(np.sum(depths**2, axis=(1, 2), keepdims=True), 1e-12)
        each = np.stack([shares.sum(axis=2), shares.sum(axis=1)], axis=1)
        places = np.einsum("fab,fabx->fax", each, arms.balls()[frames])
        bones = unit(np.diff(arms.joints[frames], axis=2))
        along = [bones[:, 0, left], bones[:, 1, right]]
        if left == PALM == right:
            along[1:1] = np.moveaxis(unit(arms.wide[frames]), 1, 0)
        way, ahead = _ways(frames, places, np.stack(along, axis=1))
        deep = depths.max(axis=(1, 2), initial=0.0)
        if left == PALM == right:
            places = arms.joints[frames, :, 2]
        # Arms that have passed through each other go back by twice that distance: to the side that
        # they came from, and out on it.
        passed = np.maximum(-2 * ahead, 0.0) * np.minimum(deep / ARMS.passed_m, 1.0)
        return ArmContact(frames, places, way, deep + passed)

    def turns(self, arms: Arms) -> FloatArray:
        """Return the rotation vectors (F, 2, 3) about the shoulders that resolve the collision."""
        found = np.zeros((*arms.touch.firm.shape, 3))
        turns, gain = arms.eased(self.frames, self.places,
                                 np.stack([self.way, -self.way], axis=1))
        found[self.frames] = held(turns * (self.deep / (gain + ARMS.yields))[:, None, None])
        return found


def _ways(frames: NDArray[np.intp], places: FloatArray,
          along: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions (N, 3) that take left points out of right ones, at places (N, 2, 3).

    They are nearly perpendicular to all bones ``along`` (N, 2 or more, 3), above all to the first
    two, and stay on one side for as long as the arms overlap. Also return how far (N,) the left
    point lies to that side of the right one, in metres; negative if the arms have passed.
    """
    apart = places[:, 0] - places[:, 1]
    # The shortest way between two lines is perpendicular to both.
    across = quaternions.cross(along[:, 0], along[:, 1])
    facing = np.where(np.sum(across * apart, axis=1) < 0, -1.0, 1.0)[:, None]
    # Solving with this keeps the component across the bones, and 1 / (1 + flat) of that along them.
    flat = np.eye(3) + ARMS.flat * np.einsum("nax,nay->nxy", along, along)
    # Where the axes nearly meet, ``apart`` vanishes and the common perpendicular takes over.
    ways = unit(solve_triples(flat, apart) + ARMS.thin_m * facing * across)
    # A direction that reverses from one frame to the next is the same axis with the other sign. The
    # sign that leads out is chosen over a whole run of frames, as arms may pass within it.
    follows = np.diff(frames, prepend=-2) == 1
    back = np.concatenate([np.zeros(1, bool), np.sum(ways[1:] * ways[:-1], axis=1) < 0])[:len(ways)]
    ways = ways * np.where(follows & back, -1.0, 1.0).cumprod()[:, None]
    ahead = np.sum(ways * apart, axis=1)
    meeting = np.cumsum(~follows)
    # Summed with the distance of the axes, so that frames in which they nearly meet count least.
    side = np.where(np.bincount(meeting, ahead, 1) < 0, -1.0, 1.0)[meeting]
    return side[:, None] * ways, side * ahead


def _turned(motion: Motion, joints: Mapping[str, int], frames: NDArray[np.intp],
            turns: FloatArray) -> Motion:
    """Return the motion with upper arms and forearms turned by (N, 2, 4) in some frames (N,).

    Hands keep their global rotations.
    """
    moved = turns[..., 1:].any(axis=(1, 2))
    if not moved.any():
        return motion
    frames, turns = frames[moved], turns[moved]
    part = motion.at(frames)
    whole = part.global_pose.rotations.copy()
    for number, side in enumerate(SIDES):
        bones = [joints[f"{side}_{bone}"] for bone in ARM[:2]]
        whole[:, bones] = quaternions.multiply(turns[:, number, None], whole[:, bones])
    rotations = motion.rotations.copy()
    rotations[frames] = rounded(Motion.from_global_rotations(
        part.skeleton, part.fps, part.root_positions, whole)).rotations
    return Motion(motion.skeleton, motion.fps, motion.root_positions,
                  quaternions.without_flips(rotations))
