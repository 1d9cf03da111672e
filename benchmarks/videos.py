"""How well a take comes back from its own rendered video: joint error and direction error.

Needs mimegen[video]. Clips are those of a folder that mimegen render wrote, of one described person
each, performed from scores: ``python benchmarks/videos.py OUT [--most N]``. Each clip is read by
MediaPipe as a user's video would be, and its joints are compared with those that were rendered,
after the pelvis and the direction about the vertical axis are aligned (the camera's is unknown).
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mimegen as mg
from mimegen.manifest.file import clip_path, single_rows
from mimegen.manifest.row import Row
from mimegen.readers import read_motion
from mimegen.readers.video.landmarks import write_landmarks

Array = NDArray[np.float64]
# Joints of the standard skeleton by the roles of the file's.
JOINTS = {"upper_arm": "Arm", "forearm": "ForeArm", "hand": "Hand", "thigh": "UpLeg",
          "shin": "Leg", "foot": "Foot"}
LIMBS = (("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot"))
SIDES = ("left", "right")


def main() -> None:
    """Print a line for each clip, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=1000)
    given = parser.parse_args()
    rows = [row for row in single_rows(given.out)
            if row.partner_avatar is None and row.type == "MIME" and not row.faults
            and row.tempo in (None, 1) and not row.mirrored]
    found = [_measured(given.out, row) for row in rows[:given.most]]
    for row, facts in zip(rows, found, strict=False):
        print(json.dumps({"clip": row.sample_id, **facts}))
    print(json.dumps({name: round(float(np.mean([facts[name] for facts in found])), 2)
                      for name in found[0]}))


def _measured(out: Path, row: Row) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch) / "clip.json"
        quality = write_landmarks(clip_path(out, row), target, row.character_height_m
                                  and float(row.character_height_m))
        recording = read_motion(target)
    motion = recording.motion
    places = {f"{side}_{part}": motion.global_pose.positions[
        :, motion.skeleton.index[recording.roles[f"{side}_{part}"]]]
        for side in SIDES for part in JOINTS}
    truth = _truth(row, len(motion.root_positions), motion.fps)
    mine, theirs = (np.stack([found[name] for name in sorted(places)], axis=1)
                    for found in (places, truth))
    hips = [sorted(places).index(f"{side}_thigh") for side in SIDES]
    mine, theirs = (found - found[:, hips].mean(axis=1, keepdims=True) for found in (mine, theirs))
    mine = _turned(mine, theirs)
    error = np.linalg.norm(mine - theirs, axis=-1)
    return {"mpjpe_mm": round(1000 * float(error.mean()), 1),
            "direction_deg": round(_direction_error(mine, theirs, sorted(places)), 1),
            "seen": round(quality.seen, 3), "jitter_mm": round(quality.jitter_mm, 1)}


def _truth(row: Row, frames: int, fps: float) -> dict[str, Array]:
    take = mg.take(row.action, take=row.take, seed=row.seed)
    performed = take.on(str(row.avatar))
    places, joints = performed.positions(), list(performed.joints)
    times = np.clip(np.arange(frames) / fps * performed.fps, 0, len(places) - 1)
    chosen = np.round(times).astype(int)
    return {f"{side}_{part}": places[chosen, joints.index(f"{side.capitalize()}{name}")]
            for side in SIDES for part, name in JOINTS.items()}


def _turned(mine: Array, theirs: Array) -> Array:
    """Return points (F, J, 3) turned about the vertical axis to lie nearest to others."""
    a, b = mine[..., :2].reshape(-1, 2), theirs[..., :2].reshape(-1, 2)
    angle = np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.concatenate([mine[..., :2] @ turn.T, mine[..., 2:]], axis=-1)


def _direction_error(mine: Array, theirs: Array, names: list[str]) -> float:
    """Return the mean angle between limbs, degrees."""
    angles = []
    for side in SIDES:
        for upper, lower in LIMBS:
            ends = [names.index(f"{side}_{part}") for part in (upper, lower)]
            a, b = (found[:, ends[1]] - found[:, ends[0]] for found in (mine, theirs))
            cosine = (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
            angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return float(np.mean(angles))


if __name__ == "__main__":
    main()
