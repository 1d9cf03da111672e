"""Files of depth cameras and pose estimators, made of a known motion's joints."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.readers import read_motion

Joints = dict[str, NDArray[Any]]
AZURE = [
    "pelvis", "naval", "chest", "neck", "lcl", "lsh", "lel", "lwr", "lha", "lht", "lth", "rcl",
    "rsh", "rel", "rwr", "rha", "rht", "rth", "lhi", "lkn", "lan", "lft", "rhi", "rkn", "ran",
    "rft", "head", "nose", "leye", "lear", "reye", "rear"]
KINECT = [
    "pelvis", "naval", "neck", "head", "lsh", "lel", "lwr", "lha", "rsh", "rel", "rwr", "rha",
    "lhi", "lkn", "lan", "lft", "rhi", "rkn", "ran", "rft", "sps", "lht", "lth", "rht", "rth"]
MEDIAPIPE = [
    "nose", "leye", "leye", "leye", "reye", "reye", "reye", "lear", "rear", "nose", "nose",
    "lsh", "rsh", "lel", "rel", "lwr", "rwr", "lpi", "rpi", "lin", "rin", "lth", "rth", "lhi",
    "rhi", "lkn", "rkn", "lan", "ran", "lan", "ran", "lft", "rft"]
OPENPOSE = [
    "nose", "sps", "rsh", "rel", "rwr", "lsh", "lel", "lwr", "pelvis", "rhi", "rkn", "ran",
    "lhi", "lkn", "lan", "reye", "leye", "rear", "lear", "lft", "lft", "lan", "rft", "rft",
    "ran"]
FPS = 30.0


def tracked_joints(places: Mapping[str, NDArray[Any]]) -> Joints:
    """Return joints (F, 3) as cameras name them, of a motion's places by role, Z up."""
    found: Joints = {"pelvis": places["hips"], "naval": places["spine1"], "chest": places["chest"],
                     "neck": places["neck1"], "head": places["head"],
                     "sps": 0.3 * places["chest"] + 0.7 * places["neck1"]}
    left = places["left_upper_arm"] - places["right_upper_arm"]
    left = left / np.linalg.norm(left, axis=1, keepdims=True)
    front = np.cross(left, [0.0, 0.0, 1.0])
    found["nose"] = found["head"] + 0.12 * front
    parts = {"cl": "clavicle", "sh": "upper_arm", "el": "forearm", "wr": "hand", "hi": "thigh",
             "kn": "shin", "an": "foot", "ft": "toe"}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mark = side[0]
        found |= {mark + short: places[f"{side}_{part}"] for short, part in parts.items()}
        arm = found[mark + "wr"] - found[mark + "el"]
        found |= {f"{mark}{name}": found[mark + "wr"] + share * arm for name, share in
                  (("ha", 0.3), ("ht", 0.6), ("th", 0.2))}
        found[mark + "in"] = found[mark + "ha"] + 0.02 * front
        found[mark + "pi"] = found[mark + "ha"] - 0.02 * front
        found[mark + "eye"] = found["head"] + 0.09 * front + sign * 0.03 * left
        found[mark + "ear"] = found["head"] + sign * 0.075 * left
    return found


def seen(found: Joints, names: list[str], y_down: bool = True) -> NDArray[Any]:
    """Return joints (F, J, 3) in the axes of a camera 3 m before the person."""
    x, y, z = np.moveaxis(np.stack([found[name] for name in names], axis=1), -1, 0)
    return np.stack([x, 1.0 - z, y + 3.0], -1) if y_down else np.stack([-x, z - 1.0, y + 3.0], -1)


def places_of(file: Path) -> Joints:
    """Return the places (F, 3) of a motion file's joints by role."""
    recording = read_motion(file)
    index = recording.motion.skeleton.index
    places = recording.motion.global_pose.positions
    return {role: places[:, index[name]] for role, name in recording.roles.items()}


def write_cameras(folder: Path, found: Joints) -> dict[str, Path]:
    """Write the same motion as all of them; return the files by format."""
    azure = 1000.0 * seen(found, AZURE)
    world = seen(found, MEDIAPIPE)
    world = world - (world[:, 23:24] + world[:, 24:25]) / 2
    flat = seen(found, OPENPOSE)
    content: dict[str, Any] = {
        "Azure Kinect": {"frames": [
            {"timestamp_usec": round(number * 1e6 / FPS),
             "bodies": [{"body_id": 1, "joint_positions": one.tolist()}]}
            for number, one in enumerate(azure)]},
        "MediaPipe": [{"pose_world_landmarks": [
            {"x": x, "y": y, "z": z, "visibility": 0.99} for x, y, z in one.tolist()]}
            for one in world],
        "OpenPose": [{"people": [{"pose_keypoints_3d": np.c_[one, np.ones(25)].ravel().tolist()}]}
                     for one in flat]}
    files = {}
    for name, tree in content.items():
        files[name] = folder / f"{name.split()[0].lower()}.json"
        files[name].write_text(json.dumps(tree))
    lines = [str(len(world))]
    for one in seen(found, KINECT, y_down=False):
        lines += ["1", "72057594037931101 0 1 1 1 1 0 0.02 -0.3 2", "25",
                  *(f"{x:.6f} {y:.6f} {z:.6f} 260 200 1000 500 0 0 0 0 2"
                    for x, y, z in one.tolist())]
    files["NTU RGB+D"] = folder / "made.skeleton"
    files["NTU RGB+D"].write_text("\n".join(lines) + "\n")
    files["CSV"] = folder / "made.csv"
    head = ",".join(f"{number}_{axis}" for number in range(33) for axis in "xyz")
    files["CSV"].write_text("\n".join([f"frame,{head}", *(
        ",".join([str(number), *(f"{value:.5f}" for value in one.ravel())])
        for number, one in enumerate(world))]))
    return files
