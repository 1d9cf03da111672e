"""What becomes of tasks whose executor says what a test wants, with no process behind it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from mimegen.base.errors import DiskFullError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm.dispatch import (
    LOSSES,
    Event,
    TaskBegun,
    TaskDone,
    TaskFailed,
    run_tasks,
)
from mimegen.farm.executor import Begun, Lost, Message, Unfit, WorkerReport
from mimegen.farm.task import Task
from mimegen.farm.timeouts import Timeouts
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready, ShotJob

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
GONE = Lost("the machine is gone", blameless=True)
CRASHED = Lost("the process died")
DONE: tuple[Message, ...] = (Begun(), JobDone())
Script = Callable[[Task], Sequence[Message]]


class ScriptedExecutor:
    """Says of each task what a script does, at once; takes one at a time."""

    def __init__(self, script: Script, adopted: Sequence[Task] = (), plain_slots: int = 1) -> None:
        self.script, self.adopted, self._plain_slots = script, tuple(adopted), plain_slots
        self.submitted: list[Task] = []
        self.abandoned: list[tuple[Task, str]] = []
        self.closed = False
        self._said: list[WorkerReport] = []
        self._busy = False

    @property
    def slots(self) -> int:
        return int(not self._busy)

    @property
    def plain_slots(self) -> int:
        return self._plain_slots * self.slots

    def submit(self, task: Task) -> None:
        assert self.slots
        self.submitted.append(task)
        self._busy = True
        self._said += [WorkerReport("one", message, task) for message in self.script(task)]

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        said, self._said = self._said, []
        for heard in said:
            if isinstance(heard.message, JobDone | JobFailed | Lost | Unfit):
                self._busy = False
            yield heard

    def abandon(self, task: Task, why: str) -> None:
        self.abandoned.append((task, why))
        self._said.append(WorkerReport("one", Lost(why), task))

    def close(self) -> None:
        self.closed = True


def still(target: Path, title: str = "still") -> Task:
    return Task(SetJob(cast(Scenery, None), cast(Camera, None), CONFIG, target), title)


def clip(target: Path, title: str = "clip") -> Task:
    return Task(ClipJob(target.parent, (0,), 1.0, cast(Background, None), cast(Camera, None), None,
                        24.0, target), title)


def shot(folder: Path, missing: list[list[int]]) -> Task:
    folders = tuple(folder / str(camera) for camera in range(len(missing[0])))
    return Task(ShotJob((), (), CONFIG, folders, np.array(missing, bool)), "shot")


def carried_out(tasks: Sequence[Task], executor: ScriptedExecutor,
                timeouts: Timeouts | None = None) -> list[Event]:
    return [event for event in run_tasks(tasks, lambda: executor, timeouts) if event is not None]


def failed(events: list[Event]) -> TaskFailed:
    found, = [event for event in events if isinstance(event, TaskFailed)]
    return found


def in_turn(*each: Sequence[Message]) -> Script:
    """Return a script that has one answer after the other."""
    answers = iter(each)
    return lambda task: next(answers)


def test_a_task_whose_machines_always_go_fails_after_five(tmp_path: Path) -> None:
    executor = ScriptedExecutor(lambda task: [Begun(), GONE])
    why = failed(carried_out([still(tmp_path / "x")], executor))
    assert len(executor.submitted) == LOSSES == 5
    assert why.why == "still: the machine is gone" and why.worker == "one"
    assert executor.closed


def test_a_task_that_comes_on_may_lose_any_number_of_machines(tmp_path: Path) -> None:
    progress: list[Message] = [Begun(), FrameDone(0, 0, 1.0), GONE]
    executor = ScriptedExecutor(in_turn(*[progress] * 12, [Begun(), JobDone()]))
    events = carried_out([still(tmp_path / "x")], executor)
    assert len(executor.submitted) == 13 and isinstance(events[-1], TaskDone)


def test_losses_are_counted_anew_after_a_frame(tmp_path: Path) -> None:
    executor = ScriptedExecutor(in_turn(*[[GONE]] * 4, [FrameDone(0, 0, 1.0), GONE], *[[GONE]] * 5))
    failed(carried_out([still(tmp_path / "x")], executor))
    assert len(executor.submitted) == 4 + 1 + LOSSES


def test_a_machine_that_goes_after_a_failure_gives_no_further_attempt(tmp_path: Path) -> None:
    burnt = JobFailed("the frame burnt")
    executor = ScriptedExecutor(in_turn([GONE], [burnt], [GONE], [burnt]))
    why = failed(carried_out([still(tmp_path / "x")], executor))
    assert len(executor.submitted) == 4 and why.why == "still: the frame burnt"


def test_where_a_worker_crashed_is_said_of_the_frame_that_it_was_at(tmp_path: Path) -> None:
    task = shot(tmp_path, [[0, 0], [0, 1], [1, 1]])
    executor = ScriptedExecutor(lambda task: [Begun(), CRASHED])
    why = failed(carried_out([task], executor))
    assert why.why == "shot: the process died at frame 1 from camera 1"
    assert len(executor.submitted) == 2
    why = failed(carried_out([still(tmp_path / "x")], ScriptedExecutor(lambda task: [CRASHED])))
    assert why.why == "still: the process died"


def test_only_what_is_left_of_a_shot_is_tried_again(tmp_path: Path) -> None:
    task = shot(tmp_path, [[1], [1]])

    def half(task: Task) -> list[Message]:
        assert isinstance(task.job, ShotJob)
        frame = int(np.flatnonzero(task.job.missing[:, 0])[0])
        task.job.folders[0].mkdir(exist_ok=True)
        task.job.frame_file(frame, 0).write_bytes(b"frame")
        return [CRASHED]

    executor = ScriptedExecutor(half)
    events = carried_out([task], executor)
    assert [one.job.missing.tolist() for one in executor.submitted
            if isinstance(one.job, ShotJob)] == [[[True], [True]], [[False], [True]]]
    assert isinstance(events[-1], TaskDone) and events[-1].seconds is None


def test_a_device_that_is_unfit_costs_no_attempt(tmp_path: Path) -> None:
    unfit = Unfit("cuda:0 is left out")
    executor = ScriptedExecutor(in_turn(*[[unfit]] * 4, [Begun(), JobDone()]))
    events = carried_out([still(tmp_path / "x")], executor)
    assert [type(event) for event in events] == [Unfit] * 4 + [TaskBegun, TaskDone]


def test_what_is_lost_is_tried_again_before_what_waits(tmp_path: Path) -> None:
    executor = ScriptedExecutor(in_turn([CRASHED], DONE, DONE))
    carried_out([still(tmp_path / "a", "a"), still(tmp_path / "b", "b")], executor)
    assert [task.title for task in executor.submitted] == ["a", "a", "b"]


def test_what_comes_up_meanwhile_goes_first_and_waits_for_a_place_of_its_kind(
    tmp_path: Path
) -> None:
    executor = ScriptedExecutor(lambda task: DONE)
    further: deque[Task] = deque()
    tasks = [still(tmp_path / name, name) for name in "abc"]
    for event in run_tasks(tasks, lambda: executor, further=further):
        if isinstance(event, TaskDone) and event.task.title == "a":
            further.append(clip(tmp_path / "clip"))
    assert [task.title for task in executor.submitted] == ["a", "clip", "b", "c"]
    executor = ScriptedExecutor(lambda task: DONE, plain_slots=0)
    events = run_tasks([clip(tmp_path / "x"), still(tmp_path / "a", "a")], lambda: executor)
    seen = [event for event in (next(events) for _ in range(4)) if isinstance(event, TaskDone)]
    events.close()
    assert [event.task.title for event in seen] == ["a"]


def test_what_was_left_running_is_not_handed_out_again(tmp_path: Path) -> None:
    left = still(tmp_path / "a", "left")
    executor = ScriptedExecutor(lambda task: [Begun(), JobDone()], adopted=[left])
    executor._said = [WorkerReport("old", Begun(), left), WorkerReport("old", JobDone(), left)]
    events = carried_out([still(tmp_path / "a", "again"), still(tmp_path / "b", "b")], executor)
    assert [task.title for task in executor.submitted] == ["b"]
    assert [event.task.title for event in events if isinstance(event, TaskDone)] == ["left", "b"]
    assert [event.worker for event in events if isinstance(event, TaskBegun)] == ["old", "one"]


def test_notices_pass_in_their_place_and_nothing_starts_nothing(tmp_path: Path) -> None:
    executor = ScriptedExecutor(lambda task: [Begun(), JobDone()])
    told = list(run_tasks(["first", still(tmp_path / "x"), "last"], lambda: executor))
    assert [event for event in told if isinstance(event, str)] == ["first", "last"]
    assert told[0] == "first" and told[1] == "last", "drawn while the worker is at its task"
    assert not list(run_tasks([], lambda: pytest.fail("started for nothing")))


def test_all_that_is_heard_is_handed_on_and_of_strangers_nothing_follows(tmp_path: Path) -> None:
    said: list[WorkerReport] = []
    ready = Ready("cpu", 1, "5.0.1", "x86_64")
    executor = ScriptedExecutor(lambda task: [Begun(), FrameDone(1, 2, 0.25), JobDone()])
    stranger = WorkerReport("two", JobDone(), still(tmp_path / "y"))
    executor._said = [WorkerReport("one", ready), stranger]
    events = [event for event in run_tasks([still(tmp_path / "x")], lambda: executor,
                                           receive=said.append) if event is not None]
    assert [type(event) for event in events] == [Ready, TaskBegun, FrameDone, TaskDone]
    assert events[2] == FrameDone(1, 2, 0.25) and stranger in said and len(said) == 5
    done = events[-1]
    assert isinstance(done, TaskDone) and done.seconds is not None and 0 <= done.seconds < 5


def test_silence_is_counted_from_the_beginning_of_the_work(tmp_path: Path) -> None:
    """What waits at a farm for its turn is not silent; what has begun is, and is taken back."""
    timeouts = Timeouts(first_s=0.0)
    executor = ScriptedExecutor(lambda task: [])
    events = run_tasks([still(tmp_path / "x")], lambda: executor, timeouts)
    assert [next(events) for _ in range(3)] == [None] * 3 and not executor.abandoned
    events.close()
    assert executor.closed
    executor = ScriptedExecutor(lambda task: [Begun()])
    task = still(tmp_path / "x")
    why = failed(carried_out([task], executor, timeouts))
    assert [found for found, _ in executor.abandoned] == [task, task]
    assert why.why == "still: nothing was heard of it for 0 s"


def test_each_kind_of_work_has_its_own_timeout(tmp_path: Path) -> None:
    timeouts = Timeouts(first_s=1000.0, least_s=10.0)
    executor = ScriptedExecutor(in_turn([Begun(), FrameDone(0, 0, 3.0), JobDone()],
                                        [Begun(), JobDone()], [Begun(), JobDone()]))
    frames = shot(tmp_path, [[1]])
    carried_out([frames, still(tmp_path / "x"), clip(tmp_path / "y")], executor, timeouts)
    assert timeouts.of(frames) == 60.0, "the time of frames, not of the whole shot"
    assert set(timeouts.slowest) == {"frame of preview", "still of preview", "ClipJob"}
    assert timeouts.of(clip(tmp_path / "z")) == 10.0
    assert Timeouts(first_s=5.0, slowest={"clip": 0.1}).of(clip(tmp_path / "z")) == 5.0


def test_a_full_disk_ends_all_and_says_at_which_task(tmp_path: Path) -> None:
    executor = ScriptedExecutor(lambda task: [JobFailed("full", disk_full=True)])
    with pytest.raises(DiskFullError, match=r"while rendering still; free some.*--out or --store"):
        carried_out([still(tmp_path / "x")], executor)
    assert executor.closed


@pytest.mark.parametrize(("first_s", "least_s", "seconds", "allowed"), [
    (1800.0, 300.0, (), 1800.0), (1800.0, 300.0, (1.0,), 300.0),
    (1800.0, 300.0, (15.0,), 300.0), (1800.0, 300.0, (16.0,), 320.0),
    (1800.0, 300.0, (200.0, 1.0), 4000.0), (5.0, 300.0, (0.1,), 5.0), (5.0, 300.0, (1.0,), 20.0),
    (5.0, 2.0, (0.05,), 2.0)])
def test_silence_is_allowed_by_the_slowest_that_was_seen(
    tmp_path: Path, first_s: float, least_s: float, seconds: tuple[float, ...], allowed: float
) -> None:
    timeouts = Timeouts(first_s, least_s)
    for each in seconds:
        timeouts.measured(still(tmp_path / "x"), each)
    assert timeouts.of(still(tmp_path / "y")) == pytest.approx(allowed)
    assert timeouts.of(clip(tmp_path / "z")) == first_s, "another kind of work"
