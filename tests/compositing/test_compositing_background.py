"""Backgrounds: what their files may say, and how a picture comes to lie behind the figure."""
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from PIL import Image
from scipy.spatial.transform import Rotation

from examples import examples
from made_pictures import FACTS, GROUND, camera_at, picture_file
from mimegen.base.errors import RequestError
from mimegen.compositing.backdrop import PERSON_M, _opened, backdrop, person_rows, place_picture
from mimegen.compositing.background import (
    Background,
    Picture,
    background_key,
    read_background,
    visible_content,
)
from mimegen.compositing.color import bytes_to_linear, linear_to_srgb, srgb_to_linear
from mimegen.compositing.pictures import in_8_bits
from mimegen.library.photos.opening import open_photo
from mimegen.shots.camera import Camera
from places import DATA

SHOT = camera_at((0.0, -6.0, 1.3), 4.0, 50.0, 640, 360)


def checkerboard(camera):
    """What a camera sees of level ground in squares of 0.5 m and a sky, as sRGB bytes."""
    columns, rows = np.meshgrid(np.arange(camera.width) + 0.5, np.arange(camera.height) + 0.5)
    ground = camera.ground_points(np.stack([columns, rows], axis=-1))
    odd = np.nan_to_num(np.floor(ground / 0.5)).sum(axis=-1) % 2
    sky = np.isnan(ground[..., 0])
    gray = np.where(sky, 200, np.where(odd == 1, 230, 40))
    return np.repeat(gray.astype(np.uint8)[..., None], 3, axis=-1)




def gray(width=800, height=600):
    return np.full((height, width, 3), 120, np.uint8)


# ---------------------------------------------------------------- the place of a picture

@given(taken_from=st.floats(0.8, 4.0), pitch=st.sampled_from([0.0, 3.0, 8.0, 15.0, -3.0]),
       lens=st.sampled_from([24.0, 35.0]), seen_from=st.floats(0.8, 2.3), down=st.floats(1.0, 10.0))
@settings(max_examples=examples(60), deadline=None)
def test_a_person_is_as_tall_in_the_picture_as_in_the_frame(taken_from, pitch, lens, seen_from,
                                                            down):
    """The picture's true camera is known: a person drawn there is as tall as the figure."""
    camera = camera_at((0.0, 0.0, taken_from), pitch, lens, 1200, 900)
    horizon = camera.horizon_y / camera.height
    picture = Picture(file=Path("x"), horizon=horizon, camera_height_m=taken_from,
                      camera_pitch_deg=pitch, ground=((0, horizon), (1, horizon), (1, 1), (0, 1)))
    shot = camera_at((0.0, -5.0, seen_from), down, 40.0, 640, 360)
    try:
        place = place_picture("hall", picture, (camera.width, camera.height), shot)
    except RequestError:
        reject()
    feet, head = shot.project(np.array([[0, 0, 0], [0, 0, PERSON_M]]))
    column, row = place.left + feet[0] / place.scale, place.top + feet[1] / place.scale
    stand = camera.ground_points(np.array([column, row]))
    there = camera.project(np.array([[*stand, 0.0], [*stand, PERSON_M]]))
    tall = (there[0, 1] - there[1, 1]) * place.scale
    assert tall == pytest.approx(feet[1] - head[1], rel=0.02)
    assert place.left >= -1e-6
    assert place.top >= -1e-6
    assert place.left + 640 / place.scale <= camera.width + 1e-6
    assert place.top + 360 / place.scale <= camera.height + 1e-6


def test_squares_of_the_ground_have_their_size_at_the_figures_feet(tmp_path):
    """Seen in the finished pixels: 1.7 m of half-metre squares is as wide as 1.7 m of figure."""
    photographer = camera_at((0.0, 0.0, 1.6), 0.0, 24.0, 1800, 1200)
    path = picture_file(tmp_path, checkerboard(photographer), horizon=0.5,
                        ground=[[0.2, 0.6], [0.8, 0.6], [0.8, 0.97], [0.2, 0.97]])
    seen = backdrop(read_background(path), SHOT, None)[..., 0]
    feet, head = SHOT.project(np.array([[0, 0, 0], [0, 0, PERSON_M]]))
    line = seen[round(feet[1]) - 1]
    dark = line < 0.25
    edges = np.flatnonzero(dark[1:] != dark[:-1]) + 1
    metre = (feet[1] - head[1]) / PERSON_M
    assert np.mean(np.diff(edges)[1:-1]) == pytest.approx(0.5 * metre, rel=0.02)
    horizon = np.argmax(np.abs(np.diff(seen.mean(axis=1))) > 0.02)
    assert horizon == pytest.approx(feet[1] - 1.6 * metre, abs=3)


def test_the_nearest_place_that_fills_the_frame_is_taken():
    picture = Picture(file=Path("x"), horizon=0.4, camera_height_m=1.6, ground=GROUND)
    near = place_picture("hall", picture, (2000, 1500), SHOT)
    far = place_picture("hall", picture.model_copy(update={
        "ground": ((0.4, 0.6), (0.6, 0.6), (0.5, 0.7))}), (2000, 1500), SHOT)
    assert near.scale < far.scale


def test_a_larger_copy_of_a_picture_lies_just_the_same():
    picture = Picture(file=Path("x"), horizon=0.4, camera_height_m=1.6, ground=GROUND)
    one = place_picture("hall", picture, (1000, 750), SHOT)
    two = place_picture("hall", picture, (2000, 1500), SHOT)
    assert (two.left, two.top, two.scale) == pytest.approx(
        (2 * one.left, 2 * one.top, one.scale / 2))


def test_pitch_corrects_the_height_of_a_person():
    camera = camera_at((0.0, 0.0, 3.0), 20.0, 24.0, 1200, 900)
    feet, head = camera.project(np.array([[0, 5, 0], [0, 5, PERSON_M]]))
    facts: dict[str, Any] = {
        "file": "x", "horizon": camera.horizon_y / 900, "camera_height_m": 3.0,
        "ground": [(0, 0.5), (1, 0.5), (1, 1)]}
    exact = Picture(**facts, camera_pitch_deg=20)
    rough = Picture(**facts)
    size, tall = (1200, 900), feet[1] - head[1]
    assert person_rows(exact, feet[1:2], size)[0] == pytest.approx(tall, rel=1e-6)
    assert abs(person_rows(rough, feet[1:2], size)[0] / tall - 1) > 0.05


def test_a_picture_that_cannot_fill_the_frame_says_where():
    ground = ((0.0, 0.97), (0.2, 0.97), (0.1, 1.0))
    picture = Picture(file=Path("x"), horizon=0.5, camera_height_m=1.6, ground=ground)
    with pytest.raises(RequestError, match=r"hall: .*lacks \d+% of the frame's .* at its left"):
        place_picture("hall", picture, (800, 600), SHOT)


def test_a_picture_too_small_says_how_large():
    picture = Picture(file=Path("x"), horizon=0.4, camera_height_m=1.6, ground=GROUND)
    with pytest.raises(RequestError, match=r"enlarged .* at least (\d+) pixels wide") as raised:
        place_picture("hall", picture, (100, 75), SHOT)
    wide = int(str(raised.value).split("at least ")[1].split()[0])
    place_picture("hall", picture, (wide, round(wide * 0.75)), SHOT)


@pytest.mark.parametrize("camera", [
    camera_at((0.0, 6.0, 1.3), 0.0, 50.0, 640, 360),
    camera_at((0.0, 0.0, 9.0), 90, 50.0, 640, 360),
], ids=["looks away", "looks straight down"])
def test_a_camera_that_sees_nobody_upright_is_refused(camera):
    picture = Picture(file=Path("x"), horizon=0.4, camera_height_m=1.6, ground=GROUND)
    with pytest.raises(RequestError, match="another camera"):
        place_picture("hall", picture, (800, 600), camera)


# ---------------------------------------------------------------- turned with the camera

def turned(camera, left_deg):
    """A camera turned to the left on the spot."""
    turn = Rotation.from_euler("z", left_deg, degrees=True)
    w, *xyz = camera.rotation
    x, y, z, w = (turn * Rotation.from_quat([*xyz, w])).as_quat()
    return Camera(camera.position, (w, x, y, z), camera.lens_mm, camera.width, camera.height)


WIDE = camera_at((0.0, 0.0, 1.6), 6.0, 16.0, 1800, 1126)
WIDE_FACTS = {"horizon": WIDE.horizon_y / 1126, "field_of_view_deg": 96.7328,
              "ground": [[0.0, 0.5], [1.0, 0.5], [1.0, 1.0], [0.0, 1.0]]}


@pytest.mark.parametrize("angle", [8.0, 352.0])
def test_a_wide_picture_shows_what_its_camera_would_see_when_turned(tmp_path, angle):
    background = read_background(picture_file(tmp_path, checkerboard(WIDE), **WIDE_FACTS))
    seen = backdrop(background, SHOT, None, angle)
    (tmp_path / "turned").mkdir()
    looking = read_background(picture_file(tmp_path / "turned", checkerboard(turned(WIDE, angle)),
                                           **WIDE_FACTS))
    wanted = backdrop(looking, SHOT, None)
    assert np.abs(seen - wanted).mean() < 0.1
    assert np.abs(seen - backdrop(background, SHOT, None)).mean() > 0.2


@pytest.mark.parametrize(("angle", "facts"), [
    (90.0, {}), (8.0, {"field_of_view_deg": None}),
    (8.0, {"ground": [[0.45, 0.5], [0.55, 0.5], [0.5, 1.0]]})],
    ids=["it does not reach so far", "its focal length is unknown", "the feet leave its ground"])
def test_a_picture_stays_where_turning_it_would_be_wrong(tmp_path, angle, facts):
    path = picture_file(tmp_path, checkerboard(WIDE), **WIDE_FACTS | facts)
    background = read_background(path)
    assert np.array_equal(backdrop(background, SHOT, None, angle), backdrop(background, SHOT, None))


def around(height_m, width=3000):
    """A panorama of level ground in squares of 0.5 m, as sRGB bytes."""
    bearing, deep = np.meshgrid((np.arange(width) + 0.5) / width * 2 * np.pi - np.pi,
                                (np.arange(width // 2) + 0.5) / width * 2 * np.pi - np.pi / 2)
    far = height_m / np.tan(np.maximum(deep, 1e-3))
    place = np.stack([far * np.sin(bearing), far * np.cos(bearing)], axis=-1)
    odd = np.floor(place / 0.5).sum(axis=-1) % 2
    gray = np.where(deep <= 0, 200, np.where(odd == 1, 230, 40))
    return np.repeat(gray.astype(np.uint8)[..., None], 3, axis=-1)


def panorama_file(folder, pixels, **facts):
    Image.fromarray(pixels).save(folder / "around.png")
    path = folder / "around.yaml"
    path.write_text(yaml.safe_dump(FACTS | {
        "panorama": {"file": "around.png", "camera_height_m": 1.6} | facts}))
    return path


@pytest.mark.parametrize("angle", [0.0, 90.0, 200.0])
def test_a_panorama_shows_every_angle_at_the_figures_scale(tmp_path, angle):
    seen = backdrop(read_background(panorama_file(tmp_path, around(1.3))), SHOT, None, angle)
    assert seen.shape == (360, 640, 3)
    # The shot's camera stands 1.3 m high as well: both see the same horizon.
    panorama = read_background(panorama_file(tmp_path, around(1.3), camera_height_m=1.3))
    level = backdrop(panorama, SHOT, None, angle)
    horizon = np.argmax(np.abs(np.diff(level.mean(axis=(1, 2)))) > 0.02)
    assert horizon == pytest.approx(SHOT.horizon_y, abs=3)
    same = checkerboard(turned(camera_at((0.0, 0.0, 1.3), 4.0, 50.0, 640, 360), angle))
    assert np.abs(level - bytes_to_linear(same))[260:].mean() < 0.08


def test_a_panorama_too_small_says_how_wide(tmp_path):
    with pytest.raises(RequestError, match=r"enlarged 4\.\d times; use .* at least 1397 pixels"):
        backdrop(read_background(panorama_file(tmp_path, around(1.3, 1200))), SHOT, None)


def test_what_came_later_changes_no_key_of_what_does_not_say_it(tmp_path):
    path = picture_file(tmp_path, gray())
    plain = background_key(path)
    assert visible_content(read_background(path)) == {"color": None, "set": None, "picture": {
        "horizon": 0.4, "camera_height_m": 1.6, "camera_pitch_deg": 0.0,
        "ground": [list(corner) for corner in GROUND]}}
    assert background_key(picture_file(tmp_path, gray(), field_of_view_deg=60)) != plain


# ---------------------------------------------------------------- its pixels

def test_a_color_fills_the_frame():
    white = backdrop(Background(**FACTS, color=(1, 1, 1)), SHOT, None)
    assert white.shape == (360, 640, 3)
    assert white.dtype == np.float32
    assert np.all(white == 1)
    half = backdrop(Background(**FACTS, color=(0.5, 0, 0)), SHOT, None)
    assert half[0, 0] == pytest.approx([0.21404, 0, 0], abs=1e-4)


def test_pictures_are_made_smaller_in_light_not_in_code_values(tmp_path):
    """Fine black and white stripes become half the light, sRGB 188, not 128."""
    stripes = np.zeros((1200, 1600, 3), np.uint8)
    stripes[:, ::2] = 255
    seen = backdrop(read_background(picture_file(tmp_path, stripes)), SHOT, None)
    middle = seen[100:200, 200:300].mean()
    assert middle == pytest.approx(0.5, abs=0.02)
    assert 255 * linear_to_srgb(np.array(middle)) == pytest.approx(188, abs=3)


def test_a_plain_picture_stays_plain_to_its_edges(tmp_path):
    seen = backdrop(read_background(picture_file(tmp_path, gray())), SHOT, None)
    assert np.abs(seen - srgb_to_linear(np.array(120 / 255))).max() < 1e-4


def test_a_picture_held_upright_by_its_exif_lies_as_it_is_seen(tmp_path):
    photographer = camera_at((0.0, 0.0, 1.6), 0.0, 24.0, 1200, 800)
    upright = Image.fromarray(checkerboard(photographer))
    path = picture_file(tmp_path, gray(), horizon=0.5)
    upright.save(tmp_path / "hall.png")
    plain = backdrop(read_background(path), SHOT, None)
    exif = Image.Exif()
    exif[0x0112] = 6
    upright.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "hall.png", exif=exif)
    assert np.array_equal(backdrop(read_background(path), SHOT, None), plain)


def test_a_set_shows_its_still(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (360, 640, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "still.png")
    scenery = {"sky": {"zenith": "#4060ff", "horizon": "#ffffff", "ground": "#808080",
                       "strength": 1}, "sun": {"strength": 3}, "materials": {}}
    background = Background.model_validate(FACTS | {"set": scenery})
    assert np.array_equal(backdrop(background, SHOT, tmp_path / "still.png"),
                          bytes_to_linear(pixels))
    with pytest.raises(ValueError, match="still"):
        backdrop(background, SHOT, None)
    with pytest.raises(ValueError, match=r"still\.png"):
        backdrop(background, camera_at((0, -6, 1), 0, 50, 320, 180), tmp_path / "still.png")
    (tmp_path / "still.png").write_bytes((tmp_path / "still.png").read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"still\.png.*damaged"):
        backdrop(background, SHOT, tmp_path / "still.png")


# ---------------------------------------------------------------- their files

def test_a_picture_is_found_beside_its_file(tmp_path):
    background = read_background(picture_file(tmp_path, gray()))
    assert background.picture is not None
    assert background.picture.file == tmp_path / "hall.png"
    assert background.picture.horizon == 0.4


@pytest.mark.parametrize(("facts", "says"), [
    ({"horizon": 1.4}, r"picture horizon: .*less than 1"),
    ({"horizon": -0.2}, r"picture horizon: .*greater than or equal to 0"),
    ({"horizn": 0.4}, r"picture horizn: unknown key \(did you mean horizon\?\)"),
    ({"camera_height_m": 0}, r"picture camera_height_m: .*greater than 0"),
    ({"ground": [[0, 1], [1, 1]]}, r"picture ground: .*at least 3"),
    ({"ground": [[0, 1], [1, 1], [0.5, 1.2]]}, r"picture ground: .*less than or equal to 1"),
    ({"ground": [[0, 0.1], [1, 0.1], [0.5, 0.3]]}, r"picture: ground: .*above the horizon"),
    ({"camera_pitch_deg": -5}, r"picture: camera_pitch_deg: .*upper half"),
    ({"file": "absent.jpg"}, r"picture file: no such file .*absent\.jpg"),
    ({"file": "hall.yaml"}, r"picture file: .*cannot be read as a picture"),
])
def test_what_is_wrong_with_a_picture_is_said_in_one_line(tmp_path, facts, says):
    path = picture_file(tmp_path, gray(), **facts)
    with pytest.raises(RequestError, match=rf"hall\.yaml: .*{says}") as raised:
        read_background(path)
    assert "\n" not in str(raised.value)


def test_a_cut_off_picture_is_refused(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    path = picture_file(tmp_path, pixels)
    whole = (tmp_path / "hall.png").read_bytes()
    (tmp_path / "hall.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RequestError, match=r"hall\.yaml: line \d+: picture file: .*cannot be read"):
        read_background(path)


@pytest.mark.parametrize(("text", "says"), [
    ("name: hall\ncolor: [1, 1, 1]\n", r"description: Field required"),
    (yaml.safe_dump(FACTS), r"give exactly one of color, picture, panorama and set"),
    (yaml.safe_dump(FACTS | {"colour": [1, 1, 1]}), r"colour: unknown key \(did you mean color"),
    (yaml.safe_dump(FACTS | {"color": [1, 1, 2]}), r"color: .*less than or equal to 1"),
    ("name: [unclosed", r"line 2: not valid YAML"),
    ("- a\n- b\n", r"expected a mapping of keys"),
    ("", r"expected a mapping of keys"),
])
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path, text, says):
    path = tmp_path / "hall.yaml"
    path.write_text(text)
    with pytest.raises(RequestError, match=rf"hall\.yaml: .*{says}") as raised:
        read_background(path)
    assert "\n" not in str(raised.value)


def test_an_absent_file_is_said(tmp_path):
    with pytest.raises(RequestError, match=r"absent\.yaml: cannot be read"):
        read_background(tmp_path / "absent.yaml")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_srgb_and_light_are_inverse(values):
    coded = np.array(values)
    assert linear_to_srgb(srgb_to_linear(coded)) == pytest.approx(coded, abs=1e-5)


# ---------------------------------------------------------------- their keys

SET = {"sky": {"zenith": "#ffffff", "horizon": "#ffffff", "ground": "#808080", "strength": 1},
       "sun": {"strength": 1}, "materials": {"red": {"color": "#ff0000"}},
       "objects": [{"kind": "sphere", "radius": 1, "material": "red"}]}


def key_of(folder, **content):
    path = folder / "hall.yaml"
    path.write_text(yaml.safe_dump(FACTS | content))
    return background_key(path)


def test_a_key_changes_with_what_is_seen_of_a_background(tmp_path):
    keys = {key_of(tmp_path, color=[1, 1, 1]), key_of(tmp_path, color=[1, 1, 0]),
            key_of(tmp_path, set=SET), key_of(tmp_path, set=SET | {"turn_deg": 10}),
            key_of(tmp_path, set=SET | {"materials": {"red": {"color": "#fe0000"}}})}
    assert len(keys) == 5


def test_a_key_stays_where_words_and_comments_change(tmp_path):
    key = key_of(tmp_path, set=SET)
    assert key_of(tmp_path, set=SET, description="Another word for it") == key
    path = tmp_path / "hall.yaml"
    path.write_text(f"# A comment.\n{path.read_text()}")
    assert background_key(path) == key


def test_a_key_changes_with_a_pictures_pixels_and_its_place(tmp_path):
    key = background_key(picture_file(tmp_path, gray()))
    assert background_key(picture_file(tmp_path, gray() + 1)) != key
    assert background_key(picture_file(tmp_path, gray(), horizon=0.41)) != key
    assert background_key(picture_file(tmp_path, gray())) == key


def test_the_key_of_an_absent_background_is_refused(tmp_path):
    with pytest.raises(RequestError, match=r"absent\.yaml: cannot be read"):
        background_key(tmp_path / "absent.yaml")


# ---------------------------------------------------------------- pictures of 16 bits

GRAY16 = np.arange(64 * 96, dtype=np.uint32).reshape(64, 96) * 2 % 14000 + 200


def deep_picture(path: Path, kind: str) -> None:
    """Write a dark picture of 16 bits a sample."""
    gray = GRAY16.astype(np.uint16)
    if kind in ("L", "I;16B"):
        order = gray.astype(">u2") if kind == "I;16B" else gray
        Image.frombytes(kind.replace("L", "I;16"), (96, 64), order.tobytes()).save(path)
        return
    opaque = np.full_like(gray, 65535)
    samples = {"LA": [gray, opaque], "RGB": [gray] * 3, "RGBA": [gray] * 3 + [opaque]}[kind]
    data = np.stack(samples, axis=-1).astype(">u2")
    lines = b"".join(b"\0" + row.tobytes() for row in data)
    head = struct.pack(">IIBBBBB", 96, 64, 16, {"LA": 4, "RGB": 2, "RGBA": 6}[kind], 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")
        for name, body in ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))))


@pytest.mark.parametrize(("name", "kind"), [
    ("a.png", "L"), ("a.tif", "L"), ("a.tif", "I;16B"), ("a.png", "LA"), ("a.png", "RGB"),
    ("a.png", "RGBA")])
def test_pictures_of_16_bits_have_their_true_values(tmp_path: Path, name: str, kind: str) -> None:
    deep_picture(tmp_path / name, kind)
    with Image.open(tmp_path / name) as stored:
        seen = np.asarray(in_8_bits(stored).convert("RGB"), np.float64)
    assert np.abs(seen - GRAY16[..., None] / 257).max() <= 1.0 and seen.max() < 60


def test_a_dark_picture_stays_dark_behind_a_figure_and_as_a_photograph() -> None:
    dark = DATA / "photo_gray16_dark.png"
    with Image.open(dark) as stored:
        white = np.asarray(stored, np.float64).max() / 257
    seen = _opened(dark)
    assert np.asarray(seen).max() == round(white) < 60
    assert np.array_equal(np.asarray(open_photo(dark).image), np.asarray(seen))


def test_a_picture_with_transparent_parts_is_refused(tmp_path: Path) -> None:
    file = picture_file(tmp_path, gray())
    clear = np.dstack([gray(), np.full((600, 800), 255, np.uint8)])
    Image.fromarray(clear).save(tmp_path / "hall.png")
    read_background(file)
    clear[:, :100, 3] = 0
    Image.fromarray(clear).save(tmp_path / "hall.png")
    with pytest.raises(RequestError, match="transparent parts"):
        read_background(file)


def test_white_is_what_a_tiffs_bits_allow(tmp_path: Path) -> None:
    gray = Image.fromarray(np.full((8, 8), 1000, np.uint16))
    gray.save(tmp_path / "a.tif", tiffinfo={262: 0})
    Image.fromarray(np.full((8, 8), 0.5, np.float32)).save(tmp_path / "b.tif")
    Image.fromarray(np.full((8, 8), 2**30, np.int32)).save(tmp_path / "c.tif")
    for name, value in (("a.tif", 251), ("b.tif", 128), ("c.tif", 64)):
        with Image.open(tmp_path / name) as stored:
            assert np.asarray(in_8_bits(stored)).max() == value, name


@pytest.mark.parametrize("kind", ["picture", "panorama"])
@pytest.mark.parametrize("width", [17_850, 20_000])
def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded(
    tmp_path: Path, kind: str, width: int
) -> None:
    head = struct.pack(">IIBBBBB", width, 10000, 8, 2, 0, 0, 0)
    (tmp_path / "large.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")
        for name, body in ((b"IHDR", head), (b"IDAT", b""))))
    facts = {"file": "large.png", "camera_height_m": 1.6} | ({} if kind == "panorama" else {
        "horizon": 0.4, "ground": [list(corner) for corner in GROUND]})
    (tmp_path / "large.yaml").write_text(yaml.safe_dump(FACTS | {kind: facts}))
    with pytest.raises(RequestError, match="178 million pixels; save it smaller") as problem:
        read_background(tmp_path / "large.yaml")
    assert "\n" not in str(problem.value)
