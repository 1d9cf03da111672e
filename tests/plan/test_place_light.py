"""Figures lit as their places are: sets by lamps and sky, photographs as they were measured."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from made_pictures import FACTS, GROUND
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background, PhotoLight, Picture, read_background
from mimegen.compositing.color import LUMINANCE, Shade, bytes_to_linear, linear_to_bytes
from mimegen.compositing.compose import Compositor
from mimegen.library.catalogue import Catalogue
from mimegen.library.photos.light import BRIGHTEST, DIMMEST, measured_tint
from mimegen.library.takes import library_take
from mimegen.plan.clips import PlannedClip
from mimegen.plan.lighting import PlaceLight, place_light
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.shots.config import read_config
from mimegen.shots.shadow import ground_shadow
from mimegen.shots.shadow_light import sun_share, suns_of
from mimegen.store.frames import Frame

CATALOGUE = Catalogue.with_libraries(())
CONFIG = read_config(data_folder() / "render_configs" / "draft.yaml")


def of_set(name: str, **changes):
    background = read_background(data_folder() / "backgrounds" / f"{name}.yaml")
    assert background.set is not None
    lit = place_light(background.model_copy(
        update={"set": background.set.model_copy(update=changes)}), CONFIG, 0.0)
    assert lit is not None
    return lit


@pytest.fixture(scope="module")
def gym() -> PlaceLight:
    return of_set("gym")


@pytest.fixture(scope="module")
def beach() -> PlaceLight:
    return of_set("beach")


@pytest.mark.slow
def test_outdoors_the_sun_stays_and_indoors_lamps_light_from_above(beach, gym):
    beach, hall = beach.light, gym.light
    assert beach.sun_from_deg == hall.sun_from_deg == CONFIG.light.sun_from_deg
    assert beach.lamps is None and hall.lamps is not None
    assert hall.lamps.from_deg[1] > 70 and hall.lamps.size_deg > 60
    assert hall.lamps.color[0] > 1.03 > 0.95 > hall.lamps.color[2]
    assert np.array(hall.lamps.color) @ LUMINANCE == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_a_set_of_twice_the_light_lights_twice_as_much(beach):
    once = read_background(data_folder() / "backgrounds" / "beach.yaml").set
    assert once is not None
    sun, sky = (part.model_copy(update={"strength": 2 * part.strength})
                for part in (once.sun, once.sky))
    one, two = beach.light, of_set("beach", sun=sun, sky=sky).light
    assert two.sun_strength == pytest.approx(2 * one.sun_strength, abs=0.02)
    assert two.sky_strength == pytest.approx(2 * one.sky_strength, abs=0.02)


@pytest.mark.slow
def test_what_lies_around_throws_its_color_on_who_stands_there(beach):
    grass, sand = of_set("soccer_field").light, beach.light
    assert grass.ground_color is not None and sand.ground_color is not None
    assert grass.ground_color[1] > 1.5 * max(grass.ground_color[0], grass.ground_color[2])
    assert sand.ground_color[0] > sand.ground_color[1] > sand.ground_color[2]


def test_a_photographs_sun_stays_where_it_is_seen_from_its_camera():
    picture = Picture(file=Path("x.jpg"), horizon=0.4, camera_height_m=1.6, ground=GROUND,
                      light=PhotoLight(tint=(1.1, 1.0, 0.8), sun_from_deg=(-60, 35)))
    background = Background(**FACTS, picture=picture)
    for angle, azimuth in ((0.0, -11.5), (90.0, 78.5), (270.0, -101.5)):
        lit = place_light(background, CONFIG, angle)
        assert lit is not None and lit.light.sun_from_deg == pytest.approx((azimuth, 35))
    dark = background.model_copy(update={"picture": picture.model_copy(update={"light": None})})
    assert place_light(dark, CONFIG, 0.0) is None


def planned(variants: str, follow: bool) -> Plan:
    cells = parse_variants(variants, set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    take = library_take(CATALOGUE.action("boxing"), None, 0)
    return make_plan(CATALOGUE, [take], cells, CONFIG, "opengl", follow_place=follow)


def clips_of(plan: Plan) -> list[PlannedClip]:
    return [clip for part in plan.castings() for clip in part.clips]


VARIANTS = "base+blank@0,base+beach@0,base+beach@90,base+gym@0"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(VARIANTS, True)


@pytest.mark.slow
def test_light_follows_the_place_where_one_asks_and_changes_nothing_else(plan):
    equal, placed = clips_of(planned(VARIANTS, False)), clips_of(plan)
    assert len({clip.shot.key for clip in equal}) == 2
    assert len({clip.shot.key for clip in placed}) == 4
    for one, other in zip(equal, sorted(placed, key=lambda clip: VARIANTS.find(
            str(clip.variant))), strict=True):
        assert one.variant == other.variant
        assert one.shot.rendering.set_key == other.shot.rendering.set_key
        followed = one.chosen.name != "blank"
        assert (one.key != other.key) is followed
        assert (one.sample_id != other.sample_id) is followed
        assert (other.tint is not None) is followed
    for part in plan.castings():
        assert len({shot.rendering.figures_config.light for shot in part.shots}) == 1


def test_a_tint_is_laid_on_the_figures_light_alone():
    figure = np.full((4, 4, 4), 128, np.uint8)
    figure[..., 3] = [[255, 255, 128, 0]] * 4
    frame = Frame((8, 8), figure, (2, 2), np.zeros((0, 0), np.uint8), (0, 0))
    behind = np.full((8, 8, 3), 0.5, np.float32)
    plain = Compositor(behind).compose(frame)
    tinted = Compositor(behind, (1.5, 1.0, 0.5)).compose(frame)
    light = bytes_to_linear(np.full(3, 128, np.uint8)) * np.array([1.5, 1, 0.5])
    assert tinted[3, 2].tolist() == linear_to_bytes(light.astype(np.float32)).tolist()
    assert np.array_equal(tinted[0], plain[0]) and np.array_equal(tinted[:, 5:], plain[:, 5:])
    assert tinted[3, 4, 0] > plain[3, 4, 0] and tinted[3, 4, 2] < plain[3, 4, 2]


def test_a_shadow_takes_the_suns_color_from_the_ground_and_then_the_skys():
    shadow = np.array([[0, 51, 102, 255]], np.uint8)
    frame = Frame((4, 1), np.zeros((0, 0, 4), np.uint8), (0, 0), shadow, (0, 0))
    behind = np.full((1, 4, 3), 0.5, np.float32)
    seen = Compositor(behind, shade=Shade((0.9, 0.5, 0.2), 0.4, 0.8)).compose(frame)[0]
    half, whole = (linear_to_bytes((0.5 * (1 - share * np.array([0.9, 0.5, 0.2]))
                                    ).astype(np.float32)) for share in (0.5, 1.0))
    assert np.abs(seen[1].astype(int) - half).max() <= 1
    assert np.abs(seen[2].astype(int) - whole).max() <= 1
    assert seen[3].max() == 0 and np.array_equal(seen[0], Compositor(behind).empty[0, 0])


def test_the_skys_faint_shadow_is_partly_filled_and_no_other() -> None:
    shadow = np.array([[0, 13, 25, 51, 102, 140, 178]], np.uint8)
    frame = Frame((7, 1), np.zeros((0, 0, 4), np.uint8), (0, 0), shadow, (0, 0))
    behind = np.full((1, 7, 3), 0.5, np.float32)
    # All of the suns' light is missing at 0.5, and the sky's from there to 0.7.
    seen = Compositor(behind, shade=Shade((0.8, 0.8, 0.8), 0.5, 0.7)).compose(frame)[0, :, 0]
    missing = 1 - bytes_to_linear(seen) / bytes_to_linear(seen)[0]
    as_much = np.interp(shadow[0] / 255, (0, 0.5, 0.7), (0, 0.8, 1))
    assert missing[1:3] == pytest.approx(0.7 * as_much[1:3], abs=0.01)
    assert missing[3:] == pytest.approx(as_much[3:], abs=0.01)


def test_shadows_in_the_open_keep_the_skys_color(beach):
    red, green, blue = beach.shade.sun
    assert 1 > red > green > blue > 0.4
    assert beach.shade.part < beach.shade.whole == CONFIG.shadow.strength


@pytest.mark.slow
def test_where_no_sun_shines_shadows_take_nothing_of_its_color(beach):
    assert beach.shade.tint == pytest.approx(np.array(beach.shade.sun) / beach.shade.part, abs=1e-3)
    plain = read_background(data_folder() / "backgrounds" / "beach.yaml").set
    assert plain is not None
    overcast = of_set("beach", sun=plain.sun.model_copy(update={"strength": 0.0}))
    assert overcast.shade.part == 0.0 and overcast.shade.tint == (0.0, 0.0, 0.0)


def test_a_shadow_under_lamps_is_softer_than_the_suns_and_both_fall(gym):
    hall = gym.light
    assert hall.lamps is not None
    shares = [sun.share for sun in suns_of(hall)]
    assert len(shares) == 2 and sum(shares) == pytest.approx(sun_share(hall))
    column = np.array([[x, 0, height] for height in np.arange(0.0, 1.8, 0.005)
                       for x in np.arange(-0.1, 0.1, 0.01)], np.float32)

    def missing_before(size_deg: float) -> float:
        assert hall.lamps is not None
        lamps = hall.lamps.model_copy(update={"size_deg": size_deg})
        shadow = ground_shadow(column, hall.model_copy(update={"lamps": lamps}), 0.02)
        across, row = ((np.array([0.0, -0.3]) - shadow.corner) / shadow.cell_m).round().astype(int)
        return float(shadow.missing[row, across])

    assert missing_before(90.0) > missing_before(10.0) + 0.05


def test_the_measured_light_follows_the_color_and_strength_of_known_light():
    rng = np.random.default_rng(3)
    grays = np.repeat(rng.uniform(0.05, 0.55, (12, 18, 1)), 3, axis=2)
    scene = np.kron(grays, np.ones((24, 24, 1))).astype(np.float32)
    plain = np.array(measured_tint(Image.fromarray(linear_to_bytes(scene))))
    assert plain == pytest.approx([1, 1, 1], abs=0.1)
    for light in ((1.3, 1.0, 0.6), (0.7, 0.75, 0.9), (0.5, 0.5, 0.5)):
        seen = measured_tint(Image.fromarray(linear_to_bytes(scene * np.array(light, np.float32))))
        assert np.array(seen) / plain == pytest.approx(light, rel=0.03)
    night = measured_tint(Image.fromarray(linear_to_bytes(scene * np.float32(0.01))))
    snow = measured_tint(Image.new("RGB", (400, 300), (250, 250, 250)))
    assert np.array(night) @ LUMINANCE == pytest.approx(DIMMEST, rel=0.05)
    assert np.array(snow) @ LUMINANCE == pytest.approx(BRIGHTEST, rel=0.01)


@pytest.mark.slow
def test_clips_tints_reach_the_workers(plan):
    clip, = (clip for clip in clips_of(plan) if str(clip.variant) == "base+gym@0")
    assert clip.tint is not None
    assert replace(clip, tint=(0.5, 1.0, 1.0)).key != clip.key
