"""Camera looks: what a lens and a hand do to places, and back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.shots.camera import Camera
from mimegen.shots.look import (
    CameraLook,
    FilmedLook,
    Lens,
    looks,
    margin_through,
    read_look,
)

CAMERA = Camera((0.0, -5.0, 1.2), (0.7071067811865476, 0.7071067811865476, 0.0, 0.0), 50, 320, 180)


def lens(frames: int = 48, seed: int = 0, **values: object) -> Lens:
    look = CameraLook.model_validate({"name": "mine", **values})
    return Lens(FilmedLook(look, (seed, "walk")), CAMERA, frames, 24.0)


@pytest.mark.parametrize("name", ["phone", "dslr", "webcam", "cctv"])
def test_shipped_looks_are_read_and_carry_their_files_name(name: str) -> None:
    assert read_look(looks()[name]).name == name


def is_one_to_one(distortion: tuple[float, float]) -> bool:
    """Tell whether the model's radius grows everywhere in the picture, as looks require."""
    first, second = distortion
    radius = np.linspace(0, 1.6, 400)
    return bool((np.diff(radius * (1 + first * radius**2 + second * radius**4)) > 0.0003).all())


DISTORTIONS = st.tuples(st.floats(-0.08, 0.4), st.floats(-0.02, 0.1)).filter(is_one_to_one)


@settings(max_examples=25)
@given(DISTORTIONS, st.floats(0, 1), st.floats(0, 2), st.integers(0, 47))
def test_what_is_shown_at_a_pixel_is_seen_there(
    distortion: tuple[float, float], shake: float, roll: float, frame: int
) -> None:
    bends = lens(distortion=distortion, handheld_deg=shake, handheld_roll_deg=roll)
    pixels = bends.pixels()[::20, ::20]
    assert np.abs(bends.seen(frame, bends.shown(frame, pixels)) - pixels).max() < 1e-6


@settings(max_examples=25)
@given(st.floats(-0.08, 0.4), st.floats(0, 1), st.floats(0, 2), st.integers(0, 9))
def test_no_pixel_shows_what_is_outside(first: float, shake: float, roll: float, seed: int
                                        ) -> None:
    bends = lens(seed=seed, distortion=(first, 0), handheld_deg=shake, handheld_roll_deg=roll)
    for frame in (0, 20, 47):
        pixels = bends.pixels()
        shown = bends.shown(frame, np.concatenate([
            pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]))
        assert shown.min() >= -0.5 and (shown <= np.array([320, 180]) + 0.5).all()


def test_a_barrel_bends_lines_outwards_and_the_middle_stays() -> None:
    bends = lens(distortion=(0.2, 0.0))
    line = np.stack([np.linspace(60, 260, 9), np.full(9, 30.0)], axis=1)
    seen = bends.seen(0, line)
    assert seen[4, 1] < seen[0, 1] - 2 and seen[4, 1] < seen[8, 1] - 2
    assert bends.seen(0, np.array([[160.0, 90.0]])) == pytest.approx(np.array([[160.0, 90.0]]))


def test_a_hand_shakes_by_its_seed_and_slow_movements_are_larger() -> None:
    one, same, other = (lens(2400, seed, handheld_deg=0.3, handheld_roll_deg=0.2).path
                        for seed in (1, 1, 2))
    assert (one == same).all() and np.abs(one - other).max() > 1
    # A longer clip begins alike.
    assert (lens(100, 1, handheld_deg=0.3, handheld_roll_deg=0.2).path == one[:100]).all()
    expected = CAMERA.focal_pixels * np.radians(0.3)
    assert one[:, :2].std() == pytest.approx(expected, rel=0.5)
    power = np.abs(np.fft.rfft(one[:, 0] - one[:, 0].mean()))**2
    hertz = np.fft.rfftfreq(2400, 1 / 24)
    slow, fast = (power[(hertz >= low) & (hertz < 2 * low)].sum() for low in (0.25, 4.0))
    assert slow > 3 * fast


def test_a_still_camera_without_distortion_changes_no_place() -> None:
    plain = lens(vignette=0.3, grain=2.0)
    assert not plain.changes and plain.scale == 1.0
    assert (plain.shown(3, plain.pixels()) == plain.pixels()).all()


@pytest.mark.parametrize(("text", "error"), [
    ("name: a\ndistortion: [-0.5, 0]\n", "two places would be seen at one pixel"),
    ("name: a\nvignet: 0.3\n", "vignet"), ("name: a\ngrain: 900\n", "grain")])
def test_a_wrong_look_is_refused_by_its_file(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(RequestError, match=error):
        read_look(tmp_path / "mine.yaml")


@pytest.mark.parametrize("name", sorted(looks()))
@pytest.mark.parametrize("size", [(1280, 720), (512, 512)])
def test_what_is_framed_for_a_lens_keeps_its_margin_through_it(name: str, size: tuple[int, int]
                                                               ) -> None:
    look = read_look(looks()[name])
    margin = margin_through(look, size, 0.06)
    assert 0.06 <= margin < 0.2
    half = np.array(size) / 2
    edge = np.array([[x, y] for x in np.linspace(-1, 1, 21) for y in (-1, 1)])
    framed = half + half * (1 - 2 * margin) * np.concatenate([edge, edge[:, ::-1]])
    steady = look.model_copy(update={"handheld_deg": 0.0, "handheld_roll_deg": 0.0})
    camera = Camera((0.0, -8.0, 1.2), (0.70710678, 0.70710678, 0.0, 0.0), 50.0, *size)
    seen = Lens(FilmedLook(steady, ()), camera, 1, 24.0).seen(0, framed)
    share = np.abs((seen - half) / half)
    assert share.max() <= 1 - 2 * 0.06 + 1e-3, "all is as far from the edge as was asked"
    assert share.max() >= 1 - 2 * 0.06 - 0.02, "and no farther"
