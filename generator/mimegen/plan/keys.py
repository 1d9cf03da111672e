"""The code and the data that each kind of picture depends on, beside its scene, as keys.

Each names what makes one kind of output; ``code_key`` follows what that imports. A further kind
has a function of its own, so that it renews nothing.
"""

from mimegen.base.code import code_key


def shot_code() -> str:
    """Return the key of what frames, lights and renders figures and packs their frames."""
    return code_key("mimegen.shots.framing", "mimegen.rendering.cycles.shotframes")


def drawn_shot_code() -> str:
    """Return the key of what frames figures and draws them with OpenGL."""
    return code_key("mimegen.shots.framing", "mimegen.rendering.opengl.shot",
                    "mimegen.shots.publishing")


def drawn_still_code() -> str:
    """Return the key of what draws sets with OpenGL."""
    return code_key("mimegen.rendering.opengl.scenery")


def still_code() -> str:
    """Return the key of what renders sets."""
    return code_key("mimegen.rendering.cycles.scenery")


def clip_code() -> str:
    """Return the key of what lays frames over backgrounds and encodes them."""
    return code_key("mimegen.compositing.backdrop", "mimegen.compositing.video")


def sweeping_code() -> str:
    """Return the key of what tells how much of the floor performers take."""
    return code_key("mimegen.scenery.sweeping")


def clearing_code() -> str:
    """Return the key of what keeps sets out of performers' way, and of what tells that way."""
    return code_key("mimegen.scenery.sweeping", "mimegen.scenery.clearing")


def look_code() -> str:
    """Return the key of what shows finished pictures as a real camera does."""
    return code_key("mimegen.compositing.looked")


def showing_code() -> str:
    """Return the key of what gives finished frames their faults."""
    return code_key("mimegen.faults.showing")


def display_code() -> str:
    """Return the key of what makes point-light displays."""
    return code_key("mimegen.pointlight.scenes", "mimegen.pointlight.filming")
