"""Stand-ins for the objects in pickles: they store arguments and state, and execute nothing.

Shapes, dtypes and bytes are checked here before NumPy makes an array of them.
"""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Accepted dtypes in NumPy's notation: booleans, numbers, texts and objects.
DTYPE = re.compile(r"[<>=|]?(?:[biuf][1248]|[SU]\d{1,6}|O8?)")
MAX_DIMENSIONS = 16


class DamagedError(ValueError):
    """The content of a file contradicts itself."""


class Inert:
    """A stand-in for an object that a pickle makes by a call: its name, arguments and state."""

    def __init__(self, name: str, arguments: tuple[Any, ...] = ()) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None


def as_dtype(found: Any) -> np.dtype[Any]:
    """Return the dtype that a pickle describes by a text or by a stand-in.

    Raises DamagedError for structured dtypes, and for any other than of numbers, texts or objects.
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
    """Return the shape that a pickle gives. Raises DamagedError if it is not a valid shape."""
    shape = tuple(found.arguments[0]) if isinstance(found, Inert) and found.arguments else found
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not (isinstance(shape, tuple | list) and len(shape) <= MAX_DIMENSIONS
            and all(isinstance(one, int) and 0 <= one < 2**40 for one in shape)):
        raise DamagedError("an array has no shape")
    return tuple(shape)


def array_of(data: Any, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool
             ) -> NDArray[Any]:
    """Make an array with a ``shape`` of raw bytes, or of a list of objects.

    Raises DamagedError if there are more or fewer of them than the shape requires.
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
