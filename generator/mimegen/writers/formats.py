"""The formats that motions are written in, by the ending of a file's name."""

from pathlib import Path

from mimegen.base.errors import RequestError

# Endings by name, as in ``take export --format``; two-part endings distinguish NumPy archives.
FORMATS = {"bvh": ".bvh", "npz": ".npz", "fbx": ".fbx", "glb": ".glb", "usd": ".usda",
           "smplx": ".smplx.npz", "soma": ".soma.npz", "humanml3d": ".joints.npy",
           "humanml3d-vectors": ".vectors.npy", "trc": ".trc", "vrma": ".vrma"}
MOTION_SUFFIXES = tuple(FORMATS.values())


def format_of(path: Path) -> str | None:
    """Return the name of the format that a file's name selects, or None."""
    name = path.name.lower()
    fitting = [kind for kind, ending in FORMATS.items() if name.endswith(ending)]
    return max(fitting, key=lambda kind: len(FORMATS[kind]), default=None)


def checked_format(path: Path) -> str:
    """Return the name of the format that a file's name selects; raises RequestError for none."""
    kind = format_of(path)
    if kind is None:
        raise RequestError(f"{path}: a motion is written as {', '.join(MOTION_SUFFIXES)}")
    return kind
