"""Faults of machines and disks while real Blenders render: nothing is lost or made twice."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from PIL import Image

from running import blender_processes, command, frames_of, mimegen, rows_of
from waiting import wait_until

pytestmark = pytest.mark.render

CELLS = "base+blank@0,base+blank@90,woman+blank@0"


def started(config: Path, out: Path, *more: object, variants: str = CELLS
            ) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("render", "--action", "basketball", "--variants", variants, "--config", config,
                "--out", out, *more), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def until(happened: Callable[[], object], run: subprocess.Popen[str]) -> None:
    wait_until(lambda: happened() or run.poll() is not None, 300.0)
    assert run.poll() is None, run.communicate()


def under_way(config: Path, out: Path, *more: object) -> subprocess.Popen[str]:
    """Start a run and return it when it has made a few frames."""
    run = started(config, out, *more)
    until(lambda: len(frames_of(out)) > 3, run)
    return run


def ended(run: subprocess.Popen[str]) -> str:
    _, errors = run.communicate(timeout=600)
    assert run.returncode == 0, errors
    return str(errors)


def clips(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "clips").iterdir()}


def made(out: Path) -> int:
    """Return how many frames all jobs of a folder made, as their journals say."""
    count = 0
    for journal in (out / "status").iterdir():
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        count += max([line["frames"] for line in lines if "frames" in line], default=0)
    return count


@pytest.fixture(scope="module")
def undisturbed(tiny_config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    ended(started(tiny_config, out))
    return out


def same(out: Path, undisturbed: Path) -> None:
    assert clips(out) == clips(undisturbed)
    assert rows_of(out) == rows_of(undisturbed)
    assert {path.relative_to(out) for path in frames_of(out)} == {
        path.relative_to(undisturbed) for path in frames_of(undisturbed)}
    assert not list((out / "store" / "claims").glob("[!.]*")), "claims are given up"


def test_two_drivers_share_the_work_and_make_nothing_twice(
    tiny_config: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    runs = [started(tiny_config, out, "--workers", 1) for _ in range(2)]
    said = [ended(run) for run in runs]
    same(out, undisturbed)
    assert made(out) == len(frames_of(out))
    assert sum(text.count(": done") for text in said) == 3
    assert sum(text.count(": already there") for text in said) == 3


def test_what_a_killed_driver_was_at_is_taken_over_by_one_that_waits(
    tiny_config: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = under_way(tiny_config, out, "--workers", 2)
    # Stopped, it is still alive: it must not be done before the other has begun.
    first.send_signal(signal.SIGSTOP)
    second = started(tiny_config, out, "--workers", 1)
    until(lambda: len(list((out / "status").iterdir())) > 1, second)
    first.kill()
    first.communicate()
    ended(second)
    same(out, undisturbed)
    # Signs of life come every five seconds, so that the killed one told of too few, never too many.
    assert made(out) <= len(frames_of(out)) + 2


def test_a_store_that_is_away_for_ten_seconds_is_waited_for(
    tiny_config: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = under_way(tiny_config, out, "--workers", 2)
    (out / "store").rename(tmp_path / "away")
    time.sleep(10)
    assert run.poll() is None and not (out / "store").exists(), "nothing is written in its place"
    (tmp_path / "away").rename(out / "store")
    said = ended(run)
    same(out, undisturbed)
    # Who was at work for long when it went waits without a word.
    assert ("waiting for it to come back" in said) == ("the store is back" in said)
    assert made(out) == len(frames_of(out))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "x", disk]
                                      ).returncode:
        pytest.skip("only root mounts a small disk, and not on every machine")
    yield disk
    subprocess.run(["umount", disk], check=True)


def fill(disk: Path) -> Path:
    """Leave no byte free."""
    path = disk / "filled"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(2**16))
    return path


def test_a_disk_that_fills_up_ends_the_run_in_one_line_and_the_rest_is_made_later(
    tiny_config: Path, undisturbed: Path, small_disk: Path
) -> None:
    out = small_disk / "out"
    run = under_way(tiny_config, out, "--workers", 1)
    filled = fill(small_disk)
    _, said = run.communicate(timeout=600)
    assert run.returncode == 2 and "Traceback" not in said
    assert "no space left on the disk while" in said.splitlines()[-1]
    kept = frames_of(out)
    filled.unlink()
    ended(started(tiny_config, out))
    same(out, undisturbed)
    assert frames_of(out).items() >= kept.items(), "what was made is kept"
    assert not list(out.rglob("*.part*"))


def test_a_worker_that_hangs_is_replaced(
    tiny_config: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out, farm = tmp_path / "out", tmp_path / "farm.yaml"
    farm.write_text("silence_s: 20\ntask_s: 1\n")
    run = under_way(tiny_config, out, "--workers", 1, "--farm-config", farm)
    os.kill(blender_processes(run.pid)[0], signal.SIGSTOP)
    ended(run)
    same(out, undisturbed)
    assert "nothing was heard of it for" in "".join(
        path.read_text() for path in (out / "logs").iterdir())


def test_a_frame_that_is_damaged_meanwhile_is_made_anew(
    tiny_config: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = started(tiny_config, out, "--workers", 1)
    until(lambda: frames_of(out), run)
    victim = next(iter(frames_of(out)))
    victim.write_bytes(victim.read_bytes()[:-20])
    said = ended(run)
    same(out, undisturbed)
    theirs = undisturbed / victim.relative_to(out)
    assert victim.read_bytes() == theirs.read_bytes()
    assert "frames are damaged; they are made anew" in said


def test_what_fails_for_good_is_named_with_host_and_log_and_the_rest_is_done(
    tiny_config: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "own" / "backgrounds"
    folder.mkdir(parents=True)
    Image.new("RGB", (12, 7)).save(folder / "stamp.png")
    (folder / "stamp.yaml").write_text(yaml.safe_dump({
        "name": "stamp", "description": "far too small", "licence": "CC0", "author": "nobody",
        "source": "here", "picture": {
            "file": "stamp.png", "horizon": 0.3, "camera_height_m": 1.6,
            "ground": [[0.1, 0.5], [0.9, 0.5], [0.9, 0.9], [0.1, 0.9]]}}))
    out = tmp_path / "out"
    done = mimegen("render", "--action", "basketball", "--variants", "base+blank@0,base+stamp@0",
                   "--config", tiny_config, "--library", tmp_path / "own", "--out", out)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "failed" in line]
    assert "basketball_shot" in line and "stamp" in line
    assert socket.gethostname() in line and str(out / "logs") in line
    assert len(rows_of(out)) == 1
