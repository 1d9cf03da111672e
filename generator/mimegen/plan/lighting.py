"""The light of a background, for figures lit like their surroundings instead of by MIME's light.

A set's lamps become one wide sun; the light of its sky and the light reflected by its objects
become a sky of two colors.
"""

from dataclasses import dataclass
from math import atan2, degrees

import numpy as np
import scipy

from mimegen.base.angles import wrapped_deg
from mimegen.base.vectors import direction_from
from mimegen.compositing.background import Background, Picture
from mimegen.compositing.color import LUMINANCE, Shade, Tint
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.front import camera_azimuth
from mimegen.rendering.opengl.incident_light import FACING, IncidentLight, incident_light, on_sides
from mimegen.rendering.opengl.set_colors import linear
from mimegen.scenery.scenery import Scenery
from mimegen.shots.config import Light, RenderConfig, WideSun
from mimegen.shots.shadow_light import cone, sun_share

# Lowest elevation of a sun, because shadows would become endless, and widest diameter, in degrees.
LOWEST_DEG = 20.0
WIDEST_DEG = 90.0
# A minimum of sky light everywhere.
MIN_SKY = 0.005
# Fraction of the suns' light that a body reflects into its own shadow; estimated from renders of
# figure and set together.
THROWN_BACK = 0.05
# How much of the sky's upper and lower half surfaces with the normals ``FACING`` see.
_HALVES = np.stack([(1 + FACING[:, 2]) / 2, (1 - FACING[:, 2]) / 2], axis=1)


@dataclass(frozen=True)
class PlaceLight:
    """The light of a background, and the factors applied to the finished figure and its shadow."""

    light: Light
    tint: Tint
    shade: Shade | None = None


def place_light(background: Background, config: RenderConfig, angle_deg: float
                ) -> PlaceLight | None:
    """Return the light that a background casts on a figure; None if it is unknown."""
    if background.set is not None:
        return _of_set(background.set, config)
    if background.picture is not None and background.picture.light is not None:
        return _of_picture(background.picture, config, angle_deg)
    return None


def _of_set(scenery: Scenery, config: RenderConfig) -> PlaceLight:
    """Return the sun, lamps and sky that best approximate a set's light on all sides of a body."""
    incident = incident_light(scenery, config)
    sun = scenery.sun.strength * linear(scenery.sun.color)
    lamps, ambient = _lamps(incident)
    # The sky has one color above and one below the horizon; a vertical surface sees half of each.
    above, below = np.array([scipy.optimize.nnls(_HALVES, channel)[0] for channel in ambient.T]).T
    above, below = (np.maximum(half, MIN_SKY) for half in (above, below))
    strength = float(max(above @ LUMINANCE, below @ LUMINANCE))
    light = config.light.model_copy(update={
        "sun_strength": rounded(sun @ LUMINANCE), "sun_color": tint_of(sun),
        "sun_size_deg": scenery.sun.size_deg, "lamps": lamps, "rim_strength": 0.0,
        "ground_albedo": 0.0,
        "sky_strength": rounded(strength), "sky_color": _color(above, strength),
        "ground_share": 1.0, "ground_color": _color(below, strength)})
    return PlaceLight(light, (1.0, 1.0, 1.0), _shade(light, config.shadow.strength))


def _lamps(incident: IncidentLight) -> tuple[WideSun | None, FloatArray]:
    """Return a set's lamps as one wide sun, and the light left to the sky (6, 3) on ``FACING``."""
    bright = incident.irradiances @ LUMINANCE
    if not bright.sum():
        return None, incident.ambient
    shape = WideSun(strength=1.0, size_deg=spread_deg(incident.directions, bright),
                    from_deg=azimuth_elevation(bright @ incident.directions))
    shone = on_sides(incident.directions, incident.irradiances)
    directions = cone(shape)
    # A light's strength is what reaches a surface that faces the middle of the light.
    flow = 1.0 / (directions @ direction_from(*shape.from_deg)).sum()
    alike = on_sides(directions, np.full((len(directions), 1), flow))
    # The ground gets as much light as from the lamps; the error on the other sides goes to the sky.
    strength = shone[0] / alike[0]
    lamps = shape.model_copy(update={"strength": rounded(strength @ LUMINANCE),
                                     "color": tint_of(strength)})
    return lamps, incident.ambient + shone - alike * strength


def _shade(light: Light, strength: float) -> Shade:
    """Return the fractions of open ground's light that shadows take: the suns', then the sky's."""
    suns = light.sun_strength * np.array(light.sun_color) * _height(light.sun_from_deg)
    if light.lamps is not None:
        suns += light.lamps.strength * np.array(light.lamps.color) * _height(light.lamps.from_deg)
    sky = np.pi * light.sky_strength * np.array(light.sky_color)
    red, green, blue = np.round((1 - THROWN_BACK) * suns / (suns + sky), 3).tolist()
    return Shade((red, green, blue), round(strength * sun_share(light), 3), strength)


def _height(from_deg: tuple[float, float]) -> float:
    return float(np.sin(np.radians(from_deg[1])))


def spread_deg(directions: FloatArray, irradiances: FloatArray) -> float:
    """Return the diameter in degrees of a sun with the spread of beams (N, 3) of irradiances (N,).

    The mean square distance of a disc's points from its middle is an eighth of its squared
    diameter.
    """
    middle = irradiances @ directions
    aside = np.arccos(np.clip(directions @ (middle / np.linalg.norm(middle)), -1, 1))
    wide = float(np.sqrt(8 * (irradiances @ aside**2) / irradiances.sum()))
    return float(round(min(np.degrees(wide), WIDEST_DEG)))


def rounded(value: float) -> float:
    """Return a light's strength rounded to two decimal places."""
    return round(float(value), 2)


def _color(light: FloatArray, strength: float) -> Tint:
    red, green, blue = np.round(light / strength, 2).tolist()
    return red, green, blue


def azimuth_elevation(towards: FloatArray) -> tuple[float, float]:
    """Return azimuth (0 in front of the person, 90 at their left) and elevation, in degrees."""
    x, y, z = towards.tolist()
    return (float(round(degrees(atan2(x, -y)))),
            float(max(round(degrees(atan2(z, np.hypot(x, y)))), LOWEST_DEG)))


def tint_of(color: FloatArray) -> Tint:
    """Return a color (3,) scaled to the luminance of white."""
    red, green, blue = np.round(color / max(float(color @ LUMINANCE), 1e-9), 3).tolist()
    return red, green, blue


def _of_picture(picture: Picture, config: RenderConfig, angle_deg: float) -> PlaceLight:
    """Return the light measured in a picture; a sun found there turns with the camera."""
    measured = picture.light
    assert measured is not None, "pictures without a light are asked for none"
    light = config.light
    if measured.sun_from_deg is not None:
        azimuth = camera_azimuth(config) + angle_deg + measured.sun_from_deg[0]
        light = light.model_copy(update={
            "sun_from_deg": (wrapped_deg(azimuth), measured.sun_from_deg[1])})
    return PlaceLight(light, measured.tint)
