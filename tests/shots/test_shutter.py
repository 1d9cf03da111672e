"""What moves while the shutter is open: poses between frames, shadows, and who has a shutter."""

import numpy as np
import pytest

from bodies import capsule_character, wandering_motion
from mimegen.base.paths import data_folder
from mimegen.characters.character import Performance
from mimegen.motion.quaternions import FloatArray
from mimegen.request.planned import Planned
from mimegen.request.render_request import RenderRequest
from mimegen.shots.config import FramedCamera, RenderConfig, Shutter, read_config
from mimegen.shots.figures import Figure
from mimegen.shots.look import CameraLook
from mimegen.shots.seen_shadow import mean_shadow
from mimegen.shots.skinning import joint_columns

BODY = capsule_character(8, 7)
FIGURE = Figure.of(Performance(BODY, wandering_motion(BODY.skeleton, 5, 3, 0.8)))


def heads(moment: float) -> FloatArray:
    """Return where the joints (J, 3) are, from their columns."""
    columns = FIGURE.columns_at(moment).reshape(-1, 4, 3)
    rest = np.concatenate([BODY.skeleton.heads, np.ones((len(columns), 1))], axis=1)
    return np.einsum("ja,jab->jb", rest, columns)


def test_at_a_frame_the_pose_is_that_frame_s_to_the_bit() -> None:
    for frame in range(5):
        there = joint_columns(BODY.skeleton, FIGURE.positions[frame, None],
                              FIGURE.rotations[frame, None])
        assert (FIGURE.columns_at(frame) == there).all()


def test_between_frames_joints_are_between_and_bones_keep_their_lengths() -> None:
    before, middle, after = heads(1), heads(1.5), heads(2)
    moved = np.linalg.norm(after - before, axis=1)
    assert moved.max() > 0.05
    for end in (before, after):
        assert (np.linalg.norm(middle - end, axis=1) < 0.8 * moved + 0.01).all()
    parents = BODY.skeleton.parents
    lengths = [np.linalg.norm(places[1:] - places[parents[1:]], axis=1)
               for places in (before, middle)]
    assert lengths[1] == pytest.approx(lengths[0], abs=1e-5)


def test_before_the_first_and_after_the_last_frame_it_stands() -> None:
    assert (FIGURE.columns_at(-0.4) == FIGURE.columns_at(0)).all()
    assert (FIGURE.columns_at(4.4) == FIGURE.columns_at(4)).all()
    assert (FIGURE.columns_at(3.6) != FIGURE.columns_at(4)).any()


def test_shadows_are_mixed_where_they_lie() -> None:
    one, other = np.full((2, 3), 90, np.uint8), np.full((1, 1), 240, np.uint8)
    empty = np.zeros((0, 0), np.uint8), (0, 0)
    mixed, at = mean_shadow([(one, (4, 5)), (other, (6, 5)), empty], (20, 10))
    assert at == (4, 5) and mixed.tolist() == [[30, 30, 110], [30, 30, 30]]
    assert mean_shadow([(one, (4, 5))], (20, 10))[0] is one
    assert mean_shadow([empty, empty], (20, 10))[0].size == 0


def config_of(name: str, **fields: str) -> RenderConfig:
    request = RenderRequest.of(action="boxing", variants="base+blank@0", config=name, **fields)
    return Planned.of(request, None, lambda text: None).config


def test_clips_by_cycles_have_their_look_s_shutter_and_drafts_have_none() -> None:
    assert config_of("preview", device="cpu").shutter is None
    assert config_of("photo_fast", device="cpu").shutter == Shutter(open_deg=180)
    assert config_of("photo_fast", device="cpu", camera_look="none").shutter is None
    assert config_of("draft", camera_look="phone").shutter is None
    phone = config_of("preview", device="cpu", camera_look="phone").shutter
    assert phone is not None and phone.frames == pytest.approx(290 / 360)


def test_what_has_no_shutter_says_nothing_of_one() -> None:
    preview = read_config(data_folder() / "render_configs" / "preview.yaml")
    assert "shutter" not in preview.model_dump()
    assert "shutter" not in CameraLook(name="mine").model_dump(mode="json")
    look = CameraLook(name="mine", shutter=Shutter(open_deg=90))
    assert CameraLook.model_validate(look.model_dump(mode="json")) == look
    with pytest.raises(ValueError, match="engine raster has no motion blur"):
        RenderConfig.model_validate(preview.model_dump() | {
            "engine": "raster", "shutter": {"open_deg": 90}})


def framed(config: RenderConfig) -> FramedCamera:
    assert isinstance(config.camera, FramedCamera)
    return config.camera


def test_cameras_that_frame_stand_back_for_a_lens_that_enlarges() -> None:
    own, none, cctv = (framed(config) for config in (
        read_config(data_folder() / "render_configs" / "draft.yaml"),
        config_of("draft", camera_look="none"), config_of("draft", camera_look="cctv")))
    assert own == none and none.margin < 0.13 < cctv.margin
    fixed = config_of("mime_fast", device="cpu", camera_look="cctv")
    assert fixed.camera == read_config(data_folder() / "render_configs" / "mime_fast.yaml").camera
