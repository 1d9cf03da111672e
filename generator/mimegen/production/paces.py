"""Measured time and size per frame, by render config and device.

Kept in the user's cache, ``$XDG_CACHE_HOME/mimegen/paces.json``.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key, publish, scratch_folder
from mimegen.base.locks import locked
from mimegen.base.user_cache import cache_folder
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.video import write_clip
from mimegen.farm.dispatch import TaskFailed, run_tasks
from mimegen.farm.local import LocalExecutor
from mimegen.farm.task import Task
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.plan.shots import camera_of
from mimegen.production.sizes import Sum
from mimegen.production.tasks import casting_tasks
from mimegen.shots.config import RenderConfig
from mimegen.shots.devices import DEVICE_KINDS, OPENGL, Device
from mimegen.shots.jobs import FrameDone, ShotJob
from mimegen.store.store import Store


@dataclass(frozen=True)
class Calibration:
    """How a config's pace is measured. Chosen so that --calibrate takes a minute or two."""

    # Frames that are measured; one more is rendered first to warm Blender up.
    frames: int = 8
    # Stop measuring once the frames have taken this many seconds in total.
    long_enough_s: float = 60.0
    # A job that rendered at least this many frames counts for the stored pace.
    enough_learned: int = 24
    # Number of last jobs whose paces are kept; the stored pace is their median.
    kept_jobs: int = 5


CALIBRATION = Calibration()


@dataclass(frozen=True)
class RenderPace:
    """What a frame of a config takes: seconds on one core or GPU, and bytes.

    The seconds are medians of the last jobs', so that one job on a busy machine changes little.
    ``jobs`` and ``encoding_jobs`` are the seconds per frame of each of these jobs, the latest last.
    """

    config: str
    device: str
    seconds_per_frame: float
    encoding_seconds_per_frame: float
    bytes_per_frame: float
    clip_bytes_per_frame: float
    jobs: tuple[float, ...] = ()
    encoding_jobs: tuple[float, ...] = ()

    def rendered_in(self, seconds: float) -> "RenderPace":
        """Return the pace after another job, which rendered a frame in so many seconds."""
        jobs = _with(self.jobs, self.seconds_per_frame, seconds)
        return replace(self, seconds_per_frame=median_low(jobs), jobs=jobs)

    def encoded_in(self, seconds: float) -> "RenderPace":
        """Return the pace after another job, which encoded a frame in so many seconds."""
        jobs = _with(self.encoding_jobs, self.encoding_seconds_per_frame, seconds)
        return replace(self, encoding_seconds_per_frame=median_low(jobs), encoding_jobs=jobs)


def _with(jobs: Sequence[float], known: float, seconds: float) -> tuple[float, ...]:
    """Return the last jobs' seconds with another's; older files have only ``known``."""
    before = tuple(jobs) or ((known,) if known else ())
    return (*before, seconds)[-CALIBRATION.kept_jobs:]


def known_pace(config: RenderConfig, device: str) -> RenderPace | None:
    """Return this user's measured pace of a config on a kind of device; None if never measured."""
    return _pace(_read(_file()), config, device)


def known_sizes(config: RenderConfig) -> RenderPace | None:
    """Return a pace of a config with known sizes of frames and clips, measured on any device.

    Sizes do not depend on the device; times do.
    """
    known = _read(_file())
    paces = (_pace(known, config, device) for device in (*DEVICE_KINDS, OPENGL))
    return next((pace for pace in paces if pace is not None and pace.clip_bytes_per_frame), None)


def _pace(known: dict[str, dict[str, Any]], config: RenderConfig, device: str
          ) -> RenderPace | None:
    found = known.get(_key(config, device))
    try:
        return None if found is None else RenderPace(**found)
    except TypeError:
        return None


@dataclass
class PaceMeasurement:
    """Sizes and times of storing and encoding that a job measures for a config on a device."""

    config: RenderConfig
    device: str
    stored: Sum = field(default_factory=Sum)
    encoded: Sum = field(default_factory=Sum)

    def keep(self, rendered: Sum) -> None:
        """Store the measured pace; what was not measured keeps its known value.

        ``rendered`` holds the rendering times; with fewer than ``CALIBRATION.enough_learned``
        pictures, nothing is stored.
        """
        if rendered.pictures < CALIBRATION.enough_learned:
            return
        pace = known_pace(self.config, self.device) or RenderPace(
            self.config.name, self.device, 0.0, 0.0, 0.0, 0.0)
        pace = pace.rendered_in(rendered.mean_seconds)
        if self.stored.pictures:
            pace = replace(pace, bytes_per_frame=self.stored.mean_bytes)
        if self.encoded.pictures:
            pace = replace(pace.encoded_in(self.encoded.mean_seconds),
                           clip_bytes_per_frame=self.encoded.mean_bytes)
        # Without a writable cache, nothing is kept.
        with suppress(RequestError, OSError):
            _keep(self.config, pace)


def calibrate(plan: Plan, config: RenderConfig, device: Device, tell: Callable[[str], None]
              ) -> RenderPace:
    """Render and encode a few frames of a plan's first shot, and store how long they took.

    One worker renders on one core or GPU into a temporary folder; ``tell`` gets a line for every
    frame. Raises RequestError if the plan renders nothing or if rendering fails.
    """
    part = next((part for part in plan.castings() if part.clips), None)
    if part is None:
        raise RequestError("--calibrate: the selection renders nothing; dots take no Blender")
    plain = [clip for clip in part.clips if clip.background.set is None]
    clip = (plain or part.clips)[0]
    with scratch_folder() as folder:
        store = Store(folder / "store")
        seconds, files = _rendered(CastingPlan(part.casting, (clip,)), store, device, tell)
        encoding, size = _encoded(clip, files, store, folder) if plain else (0.0, 0.0)
        frames = float(np.mean([file.stat().st_size for file in files]))
    pace = RenderPace(config.name, device.kind, seconds, encoding, frames, size)
    _keep(config, pace)
    return pace


def _rendered(part: CastingPlan, store: Store, device: Device, tell: Callable[[str], None]
              ) -> tuple[float, list[Path]]:
    """Return the mean seconds of the frames after the first, and the files of all frames."""
    job = next(work.job for work in casting_tasks(part, store, set())
               if isinstance(work, Task) and isinstance(work.job, ShotJob))
    missing = np.zeros_like(job.missing)
    first = max(0, (len(missing) - CALIBRATION.frames - 1) // 2)
    missing[first:first + CALIBRATION.frames + 1, 0] = True
    start = partial(LocalExecutor, device.seats(1), 1 if device.kind == "cpu" else 0,
                    store.scratch)
    seconds: list[float] = []
    with closing(run_tasks([Task(job.only(missing), "calibration")], start)) as events:
        for event in events:
            if isinstance(event, TaskFailed):
                raise RequestError(event.why)
            if isinstance(event, FrameDone):
                seconds.append(event.seconds)
                tell(f"frame {len(seconds)} of {missing.sum()}: {event.seconds:.2f} s")
                if sum(seconds[1:]) >= CALIBRATION.long_enough_s:
                    break
    files = [job.frame_file(int(frame), 0) for frame in np.flatnonzero(missing[:, 0])]
    return float(np.mean(seconds[1:] or seconds)), [file for file in files if file.exists()]


def _encoded(clip: PlannedClip, files: Sequence[Path], store: Store, folder: Path
             ) -> tuple[float, float]:
    """Return the seconds and bytes that a frame takes in an encoded clip."""
    facts = store.shot_facts(clip.shot.key)
    assert facts is not None, "shots are recorded before they are rendered"
    scene, target = backdrop(clip.background, camera_of(facts), None), folder / "clip.mp4"
    started = time.process_time()
    began = time.monotonic()
    write_clip(files, scene, clip.shot.config.fps, target)
    seconds = max(time.process_time() - started, time.monotonic() - began)
    return seconds / len(files), target.stat().st_size / len(files)


def _keep(config: RenderConfig, pace: RenderPace) -> None:
    path = _file()
    with locked(path):
        known = _read(path) | {_key(config, pace.device): asdict(pace)}
        publish(path, json.dumps(known, indent=1))


def _key(config: RenderConfig, device: str) -> str:
    return content_key(config.model_dump(mode="json", exclude={"name", "description"}), device)


def _file() -> Path:
    return cache_folder() / "paces.json"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
