import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.shots.pixels import halves_to_straight_srgb, to_straight_srgb


def one_pixel(*rgba: float) -> list[int]:
    return to_straight_srgb(np.array([[rgba]], np.float32))[0, 0].tolist()


def test_a_half_covered_edge_pixel_keeps_its_color() -> None:
    covered = one_pixel(0.5, 0.2, 0.05, 1.0)
    half = one_pixel(0.25, 0.1, 0.025, 0.5)
    assert covered[:3] == half[:3]
    assert half[3] == 128


def test_srgb_values_are_the_standards() -> None:
    assert one_pixel(0.2140411, 0.0021, 1.0, 1.0) == [127, 7, 255, 255]


def test_nothing_is_where_nothing_covers() -> None:
    assert one_pixel(0.3, 0.3, 0.3, 0.0) == [0, 0, 0, 0]
    assert one_pixel(0.0005, 0.0, 0.0, 0.001) == [0, 0, 0, 0]


@given(
    color=st.tuples(*[st.floats(0, 1)] * 3), alpha=st.floats(0.02, 1)
)
def test_compositing_it_back_over_black_gives_the_light_that_was_rendered(
    color: tuple[float, float, float], alpha: float
) -> None:
    light = np.array(color) * alpha
    red, green, blue, coverage = np.array(one_pixel(*light, alpha)) / 255.0
    straight = np.array([red, green, blue])
    linear = np.where(straight <= 0.04045, straight / 12.92, ((straight + 0.055) / 1.055) ** 2.4)
    assert linear * coverage == pytest.approx(light, abs=0.008)


def test_light_beyond_white_and_denoisers_negatives_are_cut() -> None:
    assert one_pixel(4.0, -0.1, 0.0, 1.2) == [255, 0, 0, 255]


def test_half_floats_become_the_same_bytes() -> None:
    drawn = np.abs(np.random.default_rng(0).normal(0.0, 0.6, (30, 20, 4))).astype(np.float16)
    drawn[:10, :, 3], drawn[10:20] = 1.0, 0.0
    wanted = to_straight_srgb(drawn.astype(np.float32))
    assert (halves_to_straight_srgb(drawn) == wanted).all()
