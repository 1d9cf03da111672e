"""Damage real motion files and see what the readers do with them.

``python benchmarks/fuzz_readers.py FILE... --mutations 10000 [--values] [--points] [--figures]
[--seed N]`` mutates the files at random and reads each result in a worker process with limits. A
reader may read a file or refuse it with one line; anything else (a traceback, a crash, a hang, a
warning, poses that are not numbers) is reported with the damaged file kept, and makes the exit
status 1.

Half of the damages of a glTF or JSON file are other values in its JSON. With ``--figures`` files
are read as rigged characters, as VRM files always are.

Files that Blender imports (FBX, glTF, VRM) are imported in the worker itself, many in a row, where
``read_motion`` starts a process for each. So Blender may crash or hang there: the worker is
started anew, and ``read_motion`` has to make one line of the same file.
"""

import argparse
import json
import multiprocessing
import os
import re
import resource
import shutil
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.characters.imported import importing
from mimegen.characters.imported.importing import import_character
from mimegen.readers import c3d_file, fbx, read_motion
from mimegen.readers.blender_process import GIBIBYTES_TO_READ, ReaderReply
from mimegen.readers.points import read_points

SECONDS, MEMORY = 240.0, 6 << 30
IN_BLENDER = (".fbx", ".glb", ".gltf", ".vrm", ".vrma", ".usda", ".usdc", ".usdz")
# Blender keeps some memory of every file that it has imported.
IMPORTS_PER_WORKER = 500
NUMBER, NAME = re.compile(rb"[-+.\d]+(?:[eE][-+]?\d+)?"), re.compile(rb"[A-Za-z_:][\w:.]*")
KEYWORDS = {b"HIERARCHY", b"ROOT", b"JOINT", b"End", b"Site", b"OFFSET", b"CHANNELS", b"MOTION",
            b"Frames:", b"Frame", b"Time:"}
WORDS = [b"nan", b"inf", b"-1", b"0", b"1e400", b"99999999999999999999", b"x", b"", b"-", b"{",
         b"}", b":", b"#", b"\0", b"\xff\xfe", b"rx", b"root", b"1 2 3", b"Xrotation"]
MOST_REPEATS = 2000
# Files that are JSON, or begin with it.
GLTF = (".glb", ".gltf", ".vrm", ".vrma", ".json")
STRINGS = ["VEC4", "SCALAR", "rotation", "scale", "STEP", "CUBICSPLINE", "[/x]", "\ud800",
           "../../x.bin"]
OTHERS: list[Any] = [-1, 0, 10**9, 2**40, 1e300, None, [], {}, "x", "", [1, 2, 3], True, "data:,",
                     [0] * 5, {"a": 1}, "http://x/y.bin"]
COMPANIONS = (".asf", ".amc")


def mutated(data: bytes, text: bool, values: bool, rng: np.random.Generator,
            gltf: bool = False) -> bytes:
    """Return the file with one to four random damages, or with 1 to 40 other ``values``."""
    if gltf and rng.random() < 0.5:
        return _with_other_json(data, rng)
    if values:
        return _with_other_words(data, rng) if text else _with_other_values(data, rng)
    for _ in range(int(rng.integers(1, 5))):
        data = _mutated_once(data, text, rng)
    return data


def _with_other_json(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a glTF file, text or binary, with one to four values of its JSON replaced."""
    packed = data.startswith(b"glTF")
    length = struct.unpack_from("<I", data, 12)[0] if packed else len(data)
    document = json.loads(data[20 : 20 + length] if packed else data)
    for _ in range(int(rng.integers(1, 5))):
        places = list(_places(document))
        holder, key = places[int(rng.integers(len(places)))]
        if rng.random() < 0.15:
            del holder[key]
        else:
            holder[key] = _another(holder[key], rng)
    text = json.dumps(document).encode()
    if not packed:
        return text
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + data[20 + length :]
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Yield where each value of a JSON document is: what holds it, and its key or number."""
    keys = list(part) if isinstance(part, dict) else range(len(part)) \
        if isinstance(part, list) else ()
    for key in keys:
        yield part, key
        yield from _places(part[key])


def _another(value: Any, rng: np.random.Generator) -> Any:
    """Return a value in the place of a JSON value, mostly of its own kind."""
    near: list[Any] = []
    if isinstance(value, int | float) and rng.random() < 0.8:
        near = [value + 1, value - 1, 0, -value, value * 2, value * 1e30, int(rng.integers(40))]
    elif isinstance(value, list) and value and rng.random() < 0.8:
        near = [value[:-1], value + value[:1], value[::-1], [value[0]] * len(value), []]
    elif isinstance(value, str) and rng.random() < 0.8:
        near = ["", value + "x", value[::-1], *STRINGS]
    choices = near or OTHERS
    return choices[int(rng.integers(len(choices)))]


def _with_other_words(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a text file with numbers and names replaced by others, every line as it was."""
    found = [word for word in re.finditer(rb"\S+", data) if word[0] not in KEYWORDS]
    head = [word for word in found if word.start() < 6000]
    names = sorted({word[0] for word in found if NAME.fullmatch(word[0])} | {b"Hips", b"x"})
    for _ in range(int(rng.integers(1, 41))):
        among = head if rng.random() < 0.5 else found
        word = among[int(rng.integers(len(among)))]
        if NUMBER.fullmatch(word[0]):
            new = b"%.*g" % (int(rng.integers(1, 9)), rng.normal() * 10.0 ** rng.integers(-6, 9))
        else:
            new = names[int(rng.integers(len(names)))]
        # As long as what it replaces, so that the places of other words stay true.
        size = len(word[0])
        data = data[: word.start()] + new[:size].ljust(size) + data[word.end() :]
    return data


def _with_other_values(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a binary file with words of two or four bytes replaced by other numbers."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 41))):
        reach = min(len(data), 6000) if rng.random() < 0.5 else len(data)
        at = int(rng.integers(max(reach // 2 - 2, 1))) * 2
        number = float(rng.normal() * 10.0 ** rng.integers(-6, 9))
        new = (np.array(number, "<f4").tobytes() if rng.random() < 0.5
               else np.array(int(rng.integers(-(2**15), 2**15)), "<i2").tobytes())
        changed[at : at + len(new)] = new
    return bytes(changed[: len(data)])


def _mutated_once(data: bytes, text: bool, rng: np.random.Generator) -> bytes:
    size = max(len(data), 1)
    # Half of the damages hit the head, where structure is.
    reach = min(size, 6000) if rng.random() < 0.5 else size
    at, length = int(rng.integers(reach)), int(rng.integers(1, 200))
    kind = int(rng.integers(9))
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
    if kind == 7:
        # Long chains, wide trees and long lines.
        many = int(rng.integers(2, MOST_REPEATS))
        return data[:at] + data[at : at + length] * many + data[at + length :]
    other = int(rng.integers(size))
    return data[:at] + data[other : other + length] + data[at + length :]


def work(pipe: Connection, reads: str, alone: bool, blender: bool) -> None:
    """Read files that come through the pipe and answer with what became of each."""
    if alone:
        c3d_file._by_ezc3d = _refused
    if blender:
        most = int(GIBIBYTES_TO_READ * 2**30)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        _import_here()
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("error", RuntimeWarning)
    while (path := pipe.recv()) is not None:
        pipe.send(_outcome(path, reads))


def _import_here() -> None:
    """Let Blender import in this process, silently, in place of one process for each file."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    from mimegen.characters.imported.blender.importing import read_rigged_file
    from mimegen.readers.blender.fbx import sample_motion

    def read(module: str, path: Path, __: Path, *arguments: str, instead: Path | None = None
             ) -> ReaderReply:
        source = instead or path
        try:
            if module.endswith(".importing"):
                return ReaderReply(*read_rigged_file(source))
            return ReaderReply(*sample_motion(source, *(arguments or [None])))
        # What ends the process of read_motion with a last line that becomes the reason.
        except Exception as problem:
            raise RequestError(f"{path}: {' '.join(str(problem).split())}") from problem

    fbx.read_in_blender = importing.read_in_blender = read


def _refused(path: Path, problem: str) -> c3d_file.Trajectories:
    raise RequestError(f"{path}: {' '.join(problem.split())}")


def _outcome(path: Path, reads: str) -> tuple[str, str]:
    """Return what becomes of a file that is read as a motion, as points or as a figure."""
    try:
        if reads == "figures":
            vertices = [mesh.vertices for mesh in import_character(path).meshes]
            fine = all(np.isfinite(places).all() for places in vertices)
        elif reads == "points":
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

    def __init__(self, reads: str, alone: bool, blender: bool, seconds: float) -> None:
        self.how = reads, alone, blender
        self.seconds = seconds
        self.start()

    def start(self) -> None:
        """Start the process."""
        self.done = 0
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, *self.how), daemon=True)
        self.process.start()
        theirs.close()

    def read(self, path: Path) -> tuple[str, str]:
        """Return what became of a file, and the line or traceback that tells."""
        if self.how[2] and self.done == IMPORTS_PER_WORKER:
            self.stop()
            self.start()
        self.done += 1
        try:
            self.pipe.send(path)
            if self.pipe.poll(self.seconds):
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


def fuzz(file: Path, options: argparse.Namespace, count: int) -> Counter[str]:
    """Mutate one file ``count`` times; damaged files that are not handled well are kept."""
    rng = np.random.default_rng([options.seed, len(file.name), *file.name.encode()])
    data, found = file.read_bytes(), Counter[str]()
    blender = file.suffix.lower() in IN_BLENDER
    gltf = file.suffix.lower() in GLTF
    reads = "points" if options.points else "figures" \
        if options.figures or file.suffix.lower() == ".vrm" else "motion"
    worker = Worker(reads, options.alone, blender, options.seconds)
    with tempfile.TemporaryDirectory() as folder:
        for other in file.parent.iterdir():
            if other.suffix.lower() in COMPANIONS and file.suffix.lower() in COMPANIONS:
                shutil.copy(other, folder)
        target = Path(folder) / file.name
        read = target if file.suffix.lower() != ".asf" else _motion_of(target)
        for number in range(count):
            target.unlink(missing_ok=True)
            target.write_bytes(mutated(data, b"\0" not in data, options.values, rng, gltf))
            outcome, said = worker.read(read)
            if blender and outcome in ("CRASH", "HANG"):
                found[f"Blender: {outcome.lower()}"] += 1
                before = _seconds_of_children()
                outcome, said = _outcome(read, reads)
                spent = _seconds_of_children() - before
                outcome = "HANG" if spent > options.seconds else outcome
                print(f"Blender: {number}, {spent:.1f} s: {said}", flush=True)
            found[outcome] += 1
            if number % 500 == 499:
                print(f"{file.name}: {number + 1} done, {dict(found)}", flush=True)
            if outcome.isupper():
                kept = options.keep / f"{outcome.split()[0].lower()}-{number}-{file.name}"
                shutil.copy(target, kept)
                print(f"{outcome}: {kept}\n{said}", flush=True)
    worker.stop()
    return found


def _seconds_of_children() -> float:
    """Return the processor time of all processes that this one started and saw end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _motion_of(skeleton: Path) -> Path:
    """Return the AMC file that a skeleton file belongs to."""
    return next(p for p in sorted(skeleton.parent.iterdir()) if p.suffix.lower() == ".amc"
                and p.stem.split("_")[0] == re.split(r"[-_]", skeleton.stem)[0])


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--mutations", type=int, default=1000, help="in all, shared by the files")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="after which it hangs")
    parser.add_argument("--values", action="store_true",
                        help="replace numbers and names only, and keep the layout")
    parser.add_argument("--points", action="store_true", help="read markers only, solve nothing")
    parser.add_argument("--figures", action="store_true", help="read as rigged characters")
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
        found = fuzz(file, options, count)
        total += found
        print(f"{file.name}: {dict(found)} in {time.time() - start:.0f} s", flush=True)
    print(f"all: {dict(total)}")
    return int(any(outcome.isupper() for outcome in total))


if __name__ == "__main__":
    sys.exit(main())
