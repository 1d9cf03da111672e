"""OpenGL contexts without a window, and their errors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import moderngl

from mimegen.base.errors import RequestError

# The environment variable with the number of the GPU to draw on, in EGL's order.
DEVICE = "MIMEGEN_OPENGL_DEVICE"


class OpenGLError(RequestError):
    """OpenGL failed to draw; the one-line message names the renderer and says what to do."""


def context_of_process(threads: int = 0) -> moderngl.Context:
    """Return this process's only OpenGL 3.3 context, on a GPU or in software (Mesa's llvmpipe).

    There is one per process, because OpenGL uses the context opened last: objects of another
    context would be drawn, and deleted, in the wrong one. ``threads`` is the number of threads for
    drawing in software, 0 for all cores; only the first call's value counts.

    Raises RequestError if OpenGL does not start.
    """
    if threads:
        # With 1, this thread would only wait for the other one each time; with 0, it draws itself.
        os.environ.setdefault("LP_NUM_THREADS", str(threads if threads > 1 else 0))
    return _only()


def open_context() -> moderngl.Context:
    """Open a new OpenGL context; raises RequestError if OpenGL does not start."""
    backend = _backend()
    try:
        context = moderngl.create_context(require=330, standalone=True, **backend)
    except Exception as problem:
        reason = " ".join(str(problem).split())
        if DEVICE in os.environ:
            reason += f"; {DEVICE} says which device"
        raise RequestError(
            f"OpenGL does not start ({reason}); a config with 'engine: raster' needs it (Debian:"
            " apt-get install libegl1 libgl1-mesa-dri); --config preview does not"
        ) from problem
    # Free the GPU's memory of objects when Python frees them.
    context.gc_mode = "auto"
    return context


_only = cache(open_context)


def checked(context: moderngl.Context) -> None:
    """Raise OpenGLError if the context has an error: what was drawn may be wrong."""
    if (error := context.error) != "GL_NO_ERROR":
        raise _refusal(context, error)


@contextmanager
def telling(context: moderngl.Context) -> Iterator[None]:
    """Turn moderngl's errors within the block into OpenGLError."""
    try:
        yield
    except moderngl.Error as problem:
        raise _refusal(context, " ".join(str(problem).split())) from problem


def _refusal(context: moderngl.Context, why: str) -> OpenGLError:
    return OpenGLError(f"OpenGL ({context.info['GL_RENDERER']}) says {why}, so nothing is written;"
                       f" {DEVICE}=1 draws on the machine's next device, a smaller size needs less")


def is_sound(context: moderngl.Context) -> bool:
    """Return whether a context still draws, by drawing and reading one pixel."""
    try:
        target = context.framebuffer(context.renderbuffer((1, 1), 4))
        target.clear(1.0, 0.0, 1.0, 1.0)
        return context.error == "GL_NO_ERROR" and target.read(components=4) == b"\xff\x00\xff\xff"
    except Exception:
        return False


def _backend() -> dict[str, Any]:
    """Return the arguments that make moderngl use EGL, which needs no display; Linux only.

    Of several GPUs, the one given in the environment variable DEVICE is used, by default the first.
    """
    if os.name != "posix" or os.uname().sysname != "Linux":
        return {}
    number = os.environ.get(DEVICE, "0")
    if not number.isdecimal():
        raise RequestError(f"{DEVICE}={number}: expected the number of an EGL device, from 0")
    return {"backend": "egl", "device_index": int(number)}
