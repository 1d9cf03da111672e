"""Slurm's commands to submit, list and cancel jobs."""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from mimegen.base.blender import environment
from mimegen.base.errors import RequestError
from mimegen.farm.settings import FarmSettings

ANSWER_S = 60.0  # timeout of Slurm's commands in seconds
_QUEUED = {"PENDING", "CONFIGURING", "REQUEUED"}
_WORKING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
# States of jobs that failed by themselves; all other endings are not their task's fault.
_FAILED = {"FAILED", "OUT_OF_MEMORY"}
# Reasons for waiting that will never go away.
_HOPELESS = {"PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "InvalidAccount",
             "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed", "JobHeldAdmin"}
# Slurm's words for arrays longer than its MaxArraySize, and for more jobs than a user may have.
_TOO_MANY = ("Invalid job array specification", "job submit limit")
_PASSING = ("Unable to contact slurm controller", "timed out", "try again", "temporarily")


@dataclass(frozen=True)
class Job:
    """Slurm's view of a job in an array: its state, its machine and the reason why it waits."""

    state: str
    node: str
    reason: str

    @property
    def works(self) -> bool:
        """Whether it may be working on a task."""
        return self.state in _WORKING

    @property
    def lives(self) -> bool:
        """Whether it is working or will."""
        return self.works or self.state in _QUEUED

    @property
    def held_back(self) -> bool:
        """Whether it has to wait for minutes, as Slurm imposes on jobs that it requeues."""
        return self.state in _QUEUED and self.reason == "BeginTime"

    @property
    def failed(self) -> bool:
        """Whether it ended by itself, instead of being ended."""
        return self.state in _FAILED

    @property
    def hopeless(self) -> bool:
        """Whether it waits for something that will never happen."""
        return self.reason in _HOPELESS

    @property
    def fate(self) -> str:
        """What happened to a job that was believed to be working."""
        return "requeued" if self.state in _QUEUED else self.state


GONE = Job("gone", "a machine", "")


@dataclass(frozen=True)
class SlurmQueue:
    """The jobs with one name, read from Slurm's queue; not every cluster keeps accounts."""

    name: str
    settings: FarmSettings

    def jobs(self) -> dict[str, Job] | None:
        """Return the jobs of arrays, also recently ended ones; None if Slurm does not answer."""
        output = asked("squeue", "--noheader", "--array", "--states=all", f"--name={self.name}",
                     "--format=%i|%T|%N|%r")
        if output.returncode:
            return None
        rows = [line.split("|") for line in output.stdout.splitlines() if "_" in line.split("|")[0]]
        return {number: Job(state, node or "no machine yet", reason)
                for number, state, node, reason in rows}

    def see_that_it_answers(self) -> None:
        """Raise RequestError if Slurm is not installed or does not answer."""
        output = asked("sinfo", "--noheader", "--format=%P")
        if output.returncode:
            raise RequestError(f"Slurm does not answer: {' '.join(output.stderr.split())[:300]}")

    def submit(self, command: Sequence[str], options: Sequence[str]) -> str | None:
        """Return the number of a new job or array; None if Slurm is temporarily unavailable.

        Raises RequestError with Slurm's message if it refuses.
        """
        output = asked("sbatch", "--parsable", *self.options(options), script=self.script(command))
        if output.returncode == 0:
            return output.stdout.strip().partition(";")[0]
        if any(words in output.stderr for words in _PASSING):
            return None
        why = ' '.join(output.stderr.split())[:300]
        hint = "; give fewer --workers" if any(words in why for words in _TOO_MANY) else ""
        raise RequestError(f"Slurm refuses the jobs: {why}{hint}")

    def options(self, more: Sequence[str]) -> list[str]:
        """Return all options of sbatch for a job; ``more`` come before the user's own."""
        return [f"--job-name={self.name}", "--nodes=1", "--ntasks=1", *self._place(), *more,
                *self.settings.slurm_options]

    def script(self, command: Sequence[str]) -> str:
        """Return the batch script that runs a command."""
        return "\n".join(["#!/bin/bash", *self.settings.slurm_setup,
                          f"exec {shlex.join(command)}", ""])

    def cancel(self, numbers: Sequence[str]) -> None:
        """Cancel jobs at once."""
        if numbers:
            asked("scancel", *numbers)

    def _place(self) -> list[str]:
        options = {name: getattr(self.settings, f"slurm_{name}")
                for name in ("partition", "account", "time")}
        return [f"--{name}={value}" for name, value in options.items() if value is not None]


def asked(*command: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands. Raises RequestError if it is not installed."""
    try:
        return subprocess.run(command, input=script, capture_output=True, text=True,
                              timeout=ANSWER_S, env=environment())
    except FileNotFoundError:
        raise RequestError(f"--farm slurm: {command[0]} is not installed here; run mimegen on a"
                           " machine that submits jobs") from None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "timed out")
