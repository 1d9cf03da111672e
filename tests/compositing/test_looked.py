"""Pictures as a real camera shows them."""

import numpy as np
from numpy.typing import NDArray

from mimegen.compositing.camera_look import defocused, looked
from mimegen.compositing.color import srgb_to_linear
from mimegen.shots.camera import Camera
from mimegen.shots.look import CameraLook, FilmedLook, Lens

CAMERA = Camera((0.0, -8.0, 1.2), (0.7071067811865476, 0.7071067811865476, 0.0, 0.0), 50, 320, 180)
GRAY = np.full((180, 320, 3), 128, np.uint8)


def filmed(picture: NDArray[np.uint8], frames: int = 1, **values: object
           ) -> list[NDArray[np.uint8]]:
    look = CameraLook.model_validate({"name": "mine", **values})
    return list(looked([picture] * frames, Lens(FilmedLook(look, (3, "walk")), CAMERA, frames, 24)))


def test_a_look_that_asks_for_nothing_changes_nothing() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (180, 320, 3)).astype(np.uint8)
    assert (filmed(picture)[0] == picture).all()


def test_corners_lose_the_share_of_light_that_the_vignette_says() -> None:
    shown = filmed(GRAY, vignette=0.4)[0]
    light = srgb_to_linear(shown[..., 0] / 255)
    assert abs(light[90, 160] - srgb_to_linear(np.array(128 / 255))) < 0.005
    assert abs(light[0, 0] / light[90, 160] - 0.6) < 0.02


def test_grain_is_as_strong_as_said_new_in_each_frame_and_the_same_again() -> None:
    first, second = filmed(GRAY, 2, grain=4.0, grain_px=1.0)
    assert 3 < first[..., 0].astype(float).std() < 5.5
    assert (first != second).mean() > 0.5 and (filmed(GRAY, 2, grain=4.0, grain_px=1.0)[1]
                                               == second).all()
    assert np.abs(first.astype(float) - first.mean(axis=-1, keepdims=True)).max() < 1
    dark = filmed(np.full_like(GRAY, 4), grain=4.0)[0]
    assert dark.astype(float).std() < first.astype(float).std()


def test_a_point_is_seen_where_the_lens_says() -> None:
    picture = np.zeros((180, 320, 3), np.uint8)
    picture[28:33, 38:43] = 255
    values = {"distortion": (0.15, 0.02), "handheld_deg": 0.5, "handheld_roll_deg": 1.0}
    look = CameraLook.model_validate({"name": "mine", **values})
    lens = Lens(FilmedLook(look, (3, "walk")), CAMERA, 9, 24)
    for frame, shown in enumerate(looked([picture] * 9, lens)):
        light = srgb_to_linear(shown[..., 0] / 255)
        rows, columns = np.indices(light.shape) + 0.5
        middle = [(light * columns).sum() / light.sum(), (light * rows).sum() / light.sum()]
        expected = lens.seen(frame, np.array([[40.5, 30.5]]))[0]
        assert np.abs(middle - expected).max() < 0.15


def test_what_is_far_behind_the_focus_is_blurred_and_the_ground_at_the_feet_is_sharp() -> None:
    stripes = np.zeros((180, 320, 3), np.float32)
    stripes[:, ::4] = stripes[:, 1::4] = 1
    blurred = defocused(stripes, CAMERA, 1.4)
    contrast = blurred[..., 0].std(axis=1)
    feet = int(CAMERA.project(np.zeros((1, 3)))[0, 1])
    assert contrast[feet] > 0.45 and contrast[20] < 0.75 * contrast[feet]
    assert np.abs(blurred[20].mean() - 0.5) < 0.01
    assert defocused(stripes, CAMERA, 64)[20, :, 0].std() > 0.45
