"""The table of rooms in ARCHITECTURE.md is what the import linter enforces."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Layers that are one module.
MODULES = {"cli", "api"}


def enforced() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [room for layer in contract["layers"] for room in re.split(r"\s*[|:]\s*", layer)]


def described() -> list[str]:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)]
    return [name for name in names if (ROOT / "generator" / "mimegen" / name).is_dir()]


def test_rooms_stand_in_the_table_in_the_order_that_is_enforced() -> None:
    assert described() == [room for room in enforced() if room not in MODULES]


def test_every_room_is_in_the_table() -> None:
    package = ROOT / "generator" / "mimegen"
    rooms = {place.name for place in package.iterdir() if (place / "__init__.py").exists()}
    assert rooms == set(described())
