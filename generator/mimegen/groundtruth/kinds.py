"""The kinds of ground truth, and the engines that can render them."""

from typing import Literal, get_args

from mimegen.base.errors import RequestError, near_misses

Kind = Literal["keypoints", "depth", "mask", "normals", "flow", "parts"]
Engine = Literal["raster", "cycles"]
KINDS: tuple[Kind, ...] = get_args(Kind)
KEYPOINTS, DEPTH, MASK, NORMALS, FLOW, PARTS = KINDS
ENGINES: tuple[Engine, ...] = get_args(Engine)
# The kinds that include the set; all others show the figures only.
WITH_SET: tuple[Kind, ...] = (DEPTH, NORMALS)
# The file formats of flow; the first is the default.
FLOW_FILES = ("exr", "flo")
# Materials of a set that are less opaque than this are left out of depth and normals.
MIN_OPACITY = 0.5


def parse_kinds(text: str) -> tuple[tuple[Kind, ...], str]:
    """Return the kinds in a comma-separated list, and the file format of flow.

    ``all`` stands for all kinds; ``flow:flo`` asks for Middlebury's file format. Raises
    RequestError, with similar names, for an unknown kind or format.
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
