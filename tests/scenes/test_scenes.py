"""Scenes: files with faults, steps in time, one score of many, what happens in it, its keys."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.paths import data_folder
from mimegen.choreography.flaws import foot_slide
from mimegen.choreography.perform import perform_scene
from mimegen.evaluation.subjects import Subject
from mimegen.evaluation.timeline.asks import AskWording, asks_of
from mimegen.faces.speech import speech_of
from mimegen.library.catalogue import Catalogue
from mimegen.library.scene_take import SceneTake, _known, scene_take
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import LIES, PARTNER, PERFORMER, RELATION, Interval, Thing
from mimegen.production.eventgraphs import event_graph
from mimegen.scenes.routes import route_legs
from mimegen.scenes.scene import Step
from mimegen.scenes.spots import Spot

WORDS = AskWording("nothing", "with who {step}", "it lies")
HEAD = """description: One brings a cup.
labels: [bringing a cup]
place: living_room
misplaced: beach
licence: CC0-1.0
author: tests
marks:
  table: {left: -90, forward: 0, facing: -40}
  here: {left: -52, forward: 0, facing: 90}
  there: {left: 53, forward: 0, facing: -90}
things:
  cup: {size_m: 0.09}
performers:
  waiter:
    about: Brings it.
    starts: table
    steps:
"""
WAITER = """      - {do: pick_up, takes: cup, does: takes the cup}
      - {id: way, walk: here}
      - {id: giving, do: hand_over, gives: cup}
"""
GUEST = """  guest:
    about: Gets it.
    starts: there
    steps:
      - {join: giving}
      - {do: drinking_from_cup, from: 0.75, to: 3.5, uses: cup, does: drinks}
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.with_libraries(())


def take_of(catalogue: Catalogue, folder: Path, text: str) -> SceneTake:
    path = folder / "tea.yaml"
    path.write_text(text)
    return scene_take(catalogue, str(path), 0)


@pytest.fixture(scope="module")
def tea(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> SceneTake:
    return take_of(catalogue, tmp_path_factory.mktemp("scene"), HEAD + WAITER + GUEST)


WRONG = {
    "unknown action": ("do: pick_up,", "do: pick_op,", "line 18: .*'pick_op'.*pick_up"),
    "unknown mark": ("walk: here", "walk: hier", "line 19: .*'hier'.*here"),
    "unknown thing": ("takes: cup", "takes: cop", "line 18: .*'cop'.*cup"),
    "unknown key": ("{id: way, walk", "{ide: way, walk", "line 19: .*unknown key"),
    "two verbs": ("walk: here}", "walk: here, wait: 2}", "line 19: .*exactly one of"),
    "no verb": ("id: way, walk: here", "id: way", "line 19: .*got none"),
    "marks collide": ("here: {left: -52", "here: {left: -90", "line 9: .*collides.*'table'"),
    "people collide": ("starts: there", "starts: table", "line 18: .*collide at 0.0 s"),
    "overlapping intervals": ("{id: way,", "{id: way, at: 0.5,", "line 19: .*0.5 s is within"),
    "waits for itself": ("{id: way,", "{id: way, after: giving,", "line 19: .*waits for it"),
    "two moments": ("{id: way,", "{id: way, at: 3, after: giving,", "line 19: .*exactly one of at"),
    "too many hands": ("      - {id: way,", "      - {do: checking_watch}\n      - {id: way,",
                       "line 19: checking_watch needs the right hand.*since line 18"),
    "not held": ("takes: cup, does", "does", "line 20: does not hold the cup"),
    "too far apart": ("there: {left: 53", "there: {left: 153",
                      r"line 20: .*100 cm.*left: 53, forward: 0, facing: 270"),
    "said of another verb": ("walk: here}", "walk: here, takes: cup}", "line 19: .*to 'walk:'"),
    "in the way": ("here: {left: -52", "here: {left: 152", "line 19: .*the performers collide at"),
    "alone": (GUEST, "", "line 20: .*is for two"),
    "out of the take": ("to: 3.5", "to: 30", "line 26: .*not a valid span of drinking_from_cup"),
    "unspeakable": ("id: way, walk: here", 'id: way, walk: here, say: "..."',
                    "line 19: .*nothing to"),
    "unknown style": ("do: pick_up,", "do: pick_up, style: tierd,", "line 18: .*tired"),
}


@pytest.mark.parametrize("word", ["bow", "cheer", "clap", "pick_up", "wave", "yawn"])
def test_an_action_of_a_gesture_s_name_is_used_where_its_take_is_named(
    word: str, catalogue: Catalogue, tmp_path: Path
) -> None:
    step = f"      - {{do: {word}, take: {word}, from: 0.5, to: 3, legs: false}}\n"
    of_action = take_of(catalogue, tmp_path, HEAD + step)
    gesture = take_of(catalogue, tmp_path, HEAD + f"      - {{do: {word}}}\n")
    used = _known(catalogue, Step(do=word, take=word)).score
    assert used.source == str(catalogue.action(word).take(word))
    assert of_action.used == (content_key(used.model_dump_json()),) != gesture.used
    assert of_action.score.duration == pytest.approx(2.5, abs=1.5)


def test_a_gesture_has_no_takes(catalogue: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no action, cue or gesture 'slump'"):
        take_of(catalogue, tmp_path, HEAD + "      - {do: slump, take: slump}\n")


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_said_with_its_line(
        fault: str, catalogue: Catalogue, tmp_path: Path) -> None:
    good, bad, says = WRONG[fault]
    text = HEAD + WAITER + GUEST
    assert good in text
    with pytest.raises(RequestError) as caught:
        take_of(catalogue, tmp_path, text.replace(good, bad, 1))
    assert re.search(says, str(caught.value)), caught.value
    assert str(tmp_path / "tea.yaml") in str(caught.value)


def test_steps_come_one_after_another_and_things_change_hands(tea: SceneTake) -> None:
    steps = {(one.kind, one.performer, one.name): one for one in tea.timeline
             if one.kind in ("action", "step", "held")}
    walk = steps["step", PERFORMER, "walks to the here"]
    over = steps["action", PERFORMER, "hand_over"]
    drink = steps["action", PARTNER, "drinking_from_cup"]
    given, got = steps["held", PERFORMER, "cup"], steps["held", PARTNER, "cup"]
    assert steps["action", PERFORMER, "pick_up"].end_s <= walk.start_s < walk.end_s < over.start_s
    assert over.end_s < drink.start_s
    assert given.object and given.object.size_m == 0.09
    assert over.start_s < given.end_s == got.start_s < over.end_s
    assert got.end_s == pytest.approx(tea.score.duration, abs=0.05)


def test_relations_are_those_of_the_places(tea: SceneTake) -> None:
    found = [one for one in tea.timeline if one.kind == "relation"]
    [near] = [one for one in found if (one.name, one.target) == ("near", PARTNER)]
    over = next(one for one in tea.timeline if one.name == "hand_over")
    assert 0 < near.start_s < over.start_s
    facing = [one for one in found if (one.name, one.performer) == ("facing", PERFORMER)]
    assert any(one.start_s < over.start_s and one.end_s > over.end_s for one in facing)
    mirrored = replace(tea, mirror=True).timeline
    sides = Counter(one.name for one in tea.timeline if one.name in ("left of", "right of"))
    assert Counter({"right of": sides["left of"], "left of": sides["right of"]}) == Counter(
        one.name for one in mirrored if one.name in ("left of", "right of"))


def test_questions_of_order_are_about_what_the_story_consists_of(tea: SceneTake) -> None:
    subject = Subject("tea", "tea", "bringing a cup", frozenset(), None)
    order = [ask.answer for ask in asks_of(tea.timeline, subject, WORDS)
             if ask.aspect == "order"]
    assert "takes a sip" in {one.name for one in tea.timeline}
    assert order == ["the person takes the cup", "the person walks to the here",
                     "the other person drinks"]


def test_who_has_a_thing_and_where_it_lies_is_asked_each_answer_once(tea: SceneTake) -> None:
    subject = Subject("tea", "tea", "bringing a cup", frozenset(), None)
    for lying in ([], [Interval(kind=RELATION, name=LIES, start_s=1.0, end_s=3.0,
                                object=Thing(name="cup"), target="table")]):
        asks = [ask for ask in asks_of([*tea.timeline, *lying], subject, WORDS)
                if ask.aspect == "whereabouts"]
        given = next(one.end_s for one in tea.timeline if one.kind == "held")
        wanted = ["with who takes the cup", "with who drinks", *(["it lies"] if lying else [])]
        assert [ask.answer for ask in asks] == wanted == [*asks[0].options]
        assert asks[0].span[1] < given < asks[1].span[0]
    alone = [one for one in tea.timeline if one.performer == PERFORMER]
    assert not [ask for ask in asks_of(alone, subject, WORDS) if ask.aspect == "whereabouts"]


def test_an_event_graph_orders_the_story_and_counts_frames(tea: SceneTake) -> None:
    row = Row(**{**tea.facts(), "sample_id": "tea", "file_name": "clips/tea.mp4", "avatar": "man",
                 "fps": 10, "frames": round(tea.score.duration * 10) + 1, "width": 64, "height": 36,
                 "sha256": "0", "timeline": tea.timeline})
    graph = event_graph(row)
    events = {event["id"]: event for event in graph["events"]}
    assert graph["performers"] == [PERFORMER, PARTNER] and graph["things"] == ["cup"]
    before = [(events[one]["name"], events[other]["name"])
              for one, how, other in graph["order"] if how == "before"]
    assert ("takes the cup", "walks to the here") in before
    near = next(one for one in graph["relations"] if one["target"] == PARTNER)
    assert near["frames"] == [round(10 * near["start_s"]), round(10 * near["end_s"])]


@pytest.mark.slow
def test_it_is_one_motion_without_a_cut_and_feet_hold(tea: SceneTake) -> None:
    scene = perform_scene(tea.score, 0, 20.0)
    assert len(scene) == 2
    for motion in scene:
        assert motion.last_s == pytest.approx(tea.score.duration, abs=0.05)
        places = motion.global_pose.positions
        assert np.linalg.norm(np.diff(places[:, 0], axis=0), axis=-1).max() * motion.fps < 2.0
        assert max(foot_slide(motion, side).max() for side in ("Left", "Right")) < 0.003
    apart = [np.linalg.norm((one.root_positions[-1] - other.root_positions[-1])[:2])
             for one, other in [scene]]
    assert apart[0] == pytest.approx(1.05, abs=0.12)


@pytest.mark.slow
def test_nobody_swings_out_between_two_actions(catalogue: Catalogue, tmp_path: Path) -> None:
    take = take_of(catalogue, tmp_path, HEAD + "      - {do: deadlift, to: 2.6}\n"
                                               "      - {do: head_shake}\n")
    [motion] = perform_scene(take.score, 0, 10.0)
    shake = next(one for one in take.timeline if one.name == "head_shake")
    places = motion.global_pose.positions[int(10 * shake.start_s) + 2:]
    index = motion.skeleton.index
    trunk = places[:, index["Neck"]] - places[:, index["Hips"]]
    assert (trunk[:, 2] / np.linalg.norm(trunk, axis=-1)).min() > np.cos(np.deg2rad(15))


def test_a_step_says_its_text_once_and_waits_for_it(catalogue: Catalogue, tmp_path: Path) -> None:
    text = "Please take this cup of tea, and be careful, because it is very hot!"
    said = WAITER.replace("walk: here", f'walk: here, say: "{text}"')
    takes = [take_of(catalogue, tmp_path, HEAD + waiter + GUEST) for waiter in (WAITER, said)]
    quiet, loud = (take.score for take in takes)
    spoken = [(phase.at, phase.face.say) for phase in loud.phases if phase.face and phase.face.say]
    assert [one for _, one in spoken] == [text]
    assert loud.duration > quiet.duration
    assert spoken[0][0] + speech_of(text).duration < loud.duration


def test_keys_cover_the_file_its_scores_and_seed_but_no_timeline(
        catalogue: Catalogue, tmp_path: Path) -> None:
    shutil.copytree(data_folder() / "mocap/drinking_from_cup", tmp_path / "mocap/drinking_from_cup")
    own = Catalogue((*catalogue.folders, tmp_path))
    text = HEAD + "      - {do: drinking_from_cup, to: 3}\n"
    before = take_of(own, tmp_path, text)
    assert before.key == take_of(own, tmp_path, text).key
    assert before.key != replace(before, seed=1).key
    beside = tmp_path / "mocap/drinking_from_cup/drinking_from_cup.timeline.yaml"
    beside.write_text(beside.read_text().replace("takes a sip", "sips"))
    again = take_of(own, tmp_path, text)
    assert again.key == before.key and again.timeline != before.timeline
    score = beside.with_name("drinking_from_cup.score.yaml")
    score.write_text(score.read_text().replace("duration: 7.9", "duration: 7.95"))
    assert take_of(own, tmp_path, text).key != before.key
    assert take_of(own, tmp_path, text.replace("to: 3}", "to: 4}")).key != again.key


@pytest.mark.slow
def test_all_scenes_have_a_beginning_a_middle_and_an_end(catalogue: Catalogue) -> None:
    assert len(catalogue.scenes) >= 12
    for name in catalogue.scenes:
        take = scene_take(catalogue, name, 0)
        assert 10 <= take.score.duration <= 60, name
        assert len([one for one in take.timeline if one.kind == "step"]) >= 5, name
    assert Counter(scene_take(catalogue, name, 0).performers for name in catalogue.scenes)[2] >= 4


def test_ways_turn_go_and_turn() -> None:
    here = Spot(0.0, 0.0, 0.0)
    legs = route_legs(here, Spot(200.0, 0.0, 0.0))
    assert [leg.there for leg in legs] == [
        Spot(0.0, 0.0, 90.0), Spot(200.0, 0.0, 90.0), Spot(200.0, 0.0, 0.0)]
    assert [leg.there for leg
            in route_legs(here, Spot(0.0, 200.0, 20.0))] == [Spot(0.0, 200.0, 20.0)]
    assert [leg.there for leg in route_legs(here, Spot(0.0, -50.0, 0.0))] == [Spot(0.0, -50.0, 0.0)]


def test_a_spot_is_seen_from_another_and_back() -> None:
    one, other = Spot(30.0, -20.0, 75.0), Spot(-110.0, 60.0, -140.0)
    back = one.of(other.seen_from(one))
    assert np.allclose(back, other, atol=1e-4)
    assert one.turned(1.0, 0.0) == pytest.approx((np.cos(np.deg2rad(75)), -np.sin(np.deg2rad(75))))
