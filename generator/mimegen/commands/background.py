"""``mimegen background``: look at backgrounds, and add photographs of your own."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from PIL import Image

from mimegen.base.blender import require_blender
from mimegen.base.errors import RequestError
from mimegen.base.files import publish, scratch_folder
from mimegen.characters.character import Character
from mimegen.commands.common import DONE, exits_cleanly, library_option, warn
from mimegen.compositing.background import Background, Panorama, Picture
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.photos import collections
from mimegen.library.photos.adding import Credits, add_background, check_library, place_for
from mimegen.library.photos.collections import FreePhoto
from mimegen.library.photos.fetching import fetched, found_photos, name_of
from mimegen.library.photos.guess import (
    HIGHEST_M,
    LOWEST_M,
    Known,
    Said,
    corners,
    floating_risk,
    guess_camera,
    guess_panorama,
    sun_of,
)
from mimegen.library.photos.opening import LARGEST_PANORAMA, open_photo
from mimegen.library.photos.web import Web
from mimegen.library.places import place
from mimegen.pages.backgroundsheet import (
    angles_behind_walls,
    background_sheet,
    drawn_background_sheet,
)
from mimegen.pages.drawn import opengl_is_here
from mimegen.pages.photosheet import photo_sheet
from mimegen.stage.auto import choose_device
from mimegen.stage.config import RenderConfig, read_config
from mimegen.stage.scenery.standing import blocks_the_performer

_FILE = click.Path(path_type=Path)


@click.group("background")
def background_command() -> None:
    """Look at backgrounds, and add photographs of your own."""


@background_command.command("preview")
@click.argument("name", metavar="NAME|FILE")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG",
              help="Where to write the picture.  [default: NAME.png, here]")
@click.option("--character", default="man", show_default=True, metavar="NAME|FILE|random:SEED",
              help="Who stands there.")
@click.option("--config", metavar="NAME|FILE",
              help="Whose camera and light.  [default: draft; preview where there is no OpenGL]")
@click.option("--device", default="auto", show_default=True, metavar="NAME",
              help="As of mimegen render.")
@click.option("--seed", type=click.IntRange(0, 999_999_999), metavar="N",
              help="Another set of its kind, as NAME:N is in a variant.")
@library_option
@exits_cleanly
def preview_command(name: str, target: Path | None, character: str, config: str | None, device: str,
                    seed: int | None, libraries: tuple[Path, ...]) -> int:
    """Show a set or picture from four sides with a person standing in it, in seconds."""
    catalogue = Catalogue.with_libraries(libraries)
    background = place(_background_file(catalogue, name), seed)
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
    _write(target, sheet)
    click.echo(f"{target}: {background.description}")
    if background.picture and (risk := floating_risk(background.picture)):
        click.echo(f"  {risk}; say in its file where they can stand (ground)", err=True)
    if background.set and blocks_the_performer(background.set):
        click.echo("  something stands where the performer does, at the set's origin; move it, or"
                   " say performer_at in its file", err=True)
    if hidden := angles_behind_walls(background, person, settings):
        click.echo(f"  a wall stands before the performer from {', '.join(hidden)}; move it, or say"
                   " its corners the other way round: counter-clockwise seen from inside", err=True)
    return DONE


def _background_file(catalogue: Catalogue, name: str) -> Path:
    """Return a background's file; who names a photograph is told how to make one of it."""
    file = catalogue.file("background", name)
    if file.suffix.lower() in Image.registered_extensions():
        raise RequestError(f"{file}: is a picture, and a background is a YAML file about one;"
                           " mimegen background add writes it")
    return file


def _write(target: Path, sheet: Image.Image) -> None:
    packed = io.BytesIO()
    sheet.save(packed, "PNG")
    publish(target, packed.getvalue())


@background_command.command("add")
@click.argument("photo", type=_FILE)
@click.option("--name", required=True, metavar="N", help="What the background is called.")
@click.option("--licence", required=True, metavar="L", help="The photograph's licence.")
@click.option("--author", required=True, metavar="A", help="Who took it.")
@click.option("--source", default="own photograph", show_default=True, metavar="TEXT|URL",
              help="Where it comes from.")
@click.option("--description", metavar="TEXT", help="What it shows, in a few words.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR", type=_FILE,
              help="Your own library; made where there is none.")
@click.option("--horizon", type=click.FloatRange(0, 1, max_open=True), metavar="ROW",
              help="The row of the horizon, as a share of the height.  [default: found]")
@click.option("--camera-height", type=click.FloatRange(LOWEST_M, HIGHEST_M), metavar="METRES",
              help="How high above the ground it was taken.  [default: 1.6]")
@click.option("--known-height", metavar="TOP:FOOT=METRES",
              help="The pixel rows of the top and foot of a person or a door, and its height.")
@click.option("--ground", metavar="X,Y ...",
              help="Three or more corners of the ground where people can stand, as shares of width"
                   " and height.  [default: all below the horizon]")
@click.option("--panorama", is_flag=True,
              help="It goes all around (equirectangular), and serves all angles.")
@click.option("--harmonise", is_flag=True,
              help="Measure its light, which figures then follow with render --light place.")
@click.option("--sun", metavar="AZIMUTH,ELEVATION",
              help="With --harmonise: from where its sun comes, seen from the camera; 0 is from"
                   " behind it, 90 from its right, and shadows fall the other way.")
@click.option("--picture", type=_FILE, metavar="PNG",
              help="Where the guess is shown.  [default: NAME_guess.png, here]")
@click.option("--yes", is_flag=True, help="Write it without asking.")
@exits_cleanly
def add_command(photo: Path, library: Path, picture: Path | None, yes: bool, panorama: bool,
                horizon: float | None, camera_height: float | None, known_height: str | None,
                ground: str | None, harmonise: bool, sun: str | None, **credits: Any) -> int:
    """Add a photograph to your own library: find its camera, show the guess, ask, write."""
    told = Credits(**credits)
    told.check()
    file = place_for(library, told.name)
    if told.name in Catalogue.with_libraries(()).backgrounds:
        click.echo(f"{told.name} comes with mimegen, too; with --library {library} yours is meant",
                   err=True)
    picture = picture or Path(f"{told.name}_guess.png")
    said = Said(horizon, camera_height, None if known_height is None else Known.of(known_height),
                None if ground is None else corners(ground), harmonise,
                None if sun is None else sun_of(sun))
    show: Callable[..., tuple[Image.Image, Picture | Panorama]] = (
        _shown_panorama if panorama else _shown_picture)
    image, shown = show(photo, said, picture)
    if not yes and not _confirmed(picture):
        click.echo("nothing was written")
        return DONE
    add_background(file, image, shown, told)
    click.echo(f"{file}: say --library {library} and +{told.name}@0 in a variant")
    return DONE


@background_command.command("fetch")
@click.option("--commons", metavar="QUERY", help="Search Wikimedia Commons.")
@click.option("--openverse", metavar="QUERY", help="Search Openverse.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(1, 50), metavar="N",
              help="How many photographs to add.")
@click.option("--library", required=True, envvar="MIMEGEN_LIBRARY", metavar="DIR", type=_FILE,
              help="Your own library; made where there is none.")
@click.option("--contact", envvar="MIMEGEN_CONTACT", default="", metavar="EMAIL|URL",
              help="How the collection may reach you, which Wikimedia's policy asks of programs.")
@click.option("--pictures", type=_FILE, default=Path(), metavar="DIR",
              help="Where the guesses are shown.  [default: here]")
@click.option("--yes", is_flag=True, help="Write them without asking.")
@exits_cleanly
def fetch_command(commons: str | None, openverse: str | None, count: int, library: Path,
                  contact: str, pictures: Path, yes: bool) -> int:
    """Add free photographs of a collection, with author, licence and address.

    Public domain, CC0, CC BY and CC BY-SA alone. Those that are no use as a background are passed
    over, and it says why.
    """
    if (commons is None) == (openverse is None):
        raise RequestError("say either --commons QUERY or --openverse QUERY")
    query = commons or openverse or ""
    if not query.strip():
        raise RequestError("--commons, --openverse: say words to search for, as in 'empty park'")
    check_library(library)
    search = collections.commons if commons is not None else collections.openverse
    web, added = Web(contact), 0
    with scratch_folder() as folder:
        for photo in found_photos(search, web, query):
            added += _added(photo, web, folder, library, pictures, yes)
            if added == count:
                return DONE
    if not added:
        raise RequestError(f"{query}: no free photograph that will do was found; say it in other"
                           " words")
    click.echo(f"no more than {added} of {count} were found")
    return DONE


def _added(photo: FreePhoto, web: Web, folder: Path, library: Path, pictures: Path, yes: bool
           ) -> bool:
    """Add one photograph that was found, unless it will not do or is not wanted."""
    name = name_of(photo)
    picture = pictures / f"{name}_guess.png"
    try:
        file = place_for(library, name)
        click.echo(f"{photo.title}, by {photo.author}, {photo.licence}")
        image, shown = _shown_picture(fetched(photo, web, folder), Said(), picture)
    except RequestError as problem:
        click.echo(f"  passed over: {problem}")
        return False
    if not yes and not _confirmed(picture):
        return False
    add_background(file, image, shown, Credits(name, photo.licence, photo.author, photo.page,
                                               photo.title))
    click.echo(f"{file}: say --library {library} and +{name}@0 in a variant")
    return True


def _shown_picture(photo: Path, said: Said, target: Path) -> tuple[Image.Image, Picture]:
    """Show the guess of a photograph's camera; return the photograph and what is guessed."""
    guess = guess_camera(open_photo(photo), said)
    click.echo(f"horizon {guess.horizon:.3f}, camera {guess.camera_height_m:.2f} m high, looking"
               f" {'down' if guess.view.pitch_deg >= 0 else 'up'} by"
               f" {abs(guess.view.pitch_deg):.1f} degrees, {guess.field_of_view_deg:.0f} degrees"
               " across")
    for reason in guess.reasons:
        click.echo(f"  {reason}")
    shown = guess.picture()
    if risk := floating_risk(shown):
        click.echo(f"  {risk}; say where they can stand (--ground)", err=True)
    if shown.light is not None:
        click.echo("  light {:.2f} {:.2f} {:.2f} times the usual red, green and blue".format(
            *shown.light.tint))
    _show(target, lambda: photo_sheet(guess, *_man_and_draft(), shown.light))
    return guess.photo.image, shown


def _shown_panorama(photo: Path, said: Said, target: Path) -> tuple[Image.Image, Panorama]:
    """Show a panorama from four sides; return it and what is said of it."""
    if said != Said(camera_height_m=said.camera_height_m):
        raise RequestError("--panorama has its horizon in the middle, ground all around and light"
                           " from everywhere; say --camera-height alone")
    opened = open_photo(photo, LARGEST_PANORAMA)
    panorama = guess_panorama(opened, said.camera_height_m)
    click.echo(f"camera {panorama.camera_height_m:.2f} m high, all around")
    seen = Background(name=photo.stem, description="", licence="", author="", source="",
                      panorama=panorama).with_file(photo)
    _show(target, lambda: drawn_background_sheet(seen, *_man_and_draft()))
    return opened.image, panorama


def _man_and_draft() -> tuple[Character, RenderConfig]:
    catalogue = Catalogue.with_libraries(())
    return (cast_member(catalogue, "man").build(),
            read_config(catalogue.file("config", "draft")))


def _show(target: Path, sheet: Callable[[], Image.Image]) -> None:
    """Write the picture of a guess; without OpenGL say that there is none."""
    if not opengl_is_here():
        click.echo("  no picture of it: there is no OpenGL here")
        return
    _write(target, sheet())
    click.echo(f"{target}: a man of 1.78 m stands in it; the line is the horizon")


def _confirmed(picture: Path) -> bool:
    """Ask whether the guess is right; without anybody to ask, say how to go on."""
    if not sys.stdin.isatty():
        raise RequestError(f"look at {picture}, and say --yes if it is right, or else --horizon"
                           " ROW, --camera-height METRES or --known-height TOP:FOOT=METRES")
    return click.confirm("Does the man stand there at his true size? Write it?", default=False)
