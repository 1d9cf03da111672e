"""Sets as data: what parses, where things stand, and that the performer is always seen."""


import functools
import itertools
from typing import Any, cast

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError
from scipy.spatial.transform import Rotation

from examples import examples
from mimegen.base.paths import data_folder
from mimegen.compositing.background import read_background
from mimegen.scenery.layout import (
    PERFORMER_HIGH,
    PERFORMER_LOW,
    PlacedShape,
    box_corners,
    faces_camera,
    hulls_meet,
    in_view,
    lay_out,
    turned_boxes,
    visible_pieces,
    wall_panels,
)
from mimegen.scenery.meshes import joined
from mimegen.scenery.objects import Box, Cylinder, Object, Solid, WrittenWords
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import mesh_of
from mimegen.scenery.standing import wall_hides_the_performer
from mimegen.shots.camera import Camera
from small_set import MINIMAL


@functools.cache
def background(name: str) -> dict[str, Any]:
    return yaml.safe_load((data_folder() / "backgrounds" / f"{name}.yaml").read_text())


BACKGROUNDS = sorted(path.stem for path in (data_folder() / "backgrounds").glob("*.yaml"))
SETS = [name for name in BACKGROUNDS if "set" in background(name)]


@functools.cache
def scenery(name: str) -> Scenery:
    found = read_background(data_folder() / "backgrounds" / f"{name}.yaml").set
    assert found is not None
    return found


def framed(angle: float, distance: float = 6.2, elevation: float = 11.0) -> Camera:
    turn, rise = np.radians(48.5 + angle), np.radians(elevation)
    position = (distance * np.sin(turn) * np.cos(rise), -distance * np.cos(turn) * np.cos(rise),
                1.0 + distance * np.sin(rise))
    return looking(position, (90 - elevation, 0, 48.5 + angle))


def mime(angle: float) -> Camera:
    position = Rotation.from_euler("z", angle, degrees=True).apply([10.809, -9.5732, 5.1592])
    return looking(position, (np.degrees(1.3), 0, np.degrees(0.8) + angle))


def looking(position, euler_deg) -> Camera:
    x, y, z, w = Rotation.from_euler("xyz", euler_deg, degrees=True).as_quat()
    across, along, up = (float(number) for number in position)
    return Camera((across, along, up), (w, x, y, z), 50.0, 96, 54)


# Kept here so that no two shapes ever have the same id.
SHAPES: dict[int, tuple[Solid, NDArray[Any]]] = {}
CAMERAS = [framed(angle) for angle in range(0, 360, 45)] + [mime(0)]


def in_world(piece: PlacedShape) -> NDArray[Any]:
    return vertices(piece.shape) @ piece.matrix[:3, :3].T + piece.matrix[:3, 3]


def vertices(shape: Solid) -> NDArray[Any]:
    if id(shape) not in SHAPES:
        SHAPES[id(shape)] = (shape, mesh_of(shape).vertices)
    return SHAPES[id(shape)][1]


def test_every_background_says_what_it_is():
    for name in BACKGROUNDS:
        data = background(name)
        assert data["name"] == name
        assert {"description", "licence", "author", "source"} <= set(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_sets_use_all_they_define(name):
    made = scenery(name)
    text = yaml.safe_dump(made.model_dump(mode="json", exclude={"materials"}))
    assert [material for material in made.materials if material not in text] == []
    assert [group for group in made.groups if f"of: {group}\n" not in text] == []


@pytest.mark.parametrize(("change", "words"), [
    ({"objects": [{"kind": "box", "size": [1, 1, 1], "material": "red", "bevle": 1}]}, "bevle"),
    ({"objects": [{"kind": "bx", "material": "red"}]}, "bx"),
    ({"objects": [{"kind": "sphere", "radius": -1, "material": "red"}]}, "radius"),
    ({"objects": [{"kind": "sphere", "radius": 1, "material": "rde"}]}, "no material 'rde'"),
    ({"objects": [{"kind": "group", "of": "car"}]}, "no group 'car'"),
    ({"groups": {"a": [{"kind": "group", "of": "b"}], "b": [{"kind": "group", "of": "a"}]}},
     "holds itself"),
    ({"materials": {"red": {"color": "red"}}}, "color"),
    ({"wals": []}, "wals"),
])
def test_mistakes_are_named(change, words):
    with pytest.raises(ValidationError, match=words):
        Scenery.model_validate({**MINIMAL, **change})


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_floor_around_the_performer_is_free(name):
    for piece in lay_out(scenery(name)):
        points = in_world(piece)
        inside = (points[:, 2] > PERFORMER_LOW[2]) & (points[:, 2] < PERFORMER_HIGH[2])
        if inside.any():
            assert np.linalg.norm(points[inside, :2], axis=1).min() > 1.7, piece.shape


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_nothing_comes_between_camera_and_performer(name):
    made = scenery(name)
    pieces, panels = lay_out(made), wall_panels(made)
    for camera in CAMERAS:
        eye, targets = np.array(camera.position), performers_room()
        seen = visible_pieces(pieces, camera)
        hits = ray_hits(seen, eye, targets).any(axis=1)
        assert not hits.any(), (camera.position, seen[hits.argmax()])
        for panel in panels:
            if faces_camera(panel, camera):
                assert not crosses(panel.corners, eye, targets).any()


@pytest.mark.parametrize(("ends", "top", "hidden_from"), [
    # A wall is seen from its left: before the performer's camera, then turned away from it.
    ([[2, -2], [-2, -2]], 3, [0]),
    ([[-2, -2], [2, -2]], 3, []),
    ([[-2, 2], [2, 2]], 3, [180]),
    ([[2, -2], [1, -2]], 3, []),
    ([[2, -2], [-2, -2]], 0.05, []),
])
def test_a_wall_before_the_performer_is_told(
        ends: list[list[float]], top: float, hidden_from: list[int]) -> None:
    made = Scenery.model_validate({**MINIMAL, "walls": [
        {"corners": ends, "top": top, "material": "red"}]})
    assert [angle for angle in (0, 90, 180, 270)
            if wall_hides_the_performer(made, framed(angle - 48.5))] == hidden_from


def test_ropes_before_the_performer_are_left_out_and_those_behind_stay():
    pieces, camera = lay_out(scenery("boxing_gym")), framed(0)
    eye, targets = np.array(camera.position), performers_room()
    assert ray_hits(pieces, eye, targets).any()
    ropes = [piece for piece in pieces if piece.material == "rope_red"]
    kept = [piece for piece in visible_pieces(pieces, camera) if piece.material == "rope_red"]
    behind = [rope for rope in ropes if rope.matrix[:2, 3] @ eye[:2] < 0]
    assert len(behind) == 2
    assert all(rope in kept for rope in behind)
    assert len(kept) < len(ropes) == 4


def test_the_view_holds_what_any_of_its_corners_shows_and_nothing_behind():
    pieces, camera = lay_out(scenery("concert_hall")), framed(0)
    seen = camera.project(turned_boxes(pieces).reshape(-1, 3)).reshape(-1, 8, 3)
    depths = seen[..., 2]
    within = ((seen[..., :2] >= 0) & (seen[..., :2] <= [camera.width, camera.height])).all(axis=2)
    shown = in_view(pieces, camera)
    assert shown[(within & (depths > 0)).any(axis=1)].all()
    assert not shown[(depths < 0).all(axis=1)].any()
    assert shown.any() and (~shown).sum() > 1000


def performers_room() -> NDArray[Any]:
    """Points (N, 3) all over the room that a performance takes."""
    axes = [np.linspace(low, high, 5) for low, high in
            zip(PERFORMER_LOW, PERFORMER_HIGH, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3)


def ray_hits(pieces: list[PlacedShape], eye: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """Whether the ways from the eye to targets (N, 3) go through the pieces' turned boxes (P, N).

    By slabs, in each piece's own frame.
    """
    low, high = (np.array([edge(vertices(piece.shape), axis=0) for piece in pieces])[:, None]
                 for edge in (np.min, np.max))
    back = np.linalg.inv([piece.matrix for piece in pieces])
    start = back[:, None, :3, :3] @ eye + back[:, None, :3, 3]
    way = targets @ back[:, :3, :3].transpose(0, 2, 1) + back[:, None, :3, 3] - start
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (low - start) / way, (high - start) / way
    enter = np.nanmax(np.minimum(first, second), axis=-1)
    leave = np.nanmin(np.maximum(first, second), axis=-1)
    return (enter < leave) & (leave > 0) & (enter < 1)


def crosses(corners: NDArray[Any], eye: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """Whether the ways from the eye to targets go through a rectangle (4, 3)."""
    along, up = corners[1] - corners[0], corners[3] - corners[0]
    normal = np.cross(along, up)
    way = targets - eye
    reach = ((corners[0] - eye) @ normal) / (way @ normal)
    at = eye + reach[:, None] * way - corners[0]
    u, v = at @ along / (along @ along), at @ up / (up @ up)
    return (reach > 0) & (reach < 1) & (u > 0) & (u < 1) & (v > 0) & (v < 1)


shares = st.lists(st.floats(0.01, 1), min_size=9, max_size=9)
turns = st.tuples(*[st.floats(-180, 180)] * 3)


@settings(max_examples=examples(60), deadline=None)
@given(shares, turns, st.tuples(*[st.floats(0.02, 2)] * 3))
def test_a_box_around_a_point_in_sight_is_in_the_way(weights, turn, size):
    cone = np.vstack([[5.0, -4.0, 2.0], box_corners(PERFORMER_LOW, PERFORMER_HIGH)])
    point = np.array(weights) / sum(weights) @ cone
    half = np.array(size) / 2
    box = Rotation.from_euler("xyz", turn, degrees=True).apply(box_corners(-half, half))
    assert hulls_meet(cone, (box + point)[None]).all()
    # One side of the cone is the plane X = -1; what is wholly beyond it is not in the way.
    assert not hulls_meet(cone, (box + np.array([-1.01 - np.linalg.norm(half), 0, 1]))[None]).any()


@pytest.mark.parametrize("shape", [
    {"kind": "box", "size": [1, 2, 3]},
    {"kind": "cylinder", "radius": 1, "height": 2},
    {"kind": "cylinder", "radius": 1, "height": 2, "top": 0},
    {"kind": "sphere", "radius": 1},
    {"kind": "extrude", "outline": [[0, 0], [1, 0], [0, 1]], "height": 1},
    {"kind": "extrude", "outline": [[0, 0], [0, 1], [1, 0]], "height": 1},
    {"kind": "tube", "points": [[0, 0, 0], [0, 0, 1], [1, 0, 2]], "radius": 0.1},
    {"kind": "loft", "sections": [{"x": 0, "bottom": 0, "top": 1, "width": 1},
                                  {"x": 1, "bottom": 0, "top": 1, "width": 1}]},
])
def test_solids_are_closed_and_face_outwards(shape):
    mesh = mesh_of(cast(Solid, TypeAdapter(Object).validate_python({**shape, "material": "red"})))
    edges: dict[tuple[int, int], int] = {}
    volume = 0.0
    for face in mesh.faces:
        for start, end in zip(face, (*face[1:], face[0]), strict=True):
            edges[start, end] = edges.get((start, end), 0) + 1
        for second, third in itertools.pairwise(face[1:]):
            volume += np.linalg.det(mesh.vertices[[face[0], second, third]]) / 6
    assert volume > 0
    assert all(edges.get((end, start)) == 1 for start, end in edges)


def test_shapes_that_are_joined_stay_where_they_were():
    box, post = (mesh_of(shape) for shape in (
        Box(kind="box", size=(1, 2, 3), material="red"),
        Cylinder(kind="cylinder", radius=0.5, height=1, material="red")))
    moved = np.eye(4)
    moved[:3, 3] = 5, 6, 7
    made = joined([(box, np.eye(4)), (post, moved)])
    of_post = np.concatenate([made.vertices[list(face)] for face in made.faces[len(box.faces):]])
    np.testing.assert_allclose(of_post.min(axis=0), [4.5, 5.5, 7], atol=0.01)
    np.testing.assert_allclose(of_post.max(axis=0), [5.5, 6.5, 8], atol=0.01)
    assert len(made.faces) == len(box.faces) + len(post.faces)


def test_a_crowns_leaves_are_as_many_and_as_large_as_said_all_around_its_ball():
    mesh = mesh_of(cast(Solid, TypeAdapter(Object).validate_python(
        {"kind": "foliage", "radius": 2, "leaf": 0.3, "leaves": 200, "material": "red"})))
    leaves = mesh.vertices[np.array(mesh.faces[-200:])]
    away = np.linalg.norm(leaves.mean(axis=1), axis=1)
    assert 1.2 < away.min() < away.max() < 2.2
    np.testing.assert_allclose(np.linalg.norm(leaves[:, 0] - leaves[:, 2], axis=1), 0.3)
    assert np.abs((leaves.mean(axis=1) / away[:, None]).mean(axis=0)).max() < 0.2


def shape_of(**said: object) -> Solid:
    return cast(Solid, TypeAdapter(Object).validate_python({**said, "material": "red"}))


def test_writing_is_as_high_as_said_centred_and_read_from_the_front():
    mesh = mesh_of(shape_of(kind="words", words="LINE 17", height=0.6, weight=0.1))
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    # Strokes are half their weight wider than their middles, and their ends stand out aslant.
    np.testing.assert_allclose([low[2], high[2]], [-0.03, 0.63], atol=0.015)
    assert low[0] == pytest.approx(-high[0], abs=0.015)
    one, other = (mesh_of(shape_of(kind="words", words=said, height=0.6)) for said in ("L", "LL"))
    left = one.vertices[one.vertices[:, 2] > 0.4]
    assert left[:, 0].max() < 0
    assert len(other.faces) == 2 * len(one.faces)


def test_lines_stand_above_one_another():
    mesh = mesh_of(shape_of(kind="words", words="I\nI", height=0.6, weight=0.1))
    assert mesh.vertices[:, 2].max() == pytest.approx(0.95 + 0.63)


def test_every_letter_that_sets_may_write_is_there():
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:.,+=/!-":
        assert len(mesh_of(shape_of(kind="words", words=letter, height=1.0)).faces)
    with pytest.raises(ValueError, match="pattern"):
        shape_of(kind="words", words="lower", height=1.0)


def test_copies_of_writing_differ_and_seeds_change_them():
    words = {"kind": "words", "words": ["A", "B", "C", "D"], "height": 0.2, "material": "red",
             "repeat": [{"count": 12, "step": [1, 0, 0]}]}
    made = Scenery.model_validate({**MINIMAL, "materials": {"red": {"color": "#ff0000"}},
                                   "objects": [words]})

    def said(scenery: Scenery) -> list[object]:
        return [cast(WrittenWords, piece.shape).words for piece in lay_out(scenery)]

    assert len(set(said(made))) > 2
    assert said(made) == said(made)
    assert said(made) != said(made.model_copy(update={"scatter": "place:7 "}))


def test_a_net_sags_in_its_middle_and_is_fast_at_its_ends():
    mesh = mesh_of(shape_of(kind="sheet", size=[4, 1], sag=0.2, belly=0.3))
    x, y, z = mesh.vertices.T
    assert z[np.abs(x) == 2].max() == pytest.approx(1.0)
    assert z[x == 0].max() == pytest.approx(0.8)
    assert y.max() == pytest.approx(0.3)
    assert np.abs(y[np.abs(x) == 2]).max() < 1e-9


def test_copies_step_turn_and_take_materials_in_turn():
    made = Scenery.model_validate({**MINIMAL, "performer_at": [1, 0], "turn_deg": 90,
                                   "materials": {"red": {"color": "#ff0000"},
                                                 "blue": {"color": "#0000ff"}},
                                   "objects": [{"kind": "sphere", "radius": 1, "at": [2, 0, 0],
                                                "material": ["red", "blue"],
                                                "repeat": [{"count": 3, "step": [1, 0, 0]}]}]})
    pieces = lay_out(made)
    places = np.array([piece.matrix[:3, 3] for piece in pieces])
    np.testing.assert_allclose(places, [[0, 1, 0], [0, 2, 0], [0, 3, 0]], atol=1e-12)
    assert [piece.material for piece in pieces] == ["red", "blue", "red"]
    assert len({piece.whole for piece in pieces}) == 3


def test_chance_in_a_set_is_the_same_each_time():
    first, second = lay_out(scenery("beach")), lay_out(scenery("beach"))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.matrix, other.matrix)




@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_writing_lies_within_its_panel_and_nothing_lies_over_it(name):
    pieces = lay_out(scenery(name))
    checked = set()
    for words in pieces:
        if isinstance(words.shape, WrittenWords) and id(words.shape) not in checked:
            checked.add(id(words.shape))
            within_its_panel(words, [piece for piece in pieces
                                     if piece.whole == words.whole and piece is not words])


def within_its_panel(words: PlacedShape, others: list[PlacedShape]) -> None:
    """Check a writing against what is about it, in its own frame, where it faces -Y."""
    low, high = (edge(vertices(words.shape), axis=0) for edge in (np.min, np.max))
    middle, panels = (low + high) / 2, []
    to_own = np.linalg.inv(words.matrix)
    for other in others:
        points = in_world(other) @ to_own[:3, :3].T + to_own[:3, 3]
        first, last = points.min(axis=0), points.max(axis=0)
        shared = (np.minimum(high, last) - np.maximum(low, first))[[0, 2]].min()
        if shared > 0.004 and -0.1 < first[1] < 0:
            raise AssertionError(f"{words.shape} is behind {other.shape}")
        if 0 < first[1] < 0.06 and (first < middle)[[0, 2]].all() and (
                last > middle)[[0, 2]].all():
            panels.append((first, last))
    first, last = min(panels, key=lambda panel: float(np.prod((panel[1] - panel[0])[[0, 2]])))
    assert (low >= first)[[0, 2]].all() and (high <= last)[[0, 2]].all(), words.shape


def test_copies_take_all_writings_in_turn_and_fit_their_width():
    sign = {"kind": "words", "words": ["ONE", "TWO", "A LONG LONG LINE"], "height": 0.5,
            "width": 1.0, "material": "red", "repeat": [{"count": 6, "step": [2, 0, 0]}]}
    made = Scenery.model_validate({**MINIMAL, "objects": [sign]})
    written = [cast(WrittenWords, piece.shape).words for piece in lay_out(made)]
    assert len(set(written[:3])) == 3 and written[3:] == written[:3]
    wide = [np.ptp(vertices(piece.shape)[:, 0]) for piece in lay_out(made)]
    assert max(wide) <= 1.0 + 1e-9 and min(wide) > 0.5
    others = {tuple(piece.shape.words for piece in lay_out(  # type: ignore[attr-defined]
        made.model_copy(update={"scatter": f"seed {seed} "}))) for seed in range(8)}
    assert len(others) > 1
