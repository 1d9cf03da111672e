"""Read a rigged FBX or glTF file, as a program: ``python -m MODULE IN OUT``.

It runs in a separate process, because Blender has one global scene and damaged files can crash it.
OUT becomes a NumPy archive: ``header`` is JSON text; the other arrays are the file's contents, in
what the file declares as metres, Z up, without any corrections.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Color
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Header = dict[str, Any]
Look = tuple[str, tuple[float, ...], bool]
"""An image's name, its linear tint and whether its alpha is used."""

# The first bytes of PNG and JPEG files.
PICTURE_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
# Tints nearer to white than this, in each channel, are ignored.
MIN_TINT = 0.01
# Shader nodes from which a material is read; the first kind that it has counts.
SHADERS = ("BSDF_PRINCIPLED", "BSDF_DIFFUSE", "EMISSION", "BACKGROUND")


def read_rigged_file(path: Path) -> tuple[Header, Arrays]:
    """Import a file into an empty scene and return its contents in the rest pose.

    The header lists ``joints`` (names), ``meshes`` (names; mesh ``i`` has the arrays ``i_...``),
    ``materials``, ``used_files`` (other files that were read, with their SHA-256), ``notes`` and
    ``missing_pictures``, and for each picture whether its alpha is used (``cut_out``). The arrays
    ``picture_...`` are encoded pictures or pixels; ``tint_...`` map the levels of each channel to
    tinted ones. Raises RuntimeError if Blender cannot read the file.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix.lower() == ".fbx":
        bpy.ops.wm.fbx_import(filepath=str(path), use_anim=False)
    else:
        bpy.ops.import_scene.gltf(filepath=str(path), disable_bone_shape=True)
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE" and o.data.bones]
    for armature in armatures:
        armature.data.pose_position = "REST"
    bpy.context.view_layer.update()

    header: Header = {"notes": [], "used_files": _parts_of_gltf(path), "missing_pictures": [],
                      "cut_out": []}
    arrays: Arrays = {}
    numbers = _read_joints(armatures, header, arrays)
    header["meshes"], header["materials"] = [], []
    materials: dict[str, int] = {}
    for mesh_object in [o for o in bpy.data.objects if o.type == "MESH"]:
        followed = _followed_joints(mesh_object, numbers)
        header["meshes"].append({"name": mesh_object.name, "skinned": followed is not None,
                                 "colored": _is_colored(mesh_object.data)})
        if followed is not None:
            found = _read_mesh(mesh_object, followed, materials)
            mesh = len(header["meshes"]) - 1
            arrays.update({f"{mesh}_{name}": array for name, array in found.items()})
    pictures: dict[Look, int] = {}
    for name in materials:
        material = bpy.data.materials.get(name)
        header["materials"].append(_read_material(material, path.parent, header, arrays, pictures))
    return header, arrays


def _read_joints(
    armatures: list[Any], header: Header, arrays: Arrays
) -> dict[tuple[str, str], int]:
    """Add the joints of all armatures; return their indices by armature and bone name."""
    bones = [(armature, bone) for armature in armatures for bone in armature.data.bones]
    numbers = {(a.name, bone.name): i for i, (a, bone) in enumerate(bones)}
    header["joints"] = [bone.name for _, bone in bones]
    header["armatures"] = [a.name for a in armatures]
    arrays["parents"] = np.array(
        [numbers[a.name, b.parent.name] if b.parent else -1 for a, b in bones], dtype=np.int64
    )
    arrays["armature"] = np.array([armatures.index(a) for a, _ in bones], dtype=np.int64)
    for end in ("head", "tail"):
        places = [a.matrix_world @ getattr(b, f"{end}_local") for a, b in bones]
        arrays[f"{end}s"] = np.array(places, dtype=float).reshape(-1, 3)
    return numbers


def _followed_joints(mesh_object: Any, numbers: dict[tuple[str, str], int]) -> Any:
    """Return what a mesh follows: joints by vertex group, one joint for a rigid mesh, or None."""
    for modifier in mesh_object.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            groups = {
                group.index: numbers[modifier.object.name, group.name]
                for group in mesh_object.vertex_groups
                if (modifier.object.name, group.name) in numbers
            }
            if groups:
                return groups
    child = mesh_object
    while child.parent:
        if child.parent_type == "BONE":
            return numbers.get((child.parent.name, child.parent_bone))
        child = child.parent
    return None


def _read_mesh(mesh_object: Any, followed: Any, materials: dict[str, int]) -> Arrays:
    """Return vertices, faces, normals, uvs, materials and weights of one mesh in world space."""
    mesh, world = mesh_object.data, np.array(mesh_object.matrix_world, dtype=float)
    mesh.calc_loop_triangles()
    vertices = _values(mesh.vertices, "co", 3).astype(float)
    normals = _values(mesh.corner_normals, "vector", 3).astype(float)
    corners, polygons = _faces(mesh)
    mirrored = np.linalg.det(world[:3, :3]) < 0
    if mirrored:
        corners = np.where(corners[:, 3:] < 0, corners[:, [2, 1, 0, 3]], corners[:, ::-1])
    slots = [_material_number(slot.material, materials) for slot in mesh_object.material_slots]
    slots = slots or [_material_number(None, materials)]
    slot_of = _values(mesh.polygons, "material_index", 1, np.int32)[:, 0]
    corner_vertices = _values(mesh.loops, "vertex_index", 1, np.int32)[:, 0]
    found = {
        "vertices": np.einsum("ab,vb->va", world[:3, :3], vertices) + world[:3, 3],
        "corners": corners,
        "corner_vertices": corner_vertices,
        "normals": np.einsum("vb,ba->va", normals, np.linalg.pinv(world[:3, :3])),
        "materials": np.array(slots)[np.clip(slot_of, 0, len(slots) - 1)][polygons],
        "weights": _weights(mesh, followed),
    }
    if mesh.uv_layers.active:
        found["uvs"] = _values(mesh.uv_layers.active.uv, "vector", 2)
    return found | _read_shapes(mesh, world)


def _read_shapes(mesh: Any, world: NDArray[Any]) -> Arrays:
    """Return the names (K,) of shape keys and their displacements (K, V, 3) in world space."""
    if mesh.shape_keys is None:
        return {}
    basis = _values(mesh.shape_keys.reference_key.data, "co", 3)
    names, moved = [], []
    for key in mesh.shape_keys.key_blocks:
        offsets = _values(key.data, "co", 3) - basis
        if offsets.any():
            names.append(key.name)
            moved.append(np.einsum("ab,vb->va", world[:3, :3], offsets))
    return {"shape_names": np.array(names), "shapes": np.array(moved, np.float32)} if names else {}


def _values(collection: Any, attribute: str, width: int, kind: type = np.float32) -> NDArray[Any]:
    values: NDArray[Any] = np.empty(len(collection) * width, dtype=kind)
    collection.foreach_get(attribute, values)
    return values.reshape(-1, width)


def _faces(mesh: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the corners (F, 4) of triangles (last -1) and quads, and the polygon (F,) of each.

    Polygons with more than four corners are split into Blender's triangles.
    """
    starts = _values(mesh.polygons, "loop_start", 1, np.int32)[:, 0]
    sizes = _values(mesh.polygons, "loop_total", 1, np.int32)[:, 0]
    small = np.flatnonzero((sizes == 3) | (sizes == 4))
    corners = starts[small, None] + np.arange(4)
    corners[sizes[small] == 3, 3] = -1
    triangles = _values(mesh.loop_triangles, "loops", 3, np.int32)
    polygons = _values(mesh.loop_triangles, "polygon_index", 1, np.int32)[:, 0]
    large = sizes[polygons] > 4
    cut = np.concatenate([triangles[large], np.full((int(large.sum()), 1), -1)], axis=1)
    return np.concatenate([corners, cut]), np.concatenate([small, polygons[large]])


def _weights(mesh: Any, followed: Any) -> NDArray[np.float64]:
    """Return the weights (N, 3) as rows of vertex, joint and weight."""
    if isinstance(followed, int):
        return np.array([(i, followed, 1.0) for i in range(len(mesh.vertices))]).reshape(-1, 3)
    rows = [
        (vertex.index, followed[entry.group], entry.weight)
        for vertex in mesh.vertices
        for entry in vertex.groups
        if entry.group in followed
    ]
    return np.array(rows, dtype=float).reshape(-1, 3)


def _material_number(material: Any, materials: dict[str, int]) -> int:
    return materials.setdefault(material.name if material else "", len(materials))


def _read_material(
    material: Any, folder: Path, header: Header, arrays: Arrays, pictures: dict[Look, int]
) -> dict[str, Any]:
    """Return a material's name, base color (linear), roughness, metallic and picture index.

    Also its ``alpha`` without that of pictures, and what of it is not read: ``glows`` and
    ``moved_picture``.
    """
    result: dict[str, Any] = {
        "name": "unnamed", "color": [0.6, 0.6, 0.6], "roughness": 0.7, "metallic": 0.0,
        "alpha": 1.0, "glows": False, "moved_picture": False,
    }
    if material is None:
        return result
    result.update(name=material.name, color=list(material.diffuse_color)[:3])
    nodes = material.node_tree.nodes if material.node_tree else []
    shader = next((node for kind in SHADERS for node in nodes if node.type == kind), None)
    if shader is None:
        return result
    base = shader.inputs.get("Base Color") or shader.inputs.get("Color")
    result["color"], image = _color_and_image(base)
    result["glows"] = _glows(shader)
    result["moved_picture"] = any(map(_moves_picture, nodes))
    for name in ("Roughness", "Metallic", "Alpha"):
        socket = shader.inputs.get(name)
        if socket and not socket.is_linked:
            result[name.lower()] = float(socket.default_value)
    if image is not None:
        look = (image.name, tuple(result["color"]), _uses_alpha(shader, image, nodes))
        result["picture"] = _picture_number(image, look, folder, header, arrays, pictures)
    return result


def _is_colored(mesh: Any) -> bool:
    """Return whether a mesh has colors at its vertices other than white."""
    return any(bool(np.any(_values(layer.data, "color", 4)[:, :3] < 1 - MIN_TINT))
               for layer in mesh.color_attributes)


def _glows(shader: Any) -> bool:
    """Return whether a lit material emits light."""
    color, strength = (shader.inputs.get(f"Emission {name}") for name in ("Color", "Strength"))
    if color is None or strength is None:
        return False
    brightest = 1.0 if color.is_linked else max(list(color.default_value)[:3])
    return bool(strength.is_linked or brightest * strength.default_value > MIN_TINT)


def _moves_picture(node: Any) -> bool:
    """Return whether a node moves, turns or scales a picture, or places it by other coordinates."""
    if node.type == "MAPPING":
        values = [list(node.inputs[name].default_value) for name in
                  ("Location", "Rotation", "Scale") if node.inputs.get(name)]
        return bool(np.abs(np.concatenate(values) - ([0.0] * 6 + [1.0] * 3)).max() > 1e-6)
    return bool(node.type == "UVMAP" and node.uv_map not in ("", "UVMap"))


def _uses_alpha(shader: Any, image: Any, nodes: Any) -> bool:
    """Return whether an image's alpha is used, by the shader or next to an unlit one, as in VRM."""
    alpha = shader.inputs.get("Alpha")
    if alpha is not None:
        return bool(alpha.is_linked)
    return any(node.type == "TEX_IMAGE" and node.image == image
               and node.outputs["Alpha"].is_linked for node in nodes)


def _color_and_image(socket: Any) -> tuple[list[float], Any]:
    """Follow a color socket to its image, multiplying constant tints on the way."""
    if not socket.is_linked:
        return list(socket.default_value)[:3], None
    node = socket.links[0].from_node
    if node.type == "TEX_IMAGE":
        return [1.0, 1.0, 1.0], node.image
    tint, image = np.ones(3), None
    for entry in node.inputs:
        if entry.type == "RGBA" and entry.enabled and (entry.is_linked or node.type != "RGB"):
            color, found = _color_and_image(entry)
            tint, image = tint * color, image or found
    return tint.tolist(), image


def _picture_number(
    image: Any, look: Look, folder: Path, header: Header, arrays: Arrays, pictures: dict[Look, int]
) -> int | None:
    """Add an image, unless it is known; return its index, or None if its file is missing."""
    if look not in pictures:
        data = _picture(image, folder, header)
        if data is None:
            header["missing_pictures"].append(image.filepath_raw or image.name)
            return None
        pictures[look] = len(pictures)
        arrays[f"picture_{pictures[look]}"] = data
        header["cut_out"].append(look[2])
        if np.any(np.abs(np.array(look[1]) - 1) > MIN_TINT):
            arrays[f"tint_{pictures[look]}"] = _table(look[1])
    return pictures[look]


def _table(tint: tuple[float, ...]) -> NDArray[np.uint8]:
    """Return the table (256, 3) from sRGB levels of each channel to those with a linear tint."""
    levels = [Color([v / 255] * 3).from_srgb_to_scene_linear() for v in range(256)]
    dyed = [Color(np.multiply(v, tint)).from_scene_linear_to_srgb() for v in levels]
    return np.asarray(np.round(np.clip(np.array(dyed), 0, 1) * 255), np.uint8)


def _picture(image: Any, folder: Path, header: Header) -> NDArray[np.uint8] | None:
    """Return the bytes (N,) of a PNG or JPEG, the pixels (H, W, C) of other images, or None.

    It is None if there is no file or no picture in it.
    """
    if image.packed_file:
        data = bytes(image.packed_file.data)
    else:
        path = _loose_file(image, folder)
        if path is None:
            return None
        data = path.read_bytes()
        header["used_files"][str(path)] = hashlib.sha256(data).hexdigest()
        image.filepath = str(path)
        image.reload()
    if data.startswith(PICTURE_STARTS):
        return np.frombuffer(data, dtype=np.uint8)
    width, height = image.size
    if width == 0 or height == 0:
        return None
    pixels = np.empty(width * height * image.channels, dtype=np.float32)
    image.pixels.foreach_get(pixels)
    rows = np.round(np.clip(pixels, 0, 1) * 255).astype(np.uint8)
    return np.asarray(rows.reshape(height, width, image.channels)[::-1], np.uint8)


def _loose_file(image: Any, folder: Path) -> Path | None:
    """Return the file of a picture, or None.

    It is searched at the path that the file states, then by its name beside the file or one folder
    down.
    """
    stated = Path(bpy.path.abspath(image.filepath_raw or image.name).replace("\\", "/"))
    if stated.is_file():
        return stated.resolve()
    near = [folder / stated.name, *sorted(folder.glob(f"*/{_escaped(stated.name)}"))]
    return next((path.resolve() for path in near if stated.name and path.is_file()), None)


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _parts_of_gltf(path: Path) -> dict[str, str]:
    """Return the files that a .gltf file refers to, with their SHA-256."""
    if path.suffix.lower() != ".gltf":
        return {}
    content = json.loads(path.read_text(encoding="utf-8"))
    names = [part.get("uri", "data:") for kind in ("buffers", "images") for part in
             content.get(kind, [])]
    files = [(path.parent / name).resolve() for name in names if not name.startswith("data:")]
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()
    }


def main(source: Path, target: Path) -> None:
    """Read ``source`` and write the archive ``target``."""
    header, arrays = read_rigged_file(source)
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    archive: dict[str, Any] = arrays | {"header": text}
    with target.open("wb") as opened:
        np.savez(opened, **archive)


if __name__ == "__main__":
    # Blender's program has its own arguments before "--".
    given = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    main(Path(given[0]), Path(given[1]))
