"""Measure the quality of a performance against its source."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion

from mimegen.characters.character import Performance
from mimegen.motion import Motion, metrics
from mimegen.motion.contacts import resting_level
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.readers.roles import find_roles
from mimegen.retarget.stance import resting_height, source_contacts
from mimegen.retarget.surface import outermost

# The measures of a report, in the order in which they are shown.
FIELDS = ("joint_direction_error_deg", "end_effector_error_pct_height", "foot_skate_cm_s",
          "skate_share", "planted_foot_drift_mm", "ground_penetration_cm", "jerk_ratio")
LIMBS = [(f"{side}_{start}", f"{side}_{end}") for side in SIDES for start, end in
         (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))]
ENDS = ("head", "left_hand", "right_hand", "left_foot", "right_foot")
# Time (s) at the beginning and end of a contact that does not count: the foot is still landing or
# leaving.
EDGE_S = 0.06
# At most this many frames are posed with their skin to measure ground penetration.
MOST_FRAMES = 600


def quality(source: Motion, roles: Mapping[str, str], performance: Performance) -> dict[str, Any]:
    """Measure a performance of ``source`` (same frames and rate), whose joints ``roles`` names.

    ``joint_direction_error_deg``: mean angle between the bones of arms and legs and the source's,
    over frames and bones.

    ``end_effector_error_pct_height``: mean distance of head, hands and feet from the source's, both
    relative to the middle between the hip joints, the source scaled to the body's leg length, in %
    of the body's height (after Villegas et al., "Neural Kinematic Networks", 2018).

    ``foot_skate_cm_s`` and ``skate_share``: see `metrics`; measured at the toe joints, or at the
    ankles if there are none, with heights from the level of a flat foot.

    ``planted_foot_drift_mm``: the largest distance of a planted ball from its median position.

    ``ground_penetration_cm``: the largest depth of any skin below the ground.

    ``jerk_ratio``: mean jerk (third derivative of position; Flash and Hogan 1985) of hips, head,
    hands and feet, divided by the source's own of the same joints after scaling it to the body's
    leg length.

    The source's own values are under ``source``.
    """
    wanted = _places(source, roles)
    character, motion = performance.character, performance.motion
    goal = find_roles(character.skeleton, file=character.name).joints
    reached = _places(motion, goal)
    joints = {role: source.skeleton.index[name] for role, name in roles.items()}
    scale = _legs(reached) / _legs(wanted)
    limbs = {start: metrics.direction_errors(wanted[end] - wanted[start],
                                              reached[end] - reached[start])
             for start, end in LIMBS}
    ends = _end_effector_errors(wanted, reached, scale, _height(motion))
    # The same part on both sides of the comparison, or skating would differ by where it is
    # measured.
    part = "toe" if all(f"{s}_toe" in known for s in SIDES for known in (roles, goal)) else "foot"
    feet = {"source": _feet(source, roles, part), "result": _feet(motion, goal, part)}
    drift = _planted_drifts(source, joints, wanted, reached)
    jerk = {name: _jerks(places, motion.fps) for name, places in
            (("source", wanted), ("result", reached))}
    total = {name: float(np.mean(list(each.values()))) for name, each in jerk.items()}
    return {
        "joint_direction_error_deg": float(np.mean(list(limbs.values()))),
        "end_effector_error_pct_height": float(np.mean(list(ends.values()))),
        "foot_skate_cm_s": feet["result"]["foot_skate_cm_s"],
        "skate_share": feet["result"]["skate_share"],
        "planted_foot_drift_mm": _most(drift["result"]),
        "ground_penetration_cm": _penetration(performance),
        # Jerk is a length a second cubed, so the source's is scaled as lengths are.
        "jerk_ratio": total["result"] / max(total["source"] * scale, 1e-9),
        "source": {
            **feet["source"], "planted_foot_drift_mm": _most(drift["source"]) * scale,
            "ground_penetration_cm": _sinking(source, joints),
            "jerk_m_s3": total["source"],
        },
        "details": {
            "joint_direction_error_deg": _means(limbs),
            "joint_direction_error_deg_95th": {
                bone: float(np.percentile(error, 95)) for bone, error in limbs.items()},
            "end_effector_error_pct_height": ends,
            "planted_foot_drift_mm_median": float(np.median([0.0, *drift["result"]])),
            "contacts": len(drift["result"]),
            "jerk_ratio": {role: jerk["result"][role] / max(jerk["source"][role] * scale, 1e-9)
                           for role in jerk["source"]},
            "jerk_m_s3": total["result"], "scale": scale,
        },
    }


def _most(values: FloatArray) -> float:
    return float(values.max(initial=0.0))


def _means(values: Mapping[str, FloatArray]) -> dict[str, float]:
    return {name: float(value.mean()) for name, value in values.items()}


def _places(motion: Motion, roles: Mapping[str, str]) -> dict[str, FloatArray]:
    """Return joints' positions (F, 3) by role; ``hips`` is the middle between the hip joints."""
    index, positions = motion.skeleton.index, motion.global_pose.positions
    found = {role: positions[:, index[name]] for role, name in roles.items()}
    found["hips"] = (found["left_thigh"] + found["right_thigh"]) / 2
    return found


def _legs(places: Mapping[str, FloatArray]) -> float:
    return sum(float(np.linalg.norm(places[end][0] - places[start][0]))
               for start, end in LIMBS if end.endswith(("shin", "foot")))


def _height(motion: Motion) -> float:
    skeleton = motion.skeleton
    return float(np.ptp(np.concatenate([skeleton.heads, skeleton.tails])[:, 2]))


def _end_effector_errors(wanted: Mapping[str, FloatArray], reached: Mapping[str, FloatArray],
                         scale: float, height: float) -> dict[str, float]:
    found = {}
    for role in ENDS:
        away = reached[role] - reached["hips"] - scale * (wanted[role] - wanted["hips"])
        found[role] = float(100 * np.linalg.norm(away, axis=1).mean() / height)
    return found


def _balls(places: Mapping[str, FloatArray]) -> FloatArray:
    names = [f"{s}_toe" if f"{s}_toe" in places else f"{s}_foot" for s in SIDES]
    return np.stack([places[name] for name in names], axis=1)


def _feet(motion: Motion, roles: Mapping[str, str], part: str) -> dict[str, float]:
    """Measure how a ``part`` of the feet slides, with heights from the level at which it rests."""
    joints = {role: motion.skeleton.index[name] for role, name in roles.items()}
    balls = motion.global_pose.positions[:, [joints[f"{side}_{part}"] for side in SIDES]]
    levels = [resting_height(motion, joints, part, side) for side in SIDES]
    balls = balls - np.array(levels)[:, None] * [0.0, 0.0, 1.0]
    return {"foot_skate_cm_s": metrics.foot_skate(balls, motion.fps),
            "skate_share": metrics.skate_share(balls, motion.fps)}


def planted(source: Motion, joints: Mapping[str, int], side: str) -> NDArray[np.bool_]:
    """Return a mask (F,) of frames in which a foot's ball rests, without ``EDGE_S`` at each end."""
    edge = np.ones(2 * round(EDGE_S * source.fps) + 1)
    return np.asarray(binary_erosion(source_contacts(source, joints, side)[1], edge))


def _planted_drifts(source: Motion, joints: Mapping[str, int], wanted: Mapping[str, FloatArray],
                    reached: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    flat = {side: planted(source, joints, side) for side in SIDES}
    found: dict[str, FloatArray] = {}
    for name, places in (("source", wanted), ("result", reached)):
        balls = _balls(places)
        found[name] = 1000.0 * np.concatenate([np.zeros(0), *(
            metrics.drifts(balls[:, number], flat[side]) for number, side in enumerate(SIDES))])
    return found


def _jerks(places: Mapping[str, FloatArray], fps: float) -> dict[str, float]:
    return {role: metrics.mean_jerk(places[role][:, None], fps) for role in ("hips", *ENDS)}


def _penetration(performance: Performance) -> float:
    motion = performance.motion
    step = max(1, motion.frames // MOST_FRAMES)
    some = Motion(motion.skeleton, motion.fps, motion.root_positions[::step],
                  motion.rotations[::step])
    skin = outermost(performance.character)
    points = skin.posed(some) if len(skin.vertices) else some.global_pose.positions
    return metrics.ground_penetration(points)


def _sinking(source: Motion, joints: Mapping[str, int]) -> float:
    """Return the largest depth (cm) of ankles and toes below the height at which they rest."""
    deepest = 0.0
    for part in ("foot", "toe"):
        both = [joints[f"{s}_{part}"] for s in SIDES if f"{s}_{part}" in joints]
        if both:
            places = source.global_pose.positions[:, both]
            level = resting_level(places, source.fps)
            deepest = max(deepest, level - float(places[..., 2].min()))
    return 100 * deepest
