"""Widen the vault of the skull, which shapes that narrow the whole head would make egg-shaped."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

# Where the vault begins, as a fraction of the height from eyes to crown, and the number of levels.
VAULT_FROM = 0.34
LEVELS = 14
# The minimum half-width of the vault, relative to that where it begins, is 1 - h^2 to this power,
# for h from 0 to nearly 1 at the crown. A power of 0.5 would be an ellipse.
SQUARENESS = 0.4


def with_round_vault(vertices: FloatArray, faces: Mapping[str, NDArray[np.int32]]) -> FloatArray:
    """Return a body's vertices (V, 3) with the skull widened where it is unusually narrow."""
    eye = vertices[np.unique(faces["eyes"]), 2].mean()
    skin = vertices[np.unique(faces["body"])]
    up = (skin[:, 2] - eye) / (skin[:, 2].max() - eye)
    levels = np.linspace(VAULT_FROM, 0.93, LEVELS)
    wide = np.array([np.abs(skin[np.abs(up - level) < 0.05, 0]).max() for level in levels])
    rise = (levels - VAULT_FROM) / (1.02 - VAULT_FROM)
    least = wide[0] * np.exp(SQUARENESS * np.log(1 - rise * rise))
    wider = np.maximum(least / wide, 1.0)
    share = np.interp((vertices[:, 2] - eye) / (skin[:, 2].max() - eye), levels, wider)
    return np.asarray(vertices * np.stack([share, np.ones_like(share), np.ones_like(share)], 1))
