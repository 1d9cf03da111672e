"""The farm's care for its workers, with Blender replaced at its one boundary."""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import repeat
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm import local
from mimegen.farm.dispatch import Event, TaskBegun, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Begun, Lost, Unfit
from mimegen.farm.task import Task
from mimegen.farm.timeouts import Timeouts
from mimegen.rendering import worker
from mimegen.rendering.receiving import JobReceived
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import JobDone, JobFailed, Ready, ShotJob
from mimegen.store.disk import Disk
from running import blender_processes

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
Behaviour = Callable[[SetJob, Connection], None]


class ScriptedWorker:
    """Does each job by the next behaviour of a script that all workers share."""

    script: Iterator[Behaviour]
    started = 0
    newest: "ScriptedWorker"

    def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
        type(self).started += 1
        ScriptedWorker.newest = self
        self.connection, self._theirs = Pipe()
        self._theirs.send(Ready("cpu", 1, "5.0.1", "x86_64"))
        self.is_fit = True

    def submit(self, job: SetJob) -> None:
        self._theirs.send(JobReceived())
        next(type(self).script)(job, self._theirs)

    def kill(self) -> None:
        self._theirs.close()

    close = kill


class OneBroken(ScriptedWorker):
    """A first GPU that does not start."""

    def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
        super().__init__(device, threads, scratch)
        self.broken = device == "cuda:0"
        if self.broken:
            self.connection.recv()
            self._theirs.send(JobFailed("out of memory, says the driver"))

    def submit(self, job: SetJob) -> None:
        if not self.broken:
            super().submit(job)


def succeed(job: SetJob, connection: Connection) -> None:
    job.target.write_bytes(b"still")
    connection.send(JobDone())


def crash(job: SetJob, connection: Connection) -> None:
    connection.close()


def fail(job: SetJob, connection: Connection) -> None:
    connection.send(JobFailed("the frame burnt"))


def fill_the_disk(job: SetJob, connection: Connection) -> None:
    connection.send(JobFailed("frame 3: the words are the system's", disk_full=True))


def fail_with_words_of_a_full_disk(job: SetJob, connection: Connection) -> None:
    connection.send(JobFailed("material 'No space left on device' is unknown"))


def publish_and_crash(job: SetJob, connection: Connection) -> None:
    job.target.write_bytes(b"still")
    connection.close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
        ) -> Callable[..., list[Event]]:
    def run_script(behaviours: list[Behaviour], tasks: int = 2, workers: int = 1
                   ) -> list[Event]:
        ScriptedWorker.script, ScriptedWorker.started = iter(behaviours), 0
        monkeypatch.setattr(local, "StageWorker", ScriptedWorker)
        jobs = [SetJob(cast(Scenery, None), cast(Camera, None), CONFIG,
                       tmp_path / f"{number}.png") for number in range(tasks)]
        todo = [Task(job, f"task {number}") for number, job in enumerate(jobs)]
        return [event for event in on(todo, ["cpu"] * workers) if event is not None]

    return run_script


def on(tasks: list[Task], devices: list[str], timeouts: Timeouts | None = None
       ) -> Generator[Event | None, None, None]:
    return run_tasks(tasks, partial(local.LocalExecutor, devices, 0), timeouts)


def titles(events: list[Event],
           kind: type[TaskDone] | type[TaskFailed]) -> list[str]:
    return [event.task.title for event in events if isinstance(event, kind)]


def test_a_crash_costs_one_worker_and_no_task(run: Callable[..., list[Event]]) -> None:
    events = run([crash, succeed, succeed])
    assert sorted(titles(events, TaskDone)) == ["task 0", "task 1"]
    assert not titles(events, TaskFailed)
    assert ScriptedWorker.started == 2


def test_a_task_that_fails_twice_fails_alone(run: Callable[..., list[Event]]) -> None:
    events = run([fail, fail, succeed])
    assert titles(events, TaskFailed) == ["task 0"]
    assert titles(events, TaskDone) == ["task 1"]
    failed, = [event for event in events if isinstance(event, TaskFailed)]
    assert failed.why == "task 0: the frame burnt"


def test_what_was_published_before_a_crash_is_not_done_again(
    run: Callable[..., list[Event]]
) -> None:
    events = run([publish_and_crash], tasks=1)
    assert titles(events, TaskDone) == ["task 0"]


def test_a_full_disk_ends_the_run(run: Callable[..., list[Event]]) -> None:
    with pytest.raises(DiskFullError, match="no space left"):
        run([fill_the_disk])


def test_words_alone_are_no_full_disk(run: Callable[..., list[Event]]) -> None:
    events = run([fail_with_words_of_a_full_disk] * 2 + [succeed])
    assert titles(events, TaskFailed) == ["task 0"]


def test_two_workers_share_the_tasks(run: Callable[..., list[Event]]) -> None:
    events = run([succeed] * 6, tasks=6, workers=2)
    assert len(titles(events, TaskDone)) == 6 and ScriptedWorker.started == 2


def test_a_worker_that_never_starts_is_reported(run: Callable[..., list[Event]],
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    class DeadWorker(ScriptedWorker):
        def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
            super().__init__(device, threads, scratch)
            self.connection.recv()
            self._theirs.close()

        def submit(self, job: SetJob) -> None:
            pass

    monkeypatch.setattr(local, "StageWorker", DeadWorker)
    todo = [Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG,
                        Path("absent.png")), "task")]
    failures = [event for event in on(todo, ["cpu"])
                if isinstance(event, TaskFailed)]
    assert [event.why for event in failures] == ["task: its process died"]


def test_a_lost_worker_is_replaced_on_its_own_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[str] = []

    class Noted(ScriptedWorker):
        def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
            started.append(device)
            super().__init__(device, threads, scratch)

    monkeypatch.setattr(local, "StageWorker", Noted)
    Noted.script = iter([crash, crash, succeed, succeed])
    todo = [Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG,
                        tmp_path / f"{number}.png"), "task") for number in range(2)]
    list(on(todo, ["cuda:0", "cuda:1"]))
    assert started == ["cuda:0", "cuda:1"] * 2


def test_a_blender_that_cannot_load_is_one_clear_line(
    run: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Unloadable(ScriptedWorker):
        def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
            super().__init__(device, threads, scratch)
            self.connection.recv()
            self._theirs.send(JobFailed("Blender does not load (libSM.so.6)"))

        def submit(self, job: SetJob) -> None:
            pass

    monkeypatch.setattr(local, "StageWorker", Unloadable)
    with pytest.raises(RequestError, match=r"libSM\.so\.6"):
        list(on([Task(SetJob(cast(Scenery, None), cast(Camera, None),
                             CONFIG, Path("absent.png")), "task")],
                ["cpu", "cpu"]))


def shot_task(folder: Path, missing: list[list[int]]) -> Task:
    folders = tuple(folder / str(camera) for camera in range(len(missing[0])))
    for place in folders:
        place.mkdir()
    return Task(ShotJob((), (), CONFIG, folders, np.array(missing, bool)), "shot")


def test_what_remains_of_a_shot_is_what_is_not_published_yet(tmp_path: Path) -> None:
    task = shot_task(tmp_path, [[1, 1], [0, 1], [1, 0]])
    assert isinstance(task.job, ShotJob)
    task.job.frame_file(0, 1).write_bytes(b"")
    task.job.frame_file(1, 0).write_bytes(b"")
    rest = task.remaining()
    assert rest is not None and rest.title == "shot" and isinstance(rest.job, ShotJob)
    assert rest.job.missing.astype(int).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert rest.job.folders == task.job.folders
    assert task.job.missing.astype(int).tolist() == [[1, 1], [0, 1], [1, 0]]
    for frame, camera in ((0, 0), (1, 1), (2, 0)):
        task.job.frame_file(frame, camera).write_bytes(b"")
    assert task.remaining() is None


def test_a_worn_worker_is_replaced_before_its_next_task(
    run: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[ScriptedWorker] = []
    monkeypatch.setattr(ScriptedWorker, "close", lambda worker: closed.append(worker))

    def succeed_and_wear(job: SetJob, connection: Connection) -> None:
        succeed(job, connection)
        ScriptedWorker.newest.is_fit = False

    events = run([succeed_and_wear, succeed, succeed], tasks=3)
    assert titles(events, TaskDone) == ["task 0", "task 1", "task 2"]
    assert ScriptedWorker.started == 2 and len(closed) == 1


def test_a_worker_that_was_killed_while_it_waited_is_given_no_task(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it see other GPUs than it was given, by Slurm, Ray or a person."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    worker = StageWorker("none", 1)
    assert isinstance(worker.connection.recv(), Ready) and worker.is_fit
    process, = blender_processes(os.getpid())
    assert b"CUDA_VISIBLE_DEVICES=2,5" in Path(f"/proc/{process}/environ").read_bytes().split(
        b"\0")
    worker._process.kill()
    worker._process.wait()
    assert not worker.is_fit
    worker.close()


def test_a_worker_of_code_that_changed_since_the_plan_makes_nothing(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would put what the new code makes under the keys of the old."""
    monkeypatch.setattr(worker, "own_code", lambda: "as it was planned")
    executor = local.LocalExecutor(["opengl"], 1)
    with pytest.raises(RequestError, match="has changed since this run was planned"):
        for _ in range(60):
            [*executor.events(1.0)]
    executor.close()


def test_a_task_goes_to_a_warm_worker_rather_than_to_a_place_without_one(
    run: Callable[..., list[Event]], tmp_path: Path
) -> None:
    run([], tasks=0)
    silent: list[Connection] = []
    ScriptedWorker.script = iter([lambda job, connection: silent.append(connection)] * 2)
    first, second = (Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / name),
                          name) for name in "ab")
    executor = local.LocalExecutor(["cpu", "cpu"], 0)
    executor.submit(first)
    assert executor.slots == executor.plain_slots == 1
    executor.abandon(first, "it hangs")
    assert executor.slots == 2
    said = list(executor.events(0))
    assert [heard.message for heard in said if heard.task is first] == [
        Begun(), Lost("it hangs")] and said[0].worker == "cpu worker 1"
    executor.submit(second)
    begun, *_ = executor.events(0)
    assert ScriptedWorker.started == 2 and begun.worker == "cpu worker 2"
    executor.close()
    assert silent[1].closed


def test_workers_that_say_nothing_leave_time_to_others(
    run: Callable[..., list[Event]], tmp_path: Path
) -> None:
    run([], tasks=0)
    silent: list[Connection] = []
    ScriptedWorker.script = iter([lambda job, connection: silent.append(connection)])
    job = SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / "x")
    events = on([Task(job, "task")], ["cpu"])
    begun, first, *rest = (next(events) for _ in range(4))
    assert isinstance(begun, TaskBegun)
    assert isinstance(first, Ready) and rest == [None, None]
    silent[0].send(JobDone())
    assert isinstance(next(events), TaskDone)
    events.close()


def test_a_worker_that_hangs_is_replaced_and_its_task_done_by_another(
    run: Callable[..., list[Event]], tmp_path: Path
) -> None:
    run([], tasks=0)
    hung: list[Connection] = []
    ScriptedWorker.script = iter([lambda job, connection: hung.append(connection), succeed])
    job = SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / "still.png")
    events = [event for event in on([Task(job, "task")], ["cpu"], Timeouts(first_s=0.4)) if event]
    assert [type(event) for event in events] == [TaskBegun, Ready, TaskBegun, Ready, TaskDone]
    assert hung[0].closed and ScriptedWorker.started == 2


def test_a_task_that_hangs_twice_fails(
    run: Callable[..., list[Event]], tmp_path: Path
) -> None:
    run([], tasks=0)
    hung: list[Connection] = []
    ScriptedWorker.script = iter([lambda job, connection: hung.append(connection)] * 2 + [succeed])
    todo = [Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / str(number)),
                 f"task {number}") for number in range(1)]
    failed, = [event for event in on(todo, ["cpu"], Timeouts(first_s=0.2))
               if isinstance(event, TaskFailed)]
    assert "task 0: nothing was heard of it for 0 s" in failed.why


def test_frames_that_come_slowly_are_signs_of_life(tmp_path: Path) -> None:
    timeouts, task = Timeouts(first_s=1000, least_s=10), shot_task(tmp_path, [[1], [1]])
    assert timeouts.of(task) == 1000
    timeouts.measured(task, 0.1)
    assert timeouts.of(task) == 10
    timeouts.measured(task, 3.0)
    timeouts.measured(task, 1.0)
    assert timeouts.of(task) == 60
    still = Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path), "still")
    assert timeouts.of(still) == 1000


def test_a_device_that_fails_at_start_is_reported_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local, "StageWorker", OneBroken)
    OneBroken.script = iter([succeed] * 3)
    todo = [Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / str(number)),
                 f"task {number}") for number in range(3)]
    events = [event for event in on(todo, ["cuda:0", "cuda:1"]) if event]
    assert sorted(titles(events, TaskDone)) == ["task 0", "task 1", "task 2"]
    unfit, = [event for event in events if isinstance(event, Unfit)]
    assert unfit.why == "cuda:0 worker 1 is left out: out of memory, says the driver"


def clip_task(target: Path) -> Task:
    return Task(ClipJob(target.parent, (0,), 1.0, cast(Background, None), cast(Camera, None), None,
                        24.0, target), target.stem)


def test_clips_leave_gpus_to_frames_and_come_as_soon_as_they_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[tuple[str, str]] = []

    class Noted(ScriptedWorker):
        def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
            super().__init__(device, threads, scratch)
            self.device = device

        def submit(self, job: SetJob) -> None:
            done.append((self.device, job.target.stem))
            succeed(job, self._theirs)

    monkeypatch.setattr(local, "StageWorker", Noted)
    stills = [Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG,
                          tmp_path / f"still{number}"), f"still{number}") for number in range(3)]
    further: deque[Task] = deque()
    start = partial(local.LocalExecutor, ["cuda:0", "none"], 0)
    for event in run_tasks(stills, start, further=further):
        if isinstance(event, TaskDone) and not event.task.needs_no_engine:
            name = event.task.title.replace("still", "clip")
            further.append(clip_task(tmp_path / name))
    assert [name for device, name in done if device == "cuda:0"] == ["still0", "still1", "still2"]
    assert [name for device, name in done if device == "none"] == ["clip0", "clip1", "clip2"]
    on_one = [name for _, name in done]
    assert on_one.index("clip0") < on_one.index("still2")


def test_what_fails_while_the_disk_is_away_has_not_failed(
    run: Callable[..., list[Event]], tmp_path: Path
) -> None:
    run([], tasks=0)
    state = {"there": True}

    def vanish(job: SetJob, connection: Connection) -> None:
        state["there"] = False
        threading.Timer(0.3, lambda: state.update(there=True)).start()
        connection.send(JobFailed("no such folder"))

    ScriptedWorker.script = iter([vanish, vanish, vanish, succeed])
    task = Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / "x"), "task")
    said: list[str] = []
    disk = Disk(lambda: state["there"], said.append)
    events = list(run_tasks([task], partial(local.LocalExecutor, ["cpu"], 0), disk=disk))
    assert sum(isinstance(event, TaskDone) for event in events) == 1
    assert not [event for event in events if isinstance(event, TaskFailed)]
    assert said == ["the store is gone; waiting for it to come back", "the store is back"] * 3


def test_a_disk_that_stays_away_is_one_clear_line() -> None:
    with pytest.raises(RequestError, match="has been unreachable for"):
        Disk(lambda: False, longest_s=0.1).wait()


def test_without_need_no_engine_starts_and_with_it_one_takes_the_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[str] = []

    class Noted(ScriptedWorker):
        def __init__(self, device: str, threads: int, scratch: Path | None) -> None:
            super().__init__(device, threads, scratch)
            started.append(device)

    monkeypatch.setattr(local, "StageWorker", Noted)
    Noted.script = repeat(succeed)
    still = Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, tmp_path / "x"), "still")
    clips = [clip_task(tmp_path / str(number)) for number in range(3)]
    for tasks, warm, wanted in ((clips, False, ["none"]), ([*clips, still], True, ["cpu"]),
                                ([*clips[:2], still, clips[2]], False, ["none", "cpu"])):
        events = list(run_tasks(tasks, partial(local.LocalExecutor, ["cpu"], 1, warm=warm)))
        assert len([event for event in events if isinstance(event, TaskDone)]) == len(tasks)
        assert started == wanted
        started.clear()
