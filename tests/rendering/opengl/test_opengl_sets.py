"""Sets drawn by OpenGL: colors, shadows, mirrors, and triangles of shapes."""

from pathlib import Path

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.base.vectors import direction_from
from mimegen.compositing.background import read_background
from mimegen.compositing.color import srgb_to_linear
from mimegen.rendering.opengl.lobes import CELLS, lobe_texture
from mimegen.rendering.opengl.mirror import mirror_level, mirrored_at
from mimegen.rendering.opengl.scenery import set_picture
from mimegen.rendering.opengl.set_matter import moved
from mimegen.rendering.opengl.set_triangles import corners_of, rounded_box
from mimegen.scenery.job import SetJob
from mimegen.scenery.meshes import ShapeMesh
from mimegen.scenery.objects import Box, Extrude
from mimegen.scenery.scenery import Scenery
from mimegen.scenery.shapes import mesh_of
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig
from mimegen.shots.framing import frame_camera
from raster_scene import BODY, ROOM, draft, standing


def camera_and_config() -> tuple[Camera, RenderConfig]:
    config = draft(camera={"kind": "framed", "azimuth_deg": 0.0, "elevation_deg": 10.0,
                           "lens_mm": 35, "margin": 0.06})
    return frame_camera([standing(BODY, 0.0)], config, 0.0), config


def set_of(context: moderngl.Context, objects: list[dict[str, object]],
           room: dict[str, object] | None = None) -> NDArray[np.uint8]:
    camera, config = camera_and_config()
    scenery = Scenery.model_validate(ROOM | (room or {}) | {"objects": objects})
    return set_picture(context, SetJob(scenery, camera, config, Path("unused.png")))


def test_a_set_has_its_colors_its_sky_and_its_shadows(context) -> None:
    empty = set_of(context, []).astype(int)
    box = {"kind": "box", "size": [2, 2, 2], "at": [0, 6, 0], "bevel": 0.1, "material": "red"}
    full = set_of(context, [box]).astype(int)
    assert empty[0, 80, 2] > empty[0, 80, 0]
    red = (full[..., 0] > full[..., 1] + 40) & (full[..., 0] > full[..., 2] + 40)
    assert 100 < red.sum() < 0.5 * red.size
    darker = (empty.sum(-1) - full.sum(-1) > 60) & ~red
    assert darker.sum() > 20
    assert np.abs(empty[-1] - empty[-1].mean(axis=0)).max() < 12


def test_a_net_shades_the_ground_by_as_much_as_its_cords_cover(context) -> None:
    look: dict[str, object] = {"color": "#202020", "size": [0.2, 0.2], "gap": 0.3}
    # Above the picture, its shadow in it.
    sheet: dict[str, object] = {"kind": "box", "size": [6, 6, 0.01], "at": [0, 4, 6],
                                "material": "sheet"}

    def shown(pattern: str) -> NDArray[np.float64]:
        materials = {"floor": {"color": "#808080"}, "sheet": look | {"pattern": pattern}}
        return srgb_to_linear(set_of(context, [sheet], {"materials": materials}) / 255).sum(axis=-1)

    empty = srgb_to_linear(set_of(context, []) / 255).sum(axis=-1)
    net, plain = shown("net"), shown("plain")
    shaded = plain < 0.5 * empty
    assert shaded.sum() > 200
    share = ((empty - net)[shaded].sum() / (empty - plain)[shaded].sum())
    assert share == pytest.approx(1 - 0.7**2, abs=0.1)
    assert ((empty - net)[shaded] / empty[shaded]).std() < 0.1


def test_a_roof_hides_sun_and_sky_far_away(context) -> None:
    """Beyond the region in which light is followed, too."""
    ball: dict[str, object] = {"kind": "sphere", "radius": 3.0, "at": [0, 45, 3], "material": "red"}
    roof: dict[str, object] = {"kind": "box", "size": [20, 20, 0.3], "at": [0, 45, 8],
                               "material": "floor"}
    alone, below = (set_of(context, things).astype(int) for things in ([ball], [ball, roof]))
    red = alone[..., 0] - alone[..., 1:].max(axis=-1) > 60
    assert red.sum() > 20
    # Places of light at the region's edge alone leave 0.44 of it.
    assert below[red, 0].mean() < 0.33 * alone[red, 0].mean()


def test_glowing_things_keep_their_color(context) -> None:
    shown = set_of(context, [{"kind": "sphere", "radius": 1.0, "at": [0, 6, 1.5],
                              "material": "lamp"}])
    assert (shown == [0, 255, 0]).all(axis=-1).sum() > 50


def test_a_floor_mirrors_what_stands_on_it(context) -> None:
    """Fresnel's share of a glowing box, upside down, about as far down as it is high."""
    dark: dict[str, object] = {
        "sky": {"zenith": "#000000", "horizon": "#000000", "ground": "#000000", "strength": 0.0},
        "sun": {"strength": 0.0},
        "materials": {"floor": {"color": "#000000", "roughness": 0.05},
                      "lamp": {"color": "#00ff00", "glow": 1.0}}}
    box: dict[str, object] = {"kind": "box", "size": [3, 1, 1], "at": [0, 4, 0], "material": "lamp"}
    shown = set_of(context, [box], dark)[..., 1].astype(int)
    column = shown[:, shown.shape[1] // 2]
    lit = np.flatnonzero(column == 255)
    below = column[lit[-1] + 2:]
    assert 0.6 * len(lit) < (below > 12).sum() < 1.6 * len(lit)
    assert 25 < below[:3].max() < 160
    assert (shown[:, 0] < 8).all()


def test_water_mirrors_at_its_own_level() -> None:
    """A sea lies lower than a pier's varnish, and is larger."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32)

    def floor(level: float, side: float) -> NDArray[np.float32]:
        corners = np.zeros((6, 15), np.float32)
        corners[:, :2], corners[:, 2], corners[:, 5] = side * square, level, 1.0
        return corners

    parts = {"sea": floor(-1.1, 30.0), "deck": floor(0.0, 5.0), "wall": floor(2.0, 99.0)}
    level = mirror_level(parts, parts)
    assert level == pytest.approx(-1.1)
    np.testing.assert_allclose(moved(np.array([1.0, 2.0, 3.0]), mirrored_at(level)),
                               [1.0, 2.0, -5.2])


def test_near_things_keep_light_that_places_know_nothing_of(context, monkeypatch) -> None:
    """Under a black board, smaller than places lie apart, the floor sees little of the sky."""
    white: dict[str, object] = {
        "sky": {"zenith": "#ffffff", "horizon": "#ffffff", "ground": "#000000", "strength": 0.5},
        "sun": {"strength": 0.0},
        "walls": [{"corners": [[-5, -5], [5, -5], [5, 6], [-5, 6]], "closed": True, "top": 2,
                   "material": "slab"}],
        "materials": {"floor": {"color": "#c0c0c0", "roughness": 1.0},
                      "slab": {"color": "#000000", "roughness": 1.0}}}
    slab: dict[str, object] = {"kind": "box", "size": [1.6, 0.8, 0.05], "at": [0, 3, 0.25],
                               "material": "slab"}
    near = set_of(context, [slab], white).astype(int).sum(axis=-1)
    monkeypatch.setattr("mimegen.rendering.opengl.scenery.resolves_near_things",
                        lambda cells: False)
    far = set_of(context, [slab], white).astype(int).sum(axis=-1)
    np.testing.assert_allclose(near[-10:], far[-10:], rtol=0.1)
    assert (near < 0.6 * far).sum() > 50


def test_what_hides_a_lamp_is_told_pixel_by_pixel(context) -> None:
    """Floor under a low slab is dark, and as bright as without it a little beside it."""
    lit: dict[str, object] = {
        "sky": {"zenith": "#000000", "horizon": "#000000", "ground": "#000000", "strength": 0.0},
        "sun": {"strength": 0.0},
        "materials": {"floor": {"color": "#808080", "roughness": 1.0},
                      "slab": {"color": "#000000", "roughness": 1.0}},
        "lamps": [{"at": [0, 4, 4.0], "to": [0, 4, 0], "size": [1, 1], "watts": 600}]}
    slab: dict[str, object] = {"kind": "box", "size": [1.6, 3, 0.1], "at": [0, 4, 0.5],
                               "material": "slab"}
    empty, full = (set_of(context, objects, lit).astype(int).sum(axis=-1)
                   for objects in ([], [slab]))
    # The camera stands towards -Y and sees the floor under the slab's near edge.
    under = (full < 0.4 * empty) & (empty > 200)
    rows, columns = np.nonzero(under)
    assert under.sum() > 150
    level = rows.max()
    beside = full[level, columns.max() + 25:] / empty[level, columns.max() + 25:]
    assert np.abs(beside - 1).max() < 0.05


def test_what_hides_a_lamp_is_told_under_the_ground(context) -> None:
    """In a hall whose floor lies a metre lower than the performer stands."""
    def lit_by(objects: list[dict[str, object]]) -> NDArray[np.int64]:
        return set_of(context, objects, {
            "sky": DARK, "sun": {"strength": 0.0},
            "floors": [{"material": "floor", "height": -1.0, "corners": [[-6, -6], [6, 9]]}],
            "walls": [{"corners": [[-6, -6], [6, -6], [6, 9], [-6, 9]], "closed": True,
                       "bottom": -1, "top": 4, "material": "slab"}],
            "materials": {"floor": {"color": "#00c000", "roughness": 1.0},
                          "slab": {"color": "#000000", "roughness": 1.0}},
            "lamps": [{"at": [0, 5, 3.5], "to": [0, 5, 0], "size": [1, 1], "watts": 600}],
        }).astype(int)

    slab: dict[str, object] = {"kind": "box", "size": [2.4, 3, 0.1], "at": [0, 5, -0.4],
                               "material": "slab"}
    empty, full = lit_by([]), lit_by([slab])
    is_floor = full[..., 1] > full[..., 0] + 10
    assert (is_floor & (full[..., 1] < 0.5 * empty[..., 1])).sum() > 40


DARK: dict[str, object] = {"zenith": "#000000", "horizon": "#000000", "ground": "#000000",
                           "strength": 0.0}


def test_a_lamp_shines_as_much_as_of_it_is_above_the_ground(context) -> None:
    """A lamp of 4 by 3 metres that stands in the ground, beside one of 4 by 2 that does not."""
    def by(height: float, size: list[float], watts: float) -> NDArray[np.uint8]:
        return set_of(context, [], {
            "sky": DARK, "sun": {"strength": 0.0}, "lamps": [
                {"at": [-3, 0, height], "to": [0, 0, height], "size": size, "watts": watts}]})

    buried, whole = (picture[55:, 50:].astype(float) for picture in
                     (by(0.5, [4, 3], 450), by(1.0, [4, 2], 300)))
    assert (whole > 50).mean() > 0.5
    np.testing.assert_allclose(buried, whole, atol=9)
    np.testing.assert_allclose(buried.mean(), whole.mean(), atol=1)


def test_what_the_sun_grazes_does_not_shade_itself(context) -> None:
    """A wide sun's soft shadow is that of other things: a wall is as bright as by a small one."""
    wall: dict[str, object] = {"kind": "box", "size": [6, 0.1, 3], "at": [0, 4, 0],
                               "turn": [0, 0, 20], "material": "red"}
    suns = ({"strength": 4.0, "size_deg": size} for size in (12.0, 0.2))
    wide, small = (set_of(context, [wall], {"sky": DARK, "sun": sun}) for sun in suns)
    middle = [picture[30:36, 70:90, 0].astype(float).mean() for picture in (wide, small)]
    assert middle[0] > 60 and middle[0] == pytest.approx(middle[1], rel=0.03)


def test_a_line_thinner_than_a_pixel_does_not_break(context) -> None:
    line: dict[str, object] = {"kind": "box", "size": [40, 0.12, 0.002], "at": [0, 5, 0],
                               "turn": [0, 0, 6], "material": "lamp"}
    drawn, bare = (set_of(context, objects)[20:, :, 1].astype(int) for objects in ([line], []))
    assert ((drawn - bare).max(axis=0) > 1).mean() > 0.95


def of_glass(cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of light that glass mirrors, by Snell's and Fresnel's laws."""
    inside = np.sqrt(1 - (1 - cosines**2) / 1.5**2)
    across = (cosines - 1.5 * inside) / (cosines + 1.5 * inside)
    along = (inside - 1.5 * cosines) / (inside + 1.5 * cosines)
    return np.asarray((across**2 + along**2) / 2)


def test_clouds_are_mirrored_and_light_the_ground(context) -> None:
    """A sky of blue that clouds make white: what mirrors it and what it lights is redder."""
    glossy: dict[str, object] = {"sun": {"strength": 0.0}, "materials": ROOM["materials"] | {
        "floor": {"color": "#808080", "roughness": 0.12}, "red": {"color": "#808080"}}}
    sheet: dict[str, object] = {"kind": "box", "size": [3, 3, 0.1], "at": [0, 3, 0],
                                "material": "red"}
    blue = {"zenith": "#0000ff", "horizon": "#0000ff", "ground": "#0000ff", "strength": 0.8}
    clear, cloudy = (set_of(context, [sheet], glossy | {"sky": blue | {"clouds": clouds}})
                     for clouds in (0.0, 1.0))
    assert clear[45:, :, 0].mean() < 2 and cloudy[45:, :, 0].mean() > 20


def test_lobes_are_mirrors_where_smooth_and_wide_where_rough() -> None:
    table = np.frombuffer(lobe_texture(), np.float16).reshape(CELLS, CELLS, 4).astype(float)
    cosines = (np.arange(CELLS) + 0.5) / CELLS
    np.testing.assert_allclose(table[0, :, 2], cosines, atol=0.01)
    np.testing.assert_allclose(table[0, 2:, 3], 1.0, atol=0.01)
    np.testing.assert_allclose(table[0, 2:, :2].astype(float) @ [0.04, 1], of_glass(cosines)[2:],
                               atol=0.01)
    assert (np.diff(table[:, 1, 2]) > -0.01).all() and (np.diff(table[2:, 8, 3]) < 0).all()
    assert (table[..., 0] + table[..., 1] <= 1.01).all() and np.isfinite(table).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_no_pixel_is_lost_where_light_comes_along_the_view(context) -> None:
    """The cosine was above 1 by a rounding there, so that Fresnel's power was no number."""
    turn, tilt = np.radians([33.0, 47.0]) / 2
    way = (33.0, 43.0)
    camera = Camera(tuple(4 * direction_from(*way)),
                    (np.cos(turn) * np.cos(tilt), np.cos(turn) * np.sin(tilt),
                     np.sin(turn) * np.sin(tilt), np.sin(turn) * np.cos(tilt)), 5000, 64, 36)
    config = draft(light=draft().light.model_dump() | {"sun_from_deg": way})
    shown = set_picture(context, SetJob(Scenery.model_validate(ROOM), camera, config,
                                        Path("unused.png")))
    assert shown.min() > 20


@pytest.mark.parametrize("name", ["beach", "living_room"])
def test_a_set_of_the_library_is_drawn(context, name: str) -> None:
    config = draft(width=64, height=36)
    camera = frame_camera([standing(BODY, 0.0)], config, 0.0)
    scenery = read_background(data_folder() / "backgrounds" / f"{name}.yaml").set
    assert scenery is not None
    shown = set_picture(context, SetJob(scenery, camera, config, Path("unused.png")))
    assert shown.shape == (36, 64, 3) and shown.std() > 4


def area(mesh: ShapeMesh) -> float:
    places = corners_of(mesh).places.reshape(-1, 3, 3)
    edges = places[:, 1:] - places[:, :1]
    return float(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / 2)


def test_bays_stay_open_when_faces_are_cut() -> None:
    outline = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)]
    shape = Extrude(kind="extrude", outline=tuple(outline), height=1.0, material="red")
    mesh = mesh_of(shape)
    caps = 2 * (4.0 - 1.5)
    sides = 2 + 2 + 2 + 2 * np.hypot(1.0, 1.5)
    assert area(mesh) == pytest.approx(caps + sides)
    corners = corners_of(mesh)
    outward = (corners.normals * (corners.places - [1.0, 0.4, 0.5]))[:, 2]
    assert outward[np.abs(corners.normals[:, 2]) > 0.9].min() > 0


def test_a_rounded_box_keeps_its_size_and_faces_outwards() -> None:
    box = Box(kind="box", size=(2.0, 1.0, 0.6), bevel=0.1, material="red")
    mesh = rounded_box(box)
    assert np.allclose(mesh.vertices.min(axis=0), [-1.0, -0.5, 0.0])
    assert np.allclose(mesh.vertices.max(axis=0), [1.0, 0.5, 0.6])
    sharp = area(mesh_of(box))
    assert 0.85 * sharp < area(mesh) < sharp
    corners = corners_of(mesh)
    inside = np.clip(corners.places - [0, 0, 0.3], [-0.9, -0.4, -0.2], [0.9, 0.4, 0.2])
    assert ((corners.places - [0, 0, 0.3] - inside) * corners.normals).sum(axis=1).min() > 0
