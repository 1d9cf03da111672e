"""A worker of another machine, asked in this process; Blender is replaced at its connection."""

import socket
from collections.abc import Sequence
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mimegen import __version__
from mimegen.base.code import closure
from mimegen.base.paths import data_folder
from mimegen.farm import remote
from mimegen.farm.executor import Lost
from mimegen.farm.remote import (
    FolderProbe,
    RemoteWorker,
    WorkerHost,
    WorkerMessage,
    makes_the_same,
    version,
)
from mimegen.farm.task import Task, task_to_json
from mimegen.rendering import serving
from mimegen.rendering.receiving import JobReceived
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, JobFailed, Ready, ShotJob

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)
READY = Ready("cpu", 1, "5.0.1", "x86_64")


class FakeStage:
    """Makes what a job asks for at once; or breaks down, or fails, as a test says."""

    made: list["FakeStage"]
    ends: str

    def __init__(self, device: str, threads: int, scratch: Path) -> None:
        type(self).made.append(self)
        self.asked, self.scratch = (device, threads), scratch
        self.connection, self._theirs = Pipe()
        self._theirs.send(READY)
        self.is_fit, self.closed = True, False

    def submit(self, job: ShotJob | SetJob) -> None:
        if type(self).ends == "never takes it":
            self._theirs.close()
            return
        self._theirs.send(JobReceived())
        if type(self).ends == "dies":
            self._theirs.close()
        elif type(self).ends == "fails":
            self._theirs.send(JobFailed("the frame burnt"))
        elif isinstance(job, ShotJob):
            for frame, camera in np.argwhere(job.missing):
                path = job.frame_file(int(frame), int(camera))
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(b"frame")
                self._theirs.send(FrameDone(int(camera), int(frame), 0.5))
            self._theirs.send(JobDone())

    def kill(self) -> None:
        self.closed = True
        self._theirs.close()

    close = kill


@pytest.fixture(autouse=True)
def stages(monkeypatch: pytest.MonkeyPatch) -> list[FakeStage]:
    monkeypatch.setattr(remote, "StageWorker", FakeStage)
    monkeypatch.setattr(remote, "LISTEN_S", 0.05)
    FakeStage.made, FakeStage.ends = [], ""
    return FakeStage.made


def probe(root: Path) -> FolderProbe:
    root.mkdir(exist_ok=True)
    (root / ".probe").write_text("token")
    return FolderProbe(root, ".probe", "token")


def shot(root: Path) -> dict[str, Any]:
    files = FigureFiles(root / "characters" / "c.npz", root / "performances" / "p.npz")
    return task_to_json(Task(ShotJob((files,), (CAMERA,), CONFIG, (root / "shots" / "ab" / "s",),
                                     np.ones((2, 1), bool)), "shot"), root)


def said(worker: RemoteWorker) -> Sequence[WorkerMessage]:
    return worker.listen()


def test_a_probe_is_seen_where_the_folder_is_the_same(tmp_path: Path) -> None:
    assert probe(tmp_path / "here").seen()
    assert not FolderProbe(tmp_path / "here", ".probe", "another").seen()
    assert not FolderProbe(tmp_path / "absent", ".probe", "token").seen()


def said_of_a_shot(worker: RemoteWorker, root: Path, ends: str) -> Sequence[WorkerMessage]:
    """Return what a worker says of a shot that its Blender ends so."""
    FakeStage.ends = ends
    said(worker)
    worker.submit(shot(root), {})
    return said(worker)


def test_a_worker_says_where_it_is(tmp_path: Path, stages: list[FakeStage]) -> None:
    here = probe(tmp_path / "here")
    assert RemoteWorker(here, None, "cuda:1", 3, "n7").place() == WorkerHost(
        socket.gethostname(), "n7", True, version())
    assert stages[0].asked == ("cuda:1", 3)
    assert not RemoteWorker(here, False, "cpu", 1).place().sees_store
    assert RemoteWorker(FolderProbe(tmp_path, "none", ""), True, "cpu", 1).place().sees_store
    assert version().startswith(f"{__version__} ") and len(version().split()[1]) == 12


def test_machines_are_alike_if_all_code_of_workers_and_blender_are(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [f"mimegen.{module}" for module in serving._RUN_BY_WORKERS]
    for done in ("mimegen.rendering.opengl.shot", "mimegen.rendering.cycles.shotframes",
                 "mimegen.compositing.video", "mimegen.compositing.passfiles",
                 "mimegen.pointlight.displayjob"):
        assert done in closure(*whole), done
    here = "0.1.0 0123456789ab with Blender 5.0.1"
    for there, alike in ((here, True), ("0.1.0 0123456789ab", True), ("0.1.0 ba", False),
                         ("0.1.0 0123456789ab with Blender 4.5.0", False),
                         ("0.2.0 0123456789ab with Blender 5.0.1", False)):
        assert makes_the_same(there, here) == alike == makes_the_same(here, there)
    monkeypatch.setattr(remote, "find_blender", lambda: None)
    assert " with " not in version()


def test_in_a_shared_folder_frames_stay_where_they_are(tmp_path: Path) -> None:
    root = tmp_path / "here"
    worker = RemoteWorker(probe(root), None, "cpu", 1)
    assert said(worker) == [WorkerMessage(READY)] and said(worker) == []
    (root / "shots" / "ab").mkdir(parents=True)
    worker.submit(shot(root), {})
    assert said(worker) == [
        WorkerMessage(FrameDone(0, 0, 0.5)), WorkerMessage(FrameDone(0, 1, 0.5)),
        WorkerMessage(JobDone())]
    assert (root / "shots" / "ab" / "s" / "000001.npz").read_bytes() == b"frame"


def test_without_one_files_come_and_frames_go_back(
    tmp_path: Path, stages: list[FakeStage]
) -> None:
    root = tmp_path / "here"
    worker = RemoteWorker(probe(root), False, "cpu", 1)
    said(worker)
    worker.submit(shot(root), {"characters/c.npz": b"character"})
    told = said(worker)
    assert [one.file for one in told] == [
        ("shots/ab/s/000000.npz", b"frame"), ("shots/ab/s/000001.npz", b"frame"), None]
    there = stages[0].scratch
    assert (there / "characters" / "c.npz").read_bytes() == b"character"
    assert not list(there.rglob("0*.npz")) and not (root / "shots").exists()


def test_a_still_goes_back_when_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "here"
    worker = RemoteWorker(probe(root), False, "cpu", 1)
    said(worker)
    target = worker._root / "still.png"
    target.write_bytes(b"still")
    worker._task = Task(SetJob(cast(Scenery, None), CAMERA, CONFIG, target), "set")
    assert worker._with_file(FrameDone(0, 0, 1.0)) == WorkerMessage(FrameDone(0, 0, 1.0))
    assert worker._with_file(JobDone()) == WorkerMessage(JobDone(), ("still.png", b"still"))
    assert not target.exists()


def test_what_is_no_task_is_refused_and_the_machine_named(tmp_path: Path) -> None:
    worker = RemoteWorker(probe(tmp_path / "here"), None, "cpu", 1)
    said(worker)
    worker.submit({"kind": "dance"}, {})
    told, = said(worker)
    assert isinstance(told.message, JobFailed) and said(worker) == []
    assert told.message.message.startswith(f"{socket.gethostname()}: not a task that this version")


def test_a_failure_names_its_machine_and_keeps_the_rest(tmp_path: Path) -> None:
    worker = RemoteWorker(probe(tmp_path / "here"), None, "cpu", 1)
    assert said_of_a_shot(worker, tmp_path / "here", "fails") == [
        WorkerMessage(JobFailed(f"{socket.gethostname()}: the frame burnt"))]
    full = worker._with_file(JobFailed("x", disk_full=True)).message
    assert isinstance(full, JobFailed) and full.disk_full


def test_a_blender_that_dies_is_said_and_replaced(tmp_path: Path, stages: list[FakeStage]) -> None:
    worker = RemoteWorker(probe(tmp_path / "here"), None, "cpu", 1)
    assert said_of_a_shot(worker, tmp_path / "here", "dies") == [
        WorkerMessage(Lost("its process died"))]
    assert len(stages) == 2 and stages[0].closed and not stages[1].closed
    assert said(worker) == [WorkerMessage(READY)]


def test_a_task_is_not_to_blame_for_a_blender_that_dies_before_it_takes_it(tmp_path: Path) -> None:
    worker = RemoteWorker(probe(tmp_path / "here"), None, "cpu", 1)
    assert said_of_a_shot(worker, tmp_path / "here", "dies") == [
        WorkerMessage(Lost("its process died"))]
    assert said_of_a_shot(worker, tmp_path / "here", "never takes it") == [
        WorkerMessage(Lost("its process died", blameless=True))]


def test_a_worn_blender_is_replaced_before_the_next_task(
    tmp_path: Path, stages: list[FakeStage]
) -> None:
    root = tmp_path / "here"
    worker = RemoteWorker(probe(root), None, "cpu", 1)
    (root / "shots" / "ab").mkdir(parents=True)
    stages[0].is_fit = False
    worker.submit(shot(root), {})
    assert len(stages) == 2 and stages[0].closed
    assert [type(one.message) for one in said(worker)] == [Ready, FrameDone, FrameDone, JobDone]
    worker.submit(shot(root), {})
    assert len(stages) == 2
