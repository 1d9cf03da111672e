"""Pictures of all that is around as light: exposure, balance, main light, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hdr_files import sky_with_light, write_hdr
from mimegen.base.angles import wrapped_deg
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.base.vectors import direction_from
from mimegen.compositing.color import LUMINANCE
from mimegen.motion.quaternions import FloatArray
from mimegen.plan.shots import Rendering
from mimegen.plan.surroundings import lit_by
from mimegen.rendering.surroundings import EnvironmentMap, read_environment_map
from mimegen.request.altering import Altering
from mimegen.request.render_request import RenderRequest
from mimegen.shots.config import Light, RenderConfig, World, read_config
from mimegen.shots.shadow_light import sun_share

PREVIEW = read_config(data_folder() / "render_configs" / "preview.yaml")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_hdr(tmp_path / "hall.hdr", sky_with_light(-70, 40, 80.0))


def lit(file: Path, light: FloatArray, from_deg: float | None = None) -> RenderConfig:
    return lit_by(PREVIEW, file.name, EnvironmentMap(file, light), from_deg)


def world_of(config: RenderConfig) -> World:
    assert config.world is not None
    return config.world


def all_light(light: Light) -> float:
    halves = np.array(light.sky_color) + light.ground_share * np.array(
        light.ground_color or light.sky_color)
    return float(light.sun_strength + light.rim_strength
                 + 2 * np.pi * light.sky_strength * halves @ LUMINANCE)


@pytest.mark.parametrize(("azimuth", "elevation"), [(-70, 40), (10, 65), (160, 30)])
def test_the_main_light_comes_from_where_it_is_wanted(file, azimuth, elevation):
    picture = sky_with_light(azimuth, elevation, 80.0)
    of_config, asked = lit(file, picture), lit(file, picture, 100.0)
    assert of_config.light.sun_from_deg[0] == PREVIEW.light.sun_from_deg[0]
    assert asked.light.sun_from_deg == pytest.approx((100.0, elevation), abs=3)
    assert wrapped_deg(world_of(asked).turn_deg - (100.0 - azimuth)) == pytest.approx(0, abs=3)


def test_figures_are_as_bright_on_average_whatever_the_picture(file):
    for strength in (0.3, 5.0, 400.0):
        light = lit(file, 7.0 * sky_with_light(20, 45, strength)).light
        assert all_light(light) == pytest.approx(all_light(PREVIEW.light), rel=0.02)


@pytest.mark.parametrize("below", [0.0, 0.3, 5.0])
def test_what_a_real_ground_hides_does_not_count(file, below):
    photo = read_config(data_folder() / "render_configs" / "photo_fast.yaml")
    picture = sky_with_light(20, 45, 80.0)
    picture[:32] = below
    light = lit_by(photo, file.name, EnvironmentMap(file, picture), None).light
    ours, theirs = (one.sun_strength + one.rim_strength
                    + 2 * np.pi * one.sky_strength * np.array(one.sky_color) @ LUMINANCE
                    for one in (light, photo.light))
    assert ours == pytest.approx(theirs, rel=0.02)


def test_the_brighter_the_spot_the_harder_the_shadow(file):
    shares = [sun_share(lit(file, sky_with_light(20, 45, strength)).light)
              for strength in (0.3, 20.0, 400.0)]
    assert shares[0] < 0.01 < shares[1] < shares[2] < 1


def test_most_of_the_light_s_own_color_is_taken_out(file):
    red = lit(file, sky_with_light(20, 45, 0.3, (1.0, 0.5, 0.25)))
    color = np.array(red.light.sky_color)
    assert color[0] / color[2] == pytest.approx(4**0.15, rel=0.02)
    factors = np.array(world_of(red).balance)
    assert factors[2] / factors[0] == pytest.approx(4**0.85, rel=0.02)


def test_a_picture_counts_by_its_content_not_by_its_name(file, tmp_path):
    picture = sky_with_light(20, 45, 80.0)
    one = lit(file, picture)
    same = lit(write_hdr(tmp_path / "other.hdr", sky_with_light(-70, 40, 80.0)), picture)
    other = lit(write_hdr(tmp_path / "third.hdr", picture), picture)
    keys = [Rendering(config, "cpu").key for config in (PREVIEW, one, same, other)]
    assert keys[1] == keys[2] and len(set(keys)) == 3
    content = one.model_dump(mode="json")
    assert content["world"]["picture"] == "hall.hdr" and "file" not in content["world"]
    assert str(tmp_path) not in str(content)
    again = RenderConfig.model_validate(content)
    assert Rendering(again, "cpu").key == keys[1]


def test_a_black_picture_is_refused(file):
    with pytest.raises(RequestError, match=r"--light hall.hdr: the picture is black"):
        lit(file, np.zeros((64, 128, 3)))


@pytest.mark.parametrize("rows", [slice(0, 4), slice(0, 32)])
def test_a_picture_without_light_from_above_is_refused(file, rows):
    picture = np.zeros((64, 128, 3))
    picture[rows] = 5.0
    with pytest.raises(RequestError, match=r"--light hall.hdr: .* no light above the horizon"):
        lit(file, picture)
    assert lit(file, picture[::-1]).light.sun_from_deg[1] > 20


@pytest.mark.parametrize(("light", "words"), [
    ("fores", "city, courtyard, forest"), ("forest@900", "900"), ("a.png", "a.png: expected"),
    ("60", "AZIMUTH,ELEVATION"),
])
def test_what_is_no_light_is_refused_in_one_line(light, words):
    with pytest.raises(RequestError, match=words) as refused:
        RenderRequest.of(action="boxing", light=light)
    assert "\n" not in str(refused.value)


def test_pictures_and_the_place_s_light_exclude_each_other():
    with pytest.raises(RequestError, match="mutually exclusive"):
        RenderRequest.of(action="boxing", light="forest", harmonise=True).altering.config(PREVIEW)


def test_a_file_is_named_by_its_whole_path_elsewhere(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    request = RenderRequest.of(action="boxing", light="hall.hdr@-20")
    assert request.anywhere().light == f"{file.resolve()}@-20"
    assert RenderRequest.of(action="boxing", light="forest").anywhere().light == "forest"
    assert RenderRequest.of(action="boxing", light="60,40").anywhere().light == (60, 40)


@pytest.mark.engines
def test_blender_reads_files_and_has_lights_of_its_own(file):
    found = read_environment_map(str(file))
    assert found.file == file
    assert found.light == pytest.approx(sky_with_light(-70, 40, 80.0), rel=0.02)
    config = Altering.of(light="forest@30").config(PREVIEW)
    assert config.name == "preview_light_forest30" and config.light.sun_from_deg[0] == 30
    file = world_of(config).file
    assert file is not None and file.is_file()
    assert direction_from(*config.light.sun_from_deg)[2] > 0.3


@pytest.mark.engines
@pytest.mark.parametrize(("name", "content", "words"), [
    ("none.hdr", None, "no such file"), ("text.hdr", b"just words", "cannot read it"),
    ("text.exr", b"just words", "cannot read it"),
    ("square.hdr", sky_with_light(0, 40, 9.0)[:, :64], "64 x 64 pixels; a picture of all"),
])
def test_what_is_no_such_picture_is_refused_in_one_line(tmp_path, name, content, words):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        write_hdr(path, content)
    with pytest.raises(RequestError, match=words) as refused:
        read_environment_map(str(path))
    assert "\n" not in str(refused.value) and str(path) in str(refused.value)


def test_lights_of_sun_and_sky_are_as_they_were():
    sunny = Altering.of(light=(60.0, 40.0)).config(PREVIEW)
    assert sunny.light == PREVIEW.light.model_copy(update={"sun_from_deg": (60.0, 40.0)})
    assert sunny.world is None and "world" not in sunny.model_dump()
    assert replace(Altering.of(), tempo=1.0).config(PREVIEW) == PREVIEW
