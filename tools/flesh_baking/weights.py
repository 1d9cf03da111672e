"""From the fitted weights of limbs to those of a whole body."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from flesh_baking.limbs import Limb
from flesh_baking.sculpted import Array, Sculpted
from mimegen.base.easing import ramp
from mimegen.characters.bake import read_bake
from mimegen.characters.helpers import (
    ADDED,
    HELPERS,
    by_steps,
    helped_joint,
    interpolation_weights,
    joints_below,
    twisting,
    with_helpers,
)
from mimegen.characters.surface import neighbour_average
from mimegen.motion import Skeleton


def whole(limbs: Sequence[tuple[Limb, NDArray[np.intp], Array]], body: Sculpted) -> Array:
    """Return all vertices' weights (V, J) of joints and helpers, movers not yet among them.

    Those of the left half of the skin: `mirrored` makes the others.
    """
    helped = with_helpers(body.rest)
    names = helped.names
    weights = np.concatenate([body.weights, np.zeros((len(body.weights), len(ADDED)))], axis=1)
    headless = body.share("Head") == 0
    for limb, skin, fit in limbs:
        free = headless[skin]
        weights[skin[free]] = _given(weights[skin[free]], limb, fit[free], helped)
    weights = by_steps(_elbow(weights, body, helped), helped, "LeftHand")
    average = neighbour_average(body.faces, len(weights))
    touched = np.zeros(len(weights))
    for _, skin, _ in limbs:
        touched[skin[headless[skin]]] = 1.0
    for _ in range(2):
        weights = weights + 0.5 * touched[:, None] * (average @ weights - weights)
    sculpted = Skeleton(names, helped.parents, *(
        ends[[body.skeleton.index[helped_joint(name)] for name in names]]
        for ends in (body.skeleton.heads, body.skeleton.tails)))
    return twisting(weights, body.vertices, sculpted, "Left")


def mirrored(weights: Array, body: Sculpted) -> Array:
    """Return weights (V, J) of the left half of the skin as those of all vertices."""
    return _mirrored(_onto_others(weights, body), with_helpers(body.rest).names, body.vertices)


def _given(weights: Array, limb: Limb, fit: Array, helped: Skeleton) -> Array:
    """Return rows of weights (S, J) with a limb's fitted columns.

    What the trunk has goes to the joints of the trunk as before, and what the last joint has to
    those below.
    """
    first = next(name for name in limb.columns if name not in (limb.trunk, "LeftShoulder"))
    upper, last = HELPERS[first].joint, limb.columns[-1]
    arm = joints_below(helped, helped.index[upper])
    inner = [*arm, *([helped.index["LeftShoulder"]] if upper == "LeftArm" else [])]
    outer = [joint for joint in range(len(helped.names)) if joint not in inner]
    found = np.zeros_like(weights)
    for column, name in enumerate(limb.columns):
        if name == limb.trunk:
            found += fit[:, [column]] * _parted(weights, outer, helped.index[name])
        elif name == last:
            low = joints_below(helped, helped.index[name])
            found += fit[:, [column]] * _parted(weights, low, helped.index[name])
        else:
            found[:, helped.index[name]] += fit[:, column]
    if upper == "LeftArm":
        twists = [helped.index[f"LeftArm{name}"] for name in ("Twist1", "Twist2", "Twist3", "")]
        found[:, twists] = _gathered(found[:, twists])
    return found


def _gathered(shares: Array) -> Array:
    """Return shares (S, P) of evenly spaced twists as those of the two nearest to their mean."""
    total = shares.sum(axis=1)
    places = np.linspace(0, 1, shares.shape[1])
    middles = shares @ places / np.maximum(total, 1e-12)
    return total[:, None] * interpolation_weights(middles, places)


def _elbow(weights: Array, body: Sculpted, helped: Skeleton) -> Array:
    """Return weights (V, J) with the left elbow's: over its helpers, by the shares as given."""
    low = joints_below(helped, helped.index["LeftForeArm"])
    given = np.zeros_like(weights)
    given[:, low] = body.weights[:, low]
    upper = weights.copy()
    upper[:, low] = 0.0
    high = [joint for joint in range(weights.shape[1]) if joint not in low]
    helpers = [helped.index[f"LeftForeArmBend{number}"] for number in (1, 2)]
    shares = interpolation_weights(given.sum(axis=1), np.array([0.0, 1 / 3, 2 / 3, 1.0]))
    found = shares[:, :1] * _parted(upper, high, helped.index["LeftArm"])
    found += shares[:, 3:] * _parted(given, low, helped.index["LeftForeArm"])
    found[:, helpers] += shares[:, 1:3]
    return found


def _parted(weights: Array, joints: Sequence[int], otherwise: int) -> Array:
    """Return weights (S, J) of some joints only, summing to 1; of one where none had any."""
    part = np.zeros_like(weights)
    part[:, joints] = weights[:, joints]
    total = part.sum(axis=1, keepdims=True)
    alone = np.eye(weights.shape[1])[otherwise]
    return np.where(total > 1e-6, part / np.maximum(total, 1e-6), alone)


def _mirrored(weights: Array, names: Sequence[str], vertices: Array) -> Array:
    """Return weights whose right side is the left one's mirror image."""
    mirror = read_bake().mirror[:len(weights)]
    swapped = [names.index(name.replace("Left", "\0").replace("Right", "Left")
                           .replace("\0", "Right")) for name in names]
    other = weights[mirror][:, swapped]
    share = ramp(vertices[:, 0], -0.01, 0.01)[:, None]
    return share * weights + (1 - share) * other


def _onto_others(weights: Array, body: Sculpted) -> Array:
    """Return weights of all vertices: the close-fitting surface follows the skin next to it."""
    bake = read_bake()
    used, close = np.unique(bake.faces["body"]), np.unique(bake.faces["tights"])
    away, near = cKDTree(body.vertices[used]).query(body.vertices[close], k=4)
    shares = 1 / (away + 0.003)
    shares = shares / shares.sum(axis=1, keepdims=True)
    weights = weights.copy()
    weights[close] = np.einsum("vk,vkj->vj", shares, weights[used][near])
    return weights
