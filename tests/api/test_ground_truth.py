"""Depth and masks of a clip are arrays by frame."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import OpenEXR
import pytest
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.objects.clips import Clip


@pytest.fixture
def clip(tmp_path: Path) -> Clip:
    for kind in ("depth", "mask"):
        (tmp_path / kind).mkdir()
    depth = np.array([[1.5, 2.5, np.inf], [3.0, 4.0, 5.0]], np.float32)
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"Z": depth}).write(str(tmp_path / "depth" / "000001.exr"))
    labels = np.array([[0, 1, 255], [2, 0, 0]], np.uint8)
    Image.fromarray(labels).save(tmp_path / "mask" / "000001.png")
    row: Any = SimpleNamespace(sample_id="boxing_base", file_name="clips/boxing_base.mp4", frames=2,
                               passes={kind: SimpleNamespace(folder=kind)
                                       for kind in ("depth", "mask")})
    return Clip(tmp_path, row)


def test_depth_and_masks_are_arrays_of_the_picture(clip: Clip) -> None:
    assert np.array_equal(clip.depth(1), [[1.5, 2.5, np.inf], [3.0, 4.0, 5.0]])
    assert clip.depth(1).dtype == np.float64
    assert np.array_equal(clip.mask(1), [[0, 1, 255], [2, 0, 0]])


@pytest.mark.parametrize("frame", [-1, 0, 2])
def test_a_frame_that_is_not_there_is_refused(clip: Clip, frame: int) -> None:
    with pytest.raises(RequestError, match=rf"boxing_base: no frame {frame} of depth"):
        clip.depth(frame)
    with pytest.raises(RequestError, match=rf"no frame {frame} of mask \(frames: 0 to 1\)"):
        clip.mask(frame)


def test_a_pass_that_was_not_rendered_is_named(clip: Clip) -> None:
    clip.row.passes = {}
    with pytest.raises(RequestError, match="no pass 'depth'"):
        clip.depth(1)
