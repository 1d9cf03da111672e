"""Walks of scores: how many steps, how they start and stop, and when they are runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gait_measures import leg_angles, soles
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.body import centimetre
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.choreography.walking import Walk, walks
from mimegen.gait.walker import Walker, pace_of
from mimegen.gait.walking import walk_loop
from mimegen.motion import Motion, standard_skeleton

CM = centimetre(standard_skeleton())
FPS = 60.0


def score_of(folder: Path, first: str, last: str, duration: float) -> Score:
    file = folder / "moving.score.yaml"
    file.write_text(f"action: moving\nabout: moving\nbalanced: false\nvary: {{mirror: false}}\n"
                    f"duration: {duration}\nphases:\n  - {{at: 0{first}}}\n  - {last}\n",
                    encoding="utf-8")
    return read_score(file)


def walk_of(folder: Path, last: str) -> Walk:
    [walk] = walks(score_of(folder, "", last, 12).phases)
    return walk


def passing(folder: Path, speed: float, seconds: float, more: str = "") -> Score:
    """Return a score that begins and ends in mid-walk."""
    half = speed * seconds / CM / 2
    return score_of(folder, f", walk: {{forward: {-half:.3f}, how: pass}}",
                    f"{{at: {seconds}, walk: {{forward: {half:.3f}, how: pass{more}}}}}", seconds)


@pytest.mark.parametrize("speed", [0.5, 0.9, 1.3, 1.9, 2.6, 4.0])
def test_steps_are_as_long_as_people_take_at_that_speed(tmp_path: Path, speed: float) -> None:
    [walk] = walks(passing(tmp_path, speed, 4.0).phases)
    usual = pace_of(Walker(speed=speed)).stride / 2
    assert walk.steps == pytest.approx(speed * 4.0 / usual, abs=0.6)


def test_steps_that_are_given_count(tmp_path: Path) -> None:
    [walk] = walks(passing(tmp_path, 1.3, 6.0, ", steps: 9").phases)
    assert walk.steps == 9


def test_steps_aside_are_shorter(tmp_path: Path) -> None:
    ahead, aside = (walk_of(tmp_path, f"{{at: 5, walk: {{{way}: 300}}}}")
                    for way in ("forward", "left"))
    assert aside.steps > 1.4 * ahead.steps


def test_turns_on_the_spot_have_steps_too(tmp_path: Path) -> None:
    assert walk_of(tmp_path, "{at: 4, walk: {turn: 250}}").steps == 6


def test_people_start_and_stop_in_one_and_a_half_steps(tmp_path: Path) -> None:
    walk = walk_of(tmp_path, "{at: 6, walk: {forward: 700, steps: 10}}")
    moments = np.linspace(0.0, 6.0, 2401)
    speed = np.gradient(walk.at(moments)[:, 1], moments)
    full = speed > 0.99 * speed.max()
    begins, ends = moments[full][[0, -1]] / walk.step_s
    # The body starts a tenth of a step after the foot, and arrives half a step before the last.
    assert 1.3 < begins < 1.6 and 1.3 < 10 - 0.5 - ends + 0.1 < 1.6
    assert np.abs(np.gradient(speed, moments)).max() < 320.0


def test_short_walks_start_as_they_stop(tmp_path: Path) -> None:
    walk = walk_of(tmp_path, "{at: 1.2, walk: {forward: 60, steps: 2}}")
    moments = np.linspace(0.0, 1.2, 241)
    way = walk.at(moments)[:, 1]
    assert way[[0, -1]] == pytest.approx([0, 60], abs=0.1)
    assert (np.diff(way) > -1e-9).all()


def test_steps_may_last_long(tmp_path: Path) -> None:
    motion = perform(score_of(tmp_path, "", "{at: 8, walk: {forward: 60, steps: 3}}", 8), 0, 30.0)
    assert np.isfinite(motion.root_positions).all()


def flies(motion: Motion) -> NDArray[Any]:
    """Say (F,) when both feet are clear of the floor."""
    ball = standard_skeleton().heads[standard_skeleton().index["LeftToeBase"], 2]
    up = [np.minimum(motion.global_pose.positions[:, motion.skeleton.index[f"{side}ToeBase"], 2]
                     - ball, soles(motion, side)[:, 0, 2]) for side in SIDES]
    return np.asarray(np.minimum(*up) > 0.01)


def test_above_two_metres_a_second_people_run(tmp_path: Path) -> None:
    step_s = 0.36
    score = passing(tmp_path, 3.0, 10 * step_s, ", steps: 10, first: left")
    motion, cycle = perform(score, 0, FPS), walk_loop(Walker(speed=3.0, cadence=60 / step_s), FPS)
    # The left foot lands a tenth of a step before each step's time is over.
    at = (2.9 + 2 * np.arange(cycle.frames) / cycle.frames) * step_s
    moments = np.arange(motion.frames) / FPS
    for angles, gait, most in zip(leg_angles(motion), leg_angles(cycle), (9, 10, 8), strict=True):
        assert np.sqrt(np.mean((np.interp(at, moments, angles) - gait) ** 2)) < most
    height = np.interp(at, moments, motion.root_positions[:, 2])
    assert np.ptp(height) == pytest.approx(np.ptp(cycle.root_positions[:, 2]), abs=0.015)
    assert 0.1 < flies(motion).mean() < 0.5


@pytest.mark.parametrize(("speed", "flying"), [(1.3, False), (1.8, False), (2.8, True)])
def test_walkers_always_have_a_foot_on_the_floor(tmp_path: Path, speed: float, flying: bool
                                                 ) -> None:
    assert flies(perform(passing(tmp_path, speed, 3.0), 0, FPS)).any() == flying


@pytest.mark.parametrize("seed", [0, 4])
def test_a_run_from_a_stand_to_a_stand_is_clean(tmp_path: Path, seed: int) -> None:
    score = score_of(tmp_path, "", "{at: 3, walk: {forward: 700}}", 3.6)
    motion = perform(score, seed, 30.0)
    assert [str(found) for found in lint([motion], score, seed) if found.kind != "frozen"] == []
    assert flies(motion).any()
