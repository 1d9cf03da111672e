"""OpenGL without a window."""

import os
from typing import Any

import moderngl

from mimegen.base.errors import RequestError


def open_context(threads: int = 0) -> moderngl.Context:
    """Return an OpenGL 3.3 context without a window, on a GPU or in software (Mesa's llvmpipe).

    ``threads`` is how many threads draw in software, 0 for all cores.

    Raises RequestError where there is no OpenGL.
    """
    if threads:
        os.environ.setdefault("LP_NUM_THREADS", str(threads))
    try:
        context = moderngl.create_context(require=330, standalone=True, **_backend())
    except Exception as problem:
        reason = " ".join(str(problem).split())
        raise RequestError(
            f"OpenGL does not start ({reason}); a config with 'engine: raster' needs it (Debian:"
            " apt-get install libegl1 libgl1-mesa-dri); --config preview does not"
        ) from problem
    # What Python no longer holds goes from the GPU as well.
    context.gc_mode = "auto"
    return context


def _backend() -> dict[str, Any]:
    """Return what makes moderngl take EGL, which needs no display, where there is EGL."""
    return {"backend": "egl"} if os.name == "posix" and os.uname().sysname == "Linux" else {}
