"""The light of a photograph: how bright it is, and of which color."""

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from mimegen.compositing.color import LUMINANCE, Tint, bytes_to_linear

# Edges tell a light's color better than areas, which are as often of one color themselves; power
# and width are of those in van de Weijer, Gevers and Gijsenij, Edge-based color constancy (2007).
POWER = 6
WIDTH = 1.0
LARGEST = 512
BLOWN_OUT = 0.98
# The mean light of our own sets, drawn as photographs, that figures are equally lit for.
USUAL = 0.30
# Exposure is followed no further than this, down and up: a night and a snowfield.
DIMMEST = 0.35
BRIGHTEST = 1.6


def measured_tint(image: Image.Image) -> Tint:
    """Return by what linear light (3,) a figure is multiplied to be lit as a photograph is."""
    small = image.convert("RGB")
    small.thumbnail((LARGEST, LARGEST), Image.Resampling.BOX)
    light = bytes_to_linear(np.asarray(small)).astype(float)
    # What is blown out tells no color.
    exposed = light.max(axis=-1) < BLOWN_OUT
    edges = np.hypot(*(gaussian_filter(light, (WIDTH, WIDTH, 0), order)
                       for order in ((0, 1, 0), (1, 0, 0))))[exposed]
    color = (edges**POWER).mean(axis=0) ** (1 / POWER) if exposed.any() else np.ones(3)
    color = color / (color @ LUMINANCE) if color.min() > 1e-6 else np.ones(3)
    strength = np.clip(light.mean(axis=(0, 1)) @ LUMINANCE / USUAL, DIMMEST, BRIGHTEST)
    red, green, blue = np.round(strength * color, 3).tolist()
    return red, green, blue
