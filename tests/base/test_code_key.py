"""What a key of code covers, in a made-up package of the same name."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mimegen.base import code
from mimegen.base.paths import PACKAGE, source_file

MODULES = {
    "dots.draw": 'import numpy\n'
                 'from mimegen.dots import circle\n\n'
                 'def draw():\n    """Draw."""\n    return circle(2)\n',
    "dots.__init__": "from mimegen.dots.shapes import circle as circle\n"
                     "from mimegen.dots.squares import square\n",
    "dots.shapes": "def circle(size):\n    # Round.\n    return size\n",
    "dots.squares": "def square(size):\n    return size\n",
    "dots.late": "def late():\n    from mimegen.dots import squares\n    return squares\n",
    "dots.started": 'import sys\ncommand = [sys.executable, "-m", "mimegen.dots.shapes", "IN"]\n',
    "dots.whole": "import mimegen.dots\n",
    "dots.typed": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
                  "    from mimegen.dots.shapes import circle\n",
    "dots.aliased": "import mimegen.dots.shapes as shapes\n",
    "dots.other": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
                  "    from mimegen.dots.shapes import circle\n"
                  "else:\n    from mimegen.dots.squares import square\n",
    "rings.__init__": "from mimegen.dots import circle as ring\n",
    "ringed": "from mimegen.rings import ring\n",
    "odd": "import numpy, os.path\nfrom mimegen_elsewhere import x\nfrom . import rings\n"
           "NAMES = ['mimegen', 'mimegen.no_such', 'mimegen.dots/shapes', 'numpy.linalg']\n",
    "dots.reads": "from mimegen.base.paths import data_file, data_files\n\n"
                  "def read():\n"
                  "    return data_file('rigs/one.yaml'), data_files('mocap/*.yaml')\n",
}
ALONE = ["mimegen.dots.draw", "mimegen.dots.shapes"]
PRINT = """
import json, sys
from mimegen.base.code import closure, code_key
print(json.dumps([code_key(*sys.argv[1:]), list(closure(*sys.argv[1:]))]))
"""


class Package:
    """A package in a folder, with data beside it, whose keys are asked for in fresh processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(PACKAGE / "base", folder / "generator" / "mimegen" / "base")
        for place in ("render_configs", "rigs", "mocap"):
            (folder / place).mkdir()
        self.write("__init__", "")
        for name, text in MODULES.items():
            self.write(name, text)
        (folder / "rigs" / "one.yaml").write_text("a: 1\n")
        (folder / "mocap" / "first.yaml").write_text("b: 1\n")

    def write(self, module: str, text: str) -> None:
        path = self.folder.joinpath("generator", "mimegen", *module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def asked(self, *modules: str, libraries: str = "") -> tuple[str, list[str]]:
        done = subprocess.run(
            [sys.executable, "-c", PRINT, *(f"mimegen.{module}" for module in modules)],
            env={"PYTHONPATH": str(self.folder / "generator"), "MIMEGEN_LIBRARY": libraries},
            capture_output=True, text=True, check=True)
        key, names = json.loads(done.stdout)
        return key, names

    def key(self, *modules: str, libraries: str = "") -> str:
        return self.asked(*modules, libraries=libraries)[0]

    def modules(self, *modules: str) -> list[str]:
        return self.asked(*modules)[1]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


@pytest.mark.parametrize(("module", "modules"), [
    ("dots.draw", ALONE),
    ("dots.late", ["mimegen.dots.late", "mimegen.dots.squares"]),
    ("dots.started", ["mimegen.dots.shapes", "mimegen.dots.started"]),
    ("dots.whole", ["mimegen.dots", "mimegen.dots.shapes", "mimegen.dots.squares",
                    "mimegen.dots.whole"]),
    ("dots.typed", ["mimegen.dots.typed"]),
    ("dots.reads", ["mimegen.base.paths", "mimegen.dots.reads"]),
    ("dots.aliased", ["mimegen.dots.aliased", "mimegen.dots.shapes"]),
    ("dots.other", ["mimegen.dots.other", "mimegen.dots.squares"]),
    ("ringed", ["mimegen.dots.shapes", "mimegen.ringed"]),
    ("odd", ["mimegen.odd"]),
])
def test_a_module_needs_what_it_imports_names_and_nothing_else(package, module, modules):
    assert package.modules(module) == modules


@pytest.mark.parametrize(("module", "old", "new", "changes"), [
    ("dots.shapes", "return size", "return 2 * size", True),
    ("dots.draw", "circle(2)", "circle(3)", True),
    ("dots.shapes", "# Round.", "# Quite round.", False),
    ("dots.draw", '"""Draw."""', '"""Draw it."""', False),
    ("dots.draw", '    """Draw."""\n', "", False),
    ("dots.shapes", "return size", "return (\n        size)", False),
    ("dots.squares", "return size", "return 2 * size", False),
    ("dots.__init__", "square", "circle", False),
    ("dots.draw", "circle(2)", "circle(2.0)", True),
    ("dots.draw", "circle(2)", "circle([2])", True),
    ("dots.draw", "import numpy", "import numpy as np", True),
    ("dots.draw", "def draw", "def drew", True),
])
def test_an_edit_changes_the_key_where_it_changes_what_is_done(package, module, old, new, changes):
    before = package.key("dots.draw")
    assert old in MODULES[module]
    package.write(module, MODULES[module].replace(old, new))
    assert (package.key("dots.draw") != before) == changes


@pytest.mark.parametrize("name", ["rigs/one.yaml", "mocap/first.yaml", "mocap/second.yaml"])
def test_data_that_is_read_is_covered(package, name):
    before, other = package.key("dots.reads"), package.key("dots.draw")
    (package.folder / name).write_text("c: 2\n")
    assert package.key("dots.reads") != before
    assert package.key("dots.draw") == other


def test_what_was_read_is_noted_and_read_anew_where_it_changed(package):
    before = package.asked("dots.draw")
    note, = package.folder.rglob("*.code.json")
    noted = json.loads(note.read_text())
    assert set(ALONE) <= noted.keys()
    noted["mimegen.dots.shapes"][1] = "another digest"
    note.write_text(json.dumps(noted))
    assert package.key("dots.draw") != before[0], "the note is not believed"
    package.asked("dots.late")
    assert json.loads(note.read_text()).keys() > set(ALONE), "notes gather"
    package.write("dots.shapes", MODULES["dots.shapes"] + "\n")
    assert package.asked("dots.draw") == before


def test_all_keys_of_one_process_are_noted(package):
    asked = """
from mimegen.base.code import code_key
code_key("mimegen.dots.shapes"), code_key("mimegen.dots.squares")
"""
    subprocess.run([sys.executable, "-c", asked], check=True,
                   env={"PYTHONPATH": str(package.folder / "generator")})
    note, = package.folder.rglob("*.code.json")
    assert json.loads(note.read_text()).keys() == {"mimegen.dots.shapes", "mimegen.dots.squares"}


def test_the_key_of_several_modules_is_not_that_of_one(package):
    keys = {package.key("dots.shapes"), package.key("dots.squares"),
            package.key("dots.shapes", "dots.squares")}
    assert len(keys) == 3


def test_data_that_is_not_read_is_not_covered(package):
    before = package.key("dots.reads")
    (package.folder / "rigs" / "two.yaml").write_text("c: 2\n")
    assert package.key("dots.reads") == before


def test_a_library_hides_namesakes_and_adds_files(package, tmp_path):
    before, library = package.key("dots.reads"), tmp_path / "library"
    (library / "rigs").mkdir(parents=True)
    assert package.key("dots.reads", libraries=str(library)) == before
    (library / "rigs" / "one.yaml").write_text("a: 1\n")
    assert package.key("dots.reads", libraries=str(library)) == before
    (library / "rigs" / "one.yaml").write_text("a: 2\n")
    hidden = package.key("dots.reads", libraries=str(library))
    (library / "mocap").mkdir()
    (library / "mocap" / "other.yaml").write_text("a: 2\n")
    assert len({before, hidden, package.key("dots.reads", libraries=str(library))}) == 3


@pytest.mark.parametrize("damage", [b"", b'{"mimegen', b"\xff"])
def test_a_damaged_note_of_what_was_read_is_no_harm(package, damage):
    before = package.key("dots.draw")
    note, = package.folder.rglob("*.code.json")
    note.write_bytes(damage)
    assert package.key("dots.draw") == before


def test_data_is_asked_for_by_texts_that_a_key_can_find():
    """An argument that is computed would leave the file out of keys."""
    calls = [line for path in PACKAGE.rglob("*.py") for line in path.read_text().splitlines()
             if "data_file(" in line or "data_files(" in line]
    assert len(calls) > 10
    assert [line for line in calls if 'data_file("' not in line and 'data_files("' not in line
            and not line.startswith("def ") and "data_files(name)" not in line] == []


@pytest.mark.slow
def test_all_that_a_command_imports_is_found():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, mimegen.commands.render\n"
         "print(*(name for name in sys.modules if name.startswith('mimegen.')))"],
        capture_output=True, text=True, check=True).stdout.split()
    # Whatever is imported from a package imports the package first.
    packages = {name for name in loaded if source_file(name).name == "__init__.py"}
    assert len(loaded) > 100
    assert {*loaded} - packages <= {*code.closure("mimegen.commands.render")}


def test_what_is_never_called_can_be_left_out(package: Package) -> None:
    asked = """
import json
from mimegen.base.code import closure, code_key
left = "mimegen.dots.squares"
print(json.dumps([list(closure("mimegen.dots.whole")), list(closure("mimegen.dots.whole",
                  without=[left])), code_key("mimegen.dots.whole", without=[left])]))
"""

    def answer() -> list[list[str]]:
        done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True,
                              env={"PYTHONPATH": str(package.folder / "generator")}, check=True)
        found: list[list[str]] = json.loads(done.stdout)
        return found

    whole, partly, key = answer()
    assert set(whole) - set(partly) == {"mimegen.dots.squares"}
    package.write("dots.squares", "def square(size):\n    return 2 * size\n")
    assert answer()[2] == key
    package.write("dots.shapes", "def circle(size):\n    return 2 * size\n")
    assert answer()[2] != key
