"""Blender elsewhere: another Python's bpy or Blender's own program does what this Python's does."""

import os
import select
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from mimegen.base.blender import (
    BLENDER,
    SYSTEM_LIBRARIES,
    find_blender,
    require_release,
    using_blender,
)
from mimegen.base.errors import RequestError
from mimegen.rendering.worker import StageWorker
from mimegen.shots.jobs import JobFailed, Ready
from places import DATA
from running import command, invoke, rows_of

SKINLESS = DATA / "motion_without_skin.glb"
# mimegen in a process that has no bpy.
WITHOUT_BPY = "import sys; sys.modules['bpy'] = None; from mimegen.__main__ import run; run()"


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another environment with this one's packages."""
    folder = tmp_path_factory.mktemp("venv")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys._base_executable)  # type: ignore[attr-defined]
    for name in ("lib", "pyvenv.cfg"):
        (folder / name).symlink_to(Path(sys.prefix) / name)
    return folder


def program(path: Path, said: str, status: int = 0, errors: str = "") -> Path:
    """Write a program that answers all questions alike."""
    path.write_text(f"#!/bin/sh\necho '{said}'\necho '{errors}' >&2\nexit {status}\n")
    path.chmod(0o755)
    return path


def without_bpy(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT_BPY, *command(*arguments)[3:]],
                          capture_output=True, text=True, timeout=900)


def test_another_pythons_blender_makes_the_same_clips(
    three_clips: Path, tiny_config: Path, venv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = without_bpy("render", "--action", "basketball", "--variants",
                       "base+blank@0,base+aligned@0", "--config", tiny_config, "--blender", venv,
                       "--out", out)
    assert done.returncode == 0, done.stderr
    expected = {row["sample_id"]: row for row in rows_of(three_clips)}
    rows = rows_of(out)
    assert len(rows) == 2
    for row in rows:
        assert row["blender_version"] == version("bpy")
        for fact in ("sha256", "shot_key"):
            assert row[fact] == expected[row["sample_id"]][fact]


def test_files_are_read_and_written_by_another_python(venv: Path, tmp_path: Path) -> None:
    here = invoke("inspect", SKINLESS, "--json")
    done = without_bpy("inspect", SKINLESS, "--json", "--blender", venv)
    assert done.returncode == 0, done.stderr
    assert done.stdout == here.stdout and '"fps"' in done.stdout
    made = tmp_path / "made.glb"
    done = without_bpy("retarget", DATA / "left_handed.bvh", "--character", "man", "--out", made,
                       "--blender", venv / "bin" / "python")
    assert done.returncode == 0, done.stderr
    assert made.read_bytes().startswith(b"glTF")


def test_what_is_done_with_a_lent_blender_is_done_there(venv: Path) -> None:
    """Values, arrays, errors, annotations and identities behave as they do with bpy itself."""
    code = """
import sys
from mimegen.rendering.remote_blender import RemoteObject, use_remote_blender
use_remote_blender()
import bpy
import mathutils
import numpy as np
assert isinstance(bpy, RemoteObject) and "bpy" in repr(bpy)
bpy.ops.wm.read_factory_settings(use_empty=True)
mesh = bpy.data.meshes.new("plane")
mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
mesh.vertices.foreach_set("co", np.arange(9, dtype=np.float32))
found = np.empty(9, np.float32)
mesh.vertices.foreach_get("co", found)
assert found.tolist() == list(range(9)) and len(mesh.vertices) == 3
assert tuple(mesh.vertices[1].co) == (3.0, 4.0, 5.0)
assert [vertex.index for vertex in mesh.vertices] == [0, 1, 2]
placed = bpy.data.objects.new(mesh.name, mesh)
placed.matrix_world = mathutils.Matrix.Rotation(0.5, 4, "Z") @ mathutils.Matrix(np.eye(4).tolist())
assert isinstance(placed, bpy.types.Object) and not isinstance(mesh, bpy.types.Object)
assert not isinstance(3, bpy.types.Object)
assert placed.data == mesh and placed != mesh and mesh in {placed.data}
assert "plane" in bpy.data.meshes
assert not bpy.data.cameras and bpy.context.scene.camera is None
def annotated(one: bpy.types.Mesh | None) -> None: ...
for wrong, kind in ((lambda: mesh.no_such, AttributeError),
                    (lambda: bpy.data.meshes["x"], KeyError),
                    (lambda: bpy.ops.mesh.primitive_cube_add(size="x"), TypeError)):
    try:
        wrong()
    except kind as problem:
        assert str(problem)
    else:
        raise AssertionError(kind)
bpy.app.handlers  # The last that works.
try:
    bpy.utils._os._exit(3)
except SystemExit as ended:
    assert ended.code == 1
    print("ended")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300,
                          env=os.environ | {BLENDER: str(venv)})
    assert done.stdout == "ended\n", done.stderr


@pytest.mark.parametrize(("made", "said"), [
    (None, "no such file; expected Blender's program, a Python that has bpy"),
    ({"said": "Blender 3.4.1"}, "is Blender 3.4.1; mimegen needs 4.2 or later"),
    ({"said": "GNU sed 4.9"}, "is neither Blender nor Python"),
    ({"said": "", "status": 127, "errors": "blender: error while loading shared libraries:"
      " libXfixes.so.3: cannot open shared object file: No such file or directory"},
     f"libXfixes.so.3 is missing; install the system libraries it needs, on Debian or Ubuntu:"
     f" sudo apt-get install {SYSTEM_LIBRARIES}"),
    ({"said": "Python 3.12.1"}, "this Python has no bpy; install it there with pip install bpy"),
])
@pytest.mark.parametrize("by_option", [True, False])
def test_a_blender_that_cannot_be_used_is_refused_in_one_line(
    made: dict[str, str] | None, said: str, by_option: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "blender"
    if made is not None:
        program(path, **made)  # type: ignore[arg-type]
    words: tuple[object, ...] = ("--blender", path)
    if not by_option:
        monkeypatch.setenv(BLENDER, str(path))
        words = ()
    done = invoke("render", "--action", "boxing", "--variants", "base+blank@0", "--config",
                  "preview", "--out", tmp_path / "out", *words)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert said in done.stderr and str(path) in done.stderr
    assert ("--blender" if by_option else BLENDER) in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_program_that_is_no_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "blender"
    path.write_text("#!/bin/sh\n")
    with using_blender(path), pytest.raises(RequestError, match="does not start"):
        find_blender()


def test_a_worker_says_why_a_blender_does_not_start(tmp_path: Path) -> None:
    """A Blender that answers which release it is, and does not come up or comes up as another."""
    path = program(tmp_path / "blender", "Blender 4.5.0", 1, "Error: no display")
    with using_blender(path):
        worker = StageWorker("cpu", 1)
        try:
            answer = worker.connection.recv()
        finally:
            worker.kill()
    assert isinstance(answer, JobFailed)
    assert f"{path}: Blender does not start (Error: no display)" in answer.message
    assert "apt-get install" in answer.message


def test_the_blender_on_the_path_is_used_where_there_is_no_bpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bpy", None)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    path = program(tmp_path / "blender", "Blender 4.3.2 LTS")
    found = find_blender()
    assert found is not None and (found.path, found.version) == (path, "4.3.2")
    assert found.command("mimegen.readers.limited", "1")[1:3] == ["--background",
                                                                  "--factory-startup"]
    with pytest.raises(RequestError, match=r"^w\.fbx: needs Blender 4\.5 or later, and .* is 4\.3"):
        require_release("w.fbx", (4, 5))
    program(path, "Blender 3.4.1")
    os.utime(path, ns=(0, 1))
    assert find_blender() is None
    done = invoke("render", "--action", "boxing", "--config", "preview", "--out", tmp_path / "out")
    assert done.exit_code == 2 and "PATH" in done.stderr and "is Blender 3.4.1" in done.stderr


def test_workers_of_this_python_need_no_lent_blender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BLENDER, raising=False)
    found = find_blender()
    assert found is not None and found.is_own and found.version == version("bpy")


def test_a_lent_blender_ends_with_its_worker(venv: Path) -> None:
    with using_blender(venv):
        worker = StageWorker("cpu", 1)
    try:
        ready = worker.connection.recv()
        assert isinstance(ready, Ready) and ready.program == f"Blender {version('bpy')}"
        guests = _guests(venv)
        assert guests
    finally:
        worker.kill()
    assert not any(_runs(guest, 20.0) for guest in guests)


def _guests(venv: Path) -> list[int]:
    """Return the processes that lend the Blender of an environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if words.startswith(os.fsencode(venv)) and b"guest.py" in words:
            found.append(int(folder.name))
    return found


def _runs(process: int, timeout_s: float) -> bool:
    """Return whether a process is still there after a while."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return False
    try:
        return not select.select([handle], [], [], timeout_s)[0]
    finally:
        os.close(handle)
