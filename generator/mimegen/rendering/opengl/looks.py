"""Simplified character materials for drafts: a color and a shine for every vertex.

The kinds are those of ``rendering/cycles/materials.py``. Their fine patterns, smaller than a
draft's pixels, are left out; the coarse ones, folds and fading, are evaluated at the vertices in
the rest pose.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mimegen.base.vectors import unit
from mimegen.characters.character import Material, Mesh
from mimegen.characters.surface import vertex_normals
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.noise import fractal, slope

# Reflectance of most materials at normal incidence; Blender's specular level of 0.5.
DIELECTRIC = 0.04
# Fraction of light that reaches the eyes; lids and lashes block the rest.
EYE_LIGHT = 0.5


@dataclass(frozen=True, eq=False)
class MeshLook:
    """How a mesh reflects and glows at its vertices.

    ``color`` (V, 3) is linear RGB; ``glow`` (V, 3) is radiance; ``shine`` (V, 3) is roughness,
    reflectance at normal incidence, and metallic; ``normals`` (V, 3) are in the rest pose, tilted
    by folds.
    """

    color: FloatArray
    glow: FloatArray
    shine: FloatArray
    normals: FloatArray


def look_of(mesh: Mesh, material: Material) -> MeshLook:
    """Return the look of a mesh; raises KeyError for an unknown kind or a missing parameter."""
    normals = vertex_normals(mesh.vertices, mesh.faces)
    return KINDS[material.kind](mesh, material.parameters, normals)


def _look(mesh: Mesh, color: FloatArray | tuple[float, ...], normals: FloatArray, roughness: float,
          reflection: float = DIELECTRIC, metallic: float = 0.0,
          glow: FloatArray | float = 0.0) -> MeshLook:
    size = (len(mesh.vertices), 3)
    shine = np.broadcast_to([roughness, reflection, metallic], size)
    return MeshLook(np.broadcast_to(color, size), np.broadcast_to(glow, size), shine, normals)


def _plain(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    return _look(mesh, points["color"], normals, points["roughness"], metallic=points["metallic"])


def _light(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    glow = np.array(points["color"]) * points["strength"]
    return _look(mesh, (0.0, 0.0, 0.0), normals, 1.0, 0.0, glow=glow)


def _picture(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    return _look(mesh, (1.0, 1.0, 1.0), normals, points["roughness"], metallic=points["metallic"])


def _skin(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    base, redness = np.array(points["color"]), points["redness"]
    own = mesh.attributes
    color = _mix(fractal(30.0 * own["rest"], 3.0), 0.9 * base, 1.1 * base)
    color = _mix(own["red"] * redness, color, base * [0.92, 0.52, 0.50])
    color = _mix(own["lips"] * (0.35 + 0.6 * redness), color, base * [0.72, 0.36, 0.38])
    color = _mix(own["hairy"], color, 0.35 * base + 0.5 * np.array(points["hair_color"]))
    color = _mix(own["nails"] * 0.7, color, np.minimum(1.0, base * [1.1, 0.95, 0.95]))
    return _look(mesh, color, normals, 0.52, 0.7 * DIELECTRIC)


def _cloth(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    rest = mesh.attributes["rest"]
    # A picture is multiplied with the color.
    base = np.ones(3) if "uv" in mesh.attributes else np.array(points["color"])
    color = _mix(fractal(4.0 * rest, 2.0), 0.84 * base, 1.14 * base)
    stretch = 9.0 * np.array(points["fold_stretch"])
    steep = points["fold_height"] * stretch * slope(stretch * rest, 1.5, 1.2)
    folded = unit(normals - _across(steep, normals))
    return _look(mesh, color, folded, points["roughness"], 0.4 * DIELECTRIC)


def _hair(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    strand, base = mesh.attributes["strand"], np.array(points["color"])
    streaks = 0.5 * fractal(5.0 * strand, 2.0) + 0.5 * fractal(30.0 * strand, 2.0)
    color = _mix(_span(streaks, 0.35, 0.65), 0.55 * base, np.minimum(1.0, 1.5 * base))
    return _look(mesh, color, normals, 0.5, 0.6 * DIELECTRIC)


def _eye(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    angle, iris, base = mesh.attributes["angle"], points["iris_deg"], np.array(points["color"])
    bright, dark = (np.minimum(1.0, factor * base) for factor in (1.7, 0.8))
    color = _mix(_span(angle, 12.0, iris * 0.8), bright, dark)
    color = _mix(_span(angle, iris - 4.0, iris - 1.0), color, 0.2 * base)
    color = _mix(_span(angle, iris - 0.5, iris + 1.0), color, np.array([0.80, 0.77, 0.74]))
    color = _mix(_span(angle, 12.0, 11.0), color, np.full(3, 0.004))
    color = EYE_LIGHT * color
    # Eyeballs' faces point inwards.
    return _look(mesh, color, -normals, 0.12, 1.2 * DIELECTRIC, glow=0.2 * color)


def _painted(mesh: Mesh, points: Mapping[str, Any], normals: FloatArray) -> MeshLook:
    rest, own = mesh.attributes["rest"], mesh.attributes["paint"]
    dust = _span(fractal(7.0 * rest, 4.0), 0.5, 0.75) * points["wear"]
    color = _mix(dust, own, own * [0.72, 0.70, 0.66])
    steep = points["fold_height"] * 26.0 * slope(26.0 * rest, 2.0, 1.5)
    creased = unit(normals - _across(steep, normals))
    return _look(mesh, color, creased, points["roughness"], metallic=points["metallic"])


def _mix(share: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    return one + np.asarray(share)[:, None] * (other - one)


def _span(value: FloatArray, start: float, end: float) -> FloatArray:
    return np.asarray(np.clip((value - start) / (end - start), 0.0, 1.0))


def _across(gradient: FloatArray, normals: FloatArray) -> FloatArray:
    """Return the component of a gradient (V, 3) that is tangential to the surface."""
    along = (gradient * normals).sum(axis=1, keepdims=True)
    return np.asarray(gradient - along * normals)


KINDS: Mapping[str, Callable[[Mesh, Mapping[str, Any], FloatArray], MeshLook]] = {
    "plain": _plain, "image": _picture, "skin": _skin, "cloth": _cloth, "hair": _hair, "eye": _eye,
    "painted": _painted, "light": _light,
}
