"""What a person reads while clips are made."""

import io
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from mimegen.cli import main
from mimegen.production.progress import Reporter, duration, roughly


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def test_no_time_is_promised_before_it_means_something(clock: Clock) -> None:
    log = io.StringIO()
    reporter = Reporter(10, stream=log)
    reporter.expect(600, 600)
    clock.now += 180
    for _ in range(10):
        reporter.frame()
        clock.now += 1
    reporter.expect(600, 600)
    assert "frames 1/600" in log.getvalue() and "left" not in log.getvalue()


def test_the_time_that_is_left_follows_the_frames_and_not_the_start(clock: Clock) -> None:
    log = io.StringIO()
    reporter = Reporter(10, stream=log)
    reporter.expect(600, 600)
    clock.now += 180
    for _ in range(61):
        reporter.frame()
        clock.now += 1
    line = log.getvalue().strip().splitlines()[-1]
    assert line.startswith("clips 0/10 done  shots 0/0  frames 61/600  ")
    assert "about 9 min left" in line and "4 min" in line and "gone" in line


class Terminal(io.StringIO):
    """A terminal that keeps what it is shown."""

    def isatty(self) -> bool:
        return True


@given(st.lists(st.tuples(st.sampled_from("cfps"), st.integers(0, 50), st.integers(0, 900))))
def test_totals_never_shrink(events: list[tuple[str, int, int]]) -> None:
    """Castings turn out longer and shorter than was guessed, and passes add frames of their own."""
    with pytest.MonkeyPatch.context() as patched:
        clock = Clock()
        patched.setattr(time, "monotonic", clock)
        log, known = io.StringIO(), 0
        reporter = Reporter(10, stream=log)
        reporter.expect_shots(6)
        for kind, frames, likely in events:
            clock.now += 20
            if kind == "c":
                known += frames
                reporter.expect(known, likely)
            elif kind == "p":
                reporter.expect_more(frames)
            else:
                (reporter.frame if kind == "f" else reporter.shot)()
        reporter.begin("a", is_long=False)
        lines = log.getvalue().splitlines()
        shown = [[int(one) for pair in re.findall(r"(\d+)(?:/| of about )(\d+)", line)
                  for one in pair] for line in lines]
    assert all(line[1] == 10 and line[3] == 6 for line in shown)
    # A guess may turn out too high; a number that is known may not.
    known_totals = [line[5] for line, text in zip(shown, lines, strict=True)
                    if "of about" not in text]
    assert known_totals == sorted(known_totals)
    assert all(done <= total for line in shown for done, total in zip(line[::2], line[1::2],
                                                                      strict=True))


def test_a_line_says_how_many_frames_are_known_and_how_many_are_likely(clock: Clock) -> None:
    log = io.StringIO()
    reporter = Reporter(40, stream=log)
    reporter.expect_shots(24)
    reporter.expect(120, 900)
    clock.now += 11
    reporter.frame()
    assert log.getvalue().startswith("clips 0/40 done  shots 0/24  frames 1 of about 900  11 s"
                                     " gone")


def test_a_bar_guesses_no_frames_once_all_takes_were_read() -> None:
    terminal = Terminal()
    with Reporter(2, stream=terminal) as reporter:
        reporter.expect(100, 300)
        reporter.frame()
        reporter.expect(120, 120)
    last = terminal.getvalue().rpartition("frames ")[2]
    assert last.startswith("1/120") and "about" not in last


def test_a_log_names_stills_at_once_and_long_shots_as_they_go(clock: Clock) -> None:
    log = io.StringIO()
    reporter = Reporter(1, stream=log)
    reporter.begin("background park", is_long=True)
    assert log.getvalue() == "making background park\n"
    reporter.begin("waltz by man, frames 12-23", is_long=False)
    assert "waltz" not in log.getvalue()
    clock.now += 11
    reporter.frame()
    assert "at waltz by man, frames 12-23" in log.getvalue()


@pytest.mark.parametrize(("seconds", "said"), [
    (0.4, "0 s"), (40, "40 s"), (59.7, "1 min"), (94, "1 min 34 s"), (540, "9 min"),
    (1234, "21 min"), (18498, "5.1 h")])
def test_durations_are_said_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_times_that_are_guessed_name_no_seconds_beside_minutes() -> None:
    assert [roughly(seconds) for seconds in (94, 134)] == ["94 s", "2 min"]


@pytest.mark.parametrize(("kind", "fact"), [
    ("backgrounds", "A sandy beach"), ("characters", "in a spacesuit"), ("configs", "laptop")])
def test_lists_describe_and_do_not_print_paths(kind: str, fact: str, tmp_path: Path) -> None:
    listed = CliRunner().invoke(main, ["list", kind])
    assert listed.exit_code == 0 and fact in listed.stdout and ".yaml" not in listed.stdout
    as_json = CliRunner().invoke(main, ["list", kind, "--json"]).stdout
    assert fact in as_json and ".yaml" in as_json


def test_a_broken_file_in_a_list_is_named(tmp_path: Path) -> None:
    (tmp_path / "backgrounds").mkdir()
    (tmp_path / "backgrounds" / "mine.yaml").write_text("name: [mine")
    listed = CliRunner().invoke(main, ["list", "backgrounds", "--library", str(tmp_path)])
    assert listed.exit_code == 2 and "mine.yaml: line 2" in listed.stderr
