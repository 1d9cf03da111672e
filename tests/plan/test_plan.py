"""Plans: how many clips, which, and under which keys, without making anything."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import yaml

from bodies import capsule_character, wandering_motion
from mimegen.base.blender import blender_version
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.characters.character import Performance
from mimegen.farm.task import Task
from mimegen.library.catalogue import Catalogue
from mimegen.library.foot_contacts import contacts_code
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import SeededTakes, library_take
from mimegen.manifest.left_out import lines_of
from mimegen.plan.clips import DisplayClip, PlannedClip
from mimegen.plan.keys import sweeping_code
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.shots import camera_of
from mimegen.plan.staging import Filmed
from mimegen.plan.variants import Variant, parse_variants
from mimegen.pointlight.presets import read_display
from mimegen.production.render import BYTES_PER_PIXEL, prepare_folders
from mimegen.production.tasks import casting_tasks, complete_facts
from mimegen.scenery.job import SetJob
from mimegen.scenery.swept import GroundGrid, Swept
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import ShotJob
from mimegen.store.shotfacts import ShotFacts
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


@pytest.mark.slow
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


def test_a_partner_with_another_body_changes_how_both_are_performed(tmp_path: Path) -> None:
    found = []
    for height in (1.7, 1.8):
        person = yaml.safe_load(CATALOGUE.file("character", "woman").read_text())
        publish(tmp_path / "rigs" / "friend.yaml", yaml.safe_dump(
            person | {"name": "friend", "phenotype": person["phenotype"] | {"height": height}}))
        plan = make_plan(Catalogue.with_libraries((tmp_path,)), takes_of("shake_hands"),
                         cells_of("base+blank@0,pointlight@0"), CONFIG, "cpu",
                         partner=str(tmp_path / "rigs" / "friend.yaml"))
        part, = plan.castings()
        found.append((part.casting.key, part.displays[0].key, part.clips[0].shot.key))
    assert all(one != other for one, other in zip(*found, strict=True))


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


def only_line(plan: Plan) -> str:
    line, = lines_of(plan.left_out)
    return line


def test_a_variant_that_shows_the_same_as_another_is_named_once_for_all_takes() -> None:
    takes = [*takes_of("boxing"), *takes_of("violin")]
    plan = make_plan(CATALOGUE, takes, cells_of("all"), CONFIG, "cpu", performer="woman")
    assert plan.clips == 2 * 9
    assert only_line(plan) == "woman+blank@0 shows the same as base+blank@0"
    assert [(one.action, one.variants) for one in plan.left_out] == [
        ("boxing", ("woman+blank@0",)), ("playing_violin", ("woman+blank@0",))]
    assert not make_plan(CATALOGUE, takes, cells_of("all"), CONFIG, "cpu").left_out


def test_a_background_nobody_knows_is_left_out_of_a_group_and_refused_by_name(
        tmp_path: Path) -> None:
    take = replace(takes_of("boxing")[0], aligned=None)  # type: ignore[type-var]
    group = cells_of("all")
    plan = make_plan(CATALOGUE, [take], group, CONFIG, "cpu")
    assert plan.clips == 8
    reason = only_line(plan)
    assert "no background is known for base+aligned@0, adversarial+aligned@0; add" in reason
    assert "--aligned NAME" in reason and "--misaligned" not in reason
    assert "mimegen list actions" in reason and "did you mean" not in reason
    unknown = replace(take, labels=("dancin",))  # type: ignore[type-var]
    meant = only_line(make_plan(CATALOGUE, [unknown], group, CONFIG, "cpu"))
    assert "(--label for a motion file) (did you mean dancing" in meant
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


def displays_of(plan: Plan) -> list[DisplayClip]:
    return [display for part in plan.castings() for display in part.displays]


def clips_of(plan: Plan) -> list[PlannedClip]:
    return [clip for part in plan.castings() for clip in part.clips]


def test_clips_are_named_after_all_that_tells_them_apart() -> None:
    clips = clips_of(plan_of(takes_of("boxing"), "base+blank@0,woman+aligned@90,man+beach@12.5"))
    assert [clip.sample_id for clip in clips] == [
        "boxing-boxing-seed0-man-blank-0-preview", "boxing-boxing-seed0-man-beach-12.5-preview",
        "boxing-boxing-seed0-woman-aligned-90-preview"]
    assert [clip.chosen.kind for clip in clips] == ["blank", "named", "aligned"]
    aligned = CATALOGUE.action("boxing").action.aligned_background
    assert [clip.chosen.name for clip in clips] == ["blank", "beach", aligned]
    dots = displays_of(plan_of(takes_of("boxing"), "pointlight:inverted@90"))
    assert [one.sample_id for one in dots] == [
        "boxing-boxing-seed0-man-pointlight_inverted-90-preview"]


@pytest.mark.parametrize(("variant", "members"), [
    ("base+blank@0", "man_and_woman"), ("woman+blank@0", "woman_and_man"),
    ("adversarial+blank@0", "spacesuit_and_spacesuit"),
    ("lights+blank@0", "man_lights_and_woman_lights"), ("pointlight@0", "man_and_woman"),
])
def test_the_second_person_of_a_scene(variant: str, members: str) -> None:
    part, = plan_of(takes_of("shake_hands"), variant).castings()
    assert part.casting.name == members


def test_who_stands_in_for_base_leaves_others_and_single_people_have_no_partner() -> None:
    takes = takes_of("boxing", "shake_hands")
    plan = make_plan(CATALOGUE, takes, cells_of("base+blank@0,woman+blank@0"), CONFIG, "cpu",
                     performer="random:4", partner="spacesuit")
    assert [part.casting.name for part in plan.castings()] == [
        "random_4", "woman", "random_4_and_spacesuit", "woman_and_spacesuit"]


def test_dots_have_the_configs_picture_unless_their_display_has_its_own() -> None:
    plain, own = displays_of(plan_of(takes_of("boxing"), "pointlight@0,pointlight:troje@0"))
    assert (plain.display.width, plain.display.height, plain.display.fps) == (
        CONFIG.width, CONFIG.height, CONFIG.fps)
    assert plain.display.dot_diameter == f"{0.014 * CONFIG.height:.4g}px"
    assert not plain.has_own_camera and own.has_own_camera
    theirs = read_display("troje")
    assert (own.display.width, own.display.height, own.display.fps) == (
        theirs.width, theirs.height, theirs.fps)
    other_view = CONFIG.model_copy(update=CHANGES["camera"])
    seen, seen_own = displays_of(plan_of(takes_of("boxing"), "pointlight@0,pointlight:troje@0",
                                         other_view))
    assert seen.key != plain.key and seen_own.key == own.key


def test_another_display_seed_angle_or_dot_set_is_another_display() -> None:
    words = ("pointlight@0", "pointlight@90", "pointlight:inverted@0",
             "pointlight:dots=johansson@0")
    plan = plan_of(takes_of("boxing", seeds=range(2)), ",".join(words))
    assert len({one.key for one in displays_of(plan)}) == 2 * len(words)


def test_stills_are_shared_by_what_sees_a_set_alike() -> None:
    seen = Filmed(Camera((0.0, -5.0, 1.5), (0.7, 0.7, 0.0, 0.0), 50.0, 64, 36))
    plain, aligned = clips_of(plan_of(takes_of("boxing"), "base+blank@0,base+aligned@0"))
    key = aligned.still_key(seen)
    assert plain.still_key(seen) is None and key is not None
    other, = clips_of(plan_of(takes_of("boxing", seeds=range(7, 8)), "woman+aligned@90"))
    assert other.still_key(seen) == key
    assert aligned.still_key(Filmed(replace(seen.camera, position=(0.0, -5.0, 1.6)))) != key
    for change in (CHANGES["light"], {"set_sampling": CONFIG.set_sampling.model_copy(
            update={"samples": 7})}):
        changed, = clips_of(plan_of(takes_of("boxing"), "base+aligned@0",
                                    CONFIG.model_copy(update=change)))
        assert changed.still_key(seen) != key
    elsewhere, = clips_of(plan_of(takes_of("boxing"), "base+aligned@0", device="optix"))
    assert elsewhere.still_key(seen) != key and elsewhere.key != aligned.key
    other_set, = clips_of(plan_of(takes_of("boxing"), "base+misaligned@0"))
    assert other_set.still_key(seen) not in (None, key)
    named, = clips_of(plan_of(takes_of("boxing"), f"base+{aligned.chosen.name}@0"))
    assert named.still_key(seen) == key and named.key != aligned.key


@pytest.mark.slow
def test_a_set_has_a_still_of_its_own_only_where_something_was_in_the_performers_way() -> None:
    aligned, = clips_of(plan_of(takes_of("boxing"), "base+aligned@0"))
    camera = Camera((0.0, -5.0, 1.5), (0.7, 0.7, 0.0, 0.0), 50.0, 64, 36)
    keys = []
    for reach in (5, 40):
        square = np.stack(np.meshgrid(*2 * [np.arange(-reach, reach)]), axis=-1).reshape(-1, 2)
        facts = {"camera": asdict(camera), "swept": Swept(GroundGrid.of(square), 2.0).content()}
        filmed = aligned.filmed(cast(ShotFacts, facts))
        assert filmed.changes.changes_anything == (reach == 40)
        assert (aligned.scenery(filmed) == aligned.background.set) == (reach == 5)
        keys.append(aligned.still_key(filmed))
    assert keys[0] == aligned.still_key(Filmed(camera)) != keys[1]
    assert aligned.still_key(aligned.filmed(cast(ShotFacts, {"camera": asdict(camera)}))) == keys[0]


def test_what_older_versions_recorded_of_a_shot_is_recorded_anew_for_sets_alone() -> None:
    plain, aligned = clips_of(plan_of(takes_of("boxing"), "base+blank@0,base+aligned@0"))
    feet, route = {"code": contacts_code()}, {"code": sweeping_code()}
    today = cast(ShotFacts, {"feet": feet, "swept": route})
    for facts in (cast(ShotFacts, {"feet": feet}),
                  cast(ShotFacts, {"feet": feet, "swept": {"code": "another"}})):
        assert complete_facts(facts, [plain]) == facts and complete_facts(facts, [aligned]) is None
    assert complete_facts(today, [plain, aligned]) == today
    # Without a record of when feet stand, every shot is recorded anew.
    assert complete_facts(cast(ShotFacts, {"swept": route}), [plain]) is None
    assert complete_facts(None, [plain]) is None


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stills_first"), [("draft", 1), ("preview", 2)])
def test_stills_come_before_frames_but_those_of_drafts_find_programs_compiled(
        name: str, stills_first: int, tmp_path: Path) -> None:
    plan = plan_of(takes_of("basketball_shot"), "adversarial+aligned@0,adversarial+misaligned@0",
                   read_config(CATALOGUE.file("config", name)))
    store = Store(tmp_path / "store")
    prepare_folders(plan, store, tmp_path)
    part, = plan.castings()
    jobs = [type(work.job) for work in casting_tasks(part, store, set(), lambda name: 1000)
            if isinstance(work, Task)]
    stills = [SetJob] * stills_first
    assert jobs == [*stills, ShotJob, *[SetJob] * (2 - stills_first)]


@pytest.mark.slow
def test_what_is_recorded_of_a_shot_gives_its_camera_back() -> None:
    shot = clips_of(plan_of(takes_of("boxing", seeds=range(3, 4)), "base+blank@90"))[0].shot
    body = capsule_character(4, 3)
    scene = (Performance(body, wandering_motion(body.skeleton, 12, 4, 1.0)),)
    facts = json.loads(json.dumps(shot.facts(scene)))
    assert camera_of(facts) == frame_camera(scene, CONFIG, 90.0)
    assert repr(facts["angle"]) == "90"
    assert facts.items() >= {
        "action": "boxing", "seed": 3, "avatar": "man", "frames": 12, "fps": CONFIG.fps,
        "width": CONFIG.width, "height": CONFIG.height, "character_source": body.source,
        "character_licence": body.licence, "character_height_m": round(body.height, 4),
        "device": "cpu", "blender_version": blender_version(),
        "character_key": shot.casting.looks[0]}.items()
    assert replace(shot, angle=12.5).facts(scene)["angle"] == 12.5
    assert "partner_character_licence" not in facts
    partner = replace(scene[0], character=replace(body, source="a shop", licence="no reselling"))
    assert shot.facts((*scene, partner)).items() >= {
        "character_licence": body.licence, "partner_character_source": "a shop",
        "partner_character_licence": "no reselling"}.items()


def test_a_background_that_cannot_be_read_is_refused_before_anything_is_made(
        tmp_path: Path) -> None:
    publish(tmp_path / "backgrounds" / "wall.yaml", "name: wall\ncolour: [0, 0, 0]\n")
    with pytest.raises(RequestError, match=r"wall\.yaml"):
        plan_of(takes_of("boxing"), "base+wall@0",
                catalogue=Catalogue.with_libraries((tmp_path,)))


def test_dots_need_no_background() -> None:
    take = replace(takes_of("boxing")[0], misaligned=None)  # type: ignore[type-var]
    plan = make_plan(CATALOGUE, [take], cells_of("pointlight@0,mime"), CONFIG, "cpu")
    assert (plan.clips, plan.displays) == (8, 1)
    reason = only_line(plan)
    assert reason.startswith("boxing: no background is known for base+misaligned@0,"
                             " adversarial+misaligned@0; add --misaligned NAME")


def test_space_is_asked_for_all_shots_that_are_not_begun(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, store = plan_of(takes_of("boxing"), "angles"), Store(tmp_path / "store")
    one = BYTES_PER_PIXEL * CONFIG.width * CONFIG.height * CONFIG.fps
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=3.5 * one))
    with pytest.raises(RequestError, match="these 4 shots"):
        prepare_folders(plan, store, tmp_path)
    store.record_shot(next(plan.castings()).shots[0].key, {"frames": 1})
    prepare_folders(plan, store, tmp_path)
