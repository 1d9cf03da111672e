"""The journal of a running job, in files that any machine with access to the folder can read.

``OUT/status/<machine>.<process>.<time>.jsonl`` has one line for each event; lines are only ever
appended.
"""

import json
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mimegen.base.files import stamp
from mimegen.base.lines import append_line, json_lines
from mimegen.base.owners import this_host
from mimegen.store.store import Store
from mimegen.store.users import SIGN_OF_LIFE_S, Registration

STATUS = "status"
# Journals of ended jobs that are kept; what those jobs made is in the manifest.
MAX_KEPT = 50
# In bytes; the first line of a journal describes its job.
MAX_FIRST_LINE = 2**20


class Journal:
    """The journal of one running job: what it has planned, begun and made, and what failed.

    Every line has ``at``, seconds since 1970, and one event: ``job`` (begun, with its ``number``
    among the jobs of the folder, because clocks may differ or be set back), ``shot`` with its
    clips, ``task`` (begun or ended), ``clip`` (done or failed), ``frames`` (a heartbeat with the
    number of frames made), ``ended``.
    """

    def __init__(self, out: Path, store: Store, facts: dict[str, Any]) -> None:
        """Begin a journal; ``facts`` describe the job: numbers of clips and shots, devices.

        Raises RequestError if it cannot be written.
        """
        folder = out / STATUS
        folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max(map(_number, _forget_old(folder)), default=0)
        name = f"{this_host()}.{os.getpid()}.{time.time_ns()}.jsonl"
        self._file = folder / name
        self._file.touch()
        self.registration = Registration(store, out)
        self._lock, self._over = threading.Lock(), threading.Event()
        self._frames = 0
        place = os.path.relpath(store.root.resolve(), out.resolve())
        self._write({"job": {"host": this_host(), "pid": os.getpid(), "store": place,
                              "number": number, **facts}})
        self._life = threading.Thread(target=self._live, name="mimegen-journal", daemon=True)
        self._life.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._over.set()
        self._life.join()
        self._sign()
        self._write({"ended": True, "why": _reason(error)})
        self.registration.end()

    def shot(self, key: str, title: str, frames: int, clips: Iterable[str]) -> None:
        """Note a shot that was examined, and the names of the clips that wait for it."""
        self._write({"shot": key, "title": title, "of": frames, "clips": list(clips)})

    def task(self, title: str, worker: str = "") -> None:
        """Note that a worker, or this process, has begun a task."""
        self._write({"task": title, "worker": worker, "state": "begun"})

    def task_over(self, title: str, why: str | None = None) -> None:
        """Note that a task is done, or why it failed."""
        self._write({"task": title, "state": "done" if why is None else "failed", "why": why})

    def frame(self) -> None:
        """Count a frame."""
        self._frames += 1

    def clip(self, name: str, why: str | None = None) -> None:
        """Note that a clip is done, or why it failed."""
        self._write({"clip": name, "state": "done" if why is None else "failed", "why": why})

    def _live(self) -> None:
        while not self._over.wait(SIGN_OF_LIFE_S):
            self._sign()

    def _sign(self) -> None:
        self._write({"frames": self._frames})
        self.registration.sign()

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps({"at": round(time.time(), 2), **line}, ensure_ascii=False)
        # An unwritable journal must not stop the job.
        with self._lock, suppress(OSError):
            append_line(self._file, text)


def _reason(error: BaseException | None) -> str | None:
    """Return why a job ended; None if it is done."""
    # Ray ends a process that receives SIGTERM with the signal's number as its exit status.
    if isinstance(error, SystemExit):
        return f"stopped with exit status {error.code}"
    return None if error is None else str(error) or type(error).__name__


def _forget_old(folder: Path) -> list[Path]:
    """Remove the oldest journals, keeping at most ``MAX_KEPT``; return those that are kept."""
    journals = sorted(folder.glob("*.jsonl"), key=_order)
    for path in journals[:-MAX_KEPT]:
        path.unlink(missing_ok=True)
    return journals[-MAX_KEPT:]


def _order(journal: Path) -> tuple[int, int, str]:
    """Return what sorts journals by age; one that another job has just removed comes first."""
    written = stamp(journal)
    return _number(journal), written[0] if written else 0, journal.name


def _number(journal: Path) -> int:
    """Return the number of a journal's job; 0 if it has none, as those of earlier versions."""
    with suppress(OSError), journal.open("rb") as file:
        for line in json_lines(file.readline(MAX_FIRST_LINE)):
            job = line.get("job")
            number = job.get("number") if isinstance(job, dict) else None
            return number if isinstance(number, int) else 0
    return 0
