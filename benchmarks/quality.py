"""How far the paper's settings and ours are from the truth: a picture of 2,048 samples.

    python benchmarks/quality.py [--frames 3] [--samples 2048] [--write]

All pictures show the same consecutive frames over white. Errors count where figure or shadow is.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from costs import put_into
from mimegen.characters.character import Performance
from mimegen.compositing.compose import compose
from mimegen.library.catalogue import Catalogue
from mimegen.motion import Motion
from mimegen.rendering.worker import StageWorker
from mimegen.shots.config import RenderConfig, read_config
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, JobDone, JobFailed, ShotJob
from mimegen.store.frames import read_frame
from scene import performed

DOCUMENT = Path(__file__).parents[1] / "docs" / "research" / "performance.md"
Pictures = NDArray[np.float64]
# The take in so many frames, and the first of those compared.
TAKE_FRAMES, FIRST = 100, 40


def settings(samples: int) -> dict[str, RenderConfig]:
    """Return the truth's settings, the paper's and ours.

    The truth and the paper's are cropped to save time: their pixels are the same as without.
    """
    catalogue = Catalogue.with_libraries([])
    paper = read_config(catalogue.file("config", "mime")).model_copy(update={"crop": True})
    truth = paper.sampling.model_copy(update={
        "samples": samples, "adaptive_threshold": 0.0, "denoise": False})
    return {f"{samples} samples": paper.model_copy(update={"sampling": truth}),
            "the paper's settings": paper,
            "`mime_fast`": read_config(catalogue.file("config", "mime_fast"))}


def pictures(worker: StageWorker, config: RenderConfig, action: str, frames: int,
             folder: Path) -> Pictures:
    """Return consecutive frames (F, H, W, 3), 0 to 1, over white."""
    performance = performed(action, "man", TAKE_FRAMES)
    files = FigureFiles(folder / "character.npz", folder / "performance.npz")
    whole, span = performance.motion, slice(FIRST, FIRST + frames)
    part = Motion(whole.skeleton, whole.fps, whole.root_positions[span], whole.rotations[span])
    publish_figure(Performance(performance.character, part), files)
    job = ShotJob(
        (files,),
        (frame_camera([performance], config, 0.0),), config, (folder,),
        np.ones((frames, 1), np.bool_))
    worker.submit(job)
    while not isinstance(message := worker.connection.recv(), JobDone):
        if isinstance(message, JobFailed):
            raise SystemExit(message.message)
    white = np.ones((config.height, config.width, 3), np.float32)
    return np.stack([compose(read_frame(job.frame_file(number, 0)), white)
                     for number in range(frames)]) / 255.0


def compared(picture: Pictures, truth: Pictures) -> dict[str, float]:
    """Return PSNR in dB, SSIM, and flicker in 8-bit steps, where figure or shadow is.

    SSIM: Wang et al., "Image Quality Assessment" (2004), on luma, Gaussian windows of 1.5 pixels.
    Flicker: the mean absolute difference of consecutive error images.
    """
    shown = np.stack([ndimage.binary_dilation((frame < 0.985).any(axis=-1), iterations=3)
                      for frame in truth])
    error = picture - truth
    psnr = -10.0 * np.log10(np.mean(error[shown] ** 2))
    ssim = np.mean([_ssim(a, b)[where].mean()
                    for a, b, where in zip(picture, truth, shown, strict=True)])
    either = shown[1:] | shown[:-1]
    flicker = 255.0 * np.abs(np.diff(error, axis=0))[either].mean()
    return {"PSNR dB": float(psnr), "SSIM": float(ssim), "flicker": float(flicker)}


def _ssim(first: Pictures, second: Pictures) -> Pictures:
    a, b = (frame @ np.array([0.2126, 0.7152, 0.0722]) for frame in (first, second))
    mean_a, mean_b = _blurred(a), _blurred(b)
    spread = _blurred(a * a) - mean_a**2 + _blurred(b * b) - mean_b**2
    together = _blurred(a * b) - mean_a * mean_b
    likeness = (2 * mean_a * mean_b + 1e-4) * (2 * together + 9e-4)
    return np.asarray(likeness / ((mean_a**2 + mean_b**2 + 1e-4) * (spread + 9e-4)))


def _blurred(image: Pictures) -> Pictures:
    return np.asarray(ndimage.gaussian_filter(image, 1.5))


def main(arguments: Sequence[str]) -> None:
    """Render all three and print how far they are apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--action", default="basketball_shot")
    parser.add_argument("--frames", type=int, default=3)
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true", help=f"also into {DOCUMENT.name}")
    given = parser.parse_args(arguments)
    worker = StageWorker(given.device, 0)
    with tempfile.TemporaryDirectory(prefix="mimegen-bench-") as folder:
        made = {name: pictures(worker, config, given.action, given.frames, Path(folder) / str(i))
                for i, (name, config) in enumerate(settings(given.samples).items())}
    worker.close()
    truth = made.pop(next(iter(made)))
    lines = ["| | PSNR dB | SSIM | flicker |", "|---|---:|---:|---:|"]
    for name, picture in made.items():
        found = compared(picture, truth)
        lines.append(f"| {name} | {found['PSNR dB']:.2f} | {found['SSIM']:.4f} |"
                     f" {found['flicker']:.2f} |")
    title = (f"`{given.action}`, man at angle 0, {given.frames} consecutive frames, against"
             f" {given.samples} samples a pixel.")
    print(title, "\n".join(lines), sep="\n\n")
    if given.write:
        put_into(DOCUMENT, "quality", title + "\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
