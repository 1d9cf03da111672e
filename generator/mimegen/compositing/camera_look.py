"""Apply a camera look to finished pictures; see ``shots/look.py``."""

from collections.abc import Iterable, Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from mimegen.base.arrays import ByteArray
from mimegen.compositing.color import (
    LUMINANCE,
    LightArray,
    bytes_to_linear,
    linear_to_srgb,
)
from mimegen.shots.camera import Camera
from mimegen.shots.look import CameraLook, Lens

# The picture width that a look's lengths in pixels refer to.
_WIDTH = 1280.0
# A disc has the same second moment as a Gaussian with a standard deviation of a quarter of the
# disc's diameter.
_DISC = 0.25
# Standard deviations, in pixels, of the blurred backgrounds that each row is interpolated from.
_BLURS = (0.0, 0.7, 1.4, 2.8, 5.6, 11.2)
# The distance assumed for everything above the horizon, in metres.
_FAR_M = 1e6
Plane = NDArray[np.float32]


def looked(pictures: Iterable[ByteArray], lens: Lens) -> Iterator[ByteArray]:
    """Yield sRGB pictures (H, W, 3) with a lens's look applied, one for each frame.

    The optics are applied to linear light: softness, distortion, vignette. The camera's processing
    is applied to coded values: contrast, saturation, sharpening, and grain last.
    """
    look, camera = lens.filmed.look, lens.camera
    unit = camera.width / _WIDTH
    fall = _vignette(lens)
    still = None if look.shakes or not lens.changes else lens.shown(0, lens.pixels())
    for frame, picture in enumerate(pictures):
        light = _blurred(bytes_to_linear(picture), look.softness_px * unit)
        if lens.changes:
            light = bent(light, lens.shown(frame, lens.pixels()) if still is None else still)
        coded = linear_to_srgb(np.clip(light * fall, 0, 1)).astype(np.float32)
        yield _bytes(_grained(_processed(coded, look, unit), lens, frame, unit))


def bent(values: LightArray, places: NDArray[np.float64]) -> LightArray:
    """Return values (H, W, C) sampled bilinearly at pixels x y (H, W, 2).

    Outside of the picture, the nearest edge is repeated.
    """
    at = np.stack([places[..., 1], places[..., 0]]) - 0.5
    planes = [scipy.ndimage.map_coordinates(values[..., channel], at, np.float32, 1, "nearest",
                                      prefilter=False) for channel in range(values.shape[-1])]
    return np.stack(planes, axis=-1)


def defocused(backdrop: LightArray, camera: Camera, f_number: float) -> LightArray:
    """Return a set's picture (H, W, 3), linear light, blurred by a lens focused on the origin.

    The distance is approximated: each row is as far away as the ground there, and everything above
    the horizon is very far. So nearby objects are blurred too much above their foot.
    """
    rows = _blur_of_rows(camera, f_number)
    stack = [_blurred(backdrop, blur) for blur in _BLURS]
    level = np.interp(rows, _BLURS, range(len(_BLURS)))
    lower = np.minimum(level.astype(int), len(_BLURS) - 2)
    share = (level - lower).astype(np.float32)[:, None, None]
    picked = np.stack([stack[number][row] for row, number in enumerate(lower)])
    above = np.stack([stack[number + 1][row] for row, number in enumerate(lower)])
    return np.asarray(picked * (1 - share) + above * share)


def _blur_of_rows(camera: Camera, f_number: float) -> NDArray[np.float64]:
    """Return each row's blur (H,), a standard deviation in pixels, by the thin-lens formula."""
    middle = np.stack([np.full(camera.height, camera.width / 2),
                       np.arange(camera.height) + 0.5], axis=-1)
    ground = camera.ground_points(middle)
    places = np.concatenate([np.nan_to_num(ground, nan=0.0), np.zeros((len(ground), 1))], axis=1)
    depth = np.where(np.isnan(ground[:, 0]), _FAR_M, camera.project(places)[:, 2])
    focus = max(float(camera.project(np.zeros((1, 3)))[0, 2]), 0.3)
    lens_m = camera.lens_mm / 1000
    apart = np.abs(depth - focus) / np.maximum(depth, 0.1)
    circle_mm = 1000 * lens_m / f_number * apart * lens_m / max(focus - lens_m, 0.1)
    return np.asarray(np.minimum(circle_mm / camera.sensor_width_mm * camera.width * _DISC,
                                 _BLURS[-1]))


def _blurred(values: LightArray, deviation: float) -> LightArray:
    if deviation < 0.05:
        return values
    return np.asarray(scipy.ndimage.gaussian_filter(
        values, (deviation, deviation, 0), mode="nearest", truncate=3.0))


def _vignette(lens: Lens) -> Plane:
    """Return the fraction of light (H, W, 1) that the lens transmits to each pixel."""
    camera = lens.camera
    away = lens.pixels() - np.array([camera.width, camera.height]) / 2
    squared = (away**2).sum(axis=-1, keepdims=True)
    corner = (camera.width**2 + camera.height**2) / 4
    return np.asarray(1 - lens.filmed.look.vignette * squared / corner, np.float32)


def _processed(coded: Plane, look: CameraLook, unit: float) -> Plane:
    """Return coded values, 0 to 1, with the look's contrast, saturation and sharpening."""
    # A curve through 0, 1/2 and 1, steeper in the middle.
    toned = coded + look.contrast * 2 * (coded - 0.5) * coded * (1 - coded) * 2
    gray = _gray(toned)
    colored = gray + look.saturation * (toned - gray)
    if look.sharpen == 0:
        return colored
    soft = scipy.ndimage.gaussian_filter(_gray(colored), (look.sharpen_px * unit,) * 2 + (0,),
                                   mode="nearest", truncate=3.0)
    return np.asarray(colored + np.float32(look.sharpen) * (_gray(colored) - soft))


def _gray(values: Plane) -> Plane:
    """Return the luma (H, W, 1), summed in a fixed order to be equal on all machines."""
    red, green, blue = (np.float32(weight) for weight in LUMINANCE)
    return np.asarray((values[..., :1] * red + values[..., 1:2] * green) + values[..., 2:] * blue)


def _grained(values: Plane, lens: Lens, frame: int, unit: float) -> Plane:
    """Return values with grain added, less of it in shadows and highlights."""
    look = lens.filmed.look
    if look.grain == 0 and look.color_grain == 0:
        return values
    random = lens.filmed.random("grain", frame)
    size = values.shape[:2]
    whole = _grain(random, (*size, 1), look.grain_px * unit)
    colors = _grain(random, (*size, 3), 2 * look.grain_px * unit)
    luma = np.clip(_gray(values), 0, 1)
    share = np.float32(0.35) + np.float32(2.6) * luma * (1 - luma)
    return values + share / 255 * (whole * look.grain + colors * look.color_grain)


def _grain(random: np.random.Generator, size: tuple[int, ...], deviation: float) -> Plane:
    """Return noise with a standard deviation of 1, smoothed by a Gaussian of ``deviation`` pixels.

    With a ``deviation`` below 0.3 it is not smoothed.
    """
    noise = random.standard_normal(size, np.float32)
    if deviation < 0.3:
        return noise
    soft = _blurred(noise, deviation)
    return np.asarray(soft * np.float32(2 * np.sqrt(np.pi) * deviation))


def _bytes(coded: Plane) -> ByteArray:
    return np.asarray(np.round(np.clip(coded, 0, 1) * 255), np.uint8)
