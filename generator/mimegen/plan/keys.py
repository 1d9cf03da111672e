"""Keys of the code and data that each kind of picture depends on, besides its scene.

Each function names the modules that make one kind of output; ``code_key`` follows their imports.
Each kind has a function of its own, so that adding a kind changes no existing key.
"""

from mimegen.base.code import code_key


def shot_code() -> str:
    """Return the key of the code that frames, lights and renders figures and packs their frames."""
    return code_key("mimegen.shots.framing", "mimegen.rendering.cycles.shotframes")


def drawn_shot_code() -> str:
    """Return the key of the code that frames figures and draws them with OpenGL."""
    return code_key("mimegen.shots.framing", "mimegen.rendering.opengl.shot",
                    "mimegen.shots.publishing")


def drawn_still_code() -> str:
    """Return the key of the code that draws sets with OpenGL."""
    return code_key("mimegen.rendering.opengl.scenery")


def still_code() -> str:
    """Return the key of the code that renders sets."""
    return code_key("mimegen.rendering.cycles.scenery")


def clip_code() -> str:
    """Return the key of the code that composites frames over backgrounds and encodes them."""
    return code_key("mimegen.compositing.backdrop", "mimegen.compositing.video")


def sweeping_code() -> str:
    """Return the key of the code that computes the floor area performers cover."""
    return code_key("mimegen.scenery.sweeping")


def clearing_code() -> str:
    """Return the key of the code that clears sets for performers, and that finds their paths."""
    return code_key("mimegen.scenery.sweeping", "mimegen.scenery.clearing")


def look_code() -> str:
    """Return the key of the code that makes finished pictures look filmed by a real camera."""
    return code_key("mimegen.compositing.camera_look")


def showing_code() -> str:
    """Return the key of the code that applies faults to finished frames."""
    return code_key("mimegen.faults.showing")


def display_code() -> str:
    """Return the key of the code that makes point-light displays."""
    return code_key("mimegen.pointlight.displayjob")
