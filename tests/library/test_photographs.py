"""Photographs as backgrounds: opened or refused, their cameras found, written into a library."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image, ImageCms, ImageDraw

from made_pictures import camera_at
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.backdrop import _opened
from mimegen.compositing.background import read_background
from mimegen.library.photos.guess import (
    CameraHints,
    KnownHeight,
    floating_risk,
    guess_camera,
    height_by,
)
from mimegen.library.photos.opening import OpenedPhoto, exif_focal, open_photo
from mimegen.library.photos.vanishing import PhotoView
from mimegen.motion import quaternions
from mimegen.pages.drawn import opengl_is_here
from mimegen.rendering.opengl.context import context_of_process
from mimegen.rendering.opengl.scenery import set_picture
from mimegen.scenery.job import SetJob
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from running import invoked

EXIF_IFD, ORIENTATION, FILM_LENGTH = 0x8769, 0x0112, 0xA405


def turned(camera: Camera, yaw_deg: float) -> Camera:
    """A camera turned to the left on the spot."""
    turn = quaternions.from_euler("xyz", np.array([0.0, 0.0, yaw_deg]))
    w, x, y, z = quaternions.multiply(turn, np.array(camera.rotation)).tolist()
    return replace(camera, rotation=(w, x, y, z))


def room(camera: Camera) -> Image.Image:
    """A tiled room of 12 x 12 x 3 m with cupboards in it, drawn as a camera sees it."""
    image = Image.new("RGB", (camera.width, camera.height), (150, 150, 150))
    draw = ImageDraw.Draw(image)

    def line(start, end):
        points = np.linspace(start, end, 200)
        seen = camera.project(points)
        for one, two in pairwise(seen):
            if one[2] > 0.1 and two[2] > 0.1:
                draw.line([tuple(one[:2]), tuple(two[:2])], (40, 40, 40), 2)

    for at in np.arange(-6.0, 6.1, 1.0):
        line((at, -6, 0), (at, 6, 0))
        line((-6, at, 0), (6, at, 0))
        line((at, 6, 0), (at, 6, 3))
        line((6, at, 0), (6, at, 3))
        line((-6, at, 0), (-6, at, 3))
    for x, y, high in ((2, 3, 2), (-3, 4, 1.2), (0.5, 5, 2.2)):
        for dx, dy in ((0, 0), (0.9, 0), (0, 0.6), (0.9, 0.6)):
            line((x + dx, y + dy, 0), (x + dx, y + dy, high))
        line((x, y, high), (x + 0.9, y, high))
        line((x, y, high), (x, y + 0.6, high))
    return image


def photo_of(image: Image.Image, focal: float | None = None) -> OpenedPhoto:
    return OpenedPhoto(Path("room.jpg"), image, focal)


# ---------------------------------------------------------------- its camera

@pytest.mark.slow
@pytest.mark.parametrize(("pitch", "lens", "yaw", "told"), [
    (8.0, 28.0, 33.0, False), (-4.0, 24.0, 20.0, True), (15.0, 35.0, 5.0, True)])
def test_the_camera_of_a_room_is_found(pitch, lens, yaw, told):
    camera = turned(camera_at((0.0, -4.0, 1.7), pitch, lens, 900, 600), yaw)
    guess = guess_camera(photo_of(room(camera), lens / 36 if told else None), CameraHints())
    assert guess.horizon == pytest.approx(camera.horizon_y / 600, abs=0.012)
    assert guess.view.pitch_deg == pytest.approx(pitch, abs=0.7)
    assert guess.view.focal == pytest.approx(lens / 36, rel=0.05)
    assert guess.view.lines > 25


@pytest.mark.slow
@pytest.mark.skipif(not opengl_is_here(), reason="there is no OpenGL here")
def test_the_camera_of_a_photographed_set_is_found(tmp_path):
    """The set is rendered as if by somebody who stands in it; only its pixels are told."""
    camera = turned(camera_at((1.0, -4.0, 1.6), 7.0, 26.0, 640, 426), 20.0)
    gym = read_background(data_folder() / "backgrounds" / "gym.yaml").set
    config = read_config(data_folder() / "render_configs" / "draft.yaml")
    assert gym is not None
    seen = set_picture(context_of_process(), SetJob(gym, camera, config, tmp_path / "x"))
    guess = guess_camera(photo_of(Image.fromarray(seen)), CameraHints())
    assert guess.horizon == pytest.approx(camera.horizon_y / 426, abs=0.012)
    assert guess.view.focal == pytest.approx(26 / 36, rel=0.06)


def test_where_no_edge_tells_the_guess_says_so():
    noise = np.random.default_rng(1).normal(120, 20, (300, 450, 3)).clip(0, 255).astype(np.uint8)
    guess = guess_camera(photo_of(Image.fromarray(noise)), CameraHints())
    assert guess.horizon == 0.5
    assert "horizon unknown" in guess.reasons[0]


def test_the_end_of_the_sea_is_a_horizon():
    sea = np.full((400, 600, 3), 200, np.uint8)
    sea[150:] = 90
    guess = guess_camera(photo_of(Image.fromarray(sea), 0.8), CameraHints())
    assert guess.horizon == pytest.approx(0.375, abs=0.005)
    assert "level edge" in guess.reasons[0]


@pytest.mark.slow
def test_a_leaning_photograph_is_refused_unless_its_horizon_is_said():
    camera = turned(camera_at((0.0, -4.0, 1.7), 8.0, 28.0, 900, 600), 33.0)
    leaning = room(camera).rotate(5, Image.Resampling.BICUBIC).crop((60, 60, 840, 540))
    with pytest.raises(RequestError, match=r"is tilted by (4\.|5\.)"):
        guess_camera(photo_of(leaning), CameraHints())
    assert guess_camera(photo_of(leaning), CameraHints(horizon=0.4)).horizon == pytest.approx(0.4)


@pytest.mark.parametrize("pitch", [0.0, 12.0, -5.0])
def test_a_known_height_tells_how_high_the_camera_was(pitch):
    camera = camera_at((0.0, 0.0, 2.3), pitch, 30.0, 1200, 800)
    top, foot = camera.project(np.array([[0.5, 12.0, 1.75], [0.5, 12.0, 0.0]]))[:, 1]
    view = PhotoView(30 / 36, pitch)
    photo = photo_of(Image.new("RGB", (1200, 800)))
    assert height_by(photo, view, KnownHeight(top, foot, 1.75)) == pytest.approx(2.3, rel=0.01)


def test_a_thing_above_the_horizon_stands_nowhere():
    photo = photo_of(Image.new("RGB", (1200, 800)))
    with pytest.raises(RequestError, match="is not on the ground: the horizon is at row 400"):
        height_by(photo, PhotoView(0.8, 0.0), KnownHeight(100, 300, 1.75))


@pytest.mark.parametrize("text", ["300=1.8", "500:300=1.8", "300:500", "a:b=c", "1:2=-3"])
def test_a_known_height_is_rows_and_metres(text):
    with pytest.raises(RequestError, match="TOP:FOOT=METRES"):
        KnownHeight.of(text)


@pytest.mark.parametrize(("horizon", "ground", "floats"), [
    (0.25, None, True), (0.45, None, False),
    (0.25, ((0.1, 0.6), (0.9, 0.6), (1, 1), (0, 1)), False),
    (0.25, ((0, 0.7), (1, 0.7), (1, 1), (0, 1)), False)])
def test_all_below_a_high_horizon_is_told_to_be_no_sure_ground(horizon, ground, floats):
    guess = guess_camera(photo_of(stripes()), CameraHints(horizon=horizon, ground=ground))
    risk = floating_risk(guess.picture())
    assert (risk is not None) == floats
    assert risk is None or "people may float" in risk


def with_exif(image, path, orientation=1, **lens):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    exif.get_ifd(EXIF_IFD).update({int(tag, 16): value for tag, value in lens.items()})
    image.save(path, exif=exif, quality=95)
    return path


def test_exif_tells_the_focal_length(tmp_path):
    image = Image.new("RGB", (4032, 3024))
    film = with_exif(image, tmp_path / "film.jpg", **{"0xA405": 26})
    with Image.open(film) as stored:
        # 26 mm on a diagonal of 43.27 mm; the picture's is 5040 pixels, its width 4032.
        assert exif_focal(stored) == pytest.approx(26 / 43.267 * 5040 / 4032, rel=1e-4)
    sensor = with_exif(image, tmp_path / "sensor.jpg", **{
        "0x920A": 50.0, "0xA20E": 6000 / 3.6, "0xA210": 3, "0xA002": 6000})
    with Image.open(sensor) as stored:
        assert exif_focal(stored) == pytest.approx(50 / 36, rel=1e-3)
    with Image.open(with_exif(image, tmp_path / "none.jpg", **{"0xA405": 0})) as stored:
        assert exif_focal(stored) is None


# ---------------------------------------------------------------- what comes from elsewhere

def stripes(width: int = 640, height: int = 400) -> Image.Image:
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[: height // 3] = (200, 40, 40)
    pixels[:, : width // 4] = (30, 160, 60)
    return Image.fromarray(pixels)


def test_a_turned_photograph_is_brought_upright(tmp_path):
    lying = with_exif(stripes().transpose(Image.Transpose.ROTATE_90), tmp_path / "a.jpg", 6)
    opened = open_photo(lying)
    assert opened.image.size == (640, 400)
    assert np.abs(np.asarray(opened.image).astype(int) - np.asarray(stripes())).mean() < 4


@pytest.mark.parametrize("mode", ["CMYK", "L", "P", "RGBA", "I;16"])
def test_every_kind_of_opaque_picture_becomes_rgb(tmp_path, mode):
    path = tmp_path / ("a.tif" if mode in ("CMYK", "I;16") else "a.png")
    if mode == "I;16":
        gray = np.asarray(stripes().convert("L")).astype(np.uint16) * 257
        Image.fromarray(gray).save(path)
    else:
        stripes().convert(mode).save(path)
    image = open_photo(path).image
    assert image.mode == "RGB"
    assert np.asarray(image)[100, 500].mean() > np.asarray(image)[300, 500].mean() + 40


def test_colors_of_another_profile_become_srgb(tmp_path):
    """A profile in whose eyes the same bytes are other colors: sRGB with red and green swapped."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, green = profile.index(b"rXYZ"), profile.index(b"gXYZ")
    profile[red:red + 4], profile[green:green + 4] = b"gXYZ", b"rXYZ"
    stripes().save(tmp_path / "other.png", icc_profile=bytes(profile))
    seen = np.asarray(open_photo(tmp_path / "other.png").image)[50, 400].astype(int)
    assert seen[1] > seen[0] + 100
    by_hand = np.asarray(_opened(tmp_path / "other.png"))[50, 400]
    assert np.array_equal(by_hand, seen)
    stripes().save(tmp_path / "broken.png", icc_profile=b"no profile at all")
    assert open_photo(tmp_path / "broken.png").image.getpixel((400, 50)) == (200, 40, 40)


def test_a_wrong_ending_does_not_matter(tmp_path):
    stripes().save(tmp_path / "a.png")
    wrong = (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    assert open_photo(wrong).image.size == (640, 400)


@pytest.mark.slow
def test_a_huge_photograph_is_made_smaller(tmp_path):
    path = tmp_path / "huge.png"
    Image.new("L", (9100, 7000), 90).save(path)
    assert open_photo(path).image.size == (6000, 4615)


def test_rows_of_a_known_height_are_those_of_the_file(tmp_path):
    """Level camera, 1.6 m high: what is 1.6 m tall reaches from its foot to the horizon."""
    Image.new("L", (1600, 1200), 90).save(tmp_path / "large.png")
    photo = open_photo(tmp_path / "large.png", largest=800)
    assert photo.image.size == (800, 600)
    guess = guess_camera(photo, CameraHints(horizon=0.5, known=KnownHeight(600, 900, 1.6)))
    assert guess.camera_height_m == pytest.approx(1.6)


# Pillow refuses the first, and its own words are of another limit.
ENDLESS = {"endless": (17000, 17000), "just too large": (13345, 13345)}


def bad(folder: Path, kind: str) -> Path:
    path = folder / "bad.png"
    if kind == "tiny":
        Image.new("RGB", (10, 10)).save(path)
    elif kind == "text":
        path.write_text("no picture")
    elif kind == "cut":
        stripes().save(path)
        path.write_bytes(path.read_bytes()[:300])
    elif kind == "animated":
        stripes().save(path, save_all=True, append_images=[stripes().rotate(90)], duration=50)
    elif kind == "transparent":
        clear = stripes().convert("RGBA")
        clear.putpixel((3, 3), (0, 0, 0, 0))
        clear.save(path)
    elif kind in ENDLESS:
        Image.new("1", ENDLESS[kind]).save(path)
    elif kind == "folder":
        path.mkdir()
    return path


@pytest.mark.parametrize(("kind", "words"), [
    ("tiny", "is 10 x 10 pixels; a background must"), ("text", "cannot be read as a picture"),
    ("cut", "cannot be read as a picture"), ("animated", "2 pictures"),
    ("transparent", "has transparent parts"), ("endless", "more than 178 million pixels"),
    ("just too large", "more than 178 million pixels"),
    ("folder", "is a folder"), ("absent", "no such file")])
def test_what_is_no_photograph_is_refused_in_one_line(tmp_path, kind, words):
    with pytest.raises(RequestError, match=words) as refused:
        open_photo(bad(tmp_path, kind))
    assert "\n" not in str(refused.value)


# ---------------------------------------------------------------- the command

def added(folder: Path, photo: Path, *options: str) -> Any:
    return invoked("background", "add", photo, "--licence", "CC0-1.0", "--author", "A. Person",
                   "--library", folder / "mine", "--picture", folder / "guess.png", *options)


@pytest.mark.slow
def test_a_photograph_comes_into_the_library(tmp_path):
    camera = turned(camera_at((0.0, -4.0, 1.7), 8.0, 28.0, 900, 600), 33.0)
    photo = with_exif(room(camera), tmp_path / "room.jpg", **{"0xA405": 28})
    asked = added(tmp_path, photo, "--name", "room", "--camera-height", "1.7")
    assert asked.returncode == 2
    assert "add --yes" in asked.stderr
    assert not (tmp_path / "mine").exists()
    done = added(tmp_path, photo, "--name", "room", "--camera-height", "1.7", "--yes")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "mine" / "backgrounds" / "room.yaml"
    background = read_background(file)
    picture = background.picture
    assert picture is not None
    assert picture.horizon == pytest.approx(camera.horizon_y / 600, abs=0.01)
    assert picture.field_of_view_deg == pytest.approx(65.5, abs=0.5)
    assert (background.author, background.licence) == ("A. Person", "CC0-1.0")
    with Image.open(file.with_suffix(".jpg")) as stored:
        assert stored.size == (900, 600)
        assert not stored.getexif()
    again = added(tmp_path, photo, "--name", "room", "--yes")
    assert again.returncode == 2
    assert "already exists" in again.stderr


@pytest.mark.slow
def test_a_panorama_comes_into_the_library(tmp_path):
    photo = tmp_path / "around.png"
    stripes(1200, 600).save(photo)
    done = added(tmp_path, photo, "--name", "around", "--panorama", "--yes")
    assert done.returncode == 0, done.stderr
    told = yaml.safe_load((tmp_path / "mine" / "backgrounds" / "around.yaml").read_text())
    assert told["panorama"] == {"file": "around.jpg", "camera_height_m": 1.6}
    stripes(900, 600).save(photo)
    refused = added(tmp_path, photo, "--name", "other", "--panorama", "--yes")
    assert refused.returncode == 2
    assert "twice as wide as high" in refused.stderr


@pytest.mark.parametrize(("words", "said"), [
    (("--name", "aligned"), "--name aligned: is reserved in variants"),
    (("--name", "misleading"), "choose another name"),
    (("--name", "a b"), "expected lowercase letters"),
    (("--name", "../a"), "expected lowercase letters"),
    (("--name", "yard", "--licence", " "), "--licence: is empty"),
    (("--name", "yard", "--author", ""), "--author: is empty"),
    (("--name", "yard", "--ground", "0,0.1 1,0.1 1,0.2"),
     "--ground: lies completely above the horizon, row 0.40"),
    (("--name", "yard", "--ground", "0,0.6 0.5,0.6 1,0.6"), "of an area"),
    (("--name", "yard", "--camera-height", "0.001"), "0.001 is not in the range"),
    (("--name", "yard", "--known-height", "1:399=0.001"), "puts the camera 0.0006"),
    (("--name", "yard", "--known-height", "100:300=1.7", "--camera-height", "1"),
     "are mutually exclusive"),
    (("--name", "yard", "--horizon", "0.98"), "or give another ROW"),
])
def test_what_cannot_be_added_is_refused_in_one_line(tmp_path, words, said):
    photo = tmp_path / "yard.png"
    stripes().save(photo)
    refused = added(tmp_path, photo, "--yes", "--horizon", "0.4", *words)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert said in refused.stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.slow
def test_a_name_that_comes_with_mimegen_is_said_to_mean_yours(tmp_path):
    stripes().save(tmp_path / "gym.png")
    done = added(tmp_path, tmp_path / "gym.png", "--yes", "--horizon", "0.5", "--name", "gym")
    assert done.returncode == 0, done.stderr
    assert "gym is also the name of a background of mimegen" in done.stderr
    assert f"--library {tmp_path / 'mine'} selects yours" in done.stderr


def test_who_previews_a_photograph_is_told_to_add_it(tmp_path):
    stripes().save(tmp_path / "yard.jpg")
    refused = invoked("background", "preview", tmp_path / "yard.jpg")
    assert refused.returncode == 2
    assert "run mimegen background add" in refused.stderr
