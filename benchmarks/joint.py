"""Figure and set rendered together by Cycles, beside the same composed of their own renders.

    python benchmarks/joint.py OUT WIDTH ACTION FRAMES CHARACTER [SET ...]

For each set: the structural similarity (Wang et al., Image quality assessment, 2004) of luminance
in the region of figure and shadow, in as many frames of an action, evenly spread: of the first lit
equally; their mean and the least, lit as the place is, with the figure sampled as the set is; the
same in preview's own sampling, whose speckle counts as difference; and what noise alone makes: two
joint renders in preview's sampling of sets, by different chances. Then the linear light of the
ground where the joint render's shadow is deepest, together and composed, as shares of the ground's
without anybody. Only that region is rendered. OUT gets together, equal, placed and,
white, where placed differs, of the first frame.
"""

import sys
from dataclasses import dataclass
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
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.plan.lighting import place_light
from mimegen.rendering.cycles.render import PictureReader, crop, use_device
from mimegen.rendering.cycles.scenery import stage_set
from mimegen.rendering.cycles.shot import FigureStage, _StagedBody
from mimegen.scenery.job import SetJob
from mimegen.shots.camera import Camera
from mimegen.shots.config import Light, RenderConfig, read_config
from mimegen.shots.crop import Region
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns
from mimegen.store.frames import Frame

Bytes = NDArray[np.uint8]
Columns = NDArray[np.float32]
SETS = ("gym", "living_room", "beach", "soccer_field", "concert_hall")
# Of the window, and of the two constants, for values of 0 to 255, as the paper has them.
WINDOW, SMALL = 1.5, ((0.01 * 255) ** 2, (0.03 * 255) ** 2)
# Of the shadow's pixels so many are its deepest.
DEEPEST = 0.1
# Of preview's sets; what is compared has twice as many, so that noise counts less.
PREVIEW_SAMPLES = 8


def similarity(one: Bytes, other: Bytes) -> NDArray[np.float64]:
    """Return the structural similarity (H, W) of pictures (H, W, 3) about every pixel."""
    a, b = (picture @ LUMINANCE for picture in (one, other))
    mean_a, mean_b, squares_a, squares_b, product = (
        gaussian_filter(values, WINDOW) for values in (a, b, a * a, b * b, a * b))
    top = (2 * mean_a * mean_b + SMALL[0]) * (2 * (product - mean_a * mean_b) + SMALL[1])
    under = (mean_a**2 + mean_b**2 + SMALL[0]) * (
        squares_a - mean_a**2 + squares_b - mean_b**2 + SMALL[1])
    return np.asarray(top / under)


@dataclass(frozen=True, eq=False)
class Shown:
    """A performance in a few of its frames, seen by a camera."""

    performance: Performance
    poses: list[Columns]
    camera: Camera
    config: RenderConfig

    @classmethod
    def of(cls, performance: Performance, config: RenderConfig, count: int) -> "Shown":
        """Return a performance in ``count`` frames, evenly spread between its ends."""
        figure = Figure.of(performance)
        frames = np.linspace(0, len(figure.positions) - 1, count + 2).round().astype(int)[1:-1]
        poses = [joint_columns(figure.character.skeleton, figure.positions[frame, None],
                               figure.rotations[frame, None]) for frame in frames]
        return cls(performance, poses, frame_camera([performance], config, 0.0), config)

    def alone(self, config: RenderConfig, light: Light, reader: PictureReader, count: int
              ) -> list[Frame]:
        """Render the figure by itself under a light, in the first ``count`` frames."""
        stage = FigureStage([self.performance.character],
                            config.model_copy(update={"light": light}))
        frames = []
        for columns in self.poses[:count]:
            stage.pose([columns])
            frames.append(stage.picture(self.camera, reader))
        return frames

    def together(self, background: Background, boxes: list[Region], reader: PictureReader
                 ) -> tuple[Bytes, list[Bytes]]:
        """Render the set's region by itself and then parts of it with the figure in it.

        The last pose stays staged.
        """
        assert background.set is not None
        job = SetJob(background.set, self.camera, self.config, Path("still.png"))
        stage_set(job)
        whole = tuple(pick(edge) for pick, edge in zip(
            (min, min, max, max), zip(*boxes, strict=True), strict=True))
        still = _rendered(self.camera, (whole[0], whole[1], whole[2], whole[3]), reader)
        body = _StagedBody(self.performance.character, job.config)
        seen = []
        for columns, box in zip(self.poses, boxes, strict=True):
            body.pose(columns)
            seen.append(_rendered(self.camera, box, reader))
        return still, seen


def _noise_alone(camera: Camera, box: Region, samples: int, reader: PictureReader
                 ) -> NDArray[np.float64]:
    """Return the similarity (H, W) of what is staged, rendered twice by different chances."""
    cycles = bpy.context.scene.cycles
    cycles.samples = samples
    pictures = []
    for cycles.seed in (1, 2):
        pictures.append(_rendered(camera, box, reader))
    return similarity(pictures[0], pictures[1])


def _rendered(camera: Camera, box: Region, reader: PictureReader) -> Bytes:
    """Render a part of the picture; the rest is black."""
    crop(bpy.context.scene.render, box)
    bpy.ops.render.render()
    left, top, right, bottom = box
    picture = np.zeros((camera.height, camera.width, 3), np.uint8)
    picture[top:bottom, left:right] = reader.displayed()
    return picture


def compare(background: Background, shown: Shown, reader: PictureReader, out: Path) -> str:
    """Return what the columns of a table say of a set; see above."""
    config = shown.config
    lit = place_light(background, config, 0.0)
    assert lit is not None
    fine = config.model_copy(update={"sampling": config.set_sampling})
    placed = shown.alone(fine, lit.light, reader, len(shown.poses))
    equal, = shown.alone(fine, config.light, reader, 1)
    coarse = shown.alone(config, lit.light, reader, len(shown.poses))
    regions = [_region(frame) for frame in placed]
    regions[0] |= _region(equal)
    still, joint = shown.together(background, [_box(region) for region in regions], reader)
    behind = bytes_to_linear(still)
    over = Compositor(behind, lit.tint, lit.shade)
    composed = [over.compose(frame) for frame in placed]
    rough = [over.compose(frame) for frame in coarse]
    means, roughs = ([float(similarity(*pair)[region].mean()) for *pair, region in zip(
        joint, pictures, regions, strict=True)] for pictures in (composed, rough))
    equally = similarity(joint[0], Compositor(behind).compose(equal))[regions[0]].mean()
    noise = _noise_alone(shown.camera, _box(regions[-1]), PREVIEW_SAMPLES, reader)
    differs = np.clip(1 - similarity(joint[0], composed[0]), 0, 1) * regions[0]
    apart = np.repeat(255 * differs[..., None], 3, axis=2)
    left, top, right, bottom = _box(regions[0])
    sides = [joint[0], Compositor(behind).compose(equal), composed[0], apart.astype(np.uint8)]
    Image.fromarray(np.concatenate([one[top:bottom, left:right] for one in sides], axis=1)).save(
        out / f"{shown.performance.character.name}_{background.name}.png")
    ground = " ".join(_shares(picture, behind, placed[0], joint[0])
                      for picture in (joint[0], composed[0]))
    return (f"{equally:.3f} | {np.mean(means):.3f} | {min(means):.3f} | {np.mean(roughs):.3f} |"
            f" {min(roughs):.3f} | {noise[regions[-1]].mean():.3f} | {ground}")


def _shares(picture: Bytes, behind: NDArray[np.float32], frame: Frame, joint: Bytes) -> str:
    """Return the share of the ground's light that is left where ``joint`` is darkest by shadow."""
    ground = np.zeros(behind.shape[:2], bool)
    (left, top), seen = frame.shadow_at, frame.shadow
    ground[top:top + seen.shape[0], left:left + seen.shape[1]] = seen > 12
    (left, top), figure = frame.figure_at, frame.figure[..., 3]
    ground[top:top + figure.shape[0], left:left + figure.shape[1]] &= figure == 0
    ground &= behind.min(axis=2) > 0.02
    left_light = (bytes_to_linear(joint) / np.maximum(behind, 1e-3)) @ LUMINANCE
    deep = ground & (left_light <= np.quantile(left_light[ground], DEEPEST))
    shares = bytes_to_linear(picture)[deep].mean(axis=0) / behind[deep].mean(axis=0)
    return "{:.2f} {:.2f} {:.2f} |".format(*shares)


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


def main(out: Path, width: int, action: str, count: int, character: str, names: list[str]) -> None:
    """Print a line for each set."""
    out.mkdir(parents=True, exist_ok=True)
    catalogue = Catalogue.with_libraries(())
    config = read_config(catalogue.file("config", "preview"))
    config = config.model_copy(update={
        "width": width, "height": width * 9 // 32 * 2,
        "set_sampling": config.set_sampling.model_copy(update={
            "samples": 2 * PREVIEW_SAMPLES})})
    take = library_take(catalogue.action(action), None, 0)
    performance, = Casting(take, (cast_member(catalogue, character),), ()).perform(config.fps)
    shown = Shown.of(performance, config, count)
    use_device("cpu", 1)
    reader = PictureReader()
    for name in names or SETS:
        background = read_background(catalogue.file("background", name))
        print(f"| {character} | {name} |", compare(background, shown, reader, out), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5],
         sys.argv[6:])
