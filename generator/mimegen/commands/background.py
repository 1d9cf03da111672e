"""``mimegen background``: look at backgrounds, your own above all."""

import io
from pathlib import Path

import click

from mimegen.base.files import publish
from mimegen.commands.common import DONE, exits_cleanly, library_option
from mimegen.compositing.background import read_background
from mimegen.library.cast import cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.pages.backgroundsheet import background_sheet, drawn_background_sheet
from mimegen.pages.drawn import opengl_is_here
from mimegen.stage.auto import choose_device
from mimegen.stage.config import read_config


@click.group("background")
def background_command() -> None:
    """Look at backgrounds."""


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
@library_option
@exits_cleanly
def preview_command(name: str, target: Path | None, character: str, config: str | None, device: str,
                    libraries: tuple[Path, ...]) -> int:
    """Show a set or picture from four sides with a person standing in it, in seconds."""
    catalogue = Catalogue.with_libraries(libraries)
    background = read_background(catalogue.file("background", name))
    chosen = config or ("draft" if opengl_is_here() else "preview")
    settings = read_config(catalogue.file("config", chosen))
    person = cast_member(catalogue, character).build()
    if settings.engine == "raster":
        sheet = drawn_background_sheet(background, person, settings)
    else:
        seat, = choose_device(device).seats(1)
        sheet = background_sheet(background, person, settings, seat)
    packed = io.BytesIO()
    sheet.save(packed, "PNG")
    target = target or Path(f"{background.name}.png")
    publish(target, packed.getvalue())
    click.echo(f"{target}: {background.description}")
    return DONE
