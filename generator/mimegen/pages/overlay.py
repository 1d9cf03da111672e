"""Draw ground truth over pictures of a clip, for people to look at."""

import colorsys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.colors
import numpy as np
import OpenEXR
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mimegen.base.arrays import ByteArray
from mimegen.base.errors import RequestError
from mimegen.compositing.keypointfiles import VISIBLE, point_sets
from mimegen.groundtruth.kinds import DEPTH, FLOW, KEYPOINTS, MASK, NORMALS, PARTS
from mimegen.manifest.file import MANIFEST, clip_path, rows_of
from mimegen.manifest.row import Row

SHADOW_LABEL = 255
# The opacity of ground truth over the picture.
_SHARE = 0.6
# The percentile of speed that gets the full color of flow.
_FASTEST = 99.5
# As in the pictures of mimegen inspect: left is cold, right is warm.
_LIMB_COLORS = {"left": (64, 156, 255), "right": (255, 138, 61), "": (250, 220, 70)}
_HIDDEN = (150, 150, 150)


@dataclass(frozen=True)
class TruthOverlay:
    """A clip's ground truth of one kind; ``folder`` holds its files."""

    kind: str
    folder: Path

    def over(self, picture: ByteArray, frame: int) -> ByteArray:
        """Return a frame's picture (h, w, 3), of any size, with its ground truth drawn over it.

        Raises RequestError if a file is absent or damaged.
        """
        painters: Mapping[str, Callable[[ByteArray, int], ByteArray]] = {
            KEYPOINTS: self._skeleton, MASK: self._labels, PARTS: self._labels,
            DEPTH: self._depth, NORMALS: self._normals, FLOW: self._flow}
        try:
            return painters[self.kind](picture, frame)
        except (OSError, RuntimeError, KeyError, ValueError) as problem:
            raise RequestError(f"{self.folder}: {self.kind} of frame {frame} cannot be read"
                               f" ({problem}); run mimegen verify") from problem

    @cached_property
    def _points(self) -> dict[str, NDArray[Any]]:
        with np.load(self.folder / "keypoints.npz", allow_pickle=False) as packed:
            return dict(packed)

    def _skeleton(self, picture: ByteArray, frame: int) -> ByteArray:
        finer = 3
        height, width = picture.shape[:2]
        large = Image.fromarray(picture).resize((finer * width, finer * height))
        draw, points = ImageDraw.Draw(large), self._points
        scale = large.width / int(points["width"])
        numbers = {str(name): number for number, name in enumerate(points["names"])}
        limbs = [limb for limb in point_sets()["wholebody133"].limbs if set(limb) <= set(numbers)]
        for pixels, seen in zip(points["pixels"][frame], points["visibility"][frame], strict=True):
            for start, end in limbs:
                a, b = numbers[start], numbers[end]
                if seen[a] and seen[b]:
                    _limb(draw, pixels[[a, b]] * scale, end, bool((seen[[a, b]] == VISIBLE).all()),
                          _thickness(large, end))
        return np.asarray(large.resize((width, height), Image.Resampling.LANCZOS))

    def _labels(self, picture: ByteArray, frame: int) -> ByteArray:
        inner = "parts" if self.kind == PARTS else ""
        with Image.open(self.folder / inner / f"{frame:06d}.png") as stored:
            labels = _sized(np.asarray(stored), picture)
        return _mixed(picture, _palette()[labels], labels > 0)

    def _depth(self, picture: ByteArray, frame: int) -> ByteArray:
        depth = _sized(self._exr(frame)["Z"].pixels, picture)
        there = np.isfinite(depth)
        if not there.any():
            return picture
        near, far = np.percentile(depth[there], [0.5, 97])
        share = np.clip((depth - near) / max(far - near, 1e-6), 0, 1)
        colors = matplotlib.colormaps["turbo_r"](np.where(there, share, 0.0))[..., :3]
        return _mixed(picture, (255 * colors).astype(np.uint8), there, 0.85)

    def _normals(self, picture: ByteArray, frame: int) -> ByteArray:
        normals = _sized(self._exr(frame)["RGB"].pixels.astype(np.float32), picture)
        colors = 127.5 + 127.5 * normals * [1, -1, -1]
        return _mixed(picture, colors.astype(np.uint8), normals.any(axis=-1), 0.85)

    def _flow(self, picture: ByteArray, frame: int) -> ByteArray:
        path = self.folder / "forward" / f"{frame:06d}.exr"
        if path.exists():
            flow = _sized(OpenEXR.File(str(path)).channels()["RGB"].pixels, picture)
        elif path.with_suffix(".flo").exists():
            flow = _sized(_middlebury(path.with_suffix("")), picture)
        else:
            return picture
        speed = np.hypot(flow[..., 0], flow[..., 1])
        moving = speed > 0
        fastest = np.percentile(speed[moving], _FASTEST) if moving.any() else 1.0
        turn = np.arctan2(flow[..., 1], flow[..., 0]) / (2 * np.pi) % 1
        hsv = np.stack([turn, np.clip(speed / fastest, 0, 1), np.ones_like(turn)], axis=-1)
        colors = (255 * matplotlib.colors.hsv_to_rgb(hsv)).astype(np.uint8)
        occluded = flow[..., 2] > 0
        colors[occluded] = 0
        return _mixed(picture, colors, moving | occluded, 0.85)

    def _exr(self, frame: int) -> Any:
        return OpenEXR.File(str(self.folder / f"{frame:06d}.exr")).channels()


def _middlebury(path: Path) -> NDArray[Any]:
    """Return flow and occlusion (H, W, 3) from a .flo file and the picture beside it."""
    content = path.with_suffix(".flo").read_bytes()
    width, height = np.frombuffer(content, "<i4", 2, 4)
    flow = np.frombuffer(content, "<f4", offset=12).reshape(height, width, 2)
    with Image.open(path.with_suffix(".occluded.png")) as occluded:
        return np.dstack([flow, np.asarray(occluded) > 0])


def overlays(source: Path, kind: str) -> dict[Path, TruthOverlay]:
    """Return the ground truth of one kind for a request's clips, by the clips' resolved paths.

    ``source`` is a clip or a folder of clips. Raises RequestError if it does not exist or has no
    ground truth of this kind.
    """
    if not source.exists():
        raise RequestError(f"{source}: no such clip, nor a folder of clips")
    folders = [source, source.parent, source.parent.parent]
    out = next((folder for folder in folders if (folder / MANIFEST).is_file()), None)
    rows: list[Row] = [] if out is None else list(rows_of(out))
    found = {clip_path(out, row).resolve(): TruthOverlay(kind, out / row.passes[kind].folder)
             for row in rows if out is not None and row.passes and kind in row.passes}
    if not found or (source.is_file() and source.resolve() not in found):
        raise RequestError(f"{source}: no {kind} pass here; render it with --passes {kind}")
    return found


def _limb(draw: ImageDraw.ImageDraw, ends: NDArray[Any], name: str, seen: bool, wide: int) -> None:
    side = name.partition("_")[0]
    color = _LIMB_COLORS.get(side, _LIMB_COLORS[""]) if seen else _HIDDEN
    draw.line([tuple(end) for end in ends], fill=color, width=wide if seen else max(1, wide // 2))
    for x, y in ends:
        radius = wide * 0.8
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=color)


def _thickness(picture: Image.Image, name: str) -> int:
    """Return the line width of a limb in pixels; fingers are thinner."""
    fine = name[-1].isdecimal()
    return max(2 if fine else 4, round(picture.width / (700 if fine else 300)))


def _sized(values: NDArray[Any], picture: ByteArray) -> NDArray[Any]:
    """Return values (H, W, ...) resampled to a picture's size, by the nearest value."""
    rows, columns = ((np.arange(count) + 0.5) / count for count in picture.shape[:2])
    lines = values[(rows * values.shape[0]).astype(int)]
    return np.asarray(lines[:, (columns * values.shape[1]).astype(int)])


def _mixed(picture: ByteArray, colors: ByteArray, where: NDArray[np.bool_], share: float = _SHARE
           ) -> ByteArray:
    mixed = share * colors + (1 - share) * picture
    return np.where(where[..., None], mixed, picture).astype(np.uint8)


def _palette() -> ByteArray:
    """Return a color (256, 3) for each label; consecutive labels have very different hues."""
    colors = [colorsys.hsv_to_rgb(number * 0.381 % 1, 0.65, 1.0) for number in range(256)]
    palette = (255 * np.array(colors)).astype(np.uint8)
    palette[SHADOW_LABEL] = (70, 70, 90)
    return palette
