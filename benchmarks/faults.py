"""Sheets of faults in five amounts, for blind raters: do they see which is worse?

    python benchmarks/faults.py OUT [--seed S] [--actions N] [--fault NAME ...]

For every kind of fault and N actions drawn by the seed, each amount is one row of a sheet; the
rows stand in a random order under letters, and the sheets' names say nothing. OUT/key.json says
what they show; it is not for raters. Nothing is ever drawn again. Where fingers are wrong, the
sheet follows a hand from near, from the front.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.arrays import ByteArray
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.characters.character import Performance
from mimegen.compositing.compose import Compositor
from mimegen.faults.fault import Fault, fault_kinds
from mimegen.faults.showing import showing
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.pages.drawn import columns_at, stage_of, tiled
from mimegen.shots.camera import Camera
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.framing import frame_camera
from mimegen.store.frames import Frame

AMOUNTS = (0.2, 0.4, 0.6, 0.8, 1.0)
ANGLES = (0, 90, 180, 270)
FPS = 24.0
TALL, ROOM, ROW, LETTER, IN_A_LINE = 240, 12, 1900, 40, 8
IN_TIME = {"speed_warped": 24, "frame_drops": 24, "cut_off": 24, "wrong_order": 24,
           "frozen_limb": 20, "twitches": 24, "foot_slide": 16}
HANDS, HAND_M, HAND_PX = ("fingers_missing", "fingers_extra"), 0.36, 1500
HAND_JOINTS = ("RightHand", "LeftHand")
WHITE, WHITISH = np.float32(0.95), 235


@dataclass(frozen=True)
class Strip:
    """Pictures (H, W, 3) of one amount, each with its time in seconds."""

    pictures: list[ByteArray]
    times_s: list[float]


def strips(casting: Casting, angle: int) -> list[Strip]:
    """Return what each amount of the casting's fault looks like, least first."""
    fault = casting.faults[0].name
    side = HAND_PX if fault in HANDS else 3 * TALL
    config = read_config(Catalogue.with_libraries(()).file("config", "draft"))
    config = config.model_copy(update={"width": side * 16 // 9, "height": side,
                                       "ground_hides": casting.goes_below})
    camera = frame_camera(performed(replace(casting, faults=())), config, angle)
    columns = IN_TIME.get(fault, 8)
    return [_strip(replace(casting, faults=(Fault(fault, amount),)), camera, config, columns)
            for amount in AMOUNTS]


@lru_cache(maxsize=2)
def performed(faultless: Casting) -> tuple[Performance, ...]:
    """Return what a casting without faults performs."""
    return faultless.perform(FPS)


def _strip(casting: Casting, camera: Camera, config: RenderConfig, columns: int) -> Strip:
    frames = performed(replace(casting, faults=()))[0].motion.frames
    shows = showing(frames, FPS, casting.faults, casting.take.seed, *casting.take.words)
    wanted = [int(number) for number in np.linspace(0, frames - 1, columns).round()
              if number < len(shows.frames)]
    pictures = {}
    for part, shown in casting.in_turn(frames):
        faulty = part.with_faults(performed(replace(part, faults=())))
        stage = stage_of(faulty, config)
        for number in wanted:
            frame = int(shows.frames[number])
            if shown[frame]:
                stage.pose(columns_at(faulty, frame))
                picture = _composed(stage.picture(camera), shows.shadow)
                pictures[number] = (_hand(picture, faulty[0], frame, camera)
                                    if casting.faults[0].name in HANDS else picture)
    return Strip([pictures[number] for number in wanted], [number / FPS for number in wanted])


def _composed(frame: Frame, shadow: float) -> ByteArray:
    paled = replace(frame, shadow=np.round(frame.shadow * shadow).astype(np.uint8))
    return Compositor(np.full((*frame.size[::-1], 3), WHITE)).compose(paled)


def _hand(picture: ByteArray, performance: Performance, frame: int, camera: Camera) -> ByteArray:
    """Return what of a picture lies about the right hand, or the left one where it is nearer."""
    names, motion = performance.motion.skeleton.names, performance.motion
    places = motion.global_pose.positions[frame]
    hands = [places[names.index(name)] for name in HAND_JOINTS]
    place = min(hands, key=lambda hand: float(np.linalg.norm(hand - np.array(camera.position))))
    (x, y), (_, top) = camera.project(place + np.array([[0, 0, 0], [0, 0, HAND_M / 2]]))[:, :2]
    half = int(abs(y - top))
    padded = np.pad(picture, ((half, half), (half, half), (0, 0)), constant_values=255)
    return padded[int(y): int(y) + 2 * half, int(x): int(x) + 2 * half]


def cropped(all_strips: Sequence[Strip]) -> list[Strip]:
    """Return strips without what is white in every picture."""
    pictures = [picture for strip in all_strips for picture in strip.pictures]
    if len({picture.shape for picture in pictures}) > 1:
        return list(all_strips)
    seen = np.min([picture.min(axis=2) for picture in pictures], axis=0) < WHITISH
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    part = np.s_[max(rows[0] - ROOM, 0): rows[-1] + ROOM, max(columns[0] - ROOM, 0):
                 columns[-1] + ROOM]
    return [Strip([picture[part] for picture in strip.pictures], strip.times_s)
            for strip in all_strips]


def sheet(some: Sequence[Strip], letters: str) -> Image.Image:
    """Return a block of pictures for each strip, its letter before it."""
    most = max(len(strip.pictures) for strip in some)
    columns = most if most <= IN_A_LINE else -(-most // 2)
    height, width = some[0].pictures[0].shape[:2]
    grown = min(TALL / height, ROW / columns / width)
    size = int(width * grown), int(height * grown)
    blocks = [tiled([np.asarray(Image.fromarray(picture).resize(size))
                     for picture in strip.pictures],
                    [f"{time:.2f} s" for time in strip.times_s], columns) for strip in some]
    whole = Image.new("RGB", (LETTER + columns * size[0],
                              sum(block.height + ROOM for block in blocks)), "white")
    draw, top = ImageDraw.Draw(whole), 0
    for block, letter in zip(blocks, letters, strict=True):
        whole.paste(block, (LETTER, top))
        draw.text((8, top + block.height / 2), letter, "black", ImageFont.load_default(24))
        top += block.height + ROOM
        draw.line((0, top - ROOM // 2, whole.width, top - ROOM // 2), "gray")
    return whole


def main() -> None:
    """Draw actions and orders by the seed, and write sheets and key."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--actions", type=int, default=1)
    parser.add_argument("--fault", nargs="*", default=list(fault_kinds()))
    asked = parser.parse_args()
    (asked.out / "sheets").mkdir(parents=True, exist_ok=True)
    catalogue, key = Catalogue.with_libraries(()), {}
    for fault in asked.fault:
        random = generator(asked.seed, "raters", fault)
        names = random.permutation(sorted(catalogue.actions))[: asked.actions]
        for action in names.tolist():
            angle = 0 if fault in HANDS else int(random.choice(ANGLES))
            take = library_take(catalogue.actions[action], None, asked.seed)
            casting = Casting(take, (cast_member(catalogue, "man"),) * take.performers,
                              (Fault(fault, 1.0),))
            order = random.permutation(len(AMOUNTS)).tolist()
            shown = cropped(strips(casting, angle))
            name = content_key("raters", fault, action, asked.seed)[:8]
            sheet([shown[place] for place in order], "ABCDE").save(
                asked.out / "sheets" / f"{name}.png")
            key[name] = {"fault": fault, "action": action, "angle": angle, "amounts": {
                letter: AMOUNTS[place] for letter, place in zip("ABCDE", order, strict=True)}}
            (asked.out / "key.json").write_text(json.dumps(key, indent=1))
            print(name, flush=True)


if __name__ == "__main__":
    main()
