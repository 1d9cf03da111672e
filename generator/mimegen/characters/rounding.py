"""The last step of building a character: round its numbers to a grid of a micrometre."""

from dataclasses import replace

from mimegen.base.grid import on_grid
from mimegen.characters.character import Material, Mesh
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# Decimals of material parameters such as colors.
DECIMALS = 9


def rounded_skeleton(skeleton: Skeleton) -> Skeleton:
    """Return the skeleton with its positions on the grid."""
    return Skeleton(skeleton.names, skeleton.parents, on_grid(skeleton.heads),
                    on_grid(skeleton.tails))


def rounded_mesh(mesh: Mesh) -> Mesh:
    """Return the mesh with its vertices, weights and attributes on the grid."""
    return replace(
        mesh, vertices=on_grid(mesh.vertices), weights=rounded_weights(mesh.weights),
        attributes={name: on_grid(values) for name, values in mesh.attributes.items()})


def rounded_weights(weights: FloatArray) -> FloatArray:
    """Return weights (V, K) on the grid; the first, the largest, is adjusted to a sum of 1."""
    rounded = on_grid(weights)
    rounded[:, 0] = 1.0 - rounded[:, 1:].sum(axis=1)
    return rounded


def rounded_material(material: Material) -> Material:
    """Return the material with its parameters rounded."""
    return replace(material, parameters={
        name: value if isinstance(value, str) else
        tuple(round(part, DECIMALS) for part in value) if isinstance(value, tuple) else
        round(value, DECIMALS)
        for name, value in material.parameters.items()})
