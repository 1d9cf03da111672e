"""Convert packed SMPL parameters to plain arrays: lists, object arrays, batches, many people."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.readers.smpl.parameters import BODY_POSE, ROOT, WHOLE, WHOLE_JOINTS
from mimegen.readers.smpl.rotations import is_numeric

# Most levels of nested dictionaries and lists.
DEEPEST = 4
# Sizes of an axis that holds a whole pose, or a body without its root.
WIDE = {each * joints for joints in (*WHOLE_JOINTS, 21, 23) for each in (3, 6, 9)}
JOINTS = {*WHOLE_JOINTS, 21, 23}
BY_JOINT = (3, 4, 6)


def tidied(found: Any, depth: int = 0) -> Any:
    """Return a file's content with lists and object arrays of numbers converted to arrays."""
    if isinstance(found, dict):
        return {key: tidied(value, depth + 1) for key, value in found.items()} \
            if depth < DEEPEST else found
    if isinstance(found, list) and found:
        if _are_rows(found):
            return np.stack([one.reshape(-1) for one in found])
        return _as_array(found) if _leaf_is_number(found) else (
            [tidied(one, depth + 1) for one in found] if depth < DEEPEST else found)
    if isinstance(found, np.ndarray) and found.dtype == object and found.size > 1 \
            and isinstance(found.flat[0], int | float):
        return _as_array(found)
    return found


def _are_rows(found: list[Any]) -> bool:
    """Return whether a list holds one array per frame, as HybrIK writes them."""
    return all(is_numeric(one) and (one.ndim == 1 or (one.ndim == 2 and len(one) == 1))
               for one in found) and len({one.size for one in found}) == 1


def _leaf_is_number(found: Any) -> bool:
    """Return whether the first innermost value of nested lists is a number."""
    for _ in range(8):
        if not isinstance(found, list):
            break
        if not found:
            return False
        found = found[0]
    return isinstance(found, int | float) and not isinstance(found, bool)


def _as_array(found: Any) -> Any:
    """Return nested lists of numbers as an array, or unchanged if they are not regular."""
    try:
        array = np.array(found.tolist() if isinstance(found, np.ndarray) else found)
    except (TypeError, ValueError):
        return found
    return array if is_numeric(array) else found


def people_along_an_axis(tree: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return each person's parameters from arrays whose first axis is people, or None.

    A batch of one is one person.
    """
    held = next((tree[name] for name in (*BODY_POSE, *WHOLE) if is_numeric(tree.get(name))), None)
    if held is None or not _has_people_axis(held):
        return None
    people = len(held)
    roots = [tree[name] for name in ROOT if is_numeric(tree.get(name))]
    if any(len(root) != people for root in roots):
        return None
    return [{name: value[person] if _is_each(value, people) else value
             for name, value in tree.items()} for person in range(people)]


def _has_people_axis(values: NDArray[Any]) -> bool:
    """Return whether an array's axes are people, frames, and then those of a frame's pose."""
    if values.ndim == 3:
        return values.shape[2] in WIDE and values.shape[1] != values.shape[2]
    if values.ndim == 4:
        return values.shape[2] in JOINTS and values.shape[3] in BY_JOINT
    return values.ndim == 5 and values.shape[3:] == (3, 3)


def _is_each(value: Any, people: int) -> bool:
    """Return whether a value is an array with one entry per person."""
    return is_numeric(value) and value.ndim >= 2 and len(value) == people
