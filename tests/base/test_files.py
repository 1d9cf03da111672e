"""Files that are only ever seen whole, and what killed writers leave."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base import owners
from mimegen.base.errors import DiskFullError, RequestError, means_full_disk
from mimegen.base.files import (
    clear,
    clock_of,
    publish,
    publish_first,
    publishing,
    scratch_folder,
    sweep,
)
from mimegen.production.moving import move
from running import leave_as_killed

DAY_S = 24 * 3600.0


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tiny tmpfs needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    yield disk
    subprocess.run(["umount", disk], check=True)


def elsewhere(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Be on another machine from now on."""
    monkeypatch.setattr(owners, "this_host", lambda: host)


def age(path: Path, seconds: float) -> None:
    for place in (path, *path.rglob("*")):
        os.utime(place, (time.time() - seconds,) * 2)


def test_only_what_dead_processes_left_is_swept(tmp_path: Path) -> None:
    leave_as_killed(tmp_path / "a.npz")
    with publishing(tmp_path / "b.npz") as alive:
        alive.write_bytes(b"b")
        sweep(tmp_path)
        assert names_in(tmp_path) == [alive.name]
    assert names_in(tmp_path) == ["b.npz"]


def test_what_is_made_anew_takes_away_what_was_left_half_made(tmp_path: Path) -> None:
    leave_as_killed(tmp_path / "a.npz")
    publish_first(tmp_path / "a.npz", b"whole")
    assert names_in(tmp_path) == ["a.npz"]
    leave_as_killed(tmp_path / "a.npz")
    clear(tmp_path / "a.npz")
    assert not names_in(tmp_path)


def test_what_is_made_on_another_machine_is_swept_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(monkeypatch, "node-1")
    leave = tmp_path / owners.unfinished_name("a.npz")
    leave.write_bytes(b"half")
    monkeypatch.undo()
    sweep(tmp_path)
    assert leave.exists()
    age(leave, DAY_S - 60)
    sweep(tmp_path)
    assert leave.exists()
    age(leave, DAY_S + 60)
    sweep(tmp_path)
    assert not names_in(tmp_path)


def test_age_is_told_by_the_clock_that_stamps_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(monkeypatch, "node-1")
    young = tmp_path / owners.unfinished_name("a.npz")
    young.write_bytes(b"half")
    monkeypatch.undo()
    ahead = time.time() + 10 * DAY_S
    monkeypatch.setattr(time, "time", lambda: ahead)
    sweep(tmp_path)
    assert young.exists()


def test_a_scratch_folder_is_as_old_as_its_youngest_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(monkeypatch, "node-1")
    folder = tmp_path / owners.unfinished_name("mimegen")
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "picture").write_bytes(b"x")
    monkeypatch.undo()
    age(folder, DAY_S + 60)
    (folder / "in" / "picture").write_bytes(b"y")
    os.utime(folder / "in", (0, 0))
    sweep(tmp_path)
    assert folder.exists()
    age(folder, DAY_S + 60)
    sweep(tmp_path)
    assert not folder.exists()


# What others have in their folders, some of it much like what we leave.
OTHERS = ["part", "a.part", ".hidden", ".a.part.txt", "000000.npz", ".thesis.zip.part",
          ".backup.part", ".000001.npz.7.part", ".x.host.123.abcdef01.part",
          ".mimegen.host.999999.abcdef01.part",
          ".mimegen.part", ".x.host-01234567.999999.abcdef0101234567.part"]
letters = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]),
                  min_size=1, max_size=20)
likenesses = st.builds(
    ".{}.{}.{}.{}.part".format, letters, st.from_regex(r"[A-Za-z0-9-]{1,12}", fullmatch=True),
    st.integers(1, 10**7), st.from_regex(r"[0-9a-f]{8}([0-9a-f]{8})?", fullmatch=True))


def lay_aged(folder: Path, name: str, kind: str) -> None:
    path = folder / name
    if kind == "file":
        path.write_bytes(b"mine")
    elif kind == "folder":
        path.mkdir()
        (path / "thesis.txt").write_bytes(b"mine")
    else:
        path.symlink_to(folder)
        return
    age(path, 10 * DAY_S)


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
@pytest.mark.parametrize("name", OTHERS)
def test_what_others_left_is_never_swept(tmp_path: Path, name: str, kind: str) -> None:
    lay_aged(tmp_path, name, kind)
    before = sorted(tmp_path.rglob("*"))
    sweep(tmp_path)
    clear(tmp_path / "a.npz")
    publish_first(tmp_path / "b.npz", b"whole")
    with scratch_folder(tmp_path):
        pass
    assert sorted({*tmp_path.rglob("*")} - {tmp_path / "b.npz"}) == before
    sweep(tmp_path / "absent")


@given(st.one_of(letters, letters.map(".{}.part".format), likenesses), st.booleans())
def test_no_name_but_our_own_is_swept(tmp_path_factory: pytest.TempPathFactory, name: str,
                                      is_folder: bool) -> None:
    if name in (".", "..") or len(os.fsencode(name)) > 255:
        return
    folder = tmp_path_factory.mktemp("others")
    lay_aged(folder, name, "folder" if is_folder else "file")
    sweep(folder)
    assert names_in(folder) == [name]


@given(letters, st.data())
def test_a_changed_name_is_not_ours(name: str, data: st.DataObject) -> None:
    ours = owners.unfinished_name(name)
    place = data.draw(st.integers(1, len(ours) - len(".part") - 1))
    letters = "0123456789abcdefxyz.-".replace(ours[place], "")
    other = data.draw(st.sampled_from(letters))
    assert owners.unfinished_of(ours) is not None
    assert not owners.is_unfinished(f"{ours[:place]}{other}{ours[place + 1:]}")


def test_a_link_under_one_of_our_names_stays_and_so_does_what_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").write_bytes(b"mine")
    elsewhere(monkeypatch, "node-1")
    (tmp_path / owners.unfinished_name("a")).symlink_to(tmp_path / "thesis")
    inner = tmp_path / owners.unfinished_name("b")
    inner.mkdir()
    (inner / "link").symlink_to(tmp_path / "thesis")
    monkeypatch.undo()
    os.utime(inner / "link", (0, 0), follow_symlinks=False)
    os.utime(inner, (0, 0))
    sweep(tmp_path)
    assert len(names_in(tmp_path)) == 2 and not inner.exists()
    assert names_in(tmp_path / "thesis") == ["text"]


def test_scratch_folders_are_all_that_is_swept_where_others_have_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(monkeypatch, "node-1")
    frame, scratch = (tmp_path / owners.unfinished_name(name) for name in ("a.npz", "mimegen"))
    frame.write_bytes(b"half")
    scratch.mkdir()
    monkeypatch.undo()
    age(tmp_path, 2 * DAY_S)
    with scratch_folder(tmp_path):
        pass
    assert names_in(tmp_path) == [frame.name]


@pytest.mark.slow
def test_inspecting_a_junk_file_leaves_the_temporary_folder_alone(tmp_path: Path) -> None:
    junk, temporary = tmp_path / "junk.fbx", tmp_path / "tmp"
    junk.write_bytes(b"Kaydara FBX Binary  \0junk")
    temporary.mkdir()
    for number, name in enumerate(OTHERS):
        lay_aged(temporary, name, "folder" if number % 2 else "file")
    before = sorted(temporary.rglob("*"))
    done = subprocess.run([sys.executable, "-m", "mimegen", "inspect", junk], capture_output=True,
                          env=os.environ | {"TMPDIR": str(temporary)})
    assert done.returncode == 2 and sorted(temporary.rglob("*")) == before


def test_leftovers_in_a_read_only_folder_stop_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere(monkeypatch, "node-1")
    left = tmp_path / owners.unfinished_name("a.npz")
    left.write_bytes(b"half")
    monkeypatch.undo()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    # As on a file system that is mounted read-only; tests may run as root, who may write otherwise.
    monkeypatch.setattr(Path, "touch", refuse)
    sweep(tmp_path)
    assert clock_of(tmp_path) == float("-inf") and left.exists()


def test_scratch_of_a_killed_process_goes_at_the_next_use(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from mimegen.base.files import scratch_folder
with scratch_folder() as folder:
    (folder / "x").write_bytes(b"x")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    temporary = os.environ | {"TMPDIR": str(tmp_path)}
    killed = subprocess.run([sys.executable, "-c", code], env=temporary)
    assert killed.returncode == -signal.SIGKILL and len(names_in(tmp_path)) == 1
    with scratch_folder(tmp_path) as folder:
        assert names_in(tmp_path) == [folder.name] and not names_in(folder)
        (folder / "x").write_bytes(b"x")
    assert not names_in(tmp_path)


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    publish(tmp_path / "a", "old")
    with pytest.raises(KeyError), publishing(tmp_path / "a") as part:
        part.write_text("half")
        raise KeyError
    assert names_in(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "old"


def test_a_folder_is_published_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), publishing(tmp_path / "new") as part:
        part.mkdir()
        (part / "x").write_bytes(b"x")
        raise KeyError
    assert not names_in(tmp_path)
    with publishing(tmp_path / "new") as part:
        part.mkdir()
        (part / "x").write_bytes(b"x")
    assert names_in(tmp_path / "new") == ["x"]


@given(name=st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]),
                    min_size=1, max_size=120).filter(lambda text: len(os.fsencode(text)) < 256))
def test_any_name_that_the_disk_takes_can_be_published(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    if name in (".", ".."):
        return
    folder = tmp_path_factory.mktemp("names")
    with publishing(folder / name) as part:
        part.write_bytes(b"x")
        assert owners.is_unfinished(part.name) and owners.owner_lives(part.name)
    assert names_in(folder) == [name]


def test_many_threads_publish_one_file(tmp_path: Path) -> None:
    contents = [str(number) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: publish(tmp_path / "a", text, synced=True), contents * 5))
    assert (tmp_path / "a").read_text() in contents and names_in(tmp_path) == ["a"]


def test_a_device_keeps_its_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(RequestError, match=r"pipe\.png: is a device"):
        publish(tmp_path / "pipe.png", b"a picture")
    assert (tmp_path / "pipe.png").is_fifo() and names_in(tmp_path) == ["pipe.png"]


@pytest.mark.parametrize("name", ["note/a.png", "note/deeper/a.png"])
def test_a_file_that_lies_where_a_folder_should_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "note").write_text("a file")
    with pytest.raises(RequestError, match=r"a\.png: cannot be written \(.*note is no folder"):
        publish(tmp_path / name, b"a picture")


def test_a_folder_that_finds_no_space_stays_where_it_was(tiny_disk: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    (made / "flow").mkdir(parents=True)
    for number in range(3):
        (made / "flow" / f"{number}.exr").write_bytes(bytes(30_000))
    with pytest.raises(DiskFullError):
        move(made, tiny_disk / "flow")
    assert not names_in(tiny_disk) and len(names_in(made / "flow")) == 3
    (made / "flow" / "2.exr").unlink()
    move(made, tiny_disk / "flow")
    assert names_in(tiny_disk / "flow" / "flow") == ["0.exr", "1.exr"] and not made.exists()


def test_a_full_disk_is_told_from_what_the_system_says(tiny_disk: Path) -> None:
    publish(tiny_disk / "a", b"old")
    with pytest.raises(DiskFullError, match=r"no space left on the disk while writing .*a; free"):
        publish(tiny_disk / "a", os.urandom(200_000))
    with pytest.raises(DiskFullError), publishing(tiny_disk / "b") as part:
        part.write_bytes(os.urandom(200_000))
    assert names_in(tiny_disk) == ["a"] and (tiny_disk / "a").read_bytes() == b"old"


def test_a_full_disk_is_seen_behind_other_errors() -> None:
    assert means_full_disk(OSError(28, "whatever the language says"))
    assert means_full_disk(OSError(122, "Disk quota exceeded"))
    assert not means_full_disk(OSError(13, "No space left on device"))
    try:
        try:
            raise OSError(28, "full")
        except OSError as problem:
            raise ValueError("frame 3") from problem
    except ValueError as problem:
        assert means_full_disk(problem)
    assert not means_full_disk(ValueError("No space left on device"))


def test_a_disk_that_is_read_only_is_said_of_the_file_that_was_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(RequestError, match=r"a[.]png: cannot be written \(Read-only file system\)"):
        publish(tmp_path / "a.png", b"a picture")
