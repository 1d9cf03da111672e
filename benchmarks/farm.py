"""One request on farms of several sizes: wall time, overhead, time to the first frame, bytes.

    python benchmarks/farm.py OUT [--takes 20] [--farms local:1,local:2,ray:1,ray:2,ray:4]
                              [--config tiny]

Each take is rendered in MIME's ten variants. Ray's workers are on pretended machines of one core
each, on this one; slurm:2 asks the Slurm that SLURM_CONF names (tests/slurm_cluster.py starts one).
Overhead is what the workers' time is longer than their tasks' in all, from the first task that
began to the last that ended, and in parentheses from the command to its end, with planning, bodies
and Blender's start.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from mimegen.base.paths import data_folder

MIB = 2**20


@dataclass(frozen=True)
class Measured:
    """What one farm took; seconds."""

    farm: str
    clips: int
    wall: float
    first_frame: float
    at_work: float
    tasks: int
    busy: float
    digest: str
    load: float

    def line(self, workers: int) -> str:
        """Return a row of the table."""
        return (f"| {self.farm} | {self.clips} | {self.wall:.0f} | {self.first_frame:.1f} |"
                f" {self.tasks} | {self.busy:.0f} |"
                f" {workers * self.at_work / self.busy - 1:+.1%}"
                f" ({workers * self.wall / self.busy - 1:+.1%}) | {self.digest} |"
                f" {self.load:.1f} |")


HEAD = ("| farm | clips | wall s | first frame after s | tasks | tasks' seconds | overhead |"
        " clips and manifest | load average |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
        " --- |")


def tiny_config(folder: Path) -> Path:
    """Write preview at a size that any machine can afford."""
    content = yaml.safe_load((data_folder() / "render_configs" / "preview.yaml").read_text())
    content |= {"name": "tiny", "width": 96, "height": 54, "fps": 5}
    for sampling in ("sampling", "set_sampling"):
        content[sampling] |= {"samples": 2, "min_samples": 1, "denoise": False}
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@contextmanager
def nodes(count: int) -> Iterator[str]:
    """Lend the address of a Ray cluster of pretended machines with one core each."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={
        "num_cpus": 0, "object_store_memory": 100 * MIB, "include_dashboard": False})
    for _ in range(count):
        cluster.add_node(num_cpus=1, object_store_memory=100 * MIB)
    try:
        yield cluster.address
    finally:
        cluster.shutdown()


def measured(farm: str, out: Path, request: list[str]) -> Measured:
    """Render once on a farm such as ``ray:4``."""
    kind, _, workers = farm.partition(":")
    if kind in ("local", "slurm"):
        return run(farm, out, [*request, "--farm", kind, "--workers", workers])
    with nodes(int(workers)) as address:
        return run(farm, out, [*request, "--farm", "ray", "--address", address])


def run(farm: str, out: Path, request: list[str]) -> Measured:
    """Render into an empty folder and read what its logs say."""
    began = time.time()
    subprocess.run([*request, "--out", str(out), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    wall = time.time() - began
    moments = [line for path in (out / "status").iterdir()
               for line in map(json.loads, path.read_text().splitlines()) if "task" in line]
    tasks = [float(seconds) for path in (out / "logs").iterdir()
             for seconds in re.findall(r"^\S+ done: .*, ([\d.]+) s$", path.read_text(), re.M)]
    frames = [path.stat().st_mtime for path in (out / "store").glob("shots/*/*/*.npz")]
    begun = min(line["at"] for line in moments if line["state"] == "begun")
    ended = max(line["at"] for line in moments if line["state"] == "done")
    clips = sorted((out / "clips").glob("*.mp4"))
    return Measured(farm, len(clips), wall, min(frames) - began, ended - begun, len(tasks),
                    sum(tasks), digest([*clips, out / "manifest.jsonl"]), os.getloadavg()[1])


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
