"""Displays of two people in which one of them is manipulated alone, measured in what is written."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import mimegen as mg
from mimegen.base.errors import RequestError
from mimegen.evaluation.factors import factor_questions, read_factor_wording
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.file import single_rows
from mimegen.manifest.timeline import PARTNER, PERFORMER
from mimegen.pointlight.drawing import pictures
from mimegen.pointlight.manipulation import OfPeople
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.pointlight.record import display_facts
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import DotScene, Stimulus, make_stimulus
from mimegen.production.displays import cast_scene, take_scene, write_display
from running import invoke

FPS = 30.0
SIDE = Display(name="test", description="", width=400, height=300, fps=FPS, azimuth_deg=90.0)
OF_ONE = [name for name, kind in MANIPULATIONS.items() if issubclass(kind, OfPeople)]
Places = NDArray[np.float64]


@pytest.fixture(scope="module")
def hands_shaken() -> DotScene:
    catalogue = Catalogue.with_libraries(())
    return take_scene(library_take(catalogue.action("shake_hands"), None, 0), SIDE)


def shown(scene: DotScene, *manipulations: str, **values: object) -> Stimulus:
    return make_stimulus(scene, changed(SIDE, manipulations=manipulations, **values))


def in_csv(file: Path) -> dict[str, Places]:
    """Each dot's places (F, 2) in pixels, as a reader of the file finds them."""
    found: dict[str, list[list[float]]] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            found.setdefault(line["dot"], []).append([float(line["x_px"]), float(line["y_px"])])
    return {name: np.array(places) for name, places in found.items()}


def written(made: Stimulus, folder: Path) -> tuple[dict[str, Places], dict[str, Any]]:
    write_display(made, folder / "x.csv")
    return in_csv(folder / "x.csv"), json.loads((folder / "x.json").read_text())


def person(dots: dict[str, Places], who: int) -> Places:
    """A performer's dots (F, K, 2)."""
    return np.stack([places for name, places in dots.items() if name.startswith(f"{who}:")], axis=1)


def lag_frames(now: Places, before: Places) -> int:
    """By how many frames ``now`` is later than ``before``, found by trying every shift."""
    count = min(len(now), len(before)) // 2
    def differ(shift: int) -> float:
        late, early = now[max(shift, 0):], before[max(-shift, 0):]
        both = min(len(late), len(early))
        return float(np.abs(late[:both] - early[:both]).mean())
    return min(range(-count, count + 1), key=differ)


@pytest.mark.parametrize(("seconds", "who"), [(0.5, 2), (-0.3, 2), (0.4, 1)])
@pytest.mark.parametrize("ends", ["cropped", "held"])
def test_a_delay_is_the_one_that_a_reader_of_the_file_measures(
        hands_shaken: DotScene, tmp_path: Path, seconds: float, who: int, ends: str) -> None:
    plain, _ = written(shown(hands_shaken), tmp_path)
    dots, row = written(shown(hands_shaken, f"delayed={seconds}/who={who}/ends={ends}"), tmp_path)
    whole = len(person(plain, 1))
    moved, other = person(dots, who), person(dots, 3 - who)
    relative = lag_frames(moved, person(plain, who)) - lag_frames(other, person(plain, 3 - who))
    assert relative == round(seconds * FPS)
    one, two = row["people_shown"]
    step = {"name": "delayed", "parameters": {"seconds": seconds, "who": who, "ends": ends}}
    assert row["manipulations"][0].items() >= step.items() and row["frames"] == len(moved)
    assert [one["manipulations"], two["manipulations"]] == [
        ["delayed"] if number == who else [] for number in (1, 2)]
    if ends == "cropped":
        assert len(moved) == whole - abs(round(seconds * FPS))
        starts = [entry["source_frames"][0] / row["source_fps"] for entry in (one, two)]
        assert starts[2 - who] - starts[who - 1] == pytest.approx(seconds)
        assert one["held_frames"] == two["held_frames"] == 0
    else:
        assert len(moved) == whole and np.array_equal(other, person(plain, 3 - who))
        still = int((np.abs(np.diff(moved, axis=0)).max(axis=(1, 2)) == 0).sum())
        assert still == abs(round(seconds * FPS)) == row["people_shown"][who - 1]["held_frames"]


def test_where_the_motion_goes_on_a_delay_cuts_nothing_off(hands_shaken: DotScene) -> None:
    window = {"start": 1.0, "duration": 2.0}
    plain = shown(hands_shaken, **window)
    for seconds in (-0.8, 0.8):
        made = shown(hands_shaken, f"delayed={seconds}", **window)
        assert made.dots.frames == plain.dots.frames == 60
        expected = shown(hands_shaken, **window | {"start": 1.0 - seconds})
        first, second = made.dots.people
        assert np.array_equal(made.dots.positions[:, first], plain.dots.positions[:, first])
        assert np.allclose(made.dots.positions[:, second], expected.dots.positions[:, second])


def test_file_names_tell_late_from_early(hands_shaken: DotScene) -> None:
    late, early = (shown(hands_shaken, f"delayed={seconds}").name for seconds in (0.5, -0.5))
    assert "-delayed_0.5-" in late and "-delayed_minus0.5-" in early


def test_a_delay_is_in_seconds_of_the_display_at_any_speed(hands_shaken: DotScene) -> None:
    for words in (("speed=0.5", "delayed=0.5"), ("delayed=0.5", "speed=0.5")):
        times = shown(hands_shaken, *words).times.own
        assert np.allclose(times[:, 0] - times[:, 1], 0.25), "half a second at half the speed"
    times = shown(hands_shaken, "reversed", "delayed=0.5").times.own
    assert np.allclose(times[:, 1] - times[:, 0], 0.5), "backwards, later means more of the source"


def test_the_other_performer_is_not_touched(hands_shaken: DotScene) -> None:
    plain = shown(hands_shaken)
    for name in OF_ONE:
        for who in (1, 2):
            word = f"{name}/who={who}" + ("/ends=held" if name == "delayed" else "")
            made = shown(hands_shaken, word)
            other = plain.dots.performers == 2 - who
            same = made.dots.performers == 2 - who
            assert np.array_equal(made.dots.positions[:, same], plain.dots.positions[:, other]
                                  ), word
            assert np.array_equal(made.dots.visible[:, same], plain.dots.visible[:, other])
            own = made.dots.performers == who - 1
            assert own.sum() != 13 or not np.allclose(
                made.dots.positions[:, own], plain.dots.positions[:, ~other]), word


@pytest.mark.parametrize(("name", "axis"), [("inverted", 1), ("mirrored", 0)])
def test_one_is_flipped_within_the_room_of_their_own_dots(
        hands_shaken: DotScene, tmp_path: Path, name: str, axis: int) -> None:
    plain, _ = written(shown(hands_shaken), tmp_path)
    dots, row = written(shown(hands_shaken, f"{name}/who=2"), tmp_path)
    before, after = person(plain, 2)[..., axis], person(dots, 2)[..., axis]
    assert np.allclose(before + after, before.min() + before.max(), atol=1e-4)
    assert np.array_equal(person(dots, 2)[..., 1 - axis], person(plain, 2)[..., 1 - axis])
    assert [one["manipulations"] for one in row["people_shown"]] == [[], [name]]


def test_a_scrambled_one_keeps_each_dots_motion(hands_shaken: DotScene, tmp_path: Path) -> None:
    plain, _ = written(shown(hands_shaken), tmp_path)
    dots, _ = written(shown(hands_shaken, "scrambled/who=1"), tmp_path)
    shifts = person(dots, 1) - person(plain, 1)
    assert np.allclose(shifts, shifts[0], atol=1e-4) and shifts[0].std(axis=0).min() > 5


def facing(metres: Places, names: list[str], who: int) -> float:
    """The direction in degrees, in the picture's plan, in which a performer's body faces."""
    left, right = (metres[0, names.index(f"{who}:{side}_shoulder")] for side in ("left", "right"))
    across, _, deep = left - right
    return float(np.degrees(np.arctan2(across, deep)))


@pytest.mark.parametrize("degrees", [180, 60])
def test_one_is_turned_about_where_they_are(hands_shaken: DotScene, tmp_path: Path, degrees: int
                                            ) -> None:
    found = {}
    for word in ("rotated=0", f"rotated={degrees}/who=2"):
        write_display(shown(hands_shaken, word), tmp_path / "x.npz")
        with np.load(tmp_path / "x.npz") as file:
            found[word] = dict(file)
    plain, turned = found.values()
    names = plain["names"].tolist()
    second = plain["performers"] == 1
    angle = facing(turned["metres"], names, 2) - facing(plain["metres"], names, 2)
    assert (angle - degrees + 180) % 360 - 180 == pytest.approx(0, abs=0.01), "seen from above"
    assert facing(turned["metres"], names, 1) == facing(plain["metres"], names, 1)
    hips = [names.index(f"2:{side}_hip") for side in ("left", "right")]
    middles = [one["metres"][:, hips].mean(axis=(0, 1)) for one in (plain, turned)]
    assert np.abs(middles[0] - middles[1]).max() < 0.03, "hips' dots lie near the root"
    apart = [np.linalg.norm(own[:, :, None] - own[:, None], axis=-1)
             for own in (one["metres"][:, second] for one in (plain, turned))]
    assert np.allclose(apart[0], apart[1])


@pytest.mark.parametrize("style", ["dots", "stick"])
def test_one_alone_is_shown_where_they_were(hands_shaken: DotScene, style: str) -> None:
    palette = ("#ff0000", "#0000ff")
    options: dict[str, Any] = {"style": style, "color_by": "performer", "palette": palette}
    both = np.array([frame.copy() for frame in pictures(shown(hands_shaken, **options))])
    alone = shown(hands_shaken, "without/who=1", **options)
    seen = np.array([frame.copy() for frame in pictures(alone)])
    assert not seen[..., 0].any() and both[..., 0].any(), "the first one is red"
    assert np.array_equal(seen[..., 2] > 0, both[..., 2] > 0)
    facts = display_facts(alone)
    assert (facts["performers"], facts["dot_count"]) == (1, 13)
    assert {name[:2] for name in facts["dots"]} == {"2:"}
    assert facts["people_shown"][0] == {"who": 1, "shown": False, "manipulations": ["without"],
                                        "source_frames": None, "held_frames": None}


def test_what_no_display_can_show_is_refused(hands_shaken: DotScene) -> None:
    catalogue = Catalogue.with_libraries(())
    boxing = take_scene(library_take(catalogue.action("boxing"), None, 0), SIDE)
    for scene, words, hint in (
            (boxing, ["inverted/who=2"], "who=2, but .* has 1 performer"),
            (boxing, ["delayed=0.1"], "who=2, but .* has 1 performer"),
            (hands_shaken, ["delayed=9"], "in no frame .* ends=held"),
            (hands_shaken, ["without/who=1", "without/who=2"], "no dot is left"),
            (hands_shaken, ["without/who=1", "inverted/who=1"], "no dot of performer 1"),
            (hands_shaken, ["inverted/who=3"], "who: Input should be 1 or 2"),
            (hands_shaken, ["turning/who=1"], "no parameter 'who'")):
        with pytest.raises(RequestError, match=hint):
            shown(scene, *words)
    with pytest.raises(RequestError, match="not seen in --style silhouette"):
        shown(hands_shaken, "inverted/who=2", style="silhouette")


def test_a_timeline_says_what_each_still_does_and_when(hands_shaken: DotScene, tmp_path: Path
                                                       ) -> None:
    def told(*words: str) -> list[tuple[Any, ...]]:
        _, row = written(shown(hands_shaken, *words), tmp_path)
        return [(one.get("performer", PERFORMER), one["kind"], one["name"], one["start_s"],
                 one["end_s"])
                for one in row.get("timeline") or ()]

    plain, late = told(), told("delayed=0.5/ends=held")
    assert {one[1] for one in plain} == {"action", "step", "contact"}
    assert {one[1] for one in late} == {"action", "step"}, "hands do not meet any more"
    ends = max(one[4] for one in plain)
    expected = {(who, kind, name, start + 0.5, min(end + 0.5, ends)) for who, kind, name, start, end
                in plain if who == PARTNER and kind == "step" and start + 0.5 < ends}
    found = {one for one in late if one[0] == PARTNER}
    for one, other in zip(sorted(found), sorted(expected), strict=True):
        assert one[:3] == other[:3] and one[3:] == pytest.approx(other[3:], abs=0.002)
    alone = told("without/who=2")
    assert {one[0] for one in alone} == {PERFORMER} and {one[1] for one in alone} == {"step"}
    backwards = told("reversed/who=1")
    assert {one[0] for one in backwards} == {PARTNER}


@pytest.fixture(scope="module")
def a_set(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("people") / "set"
    done = invoke("pointlight", "--action", "shake_hands,hug", "--grid",
                  "delayed=0,0.5;without=no,yes/who=2", "--size", "64x64", "--fps", 12,
                  "--azimuth", "front", "--figure-height", "40px", "--formats", "none", "--out",
                  out)
    assert done.exit_code == 0, done.output
    return out, done.stderr


def test_a_grid_varies_one_performer(a_set: tuple[Path, str]) -> None:
    out, told = a_set
    with (out / "trials.csv").open(encoding="utf-8", newline="") as file:
        trials = list(csv.DictReader(file))
    assert len(trials) == 8 and "because only frames are shown in which both" in told
    for trial in trials:
        places = in_csv(out / trial["file"].replace(".mp4", ".csv"))
        alone = {name[:2] for name in places} == {"1:"}
        assert alone == (trial["without"] == "yes/who=2")
    conditions = {(trial["delayed"], trial["without"]): trial["condition"] for trial in trials}
    assert conditions["0", "no"] == "upright"
    assert conditions["0.5", "yes/who=2"] == "delayed=0.5:without/who=2"
    spans = {(trial["action"], trial["delayed"]): float(trial["duration_s"]) for trial in trials}
    for action in ("shake_hands", "hug"):
        assert spans[action, "0"] - spans[action, "0.5"] == pytest.approx(0.5)


def test_no_question_asks_what_two_do_where_one_is_missing(a_set: tuple[Path, str]) -> None:
    out, _ = a_set
    done = invoke("questions", out, "--format", "free", "--no-verify")
    assert done.exit_code == 0, done.output
    assert "4 displays left out, because one of two people is missing" in done.output
    lines = (out / "questions-free.jsonl").read_text().splitlines()
    rows = {row.sample_id: row for row in single_rows(out)}
    asked = [rows[json.loads(line)["sample_id"]] for line in lines]
    assert len(asked) == 4 and all(row.performers == 2 for row in asked)
    assert {bool(row.manipulations) for row in asked} == {True, False}, "delayed or not"
    assert not [one for one in mg.open(out).questions("free")
                if rows[one.sample_id].performers == 1]
    made = factor_questions(list(rows.values()), "without", read_factor_wording(None), 0)
    assert len(made) == 8 and {one.answer for one in made} == {"both people",
                                                               "only the first person"}


@pytest.fixture(scope="module")
def cast() -> DotScene:
    catalogue = Catalogue.with_libraries(())
    take = library_take(catalogue.action("shake_hands"), None, 0)
    members = tuple(cast_member(catalogue, name) for name in ("man", "woman"))
    return cast_scene(Casting(take, members), SIDE, FPS)


@pytest.fixture(scope="module")
def mismatched() -> dict[str, DotScene]:
    """Displays of shake_hands with the partner of hug and of walk, and of hug itself."""
    catalogue = Catalogue.with_libraries(())
    take, hug, walk = (library_take(catalogue.action(name), None, 0)
                       for name in ("shake_hands", "hug", "walk"))
    return {"hug": take_scene(take, SIDE, hug), "walk": take_scene(take, SIDE, walk),
            "own hug": take_scene(hug, SIDE)}


def test_another_actions_partner_stands_in_the_place_of_the_own_one(
        hands_shaken: DotScene, mismatched: dict[str, DotScene], tmp_path: Path) -> None:
    for name in ("hug", "walk"):
        mixed = mismatched[name]
        frames = mixed.dots.frames
        first, second = mixed.dots.people
        assert np.array_equal(mixed.dots.positions[:, first],
                              hands_shaken.dots.positions[:frames, first])
        place, own = (scene.roots[:frames, 1, :2].mean(axis=0) for scene in (mixed, hands_shaken))
        assert np.allclose(place, own, atol=1e-6)
        across = [np.subtract(*(scene.dots.positions[:6, hip].mean(axis=0) for hip in hips))
                  for scene in (mixed, hands_shaken)
                  for hips in [[scene.dots.names.index(f"2:{side}_hip") for side in
                                ("left", "right")]]]
        turn = np.degrees(np.arctan2(*across[0][:2]) - np.arctan2(*across[1][:2]))
        assert abs((turn + 180) % 360 - 180) < 15, "faces as the other did"
        assert second.tolist() == list(range(13, 26))
    frames = mismatched["hug"].dots.frames
    there, alone = (np.linalg.norm(places[:, :, None] - places[:, None], axis=-1) for places in (
        scene.dots.positions[:frames, 13:] for scene in (mismatched["hug"], mismatched["own hug"])))
    assert np.allclose(there, alone, atol=1e-6), "the movement is that of the other action"
    _, row = written(shown(mismatched["hug"]), tmp_path)
    one, two = row["people_shown"]
    assert row["action"] == "shake_hands" and "action" not in one
    assert (two["action"], two["take"], two["seed"]) == ("hug", "hug", 0)
    assert len(two["motion_sha256"]) == 64 and two["shown"] and not two["manipulations"]
    told = {(entry.get("performer", PERFORMER), entry["kind"]) for entry in row["timeline"]}
    assert told == {(PERFORMER, "step"), (PARTNER, "step")}
    catalogue = Catalogue.with_libraries(())
    boxing, hug = (library_take(catalogue.action(name), None, 0) for name in ("boxing", "hug"))
    for take, hint in ((boxing, "boxing has one performer"), (hug, "is the action itself")):
        with pytest.raises(RequestError, match=hint):
            take_scene(take, SIDE, hug)


@pytest.mark.slow
def test_a_grid_varies_the_partner(tmp_path: Path) -> None:
    options = ("--size", "64x64", "--fps", 12, "--formats", "none", "--azimuth", "front",
               "--figure-height", "40px", "--out", tmp_path)
    done = invoke("pointlight", "--action", "shake_hands", "--grid", "partner=own,hug,walk",
                  *options)
    assert done.exit_code == 0, done.output
    with (tmp_path / "trials.csv").open(encoding="utf-8", newline="") as file:
        assert sorted(trial["partner"] for trial in csv.DictReader(file)) == ["hug", "own", "walk"]
    partners = {(row.grid or {})["partner"]: [one.action for one in row.people_shown or ()]
                for row in single_rows(tmp_path)}
    assert partners == {"own": [], "hug": [None, "hug"], "walk": [None, "walk"]}
    assert len(mg.open(tmp_path).questions("free")) == 1
    for words, hint in ((("--partner", "hugg"), "did you mean hug"),
                        (("--grid", "partner=hugg"), "did you mean hug")):
        refused = invoke("pointlight", "--action", "shake_hands", *words, *options)
        assert refused.exit_code == 2 and hint in refused.stderr
    dots = mg.take("shake_hands").pointlight(partner="hug", fps=12)
    assert dots.record["people_shown"][1]["action"] == "hug"


@pytest.mark.slow
def test_bodies_turn_move_and_go_with_their_dots(cast: DotScene) -> None:
    short: dict[str, Any] = {"start": 2.0, "duration": 0.2, "occlusion": "body"}
    apart = {"azimuth_deg": 90.0} | short
    turned = shown(cast, "rotated=180/who=2", "without/who=1", **apart)
    behind = shown(cast, "without/who=1", **apart | {"azimuth_deg": 270.0})
    own = turned.dots.visible
    assert np.array_equal(own, behind.dots.visible) and not own.all()
    front = shown(cast, "without/who=1", **apart)
    assert not np.array_equal(front.dots.visible, own)
    plain = shown(cast, **short, style="silhouette")
    late = shown(cast, "delayed=1", **short, style="silhouette")
    before = shown(cast, **short | {"start": 1.0}, style="silhouette")
    assert np.allclose(late.bodies[1].vertices(0), before.bodies[1].vertices(0), atol=1e-4)
    assert np.allclose(late.bodies[0].vertices(0), plain.bodies[0].vertices(0))
    alone = shown(cast, "without/who=2", **short, style="silhouette")
    assert len(alone.bodies) == 1 and sum(frame.any() for frame in pictures(alone)) == 6
    assert replace(alone, turns=()).bodies[0].vertices(0).shape == plain.bodies[0].vertices(0).shape
