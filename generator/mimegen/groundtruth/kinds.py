"""The kinds of ground truth, and who may be asked for them."""

from typing import Literal, get_args

from mimegen.base.errors import RequestError, near_misses

Kind = Literal["keypoints", "depth", "mask", "normals", "flow", "parts"]
Engine = Literal["raster", "cycles"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KEYPOINTS, DEPTH, MASK, NORMALS, FLOW, PARTS = KINDS
ENGINES: tuple[Engine, ...] = get_args(Engine)
# What is seen of a set counts for these; all else is the figures' alone.
WITH_SET: tuple[Kind, ...] = (DEPTH, NORMALS)
FLOW_FILES = ("exr", "flo")
# Of a set: what lets more light through than that is not there.
LEAST_OPACITY = 0.5


def parse_kinds(text: str) -> tuple[tuple[Kind, ...], str]:
    """Return the kinds that a comma-separated list names, and the kind of flow's files.

    ``all`` are all; ``flow:flo`` asks for Middlebury's files. Raises RequestError, with near
    misses, for what is none.
    """
    kinds: dict[str, None] = {}
    flow_files = FLOW_FILES[0]
    for word in (part.strip() for part in text.split(",")):
        name, colon, files = word.partition(":")
        if name not in (*KINDS, "all"):
            raise RequestError(f"--passes: no pass '{word}'{near_misses(word, [*KINDS, 'all'])}")
        if colon and (name != FLOW or files not in FLOW_FILES):
            raise RequestError(f"--passes: '{word}': a file format can only be given as flow:exr"
                               " or flow:flo")
        kinds |= dict.fromkeys(KINDS if name == "all" else (name,))
        flow_files = files or flow_files
    return tuple(kind for kind in KINDS if kind in kinds), flow_files
