"""``mimegen background``: preview backgrounds, and add your own photographs."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from PIL import Image

from mimegen.base.blender import require_blender
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.characters.character import Character
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    library_option,
    replaced,
    warn,
)
from mimegen.compositing.background import Background, Panorama, Picture
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.photos.adding import Credits, add_background, place_for
from mimegen.library.photos.guess import (
    HIGHEST_M,
    LOWEST_M,
    CameraHints,
    KnownHeight,
    corners,
    floating_risk,
    guess_camera,
    guess_panorama,
    sun_of,
)
from mimegen.library.photos.opening import LARGEST_PANORAMA, open_photo
from mimegen.library.places import load_background
from mimegen.pages.backgroundsheet import (
    angles_behind_walls,
    background_sheet,
    drawn_background_sheet,
)
from mimegen.pages.drawn import opengl_is_here
from mimegen.pages.photosheet import photo_sheet
from mimegen.rendering.auto import choose_device
from mimegen.scenery.standing import blocks_the_performer
from mimegen.shots.config import RenderConfig, read_config

_FILE = click.Path(path_type=Path)


@click.group("background")
def background_command() -> None:
    """Preview backgrounds and add photographs as backgrounds."""


@background_command.command("preview")
@click.argument("name", metavar="NAME|FILE")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG",
              help="PNG file to write.  [default: NAME.png in the current folder]")
@click.option("--character", default="man", show_default=True, metavar="NAME|FILE|random:SEED",
              help="Character that stands on the background.")
@click.option("--config", metavar="NAME|FILE",
              help="Render config for the camera and light.  [default: draft, or preview without"
                   " OpenGL]")
@click.option("--device", default="auto", show_default=True, metavar="NAME",
              help="Device that renders: optix, cuda, hip, oneapi, metal or cpu.")
@click.option("--seed", type=click.IntRange(0, 999_999_999), metavar="N",
              help="Random seed of the set, as in NAME:N of a variant.")
@library_option
@blender_option
@exits_cleanly
def preview_command(name: str, target: Path | None, character: str, config: str | None, device: str,
                    seed: int | None, libraries: tuple[Path, ...]) -> int:
    """Draw a background from four sides with a person standing on it."""
    catalogue = Catalogue.with_libraries(libraries)
    background = load_background(_background_file(catalogue, name), seed)
    chosen = config or ("draft" if opengl_is_here() else "preview")
    settings = read_config(catalogue.file("config", chosen))
    person = cast_member(catalogue, character).build()
    if settings.engine == "raster":
        sheet = drawn_background_sheet(background, person, settings)
    else:
        require_blender(f"--config {chosen}")
        seat, = choose_device(device, warn).seats(1)
        sheet = background_sheet(background, person, settings, seat)
    target = target or Path(f"{background.name}{'' if seed is None else f'_{seed}'}.png")
    earlier = replaced(target)
    _write(target, sheet)
    click.echo(f"{target}: {background.description}{earlier}")
    if background.picture and (risk := floating_risk(background.picture)):
        click.echo(f"  {risk}; set ground in its file to the area where people can stand", err=True)
    if background.set and blocks_the_performer(background.set):
        click.echo("  an object stands at the set's origin, where the performer stands; move it, or"
                   " set performer_at in the set's file", err=True)
    if hidden := angles_behind_walls(background, person, settings):
        click.echo(f"  a wall hides the performer at {', '.join(hidden)}; move it, or list its"
                   " corners counter-clockwise as seen from inside the room", err=True)
    return DONE


def _background_file(catalogue: Catalogue, name: str) -> Path:
    """Return a background's file. Raises RequestError for a picture, saying how to add it."""
    file = catalogue.file("background", name)
    if file.suffix.lower() in Image.registered_extensions():
        raise RequestError(f"{file}: expected the YAML file of a background, found a picture; run"
                           " mimegen background add to make a background of it")
    return file


def _write(target: Path, sheet: Image.Image) -> None:
    packed = io.BytesIO()
    sheet.save(packed, "PNG")
    publish(target, packed.getvalue())


@background_command.command("add")
@click.argument("photo", type=_FILE)
@click.option("--name", required=True, metavar="N", help="Name of the new background.")
@click.option("--licence", required=True, metavar="L", help="Licence of the photograph.")
@click.option("--author", required=True, metavar="A", help="Author of the photograph.")
@click.option("--source", default="own photograph", show_default=True, metavar="TEXT|URL",
              help="Source of the photograph, such as its web address.")
@click.option("--description", metavar="TEXT", help="Short description of what the photograph"
                                                    " shows.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR", type=_FILE,
              help="Your own library folder; created if it does not exist.")
@click.option("--horizon", type=click.FloatRange(0, 1, max_open=True), metavar="ROW",
              help="Row of the horizon as a fraction of the image height.  [default: estimated]")
@click.option("--camera-height", type=click.FloatRange(LOWEST_M, HIGHEST_M), metavar="METRES",
              help="Height of the camera above the ground in metres.  [default: 1.6]")
@click.option("--known-height", metavar="TOP:FOOT=METRES",
              help="Pixel rows of the top and the foot of a person or a door, and its height in"
                   " metres.")
@click.option("--ground", metavar="X,Y ...",
              help="Three or more corners of the ground where people can stand, as fractions of"
                   " width and height.  [default: everything below the horizon]")
@click.option("--panorama", is_flag=True,
              help="Treat the photograph as an equirectangular panorama, valid for all camera"
                   " angles.")
@click.option("--harmonise", is_flag=True,
              help="Measure the light of the photograph, so that render --light place can match"
                   " figures to it.")
@click.option("--sun", metavar="AZIMUTH,ELEVATION",
              help="With --harmonise: direction of the sun in degrees, seen from the camera."
                   " Azimuth 0 is behind the camera and 90 at its right; shadows fall the other"
                   " way.")
@click.option("--picture", type=_FILE, metavar="PNG",
              help="PNG file for the preview of the estimated camera.  [default: NAME_guess.png in"
                   " the current folder]")
@click.option("--yes", is_flag=True, help="Write the background without asking.")
@exits_cleanly
def add_command(photo: Path, library: Path, picture: Path | None, yes: bool, panorama: bool,
                horizon: float | None, camera_height: float | None, known_height: str | None,
                ground: str | None, harmonise: bool, sun: str | None, **credits: Any) -> int:
    """Add a photograph to your own library as a background.

    Estimates the camera, writes a preview of the estimate and asks before it adds the background.
    """
    credit = Credits(**credits)
    credit.check()
    file = place_for(library, credit.name)
    if credit.name in Catalogue.with_libraries(()).backgrounds:
        click.echo(f"{credit.name} is also the name of a background of mimegen; --library {library}"
                   " selects yours",
                   err=True)
    picture = picture or Path(f"{credit.name}_guess.png")
    hints = CameraHints(horizon, camera_height,
                        None if known_height is None else KnownHeight.of(known_height),
                        None if ground is None else corners(ground), harmonise,
                        None if sun is None else sun_of(sun))
    show: Callable[..., tuple[Image.Image, Picture | Panorama]] = (
        _shown_panorama if panorama else _shown_picture)
    image, shown = show(photo, hints, picture)
    if not yes and not _confirmed(picture):
        click.echo("nothing written")
        return DONE
    add_background(file, image, shown, credit)
    click.echo(f"{file}: use it with --library {library} and a variant such as"
               f" base+{credit.name}@0")
    return DONE


def _shown_picture(photo: Path, hints: CameraHints, target: Path) -> tuple[Image.Image, Picture]:
    """Show the estimated camera of a photograph; return the photograph and the estimate."""
    guess = guess_camera(open_photo(photo), hints)
    click.echo(f"horizon {guess.horizon:.3f}, camera {guess.camera_height_m:.2f} m high, tilted"
               f" {'down' if guess.view.pitch_deg >= 0 else 'up'} by"
               f" {abs(guess.view.pitch_deg):.1f} degrees, field of view"
               f" {guess.field_of_view_deg:.0f} degrees")
    for reason in guess.reasons:
        click.echo(f"  {reason}")
    shown = guess.picture()
    if risk := floating_risk(shown):
        click.echo(f"  {risk}; mark the area where people can stand with --ground", err=True)
    if shown.light is not None:
        click.echo("  light {:.2f} {:.2f} {:.2f} times the default red, green and blue".format(
            *shown.light.tint))
    _show(target, lambda: photo_sheet(guess, *_man_and_draft(), shown.light))
    return guess.photo.image, shown


def _shown_panorama(photo: Path, hints: CameraHints, target: Path) -> tuple[Image.Image, Panorama]:
    """Show a panorama from four sides; return it with its estimated camera."""
    if hints != CameraHints(camera_height_m=hints.camera_height_m):
        raise RequestError("--panorama can only be combined with --camera-height: its horizon is in"
                           " the middle, and it has ground and light on all sides")
    opened = open_photo(photo, LARGEST_PANORAMA)
    panorama = guess_panorama(opened, hints.camera_height_m)
    click.echo(f"camera {panorama.camera_height_m:.2f} m high, full panorama")
    seen = Background(name=photo.stem, description="", licence="", author="", source="",
                      panorama=panorama).with_file(photo)
    _show(target, lambda: drawn_background_sheet(seen, *_man_and_draft()))
    return opened.image, panorama


def _man_and_draft() -> tuple[Character, RenderConfig]:
    catalogue = Catalogue.with_libraries(())
    return (cast_member(catalogue, "man").build(),
            read_config(catalogue.file("config", "draft")))


def _show(target: Path, sheet: Callable[[], Image.Image]) -> None:
    """Write the picture of an estimate; without OpenGL, say that there is none."""
    if not opengl_is_here():
        click.echo("  no preview: OpenGL is not available")
        return
    _write(target, sheet())
    click.echo(f"{target}: preview with a man of 1.78 m; the line is the horizon")


def _confirmed(picture: Path) -> bool:
    """Ask whether the estimate is right. Raises RequestError if nobody can answer."""
    if not sys.stdin.isatty():
        raise RequestError(f"check {picture}, then add --yes if it is right; otherwise correct it"
                           " with --horizon ROW, --camera-height METRES or --known-height"
                           " TOP:FOOT=METRES")
    return click.confirm("Does the man have the right size for where he stands? Write the"
                         " background?", default=False)
