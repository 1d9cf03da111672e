"""Forms of imagined objects: whether hands stay on the rod, ring or cup that they hold."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import lengths, product, unit
from mimegen.choreography.anchors import SIDES, Anchors
from mimegen.choreography.body import bar_axis, hand_point
from mimegen.choreography.hands import HandTrack
from mimegen.choreography.places import LEFT, Direction, in_body_axes
from mimegen.choreography.score import HandKey, Prop
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray

# A hand holds a rod while keys within ON_ROD_CM of the rod have more than this share of its weight.
ON_ROD_CM = 7.0
ON_SHARE = 0.98
# A key grips a rod along its axis if the cosine between its bar and the axis is above this.
ALONG_COSINE = 0.8


class Off(NamedTuple):
    """The deviation (F,) of a hand, or of an object, from the form, in degrees or centimetres."""

    part: str
    values: FloatArray
    unit: str


def off_form(anchors: Anchors) -> Iterator[Off]:
    """Yield the motion's deviations from the form of each imagined object."""
    for name, prop in anchors.score.props.items():
        on: dict[str, tuple[FloatArray, NDArray[np.bool_]]] = {}
        for side in SIDES:
            track = anchors.hand_track(side)
            hung = np.array([_hung(key, name, prop, track.side) for key in track.hand_keys])
            now = product(track.weights(), hung) > ON_SHARE
            if now.any():
                on[side] = _touching(anchors, name, side, track), now
                yield from _of_hand(anchors, name, side, *on[side])
        if prop.length is not None and len(on) == 2:
            (left, left_now), (right, right_now) = on.values()
            over = (lengths(left - right) - prop.length) * (left_now & right_now)
            yield Off(f"hands apart on the {name}", over, "cm")
        if prop.upright is not None and on:
            up = anchors.resolve(name, LEFT).rotations
            tipped = _degrees(quaternions.rotate(up, np.array([0.0, 0.0, 1.0]))[:, 2])
            held = np.any([now for _, now in on.values()], axis=0)
            yield Off(f"{name} tipped", held * (tipped - prop.upright), "degrees")


def _hung(key: HandKey, name: str, prop: Prop, side: float) -> bool:
    """Return whether a key puts its hand on the object itself, not merely near it."""
    if key.to is None or key.to.anchor != name or (prop.form is None and prop.upright is None):
        return False
    place = in_body_axes(np.array(key.to.offset), side)
    return prop.form != "rod" or float(_beside(place, _along(prop))) < ON_ROD_CM


def _touching(anchors: Anchors, name: str, side: str, track: HandTrack) -> FloatArray:
    """Return a hand's touching point in the object's frame (F, 3), in centimetres."""
    pose, stage, frame = anchors.pose, anchors.context, anchors.resolve(name, LEFT)
    touches = np.stack([hand_point(key.touch or "palm", track.side) for key in track.hand_keys])
    touch = product(track.weights(), touches)
    hand = stage.skeleton.index[f"{side}Hand"]
    point = pose.positions[:, hand] + quaternions.rotate(pose.rotations[:, hand], touch)
    back = quaternions.conjugate(frame.rotations)
    return quaternions.rotate(back, point - frame.positions) / stage.unit


def _of_hand(anchors: Anchors, name: str, side: str, point: FloatArray,
             now: NDArray[np.bool_]) -> Iterator[Off]:
    prop, part = anchors.score.props[name], f"{side} hand on the {name}"
    if prop.form == "ring" and prop.radius is not None:
        rim = np.hypot(point[:, 0], point[:, 2]) - prop.radius
        yield Off(part, np.where(now, np.hypot(rim, point[:, 1]), 0.0), "cm")
    if prop.form == "rod":
        keys = [key for key in anchors.hand_track(side).hand_keys
                if key.to and key.to.anchor == name]
        meant = max(float(_beside(in_body_axes(np.array(key.to.offset), SIDES[side]),
                                  _along(prop))) for key in keys
                    if key.to and _hung(key, name, prop, SIDES[side]))
        beside = np.maximum(_beside(point, _along(prop)) - meant, 0.0)
        yield Off(part, np.where(now, beside, 0.0), "cm")
        if all(key.bar and abs(unit(key.bar.in_axes(SIDES[side])) @ _along(prop)) > ALONG_COSINE
               for key in keys):
            yield Off(f"{side} grip along the {name}", now * _askew(anchors, name, side), "degrees")


def _askew(anchors: Anchors, name: str, side: str) -> FloatArray:
    """Return the angle (F,) in degrees between the bar axis of a hand and the rod's axis."""
    hand = anchors.pose.rotations[:, anchors.context.skeleton.index[f"{side}Hand"]]
    held = quaternions.rotate(hand, bar_axis(SIDES[side]))
    axis = _along(anchors.score.props[name])
    rod = quaternions.rotate(anchors.resolve(name, LEFT).rotations, axis)
    return _degrees(np.abs(np.sum(held * rod, axis=-1)))


def _degrees(cosines: FloatArray) -> FloatArray:
    return np.asarray(np.rad2deg(np.arccos(np.clip(cosines, -1.0, 1.0))))


def _along(prop: Prop) -> FloatArray:
    along: Direction = prop.along
    return unit(along.in_axes(LEFT))


def _beside(points: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the distances of points (..., 3) from the line through the origin along ``axis``."""
    return lengths(points - np.sum(points * axis, axis=-1, keepdims=True) * axis)
