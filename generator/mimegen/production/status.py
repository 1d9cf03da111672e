"""Report the progress of the jobs of a folder of clips, read from their journals."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError
from mimegen.base.lines import json_lines
from mimegen.base.owners import process_lives
from mimegen.farm.handed import left_to_slurm
from mimegen.manifest.file import MANIFEST, read_manifest
from mimegen.manifest.left_out import read_left_out
from mimegen.production.journal import STATUS
from mimegen.store.store import Store
from mimegen.store.users import MISSED, SIGN_OF_LIFE_S

# The rate is averaged over this many of the latest seconds.
_RATE_SPAN_S = 120.0
# The states of a clip.
DONE, WAITING, FAILED, STOPPED = "done", "waiting", "failed", "stopped"
STATES = (DONE, WAITING, FAILED, STOPPED)


@dataclass
class JobState:
    """A job's state, read from its journal. Times are in seconds since 1970."""

    host: str
    pid: int
    store: str
    facts: dict[str, Any]
    since: float
    last_sign: float
    number: int
    ended: bool = False
    why: str | None = None
    frames: list[tuple[float, int]] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    shots: dict[str, dict[str, Any]] = field(default_factory=dict)
    clips: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether the job still runs: it has not ended, and its process or heartbeat is alive."""
        if self.ended:
            return False
        lives = process_lives(self.host, self.pid)
        return time.time() - self.last_sign < MISSED * SIGN_OF_LIFE_S if lives is None else lives

    @property
    def was_stopped(self) -> bool:
        """Whether the job was killed, or ended by an error, before it was through."""
        return self.why is not None if self.ended else not self.runs

    @property
    def rate(self) -> float | None:
        """Frames per second recently; None if none were made."""
        end, made = self.frames[-1] if self.frames else (self.since, 0)
        first, before = next(((at, count) for at, count in self.frames
                              if end - at <= _RATE_SPAN_S), (self.since, 0))
        if before == made:
            first, before = self.since, 0
        return (made - before) / (end - first) if made and end > first else None


def status(out: Path) -> dict[str, Any]:
    """Return the progress of the jobs of ``out``: jobs, shots and clips, as JSON content.

    A clip is ``stopped`` if its job ended before it was made; the same command makes it.
    ``not_reached`` counts planned clips that a running job, or the last one if it was stopped, has
    not looked at; some of these may exist.

    ``slurm`` lists the tasks that were left to Slurm's jobs, whose clips are not counted yet;
    ``left_out`` the cells that requests left out because they do not exist.

    Raises RequestError if no job has ever begun there.
    """
    jobs = _jobs(out)
    slurm = [asdict(one) for one in left_to_slurm(out)]
    if not jobs and not slurm and not (out / MANIFEST).is_file():
        raise RequestError(f"{out}: no job has begun there ({STATUS}/ has no journal); name the"
                           " folder that render writes to")
    clips, shots = _clips(out, jobs), _shots(out, jobs)
    passes = Counter(kind for row in read_manifest(out) for kind in row.passes or {})
    for job in (job for job in jobs if job.runs):
        job.facts["left_s"] = _time_left(job, shots)
    states = [clip["state"] for clip in clips.values()]
    return {
        "clips": {state: states.count(state) for state in STATES},
        "not_reached": sum(_not_reached(job) for job in jobs
                           if job.runs or (job is jobs[-1] and job.was_stopped)),
        "jobs": [_job_report(job) for job in jobs if job.runs or job is jobs[-1]],
        "slurm": slurm,
        "shots": shots, "clip_states": clips, "passes": dict(sorted(passes.items())),
        "left_out": [asdict(cell) for cell in read_left_out(out)],
    }


def is_written_to(out: Path) -> bool:
    """Return whether a job is running that makes clips of ``out``, in whatever store."""
    return bool(running_jobs(out))


def running_jobs(out: Path) -> list[JobState]:
    """Return the jobs that write to ``out`` now; none if it holds no journal."""
    return [job for job in _jobs(out) if job.runs]


def _jobs(out: Path) -> list[JobState]:
    """Return the jobs of all journals, in the order in which they began.

    Raises PermissionError if the folder of journals cannot be read.
    """
    try:
        journals = sorted(path for path in (out / STATUS).iterdir() if path.suffix == ".jsonl")
    except (FileNotFoundError, NotADirectoryError):
        return []
    jobs = [job for path in journals if (job := _job(path)) is not None]
    return sorted(jobs, key=lambda job: (job.number, job.since))


def _job(path: Path) -> JobState | None:
    """Return a journal's job; None if it holds none yet. Incomplete lines are ignored."""
    job = None
    for line in _lines(path):
        if "job" in line:
            facts = dict(line["job"])
            job = JobState(facts.pop("host"), facts.pop("pid"), facts.pop("store"), facts,
                           line["at"], line["at"], facts.pop("number", 0))
        if job is not None:
            job.last_sign = max(job.last_sign, line["at"])
            _take_in(job, line)
    return job


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with suppress(FileNotFoundError):
        for line in json_lines(path.read_bytes()):
            if isinstance(line.get("at"), float | int):
                yield line


def _take_in(job: JobState, line: dict[str, Any]) -> None:
    """Apply one line of a journal to the job's state."""
    match line:
        case {"frames": int(count), "at": float(at)}:
            job.frames.append((at, count))
        case {"shot": str(key)}:
            job.shots[key] = line
            for name in line["clips"]:
                job.clips.setdefault(name, {"state": WAITING, "shot": key, "at": line["at"]})
        case {"task": str(title), "state": "begun"}:
            job.tasks[title] = line
        case {"task": str(title)}:
            job.tasks.pop(title, None)
        case {"clip": str(name)}:
            job.clips[name] = job.clips.get(name, {}) | {
                "state": line["state"], "at": line["at"], "why": line["why"]}
        case {"ended": True}:
            job.ended, job.why = True, line["why"]


def _clips(out: Path, jobs: Iterable[JobState]) -> dict[str, dict[str, Any]]:
    """Return the state of every clip by plain name; the latest entry about a clip counts."""
    found: dict[str, dict[str, Any]] = {
        row.plain_id or row.sample_id: {"state": DONE, "shot": row.shot_key}
        for row in read_manifest(out)}
    for job in jobs:
        for name, states in job.clips.items():
            if states["state"] == WAITING and not job.runs:
                found.setdefault(name, {"state": STOPPED, "shot": states["shot"],
                                        "why": job.why or "its job was stopped before it was made"})
            else:
                found[name] = found.get(name, {}) | states
    return found


def _shots(out: Path, jobs: Iterable[JobState]) -> dict[str, dict[str, Any]]:
    """Return every shot that a job has examined: title, frames made and frames in all."""
    found: dict[str, dict[str, Any]] = {}
    for job in jobs:
        store = Store(out / job.store)
        for key, states in job.shots.items():
            there = min(store.frames_there(key), states["of"])
            state = "done" if there == states["of"] else "running" if job.runs else "stopped"
            found[key] = {"title": states["title"], "frames": there, "of": states["of"],
                          "state": state, "host": job.host}
    return found


def _not_reached(job: JobState) -> int:
    """Return how many of its planned clips a job has not examined."""
    return max(0, int(job.facts.get("clips", 0)) - len(job.clips))


def _time_left(job: JobState, shots: dict[str, dict[str, Any]]) -> float | None:
    """Return the seconds left; shots not yet examined are assumed to have the mean length."""
    mine = [shots[key] for key in job.shots]
    if job.rate is None or not mine:
        return None
    left = sum(int(shot["of"] - shot["frames"]) for shot in mine)
    mean = sum(int(shot["of"]) for shot in mine) / len(mine)
    not_drawn = max(0, int(job.facts.get("shots", 0)) - len(mine))
    return round((left + not_drawn * mean) / job.rate, 1)


def _job_report(job: JobState) -> dict[str, Any]:
    """Return a job's state as JSON content."""
    return {
        "host": job.host, "pid": job.pid, "since": job.since, "runs": job.runs,
        "ended": job.ended, "why": job.why, "last_sign_of_life": job.last_sign,
        "seconds_since_sign": round(max(0.0, time.time() - job.last_sign), 1),
        "devices": job.facts.get("devices"), "left_s": job.facts.get("left_s"),
        "frames": job.frames[-1][1] if job.frames else 0,
        "frames_per_s": None if job.rate is None else round(job.rate, 3),
        "tasks": [{"title": title, "worker": states.get("worker"), "since": states["at"]}
                  for title, states in job.tasks.items()],
    }
