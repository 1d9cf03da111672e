"""Laying frames over backgrounds: alpha, fringes, shadows, untouched pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageDraw

from mimegen.compositing.color import bytes_to_linear, linear_to_bytes
from mimegen.compositing.compose import Compositor, compose
from mimegen.store.frames import Frame

SIZE = (24, 16)
NO_SHADOW = np.zeros((0, 0), np.uint8)
NO_FIGURE = np.zeros((0, 0, 4), np.uint8)
BACKGROUNDS = {"white": (255, 255, 255), "black": (0, 0, 0), "red": (255, 0, 0),
               "sand": (219, 190, 140)}


def plain(color, size=SIZE):
    return np.tile(bytes_to_linear(np.array(color, np.uint8)), (size[1], size[0], 1))


def one_pixel(rgba, at=(5, 7), shadow=NO_SHADOW, shadow_at=(0, 0)):
    return Frame(SIZE, np.array([[rgba]], np.uint8), at, shadow, shadow_at)


def decode(byte):
    """sRGB byte to light, IEC 61966-2-1, independently of the code under test."""
    value = byte / 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def encode(light):
    value = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    return 255 * value


def test_every_byte_survives_the_way_to_light_and_back():
    values = np.arange(256, dtype=np.uint8)
    assert np.array_equal(linear_to_bytes(bytes_to_linear(values)), values)
    assert bytes_to_linear(values) == pytest.approx([decode(v) for v in values], abs=1e-6)


@given(st.floats(0, 1))
def test_light_becomes_the_nearest_byte(light):
    byte = int(linear_to_bytes(np.array([light], np.float32))[0])
    assert abs(byte - encode(light)) <= 0.53


@pytest.mark.parametrize("ground", BACKGROUNDS.values(), ids=BACKGROUNDS)
@pytest.mark.parametrize("alpha", [1, 128, 254])
def test_a_partly_covered_pixel_follows_the_formula(ground, alpha):
    figure = (200, 90, 30)
    picture = compose(one_pixel((*figure, alpha)), plain(ground))
    share = alpha / 255
    exact = [encode(share * decode(f) + (1 - share) * decode(g))
             for f, g in zip(figure, ground, strict=True)]
    assert picture[7, 5] == pytest.approx(exact, abs=0.55)
    others = np.delete(picture.reshape(-1, 3), 7 * SIZE[0] + 5, axis=0)
    assert np.all(others == ground)


@given(arrays(np.uint8, (5, 6, 4)), arrays(np.uint8, (16, 24, 3)))
def test_a_pixel_lies_between_figure_and_ground(figure, ground):
    picture = compose(Frame(SIZE, figure, (9, 4), NO_SHADOW, (0, 0)), bytes_to_linear(ground))
    region, behind = picture[4:9, 9:15], ground[4:9, 9:15]
    assert np.all(region >= np.minimum(behind, figure[..., :3]))
    assert np.all(region <= np.maximum(behind, figure[..., :3]))
    assert np.array_equal(region[figure[..., 3] == 255], figure[figure[..., 3] == 255][:, :3])
    assert np.array_equal(region[figure[..., 3] == 0], behind[figure[..., 3] == 0])


def test_without_coverage_the_background_is_untouched():
    ground = np.random.default_rng(3).integers(0, 256, (16, 24, 3), dtype=np.uint8)
    hidden = np.full((4, 4, 4), (255, 0, 255, 0), np.uint8)
    for frame in (Frame(SIZE, NO_FIGURE, (0, 0), NO_SHADOW, (0, 0)),
                  Frame(SIZE, hidden, (2, 3), np.zeros((3, 3), np.uint8), (8, 8))):
        assert np.array_equal(compose(frame, bytes_to_linear(ground)), ground)


@pytest.mark.parametrize("gray", [40, 128, 230])
def test_a_figure_on_ground_of_its_own_color_shows_no_fringe(gray):
    drawn = Image.new("L", (160, 160), 0)
    ImageDraw.Draw(drawn).ellipse((10, 10, 150, 150), fill=255)
    coverage = np.asarray(drawn.resize((16, 16), Image.Resampling.BOX))
    figure = np.dstack([np.full((16, 16, 3), gray, np.uint8), coverage])
    assert len(np.unique(coverage)) > 10
    picture = compose(Frame(SIZE, figure, (4, 0), NO_SHADOW, (0, 0)), plain((gray,) * 3))
    assert np.all(picture == gray)


def test_the_light_of_an_edge_adds_up_to_its_coverage():
    """On black, an edge's summed light is the figure's light times the covered area."""
    coverage = np.linspace(0, 255, 24).round().astype(np.uint8)[None].repeat(16, axis=0)
    figure = np.dstack([np.full((16, 24, 3), 180, np.uint8), coverage])
    picture = compose(Frame(SIZE, figure, (0, 0), NO_SHADOW, (0, 0)), plain((0, 0, 0)))
    light = bytes_to_linear(picture).sum()
    assert light == pytest.approx(3 * decode(180) * coverage.sum() / 255, rel=5e-3)


def test_the_same_foreground_on_every_background():
    generator = np.random.default_rng(1)
    figure = generator.integers(0, 256, (8, 8, 4), dtype=np.uint8)
    figure[..., 3] = np.where(generator.random((8, 8)) < 0.7, 255, figure[..., 3])
    frame = Frame(SIZE, figure, (3, 2), NO_SHADOW, (0, 0))
    pictures = [compose(frame, plain(color))[2:10, 3:11] for color in BACKGROUNDS.values()]
    opaque = figure[..., 3] == 255
    assert opaque.sum() > 30
    for picture in pictures:
        assert np.array_equal(picture[opaque], figure[opaque][:, :3])


def test_a_shadow_takes_light_and_keeps_the_color_of_the_ground():
    shadow = np.full((4, 6), 128, np.uint8)
    frame = Frame(SIZE, NO_FIGURE, (0, 0), shadow, (10, 9))
    ground = BACKGROUNDS["sand"]
    picture = compose(frame, plain(ground))
    exact = [encode(decode(g) * (1 - 128 / 255)) for g in ground]
    assert picture[9:13, 10:16] == pytest.approx(np.broadcast_to(exact, (4, 6, 3)), abs=0.55)
    assert np.all(picture[8] == ground)
    assert np.all(picture[:, 16:] == ground)


def test_where_all_light_is_missing_the_ground_is_black():
    frame = Frame(SIZE, NO_FIGURE, (0, 0), np.full((2, 2), 255, np.uint8), (0, 0))
    assert np.all(compose(frame, plain((255, 255, 255)))[:2, :2] == 0)


def test_an_edge_over_a_shadow_lets_the_shadow_through():
    shadow = np.full((6, 6), 128, np.uint8)
    frame = one_pixel((10, 200, 60, 100), (5, 7), shadow, (3, 4))
    picture = compose(frame, plain((255, 255, 255)))
    share = 100 / 255
    exact = [encode(share * decode(f) + (1 - share) * (1 - 128 / 255)) for f in (10, 200, 60)]
    assert picture[7, 5] == pytest.approx(exact, abs=0.55)


def test_one_frame_leaves_nothing_in_the_next():
    compositor = Compositor(plain((255, 255, 255)))
    compositor.compose(one_pixel((0, 0, 0, 255)))
    empty = Frame(SIZE, NO_FIGURE, (0, 0), NO_SHADOW, (0, 0))
    assert np.all(compositor.compose(empty) == 255)


def test_a_background_of_another_size_is_refused():
    with pytest.raises(ValueError, match="24"):
        compose(one_pixel((0, 0, 0, 255)), plain((0, 0, 0), (20, 16)))
