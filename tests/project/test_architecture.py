"""The table of rooms in ARCHITECTURE.md is what the import linter enforces."""

import ast
import re
import tomllib
from pathlib import Path

from places import ROOT

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


def rooms_named_in_strings(module: Path) -> set[str]:
    """The rooms whose modules a module names in strings, as ``"mimegen.rendering.serving"``."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree)
             if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named = {found[1] for text in texts for found in re.finditer(r"^mimegen\.(\w+)(\.\w+)*$", text)}
    return named & set(enforced())


def test_modules_named_in_strings_lie_in_rooms_below() -> None:
    order, package = enforced(), ROOT / "generator" / "mimegen"
    wrong = [f"{module.relative_to(package)} names {room}"
             for room_of in order for module in sorted((package / room_of).rglob("*.py"))
             for room in rooms_named_in_strings(module)
             if order.index(room) < order.index(room_of)]
    assert wrong == []
