"""What mimegen does where Blender is not installed, and how it refuses the rest."""
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from click.testing import Result

from mimegen.base import blender
from mimegen.base.blender import SYSTEM_LIBRARIES, import_failure, refuse_unloadable
from mimegen.base.errors import RequestError
from mimegen.characters.imported.importing import import_character
from mimegen.library import recorded_take
from mimegen.rendering.worker import StageWorker
from mimegen.shots.jobs import JobFailed
from places import DATA, ROOT
from running import invoke

WALK, SKINLESS = DATA / "left_handed.bvh", DATA / "motion_without_skin.glb"
BOXING = ("--action", "boxing", "--variants", "base+blank@0")


@pytest.fixture
def no_blender(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python finds no bpy, as where it is not installed."""
    monkeypatch.setitem(sys.modules, "bpy", None)

    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(blender, "version", version)
    monkeypatch.setattr(blender, "_on_path", lambda: (None, ""))
    monkeypatch.delenv(blender.BLENDER, raising=False)
    recorded_take._recorded.cache_clear()  # Another test may have read the same file with Blender.


def assert_refused(done: Result, purpose: str) -> None:
    assert done.exit_code == 2, done.output
    [line] = done.stderr.splitlines()
    assert line.startswith(f"mimegen: {purpose}: Blender is not installed here; pip install"
                           " 'mimegen[render]' adds it and needs Python 3.11 or 3.13, and --blender"
                           " PATH uses one that is installed elsewhere."), line


@pytest.mark.slow
@pytest.mark.usefixtures("no_blender")
@pytest.mark.parametrize(("purpose", "words"), [
    (str(SKINLESS), ("inspect", SKINLESS)),
    (str(SKINLESS), ("retarget", SKINLESS, "--character", "man", "--out", "out.bvh")),
    ("out.fbx", ("retarget", WALK, "--character", "man", "--out", "out.fbx")),
    ("out.glb", ("retarget", WALK, "--character", "man", "--out", "out.glb")),
    ("--config preview", ("render", *BOXING, "--config", "preview", "--out", "out")),
    ("--config preview", ("plan", *BOXING, "--config", "preview", "--out", "out")),
    ("--config preview", ("render", *BOXING, "--config", "preview", "--farm", "slurm",
                          "--out", "out")),
    ("--config preview", ("background", "preview", "beach", "--config", "preview")),
    ("--passes-from cycles", ("render", *BOXING, "--config", "draft", "--passes", "depth",
                              "--passes-from", "cycles", "--out", "out")),
])
def test_what_needs_blender_is_refused_in_one_line(
    purpose: str, words: tuple[str | Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(invoke(*words), purpose)
    assert not any(tmp_path.rglob("out*"))


@pytest.mark.usefixtures("no_blender")
def test_rigged_figures_are_refused_with_a_cache_and_without(tmp_path: Path) -> None:
    for cache in (None, tmp_path):
        with pytest.raises(RequestError, match=re.escape(f"{SKINLESS}: Blender is not installed")):
            import_character(SKINLESS, cache)


@pytest.mark.usefixtures("no_blender")
def test_the_automatic_config_is_draft_and_says_so(tmp_path: Path) -> None:
    done = invoke("plan", *BOXING, "--json", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    [line] = done.stderr.splitlines()
    assert "Blender is not installed here, so --config draft is used" in line
    assert '"draft"' in done.stdout or "-draft" in done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("no_blender")
def test_what_needs_no_blender_does_without(tmp_path: Path) -> None:
    for words in (("list", "actions"), ("inspect", WALK),
                  ("retarget", WALK, "--character", "woman", "--out", tmp_path / "w.bvh"),
                  ("plan", *BOXING, "--config", "draft", "--out", tmp_path / "out")):
        done = invoke(*words)
        assert done.exit_code == 0, done.output
        assert "Blender" not in done.stderr


def test_a_worker_whose_blender_lacks_a_library_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bpy.py").write_text("raise ImportError('libSM.so.6: cannot open shared object')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = StageWorker("cpu", 1)
    try:
        answer = worker.connection.recv()
    finally:
        worker.kill()
    assert isinstance(answer, JobFailed)
    assert "libSM.so.6" in answer.message and "apt-get install libgl1" in answer.message


@pytest.mark.usefixtures("no_blender")
def test_a_failed_import_names_the_package() -> None:
    assert import_failure(ImportError("No module named 'bpy'")) == blender.INSTALL


def test_a_missing_system_library_is_named_with_the_packages() -> None:
    stderr = (b"Traceback (most recent call last):\nImportError: libXfixes.so.3: cannot open shared"
              b" object file: No such file or directory\n")
    with pytest.raises(RequestError, match=r"^w\.fbx: .*libXfixes\.so\.3 is missing; .*libxfixes3"):
        refuse_unloadable("w.fbx", stderr)
    refuse_unloadable("w.fbx", b"RuntimeError: no such file")


def test_packages_are_those_that_the_script_installs() -> None:
    script = (ROOT / "tools" / "system_libraries.sh").read_text()
    assert f'packages="{SYSTEM_LIBRARIES}"' in script


def test_no_module_outside_blender_folders_needs_bpy() -> None:
    """All commands and the API are imported by a Python that has none."""
    imported = ("import sys; sys.modules['bpy'] = None\n"
                "import importlib, mimegen.api, mimegen.cli\n"
                "[importlib.import_module(one) for one in mimegen.cli.COMMANDS.values()]")
    subprocess.run([sys.executable, "-c", imported], check=True)
