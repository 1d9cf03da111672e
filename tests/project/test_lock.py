"""requirements.lock goes with pyproject.toml on every Python, and pip checks what it fetches."""
import re
import tomllib
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from places import ROOT

LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
WITH_BLENDER = {"3.11": 1, "3.13": 2}  # and the NumPy that its wheel goes with


def environment(python: str, system: str = "linux") -> dict[str, str]:
    return {"python_version": python, "python_full_version": f"{python}.2",
            "sys_platform": system, "platform_machine": "x86_64", "extra": "",
            "platform_python_implementation": "CPython", "implementation_name": "cpython"}


def blocks() -> list[list[str]]:
    """The lines of each release: what it is, then its hashes."""
    lines = [line.strip() for line in LOCK.splitlines() if not line.startswith("#")]
    found: list[list[str]] = []
    for line in lines:
        if line.startswith("--hash"):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def pinned(python: str) -> dict[str, Version]:
    found: dict[str, Version] = {}
    for first, *_ in blocks():
        one = Requirement(first.rstrip("\\ "))
        if one.marker is None or one.marker.evaluate(environment(python)):
            (only,) = one.specifier
            assert only.operator == "==" and plain(one.name) not in found, first
            found[plain(one.name)] = Version(only.version)
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(lines: list[str], python: str) -> Iterator[Requirement]:
    """What a list asks for on a Python, with the lists that it names."""
    for one in map(Requirement, lines):
        if one.name == "mimegen":
            for extra in one.extras:
                yield from wanted(PROJECT["optional-dependencies"][extra], python)
        elif one.marker is None or one.marker.evaluate(environment(python)):
            yield one


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_has_what_the_project_asks_for(python: str) -> None:
    found = pinned(python)
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    for one in wanted(asked, python):
        assert plain(one.name) in found, f"{one}: run make lock"
        assert found[plain(one.name)] in one.specifier, f"{one}: run make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_blender_is_there_where_it_has_wheels_and_numpy_goes_with_it(python: str) -> None:
    found = pinned(python)
    assert ("bpy" in found) == (python in WITH_BLENDER)
    if python in WITH_BLENDER:
        assert (found["bpy"].major, found["numpy"].major) == (5, WITH_BLENDER[python])


def test_only_the_extra_render_asks_for_blender() -> None:
    asking = [name for name, lines in PROJECT["optional-dependencies"].items()
              if any(Requirement(line).name == "bpy" for line in lines)]
    assert asking == ["render"]
    assert not any(Requirement(line).name == "bpy" for line in PROJECT["dependencies"])


def test_every_release_has_hashes_and_no_place_is_named() -> None:
    for first, *hashes in blocks():
        assert hashes, first
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}( \\)?", one) for one in hashes), first
    assert not re.search(r"https?:|index-url|find-links|file:|@ |-e ", LOCK)


def test_floors_that_close_holes() -> None:
    said = {plain(one.name): one.specifier for one in map(Requirement, PROJECT["dependencies"])}
    assert "0.49.0" not in said["starlette"] and "0.49.1" in said["starlette"]
    assert "10.2.0" not in said["pillow"] and "10.3.0" in said["pillow"]


def test_dependencies_have_an_upper_bound() -> None:
    """Of what runs; tools of tests may be any."""
    free = [one.name for one in map(Requirement, PROJECT["dependencies"])
            if not any(part.operator in ("<", "==", "<=") for part in one.specifier)]
    assert free == []
