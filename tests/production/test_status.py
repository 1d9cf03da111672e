"""Status tells from files alone how far jobs are, whoever runs them and however they end."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.commands.status import _text
from mimegen.farm.handed import queue_name
from mimegen.farm.spool import Spool
from mimegen.production.journal import Journal, _reason
from mimegen.production.prune import prune
from mimegen.production.status import status
from mimegen.store.store import Store
from mimegen.store.users import running_jobs
from running import command, frames_of, invoked
from waiting import wait_until


def told(out: Path) -> dict[str, Any]:
    done = invoked("status", out, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_after_a_job_all_is_done(three_clips: Path) -> None:
    said = told(three_clips)
    assert said["clips"] == {"done": 3, "waiting": 0, "failed": 0, "stopped": 0}
    (shot,) = said["shots"].values()
    assert shot["state"] == "done" and shot["frames"] == shot["of"] == len(frames_of(three_clips))
    (job,) = said["jobs"]
    assert job["ended"] and not job["runs"] and not job["tasks"] and job["frames"] == shot["of"]
    assert "3 done" in invoked("status", three_clips, "--watch").stdout
    assert not running_jobs(Store(three_clips / "store"))


def test_a_running_job_is_seen_and_so_is_that_it_was_killed(
    tiny_config: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run = subprocess.Popen(command("render", "--action", "basketball", "--variants",
                                   "base+blank@0", "--config", tiny_config, "--out", out,
                                   "--workers", "1"), start_new_session=True)
    try:
        wait_until(lambda: len(frames_of(out)) >= 2 or run.poll() is not None, 300.0)
        assert run.poll() is None
        said = status(out)
        (job,), (shot,) = said["jobs"], said["shots"].values()
        assert job["runs"] and job["pid"] == run.pid and job["seconds_since_sign"] < 60
        assert job["tasks"] and "basketball" in job["tasks"][0]["title"]
        assert shot["state"] == "running" and 2 <= shot["frames"] <= shot["of"]
        assert said["clips"]["waiting"] == 1
        assert [job["pid"] for job in running_jobs(Store(out / "store"))] == [run.pid]
    finally:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    said = status(out)
    assert not said["jobs"][0]["runs"] and said["clips"]["stopped"] == 1
    assert said["clips"]["failed"] == said["not_reached"] == 0
    text = invoked("status", out).stdout
    assert "was killed" in text and "run the same command again" in text and "1 stopped" in text
    assert not running_jobs(Store(out / "store"))


def test_a_journal_that_another_job_removes_stops_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "status"
    folder.mkdir()
    # As a journal is that goes between being listed and being looked at.
    (folder / "0.jsonl").symlink_to(folder / "gone.jsonl")
    with Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1, "shots": 1, "devices": []}):
        pass
    assert len(list(folder.glob("*.jsonl"))) == 2


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What makes this process one on another machine."""
    return lambda: monkeypatch.setattr("mimegen.base.owners.this_host", lambda: "another-1234")


def test_another_machine_sees_signs_of_life_failures_and_rates(
    tmp_path: Path, elsewhere: Callable[[], None]
) -> None:
    store = Store(tmp_path / "store")
    with Journal(tmp_path, store, {"clips": 5, "shots": 2, "devices": ["cpu"]}) as journal:
        journal.shot("ab12", "a dance @0", 4, ["dance-blank", "dance-beach"])
        journal.task("a dance, frames 0-3", "worker 7")
        store.shot_folder("ab12").mkdir(parents=True)
        (store.shot_folder("ab12") / "000000.npz").touch()
        journal.frame()
        journal.clip("dance-beach", "no space")
        time.sleep(0.05)
        journal._sign()
        elsewhere()
        said = status(tmp_path)
    (job,) = said["jobs"]
    assert job["runs"] and job["tasks"][0]["worker"] == "worker 7"
    assert said["clips"] == {"done": 0, "waiting": 1, "failed": 1, "stopped": 0}
    assert said["not_reached"] == 3
    assert said["clip_states"]["dance-beach"]["why"] == "no space"
    assert said["shots"]["ab12"]["frames"] == 1
    # Three frames of this shot, and another shot like it.
    assert job["frames_per_s"] > 0 and job["left_s"] == pytest.approx(7 / job["frames_per_s"], 0.2)


def test_a_silent_job_elsewhere_is_not_taken_to_run(
    tmp_path: Path, elsewhere: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1, "shots": 1})._over.set()
    elsewhere()
    assert status(tmp_path)["jobs"][0]["runs"]
    later = time.time() + 600
    monkeypatch.setattr("mimegen.production.status.time.time", lambda: later)
    assert not status(tmp_path)["jobs"][0]["runs"]


@pytest.mark.parametrize(("error", "stopped", "unreached"), [
    (KeyboardInterrupt(), 1, 3), (RequestError("disk full"), 1, 3), (None, 1, 0)])
def test_clips_of_a_job_that_ended_early_are_stopped_and_its_others_are_counted(
    tmp_path: Path, error: BaseException | None, stopped: int, unreached: int
) -> None:
    store, facts = Store(tmp_path / "store"), {"clips": 5, "shots": 2}
    with suppress(KeyboardInterrupt, RequestError), Journal(tmp_path, store, facts) as journal:
        journal.shot("ab12", "a dance @0", 4, ["dance-blank", "dance-beach"])
        journal.clip("dance-beach", "no hands")
        if error is not None:
            raise error
    said, text = status(tmp_path), _text(status(tmp_path))
    assert said["clips"] == {"done": 0, "waiting": 0, "failed": 1, "stopped": stopped}
    assert said["not_reached"] == unreached
    assert said["clip_states"]["dance-blank"]["why"] == (
        _reason(error) or "its job was stopped before it was made")
    assert "run the same command again to make them" in text
    assert "dance-beach  failed: no hands" in text and "dance-blank  stopped: " in text
    # The job that makes the rest leaves nothing behind.
    with Journal(tmp_path, store, facts) as journal:
        assert "not reached yet" in _text(status(tmp_path))
        for name in ("dance-blank", "dance-beach", "dance-boat", "dance-bar", "dance-gym"):
            journal.clip(name)
    assert status(tmp_path)["clips"] == {"done": 5, "waiting": 0, "failed": 0, "stopped": 0}
    assert status(tmp_path)["not_reached"] == 0 and "again" not in _text(status(tmp_path))


def test_the_later_job_counts_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    for days_back, why in ((0, "no space"), (2, None)):
        monkeypatch.setattr("mimegen.production.journal.time.time",
                            lambda back=days_back: now - 86400 * back)
        with Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1, "shots": 1}) as journal:
            journal.clip("dance-blank", why)
    said = status(tmp_path)
    assert said["clips"] == {"done": 1, "waiting": 0, "failed": 0, "stopped": 0}
    assert said["jobs"][0]["since"] == pytest.approx(now - 2 * 86400, abs=1)


def test_the_journal_of_a_running_job_is_kept_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mimegen.production.journal.MAX_KEPT", 2)
    for _ in range(4):
        with Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1}):
            pass
        # As if all had been written in the future.
        for path in (tmp_path / "status").iterdir():
            os.utime(path, (time.time() + 86400,) * 2)
    with Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1}) as running:
        with Journal(tmp_path, Store(tmp_path / "store"), {"clips": 1}):
            pass
        assert running._file.exists()


def test_half_a_line_is_no_line(three_clips: Path, tmp_path: Path) -> None:
    out = shutil.copytree(three_clips, tmp_path / "out")
    (journal,) = (out / "status").iterdir()
    journal.write_bytes(journal.read_bytes()[:-7] + b"\n[]\n\xff{}")
    assert status(out)["clips"]["done"] == 3


def test_where_no_job_began_is_a_wrong_request(tmp_path: Path) -> None:
    done = invoked("status", tmp_path / "absent")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("error", "said"), [
    (None, None), (KeyboardInterrupt(), "KeyboardInterrupt"),
    (RequestError("disk full"), "disk full"), (SystemExit(15), "stopped with exit status 15")])
def test_a_job_that_ends_has_a_reason_in_words(error: BaseException | None, said: str | None
                                               ) -> None:
    assert _reason(error) == said


def handed_over(out: Path) -> Spool:
    """Two tasks as --detach leaves them to Slurm's jobs, of which one has begun."""
    spool = Spool(out / "slurm" / "0123456789ab")
    spool.make()
    for _ in range(2):
        spool.put({})
    spool.take("7_0")
    spool.complete = True
    return spool


def test_what_was_left_to_slurm_is_said_before_any_job_has_a_journal(tmp_path: Path) -> None:
    spool = handed_over(tmp_path)
    (left,) = told(tmp_path)["slurm"]
    assert (left["waiting"], left["jobs"]) == (1, ["7_0"])
    assert left["name"] == queue_name(spool.folder)
    said = invoked("status", tmp_path).stdout
    assert "1 tasks waiting, 1 taken by jobs" in said and f"squeue --name={left['name']}" in said
    spool.take("7_0")
    for name in spool.taken():
        spool.done(name, "7_0")
    assert told(tmp_path)["slurm"], "the last job has not written the manifest"


def test_finished_clips_do_not_hide_what_is_left_to_slurm(
    three_clips: Path, tmp_path: Path
) -> None:
    shutil.copytree(three_clips, tmp_path / "out")
    assert told(tmp_path / "out")["slurm"] == []
    handed_over(tmp_path / "out")
    assert len(told(tmp_path / "out")["slurm"]) == 1


def test_frames_of_jobs_of_slurm_are_not_pruned(three_clips: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(three_clips, out)
    handed_over(out)
    before = frames_of(out)
    (out / "manifest.jsonl").write_text("")
    with pytest.raises(RequestError, match="jobs of Slurm write there"):
        prune(Store(out / "store"), [out])
    assert frames_of(out) == before
