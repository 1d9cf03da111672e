"""How straight people stand: the knees of all takes in quiet standing, by seed.

    standing.py [--seeds 0 3] [--only TEXT]

Quiet standing is where the score has the pelvis no more than 3 cm down and both feet rest; the
knee's bend is the angle between thigh and shin. ``tests/test_choreography_standing.py`` holds
single takes to it.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.ndimage import minimum_filter1d

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.anchors import SIDES
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.ranges import joint_angles
from mimegen.choreography.score import PelvisKey, Score, read_score
from mimegen.choreography.tracks import track_keys, track_values
from mimegen.choreography.variation import Rendition, vary
from mimegen.motion import Motion
from mimegen.motion.contacts import velocities
from mimegen.motion.quaternions import FloatArray

FPS = 30.0
STANDS_CM, RESTS_M, STILL_M_S, AROUND_S = -3.0, 0.004, 0.02, 0.2
LIMIT_DEG = 8.0


def quiet(motion: Motion, part: Score, rendition: Rendition) -> FloatArray:
    """Return where (F,) a performer just stands."""
    written = {phase.line: phase.pelvis for phase in part.phases}
    phases = [phase.model_copy(update={"pelvis": written[phase.line]})
              for phase in rendition.line.phases]
    moments = np.arange(motion.frames) / motion.fps
    up = track_values(track_keys(phases, "pelvis", PelvisKey()), ("up",), moments)[:, 0]
    resting = up >= STANDS_CM
    for side in SIDES:
        for name in ("ToeBase", "Foot"):
            joint = motion.skeleton.index[side + name]
            places = motion.global_pose.positions[:, joint]
            still = np.linalg.norm(velocities(places, motion.fps), axis=-1) < STILL_M_S
            resting &= still & (places[:, 2] < motion.skeleton.heads[joint, 2] + 10 * RESTS_M)
    frames = 2 * round(AROUND_S * motion.fps) + 1
    return np.asarray(minimum_filter1d(resting.astype(int), frames, mode="nearest") > 0)


def knees(motion: Motion) -> FloatArray:
    """Return how far (F, 2) the knees are bent, in degrees."""
    angles = joint_angles(motion)
    return np.stack([angles["knee bent", f"{side} knee"] for side in SIDES], axis=-1)


def standing_knees(path: Path, seed: int) -> FloatArray:
    """Return all knees (N, 2) of a take's quiet standing."""
    score = read_score(path)
    parts = zip(perform_scene(score, seed, FPS), score.parts(), vary(score, seed), strict=True)
    return np.concatenate([knees(motion)[quiet(motion, part, rendition)]
                           for motion, part, rendition in parts])


def main() -> None:
    """Print a line for each take and seed, and all together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    found = []
    for path in sorted(data_folder().glob("mocap/*/*.score.yaml")):
        name = f"{path.parent.name}/{path.name.removesuffix('.score.yaml')}"
        for seed in options.seeds if options.only in name else ():
            try:
                bent = standing_knees(path, seed)
            except RequestError as problem:
                print(name, seed, problem)
                continue
            found.append(bent)
            if len(bent):
                print(f"{name} seed {seed}: {len(bent)} frames, {_said(bent)}", flush=True)
    print(f"all: {sum(map(len, found))} frames, {_said(np.concatenate(found))}")


def _said(bent: FloatArray) -> str:
    return (f"median {np.median(bent):.1f}, 95 % below {np.percentile(bent, 95):.1f} degrees,"
            f" {100 * np.mean(bent <= LIMIT_DEG):.1f} % within {LIMIT_DEG:g}")


if __name__ == "__main__":
    main()
