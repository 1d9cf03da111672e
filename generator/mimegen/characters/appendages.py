"""Find the joints of a figure that are no part of a human body: tails, wings, held things."""

from collections.abc import Collection

import numpy as np

from mimegen.characters.followers import FOLLOWERS
from mimegen.characters.helpers import ADDED
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray

# Other joints that reach farther than this from the bones of the body are no part of it, in metres.
FAR_M = 0.25
# Joints that mimegen adds to its own bodies; all of them move flesh or clothes.
OWN = frozenset((*ADDED, *FOLLOWERS))


def appendages(skeleton: Skeleton, body: Collection[int]) -> list[int]:
    """Return joints that reach far away from the bones of ``body``, and all joints below these.

    ``body`` are the joints that have a role.
    """
    ends = np.stack([skeleton.heads, skeleton.tails], axis=1)
    bones = ends[sorted(body)]
    found: set[int] = set()
    for joint, parent in enumerate(skeleton.parents):
        if joint not in body and skeleton.names[joint] not in OWN and (
                int(parent) in found or max(_away(end, bones) for end in ends[joint]) > FAR_M):
            found.add(joint)
    return sorted(found)


def _away(point: FloatArray, bones: FloatArray) -> float:
    """Return the distance of a point (3,) from the nearest of bones (B, 2, 3)."""
    along = bones[:, 1] - bones[:, 0]
    share = np.sum((point - bones[:, 0]) * along, axis=1) / np.maximum(
        np.sum(along * along, axis=1), 1e-12)
    nearest = bones[:, 0] + np.clip(share, 0.0, 1.0)[:, None] * along
    return float(np.linalg.norm(point - nearest, axis=1).min())
