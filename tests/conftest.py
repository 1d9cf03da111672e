import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import moderngl
import pytest
import yaml
from hypothesis import HealthCheck, settings

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.rendering.opengl.context import context_of_process
from places import SAMPLES
from running import mimegen

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# What else a machine has to do is no fault of a test.
settings.register_profile("random", deadline=None,
                          suppress_health_check=[HealthCheck.too_slow])
# The same examples on every run, so that a change is refused for what it changes and nothing else.
settings.register_profile("mimegen", settings.get_profile("random"), derandomize=True)
settings.register_profile("quick", settings.get_profile("mimegen"), max_examples=15)
settings.load_profile("mimegen")
# What a test asks for, or the folder in which it lies, says what it needs.
FIXTURES = {"browser": "browser", "context": "engines", "basketball": "render",
            "three_clips": "render"}
FOLDERS = {"rendering": "engines"}
NOT_FAST = {"render", "engines", "browser", "slow"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need; what needs nothing and is not marked slow is fast."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        names = [FIXTURES.get(name) for name in getattr(item, "fixturenames", ())]
        for name in filter(None, [*names, FOLDERS.get(folder)]):
            item.add_marker(name)
        if not NOT_FAST & {mark.name for mark in item.iter_markers()}:
            item.add_marker("fast")


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


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """A Chromium: the system's own, or the one that playwright has installed.

    Not of the session: while it runs, nothing else in this process can use asyncio.
    """
    playwright_api = pytest.importorskip("playwright.sync_api",
                                         reason="needs a browser: pip install 'mimegen[browser]'")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser",
                                                    "google-chrome"))), None)
    with playwright_api.sync_playwright() as playwright:
        try:
            running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        except playwright_api.Error as problem:
            pytest.skip(f"no Chromium here: {problem.message.splitlines()[0]}")
        yield running
        running.close()


Runner = Callable[..., subprocess.CompletedProcess[str]]
