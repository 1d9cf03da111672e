"""How long takes are follows from their scores' own times, without a performance."""

import pytest

from mimegen.base.paths import data_folder
from mimegen.choreography.length import frames_of
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score


@pytest.mark.slow
@pytest.mark.parametrize(("take", "seed", "style", "fps"), [
    ("boxing/boxing", 0, None, 25.0), ("boxing/boxing", 3, None, 24.0),
    ("checking_watch/checking_watch", 5, "tired", 30.0), ("stop/stop", 0, "brisk", 12.5)])
def test_a_take_has_as_many_frames_as_its_times_tell(take: str, seed: int, style: str | None,
                                                     fps: float) -> None:
    score = read_score(data_folder() / "mocap" / f"{take}.score.yaml")
    assert frames_of(score, seed, style, fps) == perform_scene(score, seed, fps, style)[0].frames
