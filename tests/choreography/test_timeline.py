import json
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.code import closure
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.hands import HANGING
from mimegen.choreography.happenings import TIMELINE_SUFFIX, happenings, read_happenings
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import HandKey, Score
from mimegen.choreography.solving import solved_scene
from mimegen.choreography.tracks import track_keys
from mimegen.choreography.variation import vary
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.manifest.file import json_of, row_from
from mimegen.manifest.timeline import Interval, cut, retold
from mimegen.motion import Motion
from questions_rows import library_rows

CATALOGUE = Catalogue.with_libraries(())
SCORES = sorted(data_folder().glob("mocap/*/*.score.yaml"))


def timeline(action: str, seed: int = 0) -> list[Interval]:
    found = library_take(CATALOGUE.action(action), None, seed).timeline
    assert found is not None
    return found


def steps(action: str, seed: int, does: str) -> list[Interval]:
    return [one for one in timeline(action, seed) if one.kind == "step" and one.name == does]


@pytest.mark.parametrize("path", SCORES, ids=lambda path: path.parent.name)
def test_every_score_says_what_happens_in_it(path):
    score = read_score(path)
    said = read_happenings(path.with_name(score.take + TIMELINE_SUFFIX), score)
    assert len(said.steps) >= 2
    found = happenings(score, said)
    end = vary(score, 0)[0].line.duration
    assert found == sorted(found, key=lambda one: one.start_s)
    assert all(0 <= one.start_s <= one.end_s <= end + 1e-3 for one in found)


@pytest.mark.parametrize("path", SCORES, ids=lambda path: path.parent.name)
def test_no_hand_that_holds_something_hangs_down(path):
    score = read_score(path)
    said = read_happenings(path.with_name(score.take + TIMELINE_SUFFIX), score)
    phases = vary(score, 0)[0].line.phases
    for one in happenings(score, said):
        if one.kind == "held":
            keys = track_keys(phases, f"{one.hand}_hand", HANGING)
            now = [timed for timed in keys if timed.time <= (one.start_s + one.end_s) / 2][-1].key
            assert isinstance(now, HandKey) and now.to is not None
            assert not now.loose and now.to.anchor != "hip", (one.name, one.hand)


def asked_for(action: str, seed: int) -> Motion:
    """A take as its seed asks for it; what happens when stays, whatever is left of the rest."""
    score = read_score(data_folder() / f"mocap/{action}/{action}.score.yaml")
    return solved_scene(score, seed, 30.0, None)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_hand_that_is_said_to_drink_is_at_the_mouth(seed):
    """Of mirrored takes too, some of which are among these seeds."""
    motion = asked_for("drinking_from_cup", seed)
    names, pose = motion.skeleton.index, motion.global_pose.positions
    sips = steps("drinking from a cup", seed, "takes a sip")
    assert sips
    for one in sips:
        frame = round((one.start_s + one.end_s) / 2 * motion.fps)
        far = {side: float(np.linalg.norm(
            pose[frame, names[f"{side.title()}Hand"]] - pose[frame, names["Head"]]))
            for side in ("left", "right")}
        assert min(far, key=far.__getitem__) == one.hand, far


def test_seeds_of_both_hands_are_among_those_that_are_looked_at():
    assert {steps("drinking from a cup", seed, "takes a sip")[0].hand
            for seed in range(6)} == {"left", "right"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_as_many_jumping_jacks_are_told_as_hands_meet_overhead(seed):
    motion = asked_for("jumping_jacks", seed)
    names, pose = motion.skeleton.index, motion.global_pose.positions
    above = pose[:, names["RightHand"], 2] > pose[:, names["Head"], 2]
    risen = np.flatnonzero(above[1:] & ~above[:-1]) / motion.fps
    told = steps("jumping jacks", seed, "does a jumping jack")
    assert len(told) == len(risen)
    assert all(one.start_s < moment < one.end_s for one, moment in zip(told, risen, strict=True))


def test_things_are_in_hands_as_the_score_has_them():
    held = {(one.hand, one.object.name if one.object else None): (one.start_s, one.end_s)
            for one in timeline("archery") if one.kind == "held"}
    assert held["left", "bow"] == pytest.approx((0, 6.3), abs=0.1)
    assert held["right", "arrow"] == pytest.approx((1.5, 4.75), abs=0.1)
    contacts = [(one.hand, one.name) for one in timeline("fishing") if one.kind == "contact"]
    assert sorted(contacts) == [("left", "crank"), ("left", "rod"), ("right", "rod")]
    met = [one for one in timeline("shake hands") if one.kind == "contact"]
    assert [(one.performer, one.target, one.name, one.hand) for one in met] == [
        ("partner", "performer", "right hand", "right")]


def test_a_mirrored_take_has_other_hands_and_a_faster_one_shorter_times():
    one = Interval(kind="step", name="sips", start_s=1.0, end_s=3.0, peak_s=2.0, hand="left")
    [other] = retold([one], mirror=True, tempo=2.0)
    assert (other.start_s, other.peak_s, other.end_s, other.hand) == (0.5, 1.0, 1.5, "right")
    assert retold([one]) == [one]


@pytest.mark.parametrize(("kind", "name", "mirrored"), [
    ("contact", "right hand", "left hand"), ("contact", "left_drum", "right_drum"),
    ("relation", "left of", "right of"), ("gaze", "left hand", "right hand"),
    ("contact", "upright piano", "upright piano"), ("speech", "turn right", "turn right"),
])
def test_names_of_what_a_mirrored_hand_is_on_have_the_other_side(kind: str, name: str,
                                                                 mirrored: str):
    one = Interval(kind=kind, name=name, start_s=1.0, end_s=3.0)
    assert retold([one], mirror=True)[0].name == mirrored
    assert retold([one])[0].name == name


def test_the_way_to_a_place_on_one_side_leads_to_the_other_in_the_mirror():
    one = Interval(kind="step", name="walks to the left door", target="left door", start_s=1.0,
                   end_s=3.0)
    [other] = retold([one], mirror=True)
    assert (other.name, other.target) == ("walks to the right door", "right door")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_hand_is_on_the_shoulder_of_the_other_that_is_named(seed):
    """Seed 1 is a mirrored take."""
    score = read_score(data_folder() / "mocap/comforting/comforting.score.yaml")
    assert vary(score, seed)[0].mirror is (seed == 1)
    own, other = solved_scene(score, seed, 30.0, None)
    touched = [one for one in timeline("comforting", seed)
               if one.kind == "contact" and one.name.endswith("shoulder")]
    assert touched
    for one in touched:
        assert one.hand is not None
        frame = round(float(one.start_s + one.end_s) / 2 * own.fps)
        hand = own.global_pose.positions[frame, own.skeleton.index[f"{one.hand.title()}Hand"]]
        far = {f"{side} shoulder": float(np.linalg.norm(other.global_pose.positions[
            frame, other.skeleton.index[f"{side.title()}Arm"]] - hand))
            for side in ("left", "right")}
        assert one.name == min(far, key=lambda side: far[side])


def test_a_part_of_a_take_has_what_lies_in_it():
    first, second = (Interval(kind="step", name="s", start_s=a, end_s=b) for a, b in
                     ((0.0, 1.0), (1.5, 4.0)))
    # From 1 to 3 s, at half the speed.
    [left] = cut([first, second], np.array([1.0, 3.0]), np.array([0.0, 4.0]))
    assert (left.start_s, left.end_s) == (1.0, 4.0)


def written(tmp_path: Path, text: str) -> tuple[Path, Score]:
    path = tmp_path / "fishing.timeline.yaml"
    path.write_text(text)
    return path, read_score(data_folder() / "mocap/fishing/fishing.score.yaml")


@pytest.mark.parametrize(("text", "said"), [
    ("steps: [{from: 1, to: 2, does: lifts the left arm}]", "leave out left and right"),
    ("steps: [{from: 2, to: 1, does: casts}]", "2 to 1 s is not a valid span of a score of 5.9 s"),
    ("steps: [{from: 1, to: 9, does: casts}]", "not a valid span of a score"),
    ("steps: [{from: 1, to: 2.7, does: casts}]", "cuts into the repeated part, 2.5 to 3 s"),
    ("steps: [{from: 1, to: 2, does: casts, thing: rod}]", "unknown thing 'rod'"),
    ("steps: [{from: 1, to: 2, does: casts, who: partner}]", "the score has no partner"),
    ("things: {rod: {left: [[3, 9]]}}", "3 to 9 s is not a valid span"),
    ("things: {rod: {length: 2}}", "unknown key"),
    ("cue: {from: 1, to: 2, peak: 3}", "peak: is outside the cue")])
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, said):
    path, score = written(tmp_path, text)
    with pytest.raises(RequestError, match=rf"fishing\.timeline\.yaml: line 1: .*{said}"):
        read_happenings(path, score)


def test_rows_keep_their_timeline_and_old_ones_have_none():
    [row] = library_rows(("base+blank@0",), ("fishing",))
    assert row.timeline is None
    told = row.model_copy(update={"timeline": timeline("fishing")})
    again = row_from(json_of(type(row)(**{**dict(row), "timeline": timeline("fishing")})))
    assert again.timeline == told.timeline
    content = json.loads(json_of(row)) | {"timeline": [{"kind": "gaze", "name": "looks",
                                                        "start_s": 0, "end_s": 1, "at": "door"}]}
    newer = row_from(json.dumps(content))
    assert newer.timeline is not None and newer.timeline[0].__pydantic_extra__ == {"at": "door"}
    content["timeline"][0]["start_s"] = -1
    with pytest.raises(ValueError, match="timeline 0 start_s"):
        row_from(json.dumps(content))


def test_nothing_that_is_drawn_depends_on_what_is_said_about_it():
    """So that no shot is drawn again for a word."""
    drawn = closure("mimegen.choreography.perform", "mimegen.rendering.cycles.shotframes",
                    "mimegen.shots.framing", "mimegen.retarget.performing",
                    "mimegen.pointlight.scenes", "mimegen.pointlight.filming",
                    "mimegen.compositing.backdrop", "mimegen.compositing.video")
    assert {"mimegen.choreography.happenings", "mimegen.manifest.timeline",
            "mimegen.choreography.action"} & {*drawn} == set()
