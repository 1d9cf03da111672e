"""Show the progress of a plan to the user."""

import html
import importlib
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)


@dataclass(frozen=True)
class ProgressParameters:
    """How often progress is shown, and from when on the remaining time. Chosen by eye."""

    # Seconds between two log lines, and between two updates of a notebook's cell.
    log_every_s: float = 10.0
    show_in_cell_every_s: float = 0.25
    # The remaining time is only shown once this many frames, this fraction of all frames and this
    # many seconds are done; before, it would be a guess.
    least_frames: int = 10
    least_share: float = 0.03
    least_s: float = 10.0


PROGRESS = ProgressParameters()


class Reporter:
    """Counts frames and clips and shows them.

    On a terminal or in a notebook's cell it shows a progress bar, elsewhere a plain log; if
    ``quiet``, nothing.
    """

    def __init__(self, clips: int, quiet: bool = False, stream: TextIO = sys.stderr) -> None:
        self._clips, self._clips_done = clips, 0
        # Numbers of frames: known to be missing, of passes, likely in all, and done.
        self._known, self._more, self._likely, self._frames_done = 0, 0, 0, 0
        self._shots, self._shots_done = 0, 0
        self._quiet, self._stream = quiet, stream
        self._started = self._logged = time.monotonic()
        self._first_frame_at: float | None = None
        self._at = ""
        self._said_once: set[str] = set()
        self._bar: Progress | None = None
        self._cell = None if quiet else _cell_of_notebook()
        if not quiet and stream.isatty():
            self._bar = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(),
                TextColumn("{task.fields[frames]}", markup=False), TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
                console=Console(file=stream),
            )
            self._task = self._bar.add_task(self._state(), total=None, left="",
                                            frames=self._frame_state())

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()
        self._show_in_cell()

    def expect_shots(self, shots: int) -> None:
        """Set the number of shots the clips are made from, including finished ones."""
        self._shots = shots

    def expect(self, frames: int, likely: int) -> None:
        """Set how many frames are known to be missing; this number never decreases.

        ``likely`` is the expected total once all castings are known.
        """
        self._known = max(frames, self._known)
        self._likely = max(likely, self._known)
        self._show()

    def expect_more(self, frames: int) -> None:
        """Add to the number of missing frames."""
        self._more += frames
        self._show()

    def begin(self, title: str, is_long: bool) -> None:
        """Note what is being made; a log announces at once what ``is_long``, having no frames."""
        self._at = title
        if is_long and self._bar is None and self._cell is None:
            self.say(f"making {title}")
        self._show()

    def frame(self) -> None:
        """Count a rendered frame."""
        self._first_frame_at = self._first_frame_at or time.monotonic()
        self._frames_done += 1
        self._show()

    def shot(self) -> None:
        """Count a finished shot."""
        self.shots_there(1)
        self._show()

    def shots_there(self, shots: int) -> None:
        """Count shots that need no more work."""
        self._shots_done = min(self._shots_done + shots, self._shots)

    def clip(self, title: str) -> None:
        """Count a finished clip."""
        self._clips_done += 1
        if self._cell is None:
            self.say(title)
        self._show()

    def say(self, text: str) -> None:
        """Print one line."""
        if self._quiet:
            return
        if self._bar:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=self._stream, flush=True)

    def say_once(self, text: str) -> None:
        """Print one line unless it was printed before."""
        if text not in self._said_once:
            self._said_once.add(text)
            self.say(text)

    def _state(self) -> str:
        return (f"clips {self._clips_done}/{self._clips} done"
                f"  shots {self._shots_done}/{self._shots}")

    def _frame_state(self) -> str:
        """Return the frames done and their total, which is an estimate until all takes are read."""
        if self._likely <= self._known:
            return f"frames {self._frames_done}/{self._total}"
        most = max(self._likely + self._more, self._total)
        return f"frames {self._frames_done} of about {most}"

    @property
    def _total(self) -> int:
        # Damaged frames that are made again come on top of the missing ones.
        return max(self._known + self._more, self._frames_done)

    def _show(self) -> None:
        """Update the bar, the notebook's cell or the log, the latter two not too often."""
        if self._bar:
            self._bar.update(self._task, description=self._state(),
                             total=max(self._likely + self._more, self._total) or None,
                             completed=self._frames_done, left=self._time_left(),
                             frames=self._frame_state())
        elif self._cell is not None:
            if time.monotonic() - self._logged >= PROGRESS.show_in_cell_every_s:
                self._logged = time.monotonic()
                self._show_in_cell()
        elif time.monotonic() - self._logged >= PROGRESS.log_every_s:
            self._logged = time.monotonic()
            parts = [self._state(), self._frame_state(),
                     f"{duration(self._logged - self._started)} gone", self._time_left(),
                     f"at {self._at}" if self._at else ""]
            self.say("  ".join(part for part in parts if part))

    def _show_in_cell(self) -> None:
        """Show the bar in a notebook's cell, replacing the previous one."""
        if self._cell is None:
            return
        most = max(self._likely + self._more, self._total)
        bar, done = (f'max="{most}" value="{self._frames_done}"', self._frame_state()) \
            if most else (f'max="{max(1, self._clips)}" value="{self._clips_done}"', "")
        parts = [self._state(), done, self._time_left()]
        text = "  ".join(part for part in parts if part)
        self._cell.update({"text/plain": text,
                           "text/html": f"<progress {bar}></progress> {html.escape(text)}"},
                          raw=True)

    def _time_left(self) -> str:
        """Return the time left at the mean rate since the first frame; empty if it is too early."""
        done, frames = self._frames_done, self._likely + self._more
        least = max(PROGRESS.least_frames, PROGRESS.least_share * frames)
        if self._first_frame_at is None or done < least:
            return ""
        spent = time.monotonic() - self._first_frame_at
        if spent < PROGRESS.least_s or frames <= done:
            return ""
        return f"about {roughly(spent / (done - 1) * (frames - done))} left"


def _cell_of_notebook() -> Any:
    """Return an updatable display in the running notebook cell; None outside a notebook."""
    if "IPython" not in sys.modules:
        return None
    shell = importlib.import_module("IPython").get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    cell = importlib.import_module("IPython.display").DisplayHandle()
    cell.display({"text/plain": ""}, raw=True)
    return cell


def duration(seconds: float) -> str:
    """Return a measured time as text, such as "1 min 34 s"."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    if minutes < 10:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return roughly(seconds)


def roughly(seconds: float) -> str:
    """Return an estimated time as text, such as "2 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
