"""Finished pieces under their content keys: nothing half-written is ever seen, nothing made twice.

    characters/ab/<key>.npz       a built character
    performances/ab/<key>.npz     a motion on a character, at a frame rate
    shots/ab/<key>/shot.json      what the shot is: frames, camera, provenance
    shots/ab/<key>/000000.npz     its frames
    shots/ab/<key>/cpu-<kind>.txt  a kind of processor that made some of them
    stills/ab/<key>.png           a background set from a camera
    passes/ab/<key>/pass.json     what a pass of a shot is, or geometry of a set
    passes/ab/<key>/000000.npz    its frames
    pictures/ab/<hash>.jpg        a background's picture, for workers elsewhere
    encoded/ab/<key>.mp4          a clip on its way to the folder that it is for
    encoded/ab/<key>/             files of a pass on their way there
    clips/ab/<key>.json           the manifest row of a finished clip
    scratch/                      workers' temporary files

``ab`` are the key's first two digits, so that no folder holds a million entries. Older
stores had no such folders; what lies in them is still found.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from mimegen.base.files import publish, stamp, sweep
from mimegen.base.names import is_content_key, plain_name
from mimegen.store.disk import Disk
from mimegen.store.frames import frame_name, read_frame
from mimegen.store.shotfacts import ShotFacts

# The folder of those who use the store at the moment.
RUNNING = "running"
# In a shot's folder: what it is, and the frames that were found whole.
SHOT_FACTS = "shot.json"
WHOLE = "whole.json"
# A shot that claims to have more is damaged.
MOST_FRAMES = 10**7


@dataclass(frozen=True)
class Store:
    """The folder of finished pieces. A key that could lead out of it raises ValueError."""

    root: Path

    @property
    def is_in_use(self) -> bool:
        """Whether the store is there, and nothing empty in its place: a job has entered itself."""
        return (self.root / RUNNING).is_dir()

    def waiter(self) -> Callable[[], None]:
        """Return what waits, after long work, until the store is there again, if a job uses it now.

        A file server may be away; what is written in its place would be lost. It raises as
        ``Disk.wait``.
        """
        was = self.is_in_use
        return Disk(lambda: self.is_in_use or not was).wait

    def shot_folder(self, key: str) -> Path:
        """Return where a shot's frames lie."""
        return self._place("shots", key, "")

    def still(self, key: str) -> Path:
        """Return where the still of a set lies."""
        return self._place("stills", key, ".png")

    def pass_folder(self, key: str) -> Path:
        """Return where the frames of a pass lie, or the geometry of a set."""
        return self._place("passes", key, "")

    def record_pass(self, key: str, facts: dict[str, Any]) -> None:
        """Record what a pass is, before its frames are made."""
        publish(self.pass_folder(key) / "pass.json", json.dumps(facts, indent=1))

    def encoded(self, key: str) -> Path:
        """Return where a clip is encoded before it goes to the folder that it is for."""
        return self._place("encoded", key, ".mp4")

    def encoded_folder(self, key: str) -> Path:
        """Return where a folder of files is made before it goes to the one that it is for."""
        return self._place("encoded", key, "")

    def picture(self, key: str, suffix: str) -> Path:
        """Return where a background's picture lies for workers that do not see the library."""
        return self._place("pictures", key, suffix)

    def character(self, key: str) -> Path:
        """Return where a built character lies."""
        return self._place("characters", key, ".npz")

    def performance(self, key: str) -> Path:
        """Return where a performance lies."""
        return self._place("performances", key, ".npz")

    def _place(self, kind: str, key: str, suffix: str) -> Path:
        plain_name(key)
        if key in self._unfanned.get(kind, ()):
            return self.root / kind / f"{key}{suffix}"
        return self.root / kind / key[:2] / f"{key}{suffix}"

    @cached_property
    def _unfanned(self) -> dict[str, frozenset[str]]:
        """The keys that lie where older stores had them, by kind."""
        found = {}
        for kind in ("shots", "stills", "clips"):
            folder = self.root / kind
            places = folder.iterdir() if folder.is_dir() else ()
            found[kind] = frozenset(place.stem for place in places if len(place.stem) > 2)
        return found

    @property
    def scratch(self) -> Path:
        """Return where workers keep temporary files."""
        return self.root / "scratch"

    def shot_facts(self, key: str) -> ShotFacts | None:
        """Return what was recorded of a shot; None where nothing was, or it is damaged."""
        facts = _read_json(self.shot_folder(key) / SHOT_FACTS)
        return cast(ShotFacts, facts) if facts is not None and _describes_shot(facts) else None

    def record_shot(self, key: str, facts: ShotFacts) -> None:
        """Record what a shot is, before its frames are made."""
        publish(self.shot_folder(key) / SHOT_FACTS, json.dumps(facts, indent=1))

    def clip_row(self, key: str) -> dict[str, Any] | None:
        """Return the manifest row of a clip that was finished, or None."""
        return _read_json(self.clip_record(key))

    def clip_recorded(self, key: str) -> int:
        """Return when a clip was recorded, in nanoseconds; 0 for one that is not."""
        written = stamp(self.clip_record(key))
        return written[0] if written else 0

    def clip_record(self, key: str) -> Path:
        """Return where the record of a finished clip lies; without it, it counts as not made."""
        return self._place("clips", key, ".json")

    def clip_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the manifest rows of all clips that were finished."""
        for path in sorted((self.root / "clips").rglob("*.json")):
            row = _read_json(path)
            if row is not None:
                yield row

    def record_clip(self, key: str, row: dict[str, Any]) -> None:
        """Record a finished clip."""
        publish(self.clip_record(key), json.dumps(row, indent=1))

    def missing(self, key: str, frames: int) -> NDArray[np.bool_]:
        """Say (F,) which frames of a shot are absent or damaged; damaged ones are removed.

        A frame is read in full unless it was already found whole and has not been touched since.
        """
        folder = self.shot_folder(key)
        seen = _read_json(folder / WHOLE) or {}
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
            publish(folder / WHOLE, json.dumps(whole))
        return missing

    def frames_there(self, key: str) -> int:
        """Return how many frames of a shot there are, unread."""
        return sum(path.stem.isdecimal() for path in self.shot_folder(key).glob("*.npz"))

    def sweep(self, keys: Iterable[str]) -> None:
        """Remove what killed writers left beside the frames of these shots and beside stills."""
        stills = self.root / "stills"
        for folder in [*(self.shot_folder(key) for key in keys), stills, *stills.glob("??")]:
            sweep(folder)

    def sweep_all(self) -> None:
        """Remove what killed writers left anywhere."""
        for pattern in ("*", "*/??", "*/??/*"):
            for folder in self.root.glob(pattern):
                sweep(folder)


def _describes_shot(facts: dict[str, Any]) -> bool:
    """Whether what was recorded of a shot can be worked with: as many frames as can be, real keys.
    """
    frames = facts.get("frames")
    keys = (facts.get(name) for name in ("character_key", "partner_character_key"))
    return type(frames) is int and 0 < frames <= MOST_FRAMES and all(
        key is None or (isinstance(key, str) and is_content_key(key)) for key in keys)


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, or None where the file is absent or damaged (it is made anew)."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
