"""Which of many like examples `make quick` tries."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet


def slow_but(paths: Iterable[Path], fast: set[str]) -> list[ParameterSet]:
    """Files to try, all marked slow but those whose names are given."""
    return [pytest.param(path, marks=() if path.name in fast else pytest.mark.slow)
            for path in paths]
