"""Whether MediaPipe's pose estimator finds our people where they are, by render config.

    python benchmarks/poses.py draw --out DIR       # with mimegen
    python benchmarks/poses.py measure DIR          # with mediapipe 0.10.21

``draw`` shows people in actions from four sides, one frame each, in every config, and notes where
the joints are in the picture, seen through the config's camera look. ``measure`` counts the
pictures in which a person is found, and the joints that are found within a tenth of the longer side
of the box around the true joints (PCK@0.1). MediaPipe is not mimegen's: its environment is another.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

CONFIGS = ("draft", "preview", "photo_fast")
CASES = (("boxing", "man"), ("basketball", "woman"), ("guitar", "spacesuit"),
         ("tennis", "woman"), ("violin", "man"), ("dance", "random:3"))
ANGLES = (0.0, 90.0, 180.0, 270.0)
# Of each take's length.
MOMENT = 0.4
NEAR = 0.1
# Our joints, and MediaPipe's numbers of them on the left side; those on the right are one higher.
JOINTS = {"Arm": 11, "ForeArm": 13, "Hand": 15, "UpLeg": 23, "Leg": 25, "Foot": 27}
NUMBERS = [number + right for right in (0, 1) for number in JOINTS.values()]


def draw(out: Path) -> None:
    """Write the pictures, and ``drawn.jsonl``, which says where the joints are in them."""
    from mimegen.library.catalogue import Catalogue
    from recognition import ready_worker

    catalogue = Catalogue.with_libraries(())
    out.mkdir(parents=True, exist_ok=True)
    with (out / "drawn.jsonl").open("w", encoding="utf-8") as lines:
        for name in CONFIGS:
            config, look = _filmed(catalogue, name)
            worker = ready_worker(config)
            for action, person in CASES:
                scene = _scene(catalogue, action, person, config.fps)
                for angle in ANGLES:
                    started = time.perf_counter()
                    picture, joints = _picture(worker, catalogue, scene, config, look, angle)
                    file = f"{name}-{action}-{person}-{angle:g}.png"
                    Image.fromarray(picture).save(out / file)
                    lines.write(json.dumps({"config": name, "file": file, "joints": joints,
                                            "seconds": time.perf_counter() - started}) + "\n")
                    lines.flush()
            worker.close()


def _filmed(catalogue: Any, name: str) -> Any:
    """Return a config as a request for it has it, and its camera look or None."""
    from mimegen.request.planned import Planned
    from mimegen.request.render_request import RenderRequest
    from mimegen.shots.look import looks, read_look

    request = RenderRequest.of(action="boxing", variants="base+blank@0", config=name)
    config = Planned.of(request, None, print).config
    return config, None if config.camera_look is None else read_look(looks()[config.camera_look])


def _scene(catalogue: Any, action: str, person: str, fps: float) -> Any:
    from mimegen.library.cast import cast_member
    from mimegen.library.casting import Casting
    from mimegen.library.takes import library_take

    take = library_take(catalogue.action(action), None, 0)
    return Casting(take, (cast_member(catalogue, person),)).perform(fps)


def _picture(worker: Any, catalogue: Any, scene: Any, config: Any, look: Any, angle: float
             ) -> tuple[Any, list[list[float]]]:
    """Return a picture, and where the joints are in it."""
    from mimegen.compositing.camera_look import looked
    from mimegen.shots.framing import frame_camera
    from mimegen.shots.look import FilmedLook, Lens
    from recognition import frames_of_scene

    motion = scene[0].motion
    frame = int(MOMENT * motion.frames)
    camera = frame_camera(scene, config, angle)
    picture, = frames_of_scene(worker, scene, camera, config, np.array([frame]), catalogue)
    index = motion.skeleton.index
    joints = [index[side + joint] for side in ("Left", "Right") for joint in JOINTS]
    places = camera.project(motion.global_pose.positions[frame, joints])[:, :2]
    if look is not None:
        lens = Lens(FilmedLook(look, (0, "poses")), camera, 1, config.fps)
        picture, = looked([picture], lens)
        places = lens.seen(0, places)
    return picture, np.round(places, 2).tolist()


def measure(folder: Path) -> None:
    """Print for each config in how many pictures a person is found, and PCK@0.1."""
    import mediapipe

    pose = mediapipe.solutions.pose.Pose(static_image_mode=True, model_complexity=1)
    lines = (folder / "drawn.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[float | None]] = defaultdict(list)
    for drawn in map(json.loads, lines):
        seen = _landmarks(pose, folder / drawn["file"])
        found[drawn["config"]].append(
            None if seen is None else near_share(seen, np.array(drawn["joints"])))
    print(f"{'config':12} {'found':>9} {'PCK@0.1':>8} {'of found':>9}")
    for name, shares in found.items():
        whole = [share for share in shares if share is not None]
        print(f"{name:12} {len(whole):3} of {len(shares):2}"
              f" {sum(whole) / len(shares):8.3f} {np.mean(whole or [np.nan]):9.3f}")


def _landmarks(pose: Any, file: Path) -> Any:
    """Return where MediaPipe sees the joints (12, 2), in pixels; None without a person."""
    picture = np.asarray(Image.open(file).convert("RGB"))
    landmarks = pose.process(picture).pose_landmarks
    if landmarks is None:
        return None
    size = np.array([picture.shape[1], picture.shape[0]])
    return np.array([[one.x, one.y] for one in landmarks.landmark])[NUMBERS] * size


def near_share(seen: Any, true: Any) -> float:
    """Return the share of joints that are seen within a tenth of the body's size."""
    apart = np.linalg.norm(seen - true, axis=1)
    size = (true.max(axis=0) - true.min(axis=0)).max()
    return float((apart <= NEAR * size).mean())


def main() -> None:
    """Draw or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("draw").add_argument("--out", type=Path, required=True)
    commands.add_parser("measure").add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(arguments.out)
    else:
        measure(arguments.folder)


if __name__ == "__main__":
    main()
