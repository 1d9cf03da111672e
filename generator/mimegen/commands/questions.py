"""``mimegen questions``: make questions about clips, and audit questions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.commands.audit import show_audit
from mimegen.commands.checked import no_verify_option, warn_if_rendering
from mimegen.commands.common import (
    DONE,
    exits_cleanly,
    refuse_given,
    shared_data_option,
)
from mimegen.commands.grouped import Grouped
from mimegen.evaluation.balance import balance_notes
from mimegen.evaluation.controls import (
    ADD,
    DEFAULT_SAMPLING,
    ControlRequest,
    control_questions,
    parse_controls,
)
from mimegen.evaluation.cues import (
    CONDITIONS,
    TASKS,
    CueRequest,
    cue_questions,
    read_cue_wording,
)
from mimegen.evaluation.expected import with_expectation
from mimegen.evaluation.factors import factor_questions, read_factor_wording
from mimegen.evaluation.making import (
    ASKS,
    DIFFICULTIES,
    PROMPTINGS,
    QuestionRequest,
    questions_of,
)
from mimegen.evaluation.matching import ADD as ADD_CLIPS
from mimegen.evaluation.matching import (
    MATCHES,
    MatchRequest,
    match_questions,
    parse_matches,
    read_match_wording,
)
from mimegen.evaluation.numbers import number_questions, read_number_wording
from mimegen.evaluation.pairs import (
    OF_WHOLE,
    PairWording,
    pair_questions,
    read_pair_wording,
    whole_pairs,
)
from mimegen.evaluation.probes import (
    NAMES,
    OPEN,
    ProbeRequest,
    parse_probes,
    probe_questions,
    read_probe_wording,
)
from mimegen.evaluation.question import Question, write_questions
from mimegen.evaluation.sampling import parse_sampling, parse_size, write_frames
from mimegen.evaluation.subjects import forwards
from mimegen.evaluation.templates import OPTIONS, read_templates
from mimegen.evaluation.timeline.making import TimelineRequest, timeline_questions
from mimegen.evaluation.timeline.wording import read_wording
from mimegen.manifest.checking import check_clips
from mimegen.manifest.file import clip_path, some_rows
from mimegen.manifest.row import Row
from mimegen.plan.variants import variants_among

HEADINGS = {
    "Questions": ("format_", "asks", "probe", "factor", "condition", "prompting", "variants",
                  "templates"),
    "Distractors": ("of_set", "given", "difficulty", "fold", "seed"),
    "Controls": ("controls",),
    "Frames": ("sampling", "frames_folder", "image", "size", "stamp"),
    "Output": ("target", "unchecked"),
    "Audit": ("audited", "explains", "as_json"),
}
# Formats whose options come from timelines, pairs and the like, not from other actions' labels.
TIMED = ("timeline", "cue", "pair", "probe", "match", "number", "factor")
# Formats that also ask about clips that are played backwards.
OF_MOVEMENT = ("pair", "probe", "factor")


# Options that only some formats have, by parameter.
_WITH_OPTIONS = tuple(name for name, options in OPTIONS.items() if options)
OF_FORMATS = {
    "factor": ("factor",), "probe": ("probe", "match"),
    "prompting": (*OPTIONS, "timeline", "probe"), "fold": tuple(OPTIONS),
    "difficulty": _WITH_OPTIONS, "given": _WITH_OPTIONS, "of_set": _WITH_OPTIONS,
}


@click.command("questions", cls=Grouped, headings=HEADINGS)
@click.argument("out", required=False, type=click.Path(path_type=Path), metavar="OUT")
@click.option("--format", "format_", default="mc", show_default=True,
              type=click.Choice([*OPTIONS, *TIMED]),
              help="Question format: mc and free as in MIME, 3afc and description as in ActPLD,"
                   " timeline (when things happen) as in MimeQA, cue as in ObservableToM, pair for"
                   " the minimal pairs of mimegen pairs, probe for movement (needs --passes"
                   " keypoints), match for several clips together, number for how often, when and"
                   " how long (answered with a number), factor for the factors of mimegen"
                   " pointlight --grid.")
@click.option("--asks", type=click.Choice([*ASKS, *TASKS]),
              help="Target of the question: label or intention for 3afc and description; the rest"
                   " for cue.  [default: label; explanation for cue]")
@click.option("--probe", default="all", show_default=True, metavar="A[,B]|all",
              help=f"Probes that --format probe asks: {', '.join(NAMES)}. Those of --format match:"
                   f" {', '.join(MATCHES)}.")
@click.option("--factor", default="all", show_default=True, metavar="A[,B]|all",
              help="Factors of the grid that --format factor asks about.")
@click.option("--condition", default="video", show_default=True, type=click.Choice(CONDITIONS),
              help="Input of the model: for cue the video, the cue in words, or both; for timeline"
                   " the video or only text.")
@click.option("--prompting", default="zero-shot", show_default=True,
              type=click.Choice(PROMPTINGS),
              help="Style of prompt; open (timeline, probe) offers no options, as in MimeQA.")
@click.option("--variants", metavar="A[,B]",
              help="Variants or groups of variants to ask about, as in base+blank@0 or"
                   " backgrounds.  [default: all in OUT]")
@click.option("--difficulty", type=click.Choice(DIFFICULTIES),
              help="Semantic distance of distractors from the answer.  [default: any]")
@click.option("--set", "of_set", metavar="NAME",
              help="Take distractors from the actions of this published set only, as in actpld"
                   " (mimegen list sets).")
@click.option("--distractors", "given", type=click.Path(path_type=Path), metavar="FILE",
              help="Your own distractors: a YAML or JSON file with a list for each action or label."
                   " Other actions get mimegen's.")
@click.option("--fold", type=click.IntRange(1, 5),
              help="Fold to use of five folds by action; the training, validation and test sets"
                   " then share no options.")
@click.option("--controls", metavar="A[,B]|all",
              help="Control questions to add: text (no video), frame (single frames), shuffled,"
                   " reversed, person (blank background), dots, background (without the person)."
                   " They show sampled frames, of uniform:8 unless --sampling says otherwise;"
                   " person, dots and background need such clips in OUT.")
@click.option("--sampling", default="video", show_default=True, metavar="HOW",
              help="Frames to show: video, uniform:K, middle:K, fps:F[:MOST] or"
                   " window:START:END:F.")
@click.option("--frames", "frames_folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Folder for the sampled frames, with a subfolder for each clip.")
@click.option("--image", default="jpeg", show_default=True, type=click.Choice(["jpeg", "png"]),
              help="Image format of the sampled frames.")
@click.option("--size", metavar="WxH", help="Largest width and height of a frame in pixels, as in"
                                            " 512x512.")
@click.option("--stamp", is_flag=True, help="Draw the time into a corner of each frame.")
@click.option("--templates", type=click.Path(path_type=Path), metavar="YAML",
              help="YAML file with your own question wording.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
              help="Random seed of the distractors and their order.")
@click.option("--out", "target", type=click.Path(path_type=Path), metavar="FILE",
              help="File to write.  [default: OUT/questions-FORMAT.jsonl]")
@no_verify_option
@click.option("--audit", "audited", type=click.Path(path_type=Path), metavar="FILE",
              help="Try to answer these questions without video. Exit status 1 if that works, 0 if"
                   " not, or if there are too few questions to judge.")
@click.option("--explain", "explains", is_flag=True,
              help="With --audit: explain each column and rule in a sentence.")
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
@shared_data_option
@exits_cleanly
def questions_command(out: Path | None, format_: str, asks: str | None, probe: str, factor: str,
                      condition: str,
                      prompting: str, variants: str | None, of_set: str | None,
                      given: Path | None, difficulty: str | None, fold: int | None,
                      controls: str | None, sampling: str, frames_folder: Path | None, image: str,
                      size: str | None, stamp: bool,
                      templates: Path | None, seed: int,
                      target: Path | None, unchecked: bool, audited: Path | None,
                      explains: bool, as_json: bool) -> int:
    """Write questions about every clip in OUT, or audit questions.

    Distractors are balanced, so that they do not give the answer away.
    """
    if (out is None) == (audited is None):
        raise RequestError("expected either the folder OUT that mimegen render wrote, or --audit"
                           " FILE")
    if audited is not None:
        refuse_given([name for heading, names in HEADINGS.items() if heading != "Audit"
                      for name in names], "does not apply to --audit")
        return show_audit(audited, explains, as_json)
    refuse_given(("explains", "as_json"), "requires --audit FILE")
    assert out is not None
    warn_if_rendering(out, "the questions are about")
    everything, pixels = some_rows(out), parse_size(size)
    if not unchecked:
        check_clips(out, everything)
    chosen = everything if variants is None else _of_variants(everything, variants)
    rows = _asked_about(_with_their_action(chosen, format_), format_)
    wanted = parse_controls(controls) if controls else ()
    sampling = DEFAULT_SAMPLING if wanted and sampling == "video" else sampling
    asks = asks or ("explanation" if format_ == "cue" else "label")
    _refuse_what_does_not_go_together(format_, asks, condition, prompting)
    if frames_folder is None:
        refuse_given(("image", "size", "stamp"), "requires --frames DIR")
    shown = parse_sampling(sampling)
    makers: dict[str, Callable[[], list[Question]]] = {
        "cue": lambda: cue_questions(rows, CueRequest(
            asks, condition, read_cue_wording(templates), seed)),
        "pair": lambda: _of_pairs(rows, read_pair_wording(templates), seed, sampling),
        "probe": lambda: _of_probes(out, rows, ProbeRequest(
            parse_probes(probe), read_probe_wording(templates), seed, shown, sampling,
            prompting == OPEN)),
        "match": lambda: _of_matches(rows, MatchRequest(
            parse_matches(probe), read_match_wording(templates), seed, shown, sampling)),
        "number": lambda: number_questions(rows, read_number_wording(templates), seed, shown,
                                           sampling, out),
        "factor": lambda: factor_questions(rows, factor, read_factor_wording(templates), seed,
                                           shown, sampling),
        "timeline": lambda: _of_timelines(rows, TimelineRequest(
            prompting, read_wording(templates), seed, shown, sampling, condition))}
    make = makers.get(format_) or (lambda: questions_of(rows, QuestionRequest(
        format_, asks, prompting, read_templates(format_, templates), seed, difficulty, fold,
        shown, sampling, given, of_set)))
    made = make()
    if wanted:
        made += _controls(made, everything, wanted, sampling, seed)
    if frames_folder:
        _write_frames(out, everything, made, frames_folder, image, pixels, stamp)
    target = target or out / f"questions-{format_}.jsonl"
    write_questions(target, with_expectation(made))
    click.echo(f"{target}: {counted(len(made), 'question')} about"
               f" {counted(len({one.action for one in made}), 'action')}")
    for note in (*balance_notes(made), *_pooled(rows), *_without_group(made)):
        click.echo(note)
    return DONE


def _without_group(made: Sequence[Question]) -> list[str]:
    """Return a note on questions whose wrong answers may be true, as nothing tells what is similar.
    """
    labels = sorted({one.labels[0] for one in made if one.semantic_group is None
                     and one.distractors and one.labels})
    if not labels:
        return []
    return [f"{', '.join(labels)}: in no semantic group, so names of similar actions may be among"
            " the wrong answers; render the clip with --group, or import it with one"]


def _pooled(rows: Sequence[Row]) -> list[str]:
    """Return a note if clips of several render configs are asked about; tables do not tell them."""
    names = sorted({row.render_config_name for row in rows if row.render_config_name})
    if len(names) < 2:
        return []
    return [f"clips of {len(names)} render configs ({', '.join(names)}) are asked about, and the"
            " tables of mimegen evaluate pool them; to compare configs, render each into a folder"
            " of its own"]


def _of_variants(rows: Sequence[Row], variants: str) -> list[Row]:
    """Return the rows of the named variants and groups; print how many others are left out."""
    names = variants_among(variants, {row.variant for row in rows if row.variant})
    found = [row for row in rows if row.variant in names]
    click.echo(f"{counted(len(found), 'clip')} of --variants asked about,"
               f" {len(rows) - len(found)} others left out")
    return found


def _with_their_action(rows: Sequence[Row], format_: str) -> list[Row]:
    """Return the rows of clips that show their action; print how many do not, and why.

    Factors are asked about even where one of two performers is not shown.
    """
    of_people = [row for row in rows if not row.shows_nobody]
    found = [row for row in of_people if not row.hides_its_action]
    if len(found) < len(of_people):
        click.echo(f"{counted(len(of_people) - len(found), 'clip')} of faces left out, because a"
                   " suit, lights or dots do not show the face")
    whole = [row for row in found if format_ == "factor" or not row.parts_performers]
    if len(whole) < len(found):
        click.echo(f"{counted(len(found) - len(whole), 'display')} left out, because one of two"
                   " people is missing or shows another action, so their labels may be wrong;"
                   " --format factor asks what differs between them")
    return whole


def _asked_about(rows: Sequence[Row], format_: str) -> Sequence[Row]:
    """Return the rows that a format asks about; print how many are played backwards."""
    if format_ in OF_MOVEMENT:
        return rows
    found = forwards(rows)
    if len(found) < len(rows):
        click.echo(f"{counted(len(rows) - len(found), 'clip')} played backwards left out, because"
                   " their labels may be wrong of what they show")
    return found


def _controls(made: Sequence[Question], rows: Sequence[Row], names: tuple[str, ...],
              sampling: str, seed: int) -> list[Question]:
    """Make the controls of questions; print how many questions lack them."""
    shown = parse_sampling(sampling)
    assert shown is not None, "controls are about frames"
    found, missing = control_questions(made, rows, ControlRequest(names, shown, sampling, seed))
    for name, count in missing.items():
        if count:
            click.echo(f"{name}: no control for {counted(count, 'question')}, because no clip in"
                       f" OUT shows it; {ADD[name]}" if name in ADD else
                       f"{name}: no control for {counted(count, 'question')} with too few"
                       " frames, or about whether they are reversed")
    return found


def _refuse_what_does_not_go_together(format_: str, asks: str, condition: str, prompting: str
                                      ) -> None:
    """Raise RequestError for options that do not apply to a format."""
    for name, formats in OF_FORMATS.items():
        if format_ not in formats:
            refuse_given((name,), f"does not apply to --format {format_}, only to"
                                  f" {', '.join(formats)}")
    if format_ == "probe" and prompting not in ("zero-shot", OPEN):
        raise RequestError(f"--prompting {prompting} does not apply to --format {format_}, which"
                           f" takes zero-shot and {OPEN}")
    if condition != "video" and (format_, condition) != ("timeline", "text") and format_ != "cue":
        raise RequestError(f"--condition {condition} does not apply to --format {format_}")
    if (asks in TASKS) != (format_ == "cue"):
        raise RequestError(f"--asks {asks} does not apply to --format {format_}: cue takes"
                           f" {', '.join(TASKS)}, other formats take label or intention")


def _of_probes(out: Path, rows: Sequence[Row], request: ProbeRequest) -> list[Question]:
    """Make questions about movement; print how many each probe has."""
    made, left_out = probe_questions(out, rows, request)
    counts = Counter(one.asks for one in made)
    for name, count in left_out.items():
        click.echo(f"{name}: {counted(counts[name], 'question')}; {counted(count, 'clip')} left"
                   " out, too close to call or to balance the correct answers")
    return made


def _of_pairs(rows: Sequence[Row], wording: PairWording, seed: int, sampling: str
              ) -> list[Question]:
    """Make questions about pairs; print how many pairs a part of a clip cannot show."""
    pairs = whole_pairs(rows)
    made = pair_questions(pairs, wording, seed, parse_sampling(sampling), sampling)
    left = len(pairs) - len({one.pair for one in made})
    if left:
        factors = ", ".join(sorted(OF_WHOLE))
        click.echo(f"{counted(left, 'pair')} left out, of the factors {factors}: --sampling"
                   f" {sampling} shows a part of each clip")
    return made


def _of_matches(rows: Sequence[Row], request: MatchRequest) -> list[Question]:
    """Make questions about several clips; print how many each match has."""
    made = match_questions(rows, request)
    counts = Counter(one.asks for one in made)
    for name in request.matches:
        click.echo(f"{name}: {counted(counts[name], 'question')}"
                   + ("" if counts[name] else f"; {ADD_CLIPS[name]}"))
    return made


def _of_timelines(rows: Sequence[Row], request: TimelineRequest) -> list[Question]:
    """Make questions about timelines; print what is left out, and why."""
    made, left_out = timeline_questions(rows, request)
    counts = Counter(one.category for one in made)
    click.echo("; ".join(f"{category}: {count}" for category, count in sorted(counts.items())))
    for category, why in request.wording.left_out.items():
        click.echo(f"{category}: none, {why}")
    for aspect, count in left_out.items():
        if count:
            click.echo(f"{aspect}: {count} left out, to balance the correct answers")
    return made


def _write_frames(out: Path, rows: Sequence[Row], made: Sequence[Question], folder: Path,
                  image: str, size: tuple[int, int] | None, stamp: bool) -> None:
    """Write for each clip the frames that any question shows, into a folder of its own."""
    row_of = {row.sample_id: row for row in rows}
    if any(question.frames is None for question in made):
        raise RequestError("--frames: no frames are sampled; choose them with --sampling, as in"
                           " uniform:8")
    numbers: dict[tuple[str, str], set[int]] = defaultdict(set)
    for question in made:
        for one in question.shown:
            numbers[one.sample_id, one.clip].update(one.frames or ())
    for (sample_id, clip), wanted in sorted(numbers.items()):
        if wanted:
            row = row_of[sample_id]
            write_frames(clip_path(out, row), sorted(wanted), folder / Path(clip).stem, image, size,
                         row.fps if stamp else None)
