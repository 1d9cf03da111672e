"""What is in flight when the store's disk goes away: nothing is made in its place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.paths import data_folder
from mimegen.groundtruth import passmaker
from mimegen.groundtruth.job import PassJob
from mimegen.groundtruth.passmaker import PassMaker, publish_passes
from mimegen.rendering.opengl import scenery
from mimegen.scenery.job import SetJob
from mimegen.shots import publishing
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import ShotJob
from mimegen.shots.publishing import ShotError, posing, publish_frames
from mimegen.store.frames import Frame
from mimegen.store.makers import note_maker
from mimegen.store.store import Store

CONFIG = read_config(data_folder() / "render_configs" / "draft.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)
FRAME = Frame((64, 36), np.zeros((0, 0, 4), np.uint8), (0, 0), np.zeros((0, 0), np.uint8), (0, 0))


class NoFigures:
    def pose(self, columns: Any) -> None:
        assert not columns


class NoMaker(PassMaker):
    def __init__(self) -> None:
        pass

    def arrays(self, kind: Any, frame: int, camera: Camera) -> dict[str, Any]:
        return {"depth": np.zeros(1)}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    for folder in (store.shot_folder("ab"), store.pass_folder("ab"), store.still("ab").parent):
        folder.mkdir(parents=True)
    return store


def goes(store: Store, then: Callable[..., Any]) -> Callable[..., Any]:
    """In the last moment before something is published, the disk goes away."""
    def gone(*arguments: Any, **named: Any) -> Any:
        if store.root.exists():
            store.root.rename(store.root.with_name("away"))
        return then(*arguments, **named)
    return gone


def test_frames(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = ShotJob((), (CAMERA,), CONFIG, (store.shot_folder("ab"),), np.ones((2, 1), bool))
    publish_frames(job, posing([], NoFigures()), lambda camera: FRAME, lambda done: None)
    assert len(list(job.folders[0].glob("*.npz"))) == 2
    for last in ("note_maker", "publish"):
        monkeypatch.setattr(publishing, last, goes(store, getattr(publishing, last)))
        with pytest.raises(ShotError, match="cannot be written"):
            publish_frames(job, posing([], NoFigures()), lambda camera: FRAME, lambda done: None)
        assert not store.root.exists()
        store.root.with_name("away").rename(store.root)


def test_passes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = PassJob((), (CAMERA,), CONFIG, (store.pass_folder("ab"),), np.ones((2, 1), bool),
                  ("depth",))
    publish_passes(job, NoMaker(), lambda done: None)
    monkeypatch.setattr(passmaker, "publish", goes(store, publish))
    with pytest.raises(ShotError, match="cannot be written"):
        publish_passes(job, NoMaker(), lambda done: None)
    assert not store.root.exists()


def test_stills(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job: Any = SetJob(Any, CAMERA, CONFIG, store.still("ab"))  # type: ignore[arg-type]
    monkeypatch.setattr(scenery, "set_picture", lambda *_: np.zeros((36, 64, 3), np.uint8))
    scenery.draw_set(Any, job)  # type: ignore[arg-type]
    assert job.target.is_file()
    monkeypatch.setattr(scenery, "publish", goes(store, publish))
    with pytest.raises(RequestError, match="cannot be written"):
        scenery.draw_set(Any, job)  # type: ignore[arg-type]
    assert not store.root.exists()


def test_who_made_frames_is_noted_in_a_folder_that_is_there(store: Store) -> None:
    with pytest.raises(RequestError, match="cannot be written"):
        note_maker(store.shot_folder("cd"), "x86_64")
    assert not store.shot_folder("cd").exists()
