"""Built characters and their performances as bytes.

Nothing is lost, and equal values give equal bytes.
"""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.character import Character, Material, Mesh, Performance
from mimegen.motion import Motion, Skeleton

Arrays = dict[str, NDArray[Any]]


def pack_character(character: Character) -> bytes:
    """Return a character as an npz archive, which ``unpack_character`` reads back exactly."""
    skeleton = character.skeleton
    arrays: Arrays = {
        "parents": skeleton.parents, "heads": skeleton.heads, "tails": skeleton.tails}
    for number, mesh in enumerate(character.meshes):
        arrays |= _mesh_arrays(f"mesh{number}", mesh)
    for number, material in enumerate(character.materials.values()):
        if material.image is not None:
            arrays[f"image{number}"] = np.frombuffer(material.image, dtype=np.uint8)
    header = {
        "name": character.name, "fingerprint": character.fingerprint, "source": character.source,
        "licence": character.licence, "joints": skeleton.names,
        "swelling": character.swelling, "age": character.age,
        "meshes": [_mesh_header(mesh) for mesh in character.meshes],
        "materials": [[name, material.name, material.kind, dict(material.parameters)]
                      for name, material in character.materials.items()],
    }
    return _packed(header, arrays)


def unpack_character(packed: bytes) -> Character:
    """Return the character that ``pack_character`` packed."""
    header, arrays = _unpacked(packed)
    skeleton = Skeleton(tuple(header["joints"]), arrays["parents"].astype(np.intp),
                        arrays["heads"], arrays["tails"])
    meshes = tuple(_mesh(f"mesh{number}", entry, arrays)
                   for number, entry in enumerate(header["meshes"]))
    materials = {key: _material(name, kind, parameters, arrays.get(f"image{number}"))
                 for number, (key, name, kind, parameters) in enumerate(header["materials"])}
    return Character(header["name"], skeleton, meshes, materials, header["fingerprint"],
                     header["source"], header["licence"], tuple(header["swelling"]),
                     header["age"])


def pack_performance(performance: Performance) -> bytes:
    """Return a performance without its character as an npz archive."""
    motion = performance.motion
    return _packed({"character": performance.character.fingerprint, "fps": motion.fps},
                   {"root_positions": motion.root_positions, "rotations": motion.rotations})


def unpack_performance(packed: bytes, character: Character) -> Performance:
    """Return the performance that ``pack_performance`` packed.

    Raises ValueError if it was performed by another character.
    """
    header, arrays = _unpacked(packed)
    if header["character"] != character.fingerprint:
        raise ValueError(f"a packed performance is not one of the character {character.name}")
    return Performance(character, Motion(character.skeleton, header["fps"],
                                         arrays["root_positions"], arrays["rotations"]))


def _mesh_header(mesh: Mesh) -> dict[str, Any]:
    return {"name": mesh.name, "material": mesh.material, "subdivide": mesh.subdivide,
            "attributes": list(mesh.attributes)}


def _mesh_arrays(prefix: str, mesh: Mesh) -> Arrays:
    arrays: Arrays = {"vertices": mesh.vertices, "faces": mesh.faces, "joints": mesh.joints,
                      "weights": mesh.weights}
    if mesh.uvs is not None:
        arrays["uvs"] = mesh.uvs
    arrays |= {f"attribute/{name}": values for name, values in mesh.attributes.items()}
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _mesh(prefix: str, header: Mapping[str, Any], arrays: Arrays) -> Mesh:
    def array(name: str) -> NDArray[Any]:
        return arrays[f"{prefix}/{name}"]

    return Mesh(
        header["name"], array("vertices"), array("faces"), array("joints"), array("weights"),
        header["material"], arrays.get(f"{prefix}/uvs"),
        {name: array(f"attribute/{name}") for name in header["attributes"]}, header["subdivide"])


def _material(name: str, kind: str, parameters: dict[str, Any],
              image: NDArray[np.uint8] | None) -> Material:
    values = {key: tuple(value) if isinstance(value, list) else value
              for key, value in parameters.items()}
    return Material(name, kind, values, None if image is None else image.tobytes())


def _packed(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Pack in C order and without compression, so that equal values give equal bytes."""
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    file = io.BytesIO()
    ordered: dict[str, Any] = {name: np.ascontiguousarray(array)
                               for name, array in arrays.items()}
    np.savez(file, header=text, **ordered)
    return file.getvalue()


def _unpacked(packed: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of an archive."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("header").tobytes()), arrays
