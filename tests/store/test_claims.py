"""Jobs that share a store: each piece is made by one of them, and a dead one's by another."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mimegen.store import users
from mimegen.store.store import Store
from mimegen.store.users import Registration, running_jobs

CLAIM_AND_WAIT = """
import signal, sys
from pathlib import Path
from mimegen.store.store import Store
from mimegen.store.users import Registration
job = Registration(Store(Path(sys.argv[1])), Path("."))
print(sorted(job.claim(sys.argv[2:])), flush=True)
signal.pause()
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def other(store: Store) -> Iterator[subprocess.Popen[str]]:
    """Another job, which has claimed a and b."""
    process = subprocess.Popen([sys.executable, "-c", CLAIM_AND_WAIT, store.root, "a", "b"],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "['a', 'b']\n"
    yield process
    process.kill()
    process.wait()


@pytest.mark.slow
def test_what_another_job_makes_is_its_own_until_it_dies(
    store: Store, other: subprocess.Popen[str], tmp_path: Path
) -> None:
    mine = Registration(store, tmp_path)
    assert mine.claim(["a", "c"]) == {"c"}
    assert len(running_jobs(store)) == 2
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert mine.claim(["a"]) == {"a"}
    assert mine.claim(["a", "b", "c"]) == {"a", "b", "c"}
    mine.end()
    assert not list((store.root / "claims").glob("[abc]"))
    assert not running_jobs(store)


def test_what_is_given_up_is_anybodys(store: Store, tmp_path: Path) -> None:
    first, second = Registration(store, tmp_path), Registration(store, tmp_path)
    assert first.claim(["a"]) == {"a"} and second.claim(["a"]) == set()
    second.release("a")
    assert second.claim(["a"]) == set()
    first.release("a")
    assert second.claim(["a"]) == {"a"} and first.claim(["a"]) == set()


def test_a_silent_job_elsewhere_loses_its_claims_after_a_minute(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Registration(store, tmp_path)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(users, "unfinished_name",
                          lambda name: f".{name}.farm-7.{os.getpid()}.01234567.part")
        there = Registration(store, tmp_path)
    assert there.claim(["a"]) == {"a"} and here.claim(["a"]) == set()
    marker = next((store.root / "running").glob(".job.farm-7.*"))
    os.utime(marker, (time.time() - 55,) * 2)
    assert here.claim(["a"]) == set()
    os.utime(marker, (time.time() - 61,) * 2)
    assert here.claim(["a"]) == {"a"}
    there.sign()
    assert there.claim(["b"]) == {"b"} and here.claim(["b"]) == set()
    # It wakes, and does not take away what is another's now.
    there.release("a")
    assert (store.root / "claims" / "a").is_file()


@pytest.mark.slow
def test_a_job_elsewhere_is_judged_by_its_signs_whatever_runs_here(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process number means nothing here, and the time is that of the store's disk."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = Registration(store, tmp_path)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(users, "unfinished_name",
                          lambda name: f".{name}.farm-7.{ended.pid}.01234567.part")
        there = Registration(store, tmp_path)
    assert there.claim(["a"]) == {"a"} and here.claim(["a"]) == set()
    marker = next((store.root / "running").glob(".job.farm-7.*"))
    ahead = [0.0]
    monkeypatch.setattr(users, "clock_of", lambda folder: marker.stat().st_mtime + ahead[0])
    for ahead[0], free in ((-3600.0, False), (59.9, False), (60.0, True)):
        assert (here.claim(["a"]) == {"a"}) is free
    ahead[0] = 0.0
    assert there.claim(["b"]) == {"b"} and here.claim(["b"]) == set()
    marker.unlink()  # it has ended there, and left its claim
    assert here.claim(["b"]) == {"b"}


@pytest.mark.slow
def test_a_dead_job_here_loses_its_claims_however_fresh_its_last_sign(
    store: Store, tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    here = Registration(store, tmp_path)
    other.kill()
    other.wait()
    marker, = (path for path in (store.root / "running").glob(".job.*")
               if f".{other.pid}." in path.name)
    os.utime(marker, (time.time() + 3600,) * 2)
    assert here.claim(["b"]) == {"b"}


def test_a_job_that_ends_while_jobs_are_listed_is_left_out(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending, staying = Registration(store, tmp_path), Registration(store, tmp_path / "other")

    def and_one_ends(name: str) -> bool:
        ending.end()
        return True

    monkeypatch.setattr(users, "is_unfinished", and_one_ends)
    assert [job["out"] for job in running_jobs(store)] == [str(tmp_path / "other")]
    staying.end()
