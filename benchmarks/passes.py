"""How well ground truth by OpenGL and by Cycles agrees, with one another and with the pictures.

    python benchmarks/passes.py [--frames 6] [--config draft] [--json FILE]

Three takes: a man before a set, a spacesuit, two performers. Both engines look at the same frames;
flow is tried by warping the next picture back. Everything runs in this process.
"""

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from mimegen.compositing.background import read_background
from mimegen.groundtruth.job import GeometryJob
from mimegen.groundtruth.kinds import KINDS
from mimegen.groundtruth.passmaker import PassMaker
from mimegen.groundtruth.surface import PosedScene
from mimegen.groundtruth.visible_surface import SeenSurface, on_canvas
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.rendering.cycles.passes import CyclesSurfaceRenderer
from mimegen.rendering.cycles.render import PictureReader, use_device
from mimegen.rendering.cycles.shot import FigureStage
from mimegen.rendering.opengl.context import context_of_process
from mimegen.rendering.opengl.passes import OpenGLSurfaceRenderer
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.rendering.passes_server import PassServer
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.store.frames import Frame
from mimegen.store.passes import read_arrays

SHOTS = (("basketball", ("man",), "basketball_court", 0.0), ("boxing", ("spacesuit",), None, 90.0),
         ("high five", ("man", "woman"), "living_room", 0.0))


@dataclass
class Both:
    """A shot as both engines see it."""

    scene: PosedScene
    camera: Camera
    config: RenderConfig
    raster: PassMaker
    cycles: PassMaker
    sets: dict[str, Any]


def main() -> None:
    """Print the table and, if asked, write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=6)
    parser.add_argument("--config", default="draft")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", options.config))
    use_device("cpu", 1)
    context = context_of_process(1)
    found = []
    for action, members, background, angle in SHOTS:
        casting = Casting(library_take(catalogue.action(action), None, 0, None),
                          tuple(cast_member(catalogue, name) for name in members))
        performances = casting.perform(config.fps)
        scene = PosedScene([Figure.of(each) for each in performances])
        camera = frame_camera(performances, config, angle)
        sets = {} if background is None else _sets(
            catalogue, background, camera, config, PassServer(1, context))
        both = Both(scene, camera, config,
                    PassMaker(scene, config, partial(OpenGLSurfaceRenderer, context, scene)),
                    PassMaker(scene, config, partial(CyclesSurfaceRenderer, scene)), sets)
        numbers = np.linspace(4, scene.frames - 6, options.frames).astype(int).tolist()
        said = {"action": action, "who": " and ".join(members), "set": background or "none",
                "frames": len(numbers), **_agreement(both, numbers),
                **_warped(both, numbers, RasterStage(context, scene.characters, config)),
                **_costs(both, numbers[0])}
        said |= _silhouettes(both, numbers)
        found.append(said)
        print(json.dumps(said, indent=1), flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


def _sets(catalogue: Catalogue, name: str, camera: Camera, config: RenderConfig,
          server: PassServer) -> dict[str, Any]:
    scenery = read_background(catalogue.file("background", name)).set
    assert scenery is not None
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for engine in ("raster", "cycles"):
            target = Path(folder) / f"{engine}.npz"
            server.do(GeometryJob(scenery, camera, config, target, engine), lambda _: None)
            found[engine] = read_arrays(target)
    return found


def _agreement(both: Both, numbers: list[int]) -> dict[str, float]:
    """Compare masks, depth with the set, labels and movement, pixel by pixel."""
    looks = [(both.raster.surface(number, both.camera), both.cycles.surface(number, both.camera))
             for number in numbers]
    masks = [(_whole(one.labels[..., 0], one, both), _whole(two.labels[..., 0], two, both))
             for one, two in looks]
    persons = sorted({int(value) for mask, _ in masks for value in np.unique(mask)} - {0})
    ious = [_iou([(one == person, two == person) for one, two in masks]) for person in persons]
    depths = [(_depth(one, both, "raster"), _depth(two, both, "cycles")) for one, two in looks]
    near = np.concatenate([np.abs(one - two)[_inner(one) & _inner(two)] for one, two in depths])
    return {
        "mask IoU, worst performer": min(ious),
        "depth within 1 mm, inner pixels": float((near < 1e-3).mean()),
        "depth, median difference in mm": float(1e3 * np.median(near)),
        "parts alike": _alike(looks, 1), "clothes alike": _alike(looks, 2),
        "normals within 2 degrees": float(np.concatenate(
            [_angles(one, two) for one, two in looks]).__lt__(2.0).mean()),
    }


def _whole(values: Any, seen: SeenSurface, both: Both, empty: float = 0.0) -> Any:
    return on_canvas(values, seen.region, (0, 0, both.camera.width, both.camera.height), empty)


def _depth(seen: SeenSurface, both: Both, engine: str) -> Any:
    figure = _whole(seen.depth, seen, both, np.inf)
    behind = both.sets[engine]["depth"] if both.sets else np.full_like(figure, np.inf)
    return np.where(np.isfinite(figure), figure, behind)


def _inner(depth: Any) -> Any:
    """Say which pixels have a depth and no edge about them: 5 % of it within three pixels."""
    whole = np.where(np.isfinite(depth), depth, 1e6)
    span = ndimage.maximum_filter(whole, 3) - ndimage.minimum_filter(whole, 3)
    return np.isfinite(depth) & (span < 0.05 * whole)


def _iou(pairs: list[tuple[Any, Any]]) -> float:
    return float(sum((one & two).sum() for one, two in pairs)
                 / max(sum((one | two).sum() for one, two in pairs), 1))


def _alike(looks: list[tuple[SeenSurface, SeenSurface]], label: int) -> float:
    same = [one.labels[..., label] == two.labels[..., label] for one, two in looks]
    there = [(one.labels[..., 0] > 0) & (two.labels[..., 0] > 0) for one, two in looks]
    return float(sum((a & b).sum() for a, b in zip(same, there, strict=True))
                 / sum(each.sum() for each in there))


def _angles(one: SeenSurface, two: SeenSurface) -> Any:
    there = (one.labels[..., 0] > 0) & (two.labels[..., 0] > 0)
    cosine = (one.normals * two.normals).sum(axis=-1)[there]
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def _warped(both: Both, numbers: list[int], stage: RasterStage) -> dict[str, float]:
    """Warp the next picture back by the flow and compare it with the one before."""
    errors: dict[str, list[Any]] = {"raster": [], "cycles": [], "unmoved": []}
    flows = []
    for number in numbers:
        pictures = [_picture(both, stage, frame) for frame in (number, number + 1)]
        found = [(maker.arrays("flow", number, both.camera), maker.surface(number, both.camera))
                 for maker in (both.raster, both.cycles)]
        for name, (arrays, seen) in zip(("raster", "cycles"), found, strict=True):
            flow, sure = _sure(arrays, seen, both)
            for column, moved in ((name, flow), ("unmoved", np.zeros_like(flow))):
                if column != "unmoved" or name == "raster":
                    errors[column].append(_difference(pictures, moved, sure))
            flows.append((flow, sure))
    one, two = flows[0::2], flows[1::2]
    apart = np.concatenate([np.hypot(*np.moveaxis(a - b, -1, 0))[s & t]
                            for (a, s), (b, t) in zip(one, two, strict=True)])
    said = {f"PSNR of the next picture warped back, {name}": _psnr(errors[name])
            for name in ("raster", "cycles")}
    return said | {"PSNR without warping": _psnr(errors["unmoved"]),
                   "flow, 99th percentile of the difference in px": float(np.percentile(apart, 99))}


def _sure(arrays: Any, seen: SeenSurface, both: Both) -> tuple[Any, Any]:
    """Return the whole picture's flow and which of the figure's inner pixels are not occluded."""
    at, size = arrays["forward_at"], arrays["forward"].shape
    region = (int(at[0]), int(at[1]), int(at[0]) + size[1], int(at[1]) + size[0])
    canvas = (0, 0, both.camera.width, both.camera.height)
    flow = on_canvas(arrays["forward"], region, canvas)
    lost = on_canvas(arrays["forward_occluded"], region, canvas)
    depth = _whole(seen.depth, seen, both, np.inf)
    inner = ndimage.binary_erosion(_inner(depth), iterations=2)
    return flow, inner & ~ndimage.binary_dilation(lost, iterations=2)


def _picture(both: Both, stage: RasterStage, frame: int) -> Any:
    stage.pose([both.scene.columns(figure, frame) for figure in both.scene.figures])
    return _color(stage.picture(both.camera))


def _color(frame: Frame) -> Any:
    """Return a frame's figure over black (H, W, 3), and its alpha as fourth."""
    whole = np.zeros((frame.size[1], frame.size[0], 4), np.uint8)
    left, top = frame.figure_at
    rows, columns = frame.figure.shape[:2]
    whole[top:top + rows, left:left + columns] = frame.figure
    return whole


def _difference(pictures: list[Any], flow: Any, sure: Any) -> Any:
    rows, columns = np.nonzero(sure)
    places = [rows + flow[rows, columns, 1], columns + flow[rows, columns, 0]]
    later = np.stack([ndimage.map_coordinates(pictures[1][..., channel].astype(float), places,
                                              order=1, mode="nearest") for channel in range(3)], -1)
    return later - pictures[0][rows, columns, :3]


def _psnr(errors: list[Any]) -> float:
    return float(10 * np.log10(255**2 / np.mean(np.concatenate(errors) ** 2)))


def _silhouettes(both: Both, numbers: list[int]) -> dict[str, float]:
    """Compare masks with the alpha of Cycles' preview pictures and of draft's."""
    preview = read_config(Catalogue.with_libraries(()).file("config", "preview"))
    stage, reader = FigureStage(both.scene.characters, preview), PictureReader()
    pairs = []
    for number in numbers[:3]:
        stage.pose([both.scene.columns(figure, number) for figure in both.scene.figures])
        alpha = _color(stage.picture(both.camera, reader))[..., 3]
        seen = both.raster.surface(number, both.camera)
        pairs.append((alpha >= 128, _whole(seen.labels[..., 0], seen, both) > 0))
    return {"mask and Cycles' preview picture, IoU": _iou(pairs)}


def _costs(both: Both, number: int) -> dict[str, Any]:
    """Return the processor time of each kind in ms, of a frame that was not looked at before."""
    said: dict[str, Any] = {}
    for name, maker in (("raster", both.raster), ("cycles", both.cycles)):
        said[f"look, {name}, CPU ms"] = _time(
            lambda maker: maker.surface(number + 2, both.camera), maker)
    for kind in KINDS:
        said[f"{kind}, CPU ms"] = _time(
            lambda maker, kind=kind: maker.arrays(kind, number, both.camera), both.raster)
    return said


def _time(do: Any, maker: PassMaker) -> float:
    started = time.process_time()
    do(maker)
    return round(1e3 * (time.process_time() - started), 1)


if __name__ == "__main__":
    main()
