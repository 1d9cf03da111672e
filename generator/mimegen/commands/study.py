"""``mimegen study``: make an experiment with people from questions, and export its answers."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import click

from mimegen.base.counted import counted
from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import publish
from mimegen.commands.checked import check_samples, no_verify_option
from mimegen.commands.common import DONE, exits_cleanly
from mimegen.commands.study_results import show_power, show_tables
from mimegen.evaluation.question import read_questions
from mimegen.study.export import (
    Person,
    answer_lines,
    saved_person,
    simulated_people,
    stored_people,
)
from mimegen.study.folder import PRIVATE, PUBLIC, QUESTIONS, Study, read_study
from mimegen.study.left_out import divided, known_left_out, left_out
from mimegen.study.making import StudyRequest, make_study
from mimegen.study.power import MIN_PEOPLE, REPEATS, SIZES, PowerRequest, compared, power_rows
from mimegen.study.psychds import write_psychds
from mimegen.study.settings import read_settings
from mimegen.study.simulated_file import write_simulated
from mimegen.study.simulation import (
    DEFAULT_ACCURACY,
    MOST_SIMULATED,
    Asked,
    Simulation,
    parse_accuracies,
    simulated_sessions,
)
from mimegen.study.table_files import write_tables
from mimegen.study.trial_rows import PERSON_RULES, Exclusion, trial_rows
from mimegen.study.trials import COMBINATIONS

MAKE = "make"
NO_ANSWERS = "no complete answers yet; to pilot the analysis, run mimegen study simulate and add" \
             " --simulated"


class _MakesUnlessNamed(click.Group):
    """A group whose command ``make`` may be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``make`` unless the first argument is another command."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = [MAKE, *args]
        return super().parse_args(ctx, args)


@click.group("study", cls=_MakesUnlessNamed,
             subcommand_metavar="QUESTIONS --out DIR | simulate DIR | power DIR | serve DIR |"
                                " export DIR | tables DIR | norms QUESTIONS")
def study_command() -> None:
    """Make, pilot and serve a study, and export its answers."""


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
    """Serve a study and store its answers until stopped."""
    from mimegen.study.serving import serve  # the web's packages load when they are needed

    serve(folder, host, port, lambda address: click.echo(f"{folder}: {address}"), proxies)
    return DONE


simulated_option = click.option(
    "--simulated", is_flag=True,
    help="Read the participants of mimegen study simulate instead of real ones.")


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
@simulated_option
@exits_cleanly
def export_command(folder: Path, saved: tuple[Path, ...], target: Path, ids: Path | None,
                   psychds: Path | None, simulated: bool) -> int:
    """Export the answers to a study, also from SAVED files."""
    study = read_study(folder)
    people = _people_of(study, folder, saved, simulated)
    answers = [list(answer_lines(study, person)) for person in people]
    lines = [json.dumps(line, ensure_ascii=False) for own in answers for line in own]
    if not lines:
        raise RequestError(f"{folder}: {NO_ANSWERS}")
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
    who = ("simulated participant", "") if simulated else ("person", "people")
    click.echo(f"{target}: {counted(len(lines), 'answer')} from"
               f" {counted(answered, *who)}, of whom {complete} finished; next:"
               f" mimegen evaluate {folder / PRIVATE / QUESTIONS} {target}")
    if answered < len(people):
        click.echo(f"{counted(len(people) - answered, 'more person', 'more people')} started"
                   " without a usable answer")
    return DONE


@study_command.command("tables")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.argument("saved", nargs=-1, type=click.Path(path_type=Path), metavar="[SAVED]...")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FOLDER",
              help="Folder for trials.csv, participants.csv, conditions.csv and"
                   " participants_by_condition.csv.")
@click.option("--min-rt", default=0.0, show_default=True, type=click.FloatRange(0), metavar="MS",
              help="Exclude answers that came faster, in milliseconds.")
@click.option("--max-rt", type=click.FloatRange(0), metavar="MS",
              help="Exclude answers that took longer, in milliseconds.")
@click.option("--exclude", metavar="|".join((*PERSON_RULES, ",".join(PERSON_RULES))),
              help="Exclude all answers of participants who did not finish, or who failed an"
                   " attention check.")
@click.option("--similarity", type=click.Choice(["wordllama", "minilm"]), default="wordllama",
              show_default=True, help="Model that compares free answers with labels.")
@simulated_option
@exits_cleanly
def tables_command(folder: Path, saved: tuple[Path, ...], out: Path, min_rt: float,
                   max_rt: float | None, exclude: str | None, similarity: str,
                   simulated: bool) -> int:
    """Write tables of a study's answers for R and pandas.

    trials.csv has a row for each answer, participants.csv for each participant, conditions.csv for
    each condition, and participants_by_condition.csv for each participant in each condition.
    Answers that are excluded stay in trials.csv, with the reason.
    """
    exclusion = Exclusion(min_rt, max_rt, _person_rules(exclude))
    study = read_study(folder)
    people = _people_of(study, folder, saved, simulated)
    rows = trial_rows(study, people, read_questions(folder / PRIVATE / QUESTIONS), exclusion,
                      similarity)
    if not rows:
        raise RequestError(f"{folder}: {NO_ANSWERS}")
    show_tables(out, rows, write_tables(out, rows))
    return DONE


def _person_rules(text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    for name in names:
        if name not in PERSON_RULES:
            raise RequestError(f"--exclude {name}: expected {' or '.join(PERSON_RULES)}"
                               f"{near_misses(name, PERSON_RULES)}")
    return names


accuracy_option = click.option(
    "--accuracy", "accuracies", multiple=True, metavar="P|CONDITION=P",
    help="Share of right answers, 0 to 1, of all conditions or of one (a variant, or a task such"
         f" as free); repeat it for more.  [default: {DEFAULT_ACCURACY}]")
seed_option = click.option("--seed", default=0, show_default=True, type=click.IntRange(0),
                           help="Random seed of the simulation.")


@study_command.command("simulate")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--participants", default=24, show_default=True, metavar="N",
              type=click.IntRange(1, MOST_SIMULATED), help="Number of participants.")
@accuracy_option
@click.option("--careless", default=0.0, show_default=True, type=click.FloatRange(0, 1),
              metavar="SHARE", help="Share of participants who guess, fast.")
@click.option("--unfinished", default=0.0, show_default=True, type=click.FloatRange(0, 1),
              metavar="SHARE", help="Share of participants who stop before the end.")
@seed_option
@exits_cleanly
def simulate_command(folder: Path, participants: int, accuracies: tuple[str, ...], careless: float,
                     unfinished: float, seed: int) -> int:
    """Simulate participants, to pilot a study's analysis.

    Their answers replace those of an earlier simulation. They are stored apart from those of real
    people; export and tables read them with --simulated and mark them, and other commands refuse
    to mix them with real answers.
    """
    asked, accuracy = _expected(folder, accuracies)
    wanted = Simulation(participants, seed, accuracy, careless, unfinished)
    path = write_simulated(folder, asked.study, simulated_sessions(asked, wanted))
    click.echo(f"{path}: {counted(participants, 'simulated participant')}; next: mimegen study"
               f" tables {folder} --simulated --out FOLDER, or mimegen study export {folder}"
               " --simulated --out FILE")
    return DONE


def _expected(folder: Path, accuracies: tuple[str, ...]) -> tuple[Asked, dict[str, float]]:
    """Return the questions of a study, and the accuracies that are expected at them."""
    asked = Asked(read_study(folder), read_questions(folder / PRIVATE / QUESTIONS))
    accuracy = parse_accuracies(accuracies)
    asked.check(accuracy)
    return asked, accuracy


@study_command.command("power")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@accuracy_option
@click.option("--participants", default=",".join(map(str, SIZES)), show_default=True,
              metavar="N[,N]", help="Numbers of participants to try.")
@click.option("--repeats", default=REPEATS, show_default=True, type=click.IntRange(20, 100_000),
              help="Number of simulated studies for each number of participants.")
@seed_option
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@exits_cleanly
def power_command(folder: Path, accuracies: tuple[str, ...], participants: str, repeats: int,
                  seed: int, as_json: bool) -> int:
    """Estimate how many participants a study needs.

    Give the accuracies that you expect, as in --accuracy 0.95 --accuracy base+misaligned@0=0.85.
    Each two conditions that differ are compared, over participants by a paired t test, and over
    actions as mimegen evaluate compares them, both at p <= 0.05.
    """
    asked, accuracy = _expected(folder, accuracies)
    rows = power_rows(asked, PowerRequest(_sizes(participants), accuracy, seed, repeats))
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        show_power(rows, compared(asked, accuracy))
    return DONE


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(sorted({int(one) for one in text.split(",")}))
    except ValueError:
        sizes = ()
    if not sizes or sizes[0] < MIN_PEOPLE or sizes[-1] > MOST_SIMULATED:
        raise RequestError(f"--participants {text}: expected numbers from {MIN_PEOPLE} to"
                           f" {MOST_SIMULATED}, as in 24,48,96")
    return sizes


@study_command.command("norms")
@click.argument("questions", type=click.Path(path_type=Path))
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Folder for norms.csv, norms.json and norms.pdf.")
@click.option("--similarity", type=click.Choice(["wordllama", "minilm"]), default="wordllama",
              show_default=True, help="Model that compares free answers with labels.")
@exits_cleanly
def norms_command(questions: Path, answers: tuple[Path, ...], out: Path, similarity: str) -> int:
    """Compute norms of each clip from people's ANSWERS.

    Writes naming agreement with intervals, the H statistic, the modal name, accuracy, response
    times and mean ratings of each clip, their split-half reliability, and how many raters a
    reliable set needs.
    """
    from mimegen.study.norms import write_norms  # matplotlib loads when it is needed

    click.echo(write_norms(questions, answers, similarity, out))
    return DONE


def _people_of(study: Study, folder: Path, saved: Sequence[Path], simulated: bool) -> list[Person]:
    """Return the participants of a study, either real or simulated ones."""
    if simulated:
        if saved:
            raise RequestError(f"--simulated: excludes the answers of real people ({saved[0]})")
        return [*simulated_people(study, folder)]
    people = [*stored_people(study, folder), *(saved_person(study, file) for file in saved)]
    _refuse_doubles(people)
    return people


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
