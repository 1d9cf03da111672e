"""Which values a display takes, and the same dots from the same request in every version."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import ndimage

from mimegen.base.errors import RequestError
from mimegen.pointlight.discs import to_srgb
from mimegen.pointlight.drawing import montage
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.pointlight.outputs import write_npz
from mimegen.pointlight.spec import Display, FrameSample, changed, first_problem
from mimegen.pointlight.stimulus import make_stimulus, used_dots
from test_pointlight import FPS, display, frames_of, scene, stimulus

# Frames, dots, a weighted sum of all places, mean strength, mean diameter.
SEEN: dict[str, tuple[int, int, float, float, float]] = {
    "reversed": (61, 13, 544.74, 1, 7),
    "speed": (121, 13, 195.01, 1, 7),
    "warped": (61, 13, 526.29, 1, 7),
    "delayed=0.1/who=1": (55, 13, 385.76, 1, 7),
    "delayed=0.1/who=1/ends=held": (61, 13, 536.22, 1, 7),
    "local": (61, 13, 625.59, 1, 7),
    "global": (61, 13, 537.22, 1, 7),
    "exaggerated": (61, 13, 532.85, 1, 7),
    "phase_scrambled": (61, 13, 466.62, 1, 7),
    "phase_scrambled=fold": (61, 13, 526.85, 1, 7),
    "rotated": (61, 13, 562.24, 1, 7),
    "turning": (61, 13, 516.57, 1, 7),
    "inverted": (61, 13, -201.83, 1, 7),
    "mirrored": (61, 13, 555.11, 1, 7),
    "scrambled": (61, 13, 682.99, 1, 7),
    "scrambled=permuted": (61, 13, 824.52, 1, 7),
    "limited_lifetime": (61, 13, -1581.09, 1, 7),
    "limited_lifetime=3/rule=joints/count=5": (61, 5, 622.66, 1, 7),
    "masked": (61, 73, 404.04, 1, 7),
    "masked/kind=linear": (61, 73, -126.05, 1, 7),
    "masked/kind=static": (61, 73, -608.25, 1, 7),
    "masked/kind=flicker": (61, 73, 1928.62, 1, 7),
    "jittered": (61, 13, 435.63, 1, 7),
    "displaced": (61, 13, 527.64, 1, 7),
    "without": (61, 13, 534.31, 1, 7),
    "only": (61, 2, -59.13, 1, 7),
    "flipped": (61, 13, 459.87, 1, 7),
    "out_of_phase": (61, 13, 490.91, 1, 7),
    "sines": (61, 13, 539.14, 1, 7),
    "crowd": (61, 117, -0.67, 1, 7),
    "depth_sized": (61, 13, 534.31, 1, 7.32),
    "faded": (61, 13, 534.31, 0.492, 7),
    "faded/seconds_in=0.25/seconds_out=0.25": (61, 13, 534.31, 0.738, 7),
}


@pytest.mark.parametrize("word", SEEN)
def test_a_request_gives_the_dots_that_it_always_gave(word: str) -> None:
    made = stimulus(word, seed=3)
    places = made.dots.positions[..., :2]
    weights = np.cos(np.arange(places.size)).reshape(places.shape)
    seen = (made.dots.frames, made.dots.count, float((places * weights).sum()),
            float(made.dots.strengths.mean()), float(made.diameters.mean()))
    assert seen == pytest.approx(SEEN[word], abs=0.02)


def test_every_manipulation_is_among_them() -> None:
    assert {word.partition("=")[0].partition("/")[0] for word in SEEN} == set(MANIPULATIONS)


@pytest.mark.parametrize(("name", "good", "bad"), [
    ("width", (16, 8192), (14, 17, 8194)), ("height", (16, 8192), (14, 17, 8194)),
    ("fps", (0.5, 240), (0, 240.5)), ("contrast", (0.01, 1), (0, 1.01)),
    ("elevation_deg", (-90, 90), (-90.5, 90.5)), ("camera_distance_m", (1.01,), (1, math.inf)),
    ("azimuth_deg", (-720,), (math.inf, math.nan)),
    ("margin", (0, 0.44), (-0.01, 0.45)), ("pixels_per_degree", (0.1,), (0,)),
    ("distance_cm", (0.1,), (0,)), ("pixel_pitch_mm", (0.01,), (0,)),
    ("start", (0,), (-0.1, math.nan)),
    ("duration", (0.1,), (0,)), ("dot_diameter", ("6", "6px", "0.5deg"), ("x", "-1px", "")),
    ("color", ("red", "#123456"), ("reddish",)), ("style", ("stick",), ("lines",)),
])
def test_a_display_takes_what_can_be_shown(name: str, good: tuple[Any, ...], bad: tuple[Any, ...]
                                           ) -> None:
    for value in good:
        assert getattr(changed(display(), **{name: value}), name) == value
    for value in bad:
        with pytest.raises(RequestError, match=f"display: {name}: "):
            changed(display(), **{name: value})


@pytest.mark.parametrize("values", [{"frames": 0}, {"trim": -0.1}, {"trim": 0.5}, {"retries": -1},
                                    {"columns": 0}])
def test_a_sample_is_of_some_frames(values: dict[str, float]) -> None:
    least: dict[str, Any] = {"frames": 1, "trim": 0, "retries": 0, "columns": 1}
    assert FrameSample.model_validate(least).frames == 1
    with pytest.raises(ValidationError):
        FrameSample.model_validate(least | values)


def test_what_is_wrong_is_said_once_with_what_was_given() -> None:
    for values, said in (({"width": 15}, "multiple of 2 (got 15)"),
                         ({"color": "reddish"},
                          "'reddish' is not a color; expected a name such as white, or #rrggbb")):
        with pytest.raises(RequestError) as refused:
            changed(display(), **values)
        assert str(refused.value).endswith(said), refused.value
    assert first_problem(ValueError("plain words")) == "plain words"


def test_light_becomes_the_bytes_of_srgb() -> None:
    light = np.array([-0.1, 0.0, 0.002, 0.0031308, 0.214041, 0.5, 1.0, 1.5])
    assert to_srgb(light).tolist() == [0, 0, 7, 10, 127, 188, 255, 255]


def test_a_dot_that_no_line_reaches_is_drawn_large_in_stick_figures() -> None:
    made = stimulus(style="stick", dots="head,left_ankle", dot_diameter="8px")
    labels, count = ndimage.label(frames_of(made)[5] > 100)
    areas = sorted(int((labels == label).sum()) for label in range(1, count + 1))
    assert count == 2
    assert areas == pytest.approx([np.pi * 10**2] * 2, rel=0.1), "two and a half lines of 4 pixels"


def test_dots_count_as_used_while_any_of_them_is_in_the_picture() -> None:
    shown = display(dot_diameter="10px", dots="head")
    made = make_stimulus(scene(shown), shown)
    for x, y, used in ((-4.9, 9, True), (-5.1, 9, False), (260.9, 9, True), (261.1, 9, False),
                       (9, -4.9, True), (9, -5.1, False), (9, 260.9, True), (9, 261.1, False)):
        made.dots.positions[:, 0, :2] = x, y
        assert used_dots(made).all() == used_dots(made).any() == used, (x, y)
    made.dots.positions[:, 0, :2] = 9, 9
    made.dots.strengths[3] = 0
    made.dots.visible[4] = False
    assert np.flatnonzero(~used_dots(made)[:, 0]).tolist() == [3, 4]


def test_arrays_of_a_display_are_what_it_shows(tmp_path: Path) -> None:
    made = stimulus(pixels_per_degree=20.0)
    write_npz(made, tmp_path / "dots.npz")
    with np.load(tmp_path / "dots.npz") as packed:
        arrays = dict(packed)
    places, middle = made.dots.positions, np.array([128.0, 128.0])
    off = (places[..., :2] - middle) * [1, -1]
    expected = {
        "names": np.array(made.dots.names), "performers": made.dots.performers,
        "limbs": np.concatenate([made.dots.limbs, made.dots.trunk]), "pixels": places[..., :2],
        "degrees": off / 20, "depth_m": places[..., 2],
        "metres": np.concatenate([off / made.view.scale, -places[..., 2:]], axis=-1),
        "visible": made.dots.visible, "diameters_px": made.diameters,
        "strengths": made.dots.strengths, "fps": np.array(FPS), "source_seconds": made.moments,
        "performer_seconds": made.moments[:, None],
        "size": np.array([256, 256])}
    assert arrays.keys() == expected.keys()
    for name, values in expected.items():
        assert arrays[name].shape == values.shape, name
        assert (np.allclose(arrays[name], values) if values.dtype.kind == "f"
                else (arrays[name] == values).all()), name


def test_frames_stand_side_by_side_in_a_montage() -> None:
    frames = [np.full((2, 3), number, np.uint8) for number in (1, 2, 3)]
    assert montage(frames, 2).tolist() == [[1, 1, 1, 2, 2, 2]] * 2 + [[3, 3, 3, 0, 0, 0]] * 2
    assert montage([np.ones((2, 3, 3), np.uint8)], 1).shape == (2, 3, 3)


def test_a_degree_is_as_many_pixels_as_the_screen_says() -> None:
    plain = Display(name="d", description="")
    assert plain.degree_pixels == pytest.approx(40.0, rel=1e-3)
    assert plain.pixels("6px") == plain.pixels("6") == plain.pixels(6) == 6
    assert plain.pixels("2deg") == pytest.approx(80.0, rel=1e-3)
    assert changed(plain, pixels_per_degree=33.0).degree_pixels == 33
    lights = {polarity: changed(plain, polarity=polarity).background_light().tolist()
              for polarity in ("light", "dark", "mixed")}
    assert lights == {"light": [0.0] * 3, "dark": [1.0] * 3, "mixed": [0.5] * 3}
    assert changed(plain, background="red").background_light().tolist() == [1, 0, 0]
