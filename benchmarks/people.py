"""Random people beside one another, as the draft engine draws them, and what building them costs.

    python benchmarks/people.py sheet docs/people.jpg --seeds 1-24
    python benchmarks/people.py sheet heads.png --seeds 1-8 --close 0.55
    python benchmarks/people.py times --seeds 1-24
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import moderngl
import numpy as np
from PIL import Image

from mimegen.base.paths import data_folder
from mimegen.base.vectors import direction_from
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.followers import with_followers_turned
from mimegen.characters.helpers import with_helpers_turned
from mimegen.characters.sampling import sample_character
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.stage.camera import Camera
from mimegen.stage.config import read_config
from mimegen.stage.raster.context import context_of_process
from mimegen.stage.raster.shot import RasterStage
from mimegen.stage.skinning import joint_columns

STANDING = {"LeftArm": ("Y", 74.0), "RightArm": ("Y", -74.0),
            "LeftForeArm": ("Z", -8.0), "RightForeArm": ("Z", 8.0)}
BACKDROP = (226, 229, 233)
SHARPER = 2


def main() -> None:
    """Draw a sheet, or tell times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("sheet", "times"))
    parser.add_argument("out", nargs="?", type=Path, default=Path("people.png"))
    parser.add_argument("--seeds", default="1-24", help="FIRST-LAST, or numbers apart by commas")
    parser.add_argument("--size", default="190x330", help="of one person, in pixels")
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--azimuth", type=float, default=20.0, help="degrees from in front")
    parser.add_argument("--close", type=float, default=2.15, help="metres that are seen")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    seeds = (range(int(first), int(last) + 1) if last else
             [int(seed) for seed in given.seeds.split(",")])
    if given.what == "times":
        tell_times(seeds)
        return
    width, height = map(int, given.size.split("x"))
    context = context_of_process(1)
    pictures = [portrait(context, build_character(sample_character(seed)),
                         (SHARPER * width, SHARPER * height), given.azimuth, given.close)
                for seed in seeds]
    tiled([one.resize((width, height), Image.Resampling.BOX) for one in pictures],
          given.columns).save(given.out, quality=86)


def tell_times(seeds: Sequence[int]) -> None:
    """Print the processor time of building each person, after the first, and their vertices."""
    build_character(sample_character(0))
    found = []
    for seed in seeds:
        begun = time.process_time()
        character = build_character(sample_character(seed))
        found.append((time.process_time() - begun,
                      sum(len(mesh.vertices) for mesh in character.meshes)))
    seconds, vertices = np.array(found).T
    print(f"{len(found)} people: {seconds.mean():.2f} s each, at most {seconds.max():.2f};"
          f" {vertices.mean():.0f} vertices, at most {vertices.max():.0f}")


def portrait(context: moderngl.Context, character: Character, size: tuple[int, int],
             azimuth: float, seen_m: float) -> Image.Image:
    """Return a picture of somebody standing, from the crown ``seen_m`` metres down."""
    stage = RasterStage(context, [character], read_config(
        data_folder() / "render_configs" / "draft.yaml"))
    stage.pose([standing_columns(character)])
    top = 2.08 if seen_m > 2 else character.height + 0.06
    frame = stage.picture(camera_at(top - seen_m / 2, seen_m, azimuth, size))
    picture = np.tile(np.array(BACKDROP, float), (size[1], size[0], 1))
    x, y = frame.shadow_at
    rows, columns = frame.shadow.shape
    picture[y:y + rows, x:x + columns] *= 1 - frame.shadow[..., None] / 255
    x, y = frame.figure_at
    rows, columns = frame.figure.shape[:2]
    under = picture[y:y + rows, x:x + columns]
    opaque = frame.figure[..., 3:] / 255
    picture[y:y + rows, x:x + columns] = under + opaque * (frame.figure[..., :3] - under)
    return Image.fromarray(picture.astype(np.uint8))


def standing_columns(character: Character) -> FloatArray:
    """Return the joint columns of a character that stands with the arms down."""
    skeleton = character.skeleton
    turns = np.tile(quaternions.IDENTITY, (1, len(skeleton.names), 1))
    for joint, (axis, degrees) in STANDING.items():
        turns[0, skeleton.index[joint]] = quaternions.from_euler(axis, np.array([degrees]))
    motion = Motion(skeleton, 30.0, skeleton.heads[:1].copy(), turns)
    pose = with_followers_turned(with_helpers_turned(motion)).global_pose
    return joint_columns(skeleton, pose.positions, pose.rotations)


def camera_at(height: float, seen_m: float, azimuth: float, size: tuple[int, int]) -> Camera:
    """Return a camera that sees ``seen_m`` metres around a height, from 3.4 of them away."""
    away = 3.4 * seen_m
    place = np.array([0.0, 0.0, height]) + away * direction_from(azimuth, 4.0)
    turn = quaternions.from_euler("xyz", np.array([86.0, 0.0, azimuth]))
    lens = 36.0 * away / seen_m * size[1] / size[0]
    return Camera((float(place[0]), float(place[1]), float(place[2])),
                  (float(turn[0]), float(turn[1]), float(turn[2]), float(turn[3])), lens, *size)


def tiled(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Return pictures of one size in rows."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (width * columns, height * rows), BACKDROP)
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number % columns * width, number // columns * height))
    return sheet


if __name__ == "__main__":
    main()
