"""Colors of a set's materials as light."""

import numpy as np

from mimegen.characters.colors import to_linear
from mimegen.motion.quaternions import FloatArray
from mimegen.scenery.materials import SetMaterial

# Mean fraction of the second color by pattern; 0.45 for those not listed.
SECOND_SHARE = {"plain": 0.0, "shore": 0.0, "net": 0.0, "outdoors": 0.5, "cloth": 0.6}


def linear(color: str) -> FloatArray:
    """Return #rrggbb as linear RGB (3,)."""
    return np.array(to_linear(color))


def mean_color(material: SetMaterial) -> FloatArray:
    """Return the mean color that a material scatters, or emits if it glows.

    Only diffuse reflection counts, so metals scatter nothing: without caustics, Cycles' rays do not
    follow mirror reflections after they were scattered once.
    """
    color = linear(material.color)
    second = linear(material.second) if material.second else 0.6 * color
    color = color + SECOND_SHARE.get(material.pattern, 0.45) * (second - color)
    return np.asarray((material.glow or 1.0 - material.metallic) * color)
