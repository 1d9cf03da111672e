"""The digest that identifies everything visible of a character."""

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from mimegen.characters.character import Material, Mesh


def fingerprint(meshes: Iterable[Mesh], materials: Iterable[Material],
                swelling: tuple[float, ...] = ()) -> str:
    """Return the SHA-256 digest of everything visible of a character, and of how arms swell.

    Numbers are rounded to a micrometre.
    """
    digest = hashlib.sha256(repr(swelling).encode() if swelling else b"")
    for mesh in meshes:
        digest.update(repr((mesh.name, mesh.material, mesh.subdivide)).encode())
        arrays: Mapping[str, object] = {
            "vertices": mesh.vertices, "faces": mesh.faces, "joints": mesh.joints,
            "weights": mesh.weights, "uvs": mesh.uvs, **mesh.attributes,
        }
        for name, array in sorted(arrays.items()):
            if array is not None:
                rounded = np.round(np.asarray(array, dtype=float), 6) + 0.0
                digest.update(f"{name}{rounded.shape}".encode() + rounded.tobytes())
    for material in materials:
        parts = (material.name, material.kind, sorted(material.parameters.items()))
        digest.update(repr(parts).encode() + (material.image or b""))
    return digest.hexdigest()
