"""The standard skeleton: average adult proportions, 52 bones with Mixamo's names."""

from functools import cache
from pathlib import Path

import numpy as np
from pydantic import Field

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, Vector, YamlFile
from mimegen.motion.skeleton import Skeleton


class _JointEntry(Strict):
    parent: str | None
    head: Vector
    tail: Vector


class _SkeletonFile(Strict):
    joints: dict[str, _JointEntry] = Field(min_length=1)


def standard_skeleton() -> Skeleton:
    """Return the skeleton that scores are solved on: a T pose, 1.7 m tall, feet on Z = 0."""
    return read_skeleton(data_file("rigs/skeletons/standard.yaml"))


@cache
def read_skeleton(path: Path) -> Skeleton:
    """Read a skeleton file: ``joints: {name: {parent, head, tail}}``, parents first, in metres.

    Raises RequestError that names file, line and key.
    """
    document = YamlFile(path)
    joints = document.parsed(_SkeletonFile).joints
    names = tuple(joints)
    for number, (name, joint) in enumerate(joints.items()):
        if (joint.parent is None) != (number == 0):
            raise document.error(("joints", name, "parent"), "only the first joint has none")
        if joint.parent is not None and joint.parent not in names[:number]:
            raise document.error(("joints", name, "parent"),
                                 f"'{joint.parent}' is not a joint further up")
    parents = [-1 if j.parent is None else names.index(j.parent) for j in joints.values()]
    heads = np.array([joint.head for joint in joints.values()])
    tails = np.array([joint.tail for joint in joints.values()])
    return Skeleton(names, np.array(parents), heads, tails)
