import errno
import hashlib
import os
import re
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.files import (
    content_key,
    file_hash,
    publish,
    publish_once,
    publishing,
    scratch_folder,
    stamp,
)
from mimegen.store.frames import Frame, frame_name, frame_to_bytes, read_frame
from mimegen.store.makers import makers, note_maker
from mimegen.store.shotfacts import ShotFacts
from mimegen.store.store import Store
from running import leave_as_killed


def write_frames(store: Store, key: str, count: int) -> list[Path]:
    rng = np.random.default_rng(3)
    files = []
    for number in range(count):
        frame = Frame((64, 48), rng.integers(0, 256, (20, 10, 4), dtype=np.uint8), (5, 6),
                      rng.integers(0, 256, (8, 12), dtype=np.uint8), (0, 40))
        path = store.shot_folder(key) / frame_name(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(frame_to_bytes(frame))
        files.append(path)
    return files


def test_a_frame_reads_back_as_written(tmp_path: Path) -> None:
    path, = write_frames(Store(tmp_path), "k", 1)
    frame = read_frame(path)
    assert frame.size == (64, 48) and frame.figure_at == (5, 6) and frame.shadow_at == (0, 40)
    path.write_bytes(frame_to_bytes(frame))
    again = read_frame(path)
    assert np.array_equal(again.figure, frame.figure)
    assert np.array_equal(again.shadow, frame.shadow)


def test_missing_and_damaged_frames_are_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    files = write_frames(store, "k", 4)
    assert store.missing("k", 5).tolist() == [False, False, False, False, True]
    data = bytearray(files[2].read_bytes())
    data[len(data) // 2] ^= 0xFF
    files[2].write_bytes(data)
    files[1].write_bytes(files[1].read_bytes()[:100])
    assert store.missing("k", 4).tolist() == [False, True, True, False]
    assert not files[2].exists()
    files[0].unlink()
    assert store.missing("k", 5).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("content", [b"", b"PK", os.urandom(300)])
def test_a_file_that_is_no_frame_is_damaged(tmp_path: Path, content: bytes) -> None:
    store = Store(tmp_path)
    files = write_frames(store, "k", 1)
    files[0].write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(str(files[0]))):
        read_frame(files[0])
    assert store.missing("k", 1).all()


@given(st.integers(0, 10**6), st.integers(0, 7))
def test_any_flipped_bit_is_noticed_or_harmless(tmp_path_factory: pytest.TempPathFactory,
                                                place: int, bit: int) -> None:
    path, = write_frames(Store(tmp_path_factory.mktemp("s")), "k", 1)
    good = read_frame(path)
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= 1 << bit
    path.write_bytes(data)
    try:
        frame = read_frame(path)
    except ValueError:
        return
    assert np.array_equal(frame.figure, good.figure)
    assert np.array_equal(frame.shadow, good.shadow)


def test_publish_leaves_nothing_beside(tmp_path: Path) -> None:
    publish(tmp_path / "a.json", "one")
    publish(tmp_path / "a.json", "two")
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "two"


def test_keys_ignore_the_order_of_names_but_no_value() -> None:
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key({"a": 1.0}) != content_key({"a": 1.5})
    assert content_key("a", "b") != content_key("ab")


def test_keys_stay_what_they_were_so_that_stores_of_before_are_found() -> None:
    assert content_key("shot", [1, 2.5, None], {"b": True, "a": "é"}) == (
        "dcf0f3cb687e14279fd171fd2440ee18dc920265887229e79c4dea1fbdeae411")


def test_leftovers_of_killed_writers_are_swept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    frame, = write_frames(store, "k", 1)
    still = store.still("5ab1")
    still.parent.mkdir(parents=True)
    still.write_bytes(b"whole")
    leave_as_killed(frame)
    leave_as_killed(still)
    with publishing(frame) as alive:
        alive.write_bytes(b"half")
        store.sweep(["k"])
        assert alive.exists()
    store.sweep(["k"])
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "000000.npz", "5ab1.png"]


def test_what_is_recorded_is_found_again_under_its_own_key_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.shot_facts("a") is None and store.clip_row("a") is None
    store.record_shot("a", {"frames": 3, "device": "Ł"})
    store.record_clip("a", {"label": "walking ü"})
    store.record_shot("b", {"frames": 4})
    again = Store(tmp_path)
    assert again.shot_facts("a") == ShotFacts(frames=3, device="Ł")
    assert again.clip_row("a") == {"label": "walking ü"}
    assert again.shot_facts("b") == ShotFacts(frames=4) and again.clip_row("b") is None
    places = [store.shot_folder("a"), store.shot_folder("b"), store.still("a"), store.still("b")]
    assert len(set(places)) == 4 and all(place.is_relative_to(tmp_path) for place in places)
    assert store.still("a").suffix == ".png"


def test_a_clip_that_is_forgotten_counts_as_not_made_and_no_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.record_clip("aa1", {"label": "one"})
    store.record_clip("bb2", {"label": "two"})
    publish(tmp_path / "clips" / "bb" / "bb3.json", "{torn")
    assert list(store.clip_rows()) == [{"label": "one"}, {"label": "two"}]
    store.clip_record("aa1").unlink()
    assert store.clip_row("aa1") is None
    assert list(store.clip_rows()) == [{"label": "two"}]


def test_a_record_that_is_torn_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for content in ("", "{", "[1]", "\x00"):
        store.record_shot("a", {"frames": 3})
        (store.shot_folder("a") / "shot.json").write_text(content)
        assert store.shot_facts("a") is None


def test_frames_found_whole_are_not_read_again_until_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(path: Path) -> Frame:
        read.append(path.name)
        return read_frame(path)

    monkeypatch.setattr("mimegen.store.store.read_frame", noted)
    files = write_frames(Store(tmp_path), "k", 3)
    assert not Store(tmp_path).missing("k", 3).any() and len(read) == 3
    noted_whole = Store(tmp_path).shot_folder("k") / "whole.json"
    os.utime(noted_whole, ns=(5, 5))
    assert not Store(tmp_path).missing("k", 3).any() and len(read) == 3
    assert noted_whole.stat().st_mtime_ns == 5
    os.utime(files[1], ns=(1, 1))
    assert not Store(tmp_path).missing("k", 3).any() and read[3:] == [files[1].name]
    files[1].write_bytes(files[1].read_bytes()[:-1])
    assert Store(tmp_path).missing("k", 4).tolist() == [False, True, False, True]


def test_nothing_is_written_for_a_shot_that_nobody_has_begun(tmp_path: Path) -> None:
    assert Store(tmp_path).missing("unknown", 2).tolist() == [True, True]
    assert list(tmp_path.iterdir()) == []


def test_every_kind_of_processor_that_made_frames_of_a_shot_is_told_once(tmp_path: Path) -> None:
    folder = Store(tmp_path).shot_folder("k")
    assert makers(folder) == ()
    folder.mkdir(parents=True)
    for cpu in ("x86_64 Other", "aarch64 One", "x86_64 Other"):
        note_maker(folder, cpu)
    assert makers(folder) == ("aarch64 One", "x86_64 Other")


KEY = "ab" + 62 * "0"


def test_everything_lies_where_the_store_says(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.character(KEY) == tmp_path / "characters" / "ab" / f"{KEY}.npz"
    assert store.performance(KEY) == tmp_path / "performances" / "ab" / f"{KEY}.npz"
    assert store.shot_folder(KEY) == tmp_path / "shots" / "ab" / KEY
    assert store.still(KEY) == tmp_path / "stills" / "ab" / f"{KEY}.png"
    assert store.scratch == tmp_path / "scratch"
    store.record_shot(KEY, cast(ShotFacts, {}))
    store.record_clip(KEY, {})
    assert (tmp_path / "shots" / "ab" / KEY / "shot.json").is_file()
    recorded = tmp_path / "clips" / "ab" / f"{KEY}.json"
    os.utime(recorded, ns=(7, 7))
    assert store.clip_recorded(KEY) == 7 and store.clip_recorded("other") == 0
    assert [frame_name(0), frame_name(123456)] == ["000000.npz", "123456.npz"]


def test_pieces_of_a_store_of_before_are_found_where_they_lie(tmp_path: Path) -> None:
    for name in (f"shots/{KEY}/shot.json", f"stills/{KEY}.png", f"clips/{KEY}.json"):
        publish(tmp_path / name, '{"frames": 2}')
    store, other = Store(tmp_path), "cd" + 62 * "1"
    assert store.shot_folder(KEY) == tmp_path / "shots" / KEY
    assert store.still(KEY) == tmp_path / "stills" / f"{KEY}.png"
    assert store.shot_facts(KEY) == store.clip_row(KEY) == {"frames": 2}
    assert store.shot_folder(other) == tmp_path / "shots" / "cd" / other
    store.record_shot(other, {"frames": 3})
    assert Store(tmp_path).shot_facts(other) == ShotFacts(frames=3)
    old = store.still(KEY)
    leave_as_killed(old)
    store.sweep([])
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_a_frame_may_be_empty_and_is_packed_small(tmp_path: Path) -> None:
    empty = Frame((64, 48), np.zeros((0, 0, 4), np.uint8), (0, 0), np.zeros((0, 0), np.uint8),
                  (3, 4))
    (tmp_path / "a.npz").write_bytes(frame_to_bytes(empty))
    back = read_frame(tmp_path / "a.npz")
    assert back.figure.shape == (0, 0, 4) and back.shadow.shape == (0, 0)
    assert (back.size, back.figure_at, back.shadow_at) == ((64, 48), (0, 0), (3, 4))
    plain = Frame((640, 480), np.full((480, 640, 4), 7, np.uint8), (0, 0),
                  np.zeros((480, 640), np.uint8), (0, 0))
    assert len(frame_to_bytes(plain)) < 640 * 480 / 40


def test_keys_are_of_values_that_json_has() -> None:
    assert re.fullmatch("[0-9a-f]{64}", content_key("a", 1, None))
    assert content_key("ü") != content_key("u") and content_key([1, 2]) != content_key([2, 1])
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError):
            content_key(number)


def test_a_file_is_hashed_again_where_it_was_written_again(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    assert file_hash(path) == hashlib.sha256(b"one").hexdigest()
    first, mark = file_hash(path), stamp(path)
    os.utime(path, ns=(5, 5))
    path.write_bytes(b"longer")
    os.utime(path, ns=(5, 5))
    longer = file_hash(path)
    publish(path, b"other!")
    os.utime(path, ns=(5, 5))
    assert len({first, longer, file_hash(path)}) == 3, "as long and as old, but another file"
    assert stamp(path) == (5, 6) != mark and stamp(tmp_path / "none") is None


def test_the_first_of_many_who_make_the_same_stays(tmp_path: Path) -> None:
    publish_once(tmp_path / "in" / "a", b"first")
    publish_once(tmp_path / "in" / "a", b"second")
    assert (tmp_path / "in" / "a").read_bytes() == b"first"


def test_readers_see_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for synced in (False, True):
        publish(path, "old", synced)
        with publishing(path, synced) as part:
            assert part.parent == path.parent
            part.write_text("ne")
            assert path.read_text() == "old"
            part.write_text("new")
        assert path.read_text() == "new"


def test_what_must_outlast_a_loss_of_power_waits_for_the_disk(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    sync = os.fsync

    def noted(opened: int) -> None:
        waited.append(str(Path(f"/proc/self/fd/{opened}").readlink()))
        sync(opened)

    monkeypatch.setattr(os, "fsync", noted)
    publish(tmp_path / "a", "x")
    assert not waited
    publish(tmp_path / "a", "x", synced=True)
    assert len(waited) == 2 and waited[1] == str(tmp_path.resolve()) != waited[0]


def test_a_scratch_folder_is_nobody_elses_and_made_where_there_is_none(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "a" / "b") as folder:
        assert folder.parent == tmp_path / "a" / "b" and folder.stat().st_mode & 0o777 == 0o700
        assert "mimegen" in folder.name
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match="cannot be written"), \
            scratch_folder(tmp_path / "file" / "in"):
        pass


def test_others_errors_while_a_file_is_made_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="elsewhere"), publishing(tmp_path / "a"):
        (tmp_path / "elsewhere").read_bytes()
    assert not list(tmp_path.iterdir())


def test_a_leftover_that_somebody_still_writes_in_stops_nobody(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOTEMPTY, "not empty")

    with scratch_folder(tmp_path) as folder:
        (folder / "in").mkdir()
        monkeypatch.setattr(os, "rmdir", refuse)
    publish(tmp_path / "a", "x")
    assert (tmp_path / "a").read_text() == "x"
