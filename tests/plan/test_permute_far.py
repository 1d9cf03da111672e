"""What is drawn is far from what was shown, by the axes of docs/guide/unseen.md."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.characters.spec import Glasses, read_character
from mimegen.manifest.file import add_rows
from mimegen.manifest.row import Row
from mimegen.plan.permute.axes import axes
from mimegen.plan.permute.people import distances, numbers_of, person_of
from mimegen.plan.permute.seen import SeenRows, seen_in
from permuting import CATALOGUE, drawn, permute, space_of

pytestmark = pytest.mark.slow


def seen_row(action: str, **facts: Any) -> Row:
    return Row.model_validate({
        "sample_id": f"{action}{len(facts)}{facts.get('angle', 0)}", "file_name": "clips/a.mp4",
        "action": action, "take": action, "actor": "choreography", "labels": [action],
        "avatar": "man", "angle": 0, "background_config": "blank", "background_name": "blank",
        "seed": 0, "fps": 24, "frames": 9, "width": 64, "height": 36, "sha256": "0" * 64} | facts)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    rows = [seen_row("boxing", angle=angle) for angle in (0, 90, 350)]
    rows += [seen_row("boxing", angle=1, background_config="aligned",
                      background_name="boxing_gym"),
             seen_row("boxing", angle=2, avatar="random_5", seed=77)]
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.mp4").touch()
    add_rows(tmp_path, rows)
    return tmp_path


def test_unseen_clips_are_far_on_every_axis_from_every_row(published: Path) -> None:
    seen = seen_in(CATALOGUE, [published])
    found = drawn(120, seen=seen, actions=("boxing", "deadlift"))
    people = [person for name in ("man", "random:5")
              if (person := person_of(CATALOGUE, name)) is not None]
    assert len(people) == 2
    for one in found:
        person = person_of(CATALOGUE, one.character)
        assert person is not None
        assert (distances(person, np.array(people), axes().unseen.person) > 1).all()
        if one.action == "boxing":
            assert all(abs((one.azimuth - angle + 180) % 360 - 180) >= 20
                       for angle in (0, 90, 350, 1, 2))
            assert (one.background, one.set_seed) != ("boxing_gym", None)
            assert one.seed not in (0, 77)
    assert any(abs(one.azimuth) < 20 for one in found if one.action == "deadlift")


def test_places_are_drawn_by_seeds_where_their_sets_vary_and_new_ones_are_far() -> None:
    found = drawn(60, actions=("basketball_shot",), fixes=("background=aligned",))
    assert {one.background for one in found} == {"basketball_court"}
    assert len({one.set_seed for one in found}) == 60
    assert all(one.set_seed is None for one in drawn(9, fixes=("background=blank",)))
    fixed, = drawn(1, actions=("basketball_shot",), fixes=("background=aligned", "set_seed=4"))
    assert fixed.set_seed == 4
    seen = SeenRows(CATALOGUE, 1)
    seen.places["basketball_shot"] |= {("basketball_court", None), ("basketball_court", 4)}
    free = space_of(("basketball_shot",), "background,set_seed", seen=seen)
    assert "aligned" in free.parts[0].grid["background"]
    same = space_of(("basketball_shot",), "background", seen=seen)
    assert "aligned" not in same.parts[0].grid["background"]
    assert free.size > 10**8 > same.size


def test_people_are_told_apart_by_build_skin_hair_or_clothes() -> None:
    def far(one: str, other: str) -> bool:
        people = [person_of(CATALOGUE, name) for name in (one, other)]
        assert people[0] is not None and people[1] is not None
        return bool((distances(people[0], people[1][None], axes().unseen.person) > 1).all())

    assert not far("man", "man") and not far("random:3", "random_3")
    assert far("man", "woman") and far("man", "spacesuit")
    share = np.mean([far(f"random:{seed}", "man") for seed in range(100)])
    assert share > 0.95


def test_people_in_two_other_kinds_of_things_may_be_taken_for_one_another_in_three_not() -> None:
    man = read_character(CATALOGUE.characters["man"])
    glasses = Glasses(kind="glasses", color=(0.0, 0.0, 0.0))
    bald = man.hair.model_copy(update={"kind": "bald"})
    bearded = bald.model_copy(update={"beard": "full"})
    seeing = man.model_copy(update={"outfit": (*man.outfit, glasses)})
    others = [numbers_of(seeing.model_copy(update={"hair": hair}))
              for hair in (man.hair, bald, bearded)]
    far = distances(numbers_of(man), np.array(others), axes().unseen.person) > 1
    assert far.tolist() == [False, False, True]


def test_the_space_shrinks_by_what_was_seen(published: Path) -> None:
    seen = seen_in(CATALOGUE, [published])
    whole = space_of(("boxing",), "azimuth,seed")
    left = space_of(("boxing",), "azimuth,seed", seen=seen)
    seeds = axes().seeds["seed"].below
    assert whole.size == 121 * seeds
    # -60 to -30 is far from -10, and 22 to 60 from 2 and, up to 70, from 90.
    assert left.size == (31 + 39) * (seeds - 2)


def test_an_exhausted_axis_is_named(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.mp4").touch()
    add_rows(tmp_path, [seen_row("boxing", angle=angle) for angle in range(0, 360, 30)])
    done = permute("--count", 1, "--actions", "boxing", "--unseen", tmp_path,
                   "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 2
    assert "no value of the axis azimuth" in done.output
    done = permute("--count", 1, "--actions", "boxing", "--unseen", tmp_path, "--fix", "azimuth=0",
                   "--axes", "seed,character", "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 0
    assert "distance is not checked: azimuth, background" in done.output


def test_a_performance_that_rows_show_is_not_declared_again(published: Path) -> None:
    done = permute("--count", 1, "--actions", "boxing", "--unseen", published, "--axes",
                   "azimuth", "--out", published / "SPEC.jsonl")
    assert done.exit_code == 2 and "vary the axis seed or character" in done.output
