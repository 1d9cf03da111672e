"""Figure and set rendered together by Cycles, beside the same composed of their own renders.

    python benchmarks/joint.py OUT CHARACTER [NAME ...]

For each set: the structural similarity (Wang et al., Image quality assessment, 2004) of luminance
in the region of figure and shadow, lit equally and lit as the place is, both with the figure
sampled as the set is, and then as the place is with preview's own sampling, whose speckle counts
as difference, too. Only that region is rendered. OUT gets together, equal, placed and, white, where
placed differs.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from mimegen.characters.character import Performance
from mimegen.compositing.background import Background, read_background
from mimegen.compositing.color import LUMINANCE, bytes_to_linear
from mimegen.compositing.compose import Compositor
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.pages.backgroundsheet import standing
from mimegen.plan.lighting import place_light
from mimegen.stage.blender.render import PictureReader, apply_sampling, crop, use_device
from mimegen.stage.blender.scene import place_camera, reset_scene
from mimegen.stage.blender.scenery import build_set, light_set
from mimegen.stage.blender.shot import FigureStage, _StagedBody
from mimegen.stage.camera import Camera
from mimegen.stage.config import Light, RenderConfig, read_config
from mimegen.stage.crop import Region
from mimegen.stage.figures import Figure
from mimegen.stage.framing import frame_camera
from mimegen.stage.scenery.job import SetJob
from mimegen.stage.skinning import joint_columns
from mimegen.store.frames import Frame

Bytes = NDArray[np.uint8]
SIZE = (480, 270)
SETS = ("gym", "living_room", "beach", "soccer_field", "concert_hall")
# Of the window, and of the two constants, for values of 0 to 255, as the paper has them.
WINDOW, SMALL = 1.5, ((0.01 * 255) ** 2, (0.03 * 255) ** 2)


def similarity(one: Bytes, other: Bytes) -> NDArray[np.float64]:
    """Return the structural similarity (H, W) of pictures (H, W, 3) about every pixel."""
    a, b = (picture @ LUMINANCE for picture in (one, other))
    mean_a, mean_b, squares_a, squares_b, product = (
        gaussian_filter(values, WINDOW) for values in (a, b, a * a, b * b, a * b))
    top = (2 * mean_a * mean_b + SMALL[0]) * (2 * (product - mean_a * mean_b) + SMALL[1])
    under = (mean_a**2 + mean_b**2 + SMALL[0]) * (
        squares_a - mean_a**2 + squares_b - mean_b**2 + SMALL[1])
    return np.asarray(top / under)


def rendered(job: SetJob, shown: Performance | None, box: Region, reader: PictureReader) -> Bytes:
    """Render a part of a set, perhaps with a figure in it; the rest of the picture is black."""
    reset_scene()
    place_camera(job.camera)
    scene = bpy.context.scene
    scene.camera.data.clip_end = 20000.0
    build_set(job)
    light_set(job.scenery, job.config)
    if shown is not None:
        _StagedBody(shown.character, job.config.shadow.cell_m).pose(_columns(shown))
    apply_sampling(job.config.set_sampling)
    scene.cycles.sample_clamp_indirect, scene.cycles.blur_glossy = 4.0, 0.5
    scene.render.film_transparent = False
    crop(scene.render, box)
    bpy.ops.render.render()
    left, top, right, bottom = box
    picture = np.zeros((job.camera.height, job.camera.width, 3), np.uint8)
    picture[top:bottom, left:right] = reader.displayed()
    return picture


def alone(shown: Performance, config: RenderConfig, light: Light, camera: Camera,
          reader: PictureReader) -> Frame:
    """Render a figure by itself under a light."""
    stage = FigureStage([shown.character], config.model_copy(update={"light": light}))
    stage.pose([_columns(shown)])
    return stage.picture(camera, reader)


def _columns(shown: Performance) -> NDArray[np.float32]:
    figure = Figure.of(shown)
    return joint_columns(figure.character.skeleton, figure.positions[:1], figure.rotations[:1])


def compare(background: Background, shown: Performance, config: RenderConfig,
            reader: PictureReader, out: Path) -> tuple[float, ...]:
    """Return the similarity under equal light, the place's, and that in preview's sampling."""
    camera = frame_camera([shown], config, 0.0)
    assert background.set is not None
    lit = place_light(background, config, 0.0)
    assert lit is not None
    fine = config.model_copy(update={"sampling": config.set_sampling})
    equal = alone(shown, fine, config.light, camera, reader)
    placed = [alone(shown, sampled, lit.light, camera, reader) for sampled in (fine, config)]
    region = _region(equal) | _region(placed[0])
    box = _box(region)
    job = SetJob(background.set, camera, config, Path("still.png"))
    joint, still = (rendered(job, who, box, reader) for who in (shown, None))
    behind = bytes_to_linear(still)
    over = Compositor(behind, lit.tint, lit.shade)
    pictures = [Compositor(behind).compose(equal), *(over.compose(frame) for frame in placed)]
    found = [similarity(joint, picture) for picture in pictures]
    apart = np.repeat((255 * np.clip(1 - found[1], 0, 1) * region)[..., None], 3, axis=2)
    shown_side = [joint, *pictures[:2], apart.astype(np.uint8)]
    left, top, right, bottom = box
    Image.fromarray(np.concatenate([one[top:bottom, left:right] for one in shown_side], axis=1)
                    ).save(out / f"{shown.character.name}_{background.name}.png")
    return tuple(float(one[region].mean()) for one in found)


def _box(region: NDArray[np.bool_]) -> Region:
    """Return the part of the picture that holds a region, and a little more."""
    rows, columns = np.nonzero(region)
    height, width = region.shape
    return (max(int(columns.min()) - 6, 0), max(int(rows.min()) - 6, 0),
            min(int(columns.max()) + 7, width), min(int(rows.max()) + 7, height))


def _region(frame: Frame) -> NDArray[np.bool_]:
    covered = np.zeros(frame.size[::-1], bool)
    for seen, (left, top) in ((frame.figure[..., 3] > 0, frame.figure_at),
                              (frame.shadow > 12, frame.shadow_at)):
        covered[top:top + seen.shape[0], left:left + seen.shape[1]] |= seen
    return covered


def main(out: Path, character: str, names: list[str]) -> None:
    """Print a line for each set."""
    out.mkdir(parents=True, exist_ok=True)
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "preview"))
    config = config.model_copy(update=dict(zip(("width", "height"), SIZE, strict=True)))
    shown = standing(cast_member(catalogue, character).build())
    use_device("cpu", 1)
    reader = PictureReader()
    for name in names or SETS:
        background = read_background(catalogue.file("background", name))
        found = compare(background, shown, config, reader, out)
        print(f"| {character} | {name} |", " | ".join(f"{one:.3f}" for one in found), "|",
              flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
