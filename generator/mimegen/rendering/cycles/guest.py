"""The Blender side of ``rendering/remote_blender.py``: carries out another's operations on bpy.

This file is run as a script by Blender's program or by a Python that has bpy, of any version. So
it imports only the standard library and NumPy, and messages hold only plain values. See
``rendering/remote_blender.py`` for the messages.
"""

import importlib
import operator
import os
import pickle
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

PLAIN = (type(None), bool, int, float, str, bytes)
GATHERED: dict[type, str] = {tuple: "tuple", list: "list", set: "set", frozenset: "set"}
OPERATIONS: dict[str, Callable[..., Any]] = {
    "import": lambda name: importlib.import_module(name), "get": getattr, "put": setattr,
    "item": operator.getitem, "put_item": operator.setitem, "list": list, "length": len,
    "has": operator.contains, "equal": operator.eq, "truth": bool, "matmul": operator.matmul,
    "is_a": isinstance, "text": repr,
}


class Guest:
    """Carries out operations on objects that the other process refers to by numbers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept: dict[int, Any] = {}
        self._next = 0

    def serve(self) -> None:
        """Carry out operations until the other process closes the connection (EOFError)."""
        while True:
            operation, given, named, dropped = pickle.loads(self._connection.recv_bytes())
            for number in dropped:
                self._kept.pop(number, None)
            try:
                answer = self._do(operation, self._decoded(given), self._decoded(named))
            except Exception as problem:
                answer = ("raised", type(problem).__name__, str(problem), None)
            self._connection.send_bytes(pickle.dumps(answer, 4))

    def _do(self, operation: str, given: list[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        if operation != "call":
            return "done", self._encoded(OPERATIONS[operation](*given)), None, None
        done = self._encoded(given[0](*given[1:], **named))
        # foreach_get writes its result into the array it is given, so send that array back.
        fills = getattr(given[0], "__name__", "") == "foreach_get"
        return "done", done, self._encoded(given[-1]) if fills else None, None

    def _encoded(self, value: Any) -> Any:
        """Return plain values, containers and arrays by value, and other objects as numbers."""
        if type(value) in PLAIN:
            return value
        if type(value) in GATHERED:
            return GATHERED[type(value)], [self._encoded(one) for one in value]
        if type(value) is dict:
            return "dict", [(self._encoded(key), self._encoded(one)) for key, one in value.items()]
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return "array", (value.dtype.str, value.shape, value.tobytes())
        self._next += 1
        self._kept[self._next] = value
        try:
            return "object", (self._next, hash(value))
        except TypeError:
            return "object", (self._next, None)

    def _decoded(self, value: Any) -> Any:
        if type(value) is not tuple:
            return value
        kind, content = value
        if kind == "object":
            return self._kept[content]
        if kind == "array":
            text, shape, data = content
            return np.frombuffer(bytearray(data), text).reshape(shape)
        if kind == "dict":
            return {self._decoded(key): self._decoded(one) for key, one in content}
        return {"tuple": tuple, "list": list, "set": set}[kind](map(self._decoded, content))


def _end_with_input() -> None:
    os.read(0, 1)
    os._exit(1)


def main(arguments: list[str]) -> None:
    """Serve the process at the other end of an inherited socket, and end with it."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    connection = Connection(int(arguments[0]))
    bpy = importlib.import_module("bpy")
    connection.send_bytes(pickle.dumps(tuple(bpy.app.version), 4))
    try:
        Guest(connection).serve()
    except (EOFError, ConnectionError):
        os._exit(0)


if __name__ == "__main__":
    # Arguments before "--" belong to Blender's program.
    main(sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:])
