"""Read and write the parts of a glTF file: its JSON, and the binary chunk of a GLB file.

Format: the Khronos glTF 2.0 specification, section 4.4 (GLB).
"""

import json
import struct
from pathlib import Path
from typing import Any

MAGIC = b"glTF"
JSON_CHUNK, BINARY_CHUNK = b"JSON", b"BIN\0"
VERSION = 2
# Bytes of the file's header and of a chunk's, and the multiple of bytes that chunks have.
HEADER = 12
CHUNK_HEADER = 8
ALIGNED = 4
Document = dict[str, Any]


def read_document(path: Path) -> Document | None:
    """Return a glTF file's JSON object, or None if it is damaged."""
    try:
        found = json.loads(text_of(path.read_bytes()))
    except (OSError, ValueError, RecursionError, struct.error):
        return None
    return found if isinstance(found, dict) else None


def text_of(data: bytes) -> bytes:
    """Return the JSON text of a glTF file, binary or not."""
    if not data.startswith(MAGIC):
        return data
    length, = struct.unpack_from("<I", data, HEADER)
    return data[HEADER + CHUNK_HEADER :][:length]


def binary_chunk(path: Path) -> bytes:
    """Return the binary chunk of a GLB file, or no bytes if there is none."""
    data = path.read_bytes()
    start = HEADER + CHUNK_HEADER + len(text_of(data))
    if not data.startswith(MAGIC) or len(data) < start + CHUNK_HEADER:
        return b""
    length, = struct.unpack_from("<I", data, start)
    return data[start + CHUNK_HEADER :][:length]


def write_glb(path: Path, document: Document, numbers: bytes) -> None:
    """Write a binary glTF file with ``numbers`` as its binary chunk."""
    path.write_bytes(glb_of(document, chunk(BINARY_CHUNK, numbers, b"\0")))


def glb_of(document: Document, rest: bytes) -> bytes:
    """Return a binary glTF file of a document, with the chunks ``rest`` after it."""
    body = chunk(JSON_CHUNK, json.dumps(document).encode(), b" ") + rest
    return MAGIC + struct.pack("<II", VERSION, HEADER + len(body)) + body


def chunk(kind: bytes, content: bytes, filler: bytes) -> bytes:
    """Return a chunk of a binary glTF file, padded with ``filler`` to whole words."""
    content += filler * (-len(content) % ALIGNED)
    return struct.pack("<I", len(content)) + kind + content
