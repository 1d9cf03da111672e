"""What a command costs, with all processes that it starts. Linux only: it reads /proc."""

import os
import re
import resource
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True)
class Cost:
    """CPU seconds of all processes, wall seconds, and the most memory they held together."""

    cpu_s: float
    wall_s: float
    peak_mb: float

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu_s + other.cpu_s, self.wall_s + other.wall_s,
                    max(self.peak_mb, other.peak_mb))

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu_s - other.cpu_s, self.wall_s - other.wall_s, self.peak_mb)

    def as_dict(self) -> dict[str, float]:
        """Return the numbers, rounded."""
        return {name: round(value, 2) for name, value in asdict(self).items()}


FREE = Cost(0.0, 0.0, 0.0)


def cost_of(command: Sequence[str | Path]) -> Cost:
    """Run a command to its end and return what it cost.

    Raises SystemExit with what it said where it fails.
    """
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    peak = _PeakMemory(process.pid)
    said, _ = process.communicate()
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{said[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, peak.megabytes())


class _PeakMemory:
    """Looks, while a session of processes runs, at how much memory they hold together."""

    def __init__(self, session: int) -> None:
        self._session, self._peak, self._ended = session, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            self._peak = max(self._peak, sum(
                _resident_pages(folder) for folder in Path("/proc").iterdir()
                if folder.name.isdigit() and _session_of(folder) == self._session))

    def megabytes(self) -> float:
        """Stop looking and return the peak."""
        self._ended.set()
        self._thread.join()
        return self._peak * os.sysconf("SC_PAGE_SIZE") / 1e6


def _session_of(folder: Path) -> int | None:
    try:
        # The name, in parentheses, may hold spaces.
        return int((folder / "stat").read_text().rpartition(")")[2].split()[3])
    except (OSError, IndexError, ValueError):
        return None


def _resident_pages(folder: Path) -> int:
    try:
        return int((folder / "statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def megabytes_below(folder: Path) -> float:
    """Return how much all files below a folder hold."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def put_into(document: Path, section: str, text: str) -> None:
    """Replace what stands between ``<!-- SECTION -->`` and ``<!-- /SECTION -->`` in a document."""
    found, count = re.subn(
        rf"(<!-- {section} -->\n).*?(<!-- /{section} -->)",
        lambda marks: f"{marks[1]}{text.strip()}\n{marks[2]}", document.read_text(), flags=re.S)
    if count != 1:
        raise SystemExit(f"{document}: expected one section <!-- {section} -->")
    document.write_text(found)
