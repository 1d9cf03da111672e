"""Approximate a body's surface by tubes around trunk, head and limbs.

A point near a body is described relative to its nearest tube: the position along the tube's axis,
the direction from the axis, and the distance from the surface. The same numbers describe the
corresponding point of another body.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from mimegen.base.vectors import unit
from mimegen.characters.character import Character
from mimegen.characters.followers import SKIRT
from mimegen.motion import Skeleton, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.retarget.anatomy import leg_length
from mimegen.retarget.surface import owners

# Radii (m) of an unclothed person to the sides, to the back and to the front, at evenly spaced
# positions from a tube's first end to its second, for the stature below (m): means of the library's
# woman and man, whose joints lie where those of captured people do.
STATURE = 1.70
TYPICAL = {
    "trunk": ((0.165, 0.155, 0.142, 0.145, 0.150, 0.135), (0.112, 0.092, 0.075, 0.086, 0.096, 0.10),
              (0.130, 0.135, 0.135, 0.140, 0.138, 0.105)),
    "head": ((0.074, 0.076, 0.076), (0.090, 0.095, 0.094), (0.098, 0.102, 0.100)),
    "upper_arm": ((0.055, 0.047, 0.040),) * 3,
    "forearm": ((0.040, 0.037, 0.027),) * 3,
    "thigh": ((0.088, 0.080, 0.062),) * 3,
}
# Ends of the head's axis relative to the head joint (m, at that stature).
HEAD_AXIS = ((0.0, -0.022, 0.055), (0.0, -0.015, 0.125))
LEG_SHARE_OF_HEIGHT = 0.491
ALONG = 16
AROUND = 24
# Grid of a measured tube: positions ALONG the axis by directions AROUND it. In each cell the
# surface is the mean of the points that are within OUTER (m) of the outermost.
OUTER = 0.02


@dataclass(frozen=True)
class TubeAxes:
    """A tube's two ends and the direction of its left side, each (F, 3), in all frames."""

    start: FloatArray
    end: FloatArray
    left: FloatArray


@dataclass(frozen=True)
class NearTube:
    """Points (F, P) near a tube.

    ``along`` is the position along the axis, 0 to 1; ``way`` (F, P, 3) the unit direction from the
    axis in components to the left, backward and along; ``off`` the distance (m) from the surface,
    negative inside.
    """

    along: FloatArray
    way: FloatArray
    off: FloatArray


@dataclass(frozen=True)
class FleshTube:
    """Distances (ALONG, AROUND) in metres of the surface from the axis, by position and direction.

    An ``open`` tube, such as the forearm's, has no surface beyond its end.
    """

    radii: FloatArray
    open: bool = False

    def radius(self, along: FloatArray, way: FloatArray) -> FloatArray:
        """Return the distances (F, P) of the surface from the axis."""
        # As coordinates in the grid, whose first column is repeated at its end.
        turn = np.arctan2(way[..., 1], way[..., 0]) / (2 * np.pi) * AROUND
        grid = np.concatenate([self.radii, self.radii[:, :1]], axis=1)
        return np.asarray(scipy.ndimage.map_coordinates(
            grid, [along * (ALONG - 1), turn % AROUND], order=1, mode="nearest"))

    def found(self, points: FloatArray, axes: TubeAxes) -> NearTube:
        """Return ``points`` (F, P, 3) in coordinates of the tube."""
        frame, length = _frame(axes)
        away = points - axes.start[:, None]
        along = np.clip(np.einsum("fpx,fx->fp", away, frame[:, 2]) / length[:, None], 0.0, 1.0)
        away = away - along[..., None] * (axes.end - axes.start)[:, None]
        way = unit(np.einsum("fpx,fkx->fpk", away, frame))
        off = np.linalg.norm(away, axis=-1) - self.radius(along, way)
        if self.open:
            off = off + np.where(along >= 1.0, np.inf, 0.0)
        return NearTube(along, way, off)

    def point(self, place: NearTube, axes: TubeAxes) -> tuple[FloatArray, FloatArray]:
        """Return world positions (F, P, 3) of points near the tube, and directions off its axis."""
        frame, _ = _frame(axes)
        way = np.einsum("fpk,fkx->fpx", place.way, frame)
        on_axis = axes.start[:, None] + place.along[..., None] * (axes.end - axes.start)[:, None]
        out = self.radius(place.along, place.way) + place.off
        return on_axis + out[..., None] * way, way


def _frame(axes: TubeAxes) -> tuple[FloatArray, FloatArray]:
    """Return left, backward and along as rows (F, 3, 3), and the axis' length (F,)."""
    along = axes.end - axes.start
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-6)
    along = along / length[:, None]
    # Made perpendicular to the axis: where shoulders slant the three would not be orthogonal.
    left = unit(axes.left - along * np.sum(axes.left * along, axis=1, keepdims=True))
    return np.stack([left, np.cross(along, left), along], axis=1), length


def forward_of(axes: TubeAxes) -> FloatArray:
    """Return the unit vectors (F, 3) that point forward from a tube's axis."""
    return np.asarray(-_frame(axes)[0][:, 1])


def tube_axes(positions: FloatArray, head_turns: FloatArray, joints: Mapping[str, int],
              size: float) -> dict[str, TubeAxes]:
    """Return the axes of all tubes by name, in all frames of joint positions (F, J, 3).

    ``head_turns`` (F, 4) are rotations of the head from an upright rest pose; ``size`` is the
    body's stature as a multiple of the typical one.
    """
    def at(role: str) -> FloatArray:
        return positions[:, joints[role]]

    hips, shoulders = (at(f"left_{part}") - at(f"right_{part}") for part in ("thigh", "upper_arm"))
    found = {"trunk": TubeAxes((at("left_thigh") + at("right_thigh")) / 2,
                               (at("left_upper_arm") + at("right_upper_arm")) / 2,
                               # Unit vectors, so that wide shoulders count no more than narrow
                               # hips.
                               unit(hips) + unit(shoulders))}
    ends = [at("head") + quaternions.rotate(head_turns, size * np.array(end)) for end in HEAD_AXIS]
    found["head"] = TubeAxes(ends[0], ends[1], quaternions.rotate(head_turns, [1.0, 0.0, 0.0]))
    for side in ("left", "right"):
        for start, end in (("thigh", "shin"), ("upper_arm", "forearm"), ("forearm", "hand")):
            found[f"{side}_{start}"] = TubeAxes(at(f"{side}_{start}"), at(f"{side}_{end}"), hips)
    return found


def stature(skeleton: Skeleton, joints: Mapping[str, int]) -> float:
    """Return a body's stature, estimated from its legs, as a multiple of the typical stature."""
    return leg_length(skeleton, joints) / 2 / LEG_SHARE_OF_HEIGHT / STATURE


def typical_tubes(size: float) -> dict[str, FleshTube]:
    """Return the tubes of an unclothed person of relative stature ``size``."""
    around = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    behind = np.sin(around) > 0
    found = {}
    for name, profiles in TYPICAL.items():
        wide, back, front = (np.interp(np.linspace(0, 1, ALONG), np.linspace(0, 1, len(profile)),
                                       profile)[:, None] for profile in profiles)
        deep = np.where(behind, back, front)
        # Ellipses by their half axes: one to the sides, one to the front, one to the back.
        tube = FleshTube(size / np.hypot(np.cos(around) / wide, np.sin(around) / deep),
                         name == "forearm")
        for key in (name,) if name in ("trunk", "head") else (f"left_{name}", f"right_{name}"):
            found[key] = tube
    return found


@lru_cache(maxsize=4)
def measured_tubes(character: Character, numbers: tuple[tuple[str, int], ...]
                   ) -> Mapping[str, FleshTube]:
    """Return a character's tubes, measured on its meshes in the rest pose, or else typical ones.

    A tube with few points stays typical. ``numbers`` are pairs of role and joint.
    """
    skeleton, joints = character.skeleton, dict(numbers)
    tubes = typical_tubes(stature(skeleton, joints))
    if not character.meshes:
        return tubes
    places = np.concatenate([mesh.vertices for mesh in character.meshes])
    role_of = {joint: role for role, joint in joints.items()}
    # A hanging skirt does not count: its hem would widen the hips to its own width.
    of = np.array(["" if name in SKIRT else _nearest_role(skeleton, role_of, joint)
                   for joint, name in enumerate(skeleton.names)])
    parts = of[np.concatenate([owners(mesh) for mesh in character.meshes])]
    axes = tube_axes(skeleton.heads[None], quaternions.IDENTITY[None], joints,
                     stature(skeleton, joints))
    for name, tube in tubes.items():
        own = places[_belongs(parts, name)]
        if len(own) > 50:
            tubes[name] = _measured(own, axes[name], tube)
    return tubes


def _nearest_role(skeleton: Skeleton, role_of: Mapping[int, str], joint: int) -> str:
    while joint >= 0:
        if joint in role_of:
            return role_of[joint]
        joint = int(skeleton.parents[joint])
    return ""


def _belongs(parts: FloatArray, name: str) -> FloatArray:
    if name != "trunk":
        return np.asarray(parts == name)
    return np.array([part in ("hips", "chest") or part.startswith("spine") for part in parts])


def _measured(points: FloatArray, axes: TubeAxes, tube: FleshTube) -> FleshTube:
    """Return a tube through the outer points of (V, 3), or ``tube`` if they cover too few cells."""
    place = FleshTube(np.zeros((ALONG, AROUND))).found(points[None], axes)
    along = np.round(place.along[0] * (ALONG - 1)).astype(int)
    turn = np.arctan2(place.way[0, :, 1], place.way[0, :, 0]) / (2 * np.pi) * AROUND
    around = np.round(turn).astype(int) % AROUND
    radii = np.zeros((ALONG, AROUND))
    # First the outermost point of each cell, then the mean of the points near it: so inner layers
    # of cloth do not count, and single spikes hardly.
    np.maximum.at(radii, (along, around), place.off[0])
    outer = place.off[0] > radii[along, around] - OUTER
    cell = along[outer] * AROUND + around[outer]
    counts = np.bincount(cell, minlength=radii.size)
    sums = np.bincount(cell, place.off[0, outer], minlength=radii.size)
    radii = (sums / np.maximum(counts, 1)).reshape(radii.shape)
    # Below this, at least four cells of five would be guesses.
    if np.count_nonzero(radii) < 0.2 * radii.size:
        return tube
    # Repeated three times around the axis, so that filling and smoothing treat the last column as a
    # neighbour of the first.
    wrapped = np.tile(radii, (1, 3))
    nearest = scipy.ndimage.distance_transform_edt(
        wrapped == 0, return_distances=False, return_indices=True)
    filled = wrapped[tuple(nearest)]
    smooth = scipy.ndimage.gaussian_filter(filled, (0.7, 0.7), mode="nearest")
    return FleshTube(smooth[:, AROUND : 2 * AROUND], tube.open)
