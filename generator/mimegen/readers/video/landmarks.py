"""Turn a video of one person into a file of landmarks for ``read_motion``, and rate its quality."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import imageio_ffmpeg
import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.media import ffmpeg_input
from mimegen.base.paths import with_libraries
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.video.correcting import corrected, learned_correction

INSTALL = ("reading videos needs MediaPipe; pip install 'mimegen[video]' adds it, on Python 3.11"
           " and 3.12")
# Longest video, in seconds.
MAX_VIDEO_S = 600.0
# Time limit of the estimator: seconds to start, and seconds per second of video.
SECONDS_TO_START = 120.0
SECONDS_A_SECOND = 20.0
# Height assumed for a person of unknown height; in the end, limbs are the character's.
USUAL_HEIGHT_M = 1.73
# Length of one arm and one leg together, between the centers of joints, as a fraction of the
# person's height, measured on mimegen's people. Trunk and hips are not used, because their
# landmarks are too far apart.
LIMBS_SHARE = 0.775
# Distance between the centers of the hip joints as a fraction of that between MediaPipe's hip
# landmarks: the median over views from the front and from 45 degrees
# (docs/research/retargeting.md).
HIPS_APART = 0.85
# Visibility from which a joint counts as seen.
VISIBLE = 0.5
# Least fraction of frames with a person, and fraction with legs below which there is a note.
MIN_SEEN = 0.5
# Decimal digits of coordinates in metres.
DIGITS = 5
# Indices of the left side among MediaPipe's 33 landmarks; that of the right side follows each.
LEFT = {"shoulder": 11, "elbow": 13, "wrist": 15, "hip": 23, "knee": 25, "ankle": 27}
RIGHT = 1
LIMBS = (("ankle", "knee"), ("knee", "hip"), ("shoulder", "elbow"), ("elbow", "wrist"))


@dataclass(frozen=True)
class VideoQuality:
    """How well a body was seen.

    ``seen``, ``arms_seen`` and ``legs_seen`` are fractions of the frames. ``jitter_mm`` is the
    wrists' jitter from frame to frame. It is estimated from third differences, which are small in
    smooth movement; white noise of deviation s gives them a variance of 20 s^2.
    """

    seen: float
    arms_seen: float
    legs_seen: float
    jitter_mm: float

    @classmethod
    def of(cls, positions: FloatArray, sure: FloatArray) -> Self:
        """Return the quality of landmarks (F, 33, 3) with visibilities (F, 33), NaN where unseen.
        """
        there = np.isfinite(positions[:, 0, 0])
        wrists = positions[:, [LEFT["wrist"], LEFT["wrist"] + RIGHT]]
        jerks = np.linalg.norm(np.diff(wrists, n=3, axis=0), axis=-1) / np.sqrt(20.0)
        known = jerks[np.isfinite(jerks)]
        return cls(float(there.mean()), _share(sure, "shoulder", "wrist"),
                   _share(sure, "hip", "knee", "ankle"),
                   float(np.median(known)) * 1000 if len(known) else float("nan"))

    def notes(self, estimator: str) -> list[str]:
        """Return sentences on the quality for the user."""
        found = [f"joints were estimated from a video by {estimator}: the body is seen in"
                 f" {self.seen:.0%} of frames, arms in {self.arms_seen:.0%}, legs in"
                 f" {self.legs_seen:.0%}; the wrists jitter by {self.jitter_mm:.0f} mm"]
        if self.legs_seen < MIN_SEEN:
            found.append("the legs are rarely visible, so steps are estimates: film the whole body")
        return found


def first_seen_s(landmarks: Path) -> float:
    """Return the time (seconds) of the first frame with a person in a ``write_landmarks`` file."""
    held = json.loads(landmarks.read_text(encoding="utf-8"))
    seen = (number for number, frame in enumerate(held["frames"]) if frame["pose_world_landmarks"])
    return next(seen, 0) / float(held["fps"])


def _share(sure: FloatArray, *parts: str) -> float:
    """Return the fraction of frames in which all these joints of both sides are visible."""
    columns = [LEFT[part] + side for part in parts for side in (0, RIGHT)]
    return float((sure[:, columns] >= VISIBLE).all(axis=1).mean())


def write_landmarks(video: Path, target: Path, height_m: float | None = None) -> VideoQuality:
    """Write the landmarks of the person in a video, in metres relative to the hips.

    ``height_m`` is the person's height; without it that of an average adult is assumed. Return the
    quality. Raises RequestError if MediaPipe is not installed, or if the video cannot be read, is
    too long, or shows a person in less than half of its frames.
    """
    if find_spec("mediapipe") is None:
        raise RequestError(f"{video}: {INSTALL}")
    length = _seconds(video)
    if length > MAX_VIDEO_S:
        raise RequestError(f"{video}: lasts {length / 60:.0f} minutes; expected at most"
                           f" {MAX_VIDEO_S / 60:.0f}, cut it to the action")
    found = _estimated(video, target, length)
    positions, sure = arrays_of(found["frames"])
    quality = VideoQuality.of(positions, sure)
    if quality.seen < MIN_SEEN:
        raise RequestError(f"{video}: shows a person in {quality.seen:.0%} of its frames; film one"
                           " person, whole and in good light, with the camera held still")
    scale, sized = scale_to(positions, height_m)
    usual, _ = scale_to(positions, USUAL_HEIGHT_M)
    placed, trust = corrected(with_hip_centers(positions) * usual, float(found["fps"]),
                              learned_correction())
    placed *= scale / usual
    for frame, joints in zip(found["frames"], placed.tolist(), strict=True):
        for one, (x, y, z) in zip(frame, joints, strict=False):
            one.update(x=round(x, DIGITS), y=round(y, DIGITS), z=round(z, DIGITS))
    notes = [*quality.notes(str(found["estimator"])), sized, _of_trust(trust)]
    publish(target, json.dumps({"fps": found["fps"], "notes": notes, "quality": asdict(quality),
                                "frames": [{"pose_world_landmarks": frame}
                                           for frame in found["frames"]]}) + "\n")
    return quality


def _of_trust(trust: FloatArray) -> str:
    """Return a note on the correction; ``trust`` (F,) is how far it was applied in each frame."""
    return (f"the depth of joints was corrected by a map learned from rendered people, to"
            f" {trust.mean():.0%} on average (less in unusual poses)")


def with_hip_centers(positions: FloatArray) -> FloatArray:
    """Return landmarks (F, 33, 3) with the hips moved to the centers of the hip joints."""
    hips = [LEFT["hip"], LEFT["hip"] + RIGHT]
    middle = positions[:, hips].mean(axis=1, keepdims=True)
    centered = positions.copy()
    centered[:, hips] = middle + HIPS_APART * (positions[:, hips] - middle)
    return centered


def _seconds(video: Path) -> float:
    """Return a video's length in seconds. Raises RequestError if it cannot be read."""
    try:
        *params, _, address = ffmpeg_input(video)
        reader = imageio_ffmpeg.read_frames(address, input_params=params)
        meta = next(reader)
        reader.close()
        return float(meta["duration"])
    except (OSError, RuntimeError, StopIteration, KeyError) as problem:
        raise RequestError(f"{video}: cannot be read as a video"
                           f" ({str(problem).strip().splitlines()[-1][:100]})") from problem


def _estimated(video: Path, target: Path, length: float) -> dict[str, Any]:
    """Run the estimator in a separate process and return its result."""
    made = target.with_name(f"{target.name}.estimated")
    seconds = SECONDS_TO_START + SECONDS_A_SECOND * length
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mimegen.readers.video.estimating", str(video.resolve()),
             str(made)], capture_output=True, text=True, check=False, timeout=seconds,
            stdin=subprocess.DEVNULL, env=with_libraries())
        if done.returncode or not made.is_file():
            said = done.stderr.strip().splitlines()
            raise RequestError(f"{video}: no joints could be estimated"
                               f" ({said[-1][:120] if said else 'no reason was given'})")
        return dict(json.loads(made.read_text(encoding="utf-8")))
    except subprocess.TimeoutExpired as problem:
        raise RequestError(f"{video}: estimating joints did not finish in {seconds:.0f} s; cut the"
                           " video to the action") from problem
    finally:
        made.unlink(missing_ok=True)


def arrays_of(frames: list[list[dict[str, float]]]) -> tuple[FloatArray, FloatArray]:
    """Return positions (F, 33, 3) and visibilities (F, 33) of frames; NaN and 0 where unseen."""
    positions, sure = np.full((len(frames), 33, 3), np.nan), np.zeros((len(frames), 33))
    for number, frame in enumerate(frames):
        if len(frame) == 33:
            positions[number] = [[one["x"], one["y"], one["z"]] for one in frame]
            sure[number] = [one["visibility"] for one in frame]
    return positions, sure


def scale_to(positions: FloatArray, height_m: float | None) -> tuple[float, str]:
    """Return the factor that scales landmarks to a person's height, and a note."""
    lengths = [np.linalg.norm(positions[:, LEFT[a] + side] - positions[:, LEFT[b] + side], axis=1)
               for a, b in LIMBS for side in (0, RIGHT)]
    found = float(np.sum([np.nanmedian(length) for length in lengths])) / 2 / LIMBS_SHARE
    wanted = height_m or USUAL_HEIGHT_M
    said = (f"sized to a height of {wanted:g} m" if height_m else
            f"the person's height is not known: {wanted:g} m is assumed; give it with --height-m")
    return wanted / max(found, 0.1), said
