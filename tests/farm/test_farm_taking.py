"""Which deaths of a worker's process are its task's doing, with real processes."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from mimegen.farm import local
from mimegen.farm.declarations import Job
from mimegen.farm.executor import Lost, Message
from mimegen.farm.task import Task
from mimegen.shots.jobs import JobDone, JobFailed
from running import blender_processes


@dataclass(frozen=True)
class Chore:
    """A plain job that publishes a word, or takes its process down."""

    target: Path
    deadly: bool = False

    def run(self) -> None:
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        self.target.write_text("done")


def last_of(executor: local.LocalExecutor, task: Task) -> Message:
    """Return what is heard last of a task."""
    for _ in range(100):
        for heard in list(executor.events(0.5)):
            if heard.task is task and isinstance(heard.message, JobDone | JobFailed | Lost):
                return heard.message
    pytest.fail("the worker is silent")


def test_a_task_is_to_blame_for_a_death_only_where_the_worker_took_it(tmp_path: Path) -> None:
    """Whoever kills all workers at once charges no task that a dying one is handed."""
    first, never_taken, deadly = (
        Task(cast(Job, Chore(tmp_path / name, name == "deadly")), name)
        for name in ("first", "never taken", "deadly"))
    executor = local.LocalExecutor(["none"], 1)
    try:
        executor.submit(first)
        assert last_of(executor, first) == JobDone()
        process, = blender_processes(os.getpid())
        os.kill(process, signal.SIGSTOP)
        executor.submit(never_taken)
        os.kill(process, signal.SIGKILL)
        assert last_of(executor, never_taken) == Lost("its process died", blameless=True)
        executor.submit(deadly)
        assert last_of(executor, deadly) == Lost("its process died", blameless=False)
    finally:
        executor.close()
