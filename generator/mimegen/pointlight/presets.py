"""Find named displays: those of mimegen and of the user's libraries."""

from collections.abc import Mapping
from pathlib import Path

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_files
from mimegen.base.yaml_file import read_yaml
from mimegen.pointlight.spec import Display


def presets() -> Mapping[str, Path]:
    """Return the files of mimegen's own displays and the user's libraries', by name."""
    return {file.stem: file for file in data_files("render_configs/pointlight/*.yaml")}


def read_display(name: str) -> Display:
    """Return a display by its name or file.

    Raises RequestError, with similar names, if there is none; for a damaged file it names file,
    line and key.
    """
    path = presets().get(name, Path(name))
    if not path.is_file():
        raise RequestError(f"no point-light display '{name}'{near_misses(name, presets())}")
    return read_yaml(path, Display)
