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
from mimegen.retarget.flesh import (
    ALONG,
    FleshTube,
    TubeAxes,
    forward_of,
    measured_tubes,
    stature,
    tube_axes,
)
from mimegen.retarget.hands import (
    ARM,
    HANDS,
    Touch,
    arms_bent,
    hands_in,
    has_arms,
    smoothed_shifts,
    wrists_of,
)
from mimegen.retarget.solving import solve_triples

# Balls of an arm: the bone (upper arm, forearm, palm) and the positions along it, 0 to 1.
PARTS = ((0, np.linspace(0.4, 0.9, 4)), (1, np.linspace(0.0, 1.0, 9)), (2, np.linspace(0.2, 1, 4)))
UPPER = 0
FOREARM = 1
PALM = 2
OF_BONE = np.repeat([bone for bone, _ in PARTS], [len(along) for _, along in PARTS])
# Pairs of a left and a right bone that are checked for collisions, in the order of solving.
PAIRS = ((1, 1), (0, 1), (1, 0), (0, 0))
CHECKED = np.reshape([pair in (*PAIRS, (PALM, PALM)) for pair in product(OF_BONE, repeat=2)],
                     (len(OF_BONE),) * 2)

# Cost of moving a free wrist, and the extra cost for one whose hand touches something.
WristCost = tuple[float, float]


@dataclass(frozen=True)
class ArmParameters:
    """How collisions of the arms with each other and with the trunk are resolved.

    Chosen by trial on the man, heavy people and the spacesuit, and checked over the library by
    ``benchmarks/hands.py --arms`` (``docs/research/people.md``).
    """

    # Pushes go across the bones: components along a bone, or along either axis of a palm, are
    # divided by 1 + along_bones. If two axes pass closer than about thin_m (m), the push goes along
    # their common perpendicular.
    along_bones: float = 10.0
    thin_m: float = 0.005
    # Arms that have passed through each other are pushed back to their own side, fully from this
    # depth (m) on.
    passed_m: float = 0.03
    # Number of rounds of pushes, and the largest turn (radians) of an arm in one push.
    rounds: int = 8
    most_turn: float = 0.35
    # Cost of moving a wrist, relative to moving an elbow: for a free hand, and the extra cost for
    # a hand that touches something. For arm against arm, palm against palm, and arm against trunk.
    from_arms: WristCost = (4.0, 2e4)
    from_palms: WristCost = (4.0, 0.0)
    from_trunk: WristCost = (8.0, 40.0)
    # Extra cost of moving the wrists of hands that hold one shaft.
    on_shaft: float = 2e4
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
    # Smaller turns (radians) are dropped.
    faint: float = 1e-3


ARMS = ArmParameters()


@dataclass(frozen=True)
class Arms:
    """Both arms in all frames.

    ``joints`` (F, 2, 4, 3) are shoulder, elbow, wrist and knuckles; ``wide`` (F, 2, 3) the vectors
    across the palms towards the thumb; ``radii`` (2, B) those of the balls; ``touch`` what the
    hands touch; ``hips`` (F, 3) the middle between the hip joints.
    """

    joints: FloatArray
    wide: FloatArray
    radii: FloatArray
    touch: Touch
    hips: FloatArray

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
        away = lengths(left[:, :, None] - right[:, None])
        reach = CHECKED * (self.radii[0][:, None] + self.radii[1])
        return np.asarray(np.maximum(reach - away, 0.0))

    def turned(self, turns: FloatArray) -> "Arms":
        """Return the arms turned by rotation vectors (F, 2, 3) about their shoulders.

        Palms move with the wrists but keep their rotation.
        """
        shoulders, palms = self.joints[:, :, :1], self.joints[:, :, 3] - self.joints[:, :, 2]
        spins = quaternions.from_rotation_vectors(turns)[:, :, None]
        joints = shoulders + quaternions.rotate(spins, self.joints - shoulders)
        joints[:, :, 3] = joints[:, :, 2] + palms
        return replace(self, joints=joints)

    def turns_out(self, contact: "Contact", wrist_cost: WristCost) -> FloatArray:
        """Return the cheapest rotation vectors (F, 2, 3) that resolve a contact.

        Damped least squares: without damping, turns would be unbounded where the pose lets the
        push hardly act.
        """
        frames, places, ways, depths = contact
        costs = self._costs(contact, wrist_cost)
        levers = quaternions.cross(places - self.joints[frames, :, 0], ways)
        turns = solve_triples(costs, levers)
        # How far a unit push moves the points along their ways, summed over both arms.
        gain = np.sum(levers * turns, axis=(1, 2))
        turns = turns * (depths / (gain + ARMS.yields))[:, None, None]
        found = np.zeros((*self.touch.firm.shape, 3))
        found[frames] = turns * (ARMS.most_turn / np.maximum(lengths(turns), ARMS.most_turn)
                                 )[..., None]
        return found

    def _costs(self, contact: "Contact", wrist_cost: WristCost) -> FloatArray:
        """Return the cost matrices (N, 2, 3, 3) of turns, raised for turns into the trunk."""
        frames, places, ways, _ = contact
        elbows, wrists = np.moveaxis(self.joints[frames, :, 1:3] - self.joints[frames, :, :1], 2, 0)
        free, firmly = wrist_cost
        wrist = (free + firmly * self.touch.firm[frames] ** 4
                 + ARMS.on_shaft * self.touch.on_shaft[frames, None] ** 4)
        costs = _swings(elbows) + wrist[..., None, None] * _swings(wrists) + ARMS.twist * np.eye(3)
        inwards = np.maximum(-np.sum(self._outwards(frames, places) * ways, axis=2), 0.0)
        return np.asarray(costs * (1 + ARMS.inwards * inwards)[..., None, None])

    def _outwards(self, frames: NDArray[np.intp], places: FloatArray) -> FloatArray:
        """Return unit vectors (N, 2, 3) from the trunk's axis to places (N, 2, 3), square to it."""
        hips = self.hips[frames, None]
        up = unit(self.joints[frames, :, 0].mean(axis=1, keepdims=True) - hips)
        out = places - hips
        return unit(out - np.sum(out * up, axis=2, keepdims=True) * up)


def _swings(arms: FloatArray) -> FloatArray:
    """Return matrices M (..., 3, 3) for the ends of arms (..., 3), given from the shoulder.

    A small rotation vector r moves an end by a squared distance of r' M r.
    """
    return np.asarray(np.sum(arms**2, axis=-1)[..., None, None] * np.eye(3)
                      - arms[..., :, None] * arms[..., None, :])


class Contact(NamedTuple):
    """A collision in some ``frames`` (N,), and how deep (``depths`` (N,)) it is.

    ``places`` (N, 2, 3) are points of the left and the right arm at which pushes act; for palms
    these are the wrists. ``ways`` (N, 2, 3) are the directions out, zero for an arm that stays.
    """

    frames: NDArray[np.intp]
    places: FloatArray
    ways: FloatArray
    depths: FloatArray


@dataclass(frozen=True)
class Trunk:
    """The trunk's tube, and the depths (F, 2, B) in it that are ``allowed`` to balls of the arms.

    Allowed is the depth before any push, but no more than the flesh yields. ``wrist_cost`` is the
    cost of moving wrists to bring arms out of the trunk.
    """

    tube: FleshTube
    axes: TubeAxes
    allowed: FloatArray
    wrist_cost: WristCost

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
        both = ARMS.together_m * np.maximum(arms.touch.on_shaft, arms.touch.hands_near)
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

    def contact(self, arms: Arms, side: int) -> Contact:
        """Return the collision of one arm with the trunk, as the mean of its balls by depth."""
        depths, ways = (values[:, side] for values in self.depths(arms))
        frames = np.flatnonzero(depths.any(axis=1))
        shares = _shares(depths[frames])
        both = np.zeros((2, len(frames), len(SIDES), 3))
        both[:, :, side] = [np.einsum("nb,nbx->nx", shares, each[frames])
                            for each in (arms.balls()[:, side], ways)]
        return Contact(frames, both[0], both[1], depths[frames].max(axis=1, initial=0.0))


def _shares(depths: FloatArray) -> FloatArray:
    """Return weights (N, ...) of balls by their depths, with the sum 1 for each of N frames.

    Squared depths: the deepest balls dominate, and yet the point moves smoothly from ball to ball
    as the arms move past each other.
    """
    squares = depths**2
    total = squares.sum(axis=tuple(range(1, depths.ndim)), keepdims=True)
    return np.asarray(squares / np.maximum(total, 1e-12))


def with_arms_apart(motion: Motion, character: Character, joints: Mapping[str, int],
                    touch: Touch, before: Motion | None = None) -> Motion:
    """Return the motion with arms turned smoothly out of each other and of the trunk.

    Hands that ``touch`` something stay where they are; hands that hold one shaft stay on it.
    ``before`` is a motion whose arms are already apart: if no arm has moved since in a frame with a
    collision, the motion is returned unchanged.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    arms = arms_of(motion, character, joints, touch)
    trunk = Trunk.of(motion, character, joints, arms)
    colliding = (arms.depths().any(axis=(1, 2)) | trunk.depths(arms)[0].any(axis=(1, 2)))
    if before is not None:
        colliding &= arms_moved(before, motion, joints)
    if not colliding.any():
        return motion
    return _turned(motion, joints, turns_of(arms, trunk, motion.fps), touch.on_shaft)


def arms_moved(before: Motion, motion: Motion, joints: Mapping[str, int]) -> NDArray[np.bool_]:
    """Return a mask (F,) of the frames in which an elbow or a wrist differs from ``before``."""
    ends = [joints[f"{side}_{part}"] for side in SIDES for part in ARM[1:]]
    ways = motion.global_pose.positions[:, ends] - before.global_pose.positions[:, ends]
    return np.asarray((lengths(ways) > STILL).any(axis=1))


def arms_of(motion: Motion, character: Character, joints: Mapping[str, int],
            touch: Touch) -> Arms:
    """Return both arms of a character in a motion."""
    positions, hands = motion.global_pose.positions, hands_in(motion, character, joints)
    chains = [[joints[f"{side}_{part}"] for part in ARM] for side in SIDES]
    hips = positions[:, [joints[f"{side}_thigh"] for side in SIDES]].mean(axis=1)
    palms, backs = hands.points[:, :, 0], hands.points[:, :, 1]
    along = ((palms + backs) / 2 - hands.wrists) / HANDS.palm_share
    ends = (hands.wrists + along)[:, :, None]
    return Arms(np.concatenate([positions[:, chains], ends], axis=2),
                quaternions.cross(along, backs - palms),
                radii_of(character, joints, lengths(backs - palms)[0] / 2), touch, hips)


def radii_of(character: Character, joints: Mapping[str, int], palms: FloatArray) -> FloatArray:
    """Return the radii (2, B) of both arms' balls, halfway between mean and largest flesh radius.

    ``palms`` (2,) are those of the balls of each palm.
    """
    tubes = measured_tubes(character, tuple(sorted(joints.items())))
    grid = np.linspace(0, 1, ALONG)
    thick = {name: (tube.radii.mean(axis=1) + tube.radii.max(axis=1)) / 2
             for name, tube in tubes.items()}
    arms = [np.concatenate([np.interp(along, grid, thick[f"{side}_{ARM[bone]}"])
                            for bone, along in PARTS[:PALM]]) for side in SIDES]
    return np.concatenate([arms, np.repeat(palms[:, None], len(PARTS[PALM][1]), axis=1)], axis=1)


def turns_of(arms: Arms, trunk: Trunk, fps: float) -> FloatArray:
    """Return the smooth rotations (F, 2, 4) about the shoulders that resolve all collisions."""
    turns = np.broadcast_to(quaternions.IDENTITY, (*arms.touch.firm.shape, 4))
    for _ in range(ARMS.rounds):
        pushes = turns_apart(arms, trunk)
        weights = np.maximum(pushes.any(axis=2), ARMS.free_of_pushes)
        smooth = smoothed_shifts(pushes, weights, fps, ARMS.settle_hz)
        smooth = np.where(lengths(smooth)[..., None] > ARMS.faint, smooth, 0.0)
        if not smooth.any():
            break
        arms = arms.turned(smooth)
        turns = quaternions.multiply(quaternions.from_rotation_vectors(smooth), turns)
    return turns


def turns_apart(arms: Arms, trunk: Trunk) -> FloatArray:
    """Return the rotation vectors (F, 2, 3) about the shoulders of one round of pushes.

    The order is: each pair of bones, then the palms, then each arm out of the trunk. Palms move
    even if they touch something, but not if both hands hold one shaft: those lie close by intent.
    """
    total = np.zeros((*arms.touch.firm.shape, 3))
    for left, right in PAIRS:
        turns = arms.turns_out(arm_contact(arms, left, right), ARMS.from_arms)
        total, arms = total + turns, arms.turned(turns)
    palms = arms.turns_out(arm_contact(arms, PALM, PALM), ARMS.from_palms)
    palms = palms * (1 - arms.touch.on_shaft)[:, None, None]
    arms = arms.turned(palms)
    return total + palms + sum(arms.turns_out(trunk.contact(arms, side), trunk.wrist_cost)
                               for side in range(len(SIDES)))


def arm_contact(arms: Arms, left: int, right: int) -> Contact:
    """Return the collision of a left with a right bone, as the mean of their balls by depth."""
    depths = arms.depths() * np.outer(left == OF_BONE, right == OF_BONE)
    frames = np.flatnonzero(depths.any(axis=(1, 2)))
    depths = depths[frames]
    shares = _shares(depths)
    places = np.einsum("fab,fabx->fax", np.stack([shares.sum(axis=2), shares.sum(axis=1)], axis=1),
                       arms.balls()[frames])
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
    return Contact(frames, places, np.stack([way, -way], axis=1), deep + passed)


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
    # Solving with this keeps what lies across the bones, and 1 / (1 + along_bones) of the rest.
    costs = np.eye(3) + ARMS.along_bones * np.einsum("nax,nay->nxy", along, along)
    # Where the axes nearly meet, ``apart`` vanishes and the common perpendicular takes over.
    ways = unit(solve_triples(costs, apart) + ARMS.thin_m * facing * across)
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


def _turned(motion: Motion, joints: Mapping[str, int], turns: FloatArray,
            on_shaft: FloatArray) -> Motion:
    """Return the motion with upper arms and forearms turned by ``turns`` (F, 2, 4).

    Hands keep their global rotations. Frames without turns stay identical to the last bit.
    """
    whole = motion.global_pose.rotations.copy()
    for number, side in enumerate(SIDES):
        bones = [joints[f"{side}_{bone}"] for bone in ARM[:2]]
        whole[:, bones] = quaternions.multiply(turns[:, number, None], whole[:, bones])
    turned = Motion.from_global_rotations(motion.skeleton, motion.fps, motion.root_positions, whole)
    moved = turns[..., 1:].any(axis=(1, 2))
    rotations = np.where(moved[:, None, None], rounded(turned).rotations, motion.rotations)
    if (frames := np.flatnonzero(moved & (on_shaft > 0))).size:
        part, wrists = turned.at(frames), wrists_of(motion, joints)[frames]
        shifts = wrists_of(part, joints) - wrists
        # Turns are solved as if they were small: hands on one shaft are brought together again.
        shifts += on_shaft[frames, None, None] * (shifts.mean(axis=1, keepdims=True) - shifts)
        rotations[frames] = rounded(arms_bent(part, joints, wrists + shifts, 0.0)).rotations
    return replace(motion, rotations=quaternions.without_flips(rotations))
