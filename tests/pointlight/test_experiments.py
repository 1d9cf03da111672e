"""Small experiments that a grid writes: PsychoPy's script, and questions for the browser."""

import csv
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mimegen.evaluation.factors import factor_questions, read_factor_wording
from mimegen.manifest.file import single_rows
from mimegen.production.trials import COLUMNS, EXPERIMENT
from mimegen.study.folder import Study
from running import invoke


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("grid") / "set"
    done = invoke("pointlight", "--walker", "--grid", "direction=-90,90;inverted=no,yes", "--size",
                  "64x64", "--fps", "12", "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def script(grid: Path) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(grid / EXPERIMENT)))


def test_the_script_asks_for_the_first_factor_of_the_grid(grid: Path, script: SimpleNamespace
                                                          ) -> None:
    trials = script.read_trials(grid)
    assert script.factor_of(trials, None) == ("direction", ["-90", "90"])
    assert script.factor_of(trials, "inverted") == ("inverted", ["no", "yes"])
    with pytest.raises(SystemExit, match="no column 'speed'"):
        script.factor_of(trials, "speed")


def test_the_script_knows_which_columns_are_no_factors(script: SimpleNamespace) -> None:
    assert {*script.DESCRIBES} == {*COLUMNS} - {"condition"}


def test_files_and_trials_spell_values_as_the_command_does(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid", "direction=-90,90;treadmill=yes,no", "--size",
                  "64x64", "--fps", "12", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    with (tmp_path / "trials.csv").open(newline="") as file:
        trials = list(csv.DictReader(file))
    assert {(one["direction"], one["treadmill"]) for one in trials} == {
        ("-90", "yes"), ("-90", "no"), ("90", "yes"), ("90", "no")}
    for one in trials:
        direction = one["direction"].replace("-", "minus")
        assert f"-direction_{direction}-treadmill_{one['treadmill']}-" in one["file"]


def test_another_grid_in_the_same_folder_has_a_trial_list_of_its_own(tmp_path: Path) -> None:
    def listed(*arguments: str) -> tuple[list[dict[str, str]], str]:
        done = invoke("pointlight", "--walker", *arguments, "--size", "64x64", "--fps", "12",
                      "--out", tmp_path)
        assert done.exit_code == 0, done.output
        with (tmp_path / "trials.csv").open(newline="") as file:
            return list(csv.DictReader(file)), done.stderr

    first, said = listed("--grid", "direction=-90,90")
    assert [one["direction"] for one in first] == ["-90", "90"] and "left out" not in said
    second, said = listed("--grid", "direction=-90,90", "--cycles", "2")
    assert [one["direction"] for one in second] == ["-90", "90"]
    assert not {one["file"] for one in first} & {one["file"] for one in second}
    assert f"2 other displays in {tmp_path} left out of trials.csv" in said
    # Without a grid the list has all displays, and tells them apart by what was given.
    every, said = listed("--cycles", "1")
    assert len(every) == 5 and "left out" not in said
    assert sorted(one["cycles"] for one in every) == ["1", "1", "1", "2", "2"]


def test_everybody_meets_every_display_as_often_in_an_order_of_their_own(
        grid: Path, script: SimpleNamespace) -> None:
    trials = script.read_trials(grid)
    one, same, other = (script.order_of(trials, 3, who) for who in ("a", "a", "b"))
    assert one == same != other
    files = [trial["file"] for trial in one]
    assert {files.count(file) for file in files} == {3} and len({*files}) == 4


def test_dots_are_where_the_display_has_them(grid: Path, script: SimpleNamespace) -> None:
    trial = script.read_trials(grid)[0]
    file = (grid / trial["file"]).with_suffix(".csv")
    dots = script.read_dots(file, 10.0)
    assert len(dots) == int(trial["frames"])
    with file.open(newline="") as opened:
        first = [row for row in csv.DictReader(opened) if row["frame"] == "0"]
    seen = [row for row in first if row["visible"] == "1"]
    assert dots[0][:, 0] == pytest.approx([10 * float(row["x_deg"]) for row in seen])
    # Y is up in PsychoPy: the head is above the ankles.
    head, ankle = (next(place for place, row in enumerate(seen) if row["dot"] == name)
                   for name in ("head", "left_ankle"))
    assert dots[0][head, 1] > dots[0][ankle, 1]
    assert np.isfinite(np.concatenate(dots)).all()


# What the experiment asks of PsychoPy; every drawn array of dots is printed with its background.
PSYCHOPY = """
import sys, types
def module(name, **parts):
    sys.modules[f"psychopy.{name}"] = types.SimpleNamespace(**parts)
    setattr(sys.modules["psychopy"], name, sys.modules[f"psychopy.{name}"])
class Window:
    def __init__(self, size, color, **more): self.color = color
    def flip(self): pass
    def close(self): pass
class TextStim:
    def __init__(self, window, text, color, **more):
        assert list(color) == [-1 if sum(window.color) > 0 else 1] * 3
    def draw(self): pass
class ElementArrayStim:
    def __init__(self, window, **more): self.window = window
    def draw(self):
        shown = self.opacities > 0
        colors = self.colors[shown].round(2)
        print(len(colors), self.sizes[shown].round(3).max(), self.window.color,
              colors.min(0).tolist(), colors.max(0).tolist())
class Clock:
    time = 0.0
    def getTime(self):
        self.time += 5.0
        return self.time
module("visual", Window=Window, TextStim=TextStim, ElementArrayStim=ElementArrayStim)
module("core", Clock=Clock, wait=lambda seconds: None, quit=lambda: None)
module("event")
"""


def shown_in_psychopy(folder: Path, fake: Path, *arguments: str) -> dict[str, str]:
    """What is drawn of each condition, where one frame of each display is drawn."""
    (fake / "psychopy").mkdir()
    (fake / "psychopy" / "__init__.py").write_text(PSYCHOPY)
    done = subprocess.run(
        [sys.executable, folder / EXPERIMENT, "--simulate", "--factor", "condition", *arguments],
        capture_output=True, text=True, timeout=60, check=True,
        env=os.environ | {"PYTHONPATH": str(fake)})
    with (folder / "answers_test.csv").open(newline="") as file:
        shown = [row["shown"] for row in csv.DictReader(file)]
    return dict(zip(shown, done.stdout.splitlines(), strict=True))


def test_dots_are_drawn_for_the_screen_that_the_set_is_for(script: SimpleNamespace, tmp_path: Path
                                                           ) -> None:
    """57 cm from pixels of 0.25 mm, a degree has 39.8 pixels; dots of 0.5 degrees have 19.9."""
    invoke("pointlight", "--walker", "--distance", "57", "--pixel-pitch", "0.25", "--dot-diameter",
           "0.5deg", "--size", "128x128", "--fps", "12", "--formats", "none", "--out", tmp_path)
    [file] = tmp_path.glob("walk*.csv")
    per_degree = 57 * 2 * np.tan(np.radians(0.5)) / 0.025
    assert script.read_dots(file, None)[0][:, 2] == pytest.approx(per_degree / 2, rel=1e-3)
    assert script.read_dots(file, 60.0)[0][:, 2] == pytest.approx(30.0)


def test_the_script_draws_dots_in_their_colors_and_sizes(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--conditions",
                  "upright,polarity=dark,contrast=0.3,color=#ff0000", "--fps", "2",
                  "--dot-diameter", "6px", "--pixels-per-degree", "20", "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    drawn = shown_in_psychopy(tmp_path / "set", tmp_path, "--pixels-per-degree", "40")
    assert len({*drawn.values()}) == 4
    # A dot of 6 of 20 pixels a degree has 12 of 40.
    black, white = "[-1.0, -1.0, -1.0]", "[1.0, 1.0, 1.0]"
    assert drawn["upright"] == f"13 12.0 {black} {white} {white}"
    assert drawn["color=#ff0000"] == f"13 12.0 {black} {'[1.0, -1.0, -1.0] ' * 2}".strip()
    assert drawn["polarity=dark"].endswith(f"{black} {black}")
    assert drawn["polarity=dark"] != drawn["upright"]


def test_the_script_refuses_displays_that_it_cannot_draw(tmp_path: Path) -> None:
    done = invoke("pointlight", "--action", "boxing", "--conditions", "upright,stick",
                  "--fps", "2", "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    with pytest.raises(subprocess.CalledProcessError) as refused:
        shown_in_psychopy(tmp_path / "set", tmp_path)
    assert "is drawn as a stick, and this experiment draws dots" in refused.value.stderr


def test_the_script_explains_itself_without_psychopy(grid: Path) -> None:
    done = subprocess.run([sys.executable, grid / EXPERIMENT, "--help"], capture_output=True,
                          text=True, timeout=60, check=True)
    assert "--factor" in done.stdout


def test_without_psychopy_the_script_says_so_in_a_line(grid: Path, tmp_path: Path) -> None:
    (tmp_path / "psychopy.py").write_text("raise ImportError('not here')")
    done = subprocess.run([sys.executable, grid / EXPERIMENT, "--participant", "p02"],
                          capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "needs PsychoPy (not here)" in done.stderr
    assert not (grid / "answers_p02.csv").exists()


def test_answers_that_are_there_stay(grid: Path) -> None:
    answers = grid / "answers_p01.csv"
    answers.write_text("a participant's answers")
    done = subprocess.run([sys.executable, grid / EXPERIMENT, "--participant", "p01"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "this participant has answers" in done.stderr
    assert answers.read_text() == "a participant's answers"


def test_more_values_than_keys_are_not_asked_for(script: SimpleNamespace) -> None:
    trials = [{"file": str(number), "speed": str(number), "condition": "upright"}
              for number in range(10)]
    with pytest.raises(SystemExit, match="no factor has 2 to 9 values"):
        script.factor_of(trials, "speed")


def test_factors_are_asked_with_their_values(grid: Path, tmp_path: Path) -> None:
    target = tmp_path / "questions.jsonl"
    done = invoke("questions", grid, "--format", "factor", "--no-verify", "--out", target)
    assert done.exit_code == 0, done.output
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(asked) == 8
    for one in asked:
        row = next(row for row in map(json.loads, (grid / "manifest.jsonl").open())
                   if row["sample_id"] == one["sample_id"])
        value = row["grid"][one["asks"]]
        expected = ("to the left" if value < 0 else "to the right") \
            if one["asks"] == "direction" else "upside down" if value else "upright"
        assert one["answer"] == expected and len(one["options"]) == 2
        shown = "yes" if row["grid"]["inverted"] else "no"
        assert one["variant"] == f"direction={row['grid']['direction']:g}, inverted={shown}"
        assert f"A. {one['options'][0]}" in one["prompt"]


def test_no_display_is_asked_for_what_its_manipulations_contradict(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid", "direction=-90,90;mirrored=no,yes", "--size",
                  "64x64", "--fps", "12", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    target = tmp_path / "q.jsonl"
    done = invoke("questions", tmp_path, "--format", "factor", "--no-verify", "--out", target)
    assert done.exit_code == 0, done.output
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    cells = {factor: sorted(one["variant"] for one in asked if one["asks"] == factor)
             for factor in ("direction", "mirrored")}
    assert cells["direction"] == ["direction=-90, mirrored=no", "direction=90, mirrored=no"]
    assert len(cells["mirrored"]) == 4


def test_grids_of_other_factors_in_one_folder_are_asked_each_with_their_own_values(tmp_path: Path
                                                                                   ) -> None:
    for grid in ("direction=-90,90", "inverted=no,yes", "direction=0,180;inverted=no,yes"):
        done = invoke("pointlight", "--walker", "--grid", grid, "--size", "64x64", "--fps", "12",
                      "--out", tmp_path)
        assert done.exit_code == 0, done.output
    target = tmp_path / "questions.jsonl"
    done = invoke("questions", tmp_path, "--format", "factor", "--no-verify", "--out", target)
    assert done.exit_code == 0, done.output
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    options = {(one["variant"].count("="), one["asks"], tuple(one["options"])) for one in asked}
    assert options == {(1, "direction", ("to the left", "to the right")),
                       (1, "inverted", ("upright", "upside down")),
                       (2, "direction", ("towards you", "away from you")),
                       (2, "inverted", ("upright", "upside down"))}


@pytest.mark.parametrize(("factor", "share"), [
    ("mirrored=no,yes", 0.5), ("inverted=no,yes", 1), ("rotated=0,180", 0.5),
    ("reversed=no,yes", 0.5), ("speed=-0.8,0.8", 0.5)])
def test_the_direction_asked_for_is_the_one_that_the_picture_shows(
    factor: str, share: float, tmp_path: Path
) -> None:
    """Of walkers that cross the picture; whoever goes backwards is not asked about."""
    done = invoke("pointlight", "--walker", "--translating", "--cycles", "2", "--grid",
                  f"direction=90,270;{factor}", "--size", "128x64", "--fps", "12",
                  "--out", tmp_path)
    assert done.exit_code == 0, done.output
    rows = single_rows(tmp_path)
    made = factor_questions(rows, "direction", read_factor_wording(None), 0)
    assert len(made) == share * len(rows)
    for one in made:
        [row] = [row for row in rows if row.sample_id == one.sample_id]
        dots = np.load((tmp_path / row.file_name).with_suffix(".npz"))
        across = dots["pixels"][..., 0].mean(axis=1)
        assert one.answer == ("to the right" if across[-1] > across[0] else "to the left")


def test_the_side_asked_for_is_the_one_that_the_picture_shows(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid", "direction=0,90;mirrored=no,yes",
                  "--azimuth", "0,90", "--size", "64x64", "--fps", "12", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    rows = {row.sample_id: row for row in single_rows(tmp_path)}
    sides = {"0 (front)": 0, "90 (left side)": 90}
    made = factor_questions([*rows.values()], "azimuth", read_factor_wording(None), 0)
    assert len(made) == 3
    assert all(sides[one.answer] == rows[one.sample_id].view_azimuth_deg for one in made)
    for one in factor_questions([*rows.values()], "direction", read_factor_wording(None), 0):
        assert one.answer == {0: "towards you", 90: "to the left", 270: "to the right"}[
            int(rows[one.sample_id].view_azimuth_deg or 0)]


@pytest.mark.parametrize("arguments", [
    ("--conditions", "upright,inverted", "--azimuth", "45,90"),
    ("--grid", "inverted=no,yes;azimuth=45,90"),
    ("--grid", "inverted=no,yes", "--azimuth", "45,90"),
    ("--grid", "azimuth_deg=45,90;inverted=no,yes")], ids=" ".join)
def test_sides_and_conditions_are_factors_however_they_are_asked_for(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    done = invoke("pointlight", "--walker", *arguments, "--size", "64x64", "--fps", "12", "--out",
                  tmp_path)
    assert done.exit_code == 0, done.output
    with (tmp_path / "trials.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert len(header) == len({*header}), "each column once"
    trials = [dict(zip(header, line, strict=True)) for line in lines]
    assert {(one["condition"], one["azimuth"]) for one in trials} == {
        (condition, side) for condition in ("upright", "inverted") for side in ("45", "90")}
    for one in trials:
        assert float(one["view_azimuth_deg"]) == float(one["azimuth"])
        assert f"azimuth_{one['azimuth']}-" in one["file"]
    target = tmp_path / "questions.jsonl"
    done = invoke("questions", tmp_path, "--format", "factor", "--no-verify", "--out", target)
    assert done.exit_code == 0, done.output
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    assert {(one["asks"], tuple(one["options"])) for one in asked} == {
        ("azimuth", ("45", "90 (left side)")),
        ("condition", ("inverted", "upright")) if "--conditions" in arguments
        else ("inverted", ("upright", "upside down"))}


@pytest.mark.parametrize(("arguments", "said"), [
    (("--factor", "invertd"), "no factor of this grid that varies (did you mean inverted?)"),
    (("--difficulty", "near"), "--difficulty does not apply to --format factor")])
def test_wrong_factors_are_refused(grid: Path, arguments: tuple[str, ...], said: str) -> None:
    done = invoke("questions", grid, "--format", "factor", "--no-verify", *arguments)
    assert done.exit_code == 2 and said in done.output


def test_directions_that_no_side_names_are_asked_in_degrees(tmp_path: Path) -> None:
    invoke("pointlight", "--walker", "--grid", "direction=-90,90", "--azimuth", "30", "--size",
           "64x64", "--fps", "12", "--out", tmp_path / "set")
    target = tmp_path / "questions.jsonl"
    invoke("questions", tmp_path / "set", "--format", "factor", "--no-verify", "--out", target)
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    assert {one["answer"] for one in asked} == {"-90", "90"}


def test_the_camera_stays_where_walkers_turn(tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid", "direction=-90,90", "--azimuth", "0",
                  "--size", "64x64", "--fps", "12", "--out", tmp_path / "set")
    assert done.exit_code == 0, done.output
    dots = [np.load(file)["pixels"] for file in sorted((tmp_path / "set").glob("*.npz"))]
    assert len(dots) == 2 and np.abs(dots[0] - dots[1]).max() > 5
    rows = [json.loads(line) for line in (tmp_path / "set" / "manifest.jsonl").open()]
    assert {row["grid"]["direction"]: row["view_azimuth_deg"] % 360 for row in rows} == {
        -90: 90, 90: 270}


def test_affect_is_a_factor(tmp_path: Path) -> None:
    invoke("pointlight", "--walker", "--grid", "affect=happy,sad", "--size", "64x64", "--fps",
           "12", "--formats", "none", "--out", tmp_path / "set")
    rows = [json.loads(line) for line in (tmp_path / "set" / "manifest.jsonl").open()]
    assert {row["grid"]["affect"]: row["style"] for row in rows} == {"happy": "happy", "sad": "sad"}
    assert len({row["frames"] for row in rows}) == 2, "a happy walker steps faster"
    target = tmp_path / "questions.jsonl"
    invoke("questions", tmp_path / "set", "--format", "factor", "--no-verify", "--out", target)
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    assert {one["question"] for one in asked} == {"How does the walker feel?"}
    assert {one["answer"] for one in asked} == {"happy", "sad"}


@pytest.mark.parametrize(("grid", "said"), [
    ("affect=hapy", "--grid affect=hapy: expected one of: neutral, angry, happy, sad, afraid"),
    ("direction=left,right", "--grid direction=left: expected a number"),
    ("speed=fast", "--grid speed=fast: expected a number"),
    ("treadmill=perhaps", "--grid treadmill=perhaps: expected yes or no"),
    ("inverted=maybe", "--grid inverted=maybe: manipulation inverted: takes no value")])
def test_values_that_are_none_are_refused_in_a_line(grid: str, said: str, tmp_path: Path) -> None:
    done = invoke("pointlight", "--walker", "--grid", grid, "--out", tmp_path / "set")
    assert done.exit_code == 2 and said in done.output and "Traceback" not in done.output


@pytest.mark.parametrize(("text", "said"), [
    ("instruction: Answer", "expected {question} in it, which stands for the question"),
    ("instruction: '{question}'", "expected {options} in it, which stands for the options"),
    ("factors: 3", "factors: Input should be a valid dictionary")])
def test_wording_that_loses_the_question_is_refused(grid: Path, tmp_path: Path, text: str,
                                                    said: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    done = invoke("questions", grid, "--format", "factor", "--no-verify", "--templates", file)
    assert done.exit_code == 2 and said in done.output


def test_own_wording_of_one_factor_leaves_the_others(grid: Path, tmp_path: Path) -> None:
    file, target = tmp_path / "mine.yaml", tmp_path / "questions.jsonl"
    file.write_text("factors:\n  direction: {question: Where to?}\n")
    invoke("questions", grid, "--format", "factor", "--no-verify", "--templates", file, "--out",
           target)
    asked = [json.loads(line) for line in target.read_text().splitlines()]
    assert {one["question"] for one in asked} == {
        "Where to?", "Is the figure upright or upside down?"}


def test_an_experiment_shows_everybody_every_condition(grid: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    invoke("questions", grid, "--format", "factor", "--no-verify", "--out", file)
    done = invoke("study", "make", file, "--clips", grid, "--out", tmp_path / "s")
    assert done.exit_code == 0, done.output
    study = Study.model_validate_json((tmp_path / "s" / "private" / "key.json").read_bytes())
    [names] = study.lists
    assert len({*names}) == 8 and not study.golden and not study.practice
    asked = {study.trials[name].question for name in names}
    assert "Is the figure upright or upside down?" in asked and len(asked) == 2
