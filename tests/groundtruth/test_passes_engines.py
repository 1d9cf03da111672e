"""Cycles and OpenGL look at the same scene in one worker, and see the same."""

from pathlib import Path

import numpy as np
import pytest

from bodies import capsule_character, wandering_motion
from mimegen.base.paths import data_folder
from mimegen.characters.character import Performance
from mimegen.compositing.background import read_background
from mimegen.groundtruth.job import GeometryJob, PassJob
from mimegen.groundtruth.kinds import ENGINES, Kind
from mimegen.rendering.receiving import JobReceived
from mimegen.rendering.worker import StageWorker
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, JobFailed, Ready
from mimegen.store.frames import frame_name
from mimegen.store.passes import read_arrays

pytestmark = pytest.mark.engines

LOOKED_AT: tuple[Kind, ...] = ("depth", "mask", "normals", "flow", "parts")


def finished(worker: StageWorker) -> None:
    message: object = None
    while message is None or isinstance(message, Ready | JobReceived | FrameDone):
        message = worker.connection.recv()
    if isinstance(message, JobFailed) and "OpenGL does not start" in message.message:
        pytest.skip(message.message)
    assert isinstance(message, JobDone), message


def test_engines_agree(tmp_path: Path) -> None:
    content = read_config(data_folder() / "render_configs" / "draft.yaml").model_dump()
    config = RenderConfig.model_validate(content | {"width": 320, "height": 180})
    body = capsule_character(16, 12)
    played = Performance(body, wandering_motion(body.skeleton, 4, 3, 0.4))
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    camera = frame_camera([played], config, 0.0)
    missing = np.zeros((4, len(LOOKED_AT)), np.bool_)
    missing[1] = True
    scenery = read_background(data_folder() / "backgrounds" / "basketball_court.yaml").set
    assert scenery is not None
    worker = StageWorker("cpu", 1)
    try:
        for engine in ENGINES:
            folders = tuple(tmp_path / engine / kind for kind in LOOKED_AT)
            for folder in folders:
                folder.mkdir(parents=True)
            figures = PassJob((files,), (camera,) * len(LOOKED_AT), config, folders, missing,
                              LOOKED_AT, engine)
            place = GeometryJob(scenery, camera, config, tmp_path / engine / "set.npz", engine)
            for job in (figures, place):
                worker.submit(job)
                finished(worker)
    finally:
        worker.kill()
    seen = {kind: [read_arrays(tmp_path / engine / kind / frame_name(1)) for engine in ENGINES]
            for kind in LOOKED_AT}
    one, two = (np.asarray(arrays["persons"], int) > 0 for arrays in seen["mask"])
    assert (one & two).sum() / (one | two).sum() > 0.985
    near, far = (np.asarray(arrays["depth"], float) for arrays in seen["depth"])
    both = one & two
    assert (np.abs(near[both] - far[both]) < 1e-3).mean() > 0.99
    compared: tuple[tuple[Kind, str, float], ...] = (
        ("flow", "forward", 0.1), ("normals", "normals", 0.05))
    for kind, name, most in compared:
        a, b = (np.asarray(arrays[name], float) for arrays in seen[kind])
        assert a.shape == b.shape and np.percentile(np.abs(a - b), 99) < most
    parts = [np.asarray(arrays["parts"]) for arrays in seen["parts"]]
    assert (parts[0] == parts[1])[both].mean() > 0.99
    sets = [np.asarray(read_arrays(tmp_path / engine / "set.npz")["depth"], float)
            for engine in ENGINES]
    assert (np.abs(sets[0] - sets[1]) < 1e-3).mean() > 0.98
