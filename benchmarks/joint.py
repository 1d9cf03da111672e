"""Figure and set rendered together by Cycles, beside the same composed of their own renders.

    python benchmarks/joint.py OUT [NAME ...]

For each set: the structural similarity (Wang et al., Image quality assessment, 2004) of luminance
in the region of figure and shadow, lit equally and lit as the place is. OUT gets the three side by
side.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

from mimegen.characters.character import Performance
from mimegen.compositing.backdrop import backdrop
from mimegen.compositing.background import Background, read_background
from mimegen.compositing.color import LUMINANCE
from mimegen.compositing.compose import Compositor
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.pages.backgroundsheet import standing
from mimegen.plan.lighting import place_light
from mimegen.stage.blender.render import PictureReader, apply_sampling, use_device
from mimegen.stage.blender.scene import place_camera, reset_scene
from mimegen.stage.blender.scenery import build_set, light_set, render_set
from mimegen.stage.blender.shot import FigureStage, _StagedBody
from mimegen.stage.camera import Camera
from mimegen.stage.config import Light, RenderConfig, read_config
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


def similarity(one: Bytes, other: Bytes, region: NDArray[np.bool_]) -> float:
    """Return the mean structural similarity of pictures (H, W, 3) in a region (H, W)."""
    a, b = (picture @ LUMINANCE for picture in (one, other))
    mean_a, mean_b, squares_a, squares_b, product = (
        gaussian_filter(values, WINDOW) for values in (a, b, a * a, b * b, a * b))
    top = (2 * mean_a * mean_b + SMALL[0]) * (2 * (product - mean_a * mean_b) + SMALL[1])
    under = (mean_a**2 + mean_b**2 + SMALL[0]) * (
        squares_a - mean_a**2 + squares_b - mean_b**2 + SMALL[1])
    return float((top / under)[region].mean())


def together(shown: Performance, job: SetJob, reader: PictureReader) -> Bytes:
    """Render a figure in a set, in one scene."""
    reset_scene()
    place_camera(job.camera)
    build_set(job)
    light_set(job.scenery, job.config)
    _StagedBody(shown.character, job.config.shadow.cell_m).pose(_columns(shown))
    apply_sampling(job.config.set_sampling)
    import bpy
    bpy.context.scene.render.film_transparent = False
    bpy.ops.render.render()
    return reader.displayed()


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
            reader: PictureReader, out: Path) -> tuple[float, float]:
    """Return the similarity under equal light and under the place's, and write the pictures."""
    camera = frame_camera([shown], config, 0.0)
    assert background.set is not None
    lit = place_light(background, config, 0.0)
    assert lit is not None
    with tempfile.TemporaryDirectory() as folder:
        job = SetJob(background.set, camera, config, Path(folder) / "still.png")
        joint = together(shown, job, reader)
        render_set(job, reader)
        behind = backdrop(background, camera, job.target)
    equal = alone(shown, config, config.light, camera, reader)
    placed = alone(shown, config, lit.light, camera, reader)
    pictures = [joint, Compositor(behind).compose(equal),
                Compositor(behind, lit.tint).compose(placed)]
    Image.fromarray(np.concatenate(pictures, axis=1)).save(out / f"{background.name}.png")
    region = _region(equal) | _region(placed)
    return (similarity(joint, pictures[1], region), similarity(joint, pictures[2], region))


def _region(frame: Frame) -> NDArray[np.bool_]:
    covered = np.zeros(frame.size[::-1], bool)
    for seen, (left, top) in ((frame.figure[..., 3] > 0, frame.figure_at),
                              (frame.shadow > 12, frame.shadow_at)):
        covered[top:top + seen.shape[0], left:left + seen.shape[1]] |= seen
    return covered


def main(out: Path, names: list[str]) -> None:
    """Print a line for each set."""
    out.mkdir(parents=True, exist_ok=True)
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "preview"))
    config = config.model_copy(update=dict(zip(("width", "height"), SIZE, strict=True)))
    shown = standing(cast_member(catalogue, "man").build())
    use_device("cpu", 1)
    reader = PictureReader()
    for name in names or SETS:
        background = read_background(catalogue.file("background", name))
        equal, placed = compare(background, shown, config, reader, out)
        print(f"| {name} | {equal:.3f} | {placed:.3f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
