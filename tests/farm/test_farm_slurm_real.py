"""A real Slurm of two pretended machines, and what happens to jobs on it."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

import slurm_cluster
from mimegen.base.paths import data_folder
from running import command, frames_of, mimegen, rows_of

pytestmark = pytest.mark.render

LONGEST_S = 400.0
VARIANTS = "base+blank@0,woman+blank@0"
# Dots, and ground truth that needs no OpenGL.
MORE = ("--variants", f"{VARIANTS},pointlight@0", "--passes", "keypoints")


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("slurm")
    try:
        conf = slurm_cluster.start(folder)
    except slurm_cluster.CannotStartError as problem:
        pytest.skip(f"no Slurm starts here: {problem}")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SLURM_CONF", str(conf))
        yield folder
    slurm_cluster.stop(folder)


def config(folder: Path, samples: int) -> Path:
    """The preview config, small, and as slow as the samples make it."""
    content = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    content |= {"name": "small", "width": 160, "height": 90, "fps": 5}
    content["sampling"] |= {"samples": samples, "min_samples": samples, "denoise": False,
                            "adaptive_threshold": 0.0}
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return config(tmp_path_factory.mktemp("config"), 64)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    """What this machine makes of it."""
    out = tmp_path_factory.mktemp("local") / "out"
    done = mimegen(*request(small, out, *MORE))
    assert done.returncode == 0, done.stderr
    return out


def request(config: Path, out: Path, *more: object) -> list[object]:
    return ["render", "--action", "basketball", "--variants", VARIANTS, "--config", config,
            "--device", "cpu", "--out", out, *more]


def on_slurm(config: Path, out: Path, *more: object) -> list[object]:
    return request(config, out, "--farm", "slurm", "--workers", 2, *more)


def asked(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def jobs(*states: str) -> dict[str, str]:
    """The jobs of arrays in one of the states, and their machines."""
    rows = asked("squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%N").split()
    return {number: node for number, state, node in (row.split("|") for row in rows)
            if "_" in number and (not states or state in states)}


def queue_is_empty() -> bool:
    return not asked("squeue", "--noheader")


def wait_for(happened: Callable[[], object], driver: subprocess.Popen[str] | None = None) -> None:
    """Wait for what takes moments, or minutes where others need the processors too."""
    until = time.monotonic() + LONGEST_S
    while not happened():
        assert driver is None or driver.poll() is None, driver.communicate()
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.1)


def wait_for_frames(out: Path, count: int, driver: subprocess.Popen[str]) -> dict[Path, int]:
    wait_for(lambda: len(frames_of(out)) >= count, driver)
    return frames_of(out)


def started(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(command(*arguments), stderr=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, text=True,
                            # Whoever runs tests in the background passes on that it is ignored.
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


@pytest.fixture
def out(local: Path, tmp_path: Path) -> Path:
    """A folder whose store has the bodies and performances, which are not the matter here."""
    for kind in ("characters", "performances"):
        shutil.copytree(local / "store" / kind, tmp_path / "out" / "store" / kind)
    for facts in local.glob("store/shots/*/*/shot.json"):
        copy = tmp_path / "out" / facts.relative_to(local)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(facts, copy)
    return tmp_path / "out"


def assert_equal(out: Path, local: Path) -> None:
    """All clips that are there are as they should be, and so are their rows and frames."""
    rows, wanted = ({row["sample_id"]: row | {"passes": None} for row in rows_of(folder)}
                    for folder in (out, local))
    assert rows.items() <= wanted.items()
    assert len(list(out.glob("clips/*.mp4"))) == len(rows_of(out)) >= 2
    assert len(frames_of(out)) == len(frames_of(local)) == 46
    for path in [*frames_of(out), *out.glob("clips/*.mp4")]:
        assert (local / path.relative_to(out)).read_bytes() == path.read_bytes()


def logs(out: Path) -> str:
    return "".join(path.read_text() for path in (out / "logs").glob("*"))


def test_the_same_clips_as_on_this_machine(small: Path, local: Path, tmp_path: Path) -> None:
    done = mimegen(*on_slurm(small, tmp_path / "out", *MORE))
    assert done.returncode == 0, done.stderr
    assert_equal(tmp_path / "out", local)
    for folder in ("passes", "store/passes"):
        made, wanted = ({path.relative_to(place): path.read_bytes()
                         for path in (place / folder).rglob("*.*") if path.is_file()}
                        for place in (tmp_path / "out", local))
        assert made == wanted and made


def test_cancelled_requeued_and_on_a_machine_that_goes_down(
    small: Path, local: Path, out: Path
) -> None:
    """What was made before each of them stays, and all is made in the end."""
    driver = started(*on_slurm(small, out))
    kept = wait_for_frames(out, 4, driver)
    cancelled = next(iter(jobs("RUNNING")))
    asked("scancel", cancelled)
    kept |= wait_for_frames(out, len(frames_of(out)) + 3, driver)
    wait_for(lambda: jobs("RUNNING"), driver)
    requeued = next(iter(jobs("RUNNING")))
    asked("scontrol", "requeue", requeued)
    kept |= wait_for_frames(out, len(frames_of(out)) + 3, driver)
    wait_for(lambda: jobs("RUNNING"), driver)
    node = next(iter(jobs("RUNNING").values()))
    asked("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
    kept |= wait_for_frames(out, len(frames_of(out)) + 3, driver)
    asked("scontrol", "update", f"nodename={node}", "state=resume")
    _, said = driver.communicate(timeout=LONGEST_S)
    assert driver.returncode == 0, said
    assert_equal(out, local)
    made = frames_of(out)
    assert {path: made[path] for path in kept} == kept
    assert f"job {cancelled} on " in logs(out) and "CANCELLED" in logs(out)


def test_a_time_limit_that_is_too_short(small: Path, local: Path, out: Path) -> None:
    """The job comes to nothing more, so that Slurm ends it after a minute on any machine; another
    goes on from its frames.
    """
    driver = started(*on_slurm(small, out, "--workers", 1, "--slurm-partition", "short",
                               "--slurm-time", "0:30"))
    wait_for_frames(out, 3, driver)
    wait_for(lambda: jobs("RUNNING"), driver)
    asked("scancel", "--signal=STOP", "--full", next(iter(jobs("RUNNING"))))
    before = frames_of(out)
    wait_for(lambda: jobs("TIMEOUT"), driver)
    _, said = driver.communicate(timeout=LONGEST_S)
    assert driver.returncode == 0, said
    assert_equal(out, local)
    made = frames_of(out)
    assert len(before) < len(made) and {path: made[path] for path in before} == before
    assert "TIMEOUT; its log is" in logs(out) and "DUE TO TIME LIMIT" in logs(out)


def test_a_killed_driver_attaches_to_the_jobs_that_it_left(
    small: Path, local: Path, out: Path
) -> None:
    driver = started(*on_slurm(small, out))
    wait_for_frames(out, 4, driver)
    wait_for(lambda: len(jobs("RUNNING")) == 2, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    before, kept = jobs(), frames_of(out)
    done = mimegen(*on_slurm(small, out))
    assert done.returncode == 0, done.stderr
    assert_equal(out, local)
    assert jobs().keys() <= before.keys(), "nothing is submitted again; old ones are forgotten"
    made = frames_of(out)
    assert {path: made[path] for path in kept} == kept


def test_detached_all_is_made_while_nobody_waits(small: Path, local: Path, out: Path) -> None:
    wait_for(queue_is_empty)
    done = mimegen(*on_slurm(small, out, "--detach"))
    assert done.returncode == 0, done.stderr
    assert "scancel --name=mimegen-" in done.stdout and len(frames_of(out)) < 46
    wait_for(queue_is_empty)
    assert_equal(out, local)


def test_attached_again_nothing_is_submitted_twice(small: Path, local: Path, out: Path) -> None:
    assert mimegen(*on_slurm(small, out, "--detach")).returncode == 0
    before = jobs("RUNNING", "PENDING").keys()
    done = mimegen(*on_slurm(small, out))
    assert done.returncode == 0, done.stderr
    assert_equal(out, local)
    made = frames_of(out)
    assert jobs("RUNNING", "PENDING").keys() <= before
    wait_for(queue_is_empty)
    assert frames_of(out) == made


def test_jobs_see_their_gpu_and_one_that_does_not_start_is_said_in_its_words(
    small: Path, out: Path, tmp_path: Path
) -> None:
    """The pretended GPUs are none: Blender says so, in the end for every machine."""
    settings = tmp_path / "farm.yaml"
    settings.write_text("farm: slurm\nworkers: 2\nslurm_options: --nodelist=node1\n"
                        "slurm_setup: ['echo sees $CUDA_VISIBLE_DEVICES']\n")
    refused = mimegen(*request(small, out, "--device", "cuda", "--variants", "base+blank@0",
                               "--farm-config", settings))
    assert refused.returncode == 2
    assert "--device cuda:0: not on this machine" in refused.stderr
    assert "sees 0" in logs(out) and "sees 1" in logs(out)
    wait_for(queue_is_empty)


def test_a_partition_that_there_is_not_is_slurms_word(small: Path, out: Path) -> None:
    refused = mimegen(*on_slurm(small, out, "--slurm-partition", "gpus"))
    assert refused.returncode == 2
    assert "Slurm refuses the jobs" in refused.stderr and "invalid partition" in refused.stderr


def test_a_job_of_ours_ends_with_its_driver(small: Path, out: Path) -> None:
    """Ctrl-C: everything that was submitted is cancelled."""
    driver = started(*on_slurm(small, out))
    wait_for_frames(out, 2, driver)
    os.kill(driver.pid, signal.SIGINT)
    driver.communicate(timeout=LONGEST_S)
    assert driver.returncode == 130
    wait_for(queue_is_empty)
