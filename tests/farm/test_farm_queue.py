"""Slurm's commands word for word, and what their answers mean; the folder of tasks."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mimegen.base.errors import RequestError
from mimegen.farm import slurmqueue
from mimegen.farm.executor import Begun, Unfit
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurmqueue import GONE, Job, SlurmQueue, asked
from mimegen.farm.spool import PLAIN, JobMessage, Spool
from mimegen.shots.jobs import JobDone


class Answers:
    """Notes Slurm's commands and answers all alike."""

    def __init__(self) -> None:
        self.status, self.output, self.errors = 0, "", ""
        self.commands: list[tuple[str, ...]] = []
        self.script: str | None = None

    def __call__(self, *command: str, script: str | None = None
                 ) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        self.script = script
        return subprocess.CompletedProcess(command, self.status, self.output, self.errors)


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    answers = Answers()
    monkeypatch.setattr(slurmqueue, "asked", answers)
    yield answers


def queue(**settings: object) -> SlurmQueue:
    return SlurmQueue("mimegen-ab", FarmSettings.model_validate({"farm": "slurm"} | settings))


def test_jobs_of_arrays_are_read_and_no_others(slurm: Answers) -> None:
    slurm.output = ("7_0|RUNNING|node1|None\n7_1|PENDING||Priority\n8|OUT_OF_MEMORY|node_2|None\n"
                    "9_3|OUT_OF_MEMORY|node2|None\n")
    assert queue().jobs() == {
        "7_0": Job("RUNNING", "node1", "None"), "9_3": Job("OUT_OF_MEMORY", "node2", "None"),
        "7_1": Job("PENDING", "no machine yet", "Priority")}
    assert slurm.commands == [("squeue", "--noheader", "--array", "--states=all",
                               "--name=mimegen-ab", "--format=%i|%T|%N|%r")]
    slurm.status = 1
    assert queue().jobs() is None


def test_slurm_is_asked_whether_it_is_there(slurm: Answers) -> None:
    queue().see_that_it_answers()
    assert slurm.commands == [("sinfo", "--noheader", "--format=%P")]
    slurm.status, slurm.errors = 1, "no\n  controller " + 400 * "x"
    with pytest.raises(RequestError) as refused:
        queue().see_that_it_answers()
    told = str(refused.value)
    assert told == f"Slurm does not answer: no controller {286 * 'x'}" and "\n" not in told


def test_a_job_is_submitted_with_all_that_was_asked(slurm: Answers) -> None:
    slurm.output = "42;cluster\n"
    settings = {"slurm_partition": "gpu", "slurm_time": "4:00:00", "slurm_setup": ("a b", "c"),
                "slurm_options": ("--mem=4G",)}
    assert queue(**settings).submit(["run", "two words"], ["--array=0-3"]) == "42"
    assert slurm.commands == [(
        "sbatch", "--parsable", "--job-name=mimegen-ab", "--nodes=1", "--ntasks=1",
        "--partition=gpu", "--time=4:00:00", "--array=0-3", "--mem=4G")]
    assert slurm.script == "#!/bin/bash\na b\nc\nexec run 'two words'\n"


@pytest.mark.parametrize(("words", "passes"), [
    ("sbatch: error: Unable to contact slurm controller (connect failure)", True),
    ("timed out", True), ("Resource unavailable, try again later", True),
    ("Slurm temporarily unable to accept job, sleeping", True), ("invalid partition", False)])
def test_a_refusal_is_told_from_a_controller_that_does_not_answer(
    slurm: Answers, words: str, passes: bool
) -> None:
    slurm.status, slurm.errors = 1, words
    if passes:
        assert queue().submit(["run"], []) is None
    else:
        with pytest.raises(RequestError, match=f"^Slurm refuses the jobs: {words}$"):
            queue().submit(["run"], [])


def test_only_what_there_is_is_cancelled(slurm: Answers) -> None:
    queue().cancel([])
    assert not slurm.commands
    queue().cancel(["1_0", "1_2"])
    assert slurm.commands == [("scancel", "1_0", "1_2")]


@pytest.mark.parametrize(("state", "reason", "told"), [
    ("RUNNING", "None", "works lives"), ("COMPLETING", "None", "works lives"),
    ("SUSPENDED", "None", "works lives"), ("STOPPED", "None", "works lives"),
    ("SIGNALING", "None", "works lives"), ("STAGE_OUT", "None", "works lives"),
    ("RESIZING", "None", "works lives"),
    ("PENDING", "Priority", "lives requeued"), ("CONFIGURING", "None", "lives requeued"),
    ("REQUEUED", "None", "lives requeued"),
    ("PENDING", "BeginTime", "lives held_back requeued"),
    ("RUNNING", "BeginTime", "works lives"),
    ("PENDING", "PartitionTimeLimit", "lives hopeless requeued"),
    ("PENDING", "QOSNotAllowed", "lives hopeless requeued"),
    ("FAILED", "NonZeroExitCode", "failed"), ("OUT_OF_MEMORY", "None", "failed"),
    ("CANCELLED", "None", ""), ("TIMEOUT", "None", ""), ("NODE_FAIL", "None", ""),
    ("PREEMPTED", "None", ""), ("COMPLETED", "None", ""),
])
def test_what_a_state_means(state: str, reason: str, told: str) -> None:
    job = Job(state, "node1", reason)
    found = [name for name in ("works", "lives", "held_back", "failed", "hopeless")
             if getattr(job, name)]
    assert found == [word for word in told.split() if word != "requeued"]
    assert job.fate == ("requeued" if "requeued" in told else state)


@pytest.mark.parametrize("reason", [
    "PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "InvalidAccount", "InvalidQOS",
    "AccountNotAllowed", "QOSNotAllowed", "JobHeldAdmin"])
def test_what_a_job_waits_for_in_vain(reason: str) -> None:
    assert Job("PENDING", "", reason).hopeless and not Job("PENDING", "", "Resources").hopeless


def test_a_job_that_slurm_forgot_does_nothing_more() -> None:
    assert not GONE.lives and not GONE.failed and (GONE.fate, GONE.node) == ("gone", "a machine")


def test_commands_are_run_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = asked("sh", "-c", "cat; echo $0 >&2; exit 3", "word", script="on its way in")
    assert (told.returncode, told.stdout, told.stderr) == (3, "on its way in", "word\n")
    with pytest.raises(RequestError, match="no-such-command is not installed here; run"):
        asked("no-such-command")
    monkeypatch.setattr(slurmqueue, "ANSWER_S", 0.05)
    told = asked("sleep", "5")
    assert told.returncode and told.stderr == "timed out"


# The folder of tasks.


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    made = Spool(tmp_path / "spool")
    assert not made.is_available
    made.make()
    made.make()
    assert made.is_available
    return made


def test_tasks_are_taken_in_order_and_each_kind_apart(spool: Spool) -> None:
    first, second = spool.put({"number": 1}), spool.put({"number": 2})
    plain = spool.put({"number": 3}, plain=True)
    assert plain.endswith(PLAIN) and spool.waiting() == [first, second, plain]
    assert spool.take("1_0", plain=True) == plain and spool.take("1_0", plain=True) is None
    assert spool.take("1_0") == first and spool.take("1_1") == second
    assert spool.take("1_0") is None and spool.waiting() == []
    assert spool.taken() == {first: "1_0", second: "1_1", plain: "1_0"}
    assert spool.content(second) == {"number": 2}


def test_tasks_of_one_moment_keep_their_order(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 7)
    names = [spool.put({"number": number}) for number in range(12)]
    assert spool.waiting() == names and len(set(names)) == 12


def test_what_is_given_back_waits_again(spool: Spool) -> None:
    names = [spool.put({}) for _ in range(4)]
    for job in ("1_0", "1_0", "1_0", "1_1"):
        spool.take(job)
    spool.give_back("1_0", names[1])
    assert spool.waiting() == [names[1]]
    spool.give_back("1_0")
    assert spool.waiting() == names[:3] and spool.taken() == {names[3]: "1_1"}


def test_a_task_ends_with_who_has_it(spool: Spool) -> None:
    name = spool.put({"number": 1})
    assert not spool.done(name, "1_0")
    assert spool.take("1_0") == name
    assert not spool.withdraw(name) and not spool.done(name, "1_1")
    assert spool.done(name, "1_0") and not spool.done(name, "1_0")
    other = spool.put({})
    assert spool.withdraw(other) and not spool.withdraw(other) and spool.waiting() == []


def test_what_several_jobs_say_is_heard_once_and_in_their_order(spool: Spool) -> None:
    assert list(spool.receive()) == [] and not spool.has_messages("1_0")
    lines = [JobMessage("1_0", "worker 1", "t", Begun()),
             JobMessage("1_0", "worker 1", "t", JobDone()),
             JobMessage("1_1", "worker ü", None, Unfit("no light"))]
    spool.send(lines[2])
    spool.send(lines[0])
    assert list(spool.receive()) == [lines[0], lines[2]]
    spool.send(lines[1])
    assert list(spool.receive()) == [lines[1]] and list(spool.receive()) == []
    assert list(Spool(spool.folder).receive()) == lines
    assert spool.has_messages("1_0") and not spool.has_messages("1_2")


def test_whether_more_will_come_is_said_and_taken_back(spool: Spool) -> None:
    assert not spool.complete
    spool.complete = False
    spool.complete = True
    assert Spool(spool.folder).complete
    spool.complete = False
    assert not spool.complete
