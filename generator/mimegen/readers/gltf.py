"""Prepare glTF files for Blender: refuse unreadable ones, and add a skin to animated nodes.

Format: the Khronos glTF 2.0 specification, section 4.4 (GLB) and 3.7.3 (skins). Blender makes bones
only of nodes that a skin lists, but files of motion libraries hold an animated tree of nodes alone.
"""

import json
from pathlib import Path
from urllib.parse import quote, unquote

from mimegen.base.errors import RequestError
from mimegen.base.file_signatures import refuse_foreign
from mimegen.readers.files import buffers_beside
from mimegen.readers.gltf_file import (
    CHUNK_HEADER,
    HEADER,
    MAGIC,
    Document,
    glb_of,
    read_document,
    text_of,
)
from mimegen.readers.meshopt.unpacking import unpacked

GLTF_SUFFIXES = (".glb", ".gltf", ".vrm", ".vrma")
# The extension for KTX2 images.
BASIS = "KHR_texture_basisu"
MOVES = ("translation", "rotation", "scale")
# Parts that a motion does not need, and that may hold images or meshes that cannot be read.
APPEARANCE = ("meshes", "materials", "textures", "images", "samplers", "cameras")


def check_gltf(path: Path) -> None:
    """Raise RequestError if a glTF file requires KTX2 images, which Blender cannot read.

    Also raise it if a binary file that it refers to is a Git LFS pointer.
    """
    for buffer in buffers_beside(path):
        refuse_foreign(buffer)
    document = read_document(path)
    needed = document.get("extensionsRequired", []) if document else []
    needed = needed if isinstance(needed, list) else []
    plain = f"{path.stem}_plain{path.suffix}"
    if BASIS in needed:
        raise RequestError(
            f"{path}: has KTX2 pictures, which are not read; unpack them with npx"
            f" @gltf-transform/cli ktxdecompress {path.name} {plain}, and use {plain}")


def plain_gltf(path: Path, folder: Path) -> Path:
    """Return a glTF file that Blender's importer understands: ``path``, or a copy in ``folder``.

    Raises RequestError, one line, for a file that cannot be converted for Blender either.
    """
    check_gltf(path)
    return unpacked(path, folder)


def with_bones(path: Path, folder: Path) -> Path:
    """Return a glTF file whose animated nodes are bones: ``path``, or a copy in ``folder``.

    The copy has a skin for each animated tree that no skin lists, and no meshes or materials.
    """
    document = read_document(path)
    try:
        joints = _animated_trees(document) if document else []
        if document is None or not joints:
            return path
        _make_bones(document, joints)
        packed = _packed(document, path)
    # Blender refuses damaged files.
    except (LookupError, TypeError, ValueError, AttributeError):
        return path
    copy = folder / f"bones{path.suffix.lower()}"
    copy.write_bytes(packed)
    return copy


def _make_bones(document: Document, joints: list[list[int]]) -> None:
    """Add a skin for each tree of joints to a document, and remove its visible parts."""
    document["skins"] = [*document.get("skins", []), *({"joints": tree} for tree in joints)]
    for part in APPEARANCE:
        document.pop(part, None)
    for node in document["nodes"]:
        node.pop("mesh", None)
        node.pop("camera", None)
    document.pop("extensionsRequired", None)


def _packed(document: Document, path: Path) -> bytes:
    """Return the file's bytes with ``document`` as its JSON; the binary chunk is unchanged."""
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        for buffer in document.get("buffers", []):
            if not buffer.get("uri", "data:").startswith("data:"):
                buffer["uri"] = quote(str(path.resolve().parent / unquote(buffer["uri"])))
        return json.dumps(document).encode()
    return glb_of(document, data[HEADER + CHUNK_HEADER + len(text_of(data)) :])


def _animated_trees(document: Document) -> list[list[int]]:
    """Return the nodes of each tree that an animation moves; none if a skin lists any of them."""
    nodes = document["nodes"]
    animation = document.get("extensions", {}).get("VRMC_vrm_animation", {})
    hips = animation.get("humanoid", {}).get("humanBones", {}).get("hips", {}).get("node")
    if isinstance(hips, int) and not document.get("skins"):
        return [_below(nodes, hips)]
    animated = {int(channel["target"]["node"])
                for animation in document.get("animations", [])
                for channel in animation["channels"]
                if channel["target"].get("path") in MOVES and "node" in channel["target"]}
    skinned = {joint for skin in document.get("skins", []) for joint in skin["joints"]}
    if not animated or animated & skinned:
        return []
    parents = {child: number for number, node in enumerate(nodes)
               for child in node.get("children", [])}
    tops = {_topmost(node, parents, animated) for node in sorted(animated)}
    return [_below(nodes, top) for top in sorted(tops)]


def _topmost(node: int, parents: dict[int, int], animated: set[int]) -> int:
    """Return the highest animated node above a node, or itself."""
    top, seen = node, {node}
    while node in parents and parents[node] not in seen:
        node = parents[node]
        seen.add(node)
        top = node if node in animated else top
    return top


def _below(nodes: list[Document], top: int) -> list[int]:
    """Return a node and all below it, parents first."""
    found, waiting, seen = [], [top], {top}
    while waiting:
        found.append(waiting.pop())
        children = [child for child in nodes[found[-1]].get("children", []) if child not in seen]
        seen.update(children)
        waiting.extend(reversed(children))
    return found
