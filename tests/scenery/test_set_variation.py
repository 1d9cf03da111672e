"""Other places of one kind: what a seed may change of a set, and what it never does."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background, background_key, read_background
from mimegen.library.catalogue import Catalogue
from mimegen.library.places import load_background, loaded_background_key
from mimegen.library.takes import SeededTakes, library_take
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import make_plan
from mimegen.plan.variants import parse_variants
from mimegen.scenery import variation
from mimegen.scenery.checks import Written
from mimegen.scenery.layout import box_corners, laid_objects, lay_out
from mimegen.scenery.objects import Group
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import mesh_of
from mimegen.scenery.standing import DEEPER_M, performer_penetration_m
from mimegen.scenery.touching import depth_between
from mimegen.shots.config import read_config

FOLDER = data_folder() / "backgrounds"
VARYING = sorted(file.stem for file in FOLDER.glob("*.yaml") if "\n  vary:" in file.read_text())
# A room of 8 x 8 m: a crate in each half, a lamp post, and a rug under the performer.
ROOM: dict[str, Any] = {
    "sky": {"zenith": "#808080", "horizon": "#909090", "ground": "#707070", "strength": 1.0},
    "sun": {"strength": 1.0},
    "lamps": [{"at": [0, 0, 3], "to": [0, 0, 0], "size": [1, 1], "watts": 100}],
    "materials": {"floor": {"color": "#808080"}, "wood": {"color": "#a07040", "second": "#805830"},
                  "wall": {"color": "#d0d0d0"}},
    "floors": [{"material": "floor"}],
    "walls": [{"corners": [[-4, -4], [4, -4], [4, 4], [-4, 4]], "closed": True, "top": 3,
               "material": "wall"}],
    "ceilings": [{"material": "wall", "height": 3, "corners": [[-4, -4], [4, 4]]}],
    "groups": {
        "crate": [{"kind": "box", "size": [1, 1, 1], "material": "wood"}],
        "post": [{"kind": "cylinder", "radius": 0.1, "height": 2, "material": "wood"}]},
    "objects": [
        {"kind": "box", "size": [2, 2, 0.01], "material": "wood"},
        {"kind": "group", "of": "crate", "at": [-2.5, 2.5, 0]},
        {"kind": "group", "of": "crate", "at": [2.5, 2.5, 0]},
        {"kind": "group", "of": "post", "at": [3, -3, 0]}],
}


def background_file(folder: Path, vary: dict[str, Any] | None, name: str = "room",
                    **others: Any) -> Path:
    declared = ROOM | others if vary is None else ROOM | {"vary": vary} | others
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({
        "name": name, "description": "A room", "licence": "CC0-1.0", "author": "A. Person",
        "source": "made for this test", "set": declared}))
    return path


def drawn(path: Path, seed: int) -> Scenery:
    scenery = load_background(path, seed).set
    assert scenery is not None
    return scenery


def boxes(scenery: Scenery) -> list[np.ndarray[Any, Any]]:
    """The boxes (2, 3) of everything in the set's own frame, one for each piece."""
    found = []
    for piece in lay_out(scenery.model_copy(update={"turn_deg": 0.0, "performer_at": (0.0, 0.0)})):
        points = mesh_of(piece.shape).vertices
        corners = box_corners(points.min(axis=0), points.max(axis=0))
        placed = corners @ piece.matrix[:3, :3].T + piece.matrix[:3, 3]
        found.append(np.stack([placed.min(axis=0), placed.max(axis=0)]))
    return found


def test_things_move_but_never_into_each_other_a_wall_or_the_performer(tmp_path: Path) -> None:
    path = background_file(tmp_path, {"things": {
        "crate": {"move": [3, 3], "turn": 45, "scale": 0.4}, "post": {"move": [4, 4]}}})
    places = set()
    for seed in range(25):
        scenery = drawn(path, seed)
        things = boxes(scenery)[1:]
        for number, one in enumerate(things):
            assert np.all(np.abs(one[:, :2]) <= 4 + 1e-9)
            for other in things[:number]:
                depth = (np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])).min()
                assert depth <= DEEPER_M
        assert performer_penetration_m(scenery) <= DEEPER_M
        places.add(scenery.objects[1].at)
    assert len(places) > 15


def test_a_seed_draws_the_same_place_again_and_another_one_another(tmp_path: Path) -> None:
    path = background_file(tmp_path, {
        "lamps": 0.3, "warmth": 1, "turn_deg": 30, "performer": [0.2, 0.2],
        "materials": {"wall": {"colors": ["#203040", "#a03020"], "light": 0.1},
                      "wood": [{"color": "#303030"}]},
        "things": {"crate": {"move": [1, 1]}}})
    keys = {loaded_background_key(path, seed) for seed in range(8)}
    assert len(keys) == 8 and background_key(path) not in keys
    assert loaded_background_key(path, 3) == loaded_background_key(path, 3)
    assert drawn(path, 3) == drawn(path, 3)
    watts = {drawn(path, seed).lamps[0].watts for seed in range(8)}
    assert len(watts) == 8 and all(70 <= one <= 130 for one in watts)
    walls = {drawn(path, seed).materials["wall"].color for seed in range(20)}
    assert len({int(color[1:3], 16) // 64 for color in walls}) == 3
    assert {drawn(path, seed).materials["wood"].color for seed in range(12)} == {
        "#a07040", "#303030"}


def test_at_night_lamps_give_what_windows_let_in_by_day(tmp_path: Path) -> None:
    night = {"sky": ROOM["sky"] | {"strength": 0.1}, "sun": {"strength": 0.1}, "windows": 0.1}
    window = {"at": [0, 3, 2], "to": [0, 0, 0], "size": [1, 1], "watts": 50, "window": True}
    path = background_file(tmp_path, {"hours": [night]}, lamps=[*ROOM["lamps"], window])
    seen = {(made.sky.strength, *(lamp.watts for lamp in made.lamps))
            for made in (drawn(path, seed) for seed in range(8))}
    assert seen == {(1.0, 100, 50), (0.1, 145, 5)}


def test_walls_move_and_what_is_at_them_goes_along(tmp_path: Path) -> None:
    room = {"walls": [-0.2, 2.0], "height": [0.2, 0.8], "mirror": True}
    path = background_file(tmp_path, {
        "room": room, "extras": [{"chance": 1, "thing": {"kind": "group", "of": "post",
                                                         "at": [-3.8, 0, 0]}}]})
    sides = set()
    for seed in range(12):
        made = drawn(path, seed)
        (left, front), (right, back) = made.ceilings[0].corners
        assert {(left, front), (right, back)} <= set(made.walls[0].corners)
        assert all(3.8 <= abs(far) <= 6 for far in (left, front, right, back))
        assert 3.2 <= made.ceilings[0].height == made.walls[0].top <= 3.8
        _, west, east, post, extra = (thing.at for thing in made.objects)
        mirrored = west[0] > 0
        left, right = (-right, -left) if mirrored else (left, right)
        west, east, post, extra = ((-at[0] if mirrored else at[0], *at[1:])
                                   for at in (west, east, post, extra))
        # Crates and post, less than 1.3 m from two walls, keep their distance from them.
        assert west[:2] == pytest.approx((left + 1.5, back - 1.5))
        assert east[:2] == pytest.approx((right - 1.5, back - 1.5))
        assert post[:2] == pytest.approx((right - 1.0, front + 1.0))
        assert extra[:2] == pytest.approx((left + 0.2, 0.0))
        assert made.objects[0] == read_background(path).set.objects[0]  # type: ignore[union-attr]
        sides.add(mirrored)
    assert sides == {True, False}


def test_what_reaches_from_wall_to_wall_is_stretched(tmp_path: Path) -> None:
    board = {"kind": "box", "size": [8, 0.02, 0.1], "at": [0, 3.99, 0], "material": "wood"}
    tiles = {"kind": "box", "size": [0.02, 1, 1], "at": [-3.99, -3.5, 0], "material": "wood",
             "repeat": [{"count": 8, "step": [0, 1, 0]}]}
    path = background_file(tmp_path, {"room": {"walls": [0.5, 1.5]}}, objects=[board, tiles])
    made = drawn(path, 1)
    (left, front), (right, back) = made.ceilings[0].corners
    laid = np.array(boxes(made))
    assert laid[0, :, :2] == pytest.approx(np.array([[left, back - 0.02], [right, back]]), abs=0.01)
    assert laid[1:, 0, 1].min() == pytest.approx(front) and laid[1:, 1, 1].max() == (
        pytest.approx(back))


def test_rows_have_fewer_copies_and_stay_as_long(tmp_path: Path) -> None:
    row = {"kind": "group", "of": "post", "at": [-3, 3, 0],
           "repeat": [{"count": 6, "step": [1.2, 0, 0]}]}
    path = background_file(tmp_path, {"things": {"post": {"fewer": 0.6}}}, objects=[row])
    counts = set()
    for seed in range(12):
        posts = np.array(boxes(drawn(path, seed)))
        counts.add(len(posts))
        assert posts[:, 0, 0].min() == pytest.approx(-3.1)
        assert posts[:, 1, 0].max() == pytest.approx(3.1, abs=1e-3)
    assert counts <= {2, 3, 4, 5, 6} and len(counts) > 2


def test_what_may_vary_is_no_part_of_the_place_as_it_was_written(tmp_path: Path) -> None:
    plain = background_key(background_file(tmp_path, None, "plain"))
    assert background_key(background_file(tmp_path, {"lamps": 0.5})) == plain


def test_what_may_vary_more_changes_nothing_else(tmp_path: Path) -> None:
    one = background_file(tmp_path, {"things": {"crate": {"move": [1, 0]}}})
    first = drawn(one, 5)
    more = drawn(background_file(tmp_path, {
        "things": {"crate": {"move": [1, 0]}, "post": {"move": [0.5, 0.5]}},
        "materials": {"wall": {"light": 0.2}}}), 5)
    assert more.objects[:3] == first.objects[:3] and more.objects[3] != first.objects[3]


def test_things_are_left_out_exchanged_and_added(tmp_path: Path) -> None:
    path = background_file(tmp_path, {
        "things": {"crate": {"leave_out": 0.5, "instead": ["post"]}},
        "extras": [{"chance": 0.5, "thing": {"kind": "group", "of": "crate", "at": [-3, -3, 0]}},
                   {"chance": 1, "thing": {"kind": "group", "of": "crate", "at": [0, 0, 0]}}]})
    draws = [drawn(path, seed).objects for seed in range(20)]
    kinds = [[thing.of for thing in objects if isinstance(thing, Group)] for objects in draws]
    assert {len(names) for names in kinds} >= {1, 2, 3, 4}
    assert any(names.count("post") > 1 for names in kinds)
    # The extra in the performer's room is never there.
    assert not any(isinstance(thing, Group) and thing.of == "crate" and thing.at == (0, 0, 0)
                   for objects in draws for thing in objects)


def test_hours_change_sky_and_sun(tmp_path: Path) -> None:
    evening = {"sky": ROOM["sky"] | {"zenith": "#203050"}, "sun": {"strength": 0.2}}
    path = background_file(tmp_path, {"hours": [evening]})
    assert {drawn(path, seed).sun.strength for seed in range(10)} == {0.2, 1.0}


def test_seasons_color_what_changes_with_them(tmp_path: Path) -> None:
    autumn = {"sky": ROOM["sky"], "sun": {"strength": 0.2}, "materials": {"wood": "#c08030"}}
    path = background_file(tmp_path, {"hours": [autumn]})
    colors = {(place.sun.strength, place.materials["wood"].color)
              for place in (drawn(path, seed) for seed in range(10))}
    assert colors == {(1.0, "#a07040"), (0.2, "#c08030")}


@pytest.mark.parametrize(("vary", "words"), [
    ({"materials": {"wal": {"hue": 10}}}, "no material 'wal'"),
    ({"hours": [{"sky": ROOM["sky"], "sun": {"strength": 1}, "materials": {"leef": "#808000"}}]},
     "no material 'leef'"),
    ({"things": {"crates": {"turn": 10}}}, "no object is a copy of 'crates'"),
    ({"things": {"crate": {"instead": ["posts"]}}}, "no group 'posts'"),
    ({"things": {"crate": {"leave": 1}}}, "leave"),
    ({"extras": [{"thing": {"kind": "group", "of": "crates"}}]}, "no group 'crates'"),
    ({"lamps": 3}, "lamps")])
def test_what_cannot_vary_is_said_with_file_and_line(tmp_path: Path, vary: dict[str, Any],
                                                     words: str) -> None:
    with pytest.raises(RequestError, match=words) as said:
        read_background(background_file(tmp_path, vary))
    assert "room.yaml" in str(said.value)


def test_only_sets_that_vary_have_seeds(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="room:4: room has nothing to vary"):
        load_background(background_file(tmp_path, None), 4)
    with pytest.raises(RequestError, match="blank:4: only sets take a seed"):
        load_background(FOLDER / "blank.yaml", 4)


def scattered(folder: Path) -> Path:
    """Two crates, of which one is anywhere within 1.2 m of its place: some draws they meet in."""
    loose = {"kind": "group", "of": "crate", "at": [-1.2, 3, 0],
             "repeat": [{"count": 1, "vary_at": [1.2, 0, 0]}]}
    fixed = {"kind": "group", "of": "crate", "at": [-3, 3, 0]}
    return background_file(folder, {"things": {"crate": {"turn": 1}}}, objects=[fixed, loose])


def test_what_could_not_stand_is_drawn_again_and_said(tmp_path: Path) -> None:
    path, redrawn = scattered(tmp_path), []
    for seed in range(16):
        scenery = drawn(path, seed)
        one, other = boxes(scenery)
        assert (np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])).min() <= 2 * DEEPER_M
        redrawn.append(scenery.redrawn)
    assert redrawn.count(0) > 5 and max(redrawn) > 0
    assert drawn(path, redrawn.index(max(redrawn))).redrawn == max(redrawn)


def test_a_seed_of_which_no_draw_can_stand_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scattered(tmp_path)
    again = next(seed for seed in range(16) if drawn(path, seed).redrawn)
    monkeypatch.setattr(variation, "DRAWS", 1)
    scenery = read_background(path).set
    assert scenery is not None and scenery.vary is not None
    with pytest.raises(RequestError, match=rf"room:{again}: none of 1 random layouts is valid \(the"
                                           r" last: crate in crate by \d+ cm\); use another seed"):
        variation.varied(scenery, "room", again, Written.of(scenery, scenery.vary))


def test_how_deep_things_lie_in_each_other_is_told_by_their_shapes() -> None:
    def depth(*shapes: dict[str, Any]) -> float:
        one, other = laid_objects(Scenery.model_validate(ROOM | {"objects": [
            shape | {"material": "wood"} for shape in shapes]}))
        return depth_between(one, other)

    box = {"kind": "box", "size": [1, 1, 1], "turn": [0, 0, 45]}
    # A box's corner is 0.707 m from its middle; boxes upright about both would meet.
    assert depth(box, box | {"at": [1.1, 0.5, 0]}) == 0
    assert depth(box, box | {"at": [0.9, 0, 0.9]}) == pytest.approx(0.1, abs=0.001)
    post = {"kind": "cylinder", "radius": 0.5, "height": 1}
    assert depth(post, post | {"at": [0.75, 0.75, 0]}) == 0
    assert depth(post, post | {"at": [0.65, 0.65, 0]}) == pytest.approx(0.081, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARYING[::3])
def test_the_places_that_come_with_mimegen_vary(name: str) -> None:
    plain = read_background(FOLDER / f"{name}.yaml")
    assert isinstance(plain, Background) and plain.set is not None
    keys, deepest = set(), performer_penetration_m(plain.set) + 2 * DEEPER_M
    for seed in range(2):
        scenery = drawn(FOLDER / f"{name}.yaml", seed)
        keys.add(loaded_background_key(FOLDER / f"{name}.yaml", seed))
        assert performer_penetration_m(scenery) <= deepest
        assert len(scenery.objects) >= len(plain.set.objects) // 2
    assert len(keys) == 2


@pytest.mark.slow
def test_variants_name_places_by_seed() -> None:
    catalogue = Catalogue.with_libraries(())
    takes = SeededTakes((library_take(catalogue.action("basketball"), None, 0),), range(1))
    config = read_config(catalogue.file("config", "draft"))

    def clips(variants: str, set_seed: int | None = None) -> list[PlannedClip]:
        cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
        plan = make_plan(catalogue, takes, cells, config, "opengl", set_seed=set_seed)
        return [clip for clip in plan if isinstance(clip, PlannedClip)]

    four = clips("base+aligned@0,base+aligned:7@0,base+living_room:7@0,base+living_room:8@0")
    assert len({clip.key for clip in four}) == len({clip.sample_id for clip in four}) == 4
    assert len({clip.shot.key for clip in four}) == 1
    assert [clip.chosen.seed for clip in four] == [None, 7, 7, 8]
    assert [str(clip.variant) for clip in four][1:3] == ["base+aligned:7@0", "base+living_room:7@0"]
    mime = clips("mime", set_seed=7)
    assert {(clip.chosen.kind, clip.chosen.seed) for clip in mime} >= {("blank", None),
                                                                       ("aligned", 7)}
    assert next(clip for clip in mime if str(clip.variant) == "base+aligned@0").key == four[1].key
    with pytest.raises(RequestError, match="blank:3: only sets take a seed"):
        clips("base+blank:3@0")
    with pytest.raises(RequestError, match="expected a group or"):
        clips("base+living_room:x@0")
