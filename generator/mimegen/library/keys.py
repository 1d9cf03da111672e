"""The code and the data that characters, motions and performances depend on, as keys.

Each names what makes one kind of thing; ``code_key`` follows what that imports.
"""

from mimegen.base.code import code_key


def figure_code() -> str:
    """Return the key of what builds characters of rigs/ and random ones."""
    return code_key("mimegen.characters.build", "mimegen.characters.sampling",
                    "mimegen.characters.spec")


def imported_figure_code() -> str:
    """Return the key of what reads users' rigged files."""
    return code_key("mimegen.characters.imported.importing")


def lights_code() -> str:
    """Return the key of what makes lights of a character."""
    return code_key("mimegen.pointlight.lights")


def score_code() -> str:
    """Return the key of what performs scores."""
    return code_key("mimegen.choreography.perform")


def recording_code() -> str:
    """Return the key of what reads, trims and places recorded motions."""
    return code_key("mimegen.readers", "mimegen.readers.partners")


def performance_code() -> str:
    """Return the key of what brings motions onto characters, at a frame rate."""
    return code_key("mimegen.retarget.transfer", "mimegen.motion.editing")
