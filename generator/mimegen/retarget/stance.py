"""Find when the source's heels and balls rest on the ground, and the target's soles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character
from mimegen.motion import Motion
from mimegen.motion.contacts import resting, resting_level, velocities
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.retarget.surface import SkinSample, outer_vertices, outermost


@dataclass(frozen=True)
class StanceParameters:
    """When a captured foot stands. Chosen on the recordings of ``docs/research/retargeting.md``."""

    # Largest horizontal speed (m/s) of a standing foot.
    resting_speed: float = 0.25
    # A foot stands flat if its ankle is less than this (m) above where ankles rest; the height at
    # which toes rest is taken from flat feet if they last this long (s).
    flat_m: float = 0.02
    flat_s: float = 0.1
    # If ankles are lower (m) than this, but above 0, in the rest pose, the skeleton stands on the
    # ground there. Its feet are in the air if they stay this much (m) higher and never rest for
    # this long (s).
    stands_m: float = 0.2
    afloat_m: float = 0.3
    rests_s: float = 0.2


STANCE = StanceParameters()


def source_contacts(source: Motion, joints: Mapping[str, int],
                    side: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks (F,) of the frames in which a foot's heel and its ball rest on the ground."""
    heel = _resting(source, joints, "foot", side)
    if f"{side}_toe" not in joints:
        return heel, heel
    return heel, _resting(source, joints, "toe", side)


def standing_height(source: Motion, joints: Mapping[str, int]) -> float:
    """Return the height at which ankles rest, in metres.

    If feet keep moving high above the ground of the rest pose, as a swimmer's do, they rest
    nowhere; then it is the height of the ankles in the rest pose.
    """
    return _standing(source, joints)[0]


def stays_afloat(source: Motion, joints: Mapping[str, int]) -> bool:
    """Return whether feet stay in the air, as a swimmer's do."""
    return _standing(source, joints)[1]


def _standing(source: Motion, joints: Mapping[str, int]) -> tuple[float, bool]:
    """Return the height (m) at which ankles rest, and whether they stay in the air."""
    both = [joints[f"{side}_foot"] for side in SIDES]
    places, at_rest = source.global_pose.positions[:, both], source.skeleton.heads[both, 2].mean()
    level = resting_level(places, source.fps)
    if not (0 < at_rest < STANCE.stands_m and level > at_rest + STANCE.afloat_m):
        return level, False
    afloat = not _rests(resting(places, source.fps, level), source.fps)
    return float(at_rest) if afloat else level, afloat


def _rests(down: NDArray[np.bool_], fps: float) -> bool:
    """Return whether any foot of (F, K) rests long enough to stand on."""
    frames = max(1, round(STANCE.rests_s * fps))
    counts = np.cumsum(np.pad(down, ((1, 0), (0, 0))), axis=0)
    return bool((counts[frames:] - counts[:-frames] == frames).any())


def resting_height(source: Motion, joints: Mapping[str, int], part: str, side: str) -> float:
    """Return the height (m) at which a foot's ``part``, ``foot`` (the ankle) or ``toe``, rests.

    Toes rest where they are while the foot stands flat, because on tiptoe the toe joint may be
    lower. If feet stay in the air, it is the toes' height in the rest pose: the lowest point of a
    kick is no ground.
    """
    ankles, afloat = _standing(source, joints)
    if part == "foot":
        return ankles
    if afloat:
        return float(source.skeleton.heads[joints[f"{side}_toe"], 2])
    places = source.global_pose.positions
    both = places[:, [joints[f"{side}_foot"], joints[f"{side}_toe"]]]
    slow = (np.linalg.norm(velocities(both, source.fps), axis=2) < STANCE.resting_speed).all(axis=1)
    # Toes rest where they are while the ankle is at its resting height and neither moves.
    flat = both[slow & (both[:, 0, 2] < ankles + STANCE.flat_m), 1, 2]
    if len(flat) > STANCE.flat_s * source.fps:
        return float(np.median(flat))
    toes = [joints[f"{s}_toe"] for s in SIDES if f"{s}_toe" in joints]
    return resting_level(places[:, toes], source.fps)


def _resting(source: Motion, joints: Mapping[str, int], part: str,
             side: str) -> NDArray[np.bool_]:
    level = resting_height(source, joints, part, side)
    points = source.global_pose.positions[:, [joints[f"{side}_{part}"]]]
    return resting(points, source.fps, level, speed=STANCE.resting_speed)[:, 0]


@dataclass(frozen=True)
class Sole:
    """The points at which one of the target's feet touches the ground in the rest pose, in metres.

    ``heel``, ``ball`` and ``toes`` (the toe joint), each (3,), are relative to the ankle; ``tip``
    (3,) is relative to the toe joint. ``skin`` (V, 3), relative to the ankle, are the outermost
    points of foot and toes; ``of_toes`` (V,) the fractions by which they follow the toes.
    """

    heel: FloatArray
    ball: FloatArray
    toes: FloatArray
    tip: FloatArray
    skin: FloatArray
    of_toes: FloatArray


def sole(character: Character, joints: Mapping[str, int], side: str) -> Sole:
    """Find a character's sole from its lowest foot vertices, or from its bones if it has none."""
    skeleton = character.skeleton
    ankle = joints[f"{side}_foot"]
    toe = joints.get(f"{side}_toe", ankle)
    front = skeleton.heads[toe] if toe != ankle else skeleton.tails[ankle]
    vertices = outer_vertices(character, {ankle, toe})
    if len(vertices) == 0:
        ends = np.array([skeleton.tails[toe], front, skeleton.heads[ankle] * [1.0, 1.0, 0.0]])
        vertices = np.concatenate([ends, ends + np.array([0.0, 0.05, 0.0])])
        vertices[:, 2] = 0.0
    ground = vertices[:, 2].min()
    center = skeleton.heads[ankle]
    # A little in front of the hindmost skin: a heel is round, and stands on its underside.
    heel = np.array([center[0], vertices[:, 1].max() - 0.015, ground]) - center
    ball = np.array([front[0], front[1], ground]) - center
    toes = skeleton.heads[toe] - center if toe != ankle else ball
    tip = np.array([front[0], vertices[:, 1].min() + 0.01, ground]) - center - toes
    skin = outermost(character, frozenset((ankle, toe)))
    if not len(skin.vertices):
        skin = SkinSample(np.array([heel, ball, toes + tip]) + center,
                          np.array([[ankle], [ankle], [toe]]), np.ones((3, 1)))
    of_toes = np.where(skin.joints == toe, skin.weights, 0.0).sum(axis=1) if toe != ankle else (
        np.zeros(len(skin.vertices)))
    return Sole(heel, ball, toes, tip, skin.vertices - center, of_toes)
