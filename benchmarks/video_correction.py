"""Fit the correction with which videos are imported, to clips of rendered people.

Needs mimegen[video]. ``python benchmarks/video_correction.py FOLDER [--write FILE]`` draws
performances in the draft config, each from three sides, keeps clips, joints and landmarks in the
folder, prints the cross-validated error of each setting, and writes the correction. Actions,
people and seeds are not those of ``videos_known.py``. Each fold leaves out people and all actions
that they perform.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mimegen.base.vectors import unit
from mimegen.compositing.background import read_background
from mimegen.compositing.video import write_pictures
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import quaternions
from mimegen.pages.drawn import DrawnScene, drawn
from mimegen.plan.front import angle_from_front, camera_azimuth
from mimegen.readers.video.correcting import (
    JOINTS,
    Correction,
    corrected,
    features_of,
    joints_of,
    segments_of,
    upright_turns,
)
from mimegen.readers.video.estimating import FPS, estimated
from mimegen.readers.video.landmarks import (
    MIN_SEEN,
    USUAL_HEIGHT_M,
    arrays_of,
    scale_to,
    with_hip_centers,
)
from mimegen.shots.config import FramedCamera, RenderConfig, read_config

Array = NDArray[np.float64]
ACTIONS = (
    "cheer chop_wood brush_hair bowling conduct_orchestra squat_down phone_call archery sweep_floor"
    " lasso point walk put_on_jacket yawn volleyball_serve lift_box play_flute karate"
    " knocking_on_door kneel_down direct_traffic tie_shoelaces")
# Number of the first random person and seed, and how many people there are.
FIRST, PEOPLE = 100, 25
# Seconds of a clip, and how far into the take it begins at most.
LENGTH_S, LATEST_S = 3.2, 4.0
# A clip is on a set if its performance's number leaves this remainder; sets take long to draw.
ON_A_SET = (8, 1)
# Absolute azimuths of the three cameras from the performer's front, and their elevations, degrees.
AZIMUTHS = ((0.0, 30.0), (30.0, 70.0), (70.0, 180.0))
ELEVATIONS = (0.0, 9.0)
SEED = 7301
# Every third frame is fitted, because neighbouring frames are much alike.
STEP = 3
FOLDS = 5
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
# The largest penalty is chosen whose error is at most this multiple of the least one.
GOOD_ENOUGH = 1.005
# Added to the covariance of poses, as a fraction of its mean variance.
FLOOR = 0.02
# Distances from the usual pose, as multiples of the training poses' median distance, up to which
# the correction counts fully, and from which on not at all.
NEAR, FAR = 1.9, 3.8
# Joints of the standard skeleton, in the order of JOINTS.
PARTS, SIDES = ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot"), ("Left", "Right")
# Added to the deviation of features.
LEAST_M = 0.0003
# MediaPipe's landmarks in a mirror.
MIRROR = [0, 4, 5, 6, 1, 2, 3, *(number - 1 + 2 * (number % 2) for number in range(7, 33))]


@dataclass(frozen=True, eq=False)
class Clip:
    """Landmarks (F, 33, 3) about the hips at usual size, and the joints (F, 33, 3) that were drawn.

    The joints are in the camera's axes, at the places of the landmarks. ``person`` is a number.
    """

    person: int
    azimuth: float
    positions: Array
    truth: Array


def main() -> None:
    """Draw, cross-validate, fit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--performances", type=int, default=len(ACTIONS.split()))
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for number in range(given.performances):
        _draw(given.folder, number)
    clips = [clip for file in sorted(given.folder.glob("*.npz"))
             if (clip := _clip(file)) is not None]
    errors = {penalty: _validated(clips, penalty) for penalty in PENALTIES}
    best = max(penalty for penalty, error in errors.items()
               if error <= GOOD_ENOUGH * min(errors.values()))
    if given.write:
        np.savez(given.write, **{name: np.float32(value) for name, value
                                 in vars(_fitted(clips, best)).items()})


def _draw(folder: Path, number: int) -> None:
    """Draw a performance from three sides; keep joints, landmarks and cameras beside the clips."""
    if (folder / f"{number:02}_2.npz").is_file():
        return
    rng, catalogue = np.random.default_rng([SEED, number]), Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "draft"))
    entry = catalogue.action(ACTIONS.split()[number])
    take = library_take(entry, None, FIRST + number)
    person = FIRST + number % PEOPLE
    casting = Casting(take, (cast_member(catalogue, f"random:{person}"),))
    performances = casting.seen(casting.perform(config.fps))
    name = str(entry.action.aligned_background) if number % ON_A_SET[0] == ON_A_SET[1] else "blank"
    behind = read_background(catalogue.file("background", name))
    azimuths, elevations = _views(rng)
    motion = performances[0].motion
    frames = _frames(rng, motion.frames, motion.fps)
    joints = motion.global_pose.positions[frames][:, [motion.skeleton.index[f"{side}{part}"]
                                                      for part in PARTS for side in SIDES]]
    for view, (azimuth, elevation) in enumerate(zip(azimuths, elevations, strict=True)):
        scene = DrawnScene(performances, behind, _at_elevation(config, elevation))
        angle = angle_from_front(take, azimuth, camera_azimuth(config))
        clip = folder / f"{number:02}_{view}.mp4"
        write_pictures((one for one, in drawn(scene, [angle], frames)),
                       (config.width, config.height), motion.fps, clip)
        positions, _ = arrays_of(estimated(clip)["frames"])
        camera = scene.camera(angle)
        np.savez(clip.with_suffix(".npz"), landmarks=positions, joints=joints, fps=motion.fps,
                 height=performances[0].character.height, rotation=camera.rotation,
                 azimuth=azimuth, person=person)


def _views(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Return the azimuths and elevations of three cameras, degrees."""
    signs = [1, *rng.choice([-1, 1], size=2)]
    azimuths = [rng.uniform(-AZIMUTHS[0][1], AZIMUTHS[0][1])]
    azimuths += [sign * rng.uniform(*span) for sign, span in zip(signs[1:], AZIMUTHS[1:],
                                                                 strict=True)]
    return azimuths, list(rng.permutation([*ELEVATIONS, rng.choice(ELEVATIONS)]))


def _frames(rng: np.random.Generator, frames: int, fps: float) -> range:
    """Return the numbers of the frames to draw."""
    count = round(LENGTH_S * fps)
    start = int(rng.integers(0, max(1, min(frames - count, round(LATEST_S * fps)))))
    return range(start, min(start + count, frames))


def _at_elevation(config: RenderConfig, elevation_deg: float) -> RenderConfig:
    camera = config.camera
    assert isinstance(camera, FramedCamera)
    raised = camera.model_copy(update={"elevation_deg": float(elevation_deg)})
    return config.model_copy(update={"camera": raised})


def _clip(file: Path) -> Clip | None:
    """Return a clip in sizes of a usual person, turned until the trunk points up in the picture.

    Return None if the person is seen too rarely for an import.
    """
    with np.load(file) as held:
        seen = np.isfinite(held["landmarks"][:, 0, 0])
        if seen.mean() < MIN_SEEN:
            return None
        positions = with_hip_centers(held["landmarks"])[seen]
        positions = positions * scale_to(positions, None)[0]
        local = quaternions.rotate(quaternions.conjugate(held["rotation"]), held["joints"])
        rows = (np.arange(len(seen)) * float(held["fps"]) / FPS + 0.5).astype(int)
        rows = np.minimum(rows, len(local) - 1)[seen]
        # From the camera's axes, Y up and Z towards the viewer, to the landmarks'.
        joints = local[rows] * [1, -1, -1] * USUAL_HEIGHT_M / float(held["height"])
        turns = upright_turns(positions)
        truth = np.zeros_like(positions)
        truth[:, JOINTS] = joints
        return Clip(int(held["person"]), float(held["azimuth"]), positions @ turns, truth @ turns)


def _mirrored(clip: Clip) -> Clip:
    """Return the clip as if filmed in a mirror."""
    return replace(clip, positions=clip.positions[:, MIRROR] * [-1, 1, 1],
                   truth=clip.truth[:, MIRROR] * [-1, 1, 1])


def _fitted(clips: Sequence[Clip], penalty: float) -> Correction:
    """Return the correction by ridge regression on clips and their mirror images."""
    both = [each for clip in clips for each in (clip, _mirrored(clip))]
    segments, wanted = (np.concatenate([segments_of(part)[::STEP] for part in parts])
                        for parts in ([clip.positions for clip in both],
                                      [clip.truth for clip in both]))
    slope, offset = _ridge(features_of(segments), (unit(wanted) - unit(segments))[..., 2], penalty)
    poses = segments.reshape(len(segments), -1)
    spread = np.cov(poses.T)
    spread += FLOOR * np.trace(spread) / len(spread) * np.eye(len(spread))
    whitening = np.linalg.cholesky(np.linalg.inv(spread))
    usual = poses.mean(axis=0)
    distance = np.median(np.sqrt(np.mean(((poses - usual) @ whitening) ** 2, axis=1)))
    return Correction(usual, whitening, slope, offset, NEAR * distance, FAR * distance)


def _ridge(features: Array, wanted: Array, penalty: float) -> tuple[Array, Array]:
    """Return slope and offset that predict what is wanted; features count by their deviation."""
    mean, size = features.mean(axis=0), features.std(axis=0) + LEAST_M
    plain = (features - mean) / size
    weights = np.linalg.solve(plain.T @ plain / len(plain) + penalty * np.eye(len(mean)),
                              plain.T @ (wanted - wanted.mean(axis=0)) / len(plain))
    slope = weights / size[:, None]
    return slope, wanted.mean(axis=0) - mean @ slope


def _validated(clips: Sequence[Clip], penalty: float) -> float:
    """Print and return the mean error (mm) of clips that were left out of the fit."""
    found = []
    for fold in range(FOLDS):
        correction = _fitted([clip for clip in clips if clip.person % FOLDS != fold], penalty)
        found += [(abs(clip.azimuth), _error(clip, clip.positions),
                   _error(clip, corrected(clip.positions, FPS, correction)[0]))
                  for clip in clips if clip.person % FOLDS == fold]
    rows = np.array(found)
    print(json.dumps({"penalty": penalty, "clips": len(rows),
                      "worse": int((rows[:, 2] > rows[:, 1]).sum()), **{
        f"{least:g} to {most:g} degrees": rows[(rows[:, 0] >= least) & (rows[:, 0] < most), 1:]
        .mean(axis=0).round(1).tolist() for least, most in (*AZIMUTHS, (0.0, 180.0))}}))
    return float(rows[:, 2].mean())


def _error(clip: Clip, positions: Array) -> float:
    """Return the mean distance (mm) of joints, with limbs of the true length and the best turn."""
    mine, theirs = segments_of(positions), segments_of(clip.truth)
    sizes = np.median(np.linalg.norm(theirs, axis=-1, keepdims=True), axis=0)
    mine, theirs = joints_of(sizes * unit(mine)), joints_of(theirs)
    u, _, v = np.linalg.svd(mine.reshape(-1, 3).T @ theirs.reshape(-1, 3))
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    return 1000 * float(np.linalg.norm(mine @ turn - theirs, axis=-1).mean())


if __name__ == "__main__":
    main()
