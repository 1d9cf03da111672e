"""Where and how a farm does tasks: a settings file for each cluster, such as farm.yaml."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.farm.patience import FIRST_S

Kind = Literal["local", "ray"]


class FarmSettings(Strict):
    """One settings file; what the command line says goes before it.

    ``workers`` is how many Blender processes run at most; without it, as many as there is place
    for. ``cpus_per_task`` and ``gpus_per_task`` are what each takes. ``shared_store`` says whether
    all machines see the store's folder; without it a probe tells. ``store_there`` is where they
    see it, if elsewhere than here. ``silence_s`` is how long a worker may say nothing of a kind of
    work that was not timed yet. ``task_s`` is how long a task shall last.
    """

    farm: Kind = "local"
    workers: int | None = Field(default=None, ge=1)
    workers_per_gpu: int = Field(default=1, ge=1)
    cpus_per_task: int | None = Field(default=None, ge=1)
    gpus_per_task: float | None = Field(default=None, ge=0)
    address: str = "auto"
    shared_store: bool | None = None
    store_there: Path | None = None
    silence_s: float = Field(default=FIRST_S, gt=0)
    task_s: float | None = Field(default=None, gt=0)


def read_settings(path: Path) -> FarmSettings:
    """Read a settings file.

    Raises RequestError naming file, line and key and what was expected there.
    """
    return read_yaml(path, FarmSettings)
