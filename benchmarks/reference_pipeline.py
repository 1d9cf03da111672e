"""The MIME paper's pipeline, written from its description (appendix A.2 and A.3).

One Blender process per file: a character with its motion, a sun, a plane of 50 m that catches the
shadow, one camera, the paper's Cycles settings; every frame whole, as a transparent PNG. Then the
frames are laid over the background one by one, written as PNG again, and handed to ffmpeg.
Characters and motions are mimegen's, so that both can be compared.

    python benchmarks/reference_pipeline.py basketball mime 2 OUT --library DIR
"""

import argparse
import sys
from pathlib import Path

import imageio_ffmpeg
from PIL import Image

from costs import FREE, Cost, cost_of
from mimegen.compositing.background import read_background
from mimegen.library.catalogue import Catalogue
from mimegen.plan.variants import parse_variants
from mimegen.shots.config import read_config
from mimegen.shots.figures import Figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.skinning import joint_columns
from scene import performed, shots_of

THIS = Path(__file__)


def run_reference(action: str, variants: str, frames: int, out: Path, library: Path,
                  device: str) -> dict[str, Cost]:
    """Make every variant's clip the paper's way; return the cost of each stage."""
    catalogue = Catalogue.with_libraries([library])
    cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
    costs = {"render": FREE, "overlay": FREE, "encode": FREE}
    for character, angle in shots_of(cells):
        folder = out / "frames" / f"{character}_{angle:g}"
        costs["render"] += cost_of([sys.executable, THIS, "--shot", action, character, str(angle),
                                    str(frames), folder, device])
    for cell in cells:
        (character, angle), = shots_of([cell])
        source = out / "frames" / f"{character}_{angle:g}"
        laid = out / "laid" / str(cell)
        picture = _picture(catalogue, action, cell.background)
        costs["overlay"] += cost_of([sys.executable, THIS, "--overlay", source, picture, laid])
        costs["encode"] += cost_of([
            imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-framerate", "60", "-i", laid / "%04d.png",
            "-c:v", "libx264", "-pix_fmt", "yuv420p", out / f"{cell}.mp4"])
    return costs


def _picture(catalogue: Catalogue, action: str, background: str) -> str:
    """Return the picture's file of a background, or a color's name."""
    entry = catalogue.action(action).action
    name = {"aligned": entry.aligned_background,
            "misaligned": entry.misaligned_background}.get(background, background)
    picture = read_background(catalogue.file("background", name)).picture
    return str(picture.file) if picture else "white"


def render_shot(action: str, character: str, angle: float, frames: int, out: Path,
                device: str) -> None:
    """Render one shot in this process, as a .blend file of its own would be."""
    import bpy

    from mimegen.rendering.cycles.render import use_device
    from mimegen.rendering.cycles.scene import place_camera
    from mimegen.rendering.cycles.shot import FigureStage

    out.mkdir(parents=True, exist_ok=True)
    performance = performed(action, character, frames)
    config = read_config(Catalogue.with_libraries([]).file("config", "mime"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    use_device(device)
    stage = FigureStage([performance.character], config)
    place_camera(frame_camera([performance], config, angle))
    scene, figure = bpy.context.scene, Figure.of(performance)
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGBA"
    for frame in range(frames):
        stage.pose([joint_columns(performance.character.skeleton, figure.positions[frame, None],
                                  figure.rotations[frame, None])])
        scene.render.filepath = str(out / f"{frame:04d}.png")
        bpy.ops.render.render(write_still=True)


def overlay(source: Path, background: str, out: Path) -> None:
    """Lay every frame over a picture or a color, and write it as PNG."""
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.glob("*.png")):
        with Image.open(file) as opened:
            figure = opened.convert("RGBA")
        if background == "white":
            ground = Image.new("RGBA", figure.size, background)
        else:
            with Image.open(background) as opened:
                ground = opened.convert("RGBA").resize(figure.size)
        Image.alpha_composite(ground, figure).convert("RGB").save(out / file.name)


def main() -> None:
    """Run the whole of it, or one of its processes."""
    if sys.argv[1] == "--shot":
        action, character, angle, frames, out, device = sys.argv[2:]
        render_shot(action, character, float(angle), int(frames), Path(out), device)
    elif sys.argv[1] == "--overlay":
        overlay(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("action")
        parser.add_argument("variants")
        parser.add_argument("frames", type=int)
        parser.add_argument("out", type=Path)
        parser.add_argument("--library", type=Path, required=True)
        parser.add_argument("--device", default="cpu")
        given = parser.parse_args()
        for stage, cost in run_reference(**vars(given)).items():
            print(stage, cost.as_dict())


if __name__ == "__main__":
    main()
