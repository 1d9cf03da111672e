"""What surfaces mirror: the lobes of GGX (Walter et al. 2007) by roughness and angle, as a texture.

A lobe's light is that of its mean direction, blurred: as spherical harmonics see it, order 1 counts
by how far the mean of its unit vectors reaches.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

CELLS = 16
DIRECTIONS = 32
LEAST_ROUGHNESS = 0.05
# How much light glass and varnish mirror straight on.
STRAIGHT = 0.04
# How much slower light is in it.
GLASS = 1.5


@cache
def lobe_texture() -> bytes:
    """Return the content (RGBA, half floats) of a texture of CELLS by CELLS.

    Across lies the cosine of the view to the normal, upwards the roughness, both at the middles of
    cells. R and G: the share of light that is mirrored is ``straight * R + G``; B is the height of
    the mean direction over the surface, as a sine; A how far the mean of unit vectors reaches.
    """
    at = (np.arange(CELLS) + 0.5) / CELLS
    rows = [[_lobe(max(roughness, LEAST_ROUGHNESS), cosine) for cosine in at] for roughness in at]
    return np.array(rows, np.float16).tobytes()


def _lobe(roughness: float, cosine: float) -> FloatArray:
    """Return R, G, B and A (4,) of a lobe, summed over normals of facets drawn by their density."""
    view = np.array([np.sqrt(1 - cosine**2), 0.0, cosine])
    facets = _facets(roughness)
    towards = np.maximum(facets @ view, 0.0)
    ways = 2 * towards[:, None] * facets - view
    weight = np.where(ways[:, 2] > 0, _unhidden(roughness, cosine, np.maximum(ways[:, 2], 1e-3))
                      * towards / (facets[:, 2] * cosine), 0.0)
    grazing = weight * _grazing(towards)
    mirrored = STRAIGHT * (weight - grazing) + grazing
    mean = mirrored @ ways / mirrored.sum()
    reach = np.linalg.norm(mean)
    return np.array([(weight - grazing).mean(), grazing.mean(), mean[2] / reach, reach])


def _grazing(cosine: FloatArray) -> FloatArray:
    """Return how much more glass mirrors at an angle than straight on (Fresnel 1823), as a share.
    """
    light = np.sqrt(GLASS**2 - 1 + cosine**2)
    across = (light - cosine) / (light + cosine)
    along = (cosine * (light + cosine) - 1) / (cosine * (light - cosine) + 1)
    return np.asarray((across**2 * (1 + along**2) / 2 - STRAIGHT) / (1 - STRAIGHT))


def _facets(roughness: float) -> FloatArray:
    """Return normals (N, 3) of facets, as many to a direction as GGX has."""
    share, turn = ((np.indices((DIRECTIONS, DIRECTIONS)).reshape(2, -1) + 0.5) / DIRECTIONS)
    up = np.sqrt((1 - share) / (1 + (roughness**4 - 1) * share))
    flat = np.sqrt(1 - up**2)
    return np.stack([flat * np.cos(2 * np.pi * turn), flat * np.sin(2 * np.pi * turn), up], axis=-1)


def _unhidden(roughness: float, cosine: float, cosines: NDArray[np.float64]) -> FloatArray:
    """Return how much of facets is both seen and lit (Heitz 2014, heights correlated)."""
    wide = roughness**4
    seen, lit = (np.sqrt(wide + (1 - wide) * to**2) for to in (cosine, cosines))
    return np.asarray(2 * cosine * cosines / (cosine * lit + cosines * seen))
