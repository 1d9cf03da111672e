"""The light in drawn sets: rays through cells, and what is known of a closed room."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl import set_light
from mimegen.rendering.opengl.bounce import (
    MAX_DIRECT_LAMPS,
    SetLight,
    Spread,
    spread_light,
    through_shell,
)
from mimegen.rendering.opengl.glowing import glowing_parts, passing, screens
from mimegen.rendering.opengl.light_choice import nearby, rays_to_sky
from mimegen.rendering.opengl.set_matter import set_cells, surfaces_of
from mimegen.rendering.opengl.voxels import ColoredTriangles, Grid, Voxels, matter_of
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config

Triangles = dict[str, NDArray[np.float32]]
WIDE, HIGH, ALBEDO, WATTS = 10.0, 4.0, 0.5, 500.0
SPREAD = np.linspace(-WIDE / 2 + 0.1, WIDE / 2 - 0.1, 30)


def quad(*corners: tuple[float, float, float]) -> NDArray[np.float32]:
    one, two, three, four = corners
    return np.array([[one, two, three], [one, three, four]], np.float32)


def room() -> list[NDArray[np.float32]]:
    """Return floor, ceiling and four walls, which face inwards."""
    w, h = WIDE / 2, HIGH
    return [
        quad((-w, -w, 0), (w, -w, 0), (w, w, 0), (-w, w, 0)),
        quad((-w, -w, h), (-w, w, h), (w, w, h), (w, -w, h)),
        quad((w, -w, 0), (-w, -w, 0), (-w, -w, h), (w, -w, h)),
        quad((-w, w, 0), (w, w, 0), (w, w, h), (-w, w, h)),
        quad((w, w, 0), (w, -w, 0), (w, -w, h), (w, w, h)),
        quad((-w, -w, 0), (-w, w, 0), (-w, w, h), (-w, -w, h)),
    ]


def nowhere(places: FloatArray) -> FloatArray:
    """No rays go to the sky."""
    return np.zeros(len(places))


NOTHING = SetLight(np.zeros((0, 10)), np.zeros(0, np.int64), lambda ways: np.zeros((len(ways), 3)),
                   nowhere, np.zeros(3), np.array([0.0, 0.0, 1.0]), np.zeros((0, 10)),
                   np.zeros((0, 3, 3)), None, np.zeros(3))


def cells() -> Grid:
    cell = 0.125
    low = np.array([-WIDE / 2, -WIDE / 2, 0.0]) - cell - 1e-3
    return Grid(low, np.full(3, cell), (83, 83, 35))


def voxels(parts: list[NDArray[np.float32]]) -> Voxels:
    surface = ColoredTriangles(np.concatenate(parts), np.full(3, ALBEDO), False)
    return matter_of([surface], cells()).voxels()


def test_rays_stop_where_matter_is() -> None:
    starts = np.tile([0.0, 0.0, 1.0], (3, 1))
    ways = np.array([[1.0, 0, 0], [0, 0, -1.0], [0.6, 0.0, 0.8]])
    seen, gone = voxels(room()).trace(starts, ways)
    assert (seen >= 0).all() and np.allclose(gone, [5.0, 1.0, 3.75], atol=0.2)
    open_seen, _ = voxels(room()[:1]).trace(starts, ways)
    assert list(open_seen >= 0) == [False, True, False]
    near, _ = voxels(room()).trace(starts, ways, 0.5)
    assert (near < 0).all()


def flux(volume_over_pi: FloatArray, area: float) -> float:
    return float(volume_over_pi.mean() * np.pi * area)


def test_a_closed_room_keeps_its_light() -> None:
    """A lamp's watts arrive, then half of them again, then a quarter, from wall to wall."""
    at = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    parts = np.array([[x, y, 3.9, 0, 0, -1, *3 * [WATTS / 4], 4.0] for x, y in at])
    light = replace(NOTHING, parts=parts, lamp_of=np.full(4, MAX_DIRECT_LAMPS))
    places = Grid(np.array([-WIDE / 2, -WIDE / 2, 0.0]), np.full(3, 0.5), (20, 20, 8))
    volume = spread_light(voxels(room()), voxels(room()[:1]), light, places).seen_by(None)
    level = np.stack([*np.meshgrid(SPREAD, SPREAD), np.full((30, 30), 0.2)], axis=-1).reshape(-1, 3)
    up = np.linspace(0.1, HIGH - 0.1, 12)
    across, above = np.meshgrid(SPREAD, up)
    wall = np.stack([across, np.full_like(across, WIDE / 2 - 0.2), above], axis=-1).reshape(-1, 3)
    total = 0.0
    for points, normal, area in ((level, (0, 0, 1), 100.0),
                                 (level + np.array([0, 0, HIGH - 0.4]), (0, 0, -1), 100.0),
                                 (wall, (0, -1, 0), 160.0)):
        total += flux(volume.over_pi(points, np.tile(np.array(normal, float), (len(points), 1))),
                      area)
    assert total == pytest.approx(WATTS * (1 + ALBEDO + ALBEDO**2), rel=0.04)


def test_what_lies_behind_a_panel_does_not_darken_it() -> None:
    """The panel stands 80 cm before a wall, less than places of light are apart."""
    parts = np.array([[0.0, 0.0, 3.9, 0, 0, -1, *3 * [WATTS], 4.0]])
    light = replace(NOTHING, parts=parts, lamp_of=np.array([0]))
    panel = quad((-5, 4.2, 0), (5, 4.2, 0), (5, 4.2, 4), (-5, 4.2, 4))
    places = Grid(np.array([-WIDE / 2, -WIDE / 2, 0.0]), np.full(3, 1.0), (10, 10, 4))
    eye = np.array([0.0, -4.0, 1.5])
    open_room, leaking, mended = (
        spread_light(voxels(walls), voxels(casting), light, places).seen_by(seen_from)
        for walls, casting, seen_from in ((room(), room()[:1], None),
                                          ([*room(), panel], [room()[0], panel], None),
                                          ([*room(), panel], [room()[0], panel], eye)))
    before = np.array([(10 * x + 8) * 4 + 1 for x in range(2, 8)])
    beyond = before + 4
    assert (leaking.visible[beyond, 0] < 0.1).all() and (mended.visible[beyond, 0] > 0.8).all()
    np.testing.assert_allclose(mended.visible[before, 0], open_room.visible[before, 0], atol=0.05)


def test_an_open_sky_lights_what_faces_it() -> None:
    dark = replace(NOTHING, sky=lambda ways: np.where(ways[:, 2:] > 0, 0.7, 0.0) * np.ones(3))
    places = Grid(np.array([-4.0, -4.0, 0.0]), np.full(3, 2.0), (4, 4, 2))
    black = matter_of([ColoredTriangles(room()[0], np.zeros(3), False)], cells()).voxels()
    volume = spread_light(black, black, dark, places).seen_by(None)
    seen = volume.over_pi(np.array([[0.0, 0.0, 1.0]] * 2), np.array([[0, 0, 1.0], [0, 0, -1.0]]))
    assert seen[0] == pytest.approx(0.7, rel=0.03) and seen[1] == pytest.approx(0.0, abs=0.03)


def test_what_stands_far_away_hides_the_sky_and_sends_its_own_color() -> None:
    """A high wall beyond all places, to +X: what faces it has its color instead of the sky's."""
    empty = matter_of([ColoredTriangles(room()[0], np.zeros(3), False)], cells()).voxels()
    beyond = Grid(np.array([-30.0, -30.0, 0.0]), np.full(3, 1.0), (60, 60, 40))
    wall = quad((20, -29, 0), (20, -29, 39), (20, 29, 39), (20, 29, 0))
    far = matter_of([ColoredTriangles(wall, np.array([0.5, 0.0, 0.0]), False)], beyond).voxels()
    sky = replace(NOTHING, sky=lambda ways: np.where(ways[:, 2:] > 0, 1.0, 0.0) * np.ones(3),
                  far=far, far_light=np.full(3, 0.6))
    places = Grid(np.array([-4.0, -4.0, 0.0]), np.full(3, 2.0), (4, 4, 2))
    seen = spread_light(empty, empty, sky, places).seen_by(None).over_pi(
        np.array([[0.0, 0.0, 1.0]] * 2), np.array([[1.0, 0, 0], [-1.0, 0, 0]]))
    assert seen[1] == pytest.approx(0.5, abs=0.05)
    assert seen[0, 1] < 0.15 and seen[0, 0] == pytest.approx(seen[0, 1] + 0.12, abs=0.04)


def test_some_of_the_sky_comes_through_walls_as_in_cycles() -> None:
    """Through black walls comes, of an even sky, what the power heuristic leaves."""
    sky = replace(NOTHING, sky=lambda ways: np.ones((len(ways), 3)),
                  above=lambda places: np.full(len(places), 0.5))
    places = Grid(np.array([-4.0, -4.0, 0.0]), np.full(3, 2.0), (4, 4, 2))
    whole, casting = (
        matter_of([ColoredTriangles(np.concatenate(parts), np.zeros(3), False)], cells()).voxels()
        for parts in (room(), room()[:1]))
    seen = spread_light(whole, casting, sky, places).seen_by(None).over_pi(
        np.array([[0.0, 0.0, 1.0]] * 2), np.array([[0, 0, 1.0], [0, 0, -1.0]]))
    assert seen[0] == pytest.approx(float(through_shell(np.array(0.5))), rel=0.1)
    assert seen[1] == pytest.approx(0.0, abs=0.01)


def test_a_thin_lamp_shines_to_where_it_faces() -> None:
    """A square's form factor (Lambert 1760) from below; nothing behind it."""
    low = np.array([[-1, -1, 3], [1, -1, 3], [1, 1, 3], [-1, 1, 3]], np.float32)
    glowing = ColoredTriangles(low[[[0, 2, 1], [0, 3, 2]]], np.ones(3), True)
    plate = matter_of([glowing], cells()).voxels()
    dark = replace(NOTHING, glowing=glowing_parts([glowing]))
    places = Grid(np.array([-1.0, -1.0, 0.5]), np.full(3, 0.5), (4, 4, 8))
    seen = spread_light(plate, plate, dark, places).seen_by(None).over_pi(
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 3.9]]), np.array([[0, 0, 1.0], [0, 0, -1.0]]))
    side = 0.5 / np.sqrt(1.25)
    assert seen[0] == pytest.approx(4 / np.pi * side * np.arctan(side), rel=0.1)
    assert seen[1] == pytest.approx(0.0, abs=0.01)


def test_thin_lamps_do_not_hide_one_another_at_flat_angles() -> None:
    """Strips in a row under a ceiling light a wall as much as the sum over all of them does."""
    strips = [quad((-0.1 + y, -2, 3.7), (0.1 + y, -2, 3.7), (0.1 + y, 2, 3.7), (-0.1 + y, 2, 3.7))
              for y in np.arange(-4.0, 4.5)]
    glowing = ColoredTriangles(np.concatenate(strips)[:, ::-1], np.ones(3), True)
    found = matter_of([glowing], cells()).voxels()
    parts = glowing_parts([glowing])
    dark = replace(NOTHING, glowing=parts)
    places = Grid(np.array([-WIDE / 2, -WIDE / 2, 0.0]), np.full(3, 0.5), (20, 20, 7))
    at, facing = np.array([[4.5, 0.0, 2.8]]), np.array([[-1.0, 0.0, 0.0]])
    away = parts[:, :3] - at
    squared = (away**2).sum(axis=1)
    shares = -(away @ facing[0]) * (away * parts[:, 3:6]).sum(axis=1) / squared**2
    exact = (np.maximum(shares, 0.0) * parts[:, 6] / np.pi**2).sum()
    seen = spread_light(found, found, dark, places).seen_by(None).over_pi(at, facing)
    assert seen[0, 0] == pytest.approx(exact, rel=0.15)


def test_what_glows_outside_stands_before_the_sky() -> None:
    panel = ColoredTriangles(quad((-4, 9, 0), (4, 9, 0), (4, 9, 4), (-4, 9, 4)), np.ones(3), True)
    outside = screens([panel], np.full(3, -5.0), np.full(3, 5.0))
    ways = unit(np.array([[0, 9, 1], [0, 9, 9], [0, -9, 1.0]]))
    assert passing(outside, np.zeros((3, 3)), ways).tolist() == [False, True, True]


def test_a_wall_across_the_grid_is_no_stairs() -> None:
    """Light from along the grid reaches it as it faces, not as the sides of its cells do."""
    wall = quad((3, -3, 0), (-3, 3, 0), (-3, 3, 3), (3, -3, 3))
    found = voxels([wall])
    solid = np.flatnonzero((found.free == 0).ravel())
    across = np.array([1, 1, 0]) / np.sqrt(2)
    for side in (0, 1):
        np.testing.assert_allclose(found.facing[solid, side] @ across, 1.0, atol=1e-5)
    np.testing.assert_allclose(found.facing[solid, 3] @ [-1, 0, 0], 1.0, atol=1e-5)


def walled(turn: float = 0.0, sky: str = "#ffffff") -> Scenery:
    return Scenery.model_validate({
        "sky": {"zenith": sky, "horizon": sky, "ground": sky, "strength": 1.0},
        "sun": {"strength": 0.0}, "turn_deg": turn,
        "materials": {"wall": {"color": "#ffffff"}, "mat": {"color": "#ff0000"}},
        "walls": [{"corners": [[-3, -3], [3, -3], [3, 3], [-3, 3]], "closed": True, "top": 3,
                   "material": "wall"}]})


def test_light_is_followed_once_for_all_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another camera has the same light; another sky, wall or thing has light of its own."""
    followed = []

    def followed_too(*told: Any) -> Spread:
        followed.append(told)
        return spread_light(*told)

    monkeypatch.setattr(set_light, "spread_light", followed_too)
    config = read_config(data_folder() / "render_configs" / "draft.yaml")
    wall = {"wall": quad((-3, 3, 0), (3, 3, 0), (3, 3, 3), (-3, 3, 3))}
    mat = {"mat": quad((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0))}

    def light(scenery: Scenery, shell: Triangles, inner: Triangles,
              y: float) -> NDArray[np.float32]:
        camera = Camera((0.0, y, 1.5), (1.0, 0.0, 0.0, 0.0), 50.0, 16, 16)
        job = SetJob(scenery, camera, config, Path())
        return set_light.set_volume(job, shell, inner, 200)[1].harmonics

    one = light(walled(), wall, mat, -2.0)
    other = light(walled(), wall, mat, 2.0)
    assert len(followed) == 1
    np.testing.assert_array_equal(one, other)
    light(walled(), {}, mat, -2.0)
    light(walled(), wall, {"mat": mat["mat"] + np.float32(0.5)}, -2.0)
    dark = light(walled(sky="#000000"), wall, mat, -2.0)
    assert len(followed) == 4 and np.abs(dark).max() < 1e-6 < np.abs(one).max()
    np.testing.assert_array_equal(one, light(walled(), wall, mat, -2.0))


def test_a_set_s_cells_lie_along_its_walls_and_mats_do_not_rise() -> None:
    """A turned room takes no more cells than one that stands straight; mats are no thicker."""
    shapes = []
    for turn in (0.0, 45.0):
        scenery = walled(turn)
        top, bottom = (quad(*((x, y, z) for x, y in corners)) for z, corners in (
            (0.01, ((-1, -1), (1, -1), (1, 1), (-1, 1))),
            (0.0, ((-1, -1), (-1, 1), (1, 1), (1, -1)))))
        cells = set_cells(scenery, [], surfaces_of(scenery, {"mat": np.concatenate([top, bottom])}))
        shapes.append(cells.whole.grid.shape)
        middles = cells.whole.grid.middles(np.flatnonzero(cells.whole.free.ravel() == 0))
        assert len(middles) and (middles[:, 2] < 0).all()
    assert shapes[0] == shapes[1]


def test_rays_go_to_the_sky_where_little_else_shines() -> None:
    lamp = np.array([[0.0, 0.0, 3.0, 0, 0, -1, *3 * [100 * np.pi], 1.0]])
    plate = (2.0, quad((0, 0, 3), (1, 0, 3), (1, 1, 3), (0, 1, 3)))
    places = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -7.0]])
    assert rays_to_sky(1.0, 0.0, nearby(np.zeros((0, 10)), []))(places) == pytest.approx(1.0)
    assert rays_to_sky(1.0, 1.0, nearby(np.zeros((0, 10)), []))(places) == pytest.approx(0.25)
    near, far = rays_to_sky(1.0, 0.0, nearby(lamp, []))(places)
    assert near == pytest.approx((1 / 26 + 0.5) / 2) and far == pytest.approx((1 / 2 + 0.5) / 2)
    assert nearby(lamp, [plate]).power == pytest.approx(102.0)
