"""Finished pieces under their content keys: nothing half-written is ever seen, nothing made twice.

    shots/<key>/shot.json      what the shot is: frames, camera, provenance
    shots/<key>/000000.npz     its frames
    stills/<key>.png           a background set from a camera
    clips/<key>.json           the manifest row of a finished clip
    scratch/                   workers' temporary files
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publish, sweep
from mimegen.store.frames import frame_name, read_frame


@dataclass(frozen=True)
class Store:
    """The folder of finished pieces."""

    root: Path

    def shot_folder(self, key: str) -> Path:
        """Return where a shot's frames lie."""
        return self.root / "shots" / key

    def still(self, key: str) -> Path:
        """Return where the still of a set lies."""
        return self.root / "stills" / f"{key}.png"

    @property
    def scratch(self) -> Path:
        """Return where workers keep temporary files."""
        return self.root / "scratch"

    def shot_facts(self, key: str) -> dict[str, Any] | None:
        """Return what was recorded of a shot, or None."""
        return _read_json(self.shot_folder(key) / "shot.json")

    def record_shot(self, key: str, facts: dict[str, Any]) -> None:
        """Record what a shot is, before its frames are made."""
        publish(self.shot_folder(key) / "shot.json", json.dumps(facts, indent=1))

    def clip_row(self, key: str) -> dict[str, Any] | None:
        """Return the manifest row of a clip that was finished, or None."""
        return _read_json(self.root / "clips" / f"{key}.json")

    def record_clip(self, key: str, row: dict[str, Any]) -> None:
        """Record a finished clip."""
        publish(self.root / "clips" / f"{key}.json", json.dumps(row, indent=1))

    def missing(self, key: str, frames: int) -> NDArray[np.bool_]:
        """Say (F,) which frames of a shot are absent or damaged; damaged ones are removed.

        A frame is read in full unless it was already found whole and has not been touched since.
        """
        folder = self.shot_folder(key)
        seen = _read_json(folder / "whole.json") or {}
        whole: dict[str, list[int]] = {}
        missing = np.ones(frames, dtype=bool)
        for number, path in enumerate(folder / frame_name(f) for f in range(frames)):
            try:
                stat = path.stat()
                mark = [stat.st_size, stat.st_mtime_ns]
                if seen.get(path.name) != mark:
                    read_frame(path)
            except FileNotFoundError:
                continue
            except ValueError:
                path.unlink(missing_ok=True)
                continue
            whole[path.name] = mark
            missing[number] = False
        if whole != seen and folder.is_dir():
            publish(folder / "whole.json", json.dumps(whole))
        return missing

    def sweep(self, keys: Iterable[str]) -> None:
        """Remove what killed writers left beside the frames of these shots and beside stills."""
        for folder in [*(self.shot_folder(key) for key in keys), self.root / "stills"]:
            sweep(folder)


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, or None where the file is absent or damaged (it is made anew)."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None
