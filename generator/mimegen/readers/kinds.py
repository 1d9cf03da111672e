"""Find the kind of a motion file by its content, or else by the ending of its name."""

import re
import zipfile
from pathlib import Path, PurePosixPath

from mimegen.readers.arrays.files import COMPRESSED, NPY, PACKED, PICKLE, PROTOCOLS, ZIP

# Bytes read from the beginning of a file.
HEAD = 4096
# Kinds that Blender imports by the file's ending: a file with another ending is not read as one.
BY_NAME = {".fbx": (".fbx",), ".glb": (".glb", ".gltf", ".vrm", ".vrma"),
           ".usd": (".usd", ".usda", ".usdc", ".usdz")}
PROTOCOL_BYTES = tuple(bytes([number]) for number in PROTOCOLS)
USD = (".usd", ".usda", ".usdc", ".usdz")


def kind_of(path: Path) -> str:
    """Return the ending that fits a motion file's content, in lower case.

    If the content shows no kind, or there is no file, return the ending that the file has.
    """
    ending = path.suffix.lower()
    try:
        with path.open("rb") as opened:
            head = opened.read(HEAD)
        content = _told(path, head)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return ending
    if content is None or ending in BY_NAME.get(content, ()):
        return ending
    return ending if content in BY_NAME else content


def _told(path: Path, head: bytes) -> str | None:
    """Return the ending that a file's first bytes call for, or None if they show no kind."""
    if head.startswith(ZIP):
        return _of_zip(path)
    if head.startswith(NPY):
        return ".npy"
    if head.startswith(COMPRESSED) or head[:2] in PACKED or (
            head[:1] == PICKLE and head[1:2] in PROTOCOL_BYTES):
        return ".pkl"
    if head.startswith(b"PXR-USDC") or head.startswith(b"#usda"):
        return ".usd"
    text = head.lstrip(b"\xef\xbb\xbf").lstrip()
    if text[:9].upper() == b"HIERARCHY":
        return ".bvh"
    if text.startswith(b"PathFileType"):
        return ".trc"
    if text.startswith((b"Format Version", b"NO_OF_FRAMES\t")):
        return ".csv" if text.startswith(b"Format") else ".tsv"
    if re.search(rb"^\s*in[dD]egrees\s*=", text, re.MULTILINE) and b"endheader" in text:
        return ".sto" if path.suffix.lower() == ".sto" else ".mot"
    if re.search(rb"<mvnx[\s>]", text):
        return ".mvnx"
    return None


def _of_zip(path: Path) -> str | None:
    """Return the ending that fits a zip file by the names in it, or None."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(PurePosixPath(name).name == "data.pkl" for name in names):
        return ".pt"
    if names and PurePosixPath(names[0]).suffix in USD:
        return ".usd"
    return ".npz" if any(name.endswith(".npy") for name in names) else None
