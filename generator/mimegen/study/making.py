"""Make a study's folder from questions and clips."""

import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import file_hash, publish, publishing, sweep
from mimegen.base.media import path_within
from mimegen.evaluation.question import Question, read_questions, write_questions
from mimegen.study.design import by_action, experiment_lists, pair_lists, single_lists
from mimegen.study.folder import (
    ANSWERS,
    KEY,
    PRIVATE,
    PUBLIC,
    QUESTIONS,
    Study,
    hidden_name,
    key_content,
)
from mimegen.study.golden import Asked, golden_trial, practice_trial, reserve_questions
from mimegen.study.public import study_script
from mimegen.study.settings import Settings, Task
from mimegen.study.trials import WORDED, Trial, pair_trial, parse_tasks, trial_of

PAGE = Path(__file__).with_name("page")
# Offset and bytes by which playable files are recognised: MP4's first box, WebM's EBML mark.
_BEGINNINGS = {".mp4": (4, b"ftyp"), ".webm": (0, b"\x1a\x45\xdf\xa3")}


@dataclass(frozen=True)
class StudyRequest:
    """The arguments of ``mimegen study``; ``clips`` is the folder that holds the clips' manifest.
    """

    questions: Path
    clips: Path
    out: Path
    tasks: str | None
    settings: Settings
    seed: int = 0


def make_study(request: StudyRequest) -> Study:
    """Write a study's folder and return the study. Made again, it keeps its hidden names.

    Raises RequestError for questions that cannot be asked, missing or unplayable clips, too few
    actions, or if answers to another design are already there.
    """
    questions = read_questions(request.questions)
    tasks = parse_tasks(request.tasks, questions, request.questions)
    if request.settings.speeded:
        _check_speeded(tasks, questions, request.questions)
    secret = _secret(request.out)
    study, asked = _study(questions, tasks, request, secret)
    _refuse_other_design(request.out, study)
    sources = {clip: path_within(request.clips, source) for trial in study.trials.values()
               for clip, source in zip(trial.clips, trial.sources, strict=True)}
    for source in sources.values():
        _check_clip(source)
    _refuse_other_clips(request.out, sources)
    _write(request.out, study, asked, sources)
    return study


def _check_speeded(tasks: tuple[Task, ...], questions: Sequence[Question], source: Path) -> None:
    """Raise RequestError unless each trial is a choice about one clip, which ends it."""
    if tasks != ("choice",):
        raise RequestError("speeded: the first choice ends a trial, so it requires --tasks choice")
    if any(one.further for one in questions):
        raise RequestError(f"{source}: has questions about several clips; speeded requires one"
                           " clip in each trial")


def _study(questions: Sequence[Question], tasks: tuple[Task, ...], request: StudyRequest,
           secret: str
           ) -> tuple[Study, list[Question]]:
    """Return a study's trials and lists under hidden names, and the questions that it asks."""
    settings, seed = request.settings, request.seed
    book = _Book(secret)
    if questions[0].format in WORDED:
        named = [[book.name(trial_of(one, tasks, settings)) for one in ones]
                 for ones in experiment_lists(questions, settings, seed)]
        # Each clip has its own question, so a question about another action cannot be an attention
        # check.
        return Study(secret=secret, seed=seed, settings=settings, trials=book.trials, practice=(),
                     golden=(), lists=tuple(map(tuple, named))), list(book.questions.values())
    actions = by_action(questions)
    kept = reserve_questions(actions, settings, seed)
    practice = [book.name(practice_trial(one, tasks, questions, settings, seed))
                for one in kept.practice]
    golden = [book.name(golden_trial(one, named, tasks, questions, settings, seed))
              for one, named in kept.golden]
    rest = {action: takes for action, takes in actions.items() if action not in kept.actions}
    if "same" in tasks:
        lists = [[book.name(pair_trial(*pair, settings)) for pair in pairs]
                 for pairs in pair_lists(rest, settings, seed)]
    else:
        lists = [[book.name(trial_of(one, tasks, settings)) for one in ones]
                 for ones in single_lists(rest, "choice" in tasks, settings, seed)]
    study = Study(secret=secret, seed=seed, settings=settings, trials=book.trials,
                  practice=tuple(practice), golden=tuple(golden),
                  lists=tuple(tuple(names) for names in lists))
    return study, list(book.questions.values())


class _Book:
    """Trials under hidden names, and the questions that they ask."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.trials: dict[str, Trial] = {}
        self.questions: dict[str, Question] = {}

    def name(self, asked: Asked) -> str:
        """Store a trial under a hidden name and return the name."""
        trial, questions = asked
        name = hidden_name(self.secret, "trial", *trial.questions.values())
        # A clip shown beside itself gets two names, so that they do not reveal that it is one clip.
        clips = tuple(hidden_name(self.secret, "clip", source, str(place)) + Path(source).suffix
                      for place, source in enumerate(trial.sources))
        self.trials[name] = trial.model_copy(update={"clips": clips})
        self.questions |= {question.question_id: question for question in questions}
        return name


def _secret(out: Path) -> str:
    """Return the secret of an existing study, or a new one."""
    return str(key_content(out)["secret"]) if (out / PRIVATE / KEY).exists() \
        else secrets.token_hex(32)


def _refuse_other_design(out: Path, study: Study) -> None:
    """Raise RequestError if existing answers would refer to trials that no longer exist."""
    design = study.model_dump(mode="json", exclude={"settings"})
    if (out / PRIVATE / ANSWERS).exists() and key_content(out) | design != key_content(out):
        raise RequestError(f"{out}: this study has participants, and its questions would change;"
                           " choose another folder (only the wording may change)")


def _refuse_other_clips(out: Path, sources: Mapping[str, Path]) -> None:
    """Raise RequestError if a clip that people may have answered about has changed since."""
    if (out / PRIVATE / ANSWERS).exists():
        for name, source in sources.items():
            shown = out / PUBLIC / "clips" / name
            if shown.exists() and file_hash(shown) != file_hash(source):
                raise RequestError(f"{out}: this study has participants, and {source} is not the"
                                   " clip that they were shown; choose another folder")


def _check_clip(path: Path) -> None:
    """Raise RequestError if a clip is missing or its first bytes are not those of its type."""
    start, mark = _BEGINNINGS[path.suffix.lower()]
    try:
        with path.open("rb") as file:
            begins = file.read(start + len(mark))
    except OSError as problem:
        raise RequestError(f"{path}: the clip cannot be read ({problem.strerror}); give the folder"
                           " that mimegen render wrote with --clips") from problem
    if begins[start:] != mark:
        raise RequestError(f"{path}: not {path.suffix[1:].upper()} data that browsers play;"
                           " render it again")


def _write(out: Path, study: Study, asked: list[Question], sources: dict[str, Path]) -> None:
    """Write the folder, the key last: a folder without the key is not a study."""
    clips = out / PUBLIC / "clips"
    for name, source in sources.items():
        _copy(source, clips / name)
    for old in clips.iterdir():
        if old.name not in sources:
            old.unlink()
    sweep(clips)
    for page in sorted(PAGE.rglob("*.*")):
        publish(out / PUBLIC / page.relative_to(PAGE), _page(page, study.settings))
    publish(out / PUBLIC / "study-data.js", study_script(study, served=False))
    (out / PRIVATE).mkdir(mode=0o700, exist_ok=True)
    write_questions(out / PRIVATE / QUESTIONS, asked)
    publish(out / PRIVATE / KEY, study.model_dump_json(indent=1, by_alias=True) + "\n")


def _page(page: Path, settings: Settings) -> bytes:
    content = page.read_bytes()
    return content.replace(b'lang="en"', f'lang="{settings.language}"'.encode()) \
        if page.name == "index.html" else content


def _copy(source: Path, target: Path) -> None:
    if not target.exists() or file_hash(target) != file_hash(source):
        with publishing(target) as part:
            shutil.copyfile(source, part)
