"""Draw the pictures of a display: dots, stick figures, silhouettes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mimegen.base.arrays import ByteArray
from mimegen.motion.quaternions import FloatArray
from mimegen.pointlight.body import outlines
from mimegen.pointlight.discs import Canvas, to_srgb
from mimegen.pointlight.stimulus import Stimulus

# Lines and silhouettes are drawn larger and shrunk, for smooth edges.
OVERSAMPLING = 4
STICK_WIDTH = 0.5  # of a dot's diameter
LONE_DOT = 2.5  # radius of dots without lines, such as Johansson's head, in widths of a line


def pictures(stimulus: Stimulus) -> Iterator[ByteArray]:
    """Yield the frames as sRGB bytes, (H, W) if all is gray, else (H, W, 3).

    A picture's memory may be reused for the next one.
    """
    if stimulus.display.style == "dots":
        yield from _dots(stimulus)
        return
    sheets = _sticks(stimulus) if stimulus.display.style == "stick" else _silhouettes(stimulus)
    colors = stimulus.performer_colors()
    channels = slice(0, 1) if stimulus.gray else slice(None)
    background = stimulus.background[channels]
    for layers in sheets:
        covers = [np.asarray(sheet.reduce(OVERSAMPLING), np.float32) / 255 for sheet in layers]
        drawn = np.logical_or.reduce([cover > 0 for cover in covers])
        light = np.broadcast_to(background, (int(drawn.sum()), len(background))).copy()
        for cover, color in zip(covers, colors, strict=True):
            light += cover[drawn, None] * (color[channels] - light)
        picture = np.empty((*drawn.shape, len(background)), np.uint8)
        picture[:] = to_srgb(background)
        picture[drawn] = to_srgb(light)
        yield picture[..., 0] if stimulus.gray else picture


def _dots(stimulus: Stimulus) -> Iterator[ByteArray]:
    display, dots = stimulus.display, stimulus.dots
    canvas = Canvas(display.width, display.height, stimulus.background, stimulus.gray)
    # Near dots are drawn over far ones.
    order = np.argsort(-np.nan_to_num(np.nanmean(
        np.where(dots.visible, dots.positions[..., 2], 0.0), axis=0)), kind="stable")
    positions = np.where(dots.visible[..., None], dots.positions[..., :2], np.nan)
    yield from canvas.frames(positions[:, order], stimulus.diameters[:, order],
                             dots.strengths[:, order], stimulus.colors[order])


def _sticks(stimulus: Stimulus) -> Iterator[list[Image.Image]]:
    """Yield each performer's limbs, oversampled."""
    dots = stimulus.dots
    wide = max(1, round(OVERSAMPLING * STICK_WIDTH * stimulus.dot_diameter))
    for frame in range(dots.frames):
        positions = dots.positions[frame, :, :2] * OVERSAMPLING
        shown = round(255 * float(dots.strengths[frame].max()))
        yield [_stick(stimulus, positions, person, wide, shown) for person in dots.people]


def _stick(stimulus: Stimulus, positions: FloatArray, person: NDArray[np.intp],
           wide: int, ink: int) -> Image.Image:
    sheet, draw = _sheet(stimulus)
    own = set(person.tolist())
    shown = np.isfinite(positions).all(axis=-1)
    lines = np.concatenate([stimulus.dots.limbs, stimulus.dots.trunk])
    for a, b in lines:
        if int(a) in own and shown[a] and shown[b]:
            draw.line([*positions[a], *positions[b]], fill=ink, width=wide)
    for dot in person[shown[person]]:
        (x, y), radius = positions[dot], wide / 2 if dot in lines else LONE_DOT * wide
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=ink)
    return sheet


def _silhouettes(stimulus: Stimulus) -> Iterator[list[Image.Image]]:
    """Yield each body's outline, filled and oversampled."""
    frames = stimulus.dots.frames
    inks = np.round(255 * stimulus.dots.strengths.max(axis=1)).astype(int).tolist()
    for frame, shapes in enumerate(outlines(stimulus.bodies, stimulus.view, frames)):
        layers = []
        for faces in shapes:
            sheet, draw = _sheet(stimulus)
            for corners in (_flipped(faces, stimulus).reshape(-1, 8) * OVERSAMPLING).tolist():
                draw.polygon(corners, fill=inks[frame])
            layers.append(sheet)
        yield layers


def _flipped(corners: FloatArray, stimulus: Stimulus) -> FloatArray:
    """Return corners (..., 2) in the picture as the display's flips have them."""
    names = [step.name for step in stimulus.manipulations]
    for axis, (name, size) in enumerate((("mirrored", stimulus.display.width),
                                         ("inverted", stimulus.display.height))):
        if names.count(name) % 2:
            corners = np.where(np.arange(2) == axis, size - corners, corners)
    return corners


def _sheet(stimulus: Stimulus) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    display = stimulus.display
    size = (display.width * OVERSAMPLING, display.height * OVERSAMPLING)
    sheet = Image.new("L", size)
    return sheet, ImageDraw.Draw(sheet)


def montage(frames: list[ByteArray], columns: int) -> ByteArray:
    """Return frames side by side, row by row, without gaps; missing frames are black."""
    height, width = frames[0].shape[:2]
    rows = -(-len(frames) // columns)
    sheet = np.zeros((rows * height, columns * width, *frames[0].shape[2:]), np.uint8)
    for number, frame in enumerate(frames):
        row, column = divmod(number, columns)
        sheet[row * height:(row + 1) * height, column * width:(column + 1) * width] = frame
    return sheet
