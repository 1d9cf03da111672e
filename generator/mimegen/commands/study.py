"""``mimegen study``: make an experiment with people from questions, and export its answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.files import publish
from mimegen.commands.checked import check_samples, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.evaluation.question import read_questions
from mimegen.study.export import Person, answer_lines, saved_person, stored_people
from mimegen.study.folder import PRIVATE, PUBLIC, QUESTIONS, Study, read_study
from mimegen.study.left_out import divided, known_left_out, left_out
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.psychds import write_psychds
from mimegen.study.settings import read_settings
from mimegen.study.trials import COMBINATIONS

MAKE = "make"


class _MakesUnlessNamed(click.Group):
    """A group whose command ``make`` may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``make`` unless the first argument is another command."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [MAKE, *args]
        return super().parse_args(ctx, args)


@click.group("study", cls=_MakesUnlessNamed,
             subcommand_metavar="QUESTIONS --out DIR | serve DIR | export DIR | norms QUESTIONS")
def study_command() -> None:
    """Make and serve a study; export answers and norms."""


@study_command.command(MAKE)
@click.argument("questions", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Folder for the study.")
@click.option("--tasks", metavar="|".join(COMBINATIONS),
              help="Tasks of the raters.  [default: free,choice for mc; the fitting ones for other"
                   " formats]")
@click.option("--settings", type=click.Path(path_type=Path), metavar="YAML",
              help="YAML file with your own wording, attention checks and limits; it overrides"
                   " mimegen's.")
@click.option("--clips", type=click.Path(path_type=Path), metavar="OUT",
              help="Folder of the manifest and its clips.  [default: next to QUESTIONS]")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
              help="Random seed of the trial lists.")
@no_verify_option
@exits_cleanly
def make_command(questions: Path, out: Path, tasks: str | None, settings: Path | None,
                 clips: Path | None, seed: int, unchecked: bool) -> int:
    """Write a study about QUESTIONS (from mimegen questions) to DIR."""
    asked = {question.sample_id for question in read_questions(questions)}
    check_samples(clips or questions.parent, asked, unchecked)
    study = make_study(StudyRequest(questions, clips or questions.parent, out, tasks,
                                    read_settings(settings), seed))
    lengths = sorted({len(names) for names in study.lists})
    size = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths[0]}"
    trials = f"{size} trial{'' if lengths == [1] else 's'}"
    click.echo(f"{out}: {counted(len(study.lists), 'list')} of {trials}, each with"
               f" {counted(len(study.golden), 'attention check')} and {len(study.practice)}"
               f" practice trials; run mimegen study serve {out}, or upload {out / PUBLIC}")
    made_of = read_questions(questions)
    for line in (known_left_out(study, made_of), divided(study, made_of),
                 *left_out(study, made_of)):
        if line:
            click.echo(line)
    _tell_repeats(study)
    return DONE


def _tell_repeats(study: Study) -> None:
    """Print how often people see the same options, which lets them answer by elimination."""
    lists = [[study.trials[name] for name in names] for names in study.lists]
    most = max(max(Counter(tuple(sorted(trial.options)) for trial in trials).values())
               for trials in lists)
    if "choice" in lists[0][0].tasks and study.settings.repeat_options and most > 1:
        click.echo(f"a person may see the same options up to {most} times; set repeat_options:"
                   " false in --settings to prevent it")


@study_command.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535),
              help="Port to listen on; 0 picks a free one.")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; 0.0.0.0 listens on all addresses of this machine.")
@click.option("--proxy", "proxies", multiple=True, metavar="ADDRESS",
              help="IP address of a reverse proxy, as in 127.0.0.1; may be repeated. Its"
                   " X-Forwarded-For header is trusted, and its connections are not limited.")
@exits_cleanly
def serve_command(folder: Path, port: int, host: str, proxies: tuple[str, ...]) -> int:
    """Serve the study in DIR and store its answers there until stopped."""
    from mimegen.study.serving import serve  # the web's packages load when they are needed

    serve(folder, host, port, lambda address: click.echo(f"{folder}: {address}"), proxies)
    return DONE


@study_command.command("export")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("saved", nargs=-1, type=click.Path(path_type=Path), metavar="[SAVED]...")
@click.option("--out", "target", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="File to write: JSON lines that mimegen evaluate reads.")
@click.option("--ids", type=click.Path(path_type=Path), metavar="FILE",
              help="File for the Prolific or SONA ids of each rater; keep it separate from the"
                   " answers.")
@click.option("--psych-ds", "psychds", type=click.Path(path_type=Path), metavar="FOLDER",
              help="New folder for the answers as a Psych-DS data set: a CSV table, its data"
                   " dictionary and the questions.")
@exits_cleanly
def export_command(folder: Path, saved: tuple[Path, ...], target: Path, ids: Path | None,
                   psychds: Path | None) -> int:
    """Export the answers to the study in DIR, including SAVED files from its page."""
    study = read_study(folder)
    people = [*stored_people(study, folder), *(saved_person(study, file) for file in saved)]
    _refuse_doubles(people)
    answers = [list(answer_lines(study, person)) for person in people]
    lines = [json.dumps(line, ensure_ascii=False) for own in answers for line in own]
    if not lines:
        raise RequestError(f"{folder}: no complete answers yet")
    # Written first, because it refuses a folder that is not empty.
    if psychds is not None:
        write_psychds(psychds, study.name, [line for own in answers for line in own],
                      (folder / PRIVATE / QUESTIONS).read_bytes())
    publish(target, "".join(f"{line}\n" for line in lines))
    if ids is not None:
        publish(ids, "".join(json.dumps({
            "rater": one.rater, **one.ids.given(), "complete": one.complete}) + "\n"
            for one in people))
    answered = sum(bool(own) for own in answers)
    complete = sum(person.complete for person in people)
    click.echo(f"{target}: {counted(len(lines), 'answer')} from"
               f" {counted(answered, 'person', 'people')}, of whom {complete} finished; next:"
               f" mimegen evaluate {folder / PRIVATE / QUESTIONS} {target}")
    if answered < len(people):
        click.echo(f"{counted(len(people) - answered, 'more person', 'more people')} started"
                   " without a usable answer")
    return DONE


@study_command.command("norms")
@click.argument("questions", type=click.Path(path_type=Path))
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Folder for norms.csv, norms.json and norms.pdf.")
@click.option("--similarity", type=click.Choice(["wordllama", "minilm"]), default="wordllama",
              show_default=True, help="Model that compares free answers with labels.")
@exits_cleanly
def norms_command(questions: Path, answers: tuple[Path, ...], out: Path, similarity: str) -> int:
    """Compute norms of each clip from people's ANSWERS (from mimegen study export).

    Writes naming agreement with intervals, the H statistic, the modal name, accuracy, response
    times and mean ratings of each clip, their split-half reliability, and how many raters a
    reliable set needs.
    """
    from mimegen.study.norms import write_norms  # matplotlib loads when it is needed

    click.echo(write_norms(questions, answers, similarity, out))
    return DONE


def _refuse_doubles(people: Sequence[Person]) -> None:
    """Raise RequestError if one person's answers would count as two people's."""
    for rater, times in Counter(person.rater for person in people).items():
        if times > 1:
            raise RequestError(f"{rater} occurs {times} times; leave out all but one of this"
                               " person's saved files")
    raters = defaultdict(list)
    for person in people:
        raters[person.ids.person].append(person.rater)
    for one, own in raters.items():
        if one is not None and len(own) > 1:
            raise RequestError(f"{one} took part {len(own)} times ({', '.join(own)}); leave out all"
                               " but one of this person's saved files")
