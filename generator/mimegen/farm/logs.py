"""Log files of what each worker did, and the tasks that took longest."""

import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from mimegen.base.lines import append_line
from mimegen.farm.executor import Begun, Lost, Unfit, WorkerReport
from mimegen.farm.task import Task
from mimegen.shots.jobs import FrameDone, JobDone, JobFailed, Ready

SLOWEST = 3  # number of slowest tasks that are reported


@dataclass
class Logs:
    """One log file for each worker in ``folder``; later runs append to it."""

    folder: Path
    begun: dict[Task, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def receive(self, report: WorkerReport) -> None:
        """Log a worker's message.

        Raises OSError if the folder cannot be written.
        """
        if report.task is not None:
            self._time(report, report.task)
        self.folder.mkdir(parents=True, exist_ok=True)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        append_line(self.file(report.worker), f"{when} {self._line(report)}")

    def slowest(self) -> list[str]:
        """Return a line for each of the slowest tasks, the slowest first."""
        slow = sorted(self.seconds.items(), key=lambda task: -task[1])[:SLOWEST]
        return [f"{title}: {seconds:.1f} s" for title, seconds in slow]

    def file(self, worker: str) -> Path:
        """Return the path of a worker's log."""
        return self.folder / f"{re.sub('[^A-Za-z0-9.-]+', '-', worker)}.log"

    def _time(self, report: WorkerReport, task: Task) -> None:
        now = time.monotonic()
        if isinstance(report.message, Begun):
            self.begun[task] = now
        elif isinstance(report.message, JobDone | JobFailed | Lost) and task in self.begun:
            self.seconds[task.title] = now - self.begun.pop(task)

    def _line(self, report: WorkerReport) -> str:
        """Return a message as a line of a log."""
        title = report.task.title if report.task is not None else ""
        match report.message:
            case Begun():
                return f"begun: {title}"
            case FrameDone(camera, frame, seconds):
                return f"frame {frame} of camera {camera}: {seconds:.2f} s"
            case JobDone():
                return f"done: {title}, {self.seconds.get(title, 0.0):.1f} s"
            case JobFailed(message):
                return f"failed: {title}: {' '.join(message.split())}"
            case Lost(why) | Unfit(why):
                return f"lost: {title}: {why}" if title else f"left out: {why}"
            case Ready(device, _, program, cpu):
                return f"{program} renders on {device}; {cpu}" if program else f"ready; {cpu}"
