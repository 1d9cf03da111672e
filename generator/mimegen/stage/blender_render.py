"""Rendering with Cycles: devices, sampling, and pictures read into memory."""

import bpy

from mimegen.stage.config import Sampling
from mimegen.stage.devices import DEVICE_KINDS, choose_device


def use_device(wanted: str, threads: int = 0) -> str:
    """Make Cycles render on the wanted kind of device and return which it is.

    ``threads`` is the number of CPU threads, 0 for all. Call it after every ``reset_scene``.

    Raises RequestError where the device is not on this machine.
    """
    preferences = bpy.context.preferences.addons["cycles"].preferences
    found = found_devices()
    kind = choose_device(found, wanted)
    scene = bpy.context.scene
    scene.cycles.device = "CPU" if kind == "CPU" else "GPU"
    preferences.compute_device_type = "NONE" if kind == "CPU" else kind
    for device in preferences.devices:
        device.use = device.type == kind
    scene.render.threads_mode = "FIXED" if threads else "AUTO"
    if threads:
        scene.render.threads = threads
    return kind


def found_devices() -> dict[str, list[str]]:
    """Return the names of this machine's devices by kind."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.refresh_devices()
    found: dict[str, list[str]] = {kind: [] for kind in DEVICE_KINDS}
    for device in preferences.devices:
        found[device.type].append(device.name)
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
    cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.denoising_input_passes = "RGB_ALBEDO_NORMAL"
    cycles.denoising_quality = sampling.denoise_quality.upper()
    cycles.denoising_prefilter = sampling.denoise_prefilter.upper()
    cycles.denoising_use_gpu = sampling.denoise_on_gpu
    scene.render.use_persistent_data = sampling.persistent_data
