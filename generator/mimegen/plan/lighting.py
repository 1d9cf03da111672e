"""The light of a place, for figures that follow it in place of MIME's equal light.

A set's lamps, sun and sky become the one sun and the one sky that stages have; their color is laid
on the finished figure, so that nothing is rendered anew for it.
"""

from dataclasses import dataclass, replace
from math import atan2, degrees

import numpy as np

from mimegen.base.vectors import direction_from
from mimegen.compositing.background import Background, Picture
from mimegen.compositing.color import LUMINANCE, Tint
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.config import FramedCamera, Light, RenderConfig
from mimegen.stage.raster.set_light import lamp_parts, linear, mean_color, sky_colors
from mimegen.stage.scenery.scenery import Scenery
from mimegen.stage.shadow import sun_share

# Where light is told: at a person's chest, at the world's origin.
CHEST = np.array([0.0, 0.0, 1.2])
# No light comes from lower, for shadows would have no end; suns are no wider.
LOWEST_DEG, WIDEST_DEG = 20.0, 90.0
# Of a sun so low what faces up and what faces aside do not tell it from a sky; some sky is left.
LEAST_APART, LEAST_SKY = 0.4, 0.01


@dataclass(frozen=True)
class PlaceLight:
    """The stage's light in a place, without color, and the color (linear, luminance 1).

    ``shade`` is what shadows take of the ground's light, as a multiple of what the stage's do: in
    the open all of the sun's, so that its color is missing in them and the sky's is left.
    """

    light: Light
    tint: Tint
    shade: Tint | None = None


def place_light(background: Background, config: RenderConfig, angle_deg: float
                ) -> PlaceLight | None:
    """Return the light that a place has for a figure; None where nothing is known of it."""
    if background.set is not None:
        found = _of_set(background.set, config.light)
        return replace(found, shade=_shade(background.set, config, found.light))
    if background.picture is not None and background.picture.light is not None:
        return _of_picture(background.picture, config, angle_deg)
    return None


def _of_set(scenery: Scenery, light: Light) -> PlaceLight:
    """Return the sun and sky that light what lies and what stands as a set's lamps and sky do.

    Of the irradiance that faces up and, on average, aside, the sun's is the part that its
    direction, the beams' mean, explains; the sky gives the rest.
    """
    ways, flows = _beams(scenery, light)
    towards = (flows @ LUMINANCE) @ ways
    height = float(towards[2] / np.linalg.norm(towards))
    # Mean of what faces aside of a beam, all around: its level part over pi.
    aside = np.sqrt(np.maximum(1 - ways[:, 2] ** 2, 0)) / np.pi
    # Under a ceiling the sky is not seen, and what walls throw back is about what lamps lose.
    zenith, horizon = (0.0 if scenery.ceilings else color for color in sky_colors(scenery)[:2])
    up = np.maximum(ways[:, 2], 0) @ flows + np.pi * (zenith + horizon) / 2
    across = aside @ flows + np.pi * (zenith + 3 * horizon) / 8
    slope = float(np.sqrt(1 - height**2) / np.pi / height)
    aslant = slope < LEAST_APART
    sky = float((across - up * slope if aslant else across) @ LUMINANCE) / (
        np.pi * (0.5 - slope * aslant))
    sky = max(sky, LEAST_SKY)
    direct = max((float(up @ LUMINANCE) - np.pi * sky) / height, 0.0)
    below = float((_floor(scenery) * up / np.pi) @ LUMINANCE)
    sunny = scenery.sun.strength > float((flows[1:] @ LUMINANCE).sum())
    return PlaceLight(light.model_copy(update={
        "sun_strength": round(direct, 2), "rim_strength": 0.0, "ground_albedo": 0.0,
        "sun_from_deg": _stands(towards), "sun_size_deg": (
            scenery.sun.size_deg if sunny else _spread_deg(ways[1:], flows[1:] @ LUMINANCE)),
        "sky_strength": round(sky, 2), "sky_color": (1.0, 1.0, 1.0),
        "ground_share": round(min(below / sky, 1.0), 2)}), _tint(up + across))


def _shade(scenery: Scenery, config: RenderConfig, light: Light) -> Tint | None:
    """Return how shadows in the open differ from the stage's; None under ceilings."""
    if scenery.ceilings:
        return None
    sun = config.light.sun_from_deg
    direct = scenery.sun.strength * linear(scenery.sun.color) * np.sin(np.radians(sun[1]))
    zenith, horizon = sky_colors(scenery)[:2]
    missing = direct / (direct + np.pi * (zenith + horizon) / 2)
    usual = max(config.shadow.strength * sun_share(light), 1e-9)
    red, green, blue = np.round(missing / usual, 3).tolist()
    return red, green, blue


def _spread_deg(ways: FloatArray, flows: FloatArray) -> float:
    """Return how wide a sun is whose light comes from as far apart as beams (N, 3) of flows (N,).

    A disc's mean square distance from its middle is an eighth of its width's square.
    """
    middle = flows @ ways
    aside = np.arccos(np.clip(ways @ (middle / np.linalg.norm(middle)), -1, 1))
    wide = float(np.sqrt(8 * (flows @ aside**2) / flows.sum()))
    return float(round(min(np.degrees(wide), WIDEST_DEG)))


def _floor(scenery: Scenery) -> FloatArray:
    """Return what the floor reflects (3,)."""
    if not scenery.floors:
        return np.full(3, 0.3)
    return mean_color(scenery.materials[scenery.floors[0].material])


def _beams(scenery: Scenery, light: Light) -> tuple[FloatArray, FloatArray]:
    """Return the directions (N, 3) that light comes from and its irradiance across (N, 3)."""
    sun = scenery.sun.strength * linear(scenery.sun.color)
    parts, _ = lamp_parts(scenery)
    away = parts[:, :3] - CHEST
    far = np.linalg.norm(away, axis=1, keepdims=True)
    ways = away / far
    shone = np.maximum(-np.einsum("nc,nc->n", ways, parts[:, 3:6]), 0.0)[:, None]
    lamps = parts[:, 6:9] * shone / np.pi / (far**2 + 0.3 * parts[:, 9:])
    return (np.concatenate([direction_from(*light.sun_from_deg)[None], ways]),
            np.concatenate([sun[None], lamps]))


def _stands(towards: FloatArray) -> tuple[float, float]:
    """Return azimuth (0 in front of the person, 90 at their left) and elevation in degrees."""
    x, y, z = towards.tolist()
    return (float(round(degrees(atan2(x, -y)))),
            float(max(round(degrees(atan2(z, np.hypot(x, y)))), LOWEST_DEG)))


def _tint(color: FloatArray) -> Tint:
    red, green, blue = np.round(color / max(float(color @ LUMINANCE), 1e-9), 3).tolist()
    return red, green, blue


def _of_picture(picture: Picture, config: RenderConfig, angle_deg: float) -> PlaceLight:
    told = picture.light
    assert told is not None, "pictures without a light are asked for none"
    light = config.light
    if told.sun_from_deg is not None:
        azimuth = camera_azimuth(config) + angle_deg + told.sun_from_deg[0]
        light = light.model_copy(update={
            "sun_from_deg": ((azimuth + 180.0) % 360.0 - 180.0, told.sun_from_deg[1])})
    return PlaceLight(light, told.tint)


def camera_azimuth(config: RenderConfig) -> float:
    """Return where the camera of angle 0 stands, in degrees; 0 is in front of the person."""
    if isinstance(config.camera, FramedCamera):
        return config.camera.azimuth_deg
    x, y, _ = config.camera.position
    return degrees(atan2(x, -y))
