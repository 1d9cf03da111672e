"""Performances played backwards: their frames, keys, timelines, and whether one can tell."""

from dataclasses import replace

import numpy as np
import pytest

from mimegen.base.arrays import FloatArray
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.reversing import reversed_motion, reversed_scene
from mimegen.library.scene_take import scene_take
from mimegen.library.score_take import ScoreTake
from mimegen.library.shown_timeline import TRUE_BACKWARDS, backwards, timeline_of
from mimegen.library.takes import altered, library_take
from mimegen.manifest.timeline import Interval
from mimegen.motion.reversal import irreversibility

CATALOGUE = Catalogue.with_libraries(())
FPS = 6.0


def score(action: str, seed: int = 0) -> ScoreTake:
    take = library_take(CATALOGUE.action(action), None, seed)
    assert isinstance(take, ScoreTake)
    return take


def places(casting: Casting) -> list[FloatArray]:
    return [one.motion.global_pose.positions for one in casting.perform(FPS)]


@pytest.mark.slow
@pytest.mark.parametrize(("action", "people"), [
    ("sit_down", ("woman",)), ("shake_hands", ("man", "woman"))])
def test_every_frame_backwards_is_a_frame_forwards_faces_and_clothes_included(
        action: str, people: tuple[str, ...]) -> None:
    take = score(action, 3)
    members = tuple(cast_member(CATALOGUE, name) for name in people)
    ahead, back = (Casting(replace(take, reverse=reverse), members) for reverse in (False, True))
    for one, other in zip(ahead.perform(FPS), back.perform(FPS), strict=True):
        assert (one.motion.root_positions == other.motion.root_positions[::-1]).all()
        assert (one.motion.rotations == other.motion.rotations[::-1]).all()
        assert one.character is other.character
    for there, here in zip(ahead.standard_places(FPS), back.standard_places(FPS), strict=True):
        assert (there == here[::-1]).all()
    assert ahead.key != back.key and ahead.looks == back.looks
    assert "reversed" in back.words and "reversed" not in ahead.words
    assert back.facts() == ahead.facts() | {"reversed": True}


@pytest.mark.slow
def test_backwards_twice_is_forwards() -> None:
    scene = Casting(score("clap"), (cast_member(CATALOGUE, "man"),)).perform(FPS)
    [(once,), (twice,)] = reversed_scene(scene), reversed_scene(reversed_scene(scene))
    assert (twice.motion.rotations == scene[0].motion.rotations).all()
    assert (once.motion.rotations != scene[0].motion.rotations).any()
    asked = once.motion.global_pose
    known = reversed_motion(once.motion).known_pose
    assert known is not None and (known.positions[::-1] == asked.positions).all()


def test_a_take_that_is_not_played_backwards_has_the_key_that_it_always_had() -> None:
    take = score("boxing")
    assert altered(take, 1.0, False).key == take.key
    assert altered(take, 1.0, False, reverse=True).key != take.key
    both = {altered(take, 1.1, True, reverse=reverse).key for reverse in (False, True)}
    assert len(both) == 2


def test_what_is_true_backwards_is_told_about_the_last_frame_and_nothing_else_is() -> None:
    told = [Interval(kind=kind, name=kind, start_s=1.0, end_s=2.5, peak_s=2.0)
            for kind in ("held", "contact", "gaze", "relation", "step", "cue", "speech", "role")]
    told.append(Interval(kind="action", name="drinks", start_s=0.0, end_s=4.02))
    found = backwards(told, 4.0)
    assert {one.kind for one in found} == {"held", "contact", "gaze", "relation", "action"}
    assert {one.kind for one in found} == TRUE_BACKWARDS
    assert [(one.start_s, one.end_s, one.peak_s) for one in found] == [
        (0.0, 4.0, None), *[(1.5, 3.0, 2.0)] * 4]


@pytest.mark.slow
def test_a_thing_is_held_backwards_while_the_hand_is_where_it_holds_it_forwards() -> None:
    take = score("drinking_from_cup")
    man = (cast_member(CATALOGUE, "man"),)
    ahead, back = (Casting(replace(take, reverse=reverse), man) for reverse in (False, True))
    there, = places(ahead)
    here, = places(back)
    for kind in ("held", "contact"):
        forward = [one for one in take.timeline if one.kind == kind]
        told = timeline_of(back.take, FPS)
        assert told is not None
        backward = [one for one in told if one.kind == kind]
        assert len(forward) == len(backward)
        for one, other in zip(forward, backward[::-1], strict=True):
            assert one.name == other.name and one.hand == other.hand
            # The same frames, in the other order.
            span, turned = ([round(each.start_s * FPS), round(each.end_s * FPS)]
                            for each in (one, other))
            last = len(there) - 1
            assert abs(last - turned[1] - span[0]) <= 1 and abs(last - turned[0] - span[1]) <= 1
            mid, dim = (round((each.start_s + each.end_s) / 2 * FPS) for each in (one, other))
            assert np.abs(there[mid] - here[dim]).max() < 0.25


@pytest.mark.slow
def test_in_a_scene_what_lies_somewhere_lies_there_before_it_is_taken() -> None:
    take = scene_take(CATALOGUE, sorted(CATALOGUE.scenes)[0], 0)
    told = timeline_of(replace(take, reverse=True), 24.0)
    assert told is not None and not [one for one in told if one.kind == "step"]
    last = (take.frames(24.0) - 1) / 24.0
    forward = sorted((one.name, one.performer, one.start_s, one.end_s) for one in take.timeline
                     if one.kind in TRUE_BACKWARDS)
    turned = sorted((one.name, one.performer, max(last - one.end_s, 0.0), last - one.start_s)
                    for one in told)
    assert [one[:2] for one in forward] == [one[:2] for one in turned]
    assert np.abs(np.array([one[2:] for one in forward])
                  - np.array([one[2:] for one in turned])).max() < 0.05


def waved(times: float, seconds: float = 4.0, fps: float = 15.0) -> FloatArray:
    """One joint that goes to and fro, and another that stays."""
    moments = np.arange(round(seconds * fps)) / fps
    places = np.zeros((len(moments), 2, 3))
    places[:, 0, 0] = 0.3 * np.sin(2 * np.pi * times * moments / seconds)
    return places


def test_who_moves_back_as_they_came_does_not_show_which_way_time_runs() -> None:
    there = np.linspace(0, 1, 31)[:, None, None] * np.ones((1, 2, 3))
    assert irreversibility(np.concatenate([there, there[::-1]]), 15.0) < 1e-9
    assert irreversibility(waved(4), 15.0) < 0.1, "a cycle, wherever it begins"
    assert irreversibility(there, 15.0) == pytest.approx(0.4 * 15 / 30 * np.sqrt(3), abs=0.02)
    assert irreversibility(np.zeros((5, 2, 3)), 15.0) == 0
    assert irreversibility(np.zeros((2, 2, 3)), 15.0) == 0


def test_fast_out_and_slowly_back_shows_which_way_time_runs() -> None:
    out, back = np.linspace(0, 1, 12), np.linspace(1, 0, 45)
    thrown = np.concatenate([out, back])[:, None, None] * np.array([1.0, 0, 0])
    # Half of what fast steps are longer by, as a slow step from the middle is nearest.
    assert irreversibility(thrown, 15.0) == pytest.approx((6 / 11 - 6 / 44) / 2, abs=0.08)
    # Backwards it is as easily told.
    assert irreversibility(thrown[::-1], 15.0) > 0.12
