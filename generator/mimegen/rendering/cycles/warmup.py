"""Compile and load a GPU's kernels before anything is timed, one process of a machine at a time."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import bpy

from mimegen.base.errors import RequestError
from mimegen.base.locks import locked
from mimegen.base.user_cache import cache_folder
from mimegen.rendering.cycles.kernels import folder_of_kernels, use_folder
from mimegen.rendering.cycles.render import use_device
from mimegen.shots.devices import Device

SIZE = 16


def warm_device(wanted: str, threads: int = 0) -> Device:
    """Do as ``use_device`` does, and check that a GPU renders by rendering a tiny picture.

    The first rendering compiles the kernels, unless prepared ones are used. Drivers cache what they
    compile, so one process of a machine compiles while the others wait and then use the cache.
    Raises RequestError, with the driver's message, if the GPU does not render.
    """
    device = use_device(wanted, threads)
    if device.by_core:
        return device
    kernels = folder_of_kernels()
    use_folder(kernels)
    with _one_at_a_time():
        try:
            render_a_little()
        except RuntimeError as problem:
            words = " ".join(str(problem).split())
            raise RequestError(f"{wanted} does not render: {words}") from problem
    device = use_device(wanted, threads)
    use_folder(kernels)
    return device


def render_a_little() -> None:
    """Render a lit cube at SIZE x SIZE pixels with one sample."""
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.object.light_add(type="SUN")
    bpy.ops.object.camera_add(location=(0.0, 0.0, 9.0))
    scene.camera = bpy.context.object
    scene.render.engine = "CYCLES"
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.cycles.samples = 1
    bpy.ops.render.render()


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock shared by this machine's processes; go on without it if it cannot be taken."""
    with ExitStack() as held:
        with suppress(RequestError):
            held.enter_context(locked(cache_folder() / f"kernels-{socket.gethostname()}"))
        yield
