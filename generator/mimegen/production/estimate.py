"""Estimate what a plan takes: frames and clips that exist, and hours and bytes for the rest."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mimegen.base.files import content_key
from mimegen.base.user_cache import cached_json, keep
from mimegen.library.gait_take import GaitTake
from mimegen.library.take import LibraryTake
from mimegen.manifest.left_out import lines_of
from mimegen.plan.background_visibility import too_little_shown
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.paces import RenderPace, known_pace, known_sizes
from mimegen.shots.config import RenderConfig
from mimegen.shots.devices import CPU
from mimegen.store.store import Store

# Takes whose lengths are computed, since drawing a seed's tempo takes milliseconds. Further takes
# are assumed to have the mean length.
MOST_COUNTED = 500
# Measured bytes per pixel of a stored frame and its part of the clips, in whole sets in standard
# (0.126) and preview (0.141); drafts have 0.08.
TYPICAL_BYTES_PER_PIXEL = 0.13
# Seconds per frame on one core of the machine of docs/guide/farm.md, by config and device, for use
# until this machine has been measured.
TYPICAL_SECONDS = {("preview", "cpu"): 0.48, ("standard", "cpu"): 7.34}


@dataclass
class _Count:
    """Counts of shots, clips and frames; ``unknown`` ones belong to takes of unknown length."""

    shots_there: int = 0
    clips_there: int = 0
    frames: int = 0
    frames_there: int = 0
    clip_frames_left: int = 0
    shots_known: int = 0
    shots_unknown: int = 0
    clips_unknown: int = 0
    lengths: dict[str, int] = field(default_factory=dict)
    hardly_shown: dict[str, None] = field(default_factory=dict)
    plates: set[tuple[str, str]] = field(default_factory=set)


def estimate(plan: Plan, config: RenderConfig, device: str, store: Store, out: Path,
             pace: RenderPace | None) -> dict[str, Any]:
    """Return what a plan takes, as JSON content.

    ``plates`` is the number of background plates of sets, which the hours do not include.
    Without a ``pace`` the hours are None, or 0 if nothing is left to render. If the device was
    never measured but this machine's CPU was, ``cpu_core_hours`` is the time on the CPU: not an
    estimate for the device, but the only figure there is. ``elsewhere_seconds_per_frame`` is the
    documentation's figure, measured on another machine; None if there is none. Frames are counted,
    not read: a damaged frame is only noticed when a clip is made from it. Raises RequestError if a
    take cannot be read.
    """
    count, folder = _Count(), ClipFolder.of(out, opaque=False)
    for part in plan.castings():
        _add(part, config.fps, store, folder, count)
    mean = count.frames / count.shots_known if count.shots_known else 0.0
    frames = round(count.frames + mean * count.shots_unknown)
    left = frames - count.frames_there
    encoded = round(count.clip_frames_left + mean * count.clips_unknown)
    return {
        "clips": len(plan), "clips_there": count.clips_there, "displays": plan.displays,
        "shots": plan.shots, "shots_there": count.shots_there,
        "frames": frames, "frames_there": count.frames_there, "frames_left": left,
        "frames_are_exact": not count.shots_unknown,
        "config": config.name, "device": device, "store": str(store.root),
        "seconds_per_frame": pace and pace.seconds_per_frame,
        "seconds_per_frame_of_jobs": list(pace.jobs) if pace else [],
        "hours": _hours(left, pace.seconds_per_frame if pace else None),
        "hours_of": {"cpu": "CPU core", "opengl": "OpenGL"}.get(device, "GPU"),
        "cpu_core_hours": None if pace else _cpu_hours(left, config),
        "elsewhere_seconds_per_frame": None if pace else TYPICAL_SECONDS.get(
            (config.name, device)),
        "encoding_cpu_core_hours": _hours(
            encoded, pace.encoding_seconds_per_frame if pace else None),
        "storage_gb": round(_bytes(left, encoded, config) / 1e9, 6),
        "storage_is_measured": known_sizes(config) is not None,
        "plates": len(count.plates),
        "left_out": lines_of(plan.left_out), "hardly_shown": list(count.hardly_shown),
    }


def _hours(frames: int, seconds_per_frame: float | None) -> float | None:
    """Return the hours that frames take; None if the seconds per frame are unknown."""
    if seconds_per_frame is None:
        return None if frames else 0.0
    return round(frames * seconds_per_frame / 3600, 4)


def _cpu_hours(frames: int, config: RenderConfig) -> float | None:
    pace = known_pace(config, CPU)
    return None if pace is None else _hours(frames, pace.seconds_per_frame)


def at_least_s(plan: Plan, config: RenderConfig, device: str, store: Store, workers: int,
               enough_s: float) -> float | None:
    """Return roughly how many seconds ``workers`` need to render a plan.

    Counting stops once ``enough_s`` is reached, and all takes are assumed to be as long as the
    first. Returns None if the config's pace on the device is unknown.
    """
    pace = known_pace(config, device)
    each = pace.seconds_per_frame if pace else TYPICAL_SECONDS.get((config.name, device))
    if each is None:
        return None
    count, left, usual = _Count(), 0, None
    for part in plan.castings():
        if usual is None:
            usual = _length(part, config.fps, store, count)
        left += sum(max(0, (usual or 0) - store.frames_there(shot.key)) for shot in part.shots)
        if left * each / workers >= enough_s:
            break
    return left * each / workers


def _add(part: CastingPlan, fps: float, store: Store, folder: ClipFolder, count: _Count) -> None:
    """Add a casting's shots, clips and frames to the counts."""
    frames = _length(part, fps, store, count)
    shots, clips = part.shots, [clip for clip in part.clips if not _is_there(clip, store, folder)]
    count.clips_there += len(part.clips) - len(clips)
    count.clips_there += sum(_is_there(clip, store, folder) for clip in part.displays)
    count.plates |= {(clip.chosen.key, clip.shot.key) for clip in clips
                     if clip.background.set is not None}
    count.hardly_shown |= dict.fromkeys(filter(None, map(too_little_shown, part.clips)))
    if frames is None:
        count.shots_unknown += len(shots)
        count.clips_unknown += len(clips)
        return
    there = [min(frames, store.frames_there(shot.key)) for shot in shots]
    count.shots_known += len(shots)
    count.shots_there += sum(each == frames for each in there)
    count.frames += frames * len(shots)
    count.frames_there += sum(there)
    count.clip_frames_left += frames * len(clips)


def _length(part: CastingPlan, fps: float, store: Store, count: _Count) -> int | None:
    """Return the frames of a casting's shots; None once ``MOST_COUNTED`` takes were counted."""
    take = part.casting.take
    for shot in part.shots:
        facts = store.shot_facts(shot.key)
        if facts is not None:
            return int(facts["frames"])
    if part.shots and take.key not in count.lengths:
        if len(count.lengths) >= MOST_COUNTED:
            return None
        count.lengths[take.key] = _frames(take, fps)
    return count.lengths.get(take.key, 0)


def _frames(take: LibraryTake, fps: float) -> int:
    """Return a take's number of frames; the number for a gait, which is slow to find, is cached."""
    if not isinstance(take, GaitTake):
        return take.frames(fps)
    key = content_key(take.key, fps)
    known = cached_json("frames", key)
    if not isinstance(known, int):
        known = take.frames(fps)
        keep("frames", key, known)
    return known


def _is_there(clip: PlannedClip | DisplayClip, store: Store, folder: ClipFolder) -> bool:
    names = [folder, ClipFolder(folder.out, True, folder.salt)]
    return store.clip_recorded(clip.key) > 0 and any(
        each.target(clip.sample_id).is_file() for each in names)


def _bytes(frames: int, encoded: int, config: RenderConfig) -> float:
    """Return the bytes that frames and clips will take.

    If sizes were never measured, frames are counted at ``TYPICAL_BYTES_PER_PIXEL``, which
    includes their share of the clips.
    """
    pace = known_sizes(config)
    if pace is None:
        return frames * TYPICAL_BYTES_PER_PIXEL * config.width * config.height
    return frames * pace.bytes_per_frame + encoded * pace.clip_bytes_per_frame
