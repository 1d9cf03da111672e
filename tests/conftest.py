import glob
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import moderngl
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, settings

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.cli import main
from mimegen.rendering.opengl.context import context_of_process

# What else a machine has to do is no fault of a test.
settings.register_profile("mimegen", deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mimegen")
SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "mocap-samples"


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What jobs of tests measure does not tell users how fast their machines are."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of real motion capture, which does not come with the project."""
    if not SAMPLES.is_dir():
        pytest.skip("the mocap samples are not beside this checkout")
    return SAMPLES


@pytest.fixture(scope="session")
def context() -> moderngl.Context:
    """The OpenGL of the tests' process."""
    try:
        return context_of_process(1)
    except RequestError as problem:
        pytest.skip(str(problem))


@pytest.fixture(scope="session")
def tiny_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The preview config at a size and frame rate that a test can afford."""
    config = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    config |= {"name": "tiny", "width": 96, "height": 54, "fps": 5}
    config["sampling"] |= {"samples": 2, "min_samples": 1, "denoise": False}
    config["set_sampling"] |= {"samples": 2, "min_samples": 1, "denoise": False}
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def mimegen(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=900)


def invoke(*arguments: object) -> Result:
    """Run the command line in this process, which is quicker where nothing is rendered."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "mimegen", *map(str, arguments)]


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]


def blender_processes(parent: int) -> list[int]:
    """The worker processes that a run has spawned."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            owner = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            said = (folder / "cmdline").read_bytes()
            if owner == parent and (b"mimegen.rendering.serving" in said or b"spawn_main" in said):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def leave_as_killed(path: Path) -> None:
    """Leave beside a file what a process leaves that is killed while it makes the file."""
    code = """
import os, signal, sys
from pathlib import Path
from mimegen.base.files import publishing
with publishing(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    before = set(path.parent.glob(".*"))
    subprocess.run([sys.executable, "-c", code, path])
    assert len(set(path.parent.glob(".*")) - before) == 1


def frames_of(out: Path) -> dict[Path, int]:
    """The frames in the store of an output folder, with the times they were written."""
    # Unlike pathlib's, this glob passes over folders that are renamed while it looks.
    found = map(Path, glob.glob(str(out / "store/shots/*/*/*.npz")))  # noqa: PTH207
    return {path: path.stat().st_mtime_ns for path in found}


@pytest.fixture(scope="session")
def basketball(tmp_path_factory: pytest.TempPathFactory, tiny_config: Path) -> Path:
    """The output of the main job, made once."""
    out = tmp_path_factory.mktemp("main") / "out"
    done = mimegen("render", "--action", "basketball", "--variants", "all", "--config",
                   tiny_config, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def three_clips(tmp_path_factory: pytest.TempPathFactory, tiny_config: Path) -> Path:
    """The output of a small job, not to be changed: two clips of one shot, and one of dots."""
    out = tmp_path_factory.mktemp("small") / "out"
    done = mimegen("render", "--action", "basketball", "--variants",
                   "base+blank@0,base+aligned@0,pointlight@0", "--config", tiny_config,
                   "--out", out)
    assert done.returncode == 0, done.stderr
    return out


Runner = Callable[..., subprocess.CompletedProcess[str]]
