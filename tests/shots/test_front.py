"""The performer's front: what takes say of it, and cameras and rows that count from it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.angles import wrapped_deg
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.scene_take import scene_take
from mimegen.library.score_take import ScoreTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take, user_take
from mimegen.plan.front import CameraDirection, camera_azimuth
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.readers.canonical import heading_deg
from mimegen.readers.roles import find_roles
from mimegen.shots.config import read_config
from running import invoke, rows_of

CATALOGUE = Catalogue.with_libraries(())
# Retargeted people and seeds turn their hips and shoulders a little in their score's first moment.
TWISTED_DEG = 12.0


def plan_of(take: LibraryTake, variants: str, config: str = "preview") -> Plan:
    cells = parse_variants(variants, set(CATALOGUE.characters), set(CATALOGUE.backgrounds))
    return make_plan(CATALOGUE, [take], cells, read_config(CATALOGUE.file("config", config)), "cpu")


@pytest.mark.parametrize(("action", "seed"), [
    ("basketball", 0), ("weighted_back_squat", 0), ("weighted_back_squat", 3), ("writing", 6)])
def test_takes_face_where_they_say(action: str, seed: int) -> None:
    take = library_take(CATALOGUE.action(action), None, seed)
    motion = take.sources(10.0)[0][0]
    apart = wrapped_deg(heading_deg(motion, find_roles(motion.skeleton).joints) - take.front_deg)
    assert abs(apart) < TWISTED_DEG


def test_fronts_follow_facing_seed_mirror_and_scene() -> None:
    serve = library_take(CATALOGUE.action("tennis_serve"), None, 0)
    assert serve.front_deg == 104
    assert isinstance(serve, ScoreTake)
    assert replace(serve, mirror=True).front_deg == 2 * 48.5 - 104
    others = {library_take(CATALOGUE.action("tennis_serve"), None, seed).front_deg
              for seed in range(1, 5)}
    assert len(others) == 4 and 104 not in others
    scene = scene_take(CATALOGUE, "the_thief", 0)
    assert scene.front_deg == scene.score.facing


def test_recordings_are_turned_to_the_stages_front(samples: Path) -> None:
    file = next(iter(sorted(samples.rglob("*.bvh"))))
    take = user_take(CATALOGUE, file, (), None, None, "not stated")
    assert isinstance(take, RecordedTake) and take.front_deg == 0
    motion, roles = take.sources(30.0)[0]
    assert roles is not None and abs(wrapped_deg(heading_deg(motion, roles))) < 1


@pytest.mark.parametrize("config", ["preview", "mime"])
@pytest.mark.parametrize("seed", [0, 4])
def test_a_side_is_the_same_side_of_every_take(config: str, seed: int) -> None:
    take = library_take(CATALOGUE.action("tennis_serve"), None, seed)
    for name, azimuth in (("front", 0), ("left", 90), ("back", 180), ("right", 270),
                          ("front-45", 315), ("front+30", 30)):
        both = [*plan_of(take, f"base+blank@{name},pointlight@{name},pointlight:actpld@{name}",
                         config)]
        assert [clip.view_azimuth_deg for clip in both] == pytest.approx([azimuth] * 3, abs=0.01)
    plain, dots = plan_of(take, "base+blank@90,pointlight@90", config)
    settings = read_config(CATALOGUE.file("config", config))
    expected = (camera_azimuth(settings) + 90 - take.front_deg) % 360
    assert plain.view_azimuth_deg == dots.view_azimuth_deg == pytest.approx(expected, abs=0.001)


def test_names_are_plain_and_shots_are_counted_where_sides_and_angles_are_one() -> None:
    take = scene_take(CATALOGUE, "the_thief", 0)
    turn = take.front_deg - 48.5
    plan = plan_of(take, f"base+blank@front,base+blank@{turn % 360:g},base+beach@front-45,"
                         "base+blank@front-45,pointlight@back")
    names = [clip.sample_id for clip in plan]
    assert len({*names}) == len(plan) == 5 and not any("+" in name for name in names)
    assert any("-front-" in name for name in names) and any("-front315-" in name for name in names)
    assert plan.shots == sum(len(part.shots) for part in plan.castings()) == 2


def test_rows_of_dots_say_the_side_and_dots_show_it(tmp_path: Path) -> None:
    done = invoke("render", "--action", "tennis_serve", "--config", "draft", "--out", tmp_path,
                  "--variants", "pointlight@front,pointlight@left,pointlight@0")
    assert done.exit_code == 0, done.output
    rows = {row["config_name"]: row for row in rows_of(tmp_path)}
    assert {name: row["view_azimuth_deg"] for name, row in rows.items()} == {
        "pointlight@front": 0, "pointlight@left": 90, "pointlight@0": 304.5}
    assert {row["front_azimuth_deg"] for row in rows.values()} == {104}
    assert rows["pointlight@front"]["angle"] == 55.5
    checked = invoke("verify", tmp_path)
    assert checked.exit_code == 0, checked.output


def test_a_front_view_has_the_performers_left_at_its_right(tmp_path: Path) -> None:
    spread = {}
    for side in ("front", "back", "left"):
        out = tmp_path / f"{side}.npz"
        done = invoke("pointlight", "--action", "weighted_back_squat", "--azimuth", side,
                      "--out", out)
        assert done.exit_code == 0, done.output
        dots = np.load(out)
        names = list(dots["names"])
        left, right = names.index("left_shoulder"), names.index("right_shoulder")
        spread[side] = float(dots["pixels"][0, left, 0] - dots["pixels"][0, right, 0])
        row = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        assert row["view_azimuth_deg"] == CameraDirection.of(side).degrees
    assert spread["front"] > 5 * abs(spread["left"])
    assert spread["back"] < -5 * abs(spread["left"])


def test_permutations_hold_each_takes_own_number(tmp_path: Path) -> None:
    spec = tmp_path / "spec.jsonl"
    done = invoke("permute", "--count", 2, "--actions", "tennis_serve", "--axes", "tempo",
                  "--fix", "azimuth=front-30", "--out", spec)
    assert done.exit_code == 0, done.output
    declared = [json.loads(line) for line in spec.read_text(encoding="utf-8").splitlines()]
    assert [line["azimuth"] for line in declared] == [104 - 30 - 48.5] * 2
    planned = invoke("plan", "--permutations", spec, "--json")
    assert planned.exit_code == 0, planned.output


def test_the_drawing_is_printed_with_the_variants() -> None:
    shown = invoke("list", "variants").stderr
    assert all(word in shown for word in ("@0", "@90", "@180", "@270", "@front", "@left"))
    assert json.loads(invoke("list", "variants", "--json").output)
