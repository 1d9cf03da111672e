"""Convert a glTF file packed by meshoptimizer to a plain one that Blender can read.

Format: the Khronos specifications of EXT_meshopt_compression and KHR_meshopt_compression.
"""

import base64
import binascii
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.readers.files import check_size
from mimegen.readers.gltf_file import Document, binary_chunk, read_document, write_glb
from mimegen.readers.meshopt.attributes import unpack_attributes
from mimegen.readers.meshopt.deltas import Bytes, DamagedStreamError
from mimegen.readers.meshopt.filters import FILTERS
from mimegen.readers.meshopt.indices import unpack_sequence, unpack_triangles

EXTENSIONS = ("EXT_meshopt_compression", "KHR_meshopt_compression")
# Most MiB of all buffers of a file together, unpacked. A million vertices with all attributes take
# 60 MiB.
MAX_MIB = 128
MAX_STRIDE = 256
# Elements filtered at once, which limits the memory.
AT_ONCE = 1 << 16
ALIGNED = 8
DATA = "data:"


def is_packed(document: Document) -> bool:
    """Return whether a glTF file requires one of meshoptimizer's extensions."""
    needed = document.get("extensionsRequired", [])
    return isinstance(needed, list) and any(name in needed for name in EXTENSIONS)


def unpacked(path: Path, folder: Path) -> Path:
    """Return a glTF file that is not packed: ``path``, or a copy in ``folder``.

    Raises RequestError, one line, for a packed file that is damaged or far too large.
    """
    document = read_document(path)
    if document is None or not is_packed(document):
        return path
    try:
        numbers = _all_numbers(document, _buffers(document, path))
        _make_plain(document, len(numbers), path)
    except (DamagedStreamError, LookupError, TypeError, ValueError, AttributeError) as problem:
        said = str(problem) if isinstance(problem, DamagedStreamError) else "its JSON is damaged"
        raise RequestError(f"{path}: is packed with meshoptimizer and cannot be unpacked ({said});"
                           " export it again") from problem
    suffix = ".glb" if path.suffix.lower() == ".gltf" else path.suffix.lower()
    copy = folder / f"unpacked{suffix}"
    write_glb(copy, document, numbers)
    return copy


def _buffers(document: Document, path: Path) -> list[bytes]:
    """Return the bytes of each buffer; none for a placeholder without data of its own."""
    return [_buffer(buffer.get("uri"), number, path)
            for number, buffer in enumerate(document["buffers"])]


def _buffer(uri: Any, number: int, path: Path) -> bytes:
    """Return a buffer's bytes: embedded, from the binary chunk, or from another file.

    Raises RequestError if the file is missing.
    """
    if uri is None:
        return binary_chunk(path) if number == 0 else b""
    if uri.startswith(DATA):
        try:
            return base64.b64decode(uri.partition(",")[2])
        except binascii.Error:
            raise DamagedStreamError(f"its buffer {number} is not base64") from None
    beside = path.parent / unquote(uri)
    if not beside.is_file():
        raise RequestError(f"{path}: {beside.name} was not found beside it; keep both together")
    check_size(beside)
    return beside.read_bytes()


def _all_numbers(document: Document, buffers: list[bytes]) -> bytes:
    """Return the unpacked bytes of all buffer views, one after the other.

    The views are changed to their new offsets in this single buffer.
    """
    parts: list[bytes] = []
    at = 0
    for number, view in enumerate(document["bufferViews"]):
        try:
            found = _plain(view, buffers, MAX_MIB * 2**20 - at)
        except DamagedStreamError as problem:
            raise DamagedStreamError(f"buffer view {number}: {problem}") from None
        found += bytes(-len(found) % ALIGNED)
        view.update(buffer=0, byteOffset=at)
        parts.append(found)
        at += len(found)
    return b"".join(parts)


def _plain(view: Document, buffers: list[bytes], room: int) -> bytes:
    """Return the unpacked bytes of a buffer view, and remove its compression extension.

    Raises DamagedStreamError if they are more than ``room``, or fewer than the view declares.
    """
    extensions = view.get("extensions", {})
    packing = next((extensions[name] for name in EXTENSIONS if name in extensions), None)
    size = _whole(view, "byteLength")
    wanted = size if packing is None else _whole(packing, "count") * _whole(packing, "byteStride")
    if max(wanted, size) > room:
        raise DamagedStreamError(f"its numbers take more than {MAX_MIB} MiB")
    if packing is None:
        return _slice(view, buffers)
    for name in EXTENSIONS:
        extensions.pop(name, None)
    found = _unpacked(packing, _slice(packing, buffers)).tobytes()
    if len(found) < size:
        raise DamagedStreamError(f"it holds {len(found)} bytes in place of {size}")
    return found


def _slice(view: Document, buffers: list[bytes]) -> bytes:
    """Return the bytes of a view. Raises DamagedStreamError if the buffer is too short."""
    buffer = buffers[_whole(view, "buffer")]
    start, size = _whole(view, "byteOffset", 0), _whole(view, "byteLength")
    if start + size > len(buffer):
        raise DamagedStreamError(f"its bytes end at {start + size}, its buffer at {len(buffer)}")
    return buffer[start : start + size]


def _whole(part: Document, name: str, otherwise: int | None = None) -> int:
    """Return a non-negative whole number of a document; it is required if there is no default."""
    found = part.get(name, otherwise)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        raise DamagedStreamError(f"its {name} is {str(found)[:20]}")
    return found


def _unpacked(packing: Document, data: bytes) -> Bytes:
    """Return the elements of a packed view, with its filter undone."""
    count, stride = _whole(packing, "count"), _whole(packing, "byteStride")
    mode, name = packing.get("mode"), packing.get("filter", "NONE")
    if mode in ("TRIANGLES", "INDICES"):
        if stride not in (2, 4) or (mode == "TRIANGLES" and count % 3):
            raise DamagedStreamError(f"it has {count} indices of {stride} bytes")
        unpack = unpack_triangles if mode == "TRIANGLES" else unpack_sequence
        return unpack(data, count).astype(f"<u{stride}").view(np.uint8)
    if mode != "ATTRIBUTES" or not 4 <= stride <= MAX_STRIDE or stride % 4:
        raise DamagedStreamError(f"its mode is {str(mode)[:20]}, with {stride} bytes an element")
    elements = unpack_attributes(data, count, stride)
    if name == "NONE":
        return elements
    if name not in FILTERS or stride not in FILTERS[name][1]:
        raise DamagedStreamError(f"its filter is {str(name)[:20]}, with {stride} bytes an element")
    for start in range(0, count, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        elements[part] = FILTERS[name][0](elements[part])
    return elements


def _make_plain(document: Document, size: int, path: Path) -> None:
    """Change a document so that all its data is in one plain buffer."""
    document["buffers"] = [{"byteLength": size}]
    for kind in ("extensionsRequired", "extensionsUsed"):
        if kind in document:
            document[kind] = [name for name in document[kind] if name not in EXTENSIONS]
    for image in document.get("images", []):
        uri = image.get("uri", DATA)
        if not uri.startswith(DATA):
            image["uri"] = quote(str(path.resolve().parent / unquote(uri)))
