"""The skeletons of formats that give joint positions: rest poses and roles."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from pydantic import Field

from mimegen.base.paths import data_files
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.motion import Skeleton
from mimegen.motion.axes import skeleton_with_z_up
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.positions import Layout
from mimegen.readers.smpl.bodies import BODY, roles_of, skeleton_of, table_body


class _LayoutJoint(Strict):
    parent: str | None
    rest: Vector
    role: str | None = None


class _Between(Strict):
    parent: str | None
    of: tuple[str, str]
    role: str


class _LayoutFile(Strict):
    joints: dict[str, _LayoutJoint] = Field(min_length=10)
    between: Mapping[str, _Between] = Field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FileLayout:
    """A format's skeleton, and how to get its joints from those in a file.

    Each of the ``pairs`` (K, 2) of file joints makes one more joint at its midpoint. ``order`` is,
    for each joint of the skeleton, its index among the file's joints followed by the midpoints.
    """

    layout: Layout
    pairs: tuple[tuple[int, int], ...]
    order: tuple[int, ...]

    def placed(self, positions: FloatArray) -> FloatArray:
        """Return the positions (F, S, 3) of the skeleton's joints from a file's (F, J, 3)."""
        made = [positions[:, pair].mean(axis=1, keepdims=True) for pair in map(list, self.pairs)]
        return np.asarray(np.concatenate([positions, *made], axis=1)[:, list(self.order)])


@cache
def file_layout(name: str) -> FileLayout:
    """Return the layout of ``rigs/skeletons/positions/<name>.yaml``."""
    # A pattern instead of one name, so that content keys cover every file that may be read.
    files = {file.stem: file for file in data_files("rigs/skeletons/positions/*.yaml")}
    file = read_yaml_once(files[name], _LayoutFile)
    own = list(file.joints)
    rest = {joint: np.array(entry.rest, float) for joint, entry in file.joints.items()}
    rest |= {made: (rest[entry.of[0]] + rest[entry.of[1]]) / 2
             for made, entry in file.between.items()}
    entries: Mapping[str, _LayoutJoint | _Between] = {**file.joints, **file.between}
    names = _parents_first({joint: entry.parent for joint, entry in entries.items()})
    parents = np.array([-1 if (above := entries[joint].parent) is None else names.index(above)
                        for joint in names])
    heads = np.array([rest[joint] for joint in names])
    tails = heads + (heads - heads[np.maximum(parents, 0)]) / 2
    for number in range(len(names)):
        below = heads[parents == number]
        if len(below):
            tails[number] = below.mean(axis=0)
    roles = {entry.role: joint for joint, entry in entries.items() if entry.role}
    everything = [*own, *file.between]
    return FileLayout(Layout(Skeleton(tuple(names), parents, heads, tails), roles),
                      tuple((own.index(entry.of[0]), own.index(entry.of[1]))
                            for entry in file.between.values()),
                      tuple(everything.index(joint) for joint in names))


def _parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """Return the names ordered so that parents come before their children."""
    names: list[str] = []
    while len(names) < len(parents):
        names += [name for name, parent in parents.items()
                  if name not in names and (parent is None or parent in names)]
    return names


def in_order_of(format_: str) -> str:
    """Return the system of joints whose file has no names, only an order like that of a format."""
    return f"joint positions in the order of {format_}"


@cache
def smpl_layout() -> Layout:
    """Return the layout of SMPL's 22 body joints, whose positions HumanML3D gives."""
    body = table_body("SMPL", "neutral")
    skeleton = skeleton_with_z_up(skeleton_of(body, body.rest, BODY))
    return Layout(skeleton, roles_of(skeleton.names))
