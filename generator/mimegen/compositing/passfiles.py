"""Write a clip's ground truth in common file formats: EXR, PNG, NPZ, JSON, FLO.

docs/guide/passes.md and the ``pass.json`` beside the files describe the content of each folder.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publishing
from mimegen.compositing.keypointfiles import write_keypoints
from mimegen.groundtruth.kinds import DEPTH, FLOW, KEYPOINTS, MASK, NORMALS, PARTS, Engine, Kind
from mimegen.groundtruth.parts import PARTS as BODY_PARTS
from mimegen.groundtruth.visible_surface import camera_axes
from mimegen.shots.camera import Camera
from mimegen.shots.look import FilmedLook, Lens
from mimegen.store.frames import frame_name
from mimegen.store.passes import read_arrays

FACTS = "pass.json"
# The label of the shadow in masks.
SHADOW_LABEL = 255
# A pixel of the ground counts as shadow if at least this much of its light is missing, out of 255.
MIN_SHADOW = 13
# The number that .flo files begin with.
FLO_TAG = 202021.25


@dataclass(frozen=True)
class PassSource:
    """The input for the files of one pass of a clip.

    ``folder`` holds the pass's frames in the store; ``shown`` are the numbers of the frames that
    the clip shows. ``shadow`` is the fraction of the shadow that the clip keeps. ``geometry`` is
    the file of the set's depth and normals, if there is a set. ``flow_files`` is exr or flo. With a
    ``look``, its lens's distortion and shake are applied.
    """

    kind: Kind
    folder: Path
    shown: tuple[int, ...]
    camera: Camera
    fps: float
    engine: Engine
    shadow: float = 1.0
    geometry: Path | None = None
    flow_files: str = "exr"
    look: FilmedLook | None = None

    @cached_property
    def lens(self) -> Lens | None:
        """The lens that distorts or moves the clip's pictures; None if none does."""
        lens = None if self.look is None else Lens(self.look, self.camera, len(self.shown),
                                                   self.fps)
        return lens if lens is not None and lens.changes else None

    def bent(self, frame: int, values: NDArray[Any]) -> NDArray[Any]:
        """Return values (H, W, ...) of a pinhole's picture as the lens shows them.

        Each pixel takes its nearest value; labels and depths must not be interpolated.
        """
        if self.lens is None:
            return values
        places = np.floor(self.lens.shown(frame, self.lens.pixels())).astype(int)
        height, width = values.shape[:2]
        return np.asarray(values[places[..., 1].clip(0, height - 1),
                                 places[..., 0].clip(0, width - 1)])

    def arrays(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield each frame's arrays from the store; raises ValueError for a damaged one."""
        return (read_arrays(self.folder / frame_name(frame)) for frame in self.shown)

    def canvas(self, values: NDArray[Any], at: NDArray[Any], empty: float = 0) -> NDArray[Any]:
        """Return values (h, w, ...) at pixel ``at``, padded with ``empty`` to the whole picture."""
        whole = np.full((self.camera.height, self.camera.width, *values.shape[2:]), empty,
                        values.dtype)
        rows, columns = values.shape[:2]
        whole[at[1]:at[1] + rows, at[0]:at[0] + columns] = values
        return whole

    def laid(self, name: str, figure: NDArray[Any], on: NDArray[Any], empty: float
             ) -> NDArray[Any]:
        """Return the figures' values (H, W, ...) where ``on`` (H, W) is true, else the set's.

        Without a set, these are ``empty``.
        """
        if self.geometry is None:
            behind: NDArray[Any] = np.full_like(figure, empty)
        else:
            behind = read_arrays(self.geometry)[name].astype(figure.dtype)
        where = on if figure.ndim == 2 else on[..., None]
        return np.where(where, figure, behind)


def write_pass(source: PassSource, target: Path) -> dict[str, Any]:
    """Publish a clip's files of a pass as the folder ``target``; return its ``pass.json``.

    An existing folder is left as it is. Raises RequestError if files cannot be written, ValueError
    for damaged frames.
    """
    if not (target / FACTS).is_file():
        try:
            with publishing(target) as part:
                part.mkdir()
                facts = _common(source) | WRITERS[source.kind](source, part)
                facts["sha256"] = folder_hash(part)
                (part / FACTS).write_text(json.dumps(facts, indent=1))
        except RequestError:
            if not (target / FACTS).is_file():
                raise
    return pass_facts(target)


def pass_facts(folder: Path) -> dict[str, Any]:
    """Return the content of ``pass.json``; raises ValueError if it is absent or damaged."""
    try:
        facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise ValueError(f"{folder}: has no {FACTS}") from problem
    return facts


def folder_hash(folder: Path) -> str:
    """Return one SHA-256 over the names and hashes of all files of a pass except ``pass.json``."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != FACTS)
    lines = [f"{file_hash(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    return sha256("".join(lines).encode()).hexdigest()


def camera_matrices(camera: Camera) -> dict[str, Any]:
    """Return intrinsics (3, 3), and rotation (3, 3) and translation (3,) from world to camera.

    The camera's axes are OpenCV's: x right, y down, z ahead. Pixels count from the picture's upper
    left corner; the centre of the first pixel is (0.5, 0.5).
    """
    rotation = camera_axes(camera)
    focal = camera.focal_pixels
    return {
        "intrinsics": [[focal, 0.0, camera.width / 2], [0.0, focal, camera.height / 2],
                       [0.0, 0.0, 1.0]],
        "rotation": rotation.tolist(),
        "translation": (-rotation @ np.array(camera.position)).tolist(),
    }


def _common(source: PassSource) -> dict[str, Any]:
    return {"kind": source.kind, "engine": None if source.kind == KEYPOINTS else source.engine,
            "frames": len(source.shown),
            "fps": source.fps, "width": source.camera.width, "height": source.camera.height,
            "with_set": source.geometry is not None, "camera": camera_matrices(source.camera),
            **({} if source.lens is None else {"lens": source.lens.content()})}


def _keypoints(source: PassSource, folder: Path) -> dict[str, Any]:
    return write_keypoints(list(source.arrays()), source.camera, source.fps,
                           camera_matrices(source.camera), folder, source.lens)


def _depth(source: PassSource, folder: Path) -> dict[str, Any]:
    for frame, arrays in enumerate(source.arrays()):
        figure = source.canvas(arrays["depth"], arrays["at"], np.inf)
        depth = source.laid("depth", figure, np.isfinite(figure), np.inf)
        write_exr(folder / f"{frame:06d}.exr", {"Z": source.bent(frame, depth)})
    return {"files": "000000.exr", "unit": "metres along the camera's axis; inf where nothing is"}


def _normals(source: PassSource, folder: Path) -> dict[str, Any]:
    for frame, arrays in enumerate(source.arrays()):
        figure = source.canvas(arrays["normals"], arrays["at"])
        normals = source.laid("normals", figure, figure.any(axis=-1), 0.0)
        write_exr(folder / f"{frame:06d}.exr", _channels(source.bent(frame, normals)))
    return {"files": "000000.exr", "axes": "R x right, G y down, B z ahead; 0 where nothing is"}


def _mask(source: PassSource, folder: Path) -> dict[str, Any]:
    persons = 0
    for frame, arrays in enumerate(source.arrays()):
        shadow = source.shadow * source.canvas(arrays["shadow"], arrays["shadow_at"])
        mask = source.canvas(arrays["persons"], arrays["at"])
        persons = max(persons, int(mask.max()))
        mask[(mask == 0) & (shadow >= MIN_SHADOW)] = SHADOW_LABEL
        _write_png(folder / f"{frame:06d}.png", source.bent(frame, mask))
    labels = {"background": 0, **{f"person {number}": number for number in range(1, persons + 1)},
              "shadow": SHADOW_LABEL}
    return {"files": "000000.png", "labels": labels}


def _parts(source: PassSource, folder: Path) -> dict[str, Any]:
    garments: dict[str, int] = {}
    for name in ("parts", "clothes"):
        (folder / name).mkdir()
    for frame, arrays in enumerate(source.arrays()):
        garments |= {str(name): number for number, name in enumerate(arrays["garment_names"], 1)}
        for name, of in (("parts", "parts"), ("clothes", "garments")):
            _write_png(folder / name / f"{frame:06d}.png",
                       source.bent(frame, source.canvas(arrays[of], arrays["at"])))
    return {"files": ["parts/000000.png", "clothes/000000.png"], "clothes": garments,
            "parts": {name: number for number, name in enumerate(BODY_PARTS, 1)}}


def _flow(source: PassSource, folder: Path) -> dict[str, Any]:
    for name in ("forward", "backward"):
        (folder / name).mkdir()
    write = _FLOW_WRITERS[source.flow_files]
    for frame, arrays in enumerate(source.arrays()):
        for name, step in (("forward", 1), ("backward", -1)):
            found = _flow_of(source, arrays, name, frame, step)
            if found is not None:
                write(folder / name / f"{frame:06d}", *found)
    files = {"exr": ["forward/000000.exr", "backward/000001.exr"],
             "flo": ["forward/000000.flo", "forward/000000.occluded.png", "backward/000001.flo",
                     "backward/000001.occluded.png"]}
    return {"files": files[source.flow_files],
            "unit": "pixels to the next frame (forward) or the one before (backward): R to the"
                    " right, G downwards; B is 1 where occluded"}


def _flow_of(source: PassSource, arrays: Mapping[str, NDArray[Any]], name: str, frame: int,
             step: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return a frame's flow and its occluded pixels; None at the clip's ends and at jumps.

    ``step`` is 1 for forward and -1 for backward flow. A repeated frame has a flow of 0.
    """
    if not 0 <= frame + step < len(source.shown):
        return None
    jump = source.shown[frame + step] - source.shown[frame]
    if jump == 0:
        size = (source.camera.height, source.camera.width)
        return _bent_flow(source, frame, step, np.zeros((*size, 2), np.float32),
                          np.zeros(size, np.bool_))
    if jump != step:
        return None
    return _bent_flow(source, frame, step, source.canvas(arrays[name], arrays[f"{name}_at"]),
                      source.canvas(arrays[f"{name}_occluded"], arrays[f"{name}_at"]))


def _bent_flow(source: PassSource, frame: int, step: int, flow: NDArray[Any],
               occluded: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return flow between pictures as the lens shows them, with distortion and shake."""
    lens = source.lens
    if lens is None:
        return flow, occluded
    pixels = lens.pixels()
    shown = lens.shown(frame, pixels)
    moved = lens.seen(frame + step, shown + source.bent(frame, flow)) - pixels
    return moved.astype(np.float32), source.bent(frame, occluded)


def _flow_exr(path: Path, flow: NDArray[Any], occluded: NDArray[Any]) -> None:
    write_exr(path.with_suffix(".exr"),
              _channels(np.concatenate([flow, occluded[..., None].astype(np.float32)], axis=-1)))


def _flow_flo(path: Path, flow: NDArray[Any], occluded: NDArray[Any]) -> None:
    """Write flow in Middlebury's format (Baker et al. 2011), and occlusions as a PNG."""
    height, width = flow.shape[:2]
    head = np.float32(FLO_TAG).tobytes() + np.array([width, height], "<i4").tobytes()
    path.with_suffix(".flo").write_bytes(head + flow.astype("<f4").tobytes())
    _write_png(path.with_suffix(".occluded.png"), occluded.astype(np.uint8) * np.uint8(255))


def write_exr(path: Path, channels: Mapping[str, NDArray[Any]]) -> None:
    """Write channels (H, W) of floats or half floats as an EXR file.

    Raises RequestError if it cannot be written.
    """
    try:
        import OpenEXR
    except ImportError as problem:
        raise RequestError(f"{path.name}: EXR files need the package OpenEXR ({problem}):"
                           " pip install OpenEXR") from problem
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    try:
        OpenEXR.File(header, {name: np.ascontiguousarray(plane)
                              for name, plane in channels.items()}).write(str(path))
    except RuntimeError as problem:
        raise RequestError(f"{path}: cannot be written as EXR ({problem})") from problem


def _channels(values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return {name: values[..., number] for number, name in enumerate("RGB")}


def _write_png(path: Path, values: NDArray[np.uint8]) -> None:
    Image.fromarray(values).save(path, "PNG", compress_level=3)


WRITERS: Mapping[Kind, Callable[[PassSource, Path], dict[str, Any]]] = {
    KEYPOINTS: _keypoints, DEPTH: _depth, MASK: _mask, NORMALS: _normals, FLOW: _flow,
    PARTS: _parts,
}
_FLOW_WRITERS = {"exr": _flow_exr, "flo": _flow_flo}
