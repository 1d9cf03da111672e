"""Compute joint centres from markers by published regressions, in the frame of the markers.

Hips: Harrington et al., "Prediction of the hip joint centre in adults, children, and patients with
cerebral palsy based on magnetic resonance imaging", J. Biomech. 40 (2007), the regression on pelvic
width and depth. Pelvic axes and the chord function of knees and ankles: Davis et al., "A gait
analysis data collection and reduction technique", Hum. Mov. Sci. 10 (1991), and Vicon's Plug-in
Gait. Elbows and shoulders: Plug-in Gait. If both epicondyles, malleoli or styloids are marked, the
centre is their midpoint, as the ISB recommends (Wu et al. 2002, 2005).
"""

from collections.abc import Mapping

import numpy as np

from mimegen.base.vectors import unit_or_nan
from mimegen.markers.sets import body_landmarks
from mimegen.motion import standard_skeleton
from mimegen.motion.quaternions import FloatArray

Positions = Mapping[str, FloatArray]

SIDES = (("left", 1.0), ("right", -1.0))
# Least cosine between a thigh or shin wand and the side of the leg: a wand further off does not
# show the joint's axis.
WAND_COSINE = 0.8
# Least sine of the elbow's angle: below it the elbow's axis cannot be found.
MIN_BEND = 0.35


def joint_centres(positions: Positions, scale: float) -> dict[str, FloatArray]:
    """Return joint name of the standard skeleton -> positions (F, 3), NaN where unknown.

    ``positions`` are landmark name -> (F, 3) in metres, Z up. ``scale`` is the body's size over the
    standard skeleton's; it scales the distances from skin to joint.
    """
    centres = hip_centres(positions)
    for side, sign in SIDES:
        _leg(positions, centres, side, sign, scale)
        _arm(positions, centres, side, sign, scale)
    return centres


def median_length(vectors: FloatArray) -> float:
    """Return the median length of vectors (F, 3), NaN if none is known."""
    lengths = np.linalg.norm(vectors, axis=-1)
    known = lengths[np.isfinite(lengths)]
    return float(np.median(known)) if len(known) else float("nan")


def hip_centres(positions: Positions) -> dict[str, FloatArray]:
    """Return LeftUpLeg and RightUpLeg (F, 3) after Harrington et al. (2007), if markers allow."""
    positions = _with_mirrored_spine_marker(positions)
    if not {"left_asis", "right_asis"} <= set(positions):
        return {}
    left, right = positions["left_asis"], positions["right_asis"]
    back = [positions[n] for n in ("left_psis", "right_psis") if n in positions]
    rear = sum(back, np.zeros(3)) / 2 if len(back) == 2 else positions.get("sacrum")
    if rear is None:
        return {}
    front = (left + right) / 2
    across = unit_or_nan(left - right)
    ahead = front - rear
    forward = unit_or_nan(ahead - np.sum(ahead * across, axis=-1, keepdims=True) * across)
    up = np.cross(forward, across)
    width, depth = median_length(left - right), median_length(front - rear)
    middle = front - (0.24 * depth + 0.0099) * forward - (0.30 * width + 0.0109) * up
    aside = (0.33 * width + 0.0073) * across
    return {"LeftUpLeg": middle + aside, "RightUpLeg": middle - aside}


def _with_mirrored_spine_marker(positions: Positions) -> Positions:
    """Return positions with one missing iliac spine, mirrored in the plane of the other pair."""
    pairs = [("left_asis", "right_asis"), ("left_psis", "right_psis")]
    for pair, (left, right) in zip(pairs, pairs[::-1], strict=True):
        there = [name for name in pair if name in positions]
        if len(there) == 1 and {left, right} <= set(positions):
            across = unit_or_nan(positions[left] - positions[right])
            middle = (positions[left] + positions[right]) / 2
            own = positions[there[0]]
            aside = np.sum((own - middle) * across, axis=-1, keepdims=True) * across
            missing = pair[0] if there[0] == pair[1] else pair[1]
            return {**positions, missing: own - 2 * aside}
    return positions


def chord(proximal: FloatArray, marker: FloatArray, lateral: FloatArray,
          distance: float) -> FloatArray:
    """Return the joint centre (F, 3) medial of a marker: Davis' and Plug-in Gait's chord function.

    The centre is ``distance`` from the marker. The lines from it to the marker and to ``proximal``
    are perpendicular, and it lies opposite to the direction ``lateral`` (F, 3).
    """
    line = proximal - marker
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    along = line / length
    aside = unit_or_nan(lateral - np.sum(lateral * along, axis=-1, keepdims=True) * along)
    share = np.minimum(distance / length, 0.9)
    return np.asarray(marker + distance * (share * along - np.sqrt(1 - share**2) * aside))


def _distance(landmark: str, joint: str, scale: float) -> float:
    skeleton = standard_skeleton()
    between = body_landmarks()[landmark].place - skeleton.heads[skeleton.index[joint]]
    return scale * float(np.linalg.norm(between))


def _leg(positions: Positions, centres: dict[str, FloatArray], side: str, sign: float,
         scale: float) -> None:
    """Add a side's knee and ankle to ``centres``."""
    part = side.capitalize()
    above = centres.get(f"{part}UpLeg")
    if above is None:
        return
    across = sign * (centres["LeftUpLeg"] - centres["RightUpLeg"])
    for name, joint, wand in (("knee", "Leg", "thigh"), ("ankle", "Foot", "shin")):
        lateral, medial = (positions.get(f"{side}_{edge}_{name}") for edge in ("lateral", "medial"))
        if lateral is None:
            return
        if medial is not None:
            centre = (lateral + medial) / 2
        else:
            distance = _distance(f"{side}_lateral_{name}", part + joint, scale)
            aside = _lateral_direction(positions.get(f"{side}_{wand}"), above, lateral, across)
            centre = chord(above, lateral, aside, distance)
        centres[part + joint] = above = centre


def _lateral_direction(wand: FloatArray | None, above: FloatArray, marker: FloatArray,
                       across: FloatArray) -> FloatArray:
    """Return the lateral direction (F, 3): the wand's if it stands at the side, else the pelvis'.
    """
    if wand is None:
        return across
    along = unit_or_nan(above - marker)
    aside, level = (unit_or_nan(v - np.sum(v * along, axis=-1, keepdims=True) * along)
                    for v in (wand - marker, across))
    cosines = np.sum(aside * level, axis=-1)
    shown = cosines[np.isfinite(cosines)]
    return aside if len(shown) and np.median(shown) > WAND_COSINE else across


def _arm(positions: Positions, centres: dict[str, FloatArray], side: str, sign: float,
         scale: float) -> None:
    """Add a side's shoulder, elbow and wrist to ``centres``."""
    part = side.capitalize()
    styloids = [positions[n] for n in (f"{side}_radial_wrist", f"{side}_ulnar_wrist") if n
                in positions]
    if len(styloids) == 2:
        centres[f"{part}Hand"] = (styloids[0] + styloids[1]) / 2
    acromion, lateral = positions.get(f"{side}_acromion"), positions.get(f"{side}_lateral_elbow")
    if acromion is None or lateral is None:
        return
    shoulder = acromion + _distance(f"{side}_acromion", f"{part}Arm", scale) * _down(positions)
    centres[f"{part}Arm"] = shoulder
    medial, wrist = positions.get(f"{side}_medial_elbow"), centres.get(f"{part}Hand")
    if medial is not None:
        centres[f"{part}ForeArm"] = (lateral + medial) / 2
    elif wrist is not None:
        axis = sign * np.cross(unit_or_nan(lateral - shoulder), unit_or_nan(wrist - lateral))
        bent = np.linalg.norm(axis, axis=-1, keepdims=True) > MIN_BEND
        distance = _distance(f"{side}_lateral_elbow", f"{part}ForeArm", scale)
        centres[f"{part}ForeArm"] = np.where(bent, chord(shoulder, lateral, -axis, distance),
                                             np.nan)


def _down(positions: Positions) -> FloatArray:
    """Return the trunk's downward direction (F, 3), from the neck's root to the chest's markers.

    Without these markers it is the world's.
    """
    top = [positions[n] for n in ("c7", "jugular_notch") if n in positions]
    low = [positions[n] for n in ("t10", "t8", "xiphoid") if n in positions]
    if len(top) == 2 and len(low) == 2:
        return unit_or_nan(low[0] + low[1] - top[0] - top[1])
    return np.array([0.0, 0.0, -1.0])
