from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bodies import capsule_character, wandering_motion
from examples import examples
from mimegen.base.paths import data_folder
from mimegen.characters.character import Character, Performance
from mimegen.motion import Motion, quaternions
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns, skin_matrix, skinned

BODY = capsule_character(8, 7)


def config(name: str, **camera: object) -> RenderConfig:
    shipped = read_config(data_folder() / "render_configs" / f"{name}.yaml")
    content = shipped.model_dump()
    content["camera"] |= camera
    return RenderConfig.model_validate(content)


def all_vertices(character: Character, motion: Motion) -> NDArray[Any]:
    columns = joint_columns(character.skeleton, *motion.global_pose)
    return np.concatenate([
        skinned(skin_matrix(mesh, len(character.skeleton.names)), columns).reshape(-1, 3)
        for mesh in character.meshes
    ])


@given(
    seed=st.integers(0, 2**32 - 1), angle=st.floats(-720, 720), elevation=st.floats(-5, 50),
    margin=st.floats(0, 0.3), reach=st.floats(0, 3), lens=st.floats(20, 120),
)
@settings(max_examples=examples(25), deadline=None)
def test_every_vertex_of_every_frame_is_within_the_margin_from_any_angle(
    seed: int, angle: float, elevation: float, margin: float, reach: float, lens: float
) -> None:
    settings_ = config("standard", elevation_deg=elevation, margin=margin, lens_mm=lens)
    motion = wandering_motion(BODY.skeleton, 20, seed, reach)
    camera = frame_camera([Performance(BODY, motion)], settings_, angle)
    seen = camera.project(all_vertices(BODY, motion))
    size = np.array([camera.width, camera.height])
    assert (seen[:, 2] > 0).all()
    assert (seen[:, :2] >= margin * size - 0.5).all()
    assert (seen[:, :2] <= (1 - margin) * size + 0.5).all()


def test_turning_the_camera_changes_nothing_else() -> None:
    motion = wandering_motion(BODY.skeleton, 30, 4, 1.0)
    performance = Performance(BODY, motion)
    cameras = [frame_camera([performance], config("standard"), angle) for angle in (0, 90, 213)]
    middles = []
    for camera in cameras:
        middle = camera.project(all_vertices(BODY, motion))[:, 2]
        forward = quaternions.rotate(camera.rotation, np.array([0.0, 0.0, -1.0]))
        middles.append(np.array(camera.position)[:2] + forward[:2] * 5)
        assert camera.position[2] == cameras[0].position[2]
        assert middle.min() > 0
    # All stand on one circle and look at its centre.
    lines = [np.array(camera.position)[:2] for camera in cameras]
    forwards = [
        quaternions.rotate(camera.rotation, np.array([0.0, 0.0, -1.0]))[:2] for camera in cameras
    ]
    matrix = np.array([[forwards[0][0], -forwards[1][0]], [forwards[0][1], -forwards[1][1]]])
    reach = np.linalg.solve(matrix, lines[1] - lines[0])
    centre = lines[0] + reach[0] * forwards[0]
    distances = [np.linalg.norm(line - centre) for line in lines]
    assert distances == pytest.approx([distances[0]] * 3)
    assert lines[2] + distances[2] * forwards[2] / np.linalg.norm(forwards[2]) == pytest.approx(
        centre, abs=1e-6
    )


def test_the_figure_fills_the_picture_as_far_as_the_margin_lets_it() -> None:
    motion = wandering_motion(BODY.skeleton, 1, 0, 0.0)
    camera = frame_camera([Performance(BODY, motion)], config("standard"), 0)
    seen = camera.project(all_vertices(BODY, motion))
    tall = (seen[:, 1].max() - seen[:, 1].min()) / camera.height
    wide = (seen[:, 0].max() - seen[:, 0].min()) / camera.width
    assert max(tall, wide) > 0.6


def test_similar_people_share_a_camera() -> None:
    skeleton = BODY.skeleton
    one = Motion(skeleton, 24, skeleton.heads[:1], np.tile(quaternions.IDENTITY, (1, 52, 1)))
    beside = one.root_positions + np.array([0.004, -0.003, 0.002])
    other = Motion(skeleton, 24, beside, one.rotations)
    cameras = [frame_camera([Performance(BODY, m)], config("standard"), 0) for m in (one, other)]
    assert cameras[0] == cameras[1]


def test_angles_turn_counterclockwise_seen_from_above() -> None:
    motion = wandering_motion(BODY.skeleton, 1, 0, 0.0)
    performance = Performance(BODY, motion)
    straight = config("standard", azimuth_deg=0)
    front = np.array(frame_camera([performance], straight, 0).position)
    left = np.array(frame_camera([performance], straight, 90).position)
    assert front[1] < -2 and abs(front[0]) < 0.2
    assert left[0] > 2 and abs(left[1]) < 0.2


def test_the_fixed_camera_is_mimes() -> None:
    performance = Performance(BODY, wandering_motion(BODY.skeleton, 2, 0, 0.0))
    front = frame_camera([performance], config("mime"), 0)
    assert front.position == pytest.approx((10.809, -9.5732, 5.1592))
    # Blender's own matrix for the Euler angles (1.3, 0, 0.8): the third column points backwards.
    backwards = quaternions.rotate(front.rotation, np.array([0.0, 0.0, 1.0]))
    assert backwards == pytest.approx(
        [np.sin(1.3) * np.sin(0.8), -np.sin(1.3) * np.cos(0.8), np.cos(1.3)]
    )
    turned = frame_camera([performance], config("mime"), 90)
    assert turned.position == pytest.approx((9.5732, 10.809, 5.1592))
    person = np.array([0.0, 0.0, 1.0])
    assert turned.project(person) == pytest.approx(front.project(person))
