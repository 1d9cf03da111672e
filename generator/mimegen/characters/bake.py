"""The baked body data, rigs/body.npz, written by tools/bake_body.py."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.paths import data_file
from mimegen.motion.quaternions import FloatArray


@dataclass(frozen=True, eq=False)
class Bake:
    """A mirror-symmetric body and its shape targets, in metres, Z up, facing -Y, in an A pose.

    Points are V vertices, then J joint heads, then J joint tails. Only the H points of ``half`` are
    stored; ``mirror`` is the index of each point's counterpart. The targets' offsets are ``basis``
    (R, H, 3) combined by ``mix`` (T, R). ``faces`` are quads (F, 4) by surface, ``masks`` are (V,),
    0 to 1.
    """

    half: NDArray[np.intp]
    mirror: NDArray[np.intp]
    base: FloatArray
    basis: FloatArray
    mix: FloatArray
    target_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    joint_parents: NDArray[np.intp]
    joints: NDArray[np.int32]
    weights: FloatArray
    faces: Mapping[str, NDArray[np.int32]]
    masks: Mapping[str, FloatArray]

    def points(self, strengths: FloatArray, face: FloatArray | float = 0.0) -> FloatArray:
        """Return all points (V + 2 J, 3), in metres.

        ``strengths`` (T,) are those of the targets; ``face`` (H, 3) are further offsets of the
        half.
        """
        half = self.base + np.tensordot(strengths @ self.mix, self.basis, axes=1) + face
        points = np.empty((len(self.mirror), 3))
        points[self.mirror[self.half]] = half * np.array([-1.0, 1.0, 1.0])
        points[self.half] = half
        return points


def read_bake() -> Bake:
    """Return the body data that comes with mimegen."""
    return _read(data_file("rigs/body.npz"))


@cache
def _read(path: Path) -> Bake:
    with np.load(path) as arrays:
        data = {name: arrays[name] for name in arrays.files}
    return Bake(
        half=data["half"].astype(np.intp),
        mirror=data["mirror"].astype(np.intp),
        base=data["base"].astype(float),
        basis=data["basis"] * float(data["step"]),
        mix=data["mix"].astype(float),
        target_names=tuple(map(str, data["target_names"])),
        joint_names=tuple(map(str, data["joint_names"])),
        joint_parents=data["joint_parents"].astype(np.intp),
        joints=data["joints"].astype(np.int32),
        weights=data["weights"] / data["weights"].sum(axis=1, keepdims=True, dtype=float),
        faces={name: quads.astype(np.int32) for name, quads in parts(data, "faces_").items()},
        masks={name: mask / 255 for name, mask in parts(data, "mask_").items()},
    )


def parts(data: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names start with a prefix, by the rest of their names."""
    return {
        name.removeprefix(prefix): array
        for name, array in data.items() if name.startswith(prefix)
    }
