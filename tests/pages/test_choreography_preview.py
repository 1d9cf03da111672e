"""Contact sheets without Blender."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.paths import data_folder
from mimegen.choreography.perform import perform
from mimegen.choreography.reading import read_score
from mimegen.motion import standard_skeleton
from mimegen.pages.preview import SKY, SheetLayout, capsule_body, scene_sheet


@pytest.mark.slow
def test_a_sheet_shows_every_frame_differently_and_whole() -> None:
    path = next((data_folder() / "mocap").glob("boxing/*.score.yaml"))
    motion = perform(read_score(path))
    body = capsule_body(standard_skeleton())
    sheet = np.asarray(scene_sheet([(body, motion)], 6, SheetLayout(tile=(120, 150), columns=3)),
                       int)
    assert sheet.shape == (300, 360, 3)
    tiles = [sheet[r : r + 150, c : c + 120] for r in (0, 150) for c in (0, 120, 240)]
    for number, tile in enumerate(tiles):
        figure = np.abs(tile - np.array(SKY)).sum(axis=-1) > 200
        assert 500 < figure.sum() < 6000
        assert not figure[:4].any() and not figure[:, :2].any() and not figure[:, -2:].any()
        for other in tiles[:number]:
            assert (tile != other).any()


@pytest.mark.slow
def test_a_focus_comes_nearer() -> None:
    path = next((data_folder() / "mocap").glob("driving/*.score.yaml"))
    motion = perform(read_score(path))
    body = capsule_body(standard_skeleton())
    far, near = (
        np.asarray(scene_sheet([(body, motion)], 1, SheetLayout(tile=(120, 150), focus=focus)), int)
        for focus in ((), ("LeftHand", "LeftHandMiddle3"))
    )
    def skin(picture: NDArray[Any]) -> int:
        return int(((picture[..., 0] - picture[..., 2]) > 40).sum())

    assert skin(near) > 1.5 * skin(far)
