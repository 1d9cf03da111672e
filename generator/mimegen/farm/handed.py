"""Tasks that a command left to Slurm's jobs, read from their spools without asking Slurm."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.files import content_key
from mimegen.farm.spool import Spool

SLURM = "slurm"


@dataclass(frozen=True)
class LeftToSlurm:
    """Tasks in one spool: how many wait, and which jobs have the others.

    ``name`` is that of the jobs in Slurm's queue.
    """

    name: str
    waiting: int
    jobs: tuple[str, ...]


def queue_name(folder: Path) -> str:
    """Return the name in Slurm's queue of the jobs with a spool."""
    return f"mimegen-{content_key(str(folder))[:12]}"


def left_to_slurm(out: Path) -> Sequence[LeftToSlurm]:
    """Return what is left to Slurm's jobs for a folder of clips.

    A spool is removed by the command that makes the manifest; until then it is listed, even if all
    of its tasks are done or its jobs were cancelled.
    """
    spools = [Spool(path) for path in sorted((out.resolve() / SLURM).glob("[!.]*"))]
    return [_left(spool) for spool in spools if spool.is_available
            and (spool.complete or spool.waiting() or spool.taken())]


def _left(spool: Spool) -> LeftToSlurm:
    return LeftToSlurm(queue_name(spool.folder), len(spool.waiting()),
                       tuple(sorted(spool.taken().values())))
