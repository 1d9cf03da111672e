"""How much of its place a clip shows, and what is done where that is hardly anything."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from made_pictures import FACTS, GROUND, camera_at, picture_file
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import background_key, read_background
from mimegen.compositing.scene_visibility import photograph_shown
from mimegen.compositing.video import ClipFacts
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.background_visibility import (
    MIN_SHOWN_SHARE,
    background_shown,
    standing_camera,
    too_little_shown,
)
from mimegen.plan.clips import PlannedClip
from mimegen.plan.permute.declaration import Declaration
from mimegen.plan.permute.designs import design_of
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.plan.view import ViewOverrides
from mimegen.production.rows import clip_row
from mimegen.scenery.place_visibility import TellingSet
from mimegen.scenery.scenery import Scenery
from mimegen.shots.config import RenderConfig, read_config
from permuting import AllGood, known_space
from running import invoke

pytestmark = pytest.mark.slow

CATALOGUE = Catalogue.with_libraries(())
DRAFT = read_config(data_folder() / "render_configs" / "draft.yaml")
# It looks along +Y from before the performer, 1 m above the ground.
LEVEL = camera_at((0.0, -8.0, 1.0), 0.0, 36.0, 320, 180)
LOW = camera_at((0.0, -6.0, 1.3), 4.0, 50.0, 640, 360)
SIGN: dict[str, Any] = {"kind": "box", "size": [2, 0.1, 1], "at": [0, 8, 0.5], "material": "sign"}


def high(elevation: float):
    return ViewOverrides(elevation=elevation).of(DRAFT)


def set_of(*objects: dict[str, Any], **parts: Any) -> Scenery:
    look = {"color": "#808080"}
    return Scenery.model_validate({
        "sky": {"zenith": "#ffffff", "horizon": "#ffffff", "ground": "#808080", "strength": 1},
        "sun": {"strength": 1, "color": "#ffffff"},
        "materials": {"sign": look, "plain": look, "glass": look | {"opacity": 0.4}},
        "objects": objects, **parts})


def shown(*objects: dict[str, Any], tells: str = "sign", camera=LEVEL, **parts: Any) -> float:
    return TellingSet(set_of(*objects, **parts), frozenset([tells])).shown(camera)


def of_view(name: str, config: RenderConfig, angle: float) -> float:
    file = CATALOGUE.backgrounds[name]
    found = background_shown(read_background(file), background_key(file),
                             standing_camera(config, angle), angle)
    assert found is not None
    return found


def of_set(name: str, elevation: float) -> float:
    return of_view(name, high(elevation), 0.0)


def clip_of(variant: str, elevation: float) -> PlannedClip:
    variants = parse_variants(variant, set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    take = library_take(CATALOGUE.action("stop"), None, 0)
    clip, = make_plan(CATALOGUE, [take], variants, high(elevation), "opengl")
    assert isinstance(clip, PlannedClip)
    return clip


# ---------------------------------------------------------------- sets

def test_a_sign_takes_its_own_share_of_the_picture():
    # 16 m away, less half its depth, 36 mm of lens before 36 mm of film: as wide as it is far.
    expected = (2 / 15.95) * (1 / (15.95 * 9 / 16))
    assert shown(SIGN) == pytest.approx(expected, rel=0.08)
    assert shown() == shown(SIGN, tells="plain") == 0.0


def test_what_is_hidden_is_not_shown_and_glass_hides_nothing():
    before = {"kind": "box", "size": [6, 0.1, 4], "at": [0, 5, 0], "material": "plain"}
    assert shown(SIGN, before) == 0.0
    assert shown(SIGN, before | {"material": "glass"}) == shown(SIGN)
    assert shown(SIGN, before | {"at": [0, 9, 0]}) == shown(SIGN)
    half = shown(SIGN, before | {"at": [3, 5, 0]})
    assert half == pytest.approx(shown(SIGN) / 2, rel=0.15)
    wall = {"corners": [[5, 6], [-5, 6]], "top": 4, "material": "plain"}
    assert shown(SIGN, walls=[wall]) == 0.0


@pytest.mark.parametrize("at", [[40, 8, 0.5], [0, -30, 0.5], [0, 8, 60]])
def test_what_lies_outside_the_view_is_not_shown(at):
    assert shown(SIGN | {"at": at}) == 0.0


def test_what_runs_from_behind_the_camera_into_view_is_shown():
    strip = {"kind": "box", "size": [2, 60, 0.002], "material": "sign"}
    near = {"kind": "box", "size": [2, 7.9, 0.002], "at": [0, -3.95, 0], "material": "sign"}
    assert shown(strip) > shown(near) > 0.05


def test_groups_tell_at_any_depth_and_by_their_copies():
    groups = {"board": [SIGN | {"material": "plain"}], "stand": [{"kind": "group", "of": "board"}]}
    one = {"kind": "group", "of": "stand"}
    two = one | {"at": [-2, 0, 0], "repeat": [{"count": 2, "step": [4, 0, 0]}]}
    for name in ("board", "stand"):
        assert shown(one, tells=name, groups=groups) == pytest.approx(shown(SIGN))
        assert shown(two, tells=name, groups=groups) == pytest.approx(2 * shown(SIGN), rel=0.1)


def test_what_stands_between_camera_and_performer_does_not_count():
    assert shown(SIGN | {"at": [0, -3, 0.5]}) == 0.0


def test_a_court_is_seen_from_low_and_hardly_from_high():
    for name in ("basketball_court", "soccer_field", "volleyball_court"):
        low = of_set(name, 9)
        assert low > 2.5 * MIN_SHOWN_SHARE and low > 3 * of_set(name, 30), name
    assert of_set("soccer_field", 30) < MIN_SHOWN_SHARE
    assert of_set("soccer_field", 9) == of_set("soccer_field", 9)


def test_every_set_says_what_tells_it_and_no_key_knows():
    for name, file in CATALOGUE.backgrounds.items():
        background = read_background(file)
        assert bool(background.tells) == (background.set is not None), name
    file = CATALOGUE.backgrounds["beach"]
    silent = read_background(file).model_copy(update={"tells": ()})
    camera = standing_camera(DRAFT, 0)
    assert background_shown(silent, background_key(file), camera, 0) is None
    blank = read_background(CATALOGUE.backgrounds["blank"])
    assert background_shown(blank, None, camera, 0) is None


def test_a_name_that_the_set_does_not_have_is_an_error_with_its_line(tmp_path):
    text = CATALOGUE.backgrounds["car_showroom"].read_text()
    file = tmp_path / "car_showroom.yaml"
    file.write_text(text.replace("tells: [car]", "tells:\n  - car\n  - tre"))
    line = 1 + file.read_text().splitlines().index("  - tre")
    with pytest.raises(RequestError, match=rf"line {line}: tells: .*'tre' \(did you mean tree"):
        read_background(file)
    same = tmp_path / "same.yaml"
    same.write_text(text.replace("tells: [car]", "tells: [bush]"))
    assert background_key(same) == background_key(CATALOGUE.backgrounds["car_showroom"])


def test_only_sets_say_what_tells_them(tmp_path):
    file = tmp_path / "gray.yaml"
    file.write_text(yaml.safe_dump(FACTS | {"color": [0.5, 0.5, 0.5], "tells": ["sky"]}))
    with pytest.raises(RequestError, match="tells: applies to sets only"):
        read_background(file)


# ---------------------------------------------------------------- photographs

def test_of_a_photograph_counts_what_is_above_its_ground(tmp_path):
    gray = np.full((1200, 1600, 3), 120, np.uint8)
    background = read_background(picture_file(tmp_path, gray, horizon=0.4))
    low = photograph_shown(background, LOW, 0.0)
    high = photograph_shown(background, camera_at((0.0, -6.0, 1.6), 8.0, 50.0, 640, 360), 0.0)
    assert 0.15 < high < low < 0.9
    wider = tuple((column, 0.7 if row == 0.6 else row) for column, row in GROUND)
    shorter = read_background(picture_file(tmp_path, gray, horizon=0.4, ground=wider))
    assert photograph_shown(shorter, LOW, 0.0) > low


def test_of_a_panorama_counts_what_is_above_its_horizon(tmp_path):
    Image.fromarray(np.full((1024, 2048, 3), 120, np.uint8)).save(tmp_path / "all.png")
    file = tmp_path / "all.yaml"

    def of_panorama(height_m, camera):
        file.write_text(yaml.safe_dump(FACTS | {
            "panorama": {"file": "all.png", "camera_height_m": height_m}}))
        return photograph_shown(read_background(file), camera, 90.0)

    assert of_panorama(1.0, LEVEL) == pytest.approx(0.5, abs=0.02)
    assert of_panorama(3.0, camera_at((0.0, -6.0, 3.0), 20.0, 50.0, 320, 180)) < 0.1


# ---------------------------------------------------------------- clips

def test_who_stands_is_framed_about_as_a_real_person_is():
    from mimegen.library.cast import cast_member
    from mimegen.pages.backgroundsheet import standing
    from mimegen.shots.framing import frame_camera

    man = standing(cast_member(CATALOGUE, "man").build())
    for elevation in (2.0, 30.0):
        real = np.array(frame_camera([man], high(elevation), 30.0).position)
        about = np.array(standing_camera(high(elevation), 30.0).position)
        assert np.linalg.norm(real - about) < 0.12 * np.linalg.norm(real)


def test_rows_say_how_much_is_shown_and_a_line_warns_where_it_is_hardly_anything():
    clip = clip_of("base+soccer_field@0", 30)
    scene = clip.shot.casting.perform(clip.shot.config.fps)
    facts = json.loads(json.dumps(clip.shot.facts(scene)))
    row = clip_row(clip, facts, ClipFacts(24, 640, 360, "0" * 64))
    assert row.background_shown is not None and row.background_shown < MIN_SHOWN_SHARE
    assert "in soccer_field: hardly anything" in too_little_shown(clip, facts)
    assert too_little_shown(clip) == too_little_shown(clip, facts)
    blank = replace(clip_of("base+blank@0", 30), shot=clip.shot)
    assert clip_row(blank, facts, ClipFacts(24, 640, 360, "0" * 64)).background_shown is None
    assert too_little_shown(blank, facts) == "" == too_little_shown(clip_of(
        "base+soccer_field@0", 9))


def test_plan_warns_once_per_casting_and_set(tmp_path):
    said = invoke("plan", "--action", "stop", "--variants",
                  "base+soccer_field@0,base+soccer_field@90,base+blank@0", "--elevation", "30",
                  "--config", "draft", "--out", tmp_path).output
    assert said.count("warning: ") == 1 and "soccer_field: hardly anything" in said


# ---------------------------------------------------------------- permutations

class Looks(AllGood):
    """Takes are not looked at, views are; what was found is not kept."""

    def place_findings(self, chosen, config, angle_deg):
        return GoodTakes.place_findings(self, chosen, config, angle_deg)

    def _keep(self, key):
        pass


def drawn_views(good: GoodTakes, count: int, *fixes: str) -> list[Declaration]:
    space = known_space(("soccer_shot",), "azimuth,elevation,lens", ("background=aligned", *fixes))
    return list(Drawing(space, design_of("random", space, 3), 3, good).declarations(count))


def hardly_shows(one: Declaration) -> bool:
    config = ViewOverrides(one.elevation, one.lens).of(read_config(
        data_folder() / "render_configs" / "standard.yaml"))
    return of_view(one.background, config, one.azimuth) < MIN_SHOWN_SHARE


def test_permutations_draw_another_camera_where_the_place_is_hardly_seen():
    before, after = drawn_views(AllGood(Path("none")), 12), drawn_views(Looks(Path("none")), 12)
    again = [new.view_redraws is not None for new in after]
    assert any(again) and again == [hardly_shows(old) for old in before]
    assert not any(hardly_shows(new) for new in after)
    assert after == drawn_views(Looks(Path("none")), 12)
    camera = {"azimuth", "elevation", "lens", "view_redraws"}
    for old, new in zip(before, after, strict=True):
        assert old.model_dump(exclude=camera) == new.model_dump(exclude=camera)
        assert new == old or new.view_redraws
        assert ("view_redraws" in new.content()) == (new.view_redraws is not None)


def test_a_camera_that_is_fixed_stays_and_what_was_found_is_known():
    good = Looks(Path("none"))
    space = known_space(("soccer_shot",), "azimuth", ("background=aligned", "elevation=30"))
    one, = Drawing(space, design_of("latin", space, 3), 3, good).declarations(1)
    assert one.elevation == 30 and one.view_redraws is None and hardly_shows(one)
    (found,), = good.known.values()
    assert found.startswith("shows 0.00") and found.endswith(" of its place")
    blank = known_space(("soccer_shot",), "azimuth", ("background=blank", "elevation=30"))
    list(Drawing(blank, design_of("latin", blank, 3), 3, good).declarations(2))
    assert all(not found for found in list(good.known.values())[1:])
