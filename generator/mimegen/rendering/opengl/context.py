"""OpenGL without a window."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import moderngl

from mimegen.base.errors import RequestError

# The environment's name for the number of the GPU to draw on, as EGL counts them.
DEVICE = "MIMEGEN_OPENGL_DEVICE"


class OpenGLError(RequestError):
    """OpenGL refused to draw; the message is one line that says which and what to do."""


def context_of_process(threads: int = 0) -> moderngl.Context:
    """Return this process's OpenGL 3.3 without a window, on a GPU or in software (Mesa's llvmpipe).

    A process has one: OpenGL works on whichever context was opened last, so what belongs to
    another would be drawn, and deleted, in the wrong one. ``threads`` is how many threads draw in
    software, 0 for all cores, as the first to ask says.

    Raises RequestError where there is no OpenGL.
    """
    if threads:
        # A single one beside this thread would be waited for each time.
        os.environ.setdefault("LP_NUM_THREADS", str(threads if threads > 1 else 0))
    return _only()


def open_context() -> moderngl.Context:
    """Open OpenGL once more; raises RequestError where there is none."""
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
    # What Python no longer holds goes from the GPU as well.
    context.gc_mode = "auto"
    return context


_only = cache(open_context)


def checked(context: moderngl.Context) -> None:
    """Raise OpenGLError where it has met an error: what was drawn is not to be trusted."""
    if (error := context.error) != "GL_NO_ERROR":
        raise _refusal(context, error)


@contextmanager
def telling(context: moderngl.Context) -> Iterator[None]:
    """Turn what OpenGL refuses inside into an OpenGLError."""
    try:
        yield
    except moderngl.Error as problem:
        raise _refusal(context, " ".join(str(problem).split())) from problem


def _refusal(context: moderngl.Context, why: str) -> OpenGLError:
    return OpenGLError(f"OpenGL ({context.info['GL_RENDERER']}) says {why}, so nothing is written;"
                       f" {DEVICE}=1 draws on the machine's next device, a smaller size needs less")


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
