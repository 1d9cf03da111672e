"""Damage real motion files and see what the readers do with them.

``python benchmarks/fuzz_readers.py FILE... --mutations 10000 [--points] [--seed N]`` mutates the
files at random and reads each result in a worker process with limits. A reader may read a file
or refuse it with one line; anything else (a traceback, a crash, a hang, a warning, poses that are
not numbers) is reported with the damaged file kept, and makes the exit status 1.
"""

import argparse
import multiprocessing
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from mimegen.errors import RequestError
from mimegen.readers import c3d_file, read_motion, read_points

SECONDS, MEMORY = 60.0, 6 << 30
TEXT = (".bvh", ".amc", ".asf")
WORDS = [b"nan", b"inf", b"-1", b"0", b"1e400", b"99999999999999999999", b"x", b"", b"-", b"{",
         b"}", b":", b"#", b"\0", b"\xff\xfe", b"rx", b"root", b"1 2 3", b"Xrotation"]
COMPANIONS = (".asf", ".amc")


def mutated(data: bytes, text: bool, rng: np.random.Generator) -> bytes:
    """Return the file with one to four random damages."""
    for _ in range(int(rng.integers(1, 5))):
        data = _mutated_once(data, text, rng)
    return data


def _mutated_once(data: bytes, text: bool, rng: np.random.Generator) -> bytes:
    size = max(len(data), 1)
    # Half of the damages hit the head, where structure is.
    reach = min(size, 6000) if rng.random() < 0.5 else size
    at, length = int(rng.integers(reach)), int(rng.integers(1, 200))
    kind = int(rng.integers(8))
    if text and kind < 4:
        words = list(re.finditer(rb"\S+", data[at : at + 2000]))
        if words:
            word = words[int(rng.integers(len(words)))]
            new = WORDS[int(rng.integers(len(WORDS)))]
            return data[: at + word.start()] + new + data[at + word.end() :]
    if kind < 3:
        changed = bytearray(data)
        for place in rng.integers(at, min(at + 64, size), size=int(rng.integers(1, 9))):
            changed[int(place) % size] = int(rng.integers(256))
        return bytes(changed)
    if kind == 3:
        filler = [b"\0", b"\xff", b"\x7f"][int(rng.integers(3))]
        return data[:at] + filler * length + data[at + length :]
    if kind == 4:
        return data[: int(rng.integers(size))]
    if kind == 5:
        return data[:at] + data[at + length :]
    if kind == 6:
        return data[:at] + data[at : at + length] * 2 + data[at + length :]
    other = int(rng.integers(size))
    return data[:at] + data[other : other + length] + data[at + length :]


def work(pipe: Connection, points: bool, alone: bool) -> None:
    """Read files that come through the pipe and answer with what became of each."""
    if alone:
        c3d_file._by_ezc3d = _refused
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("error", RuntimeWarning)
    while (path := pipe.recv()) is not None:
        pipe.send(_outcome(path, points))


def _refused(path: Path, problem: str) -> c3d_file.Trajectories:
    raise RequestError(f"{path}: {' '.join(problem.split())}")


def _outcome(path: Path, points: bool) -> tuple[str, str]:
    try:
        if points:
            fine = not np.isinf(read_points(path).positions).any()
        else:
            motion = read_motion(path).motion
            fine = bool(np.isfinite(motion.rotations).all()
                        and np.isfinite(motion.root_positions).all())
        return ("read", "") if fine else ("NOT FINITE", "")
    except RequestError as refusal:
        line = str(refusal)
        return ("MANY LINES", line) if "\n" in line.strip() else ("refused", line)
    except BaseException:
        return "TRACEBACK", traceback.format_exc()


class Worker:
    """A process that reads; it is started anew when it crashes or hangs."""

    def __init__(self, points: bool, alone: bool) -> None:
        self.how = points, alone
        self.start()

    def start(self) -> None:
        """Start the process."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, *self.how), daemon=True)
        self.process.start()
        theirs.close()

    def read(self, path: Path) -> tuple[str, str]:
        """Return what became of a file, and the line or traceback that tells."""
        try:
            self.pipe.send(path)
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()  # type: ignore[no-any-return]
            outcome = "HANG", ""
        except (EOFError, OSError):
            self.process.join(5)
            outcome = "CRASH", f"exit {self.process.exitcode}"
        self.process.kill()
        self.process.join()
        self.start()
        return outcome

    def stop(self) -> None:
        """Let the process end."""
        self.pipe.send(None)
        self.process.join(10)


def fuzz(file: Path, count: int, how: tuple[bool, bool], seed: int, keep: Path) -> Counter[str]:
    """Mutate one file ``count`` times; damaged files that are not handled well go to ``keep``."""
    rng = np.random.default_rng([seed, len(file.name), *file.name.encode()])
    data, found = file.read_bytes(), Counter[str]()
    worker = Worker(*how)
    with tempfile.TemporaryDirectory() as folder:
        for other in file.parent.iterdir():
            if other.suffix.lower() in COMPANIONS and file.suffix.lower() in COMPANIONS:
                shutil.copy(other, folder)
        target = Path(folder) / file.name
        read = target if file.suffix.lower() != ".asf" else _motion_of(target)
        for number in range(count):
            target.unlink(missing_ok=True)
            target.write_bytes(mutated(data, file.suffix.lower() in TEXT, rng))
            outcome, said = worker.read(read)
            found[outcome] += 1
            if outcome.isupper():
                kept = keep / f"{outcome.split()[0].lower()}-{number}-{file.name}"
                shutil.copy(target, kept)
                print(f"{outcome}: {kept}\n{said}", flush=True)
    worker.stop()
    return found


def _motion_of(skeleton: Path) -> Path:
    """Return the AMC file that a skeleton file belongs to."""
    return next(p for p in sorted(skeleton.parent.iterdir()) if p.suffix.lower() == ".amc"
                and p.stem.split("_")[0] == re.split(r"[-_]", skeleton.stem)[0])


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--mutations", type=int, default=1000, help="in all, shared by the files")
    parser.add_argument("--points", action="store_true", help="read markers only, solve nothing")
    parser.add_argument("--alone", action="store_true",
                        help="try one package for C3D only: asking ezc3d too takes most time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    total = Counter[str]()
    for file in options.files:
        start = time.time()
        count = -(-options.mutations // len(options.files))
        found = fuzz(file, count, (options.points, options.alone), options.seed, options.keep)
        total += found
        print(f"{file.name}: {dict(found)} in {time.time() - start:.0f} s", flush=True)
    print(f"all: {dict(total)}")
    return int(any(outcome.isupper() for outcome in total))


if __name__ == "__main__":
    sys.exit(main())
