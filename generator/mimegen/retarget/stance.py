"""Standing: when the source's heels and balls are down, and where the target's soles are."""

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

    # A foot that moves faster over the ground (m/s) does not stand on it.
    resting_speed: float = 0.25
    # Feet whose ankles are less than this (m) above where ankles rest stand flat; it takes this
    # long (s) of that to tell where their toes rest.
    flat_m: float = 0.02
    flat_s: float = 0.1
    # A skeleton whose ankles are lower (m) than this, above 0, stands on the ground at rest; feet
    # that stay so much (m) higher, and never rest so long (s), are in the air.
    stands_m: float = 0.2
    afloat_m: float = 0.3
    rests_s: float = 0.2


STANCE = StanceParameters()


def source_contacts(source: Motion, joints: Mapping[str, int],
                    side: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say in which frames a foot's heel and its ball rest on the ground, (F,) each."""
    heel = _resting(source, joints, "foot", side)
    if f"{side}_toe" not in joints:
        return heel, heel
    return heel, _resting(source, joints, "toe", side)


def standing_height(source: Motion, joints: Mapping[str, int]) -> float:
    """Return the height at which ankles rest, in metres.

    Who keeps kicking high above the ground on which the skeleton stands at rest, as a swimmer does,
    rests nowhere: ankles would rest there.
    """
    return _standing(source, joints)[0]


def _standing(source: Motion, joints: Mapping[str, int]) -> tuple[float, bool]:
    """Return the height at which ankles rest, or would, and whether they stay in the air."""
    both = [joints[f"{side}_foot"] for side in SIDES]
    places, at_rest = source.global_pose.positions[:, both], source.skeleton.heads[both, 2].mean()
    level = resting_level(places, source.fps)
    if not (0 < at_rest < STANCE.stands_m and level > at_rest + STANCE.afloat_m):
        return level, False
    afloat = not _rests(resting(places, source.fps, level), source.fps)
    return float(at_rest) if afloat else level, afloat


def _rests(down: NDArray[np.bool_], fps: float) -> bool:
    """Say whether a foot (F, K) rests long enough to be stood on."""
    frames = max(1, round(STANCE.rests_s * fps))
    counts = np.cumsum(np.pad(down, ((1, 0), (0, 0))), axis=0)
    return bool((counts[frames:] - counts[:-frames] == frames).any())


def resting_height(source: Motion, joints: Mapping[str, int], part: str, side: str) -> float:
    """Return the height at which a foot's ``part``, foot (the ankle) or toe, rests, in metres.

    For toes that is where they are while the foot stands flat: the toe joint of one who stands on
    the tips of the toes may be lower. Toes of one who rests nowhere would rest where the skeleton's
    do: the lowest of a kick is no ground.
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
    """Where one of the target's feet touches the ground in the rest pose, in metres.

    ``heel``, ``ball`` and ``toes``, the toe joint (3,), are relative to the ankle, ``tip`` (3,) to
    the toe joint. ``skin`` (V, 3), relative to the ankle, are the outermost points of foot and
    toes, ``of_toes`` (V,) their shares that follow the toes.
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
    # A little in front of the hindmost skin: a heel is round, and stands on what is under it.
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
