"""Score files: what may be written in them, and what is said when it is wrong."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.action import read_action
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform, perform_scene
from mimegen.choreography.places import LEFT, RIGHT, parse_direction, parse_place
from mimegen.choreography.reading import read_score
from mimegen.choreography.timing import blend_weights
from mimegen.choreography.tracks import timeline, track_keys
from mimegen.choreography.variation import vary
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.hand_shapes import finger_rotations, hand_shapes

GOOD = """\
action: waving
about: a wave
duration: 2.5
props: {flag: a flag}
phases:
  - {at: 0, flag: {to: chest 0 30 0}}
  - {at: 1, right_hand: {to: flag 0 0 0, shape: fist}}
  - at: 2
    hands: {to: chest 5 30 0}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "waving.score.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(("wrong", "right", "message"), [
    ("shape: fist", "shape: fits", r"line 7: right_hand shape: unknown hand shape 'fits'.*fist"),
    ("to: flag 0", "to: flgg 0", r"line 7: right_hand to: unknown landmark 'flgg'.*flag"),
    ("hands: {", "hnads: {", r"line 9: .*hnads: unknown key.*hands"),
    ("at: 2\n", "at: 0.5\n", r"line 8: phases at: time runs backwards: 0.5 s follows 1 s"),
    ("duration: 2.5", "duration: 1", r"line 3: duration: 1 s ends before the last phase at 2 s"),
    ("duration: 2.5", "duration: 2\nrepeat: [{after: 0, until: 2, times: 1, least: 0}]",
     r"line 4: repeat: .*leave out the whole take"),
    ("{to: chest 5 30 0}", "{to: chest 5 30}", r"line 9: hands to: a place is a landmark"),
    ("{to: chest 5 30 0}", "{palm: inn}", r"line 9: hands palm: .*'inn' is no direction.*in"),
    ("{at: 1, right", "{at: one, right", r"line 7: phases at: .*valid number"),
    ("about: a wave", "about: a wave\nabout: twice", r"line 3: about: is given twice"),
    ("{to: chest 0 30 0}", "{to: shoulder 0 30 0}", r"line 6: flag to: 'shoulder' has two sides"),
    ("phases:\n  - {at: 0,", "phases:\n  - {at: 0.5,", r"line 6: phases at: the first phase"),
    ("shape: fist", "shape: fist, palm: in+out", r"line 7: right_hand palm: .*cancel out"),
    ("shape: fist", "shape: fist, palm: in, fingers: 2in",
     r"line 7: right_hand fingers: .*must not"),
    ("{at: 1, right", "{at: 1, walk: {forward: 50, since: 1.5}, right",
     r"line 7: walk since: time runs backwards: 1.5 s is not before 1 s"),
    ("{at: 1, right", "{at: 1, walk: {forward: 900}, right",
     r"line 7: phases walk: .* m/s: people run at 7 m/s at most"),
    ("to: flag 0", "to: partner_eyes 0", r"line 7: right_hand to: unknown landmark"),
    ("phases:", "phases: [", r"not valid YAML"),
])
def test_errors_name_file_line_and_key(
    tmp_path: Path, wrong: str, right: str, message: str
) -> None:
    assert wrong in GOOD
    with pytest.raises(RequestError, match=message) as caught:
        read_score(written(tmp_path, GOOD.replace(wrong, right)))
    assert "waving.score.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_a_request_error(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be read"):
        read_score(tmp_path / "none.score.yaml")


def test_a_good_score_is_read(tmp_path: Path) -> None:
    score = read_score(written(tmp_path, GOOD))
    assert [track for track, _ in score.phases[2].moves()] == ["left_hand", "right_hand"]
    assert score.take == "waving"


def test_tracks_that_are_not_mentioned_hold(tmp_path: Path) -> None:
    text = GOOD.replace("hands: {to", "left_hand: {to") + "  - {at: 2.3, right_hand: {to: flag}}\n"
    score = read_score(written(tmp_path, text))
    before = score.phases[1].right_hand
    assert before is not None
    keys = track_keys(timeline(score).phases, "right_hand", before)
    assert [key.time for key in keys] == [0, 1, 2, 2.3]
    assert keys[2].key == keys[1].key


def test_repeats_are_written_out(tmp_path: Path) -> None:
    text = GOOD.replace("phases:", "repeat: [{after: 0, until: 1, times: 3}]\nphases:")
    line = timeline(read_score(written(tmp_path, text)))
    assert [phase.at for phase in line.phases] == [0, 1, 2, 3, 4]
    assert line.duration == 4.5


def test_a_seed_may_leave_out_what_need_not_be_repeated(tmp_path: Path) -> None:
    spans = "repeat: [{after: 0, until: 1, times: 1%s}]\nphases:"
    counts = {}
    for least in ("", ", least: 0"):
        score = read_score(written(tmp_path, GOOD.replace("phases:", spans % least)))
        counts[least] = {len(vary(score, seed)[0].line.phases) for seed in range(12)}
    whole = len(read_score(written(tmp_path, GOOD)).phases)
    assert counts[""] == {whole, whole + 1}
    assert counts[", least: 0"] == {whole - 1, whole, whole + 1}


@given(
    st.lists(st.floats(0.05, 2.0), min_size=1, max_size=8),
    st.lists(st.sampled_from(["stop", "pass", "impact"]), min_size=9, max_size=9),
)
def test_weights_sum_to_one_and_hit_their_keys(spans: list[float], how: list[str]) -> None:
    times = np.cumsum([0.0, *spans])
    count = len(times)
    moments = np.sort(np.r_[times, np.linspace(-0.5, times[-1] + 0.5, 101)])
    weights = blend_weights(list(times), how[:count], moments)
    assert np.allclose(weights.sum(axis=1), 1.0)
    at_keys = blend_weights(list(times), how[:count], times)
    assert np.allclose(at_keys, np.eye(count), atol=1e-6)


@given(st.floats(0.05, 0.4), st.floats(1.0, 4.0), st.booleans())
def test_a_key_far_behind_two_near_ones_does_not_swing_the_track_out(
    near: float, far: float, early: bool
) -> None:
    times = np.cumsum([0.0, 0.4, near, 8 * near + far])
    if early:
        times = times[-1] - times[::-1]
    values = np.array([0.0, 10.0, 12.0, 0.0])[:: -1 if early else 1]
    way = blend_weights(list(times), ["stop", "pass", "pass", "stop"],
                        np.linspace(0, times[-1], 301)) @ values
    assert way.min() > -0.5 and way.max() < 13.5


def test_a_reach_between_two_stops_is_minimum_jerk() -> None:
    share = np.linspace(0, 1, 21)
    weights = blend_weights([0.0, 1.0], ["stop", "stop"], share)[:, 1]
    assert np.allclose(weights, 10 * share**3 - 15 * share**4 + 6 * share**5)


@given(st.tuples(*[st.floats(-90, 90)] * 3))
def test_places_are_read_as_written(offset: tuple[float, float, float]) -> None:
    place = parse_place("mouth {!r} {!r} {!r}".format(*offset))
    assert place.anchor == "mouth" and place.offset == offset


def test_directions_add_up() -> None:
    assert parse_direction("in+0.3back") == (-1, -0.3, 0, 0)
    right = parse_direction("right+0.5up")
    assert (right.in_axes(LEFT) == right.in_axes(RIGHT)).all()
    assert right.in_axes(RIGHT)[0] == -1


def test_hand_shapes_close_towards_the_palm_without_hyperextension() -> None:
    skeleton = standard_skeleton()
    for shape in hand_shapes().values():
        turns = finger_rotations(skeleton, shape)
        assert np.allclose(np.linalg.norm(turns, axis=-1), 1.0)
    fist = finger_rotations(skeleton, hand_shapes()["fist"])
    tip = quaternions.rotate(fist[8], [1.0, 0, 0])
    assert tip[0] < 0.3


@pytest.mark.slow
def test_lint_finds_what_is_wrong() -> None:
    path = next((data_folder() / "mocap").glob("boxing/*.score.yaml"))
    score = read_score(path)
    motion = perform(score)
    slid = motion.root_positions.copy()
    slid[:, 0] += np.linspace(0, 0.3, len(slid))
    bent = motion.rotations.copy()
    bent[100:, motion.skeleton.index["LeftHand"]] = quaternions.from_euler("XYZ", [0, 0, 120])
    broken = Motion(motion.skeleton, motion.fps, slid, bent)
    kinds = {finding.kind for finding in lint([broken], score)}
    assert {"feet", "wrist", "speed", "reach"} <= kinds
    frozen = Motion(motion.skeleton, motion.fps, motion.root_positions[:1].repeat(90, axis=0),
                    motion.rotations[:1].repeat(90, axis=0))
    assert "frozen" in {finding.kind for finding in lint([frozen], score)}


HELD = """\
action: waving
about: something held
duration: 2.1
props:
  thing: {about: what is held, %s}
phases:
  - at: 0
    thing: {to: chest 0 35 -10}
    hands: {to: thing %s, touch: palm, bar: in, shape: grip, how: pass}
  - {at: 2, %s}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("form", "place", "moved", "wrong"), [
    ("form: rod, along: left, length: 90", "22 0 0", "thing: {to: chest 0 30 5}", []),
    ("form: rod, along: left, length: 30", "22 0 0", "thing: {to: chest 0 30 5}",
     ["hands apart on the thing"]),
    ("form: rod, along: left, length: 90", "22 0 0", "thing: {tilt: 5}, left_hand: {bar: up}", []),
    ("form: ring, radius: 22", "22 0 0", "thing: {tilt: 20}", []),
    ("form: ring, radius: 22", "22 0 0", "hands: {to: thing 0 0 22}",
     ["Left hand on the thing", "Right hand on the thing"]),
    ("form: ring, radius: 14", "22 0 0", "thing: {tilt: 20}",
     ["Left hand on the thing", "Right hand on the thing"]),
    ("upright: 40", "5 0 0", "thing: {tilt: 30}", []),
    ("upright: 40", "5 0 0", "thing: {lean: 120}", ["thing tipped"]),
])
def test_hands_are_held_to_the_form_of_things(
    tmp_path: Path, form: str, place: str, moved: str, wrong: list[str]
) -> None:
    score = read_score(written(tmp_path, HELD % (form, place, moved)))
    found = [finding.part for finding in lint(perform_scene(score, 0, 20.0), score)
             if finding.kind == "form"]
    assert found == wrong


def test_a_rod_lies_along_the_grip(tmp_path: Path) -> None:
    text = HELD % ("form: rod, along: left, length: 90", "22 0 0", "thing: {turn: 15}")
    score = read_score(written(tmp_path, text))
    motion = perform(score, 0, 20.0)
    assert "Left grip along the thing" not in {found.part for found in lint([motion], score)}
    bent = motion.rotations.copy()
    bent[:, motion.skeleton.index["LeftHand"]] = quaternions.from_euler("XYZ", [0, 0, 60])
    broken = Motion(motion.skeleton, motion.fps, motion.root_positions, bent)
    assert "Left grip along the thing" in {found.part for found in lint([broken], score)}


def test_a_form_needs_its_size(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"line 5: props thing: .*a rod has a length"):
        read_score(written(tmp_path, HELD % ("form: rod", "5 0 0", "thing: {tilt: 1}")))


def test_an_action_in_the_wrong_folder_is_refused(tmp_path: Path) -> None:
    text = (data_folder() / "mocap" / "boxing" / "action.yaml").read_text(encoding="utf-8")
    (tmp_path / "action.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RequestError, match="line 1: id: 'boxing' is in a folder named"):
        read_action(tmp_path / "action.yaml")


def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    document = data_folder() / "docs" / "reference" / "scores.md"
    if not document.is_file():
        pytest.skip("the documentation is not part of an installed package")
    text = document.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    score = read_score(written(tmp_path, text))
    motion = perform(score)
    assert motion.last_s == pytest.approx(4.0)
    assert [str(finding) for finding in lint([motion], score)] == []
