"""Performers keep out of what stands in their sets, and nothing comes between them and a camera."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from clearance import HIDDEN_SHARE, SIDES, Bodies, hidden, performed, wrong_in
from examples import examples
from mimegen.base.files import content_key
from mimegen.characters.character import Performance
from mimegen.compositing.background import read_background
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import load_background
from mimegen.library.scene_take import scene_take
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion, standard_skeleton
from mimegen.pages.preview import capsule_body
from mimegen.scenery.clearing import (
    MAX_SHIFT_M,
    NONE,
    SetClearing,
    changed,
    changes_on_the_floor,
    needed_changes,
)
from mimegen.scenery.floorplan import LaidSet
from mimegen.scenery.layout import lay_out, visible_pieces, wall_panels
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.sweeping import swept_by
from mimegen.scenery.swept import GroundGrid, Swept
from mimegen.shots.config import read_config
from mimegen.shots.framing import frame_camera

CATALOGUE = Catalogue.with_libraries(())
CONFIG = read_config(CATALOGUE.file("config", "draft"))
# A hall of 16 x 16 m, with a row of crates along Y on the performer's left, and a post.
HALL: dict[str, Any] = {
    "sky": {"zenith": "#808080", "horizon": "#909090", "ground": "#707070", "strength": 1.0},
    "sun": {"strength": 1.0},
    "materials": {"floor": {"color": "#808080"}, "wood": {"color": "#a07040"}},
    "floors": [{"material": "floor"}],
    "groups": {"crate": [{"kind": "box", "size": [1, 1, 1], "material": "wood"}],
               "post": [{"kind": "cylinder", "radius": 0.1, "height": 2, "material": "wood"}]},
    "objects": [
        {"kind": "group", "of": "crate", "at": [2.5, -4, 0],
         "repeat": [{"count": 5, "step": [0, 2, 0], "vary_turn": [0, 0, 20]}]},
        {"kind": "group", "of": "post", "at": [-3, -3, 0]}],
}


def hall(**others: Any) -> Scenery:
    return Scenery.model_validate(HALL | others)


def walking(*places: tuple[float, float], frames: int = 12) -> Performance:
    """Somebody who stands straight and is carried along a line through places."""
    skeleton = standard_skeleton()
    share = np.linspace(0, len(places) - 1, frames)
    x, y = (np.interp(share, np.arange(len(places)), [each[axis] for each in places])
            for axis in (0, 1))
    root = np.column_stack([x, y, np.full(frames, skeleton.heads[0, 2])])
    still = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(skeleton.names), 1))
    return Performance(capsule_body(skeleton), Motion(skeleton, 12.0, root, still))


def swept_of(*scene: Performance) -> Swept:
    return swept_by([one.motion for one in scene])


def wrong(scenery: Scenery, scene: Sequence[Performance], sides: Sequence[float] = SIDES
          ) -> list[str]:
    """What is wrong in a set, from some sides, once it is cleared for a scene."""
    laid, bodies, swept, found = LaidSet(scenery), Bodies.of(scene), swept_of(*scene), []
    for angle in sides:
        camera = frame_camera(scene, CONFIG, angle)
        changes = needed_changes(laid, swept, camera)
        seen = changed(scenery, changes)
        shares = wrong_in(seen, lay_out(seen), camera, bodies)
        if not changes.doubts:
            found += [f"{what} @{angle:g}" for what, share in shares.items() if share > 0]
    return found


def test_who_stands_where_a_set_wants_it_changes_nothing() -> None:
    laid, scene = LaidSet(hall()), (walking((0, 0), (0.2, 0.4)),)
    for angle in SIDES:
        camera = frame_camera(scene, CONFIG, angle)
        assert needed_changes(laid, swept_of(*scene), camera) == NONE
    assert changed(laid.scenery, NONE) is laid.scenery


def test_a_way_through_crates_moves_the_performer_before_it_takes_any_away() -> None:
    laid = LaidSet(hall())
    past = changes_on_the_floor(laid, swept_of(walking((0, 0), (0, -3.5))))
    assert past == NONE
    into = changes_on_the_floor(laid, swept_of(walking((0, 0), (2.2, 0))))
    assert into.moved != (0.0, 0.0) and not into.left_out
    between = changes_on_the_floor(laid, swept_of(walking((-9, 0), (9, 0))))
    assert between == SetClearing((0.0, -1.0))
    fence = hall(objects=[{"kind": "group", "of": "crate", "at": [2.5, -10, 0],
                           "repeat": [{"count": 20, "step": [0, 1, 0]}]}])
    through = changes_on_the_floor(LaidSet(fence), swept_of(walking((-9, 0), (9, 0))))
    assert {number for number, _ in through.left_out} == {0} and len(through.left_out) <= 2


@settings(max_examples=examples(8), deadline=None)
@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), min_size=1, max_size=3),
       st.floats(-180, 180))
def test_nobody_meets_anything_or_stands_behind_it_on_any_way(
        ways: list[tuple[float, float]], turn: float) -> None:
    assert wrong(hall(turn_deg=turn), (walking((0.0, 0.0), *ways),)) == []


def test_two_performers_are_both_kept_clear() -> None:
    assert wrong(hall(), (walking((0, 0), (2.5, 0)), walking((-1, -1), (-3, -3)))) == []


def test_only_the_copy_that_is_in_the_way_goes_and_the_others_stay_where_they_are() -> None:
    scenery = hall()
    rest = changed(scenery, SetClearing(left_out=((0, 2),)))
    places = [piece.matrix for piece in lay_out(scenery)]
    kept = sorted(np.round(piece.matrix, 3).tolist() for piece in lay_out(rest))
    assert kept == sorted(np.round(place, 3).tolist() for number, place in enumerate(places)
                          if number != 2)


def test_a_row_in_which_materials_take_turns_keeps_them() -> None:
    scenery = hall(materials=HALL["materials"] | {"steel": {"color": "#888888"}}, objects=[
        {"kind": "box", "size": [1, 1, 1], "material": ["wood", "steel"], "at": [3, -3, 0],
         "scale": [1, 0.5, 2], "turn": [0, 20, 40], "repeat": [{"count": 4, "step": [0, 2, 0]}]}])
    before, after = lay_out(scenery), lay_out(changed(scenery, SetClearing(left_out=((0, 1),))))
    assert [piece.material for piece in after] == ["wood", "wood", "steel"]
    for old, new in zip([before[0], *before[2:]], after, strict=True):
        assert np.allclose(old.matrix, new.matrix, atol=1e-3)


def test_a_wall_is_walked_around_and_told_where_there_is_no_room() -> None:
    room = [[-1.5, -3], [1.5, -3], [1.5, 3], [-1.5, 3]]
    scenery = hall(objects=[], walls=[
        {"corners": room, "closed": True, "top": 3, "material": "wood"}])
    ahead = changes_on_the_floor(LaidSet(scenery), swept_of(walking((0, 0), (0, -3.2))))
    assert ahead.moved[1] > 0 and not ahead.doubts
    across = changes_on_the_floor(LaidSet(scenery), swept_of(walking((0, 0), (4, 0))))
    assert across.doubts == ("wall",)
    assert len(wall_panels(changed(scenery, across))) == 4


def test_nobody_walks_off_the_end_of_a_floor() -> None:
    scenery = hall(objects=[], floors=[{"material": "floor", "corners": [[-2, -2], [2, 4]]}])
    off = changes_on_the_floor(LaidSet(scenery), swept_of(walking((0, 0), (0, -3))))
    assert off.moved[1] > 1 and not off.doubts
    far = changes_on_the_floor(LaidSet(scenery), swept_of(walking((0, 0), (0, -9))))
    assert far.doubts == ("ground",)
    assert np.hypot(*far.moved) <= MAX_SHIFT_M


def test_what_hides_is_left_out_for_its_own_side_alone() -> None:
    scenery = hall(objects=[{"kind": "group", "of": "crate", "at": [2.7, -1.5, 0]}])
    scene = (walking((0, 0), (3, 0), (3, 0)),)
    bodies, laid, swept = Bodies.of(scene), LaidSet(scenery), swept_of(*scene)
    front, back = (frame_camera(scene, CONFIG, angle - 48.5) for angle in (0, 180))
    shown = visible_pieces(laid.pieces, front)
    assert hidden(scenery, shown, front, bodies).mean() > HIDDEN_SHARE
    assert needed_changes(laid, swept, front).left_out == ((0, 0),)
    assert needed_changes(laid, swept, back) == NONE


def test_what_was_swept_and_changed_survives_json() -> None:
    swept = swept_of(walking((0, 0), (2.2, 0)))
    assert Swept.from_content(swept.content()) == swept
    assert GroundGrid.of(swept.floor.cells) == swept.floor
    changes = SetClearing((0.5, -1.0), ((3, 0), (7, 2)), ("wall",))
    assert SetClearing.from_content(changes.content()) == changes
    assert SetClearing.from_content(NONE.content()) == NONE


def test_last_bits_of_a_motion_do_not_decide_what_is_taken() -> None:
    one = walking((0, 0), (1.3, 0.7))
    root = one.motion.root_positions * (1 + 1e-13)
    other = Motion(one.motion.skeleton, one.motion.fps, root, one.motion.rotations)
    assert swept_by([other]) == swept_by([one.motion])


def test_a_changed_set_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """Farms send sets as JSON, and their keys are of their content."""
    scenery = changed(hall(), SetClearing((0.5, 0.0), ((0, 1),)))
    assert Scenery.model_validate_json(scenery.model_dump_json()) == scenery
    file = tmp_path / "hall.yaml"
    file.write_text(yaml.safe_dump({
        "name": "hall", "description": "A hall", "licence": "CC0-1.0", "author": "A. Person",
        "source": "made for this test", "set": scenery.model_dump(mode="json")}))
    read = read_background(file).set
    assert read is not None
    assert content_key(read.model_dump(mode="json")) == content_key(scenery.model_dump(mode="json"))


# Where something was wrong before sets were cleared, and takes that walk.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "background", "seed", "was_wrong"), [
    ("the_thief", "warehouse", None, True), ("the_thief", "concert_hall", None, True),
    ("dragging", "climbing_gym", None, False), ("basketball_layup", "living_room", 3, False),
])
def test_the_librarys_takes_keep_clear_of_their_sets(
        name: str, background: str, seed: int | None, was_wrong: bool) -> None:
    scene = scene_of(name)
    scenery = load_background(CATALOGUE.file("background", background), seed).set
    assert scenery is not None
    camera, bodies = frame_camera(scene, CONFIG, 0.0), Bodies.of(scene)
    before = wrong_in(scenery, lay_out(scenery), camera, bodies)
    assert (max(before.values()) > 0) == was_wrong
    assert wrong(scenery, scene, [0.0]) == []


@functools.cache
def scene_of(name: str) -> tuple[Performance, ...]:
    """A take, every fourth of its few frames a second."""
    return tuple(Performance(one.character, one.motion.at(np.arange(0, one.motion.frames, 4)))
                 for one in performed(take_of(name)))


def take_of(name: str) -> LibraryTake:
    if name in CATALOGUE.scenes:
        return scene_take(CATALOGUE, name, 0)
    return library_take(CATALOGUE.action(name), None, 0)
