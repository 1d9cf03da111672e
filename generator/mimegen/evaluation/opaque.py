"""Clip names that reveal nothing about the content."""

from pathlib import Path

from mimegen.base.files import content_key
from mimegen.base.names import path_name
from mimegen.manifest.row import Row


def opaque_name(row: Row, seed: int = 0) -> str:
    """Return an opaque name for a clip's file: its own, if that is opaque already."""
    path = Path(row.file_name)
    if row.plain_id is not None:
        return path_name(path.stem) + path.suffix
    return content_key("clip", seed, row.sample_id)[:16] + path.suffix
