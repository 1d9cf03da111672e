"""mimegen run by tests, and what its output folders and processes hold."""

import glob
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from mimegen.cli import main


def mimegen(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=900)


def invoke(*arguments: object) -> Result:
    """Run the command line in this process, which is quicker where nothing is rendered."""
    return CliRunner().invoke(main, [*map(str, arguments)])


def invoked(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The same in this process: two seconds quicker, for what renders nothing."""
    done = invoke(*arguments)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess([*map(str, arguments)], done.exit_code, done.stdout,
                                       done.stderr)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "mimegen", *map(str, arguments)]


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]


# What is in the command lines of worker processes, and of those that read files in Blender.
WORKERS = (b"mimegen.rendering.serving", b"spawn_main", b"readers/limited.py")


def blender_processes(parent: int) -> list[int]:
    """The worker processes, and those that read files, that a run has spawned."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            owner = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            said = (folder / "cmdline").read_bytes()
            if owner == parent and any(name in said for name in WORKERS):
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


def processes_of_group(group: int) -> list[int]:
    """The processes of a group that live."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, number = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:3]
        except (OSError, ValueError):
            continue
        if state != "Z" and int(number) == group:
            found.append(int(folder.name))
    return found


def leave_as_killed(path: Path) -> None:
    """Leave beside a file what a process leaves that is killed while it makes the file."""
    code = """
import os, signal, sys
from pathlib import Path
from mimegen.base.files import publishing
with publishing(Path(sys.argv[1])) as part:
    part.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    before = set(path.parent.glob(".*"))
    subprocess.run([sys.executable, "-c", code, path])
    assert len(set(path.parent.glob(".*")) - before) == 1


def frames_of(out: Path) -> dict[Path, int]:
    """The frames in the store of an output folder, with the times they were written."""
    # Unlike pathlib's, this glob passes over folders that are renamed while it looks.
    found = map(Path, glob.glob(str(out / "store/shots/*/*/*.npz")))  # noqa: PTH207
    return {path: path.stat().st_mtime_ns for path in found}
