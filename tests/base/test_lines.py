"""Files of lines that only grow: what a full disk or a kill cuts off spoils nothing else."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mimegen.base.errors import RequestError
from mimegen.base.lines import append_line, json_lines
from mimegen.evaluation.judge import _cached_verdicts
from mimegen.farm.executor import Begun
from mimegen.farm.spool import JobMessage, Spool
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.production.journal import Journal
from mimegen.production.status import status
from mimegen.shots.jobs import FrameDone, JobDone
from mimegen.store.store import Store

WHOLE = {"key": "k", "n": 1}


@given(st.lists(st.binary(max_size=20)), st.integers(min_value=0, max_value=40))
def test_lines_beside_any_damage_are_read(damages: list[bytes], cut: int) -> None:
    """Whatever lies between them: rubbish, the beginning of a line, lines of other things."""
    between = [*damages, json.dumps(WHOLE).encode()[:cut], b"5", b"[]", b"null", b"[" * 9999]
    content = b"".join(b"%b\n%b\n" % (json.dumps(WHOLE).encode(), one) for one in between)
    found = [one for one in json_lines(content) if one == WHOLE]
    assert len(found) >= len(between)


def test_a_line_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    append_line(file, "1")
    append_line(file, "2")
    with file.open("ab") as half:
        half.write(b"3 ha")
    append_line(file, "4 \ud800")
    assert file.read_bytes() == b"1\n2\n3 ha\n4 ?\n"


FILLED = """
import resource, signal, sys
from mimegen.base.lines import append_line
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = Path(sys.argv[1])
append_line(file, "first")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
try:
    append_line(file, "the second one is cut off")
except OSError as problem:
    print(type(problem).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
append_line(file, "third")
"""


def test_a_disk_that_fills_up_cuts_one_line_and_no_other(tmp_path: Path) -> None:
    """The limit of a file's size stands for it: the system takes a part and refuses the rest."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    file = tmp_path / "lines"
    done = subprocess.run([sys.executable, "-c", FILLED, file], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("OSError\n", "")
    assert file.read_text() == "first\nthe \nthird\n"


DAMAGES = [b'{"worker": "w", "task": "t", "kind": "JobDo', b"\0" * 64 + b"\n", b"\xff\n", b"5\n",
           b'{"worker": "w", "task": "t", "kind": "Nobody"}\n', b'{"kind": "JobDone"}\n',
           b'{"worker": "w", "task": "t", "kind": ["JobDone"]}\n',
           b'{"worker": "w", "task": "t", "kind": "FrameDone"}\n', b"\n\n", b"[" * 50_000 + b"\n"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_driver_goes_on_past_what_a_job_said_by_half(tmp_path: Path, damage: bytes) -> None:
    spool = Spool(tmp_path)
    spool.make()
    lines = [JobMessage("1_0", "w", "t", Begun()),
             JobMessage("1_0", "w", "t", FrameDone(0, 3, 0.5)),
             JobMessage("1_0", "w", "t", JobDone())]
    spool.send(lines[0])
    with (tmp_path / "said" / "1_0.jsonl").open("ab") as file:
        file.write(damage)
    assert list(spool.receive()) == [lines[0]]
    spool.send(lines[1])
    spool.send(lines[2])
    assert list(spool.receive()) == lines[1:]


def test_a_damaged_task_is_no_task(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.make()
    name = spool.put({"number": 1})
    (tmp_path / "waiting" / f"{name}.json").write_bytes(b'{"num')
    assert spool.content(name) is None


def test_where_nothing_can_be_said_the_file_is_named(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.make()
    (tmp_path / "said" / "1_0.jsonl").mkdir()
    with pytest.raises(RequestError, match=r"1_0\.jsonl: cannot be written"):
        spool.send(JobMessage("1_0", "w", None, Begun()))


def test_verdicts_and_good_takes_are_kept_beside_half_lines(tmp_path: Path) -> None:
    cache = tmp_path / "judge.jsonl"
    cache.write_bytes(b'{"key": "a", "verdict": "TRUE"}\n{"key": "b", "verd\n\xff\n7\n'
                      b'{"key": "c", "verdict": "FALSE"}\n{"key": "d"')
    assert _cached_verdicts(cache) == {"a": "TRUE", "c": "FALSE"}


def test_good_takes_are_read_past_half_lines_and_added_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "mimegen" / "lint.jsonl"
    file.parent.mkdir()
    file.write_bytes(b'{"key": "a", "findings": []}\n\xff\n{"key": "b", "fin')
    takes = GoodTakes.of_user()
    assert takes.known == {"a": []}
    takes._cached("c", lambda: ["slides"])
    assert GoodTakes.of_user().known == {"a": [], "c": ["slides"]}


def test_a_journal_goes_on_past_half_a_line(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    with Journal(tmp_path / "out", store, {"clips": 1}) as journal:
        file, = (tmp_path / "out" / "status").iterdir()
        with file.open("ab") as half:
            half.write(b'{"at": 1.0, "ta')
        journal.clip("first", "it burnt")
        assert status(tmp_path / "out")["clips"]["failed"] == 1


def test_a_job_outlives_a_journal_that_cannot_be_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "out", Store(tmp_path / "store"), {"clips": 1}) as journal:
        file, = (tmp_path / "out" / "status").iterdir()
        file.unlink()
        file.mkdir()
        journal.clip("first")
