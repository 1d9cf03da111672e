"""Rendering with Cycles: devices, sampling, and pictures read into memory."""

import os
import tempfile
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.shots.config import Sampling, Shutter
from mimegen.shots.crop import Region
from mimegen.shots.devices import DEVICE_KINDS, Device, best_device


def use_device(wanted: str, threads: int = 0) -> Device:
    """Empty Blender and choose the devices Cycles renders on; return their kind and number.

    ``wanted`` is as in ``best_device``; ``threads`` is the number of CPU threads, 0 for all.

    Raises RequestError if the machine lacks the device.
    """
    # Factory settings, because the user's start-up file could change pixels.
    bpy.ops.wm.read_factory_settings(use_empty=True)
    preferences = bpy.context.preferences.addons["cycles"].preferences
    kind, numbers = best_device(found_devices(), wanted)
    preferences.compute_device_type = "NONE" if kind == "cpu" else kind.upper()
    of_kind = [device for device in preferences.devices if device.type == kind.upper()]
    for device in preferences.devices:
        device.use = False
    for number in numbers:
        of_kind[number].use = True
    scene = bpy.context.scene
    scene.cycles.device = "CPU" if kind == "cpu" else "GPU"
    scene.render.threads_mode = "FIXED" if threads else "AUTO"
    if threads:
        scene.render.threads = threads
    return Device(kind, len(numbers))


def found_devices() -> dict[str, list[str]]:
    """Return the names of this machine's devices by kind."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.refresh_devices()
    found: dict[str, list[str]] = {kind: [] for kind in DEVICE_KINDS}
    for device in preferences.devices:
        found[device.type.lower()].append(device.name)
    return found


def apply_sampling(sampling: Sampling) -> None:
    """Set how Cycles samples, bounces and denoises."""
    scene = bpy.context.scene
    cycles = scene.cycles
    cycles.samples = sampling.samples
    cycles.use_adaptive_sampling = sampling.adaptive_threshold > 0
    cycles.adaptive_threshold = sampling.adaptive_threshold
    cycles.adaptive_min_samples = sampling.min_samples
    cycles.max_bounces = sampling.max_bounces
    cycles.caustics_reflective = cycles.caustics_refractive = sampling.caustics
    cycles.use_light_tree = sampling.light_tree
    cycles.use_denoising = sampling.denoise
    if sampling.denoise:
        _apply_denoiser(sampling)
    scene.render.use_persistent_data = sampling.persistent_data


def apply_shutter(shutter: Shutter | None) -> None:
    """Turn on motion blur, with the shutter interval centred on the frame's time; None: turn off.

    With a rolling shutter, rows are read out from top to bottom.
    """
    scene = bpy.context.scene
    scene.render.use_motion_blur = shutter is not None
    if shutter is None:
        return
    scene.render.motion_blur_position = "CENTER"
    scene.render.motion_blur_shutter = shutter.frames
    if shutter.readout_deg > 0:
        scene.cycles.rolling_shutter_type = "TOP"
        scene.cycles.rolling_shutter_duration = shutter.open_deg / 360.0 / shutter.frames


def _apply_denoiser(sampling: Sampling) -> None:
    cycles = bpy.context.scene.cycles
    try:
        cycles.denoiser = "OPENIMAGEDENOISE"
    except TypeError:
        # Debian's Blender, for example, is built without it.
        raise RuntimeError("this Blender was built without OpenImageDenoise; use another, or a"
                           " render config with 'denoise: false'") from None
    cycles.denoising_input_passes = "RGB_ALBEDO_NORMAL"
    cycles.denoising_quality = sampling.denoise_quality.upper()
    cycles.denoising_prefilter = sampling.denoise_prefilter.upper()
    cycles.denoising_use_gpu = sampling.denoise_on_gpu


class PictureReader:
    """Renders pictures and reads their pixels.

    Without a window, Blender gives no access to the pixels of a render result. So they are saved to
    a file and read back, which costs about 10 ms.
    """

    def __init__(self) -> None:
        self._file = passing_file()

    def displayed(self) -> NDArray[np.uint8]:
        """Return the last render as Blender displays it: 8-bit sRGB (H, W, 3), top row first."""
        scene = bpy.context.scene
        settings = scene.render.image_settings
        settings.file_format, settings.color_mode, settings.color_depth = "PNG", "RGB", "8"
        bpy.data.images["Render Result"].save_render(str(self._file), scene=scene)
        with Image.open(self._file) as picture:
            return np.asarray(picture)

    def render(self, region: Region) -> NDArray[np.float32]:
        """Render a region as premultiplied linear RGBA floats (h, w, 4), top row first."""
        scene = bpy.context.scene
        crop(scene.render, region)
        bpy.ops.render.render()
        settings = scene.render.image_settings
        settings.file_format = "OPEN_EXR"
        settings.color_mode, settings.color_depth = "RGBA", "32"
        settings.exr_codec = "NONE"
        bpy.data.images["Render Result"].save_render(str(self._file), scene=scene)
        picture = bpy.data.images.load(str(self._file))
        width, height = picture.size
        pixels = np.empty(width * height * 4, np.float32)
        picture.pixels.foreach_get(pixels)
        bpy.data.images.remove(picture)
        left, top, right, bottom = region
        if (width, height) != (right - left, bottom - top):
            raise RuntimeError(f"Blender rendered {width}x{height} pixels for region {region}")
        return pixels.reshape(height, width, 4)[::-1]


def passing_file() -> Path:
    """Return the path of a file for passing pictures from Blender to Python.

    The file is in memory, so nothing is left behind, if the system allows it and bpy runs in this
    process. Otherwise, it is in the temporary folder: a Blender in a second process
    (``rendering/remote_blender.py``) cannot open this process's memory file.
    """
    if hasattr(os, "memfd_create") and isinstance(bpy, ModuleType):
        return Path(f"/proc/self/fd/{os.memfd_create('picture')}")
    return Path(tempfile.gettempdir()) / "picture"


def crop(render: bpy.types.RenderSettings, region: Region) -> None:
    """Restrict rendering to a region of the picture."""
    left, top, right, bottom = region
    width, height = render.resolution_x, render.resolution_y
    render.use_border = render.use_crop_to_border = True
    # Blender rounds the border down to whole pixels; adding 0.01 guards against float errors.
    render.border_min_x, render.border_max_x = (left + 0.01) / width, (right + 0.01) / width
    render.border_min_y = (height - bottom + 0.01) / height
    render.border_max_y = (height - top + 0.01) / height
