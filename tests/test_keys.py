"""What an edit of code or shared data renews: the table of edits, made in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mimegen.base.paths import PACKAGE, data_folder

PRINT = """
import json
from mimegen.library import keys as library
from mimegen.plan import keys as plan
print(json.dumps({name.removesuffix("_code"): getattr(room, name)()
                  for room in (library, plan) for name in vars(room) if name.endswith("_code")}))
"""
KINDS = {"figure", "imported_figure", "lights", "score", "recording", "performance", "shot",
         "still", "clip", "display"}
ROLES = {"imported_figure", "lights", "recording", "performance", "display"}


class Copy:
    """The package and its data in a folder; keys are asked for in a process of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "generator" / "mimegen"
        shutil.copytree(PACKAGE, self.package)
        for name in ("rigs", "render_configs"):
            shutil.copytree(data_folder() / name, folder / name)
        (folder / "mocap").mkdir()
        for file in (data_folder() / "mocap").glob("*.yaml"):
            shutil.copy(file, folder / "mocap")
        (folder / "README.md").write_text("Words.\n")
        self.before = self.keys()

    def keys(self) -> dict[str, str]:
        environment = os.environ | {"PYTHONPATH": str(self.folder / "generator")}
        environment.pop("MIMEGEN_LIBRARY", None)
        done = subprocess.run([sys.executable, "-c", PRINT], env=environment,
                              capture_output=True, text=True, check=True)
        keys: dict[str, str] = json.loads(done.stdout)
        return keys

    def renewed_by(self, name: str, added: str) -> set[str]:
        """Return the kinds whose keys an edit at the end of a file changes; undone afterwards."""
        file = (self.package if name.endswith(".py") else self.folder) / name
        text = file.read_text(encoding="utf-8")
        file.write_text(text + added, encoding="utf-8")
        try:
            after = self.keys()
        finally:
            file.write_text(text, encoding="utf-8")
        return {kind for kind, key in after.items() if key != self.before[kind]}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    made = Copy(tmp_path_factory.mktemp("copy"))
    assert set(made.before) >= KINDS
    return made


@pytest.mark.parametrize(("name", "renewed"), [
    ("rigs/marker_sets/cmu.yaml", {"recording"}),
    ("rigs/marker_sets/body.yaml", {"recording"}),
    ("rigs/skeletons/bone_names.yaml", ROLES),
    ("mocap/hand_shapes.yaml", {"score", "performance"}),
    ("mocap/life.yaml", {"score"}),
    ("mocap/styles.yaml", {"score"}),
    ("mocap/body.yaml", {"score"}),
    ("mocap/joint_ranges.yaml", set()),
    ("README.md", set()),
    ("markers/solve.py", {"recording"}),
    ("readers/partners.py", {"recording"}),
    ("readers/trimming.py", {"recording"}),
    ("readers/ezc3d_file.py", {"recording", "display"}),
    ("readers/blender/fbx.py", {"recording"}),
    ("stage/blender/importing.py", {"imported_figure"}),
    ("characters/body.py", {"figure"}),
    ("choreography/perform.py", {"score"}),
    ("retarget/feet.py", {"performance"}),
    ("stage/blender/materials.py", {"shot"}),
    ("stage/framing.py", {"shot"}),
    ("stage/blender/frames.py", {"shot"}),
    ("stage/blender/worker.py", set()),
    ("stage/blender/scenery.py", {"still"}),
    ("stage/scenery/shapes.py", {"still"}),
    ("compositing/backdrop.py", {"clip"}),
    ("choreography/lint.py", set()),
    ("retarget/report.py", set()),
    ("pages/gallery.py", set()),
    ("pages/preview.py", set()),
    ("pages/contactsheet.py", set()),
    ("library/importing.py", set()),
    ("commands/render.py", set()),
    ("farm/local.py", set()),
    ("farm/dispatch.py", set()),
])
def test_an_edit_renews_what_depends_on_it_and_nothing_else(copy, name, renewed):
    edit = "\nEDITED = True\n" if name.endswith(".py") else "\n# edited\n"
    assert copy.renewed_by(name, edit) == renewed


@pytest.mark.parametrize(("name", "renewed"), [
    ("characters/fingerprint.py", {"figure", "imported_figure", "lights"}),
    ("rigs/skeletons/standard.yaml", {"figure", "score", "recording"}),
    ("motion/quaternions.py", KINDS - {"clip"}),
    ("compositing/video.py", {"clip", "display"}),
    ("pointlight/stimulus.py", {"display"}),
])
def test_an_edit_renews_at_least(copy, name, renewed):
    edit = "\nEDITED = True\n" if name.endswith(".py") else "\n# edited\n"
    assert copy.renewed_by(name, edit) >= renewed


@pytest.mark.parametrize("name", ["stage/blender/shot.py", "markers/solve.py", "base/files.py",
                                  "choreography/life.py", "compositing/video.py"])
def test_words_renew_nothing(copy, name):
    assert copy.renewed_by(name, '\n\n# A comment.\n"""A text that nobody reads."""\n') == set()
