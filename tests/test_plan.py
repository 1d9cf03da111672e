"""Plans: how many clips, which, and under which keys, without making anything."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import SeededTakes, library_take
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import Variant, parse_variants
from mimegen.stage.config import RenderConfig, read_config
from mimegen.store.store import Store

CATALOGUE = Catalogue.with_libraries(())
CONFIG = read_config(CATALOGUE.file("config", "preview"))


def takes_of(*actions: str, seeds: range = range(1)) -> SeededTakes:
    return SeededTakes(tuple(library_take(CATALOGUE.action(action), None, seeds[0])
                             for action in actions), seeds)


def cells_of(variants: str, catalogue: Catalogue = CATALOGUE) -> list[Variant]:
    return parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))


def plan_of(takes: SeededTakes, variants: str, config: RenderConfig = CONFIG,
            device: str = "cpu", catalogue: Catalogue = CATALOGUE) -> Plan:
    return make_plan(catalogue, takes, cells_of(variants, catalogue), config, device)


@pytest.mark.parametrize(("variants", "clips", "shots", "displays"), [
    ("all", 10, 6, 0), ("angles", 4, 4, 0), ("pointlight", 0, 0, 3),
    ("base+blank@0,man+blank@0", 1, 1, 0), ("base+blank@0,pointlight@0", 1, 1, 1),
    ("base+blank@0,base+beach@0,base+blank@45", 3, 2, 0),
])
def test_a_plan_knows_its_length_before_it_is_walked(variants: str, clips: int, shots: int,
                                                     displays: int) -> None:
    plan = plan_of(takes_of("basketball", "shake_hands", seeds=range(3, 7)), variants)
    assert (plan.clips, plan.shots, plan.displays) == (8 * clips, 8 * shots, 8 * displays)
    walked = list(plan)
    assert len(plan) == len(walked) == len({clip.sample_id for clip in walked})
    assert len({clip.key for clip in walked}) == len(walked)
    assert plan.shots == len({shot.key for part in plan.castings() for shot in part.shots})


def test_walking_a_plan_twice_gives_the_same_clips() -> None:
    plan = plan_of(takes_of("boxing", seeds=range(5)), "all")
    assert [clip.key for clip in plan] == [clip.key for clip in plan]


def test_a_million_clips_are_not_held() -> None:
    plan = plan_of(takes_of("boxing", "archery", seeds=range(50_000)), "all")
    assert len(plan) == 1_000_000
    assert next(iter(plan)).sample_id.startswith("boxing-boxing-seed0-man-blank-0-")


def test_seeded_takes_are_a_sequence() -> None:
    takes = takes_of("boxing", "archery", seeds=range(2, 5))
    assert [(take.action, take.seed) for take in takes] == [
        (action, seed) for action in ("boxing", "archery") for seed in (2, 3, 4)]
    assert takes[-1].seed == 4 and [take.seed for take in takes[1:3]] == [3, 4]
    with pytest.raises(IndexError):
        takes[6]


def keys(plan: Plan) -> dict[str, set[str]]:
    return {"shots": {shot.key for part in plan.castings() for shot in part.shots},
            "clips": {clip.key for clip in plan}}


CHANGES: dict[str, dict[str, Any]] = {
    "light": {"light": CONFIG.light.model_copy(update={"sun_strength": 1.25})},
    "camera": {"camera": CONFIG.camera.model_copy(update={"lens_mm": 35.0})},
    "sampling": {"sampling": CONFIG.sampling.model_copy(update={"samples": 3})},
    "shadow": {"shadow": CONFIG.shadow.model_copy(update={"strength": 0.1})},
    "size": {"width": 320, "height": 180},
    "fps": {"fps": 12.0},
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_pixels_changes_shots_and_clips(name: str) -> None:
    before = keys(plan_of(takes_of("boxing"), "all"))
    after = keys(plan_of(takes_of("boxing"), "all", CONFIG.model_copy(update=CHANGES[name])))
    assert not before["shots"] & after["shots"] and not before["clips"] & after["clips"]


def test_another_device_seed_style_partner_or_angle_is_another_shot() -> None:
    takes = takes_of("shake_hands")
    take = takes[0]
    assert isinstance(take, ScoreTake)
    cell = cells_of("base+blank@0")
    plans = [
        make_plan(CATALOGUE, [take], cell, CONFIG, "cpu"),
        make_plan(CATALOGUE, [take], cell, CONFIG, "optix"),
        make_plan(CATALOGUE, [replace(take, seed=1)], cell, CONFIG, "cpu"),
        make_plan(CATALOGUE, [replace(take, style="tired")], cell, CONFIG, "cpu"),
        make_plan(CATALOGUE, [take], cell, CONFIG, "cpu", partner="spacesuit"),
        make_plan(CATALOGUE, [take], cell, CONFIG, "cpu", performer="random:4"),
        make_plan(CATALOGUE, [take], cell, CONFIG, "cpu", performer="lights:man"),
        make_plan(CATALOGUE, [take], cell, CONFIG, "cpu", partner="lights:woman"),
        plan_of(takes, "base+blank@30"),
    ]
    assert len(set.union(*(keys(plan)["shots"] for plan in plans))) == len(plans)


def test_the_words_about_a_config_change_nothing() -> None:
    worded = CONFIG.model_copy(update={"description": "another"})
    assert keys(plan_of(takes_of("boxing"), "all", worded)) == keys(
        plan_of(takes_of("boxing"), "all"))


def test_sampling_of_sets_changes_clips_and_stills_but_no_shot() -> None:
    finer = CONFIG.model_copy(update={
        "set_sampling": CONFIG.set_sampling.model_copy(update={"samples": 7})})
    before, after = (plan_of(takes_of("boxing"), "base+aligned@0", config)
                     for config in (CONFIG, finer))
    assert keys(before)["shots"] == keys(after)["shots"]
    assert not keys(before)["clips"] & keys(after)["clips"]


def test_an_edited_background_changes_its_clips_alone(tmp_path: Path) -> None:
    found = []
    for red in (0.1, 0.2):
        publish(tmp_path / "backgrounds" / "wall.yaml", yaml.safe_dump({
            "name": "wall", "description": "", "licence": "CC0-1.0", "author": "", "source": "",
            "color": [red, 0.5, 0.5]}))
        plan = plan_of(takes_of("boxing"), "base+wall@0,base+blank@0",
                       catalogue=Catalogue.with_libraries((tmp_path,)))
        found.append([(clip.key, clip.shot.key) for part in plan.castings() for clip in part.clips])
    (wall, wall_shot), (blank, _) = found[0]
    (wall_again, shot_again), (blank_again, _) = found[1]
    assert wall != wall_again and blank == blank_again and wall_shot == shot_again


def test_a_background_nobody_knows_is_left_out_of_a_group_and_refused_by_name(
        tmp_path: Path) -> None:
    take = replace(takes_of("boxing")[0], aligned=None)  # type: ignore[type-var]
    group = cells_of("all")
    plan = make_plan(CATALOGUE, [take], group, CONFIG, "cpu")
    assert plan.clips == 8 and len(plan.left_out) == 2
    assert "base+aligned@0 needs to know a background; say --aligned NAME" in plan.left_out[0]
    named = cells_of("base+aligned@0")
    with pytest.raises(RequestError, match="--aligned NAME"):
        make_plan(CATALOGUE, [take], named, CONFIG, "cpu")


def test_a_store_of_before_is_still_read(tmp_path: Path) -> None:
    key = "ab" + 62 * "0"
    old = tmp_path / "clips" / f"{key}.json"
    publish(old, '{"sample_id": "x"}')
    assert Store(tmp_path).clip_row(key) == {"sample_id": "x"}
    Store(tmp_path).record_clip("cd" + 62 * "1", {"sample_id": "y"})
    assert (tmp_path / "clips" / "cd").is_dir() and old.exists()
