"""Stand-ins for what pickles name: they remember what was said of them, and do nothing.

An array's or a dtype's own code never sees a pickle's numbers: they are checked here first.
"""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Kinds of numbers, truth values and texts, as NumPy's array protocol writes them.
DTYPE = re.compile(r"[<>=|]?(?:[biuf][1248]|[SU]\d{1,6}|O8?)")
MOST_DIMENSIONS = 16


class DamagedError(ValueError):
    """What is in a pickle cannot be what it says."""


class Inert:
    """Anything that a pickle makes by a call: the arguments, and the state that it is given."""

    def __init__(self, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None


def as_dtype(found: Any) -> np.dtype[Any]:
    """Return the dtype that a pickle describes, by text or as an inert ``dtype``.

    Raises DamagedError for a structured dtype, and any that is not of numbers or texts.
    """
    if isinstance(found, np.dtype):
        return found
    order = ""
    if isinstance(found, Inert) and found.name == "dtype":
        text = found.arguments[0] if found.arguments else None
        if isinstance(found.state, tuple) and len(found.state) > 1 \
                and found.state[1] in ("<", ">", b"<", b">"):
            order = found.state[1] if isinstance(found.state[1], str) else found.state[1].decode()
    else:
        text = found
    text = text.decode("latin-1") if isinstance(text, bytes) else text
    if not isinstance(text, str) or not DTYPE.fullmatch(text):
        raise DamagedError(f"an array has elements of an unknown kind ({str(text)[:40]})")
    return np.dtype(order + text.lstrip("<>=|") if order else text)


def as_shape(found: Any) -> tuple[int, ...]:
    """Return a shape that a pickle gives. Raises DamagedError where it is none."""
    shape = tuple(found.arguments[0]) if isinstance(found, Inert) and found.arguments else found
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not (isinstance(shape, tuple | list) and len(shape) <= MOST_DIMENSIONS
            and all(isinstance(one, int) and 0 <= one < 2**40 for one in shape)):
        raise DamagedError("an array has no shape")
    return tuple(shape)


def array_of(data: Any, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool
             ) -> NDArray[Any]:
    """Return an array (``shape``) of raw bytes, or of a list of objects.

    Raises DamagedError where there are more or fewer of them than the shape says.
    """
    count = math.prod(shape)
    order = "F" if fortran else "C"
    if dtype.hasobject:
        if not isinstance(data, list) or len(data) != count:
            raise DamagedError("an array of objects has a wrong number of them")
        objects = np.empty(count, dtype=object)
        objects[:] = data
        return objects.reshape(shape, order=order)  # type: ignore[call-overload,no-any-return]
    if isinstance(data, str):
        # Python 2 wrote bytes as text.
        data = data.encode("latin-1", errors="replace")
    if not isinstance(data, bytes | bytearray | memoryview) \
            or len(data) != count * dtype.itemsize:
        raise DamagedError("an array has a wrong number of elements")
    return np.frombuffer(data, dtype).reshape(shape, order=order)  # type: ignore[call-overload,no-any-return]
