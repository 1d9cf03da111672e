"""Hand actions: a table of shapes and ways, performed by seeds and by either hand."""

import re
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file
from mimegen.cli import main
from mimegen.hands.compiling import Drawn, drawn, score_of
from mimegen.hands.table import Gesture, read_table, table_file
from mimegen.library.catalogue import Catalogue
from mimegen.library.hand_take import HandTake
from mimegen.library.takes import library_take
from mimegen.motion import quaternions, standard_skeleton
from mimegen.motion.hand_shapes import (
    FINGERS,
    finger_bends,
    finger_rotations,
    hand_shapes,
    side_pose,
)
from mimegen.motion.quaternions import FloatArray

CATALOGUE = Catalogue.with_libraries(())
TABLE = read_table(table_file())
ALL = sorted((one for takes in TABLE.gestures.values() for one in takes.values()),
             key=lambda one: (one.id, one.take))
ONE_HANDED = [one for one in ALL if not one.two_handed]
SIDE = {"left": 1.0, "right": -1.0}


def take_of(action: str, seed: int = 0, hand: str | None = None) -> HandTake:
    take = library_take(CATALOGUE.action(action), None, seed, hand=hand)  # type: ignore[arg-type]
    assert isinstance(take, HandTake)
    return take


def wrists(take: HandTake, side: str) -> FloatArray:
    [(motion, _)] = take.sources(15.0)
    return motion.global_pose.positions[:, motion.skeleton.index[f"{side}Hand"]]


def test_the_sets_are_whole() -> None:
    assert {name: len(CATALOGUE.in_set(name)) for name in (
        "gaia-hands", "fingerspelling", "hand-shapes")} == {
        "gaia-hands": 83, "fingerspelling": 26, "hand-shapes": 20}
    assert CATALOGUE.missing_from("gaia-hands") == ()


def test_hand_actions_are_asked_for_by_themselves() -> None:
    assert not CATALOGUE.hands.keys() & CATALOGUE.actions.keys()
    assert CATALOGUE.action("OK").action.id == "ok_sign"
    assert CATALOGUE.action("Rotate fists counter-clockwise"
                            ).action.id == "rotate_fists_counterclockwise"
    # A name that a whole body's action has stays that one's.
    assert CATALOGUE.action("applause").action.id == "clap"


def test_every_cell_of_the_grid_is_an_action() -> None:
    cells = [f"{verb}_{thing}_{way}" for verb in ("move", "wave")
             for thing in ("fist", "palm", "fingers", "finger")
             for way in ("up", "down", "left", "right", "forward", "backward")]
    assert not {*cells} - CATALOGUE.hands.keys()


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_every_take_becomes_a_score_whose_hands_have_places(seed: int) -> None:
    for one in ALL:
        draw = drawn(one, seed, None)
        score = score_of(one, TABLE.classes[one.kind], draw, table_file())
        times = [phase.at for phase in score.phases]
        assert times == sorted(set(times)), one.id
        last = score.phases[-1]
        keys = {"left": last.left_hand, "right": last.right_hand}
        used = {side for side, key in keys.items() if key is not None}
        assert used == ({"left", "right"} if one.two_handed or draw.hand == "both"
                        else {draw.hand}), one.id


@pytest.mark.parametrize(("action", "axis", "sign"), [
    ("move_fist_up", 2, 1), ("move_palm_down", 2, -1), ("move_fingers_up", 2, 1)])
def test_a_hand_moves_where_its_name_says(action: str, axis: int, sign: int) -> None:
    way = wrists(take_of(action), "Right")
    assert sign * (way[len(way) * 2 // 3, axis] - way[0, axis]) > 0.08


@pytest.mark.parametrize("hand", ["left", "right"])
def test_left_and_right_are_the_persons_own_whichever_hand_moves(hand: str) -> None:
    for action, sign in (("move_palm_left", 1), ("move_palm_right", -1)):
        take = take_of(action, hand=hand)
        turned = np.deg2rad(take.score.facing)
        left = np.array([np.cos(turned), np.sin(turned), 0.0])
        way = wrists(take, hand.capitalize()) @ left
        assert sign * (way[-1] - way[0]) > 0.15


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(ONE_HANDED), st.integers(0, 10**6))
def test_the_left_hand_mirrors_the_right_where_no_side_is_named(one: Gesture, seed: int) -> None:
    right, left = (drawn(one, seed, hand) for hand in ("right", "left"))
    assert (right.size, right.tempo, right.posture) == (left.size, left.tempo, left.posture)
    said = TABLE.classes[one.kind]
    sided = one.hand.thumb or any(stop.left or stop.right or stop.turn or stop.spin
                                  for stop in one.way) or one.hand.turn or re.search(
        r"left|right", one.id)
    for own, other in zip(score_of(one, said, right, table_file()).phases,
                          score_of(one, said, left, table_file()).phases, strict=True):
        assert own.left_hand is None and other.right_hand is None
        assert own.right_hand is not None and other.left_hand is not None
        if not sided:
            assert own.right_hand == other.left_hand


def test_both_hands_do_it_where_they_are_asked_to() -> None:
    take = take_of("number_3", hand="both")
    assert take.draw == Drawn("both") and take.version == ("seed0", "both")
    for side in ("Left", "Right"):
        assert wrists(take, side)[:, 2].mean() > 1.1


@pytest.mark.parametrize(("action", "first", "second"), [
    ("rotate_fists", "LeftHand", "RightHand"), ("rotate_fingers", "RightHand", "RightHandIndex3")])
@pytest.mark.parametrize(("way", "sign"), [("clockwise", -1), ("counterclockwise", 1)])
def test_clockwise_is_as_the_person_sees_it(action: str, first: str, second: str, way: str,
                                            sign: int) -> None:
    take = take_of(f"{action}_{way}")
    [(motion, _)] = take.sources(15.0)
    places, index = motion.global_pose.positions, motion.skeleton.index
    along = places[:, index[second]] - places[:, index[first]]
    # What is at the person's right, and up: angles rise counterclockwise.
    turn = np.radians(take.front_deg)
    right = -along @ np.array([np.cos(turn), np.sin(turn), 0.0])
    angles = np.unwrap(np.arctan2(along[:, 2], right))
    assert sign * np.degrees(angles[-1] - angles[0]) > 45


@pytest.mark.parametrize("seed", [0, 4])
def test_hands_that_meet_do_so_by_every_seed(seed: int) -> None:
    take = take_of("heart_hands", seed)
    apart = np.linalg.norm(wrists(take, "Left") - wrists(take, "Right"), axis=-1)
    assert np.ptp(apart[len(apart) // 2:]) < 0.02
    assert apart[-1] < apart[0] - 0.03
    assert "contact" not in {one.kind for one in take.timeline}


def test_seeds_draw_other_hands_sizes_and_tempi_and_rows_say_so() -> None:
    draws = [take_of("move_fist_up", seed).facts()["hand_action"] for seed in range(20)]
    assert {draw["hand"] for draw in draws} == {"left", "right"}
    assert len({draw["tempo"] for draw in draws}) > 15 < len({draw["size"] for draw in draws})
    assert draws[0]["size"] == 1.0 and draws[3] == take_of("move_fist_up", 3
                                                           ).facts()["hand_action"]


def test_the_timeline_tells_when_the_hand_does_it() -> None:
    take = take_of("number_2", hand="left")
    [action, step] = take.timeline
    assert (action.kind, action.name) == ("action", "number_2")
    assert (step.name, step.hand) == ("shows the number", "left")
    assert 0 < step.start_s < step.end_s < action.end_s


@pytest.mark.parametrize(("words", "told"), [
    (["--action", "number_11"], "no action 'number_11' (did you mean"),
    (["--action", "walk", "--hand", "left"], "--hand: walk is not a hand action"),
    (["--action", "heart_hands", "--hand", "left"], "--hand left: heart_hands takes both hands"),
    (["--action", "number_7", "--take", "one_hnd"], "no take 'one_hnd' (did you mean one_hand?)"),
    (["--action", "ok_sign", "--intensity", "0.5"], "ok_sign: is not a cue"),
    (["--action", "ok_sign", "--hand", "third"], "third"),
    (["--action", "ok_sign", "--mirror"], "ok_sign is a hand action; use --hand left or right"),
])
def test_what_cannot_be_is_told_in_one_line(words: list[str], told: str) -> None:
    done = CliRunner().invoke(main, ["plan", *words, "--variants", "base+blank@0"])
    assert done.exit_code == 2
    assert told in done.stderr.strip().splitlines()[-1]


def test_an_unknown_shape_names_the_file_and_the_row(tmp_path: Path) -> None:
    file = tmp_path / "actions.yaml"
    text = table_file().read_text(encoding="utf-8")
    file.write_text(text.replace("pose: show, shape: ok}", "pose: show, shape: okk}"),
                    encoding="utf-8")
    with pytest.raises(RequestError, match=r"actions\.yaml: line \d+: .*ok_sign.*'okk'"):
        read_table(file)


# Fingers nearer than this, in metres between the middles of their bones, would be in each other.
ROOM_M = 0.0105


def crossing(pose: FloatArray) -> float:
    """Return how near the bones of two different fingers (thumb left out) come, in metres."""
    skeleton = standard_skeleton()
    lines = {}
    for number, finger in enumerate(FINGERS):
        place = skeleton.heads[skeleton.index[f"LeftHand{finger}1"]]
        ends = [place]
        for bone in (1, 2, 3):
            joint = skeleton.index[f"LeftHand{finger}{bone}"]
            along = skeleton.tails[joint] - skeleton.heads[joint]
            place = place + quaternions.rotate(pose[3 * (number + 1) + bone - 1], along)
            ends.append(place)
        lines[finger] = np.concatenate([np.linspace(*pair, 9) for pair in
                                        pairwise(ends)])
    return min(float(np.linalg.norm(lines[a][:, None] - lines[b], axis=-1).min())
               for a, b in combinations(FINGERS, 2))


def signs() -> list[str]:
    return [*dict.fromkeys(shape for one in ALL for shape in (
        one.hand.shape, *(stop.shape for stop in one.way)) if shape)]


@pytest.mark.parametrize("shape", signs())
def test_no_finger_runs_into_another(shape: str) -> None:
    assert crossing(finger_rotations(standard_skeleton(), hand_shapes()[shape])) > ROOM_M


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([one for one in ALL if any(stop.shape for stop in one.way)]),
       st.floats(0, 1))
def test_no_finger_runs_into_another_on_the_way(one: Gesture, share: float) -> None:
    shapes = [one.hand.shape, *(stop.shape or one.hand.shape for stop in one.way)]
    for first, second in pairwise(shapes):
        bends = quaternions.normalise((1 - share) * finger_bends(side_pose(first, 1.0))
                                      + share * finger_bends(side_pose(second, 1.0)))
        for bone in (1, 2):
            bends[:, bone] = quaternions.multiply(bends[:, bone - 1], bends[:, bone])
        assert crossing(bends.reshape(15, 4)) > ROOM_M


def test_a_library_may_bring_a_table_of_its_own() -> None:
    assert table_file() == data_file("mocap/hands/actions.yaml")
