"""Sets of point-light displays in one call: conditions, azimuths, one trial list, one mask area."""

import csv
import json
from pathlib import Path

import pytest

from mimegen.commands.conditions import azimuths_of
from mimegen.production.unequal_displays import span_of
from running import invoke, rows_of

SMALL = ("--size", "64x64", "--fps", 10, "--duration", 0.4)


def trials_of(out: Path) -> list[dict[str, str]]:
    with (out / "trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_set_has_one_trial_list_and_one_mask_area(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "basketball,tennis_serve", "--conditions",
                  "upright,inverted,scrambled:polarity=dark", "--azimuth", "0,left,front-30", "-m",
                  "masked=20", *SMALL, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    trials = trials_of(tmp_path)
    assert len(trials) == 2 * 3 * 3 and all((tmp_path / one["file"]).is_file() for one in trials)
    assert {(one["action"], one["condition"], one["view_azimuth_deg"]) for one in trials} == {
        (action, condition, azimuth) for action in ("basketball_shot", "tennis_serve")
        for condition in ("upright", "inverted", "scrambled:polarity=dark")
        for azimuth in ("0.0", "90.0", "330.0")}
    assert {one["duration_s"] for one in trials} == {"0.4"} and {one["seed"] for one in trials} == {
        "0"}
    rows = rows_of(tmp_path)
    assert "degrees from their front" not in done.stderr, "the sides were chosen"
    listed = {row["file_name"]: row for row in rows}
    for one in trials:
        for name in ("azimuth_deg", "view_azimuth_deg", "figure_height_px", "shown_height_px",
                     "shown_height_deg", "dot_count", "dot_diameter_px", "dot_diameter_deg",
                     "dots_shown_least", "dots_shown_mean", "dots_outside_share"):
            assert float(one[name]) == listed[one["file"]][name], name
    assert len({json.dumps(row["masks"][0]["area_px"]) for row in rows}) == 1
    assert {row["mask_dot_count"] for row in rows} == {20}


@pytest.mark.slow
def test_a_later_call_adds_to_the_list_and_its_own_conditions_are_named(tmp_path: Path) -> None:
    for words in (["-m", "inverted", "-m", "masked=5"], []):
        done = invoke("pointlight", "--action", "basketball", *words, *SMALL, "--out", tmp_path)
        assert done.exit_code == 0, done.output
    assert sorted(one["condition"] for one in trials_of(tmp_path)) == [
        "inverted:masked=5", "upright"]


@pytest.mark.slow
def test_figures_of_other_heights_and_sides_are_told(tmp_path: Path) -> None:
    actions = ("pointlight", "--action", "boxing,basketball", "--formats", "none", *SMALL)
    done = invoke(*actions, "--out", tmp_path / "unequal")
    assert done.stderr.count("--figure-height draws") == done.stderr.count("--azimuth front") == 1
    done = invoke(*actions, "--figure-height", "40px", "--azimuth", "front", "--out",
                  tmp_path / "equal")
    assert "--figure-height draws" not in done.stderr and "--azimuth" not in done.stderr
    assert {(one["view_azimuth_deg"], one["figure_height_px"]) for one in
            trials_of(tmp_path / "equal")} == {("0.0", "40.0")}


def test_sides_and_heights_that_were_requested_are_not_told(tmp_path: Path) -> None:
    for factor in ("direction=0,90", "azimuth=0,90", "figure_height=20px,40px"):
        done = invoke("pointlight", "--walker", "--grid", factor, "--formats", "none", *SMALL,
                      "--out", tmp_path / factor[:4])
        assert done.exit_code == 0 and "of these displays" not in done.stderr, factor
        assert "these displays show" not in done.stderr, factor


def test_bent_knees_are_listed_and_told(tmp_path: Path) -> None:
    """A performer who squats stands as high as a walker, and is shown lower."""
    done = invoke("pointlight", "--action", "walk,weighted_back_squat", "--figure-height", "40px",
                  "--azimuth", "front", "--formats", "none", "--size", "64x64", "--fps", 5, "--out",
                  tmp_path)
    shown = {one["action"]: float(one["shown_height_px"]) for one in trials_of(tmp_path)}
    squat, walk = shown["weighted_back_squat"], shown["walk"]
    assert 20 < squat < walk / 1.1 < 40
    assert f"cover {squat:.0f} to {walk:.0f} px of height" in done.stderr


TRAVEL = ("pointlight", "--walker", "--translating", "--cycles", "2", "--azimuth", "left", "--size",
          "64x64", "--fps", "10", "--figure-height", "50px", "--formats", "none", "--conditions",
          "upright,inverted,scrambled")


def test_dots_outside_the_picture_are_listed_and_differing_presence_is_told(tmp_path: Path) -> None:
    done = invoke(*TRAVEL, "--out", tmp_path / "away")
    trials = {one["condition"]: one for one in trials_of(tmp_path / "away")}
    assert float(trials["upright"]["dots_outside_share"]) > 0.1
    assert trials["upright"]["manipulations"] == ""
    shares = ", ".join(f"{name}: {float(one['dots_outside_share']):.1%}"
                       for name, one in sorted(trials.items()))
    assert f"outside the picture depends on condition ({shares})" in done.stderr
    assert "-m local" in done.stderr
    done = invoke(*TRAVEL, "-m", "local", "--out", tmp_path / "local")
    assert done.exit_code == 0 and "outside the picture" not in done.stderr
    assert {one["condition"]: one["manipulations"] for one in trials_of(tmp_path / "local")} == {
        "upright": "local", "inverted": "local:inverted", "scrambled": "local:scrambled"}


@pytest.mark.parametrize(("more", "told"), [((), True), (("--duration", "0.8"), False)])
def test_a_duration_that_depends_on_a_factor_is_told(tmp_path: Path, more: tuple[str, ...],
                                                     told: bool) -> None:
    done = invoke("pointlight", "--walker", "--grid", "happy=-3,3;direction=0,90", "--size",
                  "64x64", "--fps", "30", "--formats", "none", *more, "--out", tmp_path)
    assert done.exit_code == 0
    lengths = {one["happy"]: float(one["duration_s"]) for one in trials_of(tmp_path)}
    assert (len({*lengths.values()}) > 1) == told
    said = f"depends on happy (-3: {lengths['-3']:.4g} s, 3: {lengths['3']:.4g} s)"
    assert (said in done.stderr and "--duration" in done.stderr) == told
    assert "depends on direction" not in done.stderr


def test_no_mask_is_a_value_of_a_mask_with_parameters(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid",
                  "masked=0/kind=linear,20/kind=linear;inverted=no,yes", "--formats", "none",
                  *SMALL, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert sorted((row["grid"]["masked"], row["mask_dot_count"]) for row in rows_of(tmp_path)) == [
        ("0/kind=linear", 0), ("0/kind=linear", 0), ("20/kind=linear", 20), ("20/kind=linear", 20)]


@pytest.mark.parametrize(("angles", "arc"), [
    ((350, 20), (-10, 20)), ((90,), (90, 90)), ((10, 170, 200), (10, 200)),
    ((0, 360, -5), (-5, 0)), ((181, 200), (-179, -160))])
def test_the_span_of_views_is_the_shortest_arc(angles: tuple[float, ...],
                                               arc: tuple[float, float]) -> None:
    assert span_of(angles) == arc


@pytest.mark.parametrize(("words", "hint"), [
    (("--conditions", "upright,invertd"), "inverted"),
    (("--conditions", "upright,,inverted"), "''"),
    (("--conditions", "actpld:troje"), "names one display"), (("--azimuth", "0,x"), "front-45"),
    (("--azimuth", "inf"), "360"), (("--azimuth", ""), "front"), (("--azimuth", "left+3"), "front"),
])
def test_what_is_no_condition_or_azimuth_is_one_line_and_nothing_is_written(
        words: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = invoke("pointlight", "--action", "basketball", *words, "--out", out)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and hint in done.stderr
    assert not out.exists()


def test_several_displays_want_a_folder(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "basketball", "--azimuth", "0,90", "--out",
                  tmp_path / "x.mp4")
    assert done.exit_code == 2 and "folder" in done.stderr and not [*tmp_path.iterdir()]


def test_azimuths_of_one_direction_are_one() -> None:
    assert len(azimuths_of("0,front,360,front+0,-360")) == 1
    assert [one.degrees for one in azimuths_of("90,left,-90") if one] == [90, 270]
