"""Refuse files that hold only facial expressions and no body."""

from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError

# Names that only lists of ARKit's expressions have, in lower case.
ARKIT_ONLY_NAMES = ("eyeblinkleft", "jawopen")


def refuse_faces(path: Path, names: Any) -> None:
    """Raise RequestError if names are ARKit's facial expressions, as Live Link and BEAT write."""
    if isinstance(names, list) and any(
            isinstance(name, str) and name.strip().lower() in ARKIT_ONLY_NAMES for name in names):
        raise RequestError(f"{path}: holds weights of facial expressions (ARKit) and no body; use"
                           " a file with the motion of a body")
