"""The code and the data that characters, motions and performances depend on, as keys.

Each names what makes one kind of thing; ``code_key`` follows what that imports.
"""

from collections.abc import Collection

from mimegen.base.code import code_key
from mimegen.readers import READERS


def figure_code() -> str:
    """Return the key of what builds characters of rigs/ and random ones."""
    return code_key("mimegen.characters.build", "mimegen.characters.sampling",
                    "mimegen.characters.spec")


def clothes_code() -> str:
    """Return the key of what dresses random people in clothes of others."""
    return code_key("mimegen.characters.redressing")


def lights_code() -> str:
    """Return the key of what makes lights of a character."""
    return code_key("mimegen.pointlight.lights")


def score_code() -> str:
    """Return the key of what reads and performs scores."""
    return code_key("mimegen.choreography.reading", "mimegen.choreography.perform",
                    "mimegen.choreography.face")


def gait_code() -> str:
    """Return the key of what makes gaits."""
    return code_key("mimegen.gait.walking", "mimegen.library.gait_take",
                    without=["mimegen.library.keys", "mimegen.library.take"])


def face_code() -> str:
    """Return the key of what moves faces."""
    return code_key("mimegen.characters.living")


def scene_code() -> str:
    """Return the key of what makes one score of a scene, and performs it.

    What tells what happens in it is no part of that.
    """
    return code_key("mimegen.scenes.compiling", "mimegen.choreography.perform",
                    without=("mimegen.scenes.relations", "mimegen.choreography.happenings"))


def fault_code() -> str:
    """Return the key of what gives motions and bodies their faults."""
    return code_key("mimegen.faults.scene")


def recording_code(suffixes: Collection[str]) -> str:
    """Return the key of what reads, trims and places recorded motions of files by their endings."""
    used = {READERS[suffix.lower()][0] for suffix in suffixes}
    # A table may be one of markers, or of joints.
    used |= {READERS[one][0] for one in (".c3d", ".json")
             if "mimegen.readers.tables" in used}
    unused = {module for module, _ in READERS.values()} - used
    if "mimegen.readers.c3d" in unused:
        # Who is in a file is asked of C3D files alone.
        unused.add("mimegen.readers.points")
    # Doubts are said and change no motion.
    unused.add("mimegen.readers.plausibility")
    return code_key("mimegen.readers", "mimegen.readers.partners", without=unused)


def altering_code() -> str:
    """Return the key of what mirrors performances and changes their tempo."""
    return code_key("mimegen.library.altering")


def reversing_code() -> str:
    """Return the key of what plays performances backwards."""
    return code_key("mimegen.library.reversing")


def performance_code() -> str:
    """Return the key of what brings motions onto characters, at a frame rate."""
    return code_key("mimegen.retarget.performing")
