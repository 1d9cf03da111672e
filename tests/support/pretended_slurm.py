"""A Slurm that answers as a test wants, tasks for it, and jobs that do them."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.paths import data_folder
from mimegen.farm import slurm, slurmqueue
from mimegen.farm.executor import Begun, WorkerReport
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurm import SlurmExecutor
from mimegen.farm.spool import JobMessage, Spool
from mimegen.farm.task import Task
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FrameDone, JobDone, ShotJob

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)


class PretendedSlurm:
    """Answers Slurm's commands; its jobs run on request, by ``work``."""

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []
        self.scripts: list[str] = []
        self.jobs: dict[str, list[str]] = {}
        self.refusal: tuple[str, str] | None = None

    def __call__(self, *command: str, script: str | None = None
                 ) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if self.refusal is not None and self.refusal[0] == command[0]:
            return subprocess.CompletedProcess(command, 1, "", self.refusal[1])
        answer = getattr(self, command[0])(command, script)
        return subprocess.CompletedProcess(command, 0, answer, "")

    def sinfo(self, command: tuple[str, ...], script: str | None) -> str:
        return "cpu*\n"

    def sbatch(self, command: tuple[str, ...], script: str | None) -> str:
        number = str(len(self.scripts) + 1)
        self.scripts.append(script or "")
        sizes = [int(word.rpartition("-")[2]) + 1 for word in command if "--array" in word]
        for element in range(sizes[0] if sizes else 0):
            self.jobs[f"{number}_{element}"] = ["PENDING", "", "Priority"]
        return f"{number};cluster\n"

    def squeue(self, command: tuple[str, ...], script: str | None) -> str:
        return "".join(f"{number}|{'|'.join(job)}\n" for number, job in self.jobs.items()) \
            + "99|PENDING||Dependency\n"

    def scancel(self, command: tuple[str, ...], script: str | None) -> str:
        for number in command[1:]:
            self.jobs[number][0] = "CANCELLED"
        return ""

    def start(self, number: str, node: str = "node1") -> str:
        self.jobs[number] = ["RUNNING", node, "None"]
        return number

    def asked(self, name: str) -> list[tuple[str, ...]]:
        return [command for command in self.commands if command[0] == name]


def pretend(monkeypatch: pytest.MonkeyPatch) -> PretendedSlurm:
    """Put one in the place of Slurm's commands; drivers ask it all the time."""
    found = PretendedSlurm()
    monkeypatch.setattr(slurmqueue, "asked", found)
    monkeypatch.setattr(slurm, "POLL_INTERVAL_S", 0.0)
    monkeypatch.setattr(slurm, "RECEIVE_EVERY_S", 0.0)
    return found


def executor(folder: Path, device: str = "cpu", **settings: Any) -> SlurmExecutor:
    return SlurmExecutor(folder / "out", folder / "store",
                         FarmSettings(farm="slurm", **settings), device, print)


def tasks(folder: Path, count: int, frames: int = 2) -> list[Task]:
    root = (folder / "store").resolve()
    return [Task(ShotJob((), (CAMERA,), CONFIG, (root / "shots" / f"s{number}",),
                         np.ones((frames, 1), bool)), f"task {number}")
            for number in range(count)]


def spool_of(folder: Path) -> Spool:
    found, = [path for path in (folder / "out" / "slurm").iterdir() if path.is_dir()]
    return Spool(found)


def heard(jobs: SlurmExecutor, rounds: int = 3) -> list[WorkerReport]:
    return [heard for _ in range(rounds) for heard in jobs.events(0)]


def publish_frames(task: Task) -> None:
    assert isinstance(task.job, ShotJob)
    for frame in range(len(task.job.missing)):
        path = task.job.frame_file(frame, 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"frame")


def do_one(spool: Spool, job: str, by_name: dict[str, Task]) -> None:
    """Be a job that does a task."""
    name = spool.take(job)
    assert name is not None
    content = spool.content(name)
    assert content is not None
    spool.send(JobMessage(job, f"node1 job {job}", name, Begun()))
    publish_frames(by_name[content["title"]])
    spool.send(JobMessage(job, f"node1 job {job}", name, FrameDone(0, 1, 0.5)))
    assert spool.done(name, job)
    spool.send(JobMessage(job, f"node1 job {job}", name, JobDone()))
