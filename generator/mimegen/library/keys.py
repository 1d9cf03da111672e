"""Keys of the code and data that characters, motions and performances depend on.

Each function names the modules that make one kind of output; ``code_key`` follows their imports.
"""

from collections.abc import Collection

from mimegen.base.code import code_key
from mimegen.readers import READERS


def figure_code() -> str:
    """Return the key of the code that builds described and random characters."""
    return code_key("mimegen.characters.build", "mimegen.characters.sampling",
                    "mimegen.characters.spec")


def clothes_code() -> str:
    """Return the key of the code that dresses random people in the clothes of others."""
    return code_key("mimegen.characters.redressing")


def lights_code() -> str:
    """Return the key of the code that turns a character into lights."""
    return code_key("mimegen.pointlight.lights")


def score_code() -> str:
    """Return the key of the code that reads and performs scores."""
    return code_key("mimegen.choreography.reading", "mimegen.choreography.perform",
                    "mimegen.choreography.face")


def gait_code() -> str:
    """Return the key of the code that makes gaits."""
    return code_key("mimegen.gait.walking", "mimegen.library.gait_take",
                    without=["mimegen.library.keys", "mimegen.library.take"])


def face_code() -> str:
    """Return the key of the code that moves faces."""
    return code_key("mimegen.characters.living")


def watching_code() -> str:
    """Return the key of the code that places the camera that a performer looks into."""
    return code_key("mimegen.shots.framing", "mimegen.library.watched")


def scene_code() -> str:
    """Return the key of the code that compiles a scene into one score and performs it.

    The code that computes the scene's timeline is excluded: it changes no motion.
    """
    return code_key("mimegen.scenes.compiling", "mimegen.choreography.perform",
                    without=("mimegen.scenes.relations", "mimegen.choreography.happenings"))


def fault_code() -> str:
    """Return the key of the code that applies faults to motions and bodies."""
    return code_key("mimegen.faults.scene")


def recording_code(suffixes: Collection[str]) -> str:
    """Return the key of the code that reads, trims and places motions of these file types."""
    used = {READERS[suffix.lower()][0] for suffix in suffixes}
    # A table can hold markers or joints.
    used |= {READERS[one][0] for one in (".c3d", ".json")
             if "mimegen.readers.tables" in used}
    unused = {module for module, _ in READERS.values()} - used
    if "mimegen.readers.c3d" in unused:
        # Only C3D files are searched for several people.
        unused.add("mimegen.readers.points")
    # Doubts are only reported; they change no motion.
    unused.add("mimegen.readers.plausibility")
    return code_key("mimegen.readers", "mimegen.readers.partners", without=unused)


def altering_code() -> str:
    """Return the key of the code that mirrors performances and changes their tempo."""
    return code_key("mimegen.library.altering")


def reversing_code() -> str:
    """Return the key of the code that plays performances backwards."""
    return code_key("mimegen.library.reversing")


def performance_code() -> str:
    """Return the key of the code that retargets motions to characters at a frame rate."""
    return code_key("mimegen.retarget.performing")
