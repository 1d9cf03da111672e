"""One request on farms of several sizes: time, overhead, time to the first frame, bytes.

    python benchmarks/farm.py OUT [--takes 20] [--farms local:1,local:2,ray:1,ray:2,ray:4]
                              [--config tiny]

Each take is rendered in MIME's ten variants. Ray's workers are on pretended machines of one core
each, on this one; slurm:2 asks the Slurm that SLURM_CONF names (tests/support/slurm_cluster.py
starts one).

Wall times say little where others need the processors too. So it also tells the CPU seconds of all
processes, looked up in /proc every second, how many of them are the driver's (planning, performing,
handing out), and the median of the seconds from the end of a worker's task to the beginning of its
next one, as the driver hears of them: what a task costs beside its work. Overhead as it was is what
the workers' time is longer than their tasks' in all, from the first task that began to the last
that ended, and in parentheses from the command to its end, with planning, bodies and Blender's
start. Engines' seconds are those in which frames were rendered, a part of the tasks'.
"""

import argparse
import hashlib
import json
import os
import re
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mimegen.base.paths import data_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from ray_cluster import add_machine, ray_cluster

# Processes of a measurement, of whatever farm, have this in their environment.
TAG = "MIMEGEN_BENCHMARK"


@dataclass(frozen=True)
class Measured:
    """What one farm took, in seconds; ``between`` is the median between a worker's tasks."""

    farm: str
    clips: int
    wall: float
    cpu: float
    driver: float
    first_frame: float
    at_work: float
    tasks: int
    busy: float
    engines: float
    between: float
    digest: str
    load: float

    def line(self, workers: int) -> str:
        """Return a row of the table."""
        return (f"| {self.farm} | {self.clips} | {self.wall:.0f} | {self.cpu:.0f}"
                f" ({self.driver:.0f}) | {self.first_frame:.1f} | {self.tasks} | {self.busy:.0f} |"
                f" {self.engines:.0f} | {workers * self.at_work / self.busy - 1:+.0%}"
                f" ({workers * self.wall / self.busy - 1:+.0%}) | {self.between:.2f} |"
                f" {self.digest} | {self.load:.1f} |")


HEAD = ("| farm | clips | wall s | CPU s (the driver's) | first frame after s | tasks | tasks' s |"
        " engines' s | overhead as it was | s between tasks | clips and manifest | load average |\n"
        "|" + " --- |" * 12)


@dataclass
class Processors:
    """CPU seconds of all processes with a tag in their environment, while it is entered."""

    tag: str
    seconds: dict[str, float] = field(default_factory=dict)
    drivers: set[str] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def total(self) -> float:
        """Seconds of all, as last seen."""
        return sum(self.seconds.values())

    @property
    def of_drivers(self) -> float:
        """Seconds of the commands themselves."""
        return sum(self.seconds[name] for name in self.drivers)

    def watch(self) -> None:
        """Look every second until it is over."""
        while not self.over.wait(1.0):
            for folder in Path("/proc").glob("[0-9]*"):
                self._look(folder)

    def _look(self, folder: Path) -> None:
        try:
            name = f"{folder.name} {folder.stat().st_ctime}"
            if name in self.seconds or self.tag.encode() in (folder / "environ").read_bytes():
                ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
                self.seconds[name] = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
                if b"\0render\0" in (folder / "cmdline").read_bytes():
                    self.drivers.add(name)
        except OSError:
            pass


@contextmanager
def tagged() -> Iterator[Processors]:
    """Lend the CPU seconds of what is started from now on."""
    tag = f"{TAG}={secrets.token_hex(8)}"
    os.environ[TAG] = tag.partition("=")[2]
    processors = Processors(tag)
    watcher = threading.Thread(target=processors.watch)
    watcher.start()
    try:
        yield processors
    finally:
        processors.over.set()
        watcher.join()


def tiny_config(folder: Path) -> Path:
    """Write preview at a size that any machine can afford."""
    content = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    content |= {"name": "tiny", "width": 96, "height": 54, "fps": 2}
    for sampling in ("sampling", "set_sampling"):
        content[sampling] |= {"samples": 2, "min_samples": 1, "denoise": False}
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@contextmanager
def nodes(count: int) -> Iterator[str]:
    """Lend the address of a Ray cluster of pretended machines with one core each."""
    with ray_cluster(cpus=0) as cluster:
        for _ in range(count):
            add_machine(cluster)
        yield cluster.address


def measured(farm: str, out: Path, request: list[str]) -> Measured:
    """Render once on a farm such as ``ray:4``."""
    kind, _, workers = farm.partition(":")
    with tagged() as processors:
        if kind in ("local", "slurm"):
            return run(farm, out, [*request, "--farm", kind, "--workers", workers], processors)
        with nodes(int(workers)) as address:
            return run(farm, out, [*request, "--farm", "ray", "--address", address], processors)


def run(farm: str, out: Path, request: list[str], processors: Processors) -> Measured:
    """Render into an empty folder and read what its journal and logs say."""
    began, before = time.time(), processors.total
    subprocess.run([*request, "--out", str(out), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    wall = time.time() - began
    cpu = processors.total - before
    moments = [line for path in (out / "status").iterdir()
               for line in map(json.loads, path.read_text().splitlines()) if "task" in line]
    logs = "".join(path.read_text() for path in (out / "logs").iterdir())
    tasks = [float(seconds) for seconds in re.findall(r"^\S+ done: .*, ([\d.]+) s$", logs, re.M)]
    engines = [float(seconds) for seconds in re.findall(r" frame .*: ([\d.]+) s$", logs, re.M)]
    frames = [path.stat().st_mtime for path in (out / "store").glob("shots/*/*/*.npz")]
    begun = min(line["at"] for line in moments if line["state"] == "begun")
    ended = max(line["at"] for line in moments if line["state"] == "done")
    clips = sorted((out / "clips").glob("*.mp4"))
    return Measured(farm, len(clips), wall, cpu, processors.of_drivers, min(frames) - began,
                    ended - begun, len(tasks), sum(tasks), sum(engines),
                    statistics.median(between_tasks(moments)),
                    digest([*clips, out / "manifest.jsonl"]), os.getloadavg()[1])


def between_tasks(moments: list[dict[str, Any]]) -> Iterator[float]:
    """Yield the seconds from the end of each task to the beginning of its worker's next one."""
    worker: dict[str, str] = {}
    free: dict[str, float] = {}
    for line in moments:
        if line["state"] == "begun":
            worker[line["task"]] = line["worker"]
            since = free.pop(line["worker"], None)
            if since is not None:
                yield line["at"] - since
        else:
            free[worker[line["task"]]] = line["at"]


def digest(files: list[Path]) -> str:
    """Return a few digits that tell whether files are equal byte for byte."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()[:12]


def main() -> None:
    """Measure all farms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--takes", type=int, default=20)
    parser.add_argument("--farms", default="local:1,local:2,ray:1,ray:2,ray:4")
    parser.add_argument("--config", default="tiny")
    parser.add_argument("--variants", default="mime")
    parser.add_argument("--action", default="basketball")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    config = str(tiny_config(options.out)) if options.config == "tiny" else options.config
    request = [sys.executable, "-m", "mimegen", "render", "--action", options.action,
               "--variants", options.variants, "--config", config,
               "--seed", f"0:{options.takes}"]
    print(HEAD, flush=True)
    for farm in options.farms.split(","):
        found = measured(farm, options.out / farm.replace(":", "-"), request)
        print(found.line(int(farm.partition(":")[2])), flush=True)


if __name__ == "__main__":
    main()
