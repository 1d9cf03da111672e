"""Draft beside preview: how near the pictures are, how fast they come.

    draft.py sets --out DIR [--sets A,B] [--angles 0,180]   colors of all sets, and a sheet of pairs
    draft.py figures --out DIR [--frames 4]                 silhouettes and colors of figures
    draft.py speed [--frames 24]                            what a frame costs
    draft.py rate [--workers 1,4] [--frames 48]             pictures a second by the clock

Stills and frames of Cycles are kept in DIR, so a second call draws only what OpenGL draws.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from mimegen.base.files import scratch_folder
from mimegen.base.paths import data_files
from mimegen.characters.character import Performance
from mimegen.compositing.background import Background, read_background
from mimegen.compositing.color import linear_to_bytes, srgb_to_linear
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.pages.backgroundsheet import standing
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.devices import OPENGL
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, JobFailed, ShotJob
from mimegen.store.frames import Frame, frame_name, read_frame
from scene import performed

# Colors agree where no channel differs by more, of 255.
NEAR = 12
# Areas across and down, of 20 pixels in the half-size pictures that are compared.
SIZE, AREA = (320, 180), 20
# Connected surfaces that cover this share of a picture are large; Cycles' colors of one differ by
# no more than SAME of 255 from a pixel to the next.
LARGE, SAME = 0.01, 3
ENGINES = (("preview", "auto"), ("draft", OPENGL))
# Sets that were looked at, from angle 0, while light was worked on; all else is held out.
LOOKED_AT = {"airplane_interior", "beach", "bowling_alley", "boxing_gym", "car_showroom",
             "classroom", "darts_practice", "gym", "javelin", "living_room", "office",
             "photo_studio", "shooting_range", "volleyball_court"}
Bytes = NDArray[np.uint8]


def config_of(name: str, size: tuple[int, int]) -> RenderConfig:
    """Return a config of the library at another size."""
    found = read_config(Catalogue.with_libraries(()).file("config", name))
    return found.model_copy(update={"width": size[0], "height": size[1]})


def done(worker: StageWorker, job: SetJob | ShotJob) -> list[float]:
    """Do a job; return the seconds of its frames."""
    worker.submit(job)
    seconds = []
    while not isinstance(message := worker.connection.recv(), JobDone):
        if isinstance(message, JobFailed):
            raise SystemExit(message.message)
        if isinstance(message, FrameDone):
            seconds.append(message.seconds)
    return seconds


def areas(picture: Bytes) -> NDArray[np.float64]:
    """Return the colors of areas (rows, columns, 3), 0 to 255: the sRGB of their mean light."""
    height, width = picture.shape[:2]
    light = srgb_to_linear(picture / 255).astype(float)
    blocks = light.reshape(height // AREA, AREA, width // AREA, AREA, 3).mean(axis=(1, 3))
    return linear_to_bytes(blocks.astype(np.float32)).astype(float)


def surfaces(picture: Bytes) -> list[NDArray[np.bool_]]:
    """Return the large connected surfaces (H, W) of a picture, told by nearly equal colors.

    Pixels that differ from the one to the right or below are edges, which belong to none.
    """
    colors = picture.astype(int)
    inner = np.ones(colors.shape[:2], np.bool_)
    for axis in (0, 1):
        ahead = np.roll(colors, -1, axis=axis)
        inner &= np.abs(ahead - colors).max(axis=-1) <= SAME
    numbers, _ = ndimage.label(inner)
    counts = np.bincount(numbers.ravel())
    large = np.flatnonzero(counts >= LARGE * numbers.size)
    return [numbers == number for number in large if number > 0]


def surfaces_apart(preview: Bytes, draft: Bytes) -> list[float]:
    """Return how far the mean colors of a preview's large surfaces are apart in the draft."""
    seen = [srgb_to_linear(picture / 255).astype(float) for picture in (preview, draft)]
    found = []
    for surface in surfaces(preview):
        means = [linear_to_bytes(light[surface].mean(axis=0).astype(np.float32)).astype(float)
                 for light in seen]
        found.append(float(np.abs(means[0] - means[1]).max()))
    return found


def sets(out: Path, names: Sequence[str], angles: Sequence[int]) -> None:
    """Print what areas and large surfaces of each set agree, and write the pairs as one picture.
    """
    shown = standing(cast_member(Catalogue.with_libraries(()), "man").build())
    rows, pairs, whole = [], [], []
    workers = {engine: StageWorker(device, 1) for engine, device in ENGINES}
    for worker in workers.values():
        worker.connection.recv()
    for background in _backgrounds(names):
        for angle in angles:
            pair = [_still(worker, background, shown, engine, angle, out)
                    for engine, worker in workers.items()]
            apart = np.abs(areas(pair[1]) - areas(pair[0]))
            near = float((apart.max(axis=-1) <= NEAR).mean())
            held_out = background.name not in LOOKED_AT or angle != 0
            rows.append((near, float(apart.mean()), held_out))
            pairs.append(np.concatenate(pair, axis=1))
            large = surfaces_apart(*pair)
            whole += large
            agree = sum(one <= NEAR for one in large)
            print(f"| {background.name} @{angle}{'' if held_out else ' (looked at)'} |"
                  f" {near:.2f} | {apart.mean():.1f} | {agree} of {len(large)} |"
                  f" {max(large, default=0.0):.0f} |", flush=True)
    for title, chosen in (("all", rows), ("held out", [row for row in rows if row[2]])):
        print(f"| {title} ({len(chosen)}) | {np.mean([row[0] for row in chosen]):.2f} |"
              f" {np.mean([row[1] for row in chosen]):.1f} |")
    print(f"| large surfaces that agree | {sum(one <= NEAR for one in whole)} of {len(whole)} |"
          f" worst {max(whole, default=0.0):.0f} |")
    Image.fromarray(np.concatenate(_two_columns(pairs))).save(out / "sets.png")


def _backgrounds(names: Sequence[str]) -> Iterator[Background]:
    for file in data_files("backgrounds/*.yaml"):
        background = read_background(file)
        if background.set is not None and (not names or background.name in names):
            yield background


def _still(worker: StageWorker, background: Background, shown: Performance, engine: str,
           angle: int, out: Path) -> Bytes:
    config = config_of(engine, SIZE)
    target = out / engine / f"{background.name}@{angle}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    if engine == "draft":
        target.unlink(missing_ok=True)
    if not target.exists():
        assert background.set is not None
        camera = frame_camera([shown], config, float(angle))
        done(worker, SetJob(background.set, camera, config, target))
    with Image.open(target) as picture:
        return np.asarray(picture.convert("RGB"))


def _two_columns(pairs: list[Bytes]) -> list[Bytes]:
    padded = [*pairs, np.zeros_like(pairs[0])][:2 * -(-len(pairs) // 2)]
    return [np.concatenate([one, other], axis=1)
            for one, other in zip(padded[::2], padded[1::2], strict=True)]


def figures(out: Path, frames: int) -> None:
    """Print how silhouettes and colors of three characters agree."""
    print("| character | overlap of silhouettes | mean color apart |")
    for character in ("man", "woman", "spacesuit"):
        shown = performed("basketball_shot", character, frames)
        seen = [_frames(shown, engine, device, out / engine / character)
                for engine, device in ENGINES]
        overlap, apart = zip(*(_agreement(*pair) for pair in zip(*seen, strict=True)), strict=True)
        print(f"| {character} | {np.mean(overlap):.3f} ({min(overlap):.3f} at least) |"
              f" {np.max(apart):.1f} |", flush=True)


def _frames(shown: Performance, engine: str, device: str, folder: Path) -> list[Bytes]:
    """Return the figures (H, W, 4), straight sRGB, of all frames."""
    config = config_of(engine, (640, 360))
    count = shown.motion.frames
    files = FigureFiles(folder / "character.npz", folder / "performance.npz")
    publish_figure(shown, files)
    missing = np.array([[engine == "draft" or not (folder / frame_name(number)).exists()]
                        for number in range(count)])
    if missing.any():
        worker = StageWorker(device)
        worker.connection.recv()
        camera = frame_camera([shown], config, 0.0)
        done(worker, ShotJob((files,), (camera,), config, (folder,), missing))
        worker.close()
    return [_whole(read_frame(folder / frame_name(number))) for number in range(count)]


def _whole(frame: Frame) -> Bytes:
    picture = np.zeros((frame.size[1], frame.size[0], 4), np.uint8)
    left, top = frame.figure_at
    height, width = frame.figure.shape[:2]
    picture[top:top + height, left:left + width] = frame.figure
    return picture


def _agreement(one: Bytes, other: Bytes) -> tuple[float, float]:
    """Return the overlap of two silhouettes, and how far their mean colors are apart."""
    first, second = (picture[..., 3].astype(float) for picture in (one, other))
    overlap = np.minimum(first, second).sum() / np.maximum(first, second).sum()
    inner = (one[..., 3] == 255) & (other[..., 3] == 255)
    colors = [picture[inner][:, :3].astype(float).mean(axis=0) for picture in (one, other)]
    return float(overlap), float(np.abs(colors[0] - colors[1]).max())


def speed(frames: int) -> None:
    """Print what a frame costs, shadow included, from one camera and from four.

    Processor time, not the clock's, so that other work on the machine does not count.
    """
    shown = performed("basketball_shot", "man", frames)
    print("| engine | size | cameras | ms of a core for a frame | frames a second of a core |")
    for engine, device in (("draft", OPENGL), ("preview", "cpu")):
        for size in ((640, 360), (1280, 720)):
            for angles in ((0,), (0, 90, 180, 270)):
                cost = _cost(shown, engine, device, size, angles)
                print(f"| {engine} | {size[0]}x{size[1]} | {len(angles)} | {1000 * cost:.0f} |"
                      f" {1 / cost:.1f} |", flush=True)


def _cost(shown: Performance, engine: str, device: str, size: tuple[int, int],
          angles: Sequence[int]) -> float:
    """Return the processor's seconds for a picture; a first frame, which warms up, is left out."""
    count = min(shown.motion.frames, 12 if engine == "draft" else 3)
    with scratch_folder() as folder:
        first, rest = _shot(shown, config_of(engine, size), angles, count, folder)
        worker = StageWorker(device, 1)
        worker.connection.recv()
        done(worker, first)
        before = _spent()
        done(worker, rest)
        spent = _spent() - before
        worker.close()
    return spent / rest.missing.sum()


def _shot(shown: Performance, config: RenderConfig, angles: Sequence[int], count: int,
          folder: Path) -> tuple[ShotJob, ShotJob]:
    """Return a shot of ``count`` frames as two jobs: its first frame, and all others."""
    files = FigureFiles(folder / "character.npz", folder / "performance.npz")
    publish_figure(shown, files)
    missing = np.zeros((shown.motion.frames, len(angles)), np.bool_)
    missing[:count] = True
    cameras = tuple(frame_camera([shown], config, float(angle)) for angle in angles)
    folders = tuple(folder / str(angle) for angle in angles)
    job = ShotJob((files,), cameras, config, folders, missing)
    first = np.zeros_like(missing)
    first[0] = True
    return job.only(first), job.only(missing & ~first)


def rate(workers: Sequence[int], frames: int) -> None:
    """Print pictures a second by the clock, of so many workers at once: for GPUs, which they share.

    Each has a core of its own and the same shot; its first frame, which warms up, is left out.
    """
    shown = performed("basketball_shot", "man", frames)
    print("| workers | size | cameras | pictures a second | drawn by |\n|---|---|---|---|---|")
    for count in workers:
        for size in ((640, 360), (1280, 720)):
            for angles in ((0,), (0, 90, 180, 270)):
                found, drawn_by = _rate(shown, count, size, angles)
                print(f"| {count} | {size[0]}x{size[1]} | {len(angles)} | {found:.0f} |"
                      f" {drawn_by} |", flush=True)


def _rate(shown: Performance, workers: int, size: tuple[int, int], angles: Sequence[int]
          ) -> tuple[float, str]:
    """Return pictures a second by the clock, and who draws them."""
    with scratch_folder() as folder:
        stages = [StageWorker(OPENGL, 1) for _ in range(workers)]
        started = [stage.connection.recv() for stage in stages]
        shots = []
        for number, stage in enumerate(stages):
            (folder / str(number)).mkdir()
            shots.append(_shot(shown, config_of("draft", size), angles, shown.motion.frames,
                               folder / str(number)))
            done(stage, shots[-1][0])
        began = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(done, stages, [rest for _, rest in shots]))
        seconds = time.perf_counter() - began
        for stage in stages:
            stage.close()
    return sum(int(rest.missing.sum()) for _, rest in shots) / seconds, started[0].program


def _spent() -> float:
    """Return the processor's seconds that the one worker process has taken."""
    worker, = (folder for folder in Path("/proc").glob("[0-9]*")
               if b"mimegen.rendering.serving" in (folder / "cmdline").read_bytes())
    fields = (worker / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Do one of the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["sets", "figures", "speed", "rate"])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sets", default="")
    parser.add_argument("--angles", default="0,180")
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--workers", default="1")
    said = parser.parse_args()
    if said.what == "speed":
        speed(said.frames)
        return
    if said.what == "rate":
        rate([int(count) for count in said.workers.split(",")], said.frames)
        return
    if said.out is None:
        parser.error("name a folder with --out")
    said.out.mkdir(parents=True, exist_ok=True)
    if said.what == "sets":
        sets(said.out, [name for name in said.sets.split(",") if name],
             [int(angle) for angle in said.angles.split(",")])
    else:
        figures(said.out, said.frames)


if __name__ == "__main__":
    main()
