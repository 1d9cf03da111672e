"""``mimegen pointlight``: show an action, a take or a mocap file as moving dots."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError, near_misses
from mimegen.commands.common import (
    DONE,
    blender_option,
    exits_cleanly,
    library_option,
    refuse_given,
    warn,
)
from mimegen.commands.conditions import (
    Condition,
    azimuths_of,
    conditions_of,
    with_shared_masks,
)
from mimegen.commands.dotmotions import NOT_STATED, Motions, StatedFacts
from mimegen.commands.gait import walker_of, walker_options
from mimegen.commands.grid import Combination, cells_of
from mimegen.commands.grouped import Grouped
from mimegen.commands.reading import reading_options
from mimegen.hands.compiling import HandName
from mimegen.library.catalogue import Catalogue
from mimegen.manifest.row import UPRIGHT, Row
from mimegen.plan.front import CameraDirection
from mimegen.pointlight.manipulations import MANIPULATIONS
from mimegen.pointlight.scenes import chosen_set
from mimegen.pointlight.spec import Display, changed
from mimegen.pointlight.stimulus import DotScene, make_stimulus
from mimegen.production.differing_levels import duration_warnings, presence_warnings
from mimegen.production.displays import (
    FORMATS,
    WRITERS,
    check_target,
    write_display,
)
from mimegen.production.trials import write_trials
from mimegen.production.unequal_displays import (
    height_warning,
    length_warning,
    shown_height_warning,
    view_warning,
)
from mimegen.readers import ReadOptions
from mimegen.request.render_request import GAIT

# The action of --walker without further options.
WALK = "walk"
STANDARD = "standard"
IN_PLACE: dict[str, Any] = {"treadmill": True, "cycles": 1.0}

# Options that state what a file shows and how to read it.
OF_FILES = ("labels", "group", "licence", "trim", "subject", "stack", "mapping", "skeleton",
            "fps_of_file", "smpl_model")
HEADINGS = {
    "Input and output": (
        "actions", "take", "seed", "hand", "partner", "character", "libraries", "blender", "out",
        "formats"),
    "The walker, and other gaits": ("walker", "affect", "grid", *GAIT),
    "The dots": (
        "name", "manipulations", "conditions", "dots", "add", "style", "dots_seed", "dot_diameter",
        "color",
        "color_by", "contrast", "polarity", "occlusion"),
    "The picture": (
        "size", "fps", "start", "duration", "figure_height", "background", "projection",
        "azimuths", "elevation_deg"),
    "The screen, for sizes in degrees": ("distance_cm", "pixel_pitch_mm", "pixels_per_degree"),
    "Your own motion capture": OF_FILES,
}


@click.command("pointlight", cls=Grouped, headings=HEADINGS,
               context_settings={"show_default": False})
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("--action", "actions", metavar="A[,B]|all", help="Actions to show instead of FILE, by"
                                                               " id, label or alias.")
@click.option("--walker", is_flag=True,
              help="Show a walker in whole cycles, on a treadmill by default; the display loops"
                   " seamlessly.")
@click.option("--affect", metavar="NAME",
              help="Affect of a gait: neutral, angry, happy, sad or afraid.")
@click.option("--grid", metavar="NAME=A,B[;NAME=C,D]",
              help="Show every combination of these values, with one trial list: options of the"
                   " walker, manipulations as in inverted=no,yes, settings of the display, and"
                   " partner=own,ACTION.")
@click.option("--take", metavar="T", help="Take of the action.  [default: the first]")
@click.option("--hand", type=click.Choice(get_args(HandName)),
              help="Hand of hand actions, letters and hand shapes.  [default: drawn by the seed]")
@click.option("--partner", type=click.Path(path_type=Path), metavar="FILE|ACTION",
              help="Motion file of a second person recorded together with FILE. With --action:"
                   " another action, whose partner or only person replaces the second of two.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE|DIR",
              help=f"Output: a file ({' '.join(WRITERS)}), or a folder for all of them and every"
                   " frame.")
@click.option("--display", "--preset", "name", default=STANDARD, show_default=True,
              metavar="NAME|FILE", help="Display preset, a name (mimegen list displays) or a YAML"
                                        " file.")
@click.option("--formats", metavar="F[,F]|all", default="all",
              help="Formats to write into a folder beside MP4, CSV and the manifest:"
                   f" {', '.join(FORMATS)}, or none.  [default: all]")
@click.option("-m", "--manipulate", "manipulations", multiple=True,
              metavar="NAME[=VALUE][/KEY=VALUE]",
              help="Manipulation of the dots, applied in the order given; may be repeated:"
                   f" {', '.join(MANIPULATIONS)}. /who=2 changes only the second of two people.")
@click.option("--conditions", metavar="C[,C]",
              help=f"Conditions to show of each motion, with one trial list: {UPRIGHT}, or words"
                   " joined by colons as in variants: inverted:masked=40.")
@click.option("--dots", metavar="SET|NAMES",
              help="Dots to show: a dot set (mimegen list dots), landmarks, or labels of a C3D"
                   " file.")
@click.option("--add", metavar="NAMES", help="Landmarks to add to the dot set.")
@click.option("--style", type=click.Choice(["dots", "stick", "silhouette"]),
              help="Drawing style: dots, a stick figure or a silhouette.")
@click.option("--size", metavar="WxH", help="Width and height of the picture in pixels.")
@click.option("--fps", type=float, help="Frame rate of the display.")
@click.option("--start", type=float, help="Start of the display in seconds of the motion.")
@click.option("--duration", type=float, help="Length of the display in seconds.")
@click.option("--dot-diameter", metavar="PX|DEG", help="Diameter of a dot, as in 7px or 0.15deg.")
@click.option("--figure-height", metavar="PX|DEG", help="Height of a standing performer, as in"
                                                        " 300px or 5deg.")
@click.option("--distance", "distance_cm", type=float, help="Viewing distance from eye to screen in"
                                                            " cm.")
@click.option("--pixel-pitch", "pixel_pitch_mm", type=float, help="Size of a screen pixel in mm.")
@click.option("--pixels-per-degree", type=float, help="Pixels per degree of visual angle, instead"
                                                      " of --distance and --pixel-pitch.")
@click.option("--contrast", type=float, help="Contrast of dots with the background, 0 to 1.")
@click.option("--polarity", type=click.Choice(["light", "dark", "mixed"]),
              help="Brightness of the dots relative to the background.")
@click.option("--color", metavar="COLOR", help="Color of the dots, as in white or #ff8000.")
@click.option("--background", metavar="COLOR", help="Color of the background.")
@click.option("--color-by", type=click.Choice(["none", "performer", "dot"]),
              help="Assignment of colors: one for all, one for each performer or one for each dot.")
@click.option("--projection", type=click.Choice(["orthographic", "perspective"]),
              help="Projection of the camera.")
@click.option("--azimuth", "azimuths", metavar="A[,A]",
              help="Viewing directions in degrees from the performer's front (90 is at the"
                   " performer's left), or front, left, back, right.  [default: the display's own;"
                   " front for --walker]")
@click.option("--elevation", "elevation_deg", type=float,
              help="Elevation of the camera in degrees.")
@click.option("--occlusion", type=click.Choice(["none", "body"]),
              help="Occlusion of dots: none, or by the body in front of them.")
@click.option("--character", metavar="NAME|FILE|random:SEED",
              help="Character whose body hides dots or is drawn as a silhouette; the dots are"
                   " then at its joints.")
@click.option("--seed", default=0, type=click.IntRange(min=0), help="Random seed of the take.")
@click.option("--dots-seed", default=0, type=click.IntRange(min=0),
              help="Random seed of the display.")
@click.option("--label", "labels", multiple=True, metavar="TEXT",
              help="Label of what FILE shows, a correct answer to questions; may be repeated."
                   "  [default: the file's name]")
@click.option("--group", metavar="NAME",
              help="Semantic group of what FILE shows, such as 'combat sport' (mimegen list"
                   " groups). Questions take no wrong answers from the same group.")
@click.option("--licence", default=NOT_STATED, show_default=True, metavar="TEXT",
              help="Licence of FILE, written to the manifest.")
@walker_options
@library_option
@blender_option
@exits_cleanly
@reading_options("auto")
def pointlight_command(
    file: Path | None, actions: str | None, take: str | None, partner: Path | None, out: Path,
    name: str, manipulations: tuple[str, ...], conditions: str | None, azimuths: str | None,
    add: str | None, size: str | None,
    character: str | None, seed: int, dots_seed: int, libraries: tuple[Path, ...],
    reading: ReadOptions, walker: bool, affect: str | None, grid: str | None,
    hand: HandName | None, formats: str, labels: tuple[str, ...], group: str | None,
    licence: str, **options: Any,
) -> int:
    """Make point-light displays of actions, walkers and files."""
    actions = actions or (WALK if walker else None)
    if (file is None) == (actions is None):
        raise RequestError("expected a motion capture FILE, --action NAME or --walker")
    if file is None:
        refuse_given(OF_FILES, "requires a motion capture FILE")
    else:
        refuse_given(("affect", "hand", *GAIT), "requires --action or --walker")
    gait = (IN_PLACE if walker else {}) | walker_of(options)
    catalogue = Catalogue.with_libraries(libraries)
    width, height = _size(size)

    def with_options(preset: Display) -> Display:
        return changed(preset, **options, width=width, height=height,
                       add=tuple(add.split(",")) if add else None,
                       manipulations=(*preset.manipulations, *manipulations))

    wanted = _wanted(grid, conditions, name, with_options)
    if walker and azimuths is None and name == STANDARD and not _has_azimuths(wanted):
        azimuths = "front"
    views = azimuths_of(azimuths)
    check_target(out)
    chosen_formats = _formats(formats, out)
    _check_room(out, len(wanted) * len(views))
    if file is None:
        for _, one in wanted:
            chosen_set(one.display)
    motions = Motions(catalogue, file, actions, take, partner, seed, character, out, reading,
                       walker, affect, hand, StatedFacts(labels, group, licence))
    varying = {"condition": conditions is not None and len(wanted) > 1,
               "azimuth": len(views) > 1}
    trials = [trial for cell, one in wanted
              for asked in [{**gait, **cell.gait}]
              for scene in motions.scenes(one.display, asked, cell.partner)
              for trial in _trials(scene, one, cell, views, float(asked.get("direction", 0.0)),
                                   varying)]
    if file is not None:
        _warn_of_doubts(file, trials)
    displays = with_shared_masks(
        [trial.display for trial in trials],
        lambda number: make_stimulus(trials[number].scene, trials[number].display, dots_seed))
    made = set()
    for trial, display in zip(trials, displays, strict=True):
        row = write_display(make_stimulus(trial.scene, display, dots_seed), out,
                            chosen_formats)
        made.add(row.sample_id)
        _show(row)
    if not out.suffix:
        _list_trials(out, None if grid is None else made, azimuths is not None)
    return DONE


def _formats(text: str, out: Path) -> Collection[str]:
    """Return the formats that a folder gets. Raises RequestError for unknown ones, and for a file.
    """
    if text == "all":
        return FORMATS
    if out.suffix:
        raise RequestError(f"--formats {text}: --out {out} is one file, whose ending is its format")
    names = [] if text == "none" else [name.strip().lower() for name in text.split(",")]
    for name in names:
        if name not in (*FORMATS, "mp4", "csv"):
            raise RequestError(f"--formats {name}: no such format{near_misses(name, FORMATS)}")
    return names


def _list_trials(out: Path, names: Collection[str] | None, sides_chosen: bool) -> None:
    """Write the trial list of a folder; a grid's list contains only its own displays.

    Warnings tell if its figures differ in height, or unless ``sides_chosen`` in the side shown, and
    if a delay changes lengths, or presence of dots or duration can give a factor's value away.
    """
    listed = write_trials(out, names)
    click.echo(f"trials     {listed.path}")
    if listed.left_out:
        others = counted(listed.left_out, "other display")
        click.echo(f"mimegen: {others} in {out} left out of {listed.path.name}, which lists this"
                   " grid alone", err=True)
    delayed = length_warning(listed.rows)
    durations = [delayed] if delayed else duration_warnings(listed.rows)
    for unequal in (height_warning(listed.rows), shown_height_warning(listed.rows),
                    None if sides_chosen else view_warning(listed.rows),
                    *presence_warnings(listed.rows), *durations):
        if unequal:
            warn(unequal)


def _wanted(grid: str | None, conditions: str | None, name: str,
            options: Callable[[Display], Display]) -> list[tuple[Combination, Condition]]:
    """Return every condition of every cell of the grid."""
    if grid is not None and conditions is not None:
        raise RequestError("--grid and --conditions are mutually exclusive; a grid has conditions"
                           " of its own, as in inverted=no,yes")
    try:
        return [(cell, one) for cell in cells_of(grid)
                for one in conditions_of(cell.condition or conditions, name, options)]
    except RequestError as problem:
        if grid is None:
            raise
        raise RequestError(str(problem).replace("--conditions", "--grid")) from problem


def _has_azimuths(wanted: Sequence[tuple[Combination, Condition]]) -> bool:
    return any("azimuth" in cell.values for cell, _ in wanted)


def _check_room(out: Path, displays: int) -> None:
    if out.suffix and displays > 1:
        raise RequestError(f"--out {out}: several conditions or azimuths need a folder; leave out"
                           " the file name's ending")


@dataclass(frozen=True)
class _Trial:
    """One display of a set, seen from one side."""

    scene: DotScene
    display: Display


def _trials(scene: DotScene, condition: Condition, cell: Combination,
            views: Sequence[CameraDirection | None], direction_deg: float,
            varying: Mapping[str, bool]) -> Iterator[_Trial]:
    """Yield a scene in a condition from every side.

    A walker's direction turns the walker and not the camera: sides are those of direction 0.
    ``varying`` tells whether the set varies its condition and its azimuth outside a grid.
    """
    name = cell.name or condition.name
    values = dict(cell.values) | ({"condition": name} if varying["condition"] else {})
    for view in views:
        display, own = condition.display, values
        if view is not None:
            # Markers have no known front, so 0 is used.
            front = float(scene.facts.get("front_azimuth_deg") or 0) - direction_deg
            display = changed(display, azimuth_deg=(front + view.degrees) % 360)
            own = values | ({"azimuth": view.degrees} if varying["azimuth"] else {})
        facts = {"condition": name, **({"grid": own} if own else {})}
        yield _Trial(replace(scene, facts=scene.facts | facts), display)


def _warn_of_doubts(file: Path, trials: Sequence[_Trial]) -> None:
    """Print once the assumptions and doubts from reading the file."""
    for notes in dict.fromkeys("; ".join(trial.scene.facts["motion_notes"]) for trial in trials):
        if notes:
            warn(f"{file.name}: {notes}")


def _show(row: Row) -> None:
    click.echo(f"{row.sample_id}: {row.frames} frames, {row.dot_count} dots")
    if row.dots_outside_share:
        click.echo(f"mimegen: {row.sample_id}: {row.dots_outside_share:.1%} of the dots lie outside"
                   " the picture", err=True)


def _size(size: str | None) -> tuple[int | None, int | None]:
    if size is None:
        return None, None
    width, _, height = size.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise RequestError(f"--size {size}: expected width and height in pixels, as 512x512")
    return int(width), int(height)
