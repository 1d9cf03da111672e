"""A lookup texture of GGX reflection lobes (Walter et al. 2007), by roughness and view angle.

The light that a lobe reflects is approximated by the light from its mean direction, blurred: order
1 of the spherical harmonics is weighted by the length of the mean of the lobe's unit vectors.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

# Width and height of the texture.
CELLS = 16
# Facets are sampled on a grid of DIRECTIONS x DIRECTIONS.
DIRECTIONS = 32
MIN_ROUGHNESS = 0.05
# Reflectance of glass and varnish at normal incidence.
STRAIGHT = 0.04
# Refractive index of glass.
GLASS = 1.5


@cache
def lobe_texture() -> bytes:
    """Return the content (RGBA, half floats) of a texture of CELLS by CELLS.

    Columns are the cosine between view and normal, rows the roughness, both at cell centres. The
    reflected fraction of light is ``straight * R + G``, with the reflectance ``straight`` at normal
    incidence. B is the sine of the mean direction's elevation above the surface; A is the length of
    the mean of the lobe's unit vectors.
    """
    at = (np.arange(CELLS) + 0.5) / CELLS
    rows = [[_lobe(max(roughness, MIN_ROUGHNESS), cosine) for cosine in at] for roughness in at]
    return np.array(rows, np.float16).tobytes()


def _lobe(roughness: float, cosine: float) -> FloatArray:
    """Return R, G, B and A (4,) of a lobe, as means over sampled facets."""
    view = np.array([np.sqrt(1 - cosine**2), 0.0, cosine])
    facets = _facets(roughness)
    towards = np.maximum(facets @ view, 0.0)
    directions = 2 * towards[:, None] * facets - view
    up = directions[:, 2]
    weight = np.where(up > 0, _unhidden(roughness, cosine, np.maximum(up, 1e-3))
                      * towards / (facets[:, 2] * cosine), 0.0)
    grazing = weight * _grazing(towards)
    mirrored = STRAIGHT * (weight - grazing) + grazing
    mean = mirrored @ directions / mirrored.sum()
    reach = np.linalg.norm(mean)
    return np.array([(weight - grazing).mean(), grazing.mean(), mean[2] / reach, reach])


def _grazing(cosine: FloatArray) -> FloatArray:
    """Return glass's Fresnel reflectance (Fresnel 1823) at an angle, rescaled.

    It is 0 at normal incidence and 1 at grazing incidence.
    """
    light = np.sqrt(GLASS**2 - 1 + cosine**2)
    across = (light - cosine) / (light + cosine)
    along = (cosine * (light + cosine) - 1) / (cosine * (light - cosine) + 1)
    return np.asarray((across**2 * (1 + along**2) / 2 - STRAIGHT) / (1 - STRAIGHT))


def _facets(roughness: float) -> FloatArray:
    """Return normals (N, 3) of facets, distributed as in GGX."""
    share, turn = ((np.indices((DIRECTIONS, DIRECTIONS)).reshape(2, -1) + 0.5) / DIRECTIONS)
    up = np.sqrt((1 - share) / (1 + (roughness**4 - 1) * share))
    flat = np.sqrt(1 - up**2)
    return np.stack([flat * np.cos(2 * np.pi * turn), flat * np.sin(2 * np.pi * turn), up], axis=-1)


def _unhidden(roughness: float, cosine: float, cosines: NDArray[np.float64]) -> FloatArray:
    """Return the fraction of facets both seen and lit: height-correlated Smith (Heitz 2014)."""
    wide = roughness**4
    seen, lit = (np.sqrt(wide + (1 - wide) * to**2) for to in (cosine, cosines))
    return np.asarray(2 * cosine * cosines / (cosine * lit + cosines * seen))
