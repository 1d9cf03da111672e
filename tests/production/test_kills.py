"""Many writers of one output folder, killed at random; benchmarks/kills.py does it 100 times."""

import time
from multiprocessing import get_context
from pathlib import Path

import pytest

import kills
from mimegen.base.errors import RequestError
from mimegen.base.locks import locked
from mimegen.manifest.file import add_rows, read_manifest, typed_row

CONTEXT = get_context("fork")


def test_killed_writers_on_two_machines_lose_tear_and_leave_nothing(tmp_path: Path) -> None:
    killed = finished = 0
    # A fast machine's writers are done before they die, a slow one's die before they are done.
    for life in (2.0, 0.5, 1.0, 0.2, 4.0, 0.1):
        found = kills.torture(tmp_path / f"out-{life}", rounds=2, longest_life_s=life)
        assert found.wrong == []
        killed, finished = killed + found.killed, finished + found.finished
        if killed > 5 and finished > 5:
            return
    raise AssertionError(f"{killed} writers killed, {finished} clips finished: too few of one")


def test_rows_of_many_writers_all_stay(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()

    def add(writer: int) -> None:
        for number in range(10):
            name = f"{writer}-{number}"
            (tmp_path / "clips" / f"{name}.mp4").touch()
            add_rows(tmp_path, [typed_row(kills.row_content(name, "ab" * 32))])

    writers = [CONTEXT.Process(target=add, args=(writer,)) for writer in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(read_manifest(tmp_path)) == 60


def test_a_lock_ends_with_its_killed_holder(tmp_path: Path) -> None:
    inside = CONTEXT.Event()

    def hold() -> None:
        with locked(tmp_path / "manifest.jsonl"):
            inside.set()
            time.sleep(60)

    holder = CONTEXT.Process(target=hold)
    holder.start()
    assert inside.wait(30)
    holder.kill()
    with locked(tmp_path / "manifest.jsonl"):
        holder.join()


def test_a_place_that_does_not_lock_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                            ) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(RequestError, match="does not support locks"), locked(tmp_path / "a"):
        pass
