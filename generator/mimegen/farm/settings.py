"""Settings of a farm: one file for each cluster, such as farm.yaml."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from mimegen.base.asked import Heading, asked
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.farm.timeouts import FIRST_S

Kind = Literal["local", "ray", "slurm"]


def _lines(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _not_counted(value: Any) -> Any:
    if isinstance(value, int):
        raise ValueError("put it in quotes, as in '4:00:00': without, YAML makes a number of it")
    return value


Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]
Time = Annotated[str, BeforeValidator(_not_counted)]


class FarmSettings(Strict):
    """One settings file; options of the command line override it.

    ``workers`` is the largest number of Blender processes; None for as many as fit.
    ``cpus_per_task`` and ``gpus_per_task`` are the resources of each. ``shared_store`` tells
    whether all machines see the store's folder; None to find out by a probe. ``store_there`` is the
    store's path on the other machines if it differs from this one's. ``silence_s`` is the timeout,
    in seconds, for kinds of work that have not been timed; ``task_s`` is the desired length of a
    task in seconds. ``slurm_setup`` are the first shell commands of a job; ``slurm_options`` are
    additional options of sbatch.
    """

    farm: Kind = asked(
        "local", Heading.RENDERING,
        "Where to render: this machine (local), a Ray cluster, or Slurm jobs.  [default: local]")
    workers: int | None = asked(
        None, Heading.RENDERING,
        "Number of Blender processes, or of Slurm jobs.  [default: one per core, at most 8; one"
        " per GPU; on a cluster as many as fit]", "N", ge=1)
    workers_per_gpu: int = asked(
        1, Heading.RENDERING,
        "Number of Blender processes on each GPU of this machine.  [default: 1]", ge=1)
    cpus_per_task: int | None = asked(
        None, Heading.RENDERING,
        "CPU cores for each worker on a cluster.", "N", ge=1)
    gpus_per_task: float | None = asked(
        None, Heading.RENDERING,
        "GPUs for each worker on a cluster.  [default: 1; 0 with --device cpu and for drafts]",
        "N", ge=0)
    address: str = asked(
        "auto", Heading.RENDERING,
        "Ray cluster to use: auto connects to the running one, none starts one on this machine. "
        " [default: auto]", "auto|ray://...|none")
    shared_store: bool | None = asked(
        None, Heading.RENDERING,
        "Whether all machines see the store's folder.  [default: auto-detect]")
    store_there: Path | None = None
    silence_s: float = Field(default=FIRST_S, gt=0)
    task_s: float | None = Field(default=None, gt=0)
    slurm_partition: str | None = asked(
        None, Heading.RENDERING,
        "Slurm partition for the jobs.", "NAME")
    slurm_account: str | None = asked(
        None, Heading.RENDERING,
        "Slurm account to charge.", "NAME")
    slurm_time: Time | None = asked(
        None, Heading.RENDERING,
        "Time limit of each Slurm job, as in 4:00:00; the next job resumes its work.", "TIME")
    slurm_setup: Lines = asked(
        (), Heading.RENDERING,
        "Shell command that each Slurm job runs first, as in \"module load cuda\"; may be"
        " repeated.", "COMMAND")
    slurm_options: Lines = ()


def read_settings(path: Path) -> FarmSettings:
    """Read a settings file.

    Raises RequestError, naming file, line, key and what was expected.
    """
    return read_yaml(path, FarmSettings)
