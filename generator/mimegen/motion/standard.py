"""The standard skeleton: average adult proportions, 52 bones with Mixamo's names."""

from functools import cache
from pathlib import Path

import numpy as np
import yaml

from mimegen.base.paths import data_file
from mimegen.motion.skeleton import Skeleton


def standard_skeleton() -> Skeleton:
    """Return the skeleton that scores are solved on: a T pose, 1.7 m tall, feet on Z = 0."""
    return read_skeleton(data_file("rigs/skeletons/standard.yaml"))


@cache
def read_skeleton(path: Path) -> Skeleton:
    """Read a skeleton file: ``joints: {name: {parent, head, tail}}``, parents first."""
    joints = yaml.safe_load(path.read_text(encoding="utf-8"))["joints"]
    names = tuple(joints)
    number = {name: i for i, name in enumerate(names)}
    parents = [-1 if j["parent"] is None else number[j["parent"]] for j in joints.values()]
    heads = np.array([joint["head"] for joint in joints.values()], dtype=float)
    tails = np.array([joint["tail"] for joint in joints.values()], dtype=float)
    return Skeleton(names, np.array(parents), heads, tails)
