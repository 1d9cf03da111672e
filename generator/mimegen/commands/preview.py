"""``mimegen preview``: draw a take within seconds."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.altering import altering_options
from mimegen.commands.angles import ANGLE_HELP, DirectionType
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    library_option,
    refuse_given,
    replaced,
    style_option,
    warn,
)
from mimegen.commands.options import options_of
from mimegen.commands.reading import reading_options
from mimegen.compositing.background import read_background
from mimegen.compositing.video import write_pictures
from mimegen.faces.gaze import CAMERA
from mimegen.faces.overlay import FaceOverlay
from mimegen.library.cast import cast_member, partner_of
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.scene_take import scene_take
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take, user_take
from mimegen.library.watched import camera_text
from mimegen.motion.trimming import trim_bounds
from mimegen.pages.drawn import DrawnScene, drawn, drawn_sheet
from mimegen.plan.front import CameraDirection, camera_azimuth
from mimegen.readers import READERS, ReadOptions
from mimegen.readers.options import AS_FOUND, take_number
from mimegen.rendering.opengl.context import context_of_process
from mimegen.request.altering import Altering
from mimegen.request.render_request import RenderRequest
from mimegen.request.sources import camera_target
from mimegen.shots.config import RenderConfig, read_config

# Width and height of a contact sheet's frames, in pixels.
SHEET_SIZE = (320, 180)
SHEET_SUFFIX = ".png"
CLIP_SUFFIX = ".mp4"


@click.command("preview")
@click.argument("what", metavar="ACTION|SCENE|FILE")
@click.option("--take", metavar="T", help="Take of the action.  [default: the first]")
@click.option("--partner", type=click.Path(path_type=Path), metavar="FILE",
              help="Motion file of a second person recorded together with FILE.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
              help="Random seed of the take.")
@style_option("Style of choreographed takes (mimegen list styles).  [default: drawn by the seed]")
@click.option("--character", default="man", show_default=True, metavar="NAME|FILE|random:SEED",
              help="Character that performs the motion.")
@click.option("--background", default="blank", show_default=True, metavar="NAME|FILE",
              help="Background behind the character.")
@click.option("--angle", "direction", default="0", show_default=True, type=DirectionType(),
              metavar="DEGREES|SIDE", help=ANGLE_HELP)
@click.option("--clip", is_flag=True, help="Write a video instead of a contact sheet.")
@click.option("--frames", default=16, show_default=True, type=click.IntRange(1, 200),
              help="Number of frames in the contact sheet.")
@click.option("--config", default="draft", show_default=True, metavar="NAME|FILE",
              help="Render config for the camera and light.")
@click.option("--out", type=click.Path(path_type=Path), metavar="PNG|MP4",
              help="File to write; .mp4 writes a video.  [default: TAKE.png or TAKE.mp4 in the"
                   " current folder]")
@options_of(RenderRequest, ("emotion", "face", "say", "gaze"))
@altering_options
@library_option
@blender_option
@exits_cleanly
@reading_options("none")
def preview_command(what: str, take: str | None, partner: Path | None, seed: int,
                    style: str | None, character: str, background: str,
                    direction: CameraDirection, clip: bool, frames: int, config: str,
                    out: Path | None, emotion: str | None, face: Path | None, say: str | None,
                    gaze: str | None, altering: Altering, libraries: tuple[Path, ...],
                    reading: ReadOptions) -> int:
    """Draw an action, a scene or your own motion file in seconds.

    Writes a contact sheet or a video, drawn with OpenGL. An earlier file of the same name is
    replaced.
    """
    clip = clip or (out is not None and out.suffix.lower() == CLIP_SUFFIX)
    _check_ending(out, CLIP_SUFFIX if clip else SHEET_SUFFIX)
    context_of_process()
    catalogue = Catalogue.with_libraries(libraries)
    if altering.follow_place:
        raise RequestError("--light place: not available in a preview, which lights all figures"
                           " equally; use mimegen render")
    settings = altering.config(read_config(catalogue.file("config", config)))
    behind = read_background(catalogue.file("background", background))
    overlay = FaceOverlay(
        emotion, 1.0, face, say, camera_target(settings) if gaze == CAMERA else gaze,
        camera_text(settings) if gaze == CAMERA else None)
    found = altering.take(_take(catalogue, what, take, partner, seed, style, reading),
                          None if overlay == FaceOverlay() else overlay)
    names = (character, partner_of(character))[:found.performers]
    members = tuple(cast_member(catalogue, name) for name in names)
    casting = Casting(found, members)
    scene = DrawnScene(casting.seen(casting.perform(settings.fps)), behind, settings)
    zero = camera_azimuth(settings)
    angle = direction.azimuth(zero, found.front_deg) - zero
    out = out or Path(f"{found.name}{CLIP_SUFFIX if clip else SHEET_SUFFIX}")
    earlier = replaced(out)
    if clip:
        _write_clip(scene, angle, out)
    else:
        _write_sheet(scene, angle, frames, out)
    motion = scene.performances[0].motion
    click.echo(f"{out}: {casting.name}, {found.name}, {motion.frames / motion.fps:.1f} s"
               f"{earlier}")
    return DONE


def _check_ending(out: Path | None, wanted: str) -> None:
    if out is not None and out.suffix.lower() != wanted:
        raise RequestError(f"--out {out}: a contact sheet ends in {SHEET_SUFFIX}, a video in"
                           f" {CLIP_SUFFIX}; use {out.with_suffix(wanted).name}")


def _take(catalogue: Catalogue, what: str, take: str | None, partner: Path | None, seed: int,
          style: str | None, reading: ReadOptions) -> LibraryTake:
    """Return the take of a name or file; a score file stands for its take in the library."""
    file = Path(what)
    if reading != AS_FOUND and file.suffix.lower() not in READERS:
        raise RequestError(f"{what}: not a motion file, so --trim, --stack, --map, --skeleton,"
                           " --subject and --fps-of-file do not apply")
    if partner is not None and file.suffix.lower() not in READERS:
        raise RequestError(f"{what}: not a motion file, so --partner does not apply")
    if file.name.endswith(SCORE_SUFFIX) and file.is_file():
        return library_take(catalogue.action(file.parent.name),
                            file.name.removesuffix(SCORE_SUFFIX), seed, style)
    if what in catalogue.scenes or (file.suffix == ".yaml" and file.is_file()):
        refuse_given(("take",), "does not apply to a scene, which has one take")
        return scene_take(catalogue, what, seed, style)
    if file.suffix and file.is_file():
        refuse_given(("style",), "does not apply to a motion file: recordings have no style")
        own = user_take(catalogue, file, (), None, None, "unknown", partner,
                        replace(reading, take=take_number(take)))
        for line in (*own.doubts, *_cut_by_render(own)):
            warn(line)
        return own
    if file.suffix.lower() in (*READERS, ".yaml"):
        raise RequestError(f"{what}: no such file; expected an action, a scene or a motion file")
    return library_take(catalogue.action(what), take, seed, style)


def _cut_by_render(own: RecordedTake) -> Iterator[str]:
    """Yield what mimegen render leaves out of an untrimmed recording, since it trims by default.

    Two people are cut to a common span, so nothing is said of them.
    """
    if own.options.trim.kind != "none" or own.performers > 1:
        return
    [recording] = own.recordings
    motion = recording.motion
    kept = trim_bounds(motion, recording.roles)
    if kept.reasons:
        yield (f"{own.file.name}: mimegen render keeps {kept.first / motion.fps:.2f} to"
               f" {kept.last / motion.fps:.2f} s and leaves out {', '.join(kept.reasons)}; add"
               " --trim auto to draw only this, or give render --trim none to keep everything")


def _write_clip(scene: DrawnScene, angle: float, out: Path) -> None:
    motion, size = scene.performances[0].motion, (scene.config.width, scene.config.height)
    pictures = (picture for picture, in drawn(scene, [angle], range(motion.frames)))
    write_pictures(pictures, size, motion.fps, out)


def _write_sheet(scene: DrawnScene, angle: float, frames: int, out: Path) -> None:
    packed = io.BytesIO()
    small = DrawnScene(scene.performances, scene.background, _small(scene.config))
    drawn_sheet(small, angle, frames).save(packed, "PNG")
    publish(out, packed.getvalue())


def _small(config: RenderConfig) -> RenderConfig:
    return config.model_copy(update=dict(zip(("width", "height"), SHEET_SIZE, strict=True)))
