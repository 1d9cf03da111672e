"""Where to render: the options of farms."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click

from mimegen.farm.settings import FarmSettings, Kind, read_settings


def farm_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of farms, given to the command as ``settings``.

    Raises RequestError, when the command is called, for a settings file that is wrong.
    """

    @wraps(command)
    def wrapped(*args: Any, farm_config: Path | None, **given: Any) -> int:
        chosen = {name: value for name in _NAMES if (value := given.pop(name)) not in (None, ())}
        kept = read_settings(farm_config) if farm_config else FarmSettings()
        settings = FarmSettings.model_validate(kept.model_dump() | chosen)
        return command(*args, **given, settings=settings)

    options: Callable[..., int] = wrapped
    for option in reversed(_OPTIONS):
        options = option(options)
    return options


_OPTIONS = (
    click.option("--farm", type=click.Choice(get_args(Kind)),
                 help="Where to render: this machine (local), a Ray cluster, or Slurm jobs."
                      "  [default: local]"),
    click.option("--farm-config", type=click.Path(path_type=Path), metavar="FILE",
                 help="YAML file with a cluster's settings; options on the command line"
                      " override it."),
    click.option("--workers", type=click.IntRange(min=1), metavar="N",
                 help="Number of Blender processes, or of Slurm jobs.  [default: one per core,"
                      " at most"
                      " 8; one per GPU; on a cluster as many as fit]"),
    click.option("--workers-per-gpu", type=click.IntRange(min=1),
                 help="Number of Blender processes on each GPU of this machine.  [default: 1]"),
    click.option("--address", metavar="auto|ray://...|none",
                 help="Ray cluster to use: auto connects to the running one, none starts one on"
                      " this"
                      " machine.  [default: auto]"),
    click.option("--cpus-per-task", type=click.IntRange(min=1), metavar="N",
                 help="CPU cores for each worker on a cluster."),
    click.option("--gpus-per-task", type=click.FloatRange(min=0), metavar="N",
                 help="GPUs for each worker on a cluster.  [default: 1; 0 with --device cpu]"),
    click.option("--shared-store/--no-shared-store", default=None,
                 help="Whether all machines see the store's folder.  [default: auto-detect]"),
    click.option("--slurm-partition", metavar="NAME", help="Slurm partition for the jobs."),
    click.option("--slurm-account", metavar="NAME", help="Slurm account to charge."),
    click.option("--slurm-time", metavar="TIME",
                 help="Time limit of each Slurm job, as in 4:00:00; the next job resumes its"
                      " work."),
    click.option("--slurm-setup", multiple=True, metavar="COMMAND",
                 help='Shell command that each Slurm job runs first, as in "module load cuda";'
                      ' may be'
                      " repeated."),
)
_NAMES = ("farm", "workers", "workers_per_gpu", "address", "cpus_per_task", "gpus_per_task",
          "shared_store", "slurm_partition", "slurm_account", "slurm_time", "slurm_setup")
FARM_NAMES = ("farm_config", *_NAMES)
