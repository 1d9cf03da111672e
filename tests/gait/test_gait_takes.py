import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.gait.walker import manners
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.gait_take import GaitTake
from mimegen.library.takes import SeededTakes, altered, library_take
from mimegen.motion import Motion
from mimegen.motion.editing import mirrored, moved
from mimegen.pointlight.landmarks import dot_set, motion_dots
from mimegen.pointlight.manipulation import Setting
from mimegen.pointlight.manipulations import read_manipulation
from mimegen.readers.roles import find_roles
from running import invoke

CATALOGUE = Catalogue.with_libraries(())


def gait(action, seed=0, **asked):
    take = library_take(CATALOGUE.action(action), None, seed, gait=asked)
    assert isinstance(take, GaitTake)
    return take


@pytest.mark.parametrize("name", sorted(manners()))
def test_every_manner_is_an_action(name):
    take = gait(name)
    assert take.gait_file.manner == name
    [(motion, roles)] = take.sources(30.0)
    assert motion.frames > 30 and roles is None


def test_seeds_are_other_walkers_and_what_is_asked_stays():
    takes = SeededTakes((gait("walking", speed=1.2),), range(3))
    assert len({take.key for take in takes}) == 3
    first, second = (take.sources(60.0)[0][0] for take in takes[:2])
    assert not np.allclose(first.rotations[0], second.rotations[0])
    assert all(take.facts()["gait"]["speed"] == pytest.approx(1.2) for take in takes)
    assert gait("walk", 1).walker.knobs != gait("walk", 2).walker.knobs


def test_what_was_asked_is_in_names_keys_and_rows():
    plain, happy = gait("walk"), gait("walk", happy=2.0)
    assert plain.key != happy.key and "happy_2" in happy.version
    assert happy.facts()["gait"]["happy"] == 2.0 and happy.facts()["motion_kind"] == "gait"
    assert altered(happy, 1.5, True).key != happy.key


@pytest.mark.parametrize("speed", [0.9, 1.2, 1.3])
def test_rows_of_a_loop_have_the_cadence_of_its_frames(speed):
    take = replace(gait("walk", speed=speed, treadmill=True, cycles=2.0), loop=3, loop_fps=60.0)
    [(motion, _)] = take.sources(60.0)
    said, steps = take.facts()["gait"], 4
    assert said["cadence"] == pytest.approx(steps / (motion.frames / 60.0 / 60.0), abs=1e-3)
    assert said["step_length"] == pytest.approx(60 * speed / said["cadence"], abs=1e-4)


@pytest.mark.parametrize("who", ["man", "woman"])
def test_rows_have_the_speed_of_the_body_that_walks(who):
    casting = Casting(gait("walk", speed=1.2), (cast_member(CATALOGUE, who),))
    [performance] = casting.perform(60.0)
    motion, said = performance.motion, casting.body_facts()["gait"]
    hips = motion.global_pose.positions[:, 0]
    shown = np.linalg.norm((hips[-1] - hips[0])[:2]) / (motion.frames - 1) * motion.fps
    assert shown == pytest.approx(said["speed"], rel=0.02)
    assert said["speed"] == pytest.approx(1.2 * said["body_scale"], abs=1e-3)
    assert said["asked"] == {"speed": 1.2} and abs(said["body_scale"] - 1) < 0.12
    assert said["cadence"] == casting.take.facts()["gait"]["cadence"]


@pytest.mark.parametrize("tempo", [1.0, 1.5])
@pytest.mark.parametrize("mirror", [False, True])
def test_rows_say_how_the_walker_goes_as_shown(tempo, mirror):
    """Compared with where the joints of the standard person are, mirrored as performances are."""
    take = altered(gait("walk", direction=30.0, phase=0.0), tempo, mirror)
    said, [(motion, _)] = take.facts()["gait"], take.sources(60.0)
    shown = moved(mirrored(motion), np.zeros(3), 2 * MIME_AZIMUTH_DEG) if mirror else motion
    hips, left, right = (shown.global_pose.positions[:, shown.skeleton.index[name]]
                         for name in ("Hips", "LeftFoot", "RightFoot"))
    way = hips[-1] - hips[0]
    assert np.hypot(*way[:2]) / shown.last_s == pytest.approx(said["speed"], rel=0.03)
    assert np.degrees(np.arctan2(way[0], -way[1])) == pytest.approx(said["direction_deg"], abs=3)
    # At phase 0 the left foot is placed and so ahead; at 0.5 the right one is.
    assert said["phase"] == (0.5 if (right - left)[0] @ way > 0 else 0.0)
    assert said["phase"] == 0.5 * mirror


def test_a_mirrored_walker_turns_to_the_other_side():
    take = library_take(CATALOGUE.action("walk"), "walk_turning", 0)
    turns = [altered(take, 1.0, mirror).facts()["gait"]["turn_deg"] for mirror in (False, True)]
    assert turns == [90.0, -90.0]


def test_options_of_gaits_do_not_apply_to_others():
    with pytest.raises(RequestError, match="not a gait"):
        library_take(CATALOGUE.action("bowling"), None, 0, gait={"speed": 1.0})
    with pytest.raises(RequestError, match="speed"):
        gait("walk", speed=30.0)
    with pytest.raises(RequestError, match="no style"):
        library_take(CATALOGUE.action("walk"), None, 0, "jolly")


def flat_drifts(source: Motion, shown: Motion):
    """Return how far (mm) feet of a character stray while the walker's stand flat."""
    found = []
    for side in ("Left", "Right"):
        ours, theirs = ([motion.skeleton.index[side + name] for name in ("Foot", "ToeBase")]
                        for motion in (source, shown))
        moves = np.gradient(source.global_pose.positions[:, ours], axis=0) * source.fps
        flat = (np.linalg.norm(moves, axis=-1) < 0.01).all(axis=1)
        edges = np.flatnonzero(np.diff(np.r_[0, flat, 0])).reshape(-1, 2)
        for start, end in edges[np.diff(edges)[:, 0] > 4]:
            places = shown.global_pose.positions[start:end, theirs]
            found.append(1000 * np.abs(places - np.median(places, axis=0)).max())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_planted_feet_stay_on_characters(seed):
    take = gait("walk", seed, cycles=2.0)
    shown = Casting(take, (cast_member(CATALOGUE, "man"),)).perform(60.0)[0].motion
    drifts = flat_drifts(take.sources(60.0)[0][0], shown)
    assert len(drifts) >= 3 and max(drifts) < 1.0


@pytest.mark.slow
def test_a_walker_is_written_in_whole_cycles(tmp_path):
    target = tmp_path / "walker.npz"
    invoke("pointlight", "--walker", "--speed", "1.2", "--cycles", "2", "--fps", "30",
           "--out", str(target))
    with np.load(target) as found:
        places = found["metres"]
    half = len(places) // 2
    assert len(places) % 2 == 0 and np.abs(places[:half] - places[half:]).max() < 1e-4


def test_a_grid_is_one_trial_list(tmp_path):
    invoke("pointlight", "--walker", "--grid", "direction=0,90;inverted=no,yes", "--size", "64x64",
           "--fps", "12", "--out", str(tmp_path / "set"))
    with (tmp_path / "set" / "trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["direction"], row["inverted"]) for row in rows] == [
        ("0", "no"), ("0", "yes"), ("90", "no"), ("90", "yes")]
    assert all((tmp_path / "set" / row["file"]).is_file() for row in rows)
    listed = json.loads((tmp_path / "set" / "trials.json").read_text())
    assert [row["file"] for row in listed] == [row["file"] for row in rows]


@pytest.mark.parametrize("wrong", ["speed", "spede=1", "mask="])
def test_wrong_grids_are_refused(wrong, tmp_path):
    found = invoke("pointlight", "--walker", "--grid", wrong, "--out", tmp_path / "set")
    assert found.exit_code == 2 and "--grid" in found.output


@pytest.fixture(scope="module")
def dots():
    [(motion, _)] = gait("walk", cycles=1.0, treadmill=True).sources(60.0)
    return motion_dots(motion, find_roles(motion.skeleton).joints, dot_set("johansson"))


def setting(dots):
    """What these manipulations know of a display of a walker who stays where they are."""
    roots = np.zeros((dots.frames, 1, 3))
    return Setting(np.random.default_rng(1), 60.0, 512, 512, roots, float)


def test_only_keeps_the_part(dots):
    kept = read_manipulation("only=feet").apply(dots, setting(dots))
    assert kept.names == ("left_ankle", "right_ankle")


def test_flipped_feet_keep_their_mean_height_and_leave_the_rest(dots):
    found = read_manipulation("flipped=feet").apply(dots, setting(dots))
    feet = np.array(["ankle" in name for name in dots.names])
    assert np.allclose(found.positions[:, ~feet], dots.positions[:, ~feet])
    assert np.allclose(found.positions[..., 1].mean(axis=0), dots.positions[..., 1].mean(axis=0))
    assert np.allclose(np.ptp(found.positions, axis=0), np.ptp(dots.positions, axis=0))
    back = read_manipulation("flipped=feet").apply(found, setting(dots))
    assert np.allclose(back.positions, dots.positions)


def test_out_of_phase_shifts_one_limb(dots):
    found = read_manipulation("out_of_phase=0.5/part=left_leg").apply(dots, setting(dots))
    knee = dots.names.index("left_knee")
    assert np.allclose(found.positions[:, knee], np.roll(dots.positions[:, knee],
                                                      round(dots.frames / 2), axis=0))
    assert np.allclose(found.positions[:, 0], dots.positions[:, 0])


def test_sines_are_sines(dots):
    found = read_manipulation("sines").apply(dots, setting(dots))
    waves = np.abs(np.fft.rfft(found.positions[..., :2], axis=0))
    assert (np.count_nonzero(waves > 1e-6 * waves.max(), axis=0) <= 2).all()


def test_a_crowd_has_one_that_is_mirrored(dots):
    found = read_manipulation("crowd=4").apply(dots, setting(dots))
    assert found.count == 4 * dots.count
    inside = found.positions[..., :2]
    assert inside.min() >= 0 and inside.max() <= 512
    spans = [np.sort(inside[:, i * dots.count:(i + 1) * dots.count, 0].ptp(axis=0))
             for i in range(4)]
    assert all(np.allclose(span, spans[0]) for span in spans)


def test_seeds_draw_how_a_way_turns_and_with_which_foot_it_begins():
    takes = [library_take(CATALOGUE.action("walk"), "walk_turning", seed) for seed in range(9)]
    ways = [take.path for take in takes if isinstance(take, GaitTake)]
    assert ways[0].turn_deg == 90 and ways[0].wander_deg == 0
    turns = [way.turn_deg for way in ways[1:]]
    assert len({*turns}) == 8 and min(turns) < 0 < max(turns)
    assert all(0.6 * 90 <= abs(turn) <= 1.15 * 90 for turn in turns)
    assert all(0 <= way.turns[0] < way.turns[1] <= 1 for way in ways)
    stairs = library_take(CATALOGUE.action("stairs_up"), None, 5)
    assert isinstance(stairs, GaitTake) and stairs.path.wander_deg == 0
