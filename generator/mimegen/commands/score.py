"""``mimegen score``: look at a score, lint it, lay it out, in seconds and without Blender."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from PIL import Image

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.paths import data_file, data_files
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.base.yaml_file import YamlFile, text_of
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.spec import read_character
from mimegen.choreography.checks import missed
from mimegen.choreography.finding import Finding
from mimegen.choreography.formatting import formatted
from mimegen.choreography.front import front_deg
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.commands.angles import ANGLE_HELP, DirectionType
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    exits_cleanly,
    library_option,
    style_option,
)
from mimegen.library.catalogue import SCORE_SUFFIX, Catalogue
from mimegen.library.scene_take import scene_take
from mimegen.motion import Motion, standard_skeleton
from mimegen.pages.drawn import drawing, opengl_is_here
from mimegen.pages.preview import SKY, Sheet, capsule_body, scene_sheet
from mimegen.plan.front import Direction
from mimegen.retarget.transfer import retarget_scene
from mimegen.stage.camera import Camera
from mimegen.stage.config import read_config

CAPSULES = "capsules"
PREVIEW_FPS = 30.0

seed_option = click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
                           help="Another seed is another take.")
in_style = style_option("Any seed in this style.")
stance_option = click.option("--stance", metavar="NAME", help="What a cue is laid over.")


@click.group("score")
def score_command() -> None:
    """Look at scores, lint them and lay them out."""


@score_command.command("preview")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG",
              help="Where to write the sheet.  [default: TAKE.png, here]")
@seed_option
@in_style
@stance_option
@click.option("--body", default=CAPSULES, show_default=True, metavar="NAME",
              help="capsules, or a character such as man (slower).")
@click.option("--frames", default=16, show_default=True, type=click.IntRange(1, 200))
@click.option("--angle", "direction", default="0", show_default=True, type=DirectionType(),
              metavar="DEGREES|SIDE", help=ANGLE_HELP)
@click.option("--focus", default="", metavar="JOINT[,JOINT]",
              help="Joints to look at from near, such as LeftHand,RightHand.")
@library_option
@exits_cleanly
def preview_command(
    file: Path, target: Path | None, seed: int, style: str | None, stance: str | None, body: str,
    frames: int, direction: Direction, focus: str, libraries: tuple[Path, ...],
) -> int:
    """Write a contact sheet of a score or a scene, and print what lint finds."""
    catalogue = Catalogue.with_libraries(libraries)
    score = _score(catalogue, file, stance)
    motions = perform_scene(score, seed, PREVIEW_FPS, style)
    character = _body(catalogue, body)
    azimuth = direction.azimuth(MIME_AZIMUTH_DEG, front_deg(score, seed, style))
    sheet = Sheet(azimuth, focus=_joints(motions[0], focus))
    shown = motions if body == CAPSULES else _on_body(motions, character)
    figures = [(character, motion) for motion in shown]
    target = target or Path(f"{score.take}.png")
    packed = io.BytesIO()
    scene_sheet(figures, frames, sheet, _paint(figures)).save(packed, "png")
    publish(target, packed.getvalue())
    _print_findings(file, [*lint(motions, score, seed, style), *missed(shown, score, seed, style)])
    click.echo(f"{target}: {motions[0].duration:.1f} s")
    return DONE


@score_command.command("lint")
@click.argument("files", type=click.Path(path_type=Path), metavar="FILE...", nargs=-1,
                required=True)
@seed_option
@in_style
@stance_option
@click.option("--body", default=CAPSULES, show_default=True, metavar="NAME",
              help="On whom to look whether what must be seen is there; a character is slower.")
@library_option
@exits_cleanly
def lint_command(files: tuple[Path, ...], seed: int, style: str | None, stance: str | None,
                 body: str, libraries: tuple[Path, ...]) -> int:
    """Print what is wrong with scores and scenes; status 1 where anything is."""
    wrong = 0
    catalogue = Catalogue.with_libraries(libraries)
    character = _body(catalogue, body)
    _refuse_missing(files)
    for file in files:
        try:
            score = _score(catalogue, file, stance)
            motions = perform_scene(score, seed, PREVIEW_FPS, style)
            shown = motions if body == CAPSULES else _on_body(motions, character)
            wrong += _print_findings(file, [*lint(motions, score, seed, style),
                                            *missed(shown, score, seed, style)])
        except RequestError as problem:
            click.echo(str(problem))
            wrong += 1
    click.echo(f"{counted(len(files), 'score')}, {counted(wrong, 'finding')}")
    return SOME_FAILED if wrong else DONE


@score_command.command("format")
@click.argument("files", type=click.Path(path_type=Path), metavar="[FILE...]", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; status 1 where a line is too long.")
@library_option
@exits_cleanly
def format_command(files: tuple[Path, ...], check: bool, libraries: tuple[Path, ...]) -> int:
    """Break the long lines of scores, by default of all there are; comments stay."""
    changed = 0
    for file in files or (*data_files("mocap/*/*.score.yaml"), *data_files("cues/*/*.score.yaml")):
        text = text_of(file)
        laid_out = formatted(text, str(file))
        if laid_out != text:
            changed += 1
            click.echo(str(file))
            if not check:
                publish(file, laid_out)
    click.echo(f"{changed} {'would change' if check else 'changed'}")
    return SOME_FAILED if check and changed else DONE


def _refuse_missing(files: Sequence[Path]) -> None:
    """Raise RequestError for what is no file at all: that is no finding in a score."""
    for file in files:
        if not file.exists():
            raise RequestError(f"{file}: there is no such file")
        if file.is_dir():
            raise RequestError(f"{file}: is a folder; name the scores in it")


def _score(catalogue: Catalogue, file: Path, stance: str | None) -> Score:
    """Return the score of a file: its own, in a stance if it is a cue's, or that of a scene."""
    if not file.name.endswith(SCORE_SUFFIX) and "performers" in YamlFile(file).content:
        if stance is not None:
            raise RequestError(f"{file}: a scene says the stances of its cues; leave --stance out")
        return scene_take(catalogue, str(file), 0).score
    return read_score(file, stance)


def _print_findings(file: Path, findings: Sequence[Finding]) -> int:
    for finding in findings:
        click.echo(f"{file.name.removesuffix(SCORE_SUFFIX).removesuffix('.yaml')}: {finding}")
    return len(findings)


def _on_body(motions: Sequence[Motion], character: Character) -> tuple[Motion, ...]:
    """Return performers' motions brought onto a character each."""
    sources = [(motion, None) for motion in motions]
    scene = retarget_scene(sources, [character] * len(motions))
    return tuple(performance.motion for performance in scene)


def _paint(figures: Sequence[tuple[Character, Motion]]
           ) -> Callable[[int, Camera], Image.Image] | None:
    """Return what draws figures by OpenGL, if it is here; None paints them."""
    if not opengl_is_here():
        return None
    return drawing(figures, read_config(data_file("render_configs/draft.yaml")), SKY)


def _body(catalogue: Catalogue, name: str) -> Character:
    if name == CAPSULES:
        return capsule_body(standard_skeleton())
    return build_character(read_character(catalogue.file("character", name)))


def _joints(motion: Motion, names: str) -> tuple[str, ...]:
    joints = tuple(name for name in names.split(",") if name)
    for name in joints:
        if name not in motion.skeleton.index:
            raise RequestError(f"--focus {name}: no such joint"
                               f" (there is: {', '.join(motion.skeleton.names[:22])}, ...)")
    return joints
