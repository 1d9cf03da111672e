"""The jobs of Slurm as their driver sees them; Slurm's commands are replaced, nothing else is."""

import re
import shlex
import sys
from contextlib import closing
from pathlib import Path

import pytest

from mimegen.base.errors import RequestError
from mimegen.farm import slurm
from mimegen.farm.dispatch import Event, TaskDone, TaskFailed, run_tasks
from mimegen.farm.executor import Begun, Lost, Unfit
from mimegen.farm.pilot import Orders
from mimegen.farm.remote import version
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurm import SlurmExecutor
from mimegen.farm.spool import JobMessage
from mimegen.shots.jobs import JobDone
from pretended_slurm import (
    PretendedSlurm,
    do_one,
    executor,
    heard,
    pretend,
    publish_frames,
    spool_of,
    tasks,
)

ENDS_SOON = 200


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> PretendedSlurm:
    return pretend(monkeypatch)


def test_an_array_is_as_large_as_there_are_tasks_and_all_are_done(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    todo = tasks(tmp_path, 5)
    by_name = {task.title: task for task in todo}
    events: list[Event] = []
    settings = FarmSettings(farm="slurm", slurm_partition="gpu", slurm_account="lab",
                            slurm_time="4:00:00", slurm_setup=("module load cuda",),
                            slurm_options=("--mem=4G",))
    for event in run_tasks(todo, lambda: SlurmExecutor(tmp_path / "out", tmp_path / "store",
                                                       settings, "cpu", print)):
        if event is not None:
            events.append(event)
        assert len(events) < ENDS_SOON
        for number, job in list(pretended.jobs.items()):
            if job[0] in ("PENDING", "RUNNING") and spool_of(tmp_path).waiting():
                do_one(spool_of(tmp_path), pretended.start(number), by_name)
    assert sorted(event.task.title for event in events if isinstance(event, TaskDone)) \
        == [f"task {number}" for number in range(5)]
    submitted, = pretended.asked("sbatch")
    assert {"--array=0-4", "--partition=gpu", "--account=lab", "--time=4:00:00", "--mem=4G",
            "--cpus-per-task=1", "--requeue"} <= set(submitted)
    assert not any("--gres" in word for word in submitted)
    assert pretended.scripts[0].splitlines()[:2] == ["#!/bin/bash", "module load cuda"]
    assert pretended.scripts[0].splitlines()[2].startswith("exec ")
    assert {job[0] for job in pretended.jobs.values()} == {"CANCELLED"}
    assert not [path for path in (tmp_path / "out" / "slurm").iterdir() if path.is_dir()]


@pytest.mark.parametrize(("state", "blameless", "fate"), [
    ("CANCELLED", True, "CANCELLED"), ("TIMEOUT", True, "TIMEOUT"), ("NODE_FAIL", True,
    "NODE_FAIL"), ("PENDING", True, "requeued"), ("OUT_OF_MEMORY", False, "OUT_OF_MEMORY"),
    ("FAILED", False, "FAILED"),
])
def test_the_task_of_a_job_that_ended_is_lost_and_the_job_named(
    pretended: PretendedSlurm, tmp_path: Path, state: str, blameless: bool, fate: str
) -> None:
    with closing(executor(tmp_path)) as jobs:
        for task in tasks(tmp_path, 2):
            jobs.submit(task)
        heard(jobs)
        spool = spool_of(tmp_path)
        name = spool.take(pretended.start("1_0"))
        spool.send(JobMessage("1_0", "node1 job 1_0", name, Begun()))
        assert [type(said.message) for said in heard(jobs)] == [Begun]
        pretended.jobs["1_0"] = [state, "node1", "None"]
        lost, = heard(jobs)
        assert isinstance(lost.message, Lost) and lost.task is not None
        assert lost.task.title == "task 0" and lost.message.blameless is blameless
        log = (tmp_path / "out" / "logs" / "slurm-1_0.txt").resolve()
        assert lost.message.why == f"job 1_0 on node1: {fate}; its log is {log}"
        assert spool.taken() == {} and len(spool.waiting()) == 1


def test_a_task_that_a_requeued_job_gave_back_is_not_lost(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        spool = spool_of(tmp_path)
        spool.take(pretended.start("1_0"))
        heard(jobs)
        spool.give_back("1_0")
        assert heard(jobs) == []
        assert len(spool.waiting()) == 1


def test_for_a_requeued_job_that_slurm_holds_back_another_begins(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        pretended.jobs["1_0"] = ["PENDING", "", "BeginTime"]
        heard(jobs)
        assert set(pretended.jobs) == {"1_0", "2_0"}
    assert {job[0] for job in pretended.jobs.values()} == {"CANCELLED"}


def test_a_job_that_is_gone_is_replaced(pretended: PretendedSlurm, tmp_path: Path) -> None:
    with closing(executor(tmp_path)) as jobs:
        for task in tasks(tmp_path, 3):
            jobs.submit(task)
        heard(jobs)
        assert len(pretended.jobs) == 3
        pretended.jobs["1_1"][0] = "CANCELLED"
        heard(jobs)
        assert set(pretended.jobs) == {"1_0", "1_1", "1_2", "2_0"}


def test_while_slurm_does_not_answer_nothing_is_lost(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        spool_of(tmp_path).take("7_0")
        pretended.refusal = ("squeue", "Unable to contact slurm controller")
        assert heard(jobs, 5) == []
        pretended.refusal = None
        assert isinstance(heard(jobs)[0].message, Lost)


def test_submissions_wait_for_a_slurm_that_does_not_answer(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        pretended.refusal = ("sbatch", "Unable to contact slurm controller (connect failure)")
        assert heard(jobs) == [] and pretended.jobs == {}
        pretended.refusal = None
        heard(jobs)
        assert list(pretended.jobs) == ["1_0"]


@pytest.mark.parametrize(("refusal", "words"), [
    (("sinfo", "no controller"), "Slurm does not answer: no controller"),
    (("sbatch", "invalid partition specified: gpus"), "refuses the jobs: invalid partition"),
    (("sbatch", "Invalid job array specification"), "specification; give fewer --workers"),
])
def test_what_slurm_refuses_is_said_in_its_words(
    pretended: PretendedSlurm, tmp_path: Path, refusal: tuple[str, str], words: str
) -> None:
    pretended.refusal = refusal
    with pytest.raises(RequestError, match=words):
        list(run_tasks(tasks(tmp_path, 1), lambda: executor(tmp_path)))


def test_jobs_that_would_wait_for_ever_are_said(pretended: PretendedSlurm, tmp_path: Path) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        pretended.jobs["1_0"][2] = "PartitionTimeLimit"
        with pytest.raises(RequestError, match=r"never starts the jobs: PartitionTimeLimit"):
            heard(jobs)
    assert pretended.jobs["1_0"][0] == "CANCELLED"


def test_machines_that_do_not_see_the_folder_are_left_out_one_after_the_other(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs, 1)
        for number in (1, 2):
            pretended.jobs[f"{number}_0"] = ["FAILED", f"node{number}", "NonZeroExitCode"]
            heard(jobs, 1)
        assert "--exclude=node1,node2" in pretended.asked("sbatch")[2]
        pretended.jobs["3_0"] = ["FAILED", "node3", "NonZeroExitCode"]
        with pytest.raises(RequestError, match=r"job 3_0 on node3 ended before it took a task"):
            heard(jobs, 1)


def test_a_machine_whose_gpu_does_not_start_is_left_out_with_its_drivers_words(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path, "cuda")) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        assert "--gres=gpu:1" in pretended.asked("sbatch")[0]
        unfit = Unfit("node1 is left out: CUDA driver version is insufficient")
        spool_of(tmp_path).send(JobMessage("1_0", "node1 job 1_0", None, unfit))
        pretended.jobs["1_0"] = ["FAILED", "node1", "NonZeroExitCode"]
        assert [said.message for said in heard(jobs)] == [unfit]
        assert "--exclude=node1" in pretended.asked("sbatch")[1]
        pretended.jobs["2_0"][0] = "CANCELLED"
        pretended.refusal = ("sbatch", "Requested node configuration is not available")
        with pytest.raises(RequestError, match=r"no Slurm job starts.*version is insufficient"):
            heard(jobs)


def test_a_task_that_hangs_is_taken_from_its_job(pretended: PretendedSlurm, tmp_path: Path) -> None:
    with closing(executor(tmp_path)) as jobs:
        hanging, other = tasks(tmp_path, 2)
        jobs.submit(hanging)
        jobs.submit(other)
        heard(jobs)
        spool_of(tmp_path).take(pretended.start("1_0"))
        jobs.abandon(hanging, "nothing was heard")
        assert pretended.jobs["1_0"][0] == "CANCELLED"
        lost, = heard(jobs)
        assert lost.task is hanging and lost.message == Lost("nothing was heard")


def test_what_a_killed_driver_left_is_found_again_and_not_submitted_twice(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    """The first driver vanishes without close; a third of its tasks is done meanwhile."""
    todo = tasks(tmp_path, 3)
    by_name = {task.title: task for task in todo}
    first = executor(tmp_path)
    for task in todo:
        first.submit(task)
    heard(first)
    do_one(spool_of(tmp_path), pretended.start("1_0"), by_name)
    at_work = spool_of(tmp_path).take(pretended.start("1_1"))
    first._lock.close()
    again = executor(tmp_path)
    assert [task.title for task in again.adopted] == ["task 1", "task 2"]
    events = []
    left = [rest for task in tasks(tmp_path, 3) if (rest := task.remaining()) is not None]
    for event in run_tasks(left, lambda: again):
        events.append(event)
        assert len(events) < ENDS_SOON
        if len(events) == 1:
            publish_frames(by_name["task 1"])
            spool = spool_of(tmp_path)
            assert at_work is not None and spool.done(at_work, "1_1")
            spool.send(JobMessage("1_1", "node1 job 1_1", at_work, JobDone()))
            do_one(spool, "1_0", by_name)
    done = [event.task.title for event in events if isinstance(event, TaskDone)]
    assert sorted(done) == ["task 1", "task 2"]
    assert len(pretended.asked("sbatch")) == 1


def test_leaving_lets_the_jobs_go_on_and_one_more_begin_after_them(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    with closing(executor(tmp_path)) as jobs:
        for task in tasks(tmp_path, 2):
            jobs.submit(task)
        assert jobs.leave(["mimegen", "render", "--action", "a b"]) == "2"
    array, last = pretended.asked("sbatch")
    assert "--array=0-1" in array and "--dependency=afterany:1" in last
    assert pretended.scripts[1].splitlines()[-1] == "exec mimegen render --action 'a b'"
    assert not pretended.asked("scancel")
    assert spool_of(tmp_path).complete and len(spool_of(tmp_path).waiting()) == 2


def test_half_a_gpu_is_refused(pretended: PretendedSlurm, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="whole GPUs"):
        executor(tmp_path, "cuda", gpus_per_task=0.5)


@pytest.mark.parametrize(("device", "gpus", "cpus", "expected"), [
    ("cuda", 2, 8, (("cuda:0", "cuda:1", *("none",) * 4), 0)),
    ("cpu", 0, 3, (("cpu",) * 3, 1)),
    ("cpu", 0, 32, (("cpu",) * 8, 4)),
    ("opengl", 1, 2, (("opengl",) * 2, 1)),
])
def test_a_job_has_a_worker_for_each_gpu_or_processor(
    device: str, gpus: int, cpus: int, expected: tuple[tuple[str, ...], int]
) -> None:
    orders = Orders("/spool", "/store", device, gpus, cpus)
    assert orders.seats() == expected and Orders.read(orders.text()) == orders


def test_jobs_are_told_all_that_they_need(pretended: PretendedSlurm, tmp_path: Path) -> None:
    with closing(executor(tmp_path, "cuda", cpus_per_task=3, gpus_per_task=2)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        command = shlex.split(pretended.scripts[0].splitlines()[-1])
        assert command[1:4] == [sys.executable, "-m", "mimegen.farm.pilot"]
        out, root = (tmp_path / "out").resolve(), (tmp_path / "store").resolve()
        assert Orders.read(command[4]) == Orders(
            str(spool_of(tmp_path).folder.resolve()), str(root), "cuda", 2, 3, version())
        assert re.fullmatch("mimegen-[0-9a-f]{12}", jobs.name)
        assert set(pretended.asked("sbatch")[0]) == {
            "sbatch", "--parsable", f"--job-name={jobs.name}", "--nodes=1", "--ntasks=1",
            "--array=0-0", "--cpus-per-task=3", "--gres=gpu:2", "--open-mode=append", "--requeue",
            f"--output={out}/logs/slurm-%A_%a.txt"}
        assert (out / "logs").is_dir()
    (tmp_path / "other").mkdir()
    with closing(executor(tmp_path / "other")) as others:
        assert others.name != jobs.name


def test_jobs_have_the_next_tasks_at_hand_and_no_more(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    todo = tasks(tmp_path, 40)
    with closing(executor(tmp_path, cpus_per_task=2)) as jobs:
        assert jobs.slots == jobs.plain_slots == slurm.AT_ONCE == 16
        for number, task in enumerate(todo[:16]):
            assert jobs.slots == 16 - number
            jobs.submit(task)
        assert jobs.slots == 0
        list(jobs.events(0))
        assert jobs.slots == 16
    (tmp_path / "few").mkdir()
    with closing(executor(tmp_path / "few", workers=2, cpus_per_task=3)) as jobs:
        assert jobs.slots == 2 * 2 * 3
        for task in tasks(tmp_path / "few", 12):
            jobs.submit(task)
        list(jobs.events(0))
        assert jobs.slots == 0 and len(pretended.asked("sbatch")) == 2
        assert "--array=0-1" in pretended.asked("sbatch")[1]


def test_so_many_jobs_as_one_array_does_not_hold_are_several(
    pretended: PretendedSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "MAX_ARRAY", 3)
    with closing(executor(tmp_path)) as jobs:
        for task in tasks(tmp_path, 7):
            jobs.submit(task)
        heard(jobs)
    assert [word for command in pretended.asked("sbatch") for word in command
            if "--array" in word] == ["--array=0-2", "--array=0-2", "--array=0-0"]


def test_a_task_that_nobody_has_any_more_is_lost_at_the_second_look(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    """Between two renamings a task may be in neither folder for a moment."""
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        heard(jobs)
        spool = spool_of(tmp_path)
        name, = spool.waiting()
        spool.withdraw(name)
        assert heard(jobs, 1) == []
        lost, = heard(jobs, 1)
        assert isinstance(lost.message, Lost) and lost.message.blameless
        assert lost.message.why.startswith("job ? on a machine: gone; its log is ")
        assert heard(jobs) == []


def test_slurm_is_not_asked_all_the_time(
    pretended: PretendedSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "POLL_INTERVAL_S", 100.0)
    monkeypatch.setattr(slurm, "RECEIVE_EVERY_S", 100.0)
    with closing(executor(tmp_path)) as jobs:
        jobs.submit(tasks(tmp_path, 1)[0])
        assert heard(jobs, 5) == [] and len(pretended.asked("squeue")) == 1
        heard(jobs, 1)
        list(jobs.events(0.05))
        assert len(pretended.asked("squeue")) == 1


def test_a_task_that_is_always_lost_fails_in_the_end(
    pretended: PretendedSlurm, tmp_path: Path
) -> None:
    """A time limit that is too short for a single frame is no endless loop."""
    failed: list[TaskFailed] = []
    for rounds, event in enumerate(run_tasks(tasks(tmp_path, 1), lambda: executor(tmp_path))):
        if isinstance(event, TaskFailed):
            failed.append(event)
        for number, job in list(pretended.jobs.items()):
            if job[0] == "PENDING" and spool_of(tmp_path).take(pretended.start(number)):
                pretended.jobs[number][0] = "TIMEOUT"
        assert rounds < ENDS_SOON
    assert len(failed) == 1 and "TIMEOUT; its log is" in failed[0].why
