"""Wrinkles in close-ups that OpenGL draws: where a unit has them, and nowhere else."""

from functools import cache

import moderngl
import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.characters.build import build_character
from mimegen.characters.character import Performance
from mimegen.characters.expression import expressed
from mimegen.characters.spec import read_character
from mimegen.motion import Motion
from mimegen.motion.quaternions import IDENTITY, FloatArray
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns

FACE = read_config(data_folder() / "render_configs" / "face.yaml")
FAR = FACE.model_copy(update={"camera": FACE.camera.model_copy(update={"head_only": False})})


@cache
def told(**values: float) -> Performance:
    man = build_character(read_character(data_folder() / "rigs" / "man.yaml"))
    rotations = np.tile(IDENTITY, (1, len(man.skeleton.names), 1))
    still = Performance(man, Motion(man.skeleton, 1.0, man.skeleton.heads[:1].copy(), rotations))
    return expressed(still, {word: np.array([size]) for word, size in values.items()})


def drawn(context: moderngl.Context, config: RenderConfig, *shown: Performance) -> list[FloatArray]:
    """Return pictures (H, W, 4) one after another by one stage, from a camera near the face."""
    camera = frame_camera([shown[0]], FACE, 0.0)
    stage = RasterStage(context, [shown[0].character], config)
    found = []
    for each in shown:
        pose = each.motion.global_pose
        stage.pose([joint_columns(each.character.skeleton, pose.positions, pose.rotations)])
        frame = stage.picture(camera)
        picture = np.zeros((camera.height, camera.width, 4))
        left, top = frame.figure_at
        rows, columns = frame.figure.shape[:2]
        picture[top:top + rows, left:left + columns] = frame.figure
        found.append(picture)
    return found


def test_only_frames_with_wrinkles_are_others_than_without_them(context: moderngl.Context) -> None:
    shown = [told(), told(AU1=1.0, AU2=1.0), told(AU26=1.0), told(AU12=1.0)]
    near, far = (drawn(context, config, *shown) for config in (FACE, FAR))
    same = [np.array_equal(one, other) for one, other in zip(near, far, strict=True)]
    assert same == [True, False, True, False]


@pytest.mark.parametrize(("unit", "part"), [
    ("AU1", (0.1, 0.4)), ("AU2", (0.1, 0.4)), ("AU9", (0.25, 0.75)), ("AU12", (0.4, 0.75))])
def test_wrinkles_show_where_the_unit_has_them(context: moderngl.Context, unit: str,
                                               part: tuple[float, float]) -> None:
    (near,), (far,) = (drawn(context, config, told(**{unit: 1.0})) for config in (FACE, FAR))
    changed = np.abs(near - far).max(axis=2)
    rows, columns = np.nonzero(changed > 8)
    assert len(rows) > 150, "to be seen"
    assert part[0] * len(near) < rows.min() and rows.max() < part[1] * len(near)
    assert np.ptp(columns) < 0.5 * len(near) and changed.max() < 120


def test_wrinkles_are_deeper_the_stronger_the_unit(context: moderngl.Context) -> None:
    changes = []
    for size in (0.5, 0.65, 1.0):
        (near,), (far,) = (drawn(context, config, told(AU4=size)) for config in (FACE, FAR))
        changes.append(np.abs(near - far).sum())
    assert 0 < changes[0] < 0.7 * changes[1] < 0.6 * changes[2]
