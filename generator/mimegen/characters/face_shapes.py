"""Shapes by which faces differ: rigs/faces/shapes.yaml, and shapes.npz from tools/bake_faces.py."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, RootModel

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.motion.quaternions import FloatArray


class FaceShape(Strict):
    """The shape targets, with weights, that the strengths -1 (``less``) and 1 (``more``) add."""

    less: dict[str, float] = Field(default_factory=dict)
    more: dict[str, float] = Field(default_factory=dict)


def face_shapes() -> Mapping[str, FaceShape]:
    """Return the contents of rigs/faces/shapes.yaml."""
    return read_yaml_once(data_file("rigs/faces/shapes.yaml"), RootModel[dict[str, FaceShape]]).root


def known_shapes(face: dict[str, float]) -> dict[str, float]:
    """Return a face unchanged; raises ValueError for the name of an unknown shape."""
    unknown = [name for name in face if name not in face_shapes()]
    if unknown:
        raise ValueError(f"no face shape {unknown[0]!r}; there are {', '.join(face_shapes())}")
    return face


Face = Annotated[dict[str, Annotated[float, Field(ge=-1, le=1)]], AfterValidator(known_shapes)]
"""How far a face goes in each shape of rigs/faces/shapes.yaml, -1 to 1."""


def face_offsets(face: Mapping[str, float], count: int) -> FloatArray:
    """Return the offsets (count, 3) that a face adds to the body's stored half, in metres."""
    total = np.zeros((count, 3))
    targets = _targets(data_file("rigs/faces/shapes.npz"))
    for name, size in face.items():
        shape = face_shapes()[name]
        for target, share in (shape.more if size > 0 else shape.less).items():
            points, offsets = targets[target]
            total[points] += abs(size) * share * offsets
    return total


@cache
def _targets(path: Path) -> Mapping[str, tuple[NDArray[np.intp], FloatArray]]:
    """Return the points (N,) that each target moves, and how far (N, 3)."""
    with np.load(path) as data:
        ends = data["ends"].astype(np.intp)[:-1]
        points = np.split(data["points"].astype(np.intp), ends)
        offsets = np.split(data["offsets"] * float(data["step"]), ends)
        return dict(zip(map(str, data["names"]), zip(points, offsets, strict=True), strict=True))
