from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bodies import capsule_character
from examples import examples
from mimegen.motion import quaternions
from mimegen.shots.camera import Camera
from mimegen.shots.config import Light
from mimegen.shots.seen_shadow import seen_shadow
from mimegen.shots.shadow import GroundShadow, ground_shadow
from mimegen.shots.skinning import joint_columns, skinned
from mimegen.shots.surface_points import surface_matrix


def sunny(azimuth: float = 0, elevation: float = 45, size: float = 0.5, sky: float = 0) -> Light:
    return Light(sun_strength=3, sun_from_deg=(azimuth, elevation), sun_size_deg=size,
                 sky_strength=sky)

CELL_M = 0.02


def slab(width: float, height: float, thick: float = 0.02, at: float = 0.0) -> NDArray[Any]:
    """Points of a level square of ``width`` at ``height`` metres."""
    side = np.arange(-width / 2, width / 2 + 1e-9, 0.01)
    x, y, z = np.meshgrid(side + at, side, np.arange(height, height + thick, 0.01))
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=-1).astype(np.float32)


def missing_at(shadow: GroundShadow, x: float, y: float) -> float:
    column, row = round((x - shadow.corner[0]) / CELL_M), round((y - shadow.corner[1]) / CELL_M)
    rows, columns = shadow.missing.shape
    inside = 0 <= row < rows and 0 <= column < columns
    return float(shadow.missing[row, column]) if inside else 0.0


@given(azimuth=st.floats(-180, 180), elevation=st.floats(25, 90), height=st.floats(0, 2))
@settings(max_examples=examples(30), deadline=None)
def test_a_shadow_falls_where_the_sun_throws_it(
    azimuth: float, elevation: float, height: float
) -> None:
    # One layer of points: half of their distance cannot round up to two.
    shadow = ground_shadow(slab(0.4, height, thick=0.005), sunny(azimuth, elevation), CELL_M)
    turn, reach = np.radians(azimuth), height / np.tan(np.radians(elevation))
    x, y = -reach * np.sin(turn), reach * np.cos(turn)
    assert missing_at(shadow, x, y) > 0.98
    for dx, dy in ((0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (-0.1, -0.1)):
        assert missing_at(shadow, x + dx, y + dy) > 0.95
        assert missing_at(shadow, x + 3.2 * dx, y + 3.2 * dy) < 0.02
    area = shadow.missing.sum() * CELL_M**2
    assert area == pytest.approx(0.16, rel=0.1)


def test_penumbras_grow_with_height() -> None:
    def edge(height: float) -> int:
        shadow = ground_shadow(slab(1.0, height), sunny(elevation=90, size=8), CELL_M)
        middle = shadow.missing[shadow.missing.shape[0] // 2]
        return int(((middle > 0.1) & (middle < 0.9)).sum())

    assert edge(0.0) <= 8
    assert edge(0.5) < edge(1.0) < edge(2.0)
    # 8 degrees over 2 metres is 28 cm on either side, four fifths of it between 10 and 90 %.
    assert edge(2.0) * CELL_M == pytest.approx(2 * 0.28 * 0.7, rel=0.3)


def test_the_sky_darkens_the_ground_near_contact_and_not_far_away() -> None:
    # A sun straight above leaves to the sky all ground that is beside the thing.
    light = sunny(elevation=90, sky=1.0)
    near = [missing_at(ground_shadow(slab(0.3, 0.0, thick=0.5), light, CELL_M), x, 0.0)
            for x in (0.0, 0.2, 0.35, 0.6)]
    assert near[0] > 0.95
    assert near[0] > near[1] > near[2] > near[3]
    assert near[1] > 0.03
    floating = missing_at(ground_shadow(slab(0.3, 1.0), light, CELL_M), 0.2, 0.0)
    assert floating < near[1]


def test_shadows_have_no_hard_rim_where_their_grid_ends() -> None:
    shadow = ground_shadow(slab(0.5, 0.3, thick=1.5), sunny(elevation=60, size=6, sky=2.0), CELL_M)
    missing = shadow.missing
    rim = np.concatenate([missing[0], missing[-1], missing[:, 0], missing[:, -1]])
    assert rim.max() < 0.5 / 255


def test_moving_by_whole_cells_moves_the_shadow_and_changes_nothing() -> None:
    points = slab(0.3, 0.7) + np.float32(0.003)
    # All grids, of cells and of voxels, for the sun and for the sky, fit 20 cm.
    moved = points + np.array([0.2, -0.4, 0.0], np.float32)
    first, second = (ground_shadow(p, sunny(20, 40, 5, 0.5), CELL_M) for p in (points, moved))
    assert np.abs(first.missing - second.missing).max() < 0.02
    assert np.array(second.corner) - first.corner == pytest.approx([0.2, -0.4], abs=1e-6)


def test_a_bodys_surface_has_no_holes_and_its_feet_touch_their_shadow() -> None:
    body = capsule_character(8, 7)
    matrix = surface_matrix(body, CELL_M)
    joints = len(body.skeleton.names)
    columns = joint_columns(
        body.skeleton, body.skeleton.heads[None], np.tile(quaternions.IDENTITY, (1, joints, 1))
    )
    points = skinned(matrix, columns)[0]
    shadow = ground_shadow(points, sunny(elevation=45, size=0.3), CELL_M)
    # The trunk's shadow, 1.0 to 1.4 m behind the body, is dark throughout.
    trunk = [missing_at(shadow, x, y) for x in np.arange(-0.06, 0.061, 0.02)
             for y in np.arange(1.0, 1.4, 0.02)]
    assert min(trunk) > 0.97
    soles = points[points[:, 2] < 0.004]
    assert len(soles) > 0
    assert np.mean([missing_at(shadow, float(x), float(y)) for x, y, _ in soles]) > 0.6


def level_camera() -> Camera:
    turn = quaternions.from_euler("xyz", np.array([75.0, 0.0, 30.0]))
    w, x, y, z = (float(number) for number in turn)
    return Camera((2.2, -3.5, 1.4), (w, x, y, z), 35.0, 320, 180)


def test_a_camera_sees_the_shadow_where_its_ground_is() -> None:
    camera = level_camera()
    shadow = ground_shadow(slab(0.5, 0.4), sunny(-40, 60, 6, 0.3), CELL_M)
    seen, (left, top) = seen_shadow(shadow, camera, 1.0)
    assert 0 < seen.shape[0] < 180 and 0 < seen.shape[1] < 320
    for column in range(0, seen.shape[1], 7):
        for row in range(0, seen.shape[0], 5):
            x, y = camera.ground_points(np.array([left + column + 0.5, top + row + 0.5]))
            there = missing_at(shadow, float(x), float(y))
            assert seen[row, column] / 255 == pytest.approx(there, abs=0.15)
    whole = np.pad(seen, 1)[1:-1, 1:-1]
    rim = np.concatenate([whole[0], whole[-1], whole[:, 0], whole[:, -1]])
    assert rim.max() <= 1, "the crop cuts nothing off"


def test_strength_scales_the_shadow() -> None:
    shadow = ground_shadow(slab(0.5, 0.4), sunny(), CELL_M)
    full, _ = seen_shadow(shadow, level_camera(), 1.0)
    half, _ = seen_shadow(shadow, level_camera(), 0.5)
    none, _ = seen_shadow(shadow, level_camera(), 0.0)
    assert full.max() > 245 and abs(int(half.max()) * 2 - int(full.max())) <= 2
    assert none.size == 0


def test_a_shadow_out_of_view_is_empty() -> None:
    shadow = ground_shadow(np.asarray(slab(0.5, 0.4) - [0, 40, 0], np.float32), sunny(), CELL_M)
    seen, _ = seen_shadow(shadow, level_camera(), 1.0)
    assert seen.size == 0
