"""Arms stop each other: where one lies in the other, both give way about their shoulders.

Each arm is a row of balls, as thick as its flesh and what is worn on it, and so is the middle of
the palm: palms that lie in one another come to lie on one another. Hands stay as nearly where they
are as they can: elbows swing about the line from shoulder to wrist first, and rather away from the
trunk than towards it. Hands that hold one shaft go together.
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

# Balls of an arm: bones, and how far along them.
PARTS = ((0, np.linspace(0.4, 0.9, 4)), (1, np.linspace(0.0, 1.0, 9)), (2, np.linspace(0.2, 1, 4)))
UPPER = 0
FOREARM = 1
PALM = 2
OF_BONE = np.repeat([bone for bone, _ in PARTS], [len(along) for _, along in PARTS])
# Which of the left arm's bones is held against which of the right's.
PAIRS = ((1, 1), (0, 1), (1, 0), (0, 0))
HELD = np.reshape([pair in (*PAIRS, (PALM, PALM)) for pair in product(OF_BONE, repeat=2)],
                  (len(OF_BONE),) * 2)

@dataclass(frozen=True)
class ArmParameters:
    """How arms are taken out of one another and of the trunk.

    Chosen by trial on the man, heavy people and the spacesuit, and checked over the library by
    ``benchmarks/hands.py --arms`` (``docs/research/people.md``).
    """

    # Arms are taken out of one another across their bones, not along them, so many times rather,
    # palms not along either; where their axes meet, within so much (m), straight across.
    flat: float = 10.0
    thin_m: float = 0.005
    # From so deep (m) on arms that are on the wrong side of one another change sides in full.
    passed_m: float = 0.03
    # How often arms are pushed apart, and how far (radians) they turn for it at most each time.
    rounds: int = 8
    most_turn: float = 0.35
    # What a wrist's way costs against an elbow's: of free hands, and what is added for those that
    # touch something, to part arms, palms, and arms from the trunk, where they have no other way.
    from_arms: tuple[float, float] = (4.0, 2e4)
    from_palms: tuple[float, float] = (4.0, 0.0)
    from_trunk: tuple[float, float] = (8.0, 40.0)
    # What it costs to part wrists of hands that hold one shaft.
    parting: float = 10000.0
    # What turning itself costs (m2): nearly straight arms would turn about themselves for nothing.
    twist: float = 0.02
    # How much dearer it is to drive an arm into the trunk.
    inwards: float = 3.0
    # So deep (m) forearms may lie in the trunk, for flesh gives way; elbows of heavy people swing
    # out.
    forearm_gives_m: float = 0.04
    # So deep (m) the balls of an upper arm, from the shoulder on, may, if they are so thick (m) or
    # thicker; thinner ones deeper by so many times what they are thinner.
    upper_arm_gives_m: tuple[float, ...] = (0.115, 0.07, 0.05, 0.04)
    thick_m: tuple[float, ...] = (0.090, 0.086, 0.079, 0.074)
    thinner: float = 3.5
    # Upper arms reach forward in full from this cosine on; those that do not may lie deeper by so
    # much (m), and those whose hands hold one shaft or each other, which would part, by the other.
    ahead: float = 0.4
    beside_m: float = 0.1
    together_m: float = 0.04
    # How much (m2) a push yields where the pose cannot.
    yields: float = 0.01
    # The cutoff (Hz) of the low-pass of turns where arms touch, see `smoothest`, and the weight of
    # staying where nothing pushes, against that of a push.
    settle_hz: float = 4.0
    free_of_pushes: float = 0.05
    # So long (s) before the first touch and after the last nothing turns any more.
    about_s: float = 1.0
    # Turns that are smaller (radians) are none.
    faint: float = 1e-3


ARMS = ArmParameters()


@dataclass(frozen=True)
class Arms:
    """Both arms in all frames: ``joints`` (F, 2, 4, 3) from shoulder to knuckles, the ways ``wide``
    (F, 2, 3) of palms to the thumb, radii (2, B) of their balls, what hands ``touch``, the
    middle (F, 3) of the ``hips``, and how ``dear`` wrists' ways are.
    """

    joints: FloatArray
    wide: FloatArray
    radii: FloatArray
    touch: Touch
    hips: FloatArray
    dear: tuple[float, float] = ARMS.from_arms

    def balls(self) -> FloatArray:
        """Return the balls' middles (F, 2, B, 3)."""
        bones = np.diff(self.joints, axis=2)
        return np.concatenate([self.joints[:, :, [bone]] + along[:, None] * bones[:, :, [bone]]
                               for bone, along in PARTS], axis=2)

    def depths(self) -> FloatArray:
        """Return how deep (F, B, B) left balls are in right ones, zero where they are not."""
        left, right = np.moveaxis(self.balls(), 1, 0)
        squares = (np.sum(left**2, axis=2)[:, :, None] + np.sum(right**2, axis=2)[:, None]
                   - 2 * np.einsum("fax,fbx->fab", left, right))
        reach = HELD * (self.radii[0][:, None] + self.radii[1])
        return np.asarray(np.maximum(reach - np.sqrt(np.maximum(squares, 0.0)), 0.0))

    def turned(self, turns: FloatArray) -> "Arms":
        """Return them turned by rotation vectors (F, 2, 3) about their shoulders, palms only moved.
        """
        shoulders, palms = self.joints[:, :, :1], self.joints[:, :, 3] - self.joints[:, :, 2]
        spins = quaternions.from_rotation_vectors(turns)[:, :, None]
        joints = shoulders + quaternions.rotate(spins, self.joints - shoulders)
        joints[:, :, 3] = joints[:, :, 2] + palms
        return replace(self, joints=joints)

    def eased(self, frames: NDArray[np.intp], places: FloatArray,
              ways: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the turns (N, 2, 3) of both arms that move elbows and wrists least.

        They take ``places`` (N, 2, 3) of the arms some ``ways`` (N, 2, 3), by so much (N,) in all.
        """
        costs = self._costs(frames, places, ways)
        levers = quaternions.cross(places - self.joints[frames, :, 0], ways)
        turns = np.stack([solve_triples(costs[:, side], levers[:, side])
                          for side in range(len(SIDES))], axis=1)
        turns = turns - self._parting(frames, costs, turns)
        return turns, np.sum(levers * turns, axis=(1, 2))

    def _costs(self, frames: NDArray[np.intp], places: FloatArray,
               ways: FloatArray) -> FloatArray:
        """Return what turns cost, (N, 2, 3, 3), dearer where they drive arms into the trunk."""
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
        """Return what of turns (N, 2, 3) parts hands that hold one shaft."""
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
        """Return the ways (N, 3) from the trunk's axis to places (N, 3)."""
        hips = self.hips[frames]
        up = unit(self.joints[frames, :, 0].mean(axis=1) - hips)
        out = places - hips
        return unit(out - np.sum(out * up, axis=1, keepdims=True) * up)


def _swings(arms: FloatArray) -> FloatArray:
    """Return the matrices (..., 3, 3) of how far ends of arms (..., 3) go, squared, as they turn.
    """
    return np.asarray(np.sum(arms**2, axis=-1)[..., None, None] * np.eye(3)
                      - arms[..., :, None] * arms[..., None, :])


@dataclass(frozen=True)
class Trunk:
    """The trunk's tube, and how deep (F, 2, B) in it balls of arms are by themselves.

    No deeper than flesh gives way. To come out of it wrists' ways are as ``dear`` as this.
    """

    tube: FleshTube
    axes: TubeAxes
    allowed: FloatArray
    dear: tuple[float, float]

    @staticmethod
    def of(motion: Motion, character: Character, joints: Mapping[str, int],
           arms: Arms) -> "Trunk":
        """Return a motion's trunk."""
        pose = motion.global_pose
        axes = tube_axes(pose.positions, pose.rotations[:, joints["head"]], joints,
                         stature(character.skeleton, joints))["trunk"]
        tube = measured_tubes(character, tuple(sorted(joints.items())))["trunk"]
        soft = bool(character.soft)
        trunk = Trunk(tube, axes, np.zeros((1, 1, 1)), ARMS.from_trunk if soft else ARMS.from_arms)
        return replace(trunk, allowed=np.minimum(trunk.depths(arms)[0], trunk.gives(arms, soft)))

    def gives(self, arms: Arms, soft: bool) -> FloatArray:
        """Return how deep (F, 2, B) balls may lie in the trunk as flesh gives way.

        Upper arms the less the thicker they are, and deeper where they do not reach forward: beside
        the trunk there is room. Those that are not ``soft``, as in a spacesuit, may lie anywhere.
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
        """Return how much deeper (F, 2, B) balls are in it, and the ways (F, 2, B, 3) out."""
        balls = arms.balls()
        place = self.tube.found(balls.reshape(len(balls), -1, 3), self.axes)
        _, ways = self.tube.point(place, self.axes)
        depths = arms.radii - place.off.reshape(balls.shape[:3])
        return np.maximum(depths - self.allowed, 0.0), ways.reshape(balls.shape)


def with_arms_apart(motion: Motion, character: Character, joints: Mapping[str, int],
                    touch: Touch, before: Motion | None = None) -> Motion:
    """Return the motion with arms turned out of one another, as smoothly as hands settle.

    Hands that ``touch`` something stay, those that hold one shaft go together. Where no arm that
    touches the other has moved since ``before``, of which arms were taken apart, all stays.
    """
    if not (has_arms(joints) and character.meshes):
        return motion
    radii = radii_of(character, joints)
    moved = np.ones(motion.frames, bool) if before is None else arms_moved(before, motion, joints)
    if not moved.any():
        return motion
    arms = arms_of(motion, joints, radii, touch)
    touches = arms.depths().any(axis=(1, 2))
    # Looking costs little; only the frames about what touches are solved.
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
    """Return the frames (F,) in which an elbow or a wrist is not where it was before."""
    ends = [joints[f"{side}_{part}"] for side in SIDES for part in ARM[1:]]
    ways = motion.global_pose.positions[:, ends] - before.global_pose.positions[:, ends]
    return np.asarray((lengths(ways) > STILL).any(axis=1))


def arms_of(motion: Motion, joints: Mapping[str, int], radii: FloatArray,
            touch: Touch) -> Arms:
    """Return a motion's arms."""
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
    """Return the ways (2, 3), at rest, from the wrist to the knuckles and to the thumb."""
    axes = hand_axes(heads, joints, side)
    if axes is None or (knuckle := joints.get(f"{side}_middle1")) is None:
        return np.zeros((2, 3))
    along = heads[knuckle] - heads[joints[f"{side}_hand"]]
    return np.stack([along, np.cross(along, axes[1])])


def turns_of(arms: Arms, trunk: Trunk, fps: float) -> FloatArray:
    """Return the rotations (F, 2, 4) about shoulders that take arms out of one another smoothly."""
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
    """Return the radii (2, B) of both arms' balls, between their flesh's mean and its widest."""
    tubes = measured_tubes(character, tuple(sorted(joints.items())))
    grid = np.linspace(0, 1, ALONG)
    thick = {name: (tube.radii.mean(axis=1) + tube.radii.max(axis=1)) / 2
             for name, tube in tubes.items()}
    return np.array([np.concatenate([*(np.interp(along, grid, thick[f"{side}_{ARM[bone]}"])
                                       for bone, along in PARTS[:PALM]),
                                     half_a_palm(character, joints, side)]) for side in SIDES])


def half_a_palm(character: Character, joints: Mapping[str, int], side: str) -> FloatArray:
    """Return half a palm's thickness at its balls (B,), zero where nothing is known of it."""
    heads, axes = character.skeleton.heads, hand_axes(character.skeleton.heads, joints, side)
    along, _ = palm_of(heads, joints, side)
    if axes is None or not along.any():
        return np.zeros(len(PARTS[PALM][1]))
    wrist = joints[f"{side}_hand"]
    half = half_a_hand(character, wrist, heads[wrist] + 0.7 * along, axes[1])
    return np.full(len(PARTS[PALM][1]), half)


def turns_apart(arms: Arms, trunk: Trunk) -> FloatArray:
    """Return the rotation vectors (F, 2, 3) about shoulders that take arms out of one another.

    One pair of bones after another, then palms, which move even where they touch something but not
    where they hold a shaft, then either arm out of the trunk.
    """
    found = np.zeros((*arms.touch.firm.shape, 3))
    # Forearms first: they move most for the least turn of an arm, and often free upper arms too.
    for left, right in PAIRS:
        turns = ArmContact.of(arms, left, right).turns(arms)
        found, arms = found + turns, arms.turned(turns)
    turns = ArmContact.of(arms, PALM, PALM).turns(replace(arms, dear=ARMS.from_palms))
    # Both hands on one shaft lie close by intent.
    turns = turns * (1 - arms.touch.held)[:, None, None]
    arms = replace(arms.turned(turns), dear=trunk.dear)
    return found + turns + turns_out(arms, trunk)


def turns_out(arms: Arms, trunk: Trunk) -> FloatArray:
    """Return the rotation vectors (F, 2, 3) that take arms out of the trunk."""
    depths, ways = trunk.depths(arms)
    balls, found = arms.balls(), np.zeros((*arms.touch.firm.shape, 3))
    for side in range(len(SIDES)):
        frames = np.flatnonzero(depths[:, side].any(axis=1))
        deep, way, own = (values[frames, side] for values in (depths, ways, balls))
        shares = deep**2 / np.maximum(np.sum(deep**2, axis=1, keepdims=True), 1e-12)
        both = np.zeros((2, len(frames), len(SIDES), 3))
        both[:, :, side] = [np.einsum("nb,nbx->nx", shares, each) for each in (own, way)]
        turns, gain = arms.eased(frames, both[0], both[1])
        # Damped least squares: where the pose hardly yields, turns would have no bounds.
        share = deep.max(axis=1, initial=0.0) / (gain + ARMS.yields)
        found[frames] += held(turns * share[:, None, None])
    return found


def held(turns: FloatArray) -> FloatArray:
    """Return rotation vectors (..., 3) no longer than what is turned at once."""
    far = np.maximum(lengths(turns)[..., None], ARMS.most_turn)
    return np.asarray(turns * (ARMS.most_turn / far))


class ArmContact(NamedTuple):
    """Where arms lie in one another in some ``frames`` (N,), and how ``deep`` (N,).

    ``places`` (N, 2, 3) are within the left and the right arm, for palms at the wrists, with which
    they move; ``way`` (N, 3) takes the left one out of the right.
    """

    frames: NDArray[np.intp]
    places: FloatArray
    way: FloatArray
    deep: FloatArray

    @staticmethod
    def of(arms: Arms, left: int, right: int) -> "ArmContact":
        """Return where a left bone is in a right one: the mean of their balls, by depth."""
        depths = arms.depths() * np.outer(left == OF_BONE, right == OF_BONE)
        frames = np.flatnonzero(depths.any(axis=(1, 2)))
        depths = depths[frames]
        # By the square, so that the deepest balls decide, and yet the place goes smoothly from ball
        # to ball as arms move past each other.
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
        # Arms that have passed each other go back, and as far again: to the side they came from.
        passed = np.maximum(-2 * ahead, 0.0) * np.minimum(deep / ARMS.passed_m, 1.0)
        return ArmContact(frames, places, way, deep + passed)

    def turns(self, arms: Arms) -> FloatArray:
        """Return the rotation vectors (F, 2, 3) that take arms out of one another."""
        found = np.zeros((*arms.touch.firm.shape, 3))
        turns, gain = arms.eased(self.frames, self.places,
                                 np.stack([self.way, -self.way], axis=1))
        found[self.frames] = held(turns * (self.deep / (gain + ARMS.yields))[:, None, None])
        return found


def _ways(frames: NDArray[np.intp], places: FloatArray,
          along: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ways (N, 3) out for bones ``along`` (N, 2 or more, 3) at places (N, 2, 3).

    Nearly across all, most across the first two, and to one side as long as arms are in each other;
    also how far (N,) the left one is on that side.
    """
    apart = places[:, 0] - places[:, 1]
    # The shortest way between two lines is perpendicular to both.
    across = quaternions.cross(along[:, 0], along[:, 1])
    facing = np.where(np.sum(across * apart, axis=1) < 0, -1.0, 1.0)[:, None]
    # Solving by this leaves what is across the bones, and 1 / (1 + flat) of what is along them.
    flat = np.eye(3) + ARMS.flat * np.einsum("nax,nay->nxy", along, along)
    # Where axes meet nothing is apart: what is across both bones tells the way there.
    ways = unit(solve_triples(flat, apart) + ARMS.thin_m * facing * across)
    # A way that turns about from one frame to the next is the same with the other sign. Which of
    # the two leads out is told by the whole meeting: within it, arms may lie past each other.
    follows = np.diff(frames, prepend=-2) == 1
    back = np.concatenate([np.zeros(1, bool), np.sum(ways[1:] * ways[:-1], axis=1) < 0])[:len(ways)]
    ways = ways * np.where(follows & back, -1.0, 1.0).cumprod()[:, None]
    ahead = np.sum(ways * apart, axis=1)
    meeting = np.cumsum(~follows)
    # Summed with how far apart arms are: frames in which their axes nearly meet tell least.
    side = np.where(np.bincount(meeting, ahead, 1) < 0, -1.0, 1.0)[meeting]
    return side[:, None] * ways, side * ahead


def _turned(motion: Motion, joints: Mapping[str, int], frames: NDArray[np.intp],
            turns: FloatArray) -> Motion:
    """Return the motion with upper arms and forearms, not hands, turned in some frames (N,).

    ``turns`` are (N, 2, 4).
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
