"""Random people beside one another, as the draft engine draws them, and what building them costs.

    python benchmarks/people.py sheet docs/images/people.jpg --seeds 1-24
    python benchmarks/people.py sheet heads.png --seeds 1-8 --close 0.55
    python benchmarks/people.py blink docs/images/blink.jpg
    python benchmarks/people.py times --seeds 1-24
"""

import argparse
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import moderngl
import numpy as np
from PIL import Image

from mimegen.base.paths import data_folder
from mimegen.base.vectors import direction_from
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.sampling import sample_character
from mimegen.library.cast import RandomPerson
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import Source
from mimegen.library.takes import library_take
from mimegen.motion import Motion, quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.context import context_of_process
from mimegen.rendering.opengl.shot import RasterStage
from mimegen.retarget import retarget
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.skinning import joint_columns

BACKDROP = (226, 229, 233)
SHARPER = 2
# Which cue people stand before, and in how many ways.
STILL, STANDING = "lips_pressed", 5
# Whose first blink is shown, from three frames before it is shut.
BLINKS, FPS, BLINK_FRAMES = "conversation", 24.0, 9


def main() -> None:
    """Draw a sheet, or tell times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("sheet", "blink", "times"))
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
    context = context_of_process(1)
    if given.what == "blink":
        tiled(blink(context), BLINK_FRAMES).save(given.out, quality=86)
        return
    width, height = map(int, given.size.split("x"))
    pictures = [portrait(context, seed, (SHARPER * width, SHARPER * height), given.azimuth,
                         given.close)
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


def portrait(context: moderngl.Context, seed: int, size: tuple[int, int],
             azimuth: float, seen_m: float) -> Image.Image:
    """Return a picture of a random person standing, from the crown ``seen_m`` metres down."""
    character = build_character(sample_character(seed))
    top = 2.08 if seen_m > 2 else character.height + 0.06
    motion = at_ease(character, seed)
    about = character.skeleton.index["Head" if seen_m < 1 else "Hips"]
    middle = motion.global_pose.positions[0, about] * [1.0, 1.0, 0.0]
    return drawn(context, character, motion,
                 camera_at(middle + np.array([0.0, 0.0, top - seen_m / 2]), seen_m, azimuth, size))


def at_ease(character: Character, seed: int) -> Motion:
    """Return one frame of somebody who stands in one of a few ways, as a cue begins."""
    motion, roles = standing_still(seed % STANDING)
    first = Motion(motion.skeleton, FPS, motion.root_positions[:1], motion.rotations[:1])
    return retarget(first, character, roles).motion


@cache
def standing_still(seed: int) -> Source:
    """Return how the performer of the cue stands before it."""
    return library_take(Catalogue.with_libraries(()).action(STILL), None, seed).sources(FPS)[0]


def blink(context: moderngl.Context) -> Iterator[Image.Image]:
    """Yield frames of the first blink of somebody who talks, the head from near."""
    take = library_take(Catalogue.with_libraries(()).action(BLINKS), None, 0)
    members = (RandomPerson("random_1", 1), RandomPerson("random_8", 8))[:take.performers]
    performance, *_ = Casting(take, members).perform(FPS)
    skeleton, motion = performance.character.skeleton, performance.motion
    lids = motion.rotations[:, skeleton.index["LeftLid"], 0]
    shut = int(np.argmax(lids < lids.min() + 1e-4))
    head = motion.global_pose.positions[:, skeleton.index["Head"]]
    facing = quaternions.rotate(motion.global_pose.rotations[shut, skeleton.index["Head"]],
                                np.array([0.0, -1.0, 0.0]))
    azimuth = float(np.degrees(np.arctan2(facing[0], -facing[1])))
    for frame in range(shut - 3, shut - 3 + BLINK_FRAMES):
        camera = camera_at(head[frame] + [0.0, 0.0, 0.08], 0.32, azimuth + 15, (320, 360))
        one = Motion(skeleton, FPS, motion.root_positions[frame:frame + 1],
                     motion.rotations[frame:frame + 1])
        picture = drawn(context, performance.character, one, camera)
        yield picture.resize((160, 180), Image.Resampling.BOX)


def drawn(context: moderngl.Context, character: Character, motion: Motion,
          camera: Camera) -> Image.Image:
    """Return a picture of the first frame of a motion."""
    stage = RasterStage(context, [character], read_config(
        data_folder() / "render_configs" / "draft.yaml"))
    pose = motion.global_pose
    stage.pose([joint_columns(character.skeleton, pose.positions[:1], pose.rotations[:1])])
    frame, size = stage.picture(camera), (camera.width, camera.height)
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


def camera_at(about: FloatArray, seen_m: float, azimuth: float, size: tuple[int, int]) -> Camera:
    """Return a camera that sees ``seen_m`` metres about a place (3,), from 3.4 of them away."""
    away = 3.4 * seen_m
    place = about + away * direction_from(azimuth, 4.0)
    turn = quaternions.from_euler("xyz", np.array([86.0, 0.0, azimuth]))
    lens = 36.0 * away / seen_m * size[1] / size[0]
    return Camera((float(place[0]), float(place[1]), float(place[2])),
                  (float(turn[0]), float(turn[1]), float(turn[2]), float(turn[3])), lens, *size)


def tiled(given: Iterable[Image.Image], columns: int) -> Image.Image:
    """Return pictures of one size in rows."""
    pictures = [*given]
    width, height = pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (width * columns, height * rows), BACKDROP)
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number % columns * width, number // columns * height))
    return sheet


if __name__ == "__main__":
    main()
