"""What Blender's Workbench costs for what draft and preview draw: a row for docs/research/draft.md.

    workbench.py [--frames 8] [--out DIR]

The same man, cameras, crop and shadow as in ``draft.py speed``, posed and read the same way; only
the engine that draws is Workbench, on OpenGL, without materials, sky or soft light. The last
picture is DIR/workbench.png.
"""

import argparse
import time
from pathlib import Path

import bpy
import numpy as np
from PIL import Image

from draft import config_of
from mimegen.characters.character import Performance
from mimegen.rendering.cycles.render import PictureReader, use_device
from mimegen.rendering.cycles.shot import FigureStage
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns
from mimegen.store.frames import Frame
from scene import performed

CAMERAS = ((0.0,), (0.0, 90.0, 180.0, 270.0))


def workbench_stage(figure: Figure, size: tuple[int, int]) -> FigureStage:
    """Return preview's stage of a figure, drawn by Workbench with what it can of its light."""
    stage = FigureStage([figure.character], config_of("preview", size))
    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.display.shading.show_shadows = True
    scene.display.render_aa = "8"
    return stage


def cost(shown: Performance, size: tuple[int, int], angles: tuple[float, ...]
         ) -> tuple[float, Frame]:
    """Return the processor's seconds for a picture, and the last one; a first frame warms up."""
    figure, reader = Figure.of(shown), PictureReader()
    stage, config = workbench_stage(figure, size), config_of("preview", size)
    cameras = [frame_camera([shown], config, angle) for angle in angles]
    before = time.process_time()
    for frame in range(shown.motion.frames):
        stage.pose([joint_columns(figure.character.skeleton, figure.positions[frame, None],
                                  figure.rotations[frame, None])])
        pictures = [stage.picture(camera, reader) for camera in cameras]
        if frame == 0:
            before = time.process_time()
    count = (shown.motion.frames - 1) * len(angles)
    return (time.process_time() - before) / count, pictures[-1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--out", type=Path)
    said = parser.parse_args()
    use_device("cpu", 1)
    shown = performed("basketball_shot", "man", said.frames)
    for size in ((640, 360), (1280, 720)):
        for angles in CAMERAS:
            seconds, picture = cost(shown, size, angles)
            print(f"| Workbench | {size[0]}x{size[1]} | {len(angles)} | {1000 * seconds:.0f} |"
                  f" {1 / seconds:.1f} |", flush=True)
    if said.out:
        Image.fromarray(np.ascontiguousarray(picture.figure)).save(said.out / "workbench.png")


if __name__ == "__main__":
    main()
