"""Whose arrays of joints or vectors a file holds, and how many takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.smpl.parameters import UnreadableError, numbers
from mimegen.readers.smpl.rotations import is_numeric
from mimegen.readers.text_to_motion.vectors import JOINTS_OF, decoded

# Joints of a frame: HumanML3D, SMPL with hands, KIT-ML. Its rates are those of the data sets.
HUMANML = 22
WITH_HANDS = 24
KIT = 21
FPS = {HUMANML: 20.0, WITH_HANDS: 20.0, KIT: 12.5}
MOST_FRAMES = 1_000_000


@dataclass(frozen=True, eq=False)
class TextMotion:
    """One take: ``places`` (F, J, 3), Y up, what stands when, and what the model was told."""

    places: FloatArray
    planted: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    prompt: str | None = None


@dataclass(frozen=True)
class Takes:
    """How many takes a file has, whose they are, and how to get one by its number."""

    count: int
    format: str
    get: Callable[[int], TextMotion]
    prompts: tuple[str, ...] = ()


def takes_in(tree: Any) -> Takes | None:
    """Return the takes of joints that a file holds, or None where it holds none."""
    if isinstance(tree, dict) and "motion" in tree and is_numeric(tree["motion"]):
        return _results(tree)
    if isinstance(tree, dict) and len(tree) == 1:
        tree = next(iter(tree.values()))
    if isinstance(tree, list) and tree and all(is_numeric(one) for one in tree) \
            and len({one.shape[1:] for one in tree}) == 1:
        found = [takes_in(one) for one in tree]
        first = found[0]
        return None if first is None else Takes(len(tree), first.format, lambda n: _nth(found, n))
    if not is_numeric(tree):
        return None
    return _plain(tree)


def _nth(found: list[Takes | None], number: int) -> TextMotion:
    one = found[number]
    if one is None:
        raise UnreadableError(f"take {number} has a different shape from the first")
    return one.get(0)


def _plain(array: NDArray[Any]) -> Takes | None:
    """Return the takes of an array of joints (F, J, 3), of vectors (F, 263), or of several."""
    if array.ndim == 3 and array.shape[2] == 3 and array.shape[1] in FPS:
        return Takes(1, _named(array.shape[1]), lambda _: TextMotion(_checked(array)))
    if array.ndim == 2 and array.shape[1] in JOINTS_OF:
        return Takes(1, _named(JOINTS_OF[array.shape[1]]), lambda _: _of_vectors(array))
    if array.ndim == 4 and array.shape[3] == 3 and array.shape[2] in FPS:
        return Takes(len(array), _named(array.shape[2]), lambda n: TextMotion(_checked(array[n])))
    if array.ndim == 3 and array.shape[2] in JOINTS_OF:
        return Takes(len(array), _named(JOINTS_OF[array.shape[2]]), lambda n: _of_vectors(array[n]))
    return None


def _named(joints: int) -> str:
    return "KIT-ML" if joints == KIT else "HumanML3D"


def _of_vectors(array: NDArray[Any]) -> TextMotion:
    found = decoded(_checked(array))
    return TextMotion(found.places, found.planted)


def _checked(array: NDArray[Any]) -> FloatArray:
    if not 2 <= len(array) <= MOST_FRAMES:
        raise UnreadableError(f"has {len(array)} frames, expected at least 2")
    return numbers("joints", array)


def _results(tree: dict[Any, Any]) -> Takes | None:
    """MDM's ``results.npy``: ``motion`` (N, J, 3, T), ``text`` and ``lengths`` of each."""
    motion = tree["motion"]
    if motion.ndim != 4 or motion.shape[2] != 3 or motion.shape[1] not in FPS:
        return None
    texts = tree.get("text", [])
    prompts = tuple(str(one) for one in texts) if isinstance(texts, list | np.ndarray) else ()
    lengths = np.ravel(np.asarray(tree.get("lengths", []), dtype=object))

    def get(number: int) -> TextMotion:
        length = motion.shape[3]
        if number < len(lengths) and isinstance(lengths[number], int | np.integer) \
                and 2 <= lengths[number] <= length:
            length = int(lengths[number])
        places = np.moveaxis(motion[number], -1, 0)[:length]
        return TextMotion(_checked(places), {}, prompts[number] if number < len(prompts) else None)

    return Takes(len(motion), "MDM", get, prompts)
