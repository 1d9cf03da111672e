"""Measure the light of a photograph: its brightness and color."""

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from mimegen.compositing.color import LUMINANCE, Tint, bytes_to_linear

# Edges reveal a light's color better than areas, which often have a color of their own. Power and
# width follow van de Weijer, Gevers and Gijsenij, Edge-based color constancy (2007).
POWER = 6
WIDTH = 1.0
MAX_SIDE_PX = 512  # longer side in pixels of the picture that is measured
BLOWN_OUT = 0.98  # linear light above which a channel counts as overexposed
# Mean light of mimegen's own sets, drawn as photographs: a figure needs no tint at this value.
USUAL = 0.30
# Limits of the exposure factor: a night and a snowfield.
DIMMEST = 0.35
BRIGHTEST = 1.6


def measured_tint(image: Image.Image) -> Tint:
    """Return the factors (3,) on linear RGB that light a figure like a photograph."""
    small = image.convert("RGB")
    small.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX), Image.Resampling.BOX)
    light = bytes_to_linear(np.asarray(small)).astype(float)
    # Overexposed pixels have lost their color.
    exposed = light.max(axis=-1) < BLOWN_OUT
    edges = np.hypot(*(gaussian_filter(light, (WIDTH, WIDTH, 0), order)
                       for order in ((0, 1, 0), (1, 0, 0))))[exposed]
    color = (edges**POWER).mean(axis=0) ** (1 / POWER) if exposed.any() else np.ones(3)
    color = color / (color @ LUMINANCE) if color.min() > 1e-6 else np.ones(3)
    strength = np.clip(light.mean(axis=(0, 1)) @ LUMINANCE / USUAL, DIMMEST, BRIGHTEST)
    red, green, blue = np.round(strength * color, 3).tolist()
    return red, green, blue
