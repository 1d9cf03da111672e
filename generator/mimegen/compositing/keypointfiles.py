"""Write a clip's keypoints: an NPZ with everything, and the JSON formats of COCO and OpenPose."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mimegen.base.paths import data_file
from mimegen.base.vectors import product
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.faces.openface import openface_csv, unit_columns
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.look import Lens

VISIBLE = 2
NOSE = "nose"
# The points of COCO-WholeBody by part. COCO's visibility flags are 0 not labeled, 1 labeled but
# hidden, 2 visible.
WHOLEBODY = {"foot": slice(17, 23), "face": slice(23, 91), "lefthand": slice(91, 112),
             "righthand": slice(112, 133)}
# OpenPose's names of the parts.
OPENPOSE = {"face": "face", "hand_left": "lefthand", "hand_right": "righthand"}
_BOXED = ("face", "lefthand", "righthand")
# The confidence written for OpenPose, of visible and of hidden points.
SURE = 1.0
HIDDEN = 0.5


class PointSet(Strict):
    """A file of rigs/keypoints/: the landmarks of a format, in its order, and its limbs.

    Names that are not landmarks stand for points that mimegen's bodies do not have.
    """

    name: str
    description: str
    source: str
    points: tuple[str, ...] = Field(min_length=1)
    limbs: tuple[tuple[str, str], ...] = ()

    def limb_numbers(self) -> list[list[int]]:
        """Return the limbs as pairs of point indices, from 0."""
        return [[self.points.index(end) for end in limb] for limb in self.limbs]


@cache
def point_sets() -> Mapping[str, PointSet]:
    """Return the sets of points by name."""
    files = (data_file("rigs/keypoints/coco17.yaml"), data_file("rigs/keypoints/wholebody133.yaml"),
             data_file("rigs/keypoints/openpose25.yaml"))
    return {file.stem: read_yaml(file, PointSet) for file in files}


def write_keypoints(frames: Sequence[Mapping[str, NDArray[Any]]], camera: Camera, fps: float,
                    matrices: Mapping[str, Any], folder: Path, lens: Lens | None = None
                    ) -> dict[str, Any]:
    """Write the keypoints of all frames into a folder; return the facts for ``pass.json``.

    ``frames`` are the arrays in the store. With a ``lens``, pixels and boxes are those in the
    distorted pictures.
    """
    points = _gathered(frames, camera, lens) | {name: np.array(matrices[name]) for name in matrices}
    points |= {"width": np.array(camera.width), "height": np.array(camera.height),
               "fps": np.array(fps)}
    np.savez_compressed(folder / "keypoints.npz", **points)
    sets = point_sets()
    _write_json(folder / "coco17.json", _coco(points, camera, sets["coco17"]))
    _write_json(folder / "wholebody133.json", _wholebody(points, camera, sets["wholebody133"]))
    (folder / "openpose").mkdir()
    for frame in range(len(frames)):
        _write_json(folder / "openpose" / f"{frame:06d}_keypoints.json",
                    _openpose(points, camera, frame))
    return {"files": ["keypoints.npz", "coco17.json", "wholebody133.json",
                      "openpose/000000_keypoints.json", *_write_faces(points, fps, folder)]}


def _write_faces(points: Mapping[str, NDArray[Any]], fps: float, folder: Path) -> list[str]:
    """Write OpenFace's CSV, with action units and 68 points, for each person with a face.

    Returns the names of the files.
    """
    own = [number for number, name in enumerate(points["names"]) if name.startswith("face_")]
    files = []
    for person in range(points["face_units"].shape[1]):
        units = points["face_units"][:, person].astype(float)
        if np.isfinite(units).all():
            seen = _seen_share(points, person, own)
            files.append(f"openface_{person}.csv")
            gaze = product(points["gaze"][:, person].astype(float), points["rotation"].T)
            (folder / files[-1]).write_text(openface_csv(
                units, points["pixels"][:, person, own].astype(float), seen, gaze, fps))
    return files


def _seen_share(points: Mapping[str, NDArray[Any]], person: int, own: Sequence[int]) -> FloatArray:
    """Return the visible fraction (F,) of a face's points, or of the nose if it has no points."""
    state = points["visibility"][:, person, own]
    if not state.any():
        state = points["visibility"][:, person, list(points["names"]).index(NOSE)][:, None]
    return np.asarray((state == VISIBLE).mean(axis=1))


def _gathered(frames: Sequence[Mapping[str, NDArray[Any]]], camera: Camera, lens: Lens | None
              ) -> dict[str, NDArray[Any]]:
    """Return the arrays of all frames, as stored in the NPZ."""
    world = np.stack([arrays["world"] for arrays in frames]).astype(float)
    points: dict[str, NDArray[Any]] = {
        "names": frames[0]["names"], **_places("", world, camera, lens),
        "visibility": np.stack([arrays["visibility"] for arrays in frames]),
        "face_units": np.stack([arrays["face_units"] for arrays in frames]),
        "gaze": np.stack([arrays["gaze"] for arrays in frames]),
        "boxes": np.stack([_inside(_boxes(arrays["outlines"], frame, lens), camera)
                          for frame, arrays in enumerate(frames)])}
    for number in range(world.shape[1]):
        joints = np.stack([arrays[f"joints_{number}"] for arrays in frames]).astype(float)
        points[f"joint_names_{number}"] = frames[0][f"joint_names_{number}"]
        points |= _places(f"joints_{number}_", joints, camera, lens)
    return points


def _places(prefix: str, world: FloatArray, camera: Camera, lens: Lens | None
            ) -> dict[str, NDArray[Any]]:
    """Return positions (..., 3) in world and camera coordinates, and their pixels (..., 2)."""
    seen = camera.project(world)
    across = (seen[..., :2] - [camera.width / 2, camera.height / 2]) / camera.focal_pixels
    pixels = seen[..., :2] if lens is None else np.stack(
        [lens.seen(frame, places) for frame, places in enumerate(seen[..., :2])])
    local = np.concatenate([across, np.ones_like(across[..., :1])], axis=-1) * seen[..., 2:]
    return {f"{prefix}world": world.astype(np.float32), f"{prefix}camera": local.astype(np.float32),
            f"{prefix}pixels": pixels.astype(np.float32)}


def _boxes(outlines: FloatArray, frame: int, lens: Lens | None) -> FloatArray:
    """Return boxes (N, 4), low and high corners, around outlines (N, M, 2) as a lens shows them."""
    seen = outlines if lens is None else lens.seen(frame, outlines.astype(float))
    return np.concatenate([seen.min(axis=1), seen.max(axis=1)], axis=1)


def _inside(boxes: FloatArray, camera: Camera) -> FloatArray:
    """Return left, top, width and height (N, 4) of boxes clipped to the picture."""
    size = np.array([camera.width, camera.height])
    low, high = np.clip(boxes[:, :2], 0, size), np.clip(boxes[:, 2:], 0, size)
    return np.concatenate([low, high - low], axis=1)


def _coco(points: Mapping[str, NDArray[Any]], camera: Camera, chosen: PointSet) -> dict[str, Any]:
    frames, persons = points["visibility"].shape[:2]
    return {
        "images": [{"id": frame + 1, "file_name": f"{frame:06d}.png", "frame": frame,
                    "width": camera.width, "height": camera.height} for frame in range(frames)],
        "annotations": [_annotation(points, camera, chosen, frame, person)
                        for frame in range(frames) for person in range(persons)],
        "categories": [{"id": 1, "name": "person", "supercategory": "person",
                        "keypoints": list(chosen.points),
                        "skeleton": (np.array(chosen.limb_numbers()) + 1).tolist()}],
    }


def _annotation(points: Mapping[str, NDArray[Any]], camera: Camera, chosen: PointSet, frame: int,
                person: int) -> dict[str, Any]:
    marked = _marked(points, camera, chosen, frame, person)
    box = [round(float(side), 2) for side in points["boxes"][frame, person]]
    return {"id": frame * points["visibility"].shape[1] + person + 1, "image_id": frame + 1,
            "category_id": 1, "iscrowd": 0, "person": person + 1, "bbox": box,
            "area": round(box[2] * box[3], 2), "num_keypoints": int((marked[:, 2] > 0).sum()),
            "keypoints": _flat(marked)}


def _wholebody(points: Mapping[str, NDArray[Any]], camera: Camera, chosen: PointSet
               ) -> dict[str, Any]:
    content = _coco(points, camera, chosen)
    units = [_action_units(points, person) for person in range(points["face_units"].shape[1])]
    for annotation in content["annotations"]:
        marked = np.array(annotation["keypoints"]).reshape(-1, 3)
        annotation["keypoints"] = _flat(marked[:17])
        annotation["num_keypoints"] = int((marked[:17, 2] > 0).sum())
        for part, numbers in WHOLEBODY.items():
            annotation[f"{part}_kpts"] = _flat(marked[numbers])
            annotation[f"{part}_valid"] = bool((marked[numbers, 2] > 0).any())
            if part in _BOXED:
                annotation[f"{part}_box"] = _box_of(marked[numbers])
        if own := units[annotation["person"] - 1]:
            annotation["action_units"] = own[annotation["image_id"] - 1]
    return content


def _action_units(points: Mapping[str, NDArray[Any]], person: int) -> list[dict[str, float]]:
    """Return a person's action units in each frame, by OpenFace's column; [] without a face."""
    units = points["face_units"][:, person].astype(float)
    if not np.isfinite(units).all():
        return []
    columns = unit_columns(units)
    return [{name: round(float(values[frame]), 2) for name, values in columns.items()}
            for frame in range(len(units))]


def _box_of(marked: FloatArray) -> list[float]:
    labeled = marked[marked[:, 2] > 0, :2]
    if not len(labeled):
        return [0.0, 0.0, 0.0, 0.0]
    low, size = labeled.min(axis=0), np.ptp(labeled, axis=0)
    return [round(float(side), 2) for side in (*low, *size)]


def _marked(points: Mapping[str, NDArray[Any]], camera: Camera, chosen: PointSet, frame: int,
            person: int) -> FloatArray:
    """Return pixels and COCO's visibility flag (P, 3) of a format's points.

    Points outside of the picture, and points that the body does not have, are all 0.
    """
    number = {str(name): at for at, name in enumerate(points["names"])}
    at = np.array([number.get(name, -1) for name in chosen.points])
    pixels = points["pixels"][frame, person][at].astype(float)
    state = np.where(at < 0, 0, points["visibility"][frame, person][at])
    inside = ((pixels >= 0) & (pixels < [camera.width, camera.height])).all(axis=1)
    mark = np.where(state == VISIBLE, 2, np.minimum(state, 1)) * inside
    return np.column_stack([np.where(mark[:, None] > 0, pixels, 0.0), mark])


def _flat(marked: FloatArray) -> list[float]:
    return [int(value) if place % 3 == 2 else round(float(value), 3)
            for place, value in enumerate(marked.ravel())]


def _openpose(points: Mapping[str, NDArray[Any]], camera: Camera, frame: int) -> dict[str, Any]:
    """Return a frame in OpenPose's format; hidden points have a confidence of 0.5."""
    sets, people = point_sets(), []
    whole = sets["wholebody133"]
    for person in range(points["visibility"].shape[1]):
        body = _sure(_marked(points, camera, sets["openpose25"], frame, person))
        entry: dict[str, Any] = {"person_id": [person + 1], "pose_keypoints_2d": body}
        for name, part in OPENPOSE.items():
            chosen = whole.model_copy(update={"points": whole.points[WHOLEBODY[part]]})
            entry[f"{name}_keypoints_2d"] = _sure(_marked(points, camera, chosen, frame, person))
        people.append(entry | {f"{name}_keypoints_3d": [] for name in (
            "pose", "face", "hand_left", "hand_right")})
    return {"version": 1.3, "people": people}


def _sure(marked: FloatArray) -> list[float]:
    sure = np.array([0.0, HIDDEN, SURE])[marked[:, 2].astype(int)]
    return [round(float(value), 3) for value in
            np.column_stack([marked[:, :2], sure]).ravel()]


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, separators=(",", ":")))
