"""The vault of the skull, kept from narrowing to an egg by shapes that narrow the whole head."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray

# Where the vault begins, and levels of it: shares of the height from the eyes to the crown.
VAULT_FROM = 0.34
LEVELS = 14
# Half-widths of the vault at least, as shares of that where it begins: an ellipse's to this power.
SQUARENESS = 0.4


def with_round_vault(vertices: FloatArray, faces: Mapping[str, NDArray[np.int32]]) -> FloatArray:
    """Return a body's vertices (V, 3), its skull widened where it is narrower than skulls are."""
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
