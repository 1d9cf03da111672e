"""What a job of Slurm does, without a Slurm and with Blender replaced, and its folder of tasks."""

import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.farm import local, pilot
from mimegen.farm.executor import Begun, Unfit
from mimegen.farm.pilot import Orders
from mimegen.farm.remote import version
from mimegen.farm.spool import JobMessage, Spool
from mimegen.farm.task import Task
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready, ShotJob
from pretended_slurm import PretendedSlurm, executor, pretend, publish_frames, spool_of, tasks
from test_farm import OneBroken, ScriptedWorker


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> PretendedSlurm:
    return pretend(monkeypatch)


def succeed(job: Any, connection: Any) -> None:
    for frame in np.flatnonzero(job.missing[:, 0]):
        job.folders[0].mkdir(parents=True, exist_ok=True)
        job.frame_file(int(frame), 0).write_bytes(b"frame")
        connection.send(FrameDone(0, int(frame), 0.1))
    connection.send(JobDone())


def fail(job: Any, connection: Any) -> None:
    connection.send(JobFailed("the frame burnt"))


@pytest.fixture
def carried_out(pretended: PretendedSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                ) -> Iterator[Callable[..., tuple[int, list[JobMessage]]]]:
    monkeypatch.setattr(local, "StageWorker", ScriptedWorker)
    monkeypatch.setattr(pilot, "IDLE_S", 0.0)
    jobs = executor(tmp_path)

    def carry_out(todo: list[Task], behaviours: list[Any], **orders: Any
                  ) -> tuple[int, list[JobMessage]]:
        ScriptedWorker.script = iter(behaviours)
        for task in todo:
            jobs.submit(task)
        spool = spool_of(tmp_path)
        told: dict[str, Any] = {"device": "cpu", "gpus": 0, "cpus": 1} | orders
        ended = pilot.pilot(Orders(str(spool.folder), str((tmp_path / "store").resolve()), **told),
                            "1_0")
        return ended, list(spool.receive())

    yield carry_out
    jobs.close()


def test_a_job_does_tasks_until_there_is_none_left(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    ended, lines = carried_out(tasks(tmp_path, 3), [succeed, fail, succeed])
    kinds = Counter(type(line.message) for line in lines)
    assert ended == 0 and kinds == {Ready: 1, Begun: 3, FrameDone: 4, JobDone: 2, JobFailed: 1}
    failed, = [line.message for line in lines if isinstance(line.message, JobFailed)]
    assert failed.message.endswith(": the frame burnt") and len(failed.message) > 17
    assert spool_of(tmp_path).taken() == {} and spool_of(tmp_path).waiting() == []


def test_a_job_goes_on_from_the_frames_that_are_there(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    half, whole = tasks(tmp_path, 2)
    publish_frames(whole)
    publish_frames(half)
    assert isinstance(half.job, ShotJob)
    half.job.frame_file(1, 0).unlink()
    _, lines = carried_out([half, whole], [succeed])
    frames = [line.message.frame for line in lines if isinstance(line.message, FrameDone)]
    assert frames == [1]
    assert sum(isinstance(line.message, JobDone) for line in lines) == 2


def test_a_job_that_begins_again_gives_back_what_it_was_at(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    carried_out(tasks(tmp_path, 0), [])
    spool = spool_of(tmp_path)
    ScriptedWorker.script = iter([succeed])
    name = spool.put({"kind": "nothing that anybody knows"})
    assert spool.take("1_0") == name
    ended, lines = carried_out([], [])
    assert ended == 1 and spool.waiting() == [name] and spool.taken() == {}
    assert "not a task that this version of mimegen knows" in str(lines[-1].message)


def test_a_job_of_another_version_leaves_its_machine_out(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path,
    capsys: pytest.CaptureFixture[str]
) -> None:
    ended, lines = carried_out(tasks(tmp_path, 1), [], version="0.0.9 abc")
    line, = lines
    assert ended == 1 and isinstance(line.message, Unfit) and "0.0.9 abc" in line.message.why
    assert capsys.readouterr().err == f"mimegen: has mimegen {version()}, needs 0.0.9 abc\n"
    assert len(spool_of(tmp_path).waiting()) == 1


def test_a_job_waits_for_a_folder_that_is_away(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    """It is away when the first of two tasks is done, and back a second later."""
    folder = spool_of(tmp_path).folder
    away = tmp_path / "away"

    def succeed_while_it_goes(job: Any, connection: Any) -> None:
        folder.rename(away)
        threading.Timer(1.0, away.rename, [folder]).start()
        succeed(job, connection)

    ended, lines = carried_out(tasks(tmp_path, 2), [succeed_while_it_goes, succeed])
    assert ended == 0 and sum(isinstance(line.message, JobDone) for line in lines) == 2


def test_a_gpu_that_does_not_start_leaves_its_task_to_the_others(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "StageWorker", OneBroken)
    OneBroken.script = iter([succeed] * 3)
    ended, lines = carried_out(tasks(tmp_path, 3), [succeed] * 3, device="cuda", gpus=2)
    unfit, = [line for line in lines if isinstance(line.message, Unfit)]
    assert ended == 0 and unfit.task is None
    assert unfit.message == Unfit("cuda:0 worker 1 is left out: out of memory, says the driver")
    assert sum(isinstance(line.message, JobDone) for line in lines) == 3


def test_workers_without_a_task_are_heard_too(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    ended, lines = carried_out(tasks(tmp_path, 1), [succeed], cpus=2)
    ready = {line.worker.partition(" job ")[2]: line.task is None for line in lines
             if isinstance(line.message, Ready)}
    assert ended == 0 and ready == {"1_0 cpu worker 1": False, "1_0 cpu worker 2": True}
    assert {line.job for line in lines} == {"1_0"}


def test_a_job_knows_its_number_from_slurm(tmp_path: Path) -> None:
    spool = made(tmp_path)
    name = spool.put({"number": 1})
    assert spool.take("7_3") == name
    orders = Orders(str(tmp_path), str(tmp_path / "store"), "cpu", 0, 1, "0.0.9 abc")
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3"}
    ended = subprocess.run([sys.executable, "-m", "mimegen.farm.pilot", orders.text()],
                           env=os.environ | array, capture_output=True, text=True)
    assert ended.returncode == 1 and "needs 0.0.9 abc" in ended.stderr
    line, = spool.receive()
    assert line.job == "7_3" and isinstance(line.message, Unfit)
    assert spool.waiting() == [name]


# The folder between them.


def made(folder: Path) -> Spool:
    spool = Spool(folder)
    spool.make()
    return spool


def test_of_many_who_want_a_task_one_gets_it(tmp_path: Path) -> None:
    spool = made(tmp_path)
    names = [spool.put({"number": number}) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda number: Spool(tmp_path).take(f"1_{number}"), range(80)))
    assert sorted(filter(None, got)) == names and got.count(None) == 20
    assert spool.content(names[7]) == {"number": 7}


def test_a_line_that_is_half_written_is_heard_when_it_is_whole(tmp_path: Path) -> None:
    spool = made(tmp_path)
    line = JobMessage("1_0", "worker", "t", FrameDone(1, 2, 0.5))
    spool.send(line)
    file = tmp_path / "said" / "1_0.jsonl"
    text = file.read_bytes()
    file.write_bytes(text + text[:20])
    assert list(spool.receive()) == [line] and list(spool.receive()) == []
    file.write_bytes(text * 2)
    assert list(spool.receive()) == [line]


def test_a_task_that_was_taken_away_is_not_told_of(tmp_path: Path) -> None:
    spool = made(tmp_path)
    name = spool.put({})
    assert spool.take("1_0") == name and spool.done(name, "1_0")
    assert not spool.done(name, "1_0") and spool.content(name) is None


def test_a_damaged_task_is_dropped_and_the_next_is_done(
    carried_out: Callable[..., tuple[int, list[JobMessage]]], tmp_path: Path
) -> None:
    """A full disk leaves it empty; the driver lays out anew what nobody has."""
    carried_out([], [])
    spool = spool_of(tmp_path)
    name = spool.put({})
    (spool.folder / "waiting" / f"{name}.json").write_bytes(b"")
    ended, lines = carried_out(tasks(tmp_path, 1), [succeed])
    assert ended == 0 and sum(isinstance(line.message, JobDone) for line in lines) == 1
    assert spool.waiting() == [] and spool.taken() == {}
