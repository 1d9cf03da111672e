"""OpenGL without a window."""

import os
from typing import Any

import moderngl

from mimegen.base.errors import RequestError

# The environment's name for the number of the GPU to draw on, as EGL counts them.
DEVICE = "MIMEGEN_OPENGL_DEVICE"


def open_context(threads: int = 0) -> moderngl.Context:
    """Return an OpenGL 3.3 context without a window, on a GPU or in software (Mesa's llvmpipe).

    ``threads`` is how many threads draw in software, 0 for all cores.

    Raises RequestError where there is no OpenGL.
    """
    if threads:
        os.environ.setdefault("LP_NUM_THREADS", str(threads))
    backend = _backend()
    try:
        context = moderngl.create_context(require=330, standalone=True, **backend)
    except Exception as problem:
        reason = " ".join(str(problem).split())
        raise RequestError(
            f"OpenGL does not start ({reason}); a config with 'engine: raster' needs it (Debian:"
            " apt-get install libegl1 libgl1-mesa-dri); --config preview does not"
        ) from problem
    # What Python no longer holds goes from the GPU as well.
    context.gc_mode = "auto"
    return context


def checked(context: moderngl.Context) -> None:
    """Raise RuntimeError where OpenGL has met an error: what was drawn is not to be trusted."""
    if (error := context.error) != "GL_NO_ERROR":
        raise RuntimeError(f"OpenGL says {error}")


def is_sound(context: moderngl.Context) -> bool:
    """Return whether a context still draws: one pixel is drawn and read."""
    try:
        target = context.framebuffer(context.renderbuffer((1, 1), 4))
        target.clear(1.0, 0.0, 1.0, 1.0)
        return context.error == "GL_NO_ERROR" and target.read(components=4) == b"\xff\x00\xff\xff"
    except Exception:
        return False


def _backend() -> dict[str, Any]:
    """Return what makes moderngl take EGL, which needs no display, where there is EGL.

    Of several GPUs it takes the one whose number the environment names.
    """
    if os.name != "posix" or os.uname().sysname != "Linux":
        return {}
    number = os.environ.get(DEVICE, "0")
    if not number.isdecimal():
        raise RequestError(f"{DEVICE}={number}: expected the number of an EGL device, from 0")
    return {"backend": "egl", "device_index": int(number)}
