"""Luma and chroma are those of BT.709, and only what changes is converted."""

import subprocess
from typing import Any

import imageio_ffmpeg
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from examples import examples
from mimegen.compositing.planes import Planes, changed_box
from mimegen.store.frames import Frame

NOTHING = np.zeros((0, 0), np.uint8)


def noise(seed: int, height: int = 12, width: int = 16) -> NDArray[Any]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)


def test_black_gray_white_and_red_have_their_codes() -> None:
    for color, codes in (((0, 0, 0), (16, 128, 128)), ((255, 255, 255), (235, 128, 128)),
                         ((128, 128, 128), (126, 128, 128)), ((255, 0, 0), (63, 102, 240))):
        picture = np.broadcast_to(np.array(color, np.uint8), (4, 4, 3))
        planes = Planes(picture).show(picture, (0, 0, 0, 0))
        assert (planes[0], planes[16], planes[20]) == codes


def test_they_agree_with_ffmpeg_to_one_step() -> None:
    # Smooth, because ffmpeg places chroma samples half a pixel further left.
    rows, columns = np.mgrid[:64, :96]
    picture = np.stack([rows * 3, columns * 2, 255 - rows - columns], axis=-1).astype(np.uint8)
    done = subprocess.run([
        imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-f", "rawvideo", "-pix_fmt",
        "rgb24", "-s", "96x64", "-i", "-", "-vf",
        "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int",
        "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"], input=picture.tobytes(),
        capture_output=True, check=True)
    theirs = np.frombuffer(done.stdout, np.uint8).astype(int)
    ours = Planes(picture).show(picture, (0, 0, 0, 0)).astype(int)
    assert np.abs(ours - theirs).max() <= 1


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5), st.integers(1, 8),
                          st.integers(1, 6), st.integers(0, 99)), min_size=1, max_size=4))
def test_changing_parts_gives_the_same_as_converting_all(
    changes: list[tuple[int, int, int, int, int]]
) -> None:
    background = noise(1)
    planes = Planes(background)
    for left, top, width, height, seed in changes:
        box = (2 * left, 2 * top, min(16, 2 * (left + width)), min(12, 2 * (top + height)))
        picture = background.copy()
        part = np.s_[box[1]:box[3], box[0]:box[2]]
        picture[part] = noise(seed)[part]
        whole = Planes(picture).show(picture, (0, 0, 0, 0))
        assert np.array_equal(planes.show(picture, box), whole)


def test_the_box_holds_figure_and_shadow_and_is_even() -> None:
    figure, shadow = np.zeros((5, 3, 4), np.uint8), np.zeros((2, 9), np.uint8)
    assert changed_box(Frame((40, 40), figure, (11, 7), shadow, (5, 12))) == (4, 6, 14, 14)
    assert changed_box(Frame((40, 40), figure, (11, 7), NOTHING, (0, 0))) == (10, 6, 14, 12)
    wider = np.zeros((3, 8), np.uint8)
    assert changed_box(Frame((40, 40), figure, (11, 7), wider, (7, 12))) == (6, 6, 16, 16)
    assert changed_box(Frame((40, 40), np.zeros((3, 1, 4), np.uint8), (2, 4), NOTHING,
                             (0, 0))) == (2, 4, 4, 8)
    assert changed_box(Frame((40, 40), np.zeros((0, 0, 4), np.uint8), (0, 0), NOTHING,
                             (0, 0))) == (0, 0, 0, 0)
