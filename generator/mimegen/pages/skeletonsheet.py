"""Pictures of a mocap file's skeleton or markers: a few frames from the front and the side."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.files import publish
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.points import Points

# Left is cold, right is warm (after Okabe and Ito's palette, which suits color-blind people).
COLORS = {"left arm": "#0072b2", "left fingers": "#56b4e9", "left leg": "#009e73",
          "right arm": "#d55e00", "right fingers": "#e69f00", "right leg": "#cc3377",
          "trunk": "#333333", "head": "#7a4fc0", "no role": "#b0b0b0", "markers": "#0072b2",
          "doubtful": "#d40000"}
LEG_PARTS = ("thigh", "shin", "foot", "toe")
ARM_PARTS = ("clavicle", "upper_arm", "forearm", "hand")
# Number of frames shown, and the least number of panels that the picture is wide.
MOMENTS = 5
LEAST_PANELS = 3
# Sizes in points; pictures are painted at SCALE times that.
PANEL = (230, 270)
MARGIN = 16
LEGEND = 36
TITLE = 40
SCALE = 2
PAPER = "#ffffff"
INK = "#222222"
FAINT = "#d9d9d9"


def part_of(role: str | None) -> str:
    """Return the part of the body, a key of COLORS, that a role belongs to."""
    if role is None:
        return "no role"
    side, _, part = role.partition("_")
    if not part:
        return "head" if role == "head" else "trunk"
    return f"{side} {'leg' if part in LEG_PARTS else 'arm' if part in ARM_PARTS else 'fingers'}"


@dataclass(frozen=True, eq=False)
class _Figure:
    """Lines (K, L, 2, 3) and dots (K, D, 3) at K times in seconds, and the part of each.

    ``names`` holds labels for some dots, by their index.
    """

    moments: FloatArray
    lines: FloatArray
    line_parts: list[str]
    dots: FloatArray
    dot_parts: list[str]
    views: tuple[str, str] = ("front", "left side")
    names: Mapping[int, str] = field(default_factory=dict)


def write_skeleton_sheet(target: Path, motion: Motion, roles: Mapping[str, str],
                         title: str, doubts: Mapping[str, str]) -> None:
    """Write a PNG of a motion with its bones colored by role.

    The motion is in mimegen's convention: Z up, facing -Y. Without roles, bones are gray, and only
    Z up is required: unit and facing do not matter. ``doubts`` maps bones with an uncertain role to
    a remark; these are highlighted and labelled.
    """
    frames = _moments(motion.frames)
    pose, skeleton = motion.global_pose, motion.skeleton
    places = pose.positions[frames]
    tails = places + quaternions.rotate(pose.rotations[frames], skeleton.tails - skeleton.heads)
    shift = places[:, :1] * [1.0, 1.0, 0.0]
    role_of = {joint: role for role, joint in roles.items()}
    parts = [part_of(role_of.get(name)) for name in skeleton.names]
    leaves = [joint for joint in range(len(parts)) if joint not in skeleton.parents]
    above = skeleton.parents[1:]
    lines = np.concatenate([np.stack([places[:, above], places[:, 1:]], axis=2),
                            np.stack([places[:, leaves], tails[:, leaves]], axis=2)], axis=1)
    if not roles:
        shift += np.array([0.0, 0.0, lines[..., 2].min()])
    bones = [parts[j] for j in (*above, *leaves)]
    joints = ["doubtful" if name in doubts else part
              for name, part in zip(skeleton.names, parts, strict=True)]
    names = {skeleton.index[name]: f"{name}: {doubt}" if doubt else name
             for name, doubt in doubts.items()}
    views = ("front", "left side") if roles else ("along Y", "along X")
    _write(target, title, _Figure(frames / motion.fps, lines - shift[:, :, None], bones,
                                  places - shift, joints, views, names))


def write_marker_sheet(target: Path, points: Points, title: str) -> None:
    """Write a PNG of markers, with positions as in the file except centred in X and Y."""
    frames = _moments(len(points.positions))
    middle = np.nanmean(points.positions[frames], axis=1, keepdims=True) * [1.0, 1.0, 0.0]
    lines = np.empty((len(frames), 0, 2, 3))
    _write(target, title, _Figure(frames / points.fps, lines, [],
                                  points.positions[frames] - np.nan_to_num(middle),
                                  ["markers"] * len(points.labels)))


def _moments(count: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, count - 1, MOMENTS).round().astype(np.intp))


def _write(target: Path, title: str, figure: _Figure) -> None:
    panels = max(LEAST_PANELS, len(figure.moments) + bool(figure.names))
    width = PANEL[0] * panels + 2 * MARGIN
    height = 2 * PANEL[1] + TITLE + LEGEND + MARGIN
    picture = Image.new("RGB", (width * SCALE, height * SCALE), PAPER)
    draw = ImageDraw.Draw(picture)
    _text(draw, (MARGIN, 12), title, 15)
    places = np.concatenate([figure.lines.reshape(-1, 3), figure.dots.reshape(-1, 3)])
    low, high = min(0.0, float(np.nanmin(places[:, 2]))), float(np.nanmax(places[:, 2]))
    aside = float(np.nanmax(np.abs(places[:, :2])))
    size = min((PANEL[1] - 40) / max(high - low, 1e-6), (PANEL[0] - 8) / max(2 * aside, 1e-6))
    for row, view in enumerate(figure.views):
        for column, moment in enumerate(figure.moments):
            left, top = MARGIN + column * PANEL[0], TITLE + row * PANEL[1]
            origin = (left + PANEL[0] / 2, top + PANEL[1] - 16 + low * size)
            draw.line([(left * SCALE, origin[1] * SCALE),
                       ((left + PANEL[0]) * SCALE, origin[1] * SCALE)], FAINT, SCALE)
            _text(draw, (left + 6, top + 4), f"{view}, {moment:.2f} s", 11)
            _body(draw, figure, column, row, np.array(origin), size)
        _names(draw, figure, row, np.array(origin), size)
    _legend(draw, [part for part in COLORS if part in (*figure.line_parts, *figure.dot_parts)],
            TITLE + 2 * PANEL[1] + MARGIN // 2)
    content = io.BytesIO()
    picture.save(content, "PNG", optimize=True)
    publish(target, content.getvalue())


def _body(draw: ImageDraw.ImageDraw, figure: _Figure, moment: int, axis: int, origin: FloatArray,
          size: float) -> None:
    """Paint one frame seen along Y (``axis`` 0) or along X (1), far parts first."""
    lines = _painted(figure.lines[moment], axis, origin, size)
    dots = _painted(figure.dots[moment], axis, origin, size)
    depth = figure.lines[moment].mean(axis=1)[:, 1 - axis] * (1 if axis == 0 else -1)
    for number in np.argsort(-depth):
        thick = 1.4 if "fingers" in figure.line_parts[number] else 3.0
        draw.line([tuple(end) for end in lines[number]], COLORS[figure.line_parts[number]],
                  round(thick * SCALE))
    for place, part in zip(dots, figure.dot_parts, strict=True):
        radius = (1.0 if "fingers" in part or part == "no role" else 2.2) * SCALE
        if np.isfinite(place).all():
            draw.ellipse([*(place - radius), *(place + radius)], COLORS[part])


def _names(draw: ImageDraw.ImageDraw, figure: _Figure, axis: int, origin: FloatArray,
           size: float) -> None:
    """Write a figure's labels beside its last frame, with a line from each dot to its label."""
    numbers = list(figure.names)
    places = _painted(figure.dots[-1][numbers], axis, origin, size) / SCALE
    left, top = origin[0] + PANEL[0] / 2 + 8, TITLE + axis * PANEL[1] + 8
    step = min(13.0, (PANEL[1] - 16) / max(len(numbers), 1))
    for line, at in enumerate(np.argsort(places[:, 1])):
        start = top + line * step
        draw.line([*(places[at] * SCALE), (left - 2) * SCALE, (start + step / 2) * SCALE],
                  FAINT, SCALE)
        _text(draw, (left, start), figure.names[numbers[at]], min(10, int(step)))


def _painted(places: FloatArray, axis: int, origin: FloatArray, size: float) -> FloatArray:
    """Return the pixels (..., 2) of positions (..., 3)."""
    return np.asarray((places[..., [axis, 2]] * [size, -size] + origin) * SCALE)


def _legend(draw: ImageDraw.ImageDraw, parts: list[str], top: float) -> None:
    left = float(MARGIN)
    for part in parts:
        draw.rectangle([left * SCALE, (top + 3) * SCALE, (left + 14) * SCALE, (top + 13) * SCALE],
                       COLORS[part])
        left += 20 + _text(draw, (left + 20, top), part, 12) + 16


def _text(draw: ImageDraw.ImageDraw, corner: tuple[float, float], text: str, size: int) -> float:
    """Draw text and return its width in points."""
    font = ImageFont.load_default(size * SCALE)
    draw.text((corner[0] * SCALE, corner[1] * SCALE), text, INK, font)
    return float(draw.textlength(text, font)) / SCALE
