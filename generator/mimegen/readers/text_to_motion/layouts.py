"""Recognise arrays of joints or vectors by text-to-motion models, and their takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.motion.quaternions import FloatArray
from mimegen.readers.smpl.bodies import are_places
from mimegen.readers.smpl.parameters import UnreadableError, numbers, rate_in
from mimegen.readers.smpl.rotations import is_numeric
from mimegen.readers.text_to_motion.vectors import JOINTS_OF, decoded, is_in_metres

# Joints of a frame in HumanML3D and KIT-ML.
HUMANML = 22
KIT = 21
# Numbers per person of InterGen's model, and per row of InterHuman's files.
INTERGEN, INTERHUMAN = 262, 492
SMPL = 24
# Numbers of joints that SMPL's models give, with hands, fingers and points of the surface. The
# first 22 are those of HumanML3D.
MORE = (24, 45, 52, 55, 73, 127, 144)
# Frame rates (Hz) of the data sets, by the number of joints.
FPS = {HUMANML: 20.0, KIT: 12.5, **dict.fromkeys(MORE, 20.0)}
# Keys of joints or vectors in dictionaries.
NAMES = ("joints", "joints3d", "joints_3d", "positions", "keypoints3d", "pred_joints", "xyz",
         "posed_joints", "motions", "motion", "pred_xyz", "joint_positions", "kpts3d", "vectors")
PROMPTS = ("text", "caption", "prompt", "captions", "texts")
# An axis with fewer entries than this may be people; frames have at least as many.
MAX_PEOPLE = 10
MAX_FRAMES = 1_000_000


@dataclass(frozen=True, eq=False)
class TextMotion:
    """One take: joint positions ``positions`` (F, J, 3), Y up, and the model's prompt or None.

    ``planted`` maps ``left`` and ``right`` to masks (F,) of the frames in which that foot stands.
    ``is_vectors`` is whether the file has vectors of features, from which joints are decoded.
    """

    positions: FloatArray
    planted: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    prompt: str | None = None
    is_vectors: bool = False


@dataclass(frozen=True)
class Takes:
    """The takes of a file: their number and format, and a function that returns one by number."""

    count: int
    format: str
    get: Callable[[int], TextMotion]
    prompts: tuple[str, ...] = ()
    fps: float | None = None

    def take(self, number: int) -> TextMotion:
        """Return a take by its number, with its prompt if there is one."""
        found = self.get(number)
        return replace(found, prompt=self.prompts[number]) \
            if found.prompt is None and number < len(self.prompts) else found


def takes_in(tree: Any) -> Takes | None:
    """Return the takes of joints in a file's content, or None if it holds none."""
    if isinstance(tree, dict) and "motion" in tree and is_numeric(tree["motion"]):
        results = _results(tree)
        if results is not None:
            return results
    if isinstance(tree, dict):
        return _named_joints(tree) or _listed(list(tree.values()))
    if isinstance(tree, list):
        return _listed(tree)
    if not is_numeric(tree):
        return None
    return _plain(tree)


def _listed(parts: list[Any]) -> Takes | None:
    """Return the takes of a list of arrays of joints, or of dictionaries with joints and prompts.

    Each entry is one take. Return None if the first entry holds no joints, or several takes.
    """
    if not parts or not (all(is_numeric(one) for one in parts)
                         or all(isinstance(one, dict) for one in parts)):
        return None
    if is_numeric(parts[0]) and len({one.shape[1:] for one in parts}) > 1:
        return None
    found = [takes_in(one) for one in parts]
    first = found[0]
    if first is None or first.count > 1:
        return None
    return Takes(len(parts), first.format, lambda n: _nth(found, n), fps=first.fps)


def _named_joints(tree: dict[Any, Any]) -> Takes | None:
    """Return the takes of a dictionary that holds joints or vectors, or None.

    It may also hold a rate and prompts.
    """
    names = [name for name in NAMES if name in tree] or (list(tree) if len(tree) == 1 else [])
    found = next((takes for name in names if (takes := takes_in(tree[name])) is not None), None)
    if found is None:
        return None
    said = next((tree[name] for name in PROMPTS if name in tree), ())
    prompts = tuple(str(one) for one in np.ravel(np.asarray(said, dtype=object)))
    return replace(found, prompts=prompts if len(prompts) == found.count else (),
                   fps=rate_in(tree))


def _nth(found: list[Takes | None], number: int) -> TextMotion:
    """Return a take of a list. Raises UnreadableError if it holds no joints."""
    one = found[number]
    if one is None:
        raise UnreadableError(f"take {number} has a different shape from the first")
    return one.take(0)


def _plain(array: NDArray[Any]) -> Takes | None:
    """Return the takes of an array of joints (F, J, 3) or vectors (F, 263), or of a stack of them.
    """
    if array.ndim == 3 and array.shape[1] == 3 and array.shape[0] in FPS and array.shape[2] != 3:
        array = np.moveaxis(array, -1, 0)
    array = _without_others(array)
    if array.ndim == 2 and array.shape[1] in (3 * HUMANML, 3 * KIT, 3 * SMPL):
        array = array.reshape(len(array), -1, 3)
    if array.ndim == 4 and array.shape[1] < MAX_PEOPLE <= array.shape[0]:
        array = np.swapaxes(array, 0, 1)
    if array.ndim == 3 and array.shape[2] == 3 and array.shape[1] in FPS:
        return Takes(1, data_set(array.shape[1]), lambda _: TextMotion(_checked(array)))
    if array.ndim == 2 and array.shape[1] in JOINTS_OF:
        return Takes(1, data_set(JOINTS_OF[array.shape[1]]), lambda _: _of_vectors(array))
    if array.ndim == 4 and array.shape[3] == 3 and array.shape[2] in FPS:
        return Takes(len(array), data_set(array.shape[2]), lambda n: TextMotion(_checked(array[n])))
    if array.ndim == 3 and array.shape[2] in JOINTS_OF:
        name = data_set(JOINTS_OF[array.shape[2]])
        return Takes(len(array), name, lambda n: _of_vectors(array[n]))
    return None


def _without_others(array: NDArray[Any]) -> NDArray[Any]:
    """Return the joints of InterGen's rows without the velocities and rotations after them.

    The model has 262 numbers per person. Rows of InterHuman's files have 492 and begin with 62
    joints. Other arrays are returned unchanged.
    """
    if array.ndim == 2 and array.shape[1] == 2 * INTERGEN:
        array = np.swapaxes(array.reshape(len(array), 2, INTERGEN), 0, 1)
    if array.ndim == 3 and array.shape[2] == INTERGEN and array.shape[1] < MAX_PEOPLE \
            <= array.shape[0]:
        array = np.swapaxes(array, 0, 1)
    if array.ndim in (2, 3) and array.shape[-1] in (INTERGEN, INTERHUMAN):
        array = array[..., :3 * HUMANML]
        return array.reshape(*array.shape[:-1], HUMANML, 3)
    return array


def data_set(joints: int) -> str:
    """Return the name of the data set with this number of joints."""
    return "KIT-ML" if joints == KIT else "HumanML3D"


def _of_vectors(array: NDArray[Any]) -> TextMotion:
    """Return the take of vectors (F, 263 or 251). Raises UnreadableError if normalised."""
    vectors = _checked(array)
    if not is_in_metres(vectors):
        raise UnreadableError("holds normalised vectors, as a model sees them; multiply by the data"
                              " set's Std.npy and add its Mean.npy first")
    found = decoded(vectors)
    return TextMotion(found.positions, found.planted, is_vectors=True)


def _checked(array: NDArray[Any]) -> FloatArray:
    """Return an array as floats.

    Raises UnreadableError if it has no frames, or if its joints are not positions of a body.
    """
    if not 2 <= len(array) <= MAX_FRAMES:
        raise UnreadableError(f"has {len(array)} frames, expected at least 2")
    values = numbers("joints", array)
    if values.ndim == 3 and values.shape[1] != KIT and not are_places(values):
        raise UnreadableError("its joints do not keep their distances, so they are no places of a"
                              " body's joints")
    return values


def _results(tree: dict[Any, Any]) -> Takes | None:
    """Return the takes of MDM's ``results.npy``, or None.

    It holds ``motion`` (N, J, 3, T), and the ``text`` and ``lengths`` of each take.
    """
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
        positions = np.moveaxis(motion[number], -1, 0)[:length]
        return TextMotion(_checked(positions), {},
                          prompts[number] if number < len(prompts) else None)

    return Takes(len(motion), "MDM", get, prompts)
