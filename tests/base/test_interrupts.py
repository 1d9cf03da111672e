"""Ctrl-C at any moment: one line, exit status 130, and nothing that goes on."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from mimegen.base import interrupts
from mimegen.farm.local import LocalExecutor
from running import blender_processes, command, invoke, processes_of_group
from waiting import wait_until

pytestmark = pytest.mark.slow


class Running:
    """A command in a process group of its own, as a terminal has it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            words, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            # Whoever runs tests in the background passes on that it is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def interrupted(self) -> str:
        """Interrupt all of the group; return what was said, once it has ended as it should."""
        os.killpg(self.process.pid, signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 130, errors
        wait_until(lambda: not self.others(), 5.0)
        return errors

    def others(self) -> list[int]:
        """What lives of the group."""
        return processes_of_group(self.process.pid)

    def wait_for_workers(self, more_s: float) -> None:
        """Return so many seconds after the first process was started."""
        wait_until(lambda: blender_processes(self.process.pid) or self.process.poll() is not None)
        assert self.process.poll() is None
        # Nothing that can be seen tells a start's later moments from its first.
        time.sleep(more_s)


def one_line(said: str) -> bool:
    """Whether nothing else is said, but for what a job says of itself as it begins."""
    lines = [line for line in said.splitlines()
             if " of 1 shot on " not in line and not line.startswith("a worker renders with ")]
    return len(lines) == 1 and lines[0].startswith("mimegen: stopped")


RENDER = ("render", "--action", "boxing", "--variants", "base+blank@0", "--config", "draft")
EARLY: list[tuple[object, ...]] = [
    RENDER, ("plan", *RENDER[1:]), ("permute", "--count", "200"), ("questions", "."),
    ("study", "serve", "."), ("evaluate", "a", "b"), ("list", "actions")]


@pytest.mark.parametrize("words", EARLY, ids=lambda words: str(words[0]))
def test_while_packages_load(words: tuple[object, ...], tmp_path: Path) -> None:
    """As soon as Python runs our first line, which is seen by what it has loaded."""
    shown = tmp_path / "shown"
    watched = [sys.executable, "-c", "import pathlib\n"
               "from mimegen.base import early\n"
               "early.until_work_begins()\n"
               f"pathlib.Path({str(shown)!r}).touch()\n"
               "from mimegen.__main__ import run\n"
               "run()", *map(str, words)]
    running = Running(watched)
    wait_until(shown.exists)
    assert running.interrupted() == "mimegen: stopped\n"


@pytest.mark.parametrize("more_s", [0.0, 0.1, 0.5])
def test_while_the_first_worker_starts(tmp_path: Path, more_s: float) -> None:
    running = Running(command(*RENDER, "--out", tmp_path / "out", "--store", tmp_path / "store"))
    running.wait_for_workers(more_s)
    assert one_line(running.interrupted())


@pytest.mark.parametrize("more_s", [0.0, 0.3])
def test_while_permutations_are_looked_at(
    tmp_path: Path, more_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    running = Running(command("permute", "--count", 40, "--actions", "boxing", "--out",
                              tmp_path / "s.jsonl"))
    running.wait_for_workers(more_s)
    assert one_line(running.interrupted())
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize("more_s", [0.0, 0.3])
def test_while_a_file_is_read_by_blender(tmp_path: Path, more_s: float, samples: Path) -> None:
    file = next(samples.rglob("*.fbx"))
    running = Running(command("retarget", file, "--character", "man", "--out",
                              tmp_path / "x.fbx"))
    time.sleep(1.5 + more_s)
    assert one_line(running.interrupted())
    assert not (tmp_path / "x.fbx").exists()


def test_while_blender_is_at_work(tmp_path: Path, samples: Path) -> None:
    """What watches over Blender's time must not keep the program alive."""
    file = next(samples.rglob("*.fbx"))
    running = Running(command("retarget", file, "--character", "man", "--out", tmp_path / "x.fbx"))
    running.wait_for_workers(0.2)
    assert one_line(running.interrupted())
    assert not (tmp_path / "x.fbx").exists()


def test_where_it_is_ignored_it_stays_so() -> None:
    """As behind nohup, where a closed terminal must not end a night's work."""
    done = subprocess.run(
        [sys.executable, "-c", "import signal; from mimegen.base.early import until_work_begins\n"
         "until_work_begins(); print(signal.getsignal(2))"], capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert done.stdout.strip() == str(signal.SIG_IGN)


STARTS_WHILE_INTERRUPTED = """
import os, signal, sys, time
from mimegen.base import interrupts
def start():
    with interrupts.uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        print("started", flush=True)
    print("too late", flush=True)
try:
    start()
except KeyboardInterrupt:
    print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getsignal(2).__name__)
"""


def test_an_interrupt_waits_until_a_process_has_started() -> None:
    done = subprocess.run([sys.executable, "-c", STARTS_WHILE_INTERRUPTED], text=True,
                          capture_output=True,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert done.stdout == "started\nset() default_int_handler\n" and done.stderr == ""


def interrupted_mask(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_processes_that_are_started_never_see_it() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with interrupts.uninterrupted():
            found = pool.submit(interrupted_mask, 0)
        assert found.result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_threads_may_start_processes() -> None:
    ends: list[bool] = []

    def start() -> None:
        with interrupts.uninterrupted():
            ends.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert ends == [True]


def test_workers_end_where_one_of_them_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[str] = []

    class Second:
        def __init__(self, device: str, *_: object) -> None:
            if device == "second":
                raise KeyboardInterrupt
            self.device = device

        def kill(self) -> None:
            killed.append(self.device)

    monkeypatch.setattr("mimegen.farm.local.StageWorker", Second)
    with pytest.raises(KeyboardInterrupt):
        LocalExecutor(["first", "second"], 1)
    assert killed == ["first"]


CODE_FROM_A_STRING = """
from mimegen.base.interrupts import forget_interrupt
import sys
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    if sys.argv[1:]:
        forget_interrupt()
sys.exit(130)
"""


def test_the_status_is_130_wherever_it_came(tmp_path: Path) -> None:
    """Python itself ends by the signal where code from a string was interrupted."""
    (tmp_path / "stopped.py").write_text(CODE_FROM_A_STRING)
    words = [sys.executable, "-m", "stopped"]
    assert subprocess.run(words, cwd=tmp_path).returncode == -signal.SIGINT
    assert subprocess.run([*words, "forget"], cwd=tmp_path).returncode == 130


def test_without_a_process_of_its_own_a_command_says_so_too(monkeypatch: pytest.MonkeyPatch
                                                            ) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mimegen.cli.LazyGroup.get_command", interrupt)
    done = invoke("list", "actions")
    assert (done.exit_code, done.stderr) == (130, "mimegen: stopped\n")
