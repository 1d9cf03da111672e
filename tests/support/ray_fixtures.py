"""Fixtures of tests on a pretended Ray: itself, a clock, a store, an executor."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mimegen.farm import ray as farm_ray
from mimegen.farm.ray import RayExecutor
from mimegen.farm.settings import FarmSettings
from pretended_ray import Clock, Here, Open, PretendedRay


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(farm_ray, "time", found)
    return found


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> PretendedRay:
    found = PretendedRay({"n1": {"CPU": 1.0}})
    monkeypatch.setattr(farm_ray, "_ray", lambda: found)
    monkeypatch.setattr(farm_ray, "LocalExecutor", Here)
    Here.made = []
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that holds a body and a performance."""
    root = tmp_path / "store"
    for name in ("characters/c.npz", "performances/p.npz"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(name.encode())
    return root


@pytest.fixture
def opened(ray: PretendedRay, store: Path) -> Iterator[Open]:
    made: list[RayExecutor] = []

    def open_one(device: str = "cpu", **settings: Any) -> RayExecutor:
        made.append(RayExecutor(store, FarmSettings(farm="ray", **settings), device,
                                ray.told.append))
        return made[-1]

    yield open_one
    for executor in made:
        executor.close()
