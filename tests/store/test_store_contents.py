"""What a store holds, piece by piece; who uses it; arrays of ground truth in it."""

import os
import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.files import publish
from mimegen.base.owners import this_host
from mimegen.store import disk
from mimegen.store.contents import KINDS, StoredPiece, pieces
from mimegen.store.passes import is_intact, pack_arrays, read_arrays
from mimegen.store.shotfacts import ShotFacts
from mimegen.store.store import Store
from mimegen.store.users import Registration, running_jobs
from running import leave_as_killed

KEY = "ab" + 62 * "0"
OTHER = "cd" + 62 * "1"


def filled(root: Path) -> Store:
    """A store with a piece of each kind."""
    store = Store(root)
    store.record_shot(KEY, {"frames": 1})
    publish(store.shot_folder(KEY) / "000000.npz", b"12345")
    store.record_pass(KEY, {"kind": "depth"})
    store.record_clip(KEY, {"label": "ü"})
    for place in (store.still(KEY), store.character(KEY), store.performance(KEY),
                  store.picture(KEY, ".jpg"), store.encoded(KEY)):
        publish(place, b"123")
    return store


def the(store: Store, kind: str) -> StoredPiece:
    found, = pieces(store, [kind])
    return found


def test_each_kind_of_piece_is_found_where_the_store_puts_it(tmp_path: Path) -> None:
    store = filled(tmp_path)
    leave_as_killed(store.still(KEY))
    assert [(piece.kind, piece.key) for piece in pieces(store)] == [(kind, KEY) for kind in KINDS]
    assert [piece.path for piece in pieces(store, ["pictures", "encoded"])] == [
        tmp_path / "pictures" / "ab" / f"{KEY}.jpg", tmp_path / "encoded" / "ab" / f"{KEY}.mp4"]
    assert list(pieces(Store(tmp_path / "none"))) == []
    store.record_clip(OTHER, {})
    assert [piece.key for piece in pieces(store, ["clips"])] == [KEY, OTHER]


def test_pieces_of_stores_of_before_are_found_too(tmp_path: Path) -> None:
    publish(tmp_path / "clips" / f"{KEY}.json", "{}")
    publish(tmp_path / "shots" / OTHER / "shot.json", "{}")
    assert [(piece.kind, piece.key) for piece in pieces(Store(tmp_path))] == [
        ("shots", OTHER), ("clips", KEY)]


def test_what_others_keep_in_a_store_is_no_piece_of_it(tmp_path: Path) -> None:
    store = filled(tmp_path)
    before = list(pieces(store))
    for name in ("thesis.txt", "ab/notes.npz", "ab/AB12.npz", "backup/a.npz"):
        for kind in KINDS:
            publish(tmp_path / kind / name, b"mine")
    assert list(pieces(store)) == before


@pytest.mark.parametrize("key", ["/etc/passwd", "../../x", "..", "", "a/b", ".hidden", "a\\b"])
def test_a_key_that_leads_out_of_the_store_is_refused(tmp_path: Path, key: str) -> None:
    store = Store(tmp_path)
    for place in (store.shot_folder, store.pass_folder, store.still, store.encoded,
                  store.encoded_folder, store.character, store.performance, store.clip_row,
                  store.clip_record, store.shot_facts):
        with pytest.raises(ValueError, match="must be a plain name"):
            place(key)


@pytest.mark.parametrize("facts", [{}, {"frames": "9"}, {"frames": 0}, {"frames": 10**12},
                                   {"frames": True}, {"frames": 1, "character_key": "/etc/x"},
                                   {"frames": 1, "partner_character_key": 7}])
def test_facts_of_a_shot_that_cannot_be_are_none(tmp_path: Path, facts: dict[str, object]) -> None:
    store = Store(tmp_path)
    store.record_shot(KEY, cast(ShotFacts, facts))
    assert store.shot_facts(KEY) is None
    store.record_shot(KEY, {"frames": 1, "character_key": OTHER, "partner_character_key": None})
    assert store.shot_facts(KEY)


def test_pieces_tell_their_size_and_what_is_recorded_of_them(tmp_path: Path) -> None:
    store = filled(tmp_path)
    facts = {"shots": {"frames": 1}, "passes": {"kind": "depth"}, "clips": {"label": "ü"}}
    for kind, recorded in facts.items():
        assert the(store, kind).facts() == recorded
    record = (store.shot_folder(KEY) / "shot.json").stat().st_size
    assert the(store, "shots").size == record + 5 and the(store, "stills").size == 3
    assert the(store, "stills").facts() == {}
    for torn in ("{", "[1]"):
        publish(store.shot_folder(KEY) / "shot.json", torn)
        assert the(store, "shots").facts() == {}


def test_a_piece_is_removed_with_what_is_read_of_it_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the removal of a folder is cut short, what is left of it does not count as whole."""
    store = filled(tmp_path)
    with monkeypatch.context() as cut:
        cut.setattr("shutil.rmtree", lambda folder: None)
        the(store, "shots").remove()
        the(store, "passes").remove()
    assert [path.name for path in store.shot_folder(KEY).iterdir()] == ["000000.npz"]
    assert store.shot_facts(KEY) is None and not list(store.pass_folder(KEY).iterdir())
    for kind in KINDS:
        the(store, kind).remove()
        assert not list(pieces(store, [kind]))
    the_same = StoredPiece("stills", store.still(KEY))
    the_same.remove()


def test_a_job_enters_itself_and_leaves(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert running_jobs(store) == [] and not store.is_in_use
    before = time.time()
    job = Registration(store, tmp_path / "out")
    told, = running_jobs(store)
    assert (told["out"], told["host"], told["pid"]) == (
        str((tmp_path / "out").resolve()), this_host(), os.getpid())
    assert before <= told["since"] <= time.time()
    assert store.is_in_use and job.store_is_there()
    marker, = (store.root / "running").glob(".job.*")
    os.utime(marker, (1, 1))
    job.sign()
    assert marker.stat().st_mtime >= before - 1
    job.end()
    assert running_jobs(store) == []
    job.end()


def test_only_what_is_free_is_claimed_and_nothing_twice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    mine, other = Registration(store, tmp_path), Registration(store, tmp_path)
    assert other.claim(["b"]) == {"b"}
    assert mine.claim(["a", "b", "c"]) == {"a", "c"} == mine.claim(["a", "b", "c"])
    assert (tmp_path / "claims" / "b").read_text() != (tmp_path / "claims" / "a").read_text()
    mine.end()
    assert other.claim(["a", "c"]) == {"a", "c"}


def test_what_was_long_in_the_making_waits_for_the_store_that_was_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "store")
    store.waiter()()
    job = Registration(store, tmp_path)
    wait = store.waiter()
    wait()
    away = tmp_path / "away"
    store.root.rename(away)
    looked: list[float] = []

    def come_back(seconds: float) -> None:
        looked.append(seconds)
        if len(looked) == 3:
            away.rename(store.root)

    monkeypatch.setattr(time, "sleep", come_back)
    wait()
    assert looked == [disk.POLL_INTERVAL_S] * 3
    job.end()


def test_arrays_of_ground_truth_read_back_and_damage_is_seen(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[np.generic]] = {
        "depth": np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30),
        "index": np.arange(5, dtype=np.int16)}
    path = tmp_path / "000000.npz"
    assert not is_intact(path)
    path.write_bytes(pack_arrays(arrays))
    back = read_arrays(path)
    assert is_intact(path) and back.keys() == arrays.keys()
    assert all(np.array_equal(back[name], arrays[name]) and back[name].dtype == arrays[name].dtype
               for name in arrays)
    assert len(pack_arrays({"x": np.zeros(10**5)})) < 5000
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="its checksum does not fit"):
        read_arrays(path)
    assert not is_intact(path) and not path.exists()


def test_no_object_is_unpacked_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "000000.npz"
    path.write_bytes(pack_arrays({"x": np.array([{"a": 1}], dtype=object)}))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_arrays(path)
