"""The store: finished pieces under content keys, never visible half-written, never made twice.

    characters/ab/<key>.npz       a built character
    performances/ab/<key>.npz     a motion on a character, at a frame rate
    shots/ab/<key>/shot.json      the facts of a shot: frames, camera, provenance
    shots/ab/<key>/000000.npz     its frames
    shots/ab/<key>/cpu-<kind>.txt  a kind of processor that made some of them
    stills/ab/<key>.png           a background set from a camera
    passes/ab/<key>/pass.json     the facts of a shot's pass, or of a set's geometry
    passes/ab/<key>/000000.npz    its frames
    pictures/ab/<hash>.jpg        a background's picture, for workers on other machines
    encoded/ab/<key>.mp4          a clip before it is moved to its final folder
    encoded/ab/<key>/             files of a pass before they are moved
    clips/ab/<key>.json           the manifest row of a finished clip
    scratch/                      workers' temporary files

``ab`` are the first two digits of the key, so that no folder has a million entries. Older stores
did not have these folders; their pieces are still found.
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

# The folder of the jobs that are using the store.
RUNNING = "running"
# Files in a shot's folder: its facts, and the frames found to be whole.
SHOT_FACTS = "shot.json"
WHOLE = "whole.json"
# A shot that claims to have more frames is damaged.
MAX_FRAMES = 10**7


@dataclass(frozen=True)
class Store:
    """The folder of finished pieces. A key that could lead outside it raises ValueError."""

    root: Path

    @property
    def is_in_use(self) -> bool:
        """Whether a job has registered; also False while the store's disk is away."""
        return (self.root / RUNNING).is_dir()

    def waiter(self) -> Callable[[], None]:
        """Return a function that waits, after long work, until a store in use is available again.

        If a file server is away, files written in the store's place would be lost. The function
        raises as ``Disk.wait``.
        """
        was = self.is_in_use
        return Disk(lambda: self.is_in_use or not was).wait

    def shot_folder(self, key: str) -> Path:
        """Return the folder of a shot's frames."""
        return self._place("shots", key, "")

    def still(self, key: str) -> Path:
        """Return the path of a set's still."""
        return self._place("stills", key, ".png")

    def pass_folder(self, key: str) -> Path:
        """Return the folder of a pass's frames, or of a set's geometry."""
        return self._place("passes", key, "")

    def record_pass(self, key: str, facts: dict[str, Any]) -> None:
        """Record the facts of a pass before its frames are made."""
        publish(self.pass_folder(key) / "pass.json", json.dumps(facts, indent=1))

    def encoded(self, key: str) -> Path:
        """Return the path at which a clip is encoded before it is moved to its final folder."""
        return self._place("encoded", key, ".mp4")

    def encoded_folder(self, key: str) -> Path:
        """Return the folder in which files of a pass are made before they are moved."""
        return self._place("encoded", key, "")

    def picture(self, key: str, suffix: str) -> Path:
        """Return the path of a background's picture, for workers that do not see the library."""
        return self._place("pictures", key, suffix)

    def character(self, key: str) -> Path:
        """Return the path of a built character."""
        return self._place("characters", key, ".npz")

    def performance(self, key: str) -> Path:
        """Return the path of a performance."""
        return self._place("performances", key, ".npz")

    def _place(self, kind: str, key: str, suffix: str) -> Path:
        plain_name(key)
        if key in self._unfanned.get(kind, ()):
            return self.root / kind / f"{key}{suffix}"
        return self.root / kind / key[:2] / f"{key}{suffix}"

    @cached_property
    def _unfanned(self) -> dict[str, frozenset[str]]:
        """The keys, by kind, whose pieces are where older stores put them."""
        found = {}
        for kind in ("shots", "stills", "clips"):
            folder = self.root / kind
            places = folder.iterdir() if folder.is_dir() else ()
            found[kind] = frozenset(place.stem for place in places if len(place.stem) > 2)
        return found

    @property
    def scratch(self) -> Path:
        """The folder of workers' temporary files."""
        return self.root / "scratch"

    def shot_facts(self, key: str) -> ShotFacts | None:
        """Return the recorded facts of a shot; None if there are none or they are damaged."""
        facts = _read_json(self.shot_folder(key) / SHOT_FACTS)
        return cast(ShotFacts, facts) if facts is not None and _describes_shot(facts) else None

    def record_shot(self, key: str, facts: ShotFacts) -> None:
        """Record the facts of a shot before its frames are made."""
        publish(self.shot_folder(key) / SHOT_FACTS, json.dumps(facts, indent=1))

    def clip_row(self, key: str) -> dict[str, Any] | None:
        """Return the manifest row of a finished clip, or None."""
        return _read_json(self.clip_record(key))

    def clip_recorded(self, key: str) -> int:
        """Return the time a clip was recorded, in nanoseconds; 0 if it was not."""
        written = stamp(self.clip_record(key))
        return written[0] if written else 0

    def clip_record(self, key: str) -> Path:
        """Return the path of a finished clip's record; without it, the clip counts as not made."""
        return self._place("clips", key, ".json")

    def clip_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the manifest rows of all finished clips."""
        for path in sorted((self.root / "clips").rglob("*.json")):
            row = _read_json(path)
            if row is not None:
                yield row

    def record_clip(self, key: str, row: dict[str, Any]) -> None:
        """Record a finished clip."""
        publish(self.clip_record(key), json.dumps(row, indent=1))

    def missing(self, key: str, frames: int) -> NDArray[np.bool_]:
        """Return a mask (F,) of a shot's frames that are absent or damaged; remove damaged ones.

        A frame is read in full unless it was found whole before and its file has not changed since.
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
        """Return how many frame files a shot has, without reading them."""
        return sum(path.stem.isdecimal() for path in self.shot_folder(key).glob("*.npz"))

    def sweep(self, keys: Iterable[str]) -> None:
        """Remove what killed writers left beside the frames of these shots and beside stills."""
        stills = self.root / "stills"
        for folder in [*(self.shot_folder(key) for key in keys), stills, *stills.glob("??")]:
            sweep(folder)

    def sweep_all(self) -> None:
        """Remove what killed writers left anywhere in the store."""
        for pattern in ("*", "*/??", "*/??/*"):
            for folder in self.root.glob(pattern):
                sweep(folder)


def _describes_shot(facts: dict[str, Any]) -> bool:
    """Return whether a shot's facts are usable: a plausible number of frames, valid keys."""
    frames = facts.get("frames")
    keys = (facts.get(name) for name in ("character_key", "partner_character_key"))
    return type(frames) is int and 0 < frames <= MAX_FRAMES and all(
        key is None or (isinstance(key, str) and is_content_key(key)) for key in keys)


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object; None if the file is missing or damaged (it is then made again)."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return value if isinstance(value, dict) else None
