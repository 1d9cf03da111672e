"""The options of farms, which set where a request is rendered."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from mimegen.commands.common import refuse_given
from mimegen.commands.options import options_of, typed_of
from mimegen.farm.settings import FarmSettings, Kind, read_settings

# Options that only some kinds of farms have.
_OF_FARMS: dict[str, tuple[Kind, ...]] = {
    "workers_per_gpu": ("local",), "address": ("ray",),
    **dict.fromkeys(("cpus_per_task", "gpus_per_task", "shared_store"), ("ray", "slurm")),
    **dict.fromkeys(("slurm_partition", "slurm_account", "slurm_time", "slurm_setup"),
                    ("slurm",)),
}


def farm_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of farms, passed to the command as ``settings``.

    When called, the command raises RequestError for an invalid settings file.
    """

    @wraps(command)
    def wrapped(*args: Any, farm_config: Path | None, **given: Any) -> int:
        said = typed_of(FarmSettings, given)
        kept = read_settings(farm_config) if farm_config else FarmSettings()
        settings = FarmSettings.model_validate(kept.model_dump() | said)
        for name, kinds in _OF_FARMS.items():
            if settings.farm not in kinds:
                refuse_given((name,), f"requires --farm {' or --farm '.join(kinds)}")
        return command(*args, **given, settings=settings)

    return _farm_config(options_of(FarmSettings)(wrapped))


_farm_config = click.option(
    "--farm-config", type=click.Path(path_type=Path), metavar="FILE",
    help="YAML file with a cluster's settings; options on the command line override it.")
