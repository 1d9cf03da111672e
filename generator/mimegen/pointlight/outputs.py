"""Write a display in formats other than video: GIF, pictures, and the dots themselves."""

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mimegen.base.arrays import ByteArray
from mimegen.base.files import publish
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.drawing import montage, pictures
from mimegen.pointlight.record import hex_color
from mimegen.pointlight.sample import sample_windows
from mimegen.pointlight.stimulus import Stimulus

MONTAGE_FRAMES = 8
MONTAGE_COLUMNS = 4
GIF_FPS = 50


def write_gif(stimulus: Stimulus, target: Path) -> None:
    """Write a GIF, whose frames last a whole number of hundredths of a second, and at least two.

    Viewers slow down faster GIFs, so above 50 frames a second only every nth frame is used.
    """
    shown = as_gif(stimulus)
    images = [Image.fromarray(picture) for picture in kept_frames(shown)]
    step = 100 / shown.display.fps
    ends = np.round(np.arange(1, len(images) + 1) * step).astype(int) * 10
    packed = io.BytesIO()
    images[0].save(packed, "GIF", save_all=True, append_images=images[1:], loop=0,
                   duration=np.diff(ends, prepend=0).tolist(), optimize=False)
    publish(target, packed.getvalue())


def as_gif(stimulus: Stimulus) -> Stimulus:
    """Return the display as a GIF shows it: every nth of its frames."""
    return stimulus.every(int(np.ceil(stimulus.display.fps / GIF_FPS)))


def write_montage(stimulus: Stimulus, target: Path) -> None:
    """Write evenly spaced frames, or those of the display's own sample, side by side as a PNG."""
    numbers, columns = sheet_of(stimulus)
    frames = kept_frames(stimulus)
    publish(target, _png(montage([frames[number] for number in numbers], columns)))


def sheet_of(stimulus: Stimulus) -> tuple[list[int], int]:
    """Return the frames that a display's montage shows, and its number of columns."""
    sample, frames = stimulus.display.sample, stimulus.dots.frames
    if sample is not None:
        return sample_windows(sample, frames)[0], sample.columns
    spaced = np.linspace(0, frames - 1, min(MONTAGE_FRAMES, frames))
    return [int(number) for number in spaced.round()], MONTAGE_COLUMNS


def sheet_facts(stimulus: Stimulus, numbers: list[int], columns: int) -> dict[str, Any]:
    """Return what a row says of a montage of these frames: it is larger and holds no others."""
    display, rows = stimulus.display, -(-len(numbers) // columns)
    return {"frame_indices": numbers, "montage": f"{columns}x{rows}", "frames": len(numbers),
            "width": columns * display.width, "height": rows * display.height}


def write_csv(stimulus: Stimulus, target: Path) -> None:
    """Write a line for each frame and dot: place in pixels and in degrees from the middle, depth,
    diameter, strength (opacity) and color.
    """
    dots = stimulus.dots
    frames = np.repeat(np.arange(dots.frames), dots.count)
    numbers = np.concatenate([
        (frames / stimulus.display.fps)[:, None], dots.positions[..., :2].reshape(-1, 2),
        _degrees(stimulus).reshape(-1, 2), dots.positions[..., 2].reshape(-1, 1),
        stimulus.diameters.reshape(-1, 1), dots.strengths.reshape(-1, 1),
        stimulus.diameters.reshape(-1, 1) / stimulus.display.degree_pixels], axis=1)
    colors = [hex_color(color) for color in stimulus.colors]
    columns = zip(frames, dots.names * dots.frames, np.tile(dots.performers, dots.frames),
                  dots.visible.ravel().astype(int), np.round(numbers, 5).tolist(),
                  colors * dots.frames, strict=True)
    lines = ["frame,dot,performer,visible,time_s,x_px,y_px,x_deg,y_deg,depth_m,diameter_px,"
             "strength,diameter_deg,color",
             *(f"{frame},{name},{performer},{visible},{','.join(map(str, values))},{color}"
               for frame, name, performer, visible, values, color in columns)]
    publish(target, ("\n".join(lines) + "\n").encode())


def _degrees(stimulus: Stimulus) -> FloatArray:
    """Return degrees of visual angle right and up (F, D, 2) from the picture's middle."""
    display = stimulus.display
    middle = np.array([display.width, display.height]) / 2
    offsets = (stimulus.dots.positions[..., :2] - middle) * [1, -1]
    return np.asarray(offsets / display.degree_pixels)


def write_npz(stimulus: Stimulus, target: Path) -> None:
    """Write the dots as NumPy arrays, for PsychoPy and similar tools."""
    dots = stimulus.dots
    packed = io.BytesIO()
    np.savez_compressed(
        packed, names=np.array(dots.names), performers=dots.performers,
        limbs=np.concatenate([dots.limbs, dots.trunk]),
        pixels=dots.positions[..., :2], degrees=_degrees(stimulus), depth_m=dots.positions[..., 2],
        metres=_metres(stimulus), visible=dots.visible, diameters_px=stimulus.diameters,
        strengths=dots.strengths, fps=np.array(stimulus.display.fps),
        source_seconds=stimulus.moments, performer_seconds=stimulus.times.own,
        size=np.array([stimulus.display.width, stimulus.display.height]))
    publish(target, packed.getvalue())


def _metres(stimulus: Stimulus) -> FloatArray:
    """Return metres (F, D, 3) from the picture's middle: x right, y up, z to the viewer."""
    display, positions = stimulus.display, stimulus.dots.positions
    middle = np.array([display.width / 2, display.height / 2, 0])
    scale = np.array([1, -1, -stimulus.scale])
    return np.asarray((positions - middle) * scale / stimulus.scale)


def write_data3d(stimulus: Stimulus, target: Path) -> None:
    """Write BioMotion Toolbox's ``data3d`` text: a column per dot, lines x, y, z of each frame.

    Millimetres, x right, y up, z to the viewer; NaN where a dot is not shown.
    """
    positions = np.where(stimulus.dots.visible[..., None], _metres(stimulus) * 1000, np.nan)
    table = positions.transpose(0, 2, 1).reshape(-1, stimulus.dots.count)
    packed = io.StringIO()
    np.savetxt(packed, table, fmt="%.4f")
    publish(target, packed.getvalue().encode())


def write_frames(stimulus: Stimulus, folder: Path) -> None:
    """Write every frame as a picture: ``folder``/000000.png and so on."""
    for number, picture in enumerate(pictures(stimulus)):
        publish(folder / f"{number:06d}.png", _png(picture))


def write_windows(stimulus: Stimulus, folder: Path) -> list[dict[str, Any]]:
    """Write the frames and the montage of each window of the display's sample.

    Returns the manifest's entry of each window; ``file_name`` is relative to ``folder``.
    """
    sample = stimulus.display.sample
    if sample is None:
        return []
    facts = []
    frames = kept_frames(stimulus)
    for number, window in enumerate(sample_windows(sample, len(frames))):
        for place, frame in enumerate(window):
            publish(folder / f"window{number}" / f"{place}.png", _png(frames[frame]))
        sheet = montage([frames[frame] for frame in window], sample.columns)
        publish(folder / f"window{number}.png", _png(sheet))
        moments = stimulus.moments[window]
        facts.append({
            **sheet_facts(stimulus, window, sample.columns),
            "file_name": f"window{number}.png", "window": number,
            "duration_s": round(len(window) / stimulus.display.fps, 6),
            "window_span_ms": round(float(np.ptp(moments)) * 1000, 3),
            "sha256": hashlib.sha256(_png(sheet)).hexdigest(),
        })
    return facts


def kept_frames(stimulus: Stimulus) -> list[ByteArray]:
    """Return all frames as a list of arrays with their own memory."""
    return [picture.copy() for picture in pictures(stimulus)]


def _png(picture: ByteArray) -> bytes:
    packed = io.BytesIO()
    Image.fromarray(picture).save(packed, "PNG")
    return packed.getvalue()
