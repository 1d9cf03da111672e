"""Workers in Slurm jobs: job arrays take tasks from a folder that all machines see."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

from mimegen.base.errors import RequestError
from mimegen.base.locks import locked
from mimegen.farm.executor import Begun, Lost, Unfit, WorkerReport
from mimegen.farm.settings import FarmSettings
from mimegen.farm.slurmarray import MAX_ARRAY, SlurmArray
from mimegen.farm.slurmqueue import GONE, Job
from mimegen.farm.spool import JobMessage, Spool
from mimegen.farm.task import Task, task_from_json, task_to_json
from mimegen.shots.jobs import JobDone, JobFailed

# Seconds between two queries of Slurm's controller, which serves other users too.
POLL_INTERVAL_S = 5.0
RECEIVE_EVERY_S = 1.0  # seconds between two readings of the jobs' messages
# Tasks submitted at once, so that messages of jobs are read between the castings drawn.
AT_ONCE = 16
# If jobs on this many machines end before they took a task, and no job works, the cause is not
# chance.
MAX_FAILED_MACHINES = 3


@dataclass
class _FailedStarts:
    """This driver's jobs that failed before they took a task, and why their machines are unfit."""

    arrays: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    unfit: dict[str, str] = field(default_factory=dict)
    machines: dict[str, str] = field(default_factory=dict)

    def new(self, jobs: dict[str, Job]) -> list[str]:
        """Return the jobs of our arrays that have failed since the last call."""
        failed = {number for number, job in jobs.items()
                  if job.failed and number.partition("_")[0] in self.arrays}
        new = failed - self.judged
        self.judged |= failed
        return sorted(new)

    def add(self, number: str, job: Job, why: str | None) -> None:
        """Exclude the machine of a job that reported itself unfit, or failed because of ``why``."""
        why = self.unfit.get(number, why)
        if why is not None:
            self.machines[job.node] = why

    def error(self) -> RequestError:
        """Return the error to raise if no machine is left."""
        last = list(self.machines.values())[-1]
        return RequestError(f"no Slurm job starts work: {last}")


class SlurmExecutor:
    """Slurm jobs that take tasks; see ``Executor``.

    A killed driver leaves its jobs running, and the next driver with the same folders adopts them.
    Only one driver at a time controls them; others wait.
    """

    def __init__(self, out: Path, root: Path, settings: FarmSettings, device: str,
                 say: Callable[[str], None]) -> None:
        """Control the jobs of ``out``, whose tasks belong to the store at ``root``.

        Raises RequestError if Slurm does not answer.
        """
        self._root, self._array = root.resolve(), SlurmArray.of(out, root, settings, device)
        self._logs, self._queue = self._array.logs, self._array.queue
        self.name, self._spool = self._queue.name, Spool(self._array.folder)
        self._queue.see_that_it_answers()
        self._lock = ExitStack()
        self._lock.enter_context(locked(self._array.folder, on_wait=lambda: say(
            f"another mimegen render leads the jobs of {out}; this one goes on when it ends")))
        self._room, self._left = AT_ONCE, False
        self._checked_at = self._heard_at = float("-inf")
        self._failed_starts, self._missed = _FailedStarts(), set[str]()
        self._out: dict[str, Task] = {}
        self._pending: list[WorkerReport] = []
        self._adopt()

    @property
    def adopted(self) -> Sequence[Task]:
        """Tasks of an earlier driver that are waiting or running."""
        return self._adopted

    @property
    def slots(self) -> int:
        """How many more tasks can be submitted: jobs should always have next tasks waiting."""
        most = 2 * self._array.most_jobs * self._array.seats
        return max(0, min(self._room, most - len(self._out)))

    @property
    def plain_slots(self) -> int:
        """The same as ``slots``: jobs do both kinds of tasks."""
        return self.slots

    def submit(self, task: Task) -> None:
        """Put a task into the spool for the jobs."""
        self._room -= 1
        self._out[self._spool.put(task_to_json(task, self._root), task.needs_no_engine)] = task

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        """Yield new messages, and losses of tasks whose jobs are gone.

        Raises RequestError if Slurm refuses jobs or none of them ever starts work.
        """
        self._room = AT_ONCE
        now, pending = time.monotonic(), self._pending
        self._pending = []
        yield from pending
        if now - self._heard_at >= RECEIVE_EVERY_S:
            self._heard_at = now
            yield from self._receive()
        if now - self._checked_at >= POLL_INTERVAL_S:
            self._checked_at = now
            yield from self._look()
        elif not pending:
            time.sleep(timeout)

    def abandon(self, task: Task, why: str) -> None:
        """Take a task back and cancel the job that has it."""
        name = next(name for name, known in self._out.items() if known is task)
        holder = self._spool.taken().get(name)
        if not self._spool.withdraw(name) and holder is not None:
            self._spool.done(name, holder)
            self._queue.cancel([holder])
        del self._out[name]
        self._pending.append(WorkerReport(f"job {holder}", Lost(why), task))

    def leave(self, command: Sequence[str]) -> str:
        """Leave all tasks to the jobs; run ``command`` in another job after they have ended.

        Returns that job's number. Raises RequestError if Slurm refuses the jobs.
        """
        self._spool.complete = True
        self._start_jobs(self._queue.jobs() or {})
        arrays = sorted({number.partition("_")[0] for number in self._live()})
        number = self._queue.submit(command, [
            f"--output={self._logs}/slurm-%j.txt", f"--cpus-per-task={self._array.orders.cpus}",
            *([f"--dependency=afterany:{':'.join(arrays)}"] if arrays else [])])
        if number is None:
            raise RequestError("Slurm does not answer just now; run the same command again")
        self._left = True
        return number

    def close(self) -> None:
        """Cancel all jobs, unless ``leave`` was called."""
        if not self._left:
            self._queue.cancel(self._live())
            rmtree(self._spool.folder, ignore_errors=True)
        self._lock.close()

    def _live(self) -> list[str]:
        return [number for number, job in (self._queue.jobs() or {}).items() if job.lives]

    def _adopt(self) -> None:
        """Adopt the tasks that an earlier driver left waiting or running."""
        self._logs.mkdir(parents=True, exist_ok=True)
        self._spool.make()
        self._spool.complete = False
        for _ in self._spool.receive():
            pass
        taken = self._spool.taken()
        for name in sorted({*self._spool.waiting(), *taken}):
            content = self._spool.content(name)
            if content is not None:
                self._out[name] = task_from_json(content, self._root)
        self._adopted = tuple(self._out.values())
        self._pending = [WorkerReport(f"job {job}", Begun(), self._out[name])
                         for name, job in taken.items() if name in self._out]

    def _receive(self) -> Iterator[WorkerReport]:
        for line in self._spool.receive():
            if line.task is None or line.task in self._out:
                yield self._report(line)

    def _report(self, line: JobMessage) -> WorkerReport:
        """Return a job's message, and note tasks that have ended and machines that are unfit."""
        if isinstance(line.message, Unfit):
            self._failed_starts.unfit[line.job] = line.message.why
        if line.task is None:
            return WorkerReport(line.worker, line.message)
        task = self._out[line.task]
        if isinstance(line.message, JobDone | JobFailed | Lost):
            del self._out[line.task]
        return WorkerReport(line.worker, line.message, task)

    def _look(self) -> Iterator[WorkerReport]:
        """Report tasks whose jobs are gone, and start jobs for tasks without one."""
        waiting, taken = self._spool.waiting(), self._spool.taken()
        jobs = self._queue.jobs()
        if jobs is None or not self._spool.is_available:
            return
        yield from self._receive()
        for name, holder in taken.items():
            job = jobs.get(holder, GONE)
            if name in self._out and not job.works and self._spool.done(name, holder):
                yield self._lost(name, holder, job)
        missed = set(self._out) - {*waiting, *taken}
        for name in missed & self._missed:
            yield self._lost(name, "?", GONE)
        self._missed = missed
        self._judge(jobs)
        self._start_jobs(jobs)

    def _lost(self, name: str, holder: str, job: Job) -> WorkerReport:
        why = f"job {holder} on {job.node}: {job.fate}; its log is {self._log(holder)}"
        return WorkerReport(f"job {holder}", Lost(why, blameless=not job.failed),
                            self._out.pop(name))

    def _log(self, job: str) -> Path:
        return self._logs / f"slurm-{job}.txt"

    def _judge(self, jobs: dict[str, Job]) -> None:
        """Raise RequestError if no job will ever start work."""
        for number in self._failed_starts.new(jobs):
            reported = self._spool.has_messages(number)
            why = None if reported else self._mute(number, jobs)
            self._failed_starts.add(number, jobs[number], why)
        live = [job for job in jobs.values() if job.lives]
        hopeless = [job.reason for job in live if job.hopeless]
        if hopeless and len(hopeless) == len(live):
            raise RequestError(f"Slurm never starts the jobs: {hopeless[0]}; check"
                               " --slurm-partition, --slurm-account and --slurm-time")
        if self._out and not live and len(self._failed_starts.machines) >= MAX_FAILED_MACHINES:
            raise self._failed_starts.error()

    def _mute(self, number: str, jobs: dict[str, Job]) -> str:
        return (f"job {number} on {jobs[number].node} ended before it took a task; does that"
                f" machine see {self._logs.parent}? Its log is {self._log(number)}")

    def _start_jobs(self, jobs: dict[str, Job]) -> None:
        """Start as many jobs as there are tasks for, within the limit."""
        live = sum(job.lives and not job.held_back for job in jobs.values())
        needed = min(-(-len(self._out) // self._array.seats), self._array.most_jobs) - live
        for first in range(0, needed, MAX_ARRAY):
            number = self._start_array(min(needed - first, MAX_ARRAY))
            if number is None:
                return
            self._failed_starts.arrays.add(number)

    def _start_array(self, size: int) -> str | None:
        """Submit an array of jobs; return its number, None if Slurm is unavailable."""
        try:
            return self._queue.submit(self._array.command,
                                      self._array.options(size, self._failed_starts.machines))
        except RequestError:
            if self._failed_starts.machines:
                raise self._failed_starts.error() from None
            raise
