"""The option ``--no-verify``, and the check of clips that it skips."""

from collections.abc import Collection
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.commands.common import warn
from mimegen.manifest.checking import check_clips
from mimegen.manifest.file import MANIFEST, rows_of, rows_or_problems
from mimegen.manifest.row import Row
from mimegen.production.status import running_jobs

no_verify_option = click.option(
    "--no-verify", "unchecked", is_flag=True,
    help="Skip the check that clips are complete and match their manifest rows.")


def warn_if_rendering(out: Path, what: str) -> None:
    """Print a warning if a job still adds clips to ``out``, so that ``what`` lacks them."""
    for job in running_jobs(out)[:1]:
        warn(f"{out}: a job still runs there (process {job.pid} on {job.host});"
             f" {_so_far(out, what)}; see mimegen status {out}, and run this again when it has"
             " ended")


def _so_far(out: Path, what: str) -> str:
    """Return how many clips have rows. Rows are written later than the files of clips."""
    count = sum(isinstance(row, Row) for row in rows_or_problems(out))
    if not count:
        return f"no clip has a row in {MANIFEST} so far"
    have = "has a row" if count == 1 else "have rows"
    return f"{counted(count, 'clip')} {have} in {MANIFEST} so far, and {what} only these"


def check_samples(out: Path, samples: Collection[str] | None, unchecked: bool) -> None:
    """Check the clips of the rows in ``out`` with these sample_ids; None means all.

    Raises RequestError as ``check_clips`` does, unless ``unchecked``.
    """
    if not unchecked:
        check_clips(out, [row for row in rows_of(out)
                          if samples is None or row.sample_id in samples])


def check_source(source: Path, unchecked: bool) -> None:
    """Check a clip, or the clips in a folder, that have rows in the manifest beside them.

    Raises RequestError as ``check_samples`` does.
    """
    folder = source if source.is_dir() else source.parent
    out = folder.parent if folder.name == "clips" else folder
    if source.is_dir():
        warn_if_rendering(out, "this shows")
    if unchecked:
        return
    rows = rows_of(out)
    check_clips(out, rows if source.is_dir() else [
        row for row in rows if (out / row.file_name).resolve() == source.resolve()])
