"""Use Blender's modules from a process without them, through a Blender in a second process.

After ``use_remote_blender``, ``import bpy`` gives a proxy. Every attribute access, item access or
call on the proxy, and on any object it returns, is sent as one message (about 50 microseconds) to
the second process, which runs ``rendering/cycles/guest.py``. So any Blender works, whatever its
Python version, and it needs no part of mimegen installed. Plain values, containers and arrays are
copied; any other object stays in the second process and is referred to by a number.
"""

import builtins
import os
import pickle
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

import numpy as np

from mimegen.base.blender import INSTALL_LIBRARIES, Blender, missing_library, require_blender
from mimegen.base.errors import RequestError

MODULES = ("bpy", "bmesh", "mathutils")
_PLAIN = (type(None), bool, int, float, str, bytes)
_MAX_TEXT = 200


def use_remote_blender() -> None:
    """Make ``import bpy`` work: with this Python's own bpy, or with a proxy for a separate Blender.

    Raises RequestError if the separate Blender does not start.
    """
    found = require_blender("rendering with Cycles")
    if found.is_own or isinstance(sys.modules.get("bpy"), RemoteObject):
        return
    blender = BlenderProcess(found)
    for name in MODULES:
        sys.modules[name] = blender.ask("import", name)
    # Some builds of Blender lack this module.
    with suppress(ImportError):
        sys.modules["_cycles"] = blender.ask("import", "_cycles")


class RemoteObject:
    """A proxy for an object in the Blender process: every operation on it is carried out there."""

    def __init__(self, blender: "BlenderProcess", number: int, hashed: int | None) -> None:
        vars(self).update(_blender=blender, _number=number, _hashed=hashed)

    def __del__(self) -> None:
        self._blender.dropped.append(self._number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._blender.ask("get", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._blender.ask("put", self, name, value)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the object in the Blender process and return the result."""
        return self._blender.ask("call", self, *given, **named)

    def __getitem__(self, key: Any) -> Any:
        return self._blender.ask("item", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._blender.ask("put_item", self, key, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._blender.ask("list", self))

    def __len__(self) -> int:
        return int(self._blender.ask("length", self))

    def __contains__(self, value: Any) -> bool:
        return bool(self._blender.ask("has", self, value))

    def __bool__(self) -> bool:
        return bool(self._blender.ask("truth", self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteObject) and bool(self._blender.ask("equal", self, other))

    def __hash__(self) -> int:
        if self._hashed is None:
            raise TypeError("unhashable object of Blender")
        return int(self._hashed)

    def __matmul__(self, other: Any) -> Any:
        return self._blender.ask("matmul", self, other)

    def __or__(self, other: Any) -> Any:
        # The value of annotations such as ``bpy.types.Mesh | None`` is never used at run time.
        return Any

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, RemoteObject) and bool(self._blender.ask("is_a", value, self))

    def __repr__(self) -> str:
        return str(self._blender.ask("text", self))


class BlenderProcess:
    """A Blender in a second process, which ends when this process ends."""

    def __init__(self, blender: Blender) -> None:
        self.dropped: list[int] = []
        ours, theirs = socket.socketpair()
        self._connection = Connection(ours.detach())
        with theirs, tempfile.TemporaryFile() as errors:
            # Blender's process ends when this pipe to its standard input closes.
            self._process = subprocess.Popen(
                blender.command("mimegen.rendering.cycles.guest", str(theirs.fileno())),
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                pass_fds=[theirs.fileno()], env=blender.environment())
            theirs.close()
            self._greet(blender, errors)

    def _greet(self, blender: Blender, errors: IO[bytes]) -> None:
        try:
            started = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            self._process.wait()
            errors.seek(0)
            raise RequestError(_why(blender, errors.read().decode(errors="replace"))) from None
        if started[:2] != blender.number[:2]:
            raise RequestError(f"{blender.path}: reports version {blender.version} but"
                               f" starts Blender {'.'.join(map(str, started))}")

    def ask(self, operation: str, *given: Any, **named: Any) -> Any:
        """Carry out an operation in the Blender process; return its result or raise its error."""
        dropped, self.dropped = self.dropped, []
        message = operation, _encoded(list(given)), _encoded(named), dropped
        try:
            self._connection.send_bytes(pickle.dumps(message, 4))
            outcome, answer, filled, _ = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            # SystemExit, because an ``except Exception`` would carry on without Blender.
            raise SystemExit(1) from None
        if outcome == "raised":
            raise _exception(answer, filled)
        if filled is not None:
            given[-1][...] = self._decoded(filled)
        return self._decoded(answer)

    def _decoded(self, value: Any) -> Any:
        if type(value) is not tuple:
            return value
        kind, content = value
        if kind == "object":
            return RemoteObject(self, *content)
        if kind == "array":
            text, shape, data = content
            return np.frombuffer(data, text).reshape(shape)
        if kind == "dict":
            return {self._decoded(key): self._decoded(one) for key, one in content}
        return {"tuple": tuple, "list": list, "set": set}[kind](map(self._decoded, content))


def _encoded(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, RemoteObject):
        return "object", value._number
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return "array", (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, dict):
        return "dict", [(_encoded(key), _encoded(one)) for key, one in value.items()]
    for kind, name in ((tuple, "tuple"), (list, "list"), ((set, frozenset), "set")):
        if isinstance(value, kind):
            return name, [_encoded(one) for one in value]
    return os.fspath(value) if isinstance(value, Path) else str(value)


def _exception(name: str, text: str) -> Exception:
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and name != "UnicodeDecodeError":
        return kind(text)
    return RuntimeError(f"{name}: {text}")


def _why(blender: Blender, output: str) -> str:
    """Return one line that says why Blender did not start, found in its error output."""
    missing = missing_library(output)
    if missing:
        return f"{blender.path}: {missing}"
    if "No module named 'numpy'" in output:
        return (f"{blender.path}: this Blender's Python has no NumPy; install it there (Debian and"
                " Ubuntu: python3-numpy)")
    lines = [line.strip() for line in output.splitlines() if "Error" in line] or ["no reason given"]
    return (f"{blender.path}: Blender does not start ({lines[-1][:_MAX_TEXT]});"
            f" {INSTALL_LIBRARIES}")
