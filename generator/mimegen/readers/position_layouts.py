"""The skeletons whose joint positions formats give: where joints are at rest, and their roles."""

from functools import cache

import numpy as np
from pydantic import Field

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, Vector, read_yaml_once
from mimegen.motion import Skeleton
from mimegen.readers.positions import Layout
from mimegen.readers.smpl.bodies import BODY, roles_of, skeleton_of, table_body


class _Joint(Strict):
    parent: str | None
    rest: Vector
    role: str | None = None


class _File(Strict):
    joints: dict[str, _Joint] = Field(min_length=10)


@cache
def layout_of(name: str) -> Layout:
    """Return the layout of ``rigs/skeletons/positions/<name>.yaml``, or of SMPL's body."""
    if name == "smpl":
        return _smpl()
    joints = read_yaml_once(data_file(f"rigs/skeletons/positions/{name}.yaml"), _File).joints
    names = tuple(joints)
    parents = np.array([-1 if joint.parent is None else names.index(joint.parent)
                        for joint in joints.values()])
    heads = np.array([joint.rest for joint in joints.values()], float)
    tails = heads + (heads - heads[np.maximum(parents, 0)]) / 2
    for number in range(len(names)):
        below = heads[parents == number]
        if len(below):
            tails[number] = below.mean(axis=0)
    return Layout(Skeleton(names, parents, heads, tails),
                  {joint.role: joint_name for joint_name, joint in joints.items() if joint.role})


def _smpl() -> Layout:
    body = table_body("SMPL", "neutral")
    skeleton = skeleton_of(body, body.rest, BODY)
    turned = Skeleton(skeleton.names, skeleton.parents, _z_up(skeleton.heads),
                      _z_up(skeleton.tails))
    return Layout(turned, roles_of(turned.names))


def _z_up(places: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Turn places (..., 3) from Y up, facing +Z to Z up, facing -Y."""
    x, y, z = np.moveaxis(places, -1, 0)
    return np.stack([x, -z, y], axis=-1)
