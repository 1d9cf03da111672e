"""GLB files taken apart and put together again, for tests."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Document = dict[str, Any]


def parts_of(path: Path) -> tuple[Document, bytearray]:
    """Return a GLB file's JSON object and its buffer."""
    data = path.read_bytes()
    length, = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), bytearray(data[28 + length :])


def write(path: Path, document: Document, buffer: bytes | bytearray) -> Path:
    """Write a GLB file."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = b"".join(struct.pack("<I4s", len(chunk), kind) + chunk
                    for kind, chunk in ((b"JSON", text), (b"BIN\0", bytes(buffer))))
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body)
    return path


def changed(path: Path, target: Path, change: Callable[[Document], None]) -> Path:
    """Write a GLB file whose JSON object is changed in place."""
    document, buffer = parts_of(path)
    change(document)
    return write(target, document, bytes(buffer))


def values(document: Document, buffer: bytearray, accessor: int) -> np.ndarray[Any, Any]:
    """Return an accessor's numbers (N, K), of four bytes, as a view of the buffer."""
    about = document["accessors"][accessor]
    view = document["bufferViews"][about["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[about["type"]]
    start = view.get("byteOffset", 0) + about.get("byteOffset", 0)
    return np.frombuffer(buffer, "<f4", about["count"] * width, start).reshape(-1, width)
