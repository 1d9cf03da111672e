"""What workers did can be read afterwards."""

from pathlib import Path
from typing import cast

from mimegen.base.paths import data_folder
from mimegen.farm.executor import Begun, Lost, WorkerReport
from mimegen.farm.logs import Logs
from mimegen.farm.task import Task
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")


def task(title: str) -> Task:
    return Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, Path("still.png")), title)


def test_each_worker_has_a_file_with_tasks_frames_and_seconds(tmp_path: Path) -> None:
    logs, first, second = Logs(tmp_path / "logs"), task("a shot"), task("a set")
    for heard in (WorkerReport("node-1 worker 1", Ready("cuda", 1, "Blender 5.0.1", "x86_64")),
                  WorkerReport("node-1 worker 1", Begun(), first),
                  WorkerReport("node-1 worker 1", FrameDone(2, 7, 1.25), first),
                  WorkerReport("node-1 worker 1", JobDone(), first),
                  WorkerReport("../x", Begun(), second),
                  WorkerReport("../x", JobFailed("no\nlight"), second),
                  WorkerReport("../x", Begun(), second),
                  WorkerReport("../x", Lost("its process died"), second)):
        logs.receive(heard)
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) \
        == ["..-x.log", "node-1-worker-1.log"]
    lines = (tmp_path / "logs" / "node-1-worker-1.log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "Blender 5.0.1 renders on cuda; x86_64", "begun: a shot",
        "frame 7 of camera 2: 1.25 s", "done: a shot, 0.0 s"]
    other = (tmp_path / "logs" / "..-x.log").read_text()
    assert "failed: a set: no light\n" in other
    assert "lost: a set: its process died\n" in other


def test_the_slowest_tasks_are_named_first(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    logs.seconds = {"quick": 1.0, "slow": 9.04, "middle": 5.0, "other": 2.0}
    assert logs.slowest() == ["slow: 9.0 s", "middle: 5.0 s", "other: 2.0 s"]
