"""Make small faults in the code and count how many of them the tests notice.

    python tools/mutants.py [ROOM ...] [--sample N] [--seed S] [--jobs N]

Each mutant changes one place of a copy of the code (mutmut's operators) and runs the tests of its
room (tools/mutants.yaml) on it until one fails. A mutant that makes them take five times as long
counts as noticed. Words for people (strings with a blank in them) and zip's ``strict`` are left as
they are. Ends with 1 where a room has less than 85 % noticed.
"""

import argparse
import contextlib
import difflib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
import yaml
from hypothesis import HealthCheck, settings
from libcst import CSTNode, Module, SimpleString
from mutmut.mutation.file_mutation import Mutation, create_mutations

ROOT = Path(__file__).resolve().parents[1]
# Loaded once, before tests are forked off; mimegen itself must not be.
LIBRARIES = ("numpy", "scipy.ndimage", "scipy.signal", "scipy.spatial.transform", "scipy.sparse",
             "scipy.interpolate", "scipy.stats", "pydantic", "PIL.Image", "PIL.ImageDraw", "click",
             "click.testing", "rich.console", "rich.progress", "imageio_ffmpeg", "c3d")
DATA = ("rigs", "mocap", "backgrounds", "render_configs")
WANTED = 0.85
# Says that lengths are equal, where they are; describes a field to people.
UNSEEN = re.compile(r'(, )?strict=\w+|, (?=\))|description=(None|("[^"\n]*"\s*)+)')
TIMEOUT_FACTOR, LEAST_TIMEOUT_S = 5.0, 30.0


class Mutant(NamedTuple):
    """A file of the package, what it holds with one fault in it, and the lines that changed."""

    file: str
    content: str
    change: str


class Fault(NamedTuple):
    """A place of a file and what mutmut would write there."""

    file: Path
    source: str
    module: Module
    mutation: Mutation


def faults_of(file: Path) -> list[Fault]:
    """Return every fault that can be made in a file, in the order of its code."""
    source = file.read_text(encoding="utf-8")
    module, mutations, *_ = create_mutations(str(file), source)
    return [Fault(file, source, module, mutation) for mutation in mutations
            if not is_for_people(mutation.original_node)]


def is_for_people(node: CSTNode) -> bool:
    """Say whether a part of the code is a text of several words."""
    return isinstance(node, SimpleString) and " " in node.value


def mutant_of(fault: Fault) -> Mutant | None:
    """Return a file with a fault in it; None where that can make no difference."""
    old, new = fault.mutation.original_node, fault.mutation.mutated_node
    content = cast(Module, fault.module.deep_replace(old, new)).code
    if UNSEEN.sub("", content) == UNSEEN.sub("", fault.source):
        return None
    return Mutant(str(fault.file.relative_to(ROOT / "generator")), content,
                  change(fault.source, content))


def change(before: str, after: str) -> str:
    """Return the lines that differ, with their number."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    number = lines[2].split()[1].lstrip("-").split(",")[0] if lines else "0"
    return number + ":" + " ".join(" ".join(line.split()) for line in lines[3:])


def copied(folder: Path) -> Path:
    """Copy the package to where it can be broken; data are only linked. Return its parent."""
    generator = folder / "generator"
    shutil.copytree(ROOT / "generator", generator, ignore=shutil.ignore_patterns("__pycache__"))
    for name in DATA:
        (folder / name).symlink_to(ROOT / name)
    return generator


class Run(NamedTuple):
    """A process that runs tests on a copy of the package, and when it has taken too long."""

    mutant: Mutant
    generator: Path
    sound: str
    until: float


def begun(generator: Path, tests: Sequence[str]) -> int:
    """Return the id of a process that runs tests on a copy, up to the first that fails.

    It is forked from this one, so that libraries need not be loaded anew for every mutant.
    """
    child = os.fork()
    if child:
        return child
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.environ["PYTHONPATH"] = str(generator)
    sys.path.insert(0, str(generator))
    settings.register_profile("mutants", deadline=None, derandomize=True, database=None,
                              suppress_health_check=[HealthCheck.too_slow])
    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile", "mutants",
                        "--basetemp", str(generator.parent / "temporary"),
                        *map(file_of, tests)])
    os._exit(int(code))


def file_of(test: str) -> str:
    """Return the path of a file of tests by its name, which no other folder of tests has."""
    place, = (ROOT / "tests").rglob(f"{test}.py")
    return str(place)


def ended(child: int, until: float) -> bool | None:
    """Say whether all tests passed; None where they still run. Nothing of them is left behind."""
    done, status = os.waitpid(child, os.WNOHANG)
    if not done and time.monotonic() < until:
        return None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
    return bool(done) and os.waitstatus_to_exitcode(status) == 0


def waited(child: int, until: float) -> bool:
    """Wait and say whether all tests passed in time."""
    while (passed := ended(child, until)) is None:
        time.sleep(0.05)
    return passed


def tried(room: str, values: dict[str, Any], options: argparse.Namespace) -> float:
    """Try a room's mutants, print what survives, and return the share that is noticed."""
    places = [ROOT / "generator" / "mimegen" / place for place in values["code"]]
    files = [file for place in places
             for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))]
    faults = [fault for file in files for fault in faults_of(file)]
    chosen = drawn(faults, room, values.get("alike", ()), options)
    print(f"{room}: {len(faults)} faults, {len(chosen)} tried (seed {options.seed})", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        survivors = survivors_of(chosen, values["tests"], Path(scratch), options.jobs)
    noticed = 1 - survivors / max(len(chosen), 1)
    print(f"{room}: {noticed:.1%} of {len(chosen)} noticed", flush=True)
    return noticed


def drawn(faults: Sequence[Fault], room: str, alike: Sequence[dict[str, str]],
          options: argparse.Namespace) -> list[Mutant]:
    """Return the sample of mutants that a seed draws, or all; none that is known to be harmless."""
    harmless = {(f"mimegen/{one['file']}", one["change"]) for one in alike}
    order = random.Random(f"{options.seed} {room}").sample(faults, len(faults))
    mutants = (mutant for mutant in map(mutant_of, order) if mutant is not None and
               (mutant.file, mutant.change.split(":", 1)[1]) not in harmless)
    return list(islice(mutants, options.sample))


def survivors_of(chosen: Sequence[Mutant], tests: Sequence[str], scratch: Path, jobs: int) -> int:
    """Print the mutants on which all tests pass, ``jobs`` tried at a time; return their number."""
    for number in range(jobs):
        (scratch / str(number)).mkdir()
    free = [copied(scratch / str(number)) for number in range(jobs)]
    begin = time.monotonic()
    if not waited(begun(free[0], tests), begin + 3600):
        sys.exit(f"{', '.join(tests)}: fail without any mutant; mend that first")
    limit_s = max(LEAST_TIMEOUT_S, TIMEOUT_FACTOR * (time.monotonic() - begin))
    waiting, running, survivors = list(chosen), dict[int, Run](), 0
    while waiting or running:
        while waiting and free:
            mutant, generator = waiting.pop(), free.pop()
            place = generator / mutant.file
            run = Run(mutant, generator, place.read_text("utf-8"), time.monotonic() + limit_s)
            place.write_text(mutant.content, "utf-8")
            running[begun(generator, tests)] = run
        time.sleep(0.05)
        for child, run in list(running.items()):
            if (passed := ended(child, run.until)) is None:
                continue
            (run.generator / run.mutant.file).write_text(run.sound, "utf-8")
            free.append(run.generator)
            del running[child]
            survivors += passed
            if passed:
                print(f"  survives  {run.mutant.file}:{run.mutant.change}", flush=True)
    return survivors


def main() -> int:
    """Try the rooms that are named, or all of them."""
    rooms = yaml.safe_load((ROOT / "tools" / "mutants.yaml").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description="Count the faults that the tests notice.")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(rooms))
    parser.add_argument("--sample", type=int, help="so many mutants of each room; all without it")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at a time")
    options = parser.parse_args()
    if unknown := set(options.rooms) - set(rooms):
        parser.error(f"no room {', '.join(unknown)}; there are {', '.join(rooms)}")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    for library in LIBRARIES:
        import_module(library)
    shares = [tried(room, rooms[room], options) for room in options.rooms or rooms]
    return int(min(shares) < WANTED)


if __name__ == "__main__":
    sys.exit(main())
