"""Eight processes on two pretended machines write one output folder, without Blender, while they
are killed at random; then nothing may be lost, torn or left behind: python benchmarks/kills.py
"""

import argparse
import hashlib
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from mimegen.base import owners
from mimegen.base.files import file_hash, publish, publishing, scratch_folder, sweep
from mimegen.compositing.video import write_clip
from mimegen.manifest.file import add_rows, content_of, read_manifest, typed_row
from mimegen.store.frames import Frame, frame_name, frame_to_bytes, read_frame
from mimegen.store.shotfacts import ShotFacts
from mimegen.store.store import Store

HOSTS = ("node-1", "node-2")
WRITERS, FRAMES, CLIPS_A_ROUND = 8, 4, 6
SIZE = (32, 24)
FACTS: ShotFacts = {"frames": FRAMES, "device": "n" * 5000}
LONGEST_LIFE_S = 3.0


@dataclass
class Findings:
    """What went wrong, and how much was tried."""

    killed: int = 0
    finished: int = 0
    wrong: list[str] = field(default_factory=list)


def clip_names(turn: int) -> list[str]:
    """Return the clips that all writers of a round make."""
    return [f"clip-{turn}-{number}" for number in range(CLIPS_A_ROUND)]


def frame_of(name: str, number: int) -> bytes:
    """Return a frame as every writer makes it."""
    rng = np.random.default_rng([number, *name.encode()])
    figure = rng.integers(0, 256, (*SIZE[::-1], 4), dtype=np.uint8)
    return frame_to_bytes(Frame(SIZE, figure, (0, 0), np.zeros((0, 0), np.uint8), (0, 0)))


def key_of(name: str) -> str:
    """Return the key of a clip, its shot and its still."""
    return hashlib.sha256(name.encode()).hexdigest()


def write(out: Path, host: str, names: list[str], told: int) -> None:
    """Make clips, as the main job does, and tell each that is done, by a line to ``told``."""
    owners.this_host = partial(str, host)
    store = Store(out / "store")
    for name in names:
        _make(out, store, name)
        os.write(told, f"{name}\n".encode())


def _make(out: Path, store: Store, name: str) -> None:
    key = key_of(name)
    sweep(out)
    sweep(out / "clips")
    store.sweep([key])
    store.record_shot(key, FACTS)
    for frame in np.flatnonzero(store.missing(key, FRAMES)):
        publish(store.shot_folder(key) / frame_name(frame), frame_of(name, frame))
    with scratch_folder(store.scratch) as folder:
        (folder / "picture").write_bytes(bytes(10_000))
        publish(store.still(key), name * 500)
    clip = out / "clips" / f"{name}.mp4"
    _make_clip(clip, [store.shot_folder(key) / frame_name(frame) for frame in range(FRAMES)])
    row = typed_row(row_content(name, file_hash(clip)))
    store.record_clip(key, content_of(row))
    add_rows(out, [row])


def _make_clip(clip: Path, frames: list[Path]) -> None:
    """Encode one clip in six, and write the others in many small pieces, which takes less time."""
    if clip.stem.endswith("0"):
        write_clip(frames, np.ones((*SIZE[::-1], 3), np.float32), 24, clip)
        return
    with publishing(clip) as part, part.open("wb") as file:
        for frame in frames * 10:
            file.write(frame.read_bytes())
            file.flush()


def row_content(name: str, digest: str) -> dict[str, object]:
    """Return the row of a clip."""
    width, height = SIZE
    return {
        "sample_id": name, "file_name": f"clips/{name}.mp4", "action": "walk", "take": "a",
        "actor": "recorded", "labels": ["walking"], "avatar": "man", "angle": 0,
        "config_name": "base+blank@0", "background_config": "blank", "background_name": "blank",
        "render_config_name": "preview", "seed": 0, "fps": 24.0, "frames": FRAMES, "width": width,
        "height": height, "sha256": digest, "shot_key": key_of(name),
    }


def one_round(out: Path, turn: int, longest_life_s: float) -> Findings:
    """Start the writers, kill each after a time of its own, and look for what is lost or torn."""
    chance = random.Random(turn)
    found = Findings()
    listen, told = os.pipe()
    writers = [_start(out, HOSTS[number % 2], turn, chance, told) for number in range(WRITERS)]
    deaths = sorted((time.monotonic() + chance.uniform(0.02, longest_life_s), number)
                    for number in range(WRITERS))
    for moment, number in deaths:
        while time.monotonic() < moment:
            found.wrong += torn(out, clip_names(turn))
            time.sleep(0.02)
        writers[number].kill()
    for writer in writers:
        writer.join()
        found.killed += writer.exitcode == -9
        if writer.exitcode not in (0, -9):
            found.wrong.append(f"round {turn}: a writer failed with status {writer.exitcode}")
    os.close(told)
    with os.fdopen(listen) as lines:
        done = lines.read().split()
    found.finished = len(done)
    found.wrong += [*torn(out, clip_names(turn)), *lost(out, set(done))]
    return found


def _start(out: Path, host: str, turn: int, chance: random.Random, told: int) -> BaseProcess:
    names = chance.sample(clip_names(turn), CLIPS_A_ROUND)
    writer = get_context("fork").Process(target=write, args=(out, host, names, told))
    writer.start()
    return writer


def torn(out: Path, names: list[str]) -> Iterator[str]:
    """Yield the files under final names that are not whole."""
    store = Store(out / "store")
    for name in names:
        key = key_of(name)
        for frame in range(FRAMES):
            path = store.shot_folder(key) / frame_name(frame)
            if path.exists():
                try:
                    read_frame(path)
                except ValueError:
                    yield f"{path}: torn"
        still = store.still(key)
        if still.exists() and still.read_text() != name * 500:
            yield f"{still}: torn"
        facts = store.shot_folder(key) / "shot.json"
        if facts.exists() and json.loads(facts.read_text()) != FACTS:
            yield f"{facts}: torn"
        row = store.clip_row(key)
        if row is not None and file_hash(out / str(row["file_name"])) != row["sha256"]:
            yield f"{row['file_name']}: torn"
    # Raises where a line is torn.
    read_manifest(out)


def lost(out: Path, names: set[str]) -> Iterator[str]:
    """Yield what is absent of clips that a writer said were done."""
    store = Store(out / "store")
    listed = {row.sample_id for row in read_manifest(out)}
    for name in sorted(names):
        key = key_of(name)
        if name not in listed:
            yield f"{name}: its row is lost"
        if store.clip_row(key) is None or store.shot_facts(key) is None:
            yield f"{name}: its facts are lost"
        if store.missing(key, FRAMES).any() or not store.still(key).exists():
            yield f"{name}: its pictures are lost"


def left_behind(out: Path) -> list[str]:
    """Sweep as the next run on each machine does, and return what is still unfinished."""
    here = owners.this_host
    for host in HOSTS:
        owners.this_host = partial(str, host)
        for folder in [out, *(path for path in out.rglob("*") if path.is_dir())]:
            sweep(folder)
    owners.this_host = here
    return [str(path) for path in out.rglob("*") if owners.is_unfinished(path.name)]


def torture(out: Path, rounds: int, longest_life_s: float = LONGEST_LIFE_S) -> Findings:
    """Do so many rounds, and return what they found together."""
    total, done = Findings(), Findings()
    for turn in range(rounds):
        done = one_round(out, turn, longest_life_s)
        total.killed += done.killed
        total.finished += done.finished
        total.wrong += done.wrong
    total.wrong += [f"{path}: left behind" for path in left_behind(out)]
    return total


def main() -> None:
    """Print what was found; status 1 where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mimegen-bench-") as folder:
        started = time.monotonic()
        found = torture(Path(folder) / "out", given.rounds)
        rows = len(read_manifest(Path(folder) / "out"))
    seconds = time.monotonic() - started
    print(f"{given.rounds} rounds, {seconds:.0f} s: {found.killed} writers killed, {found.finished}"
          f" clips said to be done, {rows} rows, {len(found.wrong)} faults")
    for fault in found.wrong:
        print(fault)
    raise SystemExit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
