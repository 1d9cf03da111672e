"""How fast plans of any size are made, with keys, and how fast finished clips are found.

    python benchmarks/planning.py [--clips 1000000] [--finished 20000] [--records 1000000]
"""

import argparse
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from mimegen.base.files import content_key, file_hash
from mimegen.compositing.video import ClipFacts
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import SeededTakes, library_take
from mimegen.manifest.file import content_of
from mimegen.plan.clips import PlannedClip
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import parse_variants
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import finished_row
from mimegen.production.rows import clip_row
from mimegen.shots.config import read_config
from mimegen.store.store import Store


def plan_of(clips: int) -> Plan:
    """Return a plan of all takes and ten variants, with as many seeds as make that many clips."""
    catalogue = Catalogue.with_libraries(())
    takes = tuple(library_take(entry, name, 0) for entry in catalogue.actions.values()
                  for name in entry.takes)
    seeds = range(-(-clips // (10 * len(takes))))
    config = read_config(catalogue.file("config", "preview"))
    cells = parse_variants("all", set(catalogue.characters), set(catalogue.backgrounds))
    return make_plan(catalogue, SeededTakes(takes, seeds), cells, config, "cpu")


def peak_megabytes() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_planning(clips: int) -> None:
    """Print how long planning takes, and how long walking the plan with all keys."""
    started = time.process_time()
    plan = plan_of(clips)
    made = time.process_time()
    print(f"plan of {len(plan)} clips and {plan.shots} shots: {made - started:.1f} CPU s,"
          f" {peak_megabytes():.0f} MB")
    walked = sum(1 for clip in plan if clip.key and clip.shot.key)
    seconds = time.process_time() - made
    print(f"walked with keys: {seconds:.1f} CPU s, {walked / seconds:.0f} clips a CPU second,"
          f" {peak_megabytes():.0f} MB")


def row_like(clip: PlannedClip) -> dict[str, Any]:
    """Return a row of the usual length, with all that rows say but of a camera's own."""
    camera = {"position": [0.0, -9.0, 1.0], "rotation": [1.0, 0.0, 0.0, 0.0], "lens_mm": 50.0,
              "width": 640, "height": 360}
    facts = {**clip.shot.casting.facts(), "angle": 0, "fps": 24.0, "frames": 109, "device": "cpu",
             "camera": camera}
    return content_of(clip_row(clip, facts, ClipFacts(109, 640, 360, 64 * "0")))


def fill(store: Store, records: int) -> None:
    """Put so many empty records of other clips into a store."""
    for number in range(records):
        key = content_key(number)
        path = store.root / "clips" / key[:2] / f"{key}.json"
        if number < 1 << 12:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def measure_finished(count: int, records: int) -> None:
    """Print how fast clips that are there already are told from those that are not."""
    clips = list(islice(plan_of(count), count))
    row = row_like(next(clip for clip in clips if isinstance(clip, PlannedClip)))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        fill(Store(out / "store"), records)
        (out / "clips").mkdir()
        for clip in clips[::2]:
            file = out / "clips" / f"{clip.sample_id}.mp4"
            file.write_bytes(b"clip")
            Store(out / "store").record_clip(clip.key, row | {
                "sample_id": clip.sample_id, "file_name": f"clips/{file.name}",
                "sha256": file_hash(file)})
        store, clip_folder = Store(out / "store"), ClipFolder(out)
        started = time.process_time()
        found = sum(finished_row(clip, store, clip_folder) is not None for clip in clips)
        seconds = time.process_time() - started
        print(f"{found} of {len(clips)} found finished among {records + found} records:"
              f" {len(clips) / seconds:.0f} a CPU second")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=1_000_000)
    parser.add_argument("--finished", type=int, default=20_000)
    parser.add_argument("--records", type=int, default=0, help="of other clips in the store")
    options = parser.parse_args()
    measure_planning(options.clips)
    measure_finished(options.finished, options.records)


if __name__ == "__main__":
    main()
