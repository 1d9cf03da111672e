"""``mimegen score``: preview, lint and format scores within seconds, without Blender."""

import io
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import click
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.base.paths import data_file, data_files
from mimegen.base.vectors import MIME_AZIMUTH_DEG
from mimegen.base.yaml_file import YamlFile, text_of
from mimegen.characters.character import Character
from mimegen.choreography.checks import checks_file, line_of_check, missed, read_checks
from mimegen.choreography.finding import Finding
from mimegen.choreography.formatting import formatted
from mimegen.choreography.front import front_deg
from mimegen.choreography.happenings import happenings_file, read_happenings
from mimegen.choreography.lint import lint
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.choreography.where import HELP, ScorePosition, changed_keys, moments_of, spot_of
from mimegen.commands.angles import ANGLE_HELP, DirectionType
from mimegen.commands.authoring import new_command, prompt_command
from mimegen.commands.common import (
    DONE,
    SOME_FAILED,
    exits_cleanly,
    library_option,
    replaced,
    style_option,
)
from mimegen.compositing.video import write_pictures
from mimegen.library.cast import built, cast_member
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX
from mimegen.library.scene_take import scene_take
from mimegen.motion import Motion, standard_skeleton
from mimegen.pages.drawn import drawing, opengl_is_here
from mimegen.pages.preview import SKY, SheetLayout, capsule_body, scene_pictures, scene_sheet
from mimegen.plan.front import CameraDirection
from mimegen.retarget.transfer import retarget_scene
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config

CAPSULES = "capsules"
# Frame rate at which previews and checks sample a score.
PREVIEW_FPS = 30.0
# Size of a preview's video in pixels, and letters per line of its captions.
VIDEO_SIZE = (480, 600)
CAPTION_LETTERS = 56
_LINE = re.compile(r"line (\d+):")

seed_option = click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0),
                           help="Random seed of the take.")
in_style = style_option("Style of the performance (mimegen list styles).  [default: drawn by the"
                        " seed]")
stance_option = click.option("--stance", metavar="NAME", help="Stance on which a cue is performed.")


@click.group("score")
def score_command() -> None:
    """Create, preview, check and format scores.

    A score is a YAML file that describes a performance: who moves which part of the body where and
    when.
    """


for command in (new_command, prompt_command):
    score_command.add_command(command)


@score_command.command("preview")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="PNG|MP4",
              help="PNG for a contact sheet, or MP4 for a video that shows the score's time and"
                   " current keys in every frame.  [default: TAKE.png in the current folder]")
@seed_option
@in_style
@stance_option
@click.option("--body", default=CAPSULES, show_default=True, metavar="NAME",
              help="Body to draw: capsules, or a character as --character takes it (slower).")
@click.option("--frames", default=16, show_default=True, type=click.IntRange(1, 200),
              help="Number of frames in the contact sheet.")
@click.option("--angle", "direction", default="0", show_default=True, type=DirectionType(),
              metavar="DEGREES|SIDE", help=ANGLE_HELP)
@click.option("--focus", default="", metavar="JOINT[,JOINT]",
              help="Joints to show in close-up, as in LeftHand,RightHand.")
@library_option
@exits_cleanly
def preview_command(
    file: Path, target: Path | None, seed: int, style: str | None, stance: str | None, body: str,
    frames: int, direction: CameraDirection, focus: str, libraries: tuple[Path, ...],
) -> int:
    """Draw a score or a scene as a sheet or a video."""
    catalogue = Catalogue.with_libraries(libraries)
    score = _score(catalogue, file, stance)
    motions = perform_scene(score, seed, PREVIEW_FPS, style)
    character = _body(catalogue, body)
    azimuth = direction.azimuth(MIME_AZIMUTH_DEG, front_deg(score, seed, style))
    sheet = SheetLayout(azimuth, focus=_joints(motions[0], focus), timed=True)
    shown = motions if body == CAPSULES else _on_body(motions, character)
    figures = [(character, motion) for motion in shown]
    target = target or Path(f"{score.take}.png")
    earlier = replaced(target)
    if target.suffix.lower() == ".mp4":
        moments = moments_of(score, seed, style, [frame / PREVIEW_FPS for frame
                                                  in range(motions[0].frames)])
        _write_video(target, figures, sheet, moments)
    else:
        packed = io.BytesIO()
        scene_sheet(figures, frames, sheet, _paint(figures)).save(packed, "png")
        publish(target, packed.getvalue())
    stale, found = _looked_at(score, motions, shown, seed, style)
    for one in (*stale, *_problems(file, found, score, seed, style, None)):
        click.echo(one)
    click.echo(f"{target}: {motions[0].duration:.1f} s{earlier}")
    return DONE


def _write_video(target: Path, figures: Sequence[tuple[Character, Motion]], sheet: SheetLayout,
                 moments: Sequence[tuple[float, list[str]]]) -> None:
    """Write every frame with the score's time in seconds and the keys that it moves towards."""
    sheet = sheet._replace(tile=VIDEO_SIZE)
    pictures = scene_pictures(figures, range(len(moments)), sheet, _paint(figures))
    write_pictures((_captioned(picture, second, keys)
                    for picture, (second, keys) in zip(pictures, moments, strict=True)),
                   VIDEO_SIZE, PREVIEW_FPS, target)


def _captioned(picture: Image.Image, second: float, keys: list[str]) -> NDArray[np.uint8]:
    """Return a picture with the time in seconds at the top and the keys below it."""
    draw = ImageDraw.Draw(picture)
    draw.text((8, 6), f"{second:.2f} s", fill="black", font=ImageFont.load_default(28))
    lines = textwrap.wrap(" ".join(keys), CAPTION_LETTERS)
    draw.multiline_text((8, 42), "\n".join(lines), fill="black", font=ImageFont.load_default(15))
    return np.ascontiguousarray(picture)


@score_command.command("lint")
@click.argument("files", type=click.Path(path_type=Path), metavar="FILE|DIR...", nargs=-1,
                required=True)
@seed_option
@in_style
@stance_option
@click.option("--body", default=CAPSULES, show_default=True, metavar="NAME",
              help="Body used to evaluate the checks: capsules, or a character as --character takes"
                   " it (slower).")
@click.option("--against", type=click.Path(path_type=Path), metavar="OLD",
              help="Earlier version of the one FILE; show only findings that are new or worse, and"
                   " the keys near them that changed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: all findings, each"
                                                      " with its file, line, key and remedy.")
@library_option
@exits_cleanly
def lint_command(files: tuple[Path, ...], seed: int, style: str | None, stance: str | None,
                 body: str, against: Path | None, as_json: bool, libraries: tuple[Path, ...]
                 ) -> int:
    """Check scores and scenes; exit with status 1 if anything is wrong.

    Of a folder, all scores are checked, such as those of a library's mocap/. Each line names the
    file, the line, the key, the time in the score and a remedy.
    """
    problems: list[Problem] = []
    catalogue = Catalogue.with_libraries(libraries)
    character = _body(catalogue, body)
    files = tuple(score for file in files for score in _scores_at(file))
    _refuse_missing((*files, *([against] if against else [])))
    if against and len(files) > 1:
        raise RequestError("--against requires exactly one FILE")

    def found(score: Score) -> tuple[list[Problem], list[Finding]]:
        motions = perform_scene(score, seed, PREVIEW_FPS, style)
        shown = motions if body == CAPSULES else _on_body(motions, character)
        return _looked_at(score, motions, shown, seed, style)

    old = _score(catalogue, against, stance) if against else None
    before = Before(old, found(old)[1]) if old else None
    for file in files:
        try:
            score = _score(catalogue, file, stance)
            stale, findings = found(score)
            problems += [*stale, *_problems(file, findings, score, seed, style, before)]
        except RequestError as problem:
            problems.append(Problem.refused(file, problem))
    if as_json:
        click.echo(json.dumps({"scores": len(files), "findings": [one.facts() for one in problems]},
                              indent=1, ensure_ascii=False))
    else:
        for one in problems:
            click.echo(one)
        click.echo(f"{counted(len(files), 'score')}, {counted(len(problems), 'finding')}")
    return SOME_FAILED if problems else DONE


def all_scores() -> tuple[Path, ...]:
    """Return the scores of actions, cues and directed gestures."""
    return (*data_files("mocap/*/*.score.yaml"), *data_files("cues/*/*.score.yaml"),
            *data_files("directed/*/*.score.yaml"))


@score_command.command("format")
@click.argument("files", type=click.Path(path_type=Path), metavar="[FILE...]", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 if a line is too"
                                            " long.")
@library_option
@exits_cleanly
def format_command(files: tuple[Path, ...], check: bool, libraries: tuple[Path, ...]) -> int:
    """Wrap long lines of scores, by default of all."""
    changed = 0
    for file in files or all_scores():
        text = text_of(file)
        laid_out = formatted(text, str(file))
        if laid_out != text:
            changed += 1
            click.echo(str(file))
            if not check:
                publish(file, laid_out)
    click.echo(f"{changed} {'would change' if check else 'changed'}")
    return SOME_FAILED if check and changed else DONE


def _scores_at(file: Path) -> list[Path]:
    """Return all scores in a folder, or the file itself. Raises RequestError if there is none."""
    if not file.is_dir():
        return [file]
    found = sorted(file.rglob(f"*{SCORE_SUFFIX}"))
    if not found:
        raise RequestError(f"{file}: no score in this folder; expected NAME{SCORE_SUFFIX}")
    return found


def _refuse_missing(files: Sequence[Path]) -> None:
    """Raise RequestError for missing files and folders, which are not findings in a score."""
    for file in files:
        if not file.exists():
            raise RequestError(f"{file}: no such file")
        if file.is_dir():
            raise RequestError(f"{file}: is a folder; expected score files")


def _score(catalogue: Catalogue, file: Path, stance: str | None) -> Score:
    """Return the score of a file, in a stance if it is a cue's, or the score of a scene."""
    if not file.name.endswith(SCORE_SUFFIX) and "performers" in YamlFile(file).content:
        if stance is not None:
            raise RequestError(f"{file}: a scene sets the stances of its cues; leave out --stance")
        return scene_take(catalogue, str(file), 0).score
    return read_score(file, stance)


class Before(NamedTuple):
    """An earlier version of a score, and its findings."""

    score: Score
    findings: list[Finding]


class Problem(NamedTuple):
    """A problem to report. If a file is not a valid score, only the message is known."""

    file: Path
    message: str
    spot: ScorePosition | None = None
    finding: Finding | None = None

    @classmethod
    def refused(cls, file: Path, problem: RequestError) -> Self:
        """Return the problem of a file that is not a valid score."""
        return cls(file, str(problem))

    def __str__(self) -> str:
        return self.message

    def facts(self) -> dict[str, Any]:
        """Return the problem for programs: position, measured value, limit, and remedy."""
        line = _LINE.match(self.message.removeprefix(f"{self.file}: "))
        facts: dict[str, Any] = {"file": str(self.file), "line": int(line[1]) if line else None}
        if self.finding is not None and self.spot is not None:
            found = self.finding
            facts |= {"key": self.spot.key, "second": round(self.spot.second, 2),
                      "kind": found.kind, "part": found.part, "value": round(found.value, 1),
                      "limit": found.limit, "unit": found.unit, "help": HELP[found.kind]}
        return facts | {"message": self.message}


def _looked_at(score: Score, motions: Sequence[Motion], shown: Sequence[Motion], seed: int,
               style: str | None) -> tuple[list[Problem], list[Finding]]:
    """Return what does not fit in the files beside a score, and the findings about a take.

    Checks are made on the ``shown`` motions, unless the file of checks itself does not fit.
    """
    stale = _stale(score)
    findings = [*lint(motions, score, seed, style)]
    if all(problem.file != checks_file(score) for problem in stale):
        findings += missed(shown, score, seed, style)
    return stale, findings


def _stale(score: Score) -> list[Problem]:
    """Return what in the checks and the timeline beside a score does not fit it."""
    if score.compiled:
        return []
    problems = []
    for path, read in ((checks_file(score), lambda _: read_checks(score)),
                       (happenings_file(score), lambda path: read_happenings(path, score))):
        try:
            if path.is_file():
                read(path)
        except RequestError as problem:
            problems.append(Problem.refused(path, problem))
    return problems


def _problems(file: Path, findings: Sequence[Finding], score: Score, seed: int, style: str | None,
          before: Before | None) -> list[Problem]:
    return [_problem(file, finding, spot_of(finding, score, seed, style), score, before)
            for finding in findings]


def _problem(file: Path, finding: Finding, spot: ScorePosition, score: Score, before: Before | None
             ) -> Problem:
    """Return a finding as a problem, with its position, limit and remedy."""
    than = "" if before is None else f"; {_compared(finding, spot, score, before)}"
    if finding.kind == "seen" and not score.compiled:
        # The line is that of the check, which may be what no longer fits, not the score.
        file, spot = checks_file(score), spot._replace(line=line_of_check(score, finding.part))
    return Problem(file, f"{file}: {spot}: {finding.kind}: {finding.part} at {spot.second:.2f} s"
                      f" of the score: {finding.value:.1f} {finding.unit} (limit {finding.limit:g})"
                      f"{than}; {HELP[finding.kind]}", spot, finding)


def _compared(finding: Finding, spot: ScorePosition, score: Score, before: Before) -> str:
    """Return a finding's value in the earlier version, and which keys near it changed."""
    same = [one for one in before.findings
            if (one.kind, one.part) == (finding.kind, finding.part)]
    was = f"was {same[0].value:.1f}" if same else "new"
    changed = changed_keys(before.score, score, spot.second)
    return f"{was}, changed near it: {', '.join(changed) if changed else 'nothing'}"


def _on_body(motions: Sequence[Motion], character: Character) -> tuple[Motion, ...]:
    """Return each performer's motion retargeted onto a character."""
    sources = [(motion, None) for motion in motions]
    scene = retarget_scene(sources, [character] * len(motions))
    return tuple(performance.motion for performance in scene)


def _paint(figures: Sequence[tuple[Character, Motion]]
           ) -> Callable[[int, Camera], Image.Image] | None:
    """Return a function that draws figures with OpenGL; None if OpenGL is not available."""
    if not opengl_is_here():
        return None
    return drawing(figures, read_config(data_file("render_configs/draft.yaml")), SKY)


def _body(catalogue: Catalogue, name: str) -> Character:
    if name == CAPSULES:
        return capsule_body(standard_skeleton())
    return built(cast_member(catalogue, name))


def _joints(motion: Motion, names: str) -> tuple[str, ...]:
    joints = tuple(name for name in names.split(",") if name)
    for name in joints:
        if name not in motion.skeleton.index:
            raise RequestError(f"--focus {name}: no such joint; expected one of"
                               f" {', '.join(motion.skeleton.names[:22])}, ...")
    return joints
