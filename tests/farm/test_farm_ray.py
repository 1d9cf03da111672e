"""Tasks on a Ray cluster of pretended machines; Blender is replaced where it is not the matter."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.farm.dispatch import Event, TaskDone, TaskFailed, run_tasks
from mimegen.farm.ray import RayExecutor
from mimegen.farm.remote import RemoteWorker
from mimegen.farm.settings import FarmSettings
from mimegen.farm.task import Task
from mimegen.rendering.worker import StageWorker
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, Ready, ShotJob
from mimegen.store.makers import makers
from ray_cluster import add_machine, ray_cluster
from running import command, frames_of, mimegen, rows_of
from waiting import wait_until

pytestmark = pytest.mark.render

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'mimegen[ray]'")

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)


class FakeStage:
    """Publishes frames, slowly, that say by which process they were made."""

    is_fit = True

    def __init__(self) -> None:
        self.connection, self._theirs = Pipe()
        self._theirs.send(Ready("cpu", 1, "5.0.1", "x86_64"))

    def submit(self, job: ShotJob) -> None:
        threading.Thread(target=self._work, args=(job,), daemon=True).start()

    def _work(self, job: ShotJob) -> None:
        for files in job.figures:
            assert files.character.read_bytes() == b"character"
        for frame, camera in np.argwhere(job.missing):
            time.sleep(0.1)
            path = job.frame_file(frame, camera)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"frame {frame} by {os.getpid()}")
            self._theirs.send(FrameDone(int(camera), int(frame), 0.1))
        self._theirs.send(JobDone())

    def kill(self) -> None:
        self._theirs.close()

    close = kill


class FakeWorker(RemoteWorker):
    def _fresh(self) -> StageWorker:
        return FakeStage()  # type: ignore[return-value]


class OnFakes(RayExecutor):
    kind_of_worker = FakeWorker


class Absent(RemoteWorker):
    """A worker on a machine on which mimegen is not installed."""

    def __init__(self, *given: Any) -> None:
        raise ModuleNotFoundError("No module named 'mimegen'")


class OnNothing(RayExecutor):
    kind_of_worker = Absent


@pytest.fixture(scope="module")
def machines() -> Iterator[Any]:
    """A cluster of one machine, that takes a while to start."""
    with ray_cluster(cpus=1) as made:
        ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        yield made


@pytest.fixture
def cluster(machines: Any) -> Iterator[Any]:
    """The cluster; it has one machine again when a test has ended."""
    yield machines
    ray.shutdown()
    for node in list(machines.worker_nodes):
        machines.remove_node(node, allow_graceful=False)


def tasks(root: Path, count: int, frames: int = 6) -> list[Task]:
    for place in ("characters", *(f"shots/s{number}" for number in range(count))):
        (root / place).mkdir(parents=True, exist_ok=True)
    files = FigureFiles(root / "characters" / "c.npz", root / "characters" / "p.npz")
    files.character.write_bytes(b"character")
    files.performance.write_bytes(b"performance")
    return [Task(ShotJob((files,), (CAMERA,), CONFIG, (root / "shots" / f"s{number}",),
                         np.ones((frames, 1), bool)), f"task {number}")
            for number in range(count)]


def carried_out(todo: list[Task], root: Path, cluster: Any, react: Callable[[Event], None],
                **settings: Any) -> list[Event]:
    start = partial(OnFakes, root, FarmSettings(address=cluster.address, **settings), "cpu")
    events = []
    for event in run_tasks(todo, start):
        if event is not None:
            events.append(event)
            react(event)
    return events


def processes(root: Path) -> set[int]:
    return {int(path.read_text().split()[-1]) for path in root.glob("shots/*/*.npz")}


def frames(root: Path) -> int:
    return len(list(root.glob("shots/*/*.npz")))


def test_machines_that_join_are_used_and_lost_ones_cost_only_what_they_were_at(
    cluster: Any, tmp_path: Path
) -> None:
    """A node joins after the first frames, then one is killed, then an actor."""
    second = add_machine(cluster)
    seen: list[str] = []

    def react(event: Event) -> None:
        seen.append(type(event).__name__)
        made = seen.count("FrameDone")
        if made == 3 and seen[-1] == "FrameDone":
            add_machine(cluster)
        if made == 20 and seen[-1] == "FrameDone":
            cluster.remove_node(second, allow_graceful=False)
        if made == 30 and seen[-1] == "FrameDone":
            newest = max(tmp_path.glob("shots/*/*.npz"), key=lambda path: path.stat().st_mtime_ns)
            os.kill(int(newest.read_text().split()[-1]), signal.SIGKILL)

    events = carried_out(tasks(tmp_path, 16), tmp_path, cluster, react)
    assert [event.why for event in events if isinstance(event, TaskFailed)] == []
    done = [event.task.title for event in events if isinstance(event, TaskDone)]
    assert sorted(done) == sorted(f"task {number}" for number in range(16))
    assert frames(tmp_path) == 96
    assert len(processes(tmp_path)) >= 3
    # What was lost was begun again, if anything was in flight there, and nothing else.
    assert seen.count("TaskBegun") - 16 <= 4
    assert seen.count("FrameDone") <= 96 + 4


def test_without_a_shared_folder_frames_come_back(cluster: Any, tmp_path: Path) -> None:
    root = tmp_path / "here"
    events = carried_out(tasks(root, 3), root, cluster, lambda event: None, shared_store=False)
    assert sum(isinstance(event, TaskDone) for event in events) == 3
    assert frames(root) == 18
    assert makers(root / "shots" / "s2") == ("x86_64",)
    assert not list(root.glob(".probe-*"))


def test_a_machine_that_does_not_see_the_folder_is_found_out(cluster: Any, tmp_path: Path) -> None:
    events = carried_out(tasks(tmp_path / "here", 2), tmp_path / "here", cluster,
                         lambda event: None, store_there=tmp_path / "absent")
    assert sum(isinstance(event, TaskDone) for event in events) == 2
    assert frames(tmp_path / "here") == 12 and not (tmp_path / "absent").exists()


def test_where_no_worker_starts_it_is_said_in_rays_words(cluster: Any, tmp_path: Path) -> None:
    """Ray would start it again for ever."""
    start = partial(OnNothing, tmp_path, FarmSettings(address=cluster.address), "cpu")
    with pytest.raises(RequestError, match=r"no worker starts.*No module named 'mimegen'"):
        list(run_tasks(tasks(tmp_path, 1), start))


def test_no_cluster_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no Ray cluster answers"):
        RayExecutor(tmp_path, FarmSettings(address="127.0.0.1:1"), "cpu")


def test_the_same_clips_as_on_this_machine(tiny_config: Path, tmp_path: Path) -> None:
    """Blender itself, on a cluster that starts by itself, with and without a shared folder; dots,
    and ground truth that needs no OpenGL, too.
    """
    wanted = ["render", "--action", "basketball", "--variants", "base+blank@0,pointlight@0",
              "--passes", "keypoints", "--config", tiny_config, "--device", "cpu"]
    shared = ["--farm", "ray", "--address", "none", "--shared-store"]
    away = ["--farm", "ray", "--address", "none", "--no-shared-store"]
    for name, farm in (("local", []), ("shared", shared), ("away", away)):
        done = mimegen(*wanted, "--out", tmp_path / name, *farm)
        assert done.returncode == 0, done.stderr
    wanted_files = made(tmp_path / "local")
    assert {Path(name).parts[0] for name in wanted_files} == {"store", "clips", "passes"}
    for name in ("shared", "away"):
        assert rows_of(tmp_path / name) == rows_of(tmp_path / "local")
        assert made(tmp_path / name) == wanted_files


def made(out: Path) -> dict[str, bytes]:
    """What was made of pictures and ground truth, by its place."""
    return {str(path.relative_to(out)): path.read_bytes()
            for pattern in ("store/**/*.npz", "clips/*.mp4", "passes/**/*")
            for path in out.glob(pattern) if path.is_file()}


def test_after_its_driver_was_killed_the_same_command_goes_on(
    cluster: Any, tiny_config: Path, tmp_path: Path
) -> None:
    """Blender itself; the killed driver's actors end with it, and its claims are free again."""
    add_machine(cluster)
    out = tmp_path / "out"
    wanted = ["render", "--action", "basketball", "--variants", "base+blank@0,woman+blank@0",
              "--config", tiny_config, "--device", "cpu", "--farm", "ray", "--address",
              cluster.address]
    driver = subprocess.Popen(command(*wanted, "--out", out), stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL)
    wait_until(lambda: len(frames_of(out)) >= 5 or driver.poll() is not None, 300.0)
    assert driver.poll() is None
    driver.kill()
    driver.wait()
    kept = frames_of(out)
    done = mimegen(*wanted, "--out", out)
    assert done.returncode == 0, done.stderr
    again = [path for path, when in frames_of(out).items() if kept.get(path, when) != when]
    assert len(again) <= 2, "what was in flight at most"
    assert len(rows_of(out)) == 2
